"""Files that a process leaves in a folder for the other processes of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


def unique_path(folder: Path) -> Path:
    """Return a path in a folder that no other process uses."""
    return folder / uuid4().hex


@contextmanager
def new_file(folder: Path) -> Iterator[Path]:
    """Yield a unique path in a folder, and delete the file if writing it fails."""
    path = unique_path(folder)
    try:
        yield path
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def delete_files(paths: Iterable[Path]) -> None:
    """Delete files. Those that cannot be deleted now are deleted with their folder."""
    for path in paths:
        with suppress(OSError):
            path.unlink()
