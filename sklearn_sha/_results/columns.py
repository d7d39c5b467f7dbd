"""Columns of cv_results_, as in GridSearchCV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata

FoldValues = Sequence[tuple[tuple[int, ...], NDArray[np.float64]]]
"""For each rung its folds, and one value per candidate and fold."""


def store_splits(results: dict[str, Any], name: str, scores: FoldValues, n_folds: int) -> None:
    """Add the columns of each fold, and their mean and standard deviation.

    Parameters
    ----------
    results : dict
        Changed in place.
    name : str
        End of the names of the columns, such as "test_score".
    scores : FoldValues
        The columns of other folds are NaN.
    n_folds : int
        Number of all folds.
    """
    for fold in range(n_folds):
        columns = [
            part[:, folds.index(fold)] if fold in folds else np.full(len(part), np.nan)
            for folds, part in scores
        ]
        results[f"split{fold}_{name}"] = np.concatenate(columns)
    _store_moments(results, name, [part for _, part in scores])


def store_times(results: dict[str, Any], name: str, times: Sequence[NDArray[np.float64]]) -> None:
    """Add the columns of the mean and standard deviation of times.

    Parameters
    ----------
    results : dict
        Changed in place.
    name : str
        End of the names of the columns, such as "fit_time".
    times : sequence of ndarray of float
        For each rung one value per candidate and fold. NaN is ignored: the mean is over what was
        run in the rung, and 0 if nothing was.
    """
    _store_moments(results, name, [np.ma.masked_invalid(part) for part in times])


def _store_moments(
    results: dict[str, Any], name: str, values: Sequence[NDArray[np.float64]]
) -> None:
    """Add the mean and standard deviation over the folds; 0 if all values are masked."""
    for moment in ("mean", "std"):
        parts = [np.ma.filled(getattr(part, moment)(axis=1), 0.0) for part in values]
        results[f"{moment}_{name}"] = np.concatenate(parts)


def param_columns(candidates: Sequence[dict[str, Any]]) -> dict[str, MaskedArray]:
    """Return one masked array per parameter, with one value per candidate."""
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
    """Return the dtype that GridSearchCV chooses: object for strings and sequences."""
    try:
        array = np.array(values)
    except ValueError:
        return np.dtype(object)
    return array.dtype if array.dtype.kind != "U" and array.ndim == 1 else np.dtype(object)


def rank_candidates(
    means: NDArray[np.float64], levels_by_weight: Sequence[NDArray[np.intp]]
) -> NDArray[np.int32]:
    """Rank candidates by their levels, then by score as in GridSearchCV. NaN ranks last.

    Parameters
    ----------
    means : ndarray of float, shape (n_rows,)
        Mean scores.
    levels_by_weight : sequence of ndarray of int, each of shape (n_rows,)
        Higher values rank first. The first array counts most.

    Returns
    -------
    ndarray of int, shape (n_rows,)
        1 is the best rank.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha._results.columns import rank_candidates
    >>> means, has_all_folds = np.array([np.nan, 0.7, 0.9, 0.8]), np.array([1, 1, 0, 0])
    >>> rank_candidates(means, [has_all_folds])
    array([4, 1, 2, 3], dtype=int32)
    """
    ranks = np.empty(len(means), dtype=np.int32)
    stacked = np.stack([~np.isnan(means), *levels_by_weight])
    _, levels = np.unique(stacked, axis=1, return_inverse=True)
    levels = levels.ravel()
    for level in np.unique(levels):
        ranks[levels == level] = (levels > level).sum() + _rank(means[levels == level])
    return ranks


def _rank(means: NDArray[np.float64]) -> NDArray[np.intp]:
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.intp)
    # Finite, since rankdata of SciPy 1.11 takes the sum of infinities for NaN.
    finite_means = np.nan_to_num(means)
    return rankdata(-finite_means, method="min")
