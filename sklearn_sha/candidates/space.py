"""Search spaces: dicts of lists and distributions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from sklearn_sha._param_validation import check_int


def search_space(search: Any) -> Any:
    """Return the space of a search, from `param_distributions` or `param_grid`.

    Raises
    ------
    TypeError
        If neither `param_distributions` nor `param_grid` is given.
    ValueError
        If both are.
    """
    # Two spaces are an error even if they are the same: distributions cannot be compared.
    given = [
        space for space in (search.param_distributions, search.param_grid) if space is not None
    ]
    if len(given) > 1:
        raise ValueError(
            "param_distributions and param_grid are two names of the same parameter, and both "
            "are given; give one of them."
        )
    if not given:
        raise TypeError(
            f"{type(search).__name__}.__init__() missing 1 required positional argument: "
            "'param_distributions'; give it, or param_grid."
        )
    return given[0]


def given_name(search: Any, name: str, other: str) -> str:
    """Return which of two names of a parameter the user set, or the first one if neither.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.candidates.space import given_name
    >>> search = SuccessiveHalvingSearchCV(Ridge(), param_grid={"alpha": [1, 2]})
    >>> given_name(search, "param_distributions", "param_grid")
    'param_grid'
    >>> given_name(search, "n_candidates", "n_iter")
    'n_candidates'
    """
    return name if getattr(search, other) is None else other


def space_name(search: Any) -> str:
    """Return the name of the parameter by which the user set the space."""
    return given_name(search, "param_distributions", "param_grid")


def n_candidates_of(search: Any) -> Any:
    """Return the number of candidates of a search, from `n_candidates` or `n_iter`.

    Raises
    ------
    ValueError
        If `n_candidates` and `n_iter` contradict each other, or `n_iter` is not an integer of
        at least 1.
    """
    if search.n_iter is None:
        return search.n_candidates
    check_int("n_iter", search.n_iter, "None")
    if search.n_candidates not in ("auto", search.n_iter):
        raise ValueError(
            f"n_candidates={search.n_candidates!r} and n_iter={search.n_iter!r} are two names of "
            "the same parameter; give one of them."
        )
    return int(search.n_iter)


def grid_of(param_distributions: Any) -> ParameterGrid | None:
    """Return the grid of a space, or None if it has distributions."""
    values = [value for space in spaces_of(param_distributions) for value in space.values()]
    if any(hasattr(value, "rvs") for value in values):
        return None
    return ParameterGrid(param_distributions)


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return a clone of an estimator with the parameters of a candidate."""
    model = clone(estimator)
    # Parameters may be estimators, which are cloned for each model as in GridSearchCV.
    return model.set_params(**clone(params, safe=False)) if params else model


def spaces_of(param_distributions: Any) -> Any:
    """Return the dicts of a space, which may be a single one."""
    is_one = isinstance(param_distributions, Mapping)
    return [param_distributions] if is_one else param_distributions


def params_key(params: Mapping[str, Any]) -> Hashable:
    """Return a key that is equal for equal parameters, and different for 1, True and 1.0.

    Estimators and values that cannot be hashed are compared by identity. Equal parameters can then
    have different keys, but different parameters never have the same key.
    """
    return tuple((name, _value_key(value)) for name, value in sorted(params.items()))


def _value_key(value: Any) -> Hashable:
    if isinstance(value, tuple):
        return (type(value), *map(_value_key, value))
    if isinstance(value, float):
        return (type(value), repr(value))  # distinguishes -0.0 from 0.0, and equals for nan
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def check_spaces(spaces: Sequence[Any], given: Any) -> None:
    """Raise the errors of GridSearchCV if a space is not made of lists and distributions."""
    if isinstance(spaces, str) or not isinstance(spaces, Sequence):
        raise TypeError(
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
            if hasattr(values, "rvs"):
                continue
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise TypeError(
                    f"Parameter grid for parameter {name!r} needs to be a list or a numpy array, "
                    f"but got {values!r} (of type {type(values).__name__}) instead. Single values "
                    f"need to be wrapped in a list with one element. Use [{values!r}], or a "
                    "distribution with an rvs method."
                )
            if len(values) == 0:
                raise ValueError(
                    f"Parameter grid for parameter {name!r} need to be a non-empty sequence, got: "
                    f"{values!r}. Use at least one value."
                )
