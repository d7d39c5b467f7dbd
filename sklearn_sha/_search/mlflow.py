"""MLflow autologging of a search: one run, with a child run per candidate.

``mlflow.sklearn.autolog()`` patches scikit-learn's own classes. Without this file, it would log
every fit of a search as a separate run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import indexable

from sklearn_sha._compat import autologs_to_mlflow
from sklearn_sha._user_warning import warn_user

_TAG = "mlflow.autologging"
_N_EXAMPLE_SAMPLES = 5


@contextmanager
def autologged(search: Any, X: Any, y: Any) -> Iterator[None]:
    """Log the search in this context to MLflow, but none of its fits.

    Does nothing if `mlflow.sklearn.autolog()` is not enabled, which is checked without importing
    MLflow, or inside another fit that MLflow logs. If something cannot be logged, a warning is
    raised.

    Parameters
    ----------
    search : search estimator
        Has its fitted attributes when the context ends.
    X, y : array-like
        Training data.
    """
    if not autologs_to_mlflow():
        yield
        return
    import mlflow
    from mlflow.utils.autologging_utils import disable_autologging

    with disable_autologging():
        # As for other estimators, an active run is continued and remains open.
        is_own = mlflow.active_run() is None
        is_logged = _try(_begin, search, is_own)
        status = "FAILED"
        try:
            if is_logged:
                _try(_log_params, search)
                _try(_log_data, X, y)
            yield
            status = "FINISHED"
            if is_logged:
                _try(_log_best_params, search)
                _try(_log_best_scores, search, X, y)
                _try(_log_candidates, search)
                _try(_log_rungs, search)
                _try(_log_models, search, X)
        finally:
            if is_own:
                _try(mlflow.end_run, status)


def _try(function: Callable[..., Any], *args: Any) -> bool:
    """Return whether a call succeeded; warn otherwise, since an error would stop the training."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of MLflow itself
            function(*args)
    except Exception as error:
        warn_user(
            f"Part of the search was not logged to MLflow: {type(error).__name__}: {error}",
        )
        return False
    return True


def _config(name: str) -> Any:
    """Return an argument of the user's call of `mlflow.sklearn.autolog`."""
    from mlflow.utils.autologging_utils import get_autologging_config

    return get_autologging_config("sklearn", name)


def _tags(estimator: Any) -> dict[str, str]:
    cls = type(estimator)
    return {"estimator_name": cls.__name__, "estimator_class": f"{cls.__module__}.{cls.__name__}"}


def _begin(search: Any, is_own: bool) -> None:
    import mlflow

    if is_own:
        mlflow.start_run(tags={**(_config("extra_tags") or {}), _TAG: "sklearn"})
    mlflow.set_tags(_tags(search))


def _log_params(search: Any) -> None:
    import mlflow

    mlflow.log_params(search.get_params(deep=False))


def _log_data(X: Any, y: Any) -> None:
    """Log the training data if MLflow has a data set of their type: of pandas without targets."""
    import mlflow

    if not _config("log_datasets"):
        return
    data: Any = mlflow.data
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        targets = None if y is None else np.asarray(_dense(y))  # MLflow takes no Series and no list
        dataset = data.from_numpy(_dense(X), targets=targets)
    elif hasattr(X, "iloc") and hasattr(X, "columns"):
        dataset = data.from_pandas(X)
    elif type(X).__module__.startswith("polars.") and hasattr(X, "columns"):
        dataset = data.from_polars(X)
    else:
        return
    mlflow.log_input(dataset, context="train")


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def _log_best_params(search: Any) -> None:
    import mlflow

    if hasattr(search, "best_params_"):
        mlflow.log_params({f"best_{name}": value for name, value in search.best_params_.items()})


def _log_best_scores(search: Any, X: Any, y: Any) -> None:
    import mlflow

    if hasattr(search, "best_score_"):
        mlflow.log_metric("best_cv_score", float(search.best_score_))
    has_metric = not (search.multimetric_ and callable(search.refit))
    if hasattr(search, "best_estimator_") and has_metric:
        mlflow.log_metric("training_score", float(search.score(X, y)))


def _log_candidates(search: Any) -> None:
    """Log each candidate at its furthest rung, starting with the best."""
    import mlflow
    import pandas as pd

    final = pd.DataFrame(search.cv_results_).filter(regex="^rank_")
    final["candidate"] = search.all_cv_results_["candidate"][search.cv_results_rows_]
    order = ["n_resources", "n_folds", f"mean_test_{search.promote_by_}"]
    best_first = search.results_frame().sort_values(order, ascending=False, kind="stable")
    best_first = best_first.merge(final, on="candidate", how="left")  # only the last rung has ranks
    # None stands for all runs in MLflow.
    for row in best_first[: _config("max_tuning_runs")].to_dict("records"):
        params = {**search.estimator.get_params(), **row["params"]}
        if search.resource_ in params:
            params[search.resource_] = row["n_resources"]
        with mlflow.start_run(nested=True, tags={**_tags(search.estimator), _TAG: "sklearn"}):
            mlflow.log_params(params)
            mlflow.log_metrics(
                {
                    name: float(value)
                    for name, value in row.items()
                    if isinstance(value, Real)
                    and not name.startswith(("param", "split"))
                    and not (name.startswith("rank_") and np.isnan(float(value)))
                }
            )


def _log_rungs(search: Any) -> None:
    import mlflow
    import pandas as pd

    for name in ("cv_results", "all_cv_results"):
        frame = pd.DataFrame(getattr(search, f"{name}_"))
        mlflow.log_text(frame.to_csv(index=False), f"{name}.csv")
    mlflow.log_dict({"rungs": list(search.rung_history_)}, "rung_history.json")


def _log_models(search: Any, X: Any) -> None:
    import mlflow

    if not (_config("log_models") and hasattr(search, "best_estimator_")):
        return
    indexable_X: Any = indexable(X)[0]  # a sparse matrix can have a format without rows
    example = indexable_X[:_N_EXAMPLE_SAMPLES]
    options: dict[str, Any] = {
        "input_example": example if _config("log_input_examples") else None,
        "serialization_format": _config("serialization_format"),
    }
    if _config("log_model_signatures") and hasattr(search, "predict"):
        with suppress(Exception):  # a model can refuse so few samples, and is logged without one
            predicted = search.predict(example)
            options["signature"] = mlflow.models.infer_signature(example, predicted)
    registered = _config("registered_model_name")
    mlflow.sklearn.log_model(search, name="model", registered_model_name=registered, **options)
    mlflow.sklearn.log_model(search.best_estimator_, name="best_estimator", **options)
