"""Where the time of a search goes, on one core: table and figure.

    python docs/benchmarks/where_time_goes.py

takes about two minutes, writes results/where_time_goes.md and a figure, and needs Linux.
"""

from __future__ import annotations

import os
import warnings

if __name__ == "__main__":
    # Before numpy counts the cores, and never where this is only imported.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

from time import perf_counter
from typing import Any

from contenders import search_of
from reports import picture, table, write
from workloads import WORKLOADS, Workload

from sklearn_sha._engine import preprocessing_calls

PARTS = ("training", "scoring", "preprocessing steps", "refit", "the search")


def parts_of(work: Workload) -> dict[str, float]:
    """Seconds of each part, for one workload."""
    X, y, _, _ = work.splits(0)
    in_prefixes: list[float] = []

    def timed(
        *args: Any, fit_preprocessing: Any = preprocessing_calls.fit_preprocessing, **kwargs: Any
    ) -> Any:
        start = perf_counter()
        try:
            return fit_preprocessing(*args, **kwargs)
        finally:
            in_prefixes.append(perf_counter() - start)

    search = search_of(work)
    original, preprocessing_calls.fit_preprocessing = preprocessing_calls.fit_preprocessing, timed
    start = perf_counter()
    search.fit(X, y)
    seconds = perf_counter() - start
    preprocessing_calls.fit_preprocessing = original
    known = [
        sum(row["fit_time"] for row in search.rung_history_),
        sum(row["score_time"] for row in search.rung_history_),
        sum(in_prefixes),
        search.refit_time_,
    ]
    return dict(zip(PARTS, [*known, seconds - sum(known)], strict=True))


def draw(found: dict[str, dict[str, float]]) -> None:
    """Shares of the parts, one bar per workload."""
    titles = [WORKLOADS[name].title for name in found]
    left = [0.0] * len(found)
    with picture("where_time_goes.svg", 8, 3.2) as ax:
        for part in PARTS:
            shares = [parts[part] / sum(parts.values()) for parts in found.values()]
            ax.barh(titles, shares, left=left, label=part)
            left = [a + b for a, b in zip(left, shares, strict=True)]
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of the seconds of a search, one core")
        ax.legend(
            ncols=3, fontsize="small", frameon=False, loc="lower center", bbox_to_anchor=(0.4, 1)
        )


def main() -> None:
    """Measure, and write."""
    warnings.simplefilter("ignore")
    found = {name: parts_of(work) for name, work in WORKLOADS.items()}
    lines = [
        "# Where the time of a search goes",
        "",
        "Seconds on one core; written by `python docs/benchmarks/where_time_goes.py`.",
        "",
        *table(
            ["", *PARTS],
            [
                [WORKLOADS[name].title, *[f"{parts[part]:.2f}" for part in PARTS]]
                for name, parts in found.items()
            ],
        ),
    ]
    write("where_time_goes.md", lines)
    draw(found)


if __name__ == "__main__":
    main()
