"""Where candidates are tried: the rows of each fold, and what a pipeline makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target

MIN_TEST_ROWS = 1000
"""A test fold is never cut below this: fewer rows make a score too noisy to promote by."""

_FIRST_PER_CLASS = 2


@dataclass(frozen=True)
class Rows:
    """The rows of one fold, cut from the data, and lent to jobs.

    Arrays are lent read-only, frames and lists as copies: what a job does to them, the next
    one can't see. An estimator that has to write into arrays works on ``owned()`` rows.

    Attributes
    ----------
    X_train, y_train, X_test, y_test : array-like, y may be None
    fit_params, score_params, train_score_params : dict
        Parameters of the trained estimator's fit, and of the scorer on test and on
        training rows, each cut to those rows.
    X_train_scored : array-like or None
        What is scored for a training score, where that is not ``X_train``.
    test_error : Exception or None
        What came of making ``X_test``, where that failed.
    is_owned : bool
        Whether arrays are given as copies too.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    train_score_params: dict[str, Any]
    X_train_scored: Any = None
    test_error: Exception | None = None
    is_owned: bool = False

    @classmethod
    def for_training(cls, X: Any, y: Any, fit_params: dict[str, Any]) -> Rows:
        """Rows to train on, with none to test on."""
        return cls(X, y, None, None, fit_params, {}, {})

    def owned(self) -> Rows:
        """The same rows, given as copies each time."""
        return replace(self, is_owned=True)

    def fitting(self, batch: NDArray[np.intp] | None = None) -> tuple[Any, Any, dict[str, Any]]:
        """X, y and fit parameters of the training rows, or of some, by position."""
        if batch is None:
            return self._given(self.X_train, self.y_train, self.fit_params)
        y = None if self.y_train is None else take(self.y_train, batch)
        params = cut_params(self.fit_params, batch, n_rows(self.X_train))
        return take(self.X_train, batch), y, params

    def testing(self) -> tuple[Any, Any, dict[str, Any]]:
        """X, y and score parameters of the test rows."""
        if self.test_error is not None:
            raise self.test_error
        return self._given(self.X_test, self.y_test, self.score_params)

    def training(self) -> tuple[Any, Any, dict[str, Any]]:
        """X, y and score parameters of the training rows."""
        X = self.X_train if self.X_train_scored is None else self.X_train_scored
        return self._given(X, self.y_train, self.train_score_params)

    def _given(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        give = _copy if self.is_owned else _lend
        return give(X), give(y), {name: give(value) for name, value in params.items()}


@dataclass(frozen=True)
class _Selected:
    """Rows of an array, which may be larger than memory, not read before they are asked for."""

    X: NDArray[Any]
    rows: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.rows), *self.X.shape[1:])

    def __getitem__(self, which: Any) -> NDArray[Any]:
        return self.X[self.rows[which]]


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
            X_train = _Selected(self.X, self.train)
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
        return cut_params(params, rows, n_rows(self.X))


@dataclass(frozen=True)
class FittedPrefix:
    """What the steps of a pipeline before its last, fitted on a fold, make of its rows.

    Attributes
    ----------
    transformed : Rows
        What the last step trains on, and predicts.
    pipeline : Pipeline or None
        Those steps, fitted on the training rows alone, where whole pipelines are scored.
        Otherwise they stay where they were fitted: a vectoriser can weigh more than the rows.
    raw : Rows or None
        The rows as they came, for the same.
    """

    transformed: Rows
    pipeline: Pipeline | None = None
    raw: Rows | None = None

    def with_data(self, X: Any, y: Any) -> FittedPrefix:
        """Itself, which needs no data but its own."""
        return self

    def rows(self, in_batches: bool = False) -> Rows:
        """What the last step trains on, and predicts."""
        return self.transformed

    def with_last(self, name: str, step: Any) -> Pipeline:
        """The whole pipeline, with its last step."""
        assert self.pipeline is not None
        return Pipeline([*self.pipeline.steps, (name, step)])

    def discard(self) -> None:
        """Nothing to do: it goes with the last who knows it."""


@dataclass(frozen=True)
class PrefixFile:
    """A fitted prefix in a file, of which the processes of one machine map the arrays.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @classmethod
    def of(cls, prefix: FittedPrefix, folder: Path) -> PrefixFile | FittedPrefix:
        """Leave a prefix in a folder; gives itself where that can't be."""
        path = folder / uuid4().hex
        try:
            joblib.dump(prefix, path)
        except Exception:  # a full disk, or what can't be pickled
            path.unlink(missing_ok=True)
            return prefix
        return cls(path)

    def with_data(self, X: Any, y: Any) -> FittedPrefix:
        """What is in the file, which needs no other data."""
        try:
            return joblib.load(self.path, mmap_mode="c")
        except OSError:  # more arrays than a process may map
            return joblib.load(self.path)

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):  # its folder goes later
            self.path.unlink()


