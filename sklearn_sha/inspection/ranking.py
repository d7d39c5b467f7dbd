"""Checks of a fitted search, and the rows of its selected, best and audited candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted


def best_index(results: Mapping[str, Any], metric: str) -> np.intp:
    """Index in ``cv_results_`` of the best candidate by a metric, the first one of a tie.

    Parameters
    ----------
    results : mapping
        ``cv_results_``, with ranks.
    metric : str

    Returns
    -------
    numpy.intp
        As in GridSearchCV.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.inspection.ranking import best_index
    >>> int(best_index({"rank_test_score": np.array([3, 1, 1])}, "score"))
    1
    """
    return np.intp(np.argmin(results[f"rank_test_{metric}"]))


def check_has_rungs(search: Any, caller: str) -> None:
    """Raise if a search is not fitted, or is not one of this library.

    Parameters
    ----------
    search : search estimator
    caller : str
        Name of the function or class that requires rungs, for the message.

    Raises
    ------
    NotFittedError, TypeError
    """
    if not hasattr(search, "rung_history_") and hasattr(search, "cv_results_"):
        raise TypeError(
            f"{caller} requires a search with rungs, and {type(search).__name__} has none. Pass "
            "a fitted search of sklearn_sha."
        )
    check_is_fitted(search, "promote_by_")


def check_metric(results: Mapping[str, Any], metric: str) -> None:
    """Raise a ValueError if ``all_cv_results_`` does not have a metric."""
    if f"mean_test_{metric}" not in results:
        known = [name[10:] for name in results if name.startswith("mean_test_")]
        raise ValueError(f"metric={metric!r} is none of the metrics {known}. Choose one of them.")


def is_audited(results: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Whether each row of ``all_cv_results_`` is the result of an audit."""
    return results.get("audited", np.zeros(len(results["candidate"]), dtype=bool))


def selected_row(search: Any, metric: str) -> int:
    """Row of ``all_cv_results_`` from which a fitted search selected its best candidate.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
    metric : str
        Metric of the best candidate, if the search has selected none: with several metrics and
        ``refit=False``.

    Returns
    -------
    int
    """
    has_selected = hasattr(search, "best_index_")
    index = search.best_index_ if has_selected else best_index(search.cv_results_, metric)
    return int(search.cv_results_rows_[index])
