"""Order in which folds join, if the number of folds grows from rung to rung."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from numpy.random import RandomState
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit

MIN_SCORED_SAMPLES = 100
"""Minimum number of test samples over the folds of a rung: with fewer, scores are too noisy to
promote by. A rung has all folds if they have fewer in total."""


def fold_order(splitter: Any, n_folds: int, rng: RandomState | None) -> tuple[int, ...]:
    """Return all folds in the order in which they join.

    The order is random, since splits that come first can be alike, such as those of samples that
    were collected together. Folds of TimeSeriesSplit and PredefinedSplit keep their order: users
    choose it, and those of TimeSeriesSplit cost least at first.

    Without a random state, all folds keep their order, so that a search that samples nothing has
    the same result each time, as GridSearchCV has.

    Parameters
    ----------
    splitter : cross-validator
    n_folds : int
    rng : RandomState or None

    Returns
    -------
    tuple of int
    """
    if rng is None or isinstance(splitter, TimeSeriesSplit | PredefinedSplit):
        return tuple(range(n_folds))
    return tuple(rng.permutation(n_folds).tolist())


def min_folds(test_sizes: Sequence[int]) -> int:
    """Return the minimum number of folds that score a rung.

    Parameters
    ----------
    test_sizes : sequence of int
        Numbers of test samples of the folds, in the order in which they join.

    Returns
    -------
    int
        The smallest number with `MIN_SCORED_SAMPLES` test samples. All folds if they have fewer.

    Examples
    --------
    >>> from sklearn_sha._data.fold_order import min_folds
    >>> min_folds([300] * 5), min_folds([30] * 5), min_folds([1] * 1000), min_folds([5] * 3)
    (1, 4, 100, 3)
    """
    totals = accumulate(test_sizes)
    enough = (k for k, total in enumerate(totals, start=1) if total >= MIN_SCORED_SAMPLES)
    return next(enough, len(test_sizes))
