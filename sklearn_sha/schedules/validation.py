"""Validation of the parameters of schedules."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import Any


def exact_factor(factor: float | Fraction) -> Fraction:
    """Return `factor` as an exact number: 1.1 is 11/10 and not the nearest float.

    Raises
    ------
    ValueError
        If `factor` is not a finite number above 1.
    """
    is_number = isinstance(factor, Real) and not isinstance(factor, bool)
    if not (is_number and isfinite(factor) and factor > 1):
        raise ValueError(
            f"factor={factor!r} must be a finite number above 1, such as 2; others eliminate no "
            "candidate."
        )
    return Fraction(str(factor))


def whole_number(name: str, value: Any) -> int:
    """Return an integer of at least 1 as an int: integers of NumPy overflow in powers.

    Raises
    ------
    ValueError
        If it is no such integer.
    """
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be an integer of at least 1.")
    return int(value)


def check_range(min_resources: int, max_resources: int) -> None:
    """Raise if the minimum resource is larger than the maximum resource."""
    if min_resources > max_resources:
        raise ValueError(
            f"min_resources={min_resources} is larger than max_resources={max_resources}. Lower "
            'min_resources or leave it "auto".'
        )
