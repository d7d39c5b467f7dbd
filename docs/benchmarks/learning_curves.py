"""Learning curves of five families of estimators on real data, measured once and stored.

    python docs/benchmarks/learning_curves.py
    python docs/benchmarks/learning_curves.py --families svc --data diabetes

takes about 1.5 hours on one core and writes results/curves/<family>-<data>.npz. Files that exist
are kept, so it can be interrupted and continued. replay.py reads the scores instead of training
models, so that thousands of searches take seconds.

Each file has a random sample of configurations, scored on five folds after each of about 20
resources. Epochs, iterations and trees continue training; training samples are refit from scratch
on the nested, stratified subsamples that a search uses.
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # read when numpy is imported
    os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import real_data
from numpy.typing import NDArray
from reports import RESULTS
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from sklearn_sha._data.folds import Fold, make_folds
from sklearn_sha._data.subsampling import class_codes, with_subsampling

FOLDER = RESULTS / "curves"
N_FOLDS = 5
MAX_RATIO = 1.3
"""Of neighbouring resources, if they are not consecutive integers."""

SCALE = 10_000
"""Scores are stored as integers, in units of 1 / SCALE, and limited to what 16 bits hold."""

MISSING = -(2**15)

Fold_ = tuple[Any, Any, Any, Any]


@dataclass(frozen=True, eq=False)
class Curves:
    """Learning curves of one family on one data set.

    Attributes
    ----------
    params : list of dict
        Of each configuration.
    resources : ndarray of int
        Increasing; the last one is the maximum.
    scores : ndarray of float, shape (n_configurations, n_folds, n_resources)
        Accuracy on the test samples of the fold, or R2 (at least -3.28).
    neg_log_loss : ndarray of float of the same shape
        At least -3.28. NaN if the model has no probabilities.
    roc_auc : ndarray of float of the same shape
        Of the probabilities, one class against the others. NaN if the model has none, or if it was
        not measured.
    seconds : ndarray of float of the same shape
        CPU time to fit from scratch with this resource.
    continues : bool
        Whether models continue training.
    """

    params: list[dict[str, Any]]
    resources: NDArray[np.int64]
    scores: NDArray[np.float64]
    neg_log_loss: NDArray[np.float64]
    roc_auc: NDArray[np.float64]
    seconds: NDArray[np.float64]
    continues: bool


def load_curves(family: str, data: str) -> Curves:
    """Read the curves of one family on one data set."""
    with np.load(FOLDER / f"{family}-{data}.npz") as file:
        scores = decoded(file["scores"])
        # Files that were measured before it was added do not have it.
        has_area = "roc_auc" in file
        return Curves(
            json.loads(str(file["params"])),
            file["resources"].astype(np.int64),
            scores,
            decoded(file["neg_log_loss"]),
            decoded(file["roc_auc"]) if has_area else np.full_like(scores, np.nan),
            file["seconds"].astype(float),
            FAMILIES[family].maximum is not None,
        )


# -- data -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """A data set.

    Attributes
    ----------
    load : callable
        Returns X and y.
    is_regression : bool, default=False
        Then y is standardized, which does not change R2.
    is_scaled : bool, default=True
        Whether linear models, networks and support vectors see standardized features.
    """

    load: Callable[[], tuple[Any, Any]]
    is_regression: bool = False
    is_scaled: bool = True


def _text() -> tuple[Any, Any]:
    text, source, _ = real_data.snippets()
    hashed = HashingVectorizer(analyzer="char_wb", ngram_range=(2, 3), n_features=128)
    return hashed.transform(text).toarray(), source


def _late_flights() -> tuple[Any, Any]:
    X, late, _ = real_data.flights()
    return X, late


def _speeds() -> tuple[Any, Any]:
    X, _, speed = real_data.flights()
    return X, speed


DATA = {
    "breast_cancer": Data(lambda: load_breast_cancer(return_X_y=True)),
    "diabetes": Data(lambda: load_diabetes(return_X_y=True), is_regression=True),
    "late_flights": Data(_late_flights),
    "diamonds": Data(real_data.diamonds, is_regression=True),
    "mortgages": Data(real_data.mortgages),
    "speeds": Data(_speeds, is_regression=True),
    "digits": Data(lambda: load_digits(return_X_y=True)),
    "text": Data(_text, is_scaled=False),
}


@cache
def _loaded(data: str) -> tuple[Any, Any]:
    return DATA[data].load()


def folds_of(data: str, n_samples: int) -> list[Fold]:
    """Five folds of at most `n_samples` samples."""
    return some_folds(*_loaded(data), n_samples, DATA[data].is_regression)


def some_folds(X: Any, y: Any, n_samples: int, is_regression: bool) -> list[Fold]:
    """Five folds of a random sample; `y` is standardized for regression."""
    some = np.random.default_rng(0).permutation(len(y))[:n_samples]
    X, y = X[some], y[some]
    if is_regression:
        y = (y - y.mean()) / y.std()
    splitter = (KFold if is_regression else StratifiedKFold)(N_FOLDS, shuffle=True, random_state=0)
    splits = list(splitter.split(X, y))
    empty: dict[str, dict[str, Any]] = {
        "fit_params": {},
        "preprocessing_params": {},
        "score_params": {},
    }
    folds = make_folds(X, y, splits, **empty, pairwise=False)
    codes = None if is_regression else class_codes(y)
    return with_subsampling(folds, codes=codes, seed=0)


def resource_grid(maximum: int, minimum: int, max_ratio: float = MAX_RATIO) -> list[int]:
    """Integers from the minimum to the maximum, with all maximum / 2**k and maximum / 3**k."""
    found = {maximum // f**k for f in (2, 3) for k in range(7)} | {minimum}
    found = {resource for resource in found if resource >= minimum}
    for low, high in zip(sorted(found), sorted(found)[1:], strict=False):
        n = ceil(log(high / low) / log(max_ratio))
        found |= {round(low * (high / low) ** (i / n)) for i in range(1, n)}
    return sorted(found)


# -- families -------------------------------------------------------------------------------------

Measured = Iterator[tuple[Any, float]]
"""For each resource: predictions of the test samples, and seconds to fit from scratch."""


@dataclass(frozen=True)
class Family:
    """Estimators with a resource.

    Attributes
    ----------
    classifier, regressor : estimator class
    space : callable
        Takes whether the task is a regression, and returns distributions of the parameters.
    measure : callable
        Takes a model, the samples of a fold and the resources. None: training samples.
    maximum : int or None
        None: all training samples of a fold.
    fixed : dict
        Parameters of all configurations.
    """

    classifier: Any
    regressor: Any
    space: Callable[[bool], dict[str, Any] | list[dict[str, Any]]]
    measure: Callable[[Any, Fold_, list[int]], Measured] | None
    maximum: int | None
    fixed: dict[str, Any]


def _epochs(model: Any, fold: Fold_, resources: list[int]) -> Measured:
    X, y, X_test, _ = fold
    options = {} if isinstance(model, MLPRegressor) else {"classes": np.unique(y)}
    seconds, epoch = 0.0, 0
    for resource in resources:
        start = process_time()
        for _ in range(epoch, resource):
            model.partial_fit(X, y, **options)
        seconds += process_time() - start
        epoch = resource
        yield predictions(model, X_test), seconds


def _iterations(model: Any, fold: Fold_, resources: list[int]) -> Measured:
    """One fit; its seconds are shared among the iterations, apart from those of the first one."""
    X, y, X_test, _ = fold
    start = process_time()
    model.set_params(max_iter=1).fit(X, y)
    first = process_time() - start
    model.set_params(max_iter=resources[-1]).fit(X, y)
    others = max(0.0, process_time() - start - 2 * first)
    is_regression = isinstance(model, HistGradientBoostingRegressor)
    staged = model.staged_predict if is_regression else model.staged_predict_proba
    for iteration, predicted in enumerate(staged(X_test), start=1):
        if iteration in resources:
            yield predicted, first + others * (iteration - 1) / max(1, resources[-1] - 1)


def _trees(model: Any, fold: Fold_, resources: list[int]) -> Measured:
    """The forest's prediction is the mean of its trees', which are computed once."""
    X, y, X_test, _ = fold
    X_test = X_test.astype(np.float32)
    is_regression = isinstance(model, RandomForestRegressor)
    seconds, total, n_trees = 0.0, 0.0, 0
    for resource in resources:
        start = process_time()
        model.set_params(n_estimators=resource, warm_start=True).fit(X, y)
        seconds += process_time() - start
        for tree in model.estimators_[n_trees:]:
            total = total + (tree.predict if is_regression else tree.predict_proba)(X_test)
        n_trees = resource
        yield total / n_trees, seconds


def predictions(model: Any, X: Any) -> Any:
    """Probabilities, classes or values."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def _network_space(is_regression: bool) -> dict[str, Any]:
    return {
        "hidden_layer_sizes": [(n,) for n in (8, 16, 32, 64)]
        + [(n, m) for n in (16, 32, 64) for m in (16, 32)],
        "activation": ["relu", "tanh", "logistic"],
        "learning_rate_init": loguniform(1e-4, 1e-1),
        "alpha": loguniform(1e-6, 1e1),
        "batch_size": [32, 64, 128],
    }


