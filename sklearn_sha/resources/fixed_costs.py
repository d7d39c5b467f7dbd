"""What fitting and scoring an estimator costs, however few samples there are."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha.resources.limits import TrainingData
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_step
from sklearn_sha.resources.warm_starts import MAX_WITHOUT_EARLY_STOPPING

# Measured by docs/benchmarks/fixed_cost.py. The cost of a sample of a linear or light estimator is
# proportional to its number of values, so that the cost of a fit without samples is a number of
# values. For the others it is a number of samples.
_SAMPLES_PER_FIT = 200
_SAMPLES_PER_ENSEMBLE_FIT = {
    # Each tree has a fixed cost.
    **dict.fromkeys(("AdaBoost", "ExtraTrees", "RandomForest"), 1000),
    # Trees of these libraries have a limited number of leaves and of thresholds, so that a fit on
    # more samples takes little longer. Measured by docs/benchmarks/fixed_cost_of_boosting.py.
    **{"CatBoost": 10_000, "LGBM": 1000, "XGB": 3000},
}
"""By the beginning of the name of the class."""
_VALUES_PER_LINEAR_FIT = 60_000
_VALUES_PER_LIGHT_FIT = {
    **dict.fromkeys(
        (
            "BernoulliNB", "CategoricalNB", "ComplementNB", "DummyClassifier", "DummyRegressor",
            "GaussianNB", "LinearRegression", "MultinomialNB", "Ridge", "RidgeClassifier",
        ),
        200_000,
    ),
    **dict.fromkeys(
        (
            "KNeighborsClassifier", "KNeighborsRegressor", "LinearDiscriminantAnalysis",
            "NearestCentroid", "QuadraticDiscriminantAnalysis", "RadiusNeighborsClassifier",
            "RadiusNeighborsRegressor",
        ),
        30_000,
    ),
}  # fmt: skip
_VALUES_PER_TEXT = 100


def candidate_cost(tuned: TunedEstimator, example: Any, data: TrainingData) -> Fraction:
    """Cost of a candidate's fit without samples, preprocessing included, in samples.

    Parameters
    ----------
    tuned : TunedEstimator
    example : estimator
        With the parameters of one candidate; not fitted. It stands for all candidates if steps are
        sampled from distributions.
    data : TrainingData

    Returns
    -------
    Fraction
        If the candidates are estimators of different classes, a mean, weighted by the time of a
        sample. A fit without samples is assumed to take the same time with each of them.
    """
    models = [example] if tuned.decisive_distributions() else tuned.models()
    total, weights = Fraction(0), Fraction(0)
    for model in map(last_step, models):
        fixed = fixed_cost(model, data.X, data.n_classes)
        # With early stopping, a fit on fewer samples costs as much.
        stops = getattr(model, "early_stopping", None) == "auto"
        stops &= data.n_samples > MAX_WITHOUT_EARLY_STOPPING
        total += Fraction(n_samples_of(data.X) if stops else fixed, fixed)
        weights += Fraction(1, fixed)
    return total / weights + _SAMPLES_PER_FIT * tuned.n_searched_steps


def fixed_cost(model: Any, X: Any, n_classes: int) -> int:
    """Cost of a fit without samples, as the number of samples whose training costs as much.

    Parameters
    ----------
    model : estimator
        Not fitted.
    X : array-like
        The samples. A sparse matrix counts by its stored values, a text as 100 values, and a list
        of lists as the array that it makes.
    n_classes : int
        1 without classes.

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression, Ridge
    >>> from sklearn.svm import SVC
    >>> from sklearn_sha.resources.fixed_costs import fixed_cost
    >>> X = np.zeros((1000, 100))
    >>> [fixed_cost(model, X, 10) for model in (SVC(), LogisticRegression(), Ridge())]
    [200, 60, 2000]
    """
    name, package = type(model).__name__, type(model).__module__
    if name in _VALUES_PER_LIGHT_FIT:
        return math.ceil(_VALUES_PER_LIGHT_FIT[name] / _values_per_sample(X))
    is_linear = package.startswith("sklearn.linear_model") or name in ("LinearSVC", "LinearSVR")
    # The epochs of stochastic gradient descent make its samples cost more; not those of
    # passive-aggressive steps, which soon stop.
    is_passive = str(getattr(model, "learning_rate", "")).startswith("pa")
    if is_linear and (is_passive or not name.startswith("SGD")):
        problems = n_classes if n_classes > 2 else 1
        return math.ceil(_VALUES_PER_LINEAR_FIT / (problems * _values_per_sample(X)))
    costs = _SAMPLES_PER_ENSEMBLE_FIT.items()
    return next((cost for prefix, cost in costs if name.startswith(prefix)), _SAMPLES_PER_FIT)


def _values_per_sample(X: Any) -> int:
    if issparse(X):
        return max(1, X.nnz // max(1, X.shape[0]))
    if isinstance(X, list | tuple):
        # Samples of different lengths, such as lists of words, are no table.
        with suppress(TypeError, ValueError):
            X = np.asarray(X[:2])
    shape = getattr(X, "shape", ())
    if len(shape) < 2:
        return _VALUES_PER_TEXT
    n_values = math.prod(shape[1:])
    if (dtypes := getattr(X, "dtypes", None)) is not None:  # of the columns of a frame
        n_texts = sum(map(_is_text, dtypes))
    else:
        n_texts = n_values * _is_text(getattr(X, "dtype", None))
    return max(1, n_values + (_VALUES_PER_TEXT - 1) * n_texts)


def _is_text(dtype: Any) -> bool:
    """Return whether a column has texts or other objects, given its type in any library."""
    is_object = getattr(dtype, "kind", None) in ("O", "U", "S") and str(dtype) != "category"
    return is_object or str(dtype) == "String"
