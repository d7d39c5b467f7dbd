"""Training and test samples of each cross-validation split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._data.slicing import (
    FoldSamples,
    LazySelection,
    n_samples_of,
    sample_indices,
    slice_params,
    take,
)

MIN_TEST_SAMPLES = 1000
"""Minimum size of a subsampled test fold: with fewer, scores are too noisy to promote by."""


@dataclass(frozen=True)
class Fold:
    """One cross-validation split of the data.

    Attributes
    ----------
    X, y : array-like
        The whole data.
    train, test : ndarray of int
        Indices of the training and of the test samples.
    fit_params, preprocessing_params, score_params : dict
        Parameters of the estimator's ``fit``, of the ``fit`` of its preprocessing steps, and of
        the scorer. Values with one entry per sample are sliced with the samples.
    pairwise : bool
        Whether X is a square matrix of kernels or distances between samples.
    train_order, test_order : ndarray of int or None
        Permutations of the positions in `train` and `test`. The first n positions are the
        subsample of size n.
    min_test : int, default=0
        Number of test samples that a subsample has at least, besides `MIN_TEST_SAMPLES`.
    """

    X: Any
    y: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    fit_params: dict[str, Any]
    preprocessing_params: dict[str, Any]
    score_params: dict[str, Any]
    pairwise: bool = False
    train_order: NDArray[np.intp] | None = None
    test_order: NDArray[np.intp] | None = None
    min_test: int = 0

    def with_data(self, X: Any, y: Any) -> Fold:
        """Return the fold with other data. With None, it is small enough to send with each job."""
        return replace(self, X=X, y=y)

    def subsampled(self, n_train: int) -> Fold:
        """Return the fold with `n_train` training samples and the same share of its test samples.

        Samples keep their order, and a smaller subsample is part of every larger one. At least
        1,000 test samples remain, and `min_test`, or all if the fold has fewer.
        """
        if n_train >= len(self.train):
            return self
        assert self.train_order is not None and self.test_order is not None
        share = -(-len(self.test) * n_train // len(self.train))
        n_test = min(len(self.test), max(share, MIN_TEST_SAMPLES, self.min_test))
        return replace(
            self,
            train=self.train[np.sort(self.train_order[:n_train])],
            test=self.test[np.sort(self.test_order[:n_test])],
            train_order=None,
            test_order=None,
        )

    def has_samples_of(self, other: Fold) -> bool:
        """Whether training and test samples are those of another fold, in the same order."""
        pairs = (self.train, other.train), (self.test, other.test)
        return all(mine is its or np.array_equal(mine, its) for mine, its in pairs)

    def samples(self, in_batches: bool = False) -> FoldSamples:
        """Slice the data into training and test samples.

        Parameters
        ----------
        in_batches : bool, default=False
            Whether training samples are only used in batches. Then those of an array are read
            batch by batch, and its test samples are not copied if they are contiguous.
        """
        X_train: Any
        if self.pairwise:
            X_train = self.X[np.ix_(self.train, self.train)]
            X_test = self.X[np.ix_(self.test, self.train)]
        elif in_batches and isinstance(self.X, np.ndarray):
            X_train = LazySelection(self.X, self.train)
            X_test = self.X[_as_slice(self.test)]
        else:
            X_train, X_test = take(self.X, self.train), take(self.X, self.test)
        return FoldSamples(
            X_train,
            None if self.y is None else take(self.y, self.train),
            X_test,
            None if self.y is None else take(self.y, self.test),
            self._sliced(self.fit_params, self.train),
            self._sliced(self.score_params, self.test),
            self._sliced(self.score_params, self.train),
        )

    def train_preprocessing_params(self) -> dict[str, Any]:
        """Return the fit parameters of the preprocessing steps, sliced to the training samples."""
        return self._sliced(self.preprocessing_params, self.train)

    def _sliced(self, params: Mapping[str, Any], indices: NDArray[np.intp]) -> dict[str, Any]:
        return slice_params(params, indices, n_samples_of(self.X))


def _as_slice(indices: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return contiguous indices as a slice, which copies nothing, and others as they are."""
    if not len(indices) or indices[0] < 0:
        return indices
    first, last = indices[0], indices[-1]
    is_contiguous = np.array_equal(indices, np.arange(first, last + 1))
    return slice(first, last + 1) if is_contiguous else indices


def make_folds(
    X: Any,
    y: Any,
    splits: Sequence[tuple[Any, Any]],
    *,
    fit_params: dict[str, Any],
    preprocessing_params: dict[str, Any],
    score_params: dict[str, Any],
    pairwise: bool,
) -> list[Fold]:
    """Make one fold per split; parameters as in `Fold`."""
    return [
        Fold(
            X,
            y,
            sample_indices(train),
            sample_indices(test),
            fit_params,
            preprocessing_params,
            score_params,
            pairwise,
        )
        for train, test in splits
    ]
