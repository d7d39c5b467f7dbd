"""What an algorithm asks for, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from numpy.typing import ArrayLike

from sklearn_sha.bandit.promotion import promote


@dataclass(frozen=True)
class RungRequest:
    """Request to evaluate some candidates at a resource, and to be sent their losses.

    Attributes
    ----------
    rung : int
        Number of the rung, from 0.
    candidate_ids : tuple of int
        In increasing order.
    n_resources : int
        Total resource that each of them has had when it is scored.
    is_last_rung : bool
        Whether the bracket ends with this rung.
    is_final : bool
        Whether none of these candidates will be requested again, so that no model is kept.
    eliminated : tuple of int
        Candidates of earlier requests that will not be requested again.
    known : tuple of int
        Those of `candidate_ids` whose losses at this resource were sent before.
    bracket : int
        The bracket of Hyperband, or the run of budget doubling, from 0.
    folds : tuple of int or None
        Numbers of the folds to score on. None: all.
    """

    rung: int
    candidate_ids: tuple[int, ...]
    n_resources: int
    is_last_rung: bool = False
    is_final: bool = False
    eliminated: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    bracket: int = 0
    folds: tuple[int, ...] | None = None

    @property
    def new_ids(self) -> tuple[int, ...]:
        """The candidates whose losses at this resource were not sent before."""
        known = set(self.known)
        return tuple(number for number in self.candidate_ids if number not in known)

    def folds_of(self, n_folds: int) -> tuple[int, ...]:
        """Numbers of the folds to score on, of `n_folds` that there are."""
        return tuple(range(n_folds)) if self.folds is None else self.folds


@dataclass(frozen=True)
class Result:
    """What an algorithm found.

    Attributes
    ----------
    best : int
        Number of the best arm.
    spent : int
        Units of resource over all arms, an arm's training counted once.
    history : list of dict
        One a rung: bracket, arms (tuple of int), resource (int), losses (ndarray, in the
        order of arms), kept (tuple of int: the arms that went on, at the end the best).
    """

    best: int
    spent: int
    history: list[dict[str, Any]] = field(repr=False, compare=False)


class LossesError(ValueError):
    """Losses that no algorithm can go by; ``history`` has the rungs before them."""

    def __init__(self, message: str, history: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.history = history


Losses = Callable[[tuple[int, ...], int], ArrayLike]
"""``losses(arms, resource)``: a loss for each arm, once each has had `resource` units in all."""

Propose = Callable[[int], tuple[int, ...]]
"""``propose(n)``: ids of 1 to n candidates that were not proposed before; none if there are no
more. If there are fewer than n, more can be asked for once their losses are known."""

Requests = Generator[RungRequest, ArrayLike | None, int | None]
"""Yields what is to be evaluated, is sent the losses of its candidates, and returns the best one.

It is sent None if all candidates failed, and returns None if that has left no best one."""


def numbered(first_id: int = 0) -> Propose:
    """Propose candidates with consecutive ids, as many as are asked for.

    Parameters
    ----------
    first_id : int, default=0

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
    ids = count(first_id)
    return lambda n: tuple(islice(ids, n))


def promoted_ids(
    request: RungRequest, losses: ArrayLike | None, following: RungRequest
) -> tuple[int, ...]:
    """Candidates of a request that were promoted, or the best one if its bracket ended.

    Parameters
    ----------
    request, following : RungRequest
        Two consecutive requests of one algorithm.
    losses : array-like of float, shape (n_candidates,), or None
        Of the first; None if all candidates failed.

    Returns
    -------
    tuple of int
        Empty if more candidates join the rung.
    """
    if losses is None or (following.bracket, following.rung) == (request.bracket, request.rung):
        return ()
    if following.bracket == request.bracket:
        return following.candidate_ids
    return (request.candidate_ids[int(promote(losses, 1)[0])],)
