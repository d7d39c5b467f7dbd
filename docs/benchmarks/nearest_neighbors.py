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

from collections.abc import Callable
from typing import Any

import numpy as np
import real_data
from generated_data import TARGETS
from quality_workloads import WORKLOADS
from samples_or_folds import Case, Make, compare
from sklearn.datasets import make_classification, make_hastie_10_2
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


def part(load: Callable[[], Any]) -> Make:
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
    "friedman1": TARGETS["friedman1"],
    "surface": lambda n, seed: surface(n, seed, noise=1.0),
    "surface, little noise": lambda n, seed: surface(n, seed, noise=0.2),
    "speeds of flights": part(WORKLOADS["boosting"].load),
    "diamonds": part(real_data.diamonds),
}


def grids(step: str) -> dict[str, dict[str, Any]]:
    """Grids of 10 and 20 candidates, for the name of a step."""
    number = {f"{step}__n_neighbors": N_NEIGHBORS}
    return {
        "n_neighbors": number,
        "n_neighbors, weights": number | {f"{step}__weights": ["uniform", "distance"]},
    }


if __name__ == "__main__":
    models = {KNeighborsClassifier: CLASSES, KNeighborsRegressor: NUMBERS}
    compare(
        "Nearest neighbors",
        __doc__,
        [
            Case(f"{data}, {searched}", make_pipeline(StandardScaler(), model()), make, grid)
            for model, data_sets in models.items()
            for data, make in data_sets.items()
            for searched, grid in grids(model.__name__.lower()).items()
        ],
    )
