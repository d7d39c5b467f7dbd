"""Fitted preprocessing steps in memory up to a limit, and beyond it in temporary files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path

from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._storage.free_memory import is_in_memory
from sklearn_sha._storage.pickling import nbytes
from sklearn_sha._storage.preprocessing_file import PreprocessingFile


class LimitedPreprocessing:
    """Writes fitted preprocessing steps to files once those in memory reach a limit.

    Parameters
    ----------
    memory_limit : float
        Maximum size of the steps in memory, with their output, in bytes. If further ones can't be
        in files, they are in memory too, and a warning is shown.
    new_folder : callable
        Takes no arguments, and creates the folder of the files.
    """

    def __init__(self, memory_limit: float, new_folder: Callable[[], Path]) -> None:
        self._memory_limit = memory_limit
        self._new_folder = new_folder
        self._folder: Path | None = None
        self._sizes: dict[int, int] = {}  # of the objects in memory, by their ids
        self._has_warned = False

    def kept(
        self, fitted: FittedPreprocessing | PreprocessingFile
    ) -> FittedPreprocessing | PreprocessingFile:
        """Return fitted steps, or a file with them."""
        if self._memory_limit == inf or isinstance(fitted, PreprocessingFile):
            return fitted
        size = nbytes(fitted)
        exceeds = sum(self._sizes.values()) + size > self._memory_limit
        kept = self._written(fitted) if exceeds else fitted
        if kept is fitted:
            self._sizes[id(fitted)] = size
        return kept

    def discard(self, kept: FittedPreprocessing | PreprocessingFile) -> None:
        """Discard what `kept` returned."""
        self._sizes.pop(id(kept), None)
        kept.discard()

    def _written(self, fitted: FittedPreprocessing) -> FittedPreprocessing | PreprocessingFile:
        where, reason = "temporary files", "there is no space for it in {}, or it can't be pickled"
        with suppress(OSError):  # the folder can't be created
            self._folder = self._folder or self._new_folder()
            where = str(self._folder.parent)
            if is_in_memory(self._folder):
                reason = "the files of {} are in memory too"
            elif (file := PreprocessingFile.write(fitted, self._folder)) is not fitted:
                return file
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                "The output of preprocessing steps that is kept for other candidates exceeds "
                f"model_memory={self._memory_limit:.0f} bytes, and {reason.format(where)}. It "
                "stays in memory. To keep it in files, set the environment variable TMPDIR to a "
                "folder on a disk with enough space. If the memory is sufficient, raise "
                "model_memory.",
                RuntimeWarning,
                stacklevel=2,
            )
        return fitted
