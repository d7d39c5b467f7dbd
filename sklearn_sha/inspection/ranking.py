"""Ranks of scores: the best candidate, and how similarly two lists rank the same candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau, rankdata


def best_row(results: Mapping[str, Any], metric: str) -> int:
    """Row of ``cv_results_`` that is the best by a metric; of equal ones the first.

    NaN can share a rank with very low scores, as in GridSearchCV, but is not the best then.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.inspection.ranking import best_row
    >>> scores, ranks = np.array([np.nan, -1e300, -1e300]), np.array([1, 1, 1])
    >>> best_row({"mean_test_score": scores, "rank_test_score": ranks}, "score")
    1
    """
    first = np.flatnonzero(results[f"rank_test_{metric}"] == 1)
    # A stable sort keeps ties in order, and numpy sorts NaN behind every number.
    return int(first[np.argsort(-results[f"mean_test_{metric}"][first], kind="stable")[0]])


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's correlation, NaN ranked last.

    Parameters
    ----------
    a, b : array-like of float, shape (n,)

    Returns
    -------
    float
        NaN where one side has equal ranks only.

    Examples
    --------
    >>> from sklearn_sha.inspection.ranking import spearman
    >>> round(spearman([0.1, 0.2, float("nan")], [1, 2, 0]), 6)
    1.0
    """
    ranks = np.stack([ranks_of(a), ranks_of(b)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b, as `spearman` otherwise."""
    return float(kendalltau(ranks_of(a), ranks_of(b)).statistic)


def ranks_of(scores: ArrayLike) -> NDArray[np.float64]:
    """Ranks, the lowest score first and equal scores sharing their mean rank; NaN is lowest."""
    return rankdata(np.nan_to_num(np.asarray(scores, dtype=float), nan=-np.inf))
