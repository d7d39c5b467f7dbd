"""Boosting libraries: how they continue training, and when that is exact."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Booster:
    """How models of a class of another library continue training.

    Attributes
    ----------
    rounds : tuple of str
        Its names for the parameter that counts boosting rounds. If several are set, the first one
        counts.
    argument : str
        Parameter of its ``fit`` for the model to continue from.
    begin : callable
        Takes a fitted model, a name of `rounds` and a number. Sets the model to train that many
        more rounds, in place, and returns what to continue from.
    is_exact : callable
        Whether continued training ends with the model of a single fit, up to the rounding of sums
        (which can also decide between two splits that are equally good). It does not if samples or
        features are sampled at random, since every fit samples them again.
    default_rounds : callable
        Takes a model that does not set its number of rounds, and returns what its ``fit`` uses.
        None if the library does not tell.
    set_rounds : callable
        Takes a fitted model, a name of `rounds` and a number, and sets this parameter, so that a
        scorer finds the value of a single fit. By default it sets nothing, since CatBoost does not
        allow it.
    """

    rounds: tuple[str, ...]
    argument: str
    begin: Callable[[Any, str, int], Any]
    is_exact: Callable[[Any], bool]
    default_rounds: Callable[[Any], int | None] = lambda model: None
    set_rounds: Callable[[Any, str, int], Any] = lambda model, name, n: None


def booster_of(model: Any) -> Booster | None:
    """Return how a model's class continues; None for a subclass, since it may override fit.

    Classes are recognized by their names, so that no library is imported here.
    """
    cls = type(model)
    return _BOOSTERS.get((cls.__module__.partition(".")[0], cls.__name__))


def _begin_xgboost(model: Any, name: str, n: int) -> Any:
    # set_params would also set all parameters of the booster, as strings: lists of metrics and
    # constraints by name are then invalid.
    setattr(model, name, n)
    return model.get_booster()


def _begin_lightgbm(model: Any, name: str, n: int) -> Any:
    _set_lightgbm(model, name, n)
    return model.booster_


def _set_lightgbm(model: Any, name: str, n: int) -> None:
    model.set_params(**{name: n})


def _begin_catboost(model: Any, name: str, n: int) -> Any:
    earlier = model.copy()
    # CatBoost does not allow parameters of a fitted model to be set.
    model.__init__(**model.get_params() | {name: n})
    return earlier


def _are(params: Mapping[str, Any], **allowed: tuple[Any, ...]) -> bool:
    return all(params.get(name) in values for name, values in allowed.items())


def _xgboost(model: Any) -> bool:
    everything = (None, 1)
    return _are(
        model.get_params(),
        booster=(None, "gbtree"),
        subsample=everything,
        colsample_bytree=everything,
        colsample_bylevel=everything,
        colsample_bynode=everything,
        num_parallel_tree=everything,
        early_stopping_rounds=(None,),
        callbacks=(None,),
    )


# In the order in which LightGBM prefers them.
_ROUNDS_OF_LIGHTGBM = (
    "num_iterations", "n_iter", "nrounds", "max_iter", "num_tree", "num_round", "num_trees",
    "num_rounds", "num_iteration", "num_boost_round", "n_estimators",
)  # fmt: skip
_CHANGE_NO_TREE = {"verbose", "verbosity", "num_threads", "force_col_wise", "force_row_wise"}


def _lightgbm(model: Any) -> bool:
    params = model.get_params()
    # LightGBM takes any other parameter too, by any of its names.
    others = params.keys() - inspect.signature(type(model)).parameters.keys()
    uses_all_samples = params["subsample"] == 1 or params["subsample_freq"] == 0
    return (
        others <= {*_CHANGE_NO_TREE, *_ROUNDS_OF_LIGHTGBM}
        and uses_all_samples
        and _are(params, boosting_type=("gbdt",), colsample_bytree=(1,))
    )


# Parameters of CatBoost that have the same effect in a fit that continues.
_OF_CATBOOST = {
    "allow_writing_files", "auto_class_weights", "boosting_type", "bootstrap_type", "border_count",
    "class_weights", "depth", "eval_metric", "grow_policy", "iterations", "l2_leaf_reg",
    "leaf_estimation_iterations", "leaf_estimation_method", "learning_rate", "logging_level",
    "loss_function", "max_bin", "max_depth", "max_leaves", "min_data_in_leaf", "n_estimators",
    "num_boost_round", "num_leaves", "num_trees", "objective", "random_seed", "random_state",
    "random_strength", "reg_lambda", "silent", "thread_count", "verbose",
}  # fmt: skip

# Losses with which continued training in CatBoost was measured to equal a single fit. With
# RMSEWithUncertainty it does not. None: CatBoost chooses by the classes.
_LOSSES_OF_CATBOOST = {
    None, "CrossEntropy", "Expectile", "Focal", "Huber", "LogCosh", "LogLinQuantile", "Logloss",
    "Lq", "MAE", "MAPE", "MultiClass", "MultiClassOneVsAll", "MultiQuantile", "MultiRMSE",
    "Poisson", "Quantile", "RMSE", "Tweedie",
}  # fmt: skip


def _catboost(model: Any) -> bool:
    params = model.get_params()
    losses = [params.get(name) for name in ("loss_function", "objective")]
    # As in "Quantile:alpha=0.3". A custom loss is an object.
    kinds = {loss.partition(":")[0] if isinstance(loss, str) else loss for loss in losses}
    # The automatic learning rate depends on the number of rounds.
    return (
        params.keys() <= _OF_CATBOOST
        and kinds <= _LOSSES_OF_CATBOOST
        and params.get("learning_rate") is not None
        and _are(
            params, bootstrap_type=("No",), random_strength=(0,), boosting_type=(None, "Plain")
        )
    )


_XGBOOST = Booster(
    ("n_estimators",),
    "xgb_model",
    _begin_xgboost,
    _xgboost,
    lambda model: model.get_num_boosting_rounds(),
    set_rounds=setattr,
)
_LIGHTGBM = Booster(
    _ROUNDS_OF_LIGHTGBM, "init_model", _begin_lightgbm, _lightgbm, set_rounds=_set_lightgbm
)
_CATBOOST = Booster(
    ("iterations", "n_estimators", "num_boost_round", "num_trees"),
    "init_model",
    _begin_catboost,
    _catboost,
)
_BOOSTERS = {
    ("xgboost", "XGBClassifier"): _XGBOOST,
    ("xgboost", "XGBRegressor"): _XGBOOST,
    ("lightgbm", "LGBMClassifier"): _LIGHTGBM,
    ("lightgbm", "LGBMRegressor"): _LIGHTGBM,
    ("catboost", "CatBoostClassifier"): _CATBOOST,
    ("catboost", "CatBoostRegressor"): _CATBOOST,
}
