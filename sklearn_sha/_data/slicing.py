"""Samples of X, y and metadata: counting, slicing, read-only views and copies."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_sha._data.kept_error import KeptError

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class FoldSamples:
    """Training and test samples of one fold, which many candidates share.

    Arrays are passed to estimators as read-only views, data frames and lists as copies, so that
    no candidate can change the samples of another. An estimator that writes into its input gets
    ``writable()`` samples instead.

    Attributes
    ----------
    X_train, y_train, X_test, y_test : array-like
        `y_train` and `y_test` are None without a target.
    fit_params, score_params, train_score_params : dict
        Parameters of the estimator's ``fit``, of the scorer on the test samples and of the
        scorer on the training samples, each sliced to these samples.
    X_train_scored : array-like or None
        Input of the training score if it is not ``X_train``.
    test_error, train_error : KeptError or None
        Error raised when ``X_test``, or ``X_train_scored``, was computed.
    is_writable : bool
        Whether arrays are passed as copies too.
    """

    X_train: Any
    y_train: Any
    X_test: Any
    y_test: Any
    fit_params: dict[str, Any]
    score_params: dict[str, Any]
    train_score_params: dict[str, Any]
    X_train_scored: Any = None
    test_error: KeptError | None = None
    train_error: KeptError | None = None
    is_writable: bool = False

    @classmethod
    def for_training(cls, X: Any, y: Any, fit_params: dict[str, Any]) -> FoldSamples:
        """Return training samples without test samples."""
        return cls(X, y, None, None, fit_params, {}, {})

    def writable(self) -> FoldSamples:
        """Return the same samples, passed as a new copy each time."""
        return replace(self, is_writable=True)

    def fitting(self, batch: NDArray[np.intp] | None = None) -> tuple[Any, Any, dict[str, Any]]:
        """Return X, y and the fit parameters of the training samples.

        Parameters
        ----------
        batch : ndarray of int or None, default=None
            Positions among the training samples. None selects all.
        """
        if batch is None:
            return self._protected(self.X_train, self.y_train, self.fit_params)
        y = None if self.y_train is None else take(self.y_train, batch)
        params = slice_params(self.fit_params, batch, n_samples_of(self.X_train))
        return take(self.X_train, batch), y, params

    def testing(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return X, y and the score parameters of the test samples."""
        if self.test_error is not None:
            self.test_error.reraise()
        return self._protected(self.X_test, self.y_test, self.score_params)

    def training(self) -> tuple[Any, Any, dict[str, Any]]:
        """Return X, y and the score parameters of the training samples."""
        if self.train_error is not None:
            self.train_error.reraise()
        X = self.X_train if self.X_train_scored is None else self.X_train_scored
        return self._protected(X, self.y_train, self.train_score_params)

    def _protected(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
        protect = _copy if self.is_writable else _read_only_view
        own = {
            # Compiled code writes into initial values such as `coef_init`, also if read-only.
            name: _copy(value) if _is_initial_value(value, X) else protect(value)
            for name, value in params.items()
        }
        return protect(X), protect(y), own


@dataclass(frozen=True)
class LazySelection:
    """Selected samples of an array, such as a memory map, that are read when they are indexed.

    Attributes
    ----------
    X : ndarray
    indices : ndarray of int
    """

    X: NDArray[Any]
    indices: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.indices), *self.X.shape[1:])

    def __getitem__(self, key: Any) -> NDArray[Any]:
        return self.X[self.indices[key]]


# Words of the errors of NumPy and Cython, of numba, and of pybind11.
_READ_ONLY = re.compile("read-?only|writeable|writable", re.IGNORECASE)


def is_read_only_error(message: str) -> bool:
    """Return whether an error with this message is about read-only samples, and not about files."""
    return bool(_READ_ONLY.search(message)) and "[Errno " not in message


