"""Hundreds or thousands of samples: training samples or folds as the resource.

    python docs/benchmarks/few_samples.py
    python docs/benchmarks/few_samples.py --samples 2000 --candidates 8

searches the grids of drop_in_cases.py, or some of their candidates, on data of which most samples
are held out, with one thread each: GridSearchCV, and the two resources. Each command takes about
half an hour, and writes a page with the number of samples in its name.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import shlex
import sys
import warnings
from itertools import chain, product
from statistics import geometric_mean, mean

import numpy as np
from drop_in_cases import CASES, Grid
from generated_data import CLASSES, TARGETS
from joblib import Parallel, delayed
from reports import mean_and_error, table, write
from samples_or_folds import Compared, add_search
from sklearn.datasets import load_digits, make_hastie_10_2
from sklearn.model_selection import ParameterGrid, train_test_split

N_TEST = 10_000
RESOURCES = ("n_samples", "folds")
ESTIMATORS = (
    "SGD",
    "Perceptron",
    "passive-aggressive",
    "LogisticRegression",
    "Ridge",
    "LinearSVC",
    "SVC",
    "KNeighbors",
    "GaussianNB",
    "AdaBoost",
    "StandardScaler + SVC",
    "LinearDiscriminantAnalysis",
    "GradientBoosting",
    "HistGradientBoosting",
)
MAX_OF_DIGITS = 1_200
"""Training samples with which 600 of the digits are held out."""
SLOW = [("digits", "GradientBoosting"), ("digits", "HistGradientBoosting")]
"""Those whose trees are one for each of ten classes are left out."""
DATA = {
    "classification": CLASSES["classification"],
    "hastie": lambda n, seed: make_hastie_10_2(n, random_state=seed),
    "digits": lambda n, seed: load_digits(return_X_y=True),
    "friedman1": TARGETS["friedman1"],
}
REGRESSION = ("friedman1",)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=700)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*range(10)])
    parser.add_argument("--candidates", type=int, help="sampled from each grid")
    options = parser.parse_args()
    names = [name for name in DATA if name != "digits" or options.samples < MAX_OF_DIGITS]
    cases = [
        (data, name)
        for data, name in product(names, ESTIMATORS)
        if CASES[name].search_arguments(data in REGRESSION) is not None and (data, name) not in SLOW
    ]
    rows = Parallel(2)(
        delayed(row_of)(*case, options.samples, options.seeds, options.candidates) for case in cases
    )
    command = shlex.join(["python", "docs/benchmarks/few_samples.py", *sys.argv[1:]])
    n_candidates = options.candidates
    what_is_searched = f"{n_candidates} candidates of a grid, or all" if n_candidates else "grid"
    columns = [f"{what}, {unit}" for unit in RESOURCES for what in ("CPU time", "held-out score")]
    write(
        f"few_samples_{options.samples}.md",
        [
            f"# Searches on {options.samples} samples",
            "",
            f"Compared with GridSearchCV over the same {what_is_searched}, {len(options.seeds)} "
            "seeds: CPU time as a multiple, and the mean difference of held-out accuracy or R² "
            f"with its standard error, measured on {N_TEST:,} samples or the rest of the digits. "
            f"Written by `{command}`.",
            "",
            *table(["data, estimator", *columns], [*rows, mean_of(rows)]),
        ],
    )


def mean_of(rows: list[list[str]]) -> list[str]:
    """Row of the geometric mean of the times above, and of the mean differences."""
    times = [geometric_mean(float(row[k]) for row in rows) for k in (1, 3)]
    differences = [mean(float(row[k].split()[0]) for row in rows) for k in (2, 4)]
    pairs = zip(times, differences, strict=True)
    return ["mean", *chain.from_iterable((f"{time:.2f}", f"{d:+.4f}") for time, d in pairs)]


def row_of(
    data: str, name: str, n_samples: int, seeds: list[int], n_candidates: int | None
) -> list[str]:
    """Row of the table about one data set and estimator."""
    warnings.simplefilter("ignore")  # of estimators that have not converged, for example
    case = CASES[name]
    estimator, whole = case.search_arguments(data in REGRESSION) or (None, {})
    found: Compared = {resource: [] for resource in RESOURCES}
    for seed in seeds:
        grid = sampled(whole, n_candidates, seed) if n_candidates else whole
        X, y = DATA[data](n_samples + N_TEST, seed)
        stratify = None if data in REGRESSION else y
        splits = train_test_split(
            case.prepared(X), y, train_size=n_samples, random_state=seed, stratify=stratify
        )
        add_search(found, estimator, grid, splits, seed)
    texts = []
    for runs in found.values():
        scores, times = zip(*runs, strict=True)
        texts += [f"{geometric_mean(times):.2f}", mean_and_error(np.array(scores), 4)]
    return [f"{data}, {name}", *texts]


def sampled(grid: Grid, n_candidates: int, seed: int) -> Grid:
    """Some candidates of a grid, in its order; all if there are not more."""
    candidates = [{name: [value] for name, value in one.items()} for one in ParameterGrid(grid)]
    n = min(n_candidates, len(candidates))
    chosen = np.random.default_rng(seed).choice(len(candidates), n, replace=False)
    return [candidates[k] for k in sorted(chosen)]


if __name__ == "__main__":
    main()
