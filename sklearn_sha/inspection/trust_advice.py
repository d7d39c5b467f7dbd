"""What a trust report concludes: the first rung to set next time, or the candidates to audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import is_int
from sklearn_sha.schedules import rung_sizes

TRUSTED = 0.95
"""Probability from which a report sees no sign that more budget was needed."""

NOT_REACHED = (
    "The last rung was not reached, so that eliminated candidates cannot be compared with the best "
    "one at full resource. If the search was interrupted, call resume."
)

_SHARE = 0.25
"""Of the risk, which is left after the recommended first rung."""


def safe_resource(resources: Sequence[int], risks: Sequence[float]) -> int | None:
    """Smallest resource of a rung from which on there is at most a quarter of the risk.

    It is below the maximum, if there is a rung between the first one and the maximum.

    Parameters
    ----------
    resources : sequence of int
        Of the rungs.
    risks : sequence of float
        Of the rungs, as hazards, which add up.

    Returns
    -------
    int or None
        None if all rungs have the same resource, and differ in their folds.

    Examples
    --------
    >>> from sklearn_sha.inspection.trust_advice import safe_resource
    >>> safe_resource([1, 3, 10, 32], [0.5, 0.3, 0.05, 0])
    10
    """
    pairs = list(zip(resources, risks, strict=True))
    later = sorted({at for at in resources if at > min(resources)})
    below = later[:-1] or later  # a search at the maximum alone is a grid search
    few = (
        at
        for at in below
        if sum(risk for other, risk in pairs if other >= at) <= _SHARE * sum(risks)
    )
    return next(few, below[-1] if below else None)


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


def advice(
    rungs: Sequence[Mapping[str, Any]],
    by_rung: Sequence[float],
    brackets: Sequence[Mapping[str, Any]],
    tolerance: float,
    probability: float,
    loss: float,
    n_audited: int,
    search: Any,
) -> str:
    """Conclusion of a report.

    Parameters
    ----------
    rungs : sequence of dict
        Of the report.
    by_rung : sequence of float
        Hazard of each rung.
    brackets : sequence of dict
        Of the report.
    tolerance, probability, loss : float
        Of the report.
    n_audited : int
        `TrustReport.n_to_audit`.
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV

    Returns
    -------
    str
    """
    if np.isnan(probability):
        return NOT_REACHED
    if all(len(bracket.rungs) == 1 for bracket in search.schedule_.brackets):
        return "There is a single rung, so that no candidate was eliminated before full resource."
    better = (
        f"more than {tolerance:.3g} above the best one, which is the standard error of its score,"
        if tolerance
        else "above the best one"
    )
    facts = (
        f"the probability that no eliminated candidate would have ended {better} is "
        f"{probability_text(probability)}. The expected loss of score is {loss:.1g}."
    )
    if len(brackets) > 1:
        values = ", ".join(
            f"{probability_text(b['probability'])} ({b['bracket']})" for b in brackets
        )
        facts += f" Bracket by bracket it is {values}."
    if probability >= TRUSTED:
        return f"No sign that more budget was needed: {facts}"
    safe = safe_resource([row["resource"] for row in rungs], by_rung)
    larger_budget = 'min_folds="all"' if safe is None else f"min_resources={safe}"
    if safe is not None and is_int(getattr(search, "budget", None)):
        # In the paper, the first rung is at r_0 = budget / (n ceil(log n)).
        sizes = rung_sizes(rungs[0]["candidates"], search.factor)
        larger_budget = f"budget={safe * rungs[0]['candidates'] * len(sizes)}"
    unit = search.schedule_.unit
    riskiest = quantity(rungs[int(np.argmax(by_rung))]["resource"], unit)
    return (
        f"The budget may be insufficient: {facts} Candidates eliminated at {riskiest} carry most "
        f"of the risk. {_audit_advice(n_audited, search)}Next time set {larger_budget}."
    )


def _audit_advice(n_candidates: int, search: Any) -> str:
    """Recommend an audit if it is possible and costs no more than the search, or return ""."""
    last = search.rung_history_[-1]
    cost = n_candidates * last["resource"] * (search.schedule_.n_folds or 1)
    relative_cost = cost / last["spent"]
    is_interrupted = getattr(search, "interrupted_", False)  # not set before the end of a fit
    if relative_cost > 1 or is_interrupted:
        return ""
    return (
        f"audit(X, y, n_candidates={n_candidates}) trains the riskiest of them to full resource, "
        f"for at most {relative_cost:.2f} times the cost of the search. "
    )


def audit_conclusion(audited: Sequence[Mapping[str, Any]], score: float, unit: str) -> str:
    """What an audit has found, as sentences before the advice, or "" without an audit.

    Parameters
    ----------
    audited : sequence of dict
        `TrustReport.audited`.
    score : float
        Best score at full resource of the candidates that were not audited.
    unit : str
        What the resource counts, in the plural.
    """
    if not audited:
        return ""
    done = f"The audit trained {quantity(len(audited), 'eliminated candidates')} to full resource. "
    best = audited[0]
    gain = best["score"] - score
    if not gain > 0:
        return f"{done}None is better than the selected one. "
    is_selected = "is the selected one" if best["is_selected"] else "is not selected by refit"
    return (
        f"{done}Candidate {best['candidate']}, which had been eliminated at "
        f"{quantity(best['resource'], unit)}, is better by {gain:.2g} than those that were not "
        f"audited, and {is_selected}. "
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
