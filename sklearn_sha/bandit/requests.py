"""What an algorithm asks for, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import ArrayLike

from sklearn_sha.bandit.promotion import promote


@dataclass(frozen=True)
class Pull:
    """What an algorithm asks for: the losses of some arms at a resource.

    Attributes
    ----------
    rung : int
        The rung that asks.
    arms : tuple of int
        Numbers of the arms, rising.
    resource : int
        Total units that each of them is to have had.
    last : bool
        Whether none of these arms will be asked for again.
    dropped : tuple of int
        Arms of earlier pulls that will not be asked for again.
    known : tuple of int
        Arms, among `arms`, of which the loss at this resource was told before.
    bracket : int
        The bracket of Hyperband, or the halving of the doubling trick, that asks.
    """

    rung: int
    arms: tuple[int, ...]
    resource: int
    last: bool
    dropped: tuple[int, ...] = ()
    known: tuple[int, ...] = ()
    bracket: int = 0

    @property
    def new(self) -> tuple[int, ...]:
        """The arms whose loss at this resource was not told before."""
        known = set(self.known)
        return tuple(arm for arm in self.arms if arm not in known)


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

Algorithm = Generator[Pull, ArrayLike | None, int | None]
"""Yields what is to be trained, is sent the losses of its arms, and returns the best arm.

It is sent None in place of the losses where all arms failed, and returns None where that has left
no best arm."""


def went_on(pull: Pull, losses: ArrayLike | None, following: Pull) -> tuple[int, ...]:
    """Arms of a pull that went on: into the one that follows, or as the winner of a halving.

    Parameters
    ----------
    pull, following : Pull
        Two pulls of one algorithm, one after the other.
    losses : array-like of float, shape (n_arms,), or None
        Of the first; None where all arms failed.

    Returns
    -------
    tuple of int
    """
    if losses is None:
        return ()
    if following.bracket == pull.bracket:
        return following.arms
    return (pull.arms[int(promote(losses, 1)[0])],)
