"""Tasks of a search, of which scikit-learn's callbacks are notified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from sklearn_sha._compat import callback_context
from sklearn_sha._data.slicing import FoldSamples, n_samples_of


@dataclass(frozen=True)
class Task:
    """Node in scikit-learn's tree of tasks; without callbacks its methods do nothing.

    Attributes
    ----------
    search : search estimator or None
        Estimator that callbacks receive.
    context : CallbackContext or None
        scikit-learn's node; None without callbacks.
    """

    search: Any
    context: Any

    def begin(self, X: Any = None, y: Any = None, metadata: Any = None) -> Self:
        """Notify callbacks that the task begins."""
        if self.context is not None:
            self.context.call_on_fit_task_begin(estimator=self.search, X=X, y=y, metadata=metadata)
        return self

    def end(self, X: Any = None, y: Any = None, metadata: Any = None) -> bool:
        """Notify callbacks that the task has ended; return whether one of them requests to stop."""
        if self.context is None:
            return False
        return bool(
            self.context.call_on_fit_task_end(estimator=self.search, X=X, y=y, metadata=metadata)
        )

    def subtask(
        self, name: str, *, of: int | None = 0, number: int | None = None, **options: bool
    ) -> Task:
        """Make a subtask.

        Parameters
        ----------
        name : str
        of : int or None, default=0
            Maximum number of subtasks of the subtask itself. None if it is unknown.
        number : int or None, default=None
            Number of the subtask; None numbers subtasks consecutively.
        **options : bool
            Passed to scikit-learn's ``CallbackContext.subcontext``.
        """
        if self.context is None:
            return self
        return Task(
            self.search, self.context.subcontext(name, task_id=number, max_subtasks=of, **options)
        )

    def training(self, estimator: Any, samples: FoldSamples) -> AbstractContextManager[None]:
        """Context manager in which an estimator is trained; its tasks are subtasks of this task."""
        return nullcontext() if self.context is None else self._training(estimator, samples)

    @contextmanager
    def _training(self, estimator: Any, samples: FoldSamples) -> Iterator[None]:
        # Callbacks receive copies, which are only made on request.
        def copied(index: int) -> Any:
            return samples.fitting(np.arange(n_samples_of(samples.X_train)))[index]

        data = partial(copied, 0), partial(copied, 1), lambda: metadata_of(copied(2))
        with self.context.propagate_callback_context(estimator):
            self.begin(*data)
            try:
                yield
            finally:
                self.end(*data)


def metadata_of(params: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fit parameters that callbacks receive: the sample weights, as in GridSearchCV."""
    weight = params.get("sample_weight")
    return None if weight is None else {"sample_weight": weight}


NO_CALLBACKS = Task(None, None)
"""Task without callbacks; its subtasks have none either."""


def root_task(search: Any, n_subtasks: int) -> Task:
    """Return the task of a fit, for methods decorated with `with_callbacks`."""
    context = callback_context(search, n_subtasks)
    return NO_CALLBACKS if context is None else Task(search, context)