def with_writable_retry(
    function: Callable[[FoldSamples], _Result], samples: FoldSamples
) -> _Result:
    """Call a function of samples; if it writes into read-only samples, call it with copies.

    Parameters
    ----------
    function : callable
        Receives samples, possibly twice: first `samples`, then ``samples.writable()``.
    samples : FoldSamples

    Returns
    -------
    object
        The result of the function.
    """
    try:
        return function(samples)
    except Exception as error:
        if samples.is_writable or not is_read_only_error(str(error)):
            raise
        return function(samples.writable())


def n_samples_of(X: Any) -> int:
    """Return the number of samples of array-like data."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take(X: Any, indices: NDArray[np.intp]) -> Any:
    """Return a copy of selected samples of an array, sparse matrix, data frame or list."""
    if hasattr(X, "iloc"):
        return X.take(indices, axis=0)  # pandas 2 warns if a result of iloc is written into
    if sparse.issparse(X):
        return X.tocsr()[indices]
    if hasattr(X, "__array_namespace__") and not isinstance(X, np.ndarray):
        xp = X.__array_namespace__()
        return xp.take(X, xp.asarray(indices, device=X.device), axis=0)
    if hasattr(X, "shape"):
        return X[indices]
    return [X[index] for index in indices]


def as_numpy(X: Any) -> NDArray[Any]:
    """Convert array-like data to a NumPy array, also from another device."""
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError):
        if not hasattr(X, "__dlpack__"):
            raise
        return np.from_dlpack(X, device="cpu")


def slice_params(
    params: Mapping[str, Any], indices: NDArray[np.intp], n_samples: int
) -> dict[str, Any]:
    """Return parameters in which every value with one entry per sample is sliced.

    Parameters
    ----------
    params : mapping of str to object
    indices : ndarray of int
        Samples to keep.
    n_samples : int
        Number of entries that a value with one entry per sample has.
    """
    return {
        name: take(value, indices) if _is_per_sample(value, n_samples) else value
        for name, value in params.items()
    }


def _is_initial_value(value: Any, X: Any) -> bool:
    """Return whether a parameter of fit is an array that has no entries of the samples."""
    return isinstance(value, np.ndarray) and not _is_per_sample(value, n_samples_of(X))


def _is_per_sample(value: Any, n_samples: int) -> bool:
    if isinstance(value, type):  # such as np.ndarray, which has a shape as its instances do
        return False
    if hasattr(value, "shape"):
        return len(value.shape) > 0 and value.shape[0] == n_samples
    is_sequence = hasattr(value, "__len__") and hasattr(value, "__getitem__")
    return is_sequence and not isinstance(value, str | bytes | Mapping) and len(value) == n_samples


def sample_indices(selection: Any) -> NDArray[np.intp]:
    """Return the indices of the samples in one side of a split, given as indices or as a mask."""
    selection = np.asarray(selection)
    if not selection.size:
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero(selection) if selection.dtype == bool else selection


def _read_only_view(data: Any) -> Any:
    if data is None:
        return None
    if isinstance(data, np.ndarray):
        data = data.view()
        data.setflags(write=False)
        return data
    if isinstance(data, LazySelection):
        return _read_only_view(data[:])
    if sparse.issparse(data) and data.format in ("csr", "csc"):
        arrays = (
            _read_only_view(data.data),
            _read_only_view(data.indices),
            _read_only_view(data.indptr),
        )
        return type(data)(arrays, shape=data.shape, copy=False)
    return _copy(data)


def _copy(data: Any) -> Any:
    if isinstance(data, type):
        return data
    if isinstance(data, LazySelection):
        return data[:]
    if hasattr(data, "iloc"):
        # DataFrame.copy can change the memory order, and the rounding of sums depends on it.
        return take(data, np.arange(len(data)))
    if isinstance(data, np.ndarray):
        return data.copy(order="K")
    # Other parameters of fit, such as paths, can have a `copy` that is something else.
    if isinstance(data, list) or (hasattr(data, "shape") and hasattr(data, "copy")):
        return data.copy()
    # Arrays of other libraries have no copy method in common.
    if hasattr(data, "__dlpack__"):
        return deepcopy(data)
    return copy(data) if hasattr(data, "shape") and hasattr(data, "__copy__") else data  # polars
