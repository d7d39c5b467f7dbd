"""How far two lists of scores rank the same things alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau, rankdata


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
    >>> from sklearn_sha._ranking import spearman
    >>> round(spearman([0.1, 0.2, float("nan")], [1, 2, 0]), 6)
    1.0
    """
    ranks = np.stack([_ranks(a), _ranks(b)])
    if (np.ptp(ranks, axis=1) == 0).any():
        return float("nan")
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def kendall(a: ArrayLike, b: ArrayLike) -> float:
    """Kendall's tau-b, as `spearman` otherwise."""
    return float(kendalltau(_ranks(a), _ranks(b)).statistic)


def _ranks(scores: ArrayLike) -> NDArray[np.float64]:
    return rankdata(np.nan_to_num(np.asarray(scores, dtype=float), nan=-np.inf))
