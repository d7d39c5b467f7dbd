"""Schedules of Successive Halving."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from math import floor

from sklearn_sha._formatting import quantity
from sklearn_sha.schedules.fold_growth import FoldGrowth
from sklearn_sha.schedules.rungs import rung_sizes, sizes_with_kept
from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.spread import spread_integers
from sklearn_sha.schedules.validation import check_range, exact_factor, whole_number


def schedule_from_range(
    n_candidates: int,
    *,
    factor: float = 2,
    min_resources: int | None = None,
    max_resources: int,
    lowest: int = 1,
    continues: bool = True,
) -> Schedule:
    """Return a schedule from a minimum to a maximum resource.

    There are as many rungs as fit between the two if each has `factor` times the resource of the
    previous one. If `min_resources` is given, the best candidate can have a rung of its own, and
    the resources are in equal ratios from minimum to maximum. Otherwise, the last rung has several
    candidates, the resource of rung k is ``floor(first * factor**k)``, but more than that of the
    previous rung, and that of the last rung is `max_resources`.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` candidates after each rung and multiply the resource by `factor`.
    min_resources : int >= 1 or None, default=None
        Units of the first rung. None: as many as possible such that the last rung with several
        candidates is at `max_resources`.
    max_resources : int >= 1
        Units of the last rung.
    lowest : int >= 1, default=1
        Minimum units of the first rung if `min_resources` is None.
    continues : bool, default=True
        Whether models continue training between rungs.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If a number is not an integer of at least 1, or `min_resources` larger than `max_resources`.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(64, factor=2, max_resources=100)
    >>> schedule.n_candidates, schedule.n_resources
    ([64, 32, 16, 8, 4, 2], [3, 6, 12, 24, 48, 100])
    """
    f = exact_factor(factor)
    sizes = rung_sizes(whole_number("n_candidates", n_candidates), factor)
    max_resources = whole_number("max_resources", max_resources)
    if min_resources is None:
        largest = floor(max_resources / f ** (len(sizes) - 1))
        first = min(max(largest, whole_number("lowest", lowest)), max_resources)
    else:
        first = whole_number("min_resources", min_resources)
        if sizes[-1] > 1:
            sizes.append(1)  # the best candidate may continue alone
    check_range(first, max_resources)
    resources: list[int] = []
    for k in range(len(sizes)):
        exact = first * f**k
        # A factor below 2 can round two rungs to the same integer. Each rung adds a unit at least.
        resource = max(floor(exact), resources[-1] + 1 if resources else 1)
        if exact > max_resources or resource > max_resources:
            break
        resources.append(resource)
    if min_resources is not None:
        spread = spread_integers(first, max_resources, len(resources))
        resources = [max(pair) for pair in zip(resources, spread, strict=True)]
    resources[-1] = max_resources
    return Schedule.from_rungs(sizes[: len(resources)], resources, continues)


def schedule_from_budget(
    n_candidates: int,
    budget: int,
    *,
    factor: float = 2,
    max_resources: int | None = None,
    continues: bool = True,
    fold_growth: FoldGrowth | None = None,
    n_kept: int = 0,
) -> Schedule:
    """Return a schedule that costs at most `budget` units, with the same share for each rung.

    With L rungs, rung k trains each of its n_k candidates with r_k = budget // (n_k * L) units
    [1]_. If models continue training, the total resource is R_k = r_0 + ... + r_k. If they are
    refit from scratch, it is R_k = r_k, since more would exceed the budget.

    If the number of folds grows, units are counted over all folds, so that rung k with m_k folds
    has r_k = budget // (n_k * m_k * L). Models of folds that are added late are trained from 0.
    What they cost in addition is left out of the budget that is shared.

    Parameters
    ----------
    n_candidates : int >= 1
    budget : int >= 1
        Upper bound of the units over all candidates and rungs: per fold, or of all folds if folds
        grow.
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` candidates after each rung. 2 in the paper.
    max_resources : int >= 1 or None, default=None
        Upper bound of the units of a candidate. The rung that reaches it is the last one.
    continues : bool, default=True
        Whether models continue training between rungs.
    fold_growth : FoldGrowth or None, default=None
        Folds that score each rung. None: all folds in each rung.
    n_kept : int, default=0
        Number of candidates that every rung promotes, as in `Schedule.with_kept`.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If a number is not an integer of at least 1, or if the budget is less than one unit per
        candidate in the first rung. The message has the smallest possible budget.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1. The paper promotes
       floor(n_k / 2). ceil(n_k / factor) ends with one candidate for every n.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_budget
    >>> schedule = schedule_from_budget(8, 32)
    >>> [rung.step for rung in schedule.rungs], schedule.n_resources, schedule.total_cost
    ([1, 2, 5], [1, 3, 8], 26)
    """
    n_candidates = whole_number("n_candidates", n_candidates)
    budget = whole_number("budget", budget)
    if max_resources is not None:
        max_resources = whole_number("max_resources", max_resources)
    sizes = sizes_with_kept(rung_sizes(n_candidates, factor), n_kept)
    folds = fold_growth.folds(len(sizes), factor) if fold_growth else None

    def schedule_of(total: int) -> Schedule:
        return _equal_shares(total, sizes, folds, max_resources, continues)

    n_first = len(folds[0]) if folds else 1
    smallest = n_candidates * n_first * len(sizes)
    needed = max(smallest, schedule_of(smallest).total_cost)
    if budget < needed:
        on_folds = f" on {quantity(n_first, 'folds')}" if folds else ""
        late = ", and the models of folds that are added late" if needed > smallest else ""
        raise ValueError(
            f"budget={budget} does not cover one unit for each of {n_candidates} candidates"
            f"{on_folds} in the first of {quantity(len(sizes), 'rungs')}{late}; give at least "
            f"budget={needed}, or fewer candidates."
        )
    schedule = schedule_of(budget)
    if schedule.total_cost > budget:
        # Models of folds that are added late are trained from 0, which the equal shares leave out.
        shares = range(smallest, budget)
        n_possible = bisect_left(shares, 1, key=lambda n: schedule_of(n).total_cost > budget)
        schedule = schedule_of(shares[n_possible - 1])
    return replace(schedule, n_kept=n_kept)


def _equal_shares(
    total: int,
    sizes: Sequence[int],
    folds: Sequence[tuple[int, ...]] | None,
    max_resources: int | None,
    continues: bool,
) -> Schedule:
    """Return the schedule in which each rung adds the same share of a total, over all candidates.

    Parameters
    ----------
    total : int
        Units to share.
    sizes : sequence of int
        Numbers of candidates.
    folds : sequence of tuple of int, or None
    max_resources : int or None
    continues : bool
    """
    kept: list[int] = []
    resources: list[int] = []
    for k, n in enumerate(sizes):
        previous = resources[-1] if resources else 0
        if previous == max_resources:
            break
        step = total // (n * (len(folds[k]) if folds else 1) * len(sizes))
        resource = step + previous if continues else max(step, previous)
        if max_resources is not None:
            resource = min(resource, max_resources)
        # A rung with the resource and the folds of the previous one would evaluate nothing.
        adds_folds = folds and kept and len(folds[k]) > len(folds[kept[-1]])
        if resource > previous or adds_folds:
            kept.append(k)
            resources.append(resource)
    rung_folds = [*(folds[k] for k in kept[:-1]), folds[-1]] if folds else None
    return Schedule.from_rungs([sizes[k] for k in kept], resources, continues, folds=rung_folds)
