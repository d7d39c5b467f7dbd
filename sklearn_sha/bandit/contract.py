"""The contract test of algorithms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.requests import RungRequest, numbered
from sklearn_sha.schedules import Schedule


def check_algorithm(algorithm: Algorithm, bounds: Bounds, n_seeds: int = 20) -> None:
    """Check that an algorithm keeps its contract, over random losses.

    Given the same losses it makes the same requests, for the same plan. It requests candidates that
    were proposed, each of them at an increasing resource of at most `Bounds.max_resources`, marks
    what it requested before as known, does not request what it marked as eliminated or final,
    and stays within its plan. It returns a candidate that it requested, and ends if all fail.

    Parameters
    ----------
    algorithm : Algorithm
    bounds : Bounds
    n_seeds : int, default=20
        How many tables of random losses are tried.

    Raises
    ------
    AssertionError
        With what the algorithm does not keep.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, SuccessiveHalving, check_algorithm
    >>> check_algorithm(SuccessiveHalving(), Bounds(n_candidates=10, max_resources=81))
    """
    for continues in (True, False):
        plan = algorithm.plan(replace(bounds, continues=continues))
        assert plan == algorithm.plan(replace(bounds, continues=continues)), (
            "plan differs between two calls with the same bounds"
        )
        for seed in range(n_seeds):
            first = _run(algorithm, plan, bounds, seed)
            assert first == _run(algorithm, plan, bounds, seed), (
                f"requests differ between two runs with the same losses (seed {seed})"
            )
    _, best = _run(algorithm, plan, bounds, None)
    assert best is None, f"all candidates failed, and {best} is returned as the best; return None"


def _run(
    algorithm: Algorithm, plan: Schedule, bounds: Bounds, seed: int | None
) -> tuple[list[RungRequest], int | None]:
    """Run over random losses, or with `seed` None over failures only; check each request."""
    asked = _Asked(plan, bounds)
    lowest = float("nan")
    rounds = algorithm.rounds(plan, asked.propose)
    try:
        running = next(rounds)
        while True:
            finals = []
            for requests in running:
                answer = None
                try:
                    request = next(requests)
                    while True:
                        asked.check(request)
                        answer = None if seed is None else asked.losses(request, seed)
                        request = requests.send(answer)
                except StopIteration as end:
                    asked.check_best(end.value)
                    finals += [] if answer is None else [float(np.min(answer))]
            lowest = min(finals, default=float("nan"))
            running = rounds.send(lowest)
    except StopIteration:
        return asked.requests, asked.best


class _Asked:
    """What an algorithm has requested so far."""

    def __init__(self, plan: Schedule, bounds: Bounds) -> None:
        self.requests: list[RungRequest] = []
        self.best: int | None = None
        self._plan = plan
        self._bounds = bounds
        self._source = numbered()
        self._proposed: set[int] = set()
        self._scored: set[tuple[int, int]] = set()
        self._trained: dict[int, int] = {}
        self._gone: set[int] = set()
        self._cost = 0

    def propose(self, n: int) -> tuple[int, ...]:
        assert n >= 1, f"propose({n}) is called; ask for at least one candidate"
        ids = self._source(n)
        self._proposed.update(ids)
        assert len(self._proposed) <= self._plan.n_different, (
            f"{len(self._proposed)} candidates are proposed, and the plan has "
            f"{self._plan.n_different}"
        )
        return ids

    def check(self, request: RungRequest) -> None:
        ids, n_resources = request.candidate_ids, request.n_resources
        assert ids, f"a request has no candidates: {request}"
        assert list(ids) == sorted(set(ids)), f"candidate_ids do not increase: {request}"
        assert self._proposed.issuperset(ids), f"candidates were not proposed: {request}"
        assert self._gone.isdisjoint(ids), f"eliminated or final candidates return: {request}"
        limit = self._bounds.max_resources
        assert not limit or n_resources <= limit, f"more than max_resources={limit}: {request}"
        scored = tuple(number for number in ids if (number, n_resources) in self._scored)
        assert request.known == scored, f"known is {request.known}, and not {scored}: {request}"
        for number in request.new_ids:
            before = self._trained.get(number, 0) if self._plan.continues else 0
            assert n_resources > before, f"the resource does not increase: {request}"
            self._cost += n_resources - before
            self._trained[number] = n_resources
        assert self._cost <= self._plan.spent, (
            f"the cumulative cost is {self._cost}, and the plan has {self._plan.spent}: {request}"
        )
        self._scored |= {(number, n_resources) for number in ids}
        self._gone.update(request.eliminated, ids if request.is_final else ())
        self.requests.append(request)

    def losses(self, request: RungRequest, seed: int) -> list[float]:
        # A candidate's loss depends on nothing but the candidate and the resource.
        of = [np.random.default_rng([seed, i, request.n_resources]) for i in request.candidate_ids]
        return [float(rng.choice([rng.random(), np.nan], p=[0.9, 0.1])) for rng in of]

    def check_best(self, best: int | None) -> None:
        if best is not None:
            assert best in self._trained, f"{best} is returned as the best, and was not requested"
            self.best = best
