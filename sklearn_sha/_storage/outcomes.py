"""Result of evaluating one candidate on one fold."""

from __future__ import annotations

from typing import NamedTuple

Scores = float | dict[str, float | None]


class Outcome(NamedTuple):
    """Result of evaluating one candidate on one fold.

    Attributes
    ----------
    candidate, fold, n_resources : int
        Candidate and fold, and the units with which the model was trained, as in `Job`.
    test_scores, train_scores : float, dict of str to float or None, or None
        None if scoring failed or was not requested.
    fit_time, score_time : float
        Seconds.
    errors : tuple of str
        Tracebacks of the errors.
    fit_failed : bool
        Whether fitting failed.
    preprocessing_time : float
        Seconds of the preprocessing that the candidate shares with others; 0 without.
    """

    candidate: int
    fold: int
    n_resources: int
    test_scores: Scores | None = None
    train_scores: Scores | None = None
    fit_time: float = 0.0
    score_time: float = 0.0
    errors: tuple[str, ...] = ()
    fit_failed: bool = False
    preprocessing_time: float = 0.0

    @property
    def key(self) -> tuple[int, int, int]:
        """Candidate, fold and resource, which identify the evaluation within a search."""
        return self[:3]
