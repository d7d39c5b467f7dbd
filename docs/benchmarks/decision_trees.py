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

import argparse
import shlex
import sys
from collections.abc import Callable
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

N_TEST = 20_000
RESOURCES = {"training samples": "n_samples", "folds": "folds"}
VALUES = np.logspace(-5, -1, 13).tolist()
DATA: dict[str, tuple[BaseEstimator, Any]] = {
    "classification": (
        DecisionTreeClassifier(random_state=0),
        lambda n, seed: make_classification(n, 20, n_informative=6, flip_y=0.2, random_state=seed),
    ),
    "hastie": (
        DecisionTreeClassifier(random_state=0),
        lambda n, seed: make_hastie_10_2(n, random_state=seed),
    ),
    "friedman1": (
        DecisionTreeRegressor(random_state=0),
        lambda n, seed: make_friedman1(n, noise=2, random_state=seed),
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 4, 5])
    options = parser.parse_args()
    cases = [(f"{data}, {grid}", *DATA[data], GRIDS[grid]) for data in DATA for grid in GRIDS]
    rows = Parallel(2)(delayed(rows_of)(*case, options.samples, options.seeds) for case in cases)
    command = shlex.join(["python", "docs/benchmarks/decision_trees.py", *sys.argv[1:]])
    columns = ["data, searched", "resource", "held-out score", "lowest", "CPU time"]
    write(
        f"decision_trees_{options.samples}.md",
        [
            "# Single decision trees",
            "",
            f"Differences from GridSearchCV over the same grid, {options.samples:,} samples, "
            f"{len(options.seeds)} seeds: mean and lowest held-out accuracy or R², measured on "
            f"{N_TEST:,} samples. CPU time is a multiple of GridSearchCV's. Written by "
            f"`{command}`.",
            "",
            *table(columns, [*chain.from_iterable(rows)]),
        ],
    )


def rows_of(
    title: str,
    model: BaseEstimator,
    make: Callable[[int, int], tuple[np.ndarray, np.ndarray]],
    grid: dict[str, Any],
    n_samples: int,
    seeds: list[int],
) -> list[list[str]]:
    """Rows of the table about one grid, on data that are made from a number and a seed."""
    found: dict[str, list[tuple[float, float]]] = {unit: [] for unit in RESOURCES}
    for seed in seeds:
        X, y = make(n_samples + N_TEST, seed)
        theirs = measured(GridSearchCV(model, grid), X, y)
        for unit, resource in RESOURCES.items():
            search = SuccessiveHalvingSearchCV(model, grid, resource=resource, random_state=seed)
            ours = measured(search, X, y)
            found[unit].append((ours[0] - theirs[0], ours[1] / theirs[1]))
    rows = []
    for unit, runs in found.items():
        scores, times = zip(*runs, strict=True)
        texts = f"{mean(scores):+.4f}", f"{min(scores):+.4f}", f"{geometric_mean(times):.2f}"
        rows.append([title, unit, *texts])
    return rows


def measured(search: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Held-out score and CPU time of a search. The last samples are held out."""
    start = process_time()
    search.fit(X[:-N_TEST], y[:-N_TEST])
    seconds = process_time() - start
    return float(search.score(X[-N_TEST:], y[-N_TEST:])), seconds


if __name__ == "__main__":
    main()
