"""Rungs of a search as a list of dicts, with a table and a figure for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from math import nan
from typing import Any

from sklearn_sha._formatting import html_table
from sklearn_sha.inspection.curves import curves
from sklearn_sha.inspection.levels import Level, level_labels, level_of, levels_of
from sklearn_sha.inspection.svg import score_curves_svg

_TITLES = {
    "bracket": "bracket",
    "iter": "rung",
    "n_candidates": "candidates",
    "n_folds": "folds",
    "n_resources": "n_resources",
    "total_cost": "total cost",
    "best_score": "best score",
    "cut_score": "lowest promoted",
    "wall_time": "wall time (s)",
}


class RungHistory(list[dict[str, Any]]):
    """List with one dict per rung; the type of ``rung_history_``.

    Parameters
    ----------
    rungs : iterable of dict, default=()
    unit : str, default="units"
        What the resource counts, in the plural. It is the title of the column "n_resources".
    params : mapping of int to mapping or None, default=None
        Parameters of each candidate, which the figure shows.

    Attributes
    ----------
    best_candidate : int or None
        Candidate that the figure highlights. None until one is selected.
    best_level : (int, int) or None
        Resource and number of folds at which it was selected. None: the last ones that it reached.
    score_label : str
        Name of the metric, which the figure shows.

    Examples
    --------
    >>> from sklearn_sha._results.rung_history import RungHistory
    >>> RungHistory([{"n_resources": 1, "n_candidates": 8}]).to_frame()
       n_resources  n_candidates
    0            1             8
    """

    def __init__(
        self,
        rungs: Iterable[dict[str, Any]] = (),
        unit: str = "units",
        params: Mapping[int, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(rungs)
        self.unit = unit
        self.params = params
        self.best_candidate: int | None = None
        self.best_level: Level | None = None
        self.score_label = "score"

    def to_frame(self) -> Any:
        """Return the rungs as a `pandas.DataFrame`, one row per rung."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def _repr_html_(self) -> str:
        columns = {
            title: [nan if row[name] is None else row[name] for row in self]
            for name, title in (_TITLES | {"n_resources": self.unit}).items()
            if all(name in row for row in self)
        }
        if len(set(columns.get("folds", ()))) <= 1:
            columns.pop("folds", None)
        has_scores = self and all("candidates" in row for row in self)
        return f"{html_table(columns)}\n{self._figure() if has_scores else ''}"

    def _figure(self) -> str:
        candidates, scores = (
            list(chain.from_iterable(row[name] for row in self))
            for name in ("candidates", "scores")
        )
        levels = levels_of(self)
        positions = [
            position
            for row in self
            for position in [levels.index(level_of(row))] * len(row["candidates"])
        ]
        return score_curves_svg(
            curves(candidates, positions, scores, [nan] * len(scores)),
            self.best_candidate,
            level_labels(levels, self.unit),
            unit=self.unit,
            best_level=None if self.best_level is None else levels.index(self.best_level),
            score_label=self.score_label,
            params=self.params,
        )
