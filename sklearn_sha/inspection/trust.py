"""Trust report: whether a search may have eliminated a better candidate than the selected one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._formatting import (
    html_sentences,
    html_table,
    text_sentences,
    text_table,
)
from sklearn_sha._param_validation import check_has_rungs
from sklearn_sha.inspection.edges import Edge, edge_report
from sklearn_sha.inspection.envelope import Row, envelope
from sklearn_sha.inspection.ranking import kendall, selected_row, spearman
from sklearn_sha.inspection.risk import (
    Eliminated,
    RungScores,
    expected_loss,
    hazards,
    standard_error,
    tolerance_of,
)
from sklearn_sha.inspection.trust_advice import TRUSTED, advice, audit_conclusion, n_to_audit


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
        - risk: probability that a candidate eliminated in the rung would have ended better than
          the selected one, by more than `tolerance`.

        NaN if a value is not defined, for example in the last rung of a bracket.
    tolerance : float
        Standard error of the best score over the folds. Smaller differences are noise.
    probability : float
        That no eliminated candidate would have ended better than the selected one by more than
        `tolerance`. NaN if the search did not reach its last rung.
    expected_loss : float
        Expected difference between the best score at full resource of all candidates and that of
        the selected one. NaN if the search did not reach its last rung.
    eliminated : tuple of dict
        One dict per eliminated candidate and bracket, in decreasing order of its risk, with the
        keys candidate, bracket, iter, resource and risk.
    enough : bool or None
        Whether `probability` is at least 0.95. None if it is NaN.
    advice : str
        The conclusion, and which parameter to change if the budget may be insufficient.
    brackets : tuple of dict
        One dict per bracket, with the keys bracket and probability: that no candidate which it
        eliminated would have ended better than the selected one by more than `tolerance`.
    audited : tuple of dict
        One dict per eliminated candidate that an audit trained to full resource, in decreasing
        order of its score, with the keys candidate, bracket, iter and resource (of the rung that
        eliminated it), score and is_selected. These candidates carry no risk.
    n_to_audit : int
        Number of eliminated candidates, those with the highest risks, whose audit would raise
        `probability` to 0.95 if none of them is better.
    edges : tuple of Edge
        Parameters whose best values are at the edge of their range
        (`sklearn_sha.inspection.edge_report`).
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
        columns["risk"] = [row["risk"] for row in self.rungs]
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
    """Report how far a fitted search can be trusted.

    The report estimates the probability that no eliminated candidate would have ended better than
    the selected one, and recommends a larger budget if it is below 0.95.

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
    An eliminated candidate is judged by its lead: how far it was below the candidate that ended
    best in its bracket, on the same folds. A lead changes until full resource, by an amount that
    depends on the noise between folds, on how much the leads of promoted candidates changed in this
    search, on the lead itself and on the ratio of the resources. The probability that it changes
    enough decreases as a power of the lead, relative to that amount, so that large changes remain
    possible. It does not depend on the unit of the scores.

    The weights were estimated on searches that were replayed on complete learning curves, where
    the scores of eliminated candidates at full resource are known. Promoted candidates are not a
    fair sample of those eliminated; weights that predict the latter correct for that. With few
    candidates, the probability rests on these curves alone. It cannot know of a curve that is
    unlike all others.

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
    iter  resource  candidates  promoted  spearman  kendall  envelope    gap  noise  close   risk
       0         1           8         4     0.067   -0.111     0.070  0.000  0.002      4  0.469
       1         3           4         2     1.000    1.000     0.009  0.012  0.006      0  0.058
       2        10           2         1         -        -     0.001  0.027  0.012      0  0.069
       3        32           1         1         -        -         -      -      -      0      -
    The budget may be insufficient: the probability that no eliminated candidate would have ended
    more than 0.0156 above the best one, which is the standard error of its score, is 0.46. The
    expected loss of score is 0.03. Candidates eliminated at 1 epoch carry most of the risk. Next
    time set min_resources=3.
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
    selected = selected_row(search, metric)
    final = np.stack(
        [results[f"split{k}_test_{metric}"][selected] for k in range(search.n_splits_)]
    )
    brackets = _brackets(history)
    known = Eliminated.of(
        [[_rung_scores(row, folds) for row in rows] for rows in brackets],
        int(results["candidate"][selected]),
        final,
        continues=search.schedule_.continues,
    )
    tolerance = tolerance_of(final)
    by_candidate = hazards(known, tolerance)
    rungs, by_rung = [], []
    for number, rows in enumerate(brackets):
        for k, row in enumerate(rows):
            inside = (known.bracket == number) & (known.rung == k)
            by_rung.append(float(by_candidate[inside].sum()))
            is_last = k == len(rows) - 1
            rungs.append(
                {
                    "bracket": row.get("bracket", 0),
                    "iter": row["iter"],
                    "resource": row["resource"],
                    "folds": row["n_folds"],
                    "candidates": len(row["candidates"]),
                    "promoted": len(row["promoted"]),
                    **_agreement(row, rows[k + 1 :]),
                    "envelope": gammas.get(row["resource"], float("nan")),
                    **_margin(row, folds, search.schedule_.n_kept),
                    "risk": float("nan") if is_last else _risk(by_rung[-1]),
                }
            )
    eliminated = tuple(
        {
            "candidate": int(known.candidate[k]),
            **{
                name: brackets[known.bracket[k]][known.rung[k]].get(name, 0)
                for name in ("bracket", "iter", "resource")
            },
            "risk": _risk(by_candidate[k]),
        }
        for k in np.argsort(-by_candidate, kind="stable")
    )
    is_complete = all(len(rows[-1]["promoted"]) == 1 for rows in brackets)
    probability = float(np.exp(-by_candidate.sum())) if is_complete else float("nan")
    by_bracket = tuple(
        {
            "bracket": rows[0].get("bracket", 0),
            "probability": float(np.exp(-by_candidate[known.bracket == number].sum())),
        }
        for number, rows in enumerate(brackets)
    )
    audited = _audited(brackets, results, int(results["candidate"][selected]))
    others = _best_of_others(brackets, {one["candidate"] for one in audited})
    n_riskiest = n_to_audit(np.sort(by_candidate)[::-1].tolist())
    loss = expected_loss(known) if is_complete else float("nan")
    return TrustReport(
        tuple(rungs),
        tolerance,
        probability,
        loss,
        eliminated,
        probability >= TRUSTED if is_complete else None,
        " ".join(
            sentence
            for sentence in (
                audit_conclusion(audited, others, search.schedule_.unit),
                advice(
                    rungs,
                    by_rung,
                    by_bracket,
                    tolerance,
                    probability,
                    loss,
                    n_riskiest,
                    search,
                ),
            )
            if sentence
        ),
        by_bracket,
        audited,
        n_riskiest,
        edge_report(search).edges,
    )


