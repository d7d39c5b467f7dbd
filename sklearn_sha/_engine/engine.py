"""Drives algorithms: answers their requests through workers and keeps what is finished."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf
from operator import itemgetter
from pathlib import Path
from time import perf_counter, time
from traceback import format_exc
from typing import Any, Protocol

from numpy.typing import ArrayLike

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing, fit_preprocessing
from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.evaluation import SECONDS_PER_BATCH, evaluate_batch, new_estimator
from sklearn_sha._engine.jobs import BatchResult, EvaluationConfig, Job
from sklearn_sha._engine.refit import PackedEstimator, refit_in_worker
from sklearn_sha._parallel.monitoring import CallMonitor, WorkerDeath
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit.requests import Requests, RungRequest, promoted_ids
from sklearn_sha.candidates.space import params_key

_BATCHES_PER_WORKER = 4
"""Few enough that rows are sent and cut for many jobs at once; enough that no worker waits
long for the last one."""

_SECONDS_WORTH_A_BATCH = 0.05
"""To send jobs and cut rows for them takes milliseconds: no batch is made shorter than this only
to have more of them."""

_PreprocessingKey = tuple[int, int, Hashable]
_Views = dict[tuple[int, int], Fold]
_Groups = dict[_PreprocessingKey, list[Job]]


class StoppedError(Exception):
    """The search is to stop before all was done that the algorithms asked for."""


class Observer(Protocol):
    """What is notified by an engine. A stage is all rungs at one resource."""

    def rungs_begin(self, requests: Sequence[RungRequest], n_known: int) -> None:
        """A stage begins, of which `n_known` jobs are in the store; or raise `StoppedError`."""

    def task(self, request: RungRequest) -> Task:
        """Return the callback task of a request, of which its jobs are parts."""

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        """Jobs of the stage are completed."""

    def rung_ends(
        self, request: RungRequest, outcomes: list[Outcome], seconds: float, is_complete: bool
    ) -> ArrayLike | None:
        """Receive a rung's outcomes, and return the losses of its candidates.

        Parameters
        ----------
        request : RungRequest
            Of an interrupted stage it has the candidates that were completed.
        outcomes : list of Outcome
            Of its new candidates, candidate by candidate and fold by fold.
        seconds : float
            Duration of the stage.
        is_complete : bool
            Whether all candidates are there.

        Returns
        -------
        array-like of float, or None
            None if all candidates failed.
        """

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        """These candidates of a rung are promoted; of a bracket's last rung, the best one."""


