"""Candidates as rows of numbers, for models that predict scores from parameters."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isnan, nan
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sklearn_sha.candidates.space import value_key


def encoded(candidates: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
    """Encode candidates as numbers, with one column per parameter.

    Numbers are encoded by their rank among the candidates, so that a parameter on a logarithmic
    scale needs no special treatment. Other values, such as strings, follow in the order in which
    they appear first. A parameter that a candidate does not have is -1.

    Parameters
    ----------
    candidates : sequence of dict
        Their parameters can differ.

    Returns
    -------
    ndarray of float, shape (n_candidates, n_parameters)
        Columns in the order of `param_names`.

    Examples
    --------
    >>> from sklearn_sha.candidates.encoding import encoded
    >>> encoded([{"C": 10.0}, {"C": 0.1, "kernel": "rbf"}, {"C": 1.0, "kernel": "poly"}])
    array([[ 3., -1.],
           [ 1.,  1.],
           [ 2.,  2.]])
    """
    names = param_names(candidates)
    columns = [_column(candidates, name) for name in names]
    return np.array(columns).reshape(len(names), len(candidates)).T


def encoded_to_predict(
    known: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Encode the candidates that a model is fitted to, and those that it predicts.

    They are encoded together. If all of those that it predicts have a number of a parameter, the
    others without a number, or without the parameter, have NaN, since their position is unknown:
    that of an initial candidate with ``max_depth=None`` or ``gamma="scale"``.

    Parameters
    ----------
    known, others : sequence of dict

    Returns
    -------
    known, others : ndarray of float, shape (n_candidates, n_parameters)
        Columns in the order of the names of all candidates.

    Examples
    --------
    >>> from sklearn_sha.candidates.encoding import encoded_to_predict
    >>> known, others = encoded_to_predict([{"C": 10.0}, {"C": None}], [{"C": 20.0}, {"C": 0.1}])
    >>> known.tolist(), others.tolist()
    ([[2.0], [nan]], [[3.0], [1.0]])
    """
    rows, others_rows = np.split(encoded([*known, *others]), [len(known)])
    for column, name in enumerate(param_names([*known, *others])):
        if all(_has_number(params, name) for params in others):
            rows[[not _has_number(params, name) for params in known], column] = nan
    return rows, others_rows


def param_names(candidates: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names of the parameters of candidates, in the order of the columns."""
    return sorted({name for params in candidates for name in params})


def _has_number(params: Mapping[str, Any], name: str) -> bool:
    return not isnan(_as_float(params.get(name)))


def _column(candidates: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    values = {number: params[name] for number, params in enumerate(candidates) if name in params}
    converted = {number: _as_float(value) for number, value in values.items()}
    numbers = {number: value for number, value in converted.items() if not isnan(value)}
    column = np.full(len(candidates), -1.0)
    column[list(numbers)] = rankdata(list(numbers.values()))
    codes: dict[Hashable, int] = {}
    for number in sorted(values.keys() - numbers.keys()):
        key = value_key(values[number])
        column[number] = len(numbers) + 1 + codes.setdefault(key, len(codes))
    return column


def _as_float(value: Any) -> float:
    """Return a number as a float; NaN for other values."""
    try:
        return float(value) if isinstance(value, Real | np.bool_) else nan
    except (OverflowError, TypeError):  # integers of more than 300 digits, np.timedelta64
        return nan
