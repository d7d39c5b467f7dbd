"""Outcomes of one rung, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.bandit.requests import RungRequest


@dataclass(frozen=True)
class RungOutcome:
    """Outcomes of one rung.

    Arrays have the shape (n_candidates, n_folds).

    Attributes
    ----------
    request : RungRequest
        Request of the rung.
    is_complete : bool
        Whether all candidates were evaluated.
    has_failed : bool
        Whether no candidate has a score, because fits failed.
    step : int
        Resource that the rung adds to each candidate.
    spent : int
        Cumulative cost per fold of the search at the end of the rung.
    wall_time : float
        Seconds that the rung took.
    fit_time, score_time : ndarray of float
        Seconds of each fit and of its scores.
    fit_failed : ndarray of bool
    test, train : dict of str to ndarray of float
        Scores by metric.
    """

    request: RungRequest
    is_complete: bool
    has_failed: bool
    step: int
    spent: int
    wall_time: float
    fit_time: NDArray[np.float64]
    score_time: NDArray[np.float64]
    fit_failed: NDArray[np.bool_]
    test: dict[str, NDArray[np.float64]]
    train: dict[str, NDArray[np.float64]]

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self.request.candidate_ids)

    def is_extended_by(self, request: RungRequest) -> bool:
        """Return whether a request adds candidates to this rung."""
        own = self.request
        return (own.bracket, own.rung) == (request.bracket, request.rung)

    def mean_scores(self, metric: str) -> NDArray[np.float64]:
        """Return the mean test score of each candidate."""
        return self.test[metric].mean(axis=1)


def last_rung_of(rungs: Sequence[RungOutcome], bracket: int) -> RungOutcome | None:
    """Return the last rung of a bracket, or None if it has no rungs."""
    return next((rung for rung in reversed(rungs) if rung.request.bracket == bracket), None)
