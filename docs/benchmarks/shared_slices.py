"""Samples of folds in files that all workers map into memory, or sliced again for each batch.

    python docs/benchmarks/shared_slices.py

prints the table of docs/where_time_goes.md in some five minutes on two cores: 40 candidates, 5
folds, 200,000 x 50 samples and rungs of 1, 2 and 4 epochs. With two workers a search slices, since
it has more folds than workers; here it is made to do both. 64 workers are represented by two that
receive as many batches.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from nothing import Nothing
from reports import table
from sklearn.linear_model import SGDRegressor

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine import batches
from sklearn_sha._engine.slice_calls import SharedSlices

N_JOBS, N_REPEATS = 2, 3
SGD = SGDRegressor(eta0=1e-3, random_state=0), "alpha"
CASES: dict[str, tuple[Any, str, int]] = {
    "no training, 2 workers": (Nothing(), "a", 2),
    "SGDRegressor, 2 workers": (*SGD, 2),
    "SGDRegressor, batches of 64 workers": (*SGD, 64),
}


def seconds(case: str, in_files: bool, X: np.ndarray, y: np.ndarray) -> float:
    """Of one search."""
    estimator, name, n_workers = CASES[case]
    search = SuccessiveHalvingSearchCV(
        estimator, {name: list(np.logspace(-6, 0, 40))}, resource="partial_fit", min_resources=1,
        max_resources=4, min_folds="all", cv=5, refit=False, n_jobs=N_JOBS,
    )  # fmt: skip
    folder = property(lambda self: self._workers.shared_folder if in_files else None)
    n_batches = batches._BATCHES_PER_WORKER * n_workers // N_JOBS
    with (
        patch.object(SharedSlices, "_folder", folder),
        patch.object(batches, "_BATCHES_PER_WORKER", n_batches),
    ):
        search.fit(X[:500], y[:500])  # the workers are started then
        start = perf_counter()
        search.fit(X, y)
        return perf_counter() - start


def main() -> None:
    """Measure in alternation, and print."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 50))
    y = X[:, 0] + rng.normal(size=len(X))
    rows = []
    for case in CASES:
        pairs = [(seconds(case, False, X, y), seconds(case, True, X, y)) for _ in range(N_REPEATS)]
        sliced, mapped = (f"{median(column):.1f}" for column in zip(*pairs, strict=True))
        ratio = median(b / a for a, b in pairs)
        rows.append([case, sliced, mapped, f"{ratio:.2f}"])
    print(*table(["", "sliced, seconds", "in files, seconds", "ratio"], rows), sep="\n")


if __name__ == "__main__":
    main()
