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
from sklearn_sha._data.samples import as_numpy

_FIRST_PER_CLASS = 2


def with_subsampling(
    folds: Sequence[Fold], *, splitter: Any, codes: NDArray[np.intp] | None, seed: int
) -> list[Fold]:
    """Folds that know in which order their subsamples grow.

    Parameters
    ----------
    folds : sequence of Fold
    splitter : object
        The cross-validator that made them. For TimeSeriesSplit the latest rows come
        first; otherwise the order is random.
    codes : ndarray of int, shape (n_samples,), or None
        The class of each row, where classes are to keep their shares.
    seed : int

    Returns
    -------
    list of Fold
    """
    rng = np.random.default_rng(seed)

    def order(rows: NDArray[np.intp]) -> NDArray[np.intp]:
        if isinstance(splitter, TimeSeriesSplit):
            return np.arange(len(rows))[::-1]
        shuffled = rng.permutation(len(rows))
        return shuffled if codes is None else shuffled[_stratified(codes[rows[shuffled]])]

    return [
        replace(fold, train_order=order(fold.train), test_order=order(fold.test)) for fold in folds
    ]


def class_codes(y: Any) -> NDArray[np.intp] | None:
    """For each row the number of its class; None where y is no column of classes.

    Nor are there any where y can't be understood: what the estimator says of it is clearer.
    """
    try:
        with np.errstate(invalid="ignore"):  # of NaN, which is no class
            if sparse.issparse(y) or type_of_target(y) not in ("binary", "multiclass"):
                return None
        return np.unique(as_numpy(y), return_inverse=True)[1].ravel()
    except (TypeError, ValueError):
        return None


def _stratified(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Positions ordered so that the first n hold every class in nearly its share.

    The first two rows of every class come before all others, so that no class is missing
    from a small subsample; then a class's i-th of m rows comes at the quantile i / m.
    """
    nth = np.empty(len(codes), dtype=np.intp)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    nth[by_class] = np.arange(len(codes)) - starts[codes[by_class]]
    quantile = (nth + 0.5) / counts[codes]
    return np.lexsort((quantile, np.minimum(nth, _FIRST_PER_CLASS)))
