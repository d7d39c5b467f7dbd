"""Values of the searched parameters, with their places and labels on an axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._formatting import DIGITS, shortened
from sklearn_sha._param_validation import is_real
from sklearn_sha.candidates.distributions import is_log_uniform
from sklearn_sha.candidates.encoding import param_names
from sklearn_sha.candidates.space import value_key

_LABEL_LENGTH = 24

_LOG_RATIO = 100
"""Ratio of largest to smallest value from which an axis can be logarithmic."""

_SERIES_RATIO = 8
"""The same for a geometric series, such as 1, 2, 4, 8."""

_MAX_TICKS = 5
"""Number of different values up to which each has a tick."""

_MIN_DISTANCE = 0.05
"""Of two ticks, as a share of the range."""

_MAX_OTHERS = 3
"""Number of values without a place that do not make all values of a parameter categories."""

_GAP = 0.12
"""Distance of a value without a place from the numbers, as a share of their range."""

_MAX_ROUNDING = 0.01
"""Of the label of a tick, as a share of the distance to the nearest tick."""


@dataclass(frozen=True)
class ParamPoints:
    """Values of one searched parameter.

    Attributes
    ----------
    name : str
    candidates : ndarray of int, shape (n,)
        Candidates that have the parameter.
    places : ndarray of float, shape (n,)
        Positions on the axis: the values, or indices into `labels`.
    labels : list of str or None
        Labels of the axis. None if the values are numbers.
    is_log : bool
        Whether the values are more evenly spread on a logarithmic axis than on a linear one.
    others : dict of float to str
        Labels of the places below those of the numbers. If a parameter has a distribution, values
        of initial candidates without a place on its axis are there: strings and None, such as the
        default ``gamma="scale"``, and 0 on the axis of a log-uniform distribution.
    """

    name: str
    candidates: NDArray[np.intp]
    places: NDArray[np.float64]
    labels: list[str] | None
    is_log: bool
    others: dict[float, str] = field(default_factory=dict)

    def ticks(self, n: int) -> list[tuple[float, str]]:
        """Return places and labels of the ticks of numbers, in increasing order.

        If there are more than five different numbers, or some are close to each other, `n` ticks
        are evenly spread over them.
        """
        numbers = np.unique(self.places[~np.isin(self.places, [*self.others])])
        distances = np.diff(np.log(numbers) if self.is_log else numbers)
        if len(numbers) > _MAX_TICKS or distances.min() < _MIN_DISTANCE * distances.sum():
            spread = np.geomspace if self.is_log else np.linspace
            numbers = spread(numbers[0], numbers[-1], n)
        labeled = zip(numbers.tolist(), number_labels(numbers), strict=True)
        return sorted([*self.others.items(), *labeled])


def param_points(
    params: Mapping[int, Mapping[str, Any]], space: Mapping[str, Any] | None = None
) -> list[ParamPoints]:
    """Collect the values of each parameter that has more than one value.

    Parameters
    ----------
    params : mapping of int to mapping
        Parameters of each candidate.
    space : mapping or None, default=None
        Lists and distributions by parameter. A log-uniform distribution has a logarithmic axis,
        however narrow it is. None: the values decide.

    Returns
    -------
    list of ParamPoints
        In alphabetical order of the parameters.

    Examples
    --------
    >>> from sklearn_sha.inspection.param_points import param_points
    >>> alpha, kind = param_points(
    ...     {0: {"alpha": 1e-4, "kind": "l1"}, 1: {"alpha": 1e-2, "kind": "l2"}}
    ... )
    >>> alpha.is_log, alpha.places.tolist(), kind.labels
    (True, [0.0001, 0.01], ['l1', 'l2'])
    """
    found = []
    for name in param_names(params.values()):
        by_candidate = {c: own[name] for c, own in params.items() if name in own}
        values = list(by_candidate.values())
        distribution = (space or {}).get(name)
        labels = None
        others: dict[float, str] = {}
        if hasattr(distribution, "rvs"):
            values, others = _with_places(values, distribution)
        if not all(map(_is_finite, values)):
            keys = [value_key(value) for value in values]
            value_of = dict(zip(keys, values, strict=True))
            # Numbers in increasing order, then the others in that of the candidates.
            numbers = {key: value for key, value in value_of.items() if _is_finite(value)}
            order = sorted(numbers, key=numbers.__getitem__)
            order += [key for key in value_of if key not in numbers]
            labels = _labels([value_of[key] for key in order])
            values = [order.index(key) for key in keys]
        places = np.array(values, dtype=float)
        if len(set(places.tolist())) > 1:
            on_axis = places[~np.isin(places, [*others])]
            is_log = labels is None and _has_log_axis(on_axis, distribution)
            found.append(
                ParamPoints(name, np.array(list(by_candidate)), places, labels, is_log, others)
            )
    return found


def _with_places(values: Sequence[Any], distribution: Any) -> tuple[list[Any], dict[float, str]]:
    """Replace values without a place on the axis of numbers by places below it.

    Returns
    -------
    values : list
        As they are if there are fewer than two different numbers, or many other values.
    others : dict of float to str
        Labels of the new places.
    """
    must_be_positive = is_log_uniform(distribution)
    has_place = [_is_finite(v) and (v > 0 or not must_be_positive) for v in values]
    numbers = [*compress(values, has_place)]
    others = {
        value_key(value): value for value, has in zip(values, has_place, strict=True) if not has
    }
    is_infinite = any(is_real(value) and value > 0 for value in others.values())
    if len({*map(float, numbers)}) < 2 or len(others) > _MAX_OTHERS or is_infinite:
        return [*values], {}
    on_axis = np.array(numbers, dtype=float)
    is_log = _has_log_axis(on_axis, distribution)
    ends = np.array([on_axis.min(), on_axis.max()])
    low, high = np.log(ends) if is_log else ends
    below = low - _GAP * (high - low) * np.arange(1, len(others) + 1)
    if is_log:
        below = np.maximum(np.exp(below), np.finfo(float).tiny)
    place_of = dict(zip(others, below.tolist(), strict=True))
    labels = dict(zip(place_of.values(), _labels([*others.values()]), strict=True))
    return [place_of.get(value_key(value), value) for value in values], labels


def _is_finite(value: Any) -> bool:
    """Return whether a value is a number that has a place on an axis."""
    with suppress(OverflowError):  # of integers above 1e308
        return is_real(value) and isfinite(value)
    return False


def _labels(values: Sequence[Any]) -> list[str]:
    """Shorten values to labels of an axis.

    If different values, such as estimators, would have the same label, it has their ends too. If
    these do not differ either, it has a number.
    """
    texts = [" ".join(str(getattr(value, "__name__", value)).split()) for value in values]
    labels = [shortened(text, _LABEL_LENGTH) for text in texts]
    for k in _repeated(labels):
        if len(texts[k]) > _LABEL_LENGTH:
            labels[k] = f"{texts[k][:10]}\N{HORIZONTAL ELLIPSIS}{texts[k][-13:]}"
    for number, k in enumerate(_repeated(labels), start=1):
        labels[k] += f" ({number})"
    return labels


def _repeated(labels: Sequence[str]) -> list[int]:
    """Positions of the labels that are there several times."""
    counts = Counter(labels)
    return [k for k, label in enumerate(labels) if counts[label] > 1]


def number_labels(values: Iterable[float]) -> list[str]:
    """Format the values of ticks, with as many digits as it takes to tell them apart.

    Examples
    --------
    >>> from sklearn_sha.inspection.param_points import number_labels
    >>> number_labels([1024.0, 0.00012345, 1e7]), number_labels([0.99, 0.9999])
    (['1024', '0.000123', '1e+07'], ['0.99', '0.9999'])
    """
    ticks = np.array([*values])
    distances = np.abs(ticks[:, None] - ticks)
    nearest = np.min(distances, axis=1, where=distances > 0, initial=np.inf)
    for n_digits in DIGITS:
        labels = [_number_label(tick, n_digits) for tick in ticks.tolist()]
        if np.all(np.abs(np.array(labels, dtype=float) - ticks) <= _MAX_ROUNDING * nearest):
            break
    return labels


def _number_label(value: float, n_digits: int) -> str:
    # Powers of ten have rounding errors.
    is_integer = abs(value) < 1e6 and abs(value - round(value)) < 1e-9 * abs(value)
    return f"{value:.0f}" if is_integer else f"{value:.{n_digits}g}"


def _has_log_axis(values: NDArray[np.float64], distribution: Any) -> bool:
    return bool(values.min() > 0 and (is_log_uniform(distribution) or _is_log(values)))


def _is_log(values: NDArray[np.float64]) -> bool:
    """Whether the values are a geometric series, or their median is near the geometric mean."""
    distinct = np.unique(values)
    logs = np.log(distinct)
    ratio = distinct[-1] / distinct[0]
    if len(distinct) > 2 and ratio >= _SERIES_RATIO and np.ptp(np.diff(logs)) < 1e-6 * np.ptp(logs):
        return True
    if ratio < _LOG_RATIO:
        return False
    off_log = abs(np.median(logs) - logs.mean())
    off_linear = abs(np.log(np.median(distinct) / distinct.mean()))
    return bool(off_log <= off_linear)
