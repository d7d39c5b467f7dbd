"""A drop-in for GridSearchCV: only the class name changes, on the data that people try first.

    python docs/benchmarks/drop_in.py
    python docs/benchmarks/drop_in.py --splits 20

measure times, and then scores; each takes hours, and both write results/drop_in.md and
results/drop_in.json after every search. Scores are not measured again: the second command continues
with the next split of each search. Every search of drop_in_cases.py runs as
GridSearchCV(estimator, grid) and as SuccessiveHalvingSearchCV(estimator, grid, random_state=0),
in alternation and on one thread, with everything else left at its default. CPU times are measured
on all samples. Scores are those of the refitted models on held-out samples of train/test splits.
With one rung there is nothing to compare: the search is a grid search. Cells that are measured
replace those of the files, the others are kept. It needs scikit-learn 1.8 or newer.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import platform
import resource
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from math import sqrt
from pathlib import Path
from statistics import geometric_mean, median
from time import process_time
from typing import Any

import numpy as np
from drop_in_cases import CASES, DATA, REGRESSION, Grid
from reports import RESULTS, table, write
from scipy.stats import t
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    ParameterGrid,
    ShuffleSplit,
    StratifiedShuffleSplit,
)

from sklearn_sha import SuccessiveHalvingSearchCV

PACKAGES = ("sklearn_sha", "scikit-learn", "numpy", "scipy", "joblib")
N_FOLDS = 5
TEST_SIZE = 0.25

NOISE = 0.01
"""Standard error of a ratio, relative to it, below which it is not measured again."""

MAX_RATIO, GOAL, GOAL_LARGE = 1.10, 0.8, 0.4
LARGE = "synthetic 20,000"
MAX_LOSS = 0.002
"""A lower mean score is a loss beyond this difference and its confidence interval, of 95%."""

Cell = dict[str, Any]


def main() -> None:
    """Measure, and write after every cell."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--estimators", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--repeats", type=int, default=3, help="at least so many times")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="CPU time of repeats until a ratio is known"
    )
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of one GridSearchCV")
    parser.add_argument("--splits", type=int, default=0, help="measure scores, on so many splits")
    parser.add_argument(
        "--limit-splits", type=float, default=30.0, help="the limit of what is split, in seconds"
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "drop_in.md")
    parser.add_argument(
        "--report", action="store_true", help="write the table anew, do not measure"
    )
    options = parser.parse_args()
    out = options.out.resolve()
    stored = out.with_suffix(".json")
    measured = json.loads(stored.read_text()) if stored.exists() else {"cells": []}
    if options.report:
        write(str(out), report(measured))
        return
    warnings.simplefilter("ignore")  # of estimators that have not converged, for example
    for data in options.data:
        for name in options.estimators:
            before = next((c for c in measured["cells"] if is_of(c, name, data)), None)
            new = (
                measure_scores(name, data, before, options)
                if options.splits
                else measure_times(name, data, before, options)
            )
            for done in new:
                others = [c for c in measured["cells"] if not is_of(c, name, data)]
                measured = {
                    "versions": versions(),
                    "commands": sorted({*measured.get("commands", []), shlex.join(sys.argv[1:])}),
                    "cells": [*others, done],
                }
                write(str(stored), [json.dumps(measured, indent=1)])
                write(str(out), report(measured))
                print(f"{data}, {name}: {ratio_text(done)} {quality_text(done)}", flush=True)


def versions() -> dict[str, str]:
    """Of the packages, and of Python."""
    return {name: version(name) for name in PACKAGES} | {"Python": platform.python_version()}


