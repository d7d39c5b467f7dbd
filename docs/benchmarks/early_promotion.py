"""What promoting candidates before their rung is complete would save, with 2 to 128 workers.

    python docs/benchmarks/early_promotion.py

prints the table of docs/where_time_goes.md in half a minute. Early promotion is lossless: a
candidate is promoted as soon as it is among the best of its rung even if every candidate whose
score is missing were better. So both ways train the same. Workers of a simulation take the longest
job that is ready, send nothing and never wait for the main process, and candidates, speeds and
stragglers are those of simulated_workers.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from statistics import median

import numpy as np
from reports import table
from simulated_workers import N_FOLDS, N_SEEDS, SLOWDOWN, SPREAD, STRAGGLERS

from sklearn_sha.schedules import FoldGrowth, Schedule, hyperband_schedules, schedule_from_range

N_WORKERS = (2, 8, 16, 32, 64, 128)
FACTOR, MAX_RESOURCES = 3, 243

SEARCHES = {
    "Successive Halving": [
        schedule_from_range(MAX_RESOURCES, factor=FACTOR, max_resources=MAX_RESOURCES)
    ],
    "Hyperband": hyperband_schedules(MAX_RESOURCES, factor=FACTOR),
}


@dataclass(eq=False)
class Bracket:
    """A bracket under way.

    Attributes
    ----------
    schedule : Schedule
    losses : dict of int to float
        Loss of each candidate, the same in every rung.
    n_open : list of dict
        By rung, the number of folds that each candidate has yet to complete.
    complete : list of set
        By rung, candidates that are scored on all folds.
    trained : dict of (int, int) to int
        Resource of each model, by candidate and fold.
    """

    schedule: Schedule
    losses: dict[int, float]
    n_open: list[dict[int, int]] = field(init=False)
    complete: list[set[int]] = field(init=False)
    trained: dict[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n_open = [{} for _ in self.schedule.rungs]
        self.complete = [set() for _ in self.schedule.rungs]

    def start(self, k: int, candidate: int) -> list[tuple[int, int, int, int]]:
        """Return the jobs of a candidate in a rung: rung, candidate, fold and units."""
        rung = self.schedule.rungs[k]
        jobs = [
            (k, candidate, fold, rung.n_resources - self.trained.get((candidate, fold), 0))
            for fold in (range(N_FOLDS) if rung.folds is None else rung.folds)
        ]
        jobs = [job for job in jobs if job[-1]]
        self.n_open[k][candidate] = len(jobs)
        self.trained |= {(candidate, fold): rung.n_resources for _, _, fold, _ in jobs}
        return jobs

    def end(self, k: int, candidate: int, *, is_early: bool) -> list[tuple[int, int, int, int]]:
        """Return the jobs of candidates that are promoted when a job ends."""
        self.n_open[k][candidate] -= 1
        if self.n_open[k][candidate] or k + 1 == len(self.schedule.rungs):
            return []
        self.complete[k].add(candidate)
        sizes = self.schedule.n_candidates
        n_missing = sizes[k] - len(self.complete[k])
        n_certain = max(0, sizes[k + 1] - n_missing) if is_early or not n_missing else 0
        best = sorted(self.complete[k], key=self.losses.__getitem__)[:n_certain]
        new = [other for other in best if other not in self.n_open[k + 1]]
        return [job for other in new for job in self.start(k + 1, other)]


def simulated(
    schedules: list[Schedule], n_workers: int, seed: int, *, is_early: bool
) -> tuple[float, float]:
    """Return the seconds of a search, and the share of them in which workers train."""
    brackets, first = [], 0
    for schedule in schedules:
        ids = range(first, first + schedule.n_candidates[0])
        losses = {number: np.random.default_rng((seed, number)).random() for number in ids}
        brackets.append(Bracket(schedule, losses))
        first = ids.stop
    speeds = np.random.default_rng(seed).lognormal(0, SPREAD, first)
    numbers = count()
    ready: list[tuple[float, int, Bracket, tuple[int, int, int, int]]] = []
    running: list[tuple[float, int, Bracket, int, int]] = []

    def add(bracket: Bracket, jobs: list[tuple[int, int, int, int]]) -> None:
        for job in jobs:
            heappush(ready, (-job[-1] * speeds[job[1]], next(numbers), bracket, job))

    for bracket in brackets:
        for candidate in bracket.losses:
            add(bracket, bracket.start(0, candidate))
    now = work = 0.0
    while ready or running:
        while ready and len(running) < n_workers:
            minus_seconds, _, bracket, (k, candidate, fold, _) = heappop(ready)
            luck = np.random.default_rng((seed, k, candidate, fold)).random()
            seconds = -minus_seconds * (SLOWDOWN if luck < STRAGGLERS else 1)
            work += seconds
            heappush(running, (now + seconds, next(numbers), bracket, k, candidate))
        now, _, bracket, k, candidate = heappop(running)
        add(bracket, bracket.end(k, candidate, is_early=is_early))
    return now, work / n_workers / now


def main() -> None:
    """Print the table."""
    head, rows = ["workers"], [[f"{n}"] for n in N_WORKERS]
    for name, plain in SEARCHES.items():
        order = tuple(range(N_FOLDS))
        grown = [FoldGrowth(order).grow(schedule, FACTOR) for schedule in plain]
        for folds, schedules in (("all folds", plain), ("growing folds", grown)):
            head += [f"{name}, {folds}: utilization", "time saved"]
            for row, n_workers in zip(rows, N_WORKERS, strict=True):
                pairs = [
                    [simulated(schedules, n_workers, seed, is_early=early) for early in (0, 1)]
                    for seed in range(N_SEEDS)
                ]
                row.append(f"{median(share for (_, share), _ in pairs):.0%}")
                saved = median(1 - early / late for (late, _), (early, _) in pairs)
                row.append(f"{round(100 * saved)}%")
    print("\n".join(table(head, rows)))


if __name__ == "__main__":
    main()
