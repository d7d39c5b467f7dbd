"""Failed fits and scores, and messages about them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sklearn_sha._formatting import listed, quantity, with_numbers
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import RungRequest

Failures = Sequence[Mapping[str, Any]]
"""Dicts as in ``failures_``."""

_MAX_TRACEBACKS = 3

_NUMBER = re.compile(r"0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


def failures_of(
    request: RungRequest, outcomes: Sequence[Outcome], params: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield a row of ``failures_`` for each error of the outcomes of a request.

    Parameters
    ----------
    request : RungRequest
    outcomes : sequence of Outcome
    params : sequence of dict
        Parameters by candidate id.
    """
    for outcome in outcomes:
        for error in outcome.errors:
            yield {
                "candidate": outcome.candidate,
                "params": {**params[outcome.candidate]},
                "split": outcome.fold,
                "rung": request.rung,
                "n_resources": request.n_resources,
                "failed": "fit" if outcome.fit_failed else "score",
                "error": error,
            }


def fits_message(failures: Failures, n_fits: int, error_score: float | str, unit: str) -> str:
    """Format how many fits failed and why, as GridSearchCV does.

    Parameters
    ----------
    failures : sequence of dict
        Failed fits.
    n_fits : int
        Number of all fits.
    error_score : float
    unit : str
        What the resource counts, in the plural.
    """
    return (
        f"\n{len(failures)} fits failed out of a total of {n_fits}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}.\nIf these failures are not "
        "expected, you can try to debug them by setting error_score='raise'.\n\n"
        f"{details(failures, 'fits', unit)}"
    )


def scores_message(failures: Failures, error_score: float | str, unit: str) -> str:
    """Format why scores failed, as GridSearchCV does."""
    return (
        "Scoring failed. The score on this train-test partition for these parameters will be set "
        f"to {error_score}.\nIf these failures are not expected, you can try to debug them by "
        f"setting error_score='raise'.\n\n{details(failures, 'scores', unit)}"
    )


def all_failed_message(failures: Failures, unit: str) -> str:
    """Format that all fits failed and why, as GridSearchCV does."""
    return (
        f"\nAll the {len(failures)} fits failed.\nIt is very likely that your model is "
        "misconfigured.\nYou can try to debug the error by setting error_score='raise'.\n\n"
        f"{details(failures, 'fits', unit)}"
    )


OTHER_METRIC = (
    "Choose a metric that has values on each fold (scoring, or promote_by with several metrics), "
    "or a cv with other folds"
)
"""What to do if nothing fails and scores are NaN, as the ROC AUC of a single class."""


def no_score_message(failures: Failures, n_resources: int, unit: str, remedy: str) -> str:
    """Format that no candidate of a first rung has a score, and why.

    Parameters
    ----------
    failures : sequence of dict
        Failed fits and scores.
    n_resources : int
    unit : str
        What the resource counts, in the plural.
    remedy : str
        Sentence about the resource, without its full stop.
    """
    if not failures:
        remedy += f". {OTHER_METRIC}"
    message = (
        f"No candidate has a score in the first rung, with {quantity(n_resources, unit)}, so that "
        f"none can be promoted. {remedy}."
    )
    for what in ("fit", "score"):
        if failed := [failure for failure in failures if failure["failed"] == what]:
            message += f"\n\n{details(failed, f'{what}s', unit)}"
    return message


def kind_of(failure: Mapping[str, Any]) -> str:
    """Return the error of a failure without its numbers."""
    return _NUMBER.sub("0", failure["error"])


def details(failures: Failures, what: str, unit: str) -> str:
    """Format the most common tracebacks, grouped if they differ in numbers only.

    Parameters
    ----------
    failures : sequence of dict
    what : str
        What failed, in the plural.
    unit : str
        What the resource counts, in the plural.
    """
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for failure in failures:
        groups[kind_of(failure)].append(failure)
    most_common = sorted(groups.values(), key=len, reverse=True)
    parts = ["Below are more details about the failures:"]
    for group in most_common[:_MAX_TRACEBACKS]:
        first = min(group, key=itemgetter("candidate"))
        rungs = with_numbers("rung", (failure["rung"] for failure in group))
        resources = sorted({failure["n_resources"] for failure in group})
        units = (
            quantity(resources[0], unit) if len(resources) == 1 else f"{listed(resources)} {unit}"
        )
        is_one = len({failure["candidate"] for failure in group}) == 1
        has = ", has" if is_one else "; the first has"
        parts.append(
            f"{'-' * 80}\n{len(group)} {what} failed with the following error:\n"
            f"{first['error']}\n{candidates_text(group)}, in {rungs} ({units}){has} the "
            f"parameters {first['params']}."
        )
    rest = most_common[_MAX_TRACEBACKS:]
    if rest:
        parts.append(
            f"{'-' * 80}\n{sum(map(len, rest))} {what} failed with "
            f"{quantity(len(rest), 'other errors')}. failures_ lists all of them."
        )
    return "\n".join(parts)


def candidates_text(failures: Failures) -> str:
    """Format which candidates have failures."""
    return with_numbers("Candidate", (failure["candidate"] for failure in failures))
