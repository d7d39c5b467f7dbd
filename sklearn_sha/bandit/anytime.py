"""Successive Halving with more and more candidates, for a limited time."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
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

_MAX_POWER = 3
"""There are at most ``factor**3`` times `Bounds.n_candidates` candidates."""


class Anytime(HalvingInTurn):
    """Successive Halving in brackets that follow each other, with more and more candidates.

    All brackets have the same resources and folds: those of `SuccessiveHalving` with 16 candidates,
    or fewer if `Bounds.n_candidates` is smaller. Each bracket has at least 8 new candidates, or all
    if there are fewer. It multiplies the total number of candidates by `factor`, up to
    ``factor**3`` times `Bounds.n_candidates` or to `Bounds.max_candidates`.

    Parameters
    ----------
    factor : real > 1, default=2
        As in `SuccessiveHalving`; also the ratio between the numbers of candidates.
    patience : int or None, default=2
        Stop after this many consecutive brackets whose best loss is not lower by more than `tol`
        than the lowest loss of an earlier bracket, but not before there are
        `Bounds.n_candidates` candidates. None: run all brackets.
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
    [32, 16, 8, 4] [10, 20, 40, 80]
    [64, 32, 16, 8] [10, 20, 40, 80]
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
        totals = self._totals(n_planned, bounds)
        sizes = [after - before for before, after in pairwise([0, *totals])]
        brackets = in_brackets(schedule, sizes, bounds.n_kept)
        n_enough = 1 + sum(total < bounds.n_candidates for total in totals)
        return replace(brackets, is_bound=True, min_brackets=n_enough)

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield one bracket after the other, until patience ends."""
        patience = Patience(self.patience, self.tol)
        for number, bracket in enumerate(super().rounds(plan, propose), start=1):
            best = yield bracket
            if patience.is_over(best) and number >= plan.min_brackets:
                return

    def _totals(self, n_planned: int, bounds: Bounds) -> list[int]:
        """Numbers of candidates after each bracket."""
        totals = [ceil(n_planned * scale) for scale in self._scales(n_planned, bounds)]
        if bounds.max_candidates is not None:
            totals = [min(total, bounds.max_candidates) for total in totals]
        spaced = totals[-1:]
        for total in reversed(totals):
            if min(total, spaced[0] - total) >= MIN_CANDIDATES:
                spaced.insert(0, total)
        return spaced

    def _scales(self, n_planned: int, bounds: Bounds) -> Iterator[Fraction]:
        """Numbers of candidates in total, relative to those of the planned rungs."""
        factor = exact_factor(self.factor)
        lowest = Fraction(max(MIN_CANDIDATES, bounds.n_kept + 1), n_planned)
        highest = bounds.n_candidates * factor**_MAX_POWER / n_planned
        scale = Fraction(1)
        while scale / factor >= lowest:
            scale /= factor
        while scale <= highest:
            yield scale
            scale *= factor
