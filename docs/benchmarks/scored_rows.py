"""With n_samples: what it saves to score on test samples that increase with the training samples.

    python docs/benchmarks/scored_rows.py

takes half an hour on one core and writes results/scored_rows.md. Flights, a test fold of
200,000 samples. Each search is run with increasing test samples, and with all test samples in every
rung.
"""

from __future__ import annotations

import sys
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np
import real_data
from reports import table, write
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._data import folds

N_SEEDS = 5
SEARCHES = {
    "nearest neighbors": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 2, 4, 8, 16, 32, 64, 128, 256]},
    ),
    "support vectors": (SVC(), {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1, 1.0]}),
}


def fitted(
    estimator: Any, grid: dict[str, Any], seed: int, n_test_samples: int
) -> tuple[Any, float]:
    """Return a search that scores `n_test_samples` test samples or more, and its seconds."""
    X, y, _ = real_data.flights()
    last = estimator.__class__.__name__.lower()
    folds.MIN_TEST_SAMPLES = n_test_samples
    search = SuccessiveHalvingSearchCV(
        make_pipeline(StandardScaler(), estimator),
        {f"{last}__{name}": values for name, values in grid.items()},
        resource="n_samples", min_resources=1000, max_resources=9000, random_state=seed,
        cv=ShuffleSplit(1, test_size=200_000, train_size=100_000, random_state=seed), refit=False,
    )  # fmt: skip
    start = perf_counter()
    return search.fit(X, y), perf_counter() - start


def compared(estimator: Any, grid: dict[str, Any]) -> list[str]:
    """Cells of the table."""
    times, agreed, costs = [], [], []
    for seed in range(N_SEEDS):
        (increasing, less), (whole, more) = (
            fitted(estimator, grid, seed, n_test_samples) for n_test_samples in (1000, sys.maxsize)
        )
        times.append(less / more)
        with_some, with_all = ({*s.rung_history_[0]["promoted"]} for s in (increasing, whole))
        agreed.append(len(with_some & with_all) / len(with_all))
        # The loss by the scores on all test samples in the first rung.
        scores = np.array(whole.rung_history_[0]["scores"])
        costs.append(max(scores[[*with_all]]) - max(scores[[*with_some]]))
    return [
        f"{median(times):.2f}",
        f"{mean(agreed):.2f}",
        f"{mean(costs):.4f}",
        f"{max(costs):.4f}",
    ]


def main() -> None:
    """Measure, and write."""
    lines = [
        "# Test samples that increase with the training samples",
        "",
        f"Written by `python docs/benchmarks/scored_rows.py`; {N_SEEDS} seeds. Searches over "
        "nine candidates, of which rungs have 1,000 to 9,000 of 100,000 training samples, with a "
        "test fold of 200,000 samples: scored on twice as many of them as there are "
        "training samples, and on all in every rung.",
        "",
        *table(
            [
                "",
                "time, as a multiple of that with all test samples",
                "promoted by both in the first rung",
                "mean loss of accuracy by the choice",
                "worst",
            ],
            [[name, *compared(*search)] for name, search in SEARCHES.items()],
        ),
    ]
    write("scored_rows.md", lines)


if __name__ == "__main__":
    main()
