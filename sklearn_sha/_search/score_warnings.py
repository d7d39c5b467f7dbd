"""Warnings about scores that failed, are not finite, or do not distinguish the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from sklearn_sha._formatting import with_numbers
from sklearn_sha._results.failures import Failures, fits_message, scores_message
from sklearn_sha._results.few_samples import without_overcome
from sklearn_sha._results.results import Results
from sklearn_sha._search.equal_scores import equal_scores_messages
from sklearn_sha._search.remedies import few_samples_hints
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
    history, unit = search.rung_history_, spec.schedule.unit
    failures: Failures = results.failures
    if spec.is_closed:
        audited = {candidate for _, candidate in results.audited}
        last = max(row["n_resources"] for row in history)
        failures = [
            failure
            for failure in failures
            if failure["candidate"] in audited and failure["n_resources"] == last
        ]
    elif spec.failed_wait:
        failures = without_overcome(failures, history)
    fits = [failure for failure in failures if failure["failed"] == "fit"]
    scores = [failure for failure in failures if failure["failed"] == "score"]
    if fits:
        message = fits_message(fits, results.n_fits, search.error_score, unit)
        warn_user(message + spec.resource.failure_hint(), FitFailedWarning)
    messages = [scores_message(scores, search.error_score, unit)] if scores else []
    if not spec.is_closed:
        failed = {row["candidate"] for row in results.failures}
        overcome = failed - {row["candidate"] for row in failures}
        messages += [
            *_non_finite_messages(search.all_cv_results_, failed),
            *few_samples_hints(spec, failures, history),
            *_failed_initial_messages(results, spec.schedule.n_kept, overcome),
            *equal_scores_messages(search, spec),
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


def _failed_initial_messages(results: Results, n_kept: int, overcome: set[int]) -> list[str]:
    """Return a warning about candidates that were to be kept, and failed.

    Those that have `overcome` a lack of samples were kept.
    """
    failed = sorted(results.failed_candidates() & {*range(n_kept)} - overcome)
    if not failed:
        return []
    return [
        f"keep_initial=True, but the initial candidates {failed} failed, and were kept only until "
        "then. See failures_."
    ]
