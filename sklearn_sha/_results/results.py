"""Collects the outcomes of a search, rung by rung."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._engine.observer import StageTimes
from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._engine.scoring import Scoring
from sklearn_sha._results.failures import failures_of
from sklearn_sha._results.rung_history import RungHistory
from sklearn_sha._results.rung_outcome import RungOutcome, last_rung_of
from sklearn_sha._results.scores_by_metric import scores_by_metric
from sklearn_sha._results.tables import all_cv_results, cv_results, rung_rows, selected_run
from sklearn_sha._results.trained_units import TrainedUnits
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.schedules import Schedule


class Results:
    """Collects the outcomes of a search, rung by rung.

    Parameters
    ----------
    params : sequence of dict
        Parameters by candidate id. It may grow during the search.
    schedule : Schedule
        Plan of the search.
    scoring : Scoring
    n_folds : int
    error_score : float
        Score that replaces a missing one.
    return_train_score : bool

    Attributes
    ----------
    failures : list of dict
        One dict per failed fit or score: candidate, params, split, rung, n_resources, failed
        ("fit" or "score") and error (the traceback).
    n_fits : int
        Number of fits, including failed ones.
    preprocessing_seconds : float
        Seconds of the longest fit of shared preprocessing on a fold; 0 without.
    metric : str
        Metric that promotes. The first one by default.
    audited : dict of (int, int) to int
        Brackets and candidates that audits add to last rungs, with the number of the audit.
    """

    def __init__(
        self,
        params: Sequence[dict[str, Any]],
        schedule: Schedule,
        scoring: Scoring,
        *,
        n_folds: int,
        error_score: float,
        return_train_score: bool,
    ) -> None:
        self.params = params
        self.n_folds = n_folds
        self._n_folds_in_cost = 1 if schedule.costs_all_folds else n_folds
        self._trained = TrainedUnits(n_folds, schedule.continues)
        self.audited: dict[tuple[int, int], int] = {}
        self._schedule = schedule
        self.error_score = error_score
        self._metrics = scoring.metrics
        self.is_multimetric = scoring.is_multimetric
        self.return_train_score = return_train_score
        self.failures: list[dict[str, Any]] = []
        self.n_fits = 0
        self.preprocessing_seconds = 0.0
        self.metric = self.metrics[0]
        self._promoted: dict[tuple[int, int], tuple[int, ...]] = {}
        self._rungs: list[RungOutcome] = []

    def add(
        self,
        jobs: RungJobs,
        outcomes: Sequence[Outcome],
        times: StageTimes,
        is_complete: bool,
    ) -> None:
        """Add the outcomes of a request.

        If the request adds candidates or folds to a rung, that rung is replaced by one with all of
        them. It need not be the last one, since rungs of several brackets can grow in turns.

        Parameters
        ----------
        jobs : RungJobs
        outcomes : sequence of Outcome
            All outcomes of the rung, candidate by candidate and fold by fold.
        times : StageTimes
            Of the stage in which they were evaluated.
        is_complete : bool
            False if the search was interrupted before all candidates were evaluated.
        """
        if self._metrics is None:
            self._find_metrics(outcomes)
        request = jobs.request
        extended = next((rung for rung in self._rungs if rung.is_extended_by(request)), None)
        earlier = [rung for rung in self._rungs if rung is not extended]
        previous = last_rung_of(earlier, request.bracket)
        # Candidates that an audit adds after others were promoted do not make a rung incomplete.
        is_complete |= bool(self._promoted.get((request.bracket, request.rung)))
        is_new = jobs.is_new()
        new_outcomes = [*compress(outcomes, is_new.flat)]
        self.n_fits += len(new_outcomes)
        self.preprocessing_seconds = max(
            [self.preprocessing_seconds, *(outcome.preprocessing_time for outcome in outcomes)]
        )
        self.failures += failures_of(request, new_outcomes, self.params)
        units = self._trained.add(request.candidate_ids, jobs.folds, jobs.target, is_new)
        waiting: frozenset[int] = frozenset()
        if extended is not None:
            units += extended.units
            times = extended.times + times
            waiting = extended.waiting
            is_new |= extended.is_new_at(jobs)
            self._add_promoted(previous, request)

        def array(name: str) -> NDArray[Any]:
            return np.reshape([getattr(outcome, name) for outcome in outcomes], is_new.shape)

        train: dict[str, NDArray[np.float64]] = {}
        of_rung = self.metrics, self.error_score, is_new.shape
        test, test_failed = scores_by_metric([one.test_scores for one in outcomes], *of_rung)
        if self.return_train_score:
            train, _ = scores_by_metric([one.train_scores for one in outcomes], *of_rung)
        rung = RungOutcome(
            request,
            jobs.folds,
            is_new,
            is_complete,
            jobs.target,
            step=request.n_resources - (0 if previous is None else previous.request.n_resources),
            units=units,
            times=times,
            fit_time=np.where(is_new, array("fit_time"), np.nan),
            score_time=np.where(is_new, array("score_time"), np.nan),
            fit_failed=array("fit_failed"),
            test=test,
            train=train,
            test_failed=test_failed,
            waiting=waiting,
        )
        self._rungs = [*earlier, rung]

    def wait(self, ids: Collection[int]) -> None:
        """Record which candidates of the last rung wait for more samples."""
        self._rungs[-1] = replace(self._rungs[-1], waiting=frozenset(ids))

    def _add_promoted(self, previous: RungOutcome | None, request: RungRequest) -> None:
        """Add candidates that a later request promotes from the previous rung, and no audit."""
        if previous is None:
            return
        key = request.bracket, previous.request.rung
        ids = {*request.candidate_ids} & {*previous.request.candidate_ids}
        ids -= {number for bracket, number in self.audited if bracket == request.bracket}
        if key in self._promoted:
            self._promoted[key] = tuple(sorted(ids.union(self._promoted[key])))

    def _find_metrics(self, outcomes: Sequence[Outcome]) -> None:
        """Set the metrics of the first scores, for earlier rungs too, in which all fits failed."""
        scores = next((o.test_scores for o in outcomes if o.test_scores is not None), None)
        names = [*scores] if isinstance(scores, dict) else ["score"]
        if scores is None or not names:
            return
        self.is_multimetric = isinstance(scores, dict)
        self._metrics = names
        self.metric = names[0]
        self._rungs = [
            replace(
                rung,
                test={name: scores for name in names for scores in rung.test.values()},
                train={name: scores for name in names for scores in rung.train.values()},
                test_failed={name: one for name in names for one in rung.test_failed.values()},
            )
            for rung in self._rungs
        ]

    def discard_models(self) -> None:
        """Count the training of any further evaluation from scratch."""
        self._trained.discard_models()

    def audit_request(self, candidates: Sequence[int], bracket: int) -> RungRequest:
        """Return the request that adds eliminated candidates to the last rung of a bracket.

        Parameters
        ----------
        candidates : sequence of int
        bracket : int
        """
        rung = last_rung_of(self._rungs, bracket)
        assert rung is not None
        ids = tuple(sorted({*rung.request.candidate_ids, *candidates}))
        return replace(rung.request, candidate_ids=ids, eliminated=())

    def audit_cost(self, candidate: int, bracket: int) -> float:
        """Return the cost of adding an eliminated candidate to the last rung, as `cost` counts it.

        Parameters
        ----------
        candidate : int
        bracket : int
        """
        rung = last_rung_of(self._rungs, bracket)
        assert rung is not None
        units = self._trained.missing_of(candidate, rung.folds, rung.target)
        return units / self._n_folds_in_cost

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        """Record which candidates of a rung were promoted.

        Parameters
        ----------
        request : RungRequest
        ids : tuple of int
            The best candidate, if the rung was the last one of its bracket.
        """
        self._promoted[request.bracket, request.rung] = ids

    def end_interrupted(self) -> None:
        """Mark rungs as incomplete to which further candidates or folds would have been added.

        A last rung remains complete if others are: its candidates have full resource.
        """
        # A rung that promotes none is about to be extended, or has failed.
        growing = [
            k
            for k, rung in enumerate(self._rungs)
            if self._promoted.get((rung.request.bracket, rung.request.rung)) == ()
            and rung.has_scores(self.metric)
        ]
        has_others = any(self._rungs[k].is_complete for k in {*range(self.n_rungs)} - {*growing})
        for k in growing:
            if not (self._rungs[k].request.is_last_rung and has_others):
                self._rungs[k] = replace(self._rungs[k], is_complete=False)

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics, ``["score"]`` as long as they are not known."""
        return self._metrics or ["score"]

    @property
    def has_metrics(self) -> bool:
        """Whether the names of the metrics are known."""
        return self._metrics is not None

    @property
    def n_rungs(self) -> int:
        """Number of rungs so far."""
        return len(self._rungs)

    @property
    def has_complete_rung(self) -> bool:
        """Whether all candidates of some rung were evaluated."""
        return any(rung.is_complete for rung in self._rungs)

    @property
    def errors_are_scores(self) -> bool:
        """Whether an error on some folds counts as a score, as in a grid search: as a number."""
        return not isnan(self.error_score)

    @property
    def all_failed(self) -> bool:
        """Whether all fits of all rungs failed."""
        return all(rung.fit_failed.all() for rung in self._rungs)

    @property
    def never_scored(self) -> bool:
        """Whether no candidate has a score, and none has full resource."""
        return all(
            not rung.has_scores(self.metric) and not rung.request.is_last_rung
            for rung in self._rungs
        )

    @property
    def seconds(self) -> float:
        """Seconds of all fits and scores, summed over the jobs."""
        return float(sum(np.nansum(rung.fit_time + rung.score_time) for rung in self._rungs))

    @property
    def n_units(self) -> int:
        """Number of units that all jobs trained."""
        return sum(rung.units for rung in self._rungs)

    @property
    def cost(self) -> float:
        """Cost so far, as `Schedule.total_cost` counts it."""
        return self.n_units / self._n_folds_in_cost

    @property
    def has_promoted(self) -> bool:
        """Whether a candidate was promoted."""
        return any(self._promoted.values())

    @property
    def selected_run(self) -> int:
        """Number of the run from which the best candidate is selected, with budget doubling."""
        return selected_run(self._rungs, self.metric)

    @property
    def last_n_resources(self) -> int:
        """Resource of the last rung."""
        return self._rungs[-1].request.n_resources

    def last_scores_failed(self) -> bool:
        """Return whether all fits or scores of the last rung failed, and are not just NaN."""
        return bool(self._rungs[-1].test_failed[self.metric].all())

    def last_rung_has_scores(self) -> bool:
        """Return whether a candidate of the last rung has a score by the metric that promotes."""
        return self._rungs[-1].has_scores(self.metric)

    def have_failed(self) -> NDArray[np.bool_]:
        """Return which candidates of the last rung lack a score that promotes, on some fold."""
        return self._rungs[-1].have_failed(self.metric)

    def failed_candidates(self) -> set[int]:
        """Return the candidates that lack a score that promotes, on some fold of some rung."""
        return {
            candidate
            for rung in self._rungs
            for candidate in compress(rung.request.candidate_ids, rung.have_failed(self.metric))
        }

    def mean_scores(self) -> NDArray[np.float64]:
        """Return the mean test scores of the last rung, by the metric that promotes."""
        return self._rungs[-1].mean_scores(self.metric)

    def fold_scores(self) -> NDArray[np.float64]:
        """Return the test scores of the last rung, of shape (n_candidates, n_folds)."""
        return self._rungs[-1].test[self.metric]

    def aggregated(
        self, aggregate: Callable[[ArrayLike], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Aggregate the losses of each candidate of the last rung over its rungs so far.

        Parameters
        ----------
        aggregate : callable
            Receives the losses of a candidate by increasing resource, and returns as many.

        Returns
        -------
        ndarray of float, shape (n_candidates,)
            NaN if the loss in the last rung is NaN. NaN in earlier rungs is left out, and so are
            rungs in which a candidate waited for more samples.
        """
        last = self._rungs[-1].request
        losses: dict[int, dict[int, float]] = {number: {} for number in last.candidate_ids}
        for rung in self._rungs:
            if rung.request.n_resources <= last.n_resources:
                means = rung.mean_scores(self.metric)
                for number, score in zip(rung.request.candidate_ids, means, strict=True):
                    is_known = not np.isnan(score) and number not in rung.waiting
                    if number in losses and is_known:
                        losses[number][rung.request.n_resources] = -score
        aggregates = [
            aggregate([loss for _, loss in sorted(by_resource.items())])[-1]
            if by_resource
            else np.nan
            for by_resource in losses.values()
        ]
        return np.where(np.isnan(self.mean_scores()), np.nan, aggregates)

    def all_cv_results(self) -> dict[str, Any]:
        """Return ``all_cv_results_``."""
        return all_cv_results(
            self._rungs,
            self.params,
            n_folds=self.n_folds,
            has_cached=self._schedule.repeats,
            audited=self.audited,
        )

    def cv_results(self, all_results: Mapping[str, Any]) -> tuple[dict[str, Any], NDArray[np.intp]]:
        """Return ``cv_results_``, and its rows in ``all_cv_results_``."""
        return cv_results(
            self._rungs,
            all_results,
            self.metric,
            repeats=self._schedule.repeats,
            audited=self.audited,
        )

    def rung_history(self) -> RungHistory:
        """Return ``rung_history_``, without a best candidate."""
        history = rung_rows(
            self._rungs,
            self._promoted,
            self.metric,
            n_folds_in_cost=self._n_folds_in_cost,
            has_brackets=self._schedule.has_brackets,
        )
        params = {number: self.params[number] for row in history for number in row["candidates"]}
        return RungHistory(history, self._schedule.unit, params)
