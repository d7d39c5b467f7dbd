"""Trust report: whether the early rungs of a search predicted the final ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._formatting import (
    html_sentences,
    html_table,
    quantity,
    text_sentences,
    text_table,
)
from sklearn_sha._param_validation import check_has_rungs, is_int
from sklearn_sha.inspection.edges import Edge, edge_report
from sklearn_sha.inspection.envelope import Row, envelope
from sklearn_sha.inspection.ranking import best_position, kendall, selected_row, spearman
from sklearn_sha.schedules import rung_sizes


@dataclass(frozen=True, repr=False)
class TrustReport:
    """How far the rungs of a search can be trusted.

    It prints as a table of the rungs, followed by the advice and the parameters whose best values
    are at the edge of their range.

    Attributes
    ----------
    rungs : tuple of dict
        One dict per rung, with these keys:

        - bracket, iter, resource: bracket, number and resource of the rung.
        - folds: number of folds that scored it.
        - candidates, promoted: number of candidates, and of those that were promoted.
        - spearman, kendall: rank correlation with each later rung of the bracket, over the
          candidates of both. It is averaged over these rungs, weighted by their candidates.
        - envelope: `sklearn_sha.inspection.envelope` at the resource of the rung.
        - gap: difference between the lowest promoted and the highest eliminated score.
        - noise: standard error of the gap, estimated from the differences on each fold.
        - close: eliminated candidates whose difference to the lowest promoted score is at most
          its standard error.
        - at_risk: how far above the best candidate of the bracket an eliminated candidate could
          have ended, had it gained as much as promoted candidates did. At least 0.

        NaN if a value is not defined, for example in the last rung of a bracket.
    tolerance : float
        Standard error of the best score over the folds. Smaller values of at_risk are noise.
    enough : bool or None
        Whether at_risk is at most `tolerance` in all rungs. None if too few candidates were
        promoted to estimate it.
    advice : str
        The conclusion, and which parameter to change if the budget may be insufficient.
    edges : tuple of Edge
        Parameters whose best values are at the edge of their range
        (`sklearn_sha.inspection.edge_report`).
    """

    rungs: tuple[dict[str, Any], ...]
    tolerance: float
    enough: bool | None
    advice: str
    edges: tuple[Edge, ...] = ()

    def to_frame(self) -> Any:
        """Return the rungs as a `pandas.DataFrame`, one row per rung."""
        import pandas as pd

        return pd.DataFrame(list(self.rungs))

    def __str__(self) -> str:
        return f"{text_table(self._columns())}\n{text_sentences(self._sentences())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{html_table(self._columns())}\n{html_sentences(self._sentences())}"

    def _sentences(self) -> list[str]:
        return [self.advice, *map(str, self.edges)]

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            name: [row[name] for row in self.rungs] for name in _PRINTED_COLUMNS
        }
        if len(set(columns["folds"])) == 1:
            del columns["folds"]
        columns["close"] = [_n_close(row) for row in self.rungs]
        columns["at_risk"] = [row["at_risk"] for row in self.rungs]
        if len(set(columns["bracket"])) == 1:
            del columns["bracket"]
        return columns


def _n_close(row: Row) -> float:
    """Return the number of close candidates; NaN on a single fold, since the noise is unknown."""
    is_unknown = np.isnan(row["noise"]) and not np.isnan(row["gap"])
    return float("nan") if is_unknown else len(row["close"])


_PRINTED_COLUMNS = (
    "bracket", "iter", "resource", "folds", "candidates", "promoted", "spearman", "kendall",
    "envelope", "gap", "noise",
)  # fmt: skip


def trust_report(search: Any) -> TrustReport:
    """Report how far the rungs of a fitted search predicted the final ranking.

    The report estimates for each rung whether an eliminated candidate could have ended above the
    best one, and recommends a larger budget if so.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search. With ``budget="double"`` the report is about the last completed run.

    Returns
    -------
    TrustReport

    Raises
    ------
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.
    ValueError
        If no rung was completed.

    Notes
    -----
    Candidates are compared by differences of scores. A gain that all candidates share does not
    change these differences, and the theorems of [1]_ hold with an envelope of the losses from
    which a common curve has been subtracted. The range of the gains from a rung to a later one
    estimates twice that envelope. Therefore an eliminated candidate could have ended above the
    best one by this range, minus its distance to the best one in that rung. This is ``at_risk``.

    Gains are known for promoted candidates only, so that the report is evidence and not proof.
    ``envelope`` is the envelope of the scores themselves and has no influence on the advice.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.inspection import trust_report
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100]},
    ...     resource="partial_fit",
    ...     min_resources=1,
    ...     max_resources=32,
    ...     min_folds="all",
    ... )
    >>> trust_report(search.fit(X, y))
    iter  resource  candidates  promoted  spearman  kendall  envelope    gap  noise  close  at_risk
       0         1           8         4     0.067   -0.111     0.070  0.000  0.002      4    0.040
       1         3           4         2     1.000    1.000     0.009  0.012  0.006      0    0.000
       2        10           2         1         -        -     0.001  0.027  0.012      0        -
       3        32           1         1         -        -         -      -      -      0        -
    The budget may be insufficient: judging by the observed gains, a candidate eliminated at 1
    epoch could have ended 0.0395 above the best one, whose score has a standard error of 0.0156.
    Next time set min_resources=3.
    """
    check_has_rungs(search, "trust_report")
    check_is_fitted(search, "rung_history_")
    history = [row for row in search.rung_history_ if row["promoted"]]
    if not history:
        raise ValueError(
            "trust_report requires a search with at least one completed rung. Raise max_time, or "
            "call resume to complete the search."
        )
    metric = search.promote_by_
    results = search.all_cv_results_
    folds = _fold_scores(results, metric)
    gammas = dict(zip(*map(np.ndarray.tolist, envelope(search.rung_history_)), strict=True))
    gain_ranges = _gain_ranges(results, metric)
    rungs = []
    for rows in _brackets(history):
        # If the search was interrupted, the last rung promoted several candidates.
        finalists, final_scores = rows[-1]["promoted"], _scores(rows[-1])
        best = finalists[best_position([final_scores[candidate] for candidate in finalists])]
        for k, row in enumerate(rows):
            resource = row["resource"]
            margin = _margin(row, folds, search.schedule_.n_kept)
            is_last = k == len(rows) - 1
            lead = _scores(row)[best] - margin.pop("best_eliminated")
            gain_range = gain_ranges[_level(row)]
            # np.maximum keeps NaN, which max would replace by 0.
            at_risk = float("nan" if is_last else np.maximum(0.0, gain_range - lead))
            rungs.append(
                {
                    "bracket": row.get("bracket", 0),
                    "iter": row["iter"],
                    "resource": resource,
                    "folds": row["n_folds"],
                    "candidates": len(row["candidates"]),
                    "promoted": len(row["promoted"]),
                    **_agreement(row, rows[k + 1 :]),
                    "envelope": gammas.get(resource, float("nan")),
                    **margin,
                    "at_risk": at_risk,
                }
            )
    selected = selected_row(search, metric)
    scores = np.stack(
        [results[f"split{k}_test_{metric}"][selected] for k in range(search.n_splits_)]
    )
    conclusion = _conclusion(rungs, _standard_error(scores), search)
    return TrustReport(tuple(rungs), *conclusion, edge_report(search).edges)


Level = tuple[int, int]
"""Resource and number of folds of a rung. A later rung of a bracket has a higher level."""


def _level(row: Row) -> Level:
    return row["resource"], row["n_folds"]


def _levels(results: Mapping[str, Any]) -> list[Level]:
    """Levels of the rows of all_cv_results_."""
    columns = results["n_resources"].tolist(), results["n_folds"].tolist()
    return list(zip(*columns, strict=True))


def _scores(row: Row) -> dict[int, float]:
    """Mean test scores of a rung by candidate."""
    return dict(zip(row["candidates"], row["scores"], strict=True))


def _fold_scores(
    results: Mapping[str, Any], metric: str
) -> dict[tuple[int, Level], NDArray[np.float64]]:
    """Test scores on each fold, by candidate and level. NaN for folds that did not score it."""
    n_folds = sum(name.endswith(f"_test_{metric}") for name in results if name.startswith("split"))
    scores = np.stack([results[f"split{k}_test_{metric}"] for k in range(n_folds)], axis=1)
    keys = zip(results["candidate"].tolist(), _levels(results), strict=True)
    return dict(zip(keys, scores, strict=True))


def _brackets(history: Sequence[Row]) -> list[list[Row]]:
    """Rungs of each bracket; with budget doubling, those of the last completed run."""
    if "bracket" in history[0]:
        ordered = sorted(history, key=lambda row: (row["bracket"], row["iter"]))
        return [list(rows) for _, rows in groupby(ordered, key=lambda row: row["bracket"])]
    runs: list[list[Row]] = []
    for row in history:
        if not runs or _level(row) <= _level(runs[-1][-1]):
            runs.append([])
        runs[-1].append(row)
    completed = [rows for rows in runs if len(rows[-1]["promoted"]) == 1]
    return (completed or runs)[-1:]


def _agreement(row: Row, later: Sequence[Row]) -> dict[str, float]:
    """Mean rank correlations of a rung with the later rungs of its bracket."""
    score_of = _scores(row)
    pairs = [([score_of[c] for c in r["candidates"]], r["scores"]) for r in later]
    agreement = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall)):
        known = [(correlation(a, b), len(a)) for a, b in pairs if len(a) > 1]
        known = [(value, n) for value, n in known if not np.isnan(value)]
        weights = [n for _, n in known]
        agreement[name] = (
            float(np.average([v for v, _ in known], weights=weights)) if known else float("nan")
        )
    return agreement


def _margin(
    row: Row, folds: Mapping[tuple[int, Level], NDArray[np.float64]], n_kept: int
) -> dict[str, Any]:
    """Differences between the lowest promoted score and the eliminated scores of a rung.

    Candidates that are promoted whatever their score is (the first `n_kept`) do not count, unless
    no other is promoted.
    """
    nan = float("nan")
    scores = {candidate: score for candidate, score in _scores(row).items() if score == score}
    promoted = [c for c in row["promoted"] if c in scores]
    eliminated = [c for c in scores if c not in set(promoted)]
    if not promoted or not eliminated:
        return {"gap": nan, "noise": nan, "close": [], "best_eliminated": nan}
    worst = min([c for c in promoted if c >= n_kept] or promoted, key=scores.__getitem__)
    best = max(eliminated, key=scores.__getitem__)
    level = _level(row)
    noise = {c: _standard_error(folds[worst, level] - folds[c, level]) for c in eliminated}
    return {
        "gap": scores[worst] - scores[best],
        "noise": noise[best],
        "close": [c for c in eliminated if scores[worst] - scores[c] <= noise[c]],
        "best_eliminated": scores[best],
    }


def _standard_error(values: NDArray[np.float64]) -> float:
    values = values[~np.isnan(values)]
    n = len(values)
    return float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def _gain_ranges(results: Mapping[str, Any], metric: str) -> dict[Level, float]:
    """Largest range of the candidates' gains from each level to a higher one."""
    by_level: dict[Level, dict[int, float]] = {}
    candidates, means = results["candidate"].tolist(), results[f"mean_test_{metric}"].tolist()
    for candidate, level, score in zip(candidates, _levels(results), means, strict=True):
        by_level.setdefault(level, {})[candidate] = score
    gain_ranges = {}
    for level, scores in by_level.items():
        ranges = []
        for later in (other for other in by_level if other > level):
            both = scores.keys() & by_level[later].keys()
            gains = np.array([by_level[later][c] - scores[c] for c in both])
            gains = gains[~np.isnan(gains)]
            if len(gains) > 1:
                ranges.append(float(np.ptp(gains)))
        gain_ranges[level] = max(ranges, default=float("nan"))
    return gain_ranges


