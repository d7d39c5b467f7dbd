"""Candidates of a grid, or sampled from distributions."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from sklearn.model_selection import ParameterSampler

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int
from sklearn_sha.candidates.space import check_spaces, grid_of, params_key, spaces_of
from sklearn_sha.schedules import Schedule

N_CANDIDATES = 64
"""Candidates drawn by default from distributions: enough to hold one of the best 5 % with
probability 1 - 0.95**64 = 0.96."""

_DRAWS_PER_CANDIDATE = 100


def sample_candidates(
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
    candidates = sample_distinct(param_distributions, wanted, random_state)
    if wanted is not None and len(candidates) < wanted:
        warnings.warn(
            f"{names[1]}={wanted} is more than the "
            f"{quantity(len(candidates), 'different candidates')} that "
            f"{names[0]} holds; trying these.",
            UserWarning,
            stacklevel=2,
        )
    return candidates


def sample_for_brackets(
    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    schedules: Sequence[Schedule],
    random_state: RandomState,
    name: str = "param_distributions",
) -> list[dict[str, Any]]:
    """Candidates of several brackets, bracket after bracket.

    Parameters
    ----------
    param_distributions : dict or list of dict
        As for `sample_candidates`.
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
    pool = sample_distinct(param_distributions, sum(sizes), random_state)
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


def sample_distinct(
    param_distributions: Any, wanted: int | None, random_state: RandomState
) -> list[dict[str, Any]]:
    """Different candidates, as many as there are of those wanted.

    Parameters
    ----------
    param_distributions, random_state
        As for `sample_candidates`.
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
