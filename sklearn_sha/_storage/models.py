"""A model between two rungs: where it lies, and how it is taken from there."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from uuid import uuid4

from sklearn_sha._storage.durable_files import CheckpointError, write_files
from sklearn_sha._storage.pickling import dump, dumps, nbytes

_LARGE = 2**20
_Key = TypeVar("_Key", bound=tuple[int, ...])


class TrainedModel:
    """A model in memory.

    Parameters
    ----------
    model : estimator
    spent : int
        Units of resource that it has had.
    copies_samples : bool, default=False
        True where the estimator writes into its input, and so needs a copy of the rows.

    Attributes
    ----------
    nbytes : int
        About as many bytes of memory as the model takes; 0 where they are not counted.
    """

    nbytes: int = 0

    def __init__(self, model: Any, spent: int, copies_samples: bool = False) -> None:
        self.model = model
        self.spent = spent
        self.copies_samples = copies_samples

    def take(self) -> Any:
        """The model, to be trained on in place: None where it was taken before.

        What breaks off a job leaves its model half trained, and so nobody gets it again.
        """
        model = vars(self).pop("model", None)
        return pickle.loads(model) if isinstance(model, bytes) else model

    def content(self) -> bytes:
        """The model, pickled."""
        return self.model if isinstance(self.model, bytes) else dumps(self.model)

    def dump(self, file: BinaryIO) -> None:
        """Write the model, pickled."""
        if isinstance(self.model, bytes):
            file.write(self.model)
        else:
            dump(self.model, file)

    def __getstate__(self) -> dict[str, Any]:
        # It travels as bytes: some backends make arrays read-only on their way, which a model
        # that is trained in place can't be. And nobody has to load it who only passes it on.
        state = vars(self).copy()
        with suppress(Exception):  # what sends it may know more, or has the better error
            state["model"] = self.content()
        return state


class ModelSizes:
    """Measures the models of a batch, all of them only if that can matter.

    To measure a model takes about a hundredth of the time of its training, and most are small.
    While all models of the batch would fit even if they were ten times as large as the largest so
    far, only the first, the second, the fourth and so on are measured; others count as much as
    the largest.

    Parameters
    ----------
    n_models : int
    limit : float
        How many bytes the batch may have.

    Attributes
    ----------
    total : int
        Bytes of all models so far.
    """

    def __init__(self, n_models: int, limit: float) -> None:
        self.total = 0
        self._limit = limit / (10 * n_models)
        self._n_seen = 0
        self._largest = 0

    def add(self, trained: TrainedModel) -> None:
        """Set how many bytes a model has."""
        self._n_seen += 1
        is_power_of_two = self._n_seen & (self._n_seen - 1) == 0
        if self._largest > self._limit or (is_power_of_two and self._limit < inf):
            trained.nbytes = nbytes(trained.model)
            self._largest = max(self._largest, trained.nbytes)
        else:
            trained.nbytes = self._largest
        self.total += trained.nbytes


@dataclass(frozen=True)
class ModelFile:
    """A model in a file of a `ModelFolder`.

    Attributes
    ----------
    path : Path
    start, length : int
        Where in the file it stands.
    digest : str
        Of what stands there; empty in a temporary folder, where it is not checked.
    spent, copies_samples
        As of `TrainedModel`.
    fetched : bytes or None
        What stands there, for a worker that does not see the file.
    """

    path: Path
    start: int
    length: int
    digest: str
    spent: int
    copies_samples: bool
    fetched: bytes | None = None

    @property
    def is_out_of_sight(self) -> bool:
        """Whether the file can't be read here: it is another machine's, or gone."""
        return self.fetched is None and not os.access(self.path, os.R_OK)

    def take(self) -> Any:
        """The model, read from the file.

        Raises
        ------
        CheckpointError
            If the file of a checkpoint is not what was written.
        """
        if self.digest or self.fetched is not None:
            return pickle.loads(self.content())
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return pickle.load(file)

    def content(self) -> bytes:
        """The model, pickled."""
        if self.fetched is not None:
            return self.fetched
        try:
            with open(self.path, "rb") as file:
                file.seek(self.start)
                content = file.read(self.length)
        except OSError as error:
            if not self.digest:
                raise
            wrong = f"can't be read ({error.strerror})"
        else:
            if not self.digest or _digest(content) == self.digest:
                return content
            wrong = "is not what was written: it was cut or altered"
        raise CheckpointError(
            f"{self.path} {wrong}. Restore it, or start afresh: delete the folder "
            f"{self.path.parent.parent}, or give checkpoint another one."
        )


@dataclass(frozen=True)
class ModelFolder:
    """Where workers leave models, so that those of the eliminated never travel.

    Attributes
    ----------
    path : Path
    durable : bool
        Whether models must outlast a power cut, and are checked when they are read.
    memory_of : int or None
        Process that has no need to, since its models wait in its memory.
    """

    path: Path
    durable: bool = False
    memory_of: int | None = None

    @property
    def is_for_this_process(self) -> bool:
        """Whether models of this process are to be written there at once."""
        return os.getpid() != self.memory_of

    def put(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        """Write models to files, under names that no other process gives.

        Parameters
        ----------
        models : dict of tuple of int to TrainedModel
            Small ones share a file, since each file that has to reach the disk costs some
            milliseconds; no two large ones do, since each is worth deleting on its own.

        Returns
        -------
        dict of tuple of int to ModelFile
            Without those that can't be left here: all where the worker is on another machine;
            and if not durable, also some for a full disk, and for one that can't be pickled.

        Raises
        ------
        CheckpointError
            If durable, and a model can't be pickled, or the disk is full.
        """
        if not self.path.is_dir():
            return {}
        return self._put_durably(models) if self.durable else self._put_for_now(models)

    def _put_durably(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        files: dict[Path, bytearray] = {}
        written = {}
        shared = self.path / uuid4().hex
        for key, trained in models.items():
            content = _pickled(trained)
            path = shared if len(content) < _LARGE else self.path / uuid4().hex
            file = files.setdefault(path, bytearray())
            place = (path, len(file), len(content), _digest(content))
            written[key] = ModelFile(*place, trained.spent, trained.copies_samples)
            file += content
        write_files(files)
        return written

    def _put_for_now(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        """Straight to the files: a copy of a large model in memory costs as much as its file."""
        written: dict[_Key, ModelFile] = {}
        waiting = list(models.items())
        while waiting:
            path = self.path / uuid4().hex
            of_file = {}
            try:
                with open(path, "wb") as file:
                    while waiting and file.tell() < _LARGE:
                        key, trained = waiting.pop(0)
                        start = file.tell()
                        trained.dump(file)
                        place = (path, start, file.tell() - start, "")
                        of_file[key] = ModelFile(*place, trained.spent, trained.copies_samples)
            except Exception:  # what can't be left here travels, or has its error there
                path.unlink(missing_ok=True)
                break
            written |= of_file
        return written


def _pickled(trained: TrainedModel) -> bytes:
    try:
        return trained.content()
    except Exception as error:
        raise CheckpointError(
            f"A model of class {type(trained.model).__name__} can't be pickled, and so not be kept "
            f"in a checkpoint: {error}. Set checkpoint=None."
        ) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
