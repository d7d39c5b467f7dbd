"""Data of the figures of a search, as plain arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._formatting import quantity, shortened
from sklearn_sha._param_validation import is_real
from sklearn_sha.candidates.space import is_log_uniform, value_key
from sklearn_sha.schedules import Rung, Schedule

_FAR_BELOW = 3
"""The visible range ends this many times as far below the median as the best score is above."""

_LABEL_LENGTH = 24

_LOG_RATIO = 100
"""Ratio of largest to smallest value from which an axis can be logarithmic."""

_SERIES_RATIO = 8
"""The same for a geometric series, such as 1, 2, 4, 8."""


@dataclass(frozen=True)
class Curve:
    """Scores of one candidate by level.

    Attributes
    ----------
    candidate : int
    levels : ndarray of int, shape (n,)
        In increasing order. See `levels_of`.
    scores, spreads : ndarray of float, shape (n,)
        Mean and standard deviation over the folds.
    """

    candidate: int
    levels: NDArray[np.intp]
    scores: NDArray[np.float64]
    spreads: NDArray[np.float64]

    def score_at(self, level: int) -> float:
        """Return the score at one of the levels."""
        return float(self.scores[self.levels == level][0])


def curves(
    candidates: Iterable[int],
    levels: Iterable[int],
    scores: Iterable[float],
    spreads: Iterable[float],
) -> dict[int, Curve]:
    """Group scores into one curve per candidate.

    Parameters
    ----------
    candidates, levels : iterable of int
        In any order. If a candidate has several scores at one level, the last one counts.
    scores, spreads : iterable of float
        Mean and standard deviation over the folds.

    Returns
    -------
    dict of int to Curve
        By candidate.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import curves
    >>> found = curves([0, 1, 0], [0, 0, 1], [0.5, 0.25, 0.75], [0.0, 0.0, 0.0])
    >>> found[0].levels.tolist(), found[0].scores.tolist()
    ([0, 1], [0.5, 0.75])
    """
    points: dict[int, dict[int, tuple[float, float]]] = {}
    for candidate, level, score, spread in zip(candidates, levels, scores, spreads, strict=True):
        points.setdefault(int(candidate), {})[int(level)] = (float(score), float(spread))
    found = {}
    for candidate, by_level in sorted(points.items()):
        increasing = sorted(by_level)
        values = np.array([by_level[level] for level in increasing])
        found[candidate] = Curve(candidate, np.array(increasing), values[:, 0], values[:, 1])
    return found


def visible_range(curves: Iterable[Curve]) -> tuple[float, float]:
    """Range of scores that a figure shows, so that diverged candidates do not flatten the others.

    The range ends at the best score. It begins at the lowest score, or three times as far below
    the median as the best score is above it, whichever is higher.

    Parameters
    ----------
    curves : iterable of Curve

    Returns
    -------
    low, high : float
        NaN if no score is finite.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import curves, visible_range
    >>> shown = curves([0, 1, 2, 3], [1] * 4, [0.75, 0.5, 0.5, -1e9], [0.0] * 4)
    >>> visible_range(shown.values())
    (-0.25, 0.75)
    """
    scores = np.concatenate([curve.scores for curve in curves])
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return float("nan"), float("nan")
    high, middle = scores.max(), np.median(scores)
    lowest = middle - _FAR_BELOW * (high - middle) if high > middle else -np.inf
    return float(max(scores.min(), lowest)), float(high)


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
    """

    name: str
    candidates: NDArray[np.intp]
    places: NDArray[np.float64]
    labels: list[str] | None
    is_log: bool


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
    >>> from sklearn_sha.inspection.curves import param_points
    >>> alpha, kind = param_points(
    ...     {0: {"alpha": 1e-4, "kind": "l1"}, 1: {"alpha": 1e-2, "kind": "l2"}}
    ... )
    >>> alpha.is_log, alpha.places.tolist(), kind.labels
    (True, [0.0001, 0.01], ['l1', 'l2'])
    """
    found = []
    for name in sorted({name for values in params.values() for name in values}):
        by_candidate = {c: own[name] for c, own in params.items() if name in own}
        values = list(by_candidate.values())
        labels = None
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
            is_positive = labels is None and places.min() > 0
            is_log = bool(
                is_positive and (is_log_uniform((space or {}).get(name)) or _is_log(places))
            )
            found.append(ParamPoints(name, np.array(list(by_candidate)), places, labels, is_log))
    return found


def _is_finite(value: Any) -> bool:
    """Return whether a value is a number that has a place on an axis."""
    with suppress(OverflowError):  # of integers above 1e308
        return is_real(value) and isfinite(value)
    return False


def _labels(values: Sequence[Any]) -> list[str]:
    """Shorten values to labels of an axis.

    Where different values would have the same label, as estimators can, it has their ends too.
    """
    texts = [" ".join(str(getattr(value, "__name__", value)).split()) for value in values]
    short = {text: shortened(text, _LABEL_LENGTH) for text in texts}
    n_texts = Counter(short.values())
    return [
        short[text]
        if n_texts[short[text]] == 1
        else f"{text[:10]}\N{HORIZONTAL ELLIPSIS}{text[-13:]}"
        for text in texts
    ]


def number_label(value: float) -> str:
    """Format a value of a parameter as the label of a tick.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import number_label
    >>> number_label(1024.0), number_label(0.00012345), number_label(1e7)
    ('1024', '0.000123', '1e+07')
    """
    # Powers of ten have rounding errors.
    is_integer = abs(value) < 1e6 and abs(value - round(value)) < 1e-9 * abs(value)
    return f"{value:.0f}" if is_integer else f"{value:.3g}"


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


def levels_of(history: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Levels of a search: the resources and numbers of folds of its rungs, in increasing order.

    Rungs of several brackets with the same resource and folds share a level.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import levels_of
    >>> levels_of([{"n_resources": 1, "n_folds": 2}, {"n_resources": 4, "n_folds": 2}])
    [(1, 2), (4, 2)]
    """
    return sorted({level_of(row) for row in history})


