"""What a checkpoint costs: the same search with and without one, side by side.

    python docs/benchmarks/checkpoint_cost.py

prints the times and their ratio.
"""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from sklearn_sha import SuccessiveHalvingSearchCV

SEARCHES = {
    "1,000 small models, of a few ms each": (
        SGDClassifier(random_state=0),
        {"alpha": list(np.logspace(-6, 1, 200))},
    ),
    "120 networks of 300 kB, of 50 ms each": (
        MLPClassifier((200,), random_state=0),
        {"alpha": list(np.logspace(-6, 1, 24))},
    ),
}


def main() -> None:
    """Fit each search three times each way, in turns."""
    X, y = load_digits(return_X_y=True)
    for name, (estimator, space) in SEARCHES.items():
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for kept in [False, True] * 3:
            with tempfile.TemporaryDirectory() as folder:
                search = SuccessiveHalvingSearchCV(
                    estimator, space, resource="partial_fit", max_resources=32, cv=5,
                    min_folds="all", refit=False,
                    checkpoint=Path(folder) / "a" if kept else None,
                )  # fmt: skip
                start = time.perf_counter()
                search.fit(X, y)
                seconds[kept].append(time.perf_counter() - start)
        with_one, without = statistics.median(seconds[True]), statistics.median(seconds[False])
        print(f"{name}: {with_one:.2f} s with, {without:.2f} s without, {with_one / without:.2f}")


if __name__ == "__main__":
    main()