def _linear_space(is_regression: bool) -> dict[str, Any]:
    losses = (
        ["squared_error", "huber", "epsilon_insensitive"]
        if is_regression
        else ["hinge", "log_loss", "modified_huber"]
    )
    return {
        "loss": losses,
        "penalty": ["l2", "l1", "elasticnet"],
        "alpha": loguniform(1e-6, 1e0),
        "l1_ratio": uniform(0, 1),
        "learning_rate": ["invscaling", "constant", "adaptive"]
        + ([] if is_regression else ["optimal"]),
        "eta0": loguniform(1e-4, 1e0),
        "average": [False, True],
    }


def _boosting_space(is_regression: bool) -> dict[str, Any]:
    return {
        "learning_rate": loguniform(1e-2, 1e0),
        "max_leaf_nodes": [4, 6, 8, 12, 16, 24, 31],
        "min_samples_leaf": [1, 2, 5, 10, 20, 50],
        "l2_regularization": loguniform(1e-3, 1e2),
        "max_features": uniform(0.1, 0.9),
    }


def _forest_space(is_regression: bool) -> dict[str, Any]:
    return {
        "max_depth": [None, 3, 5, 8, 12, 20],
        "max_features": loguniform(0.05, 1),
        "min_samples_leaf": [1, 2, 3, 5, 10, 20],
        "max_samples": uniform(0.2, 0.8),
        "criterion": ["squared_error"] if is_regression else ["gini", "entropy"],
    }


