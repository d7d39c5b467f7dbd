"""Data of the figures of a search, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._param_validation import is_real

_FAR_BELOW = 3
"""The visible range ends this many times as far below the median as the best score is above."""

_LABEL_LENGTH = 24

_LOG_RATIO = 100
"""Ratio of largest to smallest value from which an axis can be logarithmic."""


@dataclass(frozen=True)
class Curve:
    """Scores of one candidate by resource.

    Attributes
    ----------
    candidate : int
    resources : ndarray of int, shape (n,)
        In increasing order.
    scores, spreads : ndarray of float, shape (n,)
        Mean and standard deviation over the folds.
    """

    candidate: int
    resources: NDArray[np.intp]
    scores: NDArray[np.float64]
    spreads: NDArray[np.float64]


def curves(
    candidates: Iterable[int],
    resources: Iterable[int],
    scores: Iterable[float],
    spreads: Iterable[float],
) -> dict[int, Curve]:
    """Group scores into one curve per candidate.

    Parameters
    ----------
    candidates, resources : iterable of int
        In any order. If a candidate has several scores at one resource, the last one counts.
    scores, spreads : iterable of float
        Mean and standard deviation over the folds.

    Returns
    -------
    dict of int to Curve
        By candidate.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import curves
    >>> found = curves([0, 1, 0], [2, 2, 4], [0.5, 0.25, 0.75], [0.0, 0.0, 0.0])
    >>> found[0].resources.tolist(), found[0].scores.tolist()
    ([2, 4], [0.5, 0.75])
    """
    points: dict[int, dict[int, tuple[float, float]]] = {}
    for candidate, resource, score, spread in zip(
        candidates, resources, scores, spreads, strict=True
    ):
        points.setdefault(int(candidate), {})[int(resource)] = (float(score), float(spread))
    found = {}
    for candidate, by_resource in sorted(points.items()):
        increasing = sorted(by_resource)
        values = np.array([by_resource[resource] for resource in increasing])
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


def param_points(params: Mapping[int, Mapping[str, Any]]) -> list[ParamPoints]:
    """Collect the values of each parameter that has more than one value.

    Parameters
    ----------
    params : mapping of int to mapping
        Parameters of each candidate.

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
        if not all(is_real(value) for value in values):
            texts = list(map(str, values))
            label_of = dict(zip(texts, map(_label, values), strict=True))
            positions = {text: k for k, text in enumerate(label_of)}
            values, labels = [positions[text] for text in texts], list(label_of.values())
        places = np.array(values, dtype=float)
        if len(set(places.tolist())) > 1:
            is_log = labels is None and _is_log(places)
            found.append(ParamPoints(name, np.array(list(by_candidate)), places, labels, is_log))
    return found


def _label(value: Any) -> str:
    """Shorten a value to a label of an axis."""
    text = " ".join(str(getattr(value, "__name__", value)).split())
    return (
        text
        if len(text) <= _LABEL_LENGTH
        else f"{text[: _LABEL_LENGTH - 1]}\N{HORIZONTAL ELLIPSIS}"
    )


def _is_log(values: NDArray[np.float64]) -> bool:
    """Whether the median is closer to the geometric mean than to the arithmetic mean."""
    if values.min() <= 0 or values.max() / values.min() < _LOG_RATIO:
        return False
    distinct = np.unique(values)
    logs = np.log(distinct)
    off_log = abs(np.median(logs) - logs.mean())
    off_linear = abs(np.log(np.median(distinct) / distinct.mean()))
    return bool(off_log <= off_linear)


def cost_by_resource(history: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Units that were trained in the rungs at each resource.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.

    Returns
    -------
    dict of int to int

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import cost_by_resource
    >>> cost_by_resource([{"resource": 1, "spent": 8}, {"resource": 2, "spent": 12}])
    {1: 8, 2: 4}
    """
    costs: dict[int, int] = {}
    previous = 0
    for row in history:
        costs[row["resource"]] = costs.get(row["resource"], 0) + row["spent"] - previous
        previous = row["spent"]
    return costs
