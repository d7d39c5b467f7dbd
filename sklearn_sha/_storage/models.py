"""Trained models between two rungs, in memory or in files."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from joblib import wrap_non_picklable_objects

from sklearn_sha._storage.durable_files import CheckpointError, write_files
from sklearn_sha._storage.pickling import dump, dumps
from sklearn_sha._storage.temporary_files import new_file, unique_path

_LARGE = 2**20
_Key = TypeVar("_Key", bound=tuple[int, ...])


class TrainedModel:
    """Trained model in memory.

    Parameters
    ----------
    estimator : estimator
        Fitted, or new if `n_resources` is 0.
    n_resources : int
        Units that the estimator has been trained with, as in `Job`.
    copies_samples : bool, default=False
        Whether the estimator writes into its input, so that it needs a copy of the samples.

    Attributes
    ----------
    nbytes : int
        Estimated memory of the model in bytes; 0 if it is not measured.
    """

    __slots__ = "copies_samples", "estimator", "n_resources", "nbytes"

    def __init__(self, estimator: Any, n_resources: int, copies_samples: bool = False) -> None:
        self.estimator = estimator
        self.n_resources = n_resources
        self.copies_samples = copies_samples
        self.nbytes = 0

    def load(self) -> Any:
        """Return the estimator to continue its training in place.

        It is returned only once, and None after that: if its training is interrupted, the
        estimator is in an unknown state.
        """
        estimator, self.estimator = self.estimator, None
        return pickle.loads(estimator) if isinstance(estimator, bytes) else estimator

    def to_bytes(self) -> bytes:
        """Return the pickled estimator."""
        return self.estimator if isinstance(self.estimator, bytes) else dumps(self.estimator)

    def dump(self, file: BinaryIO) -> None:
        """Write the pickled estimator to an open file."""
        if isinstance(self.estimator, bytes):
            file.write(self.estimator)
        else:
            dump(self.estimator, file)

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        # Bytes, since some backends make the arrays of what they send read-only, and so that
        # processes that only pass the model on need not load it.
        state = {name: getattr(self, name) for name in self.__slots__}
        try:
            state["estimator"] = self.to_bytes()
        except Exception:
            # joblib can send classes of a script or a function, which `pickle` can't find by name.
            by_value = wrap_non_picklable_objects(self.estimator, keep_wrapper=False)
            with suppress(Exception):  # otherwise the backend raises the clearer error
                state["estimator"] = pickle.dumps(by_value)
        return None, state


@dataclass(frozen=True)
class ModelFile:
    """Trained model in a file of a `ModelFolder`.

    Attributes
    ----------
    path : Path
    offset, length : int
        Position of the pickle in the file, in bytes.
    digest : str
        SHA-256 digest of the pickle; empty in a temporary folder, where it is not checked.
    n_resources, copies_samples
        As in `TrainedModel`.
    content : bytes or None
        The pickle itself, for a worker that cannot access the file.
    """

    path: Path
    offset: int
    length: int
    digest: str
    n_resources: int
    copies_samples: bool
    content: bytes | None = None

    @property
    def is_inaccessible(self) -> bool:
        """Whether this process cannot read the file: it is on another machine, or deleted."""
        return self.content is None and not os.access(self.path, os.R_OK)

    def load(self) -> Any:
        """Return the estimator.

        Raises
        ------
        CheckpointError
            If the file of a checkpoint is missing or damaged.
        """
        if self.digest or self.content is not None:
            return _unpickled(pickle.loads, self.to_bytes())
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return _unpickled(pickle.load, file)

    def to_bytes(self) -> bytes:
        """Return the pickled estimator; raises as `load`."""
        if self.content is not None:
            return self.content
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                content = file.read(self.length)
        except OSError as error:
            if not self.digest:
                raise
            problem = f"can't be read ({error.strerror})"
        else:
            if not self.digest or _digest(content) == self.digest:
                return content
            problem = "is truncated or was modified"
        raise CheckpointError(
            f"{self.path} {problem}. Restore the file; or, to start a new search, delete the "
            f"folder {self.path.parent.parent} or set checkpoint to another folder."
        )


def _unpickled(load: Callable[[Any], Any], source: Any) -> Any:
    try:
        return load(source)
    except Exception as error:
        error.add_note(
            "A trained model could be pickled, but not unpickled. Correct its class; or keep "
            "models in memory, with n_jobs=None, checkpoint=None and model_memory=None."
        )
        raise


ModelReference = TrainedModel | ModelFile
"""A trained model, wherever it is stored."""


@dataclass(frozen=True)
class ModelFolder:
    """Folder in which workers leave models, so that those of eliminated candidates are never sent.

    Attributes
    ----------
    path : Path
    durable : bool
        Whether models must survive a power failure and are checked when they are read.
    in_memory_pid : int or None
        ID of the process that keeps its models in memory instead.
    """

    path: Path
    durable: bool = False
    in_memory_pid: int | None = None

    @property
    def is_used_by_this_process(self) -> bool:
        """Whether this process writes the models that it has trained to the folder."""
        return os.getpid() != self.in_memory_pid

    def write(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        """Write models to new files.

        Small models share a file, since each durable file takes some milliseconds. Large models
        get a file each, so that it can be deleted with its model.

        Parameters
        ----------
        models : dict of tuple of int to TrainedModel

        Returns
        -------
        dict of tuple of int to ModelFile
            Models that could be written. On another machine, where the folder does not exist,
            there are none. Unless durable, after an error, such as a full disk or a model that
            can't be pickled, the models of its file and all later ones are missing.

        Raises
        ------
        CheckpointError
            If durable, and a model can't be pickled or the disk is full.
        """
        if not self.path.is_dir():
            return {}
        return self._write_durable(models) if self.durable else self._write_temporary(models)

    def _write_durable(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        contents: dict[Path, bytearray] = {}
        written = {}
        shared_path = unique_path(self.path)
        for key, model in models.items():
            pickled = _pickled(model)
            path = shared_path if len(pickled) < _LARGE else unique_path(self.path)
            content = contents.setdefault(path, bytearray())
            position = (path, len(content), len(pickled), _digest(pickled))
            written[key] = ModelFile(*position, model.n_resources, model.copies_samples)
            content += pickled
        write_files(contents)
        return written

    def _write_temporary(self, models: Mapping[_Key, TrainedModel]) -> dict[_Key, ModelFile]:
        # Models are pickled straight into the file, without a copy in memory.
        written: dict[_Key, ModelFile] = {}
        remaining = list(models.items())
        with suppress(Exception):  # the remaining models are sent, and raise there if they must
            while remaining:
                in_file = {}
                with new_file(self.path) as path, open(path, "wb") as file:
                    while remaining and file.tell() < _LARGE:
                        key, model = remaining.pop(0)
                        offset = file.tell()
                        model.dump(file)
                        position = (path, offset, file.tell() - offset, "")
                        in_file[key] = ModelFile(*position, model.n_resources, model.copies_samples)
                written |= in_file
        return written


def _pickled(model: TrainedModel) -> bytes:
    try:
        return model.to_bytes()
    except Exception as error:
        raise CheckpointError(
            f"A model of class {type(model.estimator).__name__} can't be pickled, so it can't be "
            f"saved to a checkpoint: {error}. Set checkpoint=None."
        ) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
