"""Requests and results of algorithms."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import count, islice
from operator import index
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha.bandit.promotion import promote


@dataclass(frozen=True)
class RungRequest:
    """Request to evaluate candidates at a resource.

    Attributes
    ----------
    rung : int
        Number of the rung, from 0.
    candidate_ids : tuple of int
        In increasing order.
    n_resources : int
        Total resource of each candidate when it is scored.
    is_last_rung : bool, default=False
        Whether this is the last rung of the bracket.
    is_final : bool, default=False
        Whether none of these candidates will be requested again. Then no models are stored.
    eliminated : tuple of int, default=()
        Candidates of earlier requests that will not be requested again.
    bracket : int, default=0
        The bracket of the search, or the run of budget doubling, from 0.
    folds : tuple of int or None, default=None
        Folds to score on, usually those of the plan's rung. None: all folds. Scores that are known
        from earlier requests are not computed again.
    """

    rung: int
    candidate_ids: tuple[int, ...]
    n_resources: int
    is_last_rung: bool = False
    is_final: bool = False
    eliminated: tuple[int, ...] = ()
    bracket: int = 0
    folds: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        # Algorithms may compute with NumPy's integers, which a checkpoint cannot store as JSON.
        own = self.__dict__
        for name in ("rung", "n_resources", "bracket"):
            own[name] = index(own[name])
        for name in ("candidate_ids", "eliminated", "folds"):
            if own[name] is not None:
                own[name] = tuple(map(index, own[name]))


class RungLosses(np.ndarray):
    """Losses of the candidates of a rung, with their losses on each fold.

    A search sends them to its algorithm: minus the mean test scores or, before the last rung, minus
    those that `score_aggregation` combines. They are an array of shape (n_candidates,). What is
    computed from them has no `fold_losses`, so that it counts as losses on a single fold.

    Attributes
    ----------
    fold_losses : ndarray of float, shape (n_candidates, n_folds)
        Losses on the folds that score the rung.
    has_failed : ndarray of bool, shape (n_candidates,)
        Whether a fit or a score failed, or the loss is NaN. A failed candidate has a loss if
        `error_score` of the search is a number.
    waits : ndarray of bool, shape (n_candidates,)
        Whether a candidate failed for lack of resource, and waits for a rung with more.

    Examples
    --------
    >>> from sklearn_sha.bandit import RungLosses
    >>> losses = RungLosses.of([0.5, 0.25], fold_losses=[[0.25, 0.75], [0.25, 0.25]])
    >>> losses.tolist(), losses.fold_losses.shape
    ([0.5, 0.25], (2, 2))
    """

    fold_losses: NDArray[np.float64]
    has_failed: NDArray[np.bool_]
    waits: NDArray[np.bool_]

    def __array_wrap__(self, array: Any, context: Any = None, *args: Any) -> Any:
        """Return the result of a computation; the candidates that failed remain the same."""
        wrapped = super().__array_wrap__(array, context, *args)
        if (
            isinstance(wrapped, RungLosses)
            and wrapped.shape == self.shape
            and hasattr(self, "has_failed")
        ):
            wrapped.has_failed = self.has_failed
            wrapped.waits = self.waits
        return wrapped

    @classmethod
    def of(
        cls,
        losses: ArrayLike,
        fold_losses: ArrayLike,
        has_failed: ArrayLike | None = None,
        waits: ArrayLike | None = None,
    ) -> Self:
        """Return losses with those on each fold, and which candidates failed, and which wait.

        None: none of them.
        """
        rung_losses = np.array(losses, dtype=float).view(cls)
        rung_losses.fold_losses = np.asarray(fold_losses, dtype=float)
        rung_losses.has_failed = np.isnan(np.asarray(rung_losses))
        if has_failed is not None:
            rung_losses.has_failed |= np.asarray(has_failed, dtype=bool)
        rung_losses.waits = np.zeros(len(rung_losses), dtype=bool)
        if waits is not None:
            rung_losses.waits |= np.asarray(waits, dtype=bool)
        return rung_losses


def as_rung_losses(losses: ArrayLike) -> RungLosses:
    """Return losses as `RungLosses`; others count as those of a single fold without failures."""
    if isinstance(losses, RungLosses) and hasattr(losses, "fold_losses"):
        return losses  # and not an array that was computed from some, which has no attributes
    has_failed, waits = getattr(losses, "has_failed", None), getattr(losses, "waits", None)
    return RungLosses.of(losses, np.asarray(losses, dtype=float)[:, np.newaxis], has_failed, waits)


@dataclass(frozen=True)
class Result:
    """Result of an algorithm over arbitrary losses.

    Attributes
    ----------
    best : int
        Number of the best arm.
    total_cost : int
        Units over all arms. Arms continue training, so that each unit of an arm counts once.
    history : list of dict
        One dict per rung: bracket, arms (tuple of int), n_resources (int), losses (ndarray, in the
        order of arms), kept (tuple of int: the promoted arms, in the last rung the best one).
    """

    best: int
    total_cost: int
    history: list[dict[str, Any]] = field(repr=False, compare=False)


class LossesError(ValueError):
    """Invalid losses; ``history`` has the rungs before them."""

    def __init__(self, message: str, history: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.history = history


Losses = Callable[[tuple[int, ...], int], ArrayLike]
"""``losses(arms, resource)`` returns the loss of each arm after `resource` units in total."""

Propose = Callable[[int], tuple[int, ...]]
"""``propose(n)`` returns the ids of 1 to n new candidates. Empty if there are no more. If there are
fewer than n, call it again once their losses are known."""

Requests = Generator[RungRequest, ArrayLike | None, int | None]
"""Yields requests, receives the losses of their candidates and returns the best candidate.

It receives None if no candidate has a score, and returns None if there is no best candidate."""


def numbered() -> Propose:
    """Return a function that proposes candidates with consecutive ids, from 0.

    Returns
    -------
    callable

    Examples
    --------
    >>> from sklearn_sha.bandit import numbered
    >>> propose = numbered()
    >>> propose(2), propose(3)
    ((0, 1), (2, 3, 4))
    """
    ids = count()
    return lambda n: tuple(islice(ids, n))


def promoted_ids(
    request: RungRequest, losses: ArrayLike | None, following: RungRequest
) -> tuple[int, ...]:
    """Return the candidates of a request that were promoted, or the best one of a last rung.

    Parameters
    ----------
    request, following : RungRequest
        Two consecutive requests of one algorithm.
    losses : array-like of float, shape (n_candidates,), or None
        Losses of `request`. None if all candidates failed, or if no candidate of a rung that is
        not the last one has a score.

    Returns
    -------
    tuple of int
        Empty if `following` adds candidates to the same rung. Candidates that are new in
        `following` were not promoted.
    """
    if losses is None or (following.bracket, following.rung) == (request.bracket, request.rung):
        return ()
    if following.bracket == request.bracket:
        before = {*request.candidate_ids}
        return tuple(number for number in following.candidate_ids if number in before)
    return (request.candidate_ids[int(promote(losses, 1)[0])],)