def measure_times(
    name: str, data: str, before: Cell | None, options: argparse.Namespace
) -> Iterator[Cell]:
    """The cell with its times. Nothing if the estimator has no counterpart for the data."""
    case, regression = CASES[name], data in REGRESSION
    arguments = case.search_arguments(regression)
    if arguments is None:
        return
    X, y = DATA[data]()
    X = case.prepared(X)
    cell: Cell = {
        "estimator": name,
        "data": data,
        "date": datetime.now(UTC).date().isoformat(),
        "n_candidates": len(ParameterGrid(arguments[1])),
        "estimated_seconds": estimated_seconds(*arguments, X, y),
    }
    if cell["estimated_seconds"] > options.limit:
        if before is not None and "ratio" in before:
            return  # what was measured is kept
    else:
        try:
            cell |= times(*arguments, X, y, options.repeats, options.seconds)
        except Exception as error:  # a search that fails is the worst result: it is reported
            cell["error"] = f"{type(error).__name__}: {error}".partition("\n")[0]
    if before is not None and "rungs" in cell and before.get("rungs") == cell["rungs"]:
        cell = before | cell  # the scores of the same rungs stay true
    yield cell


def measure_scores(
    name: str, data: str, before: Cell | None, options: argparse.Namespace
) -> Iterator[Cell]:
    """The cell after each split that it has no scores of. Nothing if it has one rung."""
    if before is None or len(before.get("rungs", [])) < 2:
        return
    if before["estimated_seconds"] > options.limit_splits:
        return
    regression = data in REGRESSION
    arguments = CASES[name].search_arguments(regression)
    assert arguments is not None
    X, y = DATA[data]()
    X = CASES[name].prepared(X)
    splitter = ShuffleSplit if regression else StratifiedShuffleSplit
    splits = splitter(options.splits, test_size=TEST_SIZE, random_state=0).split(X, y)
    cell = before
    for train, test in islice(splits, len(before.get("scores", [])), None):
        theirs, ours = (s.fit(X[train], y[train]) for s in searches(*arguments))
        is_same = selected(theirs) == selected(ours)
        cell = cell | {
            "grid_scores": [*cell.get("grid_scores", []), theirs.score(X[test], y[test])],
            "scores": [*cell.get("scores", []), ours.score(X[test], y[test])],
            "n_same": cell.get("n_same", 0) + is_same,
        }
        yield cell


def selected(search: Any) -> dict[str, Any]:
    """The searched parameters of the selected candidate, without the resource."""
    params: dict[str, Any] = search.cv_results_["params"][search.best_index_]
    return params


def is_of(cell: Cell, name: str, data: str) -> bool:
    """Whether a cell is that of an estimator and data."""
    return bool((cell["estimator"], cell["data"]) == (name, data))


def searches(estimator: Any, grid: Grid) -> tuple[Any, Any]:
    """What is compared."""
    return (
        GridSearchCV(clone(estimator), grid),
        SuccessiveHalvingSearchCV(clone(estimator), grid, random_state=0),
    )


def estimated_seconds(estimator: Any, grid: Grid, X: np.ndarray, y: np.ndarray) -> float:
    """Of GridSearchCV, by one fit on all samples and the scores of one fold."""
    model = clone(estimator)
    start = _cpu_clock()
    model.fit(X, y).score(X[::N_FOLDS], y[::N_FOLDS])
    return (_cpu_clock() - start) * len(ParameterGrid(grid)) * N_FOLDS


def fit_seconds(search: Any, X: np.ndarray, y: np.ndarray) -> float:
    """CPU time of a search, child processes included."""
    start = _cpu_clock()
    search.fit(X, y)
    return _cpu_clock() - start


