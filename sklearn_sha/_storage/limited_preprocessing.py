"""Fitted preprocessing steps in memory up to a limit, and beyond it in temporary files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import Lock
from typing import Any

from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._storage.free_memory import is_in_memory
from sklearn_sha._storage.pickling import nbytes
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha._storage.temporary_files import MORE_SPACE, no_files_message
from sklearn_sha._user_warning import warn_user


class LimitedPreprocessing:
    """Writes fitted preprocessing steps to files once those in memory reach a limit.

    Several threads can use it.

    Parameters
    ----------
    memory_limit : float
        Maximum size of the steps in memory, with their output, in bytes. If further ones can't be
        in files, they are in memory too, and a warning is shown.
    new_folder : callable or None
        Takes no arguments, and creates the folder of the files. None without a limit.
    """

    def __init__(self, memory_limit: float, new_folder: Callable[[], Path] | None) -> None:
        self._memory_limit = memory_limit
        self._new_folder = new_folder
        self._folder: Path | None = None
        self._sizes: dict[int, int] = {}  # of the objects in memory, by their ids
        self._has_warned = False
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        # A cluster can have a single worker, whose calls run in this process, and then more.
        return type(self), (inf, None)

    def kept(self, fitted: FittedPreprocessing) -> FittedPreprocessing | PreprocessingFile:
        """Return fitted steps, or a file with them."""
        if self._memory_limit == inf:
            return fitted
        size = nbytes(fitted)
        with self._lock:
            has_room = sum(self._sizes.values()) + size <= self._memory_limit
            if has_room:
                self._sizes[id(fitted)] = size
        return fitted if has_room else self._written(fitted, size)

    def discard(self, kept: FittedPreprocessing | PreprocessingFile) -> None:
        """Discard what `kept` returned."""
        with self._lock:
            self._sizes.pop(id(kept), None)
        kept.discard()

    def _written(
        self, fitted: FittedPreprocessing, size: int
    ) -> FittedPreprocessing | PreprocessingFile:
        are_in_memory = False
        with suppress(OSError):  # the folder can't be created
            assert self._new_folder is not None
            with self._lock:
                self._folder = self._folder or self._new_folder()
            are_in_memory = is_in_memory(self._folder)
            if not are_in_memory:
                file = PreprocessingFile.write(fitted, self._folder)
                if isinstance(file, PreprocessingFile) and file.is_readable():
                    return file
        with self._lock:
            self._sizes[id(fitted)] = size
            is_first, self._has_warned = not self._has_warned, True
        if is_first:
            message = no_files_message(
                "The outputs of preprocessing steps that are kept for other candidates",
                self._memory_limit,
                self._folder,
                are_in_memory=are_in_memory,
            )
            warn_user(
                f"{message} They stay in memory. To keep them in files, {MORE_SPACE}. If the "
                "memory is sufficient, raise model_memory.",
                RuntimeWarning,
            )
        return fitted
