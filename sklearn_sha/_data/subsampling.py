"""Nested, stratified subsamples of a fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils.multiclass import type_of_target

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.rare_classes import MIN_PER_CLASS, n_of_rarest, size_with_rarest
from sklearn_sha._data.slicing import as_numpy

_FIRST_PER_CLASS = 2


def with_subsampling(
    folds: Sequence[Fold], *, splitter: Any, codes: NDArray[np.intp] | None, seed: int
) -> list[Fold]:
    """Return folds that can be subsampled.

    Parameters
    ----------
    folds : sequence of Fold
    splitter : object
        Cross-validator of the folds. Subsamples of TimeSeriesSplit are the latest samples;
        others are random.
    codes : ndarray of int, shape (n_samples,), or None
        Class of each sample, to stratify by. None for no stratification. Subsamples of
        TimeSeriesSplit have 10 samples of each class, if they have room for these.
    seed : int

    Returns
    -------
    list of Fold
    """
    rng = np.random.default_rng(seed)
    is_series = isinstance(splitter, TimeSeriesSplit)

    def order(indices: NDArray[np.intp]) -> NDArray[np.intp]:
        n = len(indices)
        found = np.arange(n)[::-1] if is_series else rng.permutation(n)
        if codes is None:
            return found
        by_class = _each_class_first if is_series else _stratified
        return found[by_class(codes[indices[found]])]

    def min_test(test: NDArray[np.intp]) -> int:
        if codes is None or is_series:
            return 0
        return size_with_rarest(len(test), n_of_rarest(np.bincount(codes[test])))

    return [
        replace(
            fold,
            train_order=order(fold.train),
            test_order=order(fold.test),
            min_test=min_test(fold.test),
        )
        for fold in folds
    ]


def class_codes(y: Any) -> NDArray[np.intp] | None:
    """Return the class of each sample as an integer, or None if y is not a column of classes.

    An invalid y gives None too: the estimator raises the clearer error.
    """
    try:
        with np.errstate(invalid="ignore"):  # NaN in y
            if sparse.issparse(y) or type_of_target(y) not in ("binary", "multiclass"):
                return None
        return np.unique(as_numpy(y), return_inverse=True)[1].ravel()
    except (TypeError, ValueError):
        return None


def _each_class_first(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order positions so that the first 10 of every class come first, and then the others."""
    return np.lexsort((np.arange(len(codes)), np.minimum(_nth(codes), MIN_PER_CLASS)))


def _stratified(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order positions so that the first n contain every class in nearly its share.

    The first two samples of every class come before all others, so that no class is missing
    from a small subsample. After that, the i-th of the m samples of a class has rank i / m.
    """
    nth = _nth(codes)
    quantile = (nth + 0.5) / np.bincount(codes)[codes]
    return np.lexsort((quantile, np.minimum(nth, _FIRST_PER_CLASS)))


def _nth(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many samples of its class precede each sample."""
    nth = np.empty(len(codes), dtype=np.intp)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    nth[by_class] = np.arange(len(codes)) - starts[codes[by_class]]
    return nth
