"""The probability that no eliminated candidate would have ended better than the selected one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import compress, pairwise
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid

from sklearn_sha.inspection.risk_coefficients import COEFFICIENTS

Floats = NDArray[np.float64]

_MAX_LOG_HAZARD = float(np.log(50))
MAX_MARGIN = 5.0
"""Of the expected loss, in tolerances. With it, the expected loss of searches on measured curves is
about their regret, except for log-loss. Without a maximum it is several times that, since
candidates far behind, such as diverged ones, would count as if they could end as far ahead."""

MARGIN_STEPS = np.concatenate([[0.0], np.geomspace(1e-2, MAX_MARGIN, 60)])
"""Margins of the expected loss, in tolerances."""

_N_BISECTIONS = 40

_NUMBERS = ("candidate", "bracket", "rung")
"""Attributes of `Eliminated` that are integers."""

_ROUNDING = 1e-6
"""Deviation of a lead, in tolerances, below which it is zero but for rounding."""

_MAX_DIFFERENCE = 1e100
"""Of two scores."""

_N_TYPICAL = 2
"""Folds that the typical deviation of leads counts as, in addition to those of a candidate."""


@dataclass(frozen=True, eq=False)
class RungScores:
    """Scores of the candidates of a rung.

    Attributes
    ----------
    candidates : sequence of int
    n_resources : int
    scores : ndarray of shape (n_candidates, n_folds)
        Test scores. NaN for folds that did not score the rung, and for failed fits.
    """

    candidates: Sequence[int]
    n_resources: int
    scores: Floats


@dataclass(frozen=True, eq=False)
class Eliminated:
    """What a search knows of the candidates that it eliminated, in the rungs that did so.

    All attributes are arrays of shape (n_eliminated,). Leads are differences from the scores of
    the best candidate of the bracket, on the same folds: what a fold has in common cancels. In
    rungs in which this one has no score, they are differences from those of another one.

    Attributes
    ----------
    candidate, bracket, rung : ndarray of int
    lead : ndarray of float
        How far below the best candidate of the bracket it was.
    gap : ndarray of float
        How far below the selected candidate the one ended from which leads are measured. 0 in the
        bracket of the selected candidate, if that has a score in the rung.
    fold_variance : ndarray of float
        Squared standard error of the lead over the folds of the rung.
    missing_variance : ndarray of float
        Variance of the lead due to folds that did not score the rung.
    changes : ndarray of float
        Mean square of the changes of the leads of promoted candidates, to the next rung. If only
        the best candidate was promoted, that of its score on the same folds.
    ratio : ndarray of float
        Of full resource to the resource of the rung.
    n_candidates : ndarray of float
        Of the rung. With several brackets, this number is divided by the share of all candidates
        that the bracket has: to be the best one, a candidate has to be ahead of those of the other
        brackets too.
    tolerance : ndarray of float
        Standard error of the score of the selected candidate.
    continues : ndarray of float
        1 if models continue training from rung to rung, 0 if they are refit from scratch.
    estimators : ndarray of float
        1 if candidates differ in the class of an estimator, 0 if in other parameters only.
    roc_auc : ndarray of float
        1 if the score is an area under the ROC curve.
    room : ndarray of float
        How far above the score of the selected candidate a score can be.
    """

    candidate: NDArray[Any]
    bracket: NDArray[Any]
    rung: NDArray[Any]
    lead: Floats
    gap: Floats
    fold_variance: Floats
    missing_variance: Floats
    changes: Floats
    ratio: Floats
    n_candidates: Floats
    tolerance: Floats
    continues: Floats
    estimators: Floats
    roc_auc: Floats
    room: Floats

    @classmethod
    def of(
        cls,
        brackets: Sequence[Sequence[RungScores]],
        selected: int,
        final_scores: Floats,
        *,
        continues: bool,
        estimators: bool = False,
        roc_auc: bool = False,
        highest_score: float = inf,
        audited: Collection[int] = (),
        known_at_full: Collection[int] = (),
    ) -> Self:
        """Collect what is known from the scores of the rungs.

        Parameters
        ----------
        brackets : sequence of sequences of RungScores
            The rungs of each bracket, from the first to the last.
        selected : int
            The selected candidate.
        final_scores : ndarray of shape (n_folds,)
            Its scores at full resource.
        continues : bool
            Whether models continue training.
        estimators : bool, default=False
            Whether candidates differ in the class of an estimator.
        roc_auc : bool, default=False
            Whether the score is an area under the ROC curve.
        highest_score : float, default=inf
            The highest score that the metric can have.
        audited : collection of int, default=()
            Eliminated candidates that an audit added to the last rung of their bracket. They were
            not promoted, and do not show how the scores of promoted candidates change.
        known_at_full : collection of int, default=()
            Further candidates that carry no additional risk, since another candidate with the
            same parameters was trained with the same or more resource.

        Returns
        -------
        Eliminated
            Without candidates that have no score in the rung that eliminated them, and without
            those that an audit trained to full resource.
        """
        tolerance, final = tolerance_of(final_scores), float(_means(final_scores[None])[0])
        room = max(0.0, highest_score - final)
        of_all = {
            "tolerance": tolerance,
            "continues": continues,
            "estimators": estimators,
            "roc_auc": roc_auc,
            "room": room,
        }
        rows = [
            row | of_all
            for number, rungs in enumerate(brackets)
            for row in _rows_of(number, rungs, selected, final, tolerance, audited)
            if row["candidate"] not in known_at_full
        ]
        known = cls(
            **{
                one.name: np.array(
                    [row[one.name] for row in rows], int if one.name in _NUMBERS else float
                )
                for one in fields(cls)
            }
        )
        sizes = np.array([len(rungs[0].candidates) for rungs in brackets])
        share = sizes[known.bracket] / sizes.sum()
        return replace(known, n_candidates=known.n_candidates / share)


def standard_error(values: Floats) -> float:
    """Standard error of the mean over the folds without NaN; NaN if fewer than two are left."""
    values = values[~np.isnan(values)]
    n = len(values)
    return float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def tolerance_of(final_scores: Floats) -> float:
    """Standard error of the score of the selected candidate; 0 if it is unknown."""
    return float(np.nan_to_num(standard_error(final_scores)))


def _rows_of(
    bracket: int,
    rungs: Sequence[RungScores],
    selected: int,
    final: float,
    tolerance: float,
    audited: Collection[int],
) -> Iterator[dict[str, float]]:
    """Yield the values of each eliminated candidate of a bracket, by attribute."""
    last = rungs[-1]
    means = dict(zip(last.candidates, np.nan_to_num(_means(last.scores), nan=-np.inf), strict=True))
    finalists = [c for c in last.candidates if c not in audited]
    is_selected = selected in finalists
    best = selected if is_selected else max(finalists, key=means.__getitem__)
    gap = 0.0 if is_selected else max(0.0, float(_limited(final - means[best])))
    references = [_reference(rungs[k:], best, audited) for k in range(len(rungs))]
    leads = [_leads(rung, one) for rung, (one, _) in zip(rungs, references, strict=True)]
    deviations = [_deviations(lead) for lead in leads]
    # A candidate that ties on every fold, as the best one with itself, shows no noise.
    others = [
        deviation
        for rung, found in zip(rungs, deviations, strict=True)
        for candidate, deviation in zip(rung.candidates, found, strict=True)
        if deviation > _ROUNDING * tolerance and (rung is not last or candidate in finalists)
    ]
    typical = float(np.median(others)) if others else tolerance * np.sqrt(last.scores.shape[1])
    for k, (rung, after) in enumerate(pairwise(rungs)):
        reference, behind = references[k]
        lead = dict(zip(rung.candidates, _means(leads[k]), strict=True))
        promoted = finalists if after is last else after.candidates
        changes = _mean_square_change(lead, rung, after, reference, promoted)
        n_folds, n_scored = leads[k].shape[1], int((~np.isnan(leads[k])).any(axis=0).sum())
        known = {*after.candidates, *means}
        for candidate, deviation in zip(rung.candidates, deviations[k], strict=True):
            if candidate in known or not np.isfinite(lead[candidate]):
                continue
            # The deviation over few folds alone would often be too small by chance.
            own = typical if np.isnan(deviation) else deviation
            squares = (n_scored - 1) * own**2 + _N_TYPICAL * typical**2
            variance = squares / (n_scored - 1 + _N_TYPICAL)
            yield {
                "candidate": candidate,
                "bracket": bracket,
                "rung": k,
                "lead": lead[candidate],
                "gap": gap + behind,
                "fold_variance": variance / n_scored,
                "missing_variance": variance * (1 / n_scored - 1 / n_folds),
                "changes": changes,
                "ratio": last.n_resources / rung.n_resources,
                "n_candidates": len(rung.candidates),
            }


def _mean_square_change(
    lead: Mapping[int, float],
    rung: RungScores,
    after: RungScores,
    reference: int,
    promoted: Sequence[int],
) -> float:
    """Return `Eliminated.changes` of a rung, given the leads in it."""
    later = dict(zip(after.candidates, _means(_leads(after, reference)), strict=True))
    changes = np.array([later[c] - lead[c] for c in promoted if c in lead and c != reference])
    changes = changes[np.isfinite(changes)]
    if not len(changes):
        scores = _score_of(rung, reference), _score_of(after, reference)
        changes = _means(_limited(scores[1][None] - scores[0]))
    return float(np.nan_to_num(np.mean(changes**2)))


def _reference(
    rungs: Sequence[RungScores], best: int, audited: Collection[int]
) -> tuple[int, float]:
    """Return which candidate leads are measured from, and how far below the best one it ended.

    It is the best one, unless that has no score in the first of these rungs, in which it waited for
    more samples. Then it is the best one of the candidates with scores that were promoted furthest.
    """
    has_score = ~np.isnan(_means(rungs[0].scores))
    scored = {*compress(rungs[0].candidates, has_score)} - {*audited}
    if best not in scored:
        for rung in reversed(rungs):
            means = dict(zip(rung.candidates, _means(rung.scores), strict=True))
            known = [c for c in means if c in scored and not np.isnan(means[c])]
            if known:
                reference = max(known, key=means.__getitem__)
                behind = _limited(means.get(best, np.nan) - means[reference])
                return reference, max(0.0, float(np.nan_to_num(behind)))
    return best, 0.0


def _leads(rung: RungScores, reference: int) -> Floats:
    """Differences from the scores of a candidate, by candidate and fold."""
    return _limited(_score_of(rung, reference) - rung.scores)


def _limited(differences: Any) -> Floats:
    """Limit differences, such as those from a diverged candidate, so that squares are finite."""
    return np.clip(differences, -_MAX_DIFFERENCE, _MAX_DIFFERENCE)


def _score_of(rung: RungScores, candidate: int) -> Floats:
    """Scores of a candidate, by fold. NaN if it is not in the rung."""
    if candidate not in rung.candidates:
        return np.full(rung.scores.shape[1], np.nan)
    return np.asarray(rung.scores[list(rung.candidates).index(candidate)])


def _means(scores: Floats) -> Floats:
    """Means over the folds that are there; NaN without any."""
    n = (~np.isnan(scores)).sum(axis=1)
    return np.asarray(np.where(n > 0, np.nansum(scores, axis=1) / np.maximum(n, 1), np.nan))


def _deviations(leads: Floats) -> Floats:
    """Standard deviations over the folds that are there; NaN with less than two."""
    n = (~np.isnan(leads)).sum(axis=1)
    squares = np.nansum((leads - _means(leads)[:, None]) ** 2, axis=1)
    return np.asarray(np.where(n > 1, np.sqrt(squares / np.maximum(n - 1, 1)), np.nan))


def hazards(
    known: Eliminated, margin: Floats | float, coefficients: Mapping[str, float] = COEFFICIENTS
) -> Floats:
    """Minus log of the probability that a candidate would not have ended better by a margin.

    Parameters
    ----------
    known : Eliminated
    margin : float or ndarray
        Difference from the score of the selected candidate at full resource, at least 0.
    coefficients : mapping of str to float

    Returns
    -------
    ndarray of shape (n_eliminated,)
    """
    at = coefficients
    spread = known.ratio ** at["spread_ratio"] * (
        np.exp(at["changes"]) * known.changes + np.exp(at["lead"]) * known.lead**2
    )
    variance = (
        np.exp(at["folds"]) * known.fold_variance
        + np.exp(at["missing_folds"]) * known.missing_variance
        + spread
    )
    behind = np.maximum(0.0, margin + known.gap + at["carried_over"] * known.lead)
    # Without any spread, a candidate that is behind stays behind. A tie shows nothing: candidates
    # that have not learned yet tie too.
    ratios, tolerances = np.where(behind > 0, np.inf, 0.0), np.zeros_like(variance)
    np.divide(behind**2, variance, out=ratios, where=variance > 0)
    np.divide(known.tolerance**2, variance, out=tolerances, where=variance > 0)
    log_hazard = (
        at["constant"]
        + at["ratio"] * np.log(known.ratio)
        + at["share"] / known.ratio
        + at["continues"] * known.continues
        + at["estimators"] * known.estimators
        + at["roc_auc"] * known.roc_auc
        + at["n_candidates"] * np.log(known.n_candidates)
        + at["tolerance"] * np.log1p(tolerances)
        - at["tail"] / 2 * np.log1p(ratios)
    )
    possible = np.exp(np.minimum(log_hazard, _MAX_LOG_HAZARD))
    return np.asarray(np.where(margin < known.room, possible, 0.0))


def probability(known: Eliminated, margin: float) -> float:
    """Probability that no eliminated candidate would have ended better by a margin.

    Parameters
    ----------
    known : Eliminated
    margin : float

    Returns
    -------
    float
    """
    return float(np.exp(-hazards(known, margin).sum()))


def expected_loss(known: Eliminated) -> float:
    """Expected difference between the best of all candidates and the selected one.

    It is the integral of the probability that one of them would have ended better by a margin,
    over the margins up to `MAX_MARGIN` times the tolerance.

    Parameters
    ----------
    known : Eliminated

    Returns
    -------
    float
        In the unit of the scores.
    """
    margins = MARGIN_STEPS * _noise(known)
    better = [1 - probability(known, margin) for margin in margins]
    return float(trapezoid(better, margins))


def _noise(known: Eliminated) -> float:
    """Return the tolerance; if it is 0, the median change of leads, or the median lead."""
    leads = known.lead[known.lead > 0]
    is_rounding = len(leads) and known.tolerance[0] < _ROUNDING * leads.min()
    tolerance = 0 * known.tolerance if is_rounding else known.tolerance
    for values in (tolerance, np.sqrt(known.changes), leads):
        positive = np.sort(values[values > 0])
        if len(positive):
            return float(positive[(len(positive) - 1) // 2])  # of two, not the diverged one
    return 0.0


def highest_leads(known: Eliminated, level: float = 0.05) -> tuple[Floats, Floats]:
    """Differences from the final score of the selected candidate that are expected and possible.

    Parameters
    ----------
    known : Eliminated
    level : float, default=0.05
        Probability that any of the candidates of a rung would have ended above its highest
        difference, divided equally between them.

    Returns
    -------
    expected, highest : ndarray of shape (n_eliminated,)
        Negative if the candidate would have ended below the selected one.
    """
    expected = -(known.gap + COEFFICIENTS["carried_over"] * known.lead)
    rungs = np.stack([known.bracket, known.rung])
    _, inverse, counts = np.unique(rungs, axis=1, return_inverse=True, return_counts=True)
    hazard = -np.log1p(-level) / counts[inverse.ravel()]
    low, high = expected, expected + np.maximum(1e-9, np.spacing(np.abs(expected)))
    while np.any(is_short := hazards(known, high) > hazard):
        high = np.where(is_short, expected + 2 * (high - expected), high)
    for _ in range(_N_BISECTIONS):
        middle = (low + high) / 2
        is_low = hazards(known, middle) > hazard
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return expected, np.where(hazards(known, expected) > hazard, high, expected)
