"""Completed results and models of a search, in a folder that survives the process."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from socket import gethostname
from typing import Any, Self

from sklearn_sha._storage.durable_files import (
    CheckpointError,
    append,
    disk_full_explained,
    write_files,
)
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import OutcomeAndModel, Store
from sklearn_sha._user_warning import warn_user

FORMAT = 1
_ABOUT = "about.json"
_MAX_SHOWN = 60

_OWN_FOLDER = re.compile(r"models-[0-9a-f]{8}|workers-\w{8}")
"""Names of the folders that a checkpoint makes and deletes."""


class Checkpoint(Store):
    """Store that also saves outcomes and models to a folder.

    As a context manager, it locks the folder against other processes.

    Parameters
    ----------
    path : path-like
        Folder of the checkpoint. It is created if it does not exist.

    Raises
    ------
    TypeError
        If `path` is not a path.

    Notes
    -----
    The folder contains

    - ``about.json``, which identifies the search;
    - ``outcomes.jsonl``, a journal with one line per batch of outcomes. Each line starts with its
      checksum, so that a truncated line is detected;
    - ``models-*``, a folder of pickled models, written by the workers that trained them.

    A line of the journal contains the files and digests of the models of its outcomes, and is
    written after them. A file is deleted once a later line needs none of its models.
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"checkpoint={path!r} must be the path of a folder, or None.")
        self.path = Path(path).absolute()
        self._about = self.path / _ABOUT
        self._journal = self.path / "outcomes.jsonl"
        self._process = self.path / "process"
        self._fingerprint: dict[str, str] | None = None
        self._extensions: list[str] = []
        self._has_later_extensions = False

    def __enter__(self) -> Self:
        try:
            import cloudpickle  # noqa: F401 - used when models are pickled
            from filelock import FileLock, Timeout
        except ImportError as error:
            raise ImportError(
                f"checkpoint={str(self.path)!r} requires the package {error.name}. Install "
                "sklearn_sha[checkpoint], or set checkpoint=None."
            ) from error
        self._create()
        self._lock = FileLock(self.path / "lock")
        try:
            with disk_full_explained(self.path / "lock"):
                self._lock.acquire(timeout=0)
        except Timeout:
            # Empty until the other process, which has just begun, has written its name.
            user = self._process.read_text() if self._process.exists() else ""
            raise CheckpointError(
                f"{self.path} is in use by {user or 'another process'}. Wait until it ends, or "
                "set checkpoint to another folder."
            ) from None
        try:
            self._delete_folders("workers-")  # of a process that was terminated
            since = datetime.now(UTC).isoformat(" ", "seconds")
            with disk_full_explained(self._process):
                self._process.write_text(f"process {os.getpid()} on {gethostname()} since {since}")
            self._read_about()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        self._lock.release()

    def claim(self, fingerprint: Mapping[str, str], extensions: Sequence[str] = ()) -> None:
        """Assign a new folder to a search, or read the completed results of the same search.

        Parameters
        ----------
        fingerprint : dict of str to str
            Identifies the search.
        extensions : sequence of str
            Identify the extensions of the search, in their order.

        Raises
        ------
        CheckpointError
            If the folder has the checkpoint of another search or of other extensions, or is
            damaged.
        """
        assert self.seed is not None
        folder = self.path / f"models-{self.seed:08x}"
        self.model_folder = ModelFolder(folder, durable=True)
        if self._fingerprint is None:
            folder.mkdir(mode=0o700)
            self._write_about(fingerprint, extensions)
        elif different := differences(self._fingerprint, fingerprint):
            raise CheckpointError(
                f"{self.path} has the checkpoint of another search, which differs in "
                f"{', '.join(different)}. Set checkpoint to another folder; or, to start a new "
                "search, delete this one."
            )
        else:
            if not folder.exists():  # a completed search needs none of its models
                folder.mkdir(mode=0o700)
            _check_mode(folder)
            self._check_extensions(extensions)
            if len(extensions) > len(self._extensions):
                self._write_about(fingerprint, extensions)
            self._has_later_extensions = len(self._extensions) > len(extensions)
            self._read_journal(folder)
            files = set(folder.iterdir())
            # Models of a completed search are deleted. If one is needed again, it is refit.
            self.models = {
                key: model
                for key, model in self.models.items()
                if isinstance(model, ModelFile) and model.path in files
            }
            for path in files - self.model_files():
                path.unlink()

    def add(self, results: Sequence[OutcomeAndModel]) -> None:
        """Add outcomes and models, which are on the disk when this method returns."""
        if not self.path.is_dir():
            raise self._unusable(self.path, "the folder was deleted")
        # Models of workers that can't access the folder.
        in_memory = {o.key: model for o, model in results if isinstance(model, TrainedModel)}
        assert self.model_folder is not None
        files = self.model_folder.write(in_memory)
        if len(files) < len(in_memory):
            raise self._unusable(self.model_folder.path, "the folder was deleted")
        results = [(outcome, files.get(outcome.key, model)) for outcome, model in results]
        models = {
            f"{o.candidate}-{o.fold}": [
                m.path.name,
                m.offset,
                m.length,
                m.digest,
                m.n_resources,
                m.copies_samples,
            ]
            for o, m in results
            if isinstance(m, ModelFile)
        }
        line = {"outcomes": [outcome._asdict() for outcome, _ in results], "models": models}
        append(self._journal, _with_checksum(line))
        super().add(results)

    def clear_models(self) -> None:
        # Models of a later extension that was interrupted are needed when it continues.
        if not self._has_later_extensions:
            super().clear_models()

    def _check_extensions(self, extensions: Sequence[str]) -> None:
        for number, (then, now) in enumerate(zip(self._extensions, extensions, strict=False)):
            if then != now:
                raise CheckpointError(
                    f"call number {number + 1} since fit was {then!r} in the checkpoint "
                    f"{self.path}, and is now {now!r}. Make the same calls as then; or set "
                    "checkpoint to another folder, and call fit first."
                )

    def _write_about(self, fingerprint: Mapping[str, str], extensions: Sequence[str]) -> None:
        about = {
            "format": FORMAT,
            "seed": self.seed,
            "search": dict(fingerprint),
            "extensions": [*extensions],
        }
        write_files({self._about: _with_checksum(about)})

    def _create(self) -> None:
        try:
            if not self.path.exists():
                # Another process can create it in this moment.
                self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
                f"checkpoint={str(self.path)!r} cannot be created: {error}. Set checkpoint to a "
                "folder in which you can write."
            ) from error
        _check_mode(self.path)
        if not self._about.exists():
            ours = {"lock", self._process.name, self._journal.name}
            ours |= {folder.name for folder in self._own_folders()}
            others = [
                path.name
                for path in self.path.iterdir()
                if path.name not in ours and not path.name.startswith(".about")
            ]
            if others:
                raise CheckpointError(
                    f"{self.path} is not a checkpoint and contains other files ({others[0]}). "
                    "Set checkpoint to a new or an empty folder."
                )
        self.path.chmod(0o700)

    def _own_folders(self) -> list[Path]:
        """Return the folders of models and of workers."""
        return [
            path
            for path in self.path.iterdir()
            if _OWN_FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink()
        ]

    def _delete_folders(self, prefix: str) -> None:
        for folder in self._own_folders():
            if folder.name.startswith(prefix):
                rmtree(folder)

    def _read_about(self) -> None:
        if not self._about.exists():
            if self._journal.exists():  # which is written after it
                raise self._unusable(self._about, "it is missing")
            self.seed = secrets.randbits(32)
            self._delete_folders("models-")
            return
        about = _without_checksum(self._about.read_bytes().removesuffix(b"\n"))
        if about is None:
            raise self._unusable(self._about, "it is truncated or was modified")
        if about["format"] > FORMAT:
            raise self._unusable(
                self._about,
                f"it has format {about['format']}, and this version reads formats up to {FORMAT}; "
                "install a newer sklearn_sha",
            )
        self.seed, self._fingerprint = about["seed"], about["search"]
        self._extensions = about.get("extensions", [])  # absent from older checkpoints

    def _read_journal(self, folder: Path) -> None:
        if not self._journal.exists():
            return
        *lines, rest = self._journal.read_bytes().split(b"\n")
        entries = [*map(_without_checksum, lines), *([None] if rest else [])]
        if None in entries:
            first = entries.index(None)
            if first < len(entries) - 1:
                raise self._unusable(
                    self._journal, f"line {first + 1} is truncated or was modified"
                )
            warn_user(
                f"The end of {self._journal} is damaged. The last completed results are discarded "
                "and their candidates evaluated again.",
                RuntimeWarning,
            )
            os.truncate(self._journal, sum(len(line) + 1 for line in lines[:first]))
            entries.pop()
        for entry in entries:
            super().add(_results(entry, folder))

    def _unusable(self, file: Path, problem: str) -> CheckpointError:
        return CheckpointError(
            f"{file} can't be used: {problem}. Restore it from a copy; or, to start a new search, "
            f"delete the folder {self.path} or set checkpoint to another folder."
        )


