"""Which resource ``resource="auto"`` chooses for an estimator and the space that is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import BaseDecisionTree

from sklearn_sha._param_validation import is_int
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.integer_parameter import IntegerParameter, boosts
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.registry import KINDS, NAMED
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step

_RELATIVE = frozenset({"ccp_alpha", "min_impurity_decrease", "min_weight_fraction_leaf"})
"""Parameters of trees, also in ensembles, that count in shares of the samples."""

_ABSOLUTE_OR_RELATIVE = frozenset({"min_samples_split", "min_samples_leaf"})
"""Those that count in shares if their values are not integers."""

_SIZE = "size of a tree"

MANY_SAMPLES = 10_000
"""Number of samples from which early rungs, on a part of them or with few iterations, suffice."""


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
    if len(found) != 1:
        return SampleCount.name
    ((name, _),) = found
    return name if name not in NAMED or _suits(NAMED[name](), tuned) else SampleCount.name


def why_folds(tuned: TunedEstimator, resource: Resource, n_samples: int) -> str:
    """Why early rungs of an automatic resource would mislead, so that folds are better.

    Parameters
    ----------
    tuned : TunedEstimator
    resource : Resource
    n_samples : int
        Number of all samples.

    Returns
    -------
    str
        Half a sentence; empty if they would not.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_sha.resources import SampleCount, TunedEstimator
    >>> from sklearn_sha.resources.automatic import why_folds
    >>> tree = TunedEstimator(DecisionTreeClassifier(), [{"max_depth": [5, 10]}])
    >>> why_folds(tree, SampleCount(), 1000)
    'the best size of a tree depends on the number of samples'
    >>> why_folds(TunedEstimator(SVC(), [{"C": [1, 10]}]), SampleCount(), 1000)
    ''
    """
    if isinstance(resource, IntegerParameter):
        is_boosting = any(boosts(last_step(model)) for model in tuned.models())
        misleads = is_boosting and n_samples < MANY_SAMPLES
        return "boosting with few iterations ranks candidates differently" if misleads else ""
    if not resource.counts_samples:
        return ""
    models = [last_step(model) for model in tuned.models()]
    if any(hasattr(model, "fit_predict") and not hasattr(model, "predict") for model in models):
        return "models without predict are scored by what they found in their training samples"
    if _has_shares(tuned):
        return f"the best {_SIZE} depends on the number of samples"
    found = {_size(last_step(model), searched) for model, searched in tuned.variants()}
    if "" in found or tuned.decisive_distributions() or n_samples >= MANY_SAMPLES:
        return ""
    depend = "depends" if len(found) == 1 else "depend"
    return f"the best {' and the best '.join(sorted(found))} {depend} on the number of samples"


def _size(model: Any, searched: frozenset[str]) -> str:
    """What is searched of a tree or of nearest neighbors and depends on the number of samples."""
    if isinstance(model, BaseDecisionTree):
        return _SIZE
    is_counted = isinstance(model, KNeighborsClassifier | KNeighborsRegressor)
    return "number of neighbors" if is_counted and "n_neighbors" in searched else ""


def _has_shares(tuned: TunedEstimator) -> bool:
    """Whether parameters of trees are searched that count in shares of the samples."""
    prefix = last_prefix(tuned.estimator)
    return any(
        _counts_in_shares(name.rpartition("__")[2], values)
        for space in tuned.spaces
        for name, values in space.items()
        if name.startswith(prefix)
    )


def _counts_in_shares(name: str, values: Any) -> bool:
    """Whether values of a parameter of trees count in shares of the samples."""
    if name not in _ABSOLUTE_OR_RELATIVE:
        return name in _RELATIVE
    return not hasattr(values, "pmf") if hasattr(values, "rvs") else not all(map(is_int, values))


def _suits(resource: Resource, tuned: TunedEstimator) -> bool:
    """Whether a resource that each candidate has suits the whole space."""
    if resource.space_error(tuned):
        return False
    # Steps that are fitted separately receive what the original ones request.
    return not (tuned.searches_requests and resource.trains_last_step(tuned))


def _preferred(model: Any, searched: frozenset[str]) -> tuple[str, Any]:
    """The resource of a model by itself, and how much of it ``fit`` has."""
    preferences = (kind.preferred(model, searched) for kind in KINDS)
    return next(filter(None, preferences), (SampleCount.name, None))
