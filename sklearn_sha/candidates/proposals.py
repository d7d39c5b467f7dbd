"""What a search asks of its sampler: all candidates at first, those of brackets, or a few."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.random import RandomState

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int
from sklearn_sha._user_warning import warn_user
from sklearn_sha.candidates.base import History, Space
from sklearn_sha.candidates.distinct import n_combinations, n_further, sample_distinct
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import grid_of, params_key, spaces_of

N_CANDIDATES = 64
"""Default number of candidates for distributions. It includes one of the best 5 % with probability
1 - 0.95**64 = 0.96."""


def first_candidates(
    source: CandidateSource, n_candidates: int | str, rng: RandomState, n_name: str
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of candidates of a search, and the candidates that are known in advance.

    Parameters
    ----------
    source : CandidateSource
        Its initial candidates come first, and count among `n_candidates`.
    n_candidates : int or "auto"
        "auto": the whole grid if all values are sequences, otherwise `N_CANDIDATES`.
    rng : RandomState
    n_name : str
        Name of the parameter by which the user set `n_candidates`.

    Returns
    -------
    n : int
        Number of candidates. Fewer than `n_candidates`, with a warning, if the space has fewer or
        the sampler proposes fewer.
    candidates : list of dict
        All candidates. Only the initial ones if the sampler uses the history.

    Raises
    ------
    TypeError, ValueError
        If a value is neither a non-empty sequence nor a distribution, if the space has no dict, or
        if `n_candidates` is neither "auto" nor an integer of at least 1, or is less than the number
        of initial candidates.
    """
    check_int("n_candidates", n_candidates, "auto")
    source.check()
    initial = source.initial
    n_initial, n_possible = len(initial), n_combinations(source.space, initial)
    if n_candidates == "auto":
        wanted = max(N_CANDIDATES, n_initial) if n_possible is None else n_possible
    else:
        wanted = int(n_candidates)
    if wanted < n_initial:
        raise ValueError(
            f"{n_name}={wanted} is less than the {quantity(n_initial, 'initial candidates')}. "
            f"Raise {n_name}, since they count among them."
        )
    if source.sampler.uses_history:
        candidates = [*initial]
        n = n_initial + n_further(source.space, wanted - n_initial, initial)
    else:
        candidates = _after_initial(source, wanted - n_initial, rng)
        n = len(candidates)
    if n < wanted and n_candidates != "auto":
        scarce = what_is_scarce(source, n - n_initial, wanted - n_initial, initial)
        warn_user(
            f"{n_name}={wanted} is more than the {quantity(n, 'different candidates')} that "
            f"{scarce}; trying these.",
        )
    return n, candidates


def what_is_scarce(
    source: CandidateSource, n: int, wanted: int, known: Collection[Mapping[str, Any]]
) -> str:
    """Return what has no more than n new candidates, as the subject and verb of a clause.

    Parameters
    ----------
    source : CandidateSource
        If it has initial candidates, they are in the clause too.
    n, wanted : int
        Number of new candidates that were found, and that were to be found.
    known : collection of dict
        Candidates that are not new.

    Returns
    -------
    str
        The sampler if it proposed fewer than the space has, otherwise the space.
    """
    sampler = source.sampler
    has_more = not sampler.uses_history and n < n_further(source.space, wanted, known)
    name = type(sampler).__name__ if has_more else source.space_name
    if source.initial:
        return f"{name} and initial_candidates give"
    return f"{name} proposed" if has_more else f"{name} holds"


def candidates_for_brackets(
    source: CandidateSource, sizes: Sequence[int], rng: RandomState
) -> list[dict[str, Any]]:
    """Return the candidates of several brackets, in the order of the brackets.

    Parameters
    ----------
    source : CandidateSource
        Its initial candidates come first, in the first bracket.
    sizes : sequence of int
        Number of candidates in the first rung of each bracket.
    rng : RandomState

    Returns
    -------
    list of dict
        All different, if the space has enough; then only the initial ones if the sampler uses the
        history. Otherwise there is a warning, and all take part before any is repeated. A bracket
        has repetitions only if it has room for more than all of them.

    Raises
    ------
    ValueError
        If the first bracket has fewer candidates than there are initial ones.
    """
    source.check()
    space, initial = source.space, source.initial
    n_initial = len(initial)
    if sizes[0] < n_initial:
        raise ValueError(
            f"The first bracket has {quantity(sizes[0], 'candidates')}, and there are {n_initial} "
            "initial candidates. Give fewer of them, or raise max_resources or lower "
            "min_resources, as far as the resource allows it."
        )
    n = sum(sizes)
    if source.sampler.uses_history:
        if n_further(space, n - n_initial, initial) == n - n_initial:
            return [*initial]
        # All of them take part, so that there is nothing to propose.
        source = replace(source, sampler=RandomSampler())
    pool = _after_initial(source, n - n_initial, rng)
    if len(pool) == n:
        return [*initial, *without_grid_order(pool[n_initial:], initial, space, rng)]
    scarce = what_is_scarce(source, len(pool) - n_initial, n - n_initial, initial)
    warn_user(
        f"{scarce} {quantity(len(pool), 'different candidates')}, and the brackets have "
        f"room for {n}, so candidates take part more than once; with so few, "
        "SuccessiveHalvingSearchCV tries each just once.",
    )
    return [pool[position] for position in _in_rounds(len(pool), sizes, n_initial, rng)]


