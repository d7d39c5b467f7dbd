"""Networks, through skorch: they train on from their weights, in workers too.

Run in a process of its own: workers in which a boosting library has been at work before can hang
in PyTorch, which brings an OpenMP of its own.
"""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, cross_val_score
from skorch import NeuralNetClassifier

from sklearn_sha import SuccessiveHalvingSearchCV

CV = KFold(3)

# Rows are lent read-only, which tensors can't be.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The given NumPy array is not writable:UserWarning"),
]


class Network(torch.nn.Module):
    def __init__(self, n_hidden=8):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, n_hidden), torch.nn.ReLU(), torch.nn.Linear(n_hidden, 10)
        )

    def forward(self, X):
        return self.layers(X)


def test_a_network_trains_on_epoch_by_epoch_and_travels_between_workers():
    digits, labels = load_digits(return_X_y=True)
    digits = (digits / 16).astype(np.float32)
    network = NeuralNetClassifier(
        Network, criterion=torch.nn.CrossEntropyLoss, optimizer=torch.optim.Adam, max_epochs=1,
        batch_size=32, train_split=None, verbose=0,
    )  # fmt: skip
    search = SuccessiveHalvingSearchCV(
        network,
        {"lr": [1e-4, 1e-3, 1e-2], "module__n_hidden": [8, 64]},
        resource="partial_fit",
        max_resources=16,
        cv=CV,
    ).fit(digits, labels)
    assert len(search.best_estimator_.history) == search.best_n_resources_ == 16
    assert search.best_score_ > 0.9
    both = clone(search).set_params(n_jobs=2).fit(digits, labels)
    for column in ("mean_test_score", "candidate"):
        np.testing.assert_allclose(both.all_cv_results_[column], search.all_cv_results_[column])
    at_once = clone(network).set_params(**search.best_params_, max_epochs=16)
    scores = cross_val_score(at_once, digits, labels, cv=CV)
    assert search.best_score_ == pytest.approx(scores.mean())


def test_the_example(run):
    names, printed = run("network_with_skorch.py")
    search = names["search"]
    assert str(search.schedule_) in printed
    assert (search.schedule_.total_cost, search.schedule_.grid_cost) == (352, 1152)
    assert search.n_candidates_[-1] == 2
    assert search.best_n_resources_ == len(search.best_estimator_.history) == 32
    assert search.score(names["X_test"], names["y_test"]) > 0.95
