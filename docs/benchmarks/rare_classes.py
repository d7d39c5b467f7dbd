"""Classes of which there are few samples: the automatic first rung, and one that ignores them.

    python docs/benchmarks/rare_classes.py

searches by F1 and by balanced accuracy on generated data sets, with one thread each: GridSearchCV,
with a first rung of 400 samples on one fold, and with the automatic one, which has 10 training and
test samples of the rarest class, or half of them. It takes some minutes, and writes
results/rare_classes.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import warnings
from itertools import chain, product
from statistics import geometric_mean
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from reports import mean_and_error, table, write
from samples_or_folds import with_best_score
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sklearn_sha import SuccessiveHalvingSearchCV

N_DATA_SETS, N_SEEDS, N_TEST = 12, 3, 20_000
IGNORED = {"resource": "n_samples", "min_resources": 400, "min_folds": 1}
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "LogisticRegression": (
        LogisticRegression(),
        {"C": np.logspace(-4, 2, 7), "class_weight": [None, "balanced"]},
    ),
    "DecisionTree": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [2, 3, 5, 8, None], "min_samples_leaf": [1, 2, 4, 8, 16, 32, 64, 128]},
    ),
}
SHARES = {"1.5% of 1,500": (1500, 0.985), "3% of 4,000": (4000, 0.97)}
CASES = [
    ("DecisionTree", "f1", "3% of 4,000"),
    *product(["LogisticRegression"], ["f1", "balanced_accuracy"], SHARES),
]


def main() -> None:
    """Measure, and write the page."""
    rows = Parallel(2)(delayed(rows_of)(*case) for case in CASES)
    write(
        "rare_classes.md",
        [
            "# Rare classes",
            "",
            f"Differences from GridSearchCV over the same grid, {N_DATA_SETS} generated data sets "
            f"and {N_SEEDS} seeds of each search; the held-out score is measured on {N_TEST:,} "
            "samples. The first rung has 400 samples and one fold, or is automatic. Written by "
            "`python docs/benchmarks/rare_classes.py`.",
            "",
            *table(
                [
                    "search",
                    "first rung",
                    "best_score_",
                    "lowest best_score_",
                    "held-out score",
                    "CPU time",
                ],
                [*chain.from_iterable(rows)],
            ),
        ],
    )


def rows_of(name: str, scoring: str, share: str) -> list[list[str]]:
    """Rows of the table about one model, score and share of the rare class."""
    warnings.simplefilter("ignore")  # undefined F1 scores, and explicit settings that save nothing
    (model, grid), (n, weight) = MODELS[name], SHARES[share]
    found: dict[str, list[tuple[float, float, float]]] = {"400 samples": [], "automatic": []}
    for number in range(N_DATA_SETS):
        X, y = make_classification(
            n + N_TEST, 20, n_informative=8, weights=[weight], flip_y=0.005, class_sep=0.8,
            random_state=number,
        )  # fmt: skip
        theirs = measured(GridSearchCV(model, grid, scoring=scoring), X, y, n)
        for (way, params), seed in product(
            {"400 samples": IGNORED, "automatic": {}}.items(), range(N_SEEDS)
        ):
            search = SuccessiveHalvingSearchCV(
                model, grid, scoring=scoring, random_state=seed, **params
            )
            ours = measured(search, X, y, n)
            found[way].append((ours[0] - theirs[0], ours[1] - theirs[1], ours[2] / theirs[2]))
    rows = []
    for way, runs in found.items():
        scores, held_out, times = map(np.array, zip(*runs, strict=True))
        # The error is that of data sets, since seeds on the same one are alike.
        of_data_sets = held_out.reshape(N_DATA_SETS, N_SEEDS).mean(axis=1)
        rows.append(
            [
                f"{name}, {scoring}, {share}",
                way,
                f"{scores.mean():+.4f}",
                f"{scores.min():+.3f}",
                mean_and_error(of_data_sets, digits=4),
                f"{geometric_mean(times):.2f}",
            ]
        )
    return rows


def measured(search: Any, X: np.ndarray, y: np.ndarray, n: int) -> tuple[float, float, float]:
    """Best score, held-out score and CPU time of a search on the first n samples."""
    return with_best_score(search, X[:n], X[n:], y[:n], y[n:])


if __name__ == "__main__":
    main()
