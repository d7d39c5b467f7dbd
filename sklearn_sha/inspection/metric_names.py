"""Names of metrics: those of scikit-learn, and those for axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline

_WORDS = {"neg": "negative", "roc": "ROC", "auc": "AUC", "r2": "R²", "f1": "F1", "d2": "D²"}


def metric_label(metric: str, scoring: Any, estimator: Any) -> str:
    """Return the name of a metric for the axis of a figure.

    Parameters
    ----------
    metric : str
        As in ``cv_results_``: "score" for a single metric.
    scoring : object
        Parameter `scoring` of the search.
    estimator : estimator
        Its `score` is the metric if `scoring` is None.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sha.inspection.metric_names import metric_label
    >>> metric_label("score", "neg_log_loss", Ridge()), metric_label("score", None, Ridge())
    ('negative log loss', 'R²')
    >>> metric_label("roc_auc", ["roc_auc", "accuracy"], Ridge())
    'ROC AUC'
    """
    if metric != "score":
        return _words(metric)
    name = scorer_name(metric, scoring, estimator)
    return "score" if name is None else _words(name)


def scorer_name(metric: str, scoring: Any, estimator: Any) -> str | None:
    """Return scikit-learn's name of the scorer of a metric, or None if it has none.

    Parameters
    ----------
    metric, scoring, estimator
        As in `metric_label`.

    Returns
    -------
    str or None

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sha.inspection.metric_names import scorer_name
    >>> scorer_name("score", None, Ridge()), scorer_name("area", {"area": "roc_auc"}, Ridge())
    ('r2', 'roc_auc')
    """
    if scoring is None:
        return _default_scorer(estimator)
    if isinstance(scoring, Mapping):
        scoring = scoring.get(metric)
    elif not (isinstance(scoring, str) or callable(scoring)):
        scoring = metric  # one of a list of names
    return scoring if isinstance(scoring, str) else None


def _words(name: Any) -> str:
    return " ".join(_WORDS.get(word, word) for word in str(name).split("_"))


def _default_scorer(estimator: Any) -> str | None:
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    if score is ClassifierMixin.score:
        return "accuracy"
    return "r2" if score is RegressorMixin.score else None
