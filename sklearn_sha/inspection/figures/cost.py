"""Figure of the cost of each rung, compared with a grid search."""

from __future__ import annotations

from typing import Any

from sklearn_sha.inspection.figures.style import (
    SMALL,
    WIDTH,
    clean,
    height_of_bars,
    rung_colors,
    text_color,
    title,
)
from sklearn_sha.inspection.search_data import SearchData


def cost_size(data: SearchData) -> tuple[float, float]:
    """Width and height of a new figure."""
    return WIDTH, height_of_bars(data.n_levels + 1)


def plot_cost(data: SearchData, ax: Any) -> list[Any]:
    """Plot the cost of each rung, each bar beginning at the end of the one before."""
    names = [f"{data.n_at(k)} at {data.level_text(k)}" for k in range(data.n_levels)]
    start = 0
    for k, (cost, color) in enumerate(zip(data.costs, rung_colors(data.n_levels, ax), strict=True)):
        ax.barh([k], [cost], left=[start], color=color, height=0.75)
        start += cost
    ax.barh([data.n_levels], [data.grid_cost], color=text_color(), alpha=0.35, height=0.75)
    ax.set_yticks(range(data.n_levels + 1), [*names, "grid search"])
    ax.invert_yaxis()
    _value(ax, start, data.n_levels - 1, f"this search: {start:,}")
    _value(ax, data.grid_cost, data.n_levels, f"{data.grid_cost:,}")
    # The label of the search is at the right of its last bar.
    ax.set_xlim(0, max(1.8 * start, 1.2 * data.grid_cost))
    ax.locator_params(axis="x", nbins=5)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(data.cost_unit, fontsize=10, parse_math=False)
    ax.set_ylabel("candidates", fontsize=10)
    clean(ax)
    title(ax, data.cost_headline)
    return [ax]


def _value(ax: Any, end: float, position: int, text: str) -> None:
    ax.annotate(
        text, (end, position), xytext=(5, 0), textcoords="offset points", va="center",
        fontsize=SMALL, fontweight="bold",
    )  # fmt: skip
