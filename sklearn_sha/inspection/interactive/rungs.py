"""Interactive figure of the distribution of the scores in each rung."""

from __future__ import annotations

from typing import Any

from sklearn_sha._formatting import format_score
from sklearn_sha.inspection.figures.rungs import ends
from sklearn_sha.inspection.interactive.style import (
    NEUTRAL,
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


def rungs_figure(data: SearchData) -> Any:
    """Return a figure with the scores of each rung, their median and the lowest promoted score."""
    figure, axis = new_figure(data.selected_text()), score_axis(data.curves)
    for level in range(data.n_levels):
        candidates, places, scores = data.rung_points(level)
        figure.add_scatter(
            x=places.tolist(),
            y=heights(axis, scores),
            mode="markers",
            marker={
                "color": [candidate_color(data, candidate) for candidate in candidates],
                "size": [11 if candidate == data.selected else 7 for candidate in candidates],
            },
            text=[
                hover(data, c, score) for c, score in zip(candidates, scores.tolist(), strict=True)
            ],
            hoverinfo="text",
            name=data.level_text(level),
        )
        for name, score in data.rung_lines(level, scores):
            figure.add_scatter(
                x=ends(level),
                y=heights(axis, [score, score]),
                mode="lines",
                line={"color": NEUTRAL, "width": 2, "dash": "solid" if name == "median" else "dot"},
                text=f"{name}: {format_score(score)}",
                hoverinfo="text",
                name=name,
            )
    set_score_axis(figure, data, axis)
    set_level_axis(figure, data, axis)
    add_rung_key(figure, data)
    return figure
