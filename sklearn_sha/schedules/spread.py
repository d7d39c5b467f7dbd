"""Integers in equal ratios."""

from __future__ import annotations


def spread_integers(first: int, last: int, n: int, *, to_nearest: bool = False) -> list[int]:
    """Return integers in equal ratios.

    Number k of n is ``first * (last / first) ** (k / (n - 1))`` in exact arithmetic, rounded.

    Parameters
    ----------
    first, last : int >= 1
    n : int >= 1
        How many integers to return.
    to_nearest : bool, default=False
        Whether to round to the nearest integer instead of down.

    Returns
    -------
    list of int
        Only `last` if `n` is 1.

    Examples
    --------
    >>> from sklearn_sha.schedules import spread_integers
    >>> spread_integers(64, 5000, 5), spread_integers(1, 5, 4, to_nearest=True)
    ([64, 190, 565, 1681, 5000], [1, 2, 3, 5])
    """
    if n == 1:
        return [last]
    n_steps = n - 1
    powers = [first ** (n_steps - k) * last**k for k in range(n)]
    if to_nearest:
        return [(_root(2**n_steps * power, n_steps) + 1) // 2 for power in powers]
    return [_root(power, n_steps) for power in powers]


def _root(value: int, degree: int) -> int:
    """Return the largest integer whose power of this degree is at most a value."""
    low, high = 0, 1 << -(-value.bit_length() // degree)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low
