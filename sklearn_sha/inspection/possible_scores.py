"""Scores that eliminated candidates could have had at full resource."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha.inspection.evidence import evidence_of
from sklearn_sha.inspection.levels import RungRecord, level_labels, level_of
from sklearn_sha.inspection.risk import highest_leads, probability, tolerance_of
from sklearn_sha.inspection.trust_advice import probability_text

RISKY, ELIMINATED, AUDITED = "could have been better", "eliminated", "audited"
"""Kinds of candidates, as they are called in legends."""

_WIDTH = 0.36  # of a rung to each side


@dataclass(frozen=True)
class PossibleScore:
    """Score at full resource of an eliminated candidate, estimated or from an audit.

    Attributes
    ----------
    candidate, bracket : int
    n_resources, n_folds : int
        Of the rung that eliminated it.
    expected : float
        Its score if it was audited.
    highest : float
        With a probability of 0.95, none of the candidates of the rung would have had a higher score
        than this. Equal to `expected` if the candidate was audited.
    is_audited : bool
    """

    candidate: int
    bracket: int
    n_resources: int
    n_folds: int
    expected: float
    highest: float
    is_audited: bool

    @classmethod
    def of(
        cls, candidate: int, rung: RungRecord, expected: float, highest: float, *, is_audited: bool
    ) -> PossibleScore:
        """Return the score of a candidate that a rung eliminated."""
        place = rung.get("bracket", 0), *level_of(rung)
        return cls(int(candidate), *place, float(expected), float(highest), is_audited)


EliminatingRung = tuple[int, int, int]
"""Resource, number of folds and bracket of a rung."""


def _rung_of(one: PossibleScore) -> EliminatingRung:
    return one.n_resources, one.n_folds, one.bracket


@dataclass(frozen=True)
class PossibleScores:
    """Possible scores of all eliminated candidates.

    Attributes
    ----------
    candidates : sequence of PossibleScore
    selected_score : float
        Score of the selected candidate at full resource.
    tolerance : float
        Standard error of that score.
    probability : float
        Probability of the trust report, that no eliminated candidate is better by the tolerance.
    """

    candidates: Sequence[PossibleScore]
    selected_score: float
    tolerance: float
    probability: float

    def kind_of(self, one: PossibleScore) -> str:
        """Return what a candidate is called in a legend."""
        if one.is_audited:
            return AUDITED
        is_risky = one.highest > self.selected_score + self.tolerance
        return RISKY if is_risky else ELIMINATED

    def kinds(self) -> list[str]:
        """Return the kinds of candidates that there are, in the order of a legend."""
        found = set(map(self.kind_of, self.candidates))
        return [kind for kind in (RISKY, ELIMINATED, AUDITED) if kind in found]

    @property
    def headline(self) -> str:
        """Title of its figure."""
        if not self.candidates:
            return "No candidate that has a score was eliminated before full resource."
        # The highest scores are bounds for each rung, and the probability is that of all of them.
        probable = probability_text(self.probability)
        return f"Probability that no eliminated candidate is better: {probable}"

    def rungs(self) -> list[EliminatingRung]:
        """Return the rungs that eliminated candidates, in increasing order of their resource."""
        return sorted(set(map(_rung_of, self.candidates)))

    def rung_labels(self, unit: str, between: str) -> list[str]:
        """Return labels of `rungs`: the resource, and the folds and brackets if these vary.

        Parameters
        ----------
        unit : str
            What the resource counts, in the plural.
        between : str
            What separates the parts of a label.
        """
        rungs = self.rungs()
        levels = [(n_resources, n_folds) for n_resources, n_folds, _ in rungs]
        labels = level_labels(levels, unit)
        if len({bracket for *_, bracket in rungs}) > 1:
            labels = [
                f"{label}\nbracket {bracket}"
                for label, (*_, bracket) in zip(labels, rungs, strict=True)
            ]
        return [label.replace("\n", between) for label in labels]

    def members(self, rung: EliminatingRung) -> list[PossibleScore]:
        """Return the candidates that a rung eliminated, in increasing order of their scores."""
        own = (one for one in self.candidates if _rung_of(one) == rung)
        return sorted(own, key=lambda one: one.expected)

    def with_places(self) -> list[tuple[float, PossibleScore]]:
        """Return all candidates with their places on an axis of `rungs`, side by side in each."""
        found: list[tuple[float, PossibleScore]] = []
        for position, rung in enumerate(self.rungs()):
            members = self.members(rung)
            places = position + np.linspace(-_WIDTH, _WIDTH, len(members) + 2)[1:-1]
            found += zip(places.tolist(), members, strict=True)
        return found

    def visible_range(self) -> tuple[float, float] | None:
        """Return the lowest and the highest score of a figure; None if it shows all of them.

        It leaves out expected scores far below the others, and the upper ends of high bounds,
        which are those of rungs about which little is known.
        """
        expected = [one.expected for one in self.candidates if np.isfinite(one.expected)]
        if not expected:
            return None
        limit = self.selected_score + self.tolerance
        highest = [one.highest for one in self.candidates if one.highest < np.inf]
        bottom = min(float(np.median(expected)), limit - 2 * self.tolerance)
        top = min(max(limit, *highest), limit + 2 * (limit - bottom))
        low = max(min(*expected, limit - 2 * self.tolerance), 2 * bottom - top)
        pad = 0.05 * (top - low)
        return (low - pad, top + pad) if top > low else None

    def note(self) -> str:
        """Return the number of candidates below `visible_range` as a sentence, or ""."""
        expected = [one.expected for one in self.candidates if np.isfinite(one.expected)]
        shown = self.visible_range()
        n_below = 0 if shown is None else sum(value < shown[0] for value in expected)
        n_all = quantity(len(expected), "candidates")
        return f"Expected below the axis: {n_below} of {n_all}." if n_below else ""


def possible_scores(search: Any, caller: str = "possible_scores") -> PossibleScores:
    """Estimate the scores that eliminated candidates would have had at full resource.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search.
    caller : str, default="possible_scores"
        Name of the function for messages.

    Returns
    -------
    PossibleScores
        By the model of `sklearn_sha.inspection.trust_report`.

    Raises
    ------
    NotFittedError, TypeError
        As `sklearn_sha.inspection.trust_report` does.
    ValueError
        If no rung was completed, if the search did not reach its last rung, if no candidate of it
        has a score, if the scores of the selected one are not finite, or if candidates of the last
        rung were not in the rungs before it.
    """
    evidence = evidence_of(search, caller)
    if evidence.problem:
        raise ValueError(evidence.problem)
    known, score = evidence.known, float(np.nanmean(evidence.final_scores))
    expected, highest = (score + leads for leads in highest_leads(known))
    columns = known.candidate, evidence.eliminating_rungs(), expected, highest
    found = [PossibleScore.of(*row, is_audited=False) for row in zip(*columns, strict=True)]
    found += [
        PossibleScore.of(one.candidate, one.rung, one.score, one.score, is_audited=True)
        for one in evidence.audited
    ]
    tolerance = tolerance_of(evidence.final_scores)
    return PossibleScores(found, score, tolerance, probability(known, tolerance))
