"""Hyperband: brackets of Successive Halving."""

from __future__ import annotations

from collections.abc import Iterable

from sklearn_sha._param_validation import check_int
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.requests import Algorithm, Losses, Result
from sklearn_sha.bandit.successive_halving import halving
from sklearn_sha.schedules import (
    Schedule,
    hyperband_schedules,
)


def hyperband(
    losses: Losses, max_resources: int, factor: float = 3, min_resources: int = 1
) -> Result:
    """Hyperband: brackets of Successive Halving, from the widest to a grid search.

    Parameters
    ----------
    losses : callable
        As for `successive_halving`. Arms are numbered over all brackets, so every bracket
        has arms of its own.
    max_resources : int >= 1
        Units of the last rung of every bracket.
    factor : real > 1, default=3
    min_resources : int >= 1, default=1

    Returns
    -------
    Result
        ``best`` is the best arm at `max_resources`.

    Raises
    ------
    ValueError
        If `min_resources` is more than `max_resources`.
    LossesError
        As for `successive_halving`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.bandit import hyperband
    >>> rng = np.random.default_rng(0)
    >>> limits = rng.random(143)  # 81 + 34 + 15 + 8 + 5 arms
    >>> result = hyperband(lambda arms, resource: limits[list(arms)] + 1 / resource, 81)
    >>> print(result.best == limits.argmin(), result.spent)
    True 1581
    """
    check_int("max_resources", max_resources)
    check_int("min_resources", min_resources)
    schedules = hyperband_schedules(max_resources, factor=factor, min_resources=min_resources)
    return run_over_losses(bracket_halvings(schedules), losses)


def bracket_halvings(schedules: Iterable[Schedule]) -> list[Algorithm]:
    """One `halving` a schedule, each with arms of its own, numbered on.

    Parameters
    ----------
    schedules : iterable of Schedule
        Of one bracket each.

    Returns
    -------
    list of Algorithm
    """
    algorithms, first_arm = [], 0
    for schedule in schedules:
        algorithms.append(halving(schedule, first_arm))
        first_arm += schedule.n_candidates[0]
    return algorithms
