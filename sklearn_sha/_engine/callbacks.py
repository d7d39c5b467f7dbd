"""A search's tasks, as scikit-learn's callbacks are told of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from sklearn_sha._compat import callback_context
from sklearn_sha._data.samples import Rows, n_samples_of


@dataclass(frozen=True)
class Task:
    """A node in scikit-learn's tree of tasks; does nothing where there is no callback.

    Attributes
    ----------
    search : search estimator or None
        That callbacks are told of.
    context : CallbackContext or None
        scikit-learn's own; None where nobody listens.
    """

    search: Any
    context: Any

    def begin(self, X: Any = None, y: Any = None, metadata: Any = None) -> Self:
        """Tell callbacks that it begins, on which data."""
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.search, X=X, y=y, metadata=metadata)
        return self

    def end(self, X: Any = None, y: Any = None, metadata: Any = None) -> bool:
        """Tell callbacks that it has ended; whether one of them asks to stop."""
        if self.context is None:
            return False
        return bool(
            self.context.call_on_fit_task_end(estimator=self.search, X=X, y=y, metadata=metadata)
        )

    def subtask(self, name: str, *, of: int = 0, number: int | None = None, **how: bool) -> Task:
        """A part of it, that has itself so many parts; `number` where parts are not in a row."""
        if self.context is None:
            return self
        return Task(
            self.search, self.context.subcontext(name, task_id=number, max_subtasks=of, **how)
        )

    @contextmanager
    def training(self, model: Any, rows: Rows) -> Iterator[None]:
        """A context in which a model is trained: its own tasks are this task's parts."""
        if self.context is None:
            yield
            return

        # Copies, since rows are others' too; made only if a callback asks.
        def copied(part: int) -> Any:
            return rows.fitting(np.arange(n_samples_of(rows.X_train)))[part]

        data = partial(copied, 0), partial(copied, 1), lambda: metadata_of(copied(2))
        with self.context.propagate_callback_context(model):
            self.begin(*data)
            try:
                yield
            finally:
                self.end(*data)


def metadata_of(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """What callbacks receive of the parameters of a fit: the sample weights, as in GridSearchCV."""
    weight = params.get("sample_weight")
    return None if weight is None else {"sample_weight": weight}


NO_CALLBACKS = Task(None, None)
"""The task that nobody is told of, and so are all its parts."""


def root_task(search: Any, n_subtasks: int) -> Task:
    """The task of a fit; for methods that `with_callbacks` decorates."""
    context = callback_context(search, n_subtasks)
    return NO_CALLBACKS if context is None else Task(search, context)