def fit_prefix(
    pipeline: Pipeline, fold: Fold, *, scores_pipeline: bool, scores_train: bool
) -> FittedPrefix:
    """Fit the steps of a pipeline before its last on the training rows of a fold.

    Parameters
    ----------
    pipeline : Pipeline
        Not fitted; its first steps are fitted in place.
    fold : Fold
    scores_pipeline : bool
        Whether whole pipelines are scored, on the rows as they came.
    scores_train : bool
        Whether training rows are scored: what `transform` makes of them can be another
        thing than what `fit_transform` does.

    Returns
    -------
    FittedPrefix
    """
    prefix, rows = pipeline[:-1], fold.rows()
    # The steps may write into rows that nobody else has.
    used = rows.owned() if scores_pipeline or scores_train else rows
    X, y, _ = used.training() if used.is_owned else (rows.X_train, rows.y_train, {})
    transformed = replace(rows, X_train=fit_transform(prefix, X, y, fold.cut_prefix_params()))
    if scores_train:
        transformed = replace(transformed, X_train_scored=transform(prefix, used.training()[0]))
    try:
        X_test = transform(prefix, used.testing()[0] if used.is_owned else rows.X_test)
        transformed = replace(transformed, X_test=X_test)
    except Exception as error:  # a score that fails, not a fit
        transformed = replace(transformed, X_test=None, test_error=error)
    return FittedPrefix(transformed, prefix, rows) if scores_pipeline else FittedPrefix(transformed)


def fit_transform(prefix: Pipeline, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit the steps before a pipeline's last, which may be none, and transform X."""
    return prefix.fit_transform(X, y, **params) if prefix.steps else X


def transform(prefix: Pipeline, X: Any) -> Any:
    """Transform X by the steps before a pipeline's last.

    Step by step, since a Pipeline asks its last step whether it is fitted, and one that has
    nothing to learn need not look so.
    """
    for _, step in prefix.steps:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    return X


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
            row_numbers(train),
            row_numbers(test),
            fit_params,
            prefix_params,
            score_params,
            pairwise,
        )
        for train, test in splits
    ]


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


def n_rows(X: Any) -> int:
    """Number of rows of array-like data."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take(X: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, a sparse matrix, a frame or a list, by number, as a copy."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        xp = X.__array_namespace__()
        return xp.take(X, xp.asarray(rows, device=X.device), axis=0)
    if hasattr(X, "shape"):
        return X[rows]
    return [X[row] for row in rows]


def as_numpy(X: Any) -> NDArray[Any]:
    """Array-like data as a numpy array, from another device where that holds them."""
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError):
        if not hasattr(X, "__dlpack__"):
            raise
        return np.from_dlpack(X, device="cpu")


def cut_params(params: Mapping[str, Any], rows: NDArray[np.intp], n_all: int) -> dict[str, Any]:
    """`params` with every entry that has a value per row cut to `rows`."""
    return {
        name: take(value, rows) if _is_per_row(value, n_all) else value
        for name, value in params.items()
    }


def _is_per_row(value: Any, n_all: int) -> bool:
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n_all
    is_sequence = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    return is_sequence and not isinstance(value, str | bytes | Mapping) and len(value) == n_all


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


def row_numbers(rows: Any) -> NDArray[np.intp]:
    """Numbers of the rows that a split selects, by number or by a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _lend(part: Any) -> Any:
    if part is None:
        return None
    if isinstance(part, _Selected):
        part = part[:]
    if isinstance(part, np.ndarray):
        part = part.view()
        part.flags.writeable = False
        return part
    if sparse.issparse(part) and part.format in ("csr", "csc"):
        arrays = (_lend(part.data), _lend(part.indices), _lend(part.indptr))
        return type(part)(arrays, shape=part.shape, copy=False)
    return _copy(part)


def _copy(part: Any) -> Any:
    if isinstance(part, _Selected):
        return part[:]
    if hasattr(part, "iloc"):
        # A frame's own copy may lie in another order, which the last bit of a sum depends on.
        return take(part, np.arange(len(part)))
    if isinstance(part, np.ndarray):
        return part.copy(order="K")
    if hasattr(part, "copy"):
        return part.copy()
    # Arrays of other libraries have no method in common that copies them.
    return deepcopy(part) if hasattr(part, "__dlpack__") else part
