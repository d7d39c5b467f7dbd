"""An audit: eliminated candidates that are trained to full resource, and their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sklearn_sha._formatting import format_number, quantity, text_sentences
from sklearn_sha._results.results import Results
from sklearn_sha.bandit.promotion import promote
from sklearn_sha.bandit.requests import Requests, RungRequest
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.trust_advice import probability_text
from sklearn_sha.schedules import Schedule

MAX_SHARE = 0.1
"""Of the cost of a search, which an automatic audit does not exceed."""

_N_SHOWN = 10

TOO_EXPENSIVE = (
    f"The audit of a single candidate would cost more than {MAX_SHARE} times the cost of the search"
)


@dataclass(frozen=True)
class AuditPlan:
    """What an audit trains, and what it costs.

    It prints as sentences.

    Attributes
    ----------
    candidates : tuple of int
        Numbers of the eliminated candidates, in decreasing order of their risk.
    brackets : tuple of int
        Bracket of each candidate.
    n_resources : int
        Resource to which they are trained.
    cost : float
        As `Schedule.total_cost` counts it.
    relative_cost : float
        Relative to the cost of the search so far.
    probability : float
        Of the trust report before the audit.
    probability_if_none_is_better : float
        Of the trust report after the audit, if no candidate is better than the selected one.
    unit, cost_unit : str
        As in `Schedule`.
    """

    candidates: tuple[int, ...]
    brackets: tuple[int, ...]
    n_resources: int
    cost: float
    relative_cost: float
    probability: float
    probability_if_none_is_better: float
    unit: str
    cost_unit: str

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.candidates[:_N_SHOWN]))
        more = ", ..." if len(self.candidates) > _N_SHOWN else ""
        plural = "s" if len(self.candidates) > 1 else ""
        before = probability_text(self.probability)
        after = probability_text(self.probability_if_none_is_better)
        change = f"rises from {before} to {after}" if before != after else f"remains {before}"
        sentences = (
            f"The audit trains {quantity(len(self.candidates), 'eliminated candidates')} to "
            f"{quantity(self.n_resources, self.unit)} (candidate{plural} {shown}{more}). It costs "
            f"{quantity(round(self.cost), self.cost_unit)}, "
            f"{format_number(self.relative_cost, 2)} times the cost of the search. If none is "
            "better than the selected candidate, the probability that nothing better was "
            f"eliminated {change}."
        )
        return text_sentences([sentences])

    def requests(self, results: Results) -> list[Requests]:
        """Return one generator per bracket, which requests the candidates of its last rung."""
        return [
            _single(results.audit_request(self._of(bracket), bracket), results.audited)
            for bracket in sorted({*self.brackets})
        ]

    def _of(self, bracket: int) -> list[int]:
        pairs = zip(self.candidates, self.brackets, strict=True)
        return [candidate for candidate, own in pairs if own == bracket]


def _single(request: RungRequest, audited: Mapping[tuple[int, int], int]) -> Requests:
    losses = yield request
    if losses is None:
        return None
    # An audited candidate has to be better than those before it, and not only as good.
    audits = [audited.get((request.bracket, number), 0) for number in request.candidate_ids]
    order = np.argsort(audits, kind="stable")
    return request.candidate_ids[order[promote(np.asarray(losses)[order], 1)[0]]]


def audit_plan(
    report: TrustReport,
    results: Results,
    schedule: Schedule,
    n_candidates: int | Literal["auto"],
    cost: float,
    max_cost: float,
) -> AuditPlan | None:
    """Plan an audit of the candidates with the highest risks.

    Parameters
    ----------
    report : TrustReport
    results : Results
    schedule : Schedule
    n_candidates : int or "auto"
        Number of candidates. "auto": as many as raise the probability to 0.95 if none is better.
    cost : float
        Of the search, as `Schedule.total_cost` counts it.
    max_cost : float
        Of the audit. "auto" audits fewer candidates if they cost more.

    Returns
    -------
    AuditPlan or None
        None if the report has no probability, or if there is nothing to audit.
    """
    if np.isnan(report.probability):
        return None
    n_wanted = report.n_to_audit if n_candidates == "auto" else n_candidates
    wanted = report.eliminated[:n_wanted]
    # With budget doubling, the report is about the last completed run.
    brackets = [results.selected_run if schedule.repeats else one["bracket"] for one in wanted]
    costs = [
        results.audit_cost(one["candidate"], bracket)
        for one, bracket in zip(wanted, brackets, strict=True)
    ]
    n = int(np.sum(np.cumsum(costs) <= max_cost)) if n_candidates == "auto" else len(wanted)
    if not n:
        return None
    return AuditPlan(
        tuple(one["candidate"] for one in wanted[:n]),
        tuple(brackets[:n]),
        n_resources=results.audit_request((), brackets[0]).n_resources,
        cost=sum(costs[:n]),
        relative_cost=sum(costs[:n]) / cost,
        probability=report.probability,
        probability_if_none_is_better=_probability(report.eliminated[n:]),
        unit=schedule.unit,
        cost_unit=schedule.cost_unit,
    )


def _probability(eliminated: Sequence[dict[str, Any]]) -> float:
    return float(np.prod([1 - one["risk"] for one in eliminated]))
