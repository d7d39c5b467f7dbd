"""Answers the requests of algorithms through workers, and stores what is completed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from itertools import chain, compress, product
from math import inf
from time import perf_counter, time
from typing import Any

from numpy.typing import ArrayLike

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._engine.batches import Batching
from sklearn_sha._engine.evaluation import evaluate_batch
from sklearn_sha._engine.interruption import StoppedError, never_replacing
from sklearn_sha._engine.jobs import BatchResult, EvaluationConfig, Job
from sklearn_sha._engine.observer import Observer, StageTimes
from sklearn_sha._engine.preprocessing_calls import GroupKey, Groups, SharedPreprocessing, Views
from sklearn_sha._engine.refit import PackedEstimator, refit_in_worker
from sklearn_sha._engine.rung_jobs import RequestedFolds, RungJobs
from sklearn_sha._engine.worker_deaths import WorkerCall, run_calls
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit.requests import Requests, RungRequest, promoted_ids


class _StageClock:
    """Measures a stage from its beginning on."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._start, self._busy_before = perf_counter(), workers.busy_seconds

    def times(self) -> StageTimes:
        """Return the times until now."""
        busy = self._workers.busy_seconds - self._busy_before
        return StageTimes(perf_counter() - self._start, busy, self._workers.n_workers)