def without_grid_order(
    new: list[dict[str, Any]], known: Sequence[dict[str, Any]], space: Space, rng: RandomState
) -> list[dict[str, Any]]:
    """Return candidates of several brackets, in random order if they complete a grid in its order.

    Samplers return a complete grid in the order of GridSearchCV, in which neighbors are alike. Any
    other order is that of the sampler.

    Parameters
    ----------
    new : list of dict
    known : sequence of dict
        Candidates before them.
    space : dict or list of dict
    rng : RandomState

    Returns
    -------
    list of dict
    """
    grid = grid_of(space)
    if grid is None or len(grid) > len(new) + len(known):
        return new
    known_keys = {*map(params_key, known)}
    rest = [key for key in map(params_key, grid) if key not in known_keys]
    if rest != [*map(params_key, new)]:
        return new
    return [new[position] for position in rng.permutation(len(new))]


def _in_rounds(n: int, sizes: Sequence[int], n_first: int, rng: RandomState) -> Iterator[int]:
    """Yield positions below n for each bracket, in random rounds that have each of them once.

    The first round begins with the first `n_first`. No bracket repeats any before it has all.
    """
    order = rng.permutation(n)
    waiting = order[np.argsort(np.minimum(order, n_first), kind="stable")].tolist()
    for size in sizes:
        used: set[int] = set()
        for _ in range(size):
            if len(used) == n:
                used.clear()
            if used.issuperset(waiting):
                waiting += rng.permutation(n).tolist()
            position = next(position for position in waiting if position not in used)
            waiting.remove(position)
            used.add(position)
            yield position


def _after_initial(source: CandidateSource, n: int, rng: RandomState) -> list[dict[str, Any]]:
    """Return initial candidates and up to n others."""
    initial = [*source.initial]
    new = proposed(source, n, History(initial), rng) if n else []
    return initial + new


def proposed(
    source: CandidateSource, n: int, history: History, rng: RandomState
) -> list[dict[str, Any]]:
    """Return up to n candidates that the sampler proposes and that are not known, after a check.

    If a sampler that uses the history proposes known candidates only, there is a warning.

    Raises
    ------
    TypeError, ValueError
        If a candidate is not a dict of parameter names, if there are more than n, or if there are
        none at all.
    """
    sampler = source.sampler
    returned = sampler.propose(n, _copied(source.space), _copied_history(history), rng)
    name = type(sampler).__name__
    try:
        candidates = list(returned)
    except TypeError as error:
        raise TypeError(f"{name}.propose returned {returned!r}. Return a list of dicts.") from error
    for params in candidates:
        if not (isinstance(params, Mapping) and all(isinstance(key, str) for key in params)):
            raise TypeError(
                f"{name}.propose returned {params!r} as a candidate. Return dicts of parameter "
                "names to values."
            )
    if len(candidates) > n:
        raise ValueError(
            f"{name}.propose returned {len(candidates)} candidates for n={n}. Return at most n."
        )
    if not candidates and not history.candidates:
        raise ValueError(
            f"{name}.propose returned no candidates, so that there is nothing to search. Return at "
            "least one at first."
        )
    known = {params_key(params) for params in history.candidates}
    new = [dict(params) for params in candidates if not known or params_key(params) not in known]
    if candidates and not new and sampler.uses_history:
        warn_user(
            f"{name}.propose returned only known candidates, so no more are tried after these "
            f"{len(known)}. Return new ones, or an empty list if there are no more.",
        )
    return new


def _copied(space: Space) -> Space:
    """Return copies of the dicts of a space, which a sampler may change."""
    return dict(space) if isinstance(space, Mapping) else [dict(one) for one in space]


def _copied_history(history: History) -> History:
    """Return a history with copies of all candidates, which a sampler may change."""
    evaluations = [replace(one, params=dict(one.params)) for one in history.evaluations]
    return History([dict(params) for params in history.candidates], evaluations)


def typical_candidates(space: Space) -> list[dict[str, Any]]:
    """Return samples that stand for candidates which are proposed later.

    Parameters
    ----------
    space : dict or list of dict

    Returns
    -------
    list of dict
        The same in every call, with at least one of each dict of the space.
    """
    of_each = (sample_distinct(one, 1, RandomState(0)) for one in spaces_of(space))
    return [*sample_distinct(space, N_CANDIDATES, RandomState(0)), *chain.from_iterable(of_each)]
