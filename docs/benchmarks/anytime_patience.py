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

from itertools import product

import numpy as np
from anytime_runs import LIMIT, SEEDS, Run, measured
from quality_contenders import ours
from quality_workloads import WORKLOADS
from reports import mean_and_error, table, write

from sklearn_sha.bandit import Anytime
from sklearn_sha.bandit.requests import numbered
from sklearn_sha.schedules import Schedule

PATIENCE = (1, 2, 3)

Ending = tuple[float, float, float]
"""Of a search that is ended early: the share of the time that it ran, and what the rest of the time
adds to the cross-validated score and to the held-out score."""


def main() -> None:
    """Measure, and write the page."""
    cases = product(WORKLOADS.items(), SEEDS)
    runs = [Run(name, work.n_samples, seed) for (name, work), seed in cases]
    write("anytime_patience.md", page(measured(runs)))


def plan_of(run: Run) -> Schedule:
    """The plan of a search."""
    task, *_ = run.task()
    return ours(task, budget="anytime", sampler="model").plan(task.X, task.y)


def ending(patience: int, run: Run, plan: Schedule) -> Ending | None:
    """Where `patience` ends a search, or None if it does not."""
    rounds = Anytime(patience=patience).rounds(plan, numbered())
    next(rounds)
    last_seconds, last_score, last_held_out = run.path[-1]
    for seconds, score, held_out in run.path[:-1]:
        try:
            rounds.send(-score)
        except StopIteration:
            return seconds / last_seconds, last_score - score, last_held_out - held_out
    return None


def page(runs: list[Run]) -> list[str]:
    """The lines of the page."""
    rows, planned = [], [(run, plan_of(run)) for run in runs]
    for patience in PATIENCE:
        ended = [found for pair in planned if (found := ending(patience, *pair)) is not None]
        if not ended:
            rows.append([str(patience), f"0 of {len(runs)}", *[""] * 5])
            continue
        shares, scores, held_out = np.transpose(ended)
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
