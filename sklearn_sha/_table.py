"""Columns made into text that lines up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


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


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    return "-" if value != value else f"{value:.3f}"
