"""The train and test samples of each split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._data.samples import (
    Rows,
    Selected,
    n_samples_of,
    sample_indices,
    slice_params,
    take,
)

MIN_TEST_ROWS = 1000
"""A test fold is never cut below this: fewer rows make a score too noisy to promote by."""


@dataclass(frozen=True)
class Fold:
    """One split of the data: which rows train, which test, and what goes with them.

    Attributes
    ----------
    X, y : array-like
        All rows.
    train, test : ndarray of int
        Their row numbers.
    fit_params, prefix_params, score_params : dict
        Parameters of the trained estimator's fit, of the pipeline prefix's fit and of the
        scorer; entries with a value per row are cut with the rows.
    pairwise : bool
        True where X is a square matrix of kernels or distances between rows.
    train_order, test_order : ndarray of int or None
        Permutations of the positions in ``train`` and ``test``: the first n of them are
        the subsample of size n.
    """

    X: Any
    y: Any
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    fit_params: dict[str, Any]
    prefix_params: dict[str, Any]
    score_params: dict[str, Any]
    pairwise: bool = False
    train_order: NDArray[np.intp] | None = None
    test_order: NDArray[np.intp] | None = None

    def with_data(self, X: Any, y: Any) -> Fold:
        """The fold, of this data; without, of None, it is small enough to be sent."""
        return replace(self, X=X, y=y)

    def subsampled(self, n_train: int) -> Fold:
        """The fold cut to `n_train` training rows, and to as large a share of test rows.

        Rows keep the order that they have in the fold, and a smaller subsample is part of
        every larger one. At least `MIN_TEST_ROWS` test rows stay, where there are so many.
        """
        if n_train >= len(self.train):
            return self
        assert self.train_order is not None and self.test_order is not None
        share = -(-len(self.test) * n_train // len(self.train))
        n_test = min(len(self.test), max(share, MIN_TEST_ROWS))
        return replace(
            self,
            train=self.train[np.sort(self.train_order[:n_train])],
            test=self.test[np.sort(self.test_order[:n_test])],
            train_order=None,
            test_order=None,
        )

    def rows(self, in_batches: bool = False) -> Rows:
        """Cut the rows from the data.

        Parameters
        ----------
        in_batches : bool, default=False
            Whether training rows will be asked for in batches, so that those of an array need
            not be cut beforehand; nor then its test rows, where they are a slice.
        """
        X_train: Any
        if self.pairwise:
            X_train = self.X[np.ix_(self.train, self.train)]
            X_test = self.X[np.ix_(self.test, self.train)]
        elif in_batches and isinstance(self.X, np.ndarray):
            X_train = Selected(self.X, self.train)
            first, last = self.test[0], self.test[-1]
            is_slice = np.array_equal(self.test, np.arange(first, last + 1))
            X_test = self.X[first : last + 1] if is_slice else self.X[self.test]
        else:
            X_train, X_test = take(self.X, self.train), take(self.X, self.test)
        return Rows(
            X_train,
            None if self.y is None else take(self.y, self.train),
            X_test,
            None if self.y is None else take(self.y, self.test),
            self._cut(self.fit_params, self.train),
            self._cut(self.score_params, self.test),
            self._cut(self.score_params, self.train),
        )

    def cut_prefix_params(self) -> dict[str, Any]:
        """The prefix's fit parameters, cut to the training rows."""
        return self._cut(self.prefix_params, self.train)

    def _cut(self, params: Mapping[str, Any], rows: NDArray[np.intp]) -> dict[str, Any]:
        return slice_params(params, rows, n_samples_of(self.X))


def make_folds(
    X: Any,
    y: Any,
    splits: Sequence[tuple[Any, Any]],
    *,
    fit_params: dict[str, Any],
    prefix_params: dict[str, Any],
    score_params: dict[str, Any],
    pairwise: bool,
) -> list[Fold]:
    """One fold per split."""
    return [
        Fold(
            X,
            y,
            sample_indices(train),
            sample_indices(test),
            fit_params,
            prefix_params,
            score_params,
            pairwise,
        )
        for train, test in splits
    ]
