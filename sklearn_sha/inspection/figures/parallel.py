"""Parallel coordinates: one line per candidate through its parameters and its score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.inspection.figures.style import (
    HEIGHT,
    SMALL,
    WIDTH,
    backed,
    below,
    candidate_color,
    labeled_categories,
    rung_colors,
    rung_key,
    title,
)
from sklearn_sha.inspection.jitter import jitter
from sklearn_sha.inspection.param_points import ParamPoints
from sklearn_sha.inspection.score_axis import score_axis
from sklearn_sha.inspection.search_data import SearchData

MAX_LABELS = 20  # that are legible on an axis

MISSING = -0.13
"""Height of candidates without a parameter; the others are between 0 and 1."""

_CATEGORY_WIDTH = 0.3  # of the jitter, as a share of the distance between categories


def parallel_size(data: SearchData) -> tuple[float, float]:
    """Width and height of a new figure."""
    return max(WIDTH, 1.6 + 1.2 * (len(data.points) + 1)), HEIGHT


def plot_parallel(data: SearchData, ax: Any) -> list[Any]:
    """Plot one line per candidate, in the color of the rung that it reached."""
    candidates = data.drawing_order(data.curves)
    axis = score_axis(data.curves)
    last_scores = np.array([data.result(candidate) for candidate in candidates])
    heights = [_heights(points, candidates) for points in data.points]
    heights.append(np.full(len(candidates), np.nan) if axis is None else axis.position(last_scores))
    table = np.column_stack(heights)
    has_missing = bool(np.isnan(table[:, :-1]).any())
    table[:, :-1] = np.where(np.isnan(table[:, :-1]), MISSING, table[:, :-1])
    colors = rung_colors(data.n_levels, ax)
    places = np.arange(table.shape[1])
    for candidate, line in zip(candidates, table, strict=True):
        is_selected = candidate == data.selected
        ax.plot(
            places,
            line,
            color=candidate_color(data, candidate, colors),
            linewidth=2.5 if is_selected else 0.9,
            marker="o" if table.shape[1] == 1 else None,
        )
    for place, points in enumerate(data.points):
        ax.axvline(place, 0, 1, linewidth=0.8, color="gray")
        for height, label in _ticks(data, points):
            _tick(ax, place, height, label)
    ax.axvline(places[-1], linewidth=0.8, color="gray")
    if axis is not None:
        for height, label in zip(axis.position(axis.ticks()), axis.labels(), strict=True):
            _tick(ax, places[-1], float(height), label, side="right")
    if has_missing:
        ax.set_yticks([MISSING], ["not set"])
        ax.tick_params(axis="y", length=0, labelsize=SMALL)
    else:
        ax.set_yticks([])
    names = [points.name for points in data.points]
    ax.set_xticks(places, [*names, data.score_label], parse_math=False, fontsize=SMALL)
    if sum(map(len, names)) > 60:
        ax.tick_params(axis="x", labelrotation=20)
    ax.spines[:].set_visible(False)
    ax.set_xlim(-0.35, places[-1] + 0.35)
    ax.set_ylim(MISSING - 0.05 if has_missing else -0.05, 1.05)
    if axis is not None and axis.note():
        below(ax, axis.note())
    title(ax, data.selected_text())
    if ax.figure.get_layout_engine() is not None:
        rung_key(ax.figure, ax, data)
    return [ax]


def _heights(points: ParamPoints, candidates: list[int]) -> NDArray[np.float64]:
    """Heights of the values between 0 and 1; NaN for candidates without the parameter."""
    heights = _scaled(points.places, is_log=points.is_log)
    if points.labels is not None:
        heights = heights + jitter(len(heights)) * _CATEGORY_WIDTH / 2 / max(
            1, len(points.labels) - 1
        )
        heights = heights.clip(0, 1)
    by_candidate = dict(zip(points.candidates.tolist(), heights.tolist(), strict=True))
    return np.array([by_candidate.get(candidate, np.nan) for candidate in candidates])


def _scaled(places: NDArray[np.float64], *, is_log: bool) -> NDArray[np.float64]:
    """Scale values to heights between 0 and 1."""
    values = np.log(places) if is_log else places
    return np.asarray((values - values.min()) / np.ptp(values))


def _ticks(data: SearchData, points: ParamPoints) -> list[tuple[float, str]]:
    """Heights and labels on the axis of a parameter."""
    if points.labels is not None:
        last = len(points.labels) - 1
        shown = labeled_categories(data, points, MAX_LABELS)
        return [(k / last, points.labels[k]) for k in shown]
    places, labels = zip(*points.ticks(3), strict=True)
    return [*zip(_scaled(np.array(places), is_log=points.is_log).tolist(), labels, strict=True)]


def _tick(ax: Any, place: float, height: float, label: str, *, side: str = "left") -> None:
    text = ax.annotate(
        label, (place, height), xytext=(-4 if side == "left" else 5, 0),
        textcoords="offset points", ha="right" if side == "left" else "left", va="center",
        fontsize=SMALL - 1, parse_math=False, annotation_clip=False,
    )  # fmt: skip
    backed(text, ax)
