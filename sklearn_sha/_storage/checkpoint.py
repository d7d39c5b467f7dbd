"""What of a search is finished, in a folder that outlasts the process."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from socket import gethostname
from typing import Any, Self

from sklearn_sha._storage.durable_files import CheckpointError, append, write_files
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import Pair, Store

FORMAT = 1


class Checkpoint(Store):
    """Keeps outcomes and models in a folder, besides what `Store` does.

    Used as a context, in which no other process can have the folder.

    Parameters
    ----------
    path : path-like
        Made where it is not there.

    Raises
    ------
    TypeError
        If it is no path.

    Notes
    -----
    The folder has

    - ``about.json``, which says whose it is;
    - ``outcomes.jsonl``, which grows by a line whenever outcomes come in. A line begins
      with its checksum, so that one that was cut off is known;
    - a folder of models, which are pickles, written by the workers that trained them. A line
      of outcomes says where its models are and what stands there, and is written after them;
      a file goes once a line that is written later needs none of its models.
    """

    path: Path

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__()
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"checkpoint={path!r} must be the path of a folder, or None.")
        self.path = Path(path).absolute()
        self._about = self.path / "about.json"
        self._journal = self.path / "outcomes.jsonl"
        self._owner = self.path / "owner"
        self._fingerprint: dict[str, str] | None = None

    def __enter__(self) -> Self:
        try:
            import cloudpickle  # noqa: F401 - used where models are written
            from filelock import FileLock, Timeout
        except ImportError as error:
            raise ImportError(
                f"checkpoint={str(self.path)!r} needs the package {error.name}; install "
                "sklearn_sha[checkpoint], or set checkpoint=None."
            ) from error
        self._make()
        self._lock = FileLock(self.path / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            owner = self._owner.read_text() if self._owner.exists() else "another process"
            raise CheckpointError(
                f"{self.path} is in use by {owner}; wait for its end, or give checkpoint another "
                "folder."
            ) from None
        try:
            for folder in self.path.glob("workers-*"):  # of a process that was killed
                rmtree(folder)
            since = datetime.now(UTC).isoformat(" ", "seconds")
            self._owner.write_text(f"process {os.getpid()} on {gethostname()} since {since}")
            self._read_about()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        self._lock.release()

    def claim(self, fingerprint: Mapping[str, str]) -> None:
        """Make the folder a search's own, or read what it has of this very search.

        Parameters
        ----------
        fingerprint : dict of str to str

        Raises
        ------
        CheckpointError
            If it is another search's, or a file is not what was written.
        """
        assert self.seed is not None
        folder = self.path / f"models-{self.seed:08x}"
        self.models = ModelFolder(folder, durable=True)
        if self._fingerprint is None:
            about = {"format": FORMAT, "seed": self.seed, "search": dict(fingerprint)}
            folder.mkdir(mode=0o700)
            write_files({self._about: _sealed(about)})
        elif different := differences(self._fingerprint, fingerprint):
            raise CheckpointError(
                f"{self.path} has the checkpoint of another search, which differs in "
                f"{', '.join(different)}. Give checkpoint another folder, or delete this one "
                "to start afresh."
            )
        else:
            _check_mode(folder)
            self._read_journal(folder)
            for path in set(folder.iterdir()) - self.wanted():
                path.unlink()

    def keep(self, pairs: Sequence[Pair]) -> None:
        """Take in what came of jobs; once it returns, they are safe."""
        # Those of a worker that does not see the folder.
        came = {o.key: trained for o, trained in pairs if isinstance(trained, TrainedModel)}
        assert self.models is not None
        files = self.models.put(came)
        if len(files) < len(came):
            raise self._damaged(self.models.path, "somebody has deleted it")
        pairs = [(outcome, files.get(outcome.key, trained)) for outcome, trained in pairs]
        models = {
            f"{o.candidate}-{o.fold}": [
                t.path.name,
                t.start,
                t.length,
                t.digest,
                t.spent,
                t.copies_samples,
            ]
            for o, t in pairs
            if isinstance(t, ModelFile)
        }
        append(
            self._journal,
            _sealed({"outcomes": [asdict(outcome) for outcome, _ in pairs], "models": models}),
        )
        super().keep(pairs)

    def _make(self) -> None:
        if not self.path.exists():
            self.path.mkdir(mode=0o700, parents=True)
        _check_mode(self.path)
        if not self._about.exists():
            ours = {"lock", "owner", self._journal.name}
            others = [
                p.name for p in self.path.iterdir()
                if p.name not in ours and not p.name.startswith((".about", "models-", "workers-"))
            ]  # fmt: skip
            if others:
                raise CheckpointError(
                    f"{self.path} is no checkpoint, and has other files ({others[0]}); give "
                    "checkpoint a new or an empty folder."
                )
        self.path.chmod(0o700)

    def _read_about(self) -> None:
        if not self._about.exists():
            self.seed = secrets.randbits(32)
            self._journal.unlink(missing_ok=True)
            for folder in self.path.glob("models-*"):
                rmtree(folder)
            return
        about = _unsealed(self._about.read_bytes().removesuffix(b"\n"))
        if about is None:
            raise self._damaged(self._about, "it was cut or altered")
        if about["format"] > FORMAT:
            raise self._damaged(
                self._about,
                f"it is of format {about['format']}, and this version reads {FORMAT} at most; "
                "install a newer sklearn_sha",
            )
        self.seed, self._fingerprint = about["seed"], about["search"]

    def _read_journal(self, folder: Path) -> None:
        if not self._journal.exists():
            return
        content = self._journal.read_bytes()
        *lines, rest = content.split(b"\n")
        entries = [_unsealed(line) for line in lines]
        bad = [number for number, entry in enumerate(entries) if entry is None]
        if rest:
            bad.append(len(lines))
        if bad and bad[0] < len(lines) - (not rest):
            raise self._damaged(self._journal, f"line {bad[0] + 1} was cut or altered")
        if bad:
            warnings.warn(
                f"The end of {self._journal} is damaged: what was written last is dropped, and "
                "will be trained again.",
                RuntimeWarning,
                stacklevel=2,
            )
            os.truncate(self._journal, sum(len(line) + 1 for line in lines[: bad[0]]))
        for entry in entries:
            if entry is not None:
                super().keep(_pairs(entry, folder))

    def _damaged(self, file: Path, wrong: str) -> CheckpointError:
        return CheckpointError(
            f"{file} can't be used: {wrong}. Restore it, or start afresh: delete the folder "
            f"{self.path}, or give checkpoint another one."
        )


def _pairs(entry: Mapping[str, Any], folder: Path) -> list[Pair]:
    """What a line of the journal says."""
    pairs: list[Pair] = []
    for fields in entry["outcomes"]:
        outcome = Outcome(**fields | {"errors": tuple(fields["errors"])})
        model = entry["models"].get(f"{outcome.candidate}-{outcome.fold}")
        pairs.append((outcome, ModelFile(folder / model[0], *model[1:]) if model else None))
    return pairs


def _check_mode(folder: Path) -> None:
    """Refuse a folder whose pickles another user could have put there."""
    if os.name == "nt":
        return
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise CheckpointError(f"{folder} is no folder; give checkpoint a folder.")
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise CheckpointError(
            f"{folder} belongs to another user, or others can write to it: what they put there "
            "could run as your code. Give checkpoint a folder of your own, or make it private "
            f"(chmod 700 {folder})."
        )


def _sealed(entry: Mapping[str, Any]) -> bytes:
    text = json.dumps(entry).encode()
    return _checksum(text) + b" " + text + b"\n"


def _unsealed(line: bytes) -> Any:
    """The entry of a line; None where the line is not what was written."""
    checksum, _, text = line.partition(b" ")
    return json.loads(text) if checksum == _checksum(text) else None


def _checksum(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest()[:16].encode()


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Names of what differs between two fingerprints, with the values where they are short."""
    return [
        name if len(f"{then.get(name)}{now.get(name)}") > 60 else
        f"{name} ({then.get(name)} then, {now.get(name)} now)"
        for name in {**then, **now}
        if then.get(name) != now.get(name)
    ]  # fmt: skip
