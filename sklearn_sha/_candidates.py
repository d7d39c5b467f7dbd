"""What to try: a grid or distributions, made into a list of parameter dicts."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from sklearn_sha._checks import check_int
from sklearn_sha._table import quantity
from sklearn_sha.schedules import Schedule

N_CANDIDATES = 64
"""Candidates drawn by default from distributions: enough to hold one of the best 5 % with
probability 1 - 0.95**64 = 0.96."""

_DRAWS_PER_CANDIDATE = 100


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
    >>> from sklearn_sha._candidates import given_name
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


def draw_candidates(
    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    n_candidates: int | str,
    random_state: RandomState,
    names: tuple[str, str] = ("param_distributions", "n_candidates"),
) -> list[dict[str, Any]]:
    """Candidates to try, all different.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Values are sequences, or anything with ``rvs(random_state=...)``.
    n_candidates : int or "auto"
        "auto" is the whole grid where every value is a sequence, else `N_CANDIDATES`.
        The whole grid comes in the order of GridSearchCV; a sample comes in the order of
        RandomizedSearchCV, less what it repeats.
    random_state : RandomState
        Advanced by what is drawn.
    names : (str, str)
        Names by which the user gave the first two.

    Returns
    -------
    list of dict
        Fewer than asked for, with a warning, where there are not as many.

    Raises
    ------
    TypeError, ValueError
        If a value is no non-empty sequence and has no rvs, there is no dict at all, or
        `n_candidates` is neither "auto" nor an integer of at least 1.
    """
    check_int("n_candidates", n_candidates, '"auto"', n_candidates == "auto")
    wanted = None if n_candidates == "auto" else int(n_candidates)
    candidates = draw_different(param_distributions, wanted, random_state)
    if wanted is not None and len(candidates) < wanted:
        warnings.warn(
            f"{names[1]}={wanted} is more than the "
            f"{quantity(len(candidates), 'different candidates')} that "
            f"{names[0]} holds; trying these.",
            UserWarning,
            stacklevel=2,
        )
    return candidates


def draw_for_brackets(
    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    schedules: Sequence[Schedule],
    random_state: RandomState,
    name: str = "param_distributions",
) -> list[dict[str, Any]]:
    """Candidates of several brackets, bracket after bracket.

    Parameters
    ----------
    param_distributions : dict or list of dict
        As for `draw_candidates`.
    schedules : sequence of Schedule
        One a bracket.
    random_state : RandomState
        Advanced by what is drawn.
    name : str
        Name by which the user gave the first.

    Returns
    -------
    list of dict
        All different, where there are so many. Otherwise, with a warning, different within
        a bracket as far as there are enough, and drawn anew for each.
    """
    sizes = [schedule.n_candidates[0] for schedule in schedules]
    pool = draw_different(param_distributions, sum(sizes), random_state)
    if len(pool) == sum(sizes):
        return pool
    warnings.warn(
        f"{name} holds {quantity(len(pool), 'different candidates')}, and the "
        f"brackets have room for {sum(sizes)}, so candidates take part more than once; with so "
        "few, SuccessiveHalvingSearchCV tries each just once.",
        UserWarning,
        stacklevel=2,
    )
    return [
        pool[position]
        for size in sizes
        for position in np.resize(random_state.permutation(len(pool)), size)
    ]


def draw_different(
    param_distributions: Any, wanted: int | None, random_state: RandomState
) -> list[dict[str, Any]]:
    """Different candidates, as many as there are of those wanted.

    Parameters
    ----------
    param_distributions, random_state
        As for `draw_candidates`.
    wanted : int or None
        None is the whole grid, or `N_CANDIDATES` of distributions.

    Returns
    -------
    list of dict
    """
    spaces = spaces_of(param_distributions)
    _check_spaces(spaces, param_distributions)
    grid = grid_of(param_distributions)
    if grid is not None:
        if wanted is None or wanted >= len(grid):
            return list(grid)
        return list(ParameterSampler(param_distributions, wanted, random_state=random_state))
    wanted = N_CANDIDATES if wanted is None else wanted
    # Discrete distributions repeat themselves, so more are drawn than are wanted: the
    # sampler is lazy, and stops as soon as there are enough.
    drawn = ParameterSampler(
        param_distributions, wanted * _DRAWS_PER_CANDIDATE, random_state=random_state
    )
    different: dict[Hashable, dict[str, Any]] = {}
    for params in drawn:
        different.setdefault(setting_key(params), params)
        if len(different) == wanted:
            break
    return list(different.values())


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


def setting_key(params: Mapping[str, Any]) -> Hashable:
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


def _check_spaces(spaces: Sequence[Any], given: Any) -> None:
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
