"""Pickles of models, for this process and for others."""

from __future__ import annotations

import pickle
import sys
from contextlib import suppress
from functools import cache
from io import BytesIO
from typing import Any, BinaryIO
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakValueDictionary

_tokens: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_objects: WeakValueDictionary[str, Any] = WeakValueDictionary()
"""Classes and functions that this process has pickled by value, and what stands for them."""


def dump(value: Any, file: BinaryIO) -> None:
    """Write a pickle that another process can load, without the modules of this one.

    Classes and functions of a script or a notebook are written by value, where cloudpickle is
    installed. Where they are there already, they are not made again: in this process, and as
    classes of the same name in ``__main__``. cloudpickle alone would overwrite the attributes of
    the user's own class with copies.
    """
    _pickler()(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)


def dumps(value: Any) -> bytes:
    """The same as bytes."""
    file = BytesIO()
    dump(value, file)
    return file.getvalue()


def nbytes(value: Any) -> int:
    """How many bytes a pickle would have, at the cost of writing what is not in arrays.

    As many as have been counted by then where it can't be pickled.
    """
    counter = _Counter()
    with suppress(Exception):
        _pickler()(counter, protocol=5, buffer_callback=counter.add).dump(value)
    return counter.n


class _Counter:
    """A file that keeps nothing."""

    n = 0

    def write(self, data: bytes) -> int:
        self.n += len(data)
        return len(data)

    def add(self, buffer: pickle.PickleBuffer) -> None:
        self.n += buffer.raw().nbytes


@cache
def _pickler() -> type[pickle.Pickler]:
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            reduced = super().reducer_override(value)
            if reduced is NotImplemented:  # an instance, or found by its name everywhere
                return reduced
            token = _tokens.setdefault(value, uuid4().hex)
            _objects[token] = value
            by_value = cloudpickle.dumps(value)
            return _found_or_made, (token, value.__module__, value.__qualname__, by_value)

    return Pickler


def _found_or_made(token: str, module: str, name: str, by_value: bytes) -> Any:
    """A class or a function that was pickled by value."""
    if (value := _objects.get(token)) is not None:
        return value
    value = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    # A decorated function has the name of what it wraps: of functions no name can be trusted.
    return value if isinstance(value, type) else pickle.loads(by_value)
