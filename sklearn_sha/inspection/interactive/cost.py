"""Interactive figure of the cost of each rung, compared with a grid search."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from sklearn_sha._formatting import quantity
from sklearn_sha.inspection.interactive.style import NEUTRAL, escaped, new_figure, rung_colors
from sklearn_sha.inspection.search_data import SearchData


def cost_figure(data: SearchData) -> Any:
    """Return a figure with one bar per rung, each beginning at the end of the one before."""
    names = [
        f"{quantity(data.n_at(k), 'candidates')} at {data.level_text(k)}"
        for k in range(data.n_levels)
    ]
    figure = new_figure(data.cost_headline)
    figure.add_bar(
        x=[*data.costs, data.grid_cost],
        y=[*names, "grid search"],
        base=[*accumulate(data.costs[:-1], initial=0), 0],
        orientation="h",
        marker={"color": [*rung_colors(data.n_levels), NEUTRAL]},
        customdata=[*data.costs, data.grid_cost],  # x would be the end of a bar, and not its length
        hovertemplate="%{y}: %{customdata:,} " + escaped(data.cost_unit) + "<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(title_text=escaped(data.cost_unit), rangemode="tozero")
    return figure
