"""Scores of jobs, metric by metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    rows = [_row_of(one, metrics) for one in scores]
    columns = {metric: [row[metric] for row in rows] for metric in metrics}
    values, failed = {}, {}
    for metric, column in columns.items():
        numbers = [error_score if score is None else score for score in column]
        values[metric] = np.array(numbers, dtype=float).reshape(shape)
        failed[metric] = np.reshape([score is None for score in column], shape)
    return values, failed


def _row_of(scores: Scores | None, metrics: Sequence[str]) -> Mapping[str, float | None]:
    """Return the scores of a job by metric, after a check. None for what failed."""
    if scores is None:
        return dict.fromkeys(metrics)
    row: Mapping[str, float | None] = scores if isinstance(scores, dict) else {"score": scores}
    if missing := [metric for metric in metrics if metric not in row]:
        raise ValueError(
            f"scoring returned {scores!r}, without {sorted(map(str, missing))} of the "
            "first fit. Return the same metrics in each call."
        )
    return row
