"""What benchmarks measure while a search runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def every(seconds: float, call: Callable[[], object]) -> Iterator[None]:
    """Call a function in a thread until the block ends, with pauses of `seconds`."""
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(seconds):
            call()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def process_memory(entry: str) -> int:
    """KiB of this process: `entry` is "VmRSS" for now, "VmHWM" for the peak. Needs Linux."""
    lines = Path("/proc/self/status").read_text().split("\n")
    return next(int(line.split()[1]) for line in lines if line.startswith(entry))
