"""Overhead of the search: an estimator that does nothing, compared with scikit-learn's searches.

    python docs/benchmarks/overhead.py

takes some ten minutes, writes results/overhead.md, and needs Linux.

    python docs/benchmarks/overhead.py costs

prints the ten largest costs only.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from nothing import Nothing
from reports import table, write
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold
from watching import process_memory

from sklearn_sha import SuccessiveHalvingSearchCV

N_REPEATS = 3
RUNGS = (500, 5, 2, 32)
"""500 candidates, 5 folds and 6 rungs, whose resource doubles up to 32."""

IMPORT = """
from time import perf_counter
import sklearn.model_selection
start = perf_counter()
import sklearn_sha
print(perf_counter() - start)
"""


def searches(n: int, n_folds: int, factor: int, highest: int, n_jobs: int) -> dict[str, Any]:
    """The contenders, over `n` candidates."""
    grid = {"a": list(range(n))}
    common: dict[str, Any] = {"cv": KFold(n_folds), "refit": False, "n_jobs": n_jobs}
    return {
        "sha": SuccessiveHalvingSearchCV(
            Nothing(), grid, resource="partial_fit", factor=factor, min_resources=1,
            max_resources=highest, min_folds="all", **common,
        ),
        "GridSearchCV": GridSearchCV(Nothing(), grid, **common),
        "scikit-learn halving": HalvingGridSearchCV(
            Nothing(), grid, resource="max_iter", factor=factor, min_resources=1,
            max_resources=highest, random_state=0, **common,
        ),
    }  # fmt: skip


def per_evaluation(
    n_samples_of: int, n_columns: int, n: int, n_folds: int, factor: int, highest: int, n_jobs: int
) -> None:
    """Print a row of the table: microseconds, and the ratio to GridSearchCV's."""
    # Other programs do not count in the time of a single process.
    clock = process_time if n_jobs == 1 else perf_counter
    X = np.random.default_rng(0).normal(size=(n_samples_of, n_columns))
    micros: dict[str, list[float]] = {}
    for _ in range(N_REPEATS):
        for name, search in searches(n, n_folds, factor, highest, n_jobs).items():
            if name == "scikit-learn halving" and len(X) > 1000:
                continue  # as GridSearchCV, job by job
            search.fit(X)  # the workers are warm then
            start = clock()
            search.fit(X)
            results = getattr(search, "all_cv_results_", search.cv_results_)
            n_done = n_folds * len(results["params"])
            micros.setdefault(name, []).append((clock() - start) / n_done * 1e6)
    ratio = median(a / b for a, b in zip(micros["sha"], micros["GridSearchCV"], strict=True))
    cells = [
        f"{median(micros[name]):,.0f}" if name in micros else ""
        for name in ("sha", "GridSearchCV", "scikit-learn halving")
    ]
    data = f"{X.shape[0]:,} samples x {X.shape[1]} features"
    what = f"{n:,} candidates, {n_folds} folds, {data}, n_jobs={n_jobs}"
    print(f"| {what} | {' | '.join(cells)} | {ratio:.2f} |")


def alone(call: str) -> str:
    """What a call of this module prints, in a process of its own."""
    code = f"import sys; sys.path.insert(0, sys.argv[1]); import overhead; overhead.{call}"
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def largest_costs(n: int = 10) -> list[list[str]]:
    """Functions with the largest own times, per evaluation, as cProfile measures them."""
    X = np.random.default_rng(0).normal(size=(100, 5))
    search = searches(*RUNGS, n_jobs=1)["sha"].fit(X)
    profile = cProfile.Profile(process_time)
    profile.runcall(search.fit, X)
    statistics = pstats.Stats(profile)
    n_done = RUNGS[1] * len(search.all_cv_results_["params"])
    largest = sorted(statistics.stats.items(), key=lambda item: item[1][2], reverse=True)
    return [
        [
            f"`{'/'.join(Path(file).parts[-2:])}` `{function}`" if line else f"`{function}`",
            f"{n_calls / n_done:.1f}",
            f"{seconds / n_done * 1e6:.2f}",
        ]
        for (file, line, function), (_, n_calls, seconds, *_) in largest[:n]
    ] + [
        [
            "all",
            f"{statistics.total_calls / n_done:.0f}",
            f"{statistics.total_tt / n_done * 1e6:.0f}",
        ]
    ]


