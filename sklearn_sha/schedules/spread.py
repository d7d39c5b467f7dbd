"""Resources of rungs in equal ratios."""

from __future__ import annotations


def spread_resources(first: int, last: int, n_rungs: int) -> list[int]:
    """Return the resources of rungs, from the first to the last in equal ratios.

    Rung k of K has ``floor(first * (last / first) ** (k / (K - 1)))`` units, in exact arithmetic.

    Parameters
    ----------
    first, last : int >= 1
    n_rungs : int >= 1

    Returns
    -------
    list of int
        Only `last` if there is one rung.

    Examples
    --------
    >>> from sklearn_sha.schedules import spread_resources
    >>> spread_resources(64, 5000, 5)
    [64, 190, 565, 1681, 5000]
    """
    if n_rungs == 1:
        return [last]
    n_steps = n_rungs - 1
    return [_root(first ** (n_steps - k) * last**k, n_steps) for k in range(n_rungs)]


def _root(value: int, degree: int) -> int:
    """Return the largest integer whose power of this degree is at most a value."""
    low, high = 0, 1 << -(-value.bit_length() // degree)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low
