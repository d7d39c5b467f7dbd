"""What follows if no candidate has a score on the folds of a rung: the search may start again."""

from __future__ import annotations

from typing import Any

from sklearn_sha._formatting import quantity
from sklearn_sha._results.failures import OTHER_METRIC, Failures
from sklearn_sha._results.few_samples import or_set_encoder
from sklearn_sha._results.results import Results
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._search.starting_again import StartAgainError


def raise_if_more_folds_can_have_scores(spec: SearchSpec, results: Results, refit: Any) -> None:
    """Raise a StartAgainError if no candidate has a mean score on the first folds, but may on all.

    Parameters
    ----------
    spec : SearchSpec
        Its resource is the number of folds.
    results : Results
        The last rung has no scores.
    refit : bool, str or callable
    """
    can_have_scores = not results.last_scores_failed() or results.errors_are_scores
    # Otherwise the best candidate of the rung before is selected.
    has_no_best = results.n_rungs == 1 or (results.is_multimetric and refit != results.metric)
    if can_have_scores and has_no_best:
        n_folds = spec.schedule.max_resources
        failed = {failure["candidate"] for failure in results.failures}
        failures = results.failures if len(failed) >= len(results.mean_scores()) else ()
        message = more_folds_message(results.metric, results.last_n_resources, n_folds, failures)
        raise StartAgainError(n_folds, message)


def more_folds_message(metric: str, n_scored: int, n_folds: int, failures: Failures = ()) -> str:
    """Format that a search starts again on more folds, since the first ones have no scores.

    Parameters
    ----------
    metric : str
        The one that promotes.
    n_scored : int
        Folds of the rung.
    n_folds : int
        Folds of the last rung.
    failures : sequence of dict, default=()
        Why no candidate has a score. Empty if the metric is NaN without an error.
    """
    remedy = or_set_encoder("See failures_", failures) if failures else OTHER_METRIC
    first = f"first {quantity(n_scored, 'folds')}" if n_scored > 1 else "first fold"
    return (
        f"No candidate has a mean {metric} that is a number on the {first}, so that none can be "
        f"promoted: the search starts again with {n_folds} folds. {remedy}."
    )
