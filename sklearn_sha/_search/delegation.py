"""Methods and properties of a search that are those of its best estimator."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._compat import routing_enabled
from sklearn_sha.inspection.search_state import can_resume, is_interrupted


def _best_estimator_has(name: str) -> Callable[[Any], bool]:
    """Return a check for `available_if`, which asks the estimator before fit."""

    def check(search: Any) -> bool:
        _check_refit(search, name)
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


def _check_refit(search: Any, name: str) -> None:
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {name} is "
            "available only after refitting on the best parameters. You can refit an estimator "
            "manually using the `best_params_` attribute, or set refit=True."
        )


class BestEstimatorMixin(MetaEstimatorMixin):
    """Mixin that delegates prediction, scoring, incremental training and tags.

    The methods are those of ``best_estimator_``; tags are those of ``estimator``.
    """

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the score on the given data, if the estimator has been refit.

        This uses the score defined by ``scoring`` where provided, and the
        ``best_estimator_.score`` method otherwise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Input data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets; None for unsupervised learning.
        **params : dict
            Parameters of the scorer; only with metadata routing.

        Returns
        -------
        float

        Raises
        ------
        AttributeError
            If ``refit=False``.
        NotFittedError
            If there is no best estimator.
        ValueError
            If there are other parameters without metadata routing; or if there are several metrics
            and `refit` is a callable.
        """
        _check_refit(self, "score")
        self._check_has_best_estimator()
        score_params: dict[str, Any] = {}
        if routing_enabled():
            score_params = process_routing(self, "score", **params).scorer["score"]
        elif params:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.score is only supported "
                "if enable_metadata_routing=True, which you can set using `sklearn.set_config`. "
                f"Extra parameters passed are: {sorted(params)}."
            )
        if self.multimetric_ and callable(self.refit):
            raise ValueError(
                f"score requires the name of a metric as refit, and refit={self.refit!r} is a "
                "callable. Score best_estimator_ by one of the metrics instead."
            )
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) else self.scorer_
        score = scorer(self.best_estimator_, X, y, **score_params)
        return score[self.refit] if isinstance(score, dict) else score

    @available_if(_best_estimator_has("predict"))
    def predict(self, X: Any) -> Any:
        """Call ``predict`` of the best estimator."""
        return self._call_best_estimator("predict", X)

    @available_if(_best_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Call ``predict_proba`` of the best estimator."""
        return self._call_best_estimator("predict_proba", X)

    @available_if(_best_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Call ``predict_log_proba`` of the best estimator."""
        return self._call_best_estimator("predict_log_proba", X)

    @available_if(_best_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Call ``decision_function`` of the best estimator."""
        return self._call_best_estimator("decision_function", X)

    @available_if(_best_estimator_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Call ``score_samples`` of the best estimator."""
        return self._call_best_estimator("score_samples", X)

    @available_if(_best_estimator_has("transform"))
    def transform(self, X: Any) -> Any:
        """Call ``transform`` of the best estimator."""
        return self._call_best_estimator("transform", X)

    @available_if(_best_estimator_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Call ``inverse_transform`` of the best estimator."""
        return self._call_best_estimator("inverse_transform", X)

    @available_if(_best_estimator_has("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Continue training the best estimator, or call `fit` if the search is not fitted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Additional samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Their targets; None for unsupervised learning.
        **params : dict
            Parameters of the estimator's ``partial_fit``.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            If `fit` was interrupted before the refit.
        """
        if not self.__sklearn_is_fitted__():
            resource = self._resource(self._tuned_estimator(self._source()))
            if resource.training_method == "fit":  # which takes the classes from y
                params.pop("classes", None)
            return self.fit(X, y, **params)
        self._check_has_best_estimator()
        targets = () if y is None else (y,)
        self.best_estimator_.partial_fit(X, *targets, **params)
        return self

    def _call_best_estimator(self, method: str, X: Any) -> Any:
        self._check_has_best_estimator()
        delegated = getattr(self.best_estimator_, method)
        try:
            return delegated(X)
        except ValueError as error:
            # As in GridSearchCV, an error about array namespaces names the method of the search.
            inner = rf"{re.escape(type(self.best_estimator_).__name__)}\.\w+\(\)"
            if not re.search(f"{inner} must use the same namespace", str(error)):
                raise
            own = f"{type(self).__name__}.{method}()"
            raise ValueError(re.sub(inner, own, str(error))) from error

    def _check_has_best_estimator(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            reason, remedy = "was fitted without a refit", "Call fit"
            if is_interrupted(self) or can_resume(self):
                reason = "was interrupted before the best candidate was refit"
            if can_resume(self):
                remedy = "Call resume with the data of fit"
            if hasattr(self, "best_params_"):  # with several metrics, `refit` may select none
                remedy += ", or fit an estimator with best_params_"
            raise NotFittedError(f"This {type(self).__name__} instance {reason}. {remedy}.")

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during `fit`; only available with refit."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(
                f"{type(self).__name__} object has no n_features_in_ attribute."
            ) from error
        return self.best_estimator_.n_features_in_

    @property
    def classes_(self) -> Any:
        """Class labels; only available with refit, and if the estimator is a classifier."""
        _best_estimator_has("classes_")(self)
        return self.best_estimator_.classes_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "schedule_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.transformer_tags = deepcopy(inner.transformer_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = inner.array_api_support
        return tags
