"""Progress of a search, and an estimate of the time left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from time import perf_counter

from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._formatting import format_number, quantity
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.schedules import Rung, Schedule


class Progress:
    """Estimates the time left of a search from its plan and the elapsed time.

    Parameters
    ----------
    schedule : Schedule
        Plan of the search.
    n_folds, n_workers : int
    clock : callable, default=time.perf_counter
        Returns the time in seconds.
    max_time : float, default=inf
        Upper bound of the seconds of the search.
    start_seconds : callable, optional
        Returns how many seconds the workers took to start. 0 by default.

    Attributes
    ----------
    n_jobs : int
        Number of jobs of the current rungs.
    n_completed : int
        Number of those that are completed or were known before.
    """

    def __init__(
        self,
        schedule: Schedule,
        n_folds: int,
        n_workers: int,
        clock: Callable[[], float] = perf_counter,
        max_time: float = inf,
        start_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._max_time = max_time
        self._clock, self._start = clock, clock()
        self._start_seconds = start_seconds
        self._n_folds = n_folds
        self._n_workers = n_workers
        totals = [0, *(rung.total_cost for rung in schedule.rungs)]
        self._planned = {
            _key(rung): (self._work(rung, after - before), rung.n_candidates)
            for rung, (before, after) in zip(schedule.rungs, pairwise(totals), strict=True)
        }
        self._requests: dict[int, RungRequest] = {}  # the latest one of each bracket
        self._completed_work = self._current_work = 0.0
        self.n_jobs = self.n_completed = self._n_known = 0

    def _work(self, rung: Rung, cost: int) -> float:
        """Return the units that the worker with the most jobs trains."""
        n_jobs = rung.n_candidates * len(rung.folds or range(self._n_folds))
        if rung.folds is None:
            cost *= self._n_folds
        return -(-n_jobs // self._n_workers) * cost / n_jobs

    def rungs_begin(self, rungs: Sequence[RungJobs], n_known: int = 0) -> None:
        """Begin rungs that run together; the rungs before are completed.

        Parameters
        ----------
        rungs : sequence of RungJobs
        n_known : int, default=0
            Number of jobs whose outcomes are known.
        """
        self._completed_work += self._completed_of_current
        self._current_work = sum(self._begin(rung.request) for rung in rungs)
        # A rule can end a bracket before its planned end, and a last rung be requested in parts.
        ended = {number for number, request in self._requests.items() if request.is_last_rung}
        current = {_key(rung.request) for rung in rungs}
        self._planned = {
            key: planned
            for key, planned in self._planned.items()
            if key[0] not in ended or key in current
        }
        self.n_jobs = sum(rung.n_new for rung in rungs)
        self.n_completed = self._n_known = n_known

    def _begin(self, request: RungRequest) -> float:
        """Return the work of a request, which can be a part of that of its rung."""
        key, bracket = _key(request), request.bracket
        before = self._requests.get(bracket)
        new = {*request.candidate_ids}
        if before is not None and _key(before) == key:
            new.difference_update(before.candidate_ids)  # which are requested again
        elif before is not None:
            self._planned.pop(_key(before), None)  # it had fewer candidates than planned
        self._requests[bracket] = request
        work, n_waiting = self._planned.pop(key, (0.0, 0))
        n_new = len(new)
        if request.is_final or n_new >= n_waiting:
            return work
        self._planned[key] = work * (n_waiting - n_new) / n_waiting, n_waiting - n_new
        return work * n_new / n_waiting

    def audit_begins(self) -> None:
        """Leave out the planned rungs: those that remain are not run."""
        self._planned.clear()

    def jobs_completed(self, n_jobs: int) -> None:
        """Count completed jobs of the current rungs."""
        self.n_completed += n_jobs

    @property
    def _completed_of_current(self) -> float:
        n_new = self.n_completed - self._n_known
        return self._current_work * n_new / self.n_jobs if self.n_jobs else 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return self._clock() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left at the speed since the workers started.

        None if it is unknown or nothing is left.
        """
        completed = self._completed_work + self._completed_of_current
        share = 1 - self.n_completed / self.n_jobs if self.n_jobs else 0.0
        remaining = sum(work for work, _ in self._planned.values()) + self._current_work * share
        if not completed or not remaining:
            return None
        elapsed = self.elapsed
        working = max(0.0, elapsed - self._start_seconds())
        return min(working * remaining / completed, max(0.0, self._max_time - elapsed))


