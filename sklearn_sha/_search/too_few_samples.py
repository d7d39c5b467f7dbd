"""What follows if no candidate has a score with the samples of a rung: some are tried with more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_sha._results.few_samples import few_samples_failures
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.requests import Propose, Requests, RungRequest, as_rung_losses
from sklearn_sha.schedules import Schedule


def failures_for_lack_of_samples(
    spec: SearchSpec, failures: Sequence[Mapping[str, Any]], n_resources: int
) -> Sequence[Mapping[str, Any]]:
    """Return the failures of a rung without scores that more samples can prevent.

    Parameters
    ----------
    spec : SearchSpec
    failures : sequence of dict
        Failures so far.
    n_resources : int
        Resource of the rung.

    Returns
    -------
    sequence of dict
    """
    early = few_samples_failures(failures, spec.n_train)
    return [failure for failure in early if failure["n_resources"] == n_resources]


def first_and_last(failures: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Return the first and the last candidate that failed.

    If their parameters are sorted, one of them needs the fewest samples.
    """
    ids = [failure["candidate"] for failure in failures]
    return tuple(sorted({min(ids), max(ids)}))


class LargerRungs(Algorithm):
    """Trains candidates with the samples of each larger rung, until one has a score on all folds.

    Parameters
    ----------
    schedule : Schedule
        Plan of the search.
    candidates : tuple of int
    n_samples : int
        Samples with which they have no score.

    Examples
    --------
    >>> from sklearn_sha.bandit import numbered
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(8, max_resources=800)
    >>> requests = LargerRungs(schedule, (0, 7), 100).requests(schedule, numbered())
    >>> next(requests).n_resources, requests.send(None).n_resources
    (200, 400)
    """

    def __init__(self, schedule: Schedule, candidates: tuple[int, ...], n_samples: int) -> None:
        self.schedule = schedule
        self.candidates = candidates
        self.n_samples = n_samples

    def plan(self, bounds: Bounds) -> Schedule:
        return self.schedule

    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        n_samples = self.n_samples
        for number, rung in enumerate(plan.brackets[0].rungs):
            if rung.n_resources <= n_samples:  # later rungs can add folds only
                continue
            n_samples = rung.n_resources
            losses = yield RungRequest(number, self.candidates, n_samples)
            if losses is not None and not as_rung_losses(losses).has_failed.all():
                return None
        return None
