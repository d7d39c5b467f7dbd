"""A PyTorch network, through skorch: epochs as the resource
=========================================================

skorch wraps a PyTorch module as a scikit-learn estimator, and its `partial_fit` continues the
training of the network. The search makes each call one epoch. Eliminated networks cost only the
epochs until then; the others continue from their weights and from the state of their optimizer.

Expect: 12 networks, of which three get 32 epochs, and two of these on all folds; a held-out
accuracy above 0.95, at 0.31 of the epochs that a grid search trains.
Limits: skorch's own validation split would keep a fifth of the samples from training:
`train_split=None` gives them to the network. Needs `skorch` and `torch`.
"""

import warnings

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from skorch import NeuralNetClassifier

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

# All candidates share the samples, which are read-only. PyTorch warns of that once.
warnings.filterwarnings("ignore", "The given NumPy array is not writable")

X, y = load_digits(return_X_y=True)
X = (X / 16).astype(np.float32)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)


class Network(torch.nn.Module):
    def __init__(self, n_hidden=32):
        super().__init__()
        torch.manual_seed(0)  # every candidate begins with the same weights in every run
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(64, n_hidden), torch.nn.ReLU(), torch.nn.Linear(n_hidden, 10)
        )

    def forward(self, X):
        return self.layers(X)


network = NeuralNetClassifier(
    Network,
    criterion=torch.nn.CrossEntropyLoss,
    optimizer=torch.optim.Adam,
    max_epochs=1,
    batch_size=32,
    train_split=None,
    verbose=0,
)
space = {"lr": [1e-4, 1e-3, 1e-2, 1e-1], "module__n_hidden": [16, 64, 256]}
search = SuccessiveHalvingSearchCV(
    network, space, resource="partial_fit", max_resources=32, cv=3
).fit(X_train, y_train)
print(search.schedule_)
print(search.best_params_)
print(f"held-out accuracy {search.score(X_test, y_test):.4f}")

# %%
# Each line is a network. Darker lines got further, and the selected network is orange.

display = SearchDisplay.from_search(search)
