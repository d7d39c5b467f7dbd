"""Observer of the engine: updates results, progress display, callbacks and the sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.interruption import StoppedError
from sklearn_sha._engine.observer import StageTimes
from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._progress.console import ConsoleProgress
from sklearn_sha._results.few_samples import candidates_that_lack_samples
from sklearn_sha._results.results import Results
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._search.starting_again import StartAgainError
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import RungLosses, RungRequest
from sklearn_sha.candidates.pool import CandidatePool


class RungObserver:
    """Update results, progress display, callbacks and sampler as rungs are evaluated.

    Context manager, which begins and ends with the search.

    Parameters
    ----------
    results : Results
    display : ConsoleProgress
    pool : CandidatePool
    spec : SearchSpec
    task : Task
        Callback task of the search; each rung is a subtask.
    n_rungs : int or None
        Upper bound of the number of rungs. None if it is unknown.
    metric_of : callable
        Returns the metric by which candidates are promoted, given the names of all metrics and
        whether the user has named them.
    aggregate : callable or None
        Aggregates the losses of each candidate over the rungs. None uses the last rung.
    bracket_times : BracketTimes or None
        Decides whether a bracket of an anytime search is begun.
    n_stored : int
        Number of evaluations that an earlier run completed.

    Attributes
    ----------
    final_losses : list of float
        Lowest loss of each request for the last rung of a bracket.
    stop_requested : bool
        Whether a callback has requested to stop.
    """

    def __init__(
        self,
        results: Results,
        display: ConsoleProgress,
        pool: CandidatePool,
        spec: SearchSpec,
        task: Task,
        *,
        n_rungs: int | None,
        metric_of: Callable[[list[str], bool], str],
        aggregate: Callable[[ArrayLike], NDArray[np.float64]] | None,
        bracket_times: BracketTimes | None,
        n_stored: int,
    ) -> None:
        self.final_losses: list[float] = []
        self.stop_requested = False
        self._results = results
        self._display = display
        self._pool = pool
        self._spec = spec
        self._task = task.subtask("search", of=n_rungs).begin()
        self._rungs: dict[RungRequest, Task] = {}
        self._metric_of = metric_of
        self._aggregate = aggregate
        self._bracket_times = bracket_times
        self._current_bracket = 0
        self._n_stored = n_stored
        self._is_replaying = True

    def __enter__(self) -> Self:
        self._display.start()
        return self

    def rungs_begin(self, rungs: Sequence[RungJobs], n_known: int) -> None:
        self.check_not_stopped()
        # A resumed search first replays the completed rungs.
        self._is_replaying &= self._results.n_fits < self._n_stored
        self._is_replaying &= n_known == sum(rung.n_new for rung in rungs)
        bracket = rungs[0].request.bracket
        is_begun = bracket <= self._current_bracket or n_known > 0
        self._current_bracket = max(bracket, self._current_bracket)
        if not is_begun and (refusal := self._refusal(bracket)):
            self._display.ends_early(refusal)
            raise StoppedError
        if self._is_shown():
            self._display.rungs_begin(rungs, n_known)
        for rung in rungs:
            self._rungs[rung.request] = self._task.subtask(
                "halving-iteration",
                of=rung.n_new,
                sequential_subtasks=False,
            ).begin()

    def check_not_stopped(self) -> None:
        """Raise an error if a callback has requested to stop."""
        if self.stop_requested:
            raise StoppedError

    def _is_shown(self) -> bool:
        # An audit replays the rungs of a completed search, which were shown.
        return not (self._is_replaying and self._spec.is_closed)

    def _refusal(self, bracket: int) -> str:
        """Return why a bracket of an anytime search is not begun, or ""."""
        if self._bracket_times is None or self._is_replaying:
            return ""
        return self._bracket_times.refusal(bracket, self._results)

    def task(self, request: RungRequest) -> Task:
        return self._rungs[request]

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        self._display.jobs_completed(outcomes)

    def rung_ends(
        self, rung: RungJobs, outcomes: list[Outcome], times: StageTimes, is_complete: bool
    ) -> ArrayLike | None:
        results, request = self._results, rung.request
        results.add(rung, outcomes, times, is_complete)
        if results.has_metrics:
            results.metric = self._metric_of(results.metrics, results.is_multimetric)
        scores = results.mean_scores()
        is_new = np.array([bool(folds) for folds in rung.new_folds])
        new_ids = np.array(request.candidate_ids)[is_new].tolist()
        self._pool.record(new_ids, request.n_resources, results.fold_scores()[is_new])
        if self._is_shown():
            self._display.rung_ends(request, scores, is_complete)
        if not results.last_rung_has_scores():
            return None  # promoting the first ones would select by their order
        losses = -scores
        if request.is_last_rung:
            # The best candidate is selected by the scores of the last rung, as in a grid search.
            self.final_losses.append(float(np.fmin.reduce(losses)))
        elif self._aggregate is not None:
            losses = results.aggregated(self._aggregate)
        return RungLosses.of(
            losses, -results.fold_scores(), results.have_failed(), self._wait(request)
        )

    def _wait(self, request: RungRequest) -> NDArray[np.bool_] | None:
        """Return which candidates of the last rung wait: those that failed for lack of samples."""
        has_failed = self._results.have_failed()
        if not (self._spec.failed_wait and has_failed.any()):
            return None
        failures, n_samples = self._results.failures, request.n_resources
        train_sizes = [len(fold.train) for fold in self._spec.folds]
        can_succeed = candidates_that_lack_samples(failures, n_samples, train_sizes)
        waits = has_failed & [number in can_succeed for number in request.candidate_ids]
        self._results.wait({*compress(request.candidate_ids, waits)})
        return waits

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        self._results.promoted(request, ids)
        stop_requested = self._rungs.pop(request).end()
        # Requests while replaying were made before, and the user has resumed since.
        self.stop_requested |= stop_requested and not self._is_replaying

    def algorithm_ends(self) -> None:
        """Show if fewer rungs than planned were evaluated.

        As with `patience`, or if all candidates of a rung failed.
        """
        if self._is_shown():
            self._display.algorithm_ends(self._results.n_rungs)

    def __exit__(self, kind: type[BaseException] | None, *exception: Any) -> None:
        self._display.end()
        if kind is None or issubclass(kind, (StoppedError, StartAgainError)):
            self._task.end()
