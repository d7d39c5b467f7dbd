"""``partial_fit`` calls: epochs, or mini-batches."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._data.slicing import FoldSamples, n_samples_of
from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int, is_int
from sklearn_sha.resources.base import MANY_SAMPLES, Resource, call_training
from sklearn_sha.resources.class_labels import classes_of
from sklearn_sha.resources.epochs import (
    ITERATION_PARAMETERS,
    can_stop,
    has_partial_fit,
    iterations,
    offers_partial_fit,
    stops_by_itself,
    trains_epochs,
)
from sklearn_sha.resources.fixed_costs import candidate_cost
from sklearn_sha.resources.limits import Limits, TrainingData, WholeFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_step, resamples
from sklearn_sha.schedules import Schedule

MAX_EPOCHS = 100
"""What ``max_resources="auto"`` is at most if ``fit`` can stop before the estimator's
`max_iter`."""

_SAMPLES_PER_CALL, _SAMPLES_PER_NETWORK_CALL = 300, 600
"""Fixed cost of a call, as the number of samples whose training costs as much. That of networks was
510 to 800 on three data sets."""

_COUNTING = {
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "IncrementalPCA",
    "MaxAbsScaler", "MinMaxScaler", "MultinomialNB", "StandardScaler",
}  # fmt: skip
"""Estimators whose ``partial_fit`` adds samples to counts. The same samples again change nothing or
are counted twice."""

_CHANGED_BY_PICKLING = {"Birch"}
"""Estimators whose further training differs once they were pickled, as models are between
processes. The nodes of Birch have views of arrays, which are copies after pickling."""

_IGNORED = ("max_iter", "n_iter_no_change", "tol")
"""Parameters of scikit-learn's estimators that decide when ``fit`` stops."""


