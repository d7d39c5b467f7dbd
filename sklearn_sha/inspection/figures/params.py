"""Figure of the scores by the values of each parameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_sha.inspection.figures.style import (
    SMALL,
    candidate_color,
    clean,
    labeled_categories,
    limit_scores,
    note_lines,
    rung_colors,
    rung_key,
    score_name,
    title,
)
from sklearn_sha.inspection.param_points import ParamPoints
from sklearn_sha.inspection.search_data import SearchData

_MAX_COLUMNS = 3
_PANEL_NAME_WIDTH, _NOTE_WIDTH, _COLUMN_NOTE_WIDTH = 24, 70, 42
_MAX_HORIZONTAL = 26  # characters of labels that fit horizontally below a panel
_MAX_LABELS = 15  # that are legible below a panel
_N_TICKS = 3  # of numbers, if other values have a place too


def panels(data: SearchData) -> tuple[int, int]:
    """Numbers of rows and columns of panels, with one panel per parameter."""
    n_rows = max(1, -(-len(data.points) // _MAX_COLUMNS))
    return n_rows, max(1, -(-len(data.points) // n_rows))


def has_vertical_labels(points: ParamPoints) -> bool:
    """Whether the labels of a parameter do not fit horizontally below its panel."""
    if points.others:  # which are close to that of the smallest number
        return True
    return points.labels is not None and sum(map(len, points.labels)) > _MAX_HORIZONTAL


def params_size(data: SearchData) -> tuple[float, float]:
    """Width and height of a new figure."""
    n_rows, n_columns = panels(data)
    height_of_row = 3.2 if any(map(has_vertical_labels, data.points)) else 2.2
    return 1.6 + 2.2 * n_columns, 1.4 + height_of_row * n_rows


def plot_params(data: SearchData, ax: Any) -> list[Any]:
    """Plot one panel per parameter, with the last score of each candidate by its value."""
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    figure, subplot = ax.figure, ax.get_subplotspec()
    if subplot is None:
        raise ValueError(
            "ax cannot be divided into panels, because it is not part of a grid of subplots. "
            "Pass an Axes of plt.subplots, or ax=None."
        )
    n_rows, n_columns = panels(data)
    grid = GridSpecFromSubplotSpec(n_rows, n_columns, subplot)
    ax.set_axis_off()
    axes = [figure.add_subplot(grid[divmod(k, n_columns)]) for k in range(len(data.points))]
    for k, (panel, points) in enumerate(zip(axes, data.points, strict=True)):
        _plot_panel(data, panel, points)
        axis = limit_scores(panel, data, note=False)
        clean(panel)
        if k % n_columns:
            panel.tick_params(axis="y", labelleft=False)
        else:
            panel.set_ylabel(
                score_name(data, width=_PANEL_NAME_WIDTH), fontsize=SMALL, parse_math=False
            )
    if not axes:
        title(ax, "No parameter has more than one value.")
        return [ax]
    rung_key(figure, axes[0], data)
    if axis is not None and axis.note():
        width = min(_NOTE_WIDTH, n_columns * _COLUMN_NOTE_WIDTH)
        figure.supxlabel(note_lines(axis.note(), width=width), fontsize=SMALL)
    return axes


def _plot_panel(data: SearchData, ax: Any, points: ParamPoints) -> None:
    from matplotlib.colors import to_rgb

    candidates, places = data.panel(points)
    colors = rung_colors(data.n_levels, ax)
    ax.scatter(
        places,
        [data.result(candidate) for candidate in candidates],
        c=np.array([to_rgb(candidate_color(data, one, colors)) for one in candidates]),
        s=[55 if one == data.selected else 18 for one in candidates],
    )
    if points.is_log:
        ax.set_xscale("log")
    if points.others:
        tick_places, labels = zip(*points.ticks(_N_TICKS), strict=True)
        ax.set_xticks(tick_places, labels, parse_math=False)
        ax.set_xticks([], minor=True)
    if points.labels is not None:
        # Labels with a $ are not formulas.
        shown = labeled_categories(data, points, _MAX_LABELS)
        ax.set_xticks(shown, [points.labels[k] for k in shown], parse_math=False)
        ax.set_xlim(-0.6, len(points.labels) - 0.4)
    if has_vertical_labels(points):
        ax.tick_params(axis="x", labelrotation=90)
    ax.set_xlabel(points.name, fontsize=10, parse_math=False)