def _results(entry: Mapping[str, Any], folder: Path) -> list[OutcomeAndModel]:
    """Outcomes and models in a line of the journal."""
    results: list[OutcomeAndModel] = []
    for fields in entry["outcomes"]:
        outcome = Outcome(**fields | {"errors": tuple(fields["errors"])})
        model = entry["models"].get(f"{outcome.candidate}-{outcome.fold}")
        results.append((outcome, ModelFile(folder / model[0], *model[1:]) if model else None))
    return results


def _check_mode(folder: Path) -> None:
    """Raise for a folder in which another user could have written pickles."""
    if os.name == "nt":
        return
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise CheckpointError(f"{folder} is not a folder. Set checkpoint to a folder.")
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise CheckpointError(
            f"{folder} belongs to another user, or others can write to it, so it could contain "
            "code of theirs. Set checkpoint to a folder of the current user, or make it private "
            f"(chmod 700 {folder})."
        )


def _with_checksum(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry).encode()
    return _checksum(text) + b" " + text + b"\n"


def _without_checksum(line: bytes) -> Any:
    """Entry of a line; None if the line is truncated or was modified."""
    checksum, _, text = line.partition(b" ")
    return json.loads(text) if checksum == _checksum(text) else None


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def has_checkpoint(path: Path) -> bool:
    """Return whether a folder has a checkpoint."""
    return (path / _ABOUT).exists()


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the entries in which two fingerprints differ, with short values."""
    return [
        f"{name}{_difference(then.get(name), now.get(name))}"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]


def _difference(then: str | None, now: str | None) -> str:
    if then is None or now is None:
        return f" ({_presence(then)} then, {_presence(now)} now)"
    return f" ({then} then, {now} now)" if len(then + now) <= _MAX_SHOWN else ""


def _presence(value: str | None) -> str:
    return "missing" if value is None else "given"