@dataclass(frozen=True)
class _WorkerCall:
    """What a worker is asked to do.

    Attributes
    ----------
    function : callable
    args : tuple
    parts : list of tuple of Job
        For each part of the call, the jobs that fail where it does.
    only : callable
        Gives the call for one part alone.
    take : callable
        Is told what comes back.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    parts: list[tuple[Job, ...]]
    only: Callable[[int], _WorkerCall]
    take: Callable[[Any], None]


class Engine:
    """Trains and scores what algorithms ask for.

    Parameters
    ----------
    params : sequence of dict
        Parameters by candidate id. It may grow while algorithms run.
    folds : sequence of Fold
    config : EvaluationConfig
    store : Store
        What is finished. What it has already is not done again.
    workers : Workers
    observer : Observer
    refits : bool, default=False
        Whether the last candidate is trained on all rows beside its folds.
    deadline : float, default=inf
        No job begins after it, in seconds as `time.time` counts them.

    Attributes
    ----------
    refitted : dict of (int, int) to PackedEstimator
        That candidate on all rows, by its number and resource; empty where it was not done, or
        failed.
    """

    def __init__(
        self,
        params: Sequence[dict[str, Any]],
        folds: Sequence[Fold],
        config: EvaluationConfig,
        store: Store,
        workers: Workers,
        observer: Observer,
        *,
        refits: bool = False,
        deadline: float = inf,
    ) -> None:
        self.refitted: dict[tuple[int, int], PackedEstimator] = {}
        self._refits = refits
        self._params = params
        # The data are an argument of their own, which can be sent to each worker just once.
        self._X, self._y = folds[0].X, folds[0].y
        self._folds = [fold.with_data(None, None) for fold in folds]
        self._config = config
        self._store = store
        self._workers = workers
        self._observer = observer
        self._deadline = deadline
        self._seconds_per_unit = 0.0
        self._seconds, self._units = 0.0, 0
        self._preprocessing: dict[_PreprocessingKey, FittedPreprocessing | PreprocessingFile] = {}
        self._preprocessing_keys: dict[int, Hashable] = {}

    def run(self, algorithms: Sequence[Requests]) -> None:
        """Run algorithms to their ends, stage by stage: all rungs at a resource together.

        Parameters
        ----------
        algorithms : sequence of generator
            Of `sklearn_sha.bandit`, over different candidates.

        Raises
        ------
        StoppedError
            If the deadline interrupts a stage, or the observer stops the search.
        """
        self._workers.broadcast(self._X, self._y, *self._folds)
        asking: dict[Requests, RungRequest] = {}
        for algorithm in algorithms:
            with suppress(StopIteration):  # there are no candidates
                asking[algorithm] = next(algorithm)
        while asking:
            # Those ahead wait for the others, so that the longest rungs run together.
            lowest = min(request.n_resources for request in asking.values())
            stage = {a: request for a, request in asking.items() if request.n_resources == lowest}
            requests = [*stage.values()]
            self._observer.rungs_begin(requests, self._n_known(requests))
            start = perf_counter()
            try:
                self._answer(requests)
            except BaseException as stop:
                # Whatever interrupts a stage, nothing that was completed is lost.
                with never_replacing(stop):
                    self._end_rungs(requests, perf_counter() - start)
                raise
            losses = self._end_rungs(requests, perf_counter() - start)
            for (algorithm, request), sent in zip(stage.items(), losses, strict=True):
                try:
                    following = asking[algorithm] = algorithm.send(sent)
                    self._observer.promoted(request, promoted_ids(request, sent, following))
                except StopIteration as end:
                    del asking[algorithm]
                    self._observer.promoted(request, () if end.value is None else (end.value,))

    def _n_known(self, requests: Sequence[RungRequest]) -> int:
        return sum(
            key in self._store.outcomes
            for request in requests
            for candidate in request.new_ids
            for key in self._keys(request, candidate)
        )

    def _keys(self, request: RungRequest, candidate: int) -> list[tuple[int, int, int]]:
        """Keys of the outcomes of a candidate that a request asks for."""
        folds = request.folds_of(len(self._folds))
        return [(candidate, fold, request.n_resources) for fold in folds]

    def _end_rungs(self, requests: Sequence[RungRequest], seconds: float) -> list[ArrayLike | None]:
        """Notify the observer of the end of a stage; return the losses of its rungs."""
        losses: list[ArrayLike | None] = []
        for request in requests:
            done: dict[int, list[Outcome]] = {}
            for candidate in request.new_ids:
                keys = self._keys(request, candidate)
                if all(key in self._store.outcomes for key in keys):
                    done[candidate] = [self._store.outcomes[key] for key in keys]
            ids = tuple(i for i in request.candidate_ids if i in done or i in request.known)
            if ids:
                outcomes = list(chain.from_iterable(done.values()))
                completed = replace(request, candidate_ids=ids)
                is_complete = ids == request.candidate_ids
                losses.append(self._observer.rung_ends(completed, outcomes, seconds, is_complete))
        return losses

    def _answer(self, requests: Sequence[RungRequest]) -> None:
        """Have an outcome of every new candidate of the requests, on each of their folds."""
        numbers = range(len(self._folds))
        eliminated = chain.from_iterable(request.eliminated for request in requests)
        for candidate, number in product(eliminated, numbers):
            self._store.remove_model(candidate, number)
        views: _Views = {}
        groups: _Groups = defaultdict(list)
        for number, request in product(numbers, requests):
            if number not in request.folds_of(len(self._folds)):
                continue
            view = self._config.resource.view(self._folds[number], request.n_resources)
            views[number, len(view.train)] = view
            for place, candidate in enumerate(request.new_ids):
                job = Job(
                    candidate,
                    number,
                    self._params[candidate],
                    request.rung,
                    request.n_resources,
                    self._store.models.get((candidate, number)),
                    not request.is_final,
                    place * len(self._folds) + number,
                    self._observer.task(request),
                )
                groups[number, len(view.train), self._preprocessing_key(candidate)].append(job)
        for key in self._preprocessing.keys() - groups.keys():  # this stage can't use them
            self._preprocessing.pop(key).discard()
        for calls_for in (self._preprocessing_calls, self._batch_calls):
            while calls := calls_for(views, self._unfinished(groups)):
                if time() >= self._deadline:
                    raise StoppedError
                if self._refits and calls_for == self._batch_calls and _is_final(requests):
                    # What takes longest begins first.
                    calls.insert(0, self._refit_call(requests[0]))
                    self._refits = False
                self._send(calls)

    def _unfinished(self, groups: _Groups) -> _Groups:
        unfinished = {
            key: [self._now(job) for job in jobs if job.key not in self._store.outcomes]
            for key, jobs in groups.items()
        }
        return {key: jobs for key, jobs in unfinished.items() if jobs}

    def _now(self, job: Job) -> Job:
        """A job, from where its model is now."""
        trained = self._store.models.get((job.candidate, job.fold))
        return job if job.model is trained else replace(job, model=trained)

    def _preprocessing_calls(self, views: _Views, groups: _Groups) -> list[_WorkerCall]:
        """Fit the prefixes that are needed and not there."""
        if not self._config.shares_preprocessing:
            return []
        return [
            self._preprocessing_call(key, views[key[:2]], jobs)
            for key, jobs in groups.items()
            if key not in self._preprocessing
        ]

    def _preprocessing_call(
        self, key: _PreprocessingKey, view: Fold, jobs: list[Job]
    ) -> _WorkerCall:
        def take(prefix: FittedPreprocessing | PreprocessingFile | str | None) -> None:
            if isinstance(prefix, str):
                self._keep([(job.failed_outcome(prefix), None) for job in jobs])
            elif prefix is not None:
                self._workers.broadcast(prefix)
                self._preprocessing[key] = prefix

        job = replace(jobs[0], model=None)
        call = _WorkerCall(
            _fit_preprocessing,
            (
                view,
                job,
                self._X,
                self._y,
                self._config,
                self._deadline,
                self._workers.shared_folder,
            ),
            [tuple(jobs)],
            lambda part: call,
            take,
        )
        return call

    def _batch_calls(self, views: _Views, groups: _Groups) -> list[_WorkerCall]:
        """Jobs that share their rows, in batches; those with most to train first."""
        if self._units:
            self._seconds_per_unit = self._seconds / self._units
            self._seconds, self._units = 0.0, 0
        n_wanted = (
            1 if self._workers.n_workers == 1 else _BATCHES_PER_WORKER * self._workers.n_workers
        )
        per_group = -(-n_wanted // max(1, len(groups)))
        batches: list[tuple[int, int, _WorkerCall]] = []
        for key, jobs in groups.items():
            source = self._preprocessing.get(key, views[key[:2]])
            by_length = sorted(jobs, key=Job.cost, reverse=True)
            seconds = self._seconds_per_unit * by_length[0].cost()
            size = -(-len(jobs) // per_group)
            if seconds:
                size = max(size, int(_SECONDS_WORTH_A_BATCH / seconds))
                size = max(1, min(size, int(SECONDS_PER_BATCH / seconds)))
            for start in range(0, len(jobs), size):
                batch = tuple(by_length[start : start + size])
                units = sum(map(Job.cost, batch))
                batches.append((-units, start, self._batch_call(batch, source)))
        # The first candidates of all folds before the second ones of any: what is finished
        # when a search is broken off are then whole candidates.
        batches.sort(key=itemgetter(0, 1))
        return [call for _, _, call in batches]

    def _batch_call(
        self, jobs: tuple[Job, ...], source: Fold | FittedPreprocessing | PreprocessingFile
    ) -> _WorkerCall:
        units = {job.key: job.cost() for job in jobs}

        def take(done: BatchResult) -> None:
            if done.results:
                self._keep(done.results)
            for candidate, fold in done.inaccessible:
                self._store.attach_content(candidate, fold)
            for outcome, _ in done.results:
                self._seconds += outcome.fit_time + outcome.score_time
                self._units += units[outcome.key]
            if done.interrupted:
                raise KeyboardInterrupt

        X, y = (self._X, self._y) if isinstance(source, Fold) else (None, None)
        return _WorkerCall(
            evaluate_batch,
            (jobs, source, X, y, self._config, self._deadline),
            [(job,) for job in jobs],
            lambda part: self._batch_call((jobs[part],), source),
            take,
        )

    def _refit_call(self, request: RungRequest) -> _WorkerCall:
        """Train the candidate that is left on all rows, while other workers would idle."""
        (candidate,) = request.candidate_ids

        def take(packed: PackedEstimator | None) -> None:
            if packed is not None:
                self.refitted[candidate, request.n_resources] = packed

        call = _WorkerCall(
            refit_in_worker,
            (
                self._folds[0],
                self._X,
                self._y,
                self._params[candidate],
                request.n_resources,
                self._config,
            ),
            [()],
            lambda part: call,
            take,
        )
        return call

    def _send(self, calls: list[_WorkerCall]) -> None:
        """Have calls done, and keep what comes back as it comes."""
        died = [(calls[number], death) for number, death in self._results(calls)]
        # A call without jobs is not tried again.
        died = [(call, death) for call, death in died if call.parts[death.part]]
        if not died:
            return
        _warn_about_worker_deaths(
            [(call.parts[death.part], death) for call, death in died], self._workers.fit_timeout
        )
        timed_out = any(death.traceback for _, death in died)
        for call, death in died:
            if death.traceback:
                self._fail(call.parts[death.part], death)
            elif not timed_out:
                for _, second in self._results([call.only(death.part)]):
                    self._fail(call.parts[death.part], second)

    def _results(self, calls: list[_WorkerCall]) -> list[tuple[int, WorkerDeath]]:
        """Have calls done; the numbers of those whose worker died, and how."""
        deaths = []
        for number, result in self._workers.run([(call.function, call.args) for call in calls]):
            if isinstance(result, WorkerDeath):
                deaths.append((number, result))
            else:
                calls[number].take(result)
        return deaths

    def _fail(self, jobs: Sequence[Job], death: WorkerDeath) -> None:
        """Give jobs up whose worker died again, or was ended since they took too long."""
        error: Exception
        if death.traceback:
            error = TimeoutError(
                f"The fit exceeded fit_timeout={self._workers.fit_timeout} seconds. Its worker "
                f"process was terminated at:\n{death.traceback}"
            )
        else:
            error = RuntimeError(
                "The worker process crashed or was terminated twice, for example because it ran "
                "out of memory or because of an error in compiled code. Lower n_jobs if memory is "
                "short."
            )
        if self._config.error_score == "raise":
            jobs[0].add_note(error)
            raise error
        message = f"{type(error).__name__}: {error}"
        self._keep([(job.failed_outcome(message), None) for job in jobs])

    def _keep(self, pairs: list[tuple[Outcome, Any]]) -> None:
        self._store.add(pairs)
        self._observer.jobs_completed([outcome for outcome, _ in pairs])

    def _preprocessing_key(self, candidate: int) -> Hashable:
        """Equal for candidates whose preprocessing steps have the same parameters."""
        if not self._config.shares_preprocessing:
            return None
        if candidate not in self._preprocessing_keys:
            last = self._config.estimator.steps[-1][0]
            params = self._params[candidate].items()
            self._preprocessing_keys[candidate] = params_key(
                {k: v for k, v in params if k.split("__")[0] != last}
            )
        return self._preprocessing_keys[candidate]


@contextmanager
def never_replacing(stop: BaseException) -> Iterator[None]:
    """A context whose errors do not replace a KeyboardInterrupt: they become its context."""
    try:
        yield
    except Exception:
        if isinstance(stop, KeyboardInterrupt):
            raise stop  # noqa: B904 - the context is the error, which is not its cause
        raise


def _is_final(requests: Sequence[RungRequest]) -> bool:
    """Whether one candidate is left, and wins whatever its loss is."""
    return len(requests) == 1 and requests[0].is_final and len(requests[0].candidate_ids) == 1


def _warn_about_worker_deaths(
    died: Sequence[tuple[Sequence[Job], WorkerDeath]], fit_timeout: float | None
) -> None:
    too_long = [jobs for jobs, death in died if death.traceback]
    where = ", ".join(
        f"candidate {jobs[0].candidate} on fold {jobs[0].fold}"
        for jobs in too_long or [jobs for jobs, _ in died]
    )
    warnings.warn(
        f"Some fits exceeded fit_timeout={fit_timeout} seconds: {where}. Their worker processes "
        "were restarted, and the search continues."
        if too_long
        else f"A worker process crashed or was terminated while the workers evaluated {where}. The "
        "workers were restarted, and each of these fits is run once more on its own.",
        RuntimeWarning,
        stacklevel=2,
    )


def _fit_preprocessing(
    monitor: CallMonitor,
    fold: Fold,
    job: Job,
    X: Any,
    y: Any,
    config: EvaluationConfig,
    deadline: float,
    folder: Path | None,
) -> FittedPreprocessing | PreprocessingFile | str | None:
    """The prefix of a job's candidate, fitted on a fold, and left in a folder where there is one.

    In its place the traceback where it fails, and None after the deadline.
    """
    if time() >= deadline:
        return None
    pipeline = new_estimator(config, job.params)
    try:
        with monitor.running() as start_part:
            start_part(0)
            prefix = fit_preprocessing(
                pipeline,
                fold.with_data(X, y),
                scores_pipeline=config.scores_pipeline,
                scores_train=config.return_train_score,
            )
    except Exception as error:
        if config.error_score == "raise":
            job.add_note(error)
            raise
        return format_exc()
    return prefix if folder is None else PreprocessingFile.write(prefix, folder)
