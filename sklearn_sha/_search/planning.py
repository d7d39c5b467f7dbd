"""The resource of a search and the schedule over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.distinct import n_further
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.fold_count import few_folds_error
from sklearn_sha.resources.limits import Limits, TrainingData, WholeFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step
from sklearn_sha.schedules import FoldGrowth, Schedule


@dataclass(frozen=True)
class PlanningContext:
    """The estimator and the data for which a search is planned.

    Attributes
    ----------
    source : CandidateSource
    tuned : TunedEstimator
    example : estimator
        With the parameters of one candidate.
    data : TrainingData
    fit_params : sequence of str
        Names of the parameters that are passed to the training method.
    n_enough : int
        Minimum of the automatic first rung, with which models succeed. 0: nothing is known.
    kept_resource : Resource or None
        Resource with which results are known, and which is therefore kept.
    """

    source: CandidateSource
    tuned: TunedEstimator
    example: Any
    data: TrainingData
    fit_params: Sequence[str]
    n_enough: int = 0
    kept_resource: Resource | None = None


@dataclass(frozen=True)
class Training:
    """How models are trained.

    Attributes
    ----------
    resource : Resource
        As the user gave it, or what "auto" was resolved to.
    job_resource : Resource
        Resource of the jobs: that of the last step if only this is trained.
    shares_preprocessing : bool
        Whether preprocessing steps are fitted separately, once for all candidates that share them.
    """

    resource: Resource
    job_resource: Resource
    shares_preprocessing: bool

    @classmethod
    def of(cls, resource: Resource, tuned: TunedEstimator) -> Training:
        """Return how a resource trains an estimator."""
        if resource.trains_last_step(tuned):
            return cls(resource, resource.of_last_step(last_prefix(tuned.estimator)), True)
        return cls(resource, resource, False)

    def continues(self, context: PlanningContext, candidates: Sequence[dict[str, Any]]) -> bool:
        """Return whether the models of all candidates continue training between rungs."""
        models = (with_params(context.tuned.estimator, params) for params in candidates)
        trained = map(last_step, models) if self.shares_preprocessing else models
        return self.job_resource.all_continue(trained, context.data.n_samples, context.fit_params)


@dataclass(frozen=True)
class Automatic:
    """What the parameters of a search leave to its plan.

    Attributes
    ----------
    maximum : bool
        The resource of the last rung, which notes then explain.
    ends_at_maximum : bool
        As `maximum`, and the last rung certainly has the automatic maximum.
    schedule : bool, default=False
        The resource and the rungs, which better ones can replace.
    folds : bool, default=False
        As `schedule`, and the resource can be the number of folds.
    first_rung : bool, default=False
        The first rung, so that the search can start again with a larger one.
    algorithm : bool, default=False
        The algorithm.
    explains_single_rungs : bool, default=False
        The first rung, of brackets that can have a single one, which a note then explains.
    """

    maximum: bool
    ends_at_maximum: bool
    schedule: bool = False
    folds: bool = False
    first_rung: bool = False
    algorithm: bool = False
    explains_single_rungs: bool = False


@dataclass(frozen=True)
class PlannedCandidates:
    """The candidates for which rungs are planned.

    Attributes
    ----------
    n : int
        Their number, including those that are proposed later.
    known : list of dict
        Candidates that are known before the search. Brackets can share one, which is then repeated.
    typical : list of dict
        These, and others that stand for those that are proposed later.
    """

    n: int
    known: list[dict[str, Any]]
    typical: list[dict[str, Any]]

    @property
    def n_repeated(self) -> int:
        """Number of repetitions among those that are known."""
        return len(self.known) - len({id(params) for params in self.known})


@dataclass(frozen=True)
class Plan:
    """Result of planning a search.

    Attributes
    ----------
    candidates : PlannedCandidates
    training : Training
    schedule : Schedule
    warning : str
        Warning that `plan` shows; empty for none.
    whole_fit : WholeFit or None
        When the refit calls ``fit``; None if it never does.
    """

    candidates: PlannedCandidates
    training: Training
    schedule: Schedule
    warning: str
    whole_fit: WholeFit | None


def resource_limits(resource: Resource, context: PlanningContext) -> Limits:
    """Return how much of a resource the estimator and the data allow."""
    limits = resource.limits(context.tuned, context.example, context.data)
    limits = replace(limits, resource=resource.name, unit=resource.unit_for(context.example))
    return limits.starting_with(context.n_enough)


def planned(algorithm: Algorithm, bounds: Bounds) -> Schedule:
    """Return the schedule that an algorithm plans, which can be a custom one.

    Raises
    ------
    TypeError
        If it is no schedule.
    ValueError
        If it has no rung.
    """
    schedule: object = algorithm.plan(bounds)
    name = type(algorithm).__name__
    if not isinstance(schedule, Schedule):
        raise TypeError(f"{name}.plan returned {schedule!r}. Return a Schedule.")
    if not schedule.rungs:
        raise ValueError(f"{name}.plan returned a Schedule without rungs. Return at least one.")
    return schedule


def plan_of_space(algorithm: Algorithm, bounds: Bounds, source: CandidateSource) -> Schedule:
    """Return the schedule of an algorithm for at most as many candidates as a space has.

    Parameters
    ----------
    algorithm : Algorithm
    bounds : Bounds
    source : CandidateSource

    Returns
    -------
    Schedule
    """
    schedule, initial = planned(algorithm, bounds), source.initial
    n_new = max(schedule.n_different - len(initial), 0)
    # Only as many are counted as are needed, since distributions are counted by sampling.
    n_found = n_further(source.space, n_new + 1, initial)
    if n_found > n_new:
        return schedule
    return planned(algorithm, replace(bounds, max_candidates=len(initial) + n_found))


def fold_growth(min_folds: int | str, data: TrainingData, resource: Resource) -> FoldGrowth | None:
    """Return how the number of folds grows from rung to rung; None if all folds score each rung.

    Parameters
    ----------
    min_folds : int, "auto" or "all"
        Parameter of the search.
    data : TrainingData
    resource : Resource

    Returns
    -------
    FoldGrowth or None

    Raises
    ------
    ValueError
        If `min_folds` is larger than the number of folds, if the first folds have too few test
        samples, or if the resource is the number of folds.
    """
    n_folds = len(data.fold_order)
    if isinstance(min_folds, str):
        grows = min_folds == "auto" and data.first_folds < n_folds and not resource.counts_folds
        return FoldGrowth(data.fold_order, lowest=data.first_folds) if grows else None
    if resource.counts_folds:
        raise ValueError(
            f"min_folds={min_folds} and resource={resource.name!r} both set the folds of the first "
            f'rung. Leave min_folds="auto". Set min_resources={min_folds} if neither budget nor '
            "algorithm sets the first rung."
        )
    if min_folds > n_folds:
        raise ValueError(
            f"min_folds={min_folds} is larger than the number of folds, {n_folds}. Lower it, or "
            'set it to "all".'
        )
    if min_folds < data.min_folds:
        remedy = f"Set min_folds to at least {data.min_folds}"
        raise ValueError(few_folds_error(f"{min_folds=}", min_folds, remedy))
    return None if min_folds == n_folds else FoldGrowth(data.fold_order, min_folds)


def check_folds_grow(
    min_folds: int | str, growth: FoldGrowth | None, schedule: Schedule, algorithm: Algorithm
) -> None:
    """Raise a ValueError if an algorithm ignores a given number of folds."""
    is_ignored = growth is not None and schedule.n_folds is None
    if is_ignored and not schedule.has_single_rungs and not isinstance(min_folds, str):
        raise ValueError(
            f"min_folds={min_folds} has no effect, since {type(algorithm).__name__}.plan does not "
            'use Bounds.fold_growth. Leave min_folds="auto", or plan with Bounds.with_folds.'
        )


def check_keeps(n_kept: int, schedule: Schedule, algorithm: Algorithm) -> None:
    """Raise a ValueError if an algorithm does not keep the initial candidates."""
    if schedule.n_kept != n_kept:
        raise ValueError(
            f"keep_initial=True has no effect, since {type(algorithm).__name__}.plan does not use "
            "Bounds.n_kept. Leave keep_initial=False, or plan with Schedule.with_kept."
        )
