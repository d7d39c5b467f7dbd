"""The doubling trick: runs of Successive Halving with increasing budgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sklearn_sha._param_validation import check_int, check_patience, check_target
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.over_losses import run_over_losses
from sklearn_sha.bandit.promotion import Patience
from sklearn_sha.bandit.requests import Losses, Propose, Requests, Result, numbered
from sklearn_sha.bandit.stopping import Target, target_of
from sklearn_sha.bandit.successive_halving import halving
from sklearn_sha.schedules import Schedule, doubling_schedules


def repeated_halving(
    schedules: Iterable[Schedule],
    propose: Propose | None = None,
    *,
    patience: int | None = 2,
    tol: float = 0.0,
    target: Target | None = None,
) -> Requests:
    """Request the rungs of the doubling trick: runs over the same candidates.

    For the doubling trick see [1]_.

    Parameters
    ----------
    schedules : iterable of Schedule
        Schedules of the runs, as from `sklearn_sha.schedules.doubling_schedules`.
    propose : callable, default=None
        As in `halving`, for the candidates of the first run.
    patience : int >= 1 or None, default=2
        Stop after this many consecutive runs that did not improve the best loss by more than `tol`.
        None: run all of them.
    tol : float >= 0, default=0.0
        Minimum improvement for `patience`. Smaller ones count once they add up to more than this.
    target : Target or None, default=None
        As in `halving`.

    Yields
    ------
    RungRequest
        It can have candidates that were evaluated at this resource before. Send their losses again.

    Returns
    -------
    int or None
        The best candidate of the last run that has one. If all candidates of a rung failed, the
        next run follows.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, section 3.
    """
    propose = propose or numbered()
    ids: tuple[int, ...] = ()
    n_rungs = 0
    best: int | None = None
    stopping = Patience(patience, tol)
    for schedule in schedules:
        run = halving(schedule, _once(ids) if ids else propose, target=target)
        request = next(run, None)
        while request is not None:
            candidates, rung = request.candidate_ids, n_rungs + request.rung
            losses = yield replace(request, rung=rung, is_final=False, eliminated=())
            ids = tuple(sorted({*ids, *candidates}))
            try:
                request = run.send(losses)
            except StopIteration as end:
                n_rungs, request = rung + 1, None
                if end.value is None:
                    continue
                best = end.value
                if target is not None and target.is_reached:
                    return best
                if stopping.is_over(float(np.asarray(losses, dtype=float)[candidates.index(best)])):
                    return best
    return best


def _once(ids: tuple[int, ...]) -> Propose:
    """Propose the given candidates in the first call, and none afterwards."""
    remaining = [ids]
    return lambda n: remaining.pop() if remaining else ()


class BudgetDoubling(Algorithm):
    """The doubling trick: runs over the same candidates, each with a larger budget.

    Parameters
    ----------
    factor : real > 1, default=2
        As in `SuccessiveHalving`; also the ratio between the budgets of two runs.
    patience : int or None, default=2
        Stop after this many consecutive runs that did not improve the best loss by more than `tol`.
        None: run until the maximum is reached.
    tol : float, default=0.0
        Minimum improvement for `patience`. Smaller ones count once they add up to more than this.
    target_loss : float or None, default=None
        Stop when a candidate has at most this loss at the maximum. In a search, the loss is minus
        the score: -0.9 for an accuracy of 0.9.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, BudgetDoubling
    >>> plan = BudgetDoubling().plan(Bounds(n_candidates=4, max_resources=8))
    >>> [run.n_resources for run in plan.brackets]
    [[1, 2], [2, 4], [4, 8]]
    """

    def __init__(
        self,
        factor: float = 2,
        patience: int | None = 2,
        tol: float = 0.0,
        target_loss: float | None = None,
    ) -> None:
        self.factor = factor
        self.patience = patience
        self.tol = tol
        self.target_loss = target_loss

    def plan(self, bounds: Bounds) -> Schedule:
        check_patience(self.patience, self.tol)
        check_target("target_loss", self.target_loss)
        minimum = bounds.min_resources
        if minimum is None:
            minimum = min(bounds.first, bounds.max_resources)
        runs = doubling_schedules(
            bounds.n_candidates,
            factor=self.factor,
            min_resources=minimum,
            max_resources=bounds.max_resources,
            continues=bounds.continues,
        )
        schedule = Schedule.joined((run.with_kept(bounds.n_kept) for run in runs), repeats=True)
        return bounds.with_folds(schedule, self.factor)

    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        return repeated_halving(
            plan.brackets,
            propose,
            patience=self.patience,
            tol=self.tol,
            target=target_of(self.target_loss, plan),
        )


def doubling(
    losses: Losses,
    n: int,
    factor: float = 2,
    min_resources: int = 1,
    max_resources: int | None = None,
    patience: int | None = 2,
    tol: float = 0.0,
) -> Result:
    """Successive Halving without a given budget: the doubling trick.

    Successive Halving runs over the same arms again and again, each time with a budget that is
    larger by `factor`. Known losses are reused: the total cost is the sum over arms of the largest
    resource of each.

    Parameters
    ----------
    losses : callable
        As in `successive_halving`. It is called at most once for an arm and a resource.
    n : int >= 1
    factor : real > 1, default=2
        As in `successive_halving`; also the ratio between the budgets of two runs.
    min_resources : int >= 1, default=1
        Units of the first rung of the first run.
    max_resources : int >= 1 or None, default=None
        The run that reaches it is the last one.
    patience : int >= 1 or None, default=2
        Stop after this many consecutive runs that did not improve the best loss by more than `tol`.
        None: run until `max_resources` is reached.
    tol : float >= 0, default=0.0
        Minimum improvement for `patience`. Smaller ones count once they add up to more than this.

    Returns
    -------
    Result
        ``best`` is the best arm of the last run.

    Raises
    ------
    ValueError
        If `patience` and `max_resources` are both None.
    LossesError
        As in `successive_halving`.

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
    Result(best=1, total_cost=48)
    """
    check_int("n", n)
    check_int("max_resources", max_resources, None)
    check_patience(patience, tol)
    if patience is None and max_resources is None:
        raise ValueError(
            "patience=None and max_resources=None: the doubling trick would never stop. Set one of "
            "them."
        )
    schedules = doubling_schedules(
        n, factor=factor, min_resources=min_resources, max_resources=max_resources
    )
    return run_over_losses([repeated_halving(schedules, patience=patience, tol=tol)], losses)
