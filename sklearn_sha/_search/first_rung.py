"""A search starts again with more samples if no candidate has a score with those of a rung."""

from __future__ import annotations

from sklearn_sha.bandit.requests import Requests, RungRequest
from sklearn_sha.schedules import Schedule


class TooFewSamplesError(ValueError):
    """No candidate has a score with the samples of a rung, and one of them has with more.

    Parameters
    ----------
    message : str
    n_enough : int
        Samples with which one has.
    """

    def __init__(self, message: str, n_enough: int) -> None:
        super().__init__(message)
        self.n_enough = n_enough


def larger_rungs(schedule: Schedule, candidate: int, n_resources: int) -> Requests:
    """Request a candidate with the resources of larger rungs, until it has a score on all folds.

    Parameters
    ----------
    schedule : Schedule
    candidate : int
    n_resources : int
        With which it has no score.

    Yields
    ------
    RungRequest
        On all folds.

    Returns
    -------
    int or None
        The candidate, None if it has no score with the maximum either.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> requests = larger_rungs(schedule_from_range(8, max_resources=800), 3, 100)
    >>> next(requests).n_resources, requests.send(None).n_resources
    (200, 400)
    """
    for number, rung in enumerate(schedule.brackets[0].rungs):
        if rung.n_resources > n_resources:
            n_resources = rung.n_resources  # later rungs can add folds only
            if (yield RungRequest(number, (candidate,), n_resources)) is not None:
                return candidate
    return None
