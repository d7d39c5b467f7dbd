"""Warnings about the scores of a search: what failed, is missing, equal or incomplete."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from sklearn_sha._formatting import format_scores, quantity, with_numbers
from sklearn_sha._results.failures import fits_message, scores_message
from sklearn_sha._results.few_samples import few_samples_failures, few_samples_message
from sklearn_sha._results.results import Results
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._user_warning import warn_user
from sklearn_sha.inspection.levels import rungs_by_bracket
from sklearn_sha.inspection.risk import standard_error, tolerance_of
from sklearn_sha.schedules.validation import exact_factor


def warn_about_scores(
    results: Results,
    all_cv_results: Mapping[str, Any],
    rung_history: Sequence[Mapping[str, Any]],
    spec: SearchSpec,
    error_score: float | str,
    refit: Any,
    best_row: int | None,
    completed: Collection[int],
    max_time: float | None,
    *,
    is_complete: bool,
) -> None:
    """Warn about failed fits, failed scores, scores that are not finite, and equal scores.

    After an audit, only about the audited candidates: `fit` warned about the others. Warn also if
    the best candidate is not selected from the last rung on all folds, or an audit is incomplete.

    Parameters
    ----------
    results : Results
    all_cv_results : dict
    rung_history : sequence of dict
    spec : SearchSpec
    error_score : float or "raise"
    refit : bool, str or callable
    best_row : int or None
        Row of `all_cv_results` that has the best candidate. None if none is selected.
    completed : collection of int
        Brackets from which it is selected.
    max_time : float or None
        Seconds.
    is_complete : bool
        Whether the search was not interrupted.
    """
    failures: Sequence[Mapping[str, Any]] = results.failures
    if spec.is_closed:
        audited = {candidate for _, candidate in results.audited}
        last = max(row["n_resources"] for row in rung_history)
        failures = [
            failure
            for failure in failures
            if failure["candidate"] in audited and failure["n_resources"] == last
        ]
    fits = [failure for failure in failures if failure["failed"] == "fit"]
    scores = [failure for failure in failures if failure["failed"] == "score"]
    if fits:
        message = fits_message(fits, results.n_fits, error_score) + spec.resource.failure_hint()
        warn_user(message, FitFailedWarning)
    messages = [scores_message(scores, error_score)] if scores else []
    if not spec.is_closed:
        messages += _other_messages(results, all_cv_results, rung_history, failures, spec)
    if best_row is not None:
        if not results.has_complete_rung:
            messages.append(_incomplete_rung_message(spec, rung_history, max_time))
        else:
            n_resources = int(all_cv_results["n_resources"][best_row])
            n_folds = int(all_cv_results["n_folds"][best_row])
            messages += _few_folds_messages(
                n_resources, n_folds, results, spec, is_complete=is_complete
            )
            if not (is_complete or spec.is_closed or callable(refit)):
                metric = refit if results.is_multimetric else "score"
                messages += _ahead_messages(
                    all_cv_results, rung_history, spec, metric, best_row, completed
                )
    if results.audited and not is_complete:
        messages.append(_incomplete_audit_message(all_cv_results, results.audited))
    for message in messages:
        warn_user(message)


def _other_messages(
    results: Results,
    all_cv_results: Mapping[str, Any],
    rung_history: Sequence[Mapping[str, Any]],
    failures: Sequence[Mapping[str, Any]],
    spec: SearchSpec,
) -> list[str]:
    """Return warnings about scores that did not fail, and about the reasons of failures."""
    return [
        *_non_finite_messages(all_cv_results, {row["candidate"] for row in failures}),
        *few_samples_hints(spec, failures, rung_history),
        *_failed_initial_messages(results, spec.schedule.n_kept),
        *_equal_scores_messages(rung_history, spec),
    ]


def how_to_complete_first_rung(spec: SearchSpec) -> str:
    """Return the start of a sentence about what to do if `max_time` has ended in the first rung.

    `min_resources` is included if it sets that rung, and if the rung has more than one unit.
    """
    sets_it = not spec.algorithm.has_own_rungs and not spec.resource.counts_folds
    can_be_lower = sets_it and min(spec.schedule.n_resources) > 1
    return f"Raise max_time{', lower min_resources' if can_be_lower else ''}, or call resume"


def _incomplete_rung_message(
    spec: SearchSpec, rung_history: Sequence[Mapping[str, Any]], max_time: float | None
) -> str:
    """Return the warning that the search ended before all candidates completed the first rung."""
    n_completed = sum(row["n_candidates"] for row in rung_history)
    brackets = [spec.schedule.brackets[row.get("bracket", 0)] for row in rung_history]
    n_planned = sum(bracket.rungs[0].n_candidates for bracket in brackets)
    start, remedy = "The search was stopped", "Call resume"
    if max_time is not None:
        start = f"max_time={quantity(max_time, 'seconds')} ended"
        remedy = how_to_complete_first_rung(spec)
    return (
        f"{start} in the first rung, when {n_completed} of {n_planned} candidates were completed: "
        f"the best candidate is selected from these only. {remedy} to complete the search."
    )


def _incomplete_audit_message(
    all_cv_results: Mapping[str, Any], audited: Collection[tuple[int, int]]
) -> str:
    """Return the warning that the search was interrupted in its audit."""
    n_completed = int(np.sum(all_cv_results.get("audited", ())))
    return (
        f"The search was interrupted in its audit, when {n_completed} of "
        f"{quantity(len(audited), 'candidates')} were trained on all folds. The search before is "
        "complete. Raise max_time, or call resume to complete the audit."
    )


def _few_folds_messages(
    n_resources: int, n_folds: int, results: Results, spec: SearchSpec, *, is_complete: bool
) -> list[str]:
    """Return a warning if the best candidate is not one of the last rung, on all folds."""
    n_splits, has_failed = len(spec.folds), not results.last_rung_has_scores()
    is_earlier = has_failed and n_resources < results.last_n_resources
    if n_folds == n_splits and not is_earlier:
        return []
    counts_folds = spec.resource.counts_folds
    resource = quantity(n_resources, spec.schedule.unit)
    with_resource = "" if counts_folds else f" with {resource}"
    folds = f"{n_folds} of {quantity(n_splits, 'folds')}"
    scored = f"the best candidate is scored{with_resource} on {folds}."
    if has_failed:
        more = "" if n_folds == n_splits else f", or {_more_folds(n_folds, spec)}"
        return [
            "No candidate of the last rung has a score, so that the best one of an earlier rung is "
            f"selected: {scored} See failures_{more}."
        ]
    if is_complete:
        return [f"The last rung did not have all folds: {scored}"]
    return [
        f"The search was interrupted before its last rung was completed: {scored} Call resume to "
        "complete it, with a larger max_time if that ended it."
    ]


def _ahead_messages(
    all_cv_results: Mapping[str, Any],
    rung_history: Sequence[Mapping[str, Any]],
    spec: SearchSpec,
    metric: str,
    best_row: int,
    completed: Collection[int],
) -> list[str]:
    """Return a warning if a candidate of an interrupted bracket is ahead of the selected one.

    Only candidates that can still be promoted are compared, on the folds of their latest rung. One
    is ahead if the mean difference is larger than its standard error, or, on a single fold, than
    that of the best score.

    Parameters
    ----------
    all_cv_results, rung_history, spec
        As in `warn_about_scores`.
    metric : str
        Metric by which the best candidate is selected.
    best_row : int
        Row of the best candidate.
    completed : collection of int
        Completed brackets, from which it is selected.
    """
    names = ("bracket", "iter", "candidate")
    keys = zip(*(all_cv_results[name].tolist() for name in names), strict=True)
    rows = {key: number for number, key in enumerate(keys)}
    n_splits = len(spec.folds)
    scores = np.column_stack([all_cv_results[f"split{k}_test_{metric}"] for k in range(n_splits)])
    rungs = rungs_by_bracket(rung_history, all_cv_results)
    # Of several runs over the same candidates, one is selected from.
    ended = range(max(completed) + 1) if spec.schedule.repeats else completed
    tolerance, ahead = tolerance_of(scores[best_row]), []
    for bracket in rungs.keys() - {*ended}:
        latest = {one: rung for rung in rungs[bracket] for one in rung["candidates"]}
        promoted = [rung["promoted"] for rung in rungs[bracket] if rung["promoted"]]
        for candidate in promoted[-1] if promoted else latest:
            rung = latest[candidate]
            is_same = rung["n_resources"] == all_cv_results["n_resources"][best_row]
            if not (is_same or spec.resource.counts_folds):
                continue
            own = scores[rows[bracket, rung["iter"], candidate]]
            has_score = np.isfinite(own)
            if has_score.sum() < rung["n_folds"]:
                continue
            own, selected = own[has_score], scores[best_row][has_score]
            error = standard_error(own - selected)
            if own.mean() - selected.mean() > (tolerance if np.isnan(error) else error):
                ahead.append((rung["n_folds"], own.mean(), -candidate, selected.mean(), bracket))
    if not ahead:
        return []
    n_folds, score, candidate, selected, bracket = max(ahead)
    name = spec.schedule.bracket_name
    difference = " instead of ".join(format_scores(score, selected))
    return [
        f"The search was interrupted in {name} {bracket}, whose candidate {-candidate} has a "
        f"higher mean score on {n_folds} of {quantity(n_splits, 'folds')} than the selected one on "
        f"the same folds: {difference}. Call resume to complete the {name}, with a larger max_time "
        "if that ended it."
    ]


def _more_folds(n_folds: int, spec: SearchSpec) -> str:
    """Return how to have more than `n_folds` in the first rung: if possible, with a second one."""
    if not spec.resource.counts_folds:
        return 'set min_folds="all"'
    if spec.algorithm.has_own_rungs:
        has_budget = hasattr(spec.algorithm, "budget")
        return "raise budget" if has_budget else "let algorithm begin with more folds"
    most = max(spec.schedule.n_resources)
    if most <= n_folds:
        return 'set max_resources="auto"'
    two_rungs = int(most / exact_factor(spec.algorithm.factor))
    return f'set resource="folds" and min_resources={two_rungs if two_rungs > n_folds else most}'


def few_samples_hints(
    spec: SearchSpec,
    failures: Sequence[Mapping[str, Any]],
    rung_history: Sequence[Mapping[str, Any]] = (),
) -> list[str]:
    """Return what to do if candidates failed on fewer samples than the training fold has."""
    if not spec.resource.counts_samples:
        return []
    n_train = spec.n_train
    full = (row["candidates"] for row in rung_history if row["n_resources"] >= n_train)
    early = few_samples_failures(failures, n_train, {*chain.from_iterable(full)})
    if not early:
        return []
    resources, has_own_rungs = spec.schedule.n_resources, spec.algorithm.has_own_rungs
    return [few_samples_message(early, resources, n_train, has_own_rungs=has_own_rungs)]


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
"""Number of candidates that hardly have equal scores by chance; a few good ones often do."""

_MOST = 0.75
"""Share of the candidates of a rung."""


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
                f"candidates, {_more_folds(n_folds, spec)}, or choose another metric."
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
