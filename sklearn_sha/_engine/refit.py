"""Refit of the best candidate on the whole data."""

from __future__ import annotations

import pickle
import warnings
from contextlib import ExitStack
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from time import perf_counter
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import fit_transform, preprocessing_of
from sklearn_sha._data.slicing import FoldSamples, with_writable_retry
from sklearn_sha._engine.callbacks import NO_CALLBACKS, Task
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha.candidates.space import with_params


@dataclass(frozen=True)
class PackedEstimator:
    """Estimator that was refitted in a worker, as it is sent to the search.

    Attributes
    ----------
    content : bytes
        Pickle of the estimator and of the warnings of its fit. Classes are pickled by name, so
        that the estimator is an instance of the user's own class.
    seconds : float
        Time of the fit.
    """

    content: bytes
    seconds: float

    def unpack(self) -> Any:
        """Return the estimator and issue its warnings, or return None if it can't be loaded."""
        try:
            estimator, messages = pickle.loads(self.content)
            output = RepeatedOutput()
            output.add(messages)
            output.show()
        except Exception:
            return None
        return estimator


def refit(
    fold: Fold,
    params: dict[str, Any],
    n_resources: int,
    config: EvaluationConfig,
    task: Task = NO_CALLBACKS,
) -> Any:
    """Fit the estimator with the parameters of a candidate on the whole data.

    Parameters
    ----------
    fold : Fold
        Any fold with data.
    params : dict
        Parameters of the candidate.
    n_resources : int
        Resource to train with.
    config : EvaluationConfig
    task : Task
        Callback task of the refit.

    Returns
    -------
    estimator

    Raises
    ------
    Exception
        Any exception of the estimator.
    """

    def fit(samples: FoldSamples) -> Any:
        estimator = with_params(config.estimator, params)
        trained = estimator
        if config.shares_preprocessing:
            steps = preprocessing_of(estimator)
            X, y, _ = samples.fitting()
            X_train = fit_transform(steps, X, y, fold.preprocessing_params)
            samples = replace(samples, X_train=X_train)
            # With Pipeline's `memory`, the fitted steps are copies.
            estimator.set_params(**dict(steps.steps))
            trained = estimator[-1]
        with task.training(trained, samples):
            if config.whole_fit is None or not config.whole_fit.replaces(n_resources):
                units = config.resource.units_per_fold(n_resources)
                config.resource.advance(trained, samples, 0, units)
            else:
                config.resource.train_whole(trained, samples)
        return estimator

    return with_writable_retry(fit, FoldSamples.for_training(fold.X, fold.y, fold.fit_params))


def refit_in_worker(
    monitor: CallMonitor,
    fold: Fold,
    X: Any,
    y: Any,
    params: dict[str, Any],
    n_resources: int,
    config: EvaluationConfig,
) -> PackedEstimator | None:
    """Call `refit` in a worker, to which the fold is sent without its data.

    Returns
    -------
    PackedEstimator or None
        None if the fit fails or the estimator can't be pickled. The search then refits in its
        own process, where an error is raised.
    """
    messages: list[warnings.WarningMessage] = []
    try:
        pickle.dumps(with_params(config.estimator, params))  # fail before training, if it must fail
        with replace(monitor, timeout=None).running() as start_part, ExitStack() as stack:
            start_part(0)
            if current_thread() is main_thread():  # recording affects all threads
                messages = stack.enter_context(warnings.catch_warnings(record=True))
            start = perf_counter()
            estimator = refit(fold.with_data(X, y), params, n_resources, config)
            seconds = perf_counter() - start
        captured = [*map(CapturedWarning.from_message, messages)]
        return PackedEstimator(pickle.dumps((estimator, captured)), seconds)
    except (Exception, KeyboardInterrupt):
        return None
