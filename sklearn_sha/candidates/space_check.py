"""Errors about spaces that are not made of lists and distributions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence, Set
from math import prod
from typing import Any

import numpy as np

from sklearn_sha._param_validation import InvalidParameterError, is_estimator
from sklearn_sha.candidates.distributions import described, is_frozen
from sklearn_sha.candidates.space import spaces_of


def check_space(given: Any) -> None:
    """Raise the errors of GridSearchCV if a space is not made of lists and distributions."""
    spaces = spaces_of(given)
    if isinstance(spaces, str) or not isinstance(spaces, Sequence):
        raise InvalidParameterError(
            f"Parameter grid should be a dict or a list, got: {given!r} of type "
            f"{type(given).__name__}. Use {{'name': [values] or a distribution}}."
        )
    if not spaces:
        raise ValueError(
            f"No fits were performed. Were there no candidates? The parameter grid is {given!r}. "
            "Use at least one dict, {} for the estimator itself."
        )
    for space in spaces:
        if not isinstance(space, Mapping):
            raise TypeError(
                f"Parameter grid is not a dict ({space!r}). Use "
                "{'name': [values] or a distribution}."
            )
        for name, values in space.items():
            check = _check_distribution if hasattr(values, "rvs") else _check_list
            check(name, values)
    if any(hasattr(values, "rvs") for space in spaces for values in space.values()):
        return
    n_combinations = sum(prod(map(len, space.values())) for space in spaces)
    if n_combinations > sys.maxsize:
        raise ValueError(
            f"The parameter grid has about 1e{len(str(n_combinations)) - 1} combinations, which is "
            "too many to be numbered. Use a distribution for one of the parameters, such as "
            "scipy.stats.randint."
        )


def _check_distribution(name: str, distribution: Any) -> None:
    """Raise an error if a distribution of scipy lacks arguments, or has invalid ones."""
    if getattr(distribution, "numargs", 0):
        raise TypeError(
            f"The distribution of parameter {name!r} lacks its own parameters "
            f"{distribution.shapes}. Use for example {distribution.name}({distribution.shapes}) "
            "with numbers."
        )
    # scipy raises its error at the first sample only, and without the name of the parameter.
    if not is_frozen(distribution) or not np.isnan(distribution.support()).any():
        return
    try:
        distribution.rvs(random_state=np.random.RandomState(0))
    except ValueError as error:  # with scale 0, the support is NaN too, and there is no error
        raise ValueError(
            f"The distribution of parameter {name!r} has invalid arguments: "
            f"{described(distribution)}. Bounds have to be in increasing order (above 0 for "
            "loguniform, integers for randint), and scale above 0."
        ) from error


def _check_list(name: str, values: Any) -> None:
    """Raise an error if the values of a parameter without a distribution are no list, or empty."""
    # The new ones of scipy, and those of Optuna.
    if hasattr(values, "icdf") or type(values).__name__.endswith("Distribution"):
        raise TypeError(
            f"The distribution of parameter {name!r}, {values!r}, has no rvs method. Use one of "
            "scipy.stats that has it, such as uniform, loguniform or randint."
        )
    # Ensembles and pipelines have a length.
    is_single = isinstance(values, str | Mapping) or is_estimator(values)
    is_single |= not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0
    # The order of a set is not the same in each process.
    is_set = isinstance(values, Set) or not hasattr(values, "__len__")
    if is_single or is_set or not _has_positions(values):
        instead = f"[{values!r}]" if is_single else "a list of its values"
        raise TypeError(
            f"Parameter grid for parameter {name!r} needs to be a list or a numpy array, but got "
            f"{values!r} (of type {type(values).__name__}) instead. Single values need to be "
            f"wrapped in a list with one element. Use {instead}, or a distribution with an rvs "
            "method, such as those of scipy.stats."
        )
    if len(values) == 0:
        raise ValueError(
            f"Parameter grid for parameter {name!r} need to be a non-empty sequence, got: "
            f"{values!r}. Use at least one value."
        )


def _has_positions(values: Any) -> bool:
    """Return whether values can be looked up by their positions, as those of a list."""
    if isinstance(values, np.ndarray | Sequence):
        return True
    try:
        for position in range(len(values)):
            values[position]
    except (LookupError, TypeError):  # such as a Series with another index, or a view of a dict
        return False
    return True
