"""Candidates: a `Sampler` proposes them from the search space and the results so far."""

from sklearn_sha.candidates.base import Evaluation, History, Sampler, Space
from sklearn_sha.candidates.contract_check import check_sampler
from sklearn_sha.candidates.grid import GridSampler
from sklearn_sha.candidates.model import ModelSampler
from sklearn_sha.candidates.optuna_sampler import OptunaSampler
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.sobol import SobolSampler

__all__ = [
    "Evaluation",
    "GridSampler",
    "History",
    "ModelSampler",
    "OptunaSampler",
    "RandomSampler",
    "Sampler",
    "SobolSampler",
    "Space",
    "check_sampler",
]
