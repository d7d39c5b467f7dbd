"""Parameters that have two names, since GridSearchCV or RandomizedSearchCV has another one."""

from __future__ import annotations

from typing import Any

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
            "are given; give one of them, and set the one that is not used to None."
        )
    if not given:
        raise TypeError(
            f"{type(search).__name__}.__init__() missing 1 required positional argument: "
            "'param_distributions'; give param_distributions or param_grid."
        )
    return given[0]


def given_name(search: Any, name: str, other: str) -> str:
    """Return which of two names of a parameter the user set, or the first one if neither.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha._search.aliases import given_name
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


def n_candidates_of(n_candidates: Any, n_iter: Any) -> Any:
    """Return the number of candidates, from `n_candidates` or `n_iter`.

    Raises
    ------
    ValueError
        If `n_candidates` and `n_iter` contradict each other, or `n_iter` is not an integer of
        at least 1.
    """
    if n_iter is None:
        return n_candidates
    check_int("n_iter", n_iter, None)
    if n_candidates not in ("auto", n_iter):
        raise ValueError(
            f"n_candidates={n_candidates!r} and n_iter={n_iter!r} are two names of the same "
            "parameter; give one of them."
        )
    return int(n_iter)
