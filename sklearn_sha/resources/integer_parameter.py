"""An integer parameter of the estimator, such as its number of trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from fractions import Fraction
from typing import Any

from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha._param_validation import is_int
from sklearn_sha.resources.base import MANY_SAMPLES, Resource, call_training
from sklearn_sha.resources.boosting_libraries import Booster, booster_of
from sklearn_sha.resources.epochs import ITERATION_PARAMETERS
from sklearn_sha.resources.limits import Limits, TrainingData
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step
from sklearn_sha.resources.warm_starts import exact_warm_starts, replays

_GROWING_PARAMETERS = ("n_estimators", *ITERATION_PARAMETERS)

# Fixed cost of a fit of an ensemble, as a share of the cost of all its trees.
_FIXED_SHARE = Fraction(1, 20)


LEARNING_RATES = frozenset({"learning_rate", "eta"})
"""Names of the learning rate of boosting. Large ones are ahead at first and behind in the end."""


class IntegerParameter(Resource):
    """One unit is 1 of an integer parameter, such as n_estimators.

    Parameters
    ----------
    name : str
        Of a parameter of the estimator that is searched; ``a__b`` for a nested one.
    unit : str, default="units"
        What the parameter counts, in the plural. A search names it for the estimators it knows.

    Notes
    -----
    Training continues if scikit-learn's warm start adds to the fitted model and the result is that
    of a single fit, which holds for what `exact_warm_starts` lists; and if XGBoost, LightGBM or
    CatBoost continue from a booster, under the conditions of the user guide. For estimators whose
    warm start begins a new descent from the old solution (SGD, MLP, the linear models, mixtures)
    the result would differ, so every rung refits from scratch. So does a parameter of an estimator
    nested in a meta-estimator, or of a pipeline's earlier step. That of a pipeline's last step
    continues.
    """

    subsamples = False

    def __init__(self, name: str, unit: str = "units") -> None:
        self.name = name
        self.unit = unit

    def continues(self, model: Any, n_train: int) -> bool:
        if (booster := booster_of(model)) is not None:
            return self.name in booster.rounds and booster.is_exact(model)
        name, exact = exact_warm_starts().get(type(model), (None, replays))
        return name == self.name and exact(model, n_train)

    def advance(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        X, y, params = samples.fitting()
        booster = booster_of(model)
        if start and booster is not None:
            earlier = booster.begin(model, self.name, target - start)
            call_training(model.fit, X, y, params | {booster.argument: earlier})
            booster.set_rounds(model, self.name, target)
            return
        model.set_params(**{self.name: target})
        if not start:
            call_training(model.fit, X, y, params)
            return
        own = model.warm_start
        model.set_params(warm_start=True)
        try:
            call_training(model.fit, X, y, params)
        finally:  # a scorer can call fit
            model.set_params(warm_start=own)

    def limits(self, tuned: TunedEstimator, example: Any, data: TrainingData) -> Limits:
        values = {parameter_value(model, self.name) for model in tuned.models()}
        value: Any = values.pop() if len(values) == 1 else None  # families can have several
        default = int(value) if is_int(value) else None
        return Limits(
            lowest=self.lowest,
            first=self.lowest,
            default=default,
            fixed=(default or 0) * _FIXED_SHARE,
            equals_fit=True,
        )

    def unit_for(self, example: Any) -> str:
        if self.unit != Resource.unit:
            return self.unit
        return counted(self.name, _owner(example, self.name))

    def all_continue(self, models: Iterable[Any], n_train: int, fit_params: Sequence[str]) -> bool:
        # Monitors, callbacks or initial scores, for example, can make a fit end otherwise than a
        # fit that continues another.
        is_other = bool(set(fit_params) - {"sample_weight"})
        return not is_other and all(self.continues(model, n_train) for model in models)

    def trains_last_step(self, tuned: TunedEstimator) -> bool:
        return tuned.fits_last_step_alone and self.name.startswith(last_prefix(tuned.estimator))

    def of_last_step(self, prefix: str) -> Resource:
        own = copy(self)
        own.name = self.name.removeprefix(prefix)
        return own

    def best_params(self, n_resources: int) -> dict[str, Any]:
        return {self.name: n_resources}

    def space_error(self, tuned: TunedEstimator) -> str:
        names = {name for model in tuned.models() for name in names_of(model, self.name)}
        searched = names & tuned.searched
        if not searched:
            return ""
        alias = "" if self.name in searched else f", as {min(searched)!r}"
        return (
            f"resource={self.name!r} is searched too{alias}; take it out of {tuned.space_name}, or "
            "use another resource."
        )

    def why_not(self, model: Any) -> str:
        name, last = type(model).__name__, last_step(model)
        params = model.get_params()
        booster = _booster_with(model, self.name)
        # CatBoost's parameters are those that were set.
        if self.name not in params and booster is None:
            which = name if last is model else f"{name} with the last step {last}"
            holder = self.name.rpartition("__")[0]
            if params.get(holder, last) is not last:
                which = f"{name} with {holder}={params[holder]!r}"
            return f"resource={self.name!r} is no parameter of {which}"
        if booster is not None:
            owner, own = _owner(model, self.name), self.name.rpartition("__")[2]
            other, n = growing_parameter(owner)
            if other in booster.rounds[: booster.rounds.index(own)]:
                return (
                    f"resource={self.name!r} is another name of {other!r}, which "
                    f"{type(owner).__name__} has set to {n}"
                )
        value = params.get(self.name)
        if value is not None and not is_int(value):
            return (
                f"resource={self.name!r} is no integer parameter of {name} (its value is {value!r})"
            )
        return ""

    def why_misleading(self, tuned: TunedEstimator, n_samples: int) -> str:
        is_boosting = any(boosts(last_step(model)) for model in tuned.models())
        misleads = is_boosting and n_samples < MANY_SAMPLES
        return "boosting with few iterations ranks candidates differently" if misleads else ""

    @classmethod
    def preferred(cls, model: Any, searched: frozenset[str]) -> tuple[str, Any] | None:
        last = last_step(model)
        name, value = growing_parameter(last)
        if not name or not searched.isdisjoint(names_of(last, name) | LEARNING_RATES):
            return None
        return last_prefix(model) + name, value

    @classmethod
    def alternatives(cls, models: Sequence[Any], searched: set[str]) -> list[str]:
        shared = set.intersection(*(set(model.get_params()) for model in models)) - searched
        return [
            name
            for name in sorted(shared)
            if all(
                _counts_training(model, name) and searched.isdisjoint(names_of(model, name))
                for model in models
            )
        ]


def _counts_training(model: Any, name: str) -> bool:
    """Return whether a parameter of a model is one that can be recommended as the resource."""
    if name.rpartition("__")[2] not in _GROWING_PARAMETERS and _booster_with(model, name) is None:
        return False
    value = parameter_value(model, name)
    return is_int(value) and value >= 1 and not IntegerParameter(name).why_not(model)


def names_of(model: Any, name: str) -> set[str]:
    """Return all names of a parameter: several if it counts the rounds of a booster.

    Parameters
    ----------
    model : estimator
    name : str
        Can be nested, as in ``clf__n_estimators``.
    """
    booster = _booster_with(model, name)
    prefix = name.removesuffix(name.rpartition("__")[2])
    return {name} if booster is None else {prefix + other for other in booster.rounds}


def growing_parameter(model: Any) -> tuple[str, int]:
    """Return the parameter that counts a model's trees or boosting iterations, and its value.

    Returns
    -------
    name : str
        Of a parameter with which training can continue; "" if there is none.
    value : int
    """
    booster = booster_of(model)
    names = exact_warm_starts().get(type(model), ())[:1] if booster is None else booster.rounds
    values = ((name, parameter_value(model, name)) for name in names)
    return next(((name, int(value)) for name, value in values if is_int(value)), ("", 0))


def boosts(model: Any) -> bool:
    """Return whether a model that counts trees or iterations is boosting, and no forest."""
    params = model.get_params()
    if params.get("boosting_type") == "rf" or params.get("booster") == "gblinear":
        return False  # a forest, or no trees
    return booster_of(model) is not None or "learning_rate" in params


def parameter_value(model: Any, name: str) -> Any:
    """Return the value of a parameter, or the number of rounds of a booster that does not set it.

    Parameters
    ----------
    model : estimator
    name : str
        Can be nested, as in ``clf__n_estimators``.
    """
    value = model.get_params().get(name)
    if value is None and (booster := _booster_with(model, name)) is not None:
        return booster.default_rounds(_owner(model, name))
    return value


def _owner(model: Any, name: str) -> Any:
    """Return the estimator that has a parameter; None if there is none."""
    owner = name.rpartition("__")[0]
    return model.get_params().get(owner) if owner else model


def _booster_with(model: Any, name: str) -> Booster | None:
    """Return the booster whose rounds a parameter counts, if it does."""
    booster = booster_of(_owner(model, name))
    return booster if booster and name.rpartition("__")[2] in booster.rounds else None


def counted(name: str, model: Any) -> str:
    """What an integer parameter of a model counts, in the plural.

    Parameters
    ----------
    name : str
        Can be nested, as in ``clf__n_estimators``.
    model : estimator
        That has the parameter.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
    >>> from sklearn_sha.resources.integer_parameter import counted
    >>> counted("n_estimators", RandomForestClassifier()), counted("n_jobs", BaggingClassifier())
    ('trees', 'units of n_jobs')
    """
    name = name.rpartition("__")[2]
    booster = booster_of(model)
    grows_trees = hasattr(model, "max_depth")
    if name in ("n_estimators", "num_trees"):
        return "trees" if grows_trees else "estimators"
    if name in ("max_iter", "n_iter") or (booster is not None and name in booster.rounds):
        return "boosting iterations" if grows_trees else "iterations"
    return "epochs" if name in ("max_epochs", "n_epochs") else f"units of {name}"
