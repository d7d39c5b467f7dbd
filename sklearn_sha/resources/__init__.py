"""Resources: what a search increases from rung to rung, and how models are trained with it."""

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.contract_check import check_resource
from sklearn_sha.resources.fold_count import FoldCount
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.limits import Limits, TrainingData, WholeFit
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator
from sklearn_sha.resources.warm_starts import exact_warm_starts

__all__ = [
    "Fold",
    "FoldCount",
    "FoldSamples",
    "IntegerParameter",
    "Limits",
    "PartialFit",
    "Resource",
    "SampleCount",
    "TrainingData",
    "TunedEstimator",
    "WholeFit",
    "check_resource",
    "exact_warm_starts",
]
