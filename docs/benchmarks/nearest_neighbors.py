"""Nearest neighbors: training samples or folds as the resource, if their number is searched.

    python docs/benchmarks/nearest_neighbors.py
    python docs/benchmarks/nearest_neighbors.py --samples 20000

searches the number of neighbors on generated and real data, with one thread each: GridSearchCV, and
the two resources. It takes some minutes (half an hour with 20,000 samples), and writes a page with
the number of samples in its name. It needs the files that real_data.py downloads.
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
from typing import Any

import numpy as np
import real_data
from decision_trees import N_TEST, rows_of
from joblib import Parallel, delayed
from quality_workloads import WORKLOADS
from reports import table, write
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_friedman1, make_hastie_10_2
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

N_NEIGHBORS = [1, 2, 3, 5, 8, 12, 20, 30, 50, 80]


def surface(n: int, seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """A wavy surface over two features, with normal noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, np.sin(12 * X[:, 0]) * np.cos(12 * X[:, 1]) + noise * rng.normal(size=n)


def labeled_surface(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whether the surface with noise is positive."""
    X, y = surface(n, seed, noise=1.0)
    return X, (y > 0).astype(int)


def part(load: Callable[[], Any]) -> Callable[[int, int], tuple[np.ndarray, np.ndarray]]:
    """A function that takes random rows of a data set."""

    def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        X, y = load()
        some = np.random.default_rng(seed).permutation(len(y))[:n]
        return X[some], y[some]

    return rows


CLASSES = {
    "classification": lambda n, seed: make_classification(
        n, 8, n_informative=5, flip_y=0.2, random_state=seed
    ),
    "hastie": lambda n, seed: make_hastie_10_2(n, random_state=seed),
    "surface, classes": labeled_surface,
    "late flights": part(WORKLOADS["lightgbm"].load),
    "fast flights": part(WORKLOADS["svc"].load),
}
NUMBERS = {
    "friedman1": lambda n, seed: make_friedman1(n, noise=2, random_state=seed),
    "surface": lambda n, seed: surface(n, seed, noise=1.0),
    "surface, little noise": lambda n, seed: surface(n, seed, noise=0.2),
    "speeds of flights": part(WORKLOADS["boosting"].load),
    "diamonds": part(real_data.diamonds),
}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 4, 5])
    options = parser.parse_args()
    cases = [
        *[(name, make, KNeighborsClassifier()) for name, make in CLASSES.items()],
        *[(name, make, KNeighborsRegressor()) for name, make in NUMBERS.items()],
    ]
    rows = Parallel(2)(
        delayed(rows_of)(f"{name}, {searched}", scaled(model), make, grid, *vars(options).values())
        for name, make, model in cases
        for searched, grid in grids(model).items()
    )
    command = shlex.join(["python", "docs/benchmarks/nearest_neighbors.py", *sys.argv[1:]])
    columns = ["data, searched", "resource", "held-out score", "lowest", "CPU time"]
    write(
        f"nearest_neighbors_{options.samples}.md",
        [
            "# Nearest neighbors",
            "",
            f"Differences from GridSearchCV over the same grid, {options.samples:,} samples, "
            f"{len(options.seeds)} seeds: mean and lowest held-out accuracy or R², measured on "
            f"{N_TEST:,} samples. CPU time is a multiple of GridSearchCV's. Written by "
            f"`{command}`.",
            "",
            *table(columns, [*chain.from_iterable(rows)]),
        ],
    )


def scaled(model: BaseEstimator) -> BaseEstimator:
    """A pipeline that scales the features."""
    return make_pipeline(StandardScaler(), model)


def grids(model: BaseEstimator) -> dict[str, dict[str, Any]]:
    """Grids of 10 and 20 candidates."""
    prefix = type(model).__name__.lower()
    number = {f"{prefix}__n_neighbors": N_NEIGHBORS}
    return {
        "n_neighbors": number,
        "n_neighbors, weights": number | {f"{prefix}__weights": ["uniform", "distance"]},
    }


if __name__ == "__main__":
    main()
