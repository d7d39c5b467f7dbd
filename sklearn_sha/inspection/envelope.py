"""The envelope of Jamieson and Talwalkar, estimated from the scores of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.inspection.levels import RungRecord
from sklearn_sha.inspection.ranking import check_metric


def envelope(
    results: Mapping[str, Any] | Sequence[RungRecord], metric: str = "score"
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Estimate the envelope gamma of a search from its scores.

    The estimate replaces the limit of a candidate's scores by its last score.

    Parameters
    ----------
    results : dict or list of dict
        ``all_cv_results_`` or ``rung_history_`` of a fitted search.
    metric : str, default="score"
        Metric to read from ``all_cv_results_``. Ignored for ``rung_history_``, which has the
        metric that promotes only.

    Returns
    -------
    n_resources : ndarray of int, shape (n,)
        Resources from which candidates were promoted to a larger one, or from which an audit
        trained them to a larger one, in increasing order. Rungs that only add folds do not count.
    gamma : ndarray of float, shape (n,)
        Largest distance between the mean test score of such a candidate at this resource, or at
        a larger one, and its last mean test score.

    Raises
    ------
    TypeError
        If `results` is something else, such as ``cv_results_``.
    ValueError
        If ``all_cv_results_`` does not have the metric.

    Examples
    --------
    >>> from sklearn_sha.inspection import envelope
    >>> rungs = [
    ...     {"n_resources": 1, "candidates": [0, 1, 2], "scores": [0.5, 0.25, 0.0]},
    ...     {"n_resources": 2, "candidates": [0, 1], "scores": [0.75, 0.5]},
    ...     {"n_resources": 4, "candidates": [0], "scores": [1.0]},
    ... ]
    >>> resources, gamma = envelope(rungs)
    >>> resources.tolist(), gamma.tolist()
    ([1, 2], [0.5, 0.25])
    """
    if isinstance(results, Mapping) and "candidate" in results:
        candidates = np.asarray(results["candidate"])
        check_metric(results, metric)
        resources = np.asarray(results["n_resources"])
        scores = np.asarray(results[f"mean_test_{metric}"], dtype=float)
    elif isinstance(results, list | tuple):
        candidates = np.concatenate([row["candidates"] for row in results])
        resources = np.repeat(
            [row["n_resources"] for row in results], [len(row["candidates"]) for row in results]
        )
        scores = np.concatenate([row["scores"] for row in results])
    else:
        raise TypeError(
            "envelope requires all_cv_results_ or rung_history_. cv_results_ has the last rung "
            f"only. results is of type {type(results).__name__}."
        )
    scores = np.where(np.isfinite(scores), scores, np.nan)
    order = np.argsort(resources, kind="stable")
    last_of = dict(zip(candidates[order].tolist(), order.tolist(), strict=True))
    last = np.array([last_of[candidate] for candidate in candidates.tolist()], dtype=np.intp)
    promoted = resources[last] > resources
    distance = np.abs(scores - scores[last])
    promoted_at = np.unique(resources[promoted])
    largest = np.array([np.fmax.reduce(distance[promoted & (resources == r)]) for r in promoted_at])
    return promoted_at, np.fmax.accumulate(largest[::-1])[::-1]
