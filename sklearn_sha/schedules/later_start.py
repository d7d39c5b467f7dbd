"""Automatic schedules with growing folds, which start later than those on all folds."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from math import floor

from sklearn_sha.schedules.fold_growth import FoldGrowth
from sklearn_sha.schedules.rungs import rung_sizes
from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.spread import spread_resources
from sklearn_sha.schedules.validation import exact_factor

COST_SHARE = Fraction(2, 3)
"""Cost of an automatic schedule with growing folds, relative to the one on all folds, at most."""


def start_later(on_all_folds: Schedule, growth: FoldGrowth, factor: float, lowest: int) -> Schedule:
    """Return a schedule with growing folds, for the candidates and the maximum of another one.

    Early rungs on few samples or epochs mislead more than rungs on few folds. Therefore a part of
    what folds save is spent on a later start: the schedule has as few rungs, and its first rung is
    as late, as two thirds of the cost on all folds allow. Its resources are in equal ratios.

    Parameters
    ----------
    on_all_folds : Schedule
        Automatic schedule of one bracket.
    growth : FoldGrowth
    factor : real > 1
    lowest : int
        Minimum units of the first rung.

    Returns
    -------
    Schedule

    Examples
    --------
    >>> from sklearn_sha.schedules import FoldGrowth, schedule_from_range, start_later
    >>> schedule = schedule_from_range(27, factor=3, max_resources=81)
    >>> growth = FoldGrowth(order=(0, 1, 2, 3, 4))
    >>> schedule.n_resources, start_later(schedule, growth, factor=3, lowest=1).n_resources
    ([9, 27, 81], [14, 33, 81])
    """
    n_candidates, maximum = on_all_folds.n_different, on_all_folds.rungs[-1].resource
    sizes, f = rung_sizes(n_candidates, factor), exact_factor(factor)
    allowed = floor(COST_SHARE * on_all_folds.spent * len(growth.order))

    def schedule_from(first: int, n_rungs: int) -> Schedule:
        return Schedule.from_rungs(
            sizes[:n_rungs],
            spread_resources(first, maximum, n_rungs),
            on_all_folds.continues,
            folds=growth.folds(n_rungs, factor),
        )

    for n_rungs in range(2, len(sizes) + 1):
        earliest = max(floor(maximum / f ** (n_rungs - 1)), lowest)
        # With a start above this, rungs could be rounded to the same resource.
        latest = maximum - n_rungs
        if earliest > latest or schedule_from(earliest, n_rungs).spent > allowed:
            continue
        starts = range(earliest, latest + 1)
        n_allowed = bisect_right(starts, allowed, key=lambda r: schedule_from(r, n_rungs).spent)
        return schedule_from(starts[n_allowed - 1], n_rungs)
    return growth.grow(on_all_folds, factor)
