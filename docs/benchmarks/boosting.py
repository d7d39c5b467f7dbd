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

from generated_data import CLASSES, TARGETS
from samples_or_folds import Case, compare
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from xgboost import XGBClassifier, XGBRegressor

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