def _cpu_clock() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def times(
    estimator: Any, grid: Grid, X: np.ndarray, y: np.ndarray, n_repeats: int, seconds: float
) -> Cell:
    """CPU times, measured in alternation until their ratio is known, and the rungs.

    The ratio is the median of those of neighbouring runs, which other processes slow down alike.
    """
    pairs: list[tuple[float, float]] = []
    ratios: list[float] = []
    while len(pairs) < n_repeats or (
        standard_error_of_median(ratios) > NOISE * median(ratios) and np.sum(pairs) < seconds
    ):
        grid_search, halving = searches(estimator, grid)
        if len(pairs) % 2:
            ours, theirs = (fit_seconds(search, X, y) for search in (halving, grid_search))
        else:
            theirs, ours = (fit_seconds(search, X, y) for search in (grid_search, halving))
        pairs.append((theirs, ours))
        ratios.append(ours / theirs)
    return {
        "grid_seconds": median(theirs for theirs, _ in pairs),
        "seconds": median(ours for _, ours in pairs),
        "ratio": median(ratios),
        "noise": standard_error_of_median(ratios) / median(ratios),
        "n_repeats": len(pairs),
        "resource": halving.resource_,
        "rungs": list(halving.n_resources_),
    }


def standard_error_of_median(values: list[float]) -> float:
    """Of a normal distribution, by the median absolute deviation; infinite of less than two."""
    if len(values) < 2:
        return np.inf
    deviation = 1.4826 * median(abs(value - median(values)) for value in values)
    return 1.2533 * deviation / sqrt(len(values))


def is_slower(cell: Cell) -> bool:
    """Whether the ratio is above what is promised."""
    return bool(cell.get("ratio", 0) > MAX_RATIO)


def difference(cell: Cell) -> tuple[float, float]:
    """Mean of our scores minus GridSearchCV's, and its standard error; infinite of one split."""
    differences = np.subtract(cell["scores"], cell["grid_scores"])
    n_splits = len(differences)
    error = differences.std(ddof=1) / sqrt(n_splits) if n_splits > 1 else np.inf
    return float(differences.mean()), float(error)


def is_worse(cell: Cell) -> bool:
    """Whether the mean score is lower, beyond noise."""
    if "scores" not in cell:
        return False
    mean, error = difference(cell)
    return bool(mean < -MAX_LOSS and mean < -error * t.ppf(0.975, len(cell["scores"]) - 1))


def report(measured: dict[str, Any]) -> list[str]:
    """Markdown of all that was measured."""
    cells: list[Cell] = measured["cells"]
    found = {(cell["estimator"], cell["data"]): cell for cell in cells}
    names = [name for name in CASES if any(cell["estimator"] == name for cell in cells)]
    data = [one for one in DATA if any(cell["data"] == one for cell in cells)]
    timed = [cell for cell in cells if "ratio" in cell]
    scored = [cell for cell in cells if "scores" in cell]
    numbers = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    dates = sorted({cell["date"] for cell in cells})

    def rows(text: Callable[[Cell], str]) -> list[list[str]]:
        return [[name, *[text(found.get((name, d), {})) for d in data]] for name in names]

    def mean_ratio(some: list[Cell]) -> str:
        return f"{geometric_mean(cell['ratio'] for cell in some):.2f}" if some else ""

    lines = [
        "# Default settings compared with GridSearchCV",
        "",
        f"{' to '.join(dict.fromkeys([dates[0], dates[-1]]))}; {platform.system()}, "
        f"{platform.machine()}, one thread; {numbers}. Written by "
        "`python docs/benchmarks/drop_in.py`, in the runs at the end of the page.",
        "",
        "`SuccessiveHalvingSearchCV(estimator, grid, random_state=0)` compared with "
        "`GridSearchCV(estimator, grid)`, with no other parameter. Losses are bold.",
        "",
        "## CPU time, as a multiple of GridSearchCV's",
        "",
        "Seconds in parentheses are an estimate of GridSearchCV's, which was too long to be "
        "measured. Empty: the estimator has no counterpart for regression.",
        "",
        *table(
            ["", *data],
            [
                *rows(ratio_text),
                [
                    "geometric mean",
                    *[mean_ratio([c for c in timed if c["data"] == d]) for d in data],
                ],
            ],
        ),
    ]
    if timed:
        worst = max(timed, key=lambda cell: cell["ratio"])
        noise = max([cell["noise"] for cell in timed if cell["n_repeats"] > 1], default=np.nan)
        lines += [
            "",
            f"Geometric mean of all {len(timed)}: {mean_ratio(timed)}. Highest: "
            f"{worst['ratio']:.2f}, {worst['estimator']} on {worst['data']}. The standard error of "
            f"a ratio that was measured more than once is at most {noise:.1%}.",
            "",
            "## Candidates, and the rungs of all samples",
            "",
            *table(["", *data], rows(rungs_text)),
        ]
    if scored:
        means = [difference(cell)[0] for cell in scored]
        lines += [
            "",
            "## Held-out score of the selected model, minus GridSearchCV's",
            "",
            f"Mean and standard error over train/test splits, {TEST_SIZE:.0%} held out "
            "(accuracy, or R2 on diabetes). In parentheses: splits on which the same candidate was "
            "selected, and the number of splits. A dash: not counted. Empty: not measured.",
            "",
            *table(["", *data], rows(quality_text)),
            "",
            f"Of {len(scored)} searches, {sum(m > 0 for m in means)} have a higher mean than "
            f"GridSearchCV, {sum(m < 0 for m in means)} a lower one. Mean of all: "
            f"{np.mean(means):+.4f}.",
        ]
    rule = (
        f"A search is a loss if it takes more than {MAX_RATIO:.2f} of GridSearchCV's CPU time, "
        f"or if its mean score is lower by more than {MAX_LOSS}, beyond its 95% confidence "
        "interval."
    )
    lines += ["", "## Losses", "", rule, "", *losses(cells), "", "## Arguments of the runs", ""]
    return [*lines, "```text", *measured["commands"], "```"]


