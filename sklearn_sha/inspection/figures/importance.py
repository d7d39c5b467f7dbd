"""Figure of the share of the variance of the scores that each parameter explains."""

from __future__ import annotations

from math import isnan
from typing import Any

from sklearn_sha.inspection.figures.style import (
    RUNG,
    SMALL,
    WIDTH,
    clean,
    height_of_bars,
    note_lines,
    text_color,
    title,
)
from sklearn_sha.inspection.search_data import SearchData


def importance_size(data: SearchData) -> tuple[float, float]:
    """Width and height of a new figure."""
    assert data.importance is not None
    return WIDTH, height_of_bars(len(data.importance.names) + 1)


def plot_importance(data: SearchData, ax: Any) -> list[Any]:
    """Plot one bar per parameter and one for interactions, with their standard deviations."""
    importance = data.importance
    assert importance is not None
    names, shares, spreads = importance.columns().values()
    for k, (share, spread) in enumerate(zip(shares, spreads, strict=True)):
        is_rest = k == len(names) - 1
        ax.barh(
            [k], [share], xerr=[[min(share, spread)], [spread]], height=0.7,
            color=text_color() if is_rest else RUNG, alpha=0.35 if is_rest else 1,
            error_kw={"ecolor": text_color(), "elinewidth": 1, "capsize": 2},
        )  # fmt: skip
        ax.annotate(
            "" if isnan(share) else f"{share:.0%}", (share + spread, k), xytext=(5, 0),
            textcoords="offset points", va="center", fontsize=SMALL,
        )  # fmt: skip
    ax.set_yticks(range(len(names)), names, parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.15 * max(0.1, *(a + b for a, b in zip(shares, spreads, strict=True))))
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    ax.set_xlabel(
        note_lines(
            f"share of the variance of the ranks by {data.score_label}, with the standard "
            "deviation over the trees",
            width=48,
        ),
        fontsize=SMALL,
        parse_math=False,
    )
    clean(ax)
    title(ax, importance.headline)
    return [ax]
