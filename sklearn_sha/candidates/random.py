"""Random candidates."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState

from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.distinct import sample_distinct
from sklearn_sha.candidates.space import grid_of, params_key


class RandomSampler(Sampler):
    """Sampler of random candidates, as in RandomizedSearchCV, without repetitions.

    If all values are lists with at most n combinations, it proposes all of them in the order of
    GridSearchCV.

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
        if not known:
            return sampled
        new = [params for params in sampled if params_key(params) not in known]
        if len(new) > n and grid_of(space) is not None:
            # Unlike samples of distributions, those of a grid are not in random order.
            new = [new[position] for position in rng.permutation(len(new))]
        return new[:n]
