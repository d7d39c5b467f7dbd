"""Single decision trees: training samples or folds as the resource.

    python docs/benchmarks/decision_trees.py
    python docs/benchmarks/decision_trees.py --samples 20000 --seeds 3 4

search parameters that set the size of a tree on generated data sets, with one thread each:
GridSearchCV, and the two resources. Each takes about a quarter of an hour, and writes a page with
the number of samples in its name.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from generated_data import CLASSES, TARGETS
from samples_or_folds import Case, Make, compare
from sklearn.base import BaseEstimator
from sklearn.datasets import make_hastie_10_2
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

VALUES = np.logspace(-5, -1, 13).tolist()
DATA: dict[str, tuple[BaseEstimator, Make]] = {
    "classification": (DecisionTreeClassifier(random_state=0), CLASSES["classification"]),
    "hastie": (
        DecisionTreeClassifier(random_state=0),
        lambda n, seed: make_hastie_10_2(n, random_state=seed),
    ),
    "friedman1": (DecisionTreeRegressor(random_state=0), TARGETS["friedman1"]),
}
FRACTIONS = np.logspace(-3.3, -0.5, 8).tolist()
GRIDS = {
    "max_depth": {"max_depth": [*range(2, 18)]},
    "max_depth, min_samples_leaf": {
        "max_depth": [3, 5, 8, 12, None],
        "min_samples_leaf": [1, 2, 5, 10, 20, 50],
    },
    "max_depth, min_samples_leaf (shares)": {
        "max_depth": [5, 10, None],
        "min_samples_leaf": FRACTIONS,
    },
    "min_samples_split": {"min_samples_split": [2, 3, 5, 10, 20, 40, 60, 80, 100, 150, 200, 300]},
    "max_leaf_nodes": {"max_leaf_nodes": [4, 8, 16, 24, 32, 48, 64, 96, 128, 200, 300, 500]},
    "ccp_alpha": {"ccp_alpha": VALUES},
    "ccp_alpha, max_depth": {"ccp_alpha": VALUES[::2], "max_depth": [5, 10, None]},
    "min_impurity_decrease": {"min_impurity_decrease": VALUES},
}


if __name__ == "__main__":
    compare(
        "Single decision trees",
        __doc__,
        [Case(f"{data}, {grid}", *DATA[data], GRIDS[grid]) for data in DATA for grid in GRIDS],
    )
