"""Which resource ``resource="auto"`` chooses for an estimator and the space that is searched."""

from __future__ import annotations

from typing import Any

from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.epochs import has_partial_fit
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit
from sklearn_sha.resources.registry import KINDS, NAMED
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_step


def auto_resource(tuned: TunedEstimator, batch_size: int | None = None) -> str:
    """The resource of a search that names none: one that all candidates of its space have.

    Parameters
    ----------
    tuned : TunedEstimator
        Of a Pipeline, the last step decides.
    batch_size : int or None, default=None

    Returns
    -------
    str
        "partial_fit" if it trains one of the epochs that `fit` would train, or if there is a
        `batch_size` and a candidate has it; the parameter that counts trees or boosting iterations
        if it is not searched; otherwise "n_samples", also if candidates differ in this.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.neural_network import MLPClassifier
    >>> from sklearn_sha.resources.automatic import auto_resource
    >>> from sklearn_sha.resources.tuned_estimator import TunedEstimator
    >>> models = MLPClassifier(), RandomForestClassifier(), SGDClassifier()
    >>> [auto_resource(TunedEstimator(model, [{}])) for model in models]
    ['partial_fit', 'n_estimators', 'n_samples']
    >>> auto_resource(TunedEstimator(MLPClassifier(), [{"solver": ["adam", "lbfgs"]}]))
    'n_samples'
    """
    if batch_size is not None and any(has_partial_fit(last_step(m)) for m in tuned.models()):
        return PartialFit.name
    if tuned.decisive_distributions():
        return SampleCount.name
    found = {_preferred(model, searched) for model, searched in tuned.variants()}
    if len(found) != 1:
        return SampleCount.name
    ((name, _),) = found
    return name if name not in NAMED or _suits(NAMED[name](), tuned) else SampleCount.name


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
