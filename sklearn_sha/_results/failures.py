"""Failures made into the few short messages that a user reads."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_sha._formatting import quantity

Failures = Sequence[Mapping[str, Any]]
"""As in ``failures_``."""

_TRACEBACKS = 3
_CANDIDATES = 10
_NUMBER = re.compile(r"0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


def fits_message(failures: Failures, n_fits: int, error_score: float | str) -> str:
    """How many fits failed and why, in GridSearchCV's words.

    Parameters
    ----------
    failures : sequence of dict
        Of fits.
    n_fits : int
        How many fits there were in all.
    error_score : float

    Returns
    -------
    str
    """
    return (
        f"\n{len(failures)} fits failed out of a total of {n_fits}.\nThe score on these train-test "
        f"partitions for these parameters will be set to {error_score}.\nIf these failures are not "
        "expected, you can try to debug them by setting error_score='raise'.\n\n"
        f"{_details(failures, 'fits')}"
    )


def scores_message(failures: Failures, error_score: float | str) -> str:
    """How many scores failed and why, in GridSearchCV's words."""
    return (
        "Scoring failed. The score on this train-test partition for these parameters will be set "
        f"to {error_score}.\nIf these failures are not expected, you can try to debug them by "
        f"setting error_score='raise'.\n\n{_details(failures, 'scores')}"
    )


def all_failed_message(failures: Failures) -> str:
    """That no fit succeeded and why, in GridSearchCV's words."""
    return (
        f"\nAll the {len(failures)} fits failed.\nIt is very likely that your model is "
        "misconfigured.\nYou can try to debug the error by setting error_score='raise'.\n\n"
        f"{_details(failures, 'fits')}"
    )


def few_samples_messages(failures: Failures, n_resources: Sequence[int], n_train: int) -> list[str]:
    """Which candidates failed in a rung with fewer samples than the fold has, if any did.

    Parameters
    ----------
    failures : sequence of dict
        Of a search over numbers of samples.
    n_resources : sequence of int
        Samples of all rungs.
    n_train : int
        Samples of the largest training fold.

    Returns
    -------
    list of str
        At most one.
    """
    early = [failure for failure in failures if failure["n_resources"] < n_train]
    if not early:
        return []
    at = sorted({failure["n_resources"] for failure in early})
    enough = min((n for n in n_resources if n > at[-1]), default=n_train)
    raised = "min_resources" if at[-1] < max(n_resources) else "max_resources and min_resources"
    return [
        f"{_candidates(early)} failed when trained on {_listed(at)} samples, fewer than the "
        f"{n_train} of the fold. If they need more samples (as n_neighbors or n_components do), "
        f"raise {raised}, for example min_resources={enough}."
    ]


def _details(failures: Failures, what: str) -> str:
    """The most common tracebacks; those that differ in numbers only are one."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for failure in failures:
        groups[_NUMBER.sub("0", failure["error"])].append(failure)
    commonest = sorted(groups.values(), key=len, reverse=True)
    parts = ["Below are more details about the failures:"]
    for group in commonest[:_TRACEBACKS]:
        rungs = sorted({failure["rung"] for failure in group})
        parts.append(
            f"{'-' * 80}\n{len(group)} {what} failed with the following error:\n"
            f"{group[0]['error']}\n{_candidates(group)}, in rung {_listed(rungs)}; the first has "
            f"the parameters {group[0]['params']}."
        )
    rest = commonest[_TRACEBACKS:]
    if rest:
        parts.append(
            f"{'-' * 80}\n{sum(map(len, rest))} {what} failed with "
            f"{quantity(len(rest), 'other errors')}; failures_ has all of them."
        )
    return "\n".join(parts)


def _candidates(failures: Failures) -> str:
    numbers = sorted({failure["candidate"] for failure in failures})
    return f"{'Candidate' if len(numbers) == 1 else 'Candidates'} {_listed(numbers)}"


def _listed(numbers: Sequence[int]) -> str:
    more = len(numbers) - _CANDIDATES
    shown = ", ".join(map(str, numbers[:_CANDIDATES]))
    return f"{shown} and {more} more" if more > 0 else shown
