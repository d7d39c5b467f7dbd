"""What an automatic search runs: rungs of its resource, rungs that add folds, or a single rung."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sklearn_sha._formatting import quantity
from sklearn_sha._search.advice import single_rung_note
from sklearn_sha._search.planning import PlanningContext, Training
from sklearn_sha.resources.automatic import why_folds
from sklearn_sha.resources.fold_count import FoldCount
from sklearn_sha.resources.limits import Limits
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.tuned_estimator import TunedEstimator
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
    """

    training: Training
    limits: Limits
    schedule: Schedule

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
    training: Training,
    plan_for: Callable[[Training], Option],
    tuned: TunedEstimator,
    n_samples: int,
) -> tuple[Option, str]:
    """Plan rungs of an automatic resource, or rungs that add folds if these are better.

    Folds are better in two cases: scores on few samples would mislead; or rungs of the resource
    save little, and rungs of folds cost less. At equal cost, they replace rungs of samples, but not
    those of epochs or trees.

    Parameters
    ----------
    training : Training
        With the automatic resource.
    plan_for : callable
        Plans the candidates for a resource.
    tuned : TunedEstimator
    n_samples : int
        Number of all samples.

    Returns
    -------
    Option
    str
        Half a sentence, why folds are the resource; empty if they are not.
    """
    on_folds = Training.of(FoldCount(), tuned)
    if training.resource.counts_samples and (misleading := why_folds(tuned, n_samples)):
        return plan_for(on_folds), misleading
    option = plan_for(training)
    reason = _reason_against(option)
    if not reason:
        return option, ""
    other = plan_for(on_folds)
    is_cheaper = other.cost < option.cost
    is_same = other.cost == option.cost and training.resource.counts_samples
    is_better = len(other.schedule.rungs) > 1 and (is_cheaper or is_same)
    return (other, reason) if is_better else (option, "")


def _reason_against(option: Option) -> str:
    """Return why the rungs of a resource save little, else ""."""
    if not option.limits.equals_fit:
        return ""  # how much they save is unknown
    n_resources, unit = option.schedule.n_resources, option.schedule.unit
    if min(n_resources) == max(n_resources):
        return f"each rung would otherwise have the maximum, {quantity(n_resources[0], unit)}"
    if not option.is_worth_rungs:
        return (
            f"rungs that start with {quantity(n_resources[0], unit)} would cost {option.cost:.2f} "
            "times a grid search, including the fixed cost of each fit"
        )
    return ""


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
        single_rung_note(option.schedule, option.limits),
        *resource.cheaper_notes(context.tuned, single, n_train, factor),
    ]
    return Training.of(resource, context.tuned), replace(
        single,
        unit=resource.unit,
        notes=tuple(notes),
        is_bound=option.schedule.is_bound,
        n_kept=option.schedule.n_kept,
    )
