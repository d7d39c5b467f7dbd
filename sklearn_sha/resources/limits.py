"""How much of a resource an estimator and its data allow, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import is_int
from sklearn_sha.schedules import Schedule


@dataclass(frozen=True)
class TrainingData:
    """The data of a search, as far as limits depend on them.

    Attributes
    ----------
    X : array-like
        All samples.
    n_samples : int
        Samples of the largest training fold.
    n_classes : int, default=1
        1 without classes.
    fold_order : tuple of int, default=(0,)
        All folds, in the order in which they are added.
    min_folds : int, default=1
        Minimum number of folds that score a rung.
    first_folds : int, default=1
        Number of folds that score an automatic first rung, at least `min_folds`.
    n_rarest : int, default=0
        Samples of the rarest class in the largest training fold, of those with several samples.
        Without classes, all samples. 0: unknown.
    """

    X: Any
    n_samples: int
    n_classes: int = 1
    fold_order: tuple[int, ...] = (0,)
    min_folds: int = 1
    first_folds: int = 1
    n_rarest: int = 0


@dataclass(frozen=True)
class Limits:
    """How much resource the estimator and the data allow.

    Attributes
    ----------
    lowest : int, default=1
        Minimum with which a model can be trained.
    first : int, default=1
        Minimum of an automatic first rung.
    default : int or None, default=None
        Value of ``max_resources="auto"``. None: it has to be set.
    highest : int or None, default=None
        Upper bound that the data set, such as the number of samples. None: there is none.
    resource : str, default=""
        Name of the resource.
    unit : str, default="units"
        What is counted, in the plural.
    fixed : Fraction, default=0
        Fixed cost of a fit, in units.
    rate : Fraction, default=1
        Cost of a unit, if one costs 1 in the `fit` of a grid search.
    equals_fit : bool, default=False
        Whether a candidate with `default` units is one that a grid search fits: only then can the
        costs of the two be compared.
    fit_can_stop : bool, default=False
        Whether the fits of a grid search can stop before `default` units.
    reason_of_first : str, default=""
        Sentence for the plan if `first` is larger than usual.
    """

    lowest: int = 1
    first: int = 1
    default: int | None = None
    highest: int | None = None
    resource: str = ""
    unit: str = "units"
    fixed: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)
    equals_fit: bool = False
    fit_can_stop: bool = False
    reason_of_first: str = ""

    def starting_with(self, n_enough: int) -> Limits:
        """Limits with at least so much resource; `first` has a reason if it is raised."""
        if n_enough <= self.first:
            return replace(self, lowest=max(self.lowest, n_enough))
        reason = (
            f"The automatic first rung has at least {quantity(n_enough, self.unit)}, since in a "
            "rung with fewer no candidate had a score."
        )
        return replace(self, lowest=n_enough, first=n_enough, reason_of_first=reason)

    def cap(self, max_resources: Any) -> int | None:
        """The maximum for a candidate; None if neither user nor data set it."""
        if max_resources == "auto":
            return self.highest
        if self.highest is not None and max_resources > self.highest:
            raise ValueError(
                f"max_resources={max_resources} is more than the maximum for these data and cv, "
                f'{quantity(self.highest, self.unit)}; lower it or leave it "auto".'
            )
        return int(max_resources)

    def cost(self, schedule: Schedule) -> float:
        """Cost of a schedule as a share of a grid search's, fixed costs included."""
        return schedule.relative_cost(self.fixed, self.rate)

    def maximum(self, max_resources: Any) -> int:
        """Resource of the last rung."""
        highest = self.default if max_resources == "auto" else self.cap(max_resources)
        if highest is None:
            raise ValueError(
                f'max_resources="auto" requires a resource with a default maximum, but '
                f"resource={self.resource!r} has none, or candidates have different ones; give "
                "max_resources an integer."
            )
        if highest < 1:
            raise ValueError(
                f'max_resources="auto" is the value of resource={self.resource!r} in the '
                f"estimator, {highest}, which is less than 1; give max_resources an integer."
            )
        return int(highest)


@dataclass(frozen=True)
class WholeFit:
    """When the refit trains as ``fit`` does, and not for a number of units.

    Attributes
    ----------
    n_resources : int
        Resource from which it does: the automatic maximum.
    max_units : int
        Units that ``fit`` trains at most.
    note : str
        Sentence for the plan.
    """

    n_resources: int
    max_units: int
    note: str = "The refit calls fit, as that of GridSearchCV."

    def replaces(self, n_resources: int) -> bool:
        """Whether ``fit`` is called for a candidate that was selected at this resource."""
        return n_resources >= self.n_resources


def in_units(min_resources: Any, highest: int) -> int | None:
    """Return `min_resources` in units, where `highest` is the maximum; None for "auto"."""
    if min_resources == "auto":
        return None
    if is_int(min_resources):
        return int(min_resources)
    return max(1, int(Fraction(str(min_resources)) * highest))
