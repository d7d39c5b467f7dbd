"""Base class of resources."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha._formatting import quantity
from sklearn_sha.resources.limits import Limits, TrainingData, WholeFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator
from sklearn_sha.schedules import Schedule

HOW_TO_RAISE_FIRST_RUNG = (
    "Raise what sets the first rung: min_resources, max_resources, budget or the rungs of the "
    "algorithm"
)

MANY_SAMPLES = 10_000
"""Number of samples from which early rungs, on a part of them or with few iterations, suffice."""


class Resource(ABC):
    """Base class of resources. Pass an instance of a subclass as `resource`.

    A subclass implements `advance`, `continues` if models continue training, and `view` if the
    samples depend on the resource. It is pickled to the workers and must not change there.
    `check_resource` tests this. Every other method has a default that suits a custom resource:
    override it only if needed. A subclass of a resource of this library inherits its methods.

    Attributes
    ----------
    name : str
        Name in ``resource_`` and in messages. Default: the name of the class.
    unit : str
        What is counted, in the plural, for example "trees". `plan` and figures show it.
    lowest : int
        Smallest resource that a model can be trained with, and minimum of an automatic first rung.
        A search that would start with less raises a ValueError. `SampleCount` and `FoldCount`
        compute it from the data instead.
    in_batches : bool
        Whether `advance` requests samples in batches, never all together.
    subsamples : bool
        Whether `view` can subsample folds, which then have an order of their samples.
    counts_samples : bool
        Whether a unit is a training sample, so that a fit can fail because it has too few.
    counts_folds : bool
        Whether a unit is a fold, so that costs are not per fold.
    continuation : str
        What `plan` shows if a rung costs only what it adds.
    training_method : "fit" or "partial_fit"
        The method of the estimator that `advance` calls: with metadata routing its requests count.
        Only ``partial_fit`` has to receive the classes.

    Examples
    --------
    Leaves of a tree, in powers of two; a tree cannot continue training, so every rung refits it
    from scratch:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.resources import Resource, check_resource
    >>> class Leaves(Resource):
    ...     def advance(self, model, samples, start, target):
    ...         X, y, params = samples.fitting()
    ...         model.set_params(max_leaf_nodes=2**target).fit(X, y, **params)
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> check_resource(Leaves(), tree, X, y)
    >>> search = SuccessiveHalvingSearchCV(
    ...     tree, {"max_features": [1, 2, 3]}, resource=Leaves(), max_resources=4, min_folds="all"
    ... ).fit(X, y)
    >>> search.n_resources_, search.resource_
    ([2, 4], 'Leaves')
    """

    name: str
    unit = "units"
    lowest = 1
    in_batches = False
    subsamples = True
    counts_samples = False
    counts_folds = False
    training_method = "fit"
    continuation = "Models continue training between rungs."

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = vars(cls).get("name", cls.__name__)

    # How a model is trained: the contract that `check_resource` checks.

    def view(self, fold: Fold, target: int) -> Fold:
        """Return the part of a fold that a model with `target` units is trained and scored on.

        For example, ``fold.subsampled(n)`` has n of its training samples and the same share of its
        test samples.
        """
        return fold

    def continues(self, model: Any, n_train: int) -> bool:
        """Return whether `advance` builds on what the model has learned on `n_train` samples.

        Then a model trained 0 -> r -> R is bit-identical to one trained 0 -> R, for a deterministic
        estimator. Otherwise every rung trains a new one.
        """
        return False

    @abstractmethod
    def advance(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        """Train a model, in place, from `start` units to `target`.

        Parameters
        ----------
        model : estimator
            Not fitted if `start` is 0.
        samples : FoldSamples
            Of the fold that `view` gave for `target`: ``samples.fitting()`` is X, y and the fit
            parameters of all its training samples, ``samples.fitting(batch)`` of those positions.
            Other candidates share these arrays; do not write into them.
        start, target : int
            Total units before and after.
        """

    def units_per_fold(self, n_resources: int) -> int:
        """Return the target with which the model of each fold is trained."""
        return n_resources

    def n_folds_at(self, n_resources: int) -> int | None:
        """Return how many folds score a candidate, or None if the algorithm decides."""
        return None

    # How it is planned.

    def limits(self, tuned: TunedEstimator, example: Any, data: TrainingData) -> Limits:
        """Return the minimum, the default and the maximum amount, and the cost.

        Parameters
        ----------
        tuned : TunedEstimator
        example : estimator
            With the parameters of one candidate; not fitted.
        data : TrainingData

        Returns
        -------
        Limits
            The search sets `resource` and `unit`.
        """
        return Limits(lowest=self.lowest, first=self.lowest)

    def unit_for(self, example: Any) -> str:
        """Return what is counted for an estimator that has the parameters of one candidate."""
        return self.unit

    def all_continue(self, models: Iterable[Any], n_train: int, fit_params: Sequence[str]) -> bool:
        """Return whether `continues` holds for every candidate.

        Parameters
        ----------
        models : iterable of estimator
            What is trained of each candidate; cloned one after the other, as they are needed.
        n_train : int
            Samples of the largest training fold.
        fit_params : sequence of str
            Names of the fit parameters that `advance` receives.
        """
        return all(self.continues(model, n_train) for model in models)

    def trains_last_step(self, tuned: TunedEstimator) -> bool:
        """Return whether `advance` gets the last step of a pipeline, with its transformed samples.

        Then the preprocessing steps are fitted once for all candidates that share them.
        """
        return False

    def of_last_step(self, prefix: str) -> Resource:
        """Return the same resource for `advance` of a last step alone.

        Parameters
        ----------
        prefix : str
            What the names of the last step's parameters begin with.
        """
        return self

    def prepared(self, trained: Any, y: Any, seed: int) -> Resource:
        """Return the resource that workers receive, with all that depends on the data.

        Parameters
        ----------
        trained : estimator
            What is trained of one candidate; not fitted.
        y : array-like or None
            All targets.
        seed : int
            Sampled from the `random_state` of the search.
        """
        return self

    def with_batch_size(self, batch_size: int | None) -> Resource:
        """Return the same resource in batches, if a search has a `batch_size`."""
        if batch_size is not None:
            raise ValueError(
                f"batch_size={batch_size} is for resource='partial_fit', but the resource is "
                f"{self.name!r}; leave batch_size=None."
            )
        return self

    def best_params(self, n_resources: int) -> dict[str, Any]:
        """Return the parameters, for ``best_params_``, with which ``fit`` trains `n_resources`."""
        return {}

    # Why it cannot be used, and what to do.

    def space_error(self, tuned: TunedEstimator) -> str:
        """Return why the searched parameters contradict the resource, or ""."""
        return ""

    def why_not(self, model: Any) -> str:
        """Return why an estimator cannot have this resource, or "".

        An error continues with the resources that it can have.
        """
        return ""

    def first_rung_error(self, n_resources: int, limits: Limits) -> str:
        """Return why nothing can be trained in a first rung of `n_resources`, or ""."""
        if n_resources >= limits.lowest:
            return ""
        return (
            f"resource={self.name!r} would start with {quantity(n_resources, limits.unit)}, but "
            f"models need at least {limits.lowest}. {HOW_TO_RAISE_FIRST_RUNG}."
        )

    def warnings(self, tuned: TunedEstimator, n_resources: int) -> list[str]:
        """Return warnings to show before a search whose last rung is at `n_resources`."""
        return []

    def failure_hint(self) -> str:
        """Return advice that is added to the message about failed fits."""
        return ""

    def maximum_notes(self, tuned: TunedEstimator, example: Any, n_resources: int) -> list[str]:
        """Return notes for the plan that explain `n_resources`, an automatic maximum."""
        return []

    def whole_fit(self, tuned: TunedEstimator, example: Any, maximum: int) -> WholeFit | None:
        """Return how the refit trains as in a grid search, if the maximum is automatic.

        None if `advance` trains the units of the last rung.

        Parameters
        ----------
        tuned : TunedEstimator
        example : estimator
            A candidate, not fitted.
        maximum : int
            The automatic maximum.
        """
        return None

    def train_whole(self, model: Any, samples: FoldSamples) -> None:
        """Train for the refit of `whole_fit`: call ``fit``."""
        X, y, given = samples.fitting()
        # A parameter of partial_fit only.
        params = {name: value for name, value in given.items() if name != "classes"}
        call_training(model.fit, X, y, params)

    def cheaper_notes(
        self, tuned: TunedEstimator, schedule: Schedule, n_train: int, factor: float
    ) -> list[str]:
        """Return notes for the plan that name resources which would cost less."""
        return []

    # How a kind is chosen if the user names none, or one that an estimator cannot have.

    def why_misleading(self, tuned: TunedEstimator, n_samples: int) -> str:
        """Return why early rungs rank candidates differently, so that folds are better, or "".

        Parameters
        ----------
        tuned : TunedEstimator
        n_samples : int
            Number of all samples.
        """
        return ""

    @classmethod
    def preferred(cls, model: Any, searched: frozenset[str]) -> tuple[str, Any] | None:
        """Return the name for ``resource="auto"``, if this kind is the cheapest of an estimator.

        Parameters
        ----------
        model : estimator
            Can be a Pipeline, of which the last step decides.
        searched : frozenset of str
            The parameters of its last step that are searched.

        Returns
        -------
        (str, object) or None
            The name, and the default maximum: all candidates have to agree in both.
        """
        return None

    @classmethod
    def alternatives(cls, models: Sequence[Any], searched: set[str]) -> list[str]:
        """Return the names of resources of this kind that all of some estimators have."""
        return []


def call_training(method: Callable[..., Any], X: Any, y: Any, params: dict[str, Any]) -> None:
    """Call ``fit`` or ``partial_fit``, without y if there is none."""
    if y is None:
        method(X, **params)
    else:
        method(X, y, **params)
