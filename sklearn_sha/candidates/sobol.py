"""Candidates that are spread evenly over the space: scrambled Sobol points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.stats import qmc

from sklearn_sha._param_validation import check_int
from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.distinct import (
    MAX_SAMPLES_PER_CANDIDATE,
    first_distinct,
    is_exhausted_by,
)
from sklearn_sha.candidates.distributions import has_quantiles
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.space import params_key, spaces_of

_CHUNKS = 16, 256
"""Points that are computed together: at first, and at most. In total, they are a power of two after
each chunk up to the largest, which keeps the sequence balanced. Quantiles can take milliseconds."""

_BITS = 30
"""Points are multiples of 2**-30."""


class SobolSampler(Sampler):
    """Sampler of evenly spread candidates, by scrambled Sobol points.

    Each parameter has one dimension of the points [1]_ [2]_. A distribution is evaluated by its
    ``ppf``, a list by its index, so that each of its values has the same share. Values of a
    distribution without a ``ppf`` that takes numbers and arrays, and returns numbers, are sampled
    at random, and so are those of many integers if SciPy has no formula for their quantiles. Each
    dict of a list of dicts has its own points, and the same share of the candidates. Repeated
    candidates are replaced by further points.

    If all values are lists with at most n combinations, it proposes all of them in the order of
    GridSearchCV.

    Parameters
    ----------
    max_repeats : int, default=100
        Maximum number of points per candidate. There are fewer after many consecutive repetitions,
        when no further candidates are expected.

    References
    ----------
    .. [1] I. M. Sobol', "On the distribution of points in a cube and the approximate evaluation of
       integrals", USSR Computational Mathematics and Mathematical Physics 7(4), 1967.
    .. [2] A. B. Owen, "Scrambling Sobol' and Niederreiter-Xing points", Journal of Complexity
       14(4), 1998.

    Examples
    --------
    >>> from numpy.random import RandomState
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.candidates import History, SobolSampler
    >>> points = SobolSampler().propose(4, {"C": uniform()}, History(), RandomState(0))
    >>> sorted(int(4 * point["C"]) for point in points)  # one in each quarter
    [0, 1, 2, 3]
    """

    def __init__(self, max_repeats: int = MAX_SAMPLES_PER_CANDIDATE) -> None:
        self.max_repeats = max_repeats

    def check(self, space: Space) -> None:
        check_int("max_repeats", self.max_repeats)

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> list[dict[str, Any]]:
        if is_exhausted_by(n, space, history.candidates):
            return RandomSampler().propose(n, space, history, rng)
        known = {params_key(params) for params in history.candidates}
        designs = [_points(one, rng) for one in spaces_of(space)]
        points = designs[0] if len(designs) == 1 else _alternating(designs, rng)
        points = islice(points, (n + len(known)) * self.max_repeats)
        return first_distinct(points, n, known, are_random=True)


def _alternating(
    designs: list[Iterator[dict[str, Any]]], rng: RandomState
) -> Iterator[dict[str, Any]]:
    """Yield one point of each design in random order, again and again."""
    while True:
        for position in rng.permutation(len(designs)):
            yield next(designs[position])


def _points(space: Mapping[str, Any], rng: RandomState) -> Iterator[dict[str, Any]]:
    """Yield the candidates of one dict, without an end."""
    names = sorted(space)  # as ParameterSampler, so that the order of the dict does not matter
    columns = [_column(space[name]) for name in names]
    seed = rng.randint(np.iinfo(np.int32).max)
    sequence = qmc.Sobol(len(names), bits=_BITS, seed=np.random.default_rng(seed))
    chunk, largest = _CHUNKS
    while True:
        # The centre of each cell, since a distribution can be infinite at 0.
        points = sequence.random(chunk) + 0.5 / 2**_BITS
        values = [column(points[:, k], rng) for k, column in enumerate(columns)]
        for row in range(chunk):
            yield {name: column[row] for name, column in zip(names, values, strict=True)}
        chunk = min(largest, sequence.num_generated)  # which doubles the total


def _column(values: Any) -> Callable[[NDArray[np.float64], RandomState], Any]:
    """Return the function from points between 0 and 1 to the values of a parameter."""
    if not hasattr(values, "rvs"):
        return lambda points, rng: [values[int(point * len(values))] for point in points]

    def sampled(points: NDArray[np.float64], rng: RandomState) -> Any:
        return [values.rvs(random_state=rng) for _ in points]

    if not has_quantiles(values):
        return sampled
    # The ppf of a discrete distribution returns floats.
    is_integer = np.issubdtype(
        np.asarray(values.rvs(random_state=RandomState(0))).dtype, np.integer
    )
    kind = int if is_integer else float

    def by_ppf(points: NDArray[np.float64], rng: RandomState) -> Any:
        try:
            return [kind(value) for value in values.ppf(points)]
        except RuntimeError:  # SciPy does not find it in a heavy tail of integers
            return sampled(points, rng)

    return by_ppf
