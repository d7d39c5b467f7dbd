"""Warnings and printed lines of fits; repeated ones are shown once, with a count."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from threading import current_thread, main_thread
from types import ModuleType
from typing import Any

_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]?\d+)?")
_MAX_LINES = 20


@dataclass(frozen=True)
class CapturedWarning:
    """Warning that can be sent from a worker and issued in another process.

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
    def from_message(cls, message: warnings.WarningMessage) -> CapturedWarning:
        """Make one of a warning that was recorded by `warnings.catch_warnings`."""
        text = str(message.message)
        category = _category_from_text(message.category, text)
        return cls(category, text, message.filename, message.lineno)

    def issue(self, note: str = "") -> None:
        """Issue the warning in this process, with its original filename and line.

        Parameters
        ----------
        note : str, default=""
            Text to append to the message.
        """
        module = _module_of(self.filename)
        # Cells of a notebook belong to no module. With None as a name, no warning would be shown.
        name = "__main__" if module is None else module.__name__
        registry = {} if module is None else vars(module).setdefault("__warningregistry__", {})
        warnings.warn_explicit(
            self.text + note, self.category, self.filename, self.lineno, name, registry
        )


class RepeatedOutput:
    """Collects warnings and printed lines, and shows repeated ones once, with a count.

    Warnings or lines that differ only in numbers are counted as repeated.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[object, ...], CapturedWarning | str] = {}
        self._counts: Counter[tuple[object, ...]] = Counter()

    def add(self, output: Iterable[CapturedWarning | str]) -> None:
        """Add warnings and printed lines."""
        for item in output:
            key: tuple[object, ...] = (
                (_NUMBER.sub("", item),)
                if isinstance(item, str)
                else (item.category, _NUMBER.sub("", item.text), item.filename, item.lineno)
            )
            self._first.setdefault(key, item)
            self._counts[key] += 1

    def show(self) -> None:
        """Print the lines and issue the warnings, and forget them."""
        first, counts = self._first, self._counts
        self._first, self._counts = {}, Counter()
        lines = {key: line for key, line in first.items() if isinstance(line, str)}
        for key, line in list(lines.items())[:_MAX_LINES]:
            print(line if counts[key] == 1 else f"{line}  ({counts[key]} such lines from workers)")
        if len(lines) > _MAX_LINES:
            print(f"... and {len(lines) - _MAX_LINES} more from workers")
        for key, warning in first.items():
            if isinstance(warning, CapturedWarning):
                note = "" if counts[key] == 1 else f" (the first of {counts[key]} such warnings)"
                # A filter that turns warnings into errors has already raised in the fit. If it
                # was not applied there, it must not discard the results now.
                with suppress(Exception):
                    warning.issue(note)


@contextmanager
def capture_output(
    captured: list[CapturedWarning | str], *, captures_prints: bool
) -> Iterator[None]:
    """Context manager that captures warnings, and printed lines if requested.

    In other threads than the main thread it does nothing, since capturing affects all threads.
    If an error is raised, the captured output is shown before.

    Parameters
    ----------
    captured : list of CapturedWarning or str
        Receives the output when the context ends.
    captures_prints : bool
        Whether to capture printed lines too.
    """
    if current_thread() is not main_thread():
        yield
        return
    printed = _Printed()
    try:
        with (
            warnings.catch_warnings(record=True) as messages,
            redirect_stdout(printed) if captures_prints else nullcontext(),
        ):
            _record_repeated_warnings()
            try:
                yield
            finally:
                captured.extend(map(CapturedWarning.from_message, messages))
                captured.extend(printed.getvalue().splitlines())
    except BaseException:
        # The caller may not receive the list.
        output = RepeatedOutput()
        output.add(captured)
        captured.clear()
        output.show()
        raise


class _Printed(TextIOWrapper):
    """File in memory that replaces ``sys.stdout``.

    It has an encoding and a buffer. A subprocess that receives it writes to the original.
    """

    def __init__(self) -> None:
        super().__init__(BytesIO(), "utf-8", "backslashreplace", write_through=True)
        self._original = sys.stdout

    def fileno(self) -> int:
        return self._original.fileno()

    def getvalue(self) -> str:
        """Return all that was printed."""
        self.seek(0)
        return self.read()


def _module_of(filename: str) -> ModuleType | None:
    """Return the module of a file. A lazy one can import others if it is asked for an attribute."""
    for module in [*sys.modules.values()]:
        if getattr(module, "__dict__", {}).get("__file__") == filename:
            return module
    return None


def _category_from_text(category: type[Warning], text: str) -> type[Warning]:
    """Return the category, or its nearest base class that can be created from a text alone."""
    for cls in category.__mro__:
        with suppress(Exception):
            cls(text)
            return cls
    return UserWarning


def _record_repeated_warnings() -> None:
    """Replace filters that show a warning once by filters that show it always, to count it."""
    filters: list[Any] = [*warnings.filters]
    warnings.resetwarnings()
    for action, message, category, module, lineno in filters:
        new_action: Any = "always" if action in ("default", "module", "once") else action
        patterns = [getattr(p, "pattern", p) or "" for p in (message, module)]
        if any(patterns):
            warnings.filterwarnings(
                new_action, patterns[0], category, patterns[1], lineno, append=True
            )
        else:  # `category` can be a tuple, which filterwarnings does not accept
            warnings.simplefilter(new_action, category, lineno, append=True)
    warnings.simplefilter("always", append=True)
