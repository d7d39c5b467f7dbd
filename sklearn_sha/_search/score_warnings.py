"""Warnings about scores that failed, are not finite, or do not distinguish the candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from sklearn_sha._formatting import quantity, with_numbers
from sklearn_sha._results.failures import fits_message, scores_message
from sklearn_sha._results.results import Results
from sklearn_sha._search.remedies import few_samples_hints, more_folds
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._user_warning import warn_user


def warn_about_scores(search: Any, spec: SearchSpec, results: Results) -> None:
    """Warn about failed fits, failed scores, scores that are not finite, and equal scores.

    After an audit, only about failures of the audited candidates: `fit` warned about the others.

    Parameters
    ----------
    search : BaseHalvingSearch
        Its rungs have ended.
    spec : SearchSpec
    results : Results
    """
    history, failures = search.rung_history_, results.failures
    if spec.is_closed:
        audited = {candidate for _, candidate in results.audited}
        last = max(row["n_resources"] for row in history)
        failures = [
            failure
            for failure in failures
            if failure["candidate"] in audited and failure["n_resources"] == last
        ]
    fits = [failure for failure in failures if failure["failed"] == "fit"]
    scores = [failure for failure in failures if failure["failed"] == "score"]
    if fits:
        message = fits_message(fits, results.n_fits, search.error_score)
        warn_user(message + spec.resource.failure_hint(), FitFailedWarning)
    messages = [scores_message(scores, search.error_score)] if scores else []
    if not spec.is_closed:
        failed = {row["candidate"] for row in failures}
        messages += [
            *_non_finite_messages(search.all_cv_results_, failed),
            *few_samples_hints(spec, failures, history),
            *_failed_initial_messages(results, spec.schedule.n_kept),
            *_equal_scores_messages(history, spec),
        ]
    for message in messages:
        warn_user(message)


def _non_finite_messages(results: Mapping[str, Any], failed: set[int]) -> list[str]:
    """Return warnings about mean scores that are not finite, of candidates without failures."""
    messages = []
    for part in ("test", "train"):
        named = []
        for name, means in results.items():
            if name.startswith(f"mean_{part}_"):
                candidates = np.unique(results["candidate"][~np.isfinite(means)]).tolist()
                if candidates := [c for c in candidates if c not in failed]:
                    named.append(f"{name} of {with_numbers('candidate', candidates)}")
        if named:
            messages.append(
                f"One or more of the {part} scores are non-finite: {'; '.join(named)}. NaN is "
                "never promoted before a number. Check what the scorer returns for them."
            )
    return messages


def _failed_initial_messages(results: Results, n_kept: int) -> list[str]:
    """Return a warning about candidates that were to be kept, and failed."""
    failed = sorted(results.failed_candidates() & {*range(n_kept)})
    if not failed:
        return []
    return [
        f"keep_initial=True, but the initial candidates {failed} failed, and were kept only until "
        "then. See failures_."
    ]


_MANY = 8
"""Minimum number of equal scores for a warning: a few good candidates are often equal by chance."""

_MOST = 0.75
"""Minimum share of the candidates of a rung that have this score."""


def _equal_scores_messages(
    rung_history: Sequence[Mapping[str, Any]], spec: SearchSpec
) -> list[str]:
    """Return a warning if most candidates of a rung on some folds are promoted by their order."""
    n_splits = len(spec.folds)
    for number, row in enumerate(rung_history):
        n_candidates, n_folds = row["n_candidates"], row["n_folds"]
        scores = dict(zip(row["candidates"], row["scores"], strict=True))
        lowest = min((scores[candidate] for candidate in row["promoted"]), default=np.nan)
        equal = {candidate for candidate, score in scores.items() if score == lowest}
        promoted = equal & {*row["promoted"]}
        is_order = n_folds < n_splits and promoted < equal
        if not is_order or len(equal) < max(_MANY, _MOST * n_candidates):
            continue
        are_all = len(equal) == n_candidates
        # Some can be equal since they differ in a parameter without effect.
        if are_all or _differ_later(promoted, row, rung_history[number + 1 :]):
            bracket = f"bracket {row['bracket']}, " if "bracket" in row else ""
            which = "All" if are_all else f"{len(equal)} of the"
            return [
                f"{which} {n_candidates} candidates of {bracket}rung {row['iter']} have the same "
                f"score, {lowest:.3g}, on {n_folds} of {quantity(n_splits, 'folds')}, so that "
                "those that come first were promoted. If these folds cannot distinguish the "
                f"candidates, {more_folds(n_folds, spec)}, or choose another metric."
            ]
    return []


def _differ_later(
    candidates: Collection[int], row: Mapping[str, Any], later: Sequence[Mapping[str, Any]]
) -> bool:
    """Return whether candidates that were promoted from a rung differ in the next one."""
    for other in later:
        if other.get("bracket") == row.get("bracket"):
            scores = zip(other["candidates"], other["scores"], strict=True)
            return len({score for candidate, score in scores if candidate in candidates}) > 1
    return False
