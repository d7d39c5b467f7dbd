"""Checks of single parameter values."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_int(name: str, value: Any, otherwise: str = "", is_otherwise: bool = False) -> None:
    """Raise where a parameter is neither an integer of at least 1 nor what else it may be."""
    if not is_otherwise and not (is_int(value) and value >= 1):
        alternative = f", or {otherwise}" if otherwise else ""
        raise ValueError(f"{name}={value!r} must be an integer of at least 1{alternative}.")


def check_has_rungs(search: Any, what: str) -> None:
    """Raise for a fitted search that is none of this library's."""
    if not hasattr(search, "rung_history_") and hasattr(search, "cv_results_"):
        raise TypeError(
            f"{what} is about rungs, which {type(search).__name__} has none of; give a "
            "fitted search of sklearn_sha."
        )


def is_int(value: Any) -> bool:
    """Whether a value is an integer; a bool is not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def is_real(value: Any) -> bool:
    """Whether a value is a real number; a bool is not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def check_patience(patience: int | None, tol: float) -> None:
    """Raise where `patience` or `tol` can't be one."""
    check_int("patience", patience, "None", patience is None)
    if not (is_real(tol) and tol >= 0):
        raise ValueError(f"tol={tol!r} must be a number of at least 0.")
