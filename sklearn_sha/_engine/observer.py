"""The contract of observers, which an engine notifies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from numpy.typing import ArrayLike

from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import RungRequest


@dataclass(frozen=True)
class StageTimes:
    """Seconds of a stage.

    Attributes
    ----------
    wall : float
        Duration of the stage.
    busy : float
        Time in which workers were busy, added up over the workers.
    n_workers : int
    """

    wall: float
    busy: float
    n_workers: int

    def __add__(self, other: StageTimes) -> StageTimes:
        return StageTimes(self.wall + other.wall, self.busy + other.busy, other.n_workers)

    @property
    def utilization(self) -> float | None:
        """Share of the time of all workers in which they were busy. None if none of them was."""
        return min(1.0, self.busy / (self.n_workers * self.wall)) if self.busy else None


class Observer(Protocol):
    """What is notified by an engine. A stage is all rungs at one resource."""

    def rungs_begin(self, rungs: Sequence[RungJobs], n_known: int) -> None:
        """A stage begins, of which `n_known` jobs are in the store; or raise `StoppedError`."""

    def task(self, request: RungRequest) -> Task:
        """Return the callback task of a request, of which its jobs are parts."""

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        """Jobs of the stage are completed."""

    def rung_ends(
        self, rung: RungJobs, outcomes: list[Outcome], times: StageTimes, is_complete: bool
    ) -> ArrayLike | None:
        """Receive a rung's outcomes, and return the losses of its candidates.

        Parameters
        ----------
        rung : RungJobs
            Of an interrupted stage it has the candidates that were completed.
        outcomes : list of Outcome
            All outcomes of the rung, candidate by candidate and fold by fold.
        times : StageTimes
            Of the stage.
        is_complete : bool
            Whether all candidates are there.

        Returns
        -------
        array-like of float, or None
            None if no candidate has a score.
        """

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        """These candidates of a rung are promoted; of a bracket's last rung, the best one."""
