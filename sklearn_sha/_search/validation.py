"""Checks of a search's parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int, check_patience, is_int, is_real
from sklearn_sha._search.limits import COUNTING, ITERATION_PARAMETERS, Limits
from sklearn_sha._search.resource_of import batch_size_of, own_resource, searched_names, variants_of
from sklearn_sha.candidates.space import search_space, space_name, spaces_of, with_params
from sklearn_sha.resources.automatic import (
    decisive_distributions,
    last_prefix,
    last_step,
    resamples,
)
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.boosting_libraries import booster_of
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit
from sklearn_sha.schedules import Schedule

_GROWING_PARAMETERS = ("n_estimators", *ITERATION_PARAMETERS)

# Of scikit-learn's estimators: when fit is to stop, which a number of calls decides here.
_NOT_OF_PARTIAL_FIT = ("max_iter", "n_iter_no_change", "tol")


def _has_parameter(estimator: Any, name: str) -> bool:
    params = estimator.get_params()
    owner, _, own_name = name.rpartition("__")
    # CatBoost's parameters are those that were set.
    booster = booster_of(params.get(owner) if owner else estimator)
    return name in params or (booster is not None and own_name in booster.rounds)


def check_first_rung(kind: str, schedule: Schedule, limits: Limits) -> None:
    first = min(schedule.n_resources)
    if kind == "n_samples" and 2 * first < limits.lowest and first != limits.highest:
        raise ValueError(
            f"resource='n_samples' would start with {quantity(first, SampleCount.unit)}, too "
            f"few to contain each of the {limits.lowest // 2} classes; raise min_resources, "
            "max_resources or budget (they count training samples), or choose another resource."
        )


def check_parameters(search: Any) -> None:
    if isinstance(search.estimator, type):
        name = search.estimator.__name__
        raise TypeError(f"estimator={name} is a class; give an instance of it: {name}().")
    least = search.min_resources
    check_int("max_resources", search.max_resources, '"auto"', search.max_resources == "auto")
    check_int("batch_size", search.batch_size, "None", search.batch_size is None)
    is_fraction = is_real(least) and not is_int(least) and 0 < least <= 1
    check_int(
        "min_resources",
        least,
        '"auto" or a float in (0, 1], a fraction of max_resources',
        least == "auto" or is_fraction,
    )
    check_patience(search.patience, search.tol)
    is_otherwise = search.model_memory in ("auto", None)
    check_int("model_memory", search.model_memory, '"auto" or None', is_otherwise)
    for name in ("max_time", "fit_timeout"):
        seconds = getattr(search, name)
        if seconds is not None and not (is_real(seconds) and seconds > 0):
            raise ValueError(f"{name}={seconds!r} must be a number of seconds above 0, or None.")
    if search.score_aggregation not in ("last", "best", "mean"):
        raise ValueError(
            f'score_aggregation={search.score_aggregation!r} must be "last", "best" or "mean".'
        )
    if search.error_score != "raise" and not is_real(search.error_score):
        raise ValueError(
            f"error_score={search.error_score!r}: error_score must be the string 'raise' or a "
            "numeric value."
        )
    if not isinstance(search.resource, str | Resource):
        raise TypeError(
            f'resource={search.resource!r} is neither a string nor a Resource; give "auto", '
            '"partial_fit", "n_samples", the name of an integer parameter, or an instance of a '
            "subclass of sklearn_sha.resources.Resource."
        )
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise TypeError(
            f"refit={search.refit!r} is neither a bool, nor a metric's name, nor a callable "
            "over cv_results_."
        )


def check_resource(search: Any, kind: str) -> None:
    batch_size = search.batch_size
    if batch_size is not None and kind != "partial_fit":
        raise ValueError(
            f"batch_size={batch_size} is for resource='partial_fit', but the resource is "
            f"{kind!r}; leave batch_size=None."
        )
    if isinstance(search.resource, PartialFit) and batch_size not in (None, batch_size_of(search)):
        raise ValueError(
            f"batch_size={batch_size} and resource=PartialFit(batch_size="
            f"{batch_size_of(search)}) are not the same; leave batch_size=None."
        )
    if kind == "n_samples" or own_resource(search) is not None:
        return
    if kind != "partial_fit" and kind in searched_names(search_space(search)):
        raise ValueError(
            f"resource={kind!r} is searched too; take it out of {space_name(search)}, or use "
            "another resource."
        )
    _check_have_resource(search, kind, variants_of(search))


def check_sampled(search: Any, kind: str, candidates: list[dict[str, Any]]) -> None:
    """Raise an error if a candidate lacks the resource because of a sampled step or parameter."""
    if kind == "n_samples" or own_resource(search) is not None:
        return
    sampled = decisive_distributions(search.estimator, spaces_of(search_space(search)))
    models = [with_params(search.estimator, p) for p in candidates if not sampled.isdisjoint(p)]
    _check_have_resource(search, kind, [*variants_of(search), *models])


def _check_have_resource(search: Any, kind: str, models: list[Any]) -> None:
    """Raise an error if an estimator, as the space makes it, can't have a resource."""
    for model in models:
        if why_not := _why_not(model, kind):
            raise ValueError(f"{why_not}; {_what_works(search, models)}.")


