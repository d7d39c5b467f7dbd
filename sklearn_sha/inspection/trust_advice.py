"""What a trust report concludes: what to set next time, or the candidates to audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor, sqrt
from typing import Any

import numpy as np

from sklearn_sha._formatting import enumerated, quantity
from sklearn_sha._param_validation import is_int
from sklearn_sha.candidates.space import params_key
from sklearn_sha.inspection.levels import Level
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.search_state import can_audit, can_resume, is_interrupted

TRUSTED = 0.95
"""Probability from which a report sees no sign that more budget was needed."""

_SHARE = 0.25
"""Of the risk below full resource, which is left after the recommended first rung."""


def larger_budget(
    levels: Sequence[Level], risks: Sequence[float], factor: float = 2
) -> dict[str, int | str]:
    """Parameters of a search that eliminates fewer candidates by mistake.

    If candidates eliminated at full resource, on some of the folds, carry most of the risk, the
    first rung has twice as many folds as they had. Otherwise it has more resource. If no such
    search has more than one rung, it is a grid search.

    Parameters
    ----------
    levels : sequence of (int, int)
        Resource and number of folds of each rung. The last rung has the maximum of both.
    risks : sequence of float
        Of the rungs, as hazards, which add up.
    factor : float, default=2
        Of the search.

    Returns
    -------
    dict
        With ``min_resources``, ``min_folds`` or both. If ``min_resources`` is the resource of the
        last rung, it is a grid search.

    Examples
    --------
    >>> from sklearn_sha.inspection.trust_advice import larger_budget
    >>> larger_budget([(1, 5), (3, 5), (10, 5), (32, 5)], [0.5, 0.3, 0.05, 0])
    {'min_resources': 10}
    >>> larger_budget([(400, 1), (1600, 2), (1600, 5)], [0.1, 0.3, 0])
    {'min_folds': 4, 'min_resources': 400}
    >>> larger_budget([(14, 5), (30, 5)], [0.5, 0])
    {'min_resources': 30}
    """
    first, (last, n_folds) = min(levels)[0], max(levels)
    below = [pair for pair in zip(levels, risks, strict=True) if pair[0][0] < last]
    # A search from one resource to another has two rungs if they differ by the factor. A first rung
    # with hardly more resource would change nothing.
    before_last = floor(last / factor)
    resources = {before_last, *(n for (n, _), _ in below)}
    between = sorted(n for n in resources if sqrt(factor) * first <= n <= before_last)
    risk_below = sum(risk for _, risk in below)
    few_folds = [count for n, count in levels if n == last and count < n_folds]
    if few_folds and (not between or sum(risks) > 2 * risk_below):
        n_more = min(2 * min(few_folds), n_folds - 1)
        if n_more > min(few_folds):
            # Only the folds grow if the first rung has the full resource.
            is_first_full = first == last
            return {"min_folds": n_more, **({} if is_first_full else {"min_resources": first})}
        if first <= before_last:
            return {"min_folds": "all", "min_resources": first}
    few = (n for n in between if sum(r for (m, _), r in below if m >= n) <= _SHARE * risk_below)
    return {"min_resources": next(few, between[-1] if between else last)}


def n_to_audit(hazards: Sequence[float]) -> int:
    """Number of candidates whose audit makes a search trusted, if none of them is better.

    Parameters
    ----------
    hazards : sequence of float
        Of the eliminated candidates, in decreasing order.

    Returns
    -------
    int

    Examples
    --------
    >>> from sklearn_sha.inspection.trust_advice import n_to_audit
    >>> n_to_audit([0.4, 0.1, 0.03, 0.01])
    2
    """
    left = np.cumsum([0.0, *reversed(hazards)])[::-1]
    return int(np.argmax(np.exp(-left) >= TRUSTED))


def advice(report: TrustReport, search: Any) -> str:
    """Conclusion of a report.

    Parameters
    ----------
    report : TrustReport
        Its probability is not NaN.
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV

    Returns
    -------
    str
    """
    return _reached(report, search) + _conclusion(report, search)


def _reached(report: TrustReport, search: Any) -> str:
    """Return what full resource is in a search that ended below its maximum."""
    schedule = search.schedule_
    reached, maximum = max(row["n_resources"] for row in report.rungs), schedule.max_resources
    if reached >= maximum:
        return ""
    return (
        f"The search ended at {reached} of {quantity(maximum, schedule.unit)}, so that full "
        f"resource is {quantity(reached, schedule.unit)} here. "
    )


def _conclusion(report: TrustReport, search: Any) -> str:
    """Return what the probability is about, and what to do if it is low."""
    rungs, tolerance = report.rungs, report.tolerance
    if len(rungs) == len(report.brackets):
        single = "There is" if len(rungs) == 1 else "Each bracket has"
        return f"{single} a single rung, so that no candidate was eliminated before full resource."
    margin = f" by more than its standard error ({tolerance:.3g})" if tolerance else ""
    facts = (
        f"the probability that no eliminated candidate would have exceeded the best score{margin} "
        f"is {probability_text(report.probability)}. The expected loss of score is "
        f"{report.expected_loss:.1g}."
    )
    if len(report.brackets) > 1:
        values = ", ".join(
            f"{probability_text(b['probability'])} in bracket {b['bracket']}"
            for b in report.brackets
        )
        facts += f" The probability by bracket is {values}."
    left_out = _left_out(report, search)
    if report.probability >= TRUSTED:
        return f"{left_out}No sign that more budget was needed: {facts}"
    risks = [-np.log1p(-np.nan_to_num(row["risk"])) for row in rungs]
    levels = [(row["n_resources"], row["folds"]) for row in rungs]
    by_level: Counter[Level] = Counter()
    for level, risk in zip(levels, risks, strict=True):
        by_level[level] += risk
    (n_resources, n_folds), largest = by_level.most_common(1)[0]
    carry = "most" if largest > by_level.total() / 2 else "the largest share"
    audit = _audit_advice(report.n_to_audit, search)
    if is_interrupted(search) and can_resume(search):
        next_time = _resume_advice(search, is_alternative=bool(audit))
    else:
        next_time = _next_time(levels, risks, search)
    return (
        f"{left_out}The budget may be insufficient: {facts} Candidates eliminated at "
        f"{_where(n_resources, n_folds, search)} carry {carry} of the risk. {audit}{next_time}"
    )


def _left_out(report: TrustReport, search: Any) -> str:
    """Return which candidates a report is not about, before its conclusion."""
    n_unscored = len(report.unscored)
    if not n_unscored:
        return ""
    has_failures = {*report.unscored} & {failure["candidate"] for failure in search.failures_}
    see = " (see failures_)" if has_failures else ""
    were, them = ("was", "it") if n_unscored == 1 else ("were", "them")
    return (
        f"{quantity(n_unscored, 'candidates')} {were} eliminated without a finite score{see}, and "
        f"this report leaves {them} out. "
    )


def _where(n_resources: int, n_folds: int, search: Any) -> str:
    """Return the resource of a rung, and its folds if they are not all."""
    where = quantity(n_resources, search.schedule_.unit)
    if not search.schedule_.counts_folds and n_folds < search.n_splits_:
        where += f" on {quantity(n_folds, 'folds')}"
    return where


def _resume_advice(search: Any, *, is_alternative: bool) -> str:
    """Recommend to continue an interrupted search."""
    more_time = "" if search.max_time is None else ", with a larger max_time"
    return f"{'Or call' if is_alternative else 'Call'} resume{more_time}."


def _next_time(levels: Sequence[Level], risks: Sequence[float], search: Any) -> str:
    """Recommend the parameters of the next search."""
    algorithm = getattr(search, "algorithm", "auto")
    factor = getattr(algorithm, "factor", search.factor)  # of the search if it is "auto"
    settings: dict[str, Any] = {**larger_budget(levels, risks, factor)}
    last = max(levels)[0]
    start = "Next time set"
    if _can_start_at_maximum(search):
        settings = _on_folds(settings, search)
    elif settings.get("min_resources") == last:
        return "Next time, a grid search at full resource is safer."
    elif not hasattr(search, "n_candidates"):
        # With a larger first rung, Hyperband would have fewer brackets and candidates.
        settings.setdefault("min_folds", search.min_folds)
        settings["n_candidates"] = len({*map(params_key, search.all_cv_results_["params"])})
        start = "Next time, use SuccessiveHalvingSearchCV with"
    elif is_int(getattr(search, "budget", None)):
        settings |= {"budget": None, "max_resources": last}
    elif getattr(algorithm, "has_own_rungs", False):
        settings |= {"algorithm": "auto", "max_resources": last}
    if search.schedule_.counts_folds and search.resource == "auto":
        # With these settings, "auto" would be another resource.
        settings = {"resource": "folds"} | settings
    changes = [f"{name}={value!r}" for name, value in settings.items()]
    return f"{start} {enumerated(changes)}."


def _can_start_at_maximum(search: Any) -> bool:
    """Return whether later brackets, but not the first, have the full resource in all rungs.

    An explicit `min_resources` would apply to all brackets.
    """
    schedule = search.schedule_
    last = schedule.max_resources
    starts = [bracket.n_resources[0] for bracket in schedule.brackets if len(bracket.rungs) > 1]
    # With folds as the resource, models are trained with the automatic maximum.
    is_automatic = search.max_resources == "auto"
    return is_automatic and not schedule.repeats and starts[0] < last and last in starts


def _on_folds(settings: Mapping[str, Any], search: Any) -> dict[str, Any]:
    """Return the parameters of a search of which no rung is below the maximum."""
    n_folds = settings.get("min_folds", search.min_folds)
    first = {"min_resources": n_folds} if is_int(n_folds) else {}
    # Both would set the folds of the first rung.
    automatic = {} if search.min_folds == "auto" else {"min_folds": "auto"}
    return {"resource": "folds", **first, **automatic}


def _audit_advice(n_candidates: int, search: Any) -> str:
    """Recommend an audit if it is possible and costs no more than the search, or return ""."""
    history = search.rung_history_
    full = max(row["n_resources"] for row in history)
    cost = n_candidates * full * (search.schedule_.n_folds or 1)
    percent = -(-100 * cost // history[-1]["total_cost"])
    if percent > 100 or not can_audit(search):
        return ""
    return (
        f"audit(X, y, n_candidates={n_candidates}) trains the candidates with the highest risks "
        f"to full resource, for at most {percent / 100:.2f} times the cost of the search. "
    )


def audit_conclusion(audited: Sequence[Mapping[str, Any]], score: float, search: Any) -> str:
    """What an audit has found, as sentences before the advice, or "" without an audit.

    Parameters
    ----------
    audited : sequence of dict
        `TrustReport.audited`.
    score : float
        Best score at full resource of the candidates that were not audited.
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
    """
    if not audited:
        return ""
    done = f"The audit trained {quantity(len(audited), 'eliminated candidates')} to full resource. "
    if n_unscored := sum(np.isnan(one["score"]) for one in audited):
        done += f"{n_unscored} of them {'has' if n_unscored == 1 else 'have'} no score. "
    best = audited[0]
    gain = best["score"] - score
    if not gain > 0:
        return f"{done}None is better than the best of the others. "
    is_selected = "is the selected one" if best["is_selected"] else "is not selected by refit"
    where = _where(best["n_resources"], best["folds"], search)
    return (
        f"{done}Candidate {best['candidate']}, which had been eliminated at {where}, is better by "
        f"{gain:.2g} than those that were not audited, and {is_selected}. "
    )


def probability_text(probability: float) -> str:
    """Format a probability; it is rounded down, since 0.949 is not 0.95.

    Examples
    --------
    >>> from sklearn_sha.inspection.trust_advice import probability_text
    >>> probability_text(0.949), probability_text(0.995)
    ('0.94', 'more than 0.99')
    """
    return "more than 0.99" if probability > 0.99 else f"{np.floor(100 * probability) / 100:.2f}"
