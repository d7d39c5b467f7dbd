"""Trains the best candidate on all rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from sklearn_sha._evaluate import Setting, is_read_only, new_model
from sklearn_sha._folds import Fold, Rows, fit_transform
from sklearn_sha._trained import Trained
from sklearn_sha._workers import Watch


@dataclass(frozen=True)
class Refitted:
    """What came of it.

    Attributes
    ----------
    trained : Trained
        The estimator; a pipeline where it is one.
    seconds : float
    caught : list of warnings.WarningMessage
        Warnings that were not shown.
    """

    trained: Trained
    seconds: float
    caught: list[warnings.WarningMessage]


def refit(fold: Fold, params: dict[str, Any], units: int, setting: Setting) -> Refitted:
    """Train the estimator with a candidate's parameters on all rows.

    Parameters
    ----------
    fold : Fold
        Any, since it has all rows.
    params : dict
    units : int
        Of resource.
    setting : Setting

    Returns
    -------
    Refitted

    Raises
    ------
    Exception
        What the estimator raises.
    """
    start = perf_counter()
    rows = Rows.for_training(fold.X, fold.y, fold.fit_params)
    try:
        model = _trained_on(rows, fold, params, units, setting)
    except ValueError as error:
        if not is_read_only(error):
            raise
        model = _trained_on(rows.owned(), fold, params, units, setting)
    return Refitted(Trained(model, units), perf_counter() - start, [])


def refit_in_worker(
    watch: Watch, fold: Fold, X: Any, y: Any, params: dict[str, Any], units: int, setting: Setting
) -> Refitted | None:
    """The same, as it is sent to workers: the fold comes without data.

    Returns
    -------
    Refitted or None
        None where it fails, or can't travel: then the process that searches does it, and has
        the error.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            refitted = refit(fold.with_data(X, y), params, units, setting)
        return replace(refitted, trained=refitted.trained.packed(), caught=caught)
    except (Exception, KeyboardInterrupt):
        return None


def _trained_on(
    rows: Rows, fold: Fold, params: dict[str, Any], units: int, setting: Setting
) -> Any:
    best = new_model(setting, params)
    trained = best
    if setting.has_prefix:
        prefix = best[:-1]
        X, y, _ = rows.fitting()
        rows = replace(rows, X_train=fit_transform(prefix, X, y, fold.prefix_params))
        best.set_params(**dict(prefix.steps))  # a cache fits copies of the steps
        trained = best[-1]
    setting.resource.advance(trained, rows, 0, units)
    return best
