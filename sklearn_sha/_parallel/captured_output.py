"""Warnings and prints of fits, repeated ones shown once with a count."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from threading import current_thread, main_thread
from typing import Any

_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
_LINES_SHOWN = 20


@dataclass(frozen=True)
class CapturedWarning:
    """A warning, as it can be sent from a worker and given again.

    Attributes
    ----------
    category : type of Warning
    text, filename : str
    lineno : int
    """

    category: type[Warning]
    text: str
    filename: str
    lineno: int

    @classmethod
    def of(cls, caught: warnings.WarningMessage) -> CapturedWarning:
        """What `warnings.catch_warnings` has caught."""
        text = str(caught.message)
        return cls(_rebuilt_from_text(caught.category, text), text, caught.filename, caught.lineno)

    def again(self, note: str = "") -> None:
        """Give it in this process, as if it came from where it was given."""
        where = next(
            (m for m in [*sys.modules.values()] if getattr(m, "__file__", None) == self.filename),
            None,
        )
        # What has no file, as a notebook's cells, is no module; and None would mean: say nothing.
        module = "__main__" if where is None else where.__name__
        registry = {} if where is None else vars(where).setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            self.text + note, self.category, self.filename, self.lineno, module, registry
        )


class RepeatedOutput:
    """What was said so far, and how often.

    Numbers in it don't count: what is the same but for them is the same.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], CapturedWarning | str] = {}
        self._times: Counter[tuple[object, ...]] = Counter()

    def add(self, things: Iterable[CapturedWarning | str]) -> None:
        """Take in warnings, and lines that were printed."""
        for thing in things:
            key: tuple[object, ...] = (
                (_NUMBER.sub("", thing),)
                if isinstance(thing, str)
                else (thing.category, _NUMBER.sub("", thing.text), thing.filename, thing.lineno)
            )
            self._first.setdefault(key, thing)
            self._times[key] += 1

    def show(self) -> None:
        """Print the lines and give the warnings, each once; after that nothing is left."""
        first, times = self._first, self._times
        self._first, self._times = {}, Counter()
        lines = {key: line for key, line in first.items() if isinstance(line, str)}
        for key, line in list(lines.items())[:_LINES_SHOWN]:
            print(line if times[key] == 1 else f"{line}  ({times[key]} such lines from workers)")
        if len(lines) > _LINES_SHOWN:
            print(f"... and {len(lines) - _LINES_SHOWN} more from workers")
        for key, warned in first.items():
            if isinstance(warned, CapturedWarning):
                note = "" if times[key] == 1 else f" (the first of {times[key]} such warnings)"
                # A filter that makes errors of warnings has done so in the fit. Where it did not
                # get there, what is finished is worth more.
                with suppress(Exception):
                    warned.again(note)


@contextmanager
def capture_output(into: list[CapturedWarning | str], prints: bool) -> Iterator[None]:
    """Keep warnings from being shown, and prints where asked for; in other threads, nothing.

    What catches a warning catches those of all threads, so that only the main one does.

    Parameters
    ----------
    into : list of CapturedWarning or str
        Gets what is said.
    prints : bool
    """
    if current_thread() is not main_thread():
        yield
        return
    printed = StringIO()
    try:
        with (
            warnings.catch_warnings(record=True) as caught,
            redirect_stdout(printed) if prints else nullcontext(),
        ):
            _always_where_once()
            try:
                yield
            finally:
                into.extend(map(CapturedWarning.of, caught))
                into.extend(printed.getvalue().splitlines())
    except BaseException:
        # Nobody may take along what was said before an error.
        said = RepeatedOutput()
        said.add(into)
        into.clear()
        said.show()
        raise


def _rebuilt_from_text(category: type[Warning], text: str) -> type[Warning]:
    """The category, or the next above it that needs nothing but a text."""
    for cls in category.__mro__:
        with suppress(Exception):
            cls(text)
            return cls
    return UserWarning


def _always_where_once() -> None:
    """Have each warning that a filter would show just once, so that it can be counted."""
    filters: list[Any] = [*warnings.filters]
    warnings.resetwarnings()
    for action, message, category, module, lineno in filters:
        shown: Any = "always" if action in ("default", "module", "once") else action
        patterns = [getattr(p, "pattern", p) or "" for p in (message, module)]
        if any(patterns):
            warnings.filterwarnings(shown, patterns[0], category, patterns[1], lineno, append=True)
        else:  # takes several categories, which the other does not
            warnings.simplefilter(shown, category, lineno, append=True)
    warnings.simplefilter("always", append=True)
