"""What a trust report has, and how it prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_sha._formatting import (
    html_sentences,
    html_table,
    text_sentences,
    text_table,
)
from sklearn_sha.inspection.edges import Edge
from sklearn_sha.inspection.levels import RungRecord


@dataclass(frozen=True, repr=False)
class TrustReport:
    """How far the rungs of a search can be trusted.

    It prints as the advice and the parameters whose best values are at the edge of their range,
    followed by a table of the rungs.

    Attributes
    ----------
    rungs : tuple of dict
        One dict per rung, with these keys:

        - bracket, iter, n_resources: bracket, number and resource of the rung.
        - folds: number of folds that scored it.
        - candidates, promoted: number of candidates, and of those that were promoted.
        - spearman, kendall: rank correlation with each later rung of the bracket, over the
          candidates of both. It is averaged over these rungs, weighted by their candidates.
        - envelope: `sklearn_sha.inspection.envelope` at the resource of the rung.
        - gap: difference between the lowest promoted and the highest eliminated score. Candidates
          that every rung promotes do not count, unless no other is promoted.
        - noise: standard error of the gap, estimated from the differences on each fold.
        - close: eliminated candidates whose difference to the lowest promoted score is at most
          its standard error.
        - risk: probability that a candidate eliminated in the rung would have ended better than
          the selected one, by more than `tolerance`.

        NaN if a value is not defined, for example in the last rung of a bracket.
    tolerance : float
        Standard error of the best score over the folds, and 0 on a single fold. Smaller differences
        are noise.
    probability : float
        That no eliminated candidate would have ended better than the selected one by more than
        `tolerance`. NaN if the search did not reach its last rung, if the selected candidate has
        no finite score, or if candidates of the last rung were not in the rungs before. Then the
        risks, `brackets` and `n_to_audit` have no meaning.
    expected_loss : float
        Expected difference between the best score at full resource of all candidates and that of
        the selected one. NaN if `probability` is NaN.
    eliminated : tuple of dict
        One dict per eliminated candidate and bracket, in decreasing order of its risk, with the
        keys candidate, bracket, iter, n_resources, folds and risk.
    enough : bool or None
        Whether `probability` is at least 0.95. None if it is NaN.
    advice : str
        The conclusion, and which parameter to change if the budget may be insufficient.
    brackets : tuple of dict
        One dict per bracket, with the keys bracket and probability: that no candidate which it
        eliminated would have ended better than the selected one by more than `tolerance`.
    audited : tuple of dict
        One dict per eliminated candidate that an audit trained to full resource, in decreasing
        order of its score, with the keys candidate, bracket, iter, n_resources and folds (of the
        rung that eliminated it), score and is_selected. These candidates carry no risk: without a
        score at full resource (NaN), one could not have been selected either.
    n_to_audit : int
        Number of eliminated candidates, those with the highest risks, whose audit would raise
        `probability` to 0.95 if none of them is better.
    edges : tuple of Edge
        Parameters whose best values are at the edge of their range
        (`sklearn_sha.inspection.edge_report`).
    unscored : tuple of int
        Candidates that were eliminated without a finite score. `probability` is not about them.
    """

    rungs: tuple[dict[str, Any], ...]
    tolerance: float
    probability: float
    expected_loss: float
    eliminated: tuple[dict[str, Any], ...]
    enough: bool | None
    advice: str
    brackets: tuple[dict[str, Any], ...] = ()
    audited: tuple[dict[str, Any], ...] = ()
    n_to_audit: int = 0
    edges: tuple[Edge, ...] = ()
    unscored: tuple[int, ...] = ()

    def to_frame(self) -> Any:
        """Return the rungs as a `pandas.DataFrame`, one row per rung."""
        import pandas as pd

        return pd.DataFrame(list(self.rungs))

    def __str__(self) -> str:
        return f"{text_sentences(self._sentences())}\n{text_table(self._columns())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{html_sentences(self._sentences())}\n{html_table(self._columns())}"

    def _sentences(self) -> list[str]:
        return [self.advice, *map(str, self.edges)]

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            _TITLES.get(name, name): [row[name] for row in self.rungs] for name in _PRINTED_COLUMNS
        }
        if len(set(columns["folds"])) == 1:
            del columns["folds"]
        columns["close"] = [_n_close(row) for row in self.rungs]
        columns["risk"] = [row["risk"] for row in self.rungs]
        if len(set(columns["bracket"])) == 1:
            del columns["bracket"]
        return columns


def _n_close(row: RungRecord) -> float:
    """Return the number of close candidates; NaN on a single fold, since the noise is unknown."""
    is_unknown = np.isnan(row["noise"]) and not np.isnan(row["gap"])
    return float("nan") if is_unknown else len(row["close"])


_PRINTED_COLUMNS = (
    "bracket", "iter", "n_resources", "folds", "candidates", "promoted", "spearman", "kendall",
    "envelope", "gap", "noise",
)  # fmt: skip
_TITLES = {"iter": "rung"}  # as in a plan
