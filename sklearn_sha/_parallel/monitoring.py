"""Which part of its call a worker is running, and how a worker ended."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname

from sklearn_sha._parallel.captured_output import CapturedWarning, capture_output

_HEADER = 8
_timed_fit = threading.Lock()


@dataclass(frozen=True)
class WorkerDeath:
    """How a worker ended in the middle of a call.

    Attributes
    ----------
    part : int
        Number of the part of the call that was running.
    traceback : str
        Traceback of a part that exceeded the timeout; empty if the worker crashed or was
        terminated.
    """

    part: int
    traceback: str


@dataclass(frozen=True)
class CallMonitor:
    """Notes which part of a call is running, for when the worker ends in the middle of it.

    Attributes
    ----------
    number : int
        Number of the call among all calls of `Workers`.
    path : Path or None
        File for the notes; None if all calls run in one process.
    timeout : float or None
        Maximum time of a part in seconds; a part that exceeds it ends the worker process.
    captures_prints : bool
        Whether printed lines are captured, as warnings are.
    output : list of CapturedWarning or str
        Warnings and printed lines captured so far.
    """

    number: int
    path: Path | None
    timeout: float | None
    captures_prints: bool = False
    output: list[CapturedWarning | str] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[Callable[[int], None]]:
        """Monitor the call, in the worker.

        Yields
        ------
        callable
            To be called with the number of each part before it starts.
        """
        with ExitStack() as stack:
            file = None
            if self.path is not None:
                with suppress(OSError):  # the worker is on another machine
                    file = stack.enter_context(open(self.path, "wb", buffering=0))
            if self.timeout is not None:
                if not _timed_fit.acquire(blocking=False):
                    raise RuntimeError(
                        f"fit_timeout={self.timeout} ends the process of a fit that takes too "
                        "long, but this process runs several fits. Start workers with one thread "
                        "each."
                    )
                stack.callback(_timed_fit.release)
                stack.callback(faulthandler.cancel_dump_traceback_later)
            stack.enter_context(capture_output(self.output, captures_prints=self.captures_prints))

            def start_part(number: int) -> None:
                if file is not None:
                    with suppress(OSError):  # the disk is full
                        file.seek(0)
                        file.write(number.to_bytes(_HEADER, "little"))
                if self.timeout is not None:
                    # Runs in a C thread, so that it works while the interpreter is blocked.
                    faulthandler.dump_traceback_later(self.timeout, exit=True, file=file or 2)

            yield start_part
            if file is not None:
                with suppress(OSError):
                    file.truncate(0)  # no part is running any more

    def death(self) -> WorkerDeath | None:
        """Return how the worker ended, or None if it was not running the call."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        if len(content) < _HEADER:
            return None
        traceback = content[_HEADER:].decode(errors="replace")
        return WorkerDeath(int.from_bytes(content[:_HEADER], "little"), traceback)


def process_location() -> tuple[str, int, int | None]:
    """Return the host name, the process ID and that of the process that requested this one.

    It can be another one than the parent, which is a server by default since Python 3.14.
    """
    requested_by = multiprocessing.parent_process()
    return gethostname(), os.getpid(), None if requested_by is None else requested_by.pid
