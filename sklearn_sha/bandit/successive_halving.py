"""Successive Halving, and the uniform allocation that it improves on."""

from __future__ import annotations

import numpy as np

from sklearn_sha._param_validation import check_int
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.promotion import promote
from sklearn_sha.bandit.requests import Algorithm, Losses, Pull, Result
from sklearn_sha.schedules import (
    Schedule,
    schedule_from_budget,
)


def halving(schedule: Schedule, first_arm: int = 0) -> Algorithm:
    """Successive Halving [1]_ over as many arms as the schedule's first rung has.

    Parameters
    ----------
    schedule : Schedule
        Sizes and resources of the rungs.
    first_arm : int, default=0
        Number of the first arm; the others follow.

    Yields
    ------
    Pull
        The arms of the next rung. Send the generator their losses, in the order of
        ``Pull.arms``.

    Returns
    -------
    int or None
        The best arm of the last rung; None, and no further rung, where all arms of a rung failed.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> from sklearn_sha.bandit import halving
    >>> from sklearn_sha.schedules import schedule_from_budget
    >>> search = halving(schedule_from_budget(4, 16))
    >>> pull = next(search)
    >>> pull.arms, pull.resource
    ((0, 1, 2, 3), 2)
    >>> pull = search.send([0.4, 0.1, 0.3, 0.2])
    >>> pull.arms, pull.resource
    ((1, 3), 6)
    """
    arms = np.arange(schedule.rungs[0].n_candidates) + first_arm
    sizes_after = [*schedule.n_candidates[1:], 1]
    dropped: tuple[int, ...] = ()
    for k, (rung, n_kept) in enumerate(zip(schedule.rungs, sizes_after, strict=True)):
        last = k == len(sizes_after) - 1
        losses = yield Pull(
            k, tuple(arms.tolist()), rung.resource, last, dropped, bracket=rung.bracket
        )
        if losses is None:
            return None
        kept = arms[promote(losses, n_kept)]
        dropped = tuple(np.setdiff1d(arms, kept).tolist())
        arms = kept
    return int(arms[0])


def successive_halving(losses: Losses, n: int, budget: int, factor: float = 2) -> Result:
    """Successive Halving over n arms with a budget.

    Parameters
    ----------
    losses : callable
        ``losses(arms, resource)`` returns the losses, of shape (n_arms,), that these arms
        (tuple of int) have after so many units (int) in all. Lower is better; NaN is worst.
    n : int >= 1
        Number of arms, numbered from 0.
    budget : int
        Units over all arms; never passed.
    factor : real > 1, default=2
        One in so many arms goes on. The paper has 2.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If the budget gives the arms of the first rung less than one unit each.
    LossesError
        If `losses` returns another shape, or NaN for every arm.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.bandit import successive_halving
    >>> def losses(arms, resource):
    ...     return np.array(arms) / 8 + 1 / resource
    >>> successive_halving(losses, n=8, budget=32)
    Result(best=0, spent=26)
    """
    check_int("n", n)
    check_int("budget", budget)
    return run_over_losses([halving(schedule_from_budget(n, budget, factor=factor))], losses)


def uniform_allocation(losses: Losses, n: int, budget: int) -> Result:
    """Give every arm the same share of a budget and take the best: what halving improves on.

    Parameters
    ----------
    losses : callable
        As for `successive_halving`.
    n : int >= 1
    budget : int
        Units over all arms; each gets budget // n.

    Returns
    -------
    Result

    Raises
    ------
    ValueError
        If the budget is less than a unit for each arm.
    LossesError
        As for `successive_halving`.

    Examples
    --------
    >>> from sklearn_sha.bandit import uniform_allocation
    >>> uniform_allocation(lambda arms, resource: [arm / resource for arm in arms], 4, 11)
    Result(best=0, spent=8)
    """
    check_int("n", n)
    check_int("budget", budget)
    if budget < n:
        raise ValueError(
            f"budget={budget} is less than one unit for each of n={n} arms; give at least "
            f"budget={n}."
        )
    return run_over_losses([halving(Schedule.from_rungs([n], [budget // n]))], losses)