def _why_not(model: Any, kind: str) -> str:
    """Why an estimator can't have a resource; empty if it can."""
    name, last = type(model).__name__, last_step(model)
    if kind == "partial_fit":
        if resamples(model):
            return (
                f"resource='partial_fit' can't train the last step of {name} apart from steps "
                "that resample"
            )
        if not hasattr(last, "partial_fit"):
            return f"resource='partial_fit' needs partial_fit, which {last} does not have"
        return ""
    if not _has_parameter(model, kind):
        which = name if last is model else f"{name} with the last step {last}"
        return f"resource={kind!r} is no parameter of {which}"
    value = model.get_params().get(kind)
    if value is not None and not is_int(value):
        return f"resource={kind!r} is no integer parameter of {name} (its value is {value!r})"
    return ""


def warn_of_counting(search: Any, n_calls: int) -> None:
    last = last_step(search.estimator)
    if n_calls > 1 and type(last).__name__ in COUNTING and batch_size_of(search) is None:
        warnings.warn(
            f"resource='partial_fit' gives {type(last).__name__} the same samples at every call, "
            "which adds them to its counts again. Set resource='n_samples', or set batch_size, "
            "which limits training to one pass.",
            UserWarning,
            stacklevel=4,
        )


def warn_of_ignored(search: Any) -> None:
    last = last_step(search.estimator)
    owner = last_prefix(search.estimator)
    searched = {
        name.rpartition("__")[2]
        for name in searched_names(search_space(search))
        if name.startswith(owner)
    }
    ignored = sorted(searched.intersection(_NOT_OF_PARTIAL_FIT))
    if ignored and type(last).__module__.startswith("sklearn."):
        warnings.warn(
            f"{space_name(search)} searches {', '.join(ignored)}, which partial_fit of "
            f"{type(last).__name__} ignores: candidates that differ in nothing else are "
            "the same. Take it out, or set resource='n_samples'.",
            UserWarning,
            stacklevel=4,
        )


def _what_works(search: Any, models: list[Any]) -> str:
    """Advice to use a resource that all estimators of the space have."""
    params = [model.get_params() for model in models]
    shared = set.intersection(*map(set, params)) - searched_names(search_space(search))
    fitting = [
        name
        for name in sorted(shared)
        if name.split("__")[-1] in _GROWING_PARAMETERS
        and all(is_int(of_model[name]) and of_model[name] >= 1 for of_model in params)
    ]
    always = [] if any(_why_not(model, "partial_fit") for model in models) else ["partial_fit"]
    names = [*always, "n_samples", *fitting]
    return "use " + " or ".join(f"resource={name!r}" for name in names)
