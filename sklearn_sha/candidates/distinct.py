"""Different candidates of a space: samples, and how many there are."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from numpy.random import RandomState
from sklearn.model_selection import ParameterGrid, ParameterSampler

from sklearn_sha.candidates.base import Space
from sklearn_sha.candidates.space import grid_of, has_continuous, n_outside, params_key, spaces_of
from sklearn_sha.candidates.space_check import check_space

MAX_SAMPLES_PER_CANDIDATE = 100
"""Upper bound of the samples of a sampler, per candidate that it was asked for."""

MAX_REPEATS_PER_CANDIDATE, MIN_REPEATS = 20, 100
"""Consecutive repetitions after which no further candidates are expected. Of equally probable
values, one is then missed with a probability below 1e-8."""

_NEARLY_ALL = 0.99
"""Share of a grid from which on scikit-learn's samples are nearly in its order, in which neighbors
are alike. Then brackets would have candidates of different parts of the grid."""

_MAX_COUNTED = 1000
"""Upper bound of the values of distributions that are counted before training."""


def sample_distinct(
    param_distributions: Any, wanted: int, random_state: RandomState
) -> list[dict[str, Any]]:
    """Sample different candidates.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Search space.
    wanted : int
        Number of candidates.
    random_state : RandomState

    Returns
    -------
    list of dict
        Fewer than `wanted` if the space has fewer.
    """
    check_space(param_distributions)
    grid = grid_of(param_distributions)
    if grid is not None:
        if wanted >= len(grid):
            return list(grid)
        sampled = list(ParameterSampler(param_distributions, wanted, random_state=random_state))
        if wanted < _NEARLY_ALL * len(grid):
            return sampled
        return [sampled[position] for position in random_state.permutation(wanted)]
    # Discrete distributions repeat values. ParameterSampler is lazy, so that sampling stops as soon
    # as there are enough different candidates.
    samples = ParameterSampler(
        param_distributions, wanted * MAX_SAMPLES_PER_CANDIDATE, random_state=random_state
    )
    return first_distinct(samples, wanted, are_random=True)


def first_distinct(
    samples: Iterable[dict[str, Any]],
    n: int,
    known: Collection[Hashable] = (),
    *,
    are_random: bool = False,
) -> list[dict[str, Any]]:
    """Return the first different candidates of many samples.

    Parameters
    ----------
    samples : iterable of dict
    n : int
        Maximum number of candidates.
    known : collection of hashable
        `params_key` of candidates that are left out.
    are_random : bool, default=False
        Whether to stop after many consecutive repetitions, when no further candidates are expected.

    Returns
    -------
    list of dict
    """
    if n == 0:
        return []
    distinct: dict[Hashable, dict[str, Any]] = {}
    n_repeats = 0
    for params in samples:
        key = params_key(params)
        if key in known or key in distinct:
            n_repeats += 1
            found = len(known) + len(distinct)
            if are_random and n_repeats >= max(MIN_REPEATS, MAX_REPEATS_PER_CANDIDATE * found):
                break
            continue
        n_repeats = 0
        distinct[key] = params
        if len(distinct) == n:
            break
    return list(distinct.values())


def n_combinations(space: Space, initial: Sequence[dict[str, Any]] = ()) -> int | None:
    """Return the number of combinations of a grid and of further initial candidates.

    Parameters
    ----------
    space : dict or list of dict
    initial : sequence of dict

    Returns
    -------
    int or None
        None if a value is a distribution.
    """
    grid = grid_of(space)
    return None if grid is None else len(grid) + n_outside(space, initial)


def n_further(space: Space, n: int, known: Collection[Mapping[str, Any]]) -> int:
    """Return how many candidates a space has besides those that are known, at most n.

    Parameters
    ----------
    space : dict or list of dict
    n : int
    known : collection of dict
        Different candidates, of this space or of others.

    Returns
    -------
    int
        Of discrete distributions, the different values among samples. Beyond 1000, and with a
        continuous distribution, it is n.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn_sha.candidates.distinct import n_further
    >>> n_further({"max_depth": randint(1, 4)}, 64, [{"max_depth": 3}, {"max_depth": 9}])
    2
    """
    if has_continuous(space):
        return n
    grid = grid_of(space)
    if grid is not None:
        # The dicts of a list can have combinations in common.
        largest = max((len(ParameterGrid(one)) for one in spaces_of(space)), default=0)
        if largest >= n + len(known):
            return n
    keys = {params_key(params) for params in known}
    if grid is not None:
        return len(first_distinct(grid, n, keys))
    n_counted = min(n, _MAX_COUNTED)
    samples = sample_distinct(space, n_counted + len(known), RandomState(0))
    found = len(first_distinct(samples, n_counted, keys))
    return n if found == n_counted else found


def is_exhausted_by(n: int, space: Space, known: Collection[Mapping[str, Any]]) -> bool:
    """Return whether a grid has at most n combinations besides those that are known.

    Parameters
    ----------
    n : int
    space : dict or list of dict
    known : collection of dict
        Different candidates, of this space or of others.

    Returns
    -------
    bool
        False with distributions.

    Examples
    --------
    >>> from sklearn_sha.candidates.distinct import is_exhausted_by
    >>> is_exhausted_by(2, {"C": [1, 2, 3]}, [{"C": 3}]), is_exhausted_by(2, {"C": [1, 2, 3]}, [{}])
    (True, False)
    """
    return grid_of(space) is not None and n_further(space, n + 1, known) <= n
