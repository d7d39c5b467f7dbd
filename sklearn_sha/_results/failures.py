"""Messages about failed fits and scores."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from sklearn_sha._formatting import listed, numbered, quantity

Failures = Sequence[Mapping[str, Any]]
"""Dicts as in ``failures_``."""

_MAX_TRACEBACKS = 3
_OTHER_REASONS = "InvalidParameterError: ", "fit_timeout=", "The worker process crashed"
"""Parts of errors that more samples do not prevent."""

_ABOUT_SAMPLES = re.compile(
    r"samples\b|sample\(s\)|n_components|n_splits|members|[Ii]nvalid classes|unknown categories|"
    r"examples for at least one class|number of classes =|< documents|no terms remain|"
    r"previously unseen labels|feature names should match|features, but|(?m:^KeyError)"
)

_SAMPLES_OR_FEATURES = re.compile(r"min\(n_samples, n_features\)=(\d+)")
"""As in an error of PCA."""

_NUMBER = re.compile(r"0x[0-9a-f]+|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)


def fits_message(failures: Failures, n_fits: int, error_score: float | str) -> str:
    """Format how many fits failed and why, as GridSearchCV does.

    Parameters
    ----------
    failures : sequence of dict
        Failed fits.
    n_fits : int
        Number of all fits.
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
    """Format why scores failed, as GridSearchCV does."""
    return (
        "Scoring failed. The score on this train-test partition for these parameters will be set "
        f"to {error_score}.\nIf these failures are not expected, you can try to debug them by "
        f"setting error_score='raise'.\n\n{_details(failures, 'scores')}"
    )


def all_failed_message(failures: Failures) -> str:
    """Format that all fits failed and why, as GridSearchCV does."""
    return (
        f"\nAll the {len(failures)} fits failed.\nIt is very likely that your model is "
        "misconfigured.\nYou can try to debug the error by setting error_score='raise'.\n\n"
        f"{_details(failures, 'fits')}"
    )


def no_score_message(
    failures: Failures, n_resources: str, *, is_full: bool, has_own_rungs: bool
) -> str:
    """Format that no candidate of a first rung has a score, and why.

    Parameters
    ----------
    failures : sequence of dict
        Failed fits and scores.
    n_resources : str
        How much the rung has, such as "12 trees".
    is_full : bool
        Whether that is the full resource of a model.
    has_own_rungs : bool
        Whether a budget or the algorithm sets the first rung, and not `min_resources`.
    """
    remedy = (
        "If scores require more, raise min_resources; with min_resources=1.0 it is a grid search"
    )
    if has_own_rungs:
        remedy = "If scores require more, raise the budget, or the first rung of the algorithm"
    if is_full:
        remedy = "Models have the full resource, so that a grid search has no scores either"
    message = (
        f"No candidate has a score in the first rung, with {n_resources}, so that none can be "
        f"promoted. {remedy}."
    )
    for what in ("fit", "score"):
        if failed := [failure for failure in failures if failure["failed"] == what]:
            message += f"\n\n{_details(failed, f'{what}s')}"
    return message


def few_samples_failures(
    failures: Failures, n_train: int, completed: Collection[int] = ()
) -> Failures:
    """Return the failures in rungs with too few samples, whose errors are about samples.

    Parameters
    ----------
    failures : sequence of dict
        Failures of a search whose resource is the number of samples.
    n_train : int
        Number of samples of the largest training fold.
    completed : collection of int, default=()
        Candidates that were trained with all samples.
    """
    kinds = [(failure, _kind(failure)) for failure in failures]
    late = {(one["candidate"], kind) for one, kind in kinds if one["n_resources"] >= n_train}
    few = [
        (one, kind)
        for one, kind in kinds
        if one["n_resources"] < n_train and (one["candidate"], kind) not in late
    ]
    # Errors that occur with all samples, too, unless a candidate had them with few samples only.
    others = {kind for _, kind in late} - {k for one, k in few if one["candidate"] in completed}
    return [
        one
        for one, kind in few
        if not any(other in one["error"] for other in _OTHER_REASONS)
        and kind not in others
        and _is_about_samples(one)
    ]


