"""The parameter `scoring` made into one callable, and what is known of it beforehand."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import check_scoring

from sklearn_sha._compat import (
    SCORES_WITH_SAMPLE_WEIGHT,
    accepts_sample_weight,
    is_made_by_make_scorer,
)


@dataclass(frozen=True)
class Scoring:
    """How models are scored.

    Attributes
    ----------
    scorer : callable
        Takes an estimator, X, y and parameters; returns a number, or a dict of one number
        a metric.
    scorers : callable or dict of str to callable
        What GridSearchCV has as ``scorer_``.
    metrics : list of str or None
        ``["score"]`` for a single metric; None where only a call of the scorer can tell.
    sees_predictions_only : bool
        True where the scorer asks the estimator for nothing but predictions or its score,
        so that a pipeline's last step on transformed rows does as well as the pipeline.
    """

    scorer: Any
    scorers: Any
    metrics: list[str] | None
    sees_predictions_only: bool

    def takes_sample_weight(self, owner: str) -> bool:
        """Whether to pass ``sample_weight`` on to the scorer, without metadata routing.

        Follows GridSearchCV of the scikit-learn that is installed, and warns as it does
        where a metric can't use the weights.

        Parameters
        ----------
        owner : str
            What is fitted, for the warning.
        """
        if not SCORES_WITH_SAMPLE_WEIGHT:
            return False
        named = self.scorers if isinstance(self.scorers, dict) else {"scoring": self.scorers}
        accepted = {name: accepts_sample_weight(scorer) for name, scorer in named.items()}
        for name in (name for name, accepts in accepted.items() if not accepts):
            warnings.warn(
                f"The scoring {name}={named[name]} does not support sample_weight, which may "
                f"lead to statistically incorrect results when fitting {owner} with "
                "sample_weight. Score with a metric that takes it.",
                UserWarning,
                stacklevel=2,
            )
        return any(accepted.values())


def make_scoring(estimator: Any, scoring: Any, *, raise_errors: bool) -> Scoring:
    """Make a `Scoring` of GridSearchCV's parameter.

    Parameters
    ----------
    estimator : estimator
    scoring : None, str, callable, list, tuple or dict
    raise_errors : bool
        Whether a metric, among several, that fails raises; otherwise its score is the
        traceback.

    Raises
    ------
    ValueError, TypeError
        As `sklearn.metrics.check_scoring`.
    """
    if callable(scoring):
        return Scoring(scoring, scoring, None, is_made_by_make_scorer(scoring))
    if scoring is None or isinstance(scoring, str):
        scorer = check_scoring(estimator, scoring)
        return Scoring(scorer, scorer, ["score"], True)
    scorer = check_scoring(estimator, scoring, raise_exc=raise_errors)
    each = scoring if isinstance(scoring, Mapping) else {name: name for name in scoring}
    scorers = {name: check_scoring(estimator, value) for name, value in each.items()}
    only_predictions = all(isinstance(v, str) or is_made_by_make_scorer(v) for v in each.values())
    return Scoring(scorer, scorers, list(scorers), only_predictions)
