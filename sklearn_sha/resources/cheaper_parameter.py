"""Advice to count iterations instead of samples or folds, if that would be much cheaper."""

from __future__ import annotations

from sklearn_sha.resources.integer_parameter import (
    LEARNING_RATES,
    IntegerParameter,
    boosts,
    growing_parameter,
    names_of,
)
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step
from sklearn_sha.schedules import FoldGrowth, Schedule, schedule_from_range, start_later

_WORTH_ADVICE = 1.25
"""Minimum ratio of two costs with which a note names the cheaper resource."""


def cheaper_parameter_notes(
    tuned: TunedEstimator, schedule: Schedule, n_train: int, factor: float
) -> list[str]:
    """Return a note for the plan if an integer parameter as the resource would cost less.

    Parameters
    ----------
    tuned : TunedEstimator
    schedule : Schedule
        That of another resource.
    n_train : int
        Number of training samples.
    factor : float

    Returns
    -------
    list of str
        Empty if not all candidates have such a parameter, if it is searched, if models do not
        continue training with it, or if little is gained.
    """
    found = set()
    for model, searched in tuned.variants():
        last = last_step(model)
        name, value = growing_parameter(last)
        if not name or not searched.isdisjoint(names_of(last, name)):
            return []
        # A pipeline that is fitted as a whole does not continue, whatever its last step is.
        trained = last if tuned.fits_last_step_alone else model
        if not IntegerParameter(name).continues(trained, n_train):
            return []
        rates = ", ".join(sorted(LEARNING_RATES.intersection(searched)))
        found.add((f"{last_prefix(model)}{name}", value, rates))
    if len(found) != 1:
        return []
    ((name, value, rates),) = found
    if value < 1:
        return []
    n = schedule.n_candidates[0]
    other = schedule_from_range(n, factor=factor, max_resources=value)
    first, order = (
        tuple(range(rung.n_resources)) if schedule.counts_folds else rung.folds
        for rung in (schedule.rungs[0], schedule.rungs[-1])
    )
    if first is not None and order is not None and len(other.rungs) > 1:
        other = start_later(other, FoldGrowth(order, lowest=len(first)), factor)
    caution = ""
    if rates:
        caution = f", but {rates} is searched, of which large values lead in early rungs"
    elif boosts(last_step(tuned.models()[0])):
        caution = ", but large trees lead in early rungs"
    return notes_if_cheaper(name, other, schedule, caution)


def notes_if_cheaper(
    name: str, cheaper: Schedule, schedule: Schedule, caution: str = ""
) -> list[str]:
    """Return a note that names a resource with which models continue training.

    Parameters
    ----------
    name : str
        Name of the resource.
    cheaper : Schedule
        Its schedule.
    schedule : Schedule
        That of the resource that is used.
    caution : str, default=""
        Clause that is added.

    Returns
    -------
    list of str
        Empty if little is gained.
    """
    ratio = schedule.relative_cost() / cheaper.relative_cost()
    if ratio < _WORTH_ADVICE:
        return []
    return [f"resource={name!r} continues training and costs {ratio:.1f} times less{caution}."]
