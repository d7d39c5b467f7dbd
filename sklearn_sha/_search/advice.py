"""Notes and warnings about a plan."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, Literal

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import is_int
from sklearn_sha._search.audit import MAX_SHARE
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.bandit.successive_halving import FixedBudget
from sklearn_sha.candidates.distinct import is_exhausted_by
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import grid_of, n_outside
from sklearn_sha.resources.limits import Limits, in_units
from sklearn_sha.schedules import Schedule, rung_sizes, schedule_from_range
from sklearn_sha.schedules.schedule import MAX_RELATIVE_COST


def single_rung_note(schedule: Schedule, limits: Limits, factor: float) -> str:
    """Return why an automatic schedule has, or is replaced by, one rung at full resource."""
    if schedule.has_single_rungs:
        has_one = len(schedule.brackets) == 1
        start = "One rung" if has_one else "Each bracket is one rung"
        if limits.first * factor > schedule.max_resources:
            maximum = quantity(schedule.max_resources, schedule.unit)
            reason = f"a second rung would need more than {maximum}"
        else:
            n = quantity(schedule.n_different, "candidates") if has_one else "so few candidates"
            reason = f"with factor={factor}, a single rung is enough for {n}"
        return f"{start} at full resource, as in GridSearchCV: {reason}."
    return (
        "One rung at full resource, as in GridSearchCV: "
        f"{len(schedule.brackets[0].rungs)} rungs starting at "
        f"{quantity(schedule.rungs[0].n_resources, schedule.unit)} would cost "
        f"{limits.cost(schedule):.2f} times as much, including the fixed cost of each fit, "
        f"which is not below {MAX_RELATIVE_COST}. Set resource={limits.resource!r} to run "
        "them anyway."
    )


def first_rung_notes(schedule: Schedule, limits: Limits, factor: float) -> list[str]:
    """Return why an automatic first rung leaves fewer rungs than the candidates allow."""
    n_rungs = len(schedule.brackets[0].rungs)
    is_short = n_rungs < len(rung_sizes(schedule.n_candidates[0], factor))
    return [limits.reason_of_first] if is_short and limits.reason_of_first else []


def single_rung_warnings(
    schedule: Schedule, limits: Limits, min_resources: Any, factor: float
) -> list[str]:
    """Return a warning if an explicit first rung leaves no room for a second one."""
    n_candidates, n_resources = schedule.n_candidates[0], schedule.max_resources
    first = in_units(min_resources, n_resources)
    is_single = len(schedule.rungs) == 1 and n_candidates > 1
    if not is_single or first is None or not first < n_resources < first * factor:
        return []
    return [
        f"min_resources={min_resources} leaves no room for a second rung, since factor={factor} "
        f"times {quantity(first, limits.unit)} is more than the maximum, {n_resources}: all "
        f"{n_candidates} candidates are trained with full resource. Lower min_resources."
    ]


def low_maximum_warnings(
    schedule: Schedule, limits: Limits, min_resources: Any, max_resources: Any, factor: float
) -> list[str]:
    """Return a warning if an explicit maximum leaves too few rungs for the candidates."""
    # Later brackets can have the full resource in all rungs.
    sizes = schedule.brackets[0].n_candidates
    n_candidates, n_last = sizes[0], sizes[-1]
    n_intended = max(ceil(factor), schedule.n_kept + 1)
    is_explicit = max_resources not in ("auto", limits.highest)
    if min_resources != "auto" or not is_explicit or n_last <= n_intended:
        return []
    longest = schedule_from_range(n_candidates, factor=factor, max_resources=schedule.max_resources)
    lowest, remedy = longest.rungs[0].n_resources, "Raise max_resources"
    if longest.n_candidates[-1] <= n_intended and lowest >= limits.lowest:
        remedy = f"Set min_resources={lowest}, raise max_resources"
    return [
        f"max_resources={max_resources} of resource={limits.resource!r} is too low to eliminate "
        f"all but {n_intended} of {n_candidates} candidates: the last rung compares {n_last}. "
        f"{remedy}, or choose another resource."
    ]


def patience_warnings(patience: Any) -> list[str]:
    """Return a warning if `patience` is set in a search that it cannot end."""
    if not is_int(patience):
        return []
    return [
        f'patience={patience} has no effect. It can end a search with budget="double" or '
        '"anytime"; stop and target_score can end others.'
    ]


def cost_warning(schedule: Schedule, limits: Limits, algorithm: Algorithm) -> str:
    """Return a warning if explicit settings cost more than a grid search, else ""."""
    cost = limits.cost(schedule)
    if cost <= 1 or schedule.repeats or schedule.has_single_rungs:
        return ""
    at_least = "at least " if limits.fit_can_stop else ""
    return (
        f"Including the fixed cost of each fit, this search costs {at_least}{cost:.2f} times a "
        f"grid search over the same candidates ({schedule.relative_cost():.2f} without it). "
        f"{_how_to_cost_less(schedule, algorithm)}."
    )


def _how_to_cost_less(schedule: Schedule, algorithm: Algorithm) -> str:
    """Return what to do about a schedule that costs more than a grid search."""
    if schedule.n_repeated:  # a larger factor can increase their number
        return "Use SuccessiveHalvingSearchCV, which tries each candidate once"
    how = "Raise min_resources or the factor"
    if isinstance(algorithm, FixedBudget):
        # A larger one makes fixed costs matter less. If the last rung has reached its maximum, it
        # is spent on the other rungs.
        is_fixed_cost = schedule.relative_cost() <= 1
        how = "Raise budget or the factor" if is_fixed_cost else "Lower budget or raise the factor"
    elif algorithm.has_own_rungs:
        how = "Start with more units"
    return f"{how}, or choose another resource"


def fixed_cost_notes(schedule: Schedule, limits: Limits) -> list[str]:
    """Return the cost with fixed costs, if it is a tenth more and no reason for a warning."""
    cost = limits.cost(schedule)
    if not 1.1 * schedule.relative_cost() <= cost <= 1:
        return []
    bound = ""
    if schedule.can_cost_less != limits.fit_can_stop:  # if both, the cost is no bound
        bound = "at most " if schedule.can_cost_less else "at least "
    return [f"Including the estimated fixed cost, {bound}{cost:.2f} of a grid search."]


def grid_notes(
    source: CandidateSource, candidates: Sequence[dict[str, Any]], n_different: int
) -> list[str]:
    """Return how many combinations of a grid are sampled, unless all are."""
    grid = grid_of(source.space)
    if grid is None or is_exhausted_by(0, source.space, candidates):
        return []
    n_sampled = n_different - n_outside(source.space, source.initial)
    return [f"{n_sampled} of the {len(grid)} combinations of the grid are sampled."]


def audit_notes(schedule: Schedule, n_candidates: int | Literal["auto"] | None) -> list[str]:
    """Return what an audit at the end of a search costs."""
    if n_candidates is None or schedule.has_single_rungs:
        return []
    if n_candidates == "auto":
        return [f"The audit at the end costs at most another {MAX_SHARE} times as much."]
    compared = schedule.brackets[-1:] if schedule.repeats else schedule.brackets
    # With `stop` and `target_score`, a last rung can have a single candidate.
    can_be_single = schedule.is_bound and not schedule.repeats
    ends = (
        (bracket.n_candidates[0], 1 if can_be_single else bracket.n_candidates[-1])
        for bracket in compared
    )
    n_eliminated = sum(first - last for first, last in ends)
    n_candidates = min(n_candidates, n_eliminated, schedule.n_different)
    cost = n_candidates * schedule.full_cost
    return [
        f"The audit at the end trains {quantity(n_candidates, 'eliminated candidates')} to full "
        f"resource, and costs at most another {cost} {schedule.cost_unit}."
    ]
