"""What it saves that later brackets of searches with a time limit add folds only.

    pip install ".[bench]" && python docs/benchmarks/anytime_rungs.py

runs ``budget="anytime"`` for 60 seconds on the workloads of time_to_quality.py whose models are
refit from scratch, with seeds that are not used there, also with more samples and with random
candidates: with later brackets that add folds only, and with the same rungs in all brackets. Each
search runs on one core, as many at a time as there are cores; with two it takes 50 minutes. Writes
results/anytime_rungs.md.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from itertools import product

import numpy as np
from anytime_runs import LIMIT, SEEDS, Run, measured
from numpy.typing import NDArray
from quality_workloads import WORKLOADS
from reports import mean_and_error, table, write
from scipy.stats import gmean

NAMES = ("text", "boosting", "lightgbm", "svc")
LARGER = (
    ("text", 18_000),
    ("svc", 8_000),
    ("boosting", 20_000),
    ("boosting", 100_000),
    ("lightgbm", 20_000),
    ("lightgbm", 100_000),
)
SEEDS_OF_LARGER = range(11, 13)
SEEDS_OF_RANDOM = range(5, 8)
SECONDS = (15, 60)
DISTANCES = (0.01, 0.005, 0.0025, 0.001)

Pair = tuple[Run, Run]
"""Two searches on the same samples: with and without later brackets that add folds only."""


def main() -> None:
    """Measure, and write the page."""
    usual = [(name, WORKLOADS[name].n_samples, seed) for name, seed in product(NAMES, SEEDS)]
    larger = [(*case, seed) for case, seed in product(LARGER, SEEDS_OF_LARGER)]
    of_random = [case for case in usual if case[-1] in SEEDS_OF_RANDOM]
    settings = [
        *((case, "model") for case in usual + larger),
        *((case, "random") for case in of_random),
    ]
    wanted = [
        Run(*case, on_folds, sampler) for case, sampler in settings for on_folds in (True, False)
    ]
    runs = measured(wanted)
    write("anytime_rungs.md", page(list(zip(runs[::2], runs[1::2], strict=True))))


def scores(run: Run, seconds: float) -> list[float]:
    """What is selected after a time: the cross-validated and the held-out score; NaN if nothing."""
    done = [found for time, *found in run.path if time <= seconds]
    return done[-1] if done else [np.nan, np.nan]


def differences(pairs: list[Pair], seconds: float) -> NDArray[np.float64]:
    """Scores with folds minus those without, of shape (n_pairs, 2)."""
    return np.array([np.subtract(*(scores(run, seconds) for run in pair)) for pair in pairs])


def seconds_to(distance: float, pairs: list[Pair]) -> NDArray[np.float64]:
    """Seconds until the held-out score is that near to the best of both, of shape (n_pairs, 2)."""
    rows = []
    for pair in pairs:
        goal = max(held_out for run in pair for *_, held_out in run.path) - distance
        reached = ([time for time, _, held_out in run.path if held_out >= goal] for run in pair)
        rows.append([min(times, default=2 * LIMIT) for times in reached])
    return np.array(rows)


def page(pairs: list[Pair]) -> list[str]:
    """The lines of the page."""
    of_model = [pair for pair in pairs if pair[0].sampler == "model"]
    of_random = [pair for pair in pairs if pair[0].sampler == "random"]
    usual = [pair for pair in of_model if pair[0].seed in SEEDS]
    larger = [pair for pair in of_model if pair[0].seed in SEEDS_OF_LARGER]
    cases = dict.fromkeys((run.workload, run.n_samples) for run, _ in of_model)
    of_case = {
        case: [pair for pair in of_model if (pair[0].workload, pair[0].n_samples) == case]
        for case in cases
    }
    rows = [
        [f"{WORKLOADS[name].title}, {n_samples:,} samples", *cells(of_case[name, n_samples])]
        for name, n_samples in cases
    ]
    rows += [
        ["**all of the benchmark's size**", *cells(usual)],
        ["**all with more samples**", *cells(larger)],
        ["**random candidates**", *cells(of_random)],
    ]
    means = {distance: gmean(seconds_to(distance, usual)) for distance in DISTANCES}
    times = [[str(distance), *(f"{mean:.1f}" for mean in means[distance])] for distance in means]
    return [
        "# Folds or samples with a time limit",
        "",
        f'Searches with `budget="anytime"`, `sampler="model"` and `max_time={LIMIT:.0f}` on those '
        "workloads of [time to quality](time_to_quality.md) whose models are refit from scratch, "
        "with seeds that are not used there, on one core each. From the third bracket on, models "
        "are fit on all training samples, and rungs add folds only. They are compared with "
        "searches whose later brackets have the rungs of the first two, which add samples and "
        "folds. This was chosen after the searches of the benchmark's size, and before those with "
        "more samples. Random candidates, which gain nothing by it, have the same rungs in all "
        "brackets. Written by `python docs/benchmarks/anytime_rungs.py`.",
        "",
        "## Scores",
        "",
        "Scores of the selected candidates with folds only minus those with samples and folds, "
        "after 15 and 60 seconds (means and standard errors; positive: folds only is better), and "
        "in how many searches the cross-validated score after 60 seconds is better or worse. "
        "Searches without a completed bracket at that time are left out. Scores are accuracies, "
        "R2 (boosting) and ROC AUC (LightGBM).",
        "",
        *table(
            [
                "workload",
                "searches",
                *(f"{name}, {t} s" for t in SECONDS for name in ("cross-validated", "held-out")),
                "better / worse",
            ],
            rows,
        ),
        "",
        "## Seconds",
        "",
        "Seconds until the held-out score is within a distance of the best of both searches, "
        f"geometric means of the {len(usual)} pairs of the benchmark's size. A search that never "
        f"is counts {2 * LIMIT:.0f} seconds.",
        "",
        *table(["distance", "folds only", "samples and folds"], times),
    ]


def cells(pairs: list[Pair]) -> list[str]:
    """A row of the table of scores."""
    row = [str(len(pairs))]
    for seconds in SECONDS:
        found = differences(pairs, seconds)
        found = found[~np.isnan(found).any(axis=1)]
        row += [mean_and_error(column, digits=4) for column in found.T]
    final = differences(pairs, LIMIT)[:, 0]
    return [*row, f"{(final > 0).sum()} / {(final < 0).sum()}"]


if __name__ == "__main__":
    main()
