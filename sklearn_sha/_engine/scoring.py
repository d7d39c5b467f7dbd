"""One scorer for the parameter `scoring`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import check_scoring, get_scorer

from sklearn_sha._compat import (
    SCORES_WITH_SAMPLE_WEIGHT,
    accepts_sample_weight,
    is_made_by_make_scorer,
    is_weighable,
)
from sklearn_sha._param_validation import InvalidParameterError
from sklearn_sha._user_warning import warn_user


@dataclass(frozen=True)
class Scoring:
    """Scorer of a search.

    Attributes
    ----------
    scorer : callable
        Receives an estimator, X, y and parameters; returns a number, or a dict with one number
        per metric.
    scorers : callable or dict of str to callable
        Value of the attribute ``scorer_``, as in GridSearchCV.
    metrics : list of str or None
        ``["score"]`` for a single metric; None if they are unknown before the scorer is called.
    uses_predictions_only : bool
        Whether the scorer only uses predictions of the estimator or its ``score``. Then the last
        step of a pipeline on transformed samples has the same score as the pipeline.
    """

    scorer: Any
    scorers: Any
    metrics: list[str] | None
    uses_predictions_only: bool

    @property
    def is_multimetric(self) -> bool:
        """Whether the user names the metrics; False if that is unknown."""
        return isinstance(self.scorers, dict)

    def passes_sample_weight(self, search_name: str) -> bool:
        """Return whether ``sample_weight`` is passed to the scorer without metadata routing.

        This is the same as in GridSearchCV of the installed version of scikit-learn, with the
        same warning for a metric that does not support weights.

        Parameters
        ----------
        search_name : str
            Class of the search, for the warning.

        Raises
        ------
        TypeError
            If weights would be passed to several metrics, and one of them is a function.
        """
        if not SCORES_WITH_SAMPLE_WEIGHT:
            return False
        named = self.scorers if self.is_multimetric else {"scoring": self.scorers}
        accepted = {name: accepts_sample_weight(scorer) for name, scorer in named.items()}
        for name in (name for name, accepts in accepted.items() if not accepts):
            scorer = f"{name}={named[name]}" if self.is_multimetric else named[name]
            warn_user(
                f"The scoring {scorer} does not support sample_weight, which may "
                f"lead to statistically incorrect results when fitting {search_name} with "
                "sample_weight. Set scoring to a metric that supports it.",
            )
        functions = [name for name, scorer in named.items() if not is_weighable(scorer)]
        if self.is_multimetric and functions and any(accepted.values()):
            raise TypeError(
                f"scoring has functions ({', '.join(functions)}) among its metrics, to which "
                "scikit-learn cannot pass sample_weight. Write them as metrics of (y_true, y_pred) "
                "for sklearn.metrics.make_scorer, or enable metadata routing."
            )
        return any(accepted.values())


def make_scoring(estimator: Any, scoring: Any, *, raise_errors: bool) -> Scoring:
    """Make the scorer of a search.

    Parameters
    ----------
    estimator : estimator
    scoring : None, str, callable, list, tuple or dict
        As in GridSearchCV.
    raise_errors : bool
        Whether an error in one of several metrics is raised. Otherwise the score of this metric
        is the traceback.

    Returns
    -------
    Scoring

    Raises
    ------
    InvalidParameterError
        If `scoring` is something else, such as a set, which has no first metric, or if a name is
        unknown.
    ValueError
        As in `sklearn.metrics.check_scoring`, such as for a metric that is no scorer.
    """
    if callable(scoring):
        check_scoring(scoring=scoring)  # refuses metrics of scikit-learn, which are no scorers
        return Scoring(scoring, scoring, None, is_made_by_make_scorer(scoring))
    if not isinstance(scoring, str | list | tuple | Mapping | None):
        raise InvalidParameterError(
            f"scoring={scoring!r} must be a str, a callable, a list, a tuple, a dict or None."
        )
    if scoring is not None:
        _check_names(scoring)
    if scoring is None or isinstance(scoring, str):
        scorer = check_scoring(estimator, scoring)
        return Scoring(scorer, scorer, ["score"], True)
    scorer = check_scoring(estimator, scoring, raise_exc=raise_errors)
    metrics = scoring if isinstance(scoring, Mapping) else {name: name for name in scoring}
    scorers = {name: check_scoring(estimator, metric) for name, metric in metrics.items()}
    uses_predictions_only = all(
        isinstance(metric, str) or is_made_by_make_scorer(metric) for metric in metrics.values()
    )
    return Scoring(scorer, scorers, list(scorers), uses_predictions_only)


def _check_names(scoring: str | list[Any] | tuple[Any, ...] | Mapping[str, Any]) -> None:
    """Raise an error that shows `scoring` if the name of a metric is unknown."""
    metrics = scoring.values() if isinstance(scoring, Mapping) else scoring
    for name in [metrics] if isinstance(metrics, str) else metrics:
        if not isinstance(name, str):
            continue
        try:
            get_scorer(name)
        except ValueError as error:
            raise InvalidParameterError(f"scoring={scoring!r}: {error}") from None