def _conclusion(rungs: Sequence[Row], noise: float, search: Any) -> tuple[float, bool | None, str]:
    """Return tolerance, enough and advice of a report."""
    tolerance = 0.0 if np.isnan(noise) else noise
    risks = [row["at_risk"] for row in rungs if row["at_risk"] == row["at_risk"]]
    if not risks:
        single = all(len(bracket.rungs) == 1 for bracket in search.schedule_.brackets)
        advice = (
            "There is a single rung, so that no candidate was eliminated before full resource."
            if single
            else "Too few candidates were promoted to judge whether the budget is sufficient."
        )
        return tolerance, True if single else None, advice
    largest = max(risks)
    error = f"the best one, whose score has a standard error of {tolerance:.3g}"
    if largest <= tolerance:
        above = f"more than {largest:.3g} above {error}" if largest else "above the best one"
        return (
            tolerance,
            True,
            "The budget is sufficient for the observed gaps: judging by the observed gains, no "
            f"eliminated candidate could have ended {above}.",
        )
    worst = max(rungs, key=lambda row: np.nan_to_num(row["at_risk"], nan=-1))
    safe = max(after["resource"] for row, after in pairwise(rungs) if row["at_risk"] > tolerance)
    larger_budget = f"min_resources={safe}"
    if is_int(getattr(search, "budget", None)):
        # In the paper, the first rung is at r_0 = budget / (n ceil(log n)).
        sizes = rung_sizes(rungs[0]["candidates"], search.factor)
        larger_budget = f"budget={safe * rungs[0]['candidates'] * len(sizes)}"
    return (
        tolerance,
        False,
        "The budget may be insufficient: judging by the observed gains, a candidate eliminated at "
        f"{quantity(worst['resource'], search.schedule_.unit)} could have ended "
        f"{worst['at_risk']:.3g} above {error}. Next time set {larger_budget}.",
    )
