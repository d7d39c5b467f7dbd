"""What a search does at each rung: takes in results, says what they decide, and tells of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.engine import StoppedError
from sklearn_sha._progress.console import ConsoleProgress
from sklearn_sha._results.results import Results
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import Pull
from sklearn_sha.schedules import Schedule


class RungObserver:
    """Listens to an engine; a context that ends with the search, or with what stops it.

    Parameters
    ----------
    schedule : Schedule
    results : Results
    lines : ConsoleProgress
        Show how it goes.
    task : Task
        Of the search, of which each rung is a part.
    metric_of : callable
        Gives the metric that promotes, of the names of all.
    memory : callable or None
        Over the losses that a candidate has shown; None where the last one counts.

    Attributes
    ----------
    finals : list of float
        The least loss in the last rung of each bracket that has ended.
    """

    def __init__(
        self,
        schedule: Schedule,
        results: Results,
        lines: ConsoleProgress,
        task: Task,
        *,
        metric_of: Callable[[list[str]], str],
        memory: Callable[[ArrayLike], NDArray[np.float64]] | None,
    ) -> None:
        self.finals: list[float] = []
        self._results = results
        self._lines = lines
        self._task = task.subtask("search", of=len(schedule.rungs)).begin()
        self._rungs: dict[Pull, Task] = {}
        self._metric_of = metric_of
        self._memory = memory
        self._is_to_stop = False
        self._is_behind = True

    def __enter__(self) -> Self:
        self._lines.start()
        return self

    def begins(self, pulls: Sequence[Pull], n_known: int) -> None:
        if self._is_to_stop:
            raise StoppedError
        n_jobs = {pull: len(pull.new) * self._results.n_folds for pull in pulls}
        # Until there is something new, this is what a search that goes on has behind it.
        self._is_behind &= n_known == sum(n_jobs.values())
        self._lines.begins(pulls, n_known)
        for pull in pulls:
            self._rungs[pull] = self._task.subtask(
                "halving-iteration",
                of=n_jobs[pull],
                sequential_subtasks=False,
            ).begin()

    def task(self, pull: Pull) -> Task:
        return self._rungs[pull]

    def kept(self, outcomes: Sequence[Outcome]) -> None:
        self._lines.kept(outcomes)

    def record(
        self, pull: Pull, outcomes: list[Outcome], seconds: float, is_whole: bool
    ) -> ArrayLike | None:
        results = self._results
        results.add(pull, outcomes, seconds, is_whole)
        if results.has_metrics:
            results.metric = self._metric_of(results.metrics)
        scores = results.mean_scores()
        self._lines.rung(pull, scores)
        if results.last_rung_failed():
            return None
        if results.ends_bracket(pull):
            # The winner is who is best now, as in a grid search.
            self.finals.append(-float(np.fmax.reduce(scores)))
        elif self._memory is not None:
            return results.remembered(self._memory)
        return -scores

    def promoted(self, pull: Pull, arms: tuple[int, ...]) -> None:
        self._results.promoted(pull, arms)
        asks_to_stop = self._rungs.pop(pull).end()
        self._is_to_stop |= asks_to_stop and not self._is_behind

    def __exit__(self, kind: type[BaseException] | None, *exception: Any) -> None:
        self._lines.end()
        if kind is None or issubclass(kind, StoppedError):
            self._task.end()
