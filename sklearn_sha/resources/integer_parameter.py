"""An integer parameter of the estimator, such as its number of trees."""

from __future__ import annotations

from typing import Any

from sklearn_sha._data.samples import Rows
from sklearn_sha.resources.base import Resource, call_training
from sklearn_sha.resources.boosting_libraries import booster_of
from sklearn_sha.resources.warm_starts import exact_warm_starts, replays


class IntegerParameter(Resource):
    """One unit is one of an integer parameter, such as n_estimators.

    Parameters
    ----------
    name : str
        Of a parameter of the trained estimator; ``a__b`` for a nested one.
    unit : str, default="units"
        What the parameter counts, in the plural. A search names it for the estimators it knows.

    Notes
    -----
    Training continues where scikit-learn's warm start adds to what is there and the
    result is that of a fit from nothing, which holds for what `exact_warm_starts` lists; and
    where XGBoost, LightGBM or CatBoost train on from a booster and draw no rows or columns.
    Where warm start begins a new descent from the old solution (SGD, MLP, the linear
    models, mixtures) the result would be another, so every rung fits anew. A nested
    parameter fits anew too, since meta-estimators clone what they hold.
    """

    def __init__(self, name: str, unit: str = "units") -> None:
        self.name = name
        self.unit = unit

    def continues(self, model: Any, n_train: int) -> bool:
        if (booster := booster_of(model)) is not None:
            return self.name in booster.rounds and booster.is_exact(model)
        name, exact = exact_warm_starts().get(type(model), (None, replays))
        return name == self.name and exact(model, n_train)

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        X, y, params = rows.fitting()
        booster = booster_of(model)
        if spent and booster is not None:
            earlier = booster.begin(model, self.name, target - spent)
            call_training(model.fit, X, y, params | {booster.argument: earlier})
            return
        model.set_params(**{self.name: target})
        if spent:
            model.set_params(warm_start=True)
        call_training(model.fit, X, y, params)
