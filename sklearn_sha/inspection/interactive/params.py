"""Interactive figure of the scores by the values of each parameter."""

from __future__ import annotations

from typing import Any

from sklearn_sha.inspection.figures.params import panels
from sklearn_sha.inspection.interactive.style import (
    candidate_color,
    heights,
    hover,
    set_score_axis,
    style,
)
from sklearn_sha.inspection.jitter import jitter
from sklearn_sha.inspection.search_data import SearchData

_WIDTH = 0.25  # of the jitter of a category to each side
_PANEL_HEIGHT = 300  # pixels


def params_figure(data: SearchData) -> Any:
    """Return a figure with one panel per parameter."""
    from plotly.subplots import make_subplots

    n_rows, n_columns = panels(data)
    figure = make_subplots(n_rows, n_columns, shared_yaxes=True, vertical_spacing=0.3 / n_rows)
    for k, points in enumerate(data.points):
        row, column = (number + 1 for number in divmod(k, n_columns))
        numbers = range(len(points.candidates))
        order = sorted(numbers, key=lambda number: data.layer(int(points.candidates[number])))
        candidates = points.candidates[order].tolist()
        places = points.places[order]
        axis: dict[str, Any] = {"title_text": points.name}
        if points.labels is not None:
            places = places + _WIDTH * jitter(len(places))
            axis |= {"tickvals": list(range(len(points.labels))), "ticktext": points.labels}
        if points.is_log:
            axis |= {"type": "log", "exponentformat": "power"}
        scores = [float(data.curves[candidate].scores[-1]) for candidate in candidates]
        figure.add_scatter(
            x=places.tolist(),
            y=heights(data, scores).tolist(),
            mode="markers",
            marker={
                "color": [candidate_color(data, candidate) for candidate in candidates],
                "size": [12 if candidate == data.selected else 7 for candidate in candidates],
            },
            text=[hover(data, c, score) for c, score in zip(candidates, scores, strict=True)],
            hoverinfo="text",
            name=points.name,
            row=row,
            col=column,
        )
        figure.update_xaxes(**axis, showgrid=False, zeroline=False, row=row, col=column)
    set_score_axis(figure, data, title=False)
    figure.update_yaxes(title_text=data.score_label, col=1)
    style(figure, data.selected_text(), height=140 + _PANEL_HEIGHT * n_rows)
    return figure