def losses(cells: list[Cell]) -> list[str]:
    """One line for each search that fails, is slower or selects worse, and each missed goal."""
    lines = []
    for cell in cells:
        what = f"- {cell['estimator']} on {cell['data']}"
        if "error" in cell:
            lines.append(f"{what}: fails with {cell['error']}")
        if is_slower(cell):
            lines.append(f"{what}: {cell['ratio']:.2f} of GridSearchCV's CPU time.")
        if is_worse(cell):
            mean, error = difference(cell)
            lines.append(f"{what}: score {mean:+.4f}, standard error {error:.4f}.")
    timed = [cell for cell in cells if "ratio" in cell]
    for where, some, goal in (
        ("all data", timed, GOAL),
        (LARGE, [cell for cell in timed if cell["data"] == LARGE], GOAL_LARGE),
    ):
        if some and (mean := geometric_mean(cell["ratio"] for cell in some)) >= goal:
            lines.append(f"- Geometric mean on {where}: {mean:.2f}, not below {goal}.")
    return lines or ["None."]


def ratio_text(cell: Cell) -> str:
    """Of the table of CPU times."""
    if not cell:
        return ""
    if "ratio" not in cell:
        return "**error**" if "error" in cell else f"({cell['estimated_seconds']:,.0f} s)"
    return bold(f"{cell['ratio']:.2f}", is_slower(cell))


def rungs_text(cell: Cell) -> str:
    """Of the table of rungs."""
    if "rungs" not in cell:
        return ""
    rungs = " → ".join(f"{n:,}" for n in cell["rungs"])
    return f"{cell['n_candidates']}: {cell['resource']} {rungs}"


def quality_text(cell: Cell) -> str:
    """Of the table of scores."""
    if "scores" not in cell:
        return ""
    mean, error = difference(cell)
    text = f"{mean:+.4f}"
    if np.isfinite(error):
        text += f"\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}{error:.4f}"
    n_same = cell.get("n_same", "-")
    return f"{bold(text, is_worse(cell))} ({n_same}/{len(cell['scores'])})"


def bold(text: str, wanted: bool) -> str:
    """In bold if it is wanted."""
    return f"**{text}**" if wanted else text


if __name__ == "__main__":
    main()
