"""All searches on all workloads, side by side in one run: tables and a figure.

    pip install ".[bench]" && python docs/benchmarks/suite.py

takes about 20 minutes per repetition on two cores, and needs Linux. A search with one worker has
one core for all its threads, and runs alongside another one, the loop by hand alongside the search.
The reference of searches with two workers is the loop by hand that runs alone. ``--report`` writes
tables and figure again from the last results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import product
from math import inf
from pathlib import Path
from queue import Queue
from statistics import geometric_mean, median
from typing import Any

from reports import RESULTS, picture, table, write

HERE = Path(__file__).parent
PACKAGES = ("sklearn_sha", "scikit-learn", "numpy", "scipy", "joblib", "optuna")

LIMIT = {"sha, 2 workers": "by hand, alone"}
"""Reference of a search, if it is not the loop by hand alongside another process."""
ALONE = ("by hand, alone", "sha, 2 workers")
IN_PAIRS = ("by hand", "sha", "scikit-learn halving", "Optuna", "GridSearchCV")
NOT_OF_FACTOR_2 = ("Optuna", "GridSearchCV")
WEIGHED = (
    "by hand", "sha", "scikit-learn halving", "sha, 2 workers", "scikit-learn halving, 2 workers",
)  # fmt: skip
ONCE = ("Hyperband", "doubling")
N_CORES = 2
SECONDS_BETWEEN_WEIGHINGS = 0.05
AS_GOOD = 0.005
"""As good as the grid search is a score that is less by no more than this."""


def main() -> None:
    """Measure, and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        measure(options.repeats)
    from workloads import WORKLOADS

    measured = json.loads((RESULTS / "suite.json").read_text())
    write("suite.md", report(measured, {name: w.title for name, w in WORKLOADS.items()}))
    draw(measured["runs"])


def measure(n_repeats: int) -> None:
    """Run all; each repetition has another seed, for the samples and for the held-out part."""
    measured: dict[str, Any] = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.system()}, {platform.machine()}, 2 cores",
        "versions": {name: version(name) for name in PACKAGES}
        | {"Python": platform.python_version()},
        "runs": [],
        "memory": [],
    }
    from workloads import WORKLOADS

    def keep(kind: str, done: dict[str, Any]) -> None:
        measured[kind].append(done)
        write("suite.json", [json.dumps(measured, indent=1)])
        print(*[done[key] for key in ("workload", "contender", "seed", "seconds")], flush=True)

    def in_pairs(kind: str, jobs: Iterable[tuple[str, str, int]], weighed: bool) -> None:
        def on_a_core(job: tuple[str, str, int]) -> dict[str, Any]:
            core = cores.get()
            try:
                return run(*job, core, weighed)
            finally:
                cores.put(core)

        with ThreadPoolExecutor(N_CORES) as pool:
            for done in pool.map(on_a_core, jobs):
                keep(kind, done)

    cores: Queue[int] = Queue()
    for core in sorted(os.sched_getaffinity(0))[:N_CORES]:
        cores.put(core)
    names = list(WORKLOADS)
    for seed in range(n_repeats):
        for name, contender in product(names, ALONE):
            keep("runs", run(name, contender, seed))
        contenders = [*IN_PAIRS, *(ONCE if seed == 0 else ())]
        jobs = [(name, contender, seed) for name, contender in product(names, contenders)]
        unwanted = [("factor 2", contender, seed) for contender in (*NOT_OF_FACTOR_2, *ONCE)]
        in_pairs("runs", [job for job in jobs if job not in unwanted], False)
        if seed == 0:
            in_pairs("memory", [(name, c, 0) for name, c in product(names, WEIGHED)], True)


