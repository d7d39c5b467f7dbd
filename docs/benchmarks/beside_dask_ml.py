"""dask-ml's SuccessiveHalvingSearchCV, in an environment of its own with what it still runs on.

    python3.11 -m venv .venv-dask-ml
    .venv-dask-ml/bin/python -m pip install -r docs/benchmarks/beside_dask_ml.txt
    .venv-dask-ml/bin/python docs/benchmarks/beside_dask_ml.py

takes about a minute and writes results/dask_ml.md. It takes no Pipeline and has no
cross-validation: images are scaled beforehand, and there is one split.
"""

from __future__ import annotations

import warnings
from importlib.metadata import version
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from reports import table, write
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from workloads import WORKLOADS

N_REPEATS = 3
PACKAGES = ("dask-ml", "dask", "distributed", "scikit-learn", "numpy")


def by_hand(model: Any, candidates: list[dict[str, Any]], X: Any, y: Any, seed: int) -> float:
    """Seconds of the schedule, written out, with one split."""
    start = perf_counter()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
    classes, models = np.unique(y), [clone(model).set_params(**params) for params in candidates]
    n_trained = 0
    for resource in (1, 3, 9, 27):
        scores = []
        for one in models:
            for _ in range(n_trained, resource):
                one.partial_fit(X_train, y_train, classes=classes)
            scores.append(one.score(X_test, y_test))
        best = np.argsort(scores)[::-1][: -(-len(models) // 3)]
        models, n_trained = [models[number] for number in best], resource
    return perf_counter() - start


def by_dask(
    model: Any, grid: dict[str, list[Any]], X: Any, y: Any, seed: int, held_out: tuple[Any, Any]
) -> tuple[float, int, float]:
    """Seconds, calls of partial_fit and held-out score."""
    from dask_ml.model_selection import SuccessiveHalvingSearchCV

    search = SuccessiveHalvingSearchCV(
        model, grid, n_initial_parameters=27, n_initial_iter=1, aggressiveness=3, random_state=seed
    )
    start = perf_counter()
    search.fit(X, y, classes=np.unique(y))
    seconds = perf_counter() - start
    calls: dict[Any, int] = {}
    for row in search.history_:
        calls[row["model_id"]] = max(calls.get(row["model_id"], 0), row["partial_fit_calls"])
    return seconds, sum(calls.values()), float(search.best_estimator_.score(*held_out))


def main() -> None:
    """Measure, and write."""
    from dask.distributed import Client

    warnings.simplefilter("ignore")
    work = WORKLOADS["images"]
    model = work.estimator[-1]
    name = work.estimator.steps[-1][0] + "__"
    grid = {key.removeprefix(name): values for key, values in work.grid.items()}
    candidates = [
        {key.removeprefix(name): value for key, value in one.items()} for one in work.candidates()
    ]
    hand, dask = [], []
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None):
        for seed in range(N_REPEATS):
            X, y, X_test, y_test = work.splits(seed)
            X, X_test = X / 255, X_test / 255
            hand.append(by_hand(model, candidates, X, y, seed))
            dask.append(by_dask(model, grid, X, y, seed, (X_test, y_test)))
    seconds, calls, scores = zip(*dask, strict=True)
    ratio = median(a / b for a, b in zip(seconds, hand, strict=True))
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    lines = [
        "# Compared with dask-ml",
        "",
        f"{versions}; medians of {N_REPEATS} runs; written by "
        "`python docs/benchmarks/beside_dask_ml.py`. "
        f"{work.title.capitalize()}, one split, 27 candidates, factor 3.",
        "",
        *table(
            ["", "seconds", "calls of partial_fit", "held out"],
            [
                [
                    "dask-ml, 2 workers",
                    f"{median(seconds):.2f}",
                    f"{median(calls):.0f}",
                    f"{median(scores):.4f}",
                ],
                ["loop by hand, one process", f"{median(hand):.2f}", "81", ""],
            ],
        ),
        "",
        f"The search took {ratio:.2f} of the loop's seconds, with two workers.",
    ]
    write("dask_ml.md", lines)


if __name__ == "__main__":
    main()
