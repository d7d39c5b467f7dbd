"""Score axis that follows the finalists and compresses the scores below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import floor, isfinite, log10

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._formatting import format_score, quantity
from sklearn_sha.inspection.curves import Curve, visible_range

_SHARE_BELOW = 0.14
"""Share of the height for the compressed scores."""

_MAX_FOCUS = 0.75
"""Largest share of the scores for which an axis is compressed."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)

_ROUNDING = 1e-12
"""Relative differences between scores that are rounding errors of their means."""


@dataclass(frozen=True)
class ScoreAxis:
    """Piecewise linear axis: scores from `lowest` to `low` are compressed, those above are not.

    Attributes
    ----------
    lowest, low, high : float
        Without compression, `lowest` equals `low`.
    n_below : int
        Number of candidates whose last score is below `low`.
    n_failed : int
        Number of candidates whose last score is not finite.
    n_candidates : int

    Examples
    --------
    >>> from sklearn_sha.inspection.score_axis import ScoreAxis
    >>> axis = ScoreAxis(lowest=0.0, low=0.9, high=1.0, n_below=2, n_failed=0, n_candidates=8)
    >>> axis.position([0.0, 0.9, 1.0]).round(2).tolist()
    [0.0, 0.14, 1.0]
    >>> axis.labels()
    ['0', '0.90', '0.92', '0.94', '0.96', '0.98', '1.00']
    >>> axis.note()
    '2 of 8 candidates ended below 0.90, where the axis is compressed.'
    """

    lowest: float
    low: float
    high: float
    n_below: int
    n_failed: int
    n_candidates: int

    @property
    def is_compressed(self) -> bool:
        return self.lowest < self.low

    def position(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Return heights, which are 0 for `lowest` and 1 for `high`."""
        values = np.asarray(scores, dtype=float)
        start = _SHARE_BELOW if self.is_compressed else 0.0
        above = start + (values - self.low) * (1 - start) / ((self.high - self.low) or 1.0)
        if not self.is_compressed:
            return above
        below = (values - self.lowest) * start / (self.low - self.lowest)
        return np.where(values < self.low, below, above)

    def score_at(self, positions: ArrayLike) -> NDArray[np.float64]:
        """Return the scores at heights; the inverse of `position`."""
        heights = np.asarray(positions, dtype=float)
        start = _SHARE_BELOW if self.is_compressed else 0.0
        above = self.low + (heights - start) * ((self.high - self.low) or 1.0) / (1 - start)
        if not self.is_compressed:
            return above
        below = self.lowest + heights * (self.low - self.lowest) / start
        return np.where(heights < start, below, above)

    def ticks(self) -> list[float]:
        """Return round scores, and `lowest` if the axis is compressed."""
        step = _step(self.high - self.low)
        first, last = np.ceil(self.low / step - 1e-6), np.floor(self.high / step + 1e-6)
        ticks = [float(k * step) for k in np.arange(first, last + 1)]
        return [self.lowest, *ticks] if self.is_compressed else ticks or [self.low]

    def labels(self) -> list[str]:
        """Return one label per tick."""
        ticks = self.ticks()
        if not self.is_compressed:
            return [self._format(tick) for tick in ticks]
        return [self._format_lowest(), *(self._format(tick) for tick in ticks[1:])]

    def _format_lowest(self) -> str:
        decimals = 1 - floor(log10(_step(self.high - self.low)))
        return format_score(round(self.lowest, decimals) + 0.0)

    def note(self) -> str:
        """Return the number of candidates below and of failed ones as sentences, or ""."""
        sentences = []
        of_all = f"of {quantity(self.n_candidates, 'candidates')}"
        if self.is_compressed:
            below = f"below {self._format(self.low)}, where the axis is compressed."
            ended = f"{self.n_below} {of_all} ended"
            sentences.append(f"{ended if self.n_below else 'Only early scores are'} {below}")
        if self.n_failed:
            has, it = ("has", "it") if self.n_failed == 1 else ("have", "they")
            where = f"in the last rung that {it} reached"
            sentences.append(f"{self.n_failed} {of_all} {has} no score {where}.")
        return " ".join(sentences)

    def _format(self, score: float) -> str:
        largest = max(abs(self.low), abs(self.high))
        if not self.low < self.high or largest == 0:
            return format_score(score + 0.0)
        step = _step(self.high - self.low)
        if not 1e-4 <= largest < 1e6:
            digits = 1 + floor(log10(largest)) - floor(log10(step))
            return f"{score:.{max(4, digits + 1)}g}"
        decimals = max(0, -floor(log10(step) + 1e-9))
        if abs(step * 10**decimals - round(step * 10**decimals)) > 1e-6:
            decimals += 1
        return f"{score + 0.0:.{decimals}f}"


def score_axis(curves: Mapping[int, Curve]) -> ScoreAxis | None:
    """Choose the axis by the candidates that reached one of the last two levels.

    Diverged ones among them do not count, as in `visible_range`.

    Parameters
    ----------
    curves : mapping of int to Curve

    Returns
    -------
    ScoreAxis or None
        None if no score is finite, or if their difference is not.
    """
    scores = np.concatenate([curve.scores for curve in curves.values()])
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return None
    lowest, high = float(scores.min()), float(scores.max())
    if not isfinite(high - lowest):
        return None
    if not _differ(lowest, high):
        lowest = high
    last_scores = np.array([curve.scores[-1] for curve in curves.values()])
    last_scores = last_scores[np.isfinite(last_scores)]
    low = _focus(curves, high)
    step = _step(high - low)
    low = float(np.floor(low / step + 1e-6) * step)
    if not _differ(low, high) or high - low > _MAX_FOCUS * (high - lowest):
        low = lowest
    return ScoreAxis(
        lowest=lowest,
        low=low,
        high=high,
        n_below=sum(_differ(score, low) for score in last_scores.tolist()),
        n_failed=len(curves) - len(last_scores),
        n_candidates=len(curves),
    )


def _focus(curves: Mapping[int, Curve], high: float) -> float:
    """Lowest score that is not compressed."""
    levels = sorted({level for curve in curves.values() for level in curve.levels.tolist()})
    finalists = [curve for curve in curves.values() if curve.levels[-1] >= levels[-2:][0]]
    low, _ = visible_range(finalists)
    if not _differ(low, high):  # finalists with the same score, or only failed ones
        low, _ = visible_range(curves.values())
    # The folds that the last level adds can be more difficult than those before.
    last, _ = visible_range(
        replace(curve, scores=curve.scores[-1:])
        for curve in finalists
        if curve.levels[-1] == levels[-1]
    )
    return last if last < low else low


def _differ(low: float, high: float) -> bool:
    """Return whether one score is lower than another by more than a rounding error."""
    return high - low > _ROUNDING * max(abs(low), abs(high))


def _step(extent: float) -> float:
    """Round distance between ticks, for 4 to 8 of them."""
    if not (isfinite(extent) and extent > 0):
        return 1.0
    power = 10.0 ** floor(log10(extent / 5))
    return next(step * power for step in _STEPS if step * power >= extent / 5 * (1 - 1e-9))
