"""Numbers of candidates of successive rungs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from sklearn_sha.schedules.validation import exact_factor


def sizes_with_kept(sizes: Sequence[int], n_kept: int) -> list[int]:
    """Return numbers of candidates of successive rungs that have room for kept candidates.

    Each rung has at least ``n_kept + 1`` candidates, so that the best other candidate is compared
    with those that are kept, and at most as many as the previous rung.

    Parameters
    ----------
    sizes : sequence of int
        Not increasing.
    n_kept : int
        Number of candidates that every rung promotes. 0: the sizes stay as they are.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from sklearn_sha.schedules import sizes_with_kept
    >>> sizes_with_kept([27, 9, 3, 1], n_kept=3)
    [27, 9, 4, 4]
    """
    lowest = min(n_kept + 1, sizes[0]) if n_kept else 0
    return [max(size, lowest) for size in sizes]


def rung_sizes(n_candidates: int, factor: float) -> list[int]:
    """Return the numbers of candidates of successive rungs, down to the last one above 1.

    Each rung promotes ``ceil(n / factor)`` of its n candidates, and at most n - 1 (for factors
    below 2, ``ceil(n / factor)`` can be n). The last rung promotes one candidate. For an integer
    factor there are ``ceil(log_factor(n))`` rungs, and one for a single candidate. They are counted
    without logarithms, which are inexact at powers of the factor.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1

    Returns
    -------
    list of int
        Strictly decreasing. ``[1]`` for a single candidate.

    Examples
    --------
    >>> from sklearn_sha.schedules import rung_sizes
    >>> rung_sizes(243, factor=3)
    [243, 81, 27, 9, 3]
    """
    f = exact_factor(factor)
    sizes = [n_candidates]
    while (n := min(ceil(sizes[-1] / f), sizes[-1] - 1)) > 1:
        sizes.append(n)
    return sizes
