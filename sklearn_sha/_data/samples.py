"""Samples of X, y and metadata: counting, slicing, read-only views and copies."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


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
        params = slice_params(self.fit_params, batch, n_samples_of(self.X_train))
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
        give = _copy if self.is_owned else _read_only_view
        return give(X), give(y), {name: give(value) for name, value in params.items()}


@dataclass(frozen=True)
class Selected:
    """Rows of an array, which may be larger than memory, not read before they are asked for."""

    X: NDArray[Any]
    rows: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.rows), *self.X.shape[1:])

    def __getitem__(self, which: Any) -> NDArray[Any]:
        return self.X[self.rows[which]]


def n_samples_of(X: Any) -> int:
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


def slice_params(params: Mapping[str, Any], rows: NDArray[np.intp], n_all: int) -> dict[str, Any]:
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


def sample_indices(rows: Any) -> NDArray[np.intp]:
    """Numbers of the rows that a split selects, by number or by a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def _read_only_view(part: Any) -> Any:
    if part is None:
        return None
    if isinstance(part, Selected):
        part = part[:]
    if isinstance(part, np.ndarray):
        part = part.view()
        part.flags.writeable = False
        return part
    if sparse.issparse(part) and part.format in ("csr", "csc"):
        arrays = (
            _read_only_view(part.data),
            _read_only_view(part.indices),
            _read_only_view(part.indptr),
        )
        return type(part)(arrays, shape=part.shape, copy=False)
    return _copy(part)


def _copy(part: Any) -> Any:
    if isinstance(part, Selected):
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
