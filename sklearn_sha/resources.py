"""What one unit of resource is, and how a model gets more of it: one class a kind."""

from __future__ import annotations

import inspect
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_sha._boosters import booster_of
from sklearn_sha._folds import Fold, Rows, make_folds, n_rows, with_subsampling
from sklearn_sha._table import quantity

__all__ = [
    "Fold",
    "IntegerParameter",
    "PartialFit",
    "Resource",
    "Rows",
    "SampleCount",
    "check_resource",
    "exact_warm_starts",
]


class Resource(ABC):
    """The contract of a kind of resource; an instance of a subclass is given as ``resource=``.

    A subclass has `advance`; `continues` where models train on; `view` where the rows depend on
    the resource. It is pickled to the workers and must not change there. `check_resource` checks
    all that.

    Attributes
    ----------
    in_batches : bool
        Whether `advance` asks for rows in batches, never for all at once.
    lowest : int
        The least units that make sense.
    unit : str
        What is counted, in the plural, as `plan` and figures name it.

    Examples
    --------
    Leaves of a tree, in powers of two; a tree can't train on, so every rung fits anew:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.resources import Resource, check_resource
    >>> class Leaves(Resource):
    ...     def advance(self, model, rows, spent, target):
    ...         X, y, params = rows.fitting()
    ...         model.set_params(max_leaf_nodes=2**target).fit(X, y, **params)
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> check_resource(Leaves(), tree, X, y)
    >>> search = SuccessiveHalvingSearchCV(
    ...     tree, {"max_features": [1, 2, 3, 4]}, resource=Leaves(), max_resources=4
    ... ).fit(X, y)
    >>> search.n_resources_, search.resource_
    ([2, 4], 'Leaves')
    """

    in_batches = False
    lowest = 1
    unit = "units"

    def view(self, fold: Fold, target: int) -> Fold:
        """The part of a fold that a model with `target` units is trained and scored on.

        Such as ``fold.subsampled(n)``: n of its training rows, and as large a share of the others.
        """
        return fold

    def continues(self, model: Any, n_train: int) -> bool:
        """Whether `advance` builds on what the model has learnt on `n_train` rows.

        Then a model trained 0 -> r -> R equals one trained 0 -> R, bit for bit for a
        deterministic estimator. Otherwise every rung trains a new one.
        """
        return False

    @abstractmethod
    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        """Train a model, in place, from `spent` units to `target`.

        Parameters
        ----------
        model : estimator
            Not fitted where `spent` is 0.
        rows : Rows
            Of the fold that `view` gave for `target`: ``rows.fitting()`` is X, y and the fit
            parameters of all its training rows, ``rows.fitting(batch)`` of those positions.
            Other candidates have the same arrays; they are not to be written into.
        spent, target : int
            Total units before and after.
        """


