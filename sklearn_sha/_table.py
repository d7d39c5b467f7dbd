"""What is shown of a search as text: columns made into tables, plain or HTML, and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def aligned(columns: Mapping[str, Sequence[object]]) -> str:
    """Columns with their names on top, each as wide as it has to be.

    Parameters
    ----------
    columns : mapping of str to sequence, all of one length
        Floats are shown with three digits after the point, and NaN as a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn_sha._table import aligned
    >>> print(aligned({"rung": [0, 1], "score": [0.25, float("nan")]}))
    rung  score
       0  0.250
       1      -
    """
    cells = [[name, *map(_cell, column)] for name, column in columns.items()]
    widths = [max(map(len, column)) for column in cells]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in zip(*cells, strict=True)
    )


def html_table(columns: Mapping[str, Sequence[object]]) -> str:
    """The same table in HTML, in which everything is escaped.

    It has no colours of its own, so that it looks right on a light page and on a dark one.

    Parameters
    ----------
    columns : mapping of str to sequence, all of one length

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn_sha._table import html_table
    >>> print(html_table({"C": ["<script>"]}))
    <table><thead><tr><th style="text-align:left">C</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">&lt;script&gt;</td></tr>
    </tbody></table>
    """
    sides = [_side(column) for column in columns.values()]
    head = _row("th", sides, columns)
    body = "\n".join(_row("td", sides, row) for row in zip(*columns.values(), strict=True))
    return f"<table><thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table>"


def _side(column: Sequence[object]) -> str:
    return "left" if all(isinstance(value, str) for value in column) else "right"


def _row(tag: str, sides: Sequence[str], values: Iterable[object]) -> str:
    cells = (
        f'<{tag} style="text-align:{side}">{escape(_cell(value))}</{tag}>'
        for side, value in zip(sides, values, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def named(params: Mapping[str, object]) -> str:
    """Parameters as keywords, of which floats are short.

    Examples
    --------
    >>> from sklearn_sha._table import named
    >>> named({"alpha": 0.0007953899, "penalty": "l1"})
    "alpha=0.0007954, penalty='l1'"
    """
    return ", ".join(
        f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={_plain(value)!r}"
        for name, value in params.items()
    )


def _plain(value: Any) -> Any:
    """Of numpy's scalars Python's own, which are shorter to read."""
    return value.item() if getattr(value, "shape", None) == () else value


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "-" if value != value else f"{value:.3f}"
