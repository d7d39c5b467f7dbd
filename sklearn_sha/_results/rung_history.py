"""The rungs of a search, as a list that a notebook shows as a table and a picture."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import nan
from typing import Any

from sklearn_sha._formatting import html_table
from sklearn_sha.bandit.promotion import promote
from sklearn_sha.inspection.curves import curves
from sklearn_sha.inspection.svg import elimination_svg

_SHOWN = {
    "bracket": "bracket",
    "iter": "rung",
    "n_candidates": "candidates",
    "resource": "resource",
    "spent": "spent",
    "best_score": "best score",
    "cut_score": "cut at",
    "wall_time": "seconds",
}


class RungHistory(list[dict[str, Any]]):
    """``rung_history_``: a list with one dict a rung.

    Parameters
    ----------
    rungs : iterable of dict, default=()
    unit : str, default="units"
        What the resource counts, in the plural, as in `Schedule`; shown in place of "resource".

    Examples
    --------
    >>> from sklearn_sha._results.rung_history import RungHistory
    >>> RungHistory([{"resource": 1, "n_candidates": 8}]).to_frame()
       resource  n_candidates
    0         1             8
    """

    def __init__(self, rungs: Iterable[dict[str, Any]] = (), unit: str = "units") -> None:
        super().__init__(rungs)
        self.unit = unit

    def to_frame(self) -> Any:
        """The same as a `pandas.DataFrame`, a row a rung."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def _repr_html_(self) -> str:
        columns = {
            title: [nan if row[name] is None else row[name] for row in self]
            for name, title in (_SHOWN | {"resource": self.unit}).items()
            if all(name in row for row in self)
        }
        return f"{html_table(columns)}\n{self._picture()}"

    def _picture(self) -> str:
        candidates, scores = (
            list(chain.from_iterable(row[name] for row in self))
            for name in ("candidates", "scores")
        )
        resources = [row["resource"] for row in self for _ in row["candidates"]]
        # Who was best where most was spent on one; else, in the last rung that promoted anybody.
        ends = [row for row in self if len(row["promoted"]) == 1]
        ends = ends or [row for row in self if row["promoted"]][-1:] or self
        last = max(ends, key=lambda row: (row["resource"], row["best_score"]))
        best = promote([-score for score in last["scores"]], 1)[0]
        shown = curves(candidates, resources, scores, [nan] * len(scores))
        return elimination_svg(shown, winner=last["candidates"][best], unit=self.unit)
