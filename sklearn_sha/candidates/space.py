"""Search spaces: dicts of lists and distributions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid

from sklearn_sha._compat import settings_of
from sklearn_sha._param_validation import is_estimator
from sklearn_sha.candidates.distributions import has_quantiles

COMPONENTS = ("steps", "estimators", "transformers", "transformer_list")
"""Parameters of scikit-learn that are lists of named estimators."""


def grid_of(param_distributions: Any) -> ParameterGrid | None:
    """Return the grid of a space, or None if it has distributions."""
    values = [value for space in spaces_of(param_distributions) for value in space.values()]
    if any(hasattr(value, "rvs") for value in values):
        return None
    return ParameterGrid(param_distributions)


def with_params(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return a clone of an estimator with the parameters of a candidate.

    Raises
    ------
    ValueError
        If the estimator lacks a parameter, with a note if the name only lacks a prefix, such as
        that of a pipeline's step.
    """
    model = clone(estimator)
    if not params:
        return model
    try:
        # Parameters may be estimators, which are cloned for each model as in GridSearchCV.
        return model.set_params(**clone(params, safe=False))
    except AttributeError as error:
        values = {**model.get_params(), **params}
        parents = {name: name.rpartition("__")[0] for name in params if "__" in name}
        for name, parent in parents.items():  # of a step without parameters, such as "passthrough"
            if parent not in values or hasattr(values[parent], "set_params"):
                continue
            if parent not in params:
                raise ValueError(
                    f"{name!r} cannot be set, since {parent!r} of {type(model).__name__} is "
                    f"{values[parent]!r}. Set {parent!r} to an estimator that has the parameter."
                ) from error
            raise ValueError(
                f"{name!r} cannot be set, since {parent!r} is {values[parent]!r} in "
                f"{dict(sorted(params.items()))!r}. Leave it out there: with a list of dicts, "
                "each value of a step can have its own parameters."
            ) from error
        raise
    except ValueError as error:
        known = estimator.get_params()
        for name in sorted({*params} - {*known}):
            if nested := [other for other in known if other.endswith(f"__{name}")]:
                error.add_note(
                    f"Did you mean {' or '.join(map(repr, nested))}, instead of {name!r}?"
                )
        raise


def spaces_of(param_distributions: Any) -> Any:
    """Return the dicts of a space, which may be a single one."""
    is_one = isinstance(param_distributions, Mapping)
    return [param_distributions] if is_one else param_distributions


def constants_of(spaces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters that are lists of the same single value in all spaces.

    Without those of a component that is searched itself, to which they are set after it.

    Examples
    --------
    >>> from sklearn_sha.candidates.space import constants_of
    >>> constants_of([{"C": [1, 2], "tol": [0.1]}, {"C": [3], "tol": [0.1]}])
    {'tol': 0.1}
    >>> constants_of([{"step": [1, 2], "step__C": [1], "other__C": [1]}])
    {'other__C': 1}
    """
    if not spaces:
        return {}
    first, *others = spaces
    constants = {
        name: values[0]
        for name, values in first.items()
        if _is_single(values)
        and all(name in other and _is_single(other[name], values[0]) for other in others)
    }
    searched = {name for space in spaces for name in space} - {*constants}
    if any(name.rpartition("__")[2] in COMPONENTS for name in searched):
        return {}
    return {
        name: value
        for name, value in constants.items()
        if not any(name.startswith(f"{other}__") for other in searched)
    }


def _is_single(values: Any, *expected: Any) -> bool:
    """Return whether a list has one value, which is equal to those that are expected."""
    if not isinstance(values, list | tuple | np.ndarray) or len(values) != 1:
        return False
    return all(value_key(values[0]) == value_key(other) for other in expected)


def n_outside(space: Any, candidates: Sequence[Mapping[str, Any]]) -> int:
    """Return how many candidates are not among the combinations of a space of lists.

    Examples
    --------
    >>> from sklearn_sha.candidates.space import n_outside
    >>> n_outside({"C": [1, 2]}, [{"C": 1}, {"C": 3}, {}])
    2
    """
    return sum(not is_in(space, params) for params in candidates)


def is_in(space: Any, params: Mapping[str, Any]) -> bool:
    """Return whether a candidate belongs to a space. Any value can be one of a distribution.

    Examples
    --------
    >>> from sklearn_sha.candidates.space import is_in
    >>> is_in({"C": [1, 2]}, {"C": 1}), is_in([{"C": [1, 2]}, {}], {}), is_in({"C": [1, 2]}, {})
    (True, True, False)
    """
    return any(
        one.keys() == params.keys()
        and all(
            hasattr(values, "rvs") or _is_one_of(params[name], values)
            for name, values in one.items()
        )
        for one in spaces_of(space)
    )


def _is_one_of(value: Any, values: Iterable[Any]) -> bool:
    if isinstance(values, range):  # which can be long, and finds integers of Python by arithmetic
        value = value.item() if isinstance(value, np.generic) else value
        return type(value) is int and value in values
    return value_key(value) in map(value_key, values)


def has_continuous(space: Any) -> bool:
    """Return whether a space has a continuous distribution of scipy, and so any number of values.

    Examples
    --------
    >>> from scipy.stats import randint, uniform
    >>> from sklearn_sha.candidates.space import has_continuous
    >>> has_continuous([{"C": uniform()}, {"C": [1]}]), has_continuous({"C": randint(1, 9)})
    (True, False)
    """
    return any(
        hasattr(values, "pdf") and not hasattr(values, "pmf") and has_quantiles(values)
        for one in spaces_of(space)
        for values in one.values()
    )


def params_key(params: Mapping[str, Any]) -> Hashable:
    """Return a key that is equal for equal parameters, and different for 1, True and 1.0.

    Estimators are compared by their parameters and settings, arrays by their values, NumPy scalars
    as Python's, and values that cannot be hashed or compared, such as sparse matrices, by identity.
    Equal parameters can then have different keys, but different ones never have the same key.
    """
    return tuple((name, value_key(value)) for name, value in sorted(params.items()))


def value_key(value: Any) -> Hashable:
    """Return the part of `params_key` for one value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple | list):
        return (type(value), *map(value_key, value))
    if isinstance(value, dict):
        return (type(value), frozenset((key, value_key(item)) for key, item in value.items()))
    if isinstance(value, np.ndarray):
        is_plain = not value.dtype.hasobject
        values = value.tobytes() if is_plain else (*map(value_key, value.ravel().tolist()),)
        return (type(value), value.dtype.str, value.shape, values)
    if is_estimator(value):
        return _estimator_key(value)
    if isinstance(value, float):
        return (type(value), repr(value))  # distinguishes -0.0 from 0.0, and equals for nan
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    is_comparable = isinstance(value == value, bool)  # which tensors are not
    return (type(value), value if is_comparable else id(value))


def _estimator_key(estimator: Any) -> Hashable:
    default = BaseEstimator.__sklearn_clone__
    if getattr(type(estimator), "__sklearn_clone__", default) is not default:
        return (type(estimator), id(estimator))  # such as FrozenEstimator, which stays fitted
    params = params_key(estimator.get_params(deep=False))
    return (type(estimator), params, *settings_of(estimator))
