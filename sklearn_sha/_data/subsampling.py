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
        Class of each sample, to stratify by. None for no stratification.
    seed : int

    Returns
    -------
    list of Fold
    """
    rng = np.random.default_rng(seed)

    def order(indices: NDArray[np.intp]) -> NDArray[np.intp]:
        if isinstance(splitter, TimeSeriesSplit):
            return np.arange(len(indices))[::-1]
        shuffled = rng.permutation(len(indices))
        return shuffled if codes is None else shuffled[_stratified(codes[indices[shuffled]])]

    return [
        replace(fold, train_order=order(fold.train), test_order=order(fold.test)) for fold in folds
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


def _stratified(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order positions so that the first n contain every class in nearly its share.

    The first two samples of every class come before all others, so that no class is missing
    from a small subsample. After that, the i-th of the m samples of a class has rank i / m.
    """
    nth = np.empty(len(codes), dtype=np.intp)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    nth[by_class] = np.arange(len(codes)) - starts[codes[by_class]]
    quantile = (nth + 0.5) / counts[codes]
    return np.lexsort((quantile, np.minimum(nth, _FIRST_PER_CLASS)))
