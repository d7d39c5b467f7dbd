"""Successive Halving in brackets until time ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator
from dataclasses import replace
from itertools import accumulate, chain, repeat
from math import ceil

from sklearn_sha._param_validation import check_patience, check_target
from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.in_turn import (
    MIN_CANDIDATES,
    NOTE_AT_MAXIMUM,
    HalvingInTurn,
    at_maximum,
    in_brackets,
)
from sklearn_sha.bandit.promotion import LastImprovement
from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.bandit.successive_halving import SuccessiveHalving
from sklearn_sha.schedules import Schedule

_N_PLANNED = 16
"""Number of candidates for which the rungs are planned. With more of them, the resource of the
first rung is so low that early scores mislead the first brackets, which have few candidates."""

_SHARE = 4
"""A bracket has at most 1/4 of the candidates before it, but at least those that are planned.
Larger ones learn from fewer results, and leave more time unused if they do not fit into it."""

_MAX_MULTIPLE = 8
"""There are at most this many times `Bounds.n_candidates` candidates."""


class Anytime(HalvingInTurn):
    """Successive Halving in brackets that follow each other until time ends.

    All brackets have the same resources and folds: those of `SuccessiveHalving` with 16 candidates,
    or with `Bounds.n_candidates` if that is less (but see `adds_folds`). Each has new candidates.
    With ``n_candidates >= 16``, there are 8 in the first two, and then 16, or the largest multiple
    of 16 that is at most a quarter of the candidates before. There are up to 8 times
    `Bounds.n_candidates` candidates, or `Bounds.max_candidates`. If fewer than 8 are left for a
    last bracket, the one before has them too.

    Parameters
    ----------
    factor : real > 1, default=2
        As in `SuccessiveHalving`.
    patience : int or None, default=None
        Stop when the number of candidates has doubled this many times since a bracket lowered the
        loss by more than `tol`, but not before there are `Bounds.n_candidates` candidates. None:
        run all brackets. With 2, a search ends after ``4 * n`` random candidates with a probability
        of 1/4 even if they are all alike: the best of them is then among the first ``n``.
    tol : float, default=0.0
        Minimum improvement for `patience`. Smaller ones count once they add up to more than this.
    target_loss : float or None, default=None
        Stop when a candidate has at most this loss at the maximum. In a search, the loss is minus
        the score: -0.9 for an accuracy of 0.9.
    adds_folds : bool, default=False
        For candidates that are proposed from the scores so far: brackets after the first 16
        candidates add folds only, under the conditions of `HalvingInTurn`.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn_sha.bandit import Anytime, Bounds
    >>> from sklearn_sha.schedules import FoldGrowth
    >>> bounds = Bounds(n_candidates=16, max_resources=80)
    >>> for bracket in Anytime().plan(bounds).brackets:
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

    With models that are refit from scratch, and candidates that are proposed:

    >>> from_scratch = replace(bounds, continues=False, fold_growth=FoldGrowth(tuple(range(5))))
    >>> for bracket in Anytime(adds_folds=True).plan(from_scratch).brackets[1:3]:
    ...     print(bracket.n_candidates, bracket.n_resources, [len(r.folds) for r in bracket.rungs])
    [8, 4, 2, 1] [20, 40, 80, 80] [1, 2, 3, 5]
    [16, 8, 4] [80, 80, 80] [1, 2, 5]
    """

    def __init__(
        self,
        factor: float = 2,
        patience: int | None = None,
        tol: float = 0.0,
        target_loss: float | None = None,
        adds_folds: bool = False,
    ) -> None:
        super().__init__(factor, target_loss=target_loss)
        self.patience = patience
        self.tol = tol
        self.adds_folds = adds_folds

    def plan(self, bounds: Bounds) -> Schedule:
        check_patience(self.patience, self.tol)
        check_target("target_loss", self.target_loss)
        n_planned = min(bounds.n_candidates, max(_N_PLANNED, bounds.n_kept + 1))
        plain = replace(bounds, n_candidates=n_planned, n_kept=0)
        schedule = SuccessiveHalving(self.factor).plan(plain)
        later = at_maximum(schedule, plain, self.factor) if self.adds_folds else None
        sizes = _sizes(n_planned, bounds)
        totals = [*accumulate(sizes)]
        n_first = 1 + bisect_left(totals, n_planned)
        schedules = chain(repeat(schedule, n_first), repeat(later or schedule))
        brackets = in_brackets(schedules, sizes, bounds.n_kept)
        n_enough = 1 + bisect_left(totals, bounds.n_candidates)
        notes = (NOTE_AT_MAXIMUM.format(n_first),) if later and n_first < len(sizes) else ()
        return replace(
            brackets, is_bound=True, min_brackets=n_enough, notes=(*brackets.notes, *notes)
        )

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield one bracket after the other, until `patience` ends them."""
        last, n_at_last, total = LastImprovement(self.tol), 0, 0
        runs = super().rounds(plan, propose)
        for number, (bracket, run) in enumerate(zip(plan.brackets, runs, strict=False), start=1):
            best = yield run
            total += bracket.n_candidates[0]
            if last.is_surpassed_by(best) or number == 1:
                n_at_last = total
            if self.patience is None or number < plan.min_brackets:
                continue
            if total >= n_at_last * 2**self.patience:
                return


def _sizes(n_planned: int, bounds: Bounds) -> list[int]:
    """Number of candidates of each bracket: multiples of those planned, with room for kept ones."""
    lowest = max(MIN_CANDIDATES, bounds.n_kept + 1)
    unit = n_planned * ceil(lowest / n_planned)
    most = _MAX_MULTIPLE * bounds.n_candidates
    if bounds.max_candidates is not None:
        most = min(most, bounds.max_candidates)
    sizes: list[int] = []
    while (total := sum(sizes)) < most:
        size = unit * max(1, total // (_SHARE * unit))
        if total < unit and unit // 2 >= lowest:  # for an early result
            size = unit // 2
        sizes.append(min(size, most - total))
    if len(sizes) > 1 and sizes[-1] < MIN_CANDIDATES:
        *sizes, last = sizes
        sizes[-1] += last
    return sizes
