"""What a resource is: the contract of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.samples import Rows


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


def call_training(method: Callable[..., Any], X: Any, y: Any, params: dict[str, Any]) -> None:
    """Call ``fit`` or ``partial_fit``, without y if there is none."""
    if y is None:
        method(X, **params)
    else:
        method(X, y, **params)
