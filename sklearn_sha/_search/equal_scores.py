"""The warning about a rung whose scores do not distinguish most of its candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha._search.remedies import more_folds, more_resource
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.bandit.promotion import MOST_EQUAL
from sklearn_sha.inspection.fold_scores import fold_scores
from sklearn_sha.inspection.highest_score import highest_score
from sklearn_sha.inspection.levels import RungRecord, level_of

_MANY = 8
"""Minimum number of equal scores for a warning: a few good candidates are often equal by chance."""


def equal_scores_messages(search: Any, spec: SearchSpec) -> list[str]:
    """Return a warning if most candidates of a rung have one score, and some of them were promoted.

    They may differ in a parameter without effect. Therefore it is a warning only if they differ
    later, or if all are equal on a part of the folds. On all folds, all have to be equal too. If a
    candidate ends with the highest score that there is, and no other metric selects, none can be
    better.

    Parameters
    ----------
    search : BaseHalvingSearch
        Its rungs have ended.
    spec : SearchSpec
    """
    if search.score_aggregation != "last":  # earlier scores decide too
        return []
    if _is_perfect(search, spec):
        return []
    history, n_splits, unit = search.rung_history_, len(spec.folds), spec.schedule.unit
    for number, row in enumerate(history):
        n_candidates, n_folds, bracket = row["n_candidates"], row["n_folds"], row.get("bracket")
        equal, lowest = _equal_candidates(row)
        are_all = len(equal) == n_candidates
        if not equal or (n_folds == n_splits and not are_all):
            continue
        promoted = equal & {*row["promoted"]}
        later = [other for other in history[number + 1 :] if other.get("bracket") == bracket]
        if n_enough := _enough_resource(search, promoted, row, later):
            reason = f"With {quantity(n_enough, unit)}, scores differ"
            remedy = more_resource(n_enough, search, spec)
        elif n_folds < n_splits and (are_all or _differ(promoted, later)):
            reason = "These folds may not distinguish the candidates"
            # On as many folds as most promoted ones are equal, the warning would be shown again.
            remedy = more_folds(min(_n_equal_folds(promoted, row, later), n_splits - 1), spec)
        else:
            continue
        remedies = ", or ".join(filter(None, [remedy, "choose another metric"]))
        where = "" if bracket is None else f"bracket {bracket}, "
        which = "All" if are_all else f"{len(equal)} of the"
        folds = quantity(n_splits, "folds")
        on_folds = f"{n_folds} of {folds}" if n_folds < n_splits else folds
        resource = (
            "" if spec.resource.counts_folds else f" with {quantity(row['n_resources'], unit)}"
        )
        return [
            f"{which} {n_candidates} candidates of {where}rung {row['iter']} have the same score, "
            f"{lowest:.3g}, on {on_folds}{resource}, so that their scores do not decide which were "
            f"promoted. {reason}: {remedies}."
        ]
    return []


def _equal_candidates(row: RungRecord) -> tuple[set[int], float]:
    """Return most candidates of a rung if they have one score, and only some of them were promoted.

    Returns
    -------
    candidates : set of int
        Empty if there are no such candidates.
    score : float
        The lowest score of a promoted candidate.
    """
    scores = dict(zip(row["candidates"], row["scores"], strict=True))
    lowest = np.nan if row["cut_score"] is None else row["cut_score"]
    equal = {candidate for candidate, score in scores.items() if score == lowest}
    is_cut = np.isfinite(lowest) and not equal <= {*row["promoted"]}
    are_many = len(equal) >= max(_MANY, MOST_EQUAL * len(scores))
    return equal if is_cut and are_many else set(), lowest


def _is_perfect(search: Any, spec: SearchSpec) -> bool:
    """Return whether a candidate has the highest score of the metric, at full resource."""
    metric = search.promote_by_
    selects_other = search.multimetric_ and search.refit not in (False, metric)
    if selects_other or callable(search.refit):
        return False
    highest = highest_score(metric, search.scoring, search.estimator)
    full = spec.schedule.max_resources, len(spec.folds)
    failed = {failure["candidate"] for failure in search.failures_}
    return any(
        score == highest and candidate not in failed
        for row in search.rung_history_
        if (row["n_resources"], row["n_folds"]) == full
        for candidate, score in zip(row["candidates"], row["scores"], strict=True)
    )


def _differ(candidates: set[int], later: list[RungRecord]) -> bool:
    """Return whether candidates that were promoted from a rung differ in the next one."""
    return bool(later) and len(_counts_of(candidates, later[0])) > 1


def _n_equal_folds(candidates: set[int], row: RungRecord, later: list[RungRecord]) -> int:
    """Return the number of folds of the last rung in which most of some candidates are equal."""
    n_folds = row["n_folds"]
    for rung in later:
        counts = _counts_of(candidates, rung)
        if counts.total() < 2 or max(counts.values()) < MOST_EQUAL * counts.total():
            break
        n_folds = rung["n_folds"]
    return int(n_folds)


def _enough_resource(
    search: Any, candidates: set[int], row: RungRecord, later: list[RungRecord]
) -> int | None:
    """Return the resource with which most candidates of a rung differ on its folds, or None."""
    scores = fold_scores(search.all_cv_results_, search.promote_by_)
    folds = ~np.isnan([scores[candidate, level_of(row)] for candidate in candidates]).any(axis=0)
    candidates = candidates - {failure["candidate"] for failure in search.failures_}
    for other in later:
        both = candidates.intersection(other["candidates"])
        counts = _counts(scores[candidate, level_of(other)][folds].mean() for candidate in both)
        # With the same resource, the scores on these folds are the same.
        if len(counts) > 1 and max(counts.values()) < MOST_EQUAL * counts.total():
            return int(other["n_resources"])
    return None


def _counts_of(candidates: set[int], rung: RungRecord) -> Counter[float]:
    """Return how often each score of some candidates occurs in a rung."""
    scores = zip(rung["candidates"], rung["scores"], strict=True)
    return _counts(score for candidate, score in scores if candidate in candidates)


def _counts(scores: Iterable[float]) -> Counter[float]:
    """Return how often each score occurs; NaN is none."""
    return Counter(float(score) for score in scores if not np.isnan(score))
