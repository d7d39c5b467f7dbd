"""scikit-learn's estimators whose ``warm_start`` continues exactly."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

MAX_WITHOUT_EARLY_STOPPING = 10_000
"""Number of samples up to which histogram boosting does not stop early by default."""


def replays(model: Any, n_train: int) -> bool:
    """Whether warm start samples again what a single fit would have sampled."""
    # Warm start samples the same numbers again; a RandomState would have advanced.
    return not isinstance(model.random_state, np.random.RandomState)


def _forest(model: Any, n_train: int) -> bool:
    # Exact for a preset class_weight too, but scikit-learn warns at every fit.
    preset = isinstance(getattr(model, "class_weight", None), str)
    return replays(model, n_train) and not preset


def _gradient_boosting(model: Any, n_train: int) -> bool:
    return model.n_iter_no_change is None


def _hist_gradient_boosting(model: Any, n_train: int) -> bool:
    # A model that stopped early would grow by at least one tree per rung.
    if model.early_stopping == "auto":
        return n_train <= MAX_WITHOUT_EARLY_STOPPING
    return not model.early_stopping


def _bagging(model: Any, n_train: int) -> bool:
    # scikit-learn refuses warm start with out-of-bag scores.
    return replays(model, n_train) and not model.oob_score


@cache
def exact_warm_starts() -> dict[type, tuple[str, Callable[[Any, int], bool]]]:
    """Estimators whose warm start is exact: the parameter that grows, and the condition.

    Found by comparing all predictions, which are bit-identical (tests/test_resources.py compares
    them for each line). A subclass may override fit, so only the classes themselves count.

    Returns
    -------
    dict of class to (str, callable)
        The callable takes a model and the number of training samples.
    """
    # A slow import, which only an integer parameter as the resource needs.
    from sklearn import ensemble

    return {
        ensemble.RandomForestClassifier: ("n_estimators", _forest),
        ensemble.RandomForestRegressor: ("n_estimators", _forest),
        ensemble.ExtraTreesClassifier: ("n_estimators", _forest),
        ensemble.ExtraTreesRegressor: ("n_estimators", _forest),
        ensemble.RandomTreesEmbedding: ("n_estimators", replays),
        ensemble.IsolationForest: ("n_estimators", replays),
        ensemble.BaggingClassifier: ("n_estimators", _bagging),
        ensemble.BaggingRegressor: ("n_estimators", _bagging),
        ensemble.GradientBoostingClassifier: ("n_estimators", _gradient_boosting),
        ensemble.GradientBoostingRegressor: ("n_estimators", _gradient_boosting),
        ensemble.HistGradientBoostingClassifier: ("max_iter", _hist_gradient_boosting),
        ensemble.HistGradientBoostingRegressor: ("max_iter", _hist_gradient_boosting),
    }
