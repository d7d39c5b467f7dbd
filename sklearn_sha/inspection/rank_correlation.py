"""Rank correlations between the scores of two rungs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau, rankdata


def spearman(a: ArrayLike, b: ArrayLike) -> float:
    """Spearman's rank correlation, with NaN ranked last.

    Parameters
    ----------
    a, b : array-like of float, shape (n,)

    Returns
    -------
    float
        NaN if all scores of `a`, or all of `b`, are equal.

    Examples
    --------
    >>> from sklearn_sha.inspection.rank_correlation import spearman
    >>> round(spearman([0.1, 0.2, float("nan")], [1, 2, 0]), 6)
    1.0
    """
    ranks = np.stack([_average_ranks(a), _average_ranks(b)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b, with NaN ranked last.

    Parameters
    ----------
    a, b : array-like of float, shape (n,)

    Returns
    -------
    float
        NaN if all scores of `a`, or all of `b`, are equal.
    """
    return float(kendalltau(_average_ranks(a), _average_ranks(b)).statistic)


def _average_ranks(scores: ArrayLike) -> NDArray[np.float64]:
    """Ranks in increasing order of the scores; ties share their mean rank, NaN is lowest."""
    return rankdata(np.nan_to_num(np.asarray(scores, dtype=float), nan=-np.inf))
