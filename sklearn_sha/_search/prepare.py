"""Parameters and data of a search, checked and assembled."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
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
    WORTH_HALVING,
    cost_warning,
    grid_notes,
    why_grid_search,
)
from sklearn_sha._search.routing import route, routing_enabled
from sklearn_sha._search.validation import check_parameters, check_sampled
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.sampling import N_CANDIDATES, sample_distinct
from sklearn_sha.candidates.space import search_space, space_name, spaces_of, with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits, TrainingData, minimum
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.resolve import check_estimators, resolve_resource
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step
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
    config : EvaluationConfig
    scoring : Scoring
    resource : Resource
        As the user gave it, or what "auto" became; `config` has it as the workers receive it.
    warning : str
        What the user should know before the search runs; empty if nothing.
    """

    sampler: Sampler
    algorithm: Algorithm
    candidates: list[dict[str, Any]]
    seed: int
    schedule: Schedule
    folds: list[Fold]
    config: EvaluationConfig
    scoring: Scoring
    resource: Resource
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
    tuned = tuned_estimator(search)
    resource = resource_of(search)
    check_estimators(resource, tuned, tuned.models())

    shares_preprocessing = resource.trains_last_step(tuned)
    routed = route(search, params, scoring, resource.training_method, shares_preprocessing)
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
    n_classes = 1 if codes is None else int(codes.max()) + 1
    limits = replace(
        resource.limits(tuned, example, TrainingData(X, n_train, n_classes)),
        resource=resource.name,
        unit=resource.unit_for(example),
    )
    algorithm, sampler = search._algorithm(), search._sampler()
    bounds = partial(_bounds, search, algorithm, limits)
    n_candidates, candidates = search._candidates(bounds, random_state)
    # Of a sampler that proposes more later, samples of the space stand for what it may propose.
    known = candidates or sample_distinct(search_space(search), N_CANDIDATES, RandomState(0))
    check_sampled(resource, tuned, known)
    trained = resource
    models: Iterator[Any] = (with_params(search.estimator, candidate) for candidate in known)
    if shares_preprocessing:
        trained = resource.of_last_step(last_prefix(search.estimator))
        models = map(last_step, models)
    limits = replace(limits, continues=trained.all_continue(models, n_train, list(routed.fit)))
    schedule = algorithm.plan(replace(bounds(n_candidates), continues=limits.continues))
    search._check_plan(schedule, limits)
    if error := resource.first_rung_error(min(schedule.n_resources), limits):
        raise ValueError(error)
    highest = schedule.rungs[-1].resource
    for message in resource.warnings(tuned, highest):
        warnings.warn(message, UserWarning, stacklevel=3)
    schedule, warning = replace(schedule, unit=limits.unit), ""
    is_automatic = search._may_be_grid_search() and search.resource == "auto"
    if is_automatic and limits.equals_fit and limits.cost(schedule) > WORTH_HALVING:
        notes = [why_grid_search(schedule, limits)]
        schedule = Schedule.from_rungs([n_candidates], [n_train], continues=False)
        notes += resource.cheaper_notes(tuned, schedule, n_train, search.factor)
        resource = trained = SampleCount()
        schedule = replace(schedule, unit=resource.unit)
        shares_preprocessing = resource.trains_last_step(tuned)
        routed.fit.pop("classes", None)  # which fit finds in y
    else:
        warning = cost_warning(schedule, limits)
        notes = resource.cheaper_notes(tuned, schedule, n_train, search.factor)
        if search.max_resources == "auto" and getattr(search, "budget", None) in (None, "double"):
            notes += resource.maximum_notes(example, highest)
    notes += grid_notes(search_space(search), candidates) if candidates else []
    schedule = replace(schedule, notes=tuple(notes))
    folds = make_folds(
        X,
        y,
        splits,
        fit_params=routed.fit,
        preprocessing_params=routed.prefix,
        score_params=routed.score,
        pairwise=_is_pairwise(example, X),
    )
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    if resource.subsamples:
        folds = with_subsampling(folds, splitter=splitter, codes=codes, seed=seed)
    config = EvaluationConfig(
        search.estimator,
        trained.prepared(last_step(example), y, seed),
        scoring.scorer,
        search.error_score,
        search.return_train_score,
        shares_preprocessing,
        schedule.continues,
        # Under routing, a pipeline's own score may send metadata to its other steps.
        scores_pipeline=shares_preprocessing
        and (
            not scoring.uses_predictions_only
            or bool(search.scoring is None and routed.score and routing_enabled())
        ),
    )
    return Setup(
        sampler, algorithm, candidates, seed, schedule, folds, config, scoring, resource, warning
    )


def tuned_estimator(search: Any) -> TunedEstimator:
    """The estimator of a search, and the spaces that are searched."""
    return TunedEstimator(search.estimator, spaces_of(search_space(search)), space_name(search))


def resource_of(search: Any) -> Resource:
    """The resource of a search; "auto" is resolved."""
    return resolve_resource(search.resource, tuned_estimator(search), search.batch_size)


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
