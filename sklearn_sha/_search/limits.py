"""How much resource the estimator and the data allow, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import is_int
from sklearn_sha._search.resource_of import batch_size_of, own_resource, searched_names, variants_of
from sklearn_sha.candidates.space import search_space
from sklearn_sha.resources.automatic import (
    counted,
    last_step,
)
from sklearn_sha.resources.fixed_costs import SAMPLES_PER_FIT, fixed_cost
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit
from sklearn_sha.schedules import Schedule

MAX_EPOCHS = 100
"""What ``max_resources="auto"`` is at most for ``resource="partial_fit"`` if ``fit`` can stop
before the estimator's `max_iter`."""

WORTH_HALVING = 0.8
"""An automatic schedule that would cost more than this share of a grid search is one."""

MIN_FIRST_SAMPLES, MIN_FIRST_PER_CLASS = 200, 10
"""How many samples an automatic first rung has at least, in all and of each class."""

# Besides what it trains, a call of partial_fit costs as much as training on so many samples, and
# a fit of an ensemble one part in so many of it.
_SAMPLES_PER_CALL, _TREES_PER_FIT = 300, 20
ITERATION_PARAMETERS = ("max_iter", "n_iter", "max_epochs")

# Whose partial_fit adds samples to counts: the same samples again change nothing, or too much.
COUNTING = {
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "IncrementalPCA",
    "MaxAbsScaler", "MinMaxScaler", "MultinomialNB", "StandardScaler",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """How much resource the estimator and the data allow.

    Attributes
    ----------
    lowest : int
        The least units that make sense.
    first : int
        The least units of an automatic first rung.
    default : int or None
        What ``max_resources="auto"`` stands for; None if nothing sets it.
    highest : int or None
        The most units that there are; None for no end.
    resource : str
        What the resource is.
    unit : str
        What is counted, in the plural.
    fixed : Fraction
        What a fit costs besides its units, in units.
    rate : Fraction
        What a unit costs, if one costs 1 in the `fit` of a grid search.
    is_automatic : bool
        Whether the user leaves the resource and its amounts to the search.
    continues : bool
        Whether models keep training from rung to rung.
    """

    lowest: int = 1
    first: int = 1
    default: int | None = None
    highest: int | None = None
    resource: str = ""
    unit: str = "units"
    fixed: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)
    is_automatic: bool = False
    continues: bool = False

    def cap(self, max_resources: Any) -> int | None:
        """The most that a candidate may get; None if neither user nor data set it."""
        if max_resources == "auto":
            return self.highest
        if self.highest is not None and max_resources > self.highest:
            raise ValueError(
                f"max_resources={max_resources} is more than the "
                f"{quantity(self.highest, self.unit)} of "
                'the largest training fold; lower it or leave it "auto".'
            )
        return int(max_resources)

    def cost(self, schedule: Schedule) -> float:
        """What a schedule costs as a share of a grid search, fixed costs included."""
        return schedule.relative_cost(self.fixed, self.rate)

    def maximum(self, max_resources: Any) -> int:
        """What the last rung is at."""
        highest = self.default if max_resources == "auto" else self.cap(max_resources)
        if highest is None:
            raise ValueError(
                f'max_resources="auto" is the value of resource={self.resource!r} in the '
                "estimator, which has none, or several; give max_resources an integer."
            )
        if highest < 1:
            raise ValueError(
                f'max_resources="auto" is the value of resource={self.resource!r} in the '
                f"estimator, {highest}, which is less than 1; give max_resources an integer."
            )
        return highest


def minimum(min_resources: Any, highest: int) -> int | None:
    """`min_resources` in units, where `highest` is the maximum; None for "auto"."""
    if min_resources == "auto":
        return None
    if is_int(min_resources):
        return int(min_resources)
    return max(1, int(Fraction(str(min_resources)) * highest))


def unit_of(search: Any, kind: str, example: Any) -> str:
    """What the resource counts, in the plural."""
    if (own := own_resource(search)) is not None:
        return own.unit
    if kind == "n_samples":
        return SampleCount.unit
    if kind == "partial_fit":
        return PartialFit(batch_size_of(search)).unit
    if isinstance(search.resource, IntegerParameter) and search.resource.unit != "units":
        return search.resource.unit
    owner = kind.rpartition("__")[0]
    return counted(kind, example.get_params()[owner] if owner else example)


def limits_of(
    search: Any,
    kind: str,
    example: Any,
    n_train: int,
    codes: NDArray[np.intp] | None,
    X: Any,
) -> Limits:
    if (own := own_resource(search)) is not None:
        return Limits(lowest=own.lowest, first=own.lowest)
    n_classes = 1 if codes is None else int(codes.max()) + 1
    fixed = Fraction(fixed_cost(last_step(example), X, n_classes))
    fixed += SAMPLES_PER_FIT * _n_searched_steps(search)
    is_automatic = search._may_be_grid_search() and search.resource == "auto"
    if kind == "n_samples":
        first = min(n_train, max(MIN_FIRST_SAMPLES, MIN_FIRST_PER_CLASS * n_classes))
        return Limits(
            2 * n_classes, first, n_train, n_train, fixed=fixed, is_automatic=is_automatic
        )
    if kind != "partial_fit":
        values = {model.get_params().get(kind) for model in variants_of(search)}
        value = values.pop() if len(values) == 1 else None  # families can have several
        default = value if is_int(value) else None
        fixed = Fraction(default or 0, _TREES_PER_FIT)
        return Limits(default=default, fixed=fixed, is_automatic=is_automatic)
    default, highest = _calls(last_step(example), batch_size_of(search), n_train)
    if batch_size_of(search) is not None:  # a grid search has nothing that compares with a batch
        return Limits(default=default, highest=highest)
    rate = 1 + Fraction(_SAMPLES_PER_CALL, n_train)
    return Limits(
        default=default, highest=highest, fixed=fixed / n_train, rate=rate,
        is_automatic=is_automatic,
    )  # fmt: skip


def _n_searched_steps(search: Any) -> int:
    """How many preprocessing steps are fitted for each candidate anew."""
    if not isinstance(search.estimator, Pipeline):
        return 0
    *steps, last = (name for name, _ in search.estimator.steps)
    searched = {name.partition("__")[0] for name in searched_names(search_space(search))}
    return len(steps) if searched.difference([last]) else 0


def _calls(model: Any, batch_size: int | None, n_train: int) -> tuple[int, int | None]:
    """How often ``partial_fit`` is called by default, and at most."""
    if type(model).__name__ in COUNTING and batch_size is not None:
        one_pass = -(-n_train // batch_size)
        return one_pass, one_pass
    _, value = iterations(model)
    if value is None:
        return MAX_EPOCHS, None
    return (min(value, MAX_EPOCHS) if _can_stop(model) else value), None


def iterations(model: Any) -> tuple[str, int | None]:
    """The parameter that says how often a model's ``fit`` iterates, and its value."""
    for name in ITERATION_PARAMETERS:
        value: Any = getattr(model, name, None)
        if is_int(value):
            return name, int(value)
    return "", None


def _can_stop(model: Any) -> bool:
    return hasattr(model, "tol") or hasattr(model, "n_iter_no_change")
