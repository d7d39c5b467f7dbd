"""Fingerprints of a search and of its data, by which a checkpoint is recognized."""

from __future__ import annotations

import hashlib
import pickle
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from numbers import Number
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.random import RandomState
from sklearn.utils import indexable

from sklearn_sha._compat import without_callbacks
from sklearn_sha._data.folds import Fold
from sklearn_sha._data.slicing import n_samples_of, take
from sklearn_sha._search.digest import digest
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._version import __version__
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.distributions import has_quantiles
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

_PLAIN_TYPES = frozenset({type(None), bool, int, float, str, np.int64, np.float64})
"""The most frequent types of searched values, for which `_is_plain` holds."""

_N_SAMPLED_VALUES, _N_QUANTILES = 256, 65
"""Enough to tell `randint(10, 500)` from `randint(10, 520)`, whose first values are the same."""

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
        **_versions(spec.source.sampler),
        "search": search_name,
        "estimator": digest(_without_caches(without_callbacks(spec.config.estimator))),
        # Separately, since equal candidates can have the same objects or copies.
        "candidates": digest([described_space(spec.source.space), *map(digest, spec.candidates)]),
        "n_candidates": repr(spec.schedule.n_different),
        "splits": splits_digest(spec.folds),
        "random_state": digest(spec.seed),
        "subsamples": digest([(f.train_order, f.test_order) for f in spec.folds]),
        "schedule": digest([vars(rung) for rung in spec.schedule.rungs]),
        # "auto" is resolved, and the attributes of an instance are included.
        "resource": f"{spec.resource.name} {digest(spec.resource)}",
        "refit": repr(refit),
        **{
            name: _text(value)
            for name, value in sorted(params.items())
            if name not in (*NOT_IN_FINGERPRINT, *_RESOLVED, "resource")
        },
        **data,
    }


def splits_digest(folds: Sequence[Fold]) -> str:
    """Return a short text that identifies the training and test samples of folds."""
    return digest([(fold.train, fold.test) for fold in folds])


def _without_caches(estimator: Any) -> Any:
    """Set the folders in which pipelines cache their steps to None, in place."""
    memories = {
        name: value
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "memory"
    }
    caches = [name for name, m in memories.items() if isinstance(m, str) or hasattr(m, "cache")]
    if caches:
        estimator.set_params(**dict.fromkeys(caches))
    return estimator


def _versions(sampler: Sampler) -> dict[str, str]:
    """Return the versions of the packages that decide what a sampler proposes."""
    own = {"scipy": scipy.__version__, "sklearn_sha": __version__}
    return own | {name: version(name) for name in sampler.packages}


def described_space(space: Any) -> list[dict[str, str]]:
    """Return a text for each list and each distribution of a space."""
    return [
        {
            name: digest(_described(values) if hasattr(values, "rvs") else _listed(values))
            for name, values in one.items()
        }
        for one in spaces_of(space)
    ]


def _listed(values: Any) -> Any:
    """Return values of one type, but a range as it is, which can be long."""
    return values if isinstance(values, range) else list(values)


def _described(distribution: Any) -> list[Any]:
    """Describe a distribution by samples and quantiles: its pickle can differ between processes."""
    rng = RandomState(0)
    samples = [distribution.rvs(random_state=rng) for _ in range(_N_SAMPLED_VALUES)]
    if not has_quantiles(distribution):
        return samples
    try:
        with np.errstate(all="ignore"):  # a custom ppf can divide by 0 at its ends
            return [*samples, distribution.ppf(np.linspace(0, 1, _N_QUANTILES))]
    except (ArithmeticError, RuntimeError, ValueError):  # at its ends, or in a heavy tail
        return samples


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


def objects_of(params: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the parameters of `fit` that are objects without data, such as callbacks.

    Training can change their state.

    Parameters
    ----------
    params : dict
        Parameters of `fit`.

    Returns
    -------
    dict of str to tuple
        The object; of a list, its items. Numbers, texts and arrays, for example, are data.
    """
    items = {
        name: tuple(value) if isinstance(value, list | tuple) else (value,)
        for name, value in params.items()
    }
    return {name: objects for name, objects in items.items() if not any(map(_is_data, objects))}


def _is_data(value: Any) -> bool:
    return _is_plain(value) or hasattr(value, "shape") or hasattr(value, "__len__")


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | bytes | Number | np.generic)


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
        # Without a call for each of what can be a million values.
        return [
            item if type(item) in _PLAIN_TYPES else _contents(item, depth - 1) for item in value
        ]
    if depth and isinstance(value, _WITH_PARAMETERS):
        return _contents(vars(value), depth)
    return value if _is_plain(value) or isinstance(value, np.ndarray) else id(value)


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else digest(value)
