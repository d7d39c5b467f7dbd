"""Searches with another resource and on folds, compared with GridSearchCV over the same grid.

few_samples.py uses the comparison. boosting.py, decision_trees.py, few_epochs.py,
nearest_neighbors.py and networks.py also write pages of it, which have the name of the script and
the number of samples. All use one thread for each search.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path
from statistics import geometric_mean, mean
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from reports import table, write
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV

from sklearn_sha import SuccessiveHalvingSearchCV

N_TEST = 20_000
NAMES = {
    "n_samples": "training samples",
    "n_estimators": "iterations",
    "max_iter": "iterations",
    "partial_fit": "epochs",
}

Make = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
"""Makes X and y, given a number of samples and a seed."""

Compared = dict[str, list[tuple[float, float]]]
"""By resource and seed: the difference in held-out score, and CPU time as a multiple."""


class Case(NamedTuple):
    """What is searched, on which data, and the resource that is compared with folds."""

    title: str
    model: BaseEstimator
    make: Make
    grid: dict[str, Any]
    resource: str = "n_samples"


def compare(heading: str, description: str | None, cases: Iterable[Case]) -> None:
    """Measure as the command line demands, and write the page."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=5_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 4, 5])
    options = parser.parse_args()
    rows = Parallel(2)(delayed(rows_of)(case, options.samples, options.seeds) for case in cases)
    script = Path(sys.argv[0])
    command = shlex.join(["python", f"docs/benchmarks/{script.name}", *sys.argv[1:]])
    columns = ["data, searched", "resource", "held-out score", "lowest", "CPU time"]
    write(
        f"{script.stem}_{options.samples}.md",
        [
            f"# {heading}",
            "",
            f"Differences from GridSearchCV over the same grid, {options.samples:,} samples, "
            f"{len(options.seeds)} seeds: mean and lowest held-out accuracy or R², measured on "
            f"{N_TEST:,} samples. CPU time is a multiple of GridSearchCV's. Written by "
            f"`{command}`.",
            "",
            *table(columns, [*chain.from_iterable(rows)]),
        ],
    )


def rows_of(case: Case, n_samples: int, seeds: list[int]) -> list[list[str]]:
    """Rows of the table about one case."""
    found: Compared = {case.resource: [], "folds": []}
    for seed in seeds:
        X, y = case.make(n_samples + N_TEST, seed)
        splits = X[:-N_TEST], X[-N_TEST:], y[:-N_TEST], y[-N_TEST:]
        add_search(found, case.model, case.grid, splits, seed)
    rows = []
    for resource, runs in found.items():
        scores, times = zip(*runs, strict=True)
        texts = f"{mean(scores):+.4f}", f"{min(scores):+.4f}", f"{geometric_mean(times):.2f}"
        rows.append([case.title, NAMES.get(resource, resource), *texts])
    return rows


def add_search(
    found: Compared, model: BaseEstimator, grid: Any, splits: Sequence[np.ndarray], seed: int
) -> None:
    """Add what a search with each resource differs by from GridSearchCV on the same samples."""
    theirs = measured(GridSearchCV(model, grid), *splits)
    for resource, runs in found.items():
        search = SuccessiveHalvingSearchCV(model, grid, resource=resource, random_state=seed)
        ours = measured(search, *splits)
        runs.append((ours[0] - theirs[0], ours[1] / theirs[1]))


def measured(
    search: Any, X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray
) -> tuple[float, float]:
    """Held-out score and CPU time of a search."""
    start = process_time()
    search.fit(X, y)
    seconds = process_time() - start
    return float(search.score(X_test, y_test)), seconds


def with_best_score(search: Any, *splits: np.ndarray) -> tuple[float, float, float]:
    """Best score, held-out score and CPU time of a search."""
    held_out, seconds = measured(search, *splits)
    return search.best_score_, held_out, seconds
