"""How many samples of a rare class a first rung has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MIN_PER_CLASS = 10
"""Minimum number of samples of each class in a first rung, both for training and for testing."""


def n_needed(n: int) -> int:
    """Return how many of n samples of a class a first rung needs: `MIN_PER_CLASS`, at most half."""
    return min(MIN_PER_CLASS, n // 2)


def rarest_class(counts: NDArray[np.intp]) -> int:
    """Return the rarest class, given the number of samples of each.

    Classes of a single sample are left out, since a first rung needs none of it.
    """
    return int(np.where(counts > 1, counts, np.inf).argmin())


def n_of_rarest(counts: NDArray[np.intp]) -> int:
    """Return the number of samples of `rarest_class`, or of all classes if none is left."""
    return int(counts[rarest_class(counts)] if (counts > 1).any() else counts.sum())


def size_with_rarest(n: int, n_rarest: int) -> int:
    """Return the size of a stratified subsample with enough samples of the rarest class.

    Parameters
    ----------
    n, n_rarest : int
        Number of samples, and of those of the rarest class.

    Returns
    -------
    int
        With as many of the rarest class as `n_needed` returns.

    Examples
    --------
    >>> from sklearn_sha._data.rare_classes import size_with_rarest
    >>> size_with_rarest(1000, 50), size_with_rarest(1000, 8)
    (200, 500)
    """
    return -(-n * n_needed(n_rarest) // n_rarest) if n_rarest else 0
