"""How much memory is free, and what takes it although it looks like a file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from math import inf
from pathlib import Path

_GROUPS = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": (
        "memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}
"""By the controllers of a line in /proc/self/cgroup (version 2 names none): where groups are, and
what their limit, their usage and the part of it are called that is given back when it is needed."""


def free_memory(root: Path = Path("/")) -> float:
    """Bytes of memory that this process can still take.

    Of the machine, and of the control groups (as of a container or a batch job) that the process
    is in. Where nobody knows what is free, all memory of the machine; infinity where that is
    unknown as well: on Windows without psutil.

    Parameters
    ----------
    root : Path, default=Path("/")
        Where /proc and /sys are.
    """
    return max(0, min(_free_of_machine(root), *_free_of_groups(root), inf))


def is_in_memory(folder: Path) -> bool:
    """Whether files of a folder are in memory: on Linux, in tmpfs or ramfs."""
    with suppress(OSError, ValueError, AttributeError):
        device = folder.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            fields = line.split()
            if fields[2] == number:
                return fields[fields.index("-") + 1] in ("tmpfs", "ramfs")
    return False


def _free_of_machine(root: Path) -> float:
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


def _free_of_groups(root: Path) -> Iterator[float]:
    """Of each group that the process is in, and of the groups that these are in."""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers not in _GROUPS:
                continue
            mount, limit, usage, reclaimable = _GROUPS[controllers]
            top = root / "sys/fs/cgroup" / mount
            group = top / path.lstrip("/")
            for folder in (group, *group.parents):
                # Many have no such file, as where only the container's own groups can be seen;
                # and the limit can be "max".
                with suppress(OSError, ValueError):
                    free = int((folder / limit).read_text()) - int((folder / usage).read_text())
                    stat = (folder / "memory.stat").read_text()
                    given_back = re.search(rf"^{reclaimable} (\d+)", stat, re.MULTILINE)
                    yield free + (int(given_back[1]) if given_back else 0)
                if folder == top:
                    break
