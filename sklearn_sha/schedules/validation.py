"""Validation of the parameters of schedules."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from sklearn_sha._param_validation import check_int, is_real


def exact_factor(factor: float | Fraction) -> Fraction:
    """Return `factor` as an exact number: 1.1 is 11/10 and not the nearest float.

    Raises
    ------
    ValueError
        If `factor` is not a finite number above 1.
    """
    if not (is_real(factor) and isfinite(factor) and factor > 1):
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
    check_int(name, value)
    return int(value)


def whole_numbers(name: str, values: Sequence[Any]) -> list[int]:
    """Return integers of at least 1, one for each rung, as integers of Python.

    Raises
    ------
    TypeError, ValueError
        If they are no such integers.
    """
    try:
        given = [*values]
    except TypeError as error:
        raise TypeError(f"{name}={values!r} must be a sequence of integers.") from error
    return [whole_number(f"a value of {name}", value) for value in given]


def check_range(min_resources: int, max_resources: int) -> None:
    """Raise if the minimum resource is larger than the maximum resource."""
    if min_resources > max_resources:
        raise ValueError(
            f"min_resources={min_resources} is larger than max_resources={max_resources}. Lower "
            'min_resources or leave it "auto".'
        )
