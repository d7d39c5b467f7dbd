"""Nested, stratified subsamples of a fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.rare_classes import MIN_PER_CLASS, n_of_rarest, size_with_rarest
from sklearn_sha._data.slicing import as_numpy

_FIRST_PER_CLASS = 2
_OF_CLASSES = "binary", "multiclass", "multilabel-indicator", "multiclass-multioutput"
"""Types of targets that can be stratified by."""


def with_subsampling(
    folds: Sequence[Fold], *, codes: NDArray[np.intp] | None, seed: int, are_series: bool = False
) -> list[Fold]:
    """Return folds that can be subsampled.

    Parameters
    ----------
    folds : sequence of Fold
    codes : ndarray of int, shape (n_samples, n_outputs), or None
        Classes of each sample, to stratify by. None for no stratification. Subsamples of a series
        have 10 samples of each class, if they have room for these. With several outputs, the first
        two samples of each class of each output come first.
    seed : int
    are_series : bool, default=False
        Whether the folds are of a time series. Then subsamples are the latest samples; others are
        random.

    Returns
    -------
    list of Fold
    """
    rng = np.random.default_rng(seed)

    def order(indices: NDArray[np.intp]) -> NDArray[np.intp]:
        found = np.argsort(indices)[::-1] if are_series else rng.permutation(len(indices))
        if codes is None:
            return found
        by_class = _each_class_first if are_series else _stratified
        return found[by_class(codes[indices[found]])]

    def min_test(test: NDArray[np.intp]) -> int:
        classes = classes_of_samples(codes)
        if classes is None or are_series:
            return 0
        return size_with_rarest(len(test), n_of_rarest(np.bincount(classes[test])))

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
    """Return the classes of each sample as integers, or None if y has other values.

    An invalid y gives None too: the estimator raises the clearer error.

    Parameters
    ----------
    y : array-like, shape (n_samples,) or (n_samples, n_outputs)
        Can be a multilabel indicator, but not a sparse one.

    Returns
    -------
    ndarray of int, shape (n_samples, n_outputs), or None

    Examples
    --------
    >>> from sklearn_sha._data.subsampling import class_codes
    >>> class_codes(["b", "a", "b"]).T
    array([[1, 0, 1]])
    >>> class_codes([0.5, 1.5]) is None
    True
    """
    try:
        with np.errstate(invalid="ignore"):  # NaN in y
            if sparse.issparse(y) or type_of_target(y) not in _OF_CLASSES:
                return None
        labels = as_numpy(y)
        outputs = labels.reshape(len(labels), -1).T
        return np.transpose([np.unique(output, return_inverse=True)[1] for output in outputs])
    except (TypeError, ValueError):
        return None


def classes_of_samples(codes: NDArray[np.intp] | None) -> NDArray[np.intp] | None:
    """Return the class of each sample, or None without classes or with several outputs."""
    return codes[:, 0] if codes is not None and codes.shape[1] == 1 else None


def _each_class_first(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order positions so that the first 10 of every class come first, and then the others."""
    nth = np.minimum(_nth_of_any(codes), MIN_PER_CLASS)
    return np.lexsort((np.arange(len(codes)), nth))


def _stratified(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Order positions so that the first n contain every class in nearly its share.

    The first two samples of every class come before all others, so that no class is missing
    from a small subsample. After that, the i-th of the m samples of a class has rank i / m. With
    several outputs, the other samples keep their order.
    """
    nth = _nth_of_any(codes)
    rank: NDArray[Any] = np.arange(len(codes))
    if (classes := classes_of_samples(codes)) is not None:
        rank = (nth + 0.5) / np.bincount(classes)[classes]
    return np.lexsort((rank, np.minimum(nth, _FIRST_PER_CLASS)))


def _nth_of_any(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the minimum, over the outputs, of how many samples of its class precede each one."""
    return np.min([_nth(output) for output in codes.T], axis=0)


def _nth(codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return how many samples of its class precede each sample."""
    nth = np.empty(len(codes), dtype=np.intp)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    starts = np.cumsum(counts) - counts
    nth[by_class] = np.arange(len(codes)) - starts[codes[by_class]]
    return nth
