"""A text that is equal for equal values, in other processes too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from numbers import Number
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_sha._compat import consistent_hash
from sklearn_sha._data.slicing import as_numpy
from sklearn_sha._param_validation import is_estimator

_CONSTANTS = str, bytes, Number, np.generic, np.ndarray, np.ufunc, partial
_MAX_DEPTH = 2  # as of a scorer that has a scorer; objects can contain each other


def digest(value: Any, max_depth: int = _MAX_DEPTH) -> str:
    """Return a text that is equal for equal values, in other processes too.

    Values that cannot be pickled are described. A lambda, for example, is described by its code and
    by the numbers, texts, arrays, functions and classes that it encloses. Lists, dicts and other
    objects that it encloses can change while it is used, so that only their types are described.

    Parameters
    ----------
    value : object
    max_depth : int
        Number of nested objects and functions whose attributes or enclosed values are described.

    Returns
    -------
    str
    """
    try:
        return consistent_hash(_canonical(value))
    except Exception:
        return consistent_hash(list(_described(value, max_depth)))


def _canonical(value: Any) -> Any:
    """Return data such that equal values have equal pickles, however they are stored."""
    if hasattr(value, "columns") and hasattr(value, "iloc"):
        # Its pickle has blocks of columns, which depend on how it was made.
        groups: dict[Any, list[int]] = {}  # one array for all columns of a NumPy dtype
        for k, dtype in enumerate(value.dtypes):
            groups.setdefault(dtype if isinstance(dtype, np.dtype) else k, []).append(k)
        parts = [
            _canonical(
                value.iloc[:, key] if isinstance(key, int) else value.iloc[:, own].to_numpy()
            )
            for key, own in groups.items()
        ]
        names = [*zip(value.columns, map(str, value.dtypes), strict=True)]
        return type(value).__name__, names, np.asarray(value.index), parts
    if hasattr(value, "array") and hasattr(value, "iloc"):
        values = value.to_numpy() if isinstance(value.dtype, np.dtype) else value.array.copy()
        return type(value).__name__, value.name, np.asarray(value.index), _canonical(values)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        value = as_numpy(value)  # the pickle of a tensor has its address
    if sparse.issparse(value):
        csr = value.tocsr()  # without what SciPy notes in the matrix
        return type(value).__name__, value.shape, csr.data, csr.indices, csr.indptr
    if isinstance(value, np.ndarray):
        # An axis of length one, as that of a column, can have any stride, which joblib hashes too.
        # Reshaping gives it the standard one.
        return np.ascontiguousarray(value).reshape(-1).reshape(value.shape)
    return value


def _described(value: Any, max_depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield f"{name!r}: {digest(item, max_depth)}"
    elif isinstance(value, list | tuple):
        yield from (digest(item, max_depth) for item in value)
    elif isinstance(value, set | frozenset):
        yield from sorted(digest(item, max_depth) for item in value)
    elif is_estimator(value):
        yield type(value).__qualname__
        yield from _described(value.get_params(deep=False), max_depth)
    elif isinstance(value, partial):
        keywords = sorted(value.keywords.items())
        yield digest(value.func, max_depth)
        yield from _described_constants([*value.args, *keywords], max_depth)
    elif isinstance(value, FunctionType):
        yield value.__qualname__
        yield from _described_code(value.__code__)
        defaults = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).items()]
        if max_depth:  # a function can enclose itself
            yield from _described_constants([*defaults, *_enclosed(value)], max_depth - 1)
    else:
        yield getattr(value, "__qualname__", type(value).__qualname__)
        if max_depth and hasattr(value, "__dict__") and not isinstance(value, type | ModuleType):
            yield from _described(vars(value), max_depth - 1)


def _described_constants(values: Iterable[Any], max_depth: int) -> Iterator[str]:
    """Describe what does not change while it is used, and of other values their type."""
    for value in values:
        yield digest(value, max_depth) if _is_constant(value) else type(value).__qualname__


def _described_code(code: CodeType) -> Iterator[str]:
    """Describe what a function does, wherever it is in its file."""
    yield repr((code.co_code, code.co_names, code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _described_code(constant)
        else:
            yield digest(constant)


def _enclosed(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # of a name that is not defined yet
            yield cell.cell_contents


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    # What has a name is a function or a class.
    return value is None or isinstance(value, _CONSTANTS) or hasattr(value, "__qualname__")
