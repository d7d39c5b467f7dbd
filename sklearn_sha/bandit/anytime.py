"""Runs of Successive Halving with more and more candidates, for a limited time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from math import ceil

from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.doubling import BudgetDoubling
from sklearn_sha.bandit.successive_halving import SuccessiveHalving
from sklearn_sha.schedules import Schedule, sizes_with_kept
from sklearn_sha.schedules.validation import exact_factor

_N_PLANNED = 16
"""Number of candidates for which the rungs are planned. With more of them, the resource of the
first rung is so low that early scores mislead the first runs, which have few candidates."""

_MIN_CANDIDATES = 8
"""Minimum number of candidates of the first run."""

_MAX_POWER = 3
"""The last run has at most ``factor**3`` times `Bounds.n_candidates`."""


class Anytime(BudgetDoubling):
    """Runs of Successive Halving, each with more candidates than the previous one.

    All runs have the same resources and folds: those of `SuccessiveHalving` with 16 candidates, or
    fewer if `Bounds.n_candidates` is smaller. The first run has at least 8 candidates, if there are
    as many, and each later one `factor` times as many as the previous one, up to ``factor**3``
    times `Bounds.n_candidates`. A run has all candidates of the previous one, whose evaluations are
    reused, and promotes the best one so far. No rung has more than `Bounds.max_candidates`: once a
    run has all of them, the runs after it promote more.

    Parameters
    ----------
    factor, patience, tol, target_loss
        As in `BudgetDoubling`. `patience` cannot end the search before the largest run with at most
        `Bounds.n_candidates` candidates.

    Examples
    --------
    >>> from sklearn_sha.bandit import Anytime, Bounds
    >>> plan = Anytime().plan(Bounds(n_candidates=16, max_resources=80))
    >>> for run in plan.brackets:
    ...     print(run.n_candidates, run.n_resources)
    [8, 4, 2, 1] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [32, 16, 8, 4] [10, 20, 40, 80]
    [64, 32, 16, 8] [10, 20, 40, 80]
    [128, 64, 32, 16] [10, 20, 40, 80]
    >>> plan = Anytime().plan(Bounds(n_candidates=4, max_resources=40, max_candidates=4))
    >>> for run in plan.brackets:
    ...     print(run.n_candidates, run.n_resources)
    [4, 2] [20, 40]
    [4, 4] [20, 40]
    """

    def plan(self, bounds: Bounds) -> Schedule:
        n_planned = min(bounds.n_candidates, max(_N_PLANNED, bounds.n_kept + 1))
        plain = replace(bounds, n_candidates=n_planned, n_kept=0)
        full = SuccessiveHalving(self.factor).plan(plain)
        first, *later = (
            [ceil(n * scale) for n in full.n_candidates]
            for scale in self._scales(n_planned, bounds)
        )
        # Later runs promote the best candidate so far, too.
        runs = [first, *(sizes_with_kept(run, bounds.n_kept + 1) for run in later)]
        if bounds.max_candidates is not None:
            runs = [[min(n, bounds.max_candidates) for n in run] for run in runs]
        runs = [run for run, _ in groupby(runs)]
        folds = [rung.folds for rung in full.rungs]
        schedules = [
            Schedule.from_rungs(run, full.n_resources, full.continues, folds=folds).with_kept(
                bounds.n_kept
            )
            for run in runs
        ]
        min_runs = len({run[0] for run in runs if run[0] <= bounds.n_candidates})
        joined = Schedule.joined(schedules, repeats=True)
        return replace(joined, notes=full.notes, min_runs=min_runs)

    def _scales(self, n_planned: int, bounds: Bounds) -> Iterator[Fraction]:
        """Sizes of the runs, relative to the one for which the rungs are planned."""
        factor = exact_factor(self.factor)
        lowest = Fraction(max(_MIN_CANDIDATES, bounds.n_kept + 1), n_planned)
        highest = bounds.n_candidates * factor**_MAX_POWER / n_planned
        scale = Fraction(1)
        while scale / factor >= lowest:
            scale /= factor
        while scale <= highest:
            yield scale
            scale *= factor
