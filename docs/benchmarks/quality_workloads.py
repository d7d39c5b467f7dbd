"""What is searched in time_to_quality.py: estimators, spaces of distributions, and data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import real_data
from joblib import Memory
from scipy.stats import loguniform, randint, uniform
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

MAX_HELD_OUT = 20_000


@dataclass(frozen=True)
class Workload:
    """One search.

    Attributes
    ----------
    title : str
    load : callable
        Takes no arguments and returns X and y of all samples.
    n_samples : int
        Number of samples that are searched on. Others are held out, `MAX_HELD_OUT` at most.
    new : callable
        Takes no arguments and returns an estimator. It imports what only this workload needs.
    space : dict of str to distribution or list
        Of `loguniform`, `uniform` and `randint`, and lists of choices.
    defaults : dict
        The estimator's own values, for searches that need values of the space: instead of a name,
        the number that it stands for, and instead of a value beyond a range, the nearest one.
    low_cost : dict
        Values of parameters with which a fit is cheap, which FLAML asks for.
    scoring : str or None
        As in GridSearchCV.
    """

    title: str
    load: Callable[[], tuple[Any, Any]]
    n_samples: int
    new: Callable[[], Any]
    space: dict[str, Any]
    defaults: dict[str, Any]
    low_cost: dict[str, Any] = field(default_factory=dict)
    scoring: str | None = None

    def splits(self, seed: int) -> list[Any]:
        """X and y to search on, and X and y that are held out."""
        X, y = self.load()
        n_test = min(len(y) - self.n_samples, MAX_HELD_OUT)
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=self.n_samples, test_size=n_test, random_state=seed
        )
        return [X_train, y_train, X_test, y_test]


def _sources() -> Any:
    text, source, _ = real_data.snippets()
    return HashingVectorizer(ngram_range=(1, 2), n_features=2**16).transform(text), source


def _flights() -> Any:
    """Read once, since that takes seconds."""
    return Memory(real_data.FOLDER / "joblib", verbose=0).cache(real_data.flights)()


def _speeds() -> Any:
    X, _, speed = _flights()
    return X, speed


def _fast() -> Any:
    X, speed = _speeds()
    return X, (speed > np.median(speed)).astype(int)


def _late() -> Any:
    X, late, _ = _flights()
    return X, late


def _network() -> Any:
    """With the number of units in the space that is nearest to the default, 100."""
    network = MLPClassifier(max_iter=20, hidden_layer_sizes=64, random_state=0)
    return make_pipeline(MinMaxScaler(), network)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, n_jobs=1, random_state=0, verbose=-1)


WORKLOADS = {
    "network": Workload(
        "network on images",
        real_data.digits,
        1500,
        _network,
        {
            "mlpclassifier__learning_rate_init": loguniform(1e-4, 1e-1),
            "mlpclassifier__alpha": loguniform(1e-6, 1e1),
            "mlpclassifier__hidden_layer_sizes": randint(8, 65),
            "mlpclassifier__batch_size": randint(64, 257),
        },
        {
            "mlpclassifier__learning_rate_init": 1e-3,
            "mlpclassifier__alpha": 1e-4,
            "mlpclassifier__hidden_layer_sizes": 64,
            "mlpclassifier__batch_size": 200,
        },
        {"mlpclassifier__hidden_layer_sizes": 8},
    ),
    "text": Workload(
        "linear model of text",
        _sources,
        8000,
        lambda: SGDClassifier(random_state=0, max_iter=20, tol=None),
        {
            "alpha": loguniform(1e-8, 1e-1),
            "loss": ["hinge", "log_loss", "modified_huber"],
            "l1_ratio": uniform(0, 1),
            "penalty": ["l2", "elasticnet"],
            "average": [False, True],
        },
        {
            "alpha": 1e-4,
            "loss": "hinge",
            "l1_ratio": 0.15,
            "penalty": "l2",
            "average": False,
        },
    ),
    "boosting": Workload(
        "histogram boosting",
        _speeds,
        4000,
        lambda: HistGradientBoostingRegressor(max_iter=60, early_stopping=False, random_state=0),
        {
            "learning_rate": loguniform(1e-2, 1),
            "max_leaf_nodes": randint(4, 65),
            "min_samples_leaf": randint(2, 101),
            "l2_regularization": loguniform(1e-4, 1e2),
            "max_features": uniform(0.1, 0.9),
        },
        {
            "learning_rate": 0.1,
            "max_leaf_nodes": 31,
            "min_samples_leaf": 20,
            "l2_regularization": 1e-4,
            "max_features": 1.0,
        },
        {"max_leaf_nodes": 4},
    ),
    "lightgbm": Workload(
        "LightGBM",
        _late,
        6000,
        _lightgbm,
        {
            "learning_rate": loguniform(1e-2, 1),
            "num_leaves": randint(4, 65),
            "min_child_samples": randint(2, 101),
            "reg_lambda": loguniform(1e-4, 1e2),
            "colsample_bytree": uniform(0.1, 0.9),
        },
        {
            "learning_rate": 0.1,
            "num_leaves": 31,
            "min_child_samples": 20,
            "reg_lambda": 1e-4,
            "colsample_bytree": 1.0,
        },
        {"num_leaves": 4},
        "roc_auc",
    ),
    "svc": Workload(
        "support vectors",
        _fast,
        2500,
        lambda: make_pipeline(StandardScaler(), SVC()),
        {"svc__C": loguniform(1e-3, 1e3), "svc__gamma": loguniform(1e-4, 1e1)},
        {"svc__C": 1.0, "svc__gamma": 0.1},
    ),
    "forest": Workload(
        "random forest",
        real_data.digits,
        1500,
        lambda: RandomForestClassifier(n_estimators=30, random_state=0),
        {
            "max_features": uniform(0.005, 0.1),
            "max_depth": randint(2, 25),
            "min_samples_leaf": randint(1, 21),
            "criterion": ["gini", "entropy"],
        },
        {
            "max_features": 28 / 784,
            "max_depth": 24,
            "min_samples_leaf": 1,
            "criterion": "gini",
        },
        {"max_depth": 2, "max_features": 0.005},
    ),
}
