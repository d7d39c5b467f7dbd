"""Boosting with a fixed learning rate: iterations or folds as the resource.

    python docs/benchmarks/boosting.py

searches the size of the trees and the regularization on generated data, with one thread each:
GridSearchCV, and the two resources. It takes about half an hour, and writes a page with the number
of samples in its name. It requires XGBoost.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from itertools import chain

import numpy as np
from samples_or_folds import Case, compare
from sklearn.datasets import make_classification, make_friedman1, make_hastie_10_2
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from xgboost import XGBClassifier, XGBRegressor


def additive(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples of a sum of functions of one feature each, with normal noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + np.abs(X[:, 2]) + 0.5 * X[:, 3]
    return X, y + 0.8 * rng.normal(size=n)


def labeled_additive(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether that sum is above its median."""
    X, y = additive(n, seed)
    return X, (y > np.median(y)).astype(int)


def labeled_hastie(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels as XGBoost requires them."""
    X, y = make_hastie_10_2(n, random_state=seed)
    return X, (y > 0).astype(int)


CLASSES = {
    "classification": lambda n, seed: make_classification(
        n, 20, n_informative=6, flip_y=0.2, random_state=seed
    ),
    "additive, 2 classes": labeled_additive,
    "hastie": labeled_hastie,
}
TARGETS = {
    "additive": additive,
    "friedman1": lambda n, seed: make_friedman1(n, noise=2, random_state=seed),
}
XGBOOST = {"max_depth": [1, 2, 4, 6], "min_child_weight": [1, 20], "reg_lambda": [1, 20]}
HISTOGRAMS = {"max_leaf_nodes": [3, 7, 15, 31], "min_samples_leaf": [5, 20, 60]}


def cases() -> list[Case]:
    """All searches: XGBoost has a learning rate of 0.3, and histogram boosting of 0.1."""
    models = [
        (CLASSES, XGBClassifier(n_jobs=1), HistGradientBoostingClassifier(random_state=0)),
        (TARGETS, XGBRegressor(n_jobs=1), HistGradientBoostingRegressor(random_state=0)),
    ]
    pairs = (
        (
            Case(f"{name}, XGBoost", xgboost, make, XGBOOST, "n_estimators"),
            Case(f"{name}, histogram boosting", histograms, make, HISTOGRAMS, "max_iter"),
        )
        for data, xgboost, histograms in models
        for name, make in data.items()
    )
    return [*chain.from_iterable(pairs)]


if __name__ == "__main__":
    compare("Boosting with a fixed learning rate", __doc__, cases())