class Engine:
    """Trains and scores what algorithms request.

    Parameters
    ----------
    params : sequence of dict
        Parameters by candidate id. It may grow while algorithms run.
    folds : sequence of Fold
    fold_order : tuple of int
        Numbers of all folds, in the order in which they are added.
    config : EvaluationConfig
    store : Store
        Completed outcomes, which are not evaluated again.
    workers : Workers
    observer : Observer
    keeps_eliminated : bool
        Whether models of eliminated candidates are kept, so that an audit can continue them.
    requests_once : bool
        Whether all candidates with the same resource are requested together.
    best_params : callable or None
        Returns the additional parameters of the refit, given the resource. If there is one, the
        last candidate is refit on all samples while its folds are evaluated.
    deadline : float
        No job begins after it, in seconds as `time.time` counts them.

    Attributes
    ----------
    refitted : dict of (int, int) to PackedEstimator
        That refit, by candidate and resource. Empty if there was none, or if it failed.
    """

    def __init__(
        self,
        params: Sequence[dict[str, Any]],
        folds: Sequence[Fold],
        fold_order: tuple[int, ...],
        config: EvaluationConfig,
        store: Store,
        workers: Workers,
        observer: Observer,
        *,
        keeps_eliminated: bool,
        requests_once: bool,
        best_params: Callable[[int], dict[str, Any]] | None,
        deadline: float,
    ) -> None:
        self.refitted: dict[tuple[int, int], PackedEstimator] = {}
        self._keeps_eliminated = keeps_eliminated
        self._best_params = best_params
        self._params = params
        # The data are an argument of their own, which can be sent to each worker just once.
        self._X, self._y = folds[0].X, folds[0].y
        self._folds = [fold.with_data(None, None) for fold in folds]
        self._config = config
        self._store = store
        self._workers = workers
        self._observer = observer
        self._deadline = deadline
        self._batching = Batching(workers.n_workers)
        self._starts_workers = True
        self._requested_folds = RequestedFolds(config.resource, fold_order)
        self._preprocessing = SharedPreprocessing(
            params, config, workers, self._X, self._y, deadline, self._store_failures,
            memory_limit=store.memory_limit, requests_once=requests_once,
        )  # fmt: skip

    def run(self, runs: Sequence[Requests]) -> None:
        """Run generators of requests to their ends, in stages: all rungs at a resource together.

        Parameters
        ----------
        runs : sequence of generator
            Of `sklearn_sha.bandit`, over different candidates.

        Raises
        ------
        StoppedError
            If the deadline interrupts a stage, or the observer stops the search.
        """
        self._workers.broadcast(self._X, self._y, *self._folds)
        pending: dict[Requests, RungRequest] = {}
        for run in runs:
            with suppress(StopIteration):  # there are no candidates
                pending[run] = next(run)
        while pending:
            # Runs that are ahead wait for the others, so that the longest rungs run together.
            lowest = min(request.n_resources for request in pending.values())
            stage = {run: one for run, one in pending.items() if one.n_resources == lowest}
            rungs = [self._requested_folds.jobs(request) for request in stage.values()]
            self._observer.rungs_begin(rungs, self._n_known(rungs))
            clock = _StageClock(self._workers)
            try:
                self._answer(rungs)
            except BaseException as stop:
                # Whatever interrupts a stage, nothing that was completed is lost.
                with never_replacing(stop):
                    self._end_rungs(rungs, clock)
                raise
            losses = self._end_rungs(rungs, clock)
            for (run, request), sent in zip(stage.items(), losses, strict=True):
                try:
                    following = pending[run] = run.send(sent)
                except StopIteration as end:
                    del pending[run]
                    # The best candidate can be that of an earlier rung, if this one has failed.
                    has_best = sent is not None and end.value in request.candidate_ids
                    self._observer.promoted(request, (int(end.value),) if has_best else ())
                else:
                    self._observer.promoted(request, promoted_ids(request, sent, following))

    def discard_preprocessing(self) -> None:
        """Discard the output of preprocessing steps, before the refit or another search."""
        self._preprocessing.discard_all()

    def discard_models(self) -> None:
        """Discard all models, so that further evaluations are refit from scratch."""
        for candidate, fold in [*self._store.models]:
            self._store.remove_model(candidate, fold)

    def _n_known(self, rungs: Sequence[RungJobs]) -> int:
        return sum(key in self._store.outcomes for rung in rungs for key in rung.new_keys())

    def _end_rungs(self, rungs: Sequence[RungJobs], clock: _StageClock) -> list[ArrayLike | None]:
        """Notify the observer of the end of a stage; return the losses of its rungs."""
        losses: list[ArrayLike | None] = []
        times = clock.times()
        for rung in rungs:
            keys = [rung.keys(candidate) for candidate in rung.request.candidate_ids]
            is_completed = [all(key in self._store.outcomes for key in part) for part in keys]
            if any(is_completed):
                completed = compress(keys, is_completed)
                outcomes = [self._store.outcomes[key] for key in chain.from_iterable(completed)]
                jobs, is_complete = rung.restricted(is_completed), all(is_completed)
                losses.append(self._observer.rung_ends(jobs, outcomes, times, is_complete))
        return losses

    def _answer(self, rungs: Sequence[RungJobs]) -> None:
        """Store an outcome of every candidate of the rungs, on each of their folds."""
        eliminated = chain.from_iterable(rung.request.eliminated for rung in rungs)
        if not self._keeps_eliminated:
            for candidate, number in product(eliminated, range(len(self._folds))):
                self._store.remove_model(candidate, number)
        views, groups = self._jobs(rungs)
        self._preprocessing.discard_all_but(views, groups)
        for number, part in enumerate(self._parts(groups)):
            if number:
                self._preprocessing.make_room()
            if self._config.shares_preprocessing:
                while calls := self._preprocessing.calls(views, jobs := self._open(part)):
                    self._run([*calls, *self._starting_calls(jobs, len(calls))])
            left = part
            while calls := self._batch_calls(views, left := self._open(left)):
                if self._best_params is not None and _is_decided(rungs):
                    # What takes longest begins first.
                    calls.insert(0, self._refit_call(rungs[0].request, self._best_params))
                    self._best_params = None  # once
                self._run(calls)

    def _parts(self, groups: Groups) -> list[Groups]:
        """Return the groups that are evaluated together.

        An interruption loses preprocessing steps that were fitted without an evaluation. So with a
        deadline, or a single worker, which never waits for others, each part has the steps of a
        few settings on all folds, enough for all workers.
        """
        n_workers = self._workers.n_workers
        if not self._config.shares_preprocessing or (self._deadline == inf and n_workers > 1):
            return [groups]
        by_steps: dict[Hashable, dict[GroupKey, list[Job]]] = defaultdict(dict)
        for key, jobs in groups.items():
            by_steps[key[2]][key] = jobs
        parts: list[dict[GroupKey, list[Job]]] = [{}]
        for own in by_steps.values():
            if len(parts[-1]) >= self._batching.n_wanted:
                parts.append({})
            parts[-1].update(own)
        return [*parts]

    def _jobs(self, rungs: Sequence[RungJobs]) -> tuple[Views, Groups]:
        """Return the folds that rungs need, and the jobs in groups that share their samples."""
        views: dict[tuple[int, int], Fold] = {}
        groups: dict[GroupKey, list[Job]] = defaultdict(list)
        new_jobs = [(rung, rung.new_by_fold()) for rung in rungs]
        for number, (rung, by_fold) in product(range(len(self._folds)), new_jobs):
            if number not in by_fold:
                continue
            request = rung.request
            view = self._view(number, rung.target)
            n_train, task = len(view.train), self._observer.task(request)
            views[number, n_train] = view
            for index, candidate in by_fold[number]:
                job = Job(
                    candidate,
                    number,
                    self._params[candidate],
                    request.rung,
                    rung.target,
                    None,
                    not request.is_final,
                    index,
                    task,
                )
                key = number, n_train, self._preprocessing.key(candidate)
                groups[key].append(job)
        return views, groups

    def _view(self, number: int, target: int) -> Fold:
        """Return what a resource makes of a fold, without its data."""
        fold = self._folds[number].with_data(self._X, self._y)
        view = self._config.resource.view(fold, target)
        # The same object each time, which workers receive once.
        return self._folds[number] if view is fold else view.with_data(None, None)

    def _open(self, groups: Groups) -> Groups:
        """Return the jobs without an outcome, each with the model that it continues from."""
        left = {
            key: [job for job in jobs if job.key not in self._store.outcomes]
            for key, jobs in groups.items()
        }
        for job in chain.from_iterable(left.values()):
            model = self._store.models.get((job.candidate, job.fold))
            # An extended search can start with less resource than the models that are kept have.
            job.model = model if model and model.n_resources < job.n_resources else None
        return {key: jobs for key, jobs in left.items() if jobs}

    def _batch_calls(self, views: Views, groups: Groups) -> list[WorkerCall]:
        return [
            self._batch_call(batch, self._preprocessing.source(key, views[key[:2]]))
            for key, batch in self._batching.batches(groups)
        ]

    def _batch_call(
        self, jobs: tuple[Job, ...], source: Fold | FittedPreprocessing | PreprocessingFile
    ) -> WorkerCall:
        def receive(done: BatchResult) -> None:
            units = {job.key: job.cost() for job in jobs}
            if done.results:
                self._add(done.results)
            for candidate, fold in done.inaccessible:
                self._store.attach_content(candidate, fold)
            outcomes = [outcome for outcome, _ in done.results]
            self._batching.record(outcomes, [units[outcome.key] for outcome in outcomes])
            if done.interrupted:
                raise KeyboardInterrupt

        X, y = (self._X, self._y) if isinstance(source, Fold) else (None, None)
        return WorkerCall(
            evaluate_batch,
            (jobs, source, X, y, self._config, self._deadline),
            receive,
            lambda part: jobs[part : part + 1],
            lambda part: self._batch_call((jobs[part],), source),
        )

    def _starting_calls(self, later: Groups, n_calls: int) -> list[WorkerCall]:
        """Return calls that start the workers which `n_calls` others leave idle, for later jobs.

        A new worker process takes a second or more to import modules. All of them do it together.
        Those of a cluster are left alone: its scheduler decides by their load which of them
        receives which samples.
        """
        if not self._starts_workers or self._workers.shared_folder is None:
            return []
        self._starts_workers = False
        n_idle = min(sum(map(len, later.values())), self._workers.n_workers) - n_calls
        return [WorkerCall(_import, (self._config,))] * max(0, n_idle)

    def _refit_call(
        self, request: RungRequest, best_params: Callable[[int], dict[str, Any]]
    ) -> WorkerCall:
        """Refit the candidate that is left on all samples, while other workers would be idle."""
        (candidate,) = request.candidate_ids

        def receive(packed: PackedEstimator | None) -> None:
            if packed is not None:
                self.refitted[candidate, n_resources] = packed

        n_resources = request.n_resources
        params = self._params[candidate] | best_params(n_resources)
        args = (self._folds[0], self._X, self._y, params, n_resources, self._config)
        return WorkerCall(refit_in_worker, args, receive)

    def _run(self, calls: Sequence[WorkerCall]) -> None:
        if time() >= self._deadline:
            raise StoppedError
        run_calls(self._workers, calls, self._fail)

    def _fail(self, jobs: Sequence[Job], error: Exception) -> None:
        if self._config.error_score == "raise":
            jobs[0].add_note(error, self._config.n_train)
            raise error
        self._store_failures(jobs, f"{type(error).__name__}: {error}")

    def _store_failures(self, jobs: Sequence[Job], traceback: str) -> None:
        self._add([(job.failed_outcome(traceback), None) for job in jobs])

    def _add(self, results: list[tuple[Outcome, Any]]) -> None:
        self._store.add(results)
        self._observer.jobs_completed([outcome for outcome, _ in results])


def _import(monitor: CallMonitor, config: EvaluationConfig) -> None:
    """Import what the evaluation of jobs needs, by receiving it."""


def _is_decided(rungs: Sequence[RungJobs]) -> bool:
    """Return whether one candidate is left, which is the best one whatever its loss is."""
    requests = [rung.request for rung in rungs]
    return len(requests) == 1 and requests[0].is_final and len(requests[0].candidate_ids) == 1
