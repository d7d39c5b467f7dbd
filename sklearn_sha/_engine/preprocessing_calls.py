"""Fits the preprocessing steps that candidates share, once per fold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter, time
from traceback import format_exc
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import (
    FittedPreprocessing,
    fit_preprocessing,
    preprocessing_of,
    set_seeds,
)
from sklearn_sha._engine.jobs import EvaluationConfig, Job
from sklearn_sha._engine.worker_deaths import WorkerCall
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.limited_preprocessing import LimitedPreprocessing
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha.candidates.space import params_key, with_params

GroupKey = tuple[int, int, Hashable]
"""Fold, number of its training samples, and `SharedPreprocessing.key` of the candidates."""

Keep = Callable[[FittedPreprocessing], FittedPreprocessing | PreprocessingFile]
"""Returns fitted steps, or a file with them."""

Groups = Mapping[GroupKey, list[Job]]
Views = Mapping[tuple[int, int], Fold]

_MAX_SETTINGS = 8
"""Number of settings whose output is kept for candidates that are requested later at the same
resource. Each takes as much memory, or space in files, as its transformed samples of all folds."""


class SharedPreprocessing:
    """Fitted preprocessing steps of the current stage, by group of jobs.

    Parameters
    ----------
    params : sequence of dict
        Parameters by candidate id.
    config : EvaluationConfig
    workers : Workers
    X, y
        All samples.
    deadline : float
    fail : callable
        ``fail(jobs, traceback)`` is called with the jobs whose preprocessing steps fail.
    memory_limit : float
        As in `LimitedPreprocessing`.
    requests_once : bool
        Whether all candidates with the same resource are requested together.
    """

    def __init__(
        self,
        params: Sequence[dict[str, Any]],
        config: EvaluationConfig,
        workers: Workers,
        X: Any,
        y: Any,
        deadline: float,
        fail: Callable[[Sequence[Job], str], None],
        *,
        memory_limit: float,
        requests_once: bool,
    ) -> None:
        self._params = params
        self._config = config
        self._workers = workers
        self._X, self._y = X, y
        self._deadline = deadline
        self._fail = fail
        self._fitted: dict[GroupKey, tuple[Fold, FittedPreprocessing | PreprocessingFile]] = {}
        self._keys: dict[int, Hashable] = {}
        self._memory = LimitedPreprocessing(
            memory_limit, lambda: workers.new_folder("preprocessing-")
        )
        self._max_settings = 1 if requests_once else _MAX_SETTINGS

    def key(self, candidate: int) -> Hashable:
        """Equal for candidates whose preprocessing steps have the same parameters."""
        if not self._config.shares_preprocessing:
            return None
        if candidate not in self._keys:
            last = self._config.estimator.steps[-1][0]
            params = self._params[candidate].items()
            self._keys[candidate] = params_key(
                {k: v for k, v in params if k.split("__")[0] != last}
            )
        return self._keys[candidate]

    def discard_all_but(self, views: Views, groups: Groups) -> None:
        """Discard the steps that no group of a stage uses, or that were fitted on other samples."""
        for key, (view, _) in [*self._fitted.items()]:
            if key not in groups or not view.has_samples_of(views[key[:2]]):
                self._discard(key)

    def make_room(self) -> None:
        """Discard the steps of evaluated settings, if they are many and no later rung uses them."""
        resource = self._config.resource
        is_used_once = resource.counts_samples or resource.counts_folds
        if is_used_once and len({key[2] for key in self._fitted}) >= self._max_settings:
            self.discard_all()

    def discard_all(self) -> None:
        """Discard all steps, once nothing uses them."""
        for key in [*self._fitted]:
            self._discard(key)

    def _discard(self, key: GroupKey) -> None:
        _, fitted = self._fitted.pop(key)
        self._workers.release(fitted)
        self._memory.discard(fitted)

    def source(self, key: GroupKey, view: Fold) -> Fold | FittedPreprocessing | PreprocessingFile:
        """Return what a group of jobs is trained on."""
        return self._fitted[key][1] if key in self._fitted else view

    def calls(self, views: Views, groups: Groups) -> list[WorkerCall]:
        """Return the calls that fit the steps that are missing."""
        return [
            self._call(key, views[key[:2]], jobs)
            for key, jobs in groups.items()
            if key not in self._fitted
        ]

    def _call(self, key: GroupKey, view: Fold, jobs: list[Job]) -> WorkerCall:
        def receive(fitted: FittedPreprocessing | PreprocessingFile | str | None) -> None:
            if isinstance(fitted, str):
                self._fail(jobs, fitted)
            elif fitted is not None:
                self._workers.broadcast(fitted)
                self._fitted[key] = view, fitted

        job = replace(jobs[0], model=None)
        args = (view, job, self._X, self._y, self._config, self._deadline, self._keep())
        return WorkerCall(_fit_preprocessing, args, receive, lambda part: jobs)

    def _keep(self) -> Keep:
        """Return how the steps are kept, where they are fitted."""
        workers = self._workers
        if workers.share_memory:
            return self._memory.kept
        if workers.shared_folder is None:  # a cluster may not have the files of this machine
            return _in_memory
        return partial(PreprocessingFile.write, folder=workers.shared_folder)


def _in_memory(fitted: FittedPreprocessing) -> FittedPreprocessing:
    return fitted


def _fit_preprocessing(
    monitor: CallMonitor,
    fold: Fold,
    job: Job,
    X: Any,
    y: Any,
    config: EvaluationConfig,
    deadline: float,
    keep: Keep,
) -> FittedPreprocessing | PreprocessingFile | str | None:
    """Fit the preprocessing steps of a job's candidate on a fold, and keep them.

    Returns the traceback if that fails, and None after the deadline.
    """
    if time() >= deadline:
        return None
    pipeline = with_params(config.estimator, job.params)
    # The steps can be fitted again, and models that continue training need the same features.
    set_seeds(preprocessing_of(pipeline), (config.seed + job.fold) % 2**32)
    with monitor.running() as start_part:  # its errors are no failed fits
        start_part(0)
        start = perf_counter()
        try:
            fitted = fit_preprocessing(
                pipeline,
                fold.with_data(X, y),
                scores_pipeline=config.scores_pipeline,
                scores_train=config.return_train_score,
            )
        except Exception as error:
            if config.error_score == "raise":
                job.add_note(error, config.n_train)
                raise
            return format_exc()
    return keep(replace(fitted, seconds=perf_counter() - start))
