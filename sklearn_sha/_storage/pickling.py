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
"""Classes and functions that this process has pickled by value, by their tokens."""


def dump(value: Any, file: BinaryIO) -> None:
    """Write a pickle that other processes can load without the modules of this process.

    If cloudpickle is installed, classes and functions of a script or a notebook are pickled by
    value. When the pickle is loaded, a class or function that already exists is reused: in this
    process, or a class of the same name in ``__main__``. cloudpickle alone would overwrite the
    attributes of the user's class with copies.

    Parameters
    ----------
    value : object
    file : binary file
    """
    _pickler()(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)


def dumps(value: Any) -> bytes:
    """Return the pickle that `dump` writes."""
    file = BytesIO()
    dump(value, file)
    return file.getvalue()


def nbytes(value: Any) -> int:
    """Return the size of a pickle in bytes, without copying arrays.

    If the value can't be pickled, this is the size up to the error.
    """
    counter = _ByteCounter()
    with suppress(Exception):
        _pickler()(counter, protocol=5, buffer_callback=counter.add_buffer).dump(value)
    return counter.n_bytes


class _ByteCounter:
    """File that counts bytes and discards them."""

    n_bytes = 0

    def write(self, data: bytes) -> int:
        self.n_bytes += len(data)
        return len(data)

    def add_buffer(self, buffer: pickle.PickleBuffer) -> None:
        self.n_bytes += buffer.raw().nbytes


@cache
def _pickler() -> type[pickle.Pickler]:
    try:
        import cloudpickle
    except ImportError:
        return pickle.Pickler

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            reduced = super().reducer_override(value)
            if reduced is NotImplemented:  # an instance, or importable in every process
                return reduced
            token = _tokens.setdefault(value, uuid4().hex)
            _objects[token] = value
            by_value = cloudpickle.dumps(value)
            return _existing_or_new, (token, value.__module__, value.__qualname__, by_value)

    return Pickler


def _existing_or_new(token: str, module: str, name: str, by_value: bytes) -> Any:
    """Load a class or a function that was pickled by value, unless it already exists."""
    if (value := _objects.get(token)) is not None:
        return value
    value = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    # Functions can't be found by name: a decorated function has the name of the original.
    return value if isinstance(value, type) else pickle.loads(by_value)
