"""Order in which folds are added, if the number of folds grows from rung to rung."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from numpy.random import RandomState
from sklearn.model_selection import PredefinedSplit

from sklearn_sha._data.rare_classes import n_needed
from sklearn_sha._data.slicing import sample_indices

MIN_SCORED_SAMPLES = 100
"""Minimum number of test samples over the folds of a rung: with fewer, scores are too noisy to
promote by. A rung has all folds if they have fewer in total."""


def is_series(splits: Sequence[tuple[Any, Any]]) -> bool:
    """Return whether splits are of a time series, as those of TimeSeriesSplit or a list of them.

    If there are several, with different test samples, which come after the training samples.

    Examples
    --------
    >>> from sklearn.model_selection import KFold, TimeSeriesSplit
    >>> from sklearn_sha._data.fold_order import is_series
    >>> [is_series([*cv.split(range(9))]) for cv in (TimeSeriesSplit(2), KFold(2))]
    [True, False]
    """
    pairs = [(sample_indices(train), sample_indices(test)) for train, test in splits]
    if len(pairs) < 2 or not all(len(train) and len(test) for train, test in pairs):
        return False
    are_different = len({int(test.min()) for _, test in pairs}) == len(pairs)
    return are_different and all(train.max() < test.min() for train, test in pairs)


def fold_order(
    splitter: Any,
    splits: Sequence[tuple[Any, Any]],
    rng: RandomState | None,
    *,
    are_series: bool,
) -> tuple[int, ...]:
    """Return all folds in the order in which they are added.

    The order is random, since splits that come first can be alike, such as those of samples that
    were collected together. Folds of PredefinedSplit keep their order, since users choose it. Those
    of a series are added from the latest to the first: the latest has the longest history, as the
    model that is used in the end, and candidates that need it are worse on a short one.

    Without a random state, all folds keep their order, so that a search that samples nothing has
    the same result each time, as GridSearchCV has.

    Parameters
    ----------
    splitter : cross-validator
    splits : sequence of (train, test)
    rng : RandomState or None
    are_series : bool
        What `is_series` returns.

    Returns
    -------
    tuple of int
    """
    n_folds = len(splits)
    if are_series:
        starts = [sample_indices(test).min() for _, test in splits]
        return tuple(sorted(range(n_folds), key=starts.__getitem__, reverse=True))
    if rng is None or isinstance(splitter, PredefinedSplit):
        return tuple(range(n_folds))
    return tuple(rng.permutation(n_folds).tolist())


def min_folds(test_sizes: Sequence[int], rarest: Sequence[int] | None = None) -> int:
    """Return the minimum number of folds that score a rung.

    Parameters
    ----------
    test_sizes : sequence of int
        Numbers of test samples of the folds, in the order in which they are added.
    rarest : sequence of int or None, default=None
        Numbers of those of the rarest class. None without classes.

    Returns
    -------
    int
        The smallest number with `MIN_SCORED_SAMPLES` test samples, and with as many of the rarest
        class as `n_needed` returns. All folds if they have fewer.

    Examples
    --------
    >>> from sklearn_sha._data.fold_order import min_folds
    >>> min_folds([300] * 5), min_folds([30] * 5), min_folds([1] * 1000), min_folds([5] * 3)
    (1, 4, 100, 3)
    >>> [min_folds([300] * 5, [n] * 5) for n in (150, 4, 1)]
    [1, 3, 2]
    """
    rarest = test_sizes if rarest is None else rarest
    needed = n_needed(sum(rarest))
    totals = zip(accumulate(test_sizes), accumulate(rarest), strict=True)
    enough = (
        k
        for k, (total, of_rarest) in enumerate(totals, start=1)
        if total >= MIN_SCORED_SAMPLES and of_rarest >= needed
    )
    return next(enough, len(test_sizes))
