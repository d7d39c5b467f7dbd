"""What a user can do if time, folds or samples were too few, as parts of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from sklearn_sha._formatting import quantity
from sklearn_sha._results.few_samples import few_samples_failures, few_samples_message
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.schedules.validation import exact_factor


def how_to_complete_first_rung(spec: SearchSpec) -> str:
    """Return the start of a sentence about what to do if `max_time` has ended in the first rung.

    `min_resources` is included if it sets that rung, and if the rung has more than one unit.
    """
    sets_it = not spec.algorithm.has_own_rungs and not spec.resource.counts_folds
    can_be_lower = sets_it and min(spec.schedule.n_resources) > 1
    return f"Raise max_time{', lower min_resources' if can_be_lower else ''}, or call resume"


def more_resource(n_resources: int, spec: SearchSpec) -> str:
    """Return how to have `n_resources` in the first rung, or "" if only a grid search has them."""
    if spec.algorithm.has_own_rungs:
        return _more_of_own_rungs(quantity(n_resources, spec.schedule.unit), spec)
    if n_resources < max(spec.schedule.n_resources):
        return f"set min_resources={n_resources}"
    return 'set resource="folds"' if len(spec.folds) > 1 else ""


def more_folds(n_folds: int, spec: SearchSpec) -> str:
    """Return how to have more than `n_folds` in the first rung: if possible, with a second one."""
    if not spec.resource.counts_folds:
        return 'set min_folds="all"'
    if spec.algorithm.has_own_rungs:
        return _more_of_own_rungs("more folds", spec)
    most = max(spec.schedule.n_resources)
    if most <= n_folds:
        return 'set max_resources="auto"'
    two_rungs = int(most / exact_factor(spec.algorithm.factor))
    return f'set resource="folds" and min_resources={two_rungs if two_rungs > n_folds else most}'


def _more_of_own_rungs(what: str, spec: SearchSpec) -> str:
    """Return how to have more in the first rung if the algorithm sets it."""
    has_budget = hasattr(spec.algorithm, "budget")
    return "raise budget" if has_budget else f"let algorithm begin with {what}"


def few_samples_hints(
    spec: SearchSpec,
    failures: Sequence[Mapping[str, Any]],
    rung_history: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """Return what to do if candidates failed on fewer samples than the training fold has."""
    if not spec.resource.counts_samples:
        return []
    n_train = spec.n_train
    full = (row["candidates"] for row in rung_history if row["n_resources"] >= n_train)
    early = few_samples_failures(failures, n_train, {*chain.from_iterable(full)})
    if not early:
        return []
    resources, has_own_rungs = spec.schedule.n_resources, spec.algorithm.has_own_rungs
    return [few_samples_message(early, resources, n_train, has_own_rungs=has_own_rungs)]
