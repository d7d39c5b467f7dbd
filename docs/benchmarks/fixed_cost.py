"""Fixed cost of one fit, in samples: the estimators of drop_in.py on few samples, one thread.

    python docs/benchmarks/fixed_cost.py

takes about six minutes of CPU time and writes results/fixed_cost.md. It needs scikit-learn 1.8
or newer.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import warnings
from math import log
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from drop_in_cases import CASES, DATA, Case
from reports import RESULTS, table, write
from scipy.optimize import least_squares
from sklearn.base import clone
from sklearn.model_selection import train_test_split

SIZES = (50, 100, 200, 400, 800, 1600)
LARGE_ENOUGH = ("digits", "synthetic 2,000", "synthetic 20,000")
TEST_SHARE = 1 / 4
"""Samples that are scored for one that is fitted, as in five folds."""
MIN_ROUNDS, MAX_ROUNDS, SECONDS = 3, 30, 5.0
"""Rounds over all sizes: at least and at most so many, for about so many seconds of CPU time."""
MISFIT = 0.1
"""Relative error of the line beyond which a size weighs less."""


def fit_seconds(case: Case, X: np.ndarray, y: np.ndarray) -> list[float]:
    """CPU time of fitting and scoring at each size: the minimum of rounds over all sizes.

    The work is the same in every round. Other processes can only add to its time, and add to
    that of all sizes alike.
    """
    parts = [
        train_test_split(X, y, train_size=n_samples, stratify=y, random_state=0)[::2]
        for n_samples in SIZES
    ]
    rounds: list[list[float]] = []
    start = process_time()
    while len(rounds) < MIN_ROUNDS or (
        process_time() - start < SECONDS and len(rounds) < MAX_ROUNDS
    ):
        rounds.append([seconds_of(clone(case.classifier), *part) for part in parts])
    return [min(times) for times in zip(*rounds, strict=True)]


def seconds_of(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """CPU time of a fit, and of the scores of a quarter as many samples."""
    n_test = int(len(X) * TEST_SHARE)
    start = process_time()
    model.fit(X, y)
    model.score(X[:n_test], y[:n_test])
    return process_time() - start


def line(sizes: tuple[int, ...], seconds: list[float]) -> tuple[float, float]:
    """Intercept and slope of t = a + b n, neither negative, by relative errors.

    Robust: a size at which the time is no longer linear does not bend the line.
    """
    n, t = np.array(sizes), np.array(seconds)

    def relative_errors(coefficients: np.ndarray) -> np.ndarray:
        predicted = coefficients[0] * t[0] + coefficients[1] * t[-1] * n / n[-1]
        errors: np.ndarray = predicted / t - 1
        return errors

    fitted = least_squares(
        relative_errors, [0.5, 0.5], bounds=(0, np.inf), loss="soft_l1", f_scale=MISFIT
    )
    return fitted.x[0] * t[0], fitted.x[1] * t[-1] / n[-1]


def measure(name: str, data: str) -> list[str]:
    """Cells of the table."""
    case = CASES[name]
    X, y = DATA[data]()
    seconds = fit_seconds(case, case.prepared(X), y)
    fixed, per_sample = line(SIZES, seconds)
    exponent = log(seconds[-1] / seconds[-3]) / log(SIZES[-1] / SIZES[-3])
    print(f"{name}, {data}: {fixed * 1e3:.2f} ms, {per_sample * 1e6:.2f} us", flush=True)
    return [
        name,
        *[f"{t * 1e3:.2f}" for t in seconds],
        f"{fixed * 1e3:.2f}",
        f"{per_sample * 1e6:.2f}",
        f"{fixed / per_sample:,.0f}",
        f"{exponent:.2f}",
    ]


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--estimators", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument(
        "--data", nargs="+", choices=LARGE_ENOUGH, default=["synthetic 2,000", "digits"]
    )
    parser.add_argument("--out", type=Path, default=RESULTS / "fixed_cost.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        "# Fixed cost of one fit",
        "",
        "Written by `python docs/benchmarks/fixed_cost.py`; CPU time on one thread, default "
        "parameters, one fit and the scores of a quarter as many samples. A line, "
        "fixed + per sample x n, is fitted by relative errors. The exponent is that of n between "
        f"{SIZES[-3]} and {SIZES[-1]:,} samples, fixed cost included. "
        "Columns with a number of samples are the time of one fit on them.",
    ]
    for data in options.data:
        head = [data, *[f"{n:,}, ms" for n in SIZES]]
        head += ["fixed, ms", "per sample, us", "fixed, in samples", "exponent"]
        rows = [measure(name, data) for name in options.estimators]
        lines += ["", *table(head, rows)]
        write(str(options.out.resolve()), lines)


if __name__ == "__main__":
    main()
