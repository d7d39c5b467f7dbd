"""Samplers compared on live searches: the model with n candidates, and twice as many random ones.

    pip install ".[bench]" && python docs/benchmarks/live_samplers.py

writes results/live_samplers.md. The workloads are those of quality_workloads.py. Each seed has its
own split into samples that are searched on and samples that are held out. Nothing depends on the
time that a search takes, so that all searches run side by side. Each is stored when it is
completed: after an interruption, only the others are made. After a change of the library, delete
what is stored, which is in the folder "joblib" of `real_data.FOLDER`.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from math import inf

import numpy as np
import real_data
from joblib import Memory, Parallel, delayed
from numpy.typing import NDArray
from quality_contenders import Task, fitted, ours
from quality_workloads import WORKLOADS
from reports import mean_and_error, table, write
from sklearn.metrics import check_scoring


def task_of(name: str, seed: int) -> Task:
    """A workload with a seed, without a limit."""
    work = WORKLOADS[name]
    X, y, *_ = work.splits(seed)
    return Task(work, X, y, seed, limit=inf, n_jobs=1)


def cost_of(name: str, sampler: str, n_candidates: int) -> float:
    """Planned cost of a search, as a number of candidates that are trained to full resource."""
    task = task_of(name, seed=0)
    plan = ours(task, sampler=sampler, n_candidates=n_candidates).plan(task.X, task.y)
    return plan.total_cost / plan.full_cost


def scores_of(name: str, sampler: str, n_candidates: int, seed: int) -> tuple[float, float]:
    """Cross-validated and held-out score of the candidate that a search selects."""
    warnings.simplefilter("ignore")
    task, work = task_of(name, seed), WORKLOADS[name]
    _, model, score = fitted(ours(task, sampler=sampler, n_candidates=n_candidates), task)
    *_, X_test, y_test = work.splits(seed)
    return score, float(check_scoring(model, work.scoring)(model, X_test, y_test))


def main() -> None:
    """Run all searches, and write a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    n = options.candidates
    searches = [("model", n), ("random", 2 * n)]
    stored = Memory(real_data.FOLDER / "joblib", verbose=0).cache(scores_of)
    keys = list(product(range(options.seeds), WORKLOADS, searches))
    found = Parallel(options.jobs, batch_size=1, verbose=1)(
        delayed(stored)(name, *search, seed) for seed, name, search in keys
    )
    shape = options.seeds, len(WORKLOADS), len(searches), 2
    costs = [[cost_of(name, *search) for search in searches] for name in WORKLOADS]
    write("live_samplers.md", report(np.reshape(found, shape), costs, n))


def report(scores: NDArray[np.float64], costs: list[list[float]], n: int) -> list[str]:
    """Lines of the page, from scores of seeds, workloads, searches and cross-validated or not."""
    rows = []
    for number, work in enumerate(WORKLOADS.values()):
        differences = 1000 * (scores[:, number, 0] - scores[:, number, 1])
        rows.append(
            [
                work.title,
                *(f"{value:.4f}" for value in scores[:, number, :, 0].mean(axis=0)),
                *map(mean_and_error, differences.T),
                *(f"{cost:.1f}" for cost in costs[number]),
            ]
        )
    head = [
        "workload",
        f"model, {n} candidates",
        f"random, {2 * n} candidates",
        "difference x 1000",
        "held-out difference x 1000",
        "cost, model",
        "cost, random",
    ]
    return [
        "# Model-based candidates, and twice as many random ones, in live searches",
        "",
        "Mean cross-validated score of the candidate that Successive Halving selects with the",
        f"default algorithm, over {len(scores)} seeds, each with its own split. Differences are",
        "those of the model minus random, with the standard error over the seeds; held-out scores",
        "are those of the refitted model. R2 for histogram boosting, the area under the ROC curve",
        "for LightGBM, accuracy for the others. Costs are planned, as a number of candidates that",
        "are trained to full resource on all folds. Written by",
        "`python docs/benchmarks/live_samplers.py`.",
        "",
        *table(head, rows),
    ]


if __name__ == "__main__":
    main()
