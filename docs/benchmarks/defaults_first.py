"""What a search gains if the estimator's own parameters are its first candidate.

    pip install ".[bench]" && python docs/benchmarks/defaults_first.py

Our anytime search and Optuna's TPE with a pruner search the workloads of time_to_quality.py, with
and without the estimator's own parameters as the first candidate, on one core. Runs of the same
workload and seed follow each other, so that all of them have the same machine. What was measured is
kept, so that the command can be interrupted and continued; it takes about 45 minutes on two cores.
Nothing else may run. `--report` writes the page again.

Ours has `initial_candidates=[{}]`. Optuna's first trial has the same values, but for those that are
not in the space: instead of a name it has the number that this stands for, and instead of a value
beyond a range the nearest one. For both, the network has 64 hidden units, the highest number of the
space, instead of its default of 100. What counts is explained in time_to_quality.py. The goals are
those of these four searches.
"""

from __future__ import annotations

import argparse
from itertools import product
from statistics import mean
from typing import Any

import numpy as np
from quality_contenders import DEFAULTS_FIRST
from quality_report import (
    ANYTIME,
    NEVER,
    Best,
    Key,
    Trace,
    best_found,
    complete,
    held_out_at,
    key_of,
    overall,
    ratio_of,
    reached,
    shown,
    traces_of,
)
from quality_workloads import WORKLOADS
from reports import RESULTS, mean_and_error, table, write
from time_to_quality import measure, measured_in

N_SEEDS, LIMIT = 5, 30.0
CONTENDERS = [ANYTIME, "Optuna, TPE and Hyperband", *DEFAULTS_FIRST]
OURS = f"{ANYTIME}, defaults first"
OUT = RESULTS / "defaults_first.md"
GOALS = (0.01, 0.005, 0.0025)


def main() -> None:
    """Measure what is missing, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--report", action="store_true", help="do not measure")
    options = parser.parse_args()
    file = OUT.with_suffix(".json")
    if not options.report:
        wanted = product(range(N_SEEDS), WORKLOADS, CONTENDERS)
        measure(file, [(name, contender, 1, seed) for seed, name, contender in wanted], 1, LIMIT)
    write(str(OUT), report(measured_in(file)))


def report(measured: dict[str, Any]) -> list[str]:
    """Lines of the page. At least one seed has to be complete."""
    runs = complete(measured["runs"], LIMIT)
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    traces, best = traces_of(runs, LIMIT), best_found(runs, LIMIT)
    dates = sorted({one["date"] for one in runs})
    titles = [work.title for work in WORKLOADS.values()]
    n_splits = len({one["seed"] for one in runs})
    lines = [
        "# The estimator's own parameters first",
        "",
        f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; {measured['machine']}; {versions}.",
        "",
        f"Searches of {LIMIT:g} seconds on one core, {n_splits} splits of each workload. Written "
        "by `python docs/benchmarks/defaults_first.py`, which explains what is measured; what is "
        "counted is explained in time_to_quality.py. Optuna's first trial has values of the space: "
        "if the estimator's own one is not in it, the nearest one. For both, the network has 64 "
        "hidden units, and not 100.",
    ]
    for goal in GOALS:
        found = reached(traces, best, 1, goal)
        lines += [
            "",
            f"## Seconds until within {goal:g} of the best",
            "",
            "Geometric means. A run that never gets there counts as "
            f"{NEVER * LIMIT:g} seconds; their number is in parentheses.",
            "",
            *table(
                ["", *titles, "all", f"divided by {shown(OURS)}"],
                [
                    [
                        shown(one),
                        *[_cell(found[one][name]) for name in WORKLOADS],
                        f"{overall(found[one], LIMIT):.1f}",
                        "" if one == OURS else ratio_of(found[one], found[OURS], LIMIT),
                    ]
                    for one in CONTENDERS
                ],
            ),
        ]
    lines += [
        "",
        "## Held-out score of the latest model, minus the best",
        "",
        "Means over the runs that have a model.",
    ]
    for seconds in (2.0, 5.0, LIMIT):
        lines += [
            "",
            f"After {seconds:g} seconds:",
            "",
            *table(
                ["", *titles],
                [
                    [
                        shown(one),
                        *[_missing(traces, best, one, name, seconds) for name in WORKLOADS],
                    ]
                    for one in CONTENDERS
                ],
            ),
        ]
    lines += [
        "",
        f"After {LIMIT:g} seconds, the score with the estimator's own parameters first, minus the "
        "one without, over all runs:",
        "",
        *table(
            ["", "mean ± standard error", "better / worse"],
            [[shown(one), *_gain(traces, one)] for one in CONTENDERS[:2]],
        ),
    ]
    failed = [one for one in runs if "error" in one]
    if failed:
        lines += ["", "## Failures", "", "They count as never.", ""]
        lines += [f"- {', '.join(map(str, key_of(one)))}: {one['error']}" for one in failed]
    return lines


def _cell(seconds: list[float]) -> str:
    n_never = seconds.count(float("inf"))
    text = f"{overall({'': seconds}, LIMIT):.1f}"
    return f"{text} ({n_never})" if n_never else text


def _missing(traces: dict[Key, Trace], best: Best, contender: str, name: str, at: float) -> str:
    ends = [
        held_out_at(at, trace) - best[name, seed]
        for (work, who, _, seed), trace in traces.items()
        if (work, who) == (name, contender)
    ]
    known = [end for end in ends if end > -float("inf")]
    return f"{mean(known):+.4f}" if known else ""


def _gain(traces: dict[Key, Trace], contender: str) -> tuple[str, str]:
    """Mean difference of the last held-out scores of a contender, and their signs."""
    gains = [
        held_out_at(LIMIT, traces[name, f"{contender}, defaults first", 1, seed])
        - held_out_at(LIMIT, trace)
        for (name, who, _, seed), trace in traces.items()
        if who == contender
    ]
    signs = f"{sum(gain > 0 for gain in gains)} / {sum(gain < 0 for gain in gains)}"
    return mean_and_error(np.array(gains), digits=4), signs


if __name__ == "__main__":
    main()
