"""Data that several benchmarks generate, given a number of samples and a seed."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification, make_friedman1, make_hastie_10_2


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
