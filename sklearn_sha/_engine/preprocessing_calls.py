"""Fits the preprocessing steps that candidates share, once per fold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
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
from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._engine.evaluation import new_estimator
from sklearn_sha._engine.jobs import EvaluationConfig, Job
from sklearn_sha._engine.worker_deaths import WorkerCall
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.pickling import nbytes
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha.candidates.space import params_key

GroupKey = tuple[int, int, Hashable]
"""Fold, number of its training samples, and `SharedPreprocessing.key` of the candidates."""

Groups = Mapping[GroupKey, list[Job]]
Views = Mapping[tuple[int, int], Fold]

_MAX_SETTINGS = 8
"""Number of settings whose output is kept for candidates of the same rung that are requested later.
Each takes as much memory as the samples, for each fold."""

_UNKNOWN_RATIO = 10
"""How many times as large as its samples an output can be, until the first one is measured."""


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
    limit : float
        Bytes of the output that is kept.
    requests_once : bool
        Whether all candidates of a rung are requested together.
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
        limit: float,
        *,
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
        self._limit, self._max_settings = limit, 1 if requests_once else _MAX_SETTINGS
        self._sizes: dict[GroupKey, int] = {}
        self._largest = self._guess = 0.0  # bytes per training sample

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

    def is_too_large(self, groups: Iterable[GroupKey]) -> bool:
        """Return whether the output of groups is expected to take more than the limit.

        It is expected to grow with the training samples.
        """
        if self._limit == inf:
            return False
        if not self._largest and not self._guess:
            self._guess = _UNKNOWN_RATIO * nbytes(self._X) / n_samples_of(self._X)
        largest = self._largest or self._guess
        return sum(self._sizes.get(key, largest * key[1]) for key in groups) > self._limit

    def make_room(self, groups: Groups, *, is_first: bool) -> None:
        """Discard steps that are evaluated, if they and those of the next groups are too many.

        That is, if they take more than the limit; or if they are of many settings, no later rung
        uses them, and these groups are not the first ones of a stage, which has others that can.
        """
        resource = self._config.resource
        is_used_later = not (resource.counts_samples or resource.counts_folds)
        n_settings = len({key[2] for key in self._fitted})
        are_many = not (is_used_later or is_first) and n_settings >= self._max_settings
        if are_many or self.is_too_large(self._fitted.keys() | groups.keys()):
            for key in self._fitted.keys() - groups.keys():
                self._discard(key)

    def _discard(self, key: GroupKey) -> None:
        del self._sizes[key]
        _, fitted = self._fitted.pop(key)
        self._workers.release(fitted)
        fitted.discard()

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
                self._sizes[key] = _n_bytes(fitted)
                self._largest = max(self._largest, self._sizes[key] / key[1])

        job = replace(jobs[0], model=None)
        folder = self._workers.shared_folder
        args = (view, job, self._X, self._y, self._config, self._deadline, folder)
        return WorkerCall(_fit_preprocessing, args, receive, lambda part: jobs)


def _n_bytes(fitted: FittedPreprocessing | PreprocessingFile) -> int:
    if isinstance(fitted, PreprocessingFile):
        return fitted.path.stat().st_size
    return nbytes(fitted)


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
    """Fit the preprocessing steps of a job's candidate on a fold; leave them in a folder, if given.

    Returns the traceback if that fails, and None after the deadline.
    """
    if time() >= deadline:
        return None
    pipeline = new_estimator(config, job.params)
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
    fitted = replace(fitted, seconds=perf_counter() - start)
    return fitted if folder is None else PreprocessingFile.write(fitted, folder)
