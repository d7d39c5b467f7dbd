"""Whether the answer of a search that has run can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby, pairwise
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._formatting import html_table, quantity, text_table
from sklearn_sha._param_validation import check_has_rungs, is_int
from sklearn_sha.inspection.envelope import Row, envelope
from sklearn_sha.inspection.ranking import best_row, kendall, spearman
from sklearn_sha.schedules import rung_sizes

_WIDTH = 95  # of the table above the sentence


@dataclass(frozen=True, repr=False)
class TrustReport:
    """What the rungs of a search say of its answer; prints as a table and a sentence.

    Attributes
    ----------
    rungs : tuple of dict
        One a rung:

        - bracket, iter, resource: which one;
        - candidates, promoted: how many;
        - spearman, kendall: rank correlations with the later rungs of its bracket, over the
          candidates of both; the mean over those rungs, weighted by their candidates;
        - envelope: `sklearn_sha.inspection.envelope` at its resource;
        - gap: score of the worst promoted less that of the best dropped candidate;
        - noise: standard error of the gap, from the differences on each fold;
        - close: numbers of the dropped candidates that were within one such standard error,
          each with its own, of the worst promoted;
        - at_risk: how far above the winner of its bracket a dropped candidate could have
          ended, had it gained as those did that went on; 0 where it could not.

        NaN stands for what can't be said, as in the last rung of a bracket.
    tolerance : float
        Standard error of the best score over the folds; what is at risk below it is noise.
    enough : bool or None
        Whether nothing above `tolerance` was at risk in any rung; None where too few
        candidates went on to say.
    advice : str
        The same in a sentence, and what to do next time.
    """

    rungs: tuple[dict[str, Any], ...]
    tolerance: float
    enough: bool | None
    advice: str

    def to_frame(self) -> Any:
        """The rungs as a `pandas.DataFrame`, a row each."""
        import pandas as pd

        return pd.DataFrame(list(self.rungs))

    def __str__(self) -> str:
        return f"{text_table(self._columns())}\n{fill(self.advice, _WIDTH)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{html_table(self._columns())}\n<p>{escape(self.advice)}</p>"

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [row[name] for row in self.rungs] for name in _SHOWN}
        columns["close"] = [len(row["close"]) for row in self.rungs]
        columns["at_risk"] = [row["at_risk"] for row in self.rungs]
        if len(set(columns["bracket"])) == 1:
            del columns["bracket"]
        return columns


_SHOWN = (
    "bracket", "iter", "resource", "candidates", "promoted", "spearman", "kendall", "envelope",
    "gap", "noise",
)  # fmt: skip


def trust_report(search: Any) -> TrustReport:
    """Say of a fitted search how far its rungs can be trusted, and what to do if not.

    What decides between candidates are differences of scores, so that what all of them gain
    with more resource is of no account: the theorems of [1]_ hold with an envelope of losses
    from which a curve that is the same for all has been taken. Twice that envelope is, here,
    the range of what candidates gained from a rung to a later one. A candidate that was
    dropped could then have ended above the winner by that range, less how far it was below
    the winner at that rung: ``at_risk``. Like all that is measured, the range is of
    candidates that went on; it is evidence, not proof. ``envelope`` is that of the scores as
    they are, and decides nothing here.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted. Of ``budget="double"`` the last whole halving is looked at.

    Returns
    -------
    TrustReport

    Raises
    ------
    NotFittedError
        If the search has no rungs yet.
    TypeError
        For a search without rungs, such as GridSearchCV.
    ValueError
        If no rung was completed.

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
    ... )
    >>> trust_report(search.fit(X, y))
    iter  resource  candidates  promoted  spearman  kendall  envelope    gap  noise  close  at_risk
       0         1           8         4     0.200    0.111     0.070  0.000  0.002      4    0.030
       1         2           4         2     1.000    1.000     0.027  0.035  0.009      0    0.000
       2         4           2         1         -        -     0.011  0.020  0.007      0        -
       3        32           1         1         -        -         -      -      -      0        -
    This budget may not have been enough: by the gains seen, a candidate dropped at 1 epoch could
    have ended 0.0301 above the best, and the best score's standard error is 0.0156; next time set
    min_resources=2.
    """
    check_has_rungs(search, "trust_report")
    check_is_fitted(search, "rung_history_")
    history = [row for row in search.rung_history_ if row["promoted"]]
    if not history:
        raise ValueError(
            "trust_report needs a search with at least one completed rung; raise max_time."
        )
    metric = search.promote_by_
    results = search.all_cv_results_
    folds = _fold_scores(results, metric)
    means = {key: float(scores.mean()) for key, scores in folds.items()}
    gammas = dict(zip(*map(np.ndarray.tolist, envelope(search.rung_history_)), strict=True))
    spreads = _spreads(means)
    rungs = []
    for rows in _brackets(history):
        reached = rows[-1]["resource"]
        # Where the search was stopped, several were promoted last.
        winner = max(
            rows[-1]["promoted"], key=lambda c: np.nan_to_num(means[c, reached], nan=-np.inf)
        )
        for k, row in enumerate(rows):
            resource = row["resource"]
            cut = _cut(row, folds)
            is_last = k == len(rows) - 1
            lead = means[winner, resource] - cut.pop("best_dropped")
            # numpy's maximum, since Python's takes 0 for a spread that is not known.
            at_risk = float("nan" if is_last else np.maximum(0.0, spreads[resource] - lead))
            rungs.append(
                {
                    "bracket": row.get("bracket", 0),
                    "iter": row["iter"],
                    "resource": resource,
                    "candidates": len(row["candidates"]),
                    "promoted": len(row["promoted"]),
                    **_agreement(row, rows[k + 1 :]),
                    "envelope": gammas.get(resource, float("nan")),
                    **cut,
                    "at_risk": at_risk,
                }
            )
    best_index = getattr(search, "best_index_", best_row(search.cv_results_, metric))
    row = search.cv_results_rows_[best_index]
    best = np.stack([results[f"split{k}_test_{metric}"][row] for k in range(search.n_splits_)])
    return TrustReport(tuple(rungs), *_verdict(rungs, _standard_error(best), search))


def _fold_scores(
    results: Mapping[str, Any], metric: str
) -> dict[tuple[int, int], NDArray[np.float64]]:
    """Scores on each fold, by candidate and resource."""
    n_folds = sum(name.endswith(f"_test_{metric}") for name in results if name.startswith("split"))
    scores = np.stack([results[f"split{k}_test_{metric}"] for k in range(n_folds)], axis=1)
    keys = zip(results["candidate"].tolist(), results["n_resources"].tolist(), strict=True)
    return dict(zip(keys, scores, strict=True))


def _brackets(history: Sequence[Row]) -> list[list[Row]]:
    """Rungs by bracket, the last one whole; of halvings that double, the last whole one."""
    if "bracket" in history[0]:
        ordered = sorted(history, key=lambda row: (row["bracket"], row["iter"]))
        return [list(rows) for _, rows in groupby(ordered, key=lambda row: row["bracket"])]
    halvings: list[list[Row]] = []
    for row in history:
        if not halvings or row["resource"] <= halvings[-1][-1]["resource"]:
            halvings.append([])
        halvings[-1].append(row)
    whole = [rows for rows in halvings if len(rows[-1]["promoted"]) == 1]
    return (whole or halvings)[-1:]


def _agreement(row: Row, later: Sequence[Row]) -> dict[str, float]:
    now = dict(zip(row["candidates"], row["scores"], strict=True))
    pairs = [([now[c] for c in r["candidates"]], r["scores"]) for r in later]
    agreement = {}
    for name, correlation in (("spearman", spearman), ("kendall", kendall)):
        known = [(correlation(a, b), len(a)) for a, b in pairs if len(a) > 1]
        known = [(value, n) for value, n in known if not np.isnan(value)]
        weights = [n for _, n in known]
        agreement[name] = (
            float(np.average([v for v, _ in known], weights=weights)) if known else float("nan")
        )
    return agreement


def _cut(row: Row, folds: Mapping[tuple[int, int], NDArray[np.float64]]) -> dict[str, Any]:
    """How far the worst promoted candidate was from those that were dropped."""
    nan = float("nan")
    scores = {c: s for c, s in zip(row["candidates"], row["scores"], strict=True) if s == s}
    promoted = [c for c in row["promoted"] if c in scores]
    dropped = [c for c in scores if c not in set(promoted)]
    if not promoted or not dropped:
        return {"gap": nan, "noise": nan, "close": [], "best_dropped": nan}
    worst = min(promoted, key=scores.__getitem__)
    best = max(dropped, key=scores.__getitem__)
    at = row["resource"]
    noise = {c: _standard_error(folds[worst, at] - folds[c, at]) for c in dropped}
    return {
        "gap": scores[worst] - scores[best],
        "noise": noise[best],
        "close": [c for c in dropped if scores[worst] - scores[c] <= noise[c]],
        "best_dropped": scores[best],
    }


def _standard_error(values: NDArray[np.float64]) -> float:
    n = len(values)
    return float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def _spreads(means: Mapping[tuple[int, int], float]) -> dict[int, float]:
    """By resource, the largest range of what candidates gained from there to a larger one."""
    by_resource: dict[int, dict[int, float]] = {}
    for (candidate, resource), score in means.items():
        by_resource.setdefault(resource, {})[candidate] = score
    spreads = {}
    for resource, now in by_resource.items():
        ranges = []
        for later in (r for r in by_resource if r > resource):
            both = now.keys() & by_resource[later].keys()
            gains = np.array([by_resource[later][c] - now[c] for c in both])
            gains = gains[~np.isnan(gains)]
            if len(gains) > 1:
                ranges.append(float(np.ptp(gains)))
        spreads[resource] = max(ranges, default=float("nan"))
    return spreads


def _verdict(rungs: Sequence[Row], noise: float, search: Any) -> tuple[float, bool | None, str]:
    tolerance = 0.0 if np.isnan(noise) else noise
    risks = [row["at_risk"] for row in rungs if row["at_risk"] == row["at_risk"]]
    if not risks:
        single = all(len(bracket.rungs) == 1 for bracket in search.schedule_.brackets)
        why = (
            "There is one rung, so nothing was dropped before full resource"
            if single
            else "Too few candidates went on to say whether this budget was enough"
        )
        return tolerance, True if single else None, f"{why}."
    most = max(risks)
    if most <= tolerance:
        above = f"more than {most:.3g} above the best, whose standard error is {tolerance:.3g}"
        return (
            tolerance,
            True,
            "This budget was enough for the gaps seen: by the gains seen, no dropped candidate "
            f"could have ended {above if most else 'above the best'}.",
        )
    worst = max(rungs, key=lambda row: np.nan_to_num(row["at_risk"], nan=-1))
    safe = max(after["resource"] for row, after in pairwise(rungs) if row["at_risk"] > tolerance)
    larger = f"min_resources={safe}"
    if is_int(getattr(search, "budget", None)):
        # With r_0 = budget / (n ceil(log n)), the paper's first rung.
        sizes = rung_sizes(rungs[0]["candidates"], search.factor)
        larger = f"budget={safe * rungs[0]['candidates'] * len(sizes)}"
    return (
        tolerance,
        False,
        f"This budget may not have been enough: by the gains seen, a candidate dropped at "
        f"{quantity(worst['resource'], search.schedule_.unit)} could have ended "
        f"{worst['at_risk']:.3g} above the best, and the best score's standard error is "
        f"{tolerance:.3g}; next time set {larger}.",
    )
