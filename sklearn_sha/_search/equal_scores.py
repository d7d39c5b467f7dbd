"""The warning about a rung whose scores do not distinguish most of its candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha._search.remedies import more_folds, more_resource
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.inspection.fold_scores import fold_scores
from sklearn_sha.inspection.levels import level_of

_MANY = 8
"""Minimum number of equal scores for a warning: a few good candidates are often equal by chance."""

_MOST = 0.75
"""Minimum share of the candidates of a rung that have this score."""


def equal_scores_messages(search: Any, spec: SearchSpec) -> list[str]:
    """Return a warning if most candidates of a rung have one score, and some were promoted by it.

    On all folds, only if all candidates have it. Their later scores must differ, unless all have it
    on some of the folds: candidates that differ in a parameter without effect are always equal.

    Parameters
    ----------
    search : BaseHalvingSearch
        Its rungs have ended.
    spec : SearchSpec
    """
    history, n_splits = search.rung_history_, len(spec.folds)
    for number, row in enumerate(history):
        n_candidates, n_folds = row["n_candidates"], row["n_folds"]
        scores = dict(zip(row["candidates"], row["scores"], strict=True))
        lowest = min((scores[candidate] for candidate in row["promoted"]), default=np.nan)
        equal = {candidate for candidate, score in scores.items() if score == lowest}
        promoted = equal & {*row["promoted"]}
        if not promoted < equal or len(equal) < max(_MANY, _MOST * n_candidates):
            continue
        are_all = len(equal) == n_candidates
        if not np.isfinite(lowest) or (n_folds == n_splits and not are_all):
            continue
        later = [other for other in history[number + 1 :] if _bracket(other) == _bracket(row)]
        if n_enough := _enough_resource(search, promoted, row, later):
            resource = quantity(n_enough, spec.schedule.unit)
            remedy = f"With {resource}, scores differ: {more_resource(n_enough, spec)}"
        elif n_folds < n_splits and (are_all or _differ(promoted, later)):
            folds = more_folds(n_folds, spec)
            remedy = f"If these folds cannot distinguish the candidates, {folds}"
        else:
            continue
        bracket = f"bracket {row['bracket']}, " if "bracket" in row else ""
        which = "All" if are_all else f"{len(equal)} of the"
        folds = quantity(n_splits, "folds")
        on_folds = f"{n_folds} of {folds}" if n_folds < n_splits else folds
        unit = "" if spec.resource.counts_folds else f" with {_resource(row, spec)}"
        return [
            f"{which} {n_candidates} candidates of {bracket}rung {row['iter']} have the same "
            f"score, {lowest:.3g}, on {on_folds}{unit}, so that their scores do not decide which "
            f"were promoted. {remedy}, or choose another metric."
        ]
    return []


def _bracket(row: Mapping[str, Any]) -> int | None:
    return row.get("bracket")


def _resource(row: Mapping[str, Any], spec: SearchSpec) -> str:
    return quantity(row["n_resources"], spec.schedule.unit)


def _differ(candidates: set[int], later: list[Mapping[str, Any]]) -> bool:
    """Return whether candidates that were promoted from a rung differ in the next one."""
    if not later:
        return False
    scores = zip(later[0]["candidates"], later[0]["scores"], strict=True)
    return len({score for candidate, score in scores if candidate in candidates}) > 1


def _enough_resource(
    search: Any, candidates: set[int], row: Mapping[str, Any], later: list[Mapping[str, Any]]
) -> int | None:
    """Return the resource with which most candidates of a rung differ on its folds, or None."""
    metric = search.promote_by_ if search.multimetric_ else "score"
    scores = fold_scores(search.all_cv_results_, metric)
    folds = ~np.isnan([scores[candidate, level_of(row)] for candidate in candidates]).any(axis=0)
    for other in later:
        both = candidates.intersection(other["candidates"])
        means = [float(scores[candidate, level_of(other)][folds].mean()) for candidate in both]
        n_equal = max(Counter(means).values(), default=0)
        if other["n_resources"] > row["n_resources"] and n_equal < _MOST * len(both):
            return int(other["n_resources"])
    return None
