"""Validation of single parameters."""

from __future__ import annotations

import numbers
from typing import Any


class InvalidParameterError(ValueError, TypeError):
    """A parameter of a search has a wrong type or value; as scikit-learn's error, it is both."""


def check_int(name: str, value: Any, *others: str | None) -> None:
    """Raise if a parameter is neither an integer of at least 1 nor one of a few other values.

    Parameters
    ----------
    name : str
    value : object
    *others : str or None
        The other values.

    Raises
    ------
    ValueError
    """
    is_other = isinstance(value, str | None) and value in others
    if not is_other and not (is_int(value) and value >= 1):
        listed = ", ".join("None" if other is None else f'"{other}"' for other in others)
        suffix = f", or {' or '.join(listed.rsplit(', ', 1))}" if others else ""
        raise InvalidParameterError(f"{name}={value!r} must be an integer of at least 1{suffix}.")


def is_int(value: Any) -> bool:
    """Return whether a value is an integer and not a bool."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """Return whether a value is a real number and not a bool."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_estimator(value: Any) -> bool:
    """Return whether a value has parameters as an estimator has, and is not a class."""
    return hasattr(value, "get_params") and not isinstance(value, type)


def is_placeholder(step: Any) -> bool:
    """Return whether a pipeline passes samples through a step: None or a name, "passthrough"."""
    return step is None or isinstance(step, str)


def check_target(name: str, value: Any) -> None:
    """Raise if a score or loss at which a search ends is neither a number nor None."""
    if value is not None and not (is_real(value) and value == value):  # NaN is no number
        raise InvalidParameterError(f"{name}={value!r} must be a number or None.")


def check_patience(patience: int | None, tol: float) -> None:
    """Raise if `patience` or `tol` is invalid."""
    check_int("patience", patience, None)
    check_tol(tol)


def check_tol(tol: float) -> None:
    """Raise if a minimum improvement is not a number of at least 0."""
    if not (is_real(tol) and tol >= 0):
        raise InvalidParameterError(f"tol={tol!r} must be a number of at least 0.")
