"""Tables, parameters and numbers as text or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import isfinite
from textwrap import fill
from typing import Any

_SINGULAR_ENDINGS = (
    (re.compile("series$"), "series"),
    (re.compile("leaves$"), "leaf"),
    (re.compile("ies$"), "y"),
    (re.compile("(?<=ch|sh|ss)es$|(?<=x)es$|(?<!s)s$"), ""),
)
"""Endings of plural nouns, and what replaces the first that fits."""
_BEFORE_QUALIFIER = re.compile("(?= of | per | over )")
_ROUNDING, _TINY, _HUGE = 1e-13, 1e-3, 1e6
_MAX_VALUE_LENGTH = 100  # of a parameter
_WIDTH = 95  # of sentences, about as wide as the tables
_MAX_LISTED = 10
_FIVE_DIGITS = 9999.5  # minimum of the numbers that are rounded to five digits or more

DIGITS = (3, 5, 8, 17)
"""Numbers of significant digits to try in turn, until a text is precise enough."""


def text_table(columns: Mapping[str, Sequence[object]]) -> str:
    """Format columns as a plain-text table with a header.

    Parameters
    ----------
    columns : mapping of str to sequence
        Sequences of the same length. Floats have three decimals, or three significant digits if
        the largest of the column is below 0.001 or not below a million. Columns below 1e-13 are
        rounding errors, shown as 0.000. NaN is shown as a dash.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn_sha._formatting import text_table
    >>> print(text_table({"rung": [0, 1], "score": [0.25, float("nan")]}))
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
    """Format columns as an HTML table, with escaped values.

    The table sets no colors, so that it fits light and dark pages.

    Parameters
    ----------
    columns : mapping of str to sequence
        As in `text_table`.

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
    alignments = [_alignment(column) for column in columns.values()]
    head = _row("th", alignments, columns)
    cells = map(_cells, columns.values())
    body = "\n".join(_row("td", alignments, row) for row in zip(*cells, strict=True))
    return f"<table><thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table>"


def text_sentences(sentences: Iterable[str]) -> str:
    """Wrap sentences for display below a table, each beginning on a new line.

    Examples
    --------
    >>> from sklearn_sha._formatting import text_sentences
    >>> print(text_sentences(["One line.", "Another line."]))
    One line.
    Another line.
    """
    return "\n".join(fill(text, _WIDTH) for text in sentences)


def html_sentences(sentences: Iterable[str]) -> str:
    """Format sentences as HTML paragraphs, with escaped characters.

    Examples
    --------
    >>> from sklearn_sha._formatting import html_sentences
    >>> html_sentences(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "".join(f"<p>{escape(text)}</p>" for text in sentences)


def _alignment(column: Sequence[object]) -> str:
    return "left" if all(isinstance(value, str) for value in column) else "right"


def _row(tag: str, alignments: Sequence[str], values: Iterable[str]) -> str:
    cells = (
        f'<{tag} style="text-align:{alignment}">{escape(value)}</{tag}>'
        for alignment, value in zip(alignments, values, strict=True)
    )
    return f"<tr>{''.join(cells)}</tr>"


def format_params(params: Mapping[str, object]) -> str:
    """Format parameters as keyword arguments: floats of four digits, short values.

    Examples
    --------
    >>> from sklearn_sha._formatting import format_params
    >>> format_params({"alpha": 0.0007953899, "penalty": "l1"})
    "alpha=0.0007954, penalty='l1'"
    >>> format_params({})
    "the estimator's own parameters"
    """
    values = ", ".join(f"{name}={format_value(value)}" for name, value in params.items())
    return values or "the estimator's own parameters"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Shorten parameters of pipeline steps to their own names, if these are unique.

    Examples
    --------
    >>> from sklearn_sha._formatting import short_names
    >>> short_names(["svc__C", "svc__kernel"])
    {'svc__C': 'C', 'svc__kernel': 'kernel'}
    >>> short_names(["a__C", "b__C"])
    {'a__C': 'a__C', 'b__C': 'b__C'}
    """
    names = list(dict.fromkeys(names))
    own_names = [name.rpartition("__")[2] for name in names]
    return {
        name: own if own_names.count(own) == 1 else name
        for name, own in zip(names, own_names, strict=True)
    }


def renamed(params: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return parameters by the names of `short_names`; other names stay as they are."""
    return {names.get(name, name): value for name, value in params.items()}


def format_value(value: Any, length: int = _MAX_VALUE_LENGTH) -> str:
    """Format the value of a parameter: floats of four digits, others by their repr.

    A float stays a float, since ``max_features=1.0`` and ``max_features=1`` are different models.

    Examples
    --------
    >>> from sklearn_sha._formatting import format_value
    >>> format_value(0.99999), format_value(1), format_value(0.123456), format_value("l1")
    ('1.0', '1', '0.1235', "'l1'")
    """
    # The repr of a Python scalar is shorter than that of a NumPy scalar.
    plain = value.item() if getattr(value, "shape", None) == () else value
    if isinstance(plain, float):
        text = f"{plain:.4g}"
        return f"{text}.0" if text.lstrip("-").isdigit() else text
    return shortened(repr(plain), length)


def shortened(text: str, length: int) -> str:
    """Return a text in one line of at most `length` characters.

    Examples
    --------
    >>> from sklearn_sha._formatting import shortened
    >>> shortened("several words", 10)
    'several w…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1]}\N{HORIZONTAL ELLIPSIS}"


def format_number(value: float, digits: int) -> str:
    """Format a float with `digits` decimals, or significant digits below 0.001 and from a million.

    Examples
    --------
    >>> from sklearn_sha._formatting import format_number
    >>> format_number(0.5, 3), format_number(-5e-7, 3), format_number(1.23456e9, 4)
    ('0.500', '-5e-07', '1.235e+09')
    """
    return f"{value:.{digits}{_float_format([value])}}"


def format_score(score: float) -> str:
    """Format a score with four significant digits, and without an exponent up to a million.

    Examples
    --------
    >>> from sklearn_sha._formatting import format_score
    >>> format_score(0.97123), format_score(-54321.5), format_score(1e-5)
    ('0.9712', '-54322', '1e-05')
    """
    return f"{score:.0f}" if _FIVE_DIGITS <= abs(score) < _HUGE else f"{score:.4g}"


def format_scores(one: float, other: float) -> tuple[str, str]:
    """Format two scores as `format_score` does, with more digits if the texts would be equal.

    Examples
    --------
    >>> from sklearn_sha._formatting import format_scores
    >>> format_scores(0.91, 0.9), format_scores(0.912345, 0.912344)
    (('0.91', '0.9'), ('0.912345', '0.912344'))
    """
    texts = format_score(one), format_score(other)
    for digits in DIGITS[1:]:
        if texts[0] == texts[1]:
            texts = f"{one:.{digits}g}", f"{other:.{digits}g}"
    return texts


def quantity(number: float, noun: str) -> str:
    """Format a count with its noun, which is singular if the count is one.

    Parameters
    ----------
    number : int or float
    noun : str
        Plural noun. In a noun with "of", "per" or "over", the word before it is made singular.

    Examples
    --------
    >>> from sklearn_sha._formatting import quantity
    >>> quantity(1, "training samples"), quantity(2, "trees"), quantity(1, "epochs per fold")
    ('1 training sample', '2 trees', '1 epoch per fold')
    """
    if number != 1:
        return f"{number} {noun}"
    head, *rest = _BEFORE_QUALIFIER.split(noun, maxsplit=1)
    found = (ending.subn(new, head) for ending, new in _SINGULAR_ENDINGS)
    singular = next((text for text, n_replaced in found if n_replaced), head)
    return f"{number} {singular}{''.join(rest)}"


def enumerated(parts: Sequence[str]) -> str:
    """Format parts of a sentence, the last one after "and".

    Examples
    --------
    >>> from sklearn_sha._formatting import enumerated
    >>> enumerated(["a"]), enumerated(["a", "b"]), enumerated(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def with_numbers(noun: str, numbers: Iterable[int]) -> str:
    """Format a noun, which is plural for several different numbers, and the numbers.

    Examples
    --------
    >>> from sklearn_sha._formatting import with_numbers
    >>> with_numbers("candidate", [3, 0, 3]), with_numbers("candidate", [7])
    ('candidates 0, 3', 'candidate 7')
    """
    different = sorted({*numbers})
    return f"{noun}{'' if len(different) == 1 else 's'} {listed(different)}"


def listed(numbers: Sequence[int]) -> str:
    """Format the first ten numbers, and how many more there are.

    Examples
    --------
    >>> from sklearn_sha._formatting import listed
    >>> listed([1, 2]), listed(range(20))
    ('1, 2', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 more')
    """
    n_more = len(numbers) - _MAX_LISTED
    shown = ", ".join(map(str, numbers[:_MAX_LISTED]))
    return f"{shown} and {n_more} more" if n_more > 0 else shown


def _float_format(values: Iterable[float]) -> str:
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    return "f" if largest < _ROUNDING or _TINY <= largest < _HUGE else "g"


def _cells(column: Sequence[object]) -> list[str]:
    float_format = _float_format(value for value in column if isinstance(value, float))

    def cell(value: object) -> str:
        if not isinstance(value, float):
            return str(value)
        return "-" if value != value else f"{value:.3{float_format}}"

    return list(map(cell, column))
