"""The samples of a search, split into folds."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags

from sklearn_sha._data.fold_order import fold_order, is_series, min_folds
from sklearn_sha._data.folds import Fold, make_folds
from sklearn_sha._data.rare_classes import n_of_rarest, rarest_class
from sklearn_sha._data.slicing import n_samples_of, sample_indices
from sklearn_sha._data.subsampling import class_codes, classes_of_samples, with_subsampling
from sklearn_sha._search.routing import RoutedParams
from sklearn_sha.resources.limits import TrainingData


@dataclass(frozen=True)
class SplitData:
    """Samples of a search and their splits.

    Attributes
    ----------
    X, y : array-like
    splits : list of (train, test)
    codes : ndarray of int of shape (n_samples, n_outputs), or None
        Classes of each sample, for a classifier.
    fold_order : tuple of int
        Numbers of all folds, in the order in which they are added.
    are_series : bool
        Whether the splits are of a time series.
    """

    X: Any
    y: Any
    splits: list[tuple[Any, Any]]
    codes: NDArray[np.intp] | None
    fold_order: tuple[int, ...]
    are_series: bool

    def training_data(self) -> TrainingData:
        """Return what the limits of a resource depend on."""
        trains = [sample_indices(train) for train, _ in self.splits]
        tests = [sample_indices(self.splits[fold][1]) for fold in self.fold_order]
        largest, test_sizes = max(trains, key=len), [len(test) for test in tests]
        lowest = first = min_folds(test_sizes)
        n_classes, n_rarest = 1, len(largest)
        if (classes := classes_of_samples(self.codes)) is not None:
            counts, in_largest = np.bincount(classes), np.bincount(classes[largest])
            is_rarest = classes == rarest_class(counts)
            first = min_folds(test_sizes, [int(is_rarest[test].sum()) for test in tests])
            n_classes, n_rarest = len(counts), n_of_rarest(in_largest)
        return TrainingData(
            self.X, len(largest), n_classes, self.fold_order, lowest, first, n_rarest
        )


def split_data(
    X: Any,
    y: Any,
    estimator: Any,
    cv: Any,
    split_params: dict[str, Any],
    random_state: RandomState | None,
    *,
    has_classes: bool,
) -> SplitData:
    """Split samples, as GridSearchCV does.

    Parameters
    ----------
    X, y : array-like
    estimator : estimator
        Splits are stratified for a classifier.
    cv : int, cross-validator, iterable or None
    split_params : dict
        Passed to the splitter.
    random_state : RandomState or None
        Source of the order of the folds. It is not advanced. None: the order of the splitter.
    has_classes : bool
        Whether some candidates are classifiers, so that subsamples are stratified.

    Returns
    -------
    SplitData

    Raises
    ------
    ValueError
        If there is no split, or not as many as the splitter declares, or if all of them have no
        training samples.
    """
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    splits = list(splitter.split(X, y, **split_params))
    if not splits:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? "
            f"cv={cv!r} yields no split. Set it to one that yields at least one."
        )
    n_splits = splitter.get_n_splits(X, y, **split_params)
    if len(splits) != n_splits:
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. Expected "
            f"{n_splits} splits, got {len(splits)} from cv={cv!r}."
        )
    if all(n_samples_of(train) == 0 for train, _ in splits):
        raise ValueError(
            f"cv={cv!r} yields no training samples. In the test_fold of a PredefinedSplit, -1 "
            "marks samples that are only trained on."
        )
    are_series = is_series(splits)
    order = fold_order(splitter, splits, deepcopy(random_state), are_series=are_series)
    codes = class_codes(y) if has_classes else None
    return SplitData(X, y, splits, codes, order, are_series)


def search_folds(
    data: SplitData, routed: RoutedParams, models: Iterable[Any], *, subsamples: bool, seed: int
) -> list[Fold]:
    """Make the folds of a search.

    Parameters
    ----------
    data : SplitData
    routed : RoutedParams
    models : iterable of estimator
        With the parameters of the candidates, at least one.
    subsamples : bool
        Whether the resource can have some of the training samples of a fold.
    seed : int
        Seed of the subsamples.

    Returns
    -------
    list of Fold

    Raises
    ------
    ValueError
        If X should be a kernel matrix and is not square, or should be one for some models only.
    """
    folds = make_folds(
        data.X,
        data.y,
        data.splits,
        fit_params=routed.fit,
        preprocessing_params=routed.preprocessing,
        score_params=routed.score,
        pairwise=_is_pairwise(models, data.X),
    )
    if subsamples:
        folds = with_subsampling(folds, codes=data.codes, seed=seed, are_series=data.are_series)
    return folds


def _is_pairwise(models: Iterable[Any], X: Any) -> bool:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    is_square = len(shape) == 2 and shape[0] == shape[1]
    are_pairwise = (bool(get_tags(model).input_tags.pairwise) for model in models)
    is_pairwise = next(are_pairwise)
    if is_pairwise and (not is_square or hasattr(X, "columns")):
        raise ValueError(
            "X should be a square kernel matrix: precomputed kernels, affinities and distances "
            "have to be passed as arrays or sparse matrices of shape (n_samples, n_samples), and "
            "not as frames."
        )
    # X is sliced once for all candidates.
    if is_square and any(other != is_pairwise for other in are_pairwise):
        raise ValueError(
            "X is square, and some candidates take it as a precomputed kernel, affinity or "
            "distance, while others do not. Search them separately."
        )
    return is_pairwise
