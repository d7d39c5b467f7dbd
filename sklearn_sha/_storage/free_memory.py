"""Free memory, and whether files of a folder are in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from pathlib import Path

_CONTROL_GROUPS = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": (
        "memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""Control groups, by the controllers in a line of /proc/self/cgroup, which are empty in version 2:
their folder, the files with their limit and usage, and the entry of memory.stat with the part of
the usage that can be reclaimed."""


def free_memory(root: Path = Path("/")) -> float:
    """Return the memory in bytes that this process can still allocate.

    This is the minimum over the machine and the control groups of the process, such as those of
    a container or a batch job. If the free memory is unknown, the total memory of the machine is
    returned; if that is unknown too (on Windows without psutil), infinity.

    Parameters
    ----------
    root : Path, default=Path("/")
        Folder that contains ``proc`` and ``sys``.

    Returns
    -------
    int or float
    """
    return max(0, min(_free_on_machine(root), *_free_in_control_groups(root), inf))


def is_in_memory(folder: Path) -> bool:
    """Whether a folder is in memory: on Linux, in tmpfs or ramfs."""
    with suppress(OSError, ValueError, AttributeError):
        device = folder.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            if fields[2] == number:
                return fields[fields.index("-") + 1] in ("tmpfs", "ramfs")
    return False


def _free_on_machine(root: Path) -> float:
    with suppress(OSError):
        meminfo = (root / "proc/meminfo").read_text()
        if found := re.search(r"^MemAvailable:\s*(\d+) kB", meminfo, re.MULTILINE):
            return 1024 * int(found[1])
    with suppress(ImportError):
        from psutil import virtual_memory

        return int(virtual_memory().available)
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return inf


def _free_in_control_groups(root: Path) -> Iterator[float]:
    """Yield the free memory of each control group of the process and of its parent groups."""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in _CONTROL_GROUPS:
                continue
            mount, limit, usage, reclaimable = _CONTROL_GROUPS[controllers]
            top = root / "sys/fs/cgroup" / mount
            group = top / path.lstrip("/")
            for folder in (group, *group.parents):
                # Some groups have no such files, such as those outside of a container, and the
                # limit can be "max".
                with suppress(OSError, ValueError):
                    free = int((folder / limit).read_text()) - int((folder / usage).read_text())
                    stat = (folder / "memory.stat").read_text()
                    reclaimed = re.search(rf"^{reclaimable} (\d+)", stat, re.MULTILINE)
                    yield free + (int(reclaimed[1]) if reclaimed else 0)
                if folder == top:
                    break
