"""Groups the jobs of a stage into batches, by the measured speed of each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from sklearn_sha._engine.evaluation import SECONDS_PER_BATCH
from sklearn_sha._engine.jobs import Job
from sklearn_sha._engine.preprocessing_calls import GroupKey
from sklearn_sha._storage.outcomes import Outcome

_BATCHES_PER_WORKER = 4
"""Few enough that samples are sent and sliced for many jobs together; enough that no worker waits
long for the last one."""

_MIN_SECONDS_PER_BATCH = 0.05
"""Sending jobs and slicing samples for them takes milliseconds: no batch is made shorter than this
only to have more of them."""


class Batching:
    """Decides which jobs a worker evaluates in one call.

    Parameters
    ----------
    n_workers : int

    Attributes
    ----------
    n_wanted : int
        Number of batches that keep all workers busy.
    """

    def __init__(self, n_workers: int) -> None:
        self._n_workers = n_workers
        self.n_wanted = 1 if n_workers == 1 else _BATCHES_PER_WORKER * n_workers
        # Seconds and units of each candidate so far.
        self._times: dict[int, tuple[float, int]] = {}
        # Before the last call of `batches`.
        self._seconds_per_unit = 0.0
        # Since then.
        self._seconds, self._units = 0.0, 0

    def batches(
        self, groups: Mapping[GroupKey, list[Job]]
    ) -> list[tuple[GroupKey, tuple[Job, ...]]]:
        """Return batches of jobs that share their samples, the longest first.

        Parameters
        ----------
        groups : dict of GroupKey to list of Job
        """
        if self._units:
            self._seconds_per_unit = self._seconds / self._units
            self._seconds, self._units = 0.0, 0
        per_group = -(-self.n_wanted // max(1, len(groups)))
        found: list[tuple[float, int, GroupKey, tuple[Job, ...]]] = []
        for key, jobs in groups.items():
            by_length = sorted(jobs, key=self._length, reverse=True)
            seconds = self._seconds_per_unit * max(map(Job.cost, jobs))
            size = -(-len(jobs) // per_group)
            if seconds:
                size = max(size, int(_MIN_SECONDS_PER_BATCH / seconds))
                size = max(1, min(size, int(SECONDS_PER_BATCH / seconds)))
            for start in range(0, len(jobs), size):
                batch = tuple(by_length[start : start + size])
                found.append((-sum(map(self._length, batch)), start, key, batch))
        # The first candidates of all folds come before the second ones of any, so that whole
        # candidates are completed when a search is interrupted.
        found.sort(key=itemgetter(0, 1))
        return [(key, batch) for _, _, key, batch in found]

    def _length(self, job: Job) -> float:
        """Expected length of a job: its units or, with several workers, its seconds.

        With one worker the order makes no difference, and does not depend on the clock.
        """
        if self._n_workers == 1 or not self._seconds_per_unit:
            return job.cost()
        seconds, units = self._times.get(job.candidate, (self._seconds_per_unit, 1))
        return job.cost() * seconds / units

    def record(self, outcomes: Sequence[Outcome], costs: Sequence[int]) -> None:
        """Record the time of jobs that trained so many units each."""
        for outcome, units in zip(outcomes, costs, strict=True):
            seconds = outcome.fit_time + outcome.score_time
            if self._n_workers > 1:
                before_seconds, before_units = self._times.get(outcome.candidate, (0.0, 0))
                self._times[outcome.candidate] = before_seconds + seconds, before_units + units
            self._seconds += seconds
            self._units += units
