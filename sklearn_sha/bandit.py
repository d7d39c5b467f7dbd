"""The papers' algorithms as generators: they ask for losses and are told them.

A generator yields a `Pull`, is sent one loss per arm of it, and returns the number of the
best arm. It knows no estimator, no joblib and no clock.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha.schedules import Schedule


@dataclass(frozen=True)
class Pull:
    """What an algorithm asks for: the losses of some arms at a resource.

    Attributes
    ----------
    rung : int
        The rung of the schedule that asks.
    arms : tuple of int
        Numbers of the arms, rising.
    resource : int
        Total units that each of them is to have had.
    last : bool
        Whether no pull follows, so that no arm will be asked for again.
    """

    rung: int
    arms: tuple[int, ...]
    resource: int
    last: bool


def promote(losses: ArrayLike, n: int) -> NDArray[np.intp]:
    """Positions of the `n` lowest losses, in rising order of position.

    A tie goes to the position that comes first, and NaN never beats a number.

    Parameters
    ----------
    losses : array-like of float, shape (n_arms,)
    n : int
        How many to keep, at most n_arms.

    Returns
    -------
    ndarray of int, shape (n,)

    Examples
    --------
    >>> from sklearn_sha.bandit import promote
    >>> promote([0.3, float("nan"), 0.1, 0.3], 2).tolist()
    [0, 2]
    """
    # A stable sort keeps ties in order, and numpy sorts NaN behind every number.
    order = np.argsort(np.asarray(losses, dtype=float), kind="stable")
    return np.sort(order[:n])


def halving(schedule: Schedule) -> Generator[Pull, ArrayLike, int]:
    """Successive Halving [1]_ over the arms 0 .. n-1 of a schedule.

    Parameters
    ----------
    schedule : Schedule
        Sizes and resources of the rungs.

    Yields
    ------
    Pull
        The arms of the next rung. Send the generator their losses, in the order of
        ``Pull.arms``.

    Returns
    -------
    int
        The best arm of the last rung.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_sha.bandit import halving
    >>> from sklearn_sha.schedules import schedule_from_budget
    >>> search = halving(schedule_from_budget(4, 16))
    >>> next(search)
    Pull(rung=0, arms=(0, 1, 2, 3), resource=2, last=False)
    >>> search.send([0.4, 0.1, 0.3, 0.2])
    Pull(rung=1, arms=(1, 3), resource=6, last=True)
    """
    arms = np.arange(schedule.rungs[0].n_candidates)
    sizes_after = [*schedule.n_candidates[1:], 1]
    for k, (rung, n_kept) in enumerate(zip(schedule.rungs, sizes_after, strict=True)):
        last = k == len(sizes_after) - 1
        losses = yield Pull(k, tuple(arms.tolist()), rung.resource, last)
        arms = arms[promote(losses, n_kept)]
    return int(arms[0])