def _kernel_space(is_regression: bool) -> list[dict[str, Any]]:
    common: dict[str, Any] = {"C": loguniform(1e-2, 1e3)}
    if is_regression:
        common["epsilon"] = loguniform(1e-2, 1e0)
    gamma = loguniform(1e-4, 1e1)
    return [
        *2 * [common | {"kernel": ["rbf"], "gamma": gamma}],
        common | {"kernel": ["poly"], "gamma": gamma, "degree": randint(2, 5)},
        common | {"kernel": ["sigmoid"], "gamma": gamma, "coef0": uniform(-1, 2)},
    ]


FAMILIES = {
    "sgd": Family(
        SGDClassifier, SGDRegressor, _linear_space, None, None, {"max_iter": 50, "random_state": 0}
    ),
    "forest": Family(
        RandomForestClassifier,
        RandomForestRegressor,
        _forest_space,
        _trees,
        100,
        {"random_state": 0},
    ),
    "svc": Family(SVC, SVR, _kernel_space, None, None, {"max_iter": 20_000}),
    "mlp": Family(MLPClassifier, MLPRegressor, _network_space, _epochs, 81, {"random_state": 0}),
    "boosting": Family(
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        _boosting_space,
        _iterations,
        100,
        {"random_state": 0, "early_stopping": False},
    ),
}

N_CONFIGURATIONS, N_SAMPLES = 160, 1500
SLOWER = ("diamonds", "mortgages", "speeds")
EXCEPTIONS = {
    **{("mlp", data): (96, 1000) for data in DATA},
    **{(family, data): (96, 1000) for family in ("forest", "svc") for data in SLOWER},
    **{(family, "digits"): (96, 1000) for family in FAMILIES},
    **{(family, "text"): (96, 800) for family in FAMILIES},
}
"""Numbers of configurations and samples of what takes longer."""


# -- measuring ------------------------------------------------------------------------------------


