"""Which resource ``resource="auto"`` chooses for an estimator and the space that is searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from sklearn_sha._param_validation import is_int
from sklearn_sha.candidates.space import with_params
from sklearn_sha.resources.boosting_libraries import booster_of
from sklearn_sha.resources.warm_starts import exact_warm_starts

_DECISIVE = ("solver", "early_stopping", "callbacks", "estimator")

# When fit stops by itself, which a number of partial_fit calls ignores.
_STOPPING = ("max_iter", "max_epochs", "tol", "n_iter_no_change")
Space = Mapping[str, Any]


def auto_resource(estimator: Any, spaces: Sequence[Space]) -> str:
    """The resource that all candidates of a space have and that is cheapest for them.

    Parameters
    ----------
    estimator : estimator
        Can be a Pipeline, of which the last step decides.
    spaces : sequence of dict
        Parameter names to lists of values or to distributions.

    Returns
    -------
    str
        "partial_fit" where it trains one of the epochs that `fit` would train; the parameter that
        counts trees or boosting iterations where it is not searched; else "n_samples". Also
        "n_samples" where candidates differ in this.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.neural_network import MLPClassifier
    >>> from sklearn_sha.resources.automatic import auto_resource
    >>> models = MLPClassifier(), RandomForestClassifier(), SGDClassifier()
    >>> [auto_resource(model, [{}]) for model in models]
    ['partial_fit', 'n_estimators', 'n_samples']
    >>> auto_resource(MLPClassifier(), [{"solver": ["adam", "lbfgs"]}])
    'n_samples'
    """
    if decisive_distributions(estimator, spaces):
        return "n_samples"
    found = {_preferred(*variant) for variant in variants(estimator, spaces)}
    return found.pop()[0] if len(found) == 1 else "n_samples"


def decisive_distributions(estimator: Any, spaces: Sequence[Space]) -> set[str]:
    """Parameters with distributions on whose values the choice of a resource depends.

    A step or a solver, for example: its values are unknown before they are sampled.

    Parameters
    ----------
    estimator, spaces
        As for `auto_resource`.

    Returns
    -------
    set of str
    """
    return {
        name
        for space in spaces
        for name in _decisive(estimator, space)
        if hasattr(space[name], "rvs")
    }


def variants(estimator: Any, spaces: Sequence[Space]) -> Iterator[tuple[Any, frozenset[str]]]:
    """Estimators with each combination of the values on which the choice of a resource depends.

    Parameters
    ----------
    estimator, spaces
        As for `auto_resource`.

    Yields
    ------
    estimator
        Not fitted.
    frozenset of str
        The parameters of its last step that are searched, without the step's name.
    """
    for space in spaces:
        values = {
            name: space[name]
            for name in _decisive(estimator, space)
            if not hasattr(space[name], "rvs")
        }
        for params in ParameterGrid(values):
            model = with_params(estimator, params)
            prefix = last_prefix(model)
            names = (name.removeprefix(prefix) for name in space if name.startswith(prefix))
            yield model, frozenset(names)


def growing_parameter(model: Any) -> str | None:
    """The parameter that counts a model's trees or boosting iterations, and can be extended.

    None where there is none, or where it is no integer.
    """
    booster = booster_of(model)
    names = exact_warm_starts().get(type(model), ("",))[:1] if booster is None else booster.rounds
    params = model.get_params(deep=False) if any(names) else {}
    return next((name for name in names if is_int(params.get(name))), None)


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
    >>> from sklearn_sha.resources.automatic import counted
    >>> counted("n_estimators", RandomForestClassifier()), counted("n_jobs", BaggingClassifier())
    ('trees', 'units of n_jobs')
    """
    name = name.rpartition("__")[2]
    grows_trees = hasattr(model, "max_depth")
    if name in ("n_estimators", "num_trees"):
        return "trees" if grows_trees else "estimators"
    if name in ("max_iter", "n_iter", "iterations", "num_boost_round"):
        return "boosting iterations" if grows_trees else "iterations"
    return "epochs" if name in ("max_epochs", "n_epochs") else f"units of {name}"


def last_step(estimator: Any) -> Any:
    """The last step of a pipeline; of anything else, itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def resamples(estimator: Any) -> bool:
    """Whether a pipeline has steps that resample, as imbalanced-learn's do."""
    is_pipeline = isinstance(estimator, Pipeline)
    return is_pipeline and any(hasattr(step, "fit_resample") for _, step in estimator.steps)


def trains_epochs(model: Any) -> bool:
    """Whether a call of a model's ``partial_fit`` trains an epoch as its ``fit`` does."""
    if not hasattr(model, "partial_fit"):
        return False
    if isinstance(model, _networks()):
        return not model.get_params()["early_stopping"]
    return hasattr(model, "max_epochs")  # skorch, and what is built like it


def last_prefix(estimator: Any) -> str:
    """What the names of a pipeline's last step's parameters begin with; else nothing."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def _decisive(estimator: Any, space: Space) -> list[str]:
    """Names in a space whose values can change which resource its candidates have."""
    prefix = last_prefix(estimator)
    own = {f"{prefix}{name}" for name in _DECISIVE}
    return [name for name in space if name in own or name in ("steps", prefix.rstrip("_"))]


def _preferred(model: Any, searched: frozenset[str]) -> tuple[str, Any]:
    """The resource of a model by itself, and how much of it ``fit`` has."""
    last, prefix = last_step(model), last_prefix(model)
    if trains_epochs(last) and not resamples(model) and not _stops_by_itself(last, searched):
        return "partial_fit", None
    name = growing_parameter(last)
    # Large learning rates are ahead at first and behind in the end.
    if name is None or not searched.isdisjoint({name, "learning_rate", "eta"}):
        return "n_samples", None
    return prefix + name, getattr(last, name, None)


def _stops_by_itself(model: Any, searched: frozenset[str]) -> bool:
    """Whether settings say when ``fit`` stops that a number of epochs would ignore."""
    if not searched.isdisjoint(_STOPPING):
        return True
    if not isinstance(model, _networks()):
        return getattr(model, "callbacks", None) not in (None, "disable", [])
    default = type(model)()
    return any(
        getattr(model, name) != getattr(default, name) for name in ("tol", "n_iter_no_change")
    )


@cache
def _networks() -> Any:
    # A slow import.
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return MLPClassifier, MLPRegressor
