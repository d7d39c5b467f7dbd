"""Number of cross-validation folds as the resource."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sklearn_sha._data.fold_order import MIN_SCORED_SAMPLES
from sklearn_sha._formatting import quantity
from sklearn_sha.resources.base import HOW_TO_RAISE_FIRST_RUNG
from sklearn_sha.resources.limits import Limits, TrainingData
from sklearn_sha.resources.single_fit import SingleFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator


class FoldCount(SingleFit):
    """One unit is one cross-validation fold: its model is fit on all training samples.

    A rung adds folds, and keeps the scores of the folds before. Therefore no candidate is fit twice
    on a fold, and no score depends on how many samples or iterations a rung has.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     KNeighborsClassifier(),
    ...     {"n_neighbors": [1, 3, 5, 9], "weights": ["uniform", "distance"]},
    ...     resource="folds",
    ... )
    >>> search.plan(X, y)
    rung  candidates  step  n_resources  total_cost
       0           8     1            1           8
       1           4     1            2          12
       2           2     3            5          18
    18 folds, 0.45 of a grid search (8 candidates x 5 folds = 40). Every fold is fit once.
    """

    name = "folds"
    unit = "folds"
    subsamples = False
    counts_folds = True
    continuation = "Every fold is fit once."

    def n_folds_at(self, n_resources: int) -> int:
        return n_resources

    def units_per_fold(self, n_resources: int) -> int:
        return 1

    def limits(self, tuned: TunedEstimator, example: Any, data: TrainingData) -> Limits:
        n_folds = len(data.fold_order)
        return Limits(
            lowest=data.min_folds,
            first=data.first_folds,
            default=n_folds,
            highest=n_folds,
            equals_fit=True,
        )

    def all_continue(self, models: Iterable[Any], n_train: int, fit_params: Sequence[str]) -> bool:
        return True  # a rung costs what it adds, since the scores of earlier folds are kept

    def first_rung_error(self, n_resources: int, limits: Limits) -> str:
        if n_resources >= limits.lowest:
            return ""
        return few_folds_error(
            f"resource={self.name!r}",
            n_resources,
            f"{HOW_TO_RAISE_FIRST_RUNG}, to at least {quantity(limits.lowest, self.unit)}",
        )


def few_folds_error(given: str, n_folds: int, remedy: str) -> str:
    """Return the error that the first rung has too few folds.

    Parameters
    ----------
    given : str
        Parameter that sets their number, and its value.
    n_folds : int
    remedy : str
        How to set a larger number.
    """
    return (
        f"{given} would score the first rung on {quantity(n_folds, 'folds')} with fewer than "
        f"{MIN_SCORED_SAMPLES} test samples, which is too few to promote by. {remedy}, or pass a "
        "cv with larger test folds."
    )
