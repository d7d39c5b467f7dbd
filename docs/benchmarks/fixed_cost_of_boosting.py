"""Fixed cost of one fit of XGBoost, LightGBM and CatBoost, in samples, on one thread.

    python docs/benchmarks/fixed_cost_of_boosting.py

takes about a minute of CPU time and writes results/fixed_cost_of_boosting.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from statistics import median
from typing import Any

import numpy as np
from catboost import CatBoostClassifier, CatBoostRegressor
from fixed_cost import seconds_of
from lightgbm import LGBMClassifier, LGBMRegressor
from reports import table, write
from sklearn.datasets import make_classification, make_friedman1
from xgboost import XGBClassifier, XGBRegressor

FEW, MANY = (400, 800), (2000, 4000, 8000)
"""Samples of a first rung and of a training fold."""
N_FEATURES = (10, 30)
ROUNDS = 3
CATBOOST = {"iterations": 50, "thread_count": 1, "verbose": 0, "allow_writing_files": False}
MODELS = {
    "CatBoostClassifier": CatBoostClassifier(**CATBOOST),
    "CatBoostRegressor": CatBoostRegressor(**CATBOOST),
    "CatBoostRegressor, depth=4": CatBoostRegressor(depth=4, **CATBOOST),
    "LGBMClassifier": LGBMClassifier(n_jobs=1, verbose=-1),
    "LGBMRegressor": LGBMRegressor(n_jobs=1, verbose=-1),
    "LGBMRegressor, num_leaves=8": LGBMRegressor(num_leaves=8, n_jobs=1, verbose=-1),
    "XGBClassifier": XGBClassifier(n_jobs=1),
    "XGBRegressor": XGBRegressor(n_jobs=1),
    "XGBRegressor, max_depth=3": XGBRegressor(max_depth=3, n_jobs=1),
}


def samples(model: Any, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return as many samples as the largest fold has."""
    n_samples = max(MANY)
    if "Regressor" in type(model).__name__:
        return make_friedman1(n_samples, n_features, noise=1.0, random_state=0)
    return make_classification(n_samples, n_features, n_informative=8, flip_y=0.1, random_state=0)


def fixed_cost(seconds: dict[int, float]) -> float:
    """Return the median over pairs of few and many samples, in samples.

    A line through both has its intercept at as many samples. If the larger one took no longer,
    the cost is infinite.
    """
    costs = []
    for few in FEW:
        for many in MANY:
            slope = (seconds[many] - seconds[few]) / (many - few)
            costs.append(seconds[few] / slope - few if slope > 0 else np.inf)
    return median(costs)


def main() -> None:
    """Measure, and write."""
    rows = []
    for name, model in MODELS.items():
        for n_features in N_FEATURES:
            X, y = samples(model, n_features)
            seconds = {
                n: min(seconds_of(model, X[:n], y[:n]) for _ in range(ROUNDS))
                for n in (*FEW, *MANY)
            }
            times = [f"{one * 1e3:.0f}" for one in seconds.values()]
            rows.append([f"{name}, {n_features}", *times, f"{fixed_cost(seconds):,.0f}"])
            print(*rows[-1], flush=True)
    sizes = [f"{n:,}, ms" for n in (*FEW, *MANY)]
    lines = [
        "# Fixed cost of one fit of boosting libraries",
        "",
        "CPU time on one thread of one fit and the scores of a quarter as many samples, minimum of "
        f"{ROUNDS}. The fixed cost is where a line through two sizes, a first rung and a training "
        f"fold, has its intercept: the median over all {len(FEW) * len(MANY)} pairs. CatBoost has "
        "50 iterations. Written by `python docs/benchmarks/fixed_cost_of_boosting.py`.",
        "",
        *table(["estimator, features", *sizes, "fixed, in samples"], rows),
    ]
    write("fixed_cost_of_boosting.md", lines)


if __name__ == "__main__":
    main()
