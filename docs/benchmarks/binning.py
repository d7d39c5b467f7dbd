"""Share of a search over histogram boosting in which scikit-learn bins the samples.

    python docs/benchmarks/binning.py

prints it for the boosting workload of workloads.py, with all folds in every rung and with the
default folds, and takes about a minute. Every call of fit bins all samples of its fold, although
the bins depend on these samples alone. The method that does it is private, and is only timed here.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from time import perf_counter
from typing import Any
from unittest.mock import patch

from contenders import search_of
from sklearn.ensemble import HistGradientBoostingRegressor
from workloads import WORKLOADS


def seconds_of(search: Any, X: Any, y: Any) -> tuple[float, float, int]:
    """Seconds of a search, those of them in which samples are binned, and number of bin calls."""
    binning: list[float] = []
    bin_data = HistGradientBoostingRegressor._bin_data

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = perf_counter()
        try:
            return bin_data(*args, **kwargs)
        finally:
            binning.append(perf_counter() - start)

    with patch.object(HistGradientBoostingRegressor, "_bin_data", timed):
        start = perf_counter()
        search.fit(X, y)
        return perf_counter() - start, sum(binning), len(binning)


def main() -> None:
    """Measure, and print."""
    X, y, _, _ = WORKLOADS["boosting"].splits(0)
    for min_folds in ("all", "auto"):
        search = search_of(WORKLOADS["boosting"]).set_params(min_folds=min_folds)
        seconds, binning, n_calls = seconds_of(search, X, y)
        print(
            f"min_folds={min_folds!r}: {seconds:.1f} s, of which {binning:.1f} s "
            f"({binning / seconds:.1%}) bin the samples, in {n_calls} calls"
        )


if __name__ == "__main__":
    main()
