"""Validation of a search's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.utils import check_random_state, get_tags

from sklearn_sha._param_validation import (
    InvalidParameterError,
    check_int,
    check_target,
    check_tol,
    is_int,
    is_real,
)
from sklearn_sha.bandit.stopping import stop_rule
from sklearn_sha.candidates.space import COMPONENTS, with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.resolve import check_estimators
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_step
from sklearn_sha.schedules import Schedule
from sklearn_sha.schedules.validation import exact_factor

_SINGLE_VALUES = (
    "algorithm", "audit_eliminated", "batch_size", "budget", "checkpoint", "error_score", "factor",
    "fit_timeout", "keep_eliminated", "keep_initial", "max_resources", "max_time", "min_folds",
    "min_resources", "model_memory", "n_candidates", "n_iter", "n_jobs", "n_repeats", "patience",
    "pre_dispatch", "promote_by", "random_state", "refit", "resource", "return_train_score",
    "sampler", "score_aggregation", "stop", "target_score", "tol", "verbose",
)  # fmt: skip
"""Parameters that are no arrays. Those that a subclass adds, and fitted attributes, can be."""

_HALVING_VALUES = {"n_candidates": ("exhaust",), "min_resources": ("exhaust", "smallest")}
"""What only HalvingGridSearchCV and HalvingRandomSearchCV accept."""


def check_parameters(params: Mapping[str, Any]) -> None:
    """Check the parameters that can be checked independently of the data.

    Parameters
    ----------
    params : mapping of str to object
        Parameters of the search by name.

    Raises
    ------
    TypeError, ValueError
    """
    for name in ("estimator", "cv"):
        if isinstance(given := params[name], type):
            raise InvalidParameterError(
                f"{name}={given.__name__} is a class. Pass an instance of it: {given.__name__}()."
            )
    _check_no_arrays(params)
    for name, values in _HALVING_VALUES.items():
        if isinstance(given := params.get(name), str) and given in values:
            raise InvalidParameterError(
                f"{name}={given!r} is a value of scikit-learn's halving searches. Set {name} to "
                '"auto" or a number.'
            )
    _check_cv(params["cv"])
    if not hasattr(params["estimator"], "fit"):
        raise InvalidParameterError(
            f"estimator={params['estimator']!r} must be an estimator with a fit method."
        )
    _check_integers(params)
    check_tol(params["tol"])
    for name in ("max_time", "fit_timeout"):
        seconds = params[name]
        if seconds is not None and not (is_real(seconds) and seconds > 0):
            raise InvalidParameterError(
                f"{name}={seconds!r} must be a number of seconds above 0, or None."
            )
    exact_factor(params["factor"])  # also of a search whose algorithm ignores it
    stop_rule(params["stop"])
    check_target("target_score", params["target_score"])
    for name in ("keep_initial", "keep_eliminated", "return_train_score"):
        if not isinstance(params[name], bool | np.bool_):
            raise InvalidParameterError(f"{name}={params[name]!r} must be True or False.")
    _check_parallel_parameters(params)
    aggregation = params["score_aggregation"]
    if aggregation not in ("last", "best", "mean"):
        raise InvalidParameterError(
            f'score_aggregation={aggregation!r} must be "last", "best" or "mean".'
        )
    error_score = params["error_score"]
    if error_score != "raise" and not is_real(error_score):
        raise InvalidParameterError(
            f"error_score={error_score!r}: error_score must be the string 'raise' or a "
            "numeric value."
        )
    refit = params["refit"]
    if not (isinstance(refit, bool | np.bool_ | str) or callable(refit)):
        raise InvalidParameterError(
            f"refit={refit!r} must be a bool, the name of a metric, or a callable that receives "
            "cv_results_."
        )


def random_state_of(random_state: Any) -> RandomState:
    """Return the RandomState that the parameter `random_state` of a search stands for.

    Raises
    ------
    ValueError
    """
    try:
        return check_random_state(random_state)
    except ValueError:
        raise InvalidParameterError(
            f"random_state={random_state!r} must be an integer from 0 to 2**32 - 1, a "
            "numpy.random.RandomState, or None."
        ) from None


def _check_no_arrays(params: Mapping[str, Any]) -> None:
    """Raise if a parameter that is compared with values is an array, which has no truth value."""
    for name in _SINGLE_VALUES:
        given: Any = params.get(name)
        if hasattr(given, "__array__") and np.ndim(given) > 0:
            kind = type(given).__name__
            raise InvalidParameterError(f"{name} is of type {kind}. Pass a single value.")


def _check_cv(cv: Any) -> None:
    is_number = isinstance(cv, Integral)
    is_splitter = hasattr(cv, "split") and hasattr(cv, "get_n_splits")
    has_splits = is_splitter or isinstance(cv, Iterable)
    if isinstance(cv, str) or (is_number and cv < 2) or not (is_number or has_splits or cv is None):
        raise InvalidParameterError(
            f"cv={cv!r} must be an integer of at least 2, a splitter with split and get_n_splits, "
            "such as KFold(), an iterable of splits, or None."
        )


def _check_parallel_parameters(params: Mapping[str, Any]) -> None:
    n_jobs, pre_dispatch, verbose = (params[name] for name in ("n_jobs", "pre_dispatch", "verbose"))
    if n_jobs is not None and not isinstance(n_jobs, Integral):
        raise InvalidParameterError(f"n_jobs={n_jobs!r} must be an integer, or None.")
    if not isinstance(pre_dispatch, Integral | str):
        raise InvalidParameterError(
            f"pre_dispatch={pre_dispatch!r} must be an integer or a string."
        )
    if not (isinstance(verbose, bool | np.bool_) or (is_int(verbose) and verbose >= 0)):
        raise InvalidParameterError(
            f"verbose={verbose!r} must be an integer of at least 0, or a bool."
        )


def _check_integers(params: Mapping[str, Any]) -> None:
    check_int("max_resources", params["max_resources"], "auto")
    check_int("min_folds", params["min_folds"], "auto", "all")
    check_int("batch_size", params["batch_size"], None)
    lowest = params["min_resources"]
    is_positive = is_real(lowest) and lowest > 0
    if not (lowest == "auto" or (is_positive and (lowest <= 1 or is_int(lowest)))):
        raise InvalidParameterError(
            f"min_resources={lowest!r} must be an integer of at least 1, or a float in (0, 1] (a "
            'fraction of the maximum), or "auto".'
        )
    check_int("audit_eliminated", params["audit_eliminated"], "auto", None)
    check_int("model_memory", params["model_memory"], "auto", None)


def check_has_targets(models: Sequence[Any], y: Any) -> None:
    """Raise scikit-learn's error if y is None and all estimators require it.

    Of a pipeline, its last step.
    """
    lasts = [*map(last_step, models)]
    if y is None and all(map(_requires_targets, lasts)):
        raise ValueError(
            f"{type(lasts[0]).__name__} requires y to be passed, but the target y is None. Pass "
            "the targets to fit."
        )


def _requires_targets(model: Any) -> bool:
    """Return whether `fit` requires y.

    All classifiers and regressors have the tag, also those whose targets are in X.
    """
    if not hasattr(model, "fit") or not get_tags(model).target_tags.required:
        return False
    given = signature(model.fit).parameters.get("y")
    return given is None or given.default is not None


def check_given_data(method: str, X: Any, y: Any, space_name: str = "") -> None:
    """Raise an error if another parameter of a method is given in the place of the data.

    Parameters
    ----------
    method : str
        Method that continues a search, for the message.
    X, y : array-like
        Its first arguments.
    space_name : str, default=""
        Name of its search space. Empty if it has none.

    Raises
    ------
    TypeError
    """
    if is_int(X) or isinstance(X, str):
        kind, others, name = "no data", "The number of candidates is", "n_candidates"
    elif space_name and isinstance(X, Mapping) and y is None:
        kind, others, name = "a dict", "Values of further candidates are", space_name
    else:
        return
    raise TypeError(
        f"The first arguments of {method} are X and y of fit, but X={X!r} is {kind}. {others} "
        f"passed by name: {method}(X, y, {name}=...)."
    )


def check_names(estimator: Any, candidates: Iterable[Mapping[str, Any]]) -> None:
    """Raise scikit-learn's error if the estimator lacks a parameter of a candidate.

    Candidates with the same names can differ in that only if they replace a component whose
    parameters they have.

    Parameters
    ----------
    estimator : estimator
    candidates : iterable of dict

    Raises
    ------
    ValueError
    """
    replaced: dict[tuple[str, ...], list[str]] = {}
    checked = set()
    for params in candidates:
        names = tuple(params)
        if names not in replaced:
            parts = {name[: mark.start()] for name in names for mark in re.finditer("__", name)}
            replaced[names] = [
                name for name in names if name in parts or name.rpartition("__")[2] in COMPONENTS
            ]
        key = names, *(id(params[name]) for name in replaced[names])
        if key not in checked:
            checked.add(key)
            with_params(estimator, params)


def check_sampled(
    resource: Resource, tuned: TunedEstimator, candidates: list[dict[str, Any]]
) -> None:
    """Raise an error if a candidate lacks the resource because of a sampled step or parameter."""
    if sampled := tuned.decisive_distributions():
        models = [with_params(tuned.estimator, p) for p in candidates if not sampled.isdisjoint(p)]
        check_estimators(resource, tuned, [*tuned.models(), *models])


def promoting_metric(
    metrics: list[str], is_multimetric: bool, scoring: Any, refit: Any, promote_by: str | None
) -> str:
    """Return the metric by which candidates are promoted.

    Parameters
    ----------
    metrics : list of str
        Names of all metrics; ``["score"]`` for a single one.
    is_multimetric : bool
        Whether the user names the metrics, so that `refit` must be one of them.
    scoring, refit, promote_by
        Parameters of the search.

    Returns
    -------
    str
        The first in `metrics` of `promote_by`, `refit` and the first metric.

    Raises
    ------
    ValueError
        If `refit` or `promote_by` is none of the metrics.
    """
    known = metrics
    if is_multimetric:
        _check_refit_metric(metrics, refit)
    elif isinstance(scoring, str):
        known = ["score", scoring]  # GridSearchCV's name of a single metric, and its own
    if promote_by is not None and promote_by not in known:
        raise ValueError(
            f"promote_by={promote_by!r} is none of the metrics {known}. Set it to one of them, or "
            "to None."
        )
    preferred: list[str] = [promote_by or "", refit, *metrics]
    return next(name for name in preferred if name in metrics)


def callable_refit_message(
    refit: Any,
    promote_by: str | None,
    metrics: list[str] | None,
    schedule: Schedule,
    *,
    can_train_all: bool,
) -> str:
    """Return the warning that a callable `refit` does not receive all candidates, or "".

    There is none if `promote_by` confirms the metric by which the others are eliminated.

    Parameters
    ----------
    refit, promote_by
        Parameters of the search.
    metrics : list of str or None
        Names of the metrics, ``["score"]`` for a single one. None if they are unknown before the
        first score.
    schedule : Schedule
    can_train_all : bool
        Whether ``min_resources=1.0`` trains all candidates with full resource.
    """
    eliminates = any(
        rung.bracket == later.bracket and rung.n_candidates > later.n_candidates
        for rung, later in pairwise(schedule.rungs)
    )
    if not (callable(refit) and promote_by is None and eliminates):
        return ""
    of_each = " of each bracket" if schedule.has_brackets else ""
    keep = "To train all with full resource, set min_resources=1.0. " if can_train_all else ""
    if metrics is None:
        by, name = "", '"score" if scoring returns a number, otherwise the metric that refit uses'
    elif metrics == ["score"]:
        by, name = " by their score", '"score"'
    else:
        by, name = f" by {metrics[0]!r}, the first metric", "the metric that refit uses"
    return (
        f"refit is a callable, and receives only the candidates of the last rung{of_each}. The "
        f"others are eliminated{by}. {keep}To confirm the elimination, set promote_by to {name}."
    )


def _check_refit_metric(metrics: list[str], refit: Any) -> None:
    if refit is False or callable(refit):
        return
    if not (isinstance(refit, str) and refit in metrics):
        raise ValueError(
            "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
            "callable to refit an estimator with the best parameter setting on the whole data "
            "and make the best_* attributes available for that metric. If this is not needed, "
            f"refit should be set to False explicitly. {refit!r} was passed, and the metrics are "
            f"{metrics}."
        )
