"""Checks of a search's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_sha._param_validation import check_int, check_patience, is_int, is_real
from sklearn_sha.candidates.space import with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.resolve import check_estimators
from sklearn_sha.resources.tuned_estimator import TunedEstimator


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
    is_alternative = search.model_memory in ("auto", None)
    check_int("model_memory", search.model_memory, '"auto" or None', is_alternative)
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
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise TypeError(
            f"refit={search.refit!r} is neither a bool, nor a metric's name, nor a callable "
            "over cv_results_."
        )


def check_sampled(
    resource: Resource, tuned: TunedEstimator, candidates: list[dict[str, Any]]
) -> None:
    """Raise an error if a candidate lacks the resource because of a sampled step or parameter."""
    if sampled := tuned.decisive_distributions():
        models = [with_params(tuned.estimator, p) for p in candidates if not sampled.isdisjoint(p)]
        check_estimators(resource, tuned, [*tuned.models(), *models])
