"""Successive Halving in brackets until time ends."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from itertools import accumulate
from math import ceil

from sklearn_sha._param_validation import check_patience
from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.in_turn import MIN_CANDIDATES, HalvingInTurn, in_brackets
from sklearn_sha.bandit.promotion import Patience
from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.bandit.successive_halving import SuccessiveHalving
from sklearn_sha.schedules import Schedule
from sklearn_sha.schedules.validation import exact_factor

_N_PLANNED = 16
"""Number of candidates for which the rungs are planned. With more of them, the resource of the
first rung is so low that early scores mislead the first brackets, which have few candidates."""

_SHARE = 4
"""A bracket with more than the planned candidates has at most this part of those before it. Larger
ones learn from fewer results, and leave more time unused if they do not fit into it."""

_MAX_TIMES = 8
"""There are at most this many times `Bounds.n_candidates` candidates."""


class Anytime(HalvingInTurn):
    """Successive Halving in brackets that follow each other until time ends.

    All brackets have the same resources and folds: those of `SuccessiveHalving` with 16 candidates,
    or fewer if `Bounds.n_candidates` is smaller. Each has new candidates: 8 in the first two, and
    then 16, or as many multiples of 16 as fit into a quarter of the candidates before it. There are
    up to 8 times `Bounds.n_candidates` candidates, or `Bounds.max_candidates`.

    Parameters
    ----------
    factor : real > 1, default=2
        As in `SuccessiveHalving`.
    patience : int or None, default=2
        Stop when the number of candidates has been multiplied by `factor` this many times since a
        bracket lowered the loss by more than `tol`, but not before there are `Bounds.n_candidates`
        candidates. None: run all brackets.
    tol : float, default=0.0
        Minimum improvement for `patience`.
    target_loss : float or None, default=None
        Stop when a candidate has at most this loss at the maximum.

    Examples
    --------
    >>> from sklearn_sha.bandit import Anytime, Bounds
    >>> plan = Anytime().plan(Bounds(n_candidates=16, max_resources=80))
    >>> for bracket in plan.brackets:
    ...     print(bracket.n_candidates, bracket.n_resources)
    [8, 4, 2, 1] [10, 20, 40, 80]
    [8, 4, 2, 1] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    """

    def __init__(
        self,
        factor: float = 2,
        patience: int | None = 2,
        tol: float = 0.0,
        target_loss: float | None = None,
    ) -> None:
        super().__init__(factor, target_loss=target_loss)
        self.patience = patience
        self.tol = tol

    def plan(self, bounds: Bounds) -> Schedule:
        check_patience(self.patience, self.tol)
        n_planned = min(bounds.n_candidates, max(_N_PLANNED, bounds.n_kept + 1))
        plain = replace(bounds, n_candidates=n_planned, n_kept=0)
        schedule = SuccessiveHalving(self.factor).plan(plain)
        sizes = _sizes(n_planned, bounds)
        brackets = in_brackets(schedule, sizes, bounds.n_kept)
        n_enough = 1 + sum(total < bounds.n_candidates for total in accumulate(sizes))
        return replace(brackets, is_bound=True, min_brackets=n_enough)

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield one bracket after the other, until patience ends."""
        improvement, n_at_best = Patience(None, self.tol), 0
        growth = None if self.patience is None else exact_factor(self.factor) ** self.patience
        totals = accumulate(bracket.n_candidates[0] for bracket in plan.brackets)
        brackets = zip(totals, super().rounds(plan, propose), strict=False)
        for number, (total, bracket) in enumerate(brackets, start=1):
            best = yield bracket
            if improvement.improves(best) or not n_at_best:
                n_at_best = total
            elif growth and total >= n_at_best * growth and number >= plan.min_brackets:
                return


def _sizes(n_planned: int, bounds: Bounds) -> list[int]:
    """Number of candidates of each bracket."""
    lowest = max(MIN_CANDIDATES, bounds.n_kept + 1)
    unit = n_planned * ceil(lowest / n_planned)
    most = _MAX_TIMES * bounds.n_candidates
    if bounds.max_candidates is not None:
        most = min(most, bounds.max_candidates)
    sizes = [unit - unit // 2, unit // 2] if unit // 2 >= lowest else [unit]
    while (total := sum(sizes)) < most:
        sizes.append(unit * max(1, total // (_SHARE * unit)))
    sizes[-1] -= total - most
    if len(sizes) > 1 and sizes[-1] < MIN_CANDIDATES:
        *sizes, last = sizes
        sizes[-1] += last
    return sizes