def measure(family: str, data: str, n_configurations: int, n_samples: int) -> dict[str, Any]:
    """Return the arrays of a file."""
    kind, is_regression = FAMILIES[family], DATA[data].is_regression
    folds = folds_of(data, n_samples)
    n_train = min(len(fold.train) for fold in folds)
    n_classes = 1 if is_regression else len(np.unique(folds[0].y))
    maximum = kind.maximum or n_train
    resources = resource_grid(maximum, max(1 if kind.maximum else 2 * n_classes, maximum // 81))
    params = list(ParameterSampler(kind.space(is_regression), n_configurations, random_state=0))
    shape = n_configurations, N_FOLDS, len(resources)
    scores, losses, areas, seconds = (np.full(shape, np.nan) for _ in range(4))
    model_class = kind.regressor if is_regression else kind.classifier
    for j, fold in enumerate(folds):
        for i, some in enumerate(params):
            fixed = {k: v for k, v in kind.fixed.items() if k in model_class().get_params()}
            curve = _curve(kind, model_class(**fixed, **some), fold, resources, data)
            for k, (predicted, y_test, elapsed) in enumerate(curve):
                found = scores_of(predicted, y_test, is_regression)
                scores[i, j, k], losses[i, j, k], areas[i, j, k] = found
                seconds[i, j, k] = elapsed
    return {
        "params": np.array(json.dumps(params, default=lambda value: value.item())),
        "resources": np.array(resources, dtype=np.int32),
        "scores": encoded(scores),
        "neg_log_loss": encoded(losses),
        "roc_auc": encoded(areas),
        "seconds": _rounded(seconds),
    }


def _curve(
    kind: Family, model: Any, fold: Fold, resources: list[int], data: str
) -> Iterator[tuple[Any, Any, float]]:
    is_scaled = DATA[data].is_scaled and kind.measure not in (_trees, _iterations)
    if kind.measure is None:
        pipeline = make_pipeline(StandardScaler(), model) if is_scaled else model
        for n in resources:
            X, y, X_test, y_test = samples(fold.subsampled(n))
            start = process_time()
            pipeline.fit(X, y)
            seconds = process_time() - start
            yield _with_all_classes(pipeline, X_test, fold.y), y_test, seconds
        return
    X, y, X_test, y_test = samples(fold)
    if is_scaled:
        scaler = StandardScaler().fit(X)
        X, X_test = scaler.transform(X), scaler.transform(X_test)
    for predicted, seconds in kind.measure(model, (X, y, X_test, y_test), resources):
        yield predicted, y_test, seconds


def samples(fold: Fold) -> Fold_:
    """Training and test samples of a fold, with their targets."""
    return fold.X[fold.train], fold.y[fold.train], fold.X[fold.test], fold.y[fold.test]


def _with_all_classes(model: Any, X: Any, y: Any) -> Any:
    predicted = predictions(model, X)
    if predicted.ndim == 2:
        assert len(model.classes_) == predicted.shape[1] == len(np.unique(y))
    return predicted


def scores_of(predicted: Any, y: Any, is_regression: bool) -> tuple[float, float, float]:
    """Return accuracy or R2, the negated log loss and the ROC AUC, or NaN without probabilities.

    Classes are 0, 1, ..., as are the columns of probabilities.
    """
    if is_regression:
        diverged = not np.isfinite(predicted).all()
        return -np.inf if diverged else r2_score(y, predicted), np.nan, np.nan
    if predicted.ndim == 1:
        return float(np.mean(predicted == y)), np.nan, np.nan
    # Probabilities of a model that diverged are NaN.
    chosen = np.nan_to_num(predicted[np.arange(len(y)), y] / predicted.sum(axis=1))
    tiny = np.finfo(float).eps
    accuracy = float(np.mean(predicted.argmax(axis=1) == y))
    return accuracy, float(np.log(chosen.clip(tiny)).mean()), _roc_auc(predicted, y)


def _roc_auc(probabilities: Any, y: Any) -> float:
    shares = np.nan_to_num(probabilities)
    if shares.shape[1] == 2:
        return float(roc_auc_score(y, shares[:, 1]))
    against_others = [roc_auc_score(y == k, shares[:, k]) for k in np.unique(y)]
    return float(np.mean(against_others))


def encoded(values: NDArray[np.float64]) -> NDArray[np.int16]:
    """Scores as they are stored."""
    limit = 2**15 - 1
    whole = np.where(np.isnan(values), MISSING, np.clip(np.rint(values * SCALE), -limit, limit))
    return whole.astype(np.int16)


def decoded(values: NDArray[np.int16]) -> NDArray[np.float64]:
    """Scores as they were."""
    return np.where(values == MISSING, np.nan, values / SCALE)


def _rounded(seconds: NDArray[np.float64]) -> NDArray[np.float16]:
    """Seconds to 3 %: noise does not compress."""
    return (seconds.astype(np.float16).view(np.uint16) & 0xFFE0).view(np.float16)


def store(path: Path, arrays: dict[str, Any]) -> None:
    """Write a file, which exists only once it is complete."""
    partial_path = path.with_suffix(".part")
    with partial_path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    partial_path.rename(path)


def main() -> None:
    """Measure what has no file yet, data set by data set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--n-configurations", type=int, default=N_CONFIGURATIONS)
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # of models that have not converged, or diverge
    np.seterr(all="ignore")
    for data in options.data:
        for family in options.families:
            path = FOLDER / f"{family}-{data}.npz"
            if path.exists():
                continue
            n, n_samples = EXCEPTIONS.get((family, data), (N_CONFIGURATIONS, N_SAMPLES))
            start = perf_counter()
            arrays = measure(family, data, min(n, options.n_configurations), n_samples)
            store(path, arrays)
            print(
                f"{family} on {data}: {arrays['scores'].shape}, {path.stat().st_size:,} bytes, "
                f"{perf_counter() - start:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
