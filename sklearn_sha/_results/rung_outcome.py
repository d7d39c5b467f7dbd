"""Outcomes of one rung, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._engine.observer import StageTimes
from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha.bandit.requests import RungRequest


@dataclass(frozen=True)
class RungOutcome:
    """Outcomes of one rung.

    Arrays have the shape (n_candidates, n_folds), with the folds that score the rung.

    Attributes
    ----------
    request : RungRequest
        Request of the rung.
    folds : tuple of int
        Folds that score the rung, in increasing order.
    is_new : ndarray of bool
        Whether the evaluation was first requested by this rung, and not by an earlier one.
    is_complete : bool
        Whether all candidates were evaluated.
    target : int
        Units with which each model is trained in total.
    step : int
        Resource that the rung adds to each candidate.
    units : int
        Units that the jobs of the rung trained, over all folds.
    times : StageTimes
        Of the stages in which the rung was evaluated.
    fit_time, score_time : ndarray of float
        Seconds of each fit and of its scores. NaN for those that were known before the rung.
    fit_failed : ndarray of bool
    test, train : dict of str to ndarray of float
        Scores by metric.
    test_failed : dict of str to ndarray of bool
        Whether the fit or the test score failed, by metric.
    waiting : frozenset of int, default=frozenset()
        Candidates that failed for lack of samples, and are trained again with more of them.
    """

    request: RungRequest
    folds: tuple[int, ...]
    is_new: NDArray[np.bool_]
    is_complete: bool
    target: int
    step: int
    units: int
    times: StageTimes
    fit_time: NDArray[np.float64]
    score_time: NDArray[np.float64]
    fit_failed: NDArray[np.bool_]
    test: dict[str, NDArray[np.float64]]
    train: dict[str, NDArray[np.float64]]
    test_failed: dict[str, NDArray[np.bool_]]
    waiting: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """Number of candidates."""
        return len(self.request.candidate_ids)

    def is_extended_by(self, request: RungRequest) -> bool:
        """Return whether a request adds candidates or folds to this rung."""
        own = self.request
        return (own.bracket, own.rung) == (request.bracket, request.rung)

    def is_new_at(self, jobs: RungJobs) -> NDArray[np.bool_]:
        """Return `is_new` for the candidates and folds of other jobs; False if it has none."""
        found = np.zeros((len(jobs.request.candidate_ids), len(jobs.folds)), dtype=bool)
        rows, own_rows = common_positions(jobs.request.candidate_ids, self.request.candidate_ids)
        columns, own_columns = common_positions(jobs.folds, self.folds)
        found[np.ix_(rows, columns)] = self.is_new[np.ix_(own_rows, own_columns)]
        return found

    def have_scores(self, metric: str) -> NDArray[np.bool_]:
        """Return which candidates have a mean score that is a number and not just `error_score`."""
        return ~np.isnan(self.mean_scores(metric)) & ~self.test_failed[metric].all(axis=1)

    def has_scores(self, metric: str) -> bool:
        """Return whether a candidate has such a score."""
        return bool(self.have_scores(metric).any())

    def have_failed(self, metric: str) -> NDArray[np.bool_]:
        """Return for which candidates a fit or a score failed, or the mean score is NaN."""
        return np.isnan(self.mean_scores(metric)) | self.test_failed[metric].any(axis=1)

    def mean_scores(self, metric: str) -> NDArray[np.float64]:
        """Return the mean test score of each candidate."""
        return self.test[metric].mean(axis=1)


def common_positions(
    first: Sequence[int], second: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions in two sequences of the numbers that both have."""
    _, positions, other_positions = np.intersect1d(first, second, return_indices=True)
    return positions, other_positions


def last_rung_of(rungs: Sequence[RungOutcome], bracket: int) -> RungOutcome | None:
    """Return the last rung of a bracket, or None if it has no rungs."""
    return next((rung for rung in reversed(rungs) if rung.request.bracket == bracket), None)
