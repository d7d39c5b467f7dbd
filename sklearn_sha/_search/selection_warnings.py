"""Warnings if the best candidate is selected from fewer results than the search was to have."""

from __future__ import annotations

from math import isclose
from typing import Any

import numpy as np

from sklearn_sha._formatting import format_scores, quantity
from sklearn_sha._results.few_samples import or_set_encoder
from sklearn_sha._results.results import Results
from sklearn_sha._search.remedies import how_to_complete_first_rung, more_folds
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._search.states import Best
from sklearn_sha._user_warning import warn_user
from sklearn_sha.inspection.fold_scores import fold_scores
from sklearn_sha.inspection.levels import level_of, levels_of_results, rungs_by_bracket
from sklearn_sha.inspection.ranking import is_audited
from sklearn_sha.inspection.risk import standard_error, tolerance_of


def warn_about_selection(
    search: Any, spec: SearchSpec, results: Results, *, stop_requested: bool
) -> None:
    """Warn if the best candidate is not selected from a last rung on all folds.

    Warn also if an audit is incomplete.

    Parameters
    ----------
    search : BaseHalvingSearch
        Its rungs have ended.
    spec : SearchSpec
    results : Results
    stop_requested : bool
        Whether a callback has requested to stop, and not the time.
    """
    messages = []
    if hasattr(search, "best_index_"):
        if not results.has_complete_rung:
            messages.append(_incomplete_rung_message(search, spec, stop_requested))
        else:
            messages += _few_folds_messages(search, spec, results)
            if search.interrupted_ and not spec.is_closed and not callable(search.refit):
                messages += _ahead_messages(search, spec)
    if results.audited and search.interrupted_:
        messages.append(_incomplete_audit_message(search, len(results.audited)))
    for message in messages:
        warn_user(message)


def _incomplete_rung_message(search: Any, spec: SearchSpec, stop_requested: bool) -> str:
    """Return the warning that the search ended before all candidates completed the first rung."""
    history, max_time = search.rung_history_, search.max_time
    n_completed = sum(row["n_candidates"] for row in history)
    brackets = [spec.schedule.brackets[row.get("bracket", 0)] for row in history]
    n_planned = sum(bracket.rungs[0].n_candidates for bracket in brackets)
    start, remedy = "The search was stopped", "Call resume"
    if max_time is not None and not stop_requested:
        start = f"max_time={quantity(max_time, 'seconds')} ended"
        remedy = how_to_complete_first_rung(spec)
    return (
        f"{start} in the first rung, when {n_completed} of {n_planned} candidates were completed: "
        f"the best candidate is selected from these only. {remedy} to complete the search."
    )


def _incomplete_audit_message(search: Any, n_audited: int) -> str:
    """Return the warning that the search was interrupted in its audit."""
    n_completed = int(is_audited(search.all_cv_results_).sum())
    return (
        f"The search was interrupted in its audit, when {n_completed} of "
        f"{quantity(n_audited, 'candidates')} were trained on all folds. The search before is "
        "complete. Raise max_time, or call resume to complete the audit."
    )


def _few_folds_messages(search: Any, spec: SearchSpec, results: Results) -> list[str]:
    """Return a warning if the best candidate is not one of the last rung, on all folds."""
    best_row = search.cv_results_rows_[search.best_index_]
    n_resources, n_folds = (
        int(search.all_cv_results_[name][best_row]) for name in ("n_resources", "n_folds")
    )
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
        remedy = "Choose another metric"
        if search.failures_:
            remedy = or_set_encoder("See failures_", search.failures_)
        n_failed = search.rung_history_[-1]["n_folds"]
        if results.errors_are_scores and n_failed < n_splits:  # no mean over more folds is NaN
            remedy += f", or {more_folds(n_failed, spec)}"
        return [
            "No candidate of the last rung has a score, so that the best one of an earlier rung is "
            f"selected: {scored} {remedy}."
        ]
    if not search.interrupted_:
        return [f"The last rung did not have all folds: {scored}"]
    return [
        f"The search was interrupted before its last rung was completed: {scored} Call resume to "
        "complete it, with a larger max_time if that ended it."
    ]


def _ahead_messages(search: Any, spec: SearchSpec) -> list[str]:
    """Return a warning if a candidate of an interrupted bracket is ahead of the selected one.

    Only candidates that can still be promoted are compared, on the folds of their latest rung. One
    is ahead if the mean difference is larger than its standard error, or, on a single fold, than
    that of the best score.
    """
    results, n_splits = search.all_cv_results_, len(spec.folds)
    best_row = search.cv_results_rows_[search.best_index_]
    completed = {*results["bracket"][search.cv_results_rows_].tolist()}
    scores = fold_scores(results, search.refit if search.multimetric_ else "score")
    selected_scores = scores[search.best_candidate_, levels_of_results(results)[best_row]]
    rungs = rungs_by_bracket(search.rung_history_, results)
    # If brackets are runs over the same candidates, the best one is selected from a single run.
    ended = range(max(completed) + 1) if spec.schedule.repeats else completed
    tolerance, ahead = tolerance_of(selected_scores), []
    for bracket in rungs.keys() - {*ended}:
        latest = {one: rung for rung in rungs[bracket] for one in rung["candidates"]}
        promoted = [rung["promoted"] for rung in rungs[bracket] if rung["promoted"]]
        for candidate in promoted[-1] if promoted else latest:
            rung = latest[candidate]
            is_same = rung["n_resources"] == results["n_resources"][best_row]
            if not (is_same or spec.resource.counts_folds):
                continue
            own = scores[candidate, level_of(rung)]
            has_score = ~np.isnan(own)
            if has_score.sum() < rung["n_folds"]:
                continue
            own, selected = own[has_score], selected_scores[has_score]
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


def warn_about_lost_best(search: Any, before: Best | None) -> None:
    """Warn if the best candidate before `extend` was eliminated, and is still better.

    A search with `target_score` ends at the first candidate that reaches it.

    Parameters
    ----------
    search : BaseHalvingSearch
        Its extension has ended or was interrupted.
    before : Best or None
        None: nothing was extended, or nothing was selected.
    """
    if before is None or not hasattr(search, "best_score_"):
        return
    if search.interrupted_ or search.target_score is not None:
        return
    finalists = search.all_cv_results_["candidate"][search.cv_results_rows_]
    is_comparable = before.n_resources <= search.best_n_resources_
    is_tied = isclose(before.score, search.best_score_, rel_tol=1e-12)  # but for rounding
    is_higher = before.score > search.best_score_ and not is_tied
    if before.candidate in finalists or not (is_comparable and is_higher):
        return
    known, new = format_scores(before.score, search.best_score_)
    warn_user(
        f"Candidate {before.candidate}, the best one before extend, was eliminated in the search "
        f"over all candidates. Its mean test score is {known}, and best_score_ is now {new}. To "
        "keep such a candidate, call fit of a new search with its parameters in "
        "initial_candidates and keep_initial=True."
    )