def _key(rung: Rung | RungRequest) -> tuple[int, int, tuple[int, ...] | None]:
    return rung.bracket, rung.n_resources, rung.folds


def rung_line(
    schedule: Schedule,
    request: RungRequest,
    best_score: float,
    elapsed: float,
    left: float | None,
    is_complete: bool = True,
) -> str:
    """Format an evaluated rung as one line, aligned with the lines of the other rungs.

    Parameters
    ----------
    schedule : Schedule
    request : RungRequest
        Request of the rung.
    best_score : float
    elapsed : float
        Seconds since the search began.
    left : float or None
        Seconds left. None if unknown.
    is_complete : bool, default=True
        Whether the rung was not interrupted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn_sha._progress.progress import rung_line
    >>> from sklearn_sha.bandit import RungRequest
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = replace(schedule_from_range(64, max_resources=100), unit="trees")
    >>> rung_line(schedule, RungRequest(3, tuple(range(8)), 24), 0.912345, 7.25, 5.0)
    'rung 3/5   8 candidates,  24 trees   best score   0.9123     7.2 s, about     5 s left'
    """
    score = f"best score {format_number(best_score, 4):>8}"
    candidates = _column(len(request.candidate_ids), schedule.n_candidates, "candidates", ",")
    resource = _column(request.n_resources, schedule.n_resources, schedule.unit)
    if schedule.n_folds is not None:
        n_folds = len(request.folds or range(schedule.n_folds))
        resource += f" on {_column(n_folds, [schedule.n_folds], 'folds')}"
    if not is_complete:
        end = ", interrupted"
    else:
        end = "" if left is None else f", about {left:5.0f} s left"
    return (
        f"{rung_name(schedule, request)}  {candidates} {resource}   {score}  {elapsed:7.1f} s{end}"
    )


def _column(number: int, numbers: Sequence[int], noun: str, end: str = "") -> str:
    """Format a quantity with the width and alignment of its column."""
    width = len(str(max(numbers)))
    text = quantity(number, noun) + end
    return (" " * (width - len(str(number))) + text).ljust(width + 1 + len(noun + end))


def rung_name(schedule: Schedule, request: RungRequest) -> str:
    """Format the number of a rung and of the last rung, and of the bracket if there are several.

    Rungs are counted from 0, as in ``iter``.

    Examples
    --------
    >>> from sklearn_sha._progress.progress import rung_name
    >>> from sklearn_sha.bandit import RungRequest
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(8, max_resources=100)
    >>> [rung_name(schedule, RungRequest(k, (0,), n)) for k, n in [(0, 25), (2, 100)]]
    ['rung 0/2', 'rung 2/2']
    """
    brackets = schedule.brackets
    rungs = brackets[request.bracket].rungs
    # The plan is an upper bound: an algorithm may request less resource than planned.
    higher = [r.n_resources for r in rungs if r.n_resources >= request.n_resources]
    level = min(higher, default=rungs[-1].n_resources)
    at_level = [k for k, rung in enumerate(rungs) if rung.n_resources == level]
    planned = max(at_level, key=lambda k: rungs[k].folds == request.folds)
    # With budget doubling, rungs are numbered across runs.
    last = request.rung + len(rungs) - 1 - planned
    width = len(str(len(schedule.rungs) - 1))
    bracket = f"{schedule.bracket_name} {request.bracket:>{len(str(len(brackets) - 1))}}  "
    name = f"rung {request.rung:>{width}}/{last:<{width}}"
    return f"{bracket if len(brackets) > 1 else ''}{name}"


def refit_line(schedule: Schedule, candidate: int, n_resources: int, n_samples: int) -> str:
    """Format the line that is printed before the refit.

    Parameters
    ----------
    schedule : Schedule
    candidate : int
        The best candidate.
    n_resources : int
        Resource at which it was selected.
    n_samples : int

    Examples
    --------
    >>> from dataclasses import replace
    >>> from sklearn_sha._progress.progress import refit_line
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = replace(schedule_from_range(64, max_resources=100), unit="trees")
    >>> refit_line(schedule, candidate=9, n_resources=100, n_samples=1347)
    'refit candidate 9, selected at 100 trees, on all 1347 samples'
    """
    return (
        f"refit candidate {candidate}, selected at {quantity(n_resources, schedule.unit)}, "
        f"on all {n_samples} samples"
    )
