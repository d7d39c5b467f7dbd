"""A search's tasks, as scikit-learn's callbacks are told of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import sklearn

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's, which came with 1.9."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Refuse callbacks, which this version of scikit-learn does not have."""
            raise AttributeError(
                "set_callbacks needs scikit-learn 1.9 or newer, and this is "
                f"{sklearn.__version__}; update it, or set verbose=1 to see how the search goes."
            )

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Do nothing to a method."""
        return method


__all__ = ["UNHEARD", "CallbackSupportMixin", "Task", "root_task", "with_callbacks"]


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

    def begin(self, X: Any = None, y: Any = None) -> Self:
        """Tell callbacks that it begins, on which data."""
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.search, X=X, y=y)
        return self

    def end(self, X: Any = None, y: Any = None) -> bool:
        """Tell callbacks that it has ended; whether one of them asks to stop."""
        if self.context is None:
            return False
        return bool(self.context.call_on_fit_task_end(estimator=self.search, X=X, y=y))

    def subtask(self, name: str, *, of: int = 0, number: int | None = None, **how: bool) -> Task:
        """A part of it, that has itself so many parts; `number` where parts are not in a row."""
        if self.context is None:
            return self
        return Task(
            self.search, self.context.subcontext(name, task_id=number, max_subtasks=of, **how)
        )

    @contextmanager
    def training(self, model: Any, X: Any, y: Any) -> Iterator[None]:
        """A context in which a model is trained: its own tasks are this task's parts."""
        if self.context is None:
            yield
            return
        with self.context.propagate_callback_context(model):
            self.begin(X, y)
            try:
                yield
            finally:
                self.end(X, y)


UNHEARD = Task(None, None)
"""The task that nobody is told of, and so are all its parts."""


def root_task(search: Any, n_subtasks: int) -> Task:
    """The task of a fit; for methods that `with_callbacks` decorates.

    A search has it begun by `CallbackSupportMixin._init_callback_context`, which scikit-learn
    documents for estimators of others, as it does nothing else. That somebody listens is said by
    names that are private alone. Tried on 1.9.1.
    """
    listening = hasattr(search, "_parent_callback_ctx") or any(
        hasattr(value, "_skl_callbacks") for value in (search, *search.get_params().values())
    )
    if not listening:
        return UNHEARD
    return Task(search, search._init_callback_context(max_subtasks=n_subtasks))
