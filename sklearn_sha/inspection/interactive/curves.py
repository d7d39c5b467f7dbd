"""Interactive figure of the score of each candidate by rung."""

from __future__ import annotations

from typing import Any

from sklearn_sha.inspection.interactive.style import (
    add_rung_key,
    candidate_color,
    heights,
    hover,
    new_figure,
    set_level_axis,
    set_score_axis,
)
from sklearn_sha.inspection.score_axis import score_axis
from sklearn_sha.inspection.search_data import SearchData


def curves_figure(data: SearchData) -> Any:
    """Return a figure with one line per candidate."""
    figure, axis = new_figure(data.selected_text()), score_axis(data.curves)
    for candidate in data.drawing_order(data.curves):
        curve, is_selected = data.curves[candidate], candidate == data.selected
        figure.add_scatter(
            x=curve.levels.tolist(),
            y=heights(axis, curve.scores),
            mode="lines+markers",
            line={"color": candidate_color(data, candidate), "width": 3 if is_selected else 1},
            marker={"size": 8 if is_selected else 5},
            text=[hover(data, candidate, score) for score in curve.scores.tolist()],
            hoverinfo="text",
            name=f"candidate {candidate}",
        )
    set_score_axis(figure, data, axis)
    set_level_axis(figure, data, axis)
    add_rung_key(figure, data)
    return figure