def level_of(row: Mapping[str, Any]) -> tuple[int, int]:
    """Level of a rung; 0 folds if they are not in the history."""
    return row["n_resources"], row.get("n_folds", 0)


def last_rungs(schedule: Schedule) -> list[Rung]:
    """The last rung of each bracket."""
    return [*{rung.bracket: rung for rung in schedule.rungs}.values()]


def is_at_end(row: Mapping[str, Any], ends: Iterable[Rung]) -> bool:
    """Whether the level of a rung is that of one of the last rungs."""
    return any(
        rung.n_resources == row["n_resources"]
        and (rung.folds is None or len(rung.folds) == row["n_folds"])
        for rung in ends
    )


def selects_best(row: Mapping[str, Any], ends: Iterable[Rung]) -> bool:
    """Whether a rung is one of the last rungs, whose best candidate counts as promoted."""
    return len(row["promoted"]) == 1 and is_at_end(row, ends)


def level_labels(levels: Sequence[tuple[int, int]]) -> list[str]:
    r"""Labels of levels: the resource, and the number of folds in a second line if it varies.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import level_labels
    >>> level_labels([(100, 5), (200, 5)]), level_labels([(100, 1), (100, 5)])
    (['100', '200'], ['100\n1 fold', '100\n5 folds'])
    """
    if len({n_folds for _, n_folds in levels}) == 1:
        return [str(resource) for resource, _ in levels]
    return [f"{resource}\n{quantity(n_folds, 'folds')}" for resource, n_folds in levels]


def level_text(label: str, unit: str, between: str) -> str:
    r"""Return a label of `level_labels` in one line, with the unit.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import level_text
    >>> level_text("100\n1 fold", "trees", ", "), level_text("1", "trees", ", ")
    ('100 trees, 1 fold', '1 tree')
    """
    resource, *folds = label.split("\n")
    return between.join([quantity(int(resource), unit), *folds])


def total_width(labels: Iterable[str]) -> int:
    """Return the number of characters of labels side by side, of which each can have two lines."""
    return sum(max(map(len, label.split("\n"))) for label in labels)


def n_candidates_at(level: int, curves: Mapping[int, Curve]) -> int:
    """Return the number of candidates that were evaluated at a level."""
    return sum(level in curve.levels for curve in curves.values())


def cost_by_level(history: Sequence[Mapping[str, Any]]) -> list[int]:
    """Units that were trained in the rungs of each level.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.

    Returns
    -------
    list of int
        In the order of `levels_of`.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import cost_by_level
    >>> cost_by_level([{"n_resources": 1, "total_cost": 8}, {"n_resources": 2, "total_cost": 12}])
    [8, 4]
    """
    costs = dict.fromkeys(levels_of(history), 0)
    previous = 0
    for row in history:
        costs[level_of(row)] += row["total_cost"] - previous
        previous = row["total_cost"]
    return list(costs.values())