def _audited(
    brackets: Sequence[Sequence[Row]], results: Mapping[str, Any], selected: int
) -> tuple[dict[str, Any], ...]:
    """Candidates that an audit trained to full resource, by decreasing score."""
    if "audited" not in results:
        return ()
    ids = {*results["candidate"][results["audited"]].tolist()}
    found = []
    for *before, last in brackets:
        scores = _scores(last)
        for candidate in ids.intersection(scores):
            row = next(row for row in reversed(before) if candidate in row["candidates"])
            found.append(
                {
                    "candidate": candidate,
                    "bracket": row.get("bracket", 0),
                    "iter": row["iter"],
                    "resource": row["resource"],
                    "score": scores[candidate],
                    "is_selected": candidate == selected,
                }
            )
    return tuple(
        sorted(found, key=lambda one: (-np.nan_to_num(one["score"], nan=-np.inf), one["candidate"]))
    )


def _best_of_others(brackets: Sequence[Sequence[Row]], audited: set[int]) -> float:
    """Best score in the last rungs of the candidates that were not audited."""
    scores = [s for rows in brackets for c, s in _scores(rows[-1]).items() if c not in audited]
    return float(np.fmax.reduce(scores))


def _risk(hazard: float) -> float:
    return float(-np.expm1(-hazard))


def _rung_scores(row: Row, folds: Mapping[tuple[int, Level], NDArray[np.float64]]) -> RungScores:
    """Scores of a rung on each fold."""
    scores = np.stack([folds[candidate, _level(row)] for candidate in row["candidates"]])
    return RungScores(row["candidates"], row["resource"], scores)


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
    both = [[(score_of[c], s) for c, s in _scores(r).items() if c in score_of] for r in later]
    pairs = [([a for a, _ in scores], [b for _, b in scores]) for scores in both]
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
        return {"gap": nan, "noise": nan, "close": []}
    worst = min([c for c in promoted if c >= n_kept] or promoted, key=scores.__getitem__)
    best = max(eliminated, key=scores.__getitem__)
    level = _level(row)
    noise = {c: standard_error(folds[worst, level] - folds[c, level]) for c in eliminated}
    return {
        "gap": scores[worst] - scores[best],
        "noise": noise[best],
        "close": [c for c in eliminated if scores[worst] - scores[c] <= noise[c]],
    }
