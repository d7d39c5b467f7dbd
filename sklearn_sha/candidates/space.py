"""The search space: dicts of lists and distributions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from sklearn_sha._param_validation import check_int


def search_space(search: Any) -> Any:
    """Return the space of a search, from whichever of its two names was given.

    Raises
    ------
    TypeError
        If neither `param_distributions` nor `param_grid` is given.
    ValueError
        If both are.
    """
    # Distributions have no equality, so that two spaces are never taken for the same.
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
    """Which of two names of a parameter the user gave; the first if neither.

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
    """Which of its two names the space of a search was given by."""
    return given_name(search, "param_distributions", "param_grid")


def n_candidates_of(search: Any) -> Any:
    """Return the number of candidates of a search, from whichever of its two names was given.

    Raises
    ------
    ValueError
        If `n_candidates` and `n_iter` contradict each other, or `n_iter` is no integer of at
        least 1.
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
    """The grid of a space in which every value is a sequence; None if there are distributions."""
    values = [value for space in spaces_of(param_distributions) for value in space.values()]
    if any(hasattr(value, "rvs") for value in values):
        return None
    return ParameterGrid(param_distributions)


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """A clone of an estimator, with a candidate's parameters."""
    model = clone(estimator)
    # Parameters may be estimators, which each model needs a copy of, as in GridSearchCV.
    return model.set_params(**clone(params, safe=False)) if params else model


def spaces_of(param_distributions: Any) -> Any:
    """The dicts of `param_distributions`, which may be one."""
    is_one = isinstance(param_distributions, Mapping)
    return [param_distributions] if is_one else param_distributions


def params_key(params: Mapping[str, Any]) -> Hashable:
    """A key that is equal for equal settings, and tells 1 from True and from 1.0.

    What cannot be hashed, and estimators, are told apart by identity: a setting may then
    be taken for two, never two for one.
    """
    return tuple((name, _value_key(value)) for name, value in sorted(params.items()))


def _value_key(value: Any) -> Hashable:
    if isinstance(value, tuple):
        return (type(value), *map(_value_key, value))
    if isinstance(value, float):
        return (type(value), repr(value))  # tells -0.0 from 0.0, and knows nan again
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def check_spaces(spaces: Sequence[Any], given: Any) -> None:
    """Raise GridSearchCV's errors for a space that is no dict of lists and distributions."""
    if isinstance(spaces, str) or not isinstance(spaces, Sequence):
        raise TypeError(
            f"Parameter grid should be a dict or a list, got: {given!r} of type "
            f"{type(given).__name__}; give {{'name': [values] or a distribution}}."
        )
    if not spaces:
        raise ValueError(
            f"No fits were performed. Were there no candidates? The parameter grid is {given!r}; "
            "give at least one dict, {} for the estimator as it is."
        )
    for space in spaces:
        if not isinstance(space, Mapping):
            raise TypeError(
                f"Parameter grid is not a dict ({space!r}); give "
                "{'name': [values] or a distribution}."
            )
        for name, values in space.items():
            if hasattr(values, "rvs"):
                continue
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise TypeError(
                    f"Parameter grid for parameter {name!r} needs to be a list or a numpy array, "
                    f"but got {values!r} (of type {type(values).__name__}) instead. Single values "
                    f"need to be wrapped in a list with one element. Give [{values!r}], or a "
                    "distribution with an rvs method."
                )
            if len(values) == 0:
                raise ValueError(
                    f"Parameter grid for parameter {name!r} need to be a non-empty sequence, got: "
                    f"{values!r}; give at least one value."
                )
