"""Files that are whole or not there, and outlast a power cut."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


class CheckpointError(RuntimeError):
    """A checkpoint folder that can't be used: says which file, what is wrong, what to do."""


def write_files(files: Mapping[Path, bytes | bytearray]) -> None:
    """Write files of one folder, each of which is whole from the moment that it is there.

    They have reached the disk when this returns.

    Parameters
    ----------
    files : dict of Path to bytes

    Raises
    ------
    CheckpointError
        If the disk is full.
    """
    temporary = {path: path.with_name(f".{path.name}.tmp") for path in files}
    try:
        for path, content in files.items():
            with disk_full_explained(path):
                temporary[path].write_bytes(content)
        # All are written before the first has to reach the disk: then they go together.
        for path in files:
            with disk_full_explained(path):
                sync(temporary[path])
    except BaseException:
        for path in temporary.values():
            with suppress(OSError):
                path.unlink()
        raise
    for path in files:
        temporary[path].replace(path)
    for folder in {path.parent for path in files}:
        with disk_full_explained(folder):
            sync(folder)


def append(path: Path, content: bytes) -> None:
    """Append to a file; what was there stays whole where that fails.

    Raises
    ------
    CheckpointError
        If the disk is full.
    """
    with open(path, "ab") as file:
        before = file.tell()
        try:
            with disk_full_explained(path):
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            with suppress(OSError):
                os.truncate(path, before)
            raise


def sync(path: Path) -> None:
    """Have what was written to a file, or the names in a folder, reach the disk."""
    if os.name == "nt" and path.is_dir():
        return  # there renaming is durable, and folders can't be opened
    number = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def disk_full_explained(path: Path) -> Iterator[None]:
    """Make the error of a full disk one that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise CheckpointError(
            f"{path} can't be written: {error.strerror}. What was finished before is safe in "
            f"{path.parent}; free some space and call fit again with the same checkpoint."
        ) from error
