"""Failures for lack of samples: which ones they are, and messages about them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from sklearn_sha._formatting import listed
from sklearn_sha._results.failures import Failures, candidates_text, kind_of

_OTHER_REASONS = (
    "InvalidParameterError: ",
    "fit_timeout=",
    "The worker process crashed",
    "The kernel, ",  # of Gaussian processes, is not positive definite with more samples either
    "contains NaN",
    "<= n_features",  # n_components of TruncatedSVD
    "n_classes - 1",  # n_components of LinearDiscriminantAnalysis
)
"""Parts of errors that more samples do not prevent."""

_ABOUT_SAMPLES = re.compile(
    r"samples\b|sample\(s\)|\brows\b|observations|n_components|n_splits|members|"
    r"[Ii]nvalid classes|unknown categories|"
    r"examples for at least one class|number of classes =|< documents|no terms remain|"
    r"previously unseen labels|feature names should match|features, but|(?m:^KeyError)|"
    r"leading minor|positive definite|full rank|[Ss]ingular matrix"
)

_SAMPLES_OR_FEATURES = re.compile(r"min\(n_samples, n_features\)=(\d+)")
"""As in an error of PCA."""


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
    kinds = [(failure, kind_of(failure)) for failure in failures]
    late = {(one["candidate"], kind) for one, kind in kinds if one["n_resources"] >= n_train}
    few = [
        (one, kind)
        for one, kind in kinds
        if one["n_resources"] < n_train and (one["candidate"], kind) not in late
    ]
    # Errors that occur with all samples, too, unless a candidate had them with few samples only.
    others = {kind for _, kind in late} - {k for one, k in few if one["candidate"] in completed}
    return [one for one, kind in few if kind not in others and is_about_samples(one)]


def candidates_that_lack_samples(
    failures: Failures, n_samples: int, train_sizes: Sequence[int]
) -> set[int]:
    """Return the candidates that failed with `n_samples`, and can succeed with more.

    Each error of such a candidate is about samples, and its fold has more of them.

    Parameters
    ----------
    failures : sequence of dict
    n_samples : int
    train_sizes : sequence of int
        Number of samples of each training fold.
    """
    failed = [failure for failure in failures if failure["n_resources"] == n_samples]
    others = {
        one["candidate"]
        for one in failed
        if n_samples >= train_sizes[one["split"]] or not is_about_samples(one)
    }
    return {one["candidate"] for one in failed} - others


def without_overcome(failures: Failures, history: Iterable[Mapping[str, Any]]) -> Failures:
    """Leave out failures for lack of samples of candidates that later have a score with more.

    Parameters
    ----------
    failures : sequence of dict
    history : iterable of dict
        ``rung_history_``.
    """
    failed = {(failure["candidate"], failure["n_resources"]) for failure in failures}
    scored: dict[int, int] = {}
    for row in history:
        n_resources = row["n_resources"]
        for candidate, score in zip(row["candidates"], row["scores"], strict=True):
            if isfinite(score) and (candidate, n_resources) not in failed:
                scored[candidate] = max(n_resources, scored.get(candidate, 0))
    return [
        one
        for one in failures
        if scored.get(one["candidate"], 0) <= one["n_resources"] or not is_about_samples(one)
    ]


def few_samples_message(failures: Failures, n_train: int, remedy: str) -> str:
    """Format which candidates failed in a rung with fewer samples than the training fold.

    Parameters
    ----------
    failures : sequence of dict
        As `few_samples_failures` returns them.
    n_train : int
        Number of samples of the largest training fold.
    remedy : str
        How to start with more samples.
    """
    failed_at = sorted({failure["n_resources"] for failure in failures})
    return (
        f"{candidates_text(failures)} failed when trained on {listed(failed_at)} samples, fewer "
        f"than the {n_train} samples of the training fold. If a parameter requires more samples "
        f"(such as n_neighbors or n_components), {or_set_encoder(remedy, failures)}."
    )


def or_set_encoder(remedy: str, failures: Failures) -> str:
    """Return what to do, and what else if samples lack a category."""
    return ", or ".join(filter(None, (remedy, encoder_remedy(failures))))


def encoder_remedy(failures: Failures) -> str:
    """Return what to set if samples lack a category, else ""."""
    if any("unknown categories" in failure["error"] for failure in failures):
        return "set handle_unknown of the encoder, since training samples can lack a rare category"
    return ""


def is_about_samples(failure: Mapping[str, Any]) -> bool:
    """Return whether the message of an error, after the lines of code, is about samples."""
    if any(other in failure["error"] for other in _OTHER_REASONS):
        return False
    message = failure["error"].rpartition("\n  ")[2]
    smaller = _SAMPLES_OR_FEATURES.search(message)
    if smaller and int(smaller[1]) < failure["n_resources"]:
        return False  # about features
    return bool(_ABOUT_SAMPLES.search(message))
