"""Successive Halving, and uniform allocation as the baseline."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sklearn_sha._param_validation import check_int, check_target
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.promotion import best_first, promote
from sklearn_sha.bandit.requests import (
    Losses,
    Propose,
    Requests,
    Result,
    RungRequest,
    as_rung_losses,
    numbered,
)
from sklearn_sha.bandit.stopping import StableRanking, Target, stop_rule, target_of
from sklearn_sha.schedules import (
    Rung,
    Schedule,
    schedule_from_budget,
    schedule_from_range,
    start_later,
)


def halving(
    schedule: Schedule,
    propose: Propose | None = None,
    *,
    stop: StableRanking | None = None,
    target: Target | None = None,
) -> Requests:
    """Request the rungs of a Successive Halving run.

    The algorithm is that of [1]_. Candidates that wait (`RungLosses`) are in the next rung in
    addition to those that are promoted, if it has more resource.

    Parameters
    ----------
    schedule : Schedule
        Numbers of candidates and resources of the rungs of one bracket. The first
        ``schedule.n_kept`` candidates are promoted in every rung, unless they fail.
    propose : callable, default=None
        ``propose(n)`` returns the ids of 1 to n new candidates. If it returns fewer than
        n, it is called again until the first rung is complete. None: ids from 0.
    stop : StableRanking or None, default=None
        When its `is_over` returns True after a rung, only the best candidate is requested at the
        last rung, with those that are kept. A subclass can have another rule.
    target : Target or None, default=None
        When it is reached, no more candidates are requested. Those of a last rung at full resource
        are requested in growing groups, the best of the previous rung first. Candidates that are
        kept are the first group.

    Yields
    ------
    RungRequest
        The candidates of the next rung. Send the generator their losses, in the order of
        ``RungRequest.candidate_ids``.

    Returns
    -------
    int or None
        The best candidate of the last rung. None if there was no last rung, because all candidates
        of a rung failed or another run reached the target.

    Raises
    ------
    ValueError
        If the schedule has several brackets.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_sha.bandit import halving
    >>> from sklearn_sha.schedules import schedule_from_budget
    >>> search = halving(schedule_from_budget(4, 16))
    >>> request = next(search)
    >>> request.candidate_ids, request.n_resources
    ((0, 1, 2, 3), 2)
    >>> request = search.send([0.4, 0.1, 0.3, 0.2])
    >>> request.candidate_ids, request.n_resources
    ((1, 3), 6)
    """
    if len(schedule.brackets) > 1:
        raise ValueError(
            f"halving runs one bracket, and this schedule has {len(schedule.brackets)}. Call it "
            "with each of schedule.brackets. To run an algorithm, use its rounds, not its requests."
        )
    first, *later = schedule.rungs
    n_kept = schedule.n_kept
    if target is not None and schedule.max_resources != target.n_resources:
        target = None
    ids, losses = yield from _first_rung(
        first, not later, propose or numbered(), None if later else target, n_kept
    )
    to_keep = {*ids[:n_kept]}
    for number, rung in enumerate(later, start=1):
        if losses is None:
            return None
        rung_losses = as_rung_losses(losses)
        is_failed = rung_losses.has_failed
        kept = [k for k, one in enumerate(ids) if one in to_keep and not is_failed[k]]
        n_promoted = rung.n_candidates
        waits = rung_losses.waits & (rung.n_resources > schedule.rungs[number - 1].n_resources)
        is_stopped = stop is not None and stop.is_over(ids, losses, n_promoted)
        is_stopped &= not waits.any()
        if is_stopped:
            rung, n_promoted = later[-1], 1 + len(kept)
        losses = np.where(waits, np.nan, losses)  # they take no place of another one
        positions = np.union1d(promote(losses, n_promoted, kept), np.flatnonzero(waits))
        promoted = tuple(ids[position] for position in positions)
        eliminated = tuple(sorted({*ids} - {*promoted}))
        is_last = rung is later[-1]
        request = RungRequest(
            number, promoted, rung.n_resources, is_last, is_last,
            eliminated, rung.bracket, rung.folds,
        )  # fmt: skip
        if is_last and target is not None:
            order = [ids[k] for k in best_first(losses, kept) if k in positions]
            ids, losses = yield from _until(target, request, order, len(kept))
        else:
            ids, losses = promoted, (yield request)
        if is_stopped:
            break
    return None if losses is None else ids[int(promote(losses, 1)[0])]


_Rung = Generator[RungRequest, ArrayLike | None, tuple[tuple[int, ...], ArrayLike | None]]
"""Yields the requests of one rung, and returns its candidates and their losses."""


def _first_rung(
    rung: Rung, is_last: bool, propose: Propose, target: Target | None, n_kept: int
) -> _Rung:
    """Request candidates until the rung is complete, or reaches a target."""
    ids: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()
    losses: ArrayLike | None = None
    while len(ids) < rung.n_candidates and (target is None or not target.is_reached):
        # Proposed as without a target, so that a bracket has the same candidates.
        waiting = waiting or propose(rung.n_candidates - len(ids))
        if not waiting:
            break
        n_new = len(waiting) if target is None else max(1, n_kept, len(ids))
        ids, waiting = ids + waiting[:n_new], waiting[n_new:]
        is_final = is_last and len(ids) == rung.n_candidates
        losses = yield RungRequest(
            0, ids, rung.n_resources, is_last, is_final, (), rung.bracket, rung.folds
        )
        if target is not None:
            target.is_reached_by(losses)
    return ids, losses


def _until(target: Target, request: RungRequest, order: Sequence[int], n_first: int) -> _Rung:
    """Request the candidates of a last rung in growing groups, until one reaches the target."""
    ids: tuple[int, ...] = ()
    losses: ArrayLike | None = None
    while len(ids) < len(order) and not target.is_reached:
        ids = tuple(sorted(order[: max(1, n_first, 2 * len(ids))]))
        is_final = len(ids) == len(order)
        losses = yield replace(request, candidate_ids=ids, is_final=is_final)
        target.is_reached_by(losses)
    return ids, losses


class SuccessiveHalving(Algorithm):
    """Successive Halving from the first rung's resource to the maximum.

    The algorithm is that of [1]_.

    Parameters
    ----------
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` candidates after each rung and multiply the resource by `factor`.
    stop : "stable" or None, default=None
        "stable": stop when the order of the leading candidates is stable (`StableRanking`), and
        evaluate only the best one at the maximum.
    target_loss : float or None, default=None
        Stop when a candidate has at most this loss at the maximum. In a search, the loss is minus
        the score: -0.9 for an accuracy of 0.9.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, SuccessiveHalving
    >>> SuccessiveHalving(factor=3).plan(Bounds(n_candidates=9, max_resources=27)).n_resources
    [9, 27]
    """

    def __init__(
        self, factor: float = 2, stop: str | None = None, target_loss: float | None = None
    ) -> None:
        self.factor = factor
        self.stop = stop
        self.target_loss = target_loss

    def plan(self, bounds: Bounds) -> Schedule:
        check_target("target_loss", self.target_loss)
        is_bound = stop_rule(self.stop) is not None or self.target_loss is not None
        return replace(self._schedule(bounds), is_bound=is_bound)

    def _schedule(self, bounds: Bounds) -> Schedule:
        # If the user sets a maximum below the default first rung, still plan several rungs.
        is_small = not bounds.is_default_maximum and bounds.max_resources <= bounds.first
        schedule = schedule_from_range(
            bounds.n_candidates,
            factor=self.factor,
            min_resources=bounds.min_resources,
            max_resources=bounds.max_resources,
            lowest=bounds.lowest if is_small else bounds.first,
            continues=bounds.continues,
        ).with_kept(bounds.n_kept)
        if bounds.fold_growth is None or len(schedule.rungs) == 1:
            return schedule
        if bounds.min_resources is None:
            return start_later(schedule, bounds.fold_growth, self.factor)
        return bounds.fold_growth.grow(schedule, self.factor)

    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        return self._bracket(plan, propose, target_of(self.target_loss, plan))

    def _bracket(self, plan: Schedule, propose: Propose, target: Target | None) -> Requests:
        """Yield the requests of one bracket; all brackets of a search have the same target."""
        return halving(plan, propose, stop=stop_rule(self.stop), target=target)


class FixedBudget(SuccessiveHalving):
    """Successive Halving with a fixed budget over all candidates and rungs, as in the paper.

    Parameters
    ----------
    budget : int
        Upper bound of the units over all candidates: per fold, or of all folds if their number
        grows. The number of folds grows only if the first one is given (`FoldGrowth.first`), so
        that the unit does not depend on a default.
    factor, stop, target_loss
        As in `SuccessiveHalving`.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, FixedBudget
    >>> FixedBudget(32).plan(Bounds(n_candidates=8, max_resources=0)).n_resources
    [1, 3, 8]
    """

    has_own_rungs = True

    def __init__(
        self,
        budget: int,
        factor: float = 2,
        stop: str | None = None,
        target_loss: float | None = None,
    ) -> None:
        super().__init__(factor, stop, target_loss)
        self.budget = budget

    def _schedule(self, bounds: Bounds) -> Schedule:
        growth = bounds.fold_growth
        return schedule_from_budget(
            bounds.n_candidates,
            self.budget,
            factor=self.factor,
            max_resources=bounds.max_resources or None,
            continues=bounds.continues,
            fold_growth=None if growth is None or growth.first is None else growth,
            n_kept=bounds.n_kept,
        )


def successive_halving(losses: Losses, n: int, budget: int, factor: float = 2) -> Result:
    """Successive Halving over n arms with a budget.

    Parameters
    ----------
    losses : callable
        ``losses(arms, resource)`` returns the losses, of shape (n_arms,), of these arms (tuple of
        int) after `resource` units (int) in total. Lower is better; NaN is worst.
    n : int >= 1
        Number of arms, numbered from 0.
    budget : int
        Upper bound of the units over all arms.
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` arms after each rung. 2 in the paper.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If the budget is less than one unit per arm in the first rung.
    LossesError
        If `losses` returns another shape, or NaN for every arm.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.bandit import successive_halving
    >>> def losses(arms, resource):
    ...     return np.array(arms) / 8 + 1 / resource
    >>> successive_halving(losses, n=8, budget=32)
    Result(best=0, total_cost=26)
    """
    check_int("n", n)
    return run_over_losses([halving(schedule_from_budget(n, budget, factor=factor))], losses)


def uniform_allocation(losses: Losses, n: int, budget: int) -> Result:
    """Train all arms with the same share of a budget and return the best one.

    This is the baseline that Successive Halving improves on.

    Parameters
    ----------
    losses : callable
        As in `successive_halving`.
    n : int >= 1
        Number of arms, numbered from 0.
    budget : int
        Upper bound of the units over all arms. Each arm gets ``budget // n``.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If the budget is less than one unit per arm.
    LossesError
        As in `successive_halving`.

    Examples
    --------
    >>> from sklearn_sha.bandit import uniform_allocation
    >>> uniform_allocation(lambda arms, resource: [arm / resource for arm in arms], 4, 11)
    Result(best=0, total_cost=8)
    """
    check_int("n", n)
    check_int("budget", budget)
    if budget < n:
        raise ValueError(
            f"budget={budget} is less than one unit for each of n={n} arms; give at least "
            f"budget={n}."
        )
    return run_over_losses([halving(Schedule.from_rungs([n], [budget // n]))], losses)
