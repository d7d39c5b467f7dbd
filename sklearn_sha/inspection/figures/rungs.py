"""Figure of the distribution of the scores in each rung."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_sha.inspection.figures.style import (
    SELECTED,
    clean,
    end_label,
    level_axis,
    limit_scores,
    rung_colors,
    score_name,
    text_color,
    title,
)
from sklearn_sha.inspection.score_axis import ScoreAxis
from sklearn_sha.inspection.search_data import RUNG_WIDTH, SearchData

_LINES: dict[str, dict[str, Any]] = {
    "median": {"linewidth": 1.5},
    "lowest promoted score": {"linewidth": 1.2, "linestyle": (0, (3, 2))},
}
_MIN_DISTANCE = 0.07  # of two labels, as a share of the height


def plot_rungs(data: SearchData, ax: Any) -> list[Any]:
    """Plot the scores of each rung as dots, with their median and the lowest promoted score.

    The color of a dot shows the rung that its candidate reached.
    """
    colors = rung_colors(data.n_levels, ax)
    labels: dict[str, float] = {}
    for level in range(data.n_levels):
        candidates, places, scores = data.rung_points(level)
        is_selected = np.equal(candidates, data.selected)
        dot_colors = np.array([colors[data.last_level(candidate)] for candidate in candidates])
        ax.scatter(places[~is_selected], scores[~is_selected], c=dot_colors[~is_selected], s=16)
        ax.scatter(places[is_selected], scores[is_selected], c=SELECTED, s=42, zorder=4)
        for name, score in data.rung_lines(level, scores):
            ax.plot(ends(level), [score] * 2, color=text_color(), label=name, **_LINES[name])
            if level == 0:
                labels[name.removesuffix(" score")] = score
    level_axis(ax, data)
    ax.set_ylabel(score_name(data), fontsize=10, parse_math=False)
    axis = limit_scores(ax, data)
    ax.set_xlim(-0.5, data.n_levels - 0.5)
    if axis is not None:
        _label_lines(ax, labels, axis)
    end_label(ax, (data.selected_level, data.selected_score), "selected", bold=True)
    clean(ax)
    title(ax, data.selected_text())
    return [ax]


def ends(level: int) -> list[float]:
    """Ends of a horizontal line across a rung."""
    return [level - RUNG_WIDTH - 0.08, level + RUNG_WIDTH + 0.08]


def _label_lines(ax: Any, labels: dict[str, float], axis: ScoreAxis) -> None:
    """Label lines of the first rung at their right, one below the other."""
    order = sorted(labels, key=labels.__getitem__)
    heights = [float(axis.position(labels[name])) for name in order]
    is_close = len(order) == 2 and heights[1] - heights[0] < _MIN_DISTANCE
    for shift, name in zip((-6, 6), order, strict=False):
        end_label(ax, (ends(0)[1], labels[name]), name, shift=shift if is_close else 0)
