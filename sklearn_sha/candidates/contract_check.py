"""Contract test of samplers."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
from numpy.random import RandomState

from sklearn_sha.candidates.base import Evaluation, History, Sampler, Space
from sklearn_sha.candidates.space import check_space, is_in, params_key, spaces_of


def check_sampler(sampler: Sampler, space: Space, n_candidates: int = 32, n_seeds: int = 5) -> None:
    """Check that a sampler fulfills its contract, over random scores.

    A sampler

    - proposes the same candidates if the space, the history and the state of `rng` are the same;
    - does not change the space or the history;
    - proposes at most n candidates, and each candidate once, also in a second call with the same
      state of `rng`;
    - proposes the parameters of one dict of the space, with values of its lists.

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
        If the sampler violates its contract.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn_sha.candidates import RandomSampler, check_sampler
    >>> check_sampler(RandomSampler(), {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    """
    check_space(space)
    sampler.check(space)
    for seed in range(n_seeds):
        first = _run(sampler, space, n_candidates, seed)
        assert first == _run(sampler, space, n_candidates, seed), (
            f"candidates differ between two runs with the same seed ({seed}) and scores"
        )
        assert first, f"no candidate is proposed (seed {seed})"


def _run(sampler: Sampler, space: Space, n_candidates: int, seed: int) -> list[Any]:
    """Return the keys of the candidates of one run."""
    candidates: list[Mapping[str, Any]] = []
    evaluations: list[Evaluation] = []
    keys: list[Any] = []
    scores = np.random.default_rng(seed)
    for call in range(n_candidates):
        n, state = n_candidates - len(candidates), [seed, call]
        if not sampler.uses_history:
            # As `extend` does: in the same state, for candidates that follow the first ones.
            n, state = n if candidates else ceil(n / 2), [seed]
        history = History(tuple(candidates), tuple(evaluations))
        given = [*spaces_of(space)], candidates, [one.params for one in evaluations]
        before = [[*map(params_key, dicts)] for dicts in given]
        new = list(sampler.propose(n, space, history, RandomState(state)))
        assert len(new) <= n, f"{len(new)} candidates are proposed, but n is {n}"
        after = [[*map(params_key, dicts)] for dicts in given]
        assert after[0] == before[0], "the space was changed"
        assert after == before, "the candidates of the history were changed"
        for params in new:
            _check_params(params, space)
        candidates += new
        keys = [params_key(params) for params in candidates]
        assert len(set(keys)) == len(keys), "a candidate is proposed twice"
        for params in new:
            values = scores.choice([scores.random(), np.nan], p=[0.9, 0.1], size=2)
            fold_scores = tuple(values.tolist())
            evaluations.append(Evaluation(params, 1, 2, sum(fold_scores) / 2, fold_scores))
        if not new or len(candidates) == n_candidates:
            break
    return keys


def _check_params(params: Any, space: Space) -> None:
    assert isinstance(params, Mapping), f"a candidate is not a dict: {params!r}"
    assert is_in(space, params), (
        f"a candidate does not belong to a dict of the space: {dict(params)!r}"
    )
