"""Shared style of the figures: one color for rungs, one accent, direct labels.

The color of a rung is a share of one blue over the background, so that it is sequential on light
and dark backgrounds, and in gray. The selected candidate is orange.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.inspection.levels import total_width
from sklearn_sha.inspection.param_points import ParamPoints
from sklearn_sha.inspection.score_axis import ScoreAxis, score_axis
from sklearn_sha.inspection.search_data import SearchData

Color = tuple[float, float, float]

RUNG, SELECTED = "#2680d4", "#e8590c"
FAINTEST = 0.38
"""Share of the color of the first rung."""

WIDTH, HEIGHT = 5.6, 3.9
"""Inches of a usual figure, which can be read at a width of 400 pixels."""

HEIGHT_OF_AXES = ("data", "axes fraction")
SMALL = 9  # points
_MAX_LABELS_LENGTH = 48  # characters of labels that fit horizontally
_TITLE_LETTERS, _NOTE_LETTERS = 13.4, 16  # per inch of the axes
_TITLE_LINES = 2
_SCORE_NAME_WIDTH = 30
_LETTERS_PER_INCH = 12


def height_of_bars(n: int) -> float:
    """Height in inches of a figure with `n` bars, one above the other."""
    return 1.6 + 0.36 * n


def rung_shares(n: int) -> NDArray[np.float64]:
    """Shares of the color of `n` rungs over the background, in increasing order.

    Examples
    --------
    >>> from sklearn_sha.inspection.figures.style import rung_shares
    >>> rung_shares(3).round(2).tolist(), rung_shares(1).tolist()
    ([0.38, 0.69, 1.0], [1.0])
    """
    return np.linspace(FAINTEST, 1.0, n) if n > 1 else np.ones(1)


def rung_colors(n: int, ax: Any) -> list[Color]:
    """Opaque colors of `n` rungs on the background of axes."""
    from matplotlib.colors import to_rgb

    front, back = np.array(to_rgb(RUNG)), np.array(to_rgb(ax.get_facecolor()))
    return [
        (float(r), float(g), float(b))
        for r, g, b in (share * front + (1 - share) * back for share in rung_shares(n))
    ]


def candidate_color(data: SearchData, candidate: int, colors: Sequence[Color]) -> Color | str:
    """Color of a candidate: of the rung that it reached, or of the selection."""
    return SELECTED if candidate == data.selected else colors[data.last_level(candidate)]


def text_color() -> Any:
    """Color of texts in the current style of matplotlib."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def clean(ax: Any) -> None:
    """Remove the frame, except for the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3, labelsize=SMALL)
    ax.set_axisbelow(True)


def title(ax: Any, text: str) -> None:
    """Set a title at the left, of at most two lines. A $ does not begin a formula."""
    # Above the numbers of candidates or a legend, if there are any.
    pad = 20 if ax.texts or ax.get_legend() else 6
    lines = wrap(
        text, _width(ax, _TITLE_LETTERS), max_lines=_TITLE_LINES,
        placeholder=" \N{HORIZONTAL ELLIPSIS}",
    )  # fmt: skip
    ax.set_title("\n".join(lines), loc="left", fontsize=SMALL, pad=pad, parse_math=False)


def limit_scores(ax: Any, data: SearchData, *, note: bool = True) -> ScoreAxis | None:
    """Compress scores far below those of the finalists, and show how many candidates they are."""
    axis = score_axis(data.curves)
    if axis is None:
        return None
    if axis.is_compressed:
        ax.set_yscale("function", functions=(axis.position, axis.score_at))
        ax.axhspan(axis.lowest, axis.low, color=text_color(), alpha=0.06, linewidth=0, zorder=0)
    pad = 0.04
    low, high = axis.score_at([-pad, 1 + pad]) if axis.low < axis.high else (None, None)
    ax.set_ylim(low, high)
    ax.set_yticks(axis.ticks(), axis.labels())
    ax.minorticks_off()
    ax.grid(axis="y", alpha=0.2, linewidth=0.6)
    if note and axis.note():
        below(ax, axis.note())
    return axis


def score_name(data: SearchData, *, width: int = _SCORE_NAME_WIDTH) -> str:
    """Label of the axis of the scores, in lines of at most `width` characters."""
    return note_lines(f"{data.score_label}, mean over folds", width=width)


def note_lines(text: str, *, width: int) -> str:
    """Wrap a text."""
    return "\n".join(wrap(text, width))


def _width(ax: Any, letters_per_inch: float) -> int:
    """Number of small letters in the width of axes, at least that of a short word."""
    return max(24, int(ax.get_window_extent().width / ax.figure.dpi * letters_per_inch))


def below(ax: Any, text: str) -> None:
    """Add a small line below the label of the horizontal axis."""
    ax.set_xlabel(
        f"{ax.get_xlabel()}\n{note_lines(text, width=_width(ax, _NOTE_LETTERS))}".lstrip(),
        fontsize=SMALL,
        parse_math=False,
    )


def level_axis(ax: Any, data: SearchData) -> None:
    """Label the rungs by their resource, and show above how many candidates each has."""
    levels = range(data.n_levels)
    ax.set_xticks(levels, data.level_labels)
    if total_width(data.level_labels) > _MAX_LABELS_LENGTH:
        ax.tick_params(axis="x", labelrotation=90)
    label = "\n".join(filter(None, (data.unit, data.training)))
    ax.set_xlabel(label, fontsize=SMALL, parse_math=False)
    style = {"xytext": (0, 3), "textcoords": "offset points", "fontsize": SMALL, "alpha": 0.8}
    for level in levels:
        xy = (level, 1)
        ax.annotate(str(data.n_at(level)), xy, xycoords=HEIGHT_OF_AXES, ha="center", **style)
    ax.annotate("candidates ", (0, 1), xycoords="axes fraction", ha="right", **style)


def end_label(
    ax: Any, xy: tuple[float, float], text: str, *, bold: bool = False, shift: float = 0
) -> None:
    """Label a point at its right, shifted upwards by some points, if it is finite."""
    if not np.isfinite(xy[1]):
        return
    label = ax.annotate(
        text, xy, xytext=(7, shift), textcoords="offset points", va="center", fontsize=SMALL,
        fontweight="bold" if bold else None, annotation_clip=False, zorder=5,
    )  # fmt: skip
    backed(label, ax)


def labeled_categories(data: SearchData, points: ParamPoints, n_max: int) -> list[int]:
    """Return evenly spaced categories of a parameter that have a label, with the selected one."""
    assert points.labels is not None
    n = len(points.labels)
    step = -(-n // n_max)
    selected = points.places[points.candidates == data.selected]
    return [*range(int(selected[0]) % step if len(selected) else 0, n, step)]


def backed(label: Any, ax: Any) -> None:
    """Put a translucent background behind a label, which can be on lines or dots."""
    label.set_bbox({"facecolor": ax.get_facecolor(), "alpha": 0.7, "edgecolor": "none", "pad": 0.8})


def rung_key(figure: Any, ax: Any, data: SearchData) -> None:
    """Add a row above the figure that names the colors of the rungs and of the selection."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=color, marker="o", linestyle="", markersize=6, label=label)
        for color, label in zip(
            rung_colors(data.n_levels, ax),
            (label.replace("\n", ", ") for label in data.level_labels),
            strict=True,
        )
    ]
    handles.append(
        Line2D([], [], color=SELECTED, marker="o", linestyle="", markersize=7, label="selected")
    )
    length = max(len(str(handle.get_label())) for handle in handles) + 5
    n_columns = max(1, int(figure.bbox.width / figure.dpi * _LETTERS_PER_INCH / length))
    figure.legend(
        handles=handles, loc="outside upper left", title=f"{data.unit} reached", frameon=False,
        ncols=min(len(handles), n_columns), fontsize=SMALL, title_fontsize=SMALL, alignment="left",
        handletextpad=0.1, columnspacing=0.9,
    )  # fmt: skip
