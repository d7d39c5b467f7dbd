"""The resource of a search."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target, unique_labels

from sklearn_sha.candidates.space import search_space, spaces_of, with_params
from sklearn_sha.resources.automatic import (
    auto_resource,
    last_step,
    variants,
)
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.boosting_libraries import booster_of
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit

_NAMES: dict[type, str] = {PartialFit: "partial_fit", SampleCount: "n_samples"}


def resource_kind(search: Any) -> str:
    """What the resource of a search is: "partial_fit", "n_samples", a parameter or a class."""
    resource = search.resource
    if isinstance(resource, str):
        if resource != "auto":
            return resource
        if search.batch_size is not None and hasattr(last_step(search.estimator), "partial_fit"):
            return "partial_fit"
        return auto_resource(search.estimator, spaces_of(search_space(search)))
    # Those of the library are the same as their names.
    if type(resource) is IntegerParameter:
        return resource.name
    return _NAMES.get(type(resource), type(resource).__name__)


def trains_last_step(estimator: Any, param_distributions: Any, kind: str) -> bool:
    """Whether the steps of a pipeline before its last are fitted once for many candidates."""
    if not isinstance(estimator, Pipeline):
        return False
    if "steps" in searched_names(param_distributions):
        return False
    if kind == "partial_fit":
        return True
    last = estimator.steps[-1][0]
    steps = [estimator.steps[-1][1], *_searched_values(param_distributions, last)]
    if any(step is None or isinstance(step, str) for step in steps):
        return False  # a last step that passes rows on has nothing to train
    # What overrides Pipeline's fit, or changes y on its way, has to be fitted whole.
    if type(estimator) is not Pipeline or getattr(estimator, "transform_input", None) is not None:
        return False
    return kind == "n_samples" or kind.startswith(f"{last}__")


def searched_names(param_distributions: Any) -> set[str]:
    return {name for space in spaces_of(param_distributions) for name in space}


def _searched_values(param_distributions: Any, name: str) -> list[Any]:
    """The listed values of a searched parameter."""
    values = [space[name] for space in spaces_of(param_distributions) if name in space]
    return [value for listed in values if not hasattr(listed, "rvs") for value in listed]


def classes_of(trained: Any, y: Any) -> Any:
    """What the first partial_fit is told of the classes: all that y has."""
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
            f"partial_fit has to be told which classes y has, and that can't be said: {error}; "
            "give labels of one kind, and none that is missing."
        ) from error


def own_resource(search: Any) -> Resource | None:
    """The resource of a search where it is none of the library's."""
    resource = search.resource
    is_known = isinstance(resource, str) or type(resource) in (*_NAMES, IntegerParameter)
    return None if is_known else resource


def make_resource(
    search: Any, kind: str, shares_preprocessing: bool, seed: int, trained: Any, y: Any
) -> Resource:
    if (own := own_resource(search)) is not None:
        return own
    if kind == "n_samples":
        return SampleCount()
    if kind != "partial_fit":
        return _parameter(kind, shares_preprocessing)
    given = search.resource if isinstance(search.resource, PartialFit) else PartialFit()
    return PartialFit(
        batch_size_of(search),
        seed if given.seed is None else given.seed,
        classes_of(trained, y) if given.classes is None else given.classes,
    )


def _parameter(kind: str, shares_preprocessing: bool) -> IntegerParameter:
    """The resource of a parameter, named as the trained estimator does."""
    return IntegerParameter(kind.partition("__")[2] if shares_preprocessing else kind)


def batch_size_of(search: Any) -> int | None:
    own = search.resource.batch_size if isinstance(search.resource, PartialFit) else None
    return search.batch_size if own is None else own


def all_continue(
    search: Any,
    kind: str,
    shares_preprocessing: bool,
    candidates: list[dict[str, Any]],
    n_train: int,
    fit_params: dict[str, Any],
) -> bool:
    """Whether the model of every candidate keeps training: as planned, so run."""
    if kind in ("partial_fit", "n_samples"):
        return kind == "partial_fit"
    own = own_resource(search)
    resource = own or _parameter(kind, shares_preprocessing)

    def continues(params: dict[str, Any]) -> bool:
        model = with_params(search.estimator, params)
        trained = model[-1] if shares_preprocessing else model
        if own is None and fit_params.keys() - {"sample_weight"} and booster_of(trained):
            return False  # callbacks, say, or initial scores, which each fit begins anew with
        return resource.continues(trained, n_train)

    return all(map(continues, candidates))


def variants_of(search: Any) -> list[Any]:
    return [model for model, _ in variants(search.estimator, spaces_of(search_space(search)))]