def print_million() -> None:
    """Print the seconds that `plan` and `fit` take for 1,000 candidates of a grid of a million."""
    X = np.zeros((100, 5))
    search = searches(10**6, 2, 3, 27, 1)["sha"].set_params(n_candidates=1000, random_state=0)
    for method in (search.plan, search.fit):
        start = process_time()
        method(X)
        print(process_time() - start)


def many(n: int) -> list[str]:
    """Seconds and memory of so many candidates."""
    seconds, n_evaluations, before, after = map(float, alone(f"fit_many({n})").split())
    return [
        f"{n:,}",
        f"{seconds:.2f}",
        f"{seconds / n_evaluations * 1e6:.0f}",
        f"{(after - before) / 1024:.0f}",
        f"{(after - before) * 1024 / n:.0f}",
    ]


def fit_many(n: int) -> None:
    """Print seconds, evaluations, and KiB before and after."""
    search = searches(n, 2, 3, 3**10, 1)["sha"]
    searches(100, 2, 3, 27, 1)["sha"].fit(np.zeros((100, 5)))
    before = process_memory("VmHWM")
    start = process_time()
    search.fit(np.zeros((100, 5)))
    seconds = process_time() - start
    print(seconds, 2 * len(search.all_cv_results_["params"]), before, process_memory("VmHWM"))


def import_seconds() -> float:
    """Beyond those of sklearn.model_selection, with compiled files at hand."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        command = [sys.executable, "-c", IMPORT]
        times = [
            float(subprocess.check_output(command, env=environment, text=True)) for _ in range(12)
        ]
    return median(times[1:])


def cost_lines() -> list[str]:
    """Table of the largest costs."""
    return [
        "The ten largest costs of the 500 candidates, per evaluation, as cProfile measures them, "
        "which itself takes most of the time of short calls:",
        "",
        *table(["function", "calls", "own microseconds"], largest_costs()),
    ]


def main() -> None:
    """Measure, and write."""
    lines = [
        "# What the search itself costs",
        "",
        "Written by `python docs/benchmarks/overhead.py`; medians of three alternating runs, "
        "workers started before. Microseconds per evaluation of a candidate on a fold, of CPU time "
        "with one process and of wall time with two workers. The first two and the last two "
        "searches have 6 rungs:",
        "",
        *table(
            [
                "",
                "sklearn_sha",
                "GridSearchCV",
                "scikit-learn halving",
                "sklearn_sha / GridSearchCV",
            ],
            [],
        ),
        *[alone(f"per_evaluation(100, 5, *overhead.RUNGS, {n_jobs})") for n_jobs in (1, 2)],
        *[alone(f"per_evaluation(100, 5, 2000, 2, 3, 729, {n_jobs})") for n_jobs in (1, 2)],
        *[alone(f"per_evaluation(200_000, 50, 40, 5, 2, 32, {n_jobs})") for n_jobs in (1, 2)],
        "",
        *table(
            [
                "candidates, 2 folds",
                "seconds",
                "microseconds per evaluation",
                "MiB",
                "bytes per candidate",
            ],
            [many(n) for n in (10_000, 30_000, 100_000)],
        ),
        "",
        "1,000 candidates of a grid of a million, seconds of CPU time: `plan` {}, and `fit` with "
        "all evaluations {}.".format(
            *(f"{float(seconds):.2f}" for seconds in alone("print_million()").split())
        ),
        "",
        *cost_lines(),
        "",
        f"Importing sklearn_sha after sklearn.model_selection: {import_seconds() * 1e3:.0f} ms.",
    ]
    write("overhead.md", lines)


if __name__ == "__main__":
    print(*cost_lines(), sep="\n") if sys.argv[1:] == ["costs"] else main()
