"""Networks with 50 epochs and few candidates: epochs or folds as the resource.

    python docs/benchmarks/few_epochs.py --samples 2000

searches the learning rate, and the regularization or the size, of scikit-learn's networks on
generated data, with one thread each: GridSearchCV, and the two resources. By the plan of these
searches, rungs that add folds cost less. It takes about five minutes, and writes a page with the
number of samples in its name.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

from networks import cases
from samples_or_folds import compare

N_EPOCHS = 50
SPACES = {
    "learning rate and alpha": {
        "learning_rate_init": [1e-3, 3e-3, 1e-2],
        "alpha": [1e-4, 1.0],
    },
    "size and learning rate": {
        "hidden_layer_sizes": [(10,), (30,), (100,), (30, 30)],
        "learning_rate_init": [1e-3, 1e-2],
    },
}

if __name__ == "__main__":
    heading = f"Networks with {N_EPOCHS} epochs and few candidates"
    compare(heading, __doc__, cases(SPACES, max_iter=N_EPOCHS))