def run(
    name: str, contender: str, seed: int, core: int | None = None, weighed: bool = False
) -> dict[str, Any]:
    """One contender on one workload, in a process of its own."""
    core = min(os.sched_getaffinity(0)) if core is None else core
    arguments = [name, contender, str(seed), str(core)]
    command = [sys.executable, "-W", "ignore", HERE / "contenders.py", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    heaviest = weigh(process) if weighed else None
    output, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{command} failed with {process.returncode}.")
    return json.loads(output) | {"peak_bytes": heaviest}


def weigh(process: subprocess.Popen[str]) -> int:
    """Peak memory of a process and its children together, shared memory counted once."""
    import psutil

    heaviest = 0
    top = psutil.Process(process.pid)
    while process.poll() is None:
        total = 0
        for one in [top, *top.children(recursive=True)]:
            try:
                total += one.memory_full_info().pss
            except psutil.Error:  # it has ended
                continue
        heaviest = max(heaviest, total)
        time.sleep(SECONDS_BETWEEN_WEIGHINGS)
    return heaviest


def report(measured: dict[str, Any], titles: dict[str, str]) -> list[str]:
    """Markdown of all that was measured."""
    runs = by_seed(measured["runs"])
    n_repeats = 1 + max(seed for _, seed in runs)
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())

    def ratios(name: str, contender: str, unit: str) -> list[float]:
        unit = LIMIT.get(contender, unit)
        return [
            some[contender]["seconds"] / some[unit]["seconds"]
            for (workload, _), some in sorted(runs.items())
            if workload == name and contender in some and unit in some
        ]

    def cell(name: str, contender: str, unit: str) -> str:
        found = ratios(name, contender, unit)
        return f"{median(found):.3f}" if found else ""

    def mean_of(contender: str, unit: str, names: list[str]) -> str:
        middles = [median(found) for name in names if (found := ratios(name, contender, unit))]
        return f"{geometric_mean(middles):.3f}" if middles else ""

    plain = [name for name in titles if name != "factor 2"]
    others = ["sha", "sha, 2 workers", "scikit-learn halving", "Optuna", "GridSearchCV"]
    lines = [
        "# Compared with other searches",
        "",
        f"{measured['date']}; {measured['machine']}; {versions}. Medians of {n_repeats} "
        "repetitions, each with other samples, in which all searches took turns; "
        "written by `python docs/benchmarks/suite.py`. sklearn_sha is its "
        "`SuccessiveHalvingSearchCV` with all folds in every rung, and doubling is the same with "
        '`budget="double"`.',
        "",
        "## Seconds, as multiples of the loop written by hand on one core",
        "",
        "Searches with one worker run alongside another process, and are compared with the loop by "
        "hand that does so too. Searches with two workers are compared with the loop alone.",
        "",
        *table(
            ["", "by hand, alone", "by hand, alongside another", *map(shown, others)],
            [
                [
                    titles[name],
                    f"{median(seconds_of(runs, name, 'by hand, alone')):.1f} s",
                    cell(name, "by hand", "by hand, alone"),
                    *[cell(name, contender, "by hand") for contender in others],
                ]
                for name in titles
            ]
            + [
                [
                    "geometric mean",
                    "",
                    mean_of("by hand", "by hand, alone", list(titles)),
                    *[mean_of(c, "by hand", list(titles)) for c in others],
                ]
            ],
        ),
        "",
        "Two loops slow each other down, as the second column shows. Half of it is the lower limit "
        "for two workers.",
        "",
        "## One core: against scikit-learn",
        "",
        *table(
            [
                "",
                "seconds / halving's",
                "seconds / GridSearchCV's",
                "held out",
                "GridSearchCV's",
                "worst difference",
            ],
            [
                [
                    titles[name],
                    cell(name, "sha", "scikit-learn halving"),
                    cell(name, "sha", "GridSearchCV"),
                    *held_out(runs, name),
                ]
                for name in titles
            ]
            + [["geometric mean", "", mean_of("sha", "GridSearchCV", plain), "", "", ""]],
        ),
        "",
        "Held out: the score of the refitted model on samples that no search saw (accuracy, or R2 "
        "of the regressions). The worst difference is that of a single seed. On all seeds they are",
        "",
        *table(
            ["", *[f"seed {seed}" for seed in range(n_repeats)]],
            [[titles[name], *differences(runs, name)] for name in plain],
        ),
        "",
        "## Memory at its peak, MiB, all processes together",
        "",
        *table(
            ["", *map(shown, WEIGHED)],
            [
                [
                    titles[name],
                    *[
                        f"{run['peak_bytes'] / 2**20:.0f}"
                        for contender in WEIGHED
                        for run in measured["memory"]
                        if (run["workload"], run["contender"]) == (name, contender)
                    ],
                ]
                for name in titles
            ],
        ),
        "",
        f"## Time to within {AS_GOOD} of the grid search's cross-validated score",
        "",
        "Seconds to the end, and to the first rung whose best score is within it, as a fraction of "
        "GridSearchCV's seconds (first repetition, one core).",
        "",
        *table(
            [
                "",
                *[
                    f"{shown(name)}, {what}"
                    for name in ("sha", *ONCE)
                    for what in ("end", "reached")
                ],
            ],
            [[titles[name], *arrivals(runs[name, 0])] for name in plain],
        ),
        "",
        "## The start of two workers",
        "",
        "Before its measured search every process ran a small one. With two workers that took "
        f"{median(first(measured['runs'], 'sha, 2 workers')):.1f} s, and on one core "
        f"{median(first(measured['runs'], 'sha')):.1f} s.",
    ]
    return lines


