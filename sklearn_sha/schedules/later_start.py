"""Automatic schedules with growing folds, which start later than those on all folds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from sklearn_sha.schedules.fold_growth import FoldGrowth
from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.spread import spread_integers


def start_later(on_all_folds: Schedule, growth: FoldGrowth, factor: float) -> Schedule:
    """Return a schedule with growing folds, which starts later than the one on all folds.

    Each rung has the resource of the next one. The last two rungs have the maximum, and differ in
    their folds only. If they have the same folds, or if this costs more than 1.01 times the given
    schedule, only the first rung has the resource of the next one, and the others are in equal
    ratios up to the maximum. If this costs more too, the resources stay as they are.

    Early rungs with little resource mislead more than rungs on few folds. Therefore what folds save
    is better used for more resource in early rungs.

    Parameters
    ----------
    on_all_folds : Schedule
        Automatic schedule of one bracket with several rungs.
    growth : FoldGrowth
    factor : real > 1

    Returns
    -------
    Schedule

    Examples
    --------
    >>> from sklearn_sha.schedules import FoldGrowth, schedule_from_range, start_later
    >>> schedule = schedule_from_range(27, factor=3, max_resources=81)
    >>> growth = FoldGrowth(order=(0, 1, 2, 3, 4))
    >>> schedule.n_resources, start_later(schedule, growth, factor=3).n_resources
    ([9, 27, 81], [27, 81, 81])
    """
    sizes, resources = on_all_folds.n_candidates, on_all_folds.n_resources
    folds, cost = growth.folds(len(sizes), factor), on_all_folds.total_cost * len(growth.order)
    shifted = [*resources[1:], resources[-1]]
    for starts in (shifted, spread_integers(resources[1], resources[-1], len(sizes))):
        # A rung with the resource and the folds of the previous one has nothing to evaluate.
        if any(before == after for before, after in pairwise(zip(starts, folds, strict=True))):
            continue
        later = Schedule.from_rungs(sizes, starts, on_all_folds.continues, folds=folds)
        # Both schedules are rounded down, so that equal ones can differ by a few units.
        if 100 * later.total_cost <= 101 * cost:
            note = (
                "Early rungs use fewer folds. With the saved cost, n_resources of the first rung "
                f'is {starts[0]}, instead of {resources[0]} with min_folds="all".'
            )
            return replace(later, notes=(note,), n_kept=on_all_folds.n_kept)
    return growth.grow(on_all_folds, factor)
