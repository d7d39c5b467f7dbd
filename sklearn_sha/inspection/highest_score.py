"""The highest score that a metric can have."""

from __future__ import annotations

from math import inf
from typing import Any

from sklearn_sha.inspection.metric_names import scorer_name

WITHOUT_MAXIMUM = ("mutual_info_score", "positive_likelihood_ratio")
"""Scorers of scikit-learn that have none. Negative losses are at most 0, all others at most 1."""


def highest_score(metric: str, scoring: Any, estimator: Any) -> float:
    """Return the highest score that a metric can have, for example 1 for the accuracy.

    Parameters
    ----------
    metric, scoring, estimator
        As in `sklearn_sha.inspection.metric_names.metric_label`.

    Returns
    -------
    float
        Infinity if it is unknown, for example that of a function, or if there is none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_sha.inspection.highest_score import highest_score
    >>> [highest_score("score", scoring, Ridge()) for scoring in (None, "neg_mean_squared_error")]
    [1.0, 0.0]
    """
    name = scorer_name(metric, scoring, estimator)
    if name is None or name in WITHOUT_MAXIMUM:
        return inf
    return 0.0 if name.startswith("neg_") else 1.0
