"""The searches of "Getting started", on several train/test splits.

    python docs/benchmarks/getting_started.py

measures a grid search, the same candidates with SuccessiveHalvingSearchCV, and 64 candidates from
ranges, in alternation and on one thread. It takes a minute, and writes
results/getting_started.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Callable
from statistics import mean, median
from time import process_time
from typing import Any

from reports import table, write
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_sha import SuccessiveHalvingSearchCV

N_SPLITS = 20
MODEL = make_pipeline(StandardScaler(), SVC())
GRID = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [1e-4, 1e-3, 1e-2, 1e-1]}
RANGES = {"svc__C": loguniform(0.1, 1000), "svc__gamma": loguniform(1e-4, 1e-1)}

SEARCHES: dict[str, Callable[[], Any]] = {
    "GridSearchCV, 16 candidates": lambda: GridSearchCV(MODEL, GRID),
    "SuccessiveHalvingSearchCV, the same 16": lambda: SuccessiveHalvingSearchCV(
        MODEL, GRID, random_state=0
    ),
    "RandomizedSearchCV, 16 candidates from ranges": lambda: RandomizedSearchCV(
        MODEL, RANGES, n_iter=16, random_state=0
    ),
    "SuccessiveHalvingSearchCV, 64 candidates from ranges": lambda: SuccessiveHalvingSearchCV(
        MODEL, RANGES, random_state=0
    ),
}


def main() -> None:
    """Measure, and write the page."""
    X, y = load_digits(return_X_y=True)
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SEARCHES}
    for seed in range(N_SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed, stratify=y)
        seconds_of_grid = 0.0
        for name, make in SEARCHES.items():
            search, start = make(), process_time()
            search.fit(X_train, y_train)
            seconds = process_time() - start
            seconds_of_grid = seconds_of_grid or seconds
            found[name].append(
                (seconds / seconds_of_grid, search.best_score_, search.score(X_test, y_test))
            )
    rows = []
    for name, runs in found.items():
        ratios, scores, held_out = zip(*runs, strict=True)
        rows.append([name, f"{median(ratios):.2f}", f"{mean(scores):.4f}", f"{mean(held_out):.4f}"])
    write(
        "getting_started.md",
        [
            "# The searches of the page Getting started",
            "",
            f"StandardScaler and SVC on digits, {N_SPLITS} train/test splits, one thread. Time "
            "is the median of the CPU time as a multiple of the grid search's, scores are means. "
            "Written by `python docs/benchmarks/getting_started.py`.",
            "",
            *table(["search", "CPU time / grid search", "best_score_", "held-out accuracy"], rows),
        ],
    )


if __name__ == "__main__":
    main()
