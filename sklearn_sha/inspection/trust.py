"""Trust report: whether a search may have eliminated a better candidate than the selected one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_sha.inspection.edges import edge_report
from sklearn_sha.inspection.envelope import envelope
from sklearn_sha.inspection.evidence import Evidence, evidence_of, scores_of
from sklearn_sha.inspection.levels import Level, RungRecord, level_of
from sklearn_sha.inspection.rank_correlation import kendall, spearman
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.risk import (
    Floats,
    expected_loss,
    hazards,
    probability,
    standard_error,
    tolerance_of,
)
from sklearn_sha.inspection.trust_advice import TRUSTED, advice, audit_conclusion, n_to_audit


def trust_report(search: Any) -> TrustReport:
    """Report how far a fitted search can be trusted.

    The report estimates the probability that no eliminated candidate would have ended better than
    the selected one. If it is below 0.95, the report recommends, for example, an audit, a larger
    `min_resources`, more folds, or a grid search.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search. With ``budget="double"``, the report is about the last completed run, and
        with several brackets about the completed ones, if there are any.

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
    An eliminated candidate is judged by the lead of the candidate that ended best in its bracket:
    the difference of their scores, on the same folds. A lead changes until full resource, by an
    amount that depends on the noise between folds, on how much the leads of promoted candidates
    changed in this search, on the lead itself and on the ratio of the resources. The probability
    that it changes enough decreases as a power of the lead, relative to that amount, so that large
    changes remain possible. This risk is higher if candidates are estimators of different classes,
    and lower if the score is the area under the ROC curve. Nothing depends on the unit of the
    scores. No candidate can end above the highest score that the metric has, such as an accuracy
    of 1; this limit is known for the metrics that scikit-learn has a name for.

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
    The budget may be insufficient: the probability that no eliminated candidate would have exceeded
    the best score by more than its standard error (0.0156) is 0.59. The expected loss of score is
    0.02. Candidates eliminated at 1 epoch carry most of the risk. Next time set min_resources=10.
    rung  n_resources  candidates  promoted  spearman  kendall  envelope    gap  noise  close   risk
       0            1           8         4     0.067   -0.111     0.070  0.000  0.002      4  0.296
       1            3           4         2     1.000    1.000     0.009  0.012  0.006      0  0.076
       2           10           2         1         -        -     0.001  0.027  0.012      0  0.089
       3           32           1         1         -        -         -      -      -      0      -
    """
    evidence = evidence_of(search, "trust_report")
    known, is_known, nan = evidence.known, not evidence.problem, float("nan")
    tolerance = tolerance_of(evidence.final_scores)
    by_candidate = hazards(known, tolerance)
    likely = probability(known, tolerance) if is_known else nan
    audited = _audited(evidence)
    report = TrustReport(
        _rungs(evidence, by_candidate, search),
        tolerance,
        likely,
        expected_loss=expected_loss(known) if is_known else nan,
        eliminated=_eliminated(evidence, by_candidate),
        enough=likely >= TRUSTED if is_known else None,
        advice="",  # it is about the rest of the report
        brackets=_brackets(evidence, by_candidate),
        audited=audited,
        n_to_audit=n_to_audit(np.sort(by_candidate)[::-1].tolist()),
        edges=edge_report(search).edges,
        unscored=tuple(evidence.unscored),
    )
    others = _best_of_others(evidence.brackets, {one["candidate"] for one in audited})
    conclusion = audit_conclusion(audited, others, search)
    return replace(report, advice=conclusion + (evidence.problem or advice(report, search)))


def _rungs(evidence: Evidence, by_candidate: Floats, search: Any) -> tuple[dict[str, Any], ...]:
    """Return `TrustReport.rungs`."""
    known, brackets = evidence.known, evidence.brackets
    history = [
        {**row, "scores": [*_known_scores(row, evidence.failed).values()]}
        for row in search.rung_history_
    ]
    gammas = dict(zip(*map(np.ndarray.tolist, envelope(history)), strict=True))
    kept = {*range(search.schedule_.n_kept)}
    rungs = []
    for number, rows in enumerate(brackets):
        for k, row in enumerate(rows):
            inside = (known.bracket == number) & (known.rung == k)
            is_last = k == len(rows) - 1
            rungs.append(
                {
                    **_place(row),
                    "candidates": len(row["candidates"]),
                    "promoted": len(row["promoted"]),
                    **_agreement(row, rows[k + 1 :], evidence.failed),
                    "envelope": gammas.get(row["n_resources"], float("nan")),
                    **_margin(row, evidence, kept),
                    "risk": float("nan") if is_last else _risk(by_candidate[inside].sum()),
                }
            )
    return tuple(rungs)


def _eliminated(evidence: Evidence, by_candidate: Floats) -> tuple[dict[str, Any], ...]:
    """Return `TrustReport.eliminated`."""
    candidates, rungs = evidence.known.candidate, evidence.eliminating_rungs()
    return tuple(
        {
            "candidate": int(candidates[k]),
            **_place(rungs[k]),
            "risk": _risk(by_candidate[k]),
        }
        for k in np.argsort(-by_candidate, kind="stable")
    )


def _brackets(evidence: Evidence, by_candidate: Floats) -> tuple[dict[str, Any], ...]:
    """Return `TrustReport.brackets`."""
    return tuple(
        {
            "bracket": rows[0].get("bracket", 0),
            "probability": float(np.exp(-by_candidate[evidence.known.bracket == number].sum())),
        }
        for number, rows in enumerate(evidence.brackets)
    )


def _audited(evidence: Evidence) -> tuple[dict[str, Any], ...]:
    """Return `TrustReport.audited`."""
    return tuple(
        {
            "candidate": one.candidate,
            **_place(one.rung),
            "score": one.score,
            "is_selected": one.candidate == evidence.selected,
        }
        for one in evidence.audited
    )


def _place(row: RungRecord) -> dict[str, int]:
    """Return the keys of a report that identify a rung."""
    return {
        "bracket": row.get("bracket", 0),
        "iter": row["iter"],
        "n_resources": row["n_resources"],
        "folds": row["n_folds"],
    }


def _best_of_others(brackets: Sequence[Sequence[RungRecord]], audited: set[int]) -> float:
    """Best score in the last rungs of the candidates that were not audited."""
    scores = [s for rows in brackets for c, s in scores_of(rows[-1]).items() if c not in audited]
    return float(np.fmax.reduce(scores))


def _risk(hazard: float) -> float:
    return float(-np.expm1(-hazard))


def _agreement(
    row: RungRecord, later: Sequence[RungRecord], failed: Collection[tuple[int, Level]]
) -> dict[str, float]:
    """Mean rank correlations of a rung with the later rungs of its bracket."""
    score_of, others = _known_scores(row, failed), [_known_scores(r, failed) for r in later]
    # A candidate that waited for more samples has no rank in the rung where it failed.
    ranked = {c: score for c, score in score_of.items() if score == score}
    both = [[(ranked[c], s) for c, s in other.items() if c in ranked] for other in others]
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


def _known_scores(row: RungRecord, failed: Collection[tuple[int, Level]]) -> dict[int, float]:
    """Mean scores of a rung; NaN if not finite, or if a numeric `error_score` is in them."""
    nan, level = float("nan"), level_of(row)
    return {c: nan if (c, level) in failed else score for c, score in scores_of(row).items()}


def _margin(row: RungRecord, evidence: Evidence, kept: Collection[int]) -> dict[str, Any]:
    """Differences between the lowest promoted score and the eliminated scores of a rung.

    Candidates that are kept do not count as promoted, unless no other is.
    """
    nan, folds = float("nan"), evidence.folds
    known = _known_scores(row, evidence.failed)
    scores = {candidate: score for candidate, score in known.items() if score == score}
    promoted = [c for c in row["promoted"] if c in scores]
    promoted_ids = {*promoted}
    eliminated = [c for c in scores if c not in promoted_ids]
    if not promoted or not eliminated:
        return {"gap": nan, "noise": nan, "close": []}
    worst = min([c for c in promoted if c not in kept] or promoted, key=scores.__getitem__)
    best = max(eliminated, key=scores.__getitem__)
    level = level_of(row)
    noise = {c: standard_error(folds[worst, level] - folds[c, level]) for c in eliminated}
    return {
        "gap": scores[worst] - scores[best],
        "noise": noise[best],
        "close": [c for c in eliminated if scores[worst] - scores[c] <= noise[c]],
    }
