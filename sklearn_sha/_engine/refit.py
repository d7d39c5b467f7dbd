"""Trains the best candidate on all rows."""

from __future__ import annotations

import pickle
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import fit_transform
from sklearn_sha._data.samples import Rows
from sklearn_sha._engine.callbacks import NO_CALLBACKS, Task
from sklearn_sha._engine.evaluation import is_read_only, new_model
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput
from sklearn_sha._parallel.monitoring import CallMonitor


@dataclass(frozen=True)
class PackedEstimator:
    """A refitted estimator on its way from a worker.

    Attributes
    ----------
    content : bytes
        The estimator and the warnings that its fit gave, pickled: classes and functions by their
        names, so that they are the user's own again.
    seconds : float
        That the fit took.
    """

    content: bytes
    seconds: float

    def unpacked(self) -> Any:
        """The estimator; its warnings are given as if it had been fitted here.

        None where that can't be done.
        """
        try:
            model, caught = pickle.loads(self.content)
            said = RepeatedOutput()
            said.add(caught)
            said.show()
        except Exception:
            return None
        return model


def refit(
    fold: Fold,
    params: dict[str, Any],
    units: int,
    setting: EvaluationConfig,
    task: Task = NO_CALLBACKS,
) -> Any:
    """Train the estimator with a candidate's parameters on all rows.

    Parameters
    ----------
    fold : Fold
        Any, since it has all rows.
    params : dict
    units : int
        Of resource.
    setting : EvaluationConfig
    task : Task
        What callbacks are told of it.

    Returns
    -------
    estimator
        A pipeline where it is one.

    Raises
    ------
    Exception
        What the estimator raises.
    """
    rows = Rows.for_training(fold.X, fold.y, fold.fit_params)
    try:
        return _trained_on(rows, fold, params, units, setting, task)
    except ValueError as error:
        if not is_read_only(error):
            raise
        return _trained_on(rows.owned(), fold, params, units, setting, task)


def refit_in_worker(
    watch: CallMonitor,
    fold: Fold,
    X: Any,
    y: Any,
    params: dict[str, Any],
    units: int,
    setting: EvaluationConfig,
) -> PackedEstimator | None:
    """The same, as it is sent to workers: the fold comes without data.

    Returns
    -------
    PackedEstimator or None
        None where it fails, or can't travel: then the process that searches does it, and has
        the error.
    """
    caught: list[warnings.WarningMessage] = []
    try:
        pickle.dumps(new_model(setting, params))  # else it would be trained in vain
        with replace(watch, timeout=None).parts() as begins, ExitStack() as stack:
            begins(0)
            if current_thread() is main_thread():  # what is caught is all threads'
                caught = stack.enter_context(warnings.catch_warnings(record=True))
            start = perf_counter()
            model = refit(fold.with_data(X, y), params, units, setting)
            seconds = perf_counter() - start
        return PackedEstimator(pickle.dumps((model, [*map(CapturedWarning.of, caught)])), seconds)
    except (Exception, KeyboardInterrupt):
        return None


def _trained_on(
    rows: Rows,
    fold: Fold,
    params: dict[str, Any],
    units: int,
    setting: EvaluationConfig,
    task: Task,
) -> Any:
    best = new_model(setting, params)
    trained = best
    if setting.shares_preprocessing:
        prefix = best[:-1]
        X, y, _ = rows.fitting()
        rows = replace(rows, X_train=fit_transform(prefix, X, y, fold.prefix_params))
        best.set_params(**dict(prefix.steps))  # a cache fits copies of the steps
        trained = best[-1]
    with task.training(trained, rows):
        setting.resource.advance(trained, rows, 0, units)
    return best
