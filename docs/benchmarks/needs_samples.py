"""Candidates that fail with few samples: they wait for a rung with more, or are eliminated.

    python docs/benchmarks/needs_samples.py

searches over pipelines of which some candidates fail in the automatic first rung, with one thread
each: GridSearchCV, with the number of samples of this rung as `min_resources`, which eliminates
them, and with default parameters, where they wait for a rung with more samples. It takes some
minutes, and writes results/needs_samples.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import warnings
from itertools import chain
from statistics import geometric_mean
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from real_data import digits, flights, snippets
from reports import mean_and_error, table, write
from samples_or_folds import with_best_score
from sklearn.datasets import make_regression
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import SuccessiveHalvingSearchCV

N_SPLITS = 5


def steps(first: Any, last: Any) -> Pipeline:
    """A pipeline of two steps."""
    return Pipeline([("first", first), ("last", last)])


CASES: dict[str, tuple[Any, dict[str, list[Any]], Any, int]] = {
    "PCA and RidgeClassifier, images": (
        steps(PCA(random_state=0), RidgeClassifier()),
        {"first__n_components": [10, 30, 100, 300, 700], "last__alpha": [1e3, 1e5, 1e7]},
        digits,
        3000,
    ),
    "PCA and Ridge, generated": (
        steps(PCA(random_state=0), Ridge()),
        {"first__n_components": [10, 30, 100, 300, 700], "last__alpha": [0.1, 10, 1000]},
        lambda: make_regression(5000, 700, n_informative=700, noise=10, random_state=0),
        3000,
    ),
    "TfidfVectorizer and Ridge, texts": (
        steps(TfidfVectorizer(), Ridge()),
        {"first__min_df": [1, 3, 10, 30, 100, 1000], "last__alpha": [0.3, 1, 3]},
        lambda: snippets()[::2],
        6000,
    ),
    "KNeighborsRegressor, flights": (
        steps(StandardScaler(), KNeighborsRegressor()),
        {"last__n_neighbors": [1, 3, 10, 30, 100, 300, 3000], "last__p": [1, 2]},
        lambda: flights()[::2],
        12_500,
    ),
}
"""Estimator, grid, data and number of samples that are searched on; the others are held out."""


def main() -> None:
    """Measure, and write the page."""
    rows = Parallel(2)(delayed(rows_of)(name) for name in CASES)
    write(
        "needs_samples.md",
        [
            "# Candidates that need more samples than the first rung has",
            "",
            f"Differences from GridSearchCV over the same grid, with {N_SPLITS} train/test splits. "
            "Candidates that fail in the automatic first rung are eliminated (its number of "
            "samples is set as `min_resources`), or wait for a rung with more samples (the "
            "default). Written by `python docs/benchmarks/needs_samples.py`.",
            "",
            *table(
                ["search", "failed candidates", "best_score_", "held-out score", "CPU time"],
                [*chain.from_iterable(rows)],
            ),
        ],
    )


def rows_of(name: str) -> list[list[str]]:
    """Rows of the table about one case."""
    warnings.simplefilter("ignore")  # about failed candidates
    model, grid, load, n = CASES[name]
    X, y = load()
    found: dict[str, list[tuple[float, float, float]]] = {"eliminated": [], "wait": []}
    for seed in range(N_SPLITS):
        split = train_test_split(
            X, y, train_size=n, test_size=min(len(y) - n, 10_000), random_state=seed
        )
        theirs = with_best_score(GridSearchCV(model, grid), *split)
        search = SuccessiveHalvingSearchCV(model, grid, random_state=seed)
        first = search.plan(split[0], split[2]).min_resources
        as_before = SuccessiveHalvingSearchCV(
            model, grid, random_state=seed, resource="n_samples", min_resources=first, min_folds=1
        )
        for way, one in zip(found, (as_before, search), strict=True):
            ours = with_best_score(one, *split)
            found[way].append((ours[0] - theirs[0], ours[1] - theirs[1], ours[2] / theirs[2]))
    rows = []
    for way, runs in found.items():
        scores, held_out, times = map(np.array, zip(*runs, strict=True))
        rows.append(
            [
                name,
                way,
                f"{scores.mean():+.4f}",
                mean_and_error(held_out, digits=4),
                f"{geometric_mean(times):.2f}",
            ]
        )
    return rows


if __name__ == "__main__":
    main()
