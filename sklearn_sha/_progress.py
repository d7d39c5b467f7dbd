"""The line that a search prints when a rung is done."""

from __future__ import annotations

from sklearn_sha.bandit import Pull
from sklearn_sha.schedules import Schedule


def rung_line(schedule: Schedule, pull: Pull, best_score: float | None, elapsed: float) -> str:
    """One line, aligned with those of the other rungs.

    Parameters
    ----------
    schedule : Schedule
    pull : Pull
        Of the rung that is done.
    best_score : float or None
    elapsed : float
        Seconds since the search began.

    Examples
    --------
    >>> from sklearn_sha._progress import rung_line
    >>> from sklearn_sha.bandit import Pull
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(64, max_resources=100)
    >>> rung_line(schedule, Pull(3, tuple(range(8)), 24, last=False), 0.912345, 7.25)
    'rung 4/6   8 candidates at resource  24   best score   0.9123     7.2 s'
    """
    brackets = schedule.brackets
    mine = brackets[pull.bracket].n_resources
    most = max(len(bracket.rungs) for bracket in brackets)
    bracket = f"bracket {pull.bracket:>{len(str(len(brackets) - 1))}}  "
    score = "" if best_score is None else f"best score {best_score:8.4f}"
    return (
        f"{bracket if len(brackets) > 1 else ''}"
        f"rung {mine.index(pull.resource) + 1:>{len(str(most))}}/{len(mine)}  "
        f"{len(pull.arms):>{len(str(max(schedule.n_candidates)))}} candidates "
        f"at resource {pull.resource:>{len(str(max(schedule.n_resources)))}}   "
        f"{score}  {elapsed:7.1f} s"
    )
