"""What pictures of a search show, as plain arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FAR_BELOW = 3
_LABEL = 24
_LOG_RATIO = 100
"""Values that span less are as clear on a linear axis."""


@dataclass(frozen=True)
class Curve:
    """What a candidate has shown.

    Attributes
    ----------
    candidate : int
    resources : ndarray of int, shape (n,)
        Rising.
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
    """One curve a candidate, of rows in any order; a row that comes again counts once.

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
    for candidate, shown in sorted(points.items()):
        at = sorted(shown)
        values = np.array([shown[resource] for resource in at])
        found[candidate] = Curve(candidate, np.array(at), values[:, 0], values[:, 1])
    return found


def visible_range(curves: Iterable[Curve]) -> tuple[float, float]:
    """Between which scores a picture should look, so that what diverged does not press it flat.

    From the best score down to three times as far below the median as that is above it, or to
    the lowest score. NaN where there is no finite score.

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
    """A searched parameter over the candidates that have it.

    Attributes
    ----------
    name : str
    candidates : ndarray of int, shape (n,)
    places : ndarray of float, shape (n,)
        The values; or where they are no numbers, the positions of their `labels`.
    labels : list of str or None
        None where the values are numbers.
    is_log : bool
        Whether they are spread evenly on a logarithmic axis rather than on a linear one.
    """

    name: str
    candidates: NDArray[np.intp]
    places: NDArray[np.float64]
    labels: list[str] | None
    is_log: bool


def param_points(params: Mapping[int, Mapping[str, Any]]) -> list[ParamPoints]:
    """One a parameter that has more than one value.

    Parameters
    ----------
    params : mapping of int to mapping
        Of each candidate.

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
        values = {c: mine[name] for c, mine in params.items() if name in mine}
        shown = list(values.values())
        labels = None
        if not all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in shown):
            texts = list(map(str, shown))
            different = dict(zip(texts, map(_label, shown), strict=True))
            positions = {text: k for k, text in enumerate(different)}
            shown, labels = [positions[text] for text in texts], list(different.values())
        places = np.array(shown, dtype=float)
        if len(set(places.tolist())) > 1:
            is_log = labels is None and _is_log(places)
            found.append(ParamPoints(name, np.array(list(values)), places, labels, is_log))
    return found


def _label(value: Any) -> str:
    """A name or a value as short as an axis needs it."""
    text = " ".join(str(getattr(value, "__name__", value)).split())
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}\N{HORIZONTAL ELLIPSIS}"


def _is_log(values: NDArray[np.float64]) -> bool:
    """Whether the middle is nearer to the mean of the logarithms than to that of the values."""
    if values.min() <= 0 or values.max() / values.min() < _LOG_RATIO:
        return False
    different = np.unique(values)
    logs = np.log(different)
    off_log = abs(np.median(logs) - logs.mean())
    off_linear = abs(np.log(np.median(different) / different.mean()))
    return bool(off_log <= off_linear)


def units_by_resource(history: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Units per fold that a search trained in the rungs at each resource.

    Examples
    --------
    >>> from sklearn_sha.inspection.curves import units_by_resource
    >>> units_by_resource([{"resource": 1, "spent": 8}, {"resource": 2, "spent": 12}])
    {1: 8, 2: 4}
    """
    units: dict[int, int] = {}
    before = 0
    for row in history:
        units[row["resource"]] = units.get(row["resource"], 0) + row["spent"] - before
        before = row["spent"]
    return units
