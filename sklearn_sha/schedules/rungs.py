"""Numbers of candidates of successive rungs."""

from __future__ import annotations

from math import ceil

from sklearn_sha.schedules.validation import exact_factor


def rung_sizes(n_candidates: int, factor: float) -> list[int]:
    """Return the numbers of candidates of successive rungs, down to the last one above 1.

    Each rung promotes ``ceil(n / factor)`` of its n candidates, and at most n - 1 (for factors
    below 2, ``ceil(n / factor)`` can be n). The last rung promotes one candidate. For an integer
    factor there are ``ceil(log_factor(n))`` rungs. They are counted without logarithms, which are
    inexact at powers of the factor.

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
