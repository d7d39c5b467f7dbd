"""New models as copies, for estimators whose clones share all that they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from sklearn_sha._parallel.captured_output import CapturedWarning, capture_output
from sklearn_sha.resources.tuned_estimator import last_prefix, last_step

_SAME_IN_WORKERS = (
    *(NoneType, bool, int, float, complex, str, bytes, type, np.generic, Enum),
    *(FunctionType, BuiltinFunctionType, type(np.mean)),
)
"""Types whose values are the same after pickling. Locks, connections and sentinels are not."""


@dataclass(frozen=True)
class Template:
    """Model of which every new model is a shallow copy.

    `clone` and ``set_params`` inspect the signature of the constructor several times, which takes
    longer than all that the search itself does for an evaluation. The result is the same if
    clones share all their attributes, such as numbers and strings, and ``set_params`` only sets
    attributes. The constructor is then called once per search.

    Attributes
    ----------
    model_class : type
    attributes : dict of str to object
        Attributes of each clone.
    own_names : dict of str to str
        Parameters of the model by their names in candidates.
    other_steps : frozenset of str
        Steps of the pipeline before the model. Their parameters do not concern it.
    """

    model_class: type
    attributes: dict[str, Any]
    own_names: dict[str, str]
    other_steps: frozenset[str] = frozenset()

    @classmethod
    def of(cls, estimator: Any, *, trains_last_step: bool) -> Template | None:
        """Return the template of an estimator, or of the last step of a pipeline.

        Parameters
        ----------
        estimator : estimator
        trains_last_step : bool
            Whether models are the last step of a pipeline.

        Returns
        -------
        Template or None
            None if clones do not share all their attributes: a parameter is an estimator, an
            array or a random state; the constructor makes something new or warns; or there are
            metadata requests or a configured output. Also None if an attribute can be another
            one in a worker process, if a parameter is no attribute, or if it is unknown how the
            estimator is cloned or its parameters are set.
        """
        if not trains_last_step:
            model, prefix, other_steps = estimator, "", frozenset[str]()
        elif type(estimator) is Pipeline:
            model, prefix = last_step(estimator), last_prefix(estimator)
            other_steps = frozenset(name for name, _ in estimator.steps[:-1])
        else:
            return None
        if not _is_standard(type(model)):
            return None
        output: list[CapturedWarning | str] = []
        with capture_output(output, captures_prints=True):
            first = clone(model)
            attributes, others = vars(first), vars(clone(first))
        if output or list(attributes) != list(others):
            return None
        if not all(_is_shared(attributes[name], others[name]) for name in attributes):
            return None
        params = first.get_params(deep=False)
        if not attributes.keys() >= params.keys():
            return None
        names = [name for name in params if "__" not in name]
        own_names = {f"{prefix}{name}": name for name in names}
        return cls(type(model), attributes, own_names, other_steps)

    def new_model(self, params: Mapping[str, Any]) -> Any:
        """Return a new model with the parameters of a candidate; None if it needs ``set_params``.

        Parameters
        ----------
        params : mapping of str to object
        """
        own = {}
        for name, value in params.items():
            if name in self.own_names:
                own[self.own_names[name]] = value
            elif name.split("__")[0] not in self.other_steps:
                return None
        model: Any = object.__new__(self.model_class)
        # They are set one by one, since only then instances share the dict of their names.
        for name, value in self.attributes.items():
            object.__setattr__(model, name, value)
        # Parameters may be estimators, which are cloned for each model as in GridSearchCV.
        for name, value in clone(own, safe=False).items():
            setattr(model, name, value)
        return model


def _is_standard(cls: type) -> bool:
    """Return whether a class has scikit-learn's methods, and all its state in its attributes."""
    return (
        issubclass(cls, BaseEstimator)
        and all(
            getattr(cls, name) is getattr(BaseEstimator, name)
            for name in ("__new__", "get_params", "set_params", "__sklearn_clone__")
        )
        and not any(vars(base).get("__slots__") for base in cls.__mro__)
    )


def _is_shared(value: Any, other: Any) -> bool:
    """Return whether clones share a value, also those in workers; `clone` makes new tuples."""
    if type(value) is tuple is type(other):
        return len(value) == len(other) and all(map(_is_shared, value, other))
    return value is other and isinstance(value, _SAME_IN_WORKERS)
