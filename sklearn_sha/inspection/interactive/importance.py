"""Interactive figure of the share of the variance that each parameter explains."""

from __future__ import annotations

from math import isnan
from typing import Any

from sklearn_sha.inspection.figures.style import RUNG
from sklearn_sha.inspection.interactive.style import NEUTRAL, escaped, new_figure
from sklearn_sha.inspection.search_data import SearchData


def importance_figure(data: SearchData) -> Any:
    """Return a figure with one bar per parameter and one for interactions."""
    importance = data.importance
    assert importance is not None
    names, shares, stds = importance.columns().values()
    figure = new_figure(importance.headline)
    figure.add_bar(
        x=shares,
        y=[
            escaped(name) if isnan(share) else f"{escaped(name)}, {share:.0%}"
            for name, share in zip(names, shares, strict=True)
        ],
        orientation="h",
        error_x={"type": "data", "array": stds, "color": NEUTRAL},
        marker={"color": [*[RUNG] * len(importance.names), NEUTRAL]},
        hovertemplate="%{y} ± %{error_x.array:.0%}<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(
        tickformat=".0%",
        rangemode="tozero",
        title_text=f"share of the variance of the ranks by {escaped(data.score_label)}, "
        "with the standard deviation over the trees",
    )
    return figure
