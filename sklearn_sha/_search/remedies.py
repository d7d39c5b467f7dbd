"""What a user can do if time, folds or samples were too few, as parts of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from sklearn_sha._formatting import enumerated, quantity
from sklearn_sha._results.failures import Failures
from sklearn_sha._results.few_samples import (
    encoder_remedy,
    few_samples_failures,
    few_samples_message,
)
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.schedules.validation import exact_factor


def how_to_complete_first_rung(spec: SearchSpec) -> str:
    """Return the start of a sentence about what to do if `max_time` has ended in the first rung.

    `min_resources` is included if it sets that rung, and if the rung has more than one unit.
    """
    sets_it = not spec.algorithm.has_own_rungs and not spec.resource.counts_folds
    can_be_lower = sets_it and spec.schedule.min_resources > 1
    return f"Raise max_time{', lower min_resources' if can_be_lower else ''}, or call resume"


def nothing_scored(spec: SearchSpec, max_time: float, start_seconds: float) -> str:
    """Return the message of a search whose `max_time` has ended in the first rung.

    Parameters
    ----------
    spec : SearchSpec
    max_time : float
        Seconds.
    start_seconds : float
        How many of them the start of the worker processes took.
    """
    text = (
        f"max_time={quantity(max_time, 'seconds')} ended before any candidate was scored on all "
        "folds of the first rung"
    )
    if start_seconds > max_time / 2:
        return (
            f"{text}, since the worker processes took {start_seconds:.1f} s to start. They are "
            "running now: call resume to continue the search. For such a short limit, n_jobs=1 "
            "can be faster."
        )
    return f"{text}. {how_to_complete_first_rung(spec)} to continue the search."


def more_resource(n_resources: int, search: Any, spec: SearchSpec) -> str:
    """Return how to have `n_resources` in the first rung, or "" if only a grid search has them.

    Parameters
    ----------
    n_resources : int
    search : BaseHalvingSearch
    spec : SearchSpec
    """
    if spec.algorithm.has_own_rungs:
        return _more_of_own_rungs(quantity(n_resources, spec.schedule.unit), spec)
    if n_resources < spec.schedule.max_resources:
        return f"set min_resources={n_resources}"
    return _as_folds(search) if len(spec.folds) > 1 else ""


def _as_folds(search: Any) -> str:
    """Return how to have folds as the resource, without parameters that contradict it."""
    numbers = ("min_resources", "max_resources", "min_folds")
    given = (name for name in numbers if not isinstance(getattr(search, name), str))
    settings = ['resource="folds"', *(f'{name}="auto"' for name in given)]
    if search.batch_size is not None:
        settings.append("batch_size=None")
    return f"set {enumerated(settings)}"


def more_folds(n_folds: int, spec: SearchSpec) -> str:
    """Return how to have more than `n_folds` in the first rung: if possible, with a second one."""
    if not spec.resource.counts_folds:
        return 'set min_folds="all"'
    if spec.algorithm.has_own_rungs:
        return _more_of_own_rungs("more folds", spec)
    most, setting = spec.schedule.max_resources, 'resource="folds"'
    if most <= n_folds:
        most, setting = len(spec.folds), 'max_resources="auto"'
    two_rungs = int(most / exact_factor(spec.algorithm.factor))
    return f"set {setting} and min_resources={two_rungs if two_rungs > n_folds else most}"


def more_for_scores(spec: SearchSpec, failures: Failures, *, is_full: bool) -> str:
    """Return sentences about the resource of a first rung without scores, which can be full."""
    if is_full:
        text = "Models have the full resource: in a grid search, their means are NaN, too"
        remedy = encoder_remedy(failures)
        return f"{text}. To prevent this, {remedy}" if remedy else text
    more = "raise min_resources; with min_resources=1.0 it is a grid search"
    if spec.algorithm.has_own_rungs:
        more = _more_of_own_rungs("more", spec)
    return f"If scores require more, {more}"


def _more_of_own_rungs(what: str, spec: SearchSpec) -> str:
    """Return how to have more in the first rung if the algorithm sets it."""
    has_budget = hasattr(spec.algorithm, "budget")
    return "raise budget" if has_budget else f"pass an algorithm that begins with {what}"


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
    n_failed = max(failure["n_resources"] for failure in early)
    return [few_samples_message(early, n_train, _more_samples(n_failed, spec))]


def _more_samples(n_failed: int, spec: SearchSpec) -> str:
    """Return how to start with more samples than those with which candidates failed."""
    schedule = spec.schedule
    larger = min((n for n in schedule.n_resources if n > n_failed), default=spec.n_train)
    if spec.algorithm.has_own_rungs:
        return _more_of_own_rungs(quantity(larger, schedule.unit), spec)
    also = "max_resources and " if n_failed >= schedule.max_resources else ""
    return f"raise {also}min_resources, for example min_resources={larger}"
