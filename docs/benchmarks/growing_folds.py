"""Growing folds compared with all folds in every rung, on the workloads of the suite.

    pip install ".[bench]" && python docs/benchmarks/growing_folds.py

Both searches of a split run one after the other on one core, with the same rungs. What was measured
is kept, so that the command can be interrupted and continued; 20 splits take about two hours.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from itertools import product
from statistics import geometric_mean, mean, median, stdev
from typing import Any

from reports import RESULTS, table, write
from suite import run
from workloads import WORKLOADS

ALL_FOLDS, GROWING = "sha", "sha, growing folds"
FILE = RESULTS / "growing_folds.json"


def main() -> None:
    """Measure what is missing, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--workloads", nargs="*", default=list(WORKLOADS))
    options = parser.parse_args()
    runs: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.exists() else []
    known = {(one["workload"], one["contender"], one["seed"]) for one in runs}
    for seed, name in product(range(options.splits), options.workloads):
        # In turns, so that neither always runs first.
        for contender in sorted((ALL_FOLDS, GROWING), reverse=bool(seed % 2)):
            if (name, contender, seed) not in known:
                done = run(name, contender, seed)
                runs.append(
                    {key: done[key] for key in ("workload", "contender", "seed", "seconds")}
                )
                runs[-1] |= {key: round(done[key], 6) for key in ("held_out", "score")}
                FILE.write_text(json.dumps(runs, indent=0) + "\n")
                print(runs[-1], flush=True)
    write("growing_folds.md", report(runs))


def report(runs: list[dict[str, Any]]) -> list[str]:
    """Lines of the page."""
    found: dict[str, dict[int, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for one in runs:
        found[one["workload"]][one["seed"]][one["contender"]] = one
    rows, ratios = [], []
    for name, splits in found.items():
        pairs = [pair for pair in splits.values() if len(pair) == 2]
        ratio = median(pair[GROWING]["seconds"] / pair[ALL_FOLDS]["seconds"] for pair in pairs)
        differences = [pair[GROWING]["held_out"] - pair[ALL_FOLDS]["held_out"] for pair in pairs]
        ratios.append(ratio)
        error = stdev(differences) / len(pairs) ** 0.5 if len(pairs) > 1 else float("nan")
        rows.append(
            [
                WORKLOADS[name].title,
                str(len(pairs)),
                f"{ratio:.2f}",
                f"{mean(pair[ALL_FOLDS]['held_out'] for pair in pairs):.4f}",
                f"{mean(differences):+.4f}",
                f"{error:.4f}",
                str(sum(difference < 0 for difference in differences)),
            ]
        )
    head = [
        "",
        "splits",
        "time",
        "held out, all folds",
        "difference",
        "standard error",
        "splits with a lower score",
    ]
    return [
        "# Growing folds",
        "",
        'The same rungs with `min_folds="auto"` and with `min_folds="all"`, on one core. Time is a',
        "multiple of that of all folds, the median over the splits. Held out is the score of the",
        "refitted model on samples that no search saw. Its difference is paired by split, with the",
        "standard error of the mean. Written by `python docs/benchmarks/growing_folds.py`.",
        "",
        *table(head, rows),
        "",
        f"Geometric mean of the times: {geometric_mean(ratios):.2f}.",
    ]


if __name__ == "__main__":
    main()
