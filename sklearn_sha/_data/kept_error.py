"""An error that is raised more than once."""

from __future__ import annotations

from dataclasses import dataclass
from pickle import dumps, loads
from types import TracebackType
from typing import Never


@dataclass(frozen=True)
class KeptError:
    """An error that is raised again for each candidate.

    Python adds frames to the traceback of an error whenever it is raised. Here each time has the
    same ones, so that the failures of all candidates have the same text.

    Attributes
    ----------
    error : Exception
    traceback : traceback or None
        Of the place where it was raised first. None in another process.
    """

    error: Exception
    traceback: TracebackType | None = None

    def reraise(self) -> Never:
        """Raise the error with the traceback of the first time."""
        raise self.error.with_traceback(self.traceback)

    def __reduce__(self) -> tuple[type[KeptError], tuple[Exception]]:
        return KeptError, (_picklable(self.error),)  # tracebacks cannot be pickled


def _picklable(error: Exception) -> Exception:
    """Return an error, or one with its text if another process could not receive it."""
    try:
        loads(dumps(error))
    except Exception:  # its constructor has other arguments, or it has a lock
        return RuntimeError(f"{type(error).__qualname__}: {error}")
    return error
