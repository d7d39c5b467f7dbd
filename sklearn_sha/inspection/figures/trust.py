"""Figure of the scores that eliminated candidates could have had at full resource."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha.inspection.figures.style import (
    SELECTED,
    SMALL,
    clean,
    end_label,
    note_lines,
    rung_colors,
    text_color,
    title,
)
from sklearn_sha.inspection.possible_scores import PossibleScores
from sklearn_sha.inspection.search_data import SearchData

_WIDTH = 0.36  # of a rung to each side
_MAX_HORIZONTAL = 6  # rungs of several brackets whose labels fit horizontally


def plot_trust(data: SearchData, ax: Any) -> list[Any]:
    """Plot for each eliminated candidate its expected and its highest possible score."""
    possible = data.possible
    assert possible is not None
    score, tolerance = possible.selected_score, possible.tolerance
    rungs = sorted({(one.resource, one.bracket) for one in possible.candidates})
    faint, strong = rung_colors(2, ax)
    for position, rung in enumerate(rungs):
        members = [one for one in possible.candidates if (one.resource, one.bracket) == rung]
        members.sort(key=lambda one: one.expected)
        places = position + np.linspace(-_WIDTH, _WIDTH, len(members) + 2)[1:-1]
        for place, one in zip(places, members, strict=True):
            color = strong if possible.is_risky(one) else faint
            ax.plot([place, place], [one.expected, one.highest], color=color, linewidth=1.5)
            if one.is_audited:
                color = text_color()
            marker = "D" if one.is_audited else "o"
            ax.plot([place], [one.expected], marker, color=color, markersize=4)
    ax.axhspan(score - tolerance, score + tolerance, color=SELECTED, alpha=0.15, linewidth=0)
    ax.axhline(score, color=SELECTED, linewidth=2)
    end_label(ax, (max(0, len(rungs) - 1) + 0.5, score), f"selected\n{score:.4g}", bold=True)
    ax.set_xlim(-0.5, max(0, len(rungs) - 1) + 0.5)
    has_brackets = len({bracket for _, bracket in rungs}) > 1
    is_crowded = has_brackets and len(rungs) > _MAX_HORIZONTAL
    between = ", " if is_crowded else "\n"
    labels = [
        f"{at}{between}bracket {bracket}" if has_brackets else str(at) for at, bracket in rungs
    ]
    ax.set_xticks(range(len(rungs)), labels, rotation=90 if is_crowded else 0)
    ax.set_xlabel(f"{data.unit} of the rung that eliminated the candidate", fontsize=SMALL)
    name = f"{data.score_label} at full resource, estimated"
    ax.set_ylabel(note_lines(name, width=36), fontsize=10)
    ax.grid(axis="y", alpha=0.2, linewidth=0.6)
    _limit(ax, possible)
    _key(ax, possible)
    clean(ax)
    title(ax, _headline(possible) if rungs else "No candidate was eliminated before full resource.")
    return [ax]


def _headline(possible: PossibleScores) -> str:
    n_risky = sum(map(possible.is_risky, possible.candidates))
    n_eliminated = quantity(len(possible.candidates), "eliminated candidates")
    return f"{n_risky or 'None'} of {n_eliminated} could have been better"


def _limit(ax: Any, possible: PossibleScores) -> None:
    """Exclude expected scores far below the others from the axis, and count them."""
    expected = [one.expected for one in possible.candidates if np.isfinite(one.expected)]
    if not expected:
        return
    limit = possible.selected_score + possible.tolerance
    # A rung about which little is known has high bounds, which are cut off.
    highest = [one.highest for one in possible.candidates if one.highest < np.inf]
    bottom = min(np.median(expected), limit - 2 * possible.tolerance)
    top = min(max(limit, *highest), limit + 2 * (limit - bottom))
    low = max(min(expected), 2 * bottom - top)
    pad = 0.05 * (top - low)
    if top > low:
        ax.set_ylim(low - pad, top + pad)
    n_below = sum(value < low - pad for value in expected)
    if n_below:
        n_all = quantity(len(expected), "candidates")
        ax.set_xlabel(f"{ax.get_xlabel()}\nExpected below the axis: {n_below} of {n_all}.")


def _key(ax: Any, possible: PossibleScores) -> None:
    from matplotlib.lines import Line2D

    def handle(color: Any, label: str, **style: Any) -> Any:
        return Line2D([], [], color=color, marker="o", markersize=4, label=label, **style)

    faint, strong = rung_colors(2, ax)
    is_risky = [possible.is_risky(one) for one in possible.candidates]
    handles = []
    if any(is_risky):
        handles.append(handle(strong, "could have been better"))
    if not all(is_risky):
        handles.append(handle(faint, "eliminated"))
    if any(one.is_audited for one in possible.candidates):
        handles.append(
            Line2D([], [], color=text_color(), marker="D", markersize=4, linestyle="",
                   label="audited: known score")
        )  # fmt: skip
    if handles:
        ax.legend(
            handles=handles, fontsize=SMALL, frameon=False, loc="lower left", ncols=3,
            bbox_to_anchor=(0, 1), borderaxespad=0.2, handletextpad=0.4, columnspacing=1,
        )  # fmt: skip