class PartialFit(Resource):
    """One unit is one call of ``partial_fit``.

    For an estimator that has `max_epochs`, such as skorch's networks, a call trains one epoch.

    Parameters
    ----------
    batch_size : int or None, default=None
        None: every call gets all training samples, in their order. An int: every call gets
        the next `batch_size` of the training samples, which are shuffled again for each
        epoch. If it is larger than the number of samples, every call gets one epoch.
    seed : int or None, default=None
        Seed of the shuffling. None: a search derives one from its `random_state`.
    classes : ndarray, list of ndarray or None, default=None
        What ``partial_fit`` receives in its first call, if it takes `classes`. None: a search
        passes all that y has.
    """

    name = "partial_fit"
    subsamples = False
    training_method = "partial_fit"

    def __init__(
        self, batch_size: int | None = None, seed: int | None = None, classes: Any = None
    ) -> None:
        check_int("batch_size", batch_size, None)
        if seed is not None and not (is_int(seed) and seed >= 0):
            raise ValueError(f"seed={seed!r} must be an integer of at least 0, or None.")
        self.batch_size = None if batch_size is None else int(batch_size)
        self.in_batches = batch_size is not None
        self.seed = seed
        self.classes = classes
        if type(self).unit == Resource.unit:  # a subclass can name its own
            self.unit = "epochs" if batch_size is None else "mini-batches"

    def continues(self, model: Any, n_train: int) -> bool:
        return True

    def advance(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        if not _has_max_epochs(model):
            self._call(model, samples, start, target)
            return
        epochs = model.max_epochs
        model.set_params(max_epochs=1)  # or a call would train that many
        try:
            self._call(model, samples, start, target)
        finally:
            model.set_params(max_epochs=epochs)

    def _call(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        for call in range(start, target):
            indices = None
            if self.batch_size is not None:
                indices = self._batch_for(model, call, n_samples_of(samples.X_train))
                if not len(indices):
                    continue
            X, y, params = samples.fitting(indices)
            if call == 0 and self.classes is not None and _takes_classes(model.partial_fit):
                params = {"classes": self.classes} | params
            call_training(model.partial_fit, X, y, params)

    def limits(self, tuned: TunedEstimator, example: Any, data: TrainingData) -> Limits:
        models = _iterating_models(tuned, example)
        default = _automatic_maximum(_longest(models))
        limits = super().limits(tuned, example, data)
        if self.batch_size is not None:  # a grid search has nothing that compares with a batch
            if all(map(_counts, models)):  # others are trained further
                one_pass = self._n_batches(1, data.n_samples)
                return replace(limits, default=one_pass, highest=one_pass)
            return replace(limits, default=self._n_batches(default, data.n_samples))
        return replace(
            limits,
            default=default,
            fixed=candidate_cost(tuned, example, data) / data.n_samples,
            rate=1 + Fraction(_samples_per_call(models), data.n_samples),
            equals_fit=True,
            fit_can_stop=any(map(can_stop, models)),
        )

    def all_continue(self, models: Iterable[Any], n_train: int, fit_params: Sequence[str]) -> bool:
        if type(self).continues is PartialFit.continues:
            return True  # whatever the models, so that none is cloned
        return super().all_continue(models, n_train, fit_params)

    def trains_last_step(self, tuned: TunedEstimator) -> bool:
        return tuned.is_pipeline

    def prepared(self, trained: Any, y: Any, seed: int) -> Resource:
        return self._with(
            self.batch_size,
            seed if self.seed is None else self.seed,
            classes_of(trained, y) if self.classes is None else self.classes,
        )

    def with_batch_size(self, batch_size: int | None) -> Resource:
        if batch_size in (None, self.batch_size):
            return self
        if self.batch_size is not None:
            raise ValueError(
                f"batch_size={batch_size} and resource={type(self).__name__}(batch_size="
                f"{self.batch_size}) are not the same; leave batch_size=None."
            )
        return self._with(batch_size, self.seed, self.classes)

    def _with(self, *params: Any) -> PartialFit:
        own = copy(self)
        PartialFit.__init__(own, *params)
        return own

    def space_error(self, tuned: TunedEstimator) -> str:
        if not tuned.searches_steps:
            return ""
        without = " without batch_size" if self.in_batches else ""
        return (
            f"resource={self.name!r} trains the last step of a pipeline separately, which is "
            f"impossible if 'steps' is in {tuned.space_name}. Search the steps by their own "
            f"names, or use resource='n_samples'{without}."
        )

    def why_not(self, model: Any) -> str:
        name, last = type(model).__name__, last_step(model)
        if resamples(model):
            return (
                f"resource={self.name!r} can't train the last step of {name} apart from steps "
                "that resample"
            )
        if getattr(model, "transform_input", None) is not None:
            return (
                f"resource={self.name!r} can't train the last step of {name} with transform_input"
            )
        if not offers_partial_fit(last):
            given = (
                f"batch_size={self.batch_size}" if self.in_batches else f"resource={self.name!r}"
            )
            return f"{given} needs partial_fit, which {last} does not have"
        if not has_partial_fit(last):
            return f"resource={self.name!r} would train {last} itself, which is its own clone"
        if _CHANGED_BY_PICKLING.intersection(cls.__name__ for cls in type(last).__mro__):
            return (
                f"resource={self.name!r} can't continue training {last}: pickling changes it, so "
                "that results would depend on the number of workers"
            )
        return ""

    def warnings(self, tuned: TunedEstimator, n_resources: int) -> list[str]:
        ignoring, counting = {}, {}
        for model, searched in tuned.variants():
            prefix, learner = _learner(model)
            name = type(learner).__name__
            ignored = [f"{prefix}{one}" for one in _IGNORED if f"{prefix}{one}" in searched]
            if ignored and type(learner).__module__.startswith("sklearn."):
                ignoring[name] = (
                    f"{tuned.space_name} searches {', '.join(ignored)}, which partial_fit of "
                    f"{name} ignores: candidates that differ in nothing else are the same. Take it "
                    "out, or set resource='n_samples'."
                )
            if n_resources > 1 and _counts(learner) and self.batch_size is None:
                counting[name] = (
                    f"resource={self.name!r} gives {name} the same samples at every call, which "
                    "adds them to its counts again. Set resource='n_samples', or set batch_size, "
                    "which limits training to one pass."
                )
        return [*ignoring.values(), *counting.values()]

    def failure_hint(self) -> str:
        return (
            f"\nThe resource is {self.name!r}. If the estimator does not support it (as with "
            "early stopping or balanced class weights), set resource='n_samples'."
        )

    def maximum_notes(self, tuned: TunedEstimator, example: Any, n_resources: int) -> list[str]:
        models = _iterating_models(tuned, example)
        if self.batch_size and all(map(_counts, models)):
            _, learner = _learner(models[0])
            name = type(learner).__name__
            return [f"max_resources='auto' is one pass over the samples, which {name} counts."]
        model = _longest(models)
        name, value = iterations(model)
        n_epochs = _automatic_maximum(model)
        if value is None:
            return []
        given = f"{name}={value} of {type(model).__name__}"
        amount = quantity(n_epochs, "epochs")
        if self.batch_size is not None:
            amount = f"{quantity(n_resources, self.unit)}, {amount}"
        if value > n_epochs:
            given += " is only an upper bound, since fit can stop earlier"
        elif self.batch_size is None:
            return [f"max_resources='auto' is {given}."]
        return [f"max_resources='auto' is {amount}: {given}."]

    def cheaper_notes(
        self, tuned: TunedEstimator, schedule: Schedule, n_train: int, factor: float
    ) -> list[str]:
        if self.batch_size is None or self.batch_size >= n_train:
            return []
        if self.batch_size > _samples_per_call(_families(tuned)):
            return []
        return [
            f"batch_size={self.batch_size} makes {self._n_batches(1, n_train)} calls of "
            "partial_fit per epoch. Each has a fixed cost, so that a larger batch_size takes less "
            "time per epoch."
        ]

    def whole_fit(self, tuned: TunedEstimator, example: Any, maximum: int) -> WholeFit | None:
        models = _iterating_models(tuned, example)
        if self.batch_size is not None:
            # One pass over a fold is less than one over all samples.
            note = "The refit has one pass over all samples."
            return WholeFit(maximum, maximum, note) if all(map(_counts, models)) else None
        # If steps are sampled, only that of the example is known.
        sampled = [(example, frozenset(tuned.searched_of_last))]
        variants = sampled if tuned.decisive_distributions() else tuned.variants()
        if any(self.preferred(*variant) is None for variant in variants):
            return None
        max_units = max(map(_n_iterations, models))
        return WholeFit(maximum, max_units) if max_units > maximum else None

    def train_whole(self, model: Any, samples: FoldSamples) -> None:
        if self.batch_size is None:
            super().train_whole(model, samples)
        else:
            self.advance(model, samples, 0, self._n_batches(1, n_samples_of(samples.X_train)))

    def _n_batches(self, n_epochs: int, n_samples: int) -> int:
        """Return the number of calls in which all samples are seen `n_epochs` times."""
        assert self.batch_size is not None
        return -(-n_epochs * n_samples // min(self.batch_size, n_samples))

    def why_misleading(self, tuned: TunedEstimator, n_samples: int) -> str:
        if self.batch_size is not None or n_samples >= MANY_SAMPLES:
            return ""
        models = _families(tuned)
        n_epochs, n_iterations = (max(map(f, models)) for f in (_automatic_maximum, _n_iterations))
        if n_iterations <= n_epochs:
            return ""
        return f"candidates would be compared after {n_epochs} of up to {n_iterations} epochs"

    @classmethod
    def preferred(cls, model: Any, searched: frozenset[str]) -> tuple[str, Any] | None:
        last = last_step(model)
        if not trains_epochs(last) or resamples(model) or stops_by_itself(last, searched):
            return None
        return cls.name, None

    @classmethod
    def alternatives(cls, models: Sequence[Any], searched: set[str]) -> list[str]:
        is_impossible = "steps" in searched or any(cls().why_not(model) for model in models)
        return [] if is_impossible else [cls.name]

    def _batch_for(self, model: Any, call: int, n: int) -> NDArray[np.intp]:
        """Return the batch of a call, without samples that a model would count twice."""
        batch = self.batch(call, n)
        n_new = max(0, n - call * len(batch))
        return batch[:n_new] if _counts(model) else batch

    def batch(self, call: int, n: int) -> NDArray[np.intp]:
        """Indices of the samples, among `n`, that the call of this number gets.

        Examples
        --------
        >>> from sklearn_sha.resources import PartialFit
        >>> resource = PartialFit(batch_size=2, seed=0)
        >>> sorted(i for call in range(3) for i in resource.batch(call, 6).tolist())
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


def _iterating_models(tuned: TunedEstimator, example: Any) -> list[Any]:
    """Return the estimator that iterates in each family of candidates.

    If steps are sampled, they are unknown, but for the one of an example.
    """
    return [_iterating(example)] if tuned.decisive_distributions() else _families(tuned)


def _families(tuned: TunedEstimator) -> list[Any]:
    """Return what iterates in each family of candidates, with its largest number of iterations."""
    return [_iterating(model) for model in tuned.models(largest=ITERATION_PARAMETERS)]


def _longest(models: Sequence[Any]) -> Any:
    """Return the model with the largest automatic maximum, of those that have iterations."""
    iterating = [model for model in models if iterations(model)[1] is not None]
    return max(iterating or models, key=_automatic_maximum)


def _automatic_maximum(model: Any) -> int:
    n_iterations = _n_iterations(model)
    return min(n_iterations, MAX_EPOCHS) if can_stop(model) else n_iterations


def _n_iterations(model: Any) -> int:
    _, n_iterations = iterations(model)
    return MAX_EPOCHS if n_iterations is None else n_iterations


def _samples_per_call(models: Sequence[Any]) -> int:
    is_network = any(type(model).__name__.startswith("MLP") for model in models)
    return _SAMPLES_PER_NETWORK_CALL if is_network else _SAMPLES_PER_CALL


def _counts(model: Any) -> bool:
    return type(_learner(model)[1]).__name__ in _COUNTING


def _learner(model: Any) -> tuple[str, Any]:
    """Return the estimator that learns in a last step, after the prefix of its parameters.

    Of OneVsRestClassifier, for example, it is the one that it holds.
    """
    *_, learner = _nested(model)
    return learner


def _iterating(model: Any) -> Any:
    """Return the outermost estimator in a last step that has a number of iterations, if any has."""
    nested = [estimator for _, estimator in _nested(model)]
    return next((one for one in nested if iterations(one)[1] is not None), nested[-1])


def _nested(model: Any) -> Iterator[tuple[str, Any]]:
    """Yield a last step and the estimators held in it, after the prefixes of their parameters."""
    prefix, held = "", last_step(model)
    yield prefix, held
    while offers_partial_fit(held := getattr(held, "estimator", None)):
        prefix += "estimator__"
        yield prefix, held


def _has_max_epochs(model: Any) -> bool:
    return hasattr(model, "max_epochs") and "max_epochs" in model.get_params(deep=False)


def _takes_classes(method: Callable[..., Any]) -> bool:
    parameters = inspect.signature(method).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return takes_any or "classes" in parameters


@lru_cache(maxsize=2)
def _pass_order(seed: int, number: int, n: int) -> NDArray[np.intp]:
    """The order of `n` samples in a pass; a batch lies in two passes at most."""
    return np.random.default_rng((seed, number)).permutation(n)
