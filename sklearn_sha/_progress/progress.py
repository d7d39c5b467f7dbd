"""How far a search has come, and how long it will still take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from sklearn_sha._formatting import format_number, quantity
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.schedules import Schedule


class Progress:
    """Compares what is done with the plan, and the time that it took with a clock.

    Parameters
    ----------
    schedule : Schedule
    n_folds, n_workers : int
    clock : callable
        Gives seconds.
    """

    def __init__(
        self,
        schedule: Schedule,
        n_folds: int,
        n_workers: int,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._clock, self._start = clock, clock()
        self._n_folds = n_folds
        self._n_workers = n_workers
        self._ahead = {
            (rung.bracket, rung.resource): self._work(
                rung.n_candidates, rung.step if schedule.continues else rung.resource
            )
            for rung in schedule.rungs
        }
        self._behind = self._here = 0.0
        self.n_jobs = self.n_kept = self._n_known = 0

    def _work(self, n_candidates: int, units: int) -> float:
        """Units that the busiest worker trains."""
        return -(-n_candidates * self._n_folds // self._n_workers) * units

    def rungs_begin(self, requests: Sequence[RungRequest], n_known: int = 0) -> None:
        """Rungs begin, of which so many jobs are known; and what was begun before is over."""
        self._behind += self._done_here
        self._here = sum(self._ahead.pop((r.bracket, r.n_resources), 0.0) for r in requests)
        self.n_jobs = sum(len(r.new_ids) * len(r.folds_of(self._n_folds)) for r in requests)
        self.n_kept = self._n_known = n_known

    def jobs_completed(self, n_jobs: int) -> None:
        """So many jobs of what was begun are done."""
        self.n_kept += n_jobs

    @property
    def _done_here(self) -> float:
        n_done = self.n_kept - self._n_known
        return self._here * n_done / self.n_jobs if self.n_jobs else 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._start

    @property
    def left(self) -> float | None:
        """Seconds that the rest of the plan takes at the speed so far; None where there is none."""
        done = self._behind + self._done_here
        share = 1 - self.n_kept / self.n_jobs if self.n_jobs else 0.0
        rest = sum(self._ahead.values()) + self._here * share
        return self.elapsed * rest / done if done and rest else None


def rung_line(
    schedule: Schedule,
    request: RungRequest,
    best_score: float | None,
    elapsed: float,
    left: float | None,
) -> str:
    """One line, aligned with those of the other rungs.

    Parameters
    ----------
    schedule : Schedule
    request : RungRequest
        Of the rung that is done.
    best_score : float or None
    elapsed : float
        Seconds since the search began.
    left : float or None
        Seconds that it will still take.

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
    score = "" if best_score is None else f"best score {format_number(best_score, 4):>8}"
    candidates = _in_column(len(request.candidate_ids), schedule.n_candidates, "candidates", ",")
    resource = _in_column(request.n_resources, schedule.n_resources, schedule.unit)
    return (
        f"{rung_name(schedule, request)}  {candidates} {resource}   {score}  {elapsed:7.1f} s"
        + ("" if left is None else f", about {left:5.0f} s left")
    )


def _in_column(number: int, numbers: Sequence[int], things: str, end: str = "") -> str:
    """A quantity as wide as the others of its column, with their digits below each other."""
    width = len(str(max(numbers)))
    text = quantity(number, things) + end
    return (" " * (width - len(str(number))) + text).ljust(width + 1 + len(things + end))


def rung_name(schedule: Schedule, request: RungRequest) -> str:
    """Number of a rung and of the last one, and of the bracket if there are several.

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
    mine = brackets[request.bracket].n_resources
    # Budget doubling counts its rungs from one run to the next.
    last = request.rung + len(mine) - 1 - mine.index(request.n_resources)
    width = len(str(len(schedule.rungs) - 1))
    bracket = f"{schedule.bracket_name} {request.bracket:>{len(str(len(brackets) - 1))}}  "
    name = f"rung {request.rung:>{width}}/{last:<{width}}"
    return f"{bracket if len(brackets) > 1 else ''}{name}"


def refit_line(schedule: Schedule, candidate: int, n_resources: int, n_samples: int) -> str:
    """One line for a refit that begins.

    Parameters
    ----------
    schedule : Schedule
    candidate : int
        Number of the best candidate.
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
