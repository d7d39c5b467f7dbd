"""Schedules of the doubling trick."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from math import floor

from sklearn_sha.schedules.rungs import rung_sizes
from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.validation import check_range, exact_factor, whole_number


def doubling_schedules(
    n_candidates: int,
    *,
    factor: float = 2,
    min_resources: int = 1,
    max_resources: int | None = None,
    continues: bool = True,
) -> Iterator[Schedule]:
    """Yield the schedules of the doubling trick: runs with increasing budgets.

    The resource of rung k of run j is r_0 * factor**(j + k), with r_0 = `min_resources` [1]_. All
    rungs of a run except the last one have resources of the run before, whose losses can be reused.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1, default=2
        Ratio between the resources of two rungs, and between the budgets of two runs.
    min_resources : int >= 1, default=1
        Units of the first rung of the first run.
    max_resources : int >= 1 or None, default=None
        Upper bound of the units of a candidate. The run that reaches it is the last one. None:
        runs without end.
    continues : bool, default=True
        Whether models continue training between rungs.

    Yields
    ------
    Schedule
        Schedule of one run. Its ``total_cost`` is the cost without reused losses.

    Raises
    ------
    ValueError
        If a number is not an integer of at least 1, `min_resources` is larger than
        `max_resources`, or `factor` is not above 1. It is raised when the first schedule is
        requested.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018, section 5
       (rungs at r_k); the doubling trick is in Jamieson and Talwalkar, section 3.

    Examples
    --------
    >>> from sklearn_sha.schedules import doubling_schedules
    >>> [schedule.n_resources for schedule in doubling_schedules(8, max_resources=12)]
    [[1, 2, 4], [2, 4, 8], [4, 8, 12]]
    """
    f = exact_factor(factor)
    n_candidates = whole_number("n_candidates", n_candidates)
    min_resources = whole_number("min_resources", min_resources)
    if max_resources is not None:
        max_resources = whole_number("max_resources", max_resources)
        check_range(min_resources, max_resources)
    number = 0
    previous: list[int] = []
    for j in count():
        sizes: list[int] = []
        resources: list[int] = []
        for k, n in enumerate(rung_sizes(n_candidates, factor)):
            resource = floor(min_resources * f ** (j + k))
            if max_resources is not None:
                resource = min(resource, max_resources)
            if not resources or resource > resources[-1]:
                sizes.append(n)
                resources.append(resource)
        # A factor below 2 can round two runs to the same resources.
        if resources != previous:
            yield Schedule.from_rungs(sizes, resources, continues, number)
            number, previous = number + 1, resources
        if resources[-1] == max_resources:
            return
