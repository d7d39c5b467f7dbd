"""The doubling trick: Successive Halving with increasing budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sklearn_sha._param_validation import check_int, check_patience
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.promotion import Patience
from sklearn_sha.bandit.requests import Algorithm, Losses, Result
from sklearn_sha.bandit.successive_halving import halving
from sklearn_sha.schedules import (
    Schedule,
    doubling_schedules,
)


def repeated_halving(
    schedules: Iterable[Schedule], *, patience: int | None = 2, tol: float = 0.0
) -> Algorithm:
    """The doubling trick [1]_: halvings of the same arms, each of a larger budget.

    Parameters
    ----------
    schedules : iterable of Schedule
        Of `sklearn_sha.schedules.doubling_schedules`.
    patience : int >= 1 or None, default=2
        Stop after so many halvings in a row whose winner's loss is not lower by more than
        `tol` than the lowest of a winner before. None: go on to the last schedule.
    tol : float >= 0, default=0.0

    Yields
    ------
    Pull
        ``known`` has the arms whose loss at this resource was told before: send it again.

    Returns
    -------
    int or None
        The winner of the last halving that has one. A halving ends with a rung in which all arms
        failed, and the next one follows.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, section 3.
    """
    told: set[tuple[int, int]] = set()
    rung = 0
    winner: int | None = None
    waiting = Patience(patience, tol)
    for schedule in schedules:
        inner = halving(schedule)
        pull = next(inner)
        while True:
            known = tuple(arm for arm in pull.arms if (arm, pull.resource) in told)
            losses = yield replace(pull, rung=rung, last=False, dropped=(), known=known)
            rung += 1
            told |= {(arm, pull.resource) for arm in pull.arms}
            try:
                pull = inner.send(losses)
            except StopIteration as end:
                best = end.value
                break
        if best is None:
            continue
        winner = best
        if waiting.is_over(float(np.asarray(losses, dtype=float)[pull.arms.index(best)])):
            break
    return winner


def doubling(
    losses: Losses,
    n: int,
    factor: float = 2,
    min_resources: int = 1,
    max_resources: int | None = None,
    patience: int | None = 2,
    tol: float = 0.0,
) -> Result:
    """The doubling trick: Successive Halving with no budget to choose.

    Halves with the smallest budget, multiplies the budget by `factor`, halves the same arms
    again, and so on. What is known of an arm is not asked for again, so that all training
    is the sum over arms of the furthest resource of each.

    Parameters
    ----------
    losses : callable
        As for `successive_halving`; asked at most once for an arm and a resource.
    n : int >= 1
    factor : real > 1, default=2
    min_resources : int >= 1, default=1
        Units of the very first rung.
    max_resources : int >= 1 or None, default=None
        The halving that reaches it is the last.
    patience : int >= 1 or None, default=2
        Stop after so many halvings in a row whose winner is not better by more than `tol`.
    tol : float >= 0, default=0.0

    Returns
    -------
    Result
        ``best`` is the winner of the last halving.

    Raises
    ------
    ValueError
        If nothing would ever stop it: neither `patience` nor `max_resources`.
    LossesError
        As for `successive_halving`.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.bandit import doubling
    >>> limits = np.array([0.3, 0.1, 0.2, 0.4])
    >>> doubling(lambda arms, resource: limits[list(arms)] + 1 / resource, 4, max_resources=16)
    Result(best=1, spent=48)
    """
    check_int("n", n)
    check_int("min_resources", min_resources)
    check_int("max_resources", max_resources, "None", max_resources is None)
    check_patience(patience, tol)
    if patience is None and max_resources is None:
        raise ValueError(
            "patience=None and max_resources=None leave nothing that stops the doubling; give "
            "one of them."
        )
    schedules = doubling_schedules(
        n, factor=factor, min_resources=min_resources, max_resources=max_resources
    )
    return run_over_losses([repeated_halving(schedules, patience=patience, tol=tol)], losses)
