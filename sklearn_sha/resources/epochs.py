"""How often an estimator's ``fit`` goes through the samples, and when it stops."""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn.base import clone

from sklearn_sha._param_validation import is_int

ITERATION_PARAMETERS = ("max_iter", "n_iter", "max_epochs")
"""Names of the parameter that sets how often ``fit`` iterates."""

_STOPPING = ("max_iter", "max_epochs", "tol", "n_iter_no_change")
"""Names of the parameters that decide when ``fit`` stops. ``partial_fit`` ignores them."""


def iterations(model: Any) -> tuple[str, int | None]:
    """The parameter that sets how often a model's ``fit`` iterates, and its value.

    Examples
    --------
    >>> from sklearn.neural_network import MLPClassifier
    >>> from sklearn.svm import SVC
    >>> from sklearn_sha.resources.epochs import iterations
    >>> iterations(MLPClassifier()), iterations(SVC(max_iter="many"))
    (('max_iter', 200), ('', None))
    """
    for name in ITERATION_PARAMETERS:
        value: Any = getattr(model, name, None)
        if is_int(value):
            return name, int(value)
    return "", None


def can_stop(model: Any) -> bool:
    """Whether a model's ``fit`` can stop before all its iterations.

    With ``tol=None``, that of SGDClassifier and similar linear models runs all of them.
    """
    if hasattr(model, "tol"):
        return model.tol is not None
    return hasattr(model, "n_iter_no_change")


def has_partial_fit(model: Any) -> bool:
    """Whether ``partial_fit`` of a model's clones trains them, unlike that of FrozenEstimator.

    Its clone is itself, and ``partial_fit`` that of the fitted estimator in it.
    """
    return offers_partial_fit(model) and clone(model, safe=False) is not model


def offers_partial_fit(model: Any) -> bool:
    """Whether a model has a ``partial_fit``, unlike networks with the solver "lbfgs".

    MLPRegressor has the method for this solver too, and each call runs all its iterations.
    """
    if not hasattr(model, "partial_fit"):
        return False
    return not isinstance(model, _networks()) or getattr(model, "solver", "") != "lbfgs"


def trains_epochs(model: Any) -> bool:
    """Whether a call of a model's ``partial_fit`` trains an epoch as its ``fit`` does."""
    if not has_partial_fit(model):
        return False
    if isinstance(model, _networks()):
        return not getattr(model, "early_stopping", False)
    return hasattr(model, "max_epochs")  # skorch, and what is built like it


def stops_by_itself(model: Any, searched: frozenset[str]) -> bool:
    """Whether parameters that a number of epochs would ignore decide when ``fit`` stops.

    Parameters
    ----------
    model : estimator
        For which `trains_epochs` holds.
    searched : frozenset of str
        Its parameters that are searched.
    """
    if not searched.isdisjoint(_STOPPING):
        return True
    if not isinstance(model, _networks()):
        return getattr(model, "callbacks", None) not in (None, "disable", [])
    # A subclass can have a constructor of its own.
    default = next(network for network in _networks() if isinstance(model, network))()
    return any(
        getattr(model, name, None) != getattr(default, name) for name in ("tol", "n_iter_no_change")
    )


@cache
def _networks() -> Any:
    # A slow import.
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return MLPClassifier, MLPRegressor
