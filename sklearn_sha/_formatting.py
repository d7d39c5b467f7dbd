"""What is shown of a search as text: columns made into tables, plain or HTML, and parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from typing import Any

_PLURAL_ENDING = re.compile("(?<=ch)es$|(?<=sh)es$|(?<=ss)es$|(?<!s)s$")
_ROUNDING, _TINY, _HUGE = 1e-13, 1e-3, 1e6


def aligned(columns: Mapping[str, Sequence[object]]) -> str:
    """Columns with their names on top, each as wide as it has to be.

    Parameters
    ----------
    columns : mapping of str to sequence, all of one length
        Floats are shown with three digits after the point, or three in all where the column has
        none but tiny ones, or huge ones; NaN is a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn_sha._formatting import aligned
    >>> print(aligned({"rung": [0, 1], "score": [0.25, float("nan")]}))
    rung  score
       0  0.250
       1      -
    """
    cells = [[name, *_cells(column)] for name, column in columns.items()]
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
    >>> from sklearn_sha._formatting import html_table
    >>> print(html_table({"C": ["<script>"]}))
    <table><thead><tr><th style="text-align:left">C</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">&lt;script&gt;</td></tr>
    </tbody></table>
    """
    sides = [_side(column) for column in columns.values()]
    head = _row("th", sides, columns)
    cells = map(_cells, columns.values())
    body = "\n".join(_row("td", sides, row) for row in zip(*cells, strict=True))
    return f"<table><thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table>"


def _side(column: Sequence[object]) -> str:
    return "left" if all(isinstance(value, str) for value in column) else "right"


def _row(tag: str, sides: Sequence[str], values: Iterable[str]) -> str:
    cells = (
        f'<{tag} style="text-align:{side}">{escape(value)}</{tag}>'
        for side, value in zip(sides, values, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def named(params: Mapping[str, object]) -> str:
    """Parameters as keywords, of which floats are short.

    Examples
    --------
    >>> from sklearn_sha._formatting import named
    >>> named({"alpha": 0.0007953899, "penalty": "l1"})
    "alpha=0.0007954, penalty='l1'"
    """
    return ", ".join(f"{name}={_in_one_line(value)}" for name, value in params.items())


def _in_one_line(value: Any) -> str:
    # Python's own scalars are shorter to read than numpy's.
    plain = value.item() if getattr(value, "shape", None) == () else value
    return f"{plain:.4g}" if isinstance(plain, float) else " ".join(repr(plain).split())


def number(value: float, digits: int) -> str:
    """A float with so many digits after the point, or in all where it is tiny or huge.

    Examples
    --------
    >>> from sklearn_sha._formatting import number
    >>> number(0.5, 3), number(-5e-7, 3), number(1.23456e9, 4)
    ('0.500', '-5e-07', '1.235e+09')
    """
    return f"{value:.{digits}{_kind([value])}}"


def quantity(number: float, things: str) -> str:
    """A number of things, in the singular if it is one.

    Parameters
    ----------
    number : int or float
    things : str
        In the plural. "units of n_jobs" has its plural in the first word.

    Examples
    --------
    >>> from sklearn_sha._formatting import quantity
    >>> quantity(1, "training samples"), quantity(2, "trees"), quantity(1, "units of n_jobs")
    ('1 training sample', '2 trees', '1 unit of n_jobs')
    """
    if number != 1:
        return f"{number} {things}"
    counted, of, rest = things.partition(" of ")
    return f"{number} {_PLURAL_ENDING.sub('', counted)}{of}{rest}"


def _kind(values: Iterable[float]) -> str:
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    return "f" if largest < _ROUNDING or _TINY <= largest < _HUGE else "g"


def _cells(column: Sequence[object]) -> list[str]:
    kind = _kind(value for value in column if isinstance(value, float))

    def cell(value: object) -> str:
        if not isinstance(value, float):
            return str(value)
        return "-" if value != value else f"{value:.3{kind}}"

    return list(map(cell, column))
