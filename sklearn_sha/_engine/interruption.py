"""What stops a search before its end, and keeps Ctrl-C from being replaced by other errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class StoppedError(Exception):
    """A deadline or a callback stops the search before its algorithm has ended."""


@contextmanager
def never_replacing(stop: BaseException) -> Iterator[None]:
    """Context whose errors do not replace a KeyboardInterrupt: they become its context."""
    try:
        yield
    except Exception:
        if isinstance(stop, KeyboardInterrupt):
            raise stop  # noqa: B904 - the context is the error, which is not its cause
        raise
