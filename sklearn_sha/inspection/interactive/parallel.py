"""Interactive parallel coordinates, on whose axes ranges can be selected."""

from __future__ import annotations

from math import log10
from typing import Any

import numpy as np

from sklearn_sha.inspection.figures.parallel import MAX_LABELS, MISSING
from sklearn_sha.inspection.figures.style import SELECTED, labeled_categories
from sklearn_sha.inspection.interactive.style import (
    NEUTRAL,
    add_note,
    escaped,
    heights,
    new_figure,
    note_of,
    opaque_rung_colors,
)
from sklearn_sha.inspection.param_points import ParamPoints
from sklearn_sha.inspection.score_axis import score_axis
from sklearn_sha.inspection.search_data import SearchData

_N_TICKS = 5


def parallel_figure(data: SearchData) -> Any:
    """Return a figure with one line per candidate."""
    candidates = data.drawing_order(data.curves)
    last_scores = [data.result(candidate) for candidate in candidates]
    axis = score_axis(data.curves)
    places, labels = ([], []) if axis is None else (heights(axis, axis.ticks()), axis.labels())
    values = np.array(heights(axis, last_scores))
    if (is_failed := ~np.isfinite(values)).any():
        values[is_failed] = MISSING
        places, labels = [MISSING, *places], ["no score", *labels]
    score = {
        "label": escaped(data.score_label),
        "values": values,
        "tickvals": places,
        "ticktext": labels,
    }
    # Colors by number: one for each rung, and one for the selected candidate.
    levels = [data.last_level(candidate) for candidate in candidates]
    levels[candidates.index(data.selected)] = data.n_levels
    colors = [*opaque_rung_colors(data.n_levels), SELECTED]
    figure = new_figure(data.selected_text())
    figure.add_parcoords(
        dimensions=[*(_dimension(data, points, candidates) for points in data.points), score],
        line={
            "color": levels,
            "colorscale": [(k / data.n_levels, color) for k, color in enumerate(colors)],
            "cmin": 0,
            "cmax": data.n_levels,
        },
        unselected={"line": {"color": NEUTRAL, "opacity": 0.2}},
        labelfont={"size": 12},
    )
    add_note(figure, note_of(axis), shift=30)
    return figure


def _dimension(data: SearchData, points: ParamPoints, candidates: list[int]) -> dict[str, Any]:
    """Values of a parameter; those of candidates without it are at the lower end."""
    places = np.log10(points.places) if points.is_log else points.places
    missing = float(places.min() + MISSING * np.ptp(places))
    by_candidate = dict(zip(points.candidates.tolist(), places.tolist(), strict=True))
    values = [by_candidate.get(candidate, missing) for candidate in candidates]
    ticks = _ticks(data, points)
    if missing in values:
        ticks.insert(0, (missing, "not set"))
    return {
        "label": escaped(points.name),
        "values": values,
        "tickvals": [place for place, _ in ticks],
        "ticktext": [label for _, label in ticks],
    }


def _ticks(data: SearchData, points: ParamPoints) -> list[tuple[float, str]]:
    """Places and labels of the ticks of a parameter, as logarithms on a logarithmic axis."""
    if points.labels is not None:
        shown = labeled_categories(data, points, MAX_LABELS)
        return [(float(k), points.labels[k]) for k in shown]
    ticks = points.ticks(_N_TICKS)
    return [(log10(place), label) for place, label in ticks] if points.is_log else ticks
