"""Files that are complete or absent, and survive a power failure."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path


class CheckpointError(RuntimeError):
    """Error raised for a checkpoint folder that can't be used."""


def write_files(files: Mapping[Path, bytes | bytearray]) -> None:
    """Write files of one folder, so that each is complete as soon as it exists.

    All of them are on the disk when this function returns.

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
        # Synced only after all are written, so that the disk can write them together.
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
    """Append to a file; if that fails, the file is unchanged.

    Raises
    ------
    CheckpointError
        If the disk is full.
    """
    # With a buffer, what could not be written would be written again when the file is closed.
    with open(path, "ab", buffering=0) as file:
        length, left = file.tell(), memoryview(content)
        try:
            with disk_full_explained(path):
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
                if length == 0:
                    sync(path.parent)  # which has a new name
        except BaseException:
            with suppress(OSError):
                os.truncate(path, length)
            raise


def sync(path: Path) -> None:
    """Flush the content of a file, or the names in a folder, to the disk."""
    if os.name == "nt" and path.is_dir():
        return  # on Windows renaming is durable, and folders can't be opened
    descriptor = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def disk_full_explained(path: Path) -> Iterator[None]:
    """Context manager that raises a `CheckpointError` with advice if the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise CheckpointError(
            f"{path} can't be written: {error.strerror}. All results completed before are saved. "
            "Free some disk space, and call fit again with the same checkpoint."
        ) from error
