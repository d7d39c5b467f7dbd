"""The papers' algorithms: as generators that ask for losses, and as functions over any losses.

A generator yields a `Pull`, is sent one loss per arm of it, and returns the number of the
best arm. It knows no estimator, no joblib and no clock. The search classes drive these
generators, and so do the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._checks import check_int, check_patience
from sklearn_sha.schedules import (
    Schedule,
    doubling_schedules,
    hyperband_schedules,
    schedule_from_budget,
)


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


class Patience:
    """Counts the winners in a row that were no better than one before.

    Parameters
    ----------
    patience : int >= 1 or None
        How many are too many; None: there is no such number.
    tol : float >= 0
        By how much more a loss has to be lower than the lowest before.

    Examples
    --------
    >>> from sklearn_sha.bandit import Patience
    >>> waiting = Patience(2, tol=0.0)
    >>> [waiting.is_over(loss) for loss in (0.5, 0.4, 0.4, 0.3, 0.3, 0.3)]
    [False, False, False, False, False, True]
    """

    def __init__(self, patience: int | None, tol: float) -> None:
        self.patience = patience
        self.tol = tol
        self._stale = 0
        self._lowest = float("nan")

    def is_over(self, loss: float) -> bool:
        """Take in the loss of a winner; whether it is time to stop."""
        if loss < self._lowest - self.tol or (isnan(self._lowest) and not isnan(loss)):
            self._stale, self._lowest = 0, loss
        else:
            self._stale += 1
        return self.patience is not None and self._stale >= self.patience


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
    return _run([halving(schedule_from_budget(n, budget, factor=factor))], losses)


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
    return _run(bracket_halvings(schedules), losses)


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
    return _run([repeated_halving(schedules, patience=patience, tol=tol)], losses)


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
    return _run([halving(Schedule.from_rungs([n], [budget // n]))], losses)


def running_min(losses: ArrayLike) -> NDArray[np.float64]:
    """The lowest loss so far, which has a limit where the losses are bounded below.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        NaN counts as no loss, unless there is nothing else yet.

    Returns
    -------
    ndarray of float, of the same shape

    Examples
    --------
    >>> from sklearn_sha.bandit import running_min
    >>> running_min([0.5, 0.3, 0.4]).tolist()
    [0.5, 0.3, 0.3]
    """
    return np.fmin.accumulate(np.asarray(losses, dtype=float), axis=-1)


def running_mean(losses: ArrayLike) -> NDArray[np.float64]:
    """The mean of the losses so far, which has a limit where losses fluctuate around one.

    Parameters
    ----------
    losses : array-like of float, shape (..., n_rungs)
        After a NaN the mean is NaN.

    Returns
    -------
    ndarray of float, of the same shape

    Examples
    --------
    >>> from sklearn_sha.bandit import running_mean
    >>> running_mean([0.5, 0.25, 0.75]).tolist()
    [0.5, 0.375, 0.5]
    """
    values = np.asarray(losses, dtype=float)
    return np.cumsum(values, axis=-1) / np.arange(1, values.shape[-1] + 1)


def _run(algorithms: list[Algorithm], losses: Losses) -> Result:
    """Run algorithms one after the other over the same losses; the best is of them all."""
    history: list[dict[str, Any]] = []
    told: dict[tuple[int, int], float] = {}
    furthest: dict[int, int] = {}
    finalists: list[tuple[int, float]] = []
    for algorithm in algorithms:
        pull = next(algorithm)
        while True:
            new = pull.new
            answer = _checked(losses(new, pull.resource), new, pull, history) if new else []
            told.update({(arm, pull.resource): loss for arm, loss in zip(new, answer, strict=True)})
            furthest |= {arm: max(pull.resource, furthest.get(arm, 0)) for arm in pull.arms}
            now = np.array([told[arm, pull.resource] for arm in pull.arms])
            row = {"bracket": pull.bracket, "arms": pull.arms, "resource": pull.resource}
            history.append(row | {"losses": now})
            try:
                following = algorithm.send(now)
            except StopIteration as end:
                history[-1]["kept"] = (end.value,)
                finalists.append((end.value, told[end.value, pull.resource]))
                break
            history[-1]["kept"] = went_on(pull, now, following)
            pull = following
    best, _ = finalists[int(promote([loss for _, loss in finalists], 1)[0])]
    return Result(best, sum(furthest.values()), history)


def _checked(
    answer: ArrayLike, arms: tuple[int, ...], pull: Pull, history: list[dict[str, Any]]
) -> list[float]:
    values = np.asarray(answer, dtype=float)
    if values.shape != (len(arms),):
        raise LossesError(
            f"losses returned shape {values.shape} for {len(arms)} arms at resource "
            f"{pull.resource}; return one loss per arm, in the order of the arms.",
            history,
        )
    if np.isnan(values).all() and not pull.known:
        raise LossesError(
            f"losses returned NaN for all of {len(arms)} arms at resource {pull.resource}, so "
            "there is nothing to choose by; return a number for at least one.",
            history,
        )
    return values.tolist()
