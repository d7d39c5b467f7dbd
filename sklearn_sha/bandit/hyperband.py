"""Hyperband: brackets of Successive Halving."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from math import nan

from numpy import fmin

from sklearn_sha._param_validation import check_int, check_patience
from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.promotion import Patience
from sklearn_sha.bandit.requests import Losses, Propose, Requests, Result, numbered
from sklearn_sha.bandit.stopping import target_of
from sklearn_sha.bandit.successive_halving import SuccessiveHalving, halving
from sklearn_sha.schedules import Schedule, hyperband_schedules


def hyperband(
    losses: Losses, max_resources: int, factor: float = 3, min_resources: int = 1
) -> Result:
    """Hyperband: brackets of Successive Halving, from the widest to a single rung.

    Parameters
    ----------
    losses : callable
        As in `successive_halving`. Arms are numbered across brackets, so that each bracket has
        different arms.
    max_resources : int >= 1
        Units of the last rung of each bracket.
    factor : real > 1, default=3
        Keep ``floor(n / factor)`` arms after each rung and multiply the resource by `factor`.
    min_resources : int >= 1, default=1
        Minimum units of the first rung of the widest bracket.

    Returns
    -------
    Result
        ``best`` is the best arm with `max_resources`.

    Raises
    ------
    ValueError
        If a number is not an integer of at least 1, or `min_resources` larger than `max_resources`.
    LossesError
        As in `successive_halving`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.bandit import hyperband
    >>> rng = np.random.default_rng(0)
    >>> limits = rng.random(143)  # 81 + 34 + 15 + 8 + 5 arms
    >>> result = hyperband(lambda arms, resource: limits[list(arms)] + 1 / resource, 81)
    >>> print(result.best == limits.argmin(), result.total_cost)
    True 1581
    """
    schedules = hyperband_schedules(max_resources, factor=factor, min_resources=min_resources)
    propose = numbered()
    return run_over_losses([halving(schedule, propose) for schedule in schedules], losses)


class Hyperband(SuccessiveHalving):
    """Hyperband: brackets of Successive Halving, from the widest to a single rung.

    The brackets are those of [1]_.

    Parameters
    ----------
    factor : real > 1, default=3
        Keep ``floor(n / factor)`` candidates after each rung and multiply the resource by `factor`.
    n_repeats : int, default=1
        Number of times that the set of brackets is run, each time with new candidates.
    patience : int or None, default=None
        Stop after this many consecutive sets that did not improve the best loss by more than `tol`.
        None: run all sets together.
    tol : float, default=0.0
        Minimum improvement for `patience`. Smaller ones count once they add up to more than this.
    stop : "stable" or None, default=None
        As in `SuccessiveHalving`, for each bracket.
    target_loss : float or None, default=None
        Stop when a candidate has at most this loss at the maximum. In a search, the loss is minus
        the score: -0.9 for an accuracy of 0.9.
    in_turn : bool, default=False
        Run one bracket after the other instead of all together, so that the candidates of a bracket
        can be proposed from the results of the previous ones.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, Hyperband
    >>> plan = Hyperband().plan(Bounds(n_candidates=0, max_resources=9))
    >>> [bracket.n_candidates for bracket in plan.brackets]
    [[9, 3, 1], [5, 1], [3]]
    """

    def __init__(
        self,
        factor: float = 3,
        n_repeats: int = 1,
        patience: int | None = None,
        tol: float = 0.0,
        stop: str | None = None,
        target_loss: float | None = None,
        in_turn: bool = False,
    ) -> None:
        super().__init__(factor, stop, target_loss)
        self.n_repeats = n_repeats
        self.patience = patience
        self.tol = tol
        self.in_turn = in_turn

    def plan(self, bounds: Bounds) -> Schedule:
        check_int("n_repeats", self.n_repeats)
        check_patience(self.patience, self.tol)
        plan = super().plan(bounds)
        may_end = self.patience is not None and self.patience < self.n_repeats
        return replace(plan, is_bound=plan.is_bound or may_end)

    def _schedule(self, bounds: Bounds) -> Schedule:
        maximum, minimum = bounds.max_resources, bounds.min_resources

        def brackets_from(minimum: int) -> list[Schedule]:
            return hyperband_schedules(
                maximum, factor=self.factor, min_resources=minimum, continues=bounds.continues
            )

        if minimum is None:
            # Plan at least three brackets if possible, since they differ in their first rungs.
            possible = brackets_from(min(maximum, bounds.lowest))
            minimum = min(bounds.first, possible[-3:][0].n_resources[0])
        first, *others = brackets_from(minimum) * int(self.n_repeats)
        # Initial candidates are in the first bracket, which has the most candidates.
        schedule = Schedule.joined([first.with_kept(bounds.n_kept), *others])
        return bounds.with_folds(schedule, self.factor)

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield the brackets of all sets together, with patience set by set, or one by one."""
        target = target_of(self.target_loss, plan)  # one for all brackets
        brackets = [self._bracket(bracket, propose, target) for bracket in plan.brackets]
        n = len(brackets) if self.patience is None else len(brackets) // self.n_repeats
        n_together = 1 if self.in_turn else n
        patience = Patience(self.patience, self.tol)
        for start in range(0, len(brackets), n):
            best = nan
            for first in range(start, start + n, n_together):
                best = fmin(best, (yield brackets[first : first + n_together]))
                if target is not None and target.is_reached:
                    return
            if patience.is_over(best):
                return
