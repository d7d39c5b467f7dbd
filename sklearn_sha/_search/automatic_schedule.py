"""What an automatic search runs: rungs of its resource, rungs that add folds, or a single rung."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._formatting import quantity
from sklearn_sha._search.advice import single_rung_note
from sklearn_sha._search.planning import PlanningContext, Training
from sklearn_sha.resources.base import MANY_SAMPLES
from sklearn_sha.resources.cheaper_parameter import notes_if_cheaper
from sklearn_sha.resources.fold_count import FoldCount
from sklearn_sha.resources.limits import Limits
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.schedules import Schedule
from sklearn_sha.schedules.schedule import MAX_RELATIVE_COST


@dataclass(frozen=True)
class Option:
    """Rungs of a resource that a search could run.

    Attributes
    ----------
    training : Training
    limits : Limits
    schedule : Schedule
    why_in_folds : str, default=""
        Why folds replace the automatic resource, as a clause. Empty if they do not.
    replaced : Option or None, default=None
        Rungs of epochs or iterations that are not used, since they would mislead.
    """

    training: Training
    limits: Limits
    schedule: Schedule
    why_in_folds: str = ""
    replaced: Option | None = None

    @property
    def cost(self) -> float:
        """As a share of a grid search's, fixed costs included."""
        return self.limits.cost(self.schedule)

    @property
    def is_worth_rungs(self) -> bool:
        """Whether it is so much cheaper than a grid search that it is used.

        If the two costs cannot be compared, it is used.
        """
        return not self.limits.equals_fit or self.cost <= MAX_RELATIVE_COST


def automatic_option(
    training: Training, plan_for: Callable[[Training], Option], context: PlanningContext
) -> Option:
    """Plan rungs of an automatic resource, or rungs that add folds if these are better.

    Folds are better in three cases: scores with few samples or iterations would mislead; rungs of
    the resource save little, and rungs of folds cost less; or there are fewer than 10,000 samples,
    and rungs of folds, whose fits are complete, cost less, or as much as those on few samples.

    Parameters
    ----------
    training : Training
        With the automatic resource.
    plan_for : callable
        Plans the candidates for a resource.
    context : PlanningContext
    """
    on_folds = Training.of(FoldCount(), context.tuned)
    n_samples = n_samples_of(context.data.X)
    counts_samples = training.resource.counts_samples
    if misleading := training.resource.why_misleading(context.tuned, n_samples):
        other = plan_for(on_folds)
        if counts_samples:
            return replace(other, why_in_folds=misleading)
        if not other.schedule.has_single_rungs and other.is_worth_rungs:
            return replace(other, why_in_folds=misleading, replaced=plan_for(training))
    option = plan_for(training)
    saves_little = option.schedule.has_full_rungs or not option.is_worth_rungs
    if not option.limits.equals_fit or not (saves_little or n_samples < MANY_SAMPLES):
        return option
    other = plan_for(on_folds)
    is_same = other.cost == option.cost and counts_samples
    if other.schedule.has_single_rungs or not (other.cost < option.cost or is_same):
        return option
    return replace(other, why_in_folds=_reason_against(option, other))


def _reason_against(option: Option, on_folds: Option) -> str:
    """Return why rungs of folds are better than those of a resource."""
    first = quantity(option.schedule.n_resources[0], option.schedule.unit)
    if option.schedule.has_full_rungs:
        return f"each rung would otherwise have the maximum, {first}"
    return (
        f"rungs that add folds cost {on_folds.cost:.2f} times a grid search, and rungs that start "
        f"with {first} would cost {option.cost:.2f} times one, including the fixed cost of each fit"
    )


def notes_on_folds(option: Option) -> list[str]:
    """Return why an automatic resource is the folds, and which one costs less.

    Parameters
    ----------
    option : Option
        The one that is used.

    Returns
    -------
    list of str
        Empty if the resource is not the folds, or the user chose them.
    """
    if not option.why_in_folds:
        return []
    notes = [
        f"The resource is the number of folds, since {option.why_in_folds}. To set their numbers, "
        'set resource="folds" and min_resources.'
    ]
    replaced = option.replaced
    if replaced is not None and replaced.is_worth_rungs and replaced.schedule.continues:
        name = replaced.training.resource.name
        notes += notes_if_cheaper(name, replaced.schedule, option.schedule)
    return notes


def single_rung(
    option: Option, context: PlanningContext, n_candidates: int, factor: float
) -> tuple[Training, Schedule]:
    """Replace an automatic schedule by one rung on all samples, which is a grid search.

    Parameters
    ----------
    option : Option
        Its cost is the reason, which is added as a note.
    context : PlanningContext
    n_candidates : int
    factor : float

    Returns
    -------
    Training
    Schedule
    """
    resource, n_train = SampleCount(), context.data.n_samples
    single = Schedule.from_rungs([n_candidates], [n_train], continues=False)
    notes = [
        single_rung_note(option.schedule, option.limits, factor),
        *resource.cheaper_notes(context.tuned, single, n_train, factor),
    ]
    return Training.of(resource, context.tuned), replace(
        single,
        unit=resource.unit,
        notes=tuple(notes),
        is_bound=option.schedule.is_bound,
        n_kept=option.schedule.n_kept,
    )
