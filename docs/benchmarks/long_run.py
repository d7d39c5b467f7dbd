"""A long search with a checkpoint: 20,000 evaluations, and what each takes from first to last.

    pip install ".[checkpoint,examples]" && python docs/benchmarks/long_run.py

takes a minute, writes results/long_run.md and docs/images/long_run.svg, and needs Linux. Training
and scoring take no time, and a model is 10 kB large, so that what is measured is the search and its
checkpoint: time per evaluation, memory of the process and size of the folder.
"""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from nothing import Nothing
from reports import picture, table, write
from sklearn.model_selection import KFold
from watching import every, process_memory

from sklearn_sha import SuccessiveHalvingSearchCV

N_CANDIDATES, N_FOLDS = 2_000, 5
SECONDS_BETWEEN = 0.1
MODEL_BYTES = 10_000
N_PARTS = 5


class Weights(Nothing):
    """A model of `MODEL_BYTES` that counts all calls of `score`."""

    n_scores = 0

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        self.weights_ = np.full(MODEL_BYTES // 8, float(self.a))
        return self

    def score(self, X: Any, y: Any = None) -> float:
        Weights.n_scores += 1
        return super().score(X, y)


class Moment(NamedTuple):
    """What is measured every `SECONDS_BETWEEN` seconds."""

    seconds: float
    n_evaluations: int
    memory: float
    on_disk: float


def main() -> None:
    """Run, watch, write and draw."""
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "a"
        search = SuccessiveHalvingSearchCV(
            Weights(), {"a": list(range(N_CANDIDATES))}, resource="partial_fit", factor=2,
            min_resources=1, max_resources=1024, min_folds="all", cv=KFold(N_FOLDS), refit=False,
            n_jobs=1, checkpoint=checkpoint,
        )  # fmt: skip
        moments: list[Moment] = []
        start = perf_counter()

        def look() -> None:
            moments.append(moment(start, checkpoint))

        with every(SECONDS_BETWEEN, look):
            search.fit(np.zeros((100, 5)))
        look()
    write("long_run.md", report(moments))
    draw(moments)


def moment(start: float, folder: Path) -> Moment:
    """Measure now: megabytes of the process and of the folder."""
    memory = process_memory("VmRSS") / 1000
    return Moment(perf_counter() - start, Weights.n_scores, memory, size_of(folder) / 1e6)


def size_of(folder: Path) -> int:
    """Bytes of all files, of which some may go while they are counted."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(where) / name).stat().st_size
            except FileNotFoundError:
                continue
    return total


def parts(moments: list[Moment]) -> list[list[Moment]]:
    """Equal numbers of evaluations, each part with the last moment of the one before."""
    n = moments[-1].n_evaluations
    limits = [n * part / N_PARTS for part in range(N_PARTS + 1)]
    found = []
    for low, high in pairwise(limits):
        inside = [m for m in moments if low < m.n_evaluations <= high]
        before = [m for m in moments if m.n_evaluations <= low]
        found.append([*before[-1:], *inside])
    return found


def report(moments: list[Moment]) -> list[str]:
    """Markdown: one row for each part of the run."""
    rows = []
    for part in parts(moments):
        first, last = part[0], part[-1]
        n = last.n_evaluations - first.n_evaluations
        rows.append(
            [
                f"{first.n_evaluations:,} to {last.n_evaluations:,}",
                f"{(last.seconds - first.seconds) / n * 1e3:.2f}",
                f"{median(m.memory for m in part):.0f}",
                f"{median(m.on_disk for m in part):.0f}",
            ]
        )
    return [
        "# A long search with a checkpoint",
        "",
        f"Written by `python docs/benchmarks/long_run.py`: {N_CANDIDATES:,} candidates, {N_FOLDS} "
        f"folds, {moments[-1].n_evaluations:,} evaluations in {moments[-1].seconds:.0f} seconds on "
        "one core. Training takes no time, and a model is "
        f"{MODEL_BYTES / 1000:.0f} kB large.",
        "",
        *table(
            ["evaluations", "ms per evaluation", "MB of memory (median)", "MB on disk (median)"],
            rows,
        ),
        "",
        f"At most {max(m.on_disk for m in moments):.0f} MB on disk, and "
        f"{moments[-1].on_disk:.1f} MB at the end.",
        "",
        "![Seconds, memory and size on disk, by completed evaluations](../../images/long_run.svg)",
    ]


def draw(moments: list[Moment]) -> None:
    """Three lines over the number of evaluations."""
    n = [m.n_evaluations for m in moments]
    with picture("long_run.svg", 6.4, 5.4, nrows=3, sharex=True) as axes:
        for axis, values, label in (
            (axes[0], [m.seconds for m in moments], "seconds"),
            (axes[1], [m.memory for m in moments], "MB of memory"),
            (axes[2], [m.on_disk for m in moments], "MB on disk"),
        ):
            axis.plot(n, values, color="#0072b2")
            axis.set_ylabel(label)
            axis.set_ylim(bottom=0)
            axis.spines[["top", "right"]].set_visible(False)
        axes[2].set_xlabel("evaluations completed")
        axes[2].xaxis.set_major_formatter("{x:,.0f}")


if __name__ == "__main__":
    main()
