"""Which resource ``resource="auto"`` chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import TrainingData
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.registry import KINDS
from sklearn_sha.resources.tuned_estimator import TunedEstimator

_MIN_FOLDS = 4
"""Number of folds, relative to those of the first rung, from which folds alone make three rungs."""


def auto_resource(estimator: Any, spaces: Sequence[Mapping[str, Any]]) -> str:
    """The resource of a search that names none: one that all candidates of its space have.

    Parameters
    ----------
    estimator : estimator
        Can be a Pipeline, of which the last step decides.
    spaces : sequence of dict
        Parameter names to lists of values or to distributions.

    Returns
    -------
    str
        "partial_fit" if it trains one of the epochs that `fit` would train; the parameter that
        counts trees or boosting iterations if it is not searched; otherwise "n_samples", also if
        candidates differ in this.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.neural_network import MLPClassifier
    >>> from sklearn_sha.resources.automatic import auto_resource
    >>> models = MLPClassifier(), RandomForestClassifier(), SGDClassifier()
    >>> [auto_resource(model, [{}]) for model in models]
    ['partial_fit', 'n_estimators', 'n_samples']
    >>> auto_resource(MLPClassifier(), [{"solver": ["adam", "lbfgs"]}])
    'n_samples'
    """
    tuned = TunedEstimator(estimator, spaces)
    if tuned.decisive_distributions():
        return SampleCount.name
    found = {_preferred(model, searched) for model, searched in tuned.variants()}
    return found.pop()[0] if len(found) == 1 else SampleCount.name


def adds_folds(resource: Resource, data: TrainingData) -> bool:
    """Whether the rungs of ``budget="anytime"`` add folds instead of samples.

    Most candidates of later brackets are good. On a part of the samples they are ranked nearly at
    random, while all samples and one fold cost little more.

    Parameters
    ----------
    resource : Resource
        As `auto_resource` has chosen it.
    data : TrainingData

    Returns
    -------
    bool
        False if models continue training, or if there are so few folds that almost all candidates
        would be evaluated on all of them.
    """
    return resource.counts_samples and len(data.fold_order) >= _MIN_FOLDS * data.first_folds


def _preferred(model: Any, searched: frozenset[str]) -> tuple[str, Any]:
    """The resource of a model by itself, and how much of it ``fit`` has."""
    preferences = (kind.preferred(model, searched) for kind in KINDS)
    return next(filter(None, preferences), (SampleCount.name, None))
