"""Files that a process leaves in a folder for the other processes of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

MORE_SPACE = "set the environment variable TMPDIR to a folder on a disk with enough space"


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


def no_files_message(
    objects: str, memory_limit: float, folder: Path | None, *, are_in_memory: bool
) -> str:
    """Format that objects exceed the memory limit, and why they can't be in temporary files.

    Parameters
    ----------
    objects : str
        What they are, in the plural.
    memory_limit : float
        Bytes.
    folder : Path or None
        The one created for the files; None if it can't be created.
    are_in_memory : bool
        Whether files of that folder are in memory.

    Returns
    -------
    str
        A sentence.
    """
    where = "temporary files" if folder is None else folder.parent
    reason = f"there is no space for them in {where}, or they can't be pickled"
    if are_in_memory:
        reason = f"the files of {where} are in memory too"
    return f"{objects} exceed model_memory={memory_limit:.0f} bytes, and {reason}."
