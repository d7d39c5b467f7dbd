"""Scores of jobs, metric by metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._storage.outcomes import Scores


def scores_by_metric(
    scores: Sequence[Scores | None],
    metrics: Sequence[str],
    error_score: float,
    shape: tuple[int, ...],
) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.bool_]]]:
    """Return the scores, with `error_score` for those that failed, and which ones failed.

    Parameters
    ----------
    scores : sequence of float, dict of str to float, or None
        Of each job. None, or None for a metric, if it failed.
    metrics : sequence of str
    error_score : float
    shape : tuple of int
        Of the arrays that are returned.

    Raises
    ------
    ValueError
        If a callable `scoring` has not returned all metrics.
    """
    values, failed = {}, {}
    for metric in metrics:
        column = [_score_of(one, metric) for one in scores]
        numbers = [error_score if score is None else score for score in column]
        values[metric] = np.array(numbers, dtype=float).reshape(shape)
        failed[metric] = np.reshape([score is None for score in column], shape)
    return values, failed


def _score_of(scores: Scores | None, metric: str) -> float | None:
    """Return the score of a job in a metric, or None if it failed."""
    if scores is None:
        return None
    if isinstance(scores, dict):
        if metric in scores:
            return scores[metric]
    elif metric == "score":
        return scores
    raise ValueError(
        f"scoring returned {scores!r}, without the {metric!r} of the first fit. Return the same "
        "metrics in each call."
    )
