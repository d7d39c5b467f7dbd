"""Fitted preprocessing steps in a file, for worker processes or to save memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._storage.temporary_files import delete_files, new_file


@dataclass(frozen=True)
class PreprocessingFile:
    """Fitted preprocessing steps in a file, whose arrays are memory-mapped by each process.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @classmethod
    def write(
        cls, preprocessing: FittedPreprocessing, folder: Path
    ) -> PreprocessingFile | FittedPreprocessing:
        """Write preprocessing to a new file; return it unchanged if that is not possible.

        Parameters
        ----------
        preprocessing : FittedPreprocessing
        folder : Path

        Returns
        -------
        PreprocessingFile or FittedPreprocessing
        """
        try:
            with new_file(folder) as path:
                joblib.dump(preprocessing, path)
        except Exception:  # a full disk, or an object that cannot be pickled
            return preprocessing
        return cls(path)

    def is_readable(self) -> bool:
        """Return whether the file can be read; delete it otherwise.

        Some objects can be pickled, but not restored.
        """
        try:
            self.with_data(None, None)
        except Exception:
            self.discard()
            return False
        return True

    def with_data(self, X: Any, y: Any) -> FittedPreprocessing:
        """Load the preprocessing, which contains its data."""
        try:
            return joblib.load(self.path, mmap_mode="c")
        except OSError:  # more arrays than a process can map
            return joblib.load(self.path)

    def discard(self) -> None:
        """Delete the file."""
        delete_files([self.path])
