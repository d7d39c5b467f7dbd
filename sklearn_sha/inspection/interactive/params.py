"""Interactive figure of the scores by the values of each parameter."""

from __future__ import annotations

from typing import Any

from sklearn_sha.inspection.figures.params import panels
from sklearn_sha.inspection.interactive.style import (
    add_note,
    add_rung_key,
    candidate_color,
    escaped,
    heights,
    hover,
    note_of,
    set_score_axis,
    style,
)
from sklearn_sha.inspection.score_axis import score_axis
from sklearn_sha.inspection.search_data import SearchData

_PANEL_HEIGHT = 300  # pixels
_N_TICKS = 4  # of numbers, if other values have a place too


def params_figure(data: SearchData) -> Any:
    """Return a figure with one panel per parameter."""
    from plotly.subplots import make_subplots

    n_rows, n_columns = panels(data)
    figure = make_subplots(n_rows, n_columns, shared_yaxes=True, vertical_spacing=0.3 / n_rows)
    scores_axis = score_axis(data.curves)
    for k, points in enumerate(data.points):
        row, column = (number + 1 for number in divmod(k, n_columns))
        candidates, places = data.panel(points)
        axis: dict[str, Any] = {"title_text": escaped(points.name)}
        if points.labels is not None:
            labels = [*map(escaped, points.labels)]
            axis |= {"tickvals": list(range(len(labels))), "ticktext": labels}
        if points.is_log:
            axis |= {"type": "log", "exponentformat": "power"}
        if points.others:
            ticks = points.ticks(_N_TICKS)
            axis["tickvals"] = [place for place, _ in ticks]
            axis["ticktext"] = [escaped(label) for _, label in ticks]
        scores = [data.result(candidate) for candidate in candidates]
        figure.add_scatter(
            x=places.tolist(),
            y=heights(scores_axis, scores),
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
    set_score_axis(figure, data, scores_axis, title=False)
    figure.update_yaxes(title_text=escaped(data.score_label), col=1)
    title = data.selected_text() if data.points else "No parameter has more than one value."
    style(figure, title, height=140 + _PANEL_HEIGHT * n_rows)
    add_rung_key(figure, data)
    add_note(figure, note_of(scores_axis), shift=60)
    return figure
