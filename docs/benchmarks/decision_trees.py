"""Single decision trees: training samples or folds as the resource.

    python docs/benchmarks/decision_trees.py

searches parameters that set the size of a tree on generated data sets, with one thread each:
GridSearchCV, with training samples as the resource, and with default parameters. It takes about a
quarter of an hour, and writes results/decision_trees.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from itertools import chain
from statistics import geometric_mean, mean
from time import process_time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from reports import table, write
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_friedman1, make_hastie_10_2
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_sha import SuccessiveHalvingSearchCV

N, N_TEST, SEEDS = 5_000, 20_000, range(3, 6)
WAYS: dict[str, dict[str, Any]] = {
    "training samples": {"resource": "n_samples"},
    "default (folds)": {},
}
VALUES = np.logspace(-5, -1, 13).tolist()
DATA: dict[str, tuple[BaseEstimator, Any]] = {
    "classification": (
        DecisionTreeClassifier(random_state=0),
        lambda seed: make_classification(
            N + N_TEST, 20, n_informative=6, flip_y=0.2, random_state=seed
        ),
    ),
    "hastie": (
        DecisionTreeClassifier(random_state=0),
        lambda seed: make_hastie_10_2(N + N_TEST, random_state=seed),
    ),
    "friedman1": (
        DecisionTreeRegressor(random_state=0),
        lambda seed: make_friedman1(N + N_TEST, noise=2, random_state=seed),
    ),
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


def main() -> None:
    """Measure, and write the page."""
    cases = [(data, grid) for data in DATA for grid in GRIDS]
    rows = Parallel(2)(delayed(rows_of)(*case) for case in cases)
    columns = ["data, searched", "resource", "held-out score", "lowest", "CPU time"]
    write(
        "decision_trees.md",
        [
            "# Single decision trees",
            "",
            f"Differences from GridSearchCV over the same grid, {N:,} samples, {len(SEEDS)} seeds: "
            f"mean and lowest held-out accuracy or R², measured on {N_TEST:,} samples. CPU time is "
            "a multiple of GridSearchCV's. Written by `python docs/benchmarks/decision_trees.py`.",
            "",
            *table(columns, [*chain.from_iterable(rows)]),
        ],
    )


def rows_of(data: str, grid: str) -> list[list[str]]:
    """Rows of the table about one data set and grid."""
    model, make = DATA[data]
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    for seed in SEEDS:
        X, y = make(seed)
        theirs = measured(GridSearchCV(model, GRIDS[grid]), X, y)
        for way, params in WAYS.items():
            search = SuccessiveHalvingSearchCV(model, GRIDS[grid], random_state=seed, **params)
            ours = measured(search, X, y)
            found[way].append((ours[0] - theirs[0], ours[1] / theirs[1]))
    rows = []
    for way, runs in found.items():
        scores, times = zip(*runs, strict=True)
        texts = f"{mean(scores):+.4f}", f"{min(scores):+.4f}", f"{geometric_mean(times):.2f}"
        rows.append([f"{data}, {grid}", way, *texts])
    return rows


def measured(search: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Held-out score and CPU time of a search on the first samples."""
    start = process_time()
    search.fit(X[:N], y[:N])
    seconds = process_time() - start
    return float(search.score(X[N:], y[N:])), seconds


if __name__ == "__main__":
    main()
