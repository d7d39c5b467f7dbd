"""Result of evaluating one candidate on one fold."""

from __future__ import annotations

from dataclasses import dataclass

Scores = float | dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job.

    Attributes
    ----------
    candidate, fold, resource : int
        Of which job.
    test_scores, train_scores : float, dict of str to float or None, or None
        None for what failed, or was not asked for.
    fit_time, score_time : float
        Seconds.
    errors : tuple of str
        Tracebacks of what failed.
    fit_failed : bool
        Whether it was the fit.
    """

    candidate: int
    fold: int
    resource: int
    test_scores: Scores | None = None
    train_scores: Scores | None = None
    fit_time: float = 0.0
    score_time: float = 0.0
    errors: tuple[str, ...] = ()
    fit_failed: bool = False

    @property
    def key(self) -> tuple[int, int, int]:
        """That of its job."""
        return self.candidate, self.fold, self.resource
