"""One run of a search: its parts, and the loop over an algorithm's rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, Literal

import numpy as np

from sklearn_sha._engine.engine import Engine
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._progress.console import ConsoleProgress
from sklearn_sha._results.results import Results
from sklearn_sha._search.audit import MAX_SHARE, TOO_EXPENSIVE, audit_plan
from sklearn_sha._search.rung_observer import RungObserver
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.store import Store
from sklearn_sha.candidates.pool import CandidatePool
from sklearn_sha.inspection.report import TrustReport


@dataclass(frozen=True)
class Refitted:
    """Refit of the best candidate of an earlier run.

    Attributes
    ----------
    key : (int, int)
        Candidate and resource.
    attributes : dict of str to object
        Attributes of the search that the refit sets.
    """

    key: tuple[int, int]
    attributes: Mapping[str, Any]


@dataclass
class Rounds:
    """The rounds of an algorithm that a run has completed: a bracket, or several that run together.

    Attributes
    ----------
    n : int
    cost : float
        As `Schedule.total_cost` counts it.
    are_all : bool
        Whether no others are run.
    """

    n: int = 0
    cost: float = 0.0
    are_all: bool = False


@dataclass(frozen=True)
class Run:
    """Parts of one run of a search.

    Attributes
    ----------
    spec : SearchSpec
    store : Store
    pool : CandidatePool
    results : Results
    display : ConsoleProgress
    workers : Workers
    observer : RungObserver
    engine : Engine
    deadline : float
        No job begins after it, in seconds as `time.time` counts them.
    keeps_eliminated : bool
        Whether an audit continues the models of eliminated candidates.
    refitted : Refitted or None
        None if there was no earlier run.
    rounds : Rounds
        Those that are completed.
    tried : list of int
        Candidates without a score that were tried with more samples, and have none either.
    """

    spec: SearchSpec
    store: Store
    pool: CandidatePool
    results: Results
    display: ConsoleProgress
    workers: Workers
    observer: RungObserver
    engine: Engine
    deadline: float
    keeps_eliminated: bool
    refitted: Refitted | None = None
    rounds: Rounds = field(default_factory=Rounds)
    tried: list[int] = field(default_factory=list)

    def evaluate_rungs(
        self, report: Callable[[], TrustReport], try_more: Callable[[], None]
    ) -> None:
        """Evaluate the requests of the algorithm and of the audits, until an error is raised.

        Parameters
        ----------
        report : callable
            Returns the trust report of the rungs so far.
        try_more : callable
            Called if no candidate has a score after the first round. Raises a StartAgainError if
            more resource helps.
        """
        with self.workers, self.observer, ExitStack() as stack:
            stack.callback(self.engine.discard_preprocessing)
            self._run_algorithm(try_more)
            if self.spec.audits and not self.keeps_eliminated:
                # A completed search keeps no models either: an audit in `fit` costs the same.
                self.engine.discard_models()
                self.results.discard_models()
            for number, n_candidates in enumerate(self.spec.audits, start=1):
                self._audit(n_candidates, report, is_last=number == len(self.spec.audits))

    def _run_algorithm(self, try_more: Callable[[], None]) -> None:
        """Evaluate the requests of the algorithm, with workers that are running."""
        rounds = self.spec.algorithm.rounds(self.spec.schedule, self.pool.propose)
        requests = next(rounds, None)
        while requests is not None and self.rounds.n != self.spec.n_rounds:
            self.observer.final_losses.clear()
            self.engine.run(requests)
            best = float(np.fmin.reduce([nan, *self.observer.final_losses]))
            if isnan(best) and self.rounds.n == 0:
                self.observer.check_not_stopped()
                try_more()
            self.rounds.n += 1
            self.rounds.cost = self.results.cost
            try:
                requests = rounds.send(best)
            except StopIteration:
                requests = None
                self.observer.algorithm_ends()
        self.rounds.are_all = True

    def _audit(
        self,
        n_candidates: int | Literal["auto"],
        make_report: Callable[[], TrustReport],
        *,
        is_last: bool,
    ) -> None:
        """Audit so many candidates, or until the report sees no risk; show the last audit only."""
        results = self.results
        max_cost = (1 + MAX_SHARE) * results.cost
        while results.has_promoted:
            left = max_cost - results.cost
            report = make_report()
            schedule, cost = self.spec.schedule, results.cost
            plan = audit_plan(report, results, schedule, n_candidates, cost, left)
            if plan is None:
                if is_last and report.eliminated and report.enough is False and not results.audited:
                    self.display.ends_early(f"{TOO_EXPENSIVE}, and is left out.")
                return
            audited = {*zip(plan.brackets, plan.candidates, strict=True)}
            if audited <= results.audited.keys():
                return  # all of them failed, so that the report still has their risks
            number = 1 + max(results.audited.values(), default=0)
            results.audited = dict.fromkeys(audited, number) | results.audited
            if is_last:  # the others are known
                self.display.audit_begins(plan)
            self.engine.run(plan.requests(results))
            if n_candidates != "auto":
                return
