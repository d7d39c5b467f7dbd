"""Contract test of algorithms."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress, product

import numpy as np
from numpy.typing import ArrayLike

from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.requests import RungRequest, numbered
from sklearn_sha.schedules import FoldGrowth, Schedule


def check_algorithm(algorithm: Algorithm, bounds: Bounds, n_seeds: int = 20) -> None:
    """Check that an algorithm fulfills its contract, over random losses.

    An algorithm

    - plans a schedule, and requests at least one rung;
    - makes the same requests if the plan and the losses are the same;
    - requests proposed candidates only, each with increasing resources up to
      `Bounds.max_resources`;
    - requests the candidates of a last rung on all folds;
    - gives each rung of a bracket a number of its own, with one resource and the same folds;
    - requests no candidate again that it marked as eliminated or final;
    - requests no more candidates and no more resource than its plan has;
    - promotes the candidates that the plan keeps (``Schedule.n_kept``) up to a last rung, unless
      they fail;
    - returns a candidate that it requested, or None if all candidates fail. It does not return one
      of the last request that failed if others have losses.

    Parameters
    ----------
    algorithm : Algorithm
    bounds : Bounds
    n_seeds : int, default=20
        Number of tables of random losses.

    Raises
    ------
    AssertionError
        If the algorithm violates its contract.
    TypeError
        If `requests` returns no generator.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, SuccessiveHalving, check_algorithm
    >>> check_algorithm(SuccessiveHalving(), Bounds(n_candidates=10, max_resources=81))
    """
    growth = bounds.fold_growth or FoldGrowth(order=(3, 0, 2, 4, 1))
    variants = product((True, False), (None, growth), {0, bounds.n_kept})
    for continues, fold_growth, n_kept in variants:
        variant = replace(bounds, continues=continues, fold_growth=fold_growth, n_kept=n_kept)
        plan = algorithm.plan(variant)
        assert isinstance(plan, Schedule), f"plan returned {plan!r} instead of a Schedule"
        assert plan == algorithm.plan(variant), (
            "plan differs between two calls with the same bounds"
        )
        for seed in range(n_seeds):
            first = _run(algorithm, plan, bounds, seed)
            assert first[0], "no rung is requested"
            assert first == _run(algorithm, plan, bounds, seed), (
                f"requests differ between two runs with the same losses (seed {seed})"
            )
        _, best = _run(algorithm, plan, bounds, None)
        assert best is None, f"{best} is returned although all candidates failed. Return None."


def _run(
    algorithm: Algorithm, plan: Schedule, bounds: Bounds, seed: int | None
) -> tuple[list[RungRequest], int | None]:
    """Run over random losses, or over failures only if `seed` is None, and check each request."""
    checker = _RequestChecker(plan, bounds, in_waves=bool(seed and seed % 2))
    rounds = algorithm.rounds(plan, checker.propose)
    try:
        running = next(rounds)
        while True:
            finals = []
            for requests in running:
                losses = None
                try:
                    request = next(requests)
                    while True:
                        checker.check(request)
                        losses = None if seed is None else checker.losses(request, seed)
                        request = requests.send(losses)
                except StopIteration as end:
                    checker.check_best(end.value, losses)
                    finals += [] if losses is None else losses
            running = rounds.send(float(np.fmin.reduce([np.nan, *finals])))
    except StopIteration:
        if seed is not None:
            checker.check_kept()
        return checker.requests, checker.best


class _RequestChecker:
    """Checks each request against those before."""

    def __init__(self, plan: Schedule, bounds: Bounds, in_waves: bool) -> None:
        self.requests: list[RungRequest] = []
        self.best: int | None = None
        self._plan = plan
        self._bounds = bounds
        self._in_waves = in_waves
        self._source = numbered()
        self._proposed: set[int] = set()
        self._scored: set[tuple[int, int, int]] = set()
        self._trained: dict[tuple[int, int], int] = {}
        self._finished: set[int] = set()
        self._failed: set[int] = set()
        self._rungs: dict[int, RungRequest] = {}
        self._cost = 0

    def propose(self, n: int) -> tuple[int, ...]:
        assert n >= 1, f"propose({n}) is called. Propose at least one candidate."
        # A sampler that uses the history proposes the others once these are scored.
        ids = self._source(-(-n // 2) if self._in_waves else n)
        self._proposed.update(ids)
        assert len(self._proposed) <= self._plan.n_different, (
            f"{len(self._proposed)} candidates are proposed, but the plan has "
            f"{self._plan.n_different} only"
        )
        return ids

    def check(self, request: RungRequest) -> None:
        ids, n_resources = request.candidate_ids, request.n_resources
        assert ids, f"a request has no candidates: {request}"
        assert list(ids) == sorted(set(ids)), f"candidate_ids do not increase: {request}"
        latest = self._rungs.get(request.bracket, request)
        assert request.rung >= latest.rung, (
            f"the numbers of the rungs of a bracket decrease: {request}"
        )
        is_same = (n_resources, request.folds) == (latest.n_resources, latest.folds)
        assert request.rung > latest.rung or is_same, (
            "two requests with the same number of a rung have different resources or folds: "
            f"{request}"
        )
        self._rungs[request.bracket] = request
        named = {*ids, *request.eliminated}
        assert self._proposed.issuperset(named), f"candidates were not proposed: {request}"
        assert self._finished.isdisjoint(ids), (
            f"eliminated or final candidates are requested again: {request}"
        )
        limit = self._bounds.max_resources
        assert not limit or n_resources <= limit, (
            f"n_resources is larger than max_resources={limit}: {request}"
        )
        all_folds = range(self._plan.n_folds or 1)
        folds = all_folds if request.folds is None else request.folds
        assert not request.is_last_rung or sorted(folds) == [*all_folds], (
            f"a last rung has {len(folds)} of {len(all_folds)} folds: {request}"
        )
        for number, fold in product(ids, folds):
            if (number, fold, n_resources) in self._scored:
                continue
            self._scored.add((number, fold, n_resources))
            before = self._trained.get((number, fold), 0) if self._plan.continues else 0
            assert n_resources > before, f"the resource does not increase: {request}"
            self._cost += n_resources - before
            self._trained[number, fold] = n_resources
        assert self._cost <= self._plan.total_cost, (
            f"the cumulative cost is {self._cost}, but that of the plan is "
            f"{self._plan.total_cost}: {request}"
        )
        self._finished.update(request.eliminated, ids if request.is_final else ())
        self.requests.append(request)

    def losses(self, request: RungRequest, seed: int) -> list[float]:
        # A loss depends on the candidate and the resource only.
        rngs = [
            np.random.default_rng([seed, i, request.n_resources]) for i in request.candidate_ids
        ]
        losses = [float(rng.choice([rng.random(), np.nan], p=[0.9, 0.1])) for rng in rngs]
        self._failed.update(
            number
            for number, loss in zip(request.candidate_ids, losses, strict=True)
            if np.isnan(loss)
        )
        return losses

    def check_kept(self) -> None:
        """Check that candidates that are kept were requested at a last rung."""
        last = {
            i for request in self.requests if request.is_last_rung for i in request.candidate_ids
        }
        missing = [
            number
            for number in range(self._plan.n_kept)
            if number not in last and number not in self._failed
        ]
        assert not missing, f"candidates {missing} are kept, but not requested at a last rung"

    def check_best(self, best: int | None, losses: ArrayLike | None) -> None:
        """Check what is returned after the losses of the last request."""
        is_nan = np.isnan(np.asarray([] if losses is None else losses, dtype=float))
        has_number = not is_nan.all()
        if best is None:
            assert not (has_number and self.requests[-1].is_last_rung), (
                "None is returned after a last rung with losses. Return its best candidate."
            )
        else:
            is_requested = any(number == best for number, _ in self._trained)
            assert is_requested, f"{best} is returned and was not requested"
            failed = compress(self.requests[-1].candidate_ids, is_nan)
            assert not (has_number and best in failed), (
                f"{best} is returned, which failed, and others have losses"
            )
            self.best = best
