"""Contract test of samplers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from math import ceil
from typing import Any

import numpy as np
from numpy.random import RandomState

from sklearn_sha.candidates.base import Evaluation, History, Sampler, Space
from sklearn_sha.candidates.space import is_in, params_key, spaces_of
from sklearn_sha.candidates.space_check import check_space


def check_sampler(sampler: Sampler, space: Space, n_candidates: int = 32, n_seeds: int = 5) -> None:
    """Check that a sampler fulfills its contract, over random scores.

    A sampler

    - proposes the same candidates if the space, the history and the state of `rng` are the same,
      as a copy of it does that was not called before;
    - does not change the space or the history;
    - proposes at most n candidates, and each candidate once, also in a second call with the same
      state of `rng`;
    - proposes the parameters of one dict of the space, with values of its lists;
    - accepts candidates with several evaluations, and scores that are all NaN.

    Parameters
    ----------
    sampler : Sampler
    space : dict or list of dict
    n_candidates : int, default=32
        Number of candidates of a run.
    n_seeds : int, default=5
        Number of runs with different seeds.

    Raises
    ------
    AssertionError
        If the sampler violates its contract. Errors of the sampler are raised as they are.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn_sha.candidates import RandomSampler, check_sampler
    >>> check_sampler(RandomSampler(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    """
    check_space(space)
    sampler.check(space)
    new = deepcopy(sampler)
    for seed in range(n_seeds):
        first = _run(lambda: sampler, space, n_candidates, seed)
        assert first == _run(lambda: deepcopy(new), space, n_candidates, seed), (
            f"candidates differ between two runs with the same seed ({seed}) and scores, of which "
            "the second one calls a new copy of the sampler each time"
        )
        assert first, f"no candidate is proposed (seed {seed})"
    _run(lambda: sampler, space, n_candidates, n_seeds, failed=1.0)


def _run(
    get: Callable[[], Sampler], space: Space, n_candidates: int, seed: int, failed: float = 0.1
) -> list[Any]:
    """Return the keys of the candidates of one run, in which a share of the scores is NaN.

    `get` returns the sampler for each call.
    """
    candidates: list[Mapping[str, Any]] = []
    evaluations: list[Evaluation] = []
    keys: list[Any] = []
    scores = np.random.default_rng(seed)
    for call in range(n_candidates):
        sampler = get()
        # One fewer than are left, so that a later call asks for one: a sampler that always returns
        # the same number returns too many then.
        n_left = n_candidates - len(candidates)
        n, state = max(1, n_left - 1), [seed, call]
        if not sampler.uses_history:
            # As `extend` does: in the same state, for candidates that follow the first ones.
            n, state = n_left if candidates else ceil(n_left / 2), [seed]
        history = History([*candidates], [*evaluations])
        given = [*spaces_of(space)], candidates, [one.params for one in evaluations]
        before = [[*map(params_key, dicts)] for dicts in given]
        returned = sampler.propose(n, space, history, RandomState(state))
        assert isinstance(returned, Iterable), f"{returned!r} is returned instead of a list"
        new = list(returned)
        assert len(new) <= n, f"{len(new)} candidates are proposed, but n is {n}"
        after = [[*map(params_key, dicts)] for dicts in given]
        assert after[0] == before[0], "the space was changed"
        assert after == before, "the candidates of the history were changed"
        for params in new:
            _check_params(params, space)
        candidates += new
        keys = [params_key(params) for params in candidates]
        n_proposals = Counter(keys)
        repeated = [dict(candidates[k]) for k, key in enumerate(keys) if n_proposals[key] > 1]
        assert not repeated, (
            f"a candidate is proposed twice: {repeated[0]!r}. Skip those of history.candidates and "
            "those of the same call. If uses_history is False, rng is in the same state in each "
            "call."
        )
        for number, params in enumerate(new):
            for n_resources in (1, 2) if number % 2 else (1,):  # half of them are promoted
                values = scores.choice([scores.random(), np.nan], p=[1 - failed, failed], size=2)
                fold_scores = tuple(values.tolist())
                evaluation = Evaluation(params, n_resources, 2, sum(fold_scores) / 2, fold_scores)
                evaluations.append(evaluation)
        if not new or len(candidates) == n_candidates:
            break
    return keys


def _check_params(params: Any, space: Space) -> None:
    assert isinstance(params, Mapping), f"a candidate is not a dict: {params!r}"
    assert is_in(space, params), (
        f"a candidate does not belong to a dict of the space: {dict(params)!r}"
    )
