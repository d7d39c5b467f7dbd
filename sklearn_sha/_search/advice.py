"""What a plan says besides its table."""

from __future__ import annotations

from typing import Any

from sklearn_sha._formatting import quantity
from sklearn_sha._search.limits import WORTH_HALVING, Limits, iterations
from sklearn_sha.candidates.space import grid_of, search_space, spaces_of
from sklearn_sha.resources.automatic import (
    growing_parameter,
    last_prefix,
    last_step,
    variants,
)
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.schedules import Schedule, schedule_from_range

_WORTH_ADVICE = 1.25


def why_grid_search(schedule: Schedule, limits: Limits) -> str:
    """Why an automatic schedule is one rung at full resource."""
    if len(schedule.rungs) == 1:
        return (
            "One rung at full resource, as in GridSearchCV: the schedule for "
            f"{quantity(schedule.n_different, 'candidates')} and "
            f"{quantity(schedule.rungs[-1].resource, schedule.unit)} has a single rung."
        )
    return (
        f"One rung at full resource, as in GridSearchCV: {len(schedule.rungs)} rungs starting at "
        f"{quantity(schedule.rungs[0].resource, schedule.unit)} would cost "
        f"{limits.cost(schedule):.2f} times as much, including the fixed cost of each fit, "
        f"and less than {WORTH_HALVING} is worth it. Set min_resources to run them anyway."
    )


def cost_warning(schedule: Schedule, limits: Limits) -> str:
    """That explicit settings cost more than a grid search, where they do."""
    cost = limits.cost(schedule)
    if cost <= 1 or schedule.repeats or len(schedule.rungs) == 1:
        return ""
    return (
        f"Including the fixed cost of each fit, this search costs {cost:.2f} times a grid search "
        f"over the same candidates ({schedule.relative_cost():.2f} without it). Raise "
        "min_resources or factor, or choose another resource."
    )


def plan_notes(search: Any, kind: str, example: Any, schedule: Schedule, n_train: int) -> list[str]:
    """What a plan has to say besides its table."""
    has_budget = getattr(search, "budget", None) not in (None, "double")
    if kind == "partial_fit" and search.max_resources == "auto" and not has_budget:
        model = last_step(example)
        name, value = iterations(model)
        highest = schedule.rungs[-1].resource
        if value == highest:
            return [f"max_resources='auto' is {name}={value} of {type(model).__name__}."]
        if value is not None and value > highest:
            return [
                f"max_resources='auto' is {highest} epochs: {name}={value} of "
                f"{type(model).__name__} is only an upper bound, since fit can stop earlier."
            ]
    if kind == "n_samples":
        return cheaper_resources(search, schedule, n_train)
    return []


def grid_notes(search: Any, candidates: list[dict[str, Any]]) -> list[str]:
    """How many combinations of a grid are tried, unless all are."""
    grid = grid_of(search_space(search))
    n_sampled = len({id(params) for params in candidates})  # brackets can share a combination
    if grid is None or n_sampled == len(grid):
        return []
    return [f"{n_sampled} of the {len(grid)} combinations of the grid are sampled."]


def cheaper_resources(search: Any, schedule: Schedule, n_train: int) -> list[str]:
    """Which parameter would be the cheaper resource, if there is one."""
    spaces = spaces_of(search_space(search))
    found = set()
    for model, searched in variants(search.estimator, spaces):
        last = last_step(model)
        name = growing_parameter(last)
        if name is None or name in searched or not IntegerParameter(name).continues(last, n_train):
            return []
        found.add((f"{last_prefix(model)}{name}", getattr(last, name), "learning_rate" in searched))
    if len(found) != 1:
        return []
    ((name, value, crosses),) = found
    n = schedule.n_candidates[0]
    other = schedule_from_range(n, factor=search.factor, max_resources=value)
    ratio = schedule.relative_cost() / other.relative_cost()
    if ratio < _WORTH_ADVICE:
        return []
    caution = " (learning_rate is searched: large ones lead in early rungs)" if crosses else ""
    return [f"resource={name!r} continues training and costs {ratio:.1f} times less{caution}."]
