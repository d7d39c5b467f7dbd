"""Score curves of the candidates as an SVG figure, without style sheets and scripts."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from sklearn_sha.inspection.curves import Curve, visible_range

_WIDTH, _HEIGHT = 560, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 12, 40
_MAX_LINES = 300


def score_curves_svg(curves: Mapping[int, Curve], best: int | None, unit: str) -> str:
    """Draw the score of each candidate by resource as one line.

    Scores below the visible range are drawn at the lower edge, and their number is shown. If there
    are more than 300 candidates, those with the most rungs are drawn.

    Parameters
    ----------
    curves : mapping of int to Curve
    best : int or None
        The best candidate. Its line is thick.
    unit : str
        What the resource counts, in the plural.

    Returns
    -------
    str
        Empty if no score is finite.
    """
    low, high = visible_range(curves.values())
    if np.isnan(high):
        return ""
    height = high - low or 1.0
    resources = sorted({r for curve in curves.values() for r in curve.resources.tolist()})
    step = (_WIDTH - _LEFT - _RIGHT) / max(1, len(resources) - 1)
    x_of = {resource: _LEFT + k * step for k, resource in enumerate(resources)}

    def line(curve: Curve) -> str:
        points = [
            (x_of[r], _TOP + (high - max(s, low)) / height * (_HEIGHT - _TOP - _BOTTOM))
            for r, s in zip(curve.resources.tolist(), curve.scores.tolist(), strict=True)
            if np.isfinite(s)
        ]
        if not points:
            return ""
        style = 'stroke="#e8710a" stroke-width="3"' if curve.candidate == best else 'opacity=".3"'
        x, y = points[-1]
        return (
            f"<g {style}><title>candidate {curve.candidate}</title>"
            f'<polyline points="{" ".join(f"{x:.0f},{y:.1f}" for x, y in points)}" fill="none"/>'
            f'<circle cx="{x:.0f}" cy="{y:.1f}" r="2"/></g>'
        )

    longest_first = sorted(curves.values(), key=lambda c: (c.candidate != best, -len(c.resources)))
    drawn = longest_first[:_MAX_LINES]
    scores = np.concatenate([curve.scores for curve in curves.values()])
    n_below = int((np.isfinite(scores) & (scores < low)).sum())
    below = f'<text x="{_LEFT}" y="{_HEIGHT - 4}">scores below: {n_below}</text>' if n_below else ""
    ticks = "".join(
        f'<text x="{x:.0f}" y="{_HEIGHT - 22}" text-anchor="middle">{resource}</text>'
        for resource, x in x_of.items()
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-size="11" '
        f'style="max-width:{_WIDTH}px;width:100%"><title>Score of each candidate by rung</title>'
        f'<g stroke="currentColor">{"".join(map(line, reversed(drawn)))}</g>'
        f'<g fill="currentColor">{ticks}'
        f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 4}" text-anchor="middle">{escape(unit)}</text>'
        f"{below}"
        f'<text x="{_LEFT - 8}" y="{_TOP + 4}" text-anchor="end">{high:.4g}</text>'
        f'<text x="{_LEFT - 8}" y="{_HEIGHT - _BOTTOM + 4}" text-anchor="end">{low:.4g}</text>'
        "</g></svg>"
    )
