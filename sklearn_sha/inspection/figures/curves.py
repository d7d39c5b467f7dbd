"""Figure of the score of each candidate by rung."""

from __future__ import annotations

from typing import Any

from sklearn_sha._formatting import format_score
from sklearn_sha.inspection.figures.style import (
    candidate_color,
    clean,
    end_label,
    level_axis,
    limit_scores,
    rung_colors,
    score_name,
    title,
)
from sklearn_sha.inspection.search_data import SearchData


def plot_curves(data: SearchData, ax: Any, *, spread: bool = False) -> list[Any]:
    """Plot the scores of each candidate as a line, in the color of the rung that it reached."""
    colors = rung_colors(data.n_levels, ax)
    for candidate in data.drawing_order(data.curves):
        curve, is_selected = data.curves[candidate], candidate == data.selected
        color = candidate_color(data, candidate, colors)
        ax.plot(
            curve.levels,
            curve.scores,
            marker="o",
            markersize=5 if is_selected else 3,
            color=color,
            linewidth=2.5 if is_selected else 1,
        )
        if spread:
            low, high = curve.scores - curve.spreads, curve.scores + curve.spreads
            ax.fill_between(curve.levels, low, high, color=color, alpha=0.1, linewidth=0)
    level_axis(ax, data)
    ax.set_ylabel(score_name(data), fontsize=10, parse_math=False)
    limit_scores(ax, data)
    text = f"selected\n{format_score(data.selected_score)}"
    end_label(ax, (data.selected_level, data.selected_score), text, bold=True)
    clean(ax)
    title(ax, data.selected_text())
    return [ax]
