"""Schedules of Successive Halving."""

from __future__ import annotations

from math import floor

from sklearn_sha._formatting import quantity
from sklearn_sha.schedules.rungs import rung_sizes
from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.validation import check_range, exact_factor


def schedule_from_range(
    n_candidates: int,
    *,
    factor: float = 2,
    min_resources: int | None = None,
    max_resources: int,
    lowest: int = 1,
    continues: bool = True,
) -> Schedule:
    """Return a schedule from a minimum to a maximum resource.

    The resource of rung k is ``floor(min_resources * factor**k)``. If a factor below 2 rounds two
    rungs to the same resource, the second one gets one unit more. There are as many rungs as fit
    into `max_resources`, and at most one rung with a single candidate. The last rung is raised to
    `max_resources`, so that the best candidate is scored with the full resource.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` candidates after each rung and multiply the resource by `factor`.
    min_resources : int >= 1 or None, default=None
        Units of the first rung. None: as many as possible such that the last rung with several
        candidates is at `max_resources`.
    max_resources : int >= 1
        Units of the last rung.
    lowest : int >= 1, default=1
        Minimum units of the first rung if `min_resources` is None.
    continues : bool, default=True
        Whether models continue training between rungs.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If `min_resources` is larger than `max_resources`.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(64, factor=2, max_resources=100)
    >>> schedule.n_candidates, schedule.n_resources
    ([64, 32, 16, 8, 4, 2], [3, 6, 12, 24, 48, 100])
    """
    f = exact_factor(factor)
    sizes = rung_sizes(n_candidates, factor)
    if min_resources is None:
        largest = floor(max_resources / f ** (len(sizes) - 1))
        min_resources = min(max(largest, lowest), max_resources)
    check_range(min_resources, max_resources)
    if sizes[-1] > 1:
        sizes.append(1)  # the best candidate may continue alone
    resources: list[int] = []
    for k in range(len(sizes)):
        exact = min_resources * f**k
        # A factor below 2 can round two rungs to the same integer. Each rung adds a unit at least.
        resource = max(floor(exact), resources[-1] + 1 if resources else 1)
        if exact > max_resources or resource > max_resources:
            break
        resources.append(resource)
    resources[-1] = max_resources
    return Schedule.from_rungs(sizes[: len(resources)], resources, continues)


def schedule_from_budget(
    n_candidates: int,
    budget: int,
    *,
    factor: float = 2,
    max_resources: int | None = None,
    continues: bool = True,
) -> Schedule:
    """Return a schedule that costs at most `budget` units, with the same share for each rung.

    With L rungs, rung k trains each of its n_k candidates with r_k = budget // (n_k * L) units
    [1]_. If models continue training, the total resource is R_k = r_0 + ... + r_k. If they are
    refit from scratch, it is R_k = r_k, since more would exceed the budget.

    Parameters
    ----------
    n_candidates : int >= 1
    budget : int >= 1
        Upper bound of the units per fold, over all candidates and rungs.
    factor : real > 1, default=2
        Keep ``ceil(n / factor)`` candidates after each rung. 2 in the paper.
    max_resources : int >= 1 or None, default=None
        Upper bound of the units of a candidate. The rung that reaches it is the last one.
    continues : bool, default=True
        Whether models continue training between rungs.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If the budget is less than one unit per candidate in the first rung. The message has the
        smallest possible budget.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1. The paper promotes
       floor(n_k / 2). ceil(n_k / factor) ends with one candidate for every n.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_budget
    >>> schedule = schedule_from_budget(8, 32)
    >>> [rung.step for rung in schedule.rungs], schedule.n_resources, schedule.spent
    ([1, 2, 5], [1, 3, 8], 26)
    """
    sizes = rung_sizes(n_candidates, factor)
    smallest = n_candidates * len(sizes)
    if budget < smallest:
        raise ValueError(
            f"budget={budget} is less than one unit for each of {n_candidates} candidates "
            f"in the first of {quantity(len(sizes), 'rungs')}; give at least budget={smallest}, or "
            "fewer candidates."
        )
    maximum: int = budget if max_resources is None else max_resources
    distinct_sizes: list[int] = []
    resources: list[int] = []
    for n in sizes:
        previous: int = resources[-1] if resources else 0
        step = budget // (n * len(sizes))
        resource = min(step + (previous if continues else 0), maximum)
        # Skip rungs with the same resource as the previous one: the losses would be the same.
        if resource > previous:
            distinct_sizes.append(n)
            resources.append(resource)
    return Schedule.from_rungs(distinct_sizes, resources, continues)
