"""Slices each fold once, into a file that all worker processes map into memory."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from pathlib import Path
from shutil import disk_usage
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.sample_sources import GroupKey, Groups, Source, Views
from sklearn_sha._engine.worker_deaths import WorkerCall
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.free_memory import free_memory, is_in_memory
from sklearn_sha._storage.samples_file import SamplesFile

MIN_BYTES = 1_000_000
"""Fewer samples are sliced faster than a file is written and read. joblib too maps arrays from this
size on."""

_MAX_SHARE = 0.25
"""Of the free space. All folds together take as much as the data, times the number of folds."""


class SharedSlices:
    """Slices of the folds of the current stage, in files.

    Files of all folds take less memory than one slice in each worker if there are more workers than
    folds. Otherwise, without a folder that all workers share, with small data and with data frames,
    each batch of jobs slices its fold itself.

    Parameters
    ----------
    n_folds : int
    config : EvaluationConfig
    workers : Workers
    X, y
        All samples.
    """

    def __init__(
        self, n_folds: int, config: EvaluationConfig, workers: Workers, X: Any, y: Any
    ) -> None:
        self._X, self._y = X, y
        self._workers = workers
        self._n_bytes = 0 if config.resource.in_batches else _n_bytes(X)
        self._n_folds = n_folds
        # None: the file could not be written.
        self._files: dict[GroupKey, SamplesFile | None] = {}

    def key(self, candidate: int) -> Hashable:
        """Return the same for all candidates."""
        return None

    def discard_all_but(self, groups: Groups) -> None:
        """Delete the files that no group of a stage uses."""
        for key in self._files.keys() - groups.keys():
            if (file := self._files.pop(key)) is not None:
                file.discard()

    def calls(self, views: Views, groups: Groups) -> list[WorkerCall]:
        """Return the calls that slice the folds of several jobs, unless they were run before."""
        folder = self._folder
        if folder is None:
            return []
        return [
            self._call(key, view, folder)
            for key, jobs in groups.items()
            if len(jobs) > 1
            and key not in self._files
            and self._n_bytes_of(view := views[key[:2]]) >= MIN_BYTES
        ]

    def source(self, key: GroupKey, view: Fold) -> Source:
        """Return the file of a group, or the fold itself."""
        return self._files.get(key) or view

    @cached_property
    def _folder(self) -> Path | None:
        """Folder of the files, if there are to be any."""
        folder = self._workers.shared_folder
        if folder is None or self._workers.n_workers <= self._n_folds:
            return None
        return folder if _has_space(folder, self._n_folds * self._n_bytes) else None

    def _n_bytes_of(self, view: Fold) -> float:
        return self._n_bytes * (len(view.train) + len(view.test)) / n_samples_of(self._X)

    def _call(self, key: GroupKey, view: Fold, folder: Path) -> WorkerCall:
        self._files[key] = None

        def receive(file: SamplesFile | None) -> None:
            self._files[key] = file

        args = (view, self._X, self._y, folder)
        call = WorkerCall(_slice, args, lambda part: (), lambda part: call, receive)
        return call


def _slice(monitor: CallMonitor, fold: Fold, X: Any, y: Any, folder: Path) -> SamplesFile | None:
    """Slice a fold into a new file. None if it cannot be written."""
    with monitor.running():
        sliced = FittedPreprocessing(fold.with_data(X, y).rows())
        file = SamplesFile.write(sliced, folder)
    return file if isinstance(file, SamplesFile) else None


def _n_bytes(X: Any) -> int:
    """Size of data whose files can be mapped into memory; 0 for others."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes) if X.format in ("csr", "csc") else 0
    return X.nbytes if isinstance(X, np.ndarray) and not X.dtype.hasobject else 0


def _has_space(folder: Path, n_bytes: int) -> bool:
    free: float = disk_usage(folder).free
    if is_in_memory(folder):
        free = min(free, free_memory())
    return n_bytes <= _MAX_SHARE * free
