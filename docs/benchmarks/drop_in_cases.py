"""Estimators, grids and data sets of the drop-in benchmark: what people try first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Grid = dict[str, list[Any]] | list[dict[str, list[Any]]]


@dataclass(frozen=True)
class Case:
    """An estimator with the grid that is searched.

    Attributes
    ----------
    classifier : estimator
    grid : dict of str to list
    regressor : estimator or None
        Counterpart for regression. None if there is none.
    regressor_grid : dict of str to list or None
        None if it is `grid`.
    scaled : bool
        Whether the features are scaled to [0, 1] beforehand.
    """

    classifier: Any
    grid: Grid
    regressor: Any = None
    regressor_grid: Grid | None = None
    scaled: bool = False

    def search_arguments(self, regression: bool) -> tuple[Any, Grid] | None:
        """Estimator and grid. None if there is no regressor."""
        if not regression:
            return self.classifier, self.grid
        if self.regressor is None:
            return None
        return self.regressor, self.regressor_grid or self.grid

    def prepared(self, X: np.ndarray) -> np.ndarray:
        """Features as the estimator accepts them."""
        return MinMaxScaler().fit_transform(X) if self.scaled else X


_PENALIZED: Grid = {
    "alpha": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0],
    "penalty": ["l2", "l1"],
}
_STEPS: Grid = {"eta0": [1e-4, 1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0], "average": [False, True]}
_TREE: Grid = {"max_depth": [3, 5, 10, None], "min_samples_leaf": [1, 2, 5, 10]}
_FOREST: Grid = {"max_features": [0.25, "sqrt", 0.75, 1.0], "min_samples_leaf": [1, 2, 5, 10]}
_NETWORK: Grid = {"hidden_layer_sizes": [(50,), (100,)], "alpha": [1e-4, 1e-2, 1.0]}

CASES = {
    "SGD": Case(SGDClassifier(random_state=0), _PENALIZED, SGDRegressor(random_state=0)),
    "Perceptron": Case(Perceptron(random_state=0), _PENALIZED),
    # As PassiveAggressiveClassifier and PassiveAggressiveRegressor, which are deprecated.
    "passive-aggressive": Case(
        SGDClassifier(penalty=None, learning_rate="pa1", eta0=1.0, random_state=0),
        _STEPS,
        SGDRegressor(
            loss="epsilon_insensitive",
            penalty=None,
            learning_rate="pa1",
            eta0=1.0,
            random_state=0,
        ),
    ),
    "LogisticRegression": Case(
        LogisticRegression(),
        {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4]},
        Lasso(),
        {"alpha": [1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0]},
    ),
    "Ridge": Case(RidgeClassifier(), {"alpha": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}, Ridge()),
    "LinearSVC": Case(
        LinearSVC(random_state=0),
        {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]},
        LinearSVR(random_state=0),
    ),
    "SVC": Case(SVC(), {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 1e-3, 1e-2, 0.1]}, SVR()),
    "MultinomialNB": Case(
        MultinomialNB(),
        {"alpha": [1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0], "fit_prior": [True, False]},
        scaled=True,
    ),
    "GaussianNB": Case(GaussianNB(), {"var_smoothing": [10.0**k for k in range(-12, -2)]}),
    "KNeighbors": Case(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3, 5, 7, 9, 11, 15, 21], "weights": ["uniform", "distance"]},
        KNeighborsRegressor(),
    ),
    "DecisionTree": Case(
        DecisionTreeClassifier(random_state=0), _TREE, DecisionTreeRegressor(random_state=0)
    ),
    "ExtraTrees": Case(
        ExtraTreesClassifier(random_state=0), _FOREST, ExtraTreesRegressor(random_state=0)
    ),
    "RandomForest": Case(
        RandomForestClassifier(random_state=0), _FOREST, RandomForestRegressor(random_state=0)
    ),
    "Bagging": Case(
        BaggingClassifier(random_state=0),
        {"max_samples": [0.25, 0.5, 0.75, 1.0], "max_features": [0.5, 0.75, 1.0]},
        BaggingRegressor(random_state=0),
    ),
    "HistGradientBoosting": Case(
        HistGradientBoostingClassifier(random_state=0),
        {
            "learning_rate": [0.01, 0.03, 0.1, 0.3],
            "max_leaf_nodes": [15, 31],
            "l2_regularization": [0.0, 1.0],
        },
        HistGradientBoostingRegressor(random_state=0),
    ),
    "HistGradientBoosting, fixed learning rate": Case(
        HistGradientBoostingClassifier(random_state=0),
        {"max_leaf_nodes": [7, 15, 31], "l2_regularization": [0.0, 1.0, 10.0]},
        HistGradientBoostingRegressor(random_state=0),
    ),
    "GradientBoosting": Case(
        GradientBoostingClassifier(random_state=0),
        {"learning_rate": [0.03, 0.1, 0.3], "max_depth": [2, 3, 4]},
        GradientBoostingRegressor(random_state=0),
    ),
    "AdaBoost": Case(
        AdaBoostClassifier(random_state=0),
        {"n_estimators": [25, 50, 100], "learning_rate": [0.03, 0.1, 0.3, 1.0]},
        AdaBoostRegressor(random_state=0),
    ),
    "MLP, max_iter=20": Case(
        MLPClassifier(max_iter=20, random_state=0),
        _NETWORK,
        MLPRegressor(max_iter=20, random_state=0),
    ),
    "MLP": Case(MLPClassifier(random_state=0), _NETWORK, MLPRegressor(random_state=0)),
    "MLP, lbfgs, max_iter=30": Case(
        MLPClassifier(solver="lbfgs", max_iter=30, random_state=0),
        _NETWORK,
        MLPRegressor(solver="lbfgs", max_iter=30, random_state=0),
    ),
    "SGD, SVC or DecisionTree": Case(
        Pipeline([("scale", StandardScaler()), ("model", SVC())]),
        [
            {"model": [SGDClassifier(random_state=0)], "model__alpha": [1e-4, 1e-3, 1e-2, 0.1]},
            {"model": [SVC()], "model__C": [0.1, 1.0, 10.0, 100.0], "model__gamma": [0.01, 0.1]},
            {"model": [DecisionTreeClassifier(random_state=0)], "model__max_depth": [3, 5, 10, 20]},
        ],
    ),
    "StandardScaler + SVC": Case(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": [0.1, 1.0, 10.0, 100.0], "svc__gamma": [1e-3, 1e-2, 0.1, 1.0]},
        make_pipeline(StandardScaler(), SVR()),
        {"svr__C": [0.1, 1.0, 10.0, 100.0], "svr__gamma": [1e-3, 1e-2, 0.1, 1.0]},
    ),
    "LinearDiscriminantAnalysis": Case(
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [None, "auto", 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]},
    ),
}


def synthetic(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no estimator separates perfectly."""
    X, y = make_classification(
        n_samples,
        n_features=20,
        n_informative=8,
        n_redundant=4,
        n_clusters_per_class=3,
        flip_y=0.05,
        random_state=0,
    )
    return X, y


DATA = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "synthetic 2,000": lambda: synthetic(2_000),
    "synthetic 20,000": lambda: synthetic(20_000),
}
REGRESSION = ("diabetes",)
