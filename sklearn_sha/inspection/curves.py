"""Scores of candidates from level to level, as curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_FAR_BELOW = 3
"""The visible range ends this many times as far below the median as the best score is above."""


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


def n_candidates_at(level: int, curves: Mapping[int, Curve]) -> int:
    """Return the number of candidates that were evaluated at a level."""
    return sum(level in curve.levels for curve in curves.values())
