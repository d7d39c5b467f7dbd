"""Passes what happens in an engine to the results, the progress display, callbacks and samplers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.interruption import StoppedError
from sklearn_sha._progress.console import ConsoleProgress
from sklearn_sha._results.results import Results
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.candidates.pool import CandidatePool


class RungObserver:
    """Observes an engine; a context that ends with the search, or with what interrupts it.

    Parameters
    ----------
    results : Results
    display : ConsoleProgress
    pool : CandidatePool
    task : Task
        Of the search, of which each rung is a part.
    n_rungs : int
        Upper bound of the number of rungs.
    metric_of : callable
        Returns the metric that promotes, of the names of all.
    aggregate : callable or None
        Over the losses of a candidate so far. None: the last one counts.

    Attributes
    ----------
    final_losses : list of float
        Lowest loss in the last rung of each bracket that has ended.
    """

    def __init__(
        self,
        results: Results,
        display: ConsoleProgress,
        pool: CandidatePool,
        task: Task,
        *,
        n_rungs: int,
        metric_of: Callable[[list[str]], str],
        aggregate: Callable[[ArrayLike], NDArray[np.float64]] | None,
    ) -> None:
        self.final_losses: list[float] = []
        self._results = results
        self._display = display
        self._pool = pool
        self._task = task.subtask("search", of=n_rungs).begin()
        self._rungs: dict[RungRequest, Task] = {}
        self._metric_of = metric_of
        self._aggregate = aggregate
        self._stops = False
        self._is_replaying = True

    def __enter__(self) -> Self:
        self._display.start()
        return self

    def rungs_begin(self, requests: Sequence[RungRequest], n_known: int) -> None:
        if self._stops:
            raise StoppedError
        n_folds = self._results.n_folds
        n_jobs = {r: len(r.new_ids) * len(r.folds_of(n_folds)) for r in requests}
        # Until there is something new, a resumed search repeats what was completed.
        self._is_replaying &= n_known == sum(n_jobs.values())
        self._display.rungs_begin(requests, n_known)
        for request in requests:
            self._rungs[request] = self._task.subtask(
                "halving-iteration",
                of=n_jobs[request],
                sequential_subtasks=False,
            ).begin()

    def task(self, request: RungRequest) -> Task:
        return self._rungs[request]

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        self._display.jobs_completed(outcomes)

    def rung_ends(
        self, request: RungRequest, outcomes: list[Outcome], seconds: float, is_complete: bool
    ) -> ArrayLike | None:
        results = self._results
        results.add(request, outcomes, seconds, is_complete)
        if results.has_metrics:
            results.metric = self._metric_of(results.metrics)
        scores = results.mean_scores()
        is_new = np.isin(request.candidate_ids, request.new_ids)
        self._pool.record(request.new_ids, request.n_resources, results.fold_scores()[is_new])
        self._display.rung_ends(request, scores)
        if results.last_rung_failed():
            return None
        if request.is_last_rung:
            # The best candidate is the one that is best now, as in a grid search.
            self.final_losses.append(-float(np.fmax.reduce(scores)))
        elif self._aggregate is not None:
            return results.aggregated(self._aggregate)
        return -scores

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        self._results.promoted(request, ids)
        asks_to_stop = self._rungs.pop(request).end()
        self._stops |= asks_to_stop and not self._is_replaying

    def __exit__(self, kind: type[BaseException] | None, *exception: Any) -> None:
        self._display.end()
        if kind is None or issubclass(kind, StoppedError):
            self._task.end()
