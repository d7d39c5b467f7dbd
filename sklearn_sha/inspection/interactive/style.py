"""Shared style of the interactive figures: the colors of the others, hover texts, score axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.inspection.figures.style import RUNG, SELECTED, rung_shares
from sklearn_sha.inspection.score_axis import ScoreAxis, score_axis
from sklearn_sha.inspection.search_data import SearchData

NEUTRAL = "rgba(128, 128, 128, 0.6)"
"""Color of what is no candidate, on light and dark backgrounds."""

_GRID = "rgba(128, 128, 128, 0.2)"


def new_figure(title: str, **layout: Any) -> Any:
    """Return an empty figure with a title."""
    from plotly.graph_objects import Figure

    figure = Figure()
    figure.update_layout(margin={"r": 80})
    style(figure, title, **layout)
    return figure


def style(figure: Any, title: str, **layout: Any) -> None:
    """Set the title of a figure and what all of them have."""
    figure.update_layout(
        title={"text": _wrapped(title), "font": {"size": 13}},
        showlegend=False,
        hovermode="closest",
        plot_bgcolor="rgba(0, 0, 0, 0)",  # of the page, so that faint lines are seen on it
        **layout,
    )
    figure.update_xaxes(gridcolor=_GRID)
    figure.update_yaxes(gridcolor=_GRID)


def rung_colors(n: int) -> list[str]:
    """Translucent colors of `n` rungs."""
    red, green, blue = (int(RUNG[k : k + 2], 16) for k in (1, 3, 5))
    return [f"rgba({red}, {green}, {blue}, {share:.2f})" for share in rung_shares(n)]


def candidate_color(data: SearchData, candidate: int) -> str:
    """Color of a candidate: of the rung that it reached, or of the selection."""
    if candidate == data.selected:
        return SELECTED
    return rung_colors(data.n_levels)[data.last_level(candidate)]


def ordered(data: SearchData) -> list[int]:
    """Return the candidates in the order in which they are drawn: the selected one last."""
    return sorted(data.curves, key=data.layer)


def hover(data: SearchData, candidate: int, score: float) -> str:
    """Return what is shown when the pointer is over a candidate: its score and parameters."""
    params = data.params[candidate]
    lines = [f"candidate {candidate}", f"{data.score_label} {score:.4g}"]
    lines += [f"{name}={_short(value)}" for name, value in params.items()]
    return "<br>".join(map(_escaped, lines))


def heights(data: SearchData, scores: Any) -> NDArray[np.float64]:
    """Return the places of scores on the axis that `set_score_axis` makes."""
    axis = score_axis(data.curves)
    return np.asarray(scores, dtype=float) if axis is None else axis.position(scores)


def set_score_axis(figure: Any, data: SearchData, *, title: bool = True) -> ScoreAxis | None:
    """Label the vertical axes, on which scores far below those of the finalists are compressed."""
    axis = score_axis(data.curves)
    if axis is not None:
        figure.update_yaxes(
            tickvals=axis.position(axis.ticks()).tolist(),
            ticktext=axis.labels(),
            range=[-0.05, 1.05],
            zeroline=False,
        )
    if title:
        figure.update_yaxes(title_text=f"{_escaped(data.score_label)}, mean over folds")
    return axis


def set_level_axis(figure: Any, data: SearchData, axis: ScoreAxis | None) -> None:
    """Label the rungs by their resource, and show above how many candidates each has."""
    notes = [data.unit, data.training, axis.note() if axis is not None else ""]
    figure.update_xaxes(
        tickvals=list(range(data.n_levels)),
        ticktext=[label.replace("\n", "<br>") for label in data.level_labels],
        title_text="<br>".join(map(_wrapped, filter(None, notes))),
        showgrid=False,
        zeroline=False,
    )
    for level in range(data.n_levels):
        figure.add_annotation(
            x=level, y=1, yref="paper", yanchor="bottom", showarrow=False,
            text=f"{data.n_at(level)} candidates" if level == 0 else str(data.n_at(level)),
        )  # fmt: skip


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else f"{text[:59]}\N{HORIZONTAL ELLIPSIS}"


def _wrapped(text: str) -> str:
    from textwrap import wrap

    return "<br>".join(map(_escaped, wrap(text, 90)))


def _escaped(text: str) -> str:
    """Text as it stands: plotly reads some of HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
