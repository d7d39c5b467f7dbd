"""Networks with up to 200 epochs: epochs or folds as the resource.

    python docs/benchmarks/networks.py --samples 1000

searches the learning rate, and the regularization or the size, of scikit-learn's networks on
generated data, with one thread each: GridSearchCV, and the two resources. With epochs, candidates
are compared after at most 100 of them. It takes about half an hour, and writes a page with the
number of samples in its name.
"""

from __future__ import annotations

import os
from typing import Any

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from generated_data import CLASSES, TARGETS
from samples_or_folds import Case, compare
from sklearn.neural_network import MLPClassifier, MLPRegressor

SPACES = {
    "learning rate and alpha": {
        "learning_rate_init": [3e-4, 1e-3, 3e-3, 1e-2],
        "alpha": [1e-4, 1e-2, 1.0],
    },
    "size and learning rate": {
        "hidden_layer_sizes": [(10,), (30,), (100,), (30, 30)],
        "learning_rate_init": [3e-4, 1e-3, 1e-2],
    },
}


def cases(spaces: dict[str, dict[str, Any]] = SPACES, **params: Any) -> list[Case]:
    """All searches, over networks with other parameters than the default."""
    models = (
        (CLASSES, MLPClassifier(random_state=0, **params)),
        (TARGETS, MLPRegressor(random_state=0, **params)),
    )
    return [
        Case(f"{name}, {searched}", model, make, space, "partial_fit")
        for data, model in models
        for name, make in data.items()
        for searched, space in spaces.items()
    ]


if __name__ == "__main__":
    compare("Networks with up to 200 epochs", __doc__, cases())
