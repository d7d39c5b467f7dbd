"""Which call a worker is at, and what terminated it."""

from __future__ import annotations

import faulthandler
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import gethostname

from sklearn_sha._parallel.captured_output import CapturedWarning, capture_output

_HEADER = 8
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class WorkerDeath:
    """How the worker of a call ended.

    Attributes
    ----------
    part : int
        Number of the part of the call that it was at.
    traceback : str
        Of the part that took too long; empty where the worker died by itself.
    """

    part: int
    traceback: str


@dataclass(frozen=True)
class CallMonitor:
    """Knows of a call which part its worker is at, also once the worker is dead.

    Attributes
    ----------
    number : int
        Of the call, among all that its workers are sent.
    path : Path or None
        The file that says so; None where a dead worker would leave nobody to read it.
    timeout : float or None
        Seconds after which a part ends the whole process.
    hears_prints : bool
        Whether what parts print is kept from being shown at once, as their warnings are.
    said : list of CapturedWarning or str
        What they have said so far.
    """

    number: int
    path: Path | None
    timeout: float | None
    hears_prints: bool = False
    said: list[CapturedWarning | str] = field(default_factory=list)

    @contextmanager
    def parts(self) -> Iterator[Callable[[int], None]]:
        """Gives a function to call, in the worker, with the number of each part that begins."""
        with ExitStack() as stack:
            file = None
            if self.path is not None:
                with suppress(OSError):  # on another machine
                    file = stack.enter_context(open(self.path, "wb", buffering=0))
            if self.timeout is not None:
                if not _one_at_a_time.acquire(blocking=False):
                    raise RuntimeError(
                        f"fit_timeout={self.timeout} ends the process of a fit that takes too "
                        "long, and here one process runs several fits; start workers with one "
                        "thread each."
                    )
                stack.callback(_one_at_a_time.release)
                stack.callback(faulthandler.cancel_dump_traceback_later)
            stack.enter_context(capture_output(self.said, self.hears_prints))

            def begins(part: int) -> None:
                if file is not None:
                    file.seek(0)
                    file.write(part.to_bytes(_HEADER, "little"))
                if self.timeout is not None:
                    # A thread in C, which needs nothing of the interpreter that may hang.
                    faulthandler.dump_traceback_later(self.timeout, exit=True, file=file or 2)

            yield begins
            if file is not None:
                file.truncate(0)  # whatever becomes of the result: it was not here

    def death(self) -> WorkerDeath | None:
        """How the worker ended; None where it had not begun."""
        if self.path is None or not self.path.exists():
            return None
        content = self.path.read_bytes()
        if len(content) < _HEADER:
            return None
        traceback = content[_HEADER:].decode(errors="replace")
        return WorkerDeath(int.from_bytes(content[:_HEADER], "little"), traceback)


def location() -> tuple[str, int, int]:
    return gethostname(), os.getpid(), os.getppid()
