"""Which candidates are promoted, and when no more is gained."""

from __future__ import annotations

from math import isnan

import numpy as np
from numpy.typing import ArrayLike, NDArray


def promote(losses: ArrayLike, n: int) -> NDArray[np.intp]:
    """Positions of the `n` lowest losses, in rising order of position.

    A tie goes to the position that comes first, and NaN never beats a number.

    Parameters
    ----------
    losses : array-like of float, shape (n_arms,)
    n : int
        How many to keep, at most n_arms.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> from sklearn_sha.bandit import promote
    >>> promote([0.3, float("nan"), 0.1, 0.3], 2).tolist()
    [0, 2]
    """
    # A stable sort keeps ties in order, and numpy sorts NaN behind every number.
    order = np.argsort(np.asarray(losses, dtype=float), kind="stable")
    return np.sort(order[:n])


class Patience:
    """Counts the winners in a row that were no better than one before.

    Parameters
    ----------
    patience : int >= 1 or None
        How many are too many; None: there is no such number.
    tol : float >= 0
        By how much more a loss has to be lower than the lowest before.

    Examples
    --------
    >>> from sklearn_sha.bandit import Patience
    >>> waiting = Patience(2, tol=0.0)
    >>> [waiting.is_over(loss) for loss in (0.5, 0.4, 0.4, 0.3, 0.3, 0.3)]
    [False, False, False, False, False, True]
    """

    def __init__(self, patience: int | None, tol: float) -> None:
        self.patience = patience
        self.tol = tol
        self._stale = 0
        self._lowest = float("nan")

    def is_over(self, loss: float) -> bool:
        """Take in the loss of a winner; whether it is time to stop."""
        if loss < self._lowest - self.tol or (isnan(self._lowest) and not isnan(loss)):
            self._stale, self._lowest = 0, loss
        else:
            self._stale += 1
        return self.patience is not None and self._stale >= self.patience


def running_min(losses: ArrayLike) -> NDArray[np.float64]:
    """The lowest loss so far, which has a limit where the losses are bounded below.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        NaN counts as no loss, unless there is nothing else yet.

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
    """The mean of the losses so far, which has a limit where losses fluctuate around one.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        After a NaN the mean is NaN.

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
