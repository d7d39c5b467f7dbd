"""Why no candidate of a search has a score, and what to do."""

from __future__ import annotations

from sklearn_sha._results.failures import all_failed_message, no_score_message
from sklearn_sha._search.remedies import few_samples_hints, more_for_scores
from sklearn_sha._search.run import Run
from sklearn_sha._search.too_few_samples import trial_in_vain_message


def failure_message(run: Run) -> str:
    """Return the message of the error that a run without any score raises."""
    spec, failures = run.spec, run.results.failures
    schedule, unit = spec.schedule, spec.schedule.unit
    if not run.results.n_rungs:
        name = type(spec.algorithm).__name__
        return f"{name}.requests requested no rung. Yield a RungRequest for each rung of the plan."
    if run.results.all_failed:
        message = all_failed_message(failures, unit) + spec.resource.failure_hint()
    else:
        is_full = schedule.counts_folds or schedule.has_full_rungs
        remedy = more_for_scores(
            spec, failures, is_full=is_full and not run.results.errors_are_scores
        )
        message = no_score_message(failures, schedule.min_resources, unit, remedy)
    if run.tried:
        hints = [trial_in_vain_message(run.tried, schedule.max_resources, failures)]
    else:
        hints = few_samples_hints(spec, failures)
    return "\n".join([message, *hints])
