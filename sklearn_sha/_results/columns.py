"""Columns of cv_results_, in GridSearchCV's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata


def store_splits(results: dict[str, Any], name: str, scores: NDArray[np.float64]) -> None:
    for fold, column in enumerate(scores.T):
        results[f"split{fold}_{name}"] = column.copy()
    store_moments(results, name, scores)


def store_moments(results: dict[str, Any], name: str, values: NDArray[np.float64]) -> None:
    results[f"mean_{name}"] = values.mean(axis=1)
    results[f"std_{name}"] = values.std(axis=1)


def param_columns(candidates: Sequence[dict[str, Any]]) -> dict[str, MaskedArray]:
    """GridSearchCV's masked arrays, one a parameter, over all candidates."""
    values: dict[str, dict[int, Any]] = {}
    for number, params in enumerate(candidates):
        for name, value in params.items():
            values.setdefault(name, {})[number] = value
    columns = {}
    for name, by_number in values.items():
        column = MaskedArray(np.empty(len(candidates), _dtype(list(by_number.values()))), mask=True)
        for number, value in by_number.items():
            column[number] = value
        columns[name] = column
    return columns


def _dtype(values: list[Any]) -> np.dtype:
    """GridSearchCV's choice: numpy's own, but object for strings and for sequences."""
    try:
        array = np.array(values)
    except ValueError:
        return np.dtype(object)
    return array.dtype if array.dtype.kind != "U" and array.ndim == 1 else np.dtype(object)


def ranks_of(
    means: NDArray[np.float64], standing: NDArray[np.intp], n_resources: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Higher standing, then more resource ranks above less; else as in GridSearchCV."""
    ranks = np.empty(len(means), dtype=np.int32)
    _, level = np.unique(np.stack([standing, n_resources]), axis=1, return_inverse=True)
    level = level.ravel()
    for here in np.unique(level):
        ranks[level == here] = (level > here).sum() + _rank(means[level == here])
    return ranks


def _rank(means: NDArray[np.float64]) -> NDArray[np.intp]:
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.intp)
    worst_first = np.nan_to_num(means, nan=np.nanmin(means) - 1)
    return rankdata(-worst_first, method="min")