def few_samples_message(
    failures: Failures, n_resources: Sequence[int], n_train: int, *, has_own_rungs: bool = False
) -> str:
    """Format which candidates failed in a rung with fewer samples than the training fold.

    Parameters
    ----------
    failures : sequence of dict
        As `few_samples_failures` returns them.
    n_resources : sequence of int
        Number of samples in each rung.
    n_train : int
        Number of samples of the largest training fold.
    has_own_rungs : bool, default=False
        Whether a budget or the algorithm sets the first rung, and not `min_resources`.
    """
    failed_at = sorted({failure["n_resources"] for failure in failures})
    larger = min((n for n in n_resources if n > failed_at[-1]), default=n_train)
    is_last = failed_at[-1] >= max(n_resources)
    parameters = "max_resources and min_resources" if is_last else "min_resources"
    remedy = f"raise {parameters}, for example min_resources={larger}"
    if has_own_rungs:
        remedy = f"raise the budget, or the rungs of the algorithm, to start with {larger} samples"
    return (
        f"{_candidates(failures)} failed when trained on {listed(failed_at)} samples, fewer than "
        f"the {n_train} samples of the training fold. If their parameters require more samples "
        f"(such as n_neighbors or n_components), {remedy}{_encoder_remedy(failures)}."
    )


def trial_message(candidates: Sequence[int], n_failed: int) -> str:
    """Format which candidates are tried with more samples."""
    are = "is" if len(candidates) == 1 else "are"
    return (
        f"No candidate has a score with {n_failed} training samples. "
        f"{numbered('Candidate', candidates)} {are} trained with more of them."
    )


def trial_in_vain_message(candidates: Sequence[int], n_samples: int) -> str:
    """Format that candidates without a score have none with up to `n_samples` either."""
    fail = "fails" if len(candidates) == 1 else "fail"
    return (
        f"{numbered('Candidate', candidates)} {fail} with more samples too, up to {n_samples}. If "
        "others require more samples, raise min_resources."
    )


def starts_again_message(failures: Failures, candidate: int, n_enough: int, remedy: str) -> str:
    """Format that a search starts again, since no candidate has a score with few samples.

    Parameters
    ----------
    failures : sequence of dict
        Those of the rung, as `few_samples_failures` returns them.
    candidate : int
        One that has a score with more samples.
    n_enough : int
        How many these are.
    remedy : str
        What to set to start with them.
    """
    n_failed = failures[0]["n_resources"]
    return (
        f"No candidate has a score with {n_failed} training samples, and candidate {candidate} has "
        f"one with {n_enough}: the search starts again, with at least {n_enough} in its first "
        f"rung. To start with them, set {remedy}{_encoder_remedy(failures)}."
        f"\n\n{_details(failures, 'fits or scores')}"
    )


def _encoder_remedy(failures: Failures) -> str:
    if any("unknown categories" in failure["error"] for failure in failures):
        return ", or set handle_unknown of the encoder, since few samples can lack a rare category"
    return ""


def _is_about_samples(failure: Mapping[str, Any]) -> bool:
    """Return whether the message of an error, after the lines of code, is about samples."""
    message = failure["error"].rpartition("\n  ")[2]
    smaller = _SAMPLES_OR_FEATURES.search(message)
    if smaller and int(smaller[1]) < failure["n_resources"]:
        return False  # about features
    return bool(_ABOUT_SAMPLES.search(message))


def _kind(failure: Mapping[str, Any]) -> str:
    """Return the error of a failure without its numbers."""
    return _NUMBER.sub("0", failure["error"])


def _details(failures: Failures, what: str) -> str:
    """Format the most common tracebacks, grouped if they differ in numbers only."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for failure in failures:
        groups[_kind(failure)].append(failure)
    most_common = sorted(groups.values(), key=len, reverse=True)
    parts = ["Below are more details about the failures:"]
    for group in most_common[:_MAX_TRACEBACKS]:
        first = min(group, key=itemgetter("candidate"))
        rungs = numbered("rung", (failure["rung"] for failure in group))
        is_one = len({failure["candidate"] for failure in group}) == 1
        has = ", has" if is_one else "; the first has"
        parts.append(
            f"{'-' * 80}\n{len(group)} {what} failed with the following error:\n"
            f"{first['error']}\n{_candidates(group)}, in {rungs}{has} the parameters "
            f"{first['params']}."
        )
    rest = most_common[_MAX_TRACEBACKS:]
    if rest:
        parts.append(
            f"{'-' * 80}\n{sum(map(len, rest))} {what} failed with "
            f"{quantity(len(rest), 'other errors')}. failures_ lists all of them."
        )
    return "\n".join(parts)


def _candidates(failures: Failures) -> str:
    return numbered("Candidate", (failure["candidate"] for failure in failures))
