"""The combinations of a grid."""

from __future__ import annotations

from typing import Any

from numpy.random import RandomState

from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.distinct import first_distinct
from sklearn_sha.candidates.space import grid_of, params_key


class GridSampler(Sampler):
    """Sampler of the combinations of a grid, in the order of GridSearchCV.

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
                "sampler=GridSampler() requires lists of values, but the space has distributions. "
                'Use lists, or leave sampler="auto".'
            )
        return first_distinct(grid, n, {params_key(params) for params in history.candidates})
