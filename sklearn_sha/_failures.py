"""Failures made into the one message that a user reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sklearn_sha._results import Failure
from sklearn_sha.bandit import Pull

_SHOWN = 20

Candidates = Sequence[dict[str, Any]]


def failures_message(
    failures: Sequence[Failure], candidates: Candidates, error_score: float | str
) -> str:
    """Which candidates failed, where and why, each different error once."""
    n = len({failure.candidate for failure in failures})
    return (
        f"{len(failures)} fits or scores of {n} candidates failed. Their scores are set to "
        f"error_score={error_score}.\nIf that is not expected, set error_score='raise' to stop "
        f"at the first one.\n\n{_details(failures, candidates)}"
    )


def all_failed_message(failures: Sequence[Failure], candidates: Candidates, pull: Pull) -> str:
    """That no fit of a rung succeeded, in GridSearchCV's words, and why."""
    fits = [f for f in failures if f.rung == pull.rung and f.candidate in pull.arms]
    return (
        f"All the {len(fits)} fits failed in rung {pull.rung}.\nIt is very likely that your model "
        "is misconfigured.\nYou can try to debug the error by setting error_score='raise'.\n\n"
        f"{_details(fits, candidates)}"
    )


def _details(failures: Sequence[Failure], candidates: Candidates) -> str:
    by_error: dict[str, list[Failure]] = defaultdict(list)
    for failure in failures:
        by_error[failure.error].append(failure)
    parts = ["Below are more details about the failures:"]
    for error, group in by_error.items():
        numbers = sorted({failure.candidate for failure in group})
        shown = ", ".join(map(str, numbers[:_SHOWN]))
        more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
        folds = sorted({failure.fold for failure in group})
        rungs = sorted({failure.rung for failure in group})
        parts.append(
            f"{'-' * 80}\nCandidates {shown}{more}, on folds {folds}, in rungs {rungs}; the first "
            f"is {candidates[numbers[0]]}:\n{error}"
        )
    return "\n".join(parts)
