"""Which candidates are promoted, and when runs no longer improve."""

from __future__ import annotations

from collections.abc import Collection
from math import isnan

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

MOST_EQUAL = 0.75
"""Minimum share of equal losses that say nothing about their candidates."""


def promote(losses: ArrayLike, n: int, kept: Collection[int] = ()) -> NDArray[np.intp]:
    """Return the positions of the `n` lowest losses, in increasing order.

    A tie goes to the position that comes first, and NaN never beats a number. If at least three
    quarters of the losses are equal, the first one of these is followed by the others in a fixed
    random order: the losses say nothing about them, and the first candidates of a grid are alike.

    Parameters
    ----------
    losses : array-like of float, shape (n_candidates,)
    n : int
        Number of candidates to promote, at most n_candidates.
    kept : collection of int, default=()
        Positions that are promoted before all others, unless their losses are NaN.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> from sklearn_sha.bandit import promote
    >>> promote([0.3, float("nan"), 0.1, 0.3], 2).tolist()
    [0, 2]
    >>> promote([0.3, float("nan"), 0.1, 0.3], 2, kept=[1, 3]).tolist()
    [2, 3]
    >>> promote([0.5] * 8, 4).tolist()
    [0, 2, 3, 7]
    """
    return np.sort(best_first(losses, kept)[:n])


def best_first(losses: ArrayLike, kept: Collection[int] = ()) -> NDArray[np.intp]:
    """Return all positions in the order in which `promote` prefers them."""
    values = np.asarray(losses, dtype=float)
    # A stable sort keeps ties in order, and numpy sorts NaN behind every number.
    order = np.argsort(values, kind="stable")
    different, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    if len(counts) and counts.max() >= MOST_EQUAL * counts.sum():
        _, *others = equal = np.flatnonzero(values == different[counts.argmax()])
        order[np.isin(order, equal)] = [equal[0], *RandomState(0).permutation(others)]
    if not kept:
        return order
    is_kept = np.isin(order, [*kept]) & ~np.isnan(values[order])
    return np.concatenate([order[is_kept], order[~is_kept]])


class LastImprovement:
    """Loss of the last improvement.

    Parameters
    ----------
    tol : float >= 0
        A loss that is lower by at most this than that of the last improvement is none.

    Examples
    --------
    >>> from sklearn_sha.bandit.promotion import LastImprovement
    >>> last = LastImprovement(tol=0.1)
    >>> [last.is_surpassed_by(loss) for loss in (0.5, 0.45, 0.39, 0.3)]
    [True, False, True, False]
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._loss = float("nan")

    def is_surpassed_by(self, loss: float) -> bool:
        """Return whether a loss is an improvement, and record it if it is; NaN never is."""
        is_lower = loss < self._loss - self.tol or (isnan(self._loss) and not isnan(loss))
        if is_lower:
            self._loss = loss
        return is_lower


class Patience:
    """Counter of consecutive runs without improvement.

    Parameters
    ----------
    patience : int >= 1 or None
        Number of consecutive runs without improvement after which to stop. None: never stop.
    tol : float >= 0
        A run improves if its loss is lower by more than this than that of the last run that
        improved.

    Examples
    --------
    >>> from sklearn_sha.bandit import Patience
    >>> stopping = Patience(2, tol=0.0)
    >>> [stopping.is_over(loss) for loss in (0.5, 0.4, 0.4, 0.3, 0.3, 0.3)]
    [False, False, False, False, False, True]
    """

    def __init__(self, patience: int | None, tol: float) -> None:
        self.patience = patience
        self._n_stale = 0
        self._last = LastImprovement(tol)

    def is_over(self, loss: float) -> bool:
        """Record the best loss of a run, and return whether to stop."""
        self._n_stale = 0 if self._last.is_surpassed_by(loss) else self._n_stale + 1
        return self.patience is not None and self._n_stale >= self.patience


def running_min(losses: ArrayLike) -> NDArray[np.float64]:
    """Return the lowest loss so far, which converges if the losses are bounded below.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        NaN is ignored, unless all losses so far are NaN.

    Returns
    -------
    ndarray of float, of the same shape

    Examples
    --------
    >>> from sklearn_sha.bandit import running_min
    >>> running_min([0.5, 0.3, 0.4]).tolist()
    [0.5, 0.3, 0.3]
    """
    return np.fmin.accumulate(np.asarray(losses, dtype=float), axis=-1)


def running_mean(losses: ArrayLike) -> NDArray[np.float64]:
    """Return the mean of the losses so far, which converges if the losses fluctuate around a limit.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        After a NaN, all means are NaN.

    Returns
    -------
    ndarray of float, of the same shape

    Examples
    --------
    >>> from sklearn_sha.bandit import running_mean
    >>> running_mean([0.5, 0.25, 0.75]).tolist()
    [0.5, 0.375, 0.5]
    """
    values = np.asarray(losses, dtype=float)
    return np.cumsum(values, axis=-1) / np.arange(1, values.shape[-1] + 1)
