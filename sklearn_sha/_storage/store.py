"""What of a search is finished: outcomes, and models that may train on."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from sklearn_sha._storage.memory import is_in_memory
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.outcomes import Outcome

Pair = tuple[Outcome, TrainedModel | ModelFile | None]


class Store:
    """Keeps outcomes in memory, and models there or in temporary files.

    Attributes
    ----------
    outcomes : dict of (int, int, int) to Outcome
        By candidate, fold and resource.
    trained : dict of (int, int) to TrainedModel or ModelFile
        By candidate and fold: the model of the last outcome, where it may train on.
    models : ModelFolder or None
        Where workers leave models.
    path : Path or None
        A folder that the user says all workers may see.
    seed : int or None
        What stands for ``random_state=None``; None where nothing is to be repeated.
    limit : float
        How many bytes of models may wait in memory. Those beyond it go to temporary files, or
        are dropped if that is no help, and refit from scratch if they are needed.
    """

    models: ModelFolder | None = None
    path: Path | None = None
    seed: int | None = None
    _remove_folder: finalize[..., Any] | None = None
    limit: float = inf

    def __init__(self) -> None:
        self.outcomes: dict[tuple[int, int, int], Outcome] = {}
        self.trained: dict[tuple[int, int], TrainedModel | ModelFile] = {}
        self._obsolete: set[Path] = set()
        self._in_memory = 0  # bytes of models
        self._files_are_in_memory = False
        self._has_warned = False

    def share(self) -> None:
        """Have a folder for models that go to files, gone when this store is."""
        if self.models is None:
            folder = mkdtemp(prefix="models-")
            self._remove_folder = finalize(self, rmtree, folder, ignore_errors=True)
            self.models = ModelFolder(Path(folder), memory_of=os.getpid())
            self._files_are_in_memory = is_in_memory(Path(folder))

    def keep(self, pairs: Sequence[Pair]) -> None:
        """Take in what came of jobs."""
        # Models that what came before made obsolete: from now on nobody goes back to them.
        if self._obsolete:
            _delete(self._obsolete - self.wanted())
            self._obsolete.clear()
        beyond = {}
        for outcome, trained in pairs:
            self.outcomes[outcome.key] = outcome
            self.drop(outcome.candidate, outcome.fold)
            if trained is None:
                continue
            key, size = (outcome.candidate, outcome.fold), self._size_in_memory(trained)
            if self._in_memory + size > self.limit:
                beyond[key] = trained
            else:
                self.trained[key] = trained
                self._in_memory += size
        if beyond:
            self._put_elsewhere(beyond)

    def _size_in_memory(self, trained: TrainedModel | ModelFile) -> int:
        if isinstance(trained, TrainedModel):
            return trained.nbytes
        return trained.length if self._files_are_in_memory else 0

    def _put_elsewhere(self, models: Mapping[tuple[int, int], TrainedModel | ModelFile]) -> None:
        """Leave models that find no room in memory in files, or drop them."""
        in_memory = {key: t for key, t in models.items() if isinstance(t, TrainedModel)}
        files: dict[tuple[int, int], ModelFile] = {}
        with suppress(OSError):  # no room for a folder either
            self.share()
            if self.models is not None and not self._files_are_in_memory:
                files = self.models.put(in_memory)
        self.trained |= files
        dropped = [models[key] for key in models.keys() - files.keys()]
        self._obsolete |= {t.path for t in dropped if isinstance(t, ModelFile)}
        if dropped and not self._has_warned:
            self._has_warned = True
            folder = self.models.path.parent if self.models is not None else "temporary files"
            why = (
                "is in memory itself"
                if self._files_are_in_memory
                else "has no room for them, or they can't be pickled"
            )
            warnings.warn(
                f"Models that wait for the next rung take more than model_memory, which is "
                f"{self.limit:.0f} bytes, and {folder} {why}. Those beyond it are dropped, and "
                "refit from scratch if their candidates are promoted; the results are the same. "
                "To continue training instead, set the environment variable TMPDIR to a folder on "
                "a disk with enough room, or raise model_memory.",
                RuntimeWarning,
                stacklevel=2,
            )

    def fetch(self, candidate: int, fold: int) -> None:
        """Read a model, to be sent to a worker that does not see its file."""
        trained = self.trained[candidate, fold]
        assert isinstance(trained, ModelFile)
        if not trained.digest and trained.is_out_of_sight:
            self.drop(candidate, fold)  # somebody has cleared temporary files away
        else:
            self.trained[candidate, fold] = replace(trained, fetched=trained.content())

    def wanted(self) -> set[Path]:
        """The files that have a model which may train on."""
        return {t.path for t in self.trained.values() if isinstance(t, ModelFile)}

    def drop(self, candidate: int, fold: int) -> None:
        """Let go of a model, where there is one."""
        trained = self.trained.pop((candidate, fold), None)
        if trained is not None:
            self._in_memory -= self._size_in_memory(trained)
        if isinstance(trained, ModelFile):
            self._obsolete.add(trained.path)

    def finish(self) -> None:
        """Let go of all models: the search has come to its end."""
        self.trained.clear()
        self._in_memory = 0
        if self._remove_folder is not None:
            self._remove_folder()  # now, and not when nobody refers to the store any more
        elif self.models is not None and self.models.path.exists():
            _delete(self.models.path.iterdir())


def _delete(files: Iterable[Path]) -> None:
    for path in files:
        with suppress(OSError):  # its folder goes later
            path.unlink()
