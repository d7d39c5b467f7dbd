"""Fingerprints of a search and of its data, by which a checkpoint is recognized."""

from __future__ import annotations

import hashlib
import pickle
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from numbers import Number
from types import CodeType, FunctionType, ModuleType
from typing import Any

import joblib
import numpy as np
import sklearn
from numpy.random import RandomState
from scipy import sparse
from sklearn.utils import indexable

from sklearn_sha._compat import without_callbacks
from sklearn_sha._data.slicing import as_numpy, n_samples_of, take
from sklearn_sha._param_validation import is_estimator
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.space import spaces_of
from sklearn_sha.resources.base import Resource

NOT_IN_FINGERPRINT = (
    "n_jobs",
    "pre_dispatch",
    "verbose",
    "max_time",
    "fit_timeout",
    "checkpoint",
    "model_memory",
)
"""Parameters on which the results of a search do not depend."""

_WITH_PARAMETERS = Algorithm, Resource, Sampler
"""Classes whose instances have parameters as attributes, and no state."""

_N_SAMPLED_VALUES = 8
_CONSTANTS = str, bytes, Number, np.generic, np.ndarray, np.ufunc, partial
_MAX_DEPTH = 2  # as of a scorer that has a scorer; objects can contain each other
_RESOLVED = (
    "estimator",
    "param_distributions",
    "param_grid",
    "n_candidates",
    "n_iter",
    "random_state",
    "cv",
    "refit",
)
"""Parameters that the fingerprint has as resolved values.

Two different settings can have the same meaning, and some (distributions, generators) differ
between processes.
"""


def fingerprint(
    search_name: str, params: Mapping[str, Any], spec: SearchSpec, data: Mapping[str, str]
) -> dict[str, str]:
    """Return short texts that together identify a search.

    Parameters
    ----------
    search_name : str
        Class of the search.
    params : dict
        Parameters of the search.
    spec : SearchSpec
    data : dict of str to str
        Returned by `data_fingerprint`.

    Returns
    -------
    dict of str to str
    """
    refit = params["refit"] if isinstance(params["refit"], str) else None
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "search": search_name,
        "estimator": digest(without_callbacks(spec.config.estimator)),
        "candidates": digest(described_space(spec.space)),
        "n_candidates": repr(spec.schedule.n_different),
        "splits": digest([(f.train, f.test) for f in spec.folds]),
        "random_state": digest([spec.seed, [(f.train_order, f.test_order) for f in spec.folds]]),
        "schedule": digest([vars(rung) for rung in spec.schedule.rungs]),
        # As resolved, with its attributes.
        "resource": f"{spec.resource.name} {digest(spec.resource)}",
        "refit": repr(refit),
        **{
            name: _text(value)
            for name, value in sorted(params.items())
            if name not in (*NOT_IN_FINGERPRINT, *_RESOLVED, "resource")
        },
        **data,
    }


def described_space(space: Any) -> list[dict[str, str]]:
    """Describe lists by their values and distributions by samples: their pickles can differ."""
    return [
        {
            name: digest(
                [values.rvs(random_state=RandomState(k)) for k in range(_N_SAMPLED_VALUES)]
                if hasattr(values, "rvs")
                else list(values)
            )
            for name, values in one.items()
        }
        for one in spaces_of(space)
    ]


def data_fingerprint(
    X: Any, y: Any, params: Mapping[str, Any], max_samples: int = 100_000
) -> dict[str, str]:
    """Return short texts that together identify the data of a search.

    Parameters
    ----------
    X, y : array-like
        If X has more than `max_samples` samples, as many evenly spaced samples are used. All of
        y is.
    params : dict
        Parameters of `fit`.
    max_samples : int, default=100_000

    Returns
    -------
    dict of str to str
    """
    X, y = indexable(X, y)
    n = n_samples_of(X)
    indices = np.unique(np.linspace(0, n - 1, min(n, max_samples)).astype(np.intp))
    shape = getattr(X, "shape", (n,))
    return {
        "X": digest([shape, type(X).__name__, digest(take(X, indices))]),
        "y": digest(y),
        **{f"fit parameter {name}": digest(value) for name, value in sorted(params.items())},
    }


def contents_of(params: Mapping[str, Any]) -> dict[str, str]:
    """Return a short text for each parameter that can be changed in place, to notice changes.

    Parameters
    ----------
    params : dict
        Parameters of a search and of its components.

    Returns
    -------
    dict of str to str
        Of containers, algorithms, resources and samplers. Without the parameters on which the
        results of a search do not depend. The texts are valid in this process only.
    """
    changeable = (dict, list, tuple, np.ndarray, *_WITH_PARAMETERS)
    return {
        name: _text_of_contents(value)
        for name, value in params.items()
        if name not in NOT_IN_FINGERPRINT and isinstance(value, changeable)
    }


def _text_of_contents(value: Any) -> str:
    try:
        pickled = pickle.dumps(_contents(value))
    except Exception:  # of an array of objects that cannot be pickled
        return digest(value)
    return hashlib.md5(pickled, usedforsecurity=False).hexdigest()


def _contents(value: Any, depth: int = 3) -> Any:
    """Replace other objects by their identity: a scorer, for example, may count its calls."""
    if depth and isinstance(value, dict):
        return [(name, _contents(item, depth - 1)) for name, item in value.items()]
    if depth and isinstance(value, list | tuple):
        return [_contents(item, depth - 1) for item in value]
    if depth and isinstance(value, _WITH_PARAMETERS):
        return _contents(vars(value), depth)
    is_plain = value is None or isinstance(value, str | bytes | Number | np.generic | np.ndarray)
    return value if is_plain else id(value)


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
        return joblib.hash(_canonical(value), coerce_mmap=True)
    except Exception:
        return joblib.hash(list(_described(value, max_depth)))


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
        return np.ascontiguousarray(value) if value.ndim else value
    return value


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else digest(value)


def _described(value: Any, max_depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield f"{name!r}: {digest(item, max_depth)}"
    elif isinstance(value, list | tuple):
        yield from (digest(item, max_depth) for item in value)
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
        elif isinstance(constant, frozenset):  # its order differs from process to process
            yield from sorted(map(digest, constant))
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