class PartialFit(Resource):
    """One unit is one call of ``partial_fit``.

    Of an estimator that has `max_epochs`, as skorch's networks, a call trains one epoch.

    Parameters
    ----------
    batch_size : int or None, default=None
        None: every call gets all training rows, in their order. An int: every call gets
        the next so many rows of an endless stream, in which pass follows pass over the
        training rows, each pass in an order of its own. Where it is more than there are
        rows, every call gets one whole pass.
    seed : int or None, default=None
        Decides the orders. None: a search takes one of its `random_state`.
    classes : ndarray, list of ndarray or None, default=None
        What ``partial_fit`` receives in its first call, if it takes `classes`. None: a search
        passes all that y has (not to an instance of a subclass).
    """

    def __init__(
        self, batch_size: int | None = None, seed: int | None = None, classes: Any = None
    ) -> None:
        self.batch_size = batch_size
        self.in_batches = batch_size is not None
        self.seed = seed
        self.classes = classes
        self.unit = "epochs" if batch_size is None else "mini-batches"

    def continues(self, model: Any, n_train: int) -> bool:
        return True

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        with _one_epoch(model):
            self._call(model, rows, spent, target)

    def _call(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        for call in range(spent, target):
            whole = self.batch_size is None
            X, y, params = rows.fitting(None if whole else self.batch(call, n_rows(rows.X_train)))
            if call == 0 and self.classes is not None and _takes_classes(model.partial_fit):
                params = {"classes": self.classes} | params
            _train(model.partial_fit, X, y, params)

    def batch(self, call: int, n: int) -> NDArray[np.intp]:
        """Numbers of the rows, among `n`, that the call of this number gets.

        Examples
        --------
        >>> from sklearn_sha.resources import PartialFit
        >>> resource = PartialFit(batch_size=2, seed=0)
        >>> sorted(row for call in range(3) for row in resource.batch(call, 6).tolist())
        [0, 1, 2, 3, 4, 5]
        """
        assert self.batch_size is not None
        size = min(self.batch_size, n)
        seed = self.seed or 0
        (first, start), (last, end) = divmod(call * size, n), divmod((call + 1) * size, n)
        if first == last:
            return _pass_order(seed, first, n)[start:end]
        head, tail = _pass_order(seed, first, n)[start:], _pass_order(seed, last, n)[:end]
        return np.concatenate((head, tail)) if end else head


@contextmanager
def _one_epoch(model: Any) -> Iterator[None]:
    """Have a call of ``partial_fit`` train one epoch and not `max_epochs` of them."""
    if not hasattr(model, "max_epochs") or "max_epochs" not in model.get_params(deep=False):
        yield
        return
    epochs = model.max_epochs
    model.set_params(max_epochs=1)
    try:
        yield
    finally:
        model.set_params(max_epochs=epochs)


def _takes_classes(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return takes_any or "classes" in parameters


@lru_cache(maxsize=2)
def _pass_order(seed: int, number: int, n: int) -> NDArray[np.intp]:
    """The order of `n` rows in a pass; a batch lies in two passes at most."""
    return np.random.default_rng((seed, number)).permutation(n)


class SampleCount(Resource):
    """One unit is one training sample: the estimator is refit from scratch on so many of them."""

    unit = "training samples"

    def view(self, fold: Fold, target: int) -> Fold:
        return fold.subsampled(target)

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        _train(model.fit, *rows.fitting())


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
        name, exact = exact_warm_starts().get(type(model), (None, _replays))
        return name == self.name and exact(model, n_train)

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        X, y, params = rows.fitting()
        booster = booster_of(model)
        if spent and booster is not None:
            earlier = booster.begin(model, self.name, target - spent)
            _train(model.fit, X, y, params | {booster.argument: earlier})
            return
        model.set_params(**{self.name: target})
        if spent:
            model.set_params(warm_start=True)
        _train(model.fit, X, y, params)


def _train(method: Callable[..., Any], X: Any, y: Any, params: dict[str, Any]) -> None:
    if y is None:
        method(X, **params)
    else:
        method(X, y, **params)


def _replays(model: Any, n_train: int) -> bool:
    # Warm start draws again what was drawn before: a RandomState would have gone on.
    return not isinstance(model.random_state, np.random.RandomState)


def _forest(model: Any, n_train: int) -> bool:
    # Exact for a preset class_weight too, but scikit-learn warns at every fit.
    preset = isinstance(getattr(model, "class_weight", None), str)
    return _replays(model, n_train) and not preset


def _gradient_boosting(model: Any, n_train: int) -> bool:
    return model.n_iter_no_change is None


def _hist_gradient_boosting(model: Any, n_train: int) -> bool:
    # A model that stopped early would be made to grow by at least one tree a rung.
    # "auto" stops early from 10,001 rows on.
    if model.early_stopping == "auto":
        return n_train <= 10_000
    return not model.early_stopping


def _bagging(model: Any, n_train: int) -> bool:
    # scikit-learn refuses warm start with out-of-bag scores.
    return _replays(model, n_train) and not model.oob_score


@cache
def exact_warm_starts() -> dict[type, tuple[str, Callable[[Any, int], bool]]]:
    """Estimators whose warm start is exact: the parameter that grows, and the condition.

    Found by comparing every prediction bit for bit (tests/test_resources.py does it again
    for each line). A subclass may override fit, so only the classes themselves count.

    Returns
    -------
    dict of class to (str, callable)
        The callable takes a model and a number of training rows.
    """
    # A slow import, and needed only where an integer parameter is the resource.
    from sklearn import ensemble

    return {
        ensemble.RandomForestClassifier: ("n_estimators", _forest),
        ensemble.RandomForestRegressor: ("n_estimators", _forest),
        ensemble.ExtraTreesClassifier: ("n_estimators", _forest),
        ensemble.ExtraTreesRegressor: ("n_estimators", _forest),
        ensemble.RandomTreesEmbedding: ("n_estimators", _replays),
        ensemble.IsolationForest: ("n_estimators", _replays),
        ensemble.BaggingClassifier: ("n_estimators", _bagging),
        ensemble.BaggingRegressor: ("n_estimators", _bagging),
        ensemble.GradientBoostingClassifier: ("n_estimators", _gradient_boosting),
        ensemble.GradientBoostingRegressor: ("n_estimators", _gradient_boosting),
        ensemble.HistGradientBoostingClassifier: ("max_iter", _hist_gradient_boosting),
        ensemble.HistGradientBoostingRegressor: ("max_iter", _hist_gradient_boosting),
    }


def check_resource(
    resource: Resource, model: Any, X: Any, y: Any = None, *, units: Sequence[int] = (1, 2, 5)
) -> None:
    """Check that a resource keeps the contract; for tests of resources of your own.

    Parameters
    ----------
    resource : Resource
    model : estimator
        Not fitted; its fit has to be deterministic.
    X, y : array-like
        Rows to train on, and half of them to look at what models say.
    units : sequence of int, rising
        Total units to train to, one after the other.

    Raises
    ------
    AssertionError
        If training rows of less resource are not among those of more; if models that
        `continues` says train on are not those trained at once, bit for bit; or if `advance`
        changes the rows that it is lent, or the resource.
    """
    before = joblib.hash(vars(resource))
    n = n_rows(X)
    folds = make_folds(
        X, y, [(np.arange(n), np.arange(0, n, 2))], fit_params={}, prefix_params={},
        score_params={}, pairwise=False,
    )  # fmt: skip
    (fold,) = with_subsampling(folds, splitter=None, codes=None, seed=0)
    views = [resource.view(fold, target) for target in units]
    for less, more in pairwise(views):
        assert set(less.train) <= set(more.train), "rows of a rung are not among those of the next"

    def trained(*path: int) -> Any:
        one, spent = clone(model), 0
        for target in path:
            rows = resource.view(fold, target).rows(resource.in_batches)
            lent = joblib.hash((rows.X_train, rows.y_train))
            resource.advance(one, rows, spent, target)
            assert joblib.hash((rows.X_train, rows.y_train)) == lent, "advance changed its rows"
            one, spent = pickle.loads(pickle.dumps(one)), target
        return _said_by(one, X)

    for few, many in pairwise(units):
        once = trained(many)
        assert _same(once, trained(many)), (
            f"two models with {quantity(many, 'units')} each are not the same"
        )
        if resource.continues(clone(model), n):
            assert _same(once, trained(few, many)), (
                f"a model trained to {quantity(few, 'units')} and on to {many} is not the one "
                f"trained to {many} at once; let continues return False"
            )
    assert joblib.hash(vars(resource)) == before, (
        "advance changed the resource, which workers share"
    )


def _said_by(model: Any, X: Any) -> list[NDArray[Any]]:
    methods = ("predict_proba", "decision_function", "predict", "transform", "score_samples")
    said = [getattr(model, name)(X) for name in methods if hasattr(model, name)]
    assert said, "the model has none of predict, transform, ... to be looked at"
    return [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in said]


def _same(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> bool:
    return all(map(np.array_equal, one, other))
