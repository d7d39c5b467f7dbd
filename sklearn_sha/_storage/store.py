"""Completed results and models of a search, in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Self
from weakref import finalize

from sklearn_sha._storage.free_memory import is_in_memory
from sklearn_sha._storage.models import ModelFile, ModelFolder, ModelReference, TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.temporary_files import MORE_SPACE, delete_files, no_files_message
from sklearn_sha._user_warning import warn_user

OutcomeAndModel = tuple[Outcome, ModelReference | None]


class Store:
    """Completed results in memory, and models in memory or in temporary files.

    It is used as a context manager, for the sake of checkpoints.

    Parameters
    ----------
    outcomes : dict of (int, int, int) to Outcome or None, default=None
        Outcomes that are known, to which others are added.

    Attributes
    ----------
    outcomes : dict of (int, int, int) to Outcome
        By candidate, fold and resource.
    models : dict of (int, int) to TrainedModel or ModelFile
        By candidate and fold: the model of the last outcome, if its training can be continued.
    model_folder : ModelFolder or None
        Folder in which workers leave models.
    path : Path or None
        Folder of the checkpoint; None without one.
    seed : int or None
        Seed that a checkpoint saves for ``random_state=None``; None without a checkpoint.
    memory_limit : float
        Maximum size of the models in memory, in bytes. Models beyond it are written to temporary
        files. If that is not possible, they are discarded and refit from scratch if their
        candidates are promoted. The output of preprocessing steps has as much of its own.
    """

    model_folder: ModelFolder | None = None
    path: Path | None = None
    seed: int | None = None
    _remove_folder: finalize[..., Any] | None = None
    memory_limit: float = inf

    def __init__(self, outcomes: dict[tuple[int, int, int], Outcome] | None = None) -> None:
        self.outcomes = {} if outcomes is None else outcomes
        self.models: dict[tuple[int, int], ModelReference] = {}
        self._outdated_files: set[Path] = set()
        self._bytes_in_memory = 0
        self._files_are_in_memory = False
        self._has_warned = False
        self._original: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: Any) -> None:
        return None

    def claim(self, fingerprint: Mapping[str, str], extensions: Sequence[str] = ()) -> None:
        """Assign the store to a search. Only a checkpoint can be that of another search."""

    def copy(self) -> Store:
        """Return a store with the same outcomes and models, to which an extension adds.

        The models are shared: one that continues training in the copy is refit from scratch here.
        """
        copied = Store({**self.outcomes})
        copied.models = {**self.models}
        copied._bytes_in_memory = self._bytes_in_memory
        copied._files_are_in_memory = self._files_are_in_memory
        copied._original = self  # whose temporary folder exists as long as it does
        return copied

    def create_model_folder(self) -> None:
        """Create a temporary folder for models, which is deleted with the store."""
        if self.model_folder is None:
            folder = mkdtemp(prefix="models-")
            self._remove_folder = finalize(self, rmtree, folder, ignore_errors=True)
            self.model_folder = ModelFolder(Path(folder), in_memory_pid=os.getpid())
            self._files_are_in_memory = is_in_memory(Path(folder))

    def add(self, results: Sequence[OutcomeAndModel]) -> None:
        """Add outcomes, and replace the models of their candidates and folds."""
        # Deleted only now: the results that replaced these files are safely stored.
        if self._outdated_files:
            delete_files(self._outdated_files - self.model_files())
            self._outdated_files.clear()
        beyond_limit = {}
        for outcome, model in results:
            self.outcomes[outcome.key] = outcome
            self.remove_model(outcome.candidate, outcome.fold)
            if model is None:
                continue
            key, size = (outcome.candidate, outcome.fold), self._size_in_memory(model)
            if self._bytes_in_memory + size > self.memory_limit:
                beyond_limit[key] = model
            else:
                self.models[key] = model
                self._bytes_in_memory += size
        if beyond_limit:
            self._write_to_files(beyond_limit)

    def attach_content(self, candidate: int, fold: int) -> None:
        """Read a model file, so that its content is sent to workers that can't access the file."""
        model = self.models[candidate, fold]
        assert isinstance(model, ModelFile)
        if not model.digest and model.is_inaccessible:
            self.remove_model(candidate, fold)  # the temporary file was deleted
        else:
            self.models[candidate, fold] = replace(model, content=model.to_bytes())

    def model_files(self) -> set[Path]:
        """Return the files with a model whose training can be continued."""
        return {model.path for model in self.models.values() if isinstance(model, ModelFile)}

    def remove_model(self, candidate: int, fold: int) -> None:
        """Remove the model of a candidate on a fold, if there is one."""
        model = self.models.pop((candidate, fold), None)
        if model is not None:
            self._bytes_in_memory -= self._size_in_memory(model)
        if isinstance(model, ModelFile):
            self._outdated_files.add(model.path)

    def clear_models(self) -> None:
        """Remove all models and their temporary files, once the search has ended."""
        self.models.clear()
        self._bytes_in_memory = 0
        if self._remove_folder is not None:
            self._remove_folder()  # now, not when the store is garbage-collected
        elif self.model_folder is not None and self.model_folder.path.exists():
            delete_files(self.model_folder.path.iterdir())

    def _size_in_memory(self, model: ModelReference) -> int:
        if isinstance(model, TrainedModel):
            return model.nbytes
        return model.length if self._files_are_in_memory else 0

    def _write_to_files(self, models: Mapping[tuple[int, int], ModelReference]) -> None:
        """Write models beyond the memory limit to files, or discard them."""
        in_memory = {key: m for key, m in models.items() if isinstance(m, TrainedModel)}
        files: dict[tuple[int, int], ModelFile] = {}
        with suppress(OSError):  # the folder can't be created
            self.create_model_folder()
            if self.model_folder is not None and not self._files_are_in_memory:
                files = self.model_folder.write(in_memory)
        self.models |= files
        discarded = [models[key] for key in models.keys() - files.keys()]
        self._outdated_files |= {model.path for model in discarded if isinstance(model, ModelFile)}
        if discarded and not self._has_warned:
            self._has_warned = True
            self._warn_about_discarded_models()

    def _warn_about_discarded_models(self) -> None:
        message = no_files_message(
            "The models kept for the next rung",
            self.memory_limit,
            None if self.model_folder is None else self.model_folder.path,
            are_in_memory=self._files_are_in_memory,
        )
        warn_user(
            f"{message} Models beyond the limit are discarded, and refit from scratch if their "
            "candidates are promoted; the results are the same. To continue training instead, "
            f"{MORE_SPACE}, or raise model_memory.",
            RuntimeWarning,
        )
