"""Names of metrics for axes: "ROC AUC" for scoring="roc_auc"."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassifierMixin, RegressorMixin

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
    if isinstance(scoring, str):
        return _words(scoring)
    return "score" if scoring is not None else _default_score(estimator)


def _words(name: str) -> str:
    return " ".join(_WORDS.get(word, word) for word in name.split("_"))


def _default_score(estimator: Any) -> str:
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    score = getattr(type(estimator), "score", None)
    if score is ClassifierMixin.score:
        return "accuracy"
    return "R²" if score is RegressorMixin.score else "score"
