"""Score curves of the candidates as an SVG figure, without style sheets and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np

from sklearn_sha._formatting import (
    format_number,
    format_params,
    format_score,
    quantity,
    renamed,
    short_names,
)
from sklearn_sha.inspection.curves import Curve, n_candidates_at
from sklearn_sha.inspection.figures.style import RUNG, SELECTED, rung_shares
from sklearn_sha.inspection.levels import level_text, total_width
from sklearn_sha.inspection.score_axis import ScoreAxis, score_axis

_WIDTH, _PLOT_BOTTOM = 480, 236
_LEFT, _RIGHT, _TOP = 70, 72, 42
_LINE = 15  # height of a line of text
_MAX_LINES = 300
_MAX_LABELS_LENGTH = 46  # characters that fit below the axis
_NOTE_WIDTH = 70


def score_curves_svg(
    curves: Mapping[int, Curve],
    best: int | None,
    level_labels: Sequence[str],
    *,
    unit: str,
    best_level: int | None,
    score_label: str,
    params: Mapping[int, Mapping[str, Any]] | None,
) -> str:
    """Draw the score of each candidate by rung as one line.

    The axis of the scores follows the finalists (`ScoreAxis`). A candidate shows its score and its
    parameters when the pointer is over it. If there are more than 300 candidates, those with the
    most rungs are drawn.

    Parameters
    ----------
    curves : mapping of int to Curve
    best : int or None
        The selected candidate. Its line is thick and has a label.
    level_labels : sequence of str
        Resource of each level, and the number of folds in a second line if it varies.
    unit : str
        What the resource counts, in the plural.
    best_level : int or None
        Level from which it was selected, at which its label is. None: the last that it reached.
    score_label : str
        Name of the metric.
    params : mapping of int to mapping or None
        Parameters of each candidate.

    Returns
    -------
    str
        Empty if no score is finite.
    """
    axis = score_axis(curves)
    if axis is None:
        return ""
    drawing = _Drawing(
        curves, best, best_level, level_labels, unit, score_label, params or {}, axis
    )
    return drawing.svg()


@dataclass(frozen=True)
class _Drawing:
    """Parameters of `score_curves_svg`, and its axis."""

    curves: Mapping[int, Curve]
    best: int | None
    best_level: int | None
    level_labels: Sequence[str]
    unit: str
    score_label: str
    params: Mapping[int, Mapping[str, Any]]
    axis: ScoreAxis

    def svg(self) -> str:
        longest_first = sorted(
            self.curves.values(), key=lambda c: (c.candidate != self.best, -len(c.levels))
        )
        drawn = longest_first[:_MAX_LINES]
        names = short_names(name for own in self.params.values() for name in own)
        lines = "".join(self._line(curve, names) for curve in reversed(drawn))
        n_tick_lines = max(label.count("\n") for label in self.level_labels) + 1
        y = _PLOT_BOTTOM + 4 + n_tick_lines * _LINE + _LINE
        notes = [self.axis.note()] if self.axis.note() else []
        if len(drawn) < len(self.curves):
            notes.append(f"{len(drawn)} of {quantity(len(self.curves), 'candidates')} are shown.")
        notes = wrap(" ".join(notes), _NOTE_WIDTH)
        below = "".join(
            _text(4, y + (k + 1) * _LINE + 3, note, size=11) for k, note in enumerate(notes)
        )
        height = y + len(notes) * _LINE + 8
        return (
            f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" font-size="12" '
            f'font-family="system-ui, sans-serif" '
            f'style="max-width:{_WIDTH * 5 // 4}px;width:100%">'
            "<title>Score of each candidate by rung</title>"
            f'<g fill="currentColor">{self._scores()}{self._rungs()}'
            f"{_text((_LEFT + _WIDTH - _RIGHT) / 2, y, self.unit, anchor='middle')}{below}</g>"
            f'<g stroke="{RUNG}" fill="{RUNG}">{lines}</g>{self._selected()}</svg>'
        )

    def _x(self, level: int) -> float:
        n_steps = len(self.level_labels) - 1
        # A single level is in the middle.
        share = level / n_steps if n_steps else 0.5
        return _LEFT + 8 + share * (_WIDTH - _RIGHT - _LEFT - 16)

    def _y(self, score: float) -> float:
        position = float(self.axis.position(score))
        return _PLOT_BOTTOM - position * (_PLOT_BOTTOM - _TOP)

    def _scores(self) -> str:
        """Name, ticks and lines of the axis of the scores, and its compressed part."""
        parts = [_text(4, 14, self.score_label, weight="bold")]
        width = _WIDTH - _RIGHT - _LEFT
        if self.axis.is_compressed:
            top = self._y(self.axis.low)
            parts.append(
                f'<rect x="{_LEFT}" y="{top:.0f}" width="{width}" '
                f'height="{_PLOT_BOTTOM - top:.0f}" opacity=".08"/>'
            )
        for tick, label in zip(self.axis.ticks(), self.axis.labels(), strict=True):
            y = self._y(tick)
            parts.append(
                f'<rect x="{_LEFT}" y="{y:.1f}" width="{width}" height="1" opacity=".15"/>'
                + _text(_LEFT - 6, y + 4, label, anchor="end")
            )
        return "".join(parts)

    def _rungs(self) -> str:
        """Labels of the rungs below, and their numbers of candidates above."""
        parts = [_text(2, _TOP - 10, "candidates", size=10)]
        every = -(-total_width(self.level_labels) // _MAX_LABELS_LENGTH)
        last = len(self.level_labels) - 1
        for level, label in enumerate(self.level_labels):
            x = self._x(level)
            if (last - level) % every:
                continue
            n = n_candidates_at(level, self.curves)
            parts.append(_text(x, _TOP - 10, str(n), anchor="middle"))
            parts += [
                _text(x, _PLOT_BOTTOM + 4 + (k + 1) * _LINE, line, anchor="middle")
                for k, line in enumerate(label.split("\n"))
            ]
        return "".join(parts)

    def _line(self, curve: Curve, names: Mapping[str, str]) -> str:
        """One candidate, in the color of the rung that it reached."""
        points = [
            (self._x(level), self._y(score))
            for level, score in zip(curve.levels.tolist(), curve.scores.tolist(), strict=True)
            if np.isfinite(score)
        ]
        if not points:
            return ""
        is_best = curve.candidate == self.best
        share = rung_shares(len(self.level_labels))[curve.levels[-1]]
        style = (
            f'stroke="{SELECTED}" fill="{SELECTED}" stroke-width="3"'
            if is_best
            else f'opacity="{share:.2f}"'
        )
        x, y = points[-1]
        path = " ".join(f"{x:.0f},{y:.1f}" for x, y in points)
        lines = ""
        if len(points) > 1:
            # The invisible wide line makes a thin one easy to point at.
            lines = (
                f'<polyline points="{path}" fill="none"/>'
                f'<path d="M{path}" fill="none" stroke="transparent" stroke-width="9"/>'
            )
        radius = 4 if is_best else 2.5
        return (
            f"<g {style}><title>{escape(self._tooltip(curve, names))}</title>{lines}"
            f'<circle cx="{x:.0f}" cy="{y:.1f}" r="{radius}" stroke="none"/></g>'
        )

    def _level(self, curve: Curve) -> int:
        """Level whose score a candidate shows: the last one, or that of its selection."""
        is_best = curve.candidate == self.best
        return self.best_level if is_best and self.best_level is not None else int(curve.levels[-1])

    def _tooltip(self, curve: Curve, names: Mapping[str, str]) -> str:
        """Number, last score and parameters of a candidate."""
        is_best = curve.candidate == self.best
        level = self._level(curve)
        at = level_text(self.level_labels[level], self.unit, " on ")
        score = format_number(curve.score_at(level), 4)
        text = f"candidate {curve.candidate}{' (selected)' if is_best else ''}"
        has_score = np.isfinite(curve.score_at(level))
        text += f": {self.score_label} {score} at {at}" if has_score else f": no score at {at}"
        if curve.candidate not in self.params:
            return text
        return f"{text}\n{format_params(renamed(self.params[curve.candidate], names))}"

    def _selected(self) -> str:
        """Label at the end of the line of the selected candidate."""
        if self.best is None or self.best not in self.curves:
            return ""
        curve = self.curves[self.best]
        level = self._level(curve)
        score = curve.score_at(level)
        if not np.isfinite(score):
            return ""
        x, y = self._x(level) + 8, self._y(score)
        return (
            f'<g fill="currentColor">{_text(x, y - 1, "selected", weight="bold")}'
            f"{_text(x, y + 13, format_score(score), weight='bold')}</g>"
        )


def _text(
    x: float, y: float, text: str, *, anchor: str = "", weight: str = "", size: int = 0
) -> str:
    attributes = f'x="{x:.0f}" y="{y:.0f}"'
    attributes += f' text-anchor="{anchor}"' if anchor else ""
    attributes += f' font-weight="{weight}"' if weight else ""
    attributes += f' font-size="{size}"' if size else ""
    return f"<text {attributes}>{escape(text)}</text>"
