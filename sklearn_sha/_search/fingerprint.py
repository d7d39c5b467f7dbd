"""By what one search is told from another, and its data from other data."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any

import joblib
import numpy as np
import sklearn
from numpy.random import RandomState
from sklearn.utils import indexable

from sklearn_sha._compat import without_callbacks
from sklearn_sha._data.samples import as_numpy, n_samples_of, take
from sklearn_sha._search.prepare import Setup
from sklearn_sha.candidates.space import search_space, spaces_of

NOT_IN_FINGERPRINT = (
    "n_jobs",
    "pre_dispatch",
    "verbose",
    "max_time",
    "fit_timeout",
    "checkpoint",
    "model_memory",
)
"""Parameters of a search that its results do not depend on."""

_SAMPLED_ROWS, _SAMPLED_VALUES = 100_000, 8
_DRAWN = (
    "estimator",
    "param_distributions",
    "param_grid",
    "n_candidates",
    "n_iter",
    "random_state",
    "cv",
    "refit",
)
"""Parameters that count by what they came to: two that differ may come to the same, and
some (distributions, generators) are not the same from one process to the next."""


def fingerprint(search: Any, setup: Setup, data: Mapping[str, str]) -> dict[str, str]:
    """What makes a search the one it is, by name, each as a short text.

    Parameters
    ----------
    search : search estimator
    setup : Setup
    data : dict of str to str
        Of `data_fingerprint`.

    Returns
    -------
    dict of str to str
    """
    params = search.get_params(deep=False)
    refit = params["refit"] if isinstance(params["refit"], str) else None
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "search": type(search).__name__,
        "estimator": digest(without_callbacks(setup.config.estimator)),
        "candidates": digest([_described_space(search_space(search)), setup.seed]),
        "splits": digest([(f.train, f.test, f.train_order, f.test_order) for f in setup.folds]),
        "schedule": digest([vars(rung) for rung in setup.schedule.rungs]),
        # By what "auto" became, with all that it holds.
        "resource": f"{setup.resource.name} {digest(setup.resource)}",
        "refit": repr(refit),
        **{
            name: _text(value)
            for name, value in sorted(params.items())
            if name not in (*NOT_IN_FINGERPRINT, *_DRAWN, "resource")
        },
        **data,
    }


def _described_space(space: Any) -> list[dict[str, str]]:
    """Lists by their values and distributions by some, as a pickle of them can differ each time."""
    return [
        {
            name: digest(
                [values.rvs(random_state=RandomState(k)) for k in range(_SAMPLED_VALUES)]
                if hasattr(values, "rvs")
                else list(values)
            )
            for name, values in one.items()
        }
        for one in spaces_of(space)
    ]


def data_fingerprint(X: Any, y: Any, params: Mapping[str, Any]) -> dict[str, str]:
    """What makes data the ones they are.

    Parameters
    ----------
    X, y : array-like
        Of X, where there are more than 100,000 rows, so many of them are looked at, evenly
        spaced; of y and of the parameters everything.
    params : dict
        Of fit.

    Returns
    -------
    dict of str to str
    """
    X, y = indexable(X, y)
    n = n_samples_of(X)
    some = np.unique(np.linspace(0, n - 1, min(n, _SAMPLED_ROWS)).astype(np.intp))
    shape = getattr(X, "shape", (n,))
    return {
        "X": digest([shape, type(X).__name__, digest(take(X, some))]),
        "y": digest(y),
        **{f"fit parameter {name}": digest(value) for name, value in sorted(params.items())},
    }


def digest(value: Any) -> str:
    """A text that is equal for equal values, in other processes too.

    What can't be pickled (a lambda, say) counts by its kind and name alone.
    """
    try:
        if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
            value = as_numpy(value)  # what pickles a tensor writes its address too
        return joblib.hash(value, coerce_mmap=True)
    except Exception:
        return joblib.hash(list(_described(value)))


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float | None) else digest(value)


def _described(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield f"{name!r}: {digest(item)}"
    elif isinstance(value, list | tuple):
        yield from map(digest, value)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        yield type(value).__qualname__
        yield from _described(value.get_params(deep=False))
    else:
        yield getattr(value, "__qualname__", type(value).__qualname__)
