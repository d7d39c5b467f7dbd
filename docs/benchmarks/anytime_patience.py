"""What `patience` saves and loses in searches with a time limit.

    pip install ".[bench]" && python docs/benchmarks/anytime_patience.py

runs ``budget="anytime"`` for 60 seconds on each workload of time_to_quality.py, with seeds that are
not used there. The scores of the brackets show when `patience` would have ended a search, and what
the rest of the time has improved. Each search runs on one core, as many at a time as there are
cores; with two it takes 20 minutes. Writes results/anytime_patience.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import warnings
from itertools import product
from time import perf_counter

import numpy as np
from joblib import Parallel, delayed
from quality_contenders import Task, anytime, ours
from quality_workloads import WORKLOADS
from reports import mean_and_error, table, write
from sklearn.metrics import check_scoring

from sklearn_sha.bandit import Anytime
from sklearn_sha.bandit.requests import numbered
from sklearn_sha.schedules import Schedule

SEEDS, LIMIT = range(5, 11), 60.0
PATIENCE = (1, 2, 3)

Path = list[tuple[float, float, float]]
"""After each bracket: seconds since the start, the best cross-validated score so far, and the
held-out score of its model."""

Ending = tuple[float, float, float]
"""Of a search that is ended early: the share of the time that it ran, and what the rest of the time
adds to the cross-validated score and to the held-out score."""


def main() -> None:
    """Measure, and write the page."""
    runs = Parallel(-1)(delayed(run)(name, seed) for name, seed in product(WORKLOADS, SEEDS))
    write("anytime_patience.md", page(runs))


def run(name: str, seed: int) -> tuple[Schedule, Path]:
    """Search until the limit, and return the plan and what was selected after each bracket."""
    warnings.simplefilter("ignore")
    work = WORKLOADS[name]
    X, y, X_test, y_test = work.splits(seed)
    task = Task(work, X, y, seed, LIMIT, n_jobs=1)
    plan = ours(task, budget="anytime", sampler="model").plan(X, y)
    scorer, start = check_scoring(work.new(), work.scoring), perf_counter()
    path: Path = []
    best, held_out = -np.inf, np.nan
    for seconds, score, params in anytime(task):
        if score > best:
            model = task.model(params).fit(X, y)
            best, held_out = score, float(scorer(model, X_test, y_test))
        path.append((seconds - start, best, held_out))
    return plan, path


def ending(patience: int, plan: Schedule, path: Path) -> Ending | None:
    """Where `patience` ends a search, or None if it does not."""
    rounds = Anytime(patience=patience).rounds(plan, numbered())
    next(rounds)
    last_seconds, last_score, last_held_out = path[-1]
    for seconds, score, held_out in path[:-1]:
        try:
            rounds.send(-score)
        except StopIteration:
            return seconds / last_seconds, last_score - score, last_held_out - held_out
    return None


def page(runs: list[tuple[Schedule, Path]]) -> list[str]:
    """The lines of the page."""
    rows = []
    for patience in PATIENCE:
        endings = [ending(patience, plan, path) for plan, path in runs]
        ended = np.array([one for one in endings if one is not None])
        shares, scores, held_out = ended.T
        rows.append(
            [
                str(patience),
                f"{len(ended)} of {len(runs)}",
                f"{shares.mean():.2f}",
                str((scores > 0).sum()),
                f"{scores.mean():+.4f}",
                mean_and_error(held_out, digits=4),
                f"{held_out.min():+.4f} to {held_out.max():+.4f}",
            ]
        )
    return [
        "# Patience with a time limit",
        "",
        f'Searches with `budget="anytime"`, `sampler="model"` and `max_time={LIMIT:.0f}` on the '
        f"{len(WORKLOADS)} workloads of [time to quality](time_to_quality.md), with "
        f"{len(SEEDS)} seeds that are not used there, on one core each. The first columns show how "
        "many of them `patience` would have ended early, and the mean share of their time after "
        "which it would have. The other columns are about these searches only: how many found a "
        "better candidate later, and the scores at their end minus those when `patience` would "
        "have ended them (means; for the held-out score also the standard error and the range). "
        "They mix accuracies, R2 and ROC AUC. Written by "
        "`python docs/benchmarks/anytime_patience.py`.",
        "",
        *table(
            [
                "`patience`",
                "ended early",
                "share of the time",
                "improved later",
                "cross-validated score",
                "held-out score",
                "its range",
            ],
            rows,
        ),
    ]


if __name__ == "__main__":
    main()
