"""Runs of Successive Halving with more resource and more candidates each, for a limited time."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from math import ceil

from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.doubling import BudgetDoubling
from sklearn_sha.bandit.successive_halving import SuccessiveHalving
from sklearn_sha.schedules import Schedule
from sklearn_sha.schedules.validation import exact_factor

N_LATER_RUNS = 3
"""Number of runs after the first one that reaches the maximum."""

_MIN_CANDIDATES = 8
"""Minimum number of candidates of the first run, if there are as many."""


class Anytime(BudgetDoubling):
    """Runs of Successive Halving, each with more resource or more candidates than the previous.

    One run is that of `SuccessiveHalving` with `Bounds.n_candidates`. Each earlier run has
    one rung fewer and 1/`factor` of the candidates of the next one; each of the three later runs
    has `factor` times as many as the previous one. A run has all candidates of the previous one,
    and rungs with the same resources, so that its evaluations are reused. The last rung of each run
    has all folds. No rung has more than `Bounds.max_candidates`: once a run has all of them, the
    runs after it promote more.

    Parameters
    ----------
    factor, patience, tol, target_loss
        As in `BudgetDoubling`.

    Examples
    --------
    >>> from sklearn_sha.bandit import Anytime, Bounds
    >>> plan = Anytime().plan(Bounds(n_candidates=16, max_resources=80))
    >>> for run in plan.brackets:
    ...     print(run.n_candidates, run.n_resources)
    [8, 4, 2] [10, 20, 40]
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
        full = SuccessiveHalving(self.factor).plan(bounds)
        sizes = full.n_candidates
        starts = [k for k, n in enumerate(sizes) if n >= min(_MIN_CANDIDATES, sizes[0])]
        factor = exact_factor(self.factor)
        runs = [sizes[start:] for start in reversed(starts)]
        runs += [[ceil(n * factor**power) for n in sizes] for power in range(1, N_LATER_RUNS + 1)]
        if bounds.max_candidates is not None:
            capped = ([min(n, bounds.max_candidates) for n in run] for run in runs)
            runs = [run for run, _ in groupby(capped)]
        *folds, all_folds = [rung.folds for rung in full.rungs]
        schedules = [
            Schedule.from_rungs(
                run,
                full.n_resources[: len(run)],
                full.continues,
                folds=[*folds[: len(run) - 1], all_folds],
            ).with_kept(bounds.n_kept)
            for run in runs
        ]
        return replace(Schedule.joined(schedules, repeats=True), notes=full.notes)
