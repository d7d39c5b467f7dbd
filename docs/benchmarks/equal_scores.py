"""First rungs in which all candidates have the same score: which of them are promoted.

    python docs/benchmarks/equal_scores.py

searches by F1 and by balanced accuracy on generated data sets with a rare class, with one thread
each. The learning rate of boosting is so low that all models of the first rung predict the other
class, and have the same score: GridSearchCV, the first candidates of the grid promoted, and the
random ones that are promoted now. The data sets are others than those on which this was found. It
takes some minutes, and writes results/equal_scores.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import warnings
from itertools import chain
from statistics import geometric_mean
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from rare_classes import measured
from reports import mean_and_error, table, write
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.bandit import promotion

SEEDS, N_TRAIN, N_TEST = range(100, 112), 2000, 20_000
MODEL = HistGradientBoostingClassifier(
    learning_rate=0.02, max_iter=60, early_stopping=False, random_state=0
)
GRID = {"max_leaf_nodes": [2, 3, 4, 6, 8, 12, 20, 31], "min_samples_leaf": [5, 20]}
METRICS = "f1", "balanced_accuracy"
SETTINGS: dict[str, dict[str, Any]] = {
    "iterations": {"resource": "max_iter"},
    'iterations, min_folds="all"': {"resource": "max_iter", "min_folds": "all"},
}


def main() -> None:
    """Measure, and write the page."""
    rows = Parallel(2)(delayed(rows_of)(metric) for metric in METRICS)
    write(
        "equal_scores.md",
        [
            "# Equal scores in the first rung",
            "",
            f"Differences from GridSearchCV over the same grid of 16 candidates, {len(SEEDS)} "
            f"generated data sets of {N_TRAIN:,} samples, 7 % of them of the rare class. The "
            f"held-out score is measured on {N_TEST:,} samples, with its standard error over the "
            "data sets. If at least three quarters of the candidates of a rung have the same "
            "score, the first ones of these are promoted, or the first one and random others. "
            "Written by `python docs/benchmarks/equal_scores.py`.",
            "",
            *table(
                [
                    "search",
                    "promoted",
                    "data sets",
                    "best_score_",
                    "lowest best_score_",
                    "held-out score",
                    "CPU time",
                ],
                [*chain.from_iterable(rows)],
            ),
            "",
            "*Data sets* is the number of those in which all candidates of the first rung have the "
            "same score. The others are left out.",
        ],
    )


def rows_of(metric: str) -> list[list[str]]:
    """Rows of the table about one metric."""
    warnings.simplefilter("ignore")  # about equal scores
    found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for seed in SEEDS:
        X, y = make_classification(
            N_TRAIN + N_TEST, 12, n_informative=6, weights=[0.93], random_state=seed
        )
        theirs = measured(GridSearchCV(MODEL, GRID, scoring=metric), X, y, N_TRAIN)
        for setting, params in SETTINGS.items():
            search = SuccessiveHalvingSearchCV(
                MODEL, GRID, scoring=metric, random_state=seed, **params
            )
            with patch.object(promotion, "best_first", first_of_ties):
                first = measured(search, X, y, N_TRAIN)
            ours = measured(search, X, y, N_TRAIN)
            if len({*search.rung_history_[0]["scores"]}) > 1:
                continue
            for way, one in (("the first", first), ("random", ours)):
                difference = one[0] - theirs[0], one[1] - theirs[1], one[2] / theirs[2]
                found.setdefault((setting, way), []).append(difference)
    rows = []
    for (setting, way), runs in found.items():
        scores, held_out, times = map(np.array, zip(*runs, strict=True))
        rows.append(
            [
                f"{metric}, {setting}",
                way,
                str(len(runs)),
                f"{scores.mean():+.3f}",
                f"{scores.min():+.3f}",
                mean_and_error(held_out, digits=3),
                f"{geometric_mean(times):.2f}",
            ]
        )
    return rows


def first_of_ties(losses: Any, kept: Any = ()) -> np.ndarray:
    """Positions by increasing loss, of equal ones the first ones; no candidate is kept."""
    assert not kept
    return np.argsort(np.asarray(losses, dtype=float), kind="stable")


if __name__ == "__main__":
    main()
