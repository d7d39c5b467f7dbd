"""Figure of the scores that eliminated candidates could have had at full resource."""

from __future__ import annotations

from typing import Any

from sklearn_sha._formatting import format_score
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
from sklearn_sha.inspection.possible_scores import AUDITED, ELIMINATED, RISKY, PossibleScores
from sklearn_sha.inspection.search_data import SearchData

_MAX_HORIZONTAL = 6  # rungs whose labels of several lines fit horizontally


def plot_trust(data: SearchData, ax: Any) -> list[Any]:
    """Plot for each eliminated candidate its expected and its highest possible score."""
    possible = data.possible
    assert possible is not None
    score, tolerance = possible.selected_score, possible.tolerance
    rungs = possible.rungs()
    color_of = _colors(ax)
    for place, one in possible.with_places():
        kind = possible.kind_of(one)
        color, marker = color_of[kind], _marker(kind)
        ax.plot([place, place], [one.expected, one.highest], color=color, linewidth=1.5)
        ax.plot([place], [one.expected], marker, color=color, markersize=4)
    ax.axhspan(score - tolerance, score + tolerance, color=SELECTED, alpha=0.15, linewidth=0)
    ax.axhline(score, color=SELECTED, linewidth=2)
    right = max(0, len(rungs) - 1) + 0.5
    end_label(ax, (right, score), f"selected\n{format_score(score)}", bold=True)
    ax.set_xlim(-0.5, right)
    labels = possible.rung_labels(data.unit, "\n")
    is_crowded = "\n" in "".join(labels) and len(rungs) > _MAX_HORIZONTAL
    if is_crowded:
        labels = possible.rung_labels(data.unit, ", ")
    ax.set_xticks(range(len(rungs)), labels, rotation=90 if is_crowded else 0)
    label = f"{data.unit} of the rung that eliminated the candidate"
    notes = filter(None, [label, possible.note()])
    ax.set_xlabel("\n".join(notes), fontsize=SMALL, parse_math=False)
    name = f"{data.score_label} at full resource, estimated"
    ax.set_ylabel(note_lines(name, width=36), fontsize=10, parse_math=False)
    ax.grid(axis="y", alpha=0.2, linewidth=0.6)
    ax.set_ylim(possible.visible_range())
    _key(ax, possible)
    clean(ax)
    title(ax, possible.headline)
    return [ax]


def _colors(ax: Any) -> dict[str, Any]:
    """Return the color of each kind of candidate."""
    faint, strong = rung_colors(2, ax)
    return {RISKY: strong, ELIMINATED: faint, AUDITED: text_color()}


def _marker(kind: str) -> str:
    return "D" if kind == AUDITED else "o"


def _key(ax: Any, possible: PossibleScores) -> None:
    """Add a legend of the kinds of candidates."""
    from matplotlib.lines import Line2D

    color_of = _colors(ax)
    handles = [
        Line2D(
            [], [], color=color_of[kind], marker=_marker(kind), markersize=4, label=kind,
            linestyle="" if kind == AUDITED else "-",
        )
        for kind in possible.kinds()
    ]  # fmt: skip
    if handles:
        ax.legend(
            handles=handles, fontsize=SMALL, frameon=False, loc="lower right", ncols=3,
            bbox_to_anchor=(1, 1), borderaxespad=0.2, handletextpad=0.4, columnspacing=1,
        )  # fmt: skip
