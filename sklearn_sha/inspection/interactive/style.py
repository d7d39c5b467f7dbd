"""Shared style of the interactive figures: colors, texts under the pointer, axis of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np

from sklearn_sha._formatting import format_score, format_value, quantity
from sklearn_sha.inspection.figures.style import RUNG, SELECTED, rung_shares
from sklearn_sha.inspection.score_axis import ScoreAxis
from sklearn_sha.inspection.search_data import SearchData

NEUTRAL = "rgba(128, 128, 128, 0.6)"
"""Color of medians, bars of a grid search and the like, on light and dark backgrounds."""

_MAX_VALUE_LENGTH = 60  # of a parameter, in the text under the pointer

_GRID = "rgba(128, 128, 128, 0.2)"

_RUNG_RGB = tuple(int(RUNG[k : k + 2], 16) for k in (1, 3, 5))


def new_figure(title: str) -> Any:
    """Return an empty figure with a title."""
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_layout(margin={"r": 80})
    style(figure, title)
    return figure


def style(figure: Any, title: str, **layout: Any) -> None:
    """Set the title of a figure and what all of them have."""
    figure.update_layout(
        title={"text": wrapped(title), "font": {"size": 13}},
        showlegend=False,
        hovermode="closest",
        plot_bgcolor="rgba(0, 0, 0, 0)",  # of the page, so that faint lines are seen on it
        **layout,
    )
    figure.update_xaxes(gridcolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID)


def rung_colors(n: int) -> list[str]:
    """Translucent colors of `n` rungs."""
    red, green, blue = _RUNG_RGB
    return [f"rgba({red}, {green}, {blue}, {share:.2f})" for share in rung_shares(n)]


def opaque_rung_colors(n: int) -> list[str]:
    """Colors of `n` rungs on white, for traces that ignore translucency."""
    front = np.array(_RUNG_RGB)
    mixed = [np.rint(share * front + (1 - share) * 255).astype(int) for share in rung_shares(n)]
    return [f"rgb({red}, {green}, {blue})" for red, green, blue in mixed]


def candidate_color(data: SearchData, candidate: int) -> str:
    """Color of a candidate: of the rung that it reached, or of the selection."""
    if candidate == data.selected:
        return SELECTED
    return rung_colors(data.n_levels)[data.last_level(candidate)]


def hover(data: SearchData, candidate: int, score: float) -> str:
    """Return what is shown when the pointer is over a candidate: its score and parameters."""
    params = data.params[candidate]
    lines = [f"candidate {candidate}", f"{data.score_label} {format_score(score)}"]
    lines += [f"{name}={format_value(value, _MAX_VALUE_LENGTH)}" for name, value in params.items()]
    return "<br>".join(map(escaped, lines))


def heights(axis: ScoreAxis | None, scores: Any) -> list[float]:
    """Return the places of scores on a score axis."""
    values = np.asarray(scores, dtype=float)
    return (values if axis is None else axis.position(values)).tolist()


def set_score_axis(
    figure: Any, data: SearchData, axis: ScoreAxis | None, *, title: bool = True
) -> None:
    """Label the vertical axes, and shade the part in which scores are compressed."""
    if axis is not None:
        if axis.is_compressed:
            start = float(axis.position(axis.low))
            shade = {"fillcolor": NEUTRAL, "opacity": 0.15, "line_width": 0, "layer": "below"}
            figure.add_hrect(0, start, **shade)
        figure.update_yaxes(
            tickvals=axis.position(axis.ticks()).tolist(),
            ticktext=axis.labels(),
            range=[-0.05, 1.05],
            zeroline=False,
        )
    if title:
        figure.update_yaxes(title_text=f"{escaped(data.score_label)}, mean over folds")


def set_level_axis(figure: Any, data: SearchData, axis: ScoreAxis | None) -> None:
    """Label the rungs by their resource, and show above how many candidates each has."""
    notes = [data.unit, data.training, note_of(axis)]
    figure.update_xaxes(
        tickvals=list(range(data.n_levels)),
        ticktext=[label.replace("\n", "<br>") for label in data.level_labels],
        title_text="<br>".join(map(wrapped, filter(None, notes))),
        showgrid=False,
        zeroline=False,
    )
    for level in range(data.n_levels):
        figure.add_annotation(
            x=level, y=1, yref="paper", yanchor="bottom", showarrow=False,
            text=quantity(data.n_at(level), "candidates") if level == 0 else str(data.n_at(level)),
        )  # fmt: skip


def add_key(figure: Any, colors: Mapping[str, str], title: str = "") -> None:
    """Add a legend that names colors, and nothing else."""
    figure.update_traces(showlegend=False)
    for name, color in colors.items():
        figure.add_scatter(
            x=[None], y=[None], mode="markers", marker={"color": color, "size": 8}, name=name,
            showlegend=True, hoverinfo="skip",
        )  # fmt: skip
    legend = {"title_text": escaped(title), "itemclick": False, "itemdoubleclick": False}
    figure.update_layout(showlegend=True, legend=legend)


def add_rung_key(figure: Any, data: SearchData) -> None:
    """Add a legend that names the colors of the rungs and of the selected candidate."""
    names = [label.replace("\n", ", ") for label in data.level_labels]
    colors = dict(zip(names, rung_colors(data.n_levels), strict=True)) | {"selected": SELECTED}
    add_key(figure, colors, f"{data.unit} reached")


def note_of(axis: ScoreAxis | None) -> str:
    """Return what a score axis leaves out or compresses, as sentences, or ""."""
    return "" if axis is None else axis.note()


def add_note(figure: Any, text: str, shift: int) -> None:
    """Add a line so many pixels below the axes of a figure."""
    if text:
        figure.add_annotation(
            x=0, y=0, xref="paper", yref="paper", yanchor="top", xanchor="left", yshift=-shift,
            showarrow=False, text=wrapped(text),
        )  # fmt: skip


def wrapped(text: str) -> str:
    """Text in at most three lines."""
    lines = wrap(text, 90, max_lines=3, placeholder=" \N{HORIZONTAL ELLIPSIS}")
    return "<br>".join(map(escaped, lines))


def escaped(text: str) -> str:
    """Text as it stands: plotly reads some of HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
