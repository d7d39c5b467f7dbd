"""Interactive figure of the scores that eliminated candidates could have had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_sha._formatting import format_score
from sklearn_sha.inspection.figures.style import SELECTED
from sklearn_sha.inspection.interactive.style import (
    NEUTRAL,
    add_key,
    escaped,
    hover,
    new_figure,
    rung_colors,
)
from sklearn_sha.inspection.possible_scores import (
    AUDITED,
    ELIMINATED,
    RISKY,
    PossibleScore,
)
from sklearn_sha.inspection.search_data import SearchData


def trust_figure(data: SearchData) -> Any:
    """Return a figure with the expected and highest possible score of each candidate."""
    possible = data.possible
    assert possible is not None
    figure = new_figure(possible.headline)
    color_of, placed = _colors(), possible.with_places()
    for kind in possible.kinds():  # the bars of a trace have a single color
        own = [(place, one) for place, one in placed if possible.kind_of(one) == kind]
        _add_candidates(figure, data, own, kind, color_of[kind])
    score, tolerance = possible.selected_score, possible.tolerance
    figure.add_hrect(
        score - tolerance, score + tolerance, fillcolor=SELECTED, opacity=0.15, line_width=0
    )
    figure.add_hline(score, line_color=SELECTED, annotation_text=f"selected {format_score(score)}")
    title = f"{escaped(data.unit)} of the rung that eliminated the candidate"
    figure.update_xaxes(
        tickvals=list(range(len(possible.rungs()))),
        ticktext=possible.rung_labels(data.unit, "<br>"),
        title_text="<br>".join(filter(None, [title, possible.note()])),
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        title_text=f"{escaped(data.score_label)} at full resource, estimated",
        range=possible.visible_range(),
    )
    add_key(figure, {kind: color_of[kind] for kind in possible.kinds()})
    return figure


def _colors() -> dict[str, str]:
    """Return the color of each kind of candidate."""
    faint, strong = rung_colors(2)
    return {RISKY: strong, ELIMINATED: faint, AUDITED: NEUTRAL}


def _add_candidates(
    figure: Any,
    data: SearchData,
    points: Sequence[tuple[float, PossibleScore]],
    kind: str,
    color: str,
) -> None:
    """Add the candidates of a kind at their places, with bars up to their highest scores."""
    figure.add_scatter(
        x=[place for place, _ in points],
        y=[one.expected for _, one in points],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [one.highest - one.expected for _, one in points],
            "arrayminus": [0] * len(points),
            "color": color,
            "width": 0,
        },
        mode="markers",
        marker={"color": color, "size": 7, "symbol": "diamond" if kind == AUDITED else "circle"},
        text=[
            f"{hover(data, one.candidate, one.expected)}<br>{_estimate(one)}" for _, one in points
        ],
        hoverinfo="text",
        name=kind,
    )


def _estimate(one: PossibleScore) -> str:
    """Return what is known of the score at full resource of a candidate."""
    if one.is_audited:
        return "audited"
    return f"expected; at most {format_score(one.highest)}"
