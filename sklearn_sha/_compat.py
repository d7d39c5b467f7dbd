"""Private API of scikit-learn, joblib and MLflow, with the reasons and the versions tested."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import sklearn
from joblib.hashing import NumpyHasher
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV

_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
BaseSearchCV: Any = GridSearchCV.__base__
"""Abstract base class by which other libraries recognize a search, to register ours with.

It has no public name. Tested with 1.6.0 and 1.9.1.
"""

# Without metadata routing, searches pass `sample_weight` to the scorer since scikit-learn 1.7, and
# only to `fit` before. Tested with 1.6.0, 1.7.2, 1.8.0 and 1.9.1.
SCORES_WITH_SAMPLE_WEIGHT = _VERSION >= (1, 7)

# Callbacks were added in scikit-learn 1.9.
if _VERSION >= (1, 9):
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
else:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for the mixin of scikit-learn."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Raise, since this version of scikit-learn has no callbacks."""
            raise AttributeError(
                "set_callbacks requires scikit-learn 1.9 or newer, and this is "
                f"{sklearn.__version__}. Update scikit-learn, or set verbose=1 to see the progress."
            )

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method itself, since this version of scikit-learn has no callbacks."""
        return method


def callback_context(search: Any, n_subtasks: int) -> Any:
    """Return the root of the tree of tasks of a search, or None without callbacks.

    `_init_callback_context` is documented for third-party estimators. Whether there are callbacks
    has no public name. Tested with 1.9.1.
    """
    has_callbacks = hasattr(search, "_parent_callback_ctx") or any(
        hasattr(value, "_skl_callbacks") for value in (search, *search.get_params().values())
    )
    return search._init_callback_context(max_subtasks=n_subtasks) if has_callbacks else None


def without_callbacks(estimator: Any) -> Any:
    """Return a clone of an estimator without its callbacks, which `clone` keeps."""
    copied = clone(estimator)
    for value in (copied, *copied.get_params().values()):
        drop_callbacks(value)
    return copied


def drop_callbacks(value: Any) -> None:
    """Remove the callbacks of an estimator, if it has any, in place."""
    if hasattr(value, "_skl_callbacks"):
        value.set_callbacks()


def routing_enabled() -> bool:
    """Return whether metadata routing is enabled in scikit-learn's configuration.

    The function that reads it has no public name.
    """
    return bool(sklearn.get_config()["enable_metadata_routing"])


def accepts_sample_weight(scorer: Any) -> bool:
    """Return whether a scorer accepts ``sample_weight``, as GridSearchCV decides it.

    For a scorer of `make_scorer`, only `_accept_sample_weight` (since 1.7) shows it: its
    ``__call__`` accepts any weights, and its metric is not public.
    """
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in inspect.signature(scorer).parameters


def is_weighable(scorer: Any) -> bool:
    """Return whether a scorer can be one of several that receive ``sample_weight``.

    scikit-learn's scorer of several metrics calls this method of each, also of those that are given
    as functions. Tested with 1.7.2 and 1.9.1.
    """
    return hasattr(scorer, "_accept_sample_weight")


def metric_of(scorer: Any) -> Any:
    """Return the function that a scorer of `make_scorer` calls, or None for other scorers.

    It is public only as a part of the text of the scorer, which 1.6 cannot write for all functions.
    Tested with 1.6.0 and 1.9.1.
    """
    metric = getattr(scorer, "_score_func", None)
    while isinstance(metric, partial):
        metric = metric.func
    return metric


def is_multimetric_scorer(scorer: Any) -> bool:
    """Return whether `check_scoring` made a scorer of several metrics.

    Its scores can be the tracebacks of metrics that failed. The class of such scorers has no public
    name. Tested with 1.6.0 and 1.9.1.
    """
    return isinstance(scorer, type(check_scoring(DummyClassifier(), scoring=["accuracy"])))


def is_made_by_make_scorer(scorer: Any) -> bool:
    """Return whether a scorer was made by `make_scorer`, so that it uses only predictions.

    The class of such scorers has no public name. Tested with 1.6.0 and 1.9.1.
    """
    return isinstance(scorer, type(make_scorer(accuracy_score)))


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hasher, but frozen sets with the same items have the same hash in every process.

    `joblib.hash` does this for sets only. The class has no public name. Tested with joblib 1.4.0
    and 1.6.0.
    """

    def _save_set(self, items: Any) -> None:
        is_text = all(isinstance(item, str) for item in items)
        self.save((type(items).__name__, sorted(items if is_text else map(consistent_hash, items))))

    dispatch = NumpyHasher.dispatch | {set: _save_set, frozenset: _save_set}


def consistent_hash(value: Any) -> str:
    """Return a hash of a value that can be pickled, which is the same in every process."""
    return str(_Hasher(coerce_mmap=True).hash(value))


def active_backend() -> Any:
    """Return joblib's backend of this thread.

    joblib has no documented function for it. Tested with joblib 1.4.0 and 1.6.0.
    """
    return get_active_backend()[0]


def dask_futures(backend: Any) -> dict[int, Any] | None:
    """Return what joblib's backend of dask has sent to its workers, by ``id``; None for others.

    What is added there is sent once. The attribute is not documented. Tested with dask 2026.8.0.
    """
    futures: dict[int, Any] | None = getattr(backend, "data_futures", None)
    return futures


def settings_of(estimator: Any) -> list[str]:
    """Return what a clone of an estimator has besides its parameters, and can change its results.

    These are what methods such as `set_output` and `set_fit_request` set. They have no public
    names. Requests cannot be compared, but are shown in full. Tested with 1.6.0 and 1.9.1.
    """
    names = ("_sklearn_output_config", "_metadata_request")
    return [repr(getattr(estimator, name, None)) for name in names]


def search_block(search: Any) -> Any:
    """Return the diagram block of a search: its best estimator, or its estimator before fit.

    The function that makes blocks has no public name. Tested with 1.6.0 and 1.9.1.
    """
    return GridSearchCV._sk_visual_block_(search)


def autologs_to_mlflow() -> bool:
    """Return whether MLflow would log the fit of a scikit-learn estimator now.

    Whether logging is paused, as in `cross_val_score`, or an outer fit is logged has no public
    name. Tested with MLflow 3.17.2.
    """
    utils = sys.modules.get("mlflow.utils.autologging_utils")
    if utils is None or utils.autologging_is_disabled("sklearn"):
        return False
    is_exclusive = utils.get_autologging_config("sklearn", "exclusive", False)
    return not (
        utils._AUTOLOGGING_GLOBALLY_DISABLED
        or utils._has_active_training_session()
        or (is_exclusive and sys.modules["mlflow"].active_run() is not None)
    )
