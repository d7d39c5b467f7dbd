"""Parameters and data of a search, checked and assembled."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags, indexable

from sklearn_sha._data.folds import Fold, make_folds
from sklearn_sha._data.samples import sample_indices
from sklearn_sha._data.subsampling import class_codes, with_subsampling
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.scoring import Scoring, make_scoring
from sklearn_sha._search.advice import (
    cheaper_resources,
    cost_warning,
    grid_notes,
    plan_notes,
    why_grid_search,
)
from sklearn_sha._search.limits import WORTH_HALVING, Limits, limits_of, minimum, unit_of
from sklearn_sha._search.resource_of import (
    all_continue,
    make_resource,
    resource_kind,
    trains_last_step,
)
from sklearn_sha._search.routing import route, routing_enabled
from sklearn_sha._search.validation import (
    check_first_rung,
    check_parameters,
    check_resource,
    check_sampled,
    warn_of_counting,
    warn_of_ignored,
)
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.sampling import sample_distinct
from sklearn_sha.candidates.space import search_space, with_params
from sklearn_sha.resources.automatic import (
    last_step,
)
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit
from sklearn_sha.schedules import Schedule


@dataclass(frozen=True)
class Setup:
    """All that a search is.

    Attributes
    ----------
    sampler : Sampler
    algorithm : Algorithm
    candidates : list of dict
        Those that are known before the search.
    seed : int
        Of subsamples, mini-batches and candidates that are sampled later.
    schedule : Schedule
    folds : list of Fold
    setting : EvaluationConfig
    scoring : Scoring
    resource : str
        What "auto" became.
    warning : str
        What the user should know before the search runs; empty if nothing.
    """

    sampler: Sampler
    algorithm: Algorithm
    candidates: list[dict[str, Any]]
    seed: int
    schedule: Schedule
    folds: list[Fold]
    setting: EvaluationConfig
    scoring: Scoring
    resource: str
    warning: str = ""


def set_up(search: Any, X: Any, y: Any, params: dict[str, Any], random_state: RandomState) -> Setup:
    """Check a search's parameters against its data, draw candidates and cut folds.

    Parameters
    ----------
    search : search estimator
        Not changed, but for random states and iterators among its parameters.
    X, y : array-like
    params : dict
        Of fit: metadata for the estimator, the splitter and the scorer.
    random_state : RandomState
        Advanced by what is drawn.

    Returns
    -------
    Setup

    Raises
    ------
    TypeError, ValueError
        For what the user got wrong, with the parameter, its value and what to do.
    """
    check_parameters(search)
    scoring = make_scoring(
        search.estimator, search.scoring, raise_errors=search.error_score == "raise"
    )
    if scoring.metrics is not None:  # else they are known once something has been scored
        search._promoting_metric(scoring.metrics)
    X, y = indexable(X, y)
    last = last_step(search.estimator)
    if y is None and hasattr(last, "fit") and get_tags(last).target_tags.required:
        raise ValueError(
            f"{type(last).__name__} requires y to be passed, but the target y is "
            "None; give fit the targets."
        )
    example = _example(search, random_state)
    kind = resource_kind(search)
    if kind == "partial_fit":
        warn_of_ignored(search)
    check_resource(search, kind)

    shares_preprocessing = trains_last_step(search.estimator, search_space(search), kind)
    routed = route(search, params, scoring, kind, shares_preprocessing)
    splitter = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    splits = list(splitter.split(X, y, **routed.split))
    if not splits:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? "
            f"cv={search.cv!r} yields no split; give one that yields at least one."
        )
    n_splits = splitter.get_n_splits(X, y, **routed.split)
    if len(splits) != n_splits:
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. Expected "
            f"{n_splits} splits, got {len(splits)} from cv={search.cv!r}."
        )
    n_train = max(len(sample_indices(train)) for train, _ in splits)
    codes = class_codes(y) if is_classifier(search.estimator) else None
    unit = unit_of(search, kind, example)
    limits = replace(limits_of(search, kind, example, n_train, codes, X), resource=kind, unit=unit)
    algorithm, sampler = search._algorithm(), search._sampler()

    def bounds(n_candidates: int) -> Bounds:
        return _bounds(search, algorithm, limits, n_candidates)

    n_candidates, candidates = search._candidates(bounds, random_state)
    check_sampled(search, kind, candidates)
    continues = all_continue(search, kind, shares_preprocessing, candidates, n_train, routed.fit)
    limits = replace(limits, continues=continues)
    schedule = algorithm.plan(bounds(n_candidates))
    search._check_plan(schedule, limits)
    check_first_rung(kind, schedule, limits)
    if kind == "partial_fit":
        warn_of_counting(search, schedule.rungs[-1].resource)
    notes: list[str] = []
    if limits.is_automatic and limits.cost(schedule) > WORTH_HALVING:
        notes.append(why_grid_search(replace(schedule, unit=unit), limits))
        warning = ""
        schedule = Schedule.from_rungs([n_candidates], [n_train], continues=False)
        if kind == "n_samples":
            notes += cheaper_resources(search, schedule, n_train)
        else:
            kind, unit = "n_samples", SampleCount.unit
            shares_preprocessing = trains_last_step(search.estimator, search_space(search), kind)
            routed.fit.pop("classes", None)  # which fit finds in y
    else:
        warning = cost_warning(schedule, limits)
        notes += plan_notes(search, kind, example, schedule, n_train)
    notes += grid_notes(search, candidates)
    schedule = replace(schedule, unit=unit, notes=tuple(notes))
    folds = make_folds(
        X,
        y,
        splits,
        fit_params=routed.fit,
        prefix_params=routed.prefix,
        score_params=routed.score,
        pairwise=_is_pairwise(example, X),
    )
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    resource = make_resource(search, kind, shares_preprocessing, seed, last_step(example), y)
    if not isinstance(resource, PartialFit | IntegerParameter):
        folds = with_subsampling(folds, splitter=splitter, codes=codes, seed=seed)
    setting = EvaluationConfig(
        search.estimator,
        resource,
        scoring.scorer,
        search.error_score,
        search.return_train_score,
        shares_preprocessing,
        schedule.continues,
        # Under routing, a pipeline's own score may send metadata to its other steps.
        scores_pipeline=shares_preprocessing
        and (
            not scoring.sees_predictions_only
            or bool(search.scoring is None and routed.score and routing_enabled())
        ),
    )
    return Setup(
        sampler, algorithm, candidates, seed, schedule, folds, setting, scoring, kind, warning
    )


def _bounds(search: Any, algorithm: Algorithm, limits: Limits, n_candidates: int) -> Bounds:
    """What an algorithm can plan with."""
    if algorithm.needs_maximum:
        highest = limits.maximum(search.max_resources)
        least = minimum(search.min_resources, highest)
    else:
        highest, least = limits.cap(search.max_resources) or 0, None
    return Bounds(
        n_candidates,
        highest,
        least,
        limits.first,
        limits.lowest,
        search.max_resources == "auto",
        limits.continues,
    )


def _example(search: Any, random_state: RandomState) -> Any:
    """The estimator with the parameters of one candidate."""
    (params,) = sample_distinct(search_space(search), 1, deepcopy(random_state))
    return with_params(search.estimator, params)


def _is_pairwise(estimator: Any, X: Any) -> bool:
    if not get_tags(estimator).input_tags.pairwise:
        return False
    if not hasattr(X, "shape") or X.shape[0] != X.shape[1]:
        raise ValueError(
            "X should be a square kernel matrix: precomputed kernels, affinities and distances "
            "have to be passed as arrays or sparse matrices of shape (n_samples, n_samples)."
        )
    return True
