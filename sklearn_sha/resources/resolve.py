"""From what the user gives as ``resource=`` to a resource that the estimator has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_sha._param_validation import InvalidParameterError
from sklearn_sha.resources.automatic import auto_resource
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.registry import KINDS, NAMED
from sklearn_sha.resources.tuned_estimator import TunedEstimator


def resolve_resource(given: Any, tuned: TunedEstimator, batch_size: int | None = None) -> Resource:
    """The resource of a search.

    Parameters
    ----------
    given : str or Resource
        "auto", the name of a kind or of an integer parameter, or an instance.
    tuned : TunedEstimator
    batch_size : int or None, default=None

    Returns
    -------
    Resource
        Whether the estimator has it is for `check_estimators` to find out.

    Raises
    ------
    TypeError
        If `given` is neither a string nor a Resource.
    ValueError
        If the resource can't have that `batch_size`.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha.resources.resolve import resolve_resource
    >>> from sklearn_sha.resources.tuned_estimator import TunedEstimator
    >>> tuned = TunedEstimator(SGDClassifier(), [{"alpha": [1e-4, 1e-3]}])
    >>> resolve_resource("auto", tuned).name, resolve_resource("auto", tuned, batch_size=32).name
    ('n_samples', 'partial_fit')
    >>> resolve_resource("max_iter", tuned).best_params(5)
    {'max_iter': 5}
    """
    if isinstance(given, Resource):
        return given.with_batch_size(batch_size)
    if not isinstance(given, str):
        names = ", ".join(f'"{name}"' for name in ("auto", *NAMED))
        raise InvalidParameterError(
            f"resource={given!r} is neither a string nor a Resource; give {names}, the name of an "
            "integer parameter, or an instance of a subclass of sklearn_sha.resources.Resource."
        )
    name = auto_resource(tuned, batch_size) if given == "auto" else given
    resource = NAMED[name]() if name in NAMED else IntegerParameter(name)
    return resource.with_batch_size(batch_size)


def check_estimators(resource: Resource, tuned: TunedEstimator, models: Sequence[Any]) -> None:
    """Check that estimators have a resource, and that it is not searched.

    Parameters
    ----------
    resource : Resource
    tuned : TunedEstimator
    models : sequence of estimator
        As the search space makes them; not fitted.

    Raises
    ------
    ValueError
        If one does not have it; the message names the resources that all of them have.
    """
    if error := resource.space_error(tuned):
        raise ValueError(error)
    for model in models:
        if why_not := resource.why_not(model):
            names = [name for kind in KINDS for name in kind.alternatives(models, tuned.searched)]
            advice = " or ".join(f"resource={name!r}" for name in names)
            without = "leave batch_size=None and " if resource.in_batches else ""
            raise ValueError(f"{why_not}; {without}use {advice}.")
