"""The classes that ``partial_fit`` has to receive."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target, unique_labels


def classes_of(trained: Any, y: Any) -> Any:
    """The `classes` of a first ``partial_fit``: all that y has.

    Parameters
    ----------
    trained : estimator
    y : array-like or None

    Returns
    -------
    ndarray, list of ndarray or None
        A list with an array per output for several outputs; None for no classifier.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier, SGDRegressor
    >>> from sklearn_sha.resources.class_labels import classes_of
    >>> classes_of(SGDClassifier(), [2, 0, 2]), classes_of(SGDRegressor(), [2, 0, 2])
    (array([0, 2]), None)
    """
    if y is None or not is_classifier(trained):
        return None
    if issparse(y) and (y.ndim == 1 or y.shape[1] == 1):
        return None  # estimators refuse such a column, and say so
    from sklearn.multioutput import ClassifierChain, MultiOutputClassifier  # slow to import

    of_each_output = isinstance(trained, MultiOutputClassifier | ClassifierChain)
    try:
        with np.errstate(invalid="ignore"):  # of NaN, which is no class
            y = check_array(
                y, accept_sparse=True, dtype=None, ensure_2d=False, ensure_all_finite=False
            )
            if of_each_output or type_of_target(y) == "multiclass-multioutput":
                return [np.unique(column) for column in np.asarray(y).T]
            return unique_labels(y)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "partial_fit requires the classes of y, which cannot be determined. Pass labels of a "
            f"single type without missing values. The error was: {error}"
        ) from error
