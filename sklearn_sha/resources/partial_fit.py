"""``partial_fit`` calls: epochs, or mini-batches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._data.samples import Rows, n_samples_of
from sklearn_sha.resources.base import Resource, call_training


class PartialFit(Resource):
    """One unit is one call of ``partial_fit``.

    Of an estimator that has `max_epochs`, as skorch's networks, a call trains one epoch.

    Parameters
    ----------
    batch_size : int or None, default=None
        None: every call gets all training rows, in their order. An int: every call gets
        the next so many rows of an endless stream, in which pass follows pass over the
        training rows, each pass in an order of its own. Where it is more than there are
        rows, every call gets one whole pass.
    seed : int or None, default=None
        Decides the orders. None: a search takes one of its `random_state`.
    classes : ndarray, list of ndarray or None, default=None
        What ``partial_fit`` receives in its first call, if it takes `classes`. None: a search
        passes all that y has (not to an instance of a subclass).
    """

    def __init__(
        self, batch_size: int | None = None, seed: int | None = None, classes: Any = None
    ) -> None:
        self.batch_size = batch_size
        self.in_batches = batch_size is not None
        self.seed = seed
        self.classes = classes
        self.unit = "epochs" if batch_size is None else "mini-batches"

    def continues(self, model: Any, n_train: int) -> bool:
        return True

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        with _one_epoch(model):
            self._call(model, rows, spent, target)

    def _call(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        for call in range(spent, target):
            whole = self.batch_size is None
            X, y, params = rows.fitting(
                None if whole else self.batch(call, n_samples_of(rows.X_train))
            )
            if call == 0 and self.classes is not None and _takes_classes(model.partial_fit):
                params = {"classes": self.classes} | params
            call_training(model.partial_fit, X, y, params)

    def batch(self, call: int, n: int) -> NDArray[np.intp]:
        """Numbers of the rows, among `n`, that the call of this number gets.

        Examples
        --------
        >>> from sklearn_sha.resources import PartialFit
        >>> resource = PartialFit(batch_size=2, seed=0)
        >>> sorted(row for call in range(3) for row in resource.batch(call, 6).tolist())
        [0, 1, 2, 3, 4, 5]
        """
        assert self.batch_size is not None
        size = min(self.batch_size, n)
        seed = self.seed or 0
        (first, start), (last, end) = divmod(call * size, n), divmod((call + 1) * size, n)
        if first == last:
            return _pass_order(seed, first, n)[start:end]
        head, tail = _pass_order(seed, first, n)[start:], _pass_order(seed, last, n)[:end]
        return np.concatenate((head, tail)) if end else head


@contextmanager
def _one_epoch(model: Any) -> Iterator[None]:
    """Have a call of ``partial_fit`` train one epoch and not `max_epochs` of them."""
    if not hasattr(model, "max_epochs") or "max_epochs" not in model.get_params(deep=False):
        yield
        return
    epochs = model.max_epochs
    model.set_params(max_epochs=1)
    try:
        yield
    finally:
        model.set_params(max_epochs=epochs)


def _takes_classes(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return takes_any or "classes" in parameters


@lru_cache(maxsize=2)
def _pass_order(seed: int, number: int, n: int) -> NDArray[np.intp]:
    """The order of `n` rows in a pass; a batch lies in two passes at most."""
    return np.random.default_rng((seed, number)).permutation(n)