def shown(contender: str) -> str:
    """Name of a contender in tables and in the figure."""
    return contender.replace("sha", "sklearn_sha") if contender.startswith("sha") else contender


def by_seed(runs: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, dict[str, Any]]]:
    """For each workload and repetition what each contender did."""
    found: dict[tuple[str, int], dict[str, dict[str, Any]]] = defaultdict(dict)
    for one in runs:
        found[one["workload"], one["seed"]][one["contender"]] = one
    return found


def seconds_of(runs: dict[Any, Any], name: str, contender: str) -> list[float]:
    """The seconds of a contender."""
    return [some[contender]["seconds"] for (workload, _), some in runs.items() if workload == name]


def first(runs: list[dict[str, Any]], contender: str) -> list[float]:
    """Seconds of the first search of each process."""
    return [one["first_seconds"] for one in runs if one["contender"] == contender]


def pairs_of(runs: dict[Any, Any], name: str) -> list[tuple[float, float]]:
    """Held-out scores of the search and of the grid search, for each seed."""
    return [
        (some["sha"]["held_out"], some["GridSearchCV"]["held_out"])
        for (workload, _), some in sorted(runs.items())
        if workload == name and "GridSearchCV" in some
    ]


def differences(runs: dict[Any, Any], name: str) -> list[str]:
    """Held-out score minus that of the grid search, for each seed."""
    return [f"{ours - grid:+.4f}" for ours, grid in pairs_of(runs, name)]


def held_out(runs: dict[Any, Any], name: str) -> list[str]:
    """Median scores, and the smallest of the differences."""
    pairs = pairs_of(runs, name)
    if not pairs:
        return ["", "", ""]
    ours, grid = zip(*pairs, strict=True)
    worst = min(a - b for a, b in pairs)
    return [f"{median(ours):.4f}", f"{median(grid):.4f}", f"{worst:+.4f}"]


def arrivals(some: dict[str, dict[str, Any]]) -> list[str]:
    """Of one repetition: when each search ended, and when it was as good as the grid search."""
    grid, cells = some["GridSearchCV"], []
    for contender in ("sha", *ONCE):
        one = some[contender]
        there = min(
            (at for at, score in one["reached"] if score >= grid["score"] - AS_GOOD), default=inf
        )
        cells.append(f"{one['seconds'] / grid['seconds']:.2f}")
        cells.append("never" if there == inf else f"{there / grid['seconds']:.2f}")
    return cells


def draw(runs: list[dict[str, Any]]) -> None:
    """Seconds by workload and contender, on a log scale."""
    from workloads import WORKLOADS

    found = by_seed(runs)
    names = [name for name in WORKLOADS if name != "factor 2"]
    bars = ("sha, 2 workers", *IN_PAIRS)
    height = 0.8 / len(bars)
    with picture("benchmarks.svg", 9.6, 4.2) as ax:
        for place, contender in enumerate(bars):
            middles = [
                median(
                    some[contender]["seconds"] / some[LIMIT.get(contender, "by hand")]["seconds"]
                    for (workload, _), some in found.items()
                    if workload == name
                )
                for name in names
            ]
            at = [number + (place - len(bars) / 2 + 0.5) * height for number in range(len(names))]
            ax.barh(at, middles, height, label=shown(contender))
        ax.set_yticks(range(len(names)), [WORKLOADS[name].title for name in names])
        ax.invert_yaxis()
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.axvline(1, color="grey", linewidth=0.8)
        ax.set_xlabel("seconds, as a multiple of the loop written by hand on one core")
        # On the right of the bars, which have any length.
        ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


if __name__ == "__main__":
    main()
