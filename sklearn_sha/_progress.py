"""The line that a search prints when a rung is done."""

from __future__ import annotations

from sklearn_sha.schedules import Schedule


def rung_line(schedule: Schedule, number: int, best_score: float | None, elapsed: float) -> str:
    """One line, aligned with those of the other rungs.

    Parameters
    ----------
    schedule : Schedule
    number : int
        The rung that is done, from 0.
    best_score : float or None
    elapsed : float
        Seconds since the search began.

    Examples
    --------
    >>> from sklearn_sha._progress import rung_line
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> rung_line(schedule_from_range(64, max_resources=100), 3, 0.912345, 7.25)
    'rung 4/6    8 candidates at resource  24   best score   0.9123     7.2 s'
    """
    first, last, rung = schedule.rungs[0], schedule.rungs[-1], schedule.rungs[number]
    total = str(len(schedule.rungs))
    score = "" if best_score is None else f"best score {best_score:8.4f}"
    return (
        f"rung {number + 1:>{len(total)}}/{total}  "
        f"{rung.n_candidates:>{len(str(first.n_candidates))}} candidates "
        f"at resource {rung.resource:>{len(str(last.resource))}}   "
        f"{score}  {elapsed:7.1f} s"
    )
