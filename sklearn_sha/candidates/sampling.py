"""Grid and random sampling."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.model_selection import ParameterSampler

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int
from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.space import check_spaces, grid_of, params_key, spaces_of

N_CANDIDATES = 64
"""Candidates drawn by default from distributions: enough to hold one of the best 5 % with
probability 1 - 0.95**64 = 0.96."""

_DRAWS_PER_CANDIDATE = 100


def first_candidates(
    sampler: Sampler,
    space: Space,
    n_candidates: int | str,
    rng: RandomState,
    names: tuple[str, str] = ("param_distributions", "n_candidates"),
) -> tuple[int, list[dict[str, Any]]]:
    """How many candidates a search has, and those that are known before it begins.

    Parameters
    ----------
    sampler : Sampler
    space : dict or list of dict
        Values are sequences, or anything with ``rvs(random_state=...)``.
    n_candidates : int or "auto"
        "auto" is the whole grid if every value is a sequence, else `N_CANDIDATES`.
    rng : RandomState
    names : (str, str)
        Names by which the user gave `space` and `n_candidates`.

    Returns
    -------
    n : int
        Fewer than asked for, with a warning, if there are not as many.
    candidates : list of dict
        All of them, or none if the sampler uses the history.

    Raises
    ------
    TypeError, ValueError
        If a value is no non-empty sequence and has no rvs, there is no dict at all, or
        `n_candidates` is neither "auto" nor an integer of at least 1.
    """
    check_int("n_candidates", n_candidates, '"auto"', n_candidates == "auto")
    check_spaces(spaces_of(space), space)
    grid = grid_of(space)
    if n_candidates == "auto":
        wanted = N_CANDIDATES if grid is None else len(grid)
    else:
        wanted = int(n_candidates)
    if sampler.uses_history:
        return (wanted if grid is None else min(wanted, len(grid))), []
    candidates = proposed(sampler, wanted, space, History(), rng)
    if len(candidates) < wanted and n_candidates != "auto":
        warnings.warn(
            f"{names[1]}={wanted} is more than the "
            f"{quantity(len(candidates), 'different candidates')} that {names[0]} holds; trying "
            "these.",
            UserWarning,
            stacklevel=2,
        )
    return len(candidates), candidates


def candidates_for_brackets(
    sampler: Sampler,
    space: Space,
    sizes: Sequence[int],
    rng: RandomState,
    name: str = "param_distributions",
) -> list[dict[str, Any]]:
    """Candidates of several brackets, bracket after bracket; none if the sampler uses the history.

    Parameters
    ----------
    sampler, space, rng
        As in `first_candidates`.
    sizes : sequence of int
        Candidates of the first rung of each bracket.
    name : str
        Name by which the user gave `space`.

    Returns
    -------
    list of dict
        All different, if there are so many. Otherwise, with a warning, different within a bracket
        as far as there are enough, and sampled anew for each.
    """
    check_spaces(spaces_of(space), space)
    if sampler.uses_history:
        return []
    pool = proposed(sampler, sum(sizes), space, History(), rng)
    if len(pool) == sum(sizes):
        return pool
    warnings.warn(
        f"{name} holds {quantity(len(pool), 'different candidates')}, and the brackets have "
        f"room for {sum(sizes)}, so candidates take part more than once; with so few, "
        "SuccessiveHalvingSearchCV tries each just once.",
        UserWarning,
        stacklevel=2,
    )
    return [
        pool[position] for size in sizes for position in np.resize(rng.permutation(len(pool)), size)
    ]


def proposed(
    sampler: Sampler, n: int, space: Space, history: History, rng: RandomState
) -> list[dict[str, Any]]:
    """Ask a sampler for candidates, and check what it proposes.

    Raises
    ------
    TypeError, ValueError
        If these are no dicts, or more than were wanted.
    """
    candidates = list(sampler.propose(n, space, history, rng))
    name = type(sampler).__name__
    for params in candidates:
        if not isinstance(params, Mapping):
            raise TypeError(f"{name}.propose returned {params!r} as a candidate; return dicts.")
    if len(candidates) > n:
        raise ValueError(
            f"{name}.propose returned {len(candidates)} candidates, and n={n} were wanted; return "
            "at most n."
        )
    return [dict(params) for params in candidates]


def sample_distinct(
    param_distributions: Any, wanted: int | None, random_state: RandomState
) -> list[dict[str, Any]]:
    """Different candidates, as many as there are of those wanted.

    Parameters
    ----------
    param_distributions, random_state
        As in `first_candidates`.
    wanted : int or None
        None is the whole grid, or `N_CANDIDATES` of distributions.

    Returns
    -------
    list of dict
    """
    spaces = spaces_of(param_distributions)
    check_spaces(spaces, param_distributions)
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
        different.setdefault(params_key(params), params)
        if len(different) == wanted:
            break
    return list(different.values())


class RandomSampler(Sampler):
    """Sample from distributions and lists, as RandomizedSearchCV does, without repetitions.

    If a space of lists has at most as many combinations as are wanted, they are all proposed, in
    the order of GridSearchCV.

    Examples
    --------
    >>> from numpy.random import RandomState
    >>> from sklearn_sha.candidates import History, RandomSampler
    >>> RandomSampler().propose(3, {"C": [1, 10]}, History(), RandomState(0))
    [{'C': 1}, {'C': 10}]
    """

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> list[dict[str, Any]]:
        known = {params_key(params) for params in history.candidates}
        sampled = sample_distinct(space, n + len(known), rng)
        return [params for params in sampled if params_key(params) not in known][:n]


class GridSampler(Sampler):
    """Propose the combinations of a grid in the order of GridSearchCV, as many as are wanted.

    Examples
    --------
    >>> from numpy.random import RandomState
    >>> from sklearn_sha.candidates import GridSampler, History
    >>> GridSampler().propose(2, {"C": [1, 10, 100]}, History(), RandomState(0))
    [{'C': 1}, {'C': 10}]
    """

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> list[dict[str, Any]]:
        grid = grid_of(space)
        if grid is None:
            raise ValueError(
                "sampler=GridSampler() needs lists of values, and the space has distributions. "
                'Give lists, or leave sampler="auto".'
            )
        start = len(history.candidates)
        return [grid[number] for number in range(start, min(start + n, len(grid)))]
