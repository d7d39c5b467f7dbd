"""Schedules of Hyperband."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.validation import check_range, exact_factor, whole_number


def hyperband_schedules(
    max_resources: int,
    *,
    factor: float = 3,
    min_resources: int = 1,
    continues: bool = True,
) -> list[Schedule]:
    """Return the schedules of Hyperband's brackets, from the widest to a single rung.

    With s_max = floor(log_factor(max / min)), bracket s = s_max, ..., 0 begins with
    n = ceil((s_max + 1) / (s + 1) * factor**s) candidates at max * factor**-s units. Its rung i has
    floor(n * factor**-i) candidates at max * factor**(i - s) units ([1]_, Algorithm 1). Table 1 of
    the paper has other values of n, which do not follow from this formula.

    Parameters
    ----------
    max_resources : int >= 1
        Units of the last rung of each bracket.
    factor : real > 1, default=3
        Keep ``floor(n / factor)`` candidates after each rung and multiply the resource by `factor`.
    min_resources : int >= 1, default=1
        Minimum units of the first rung of the widest bracket.
    continues : bool, default=True
        Whether models continue training between rungs.

    Returns
    -------
    list of Schedule

    Raises
    ------
    ValueError
        If a number is not an integer of at least 1, or `min_resources` larger than `max_resources`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> from sklearn_sha.schedules import hyperband_schedules
    >>> for schedule in hyperband_schedules(81):
    ...     print(schedule.n_candidates, schedule.n_resources)
    [81, 27, 9, 3, 1] [1, 3, 9, 27, 81]
    [34, 11, 3, 1] [3, 9, 27, 81]
    [15, 5, 1] [9, 27, 81]
    [8, 2] [27, 81]
    [5] [81]
    """
    f = exact_factor(factor)
    min_resources = whole_number("min_resources", min_resources)
    max_resources = whole_number("max_resources", max_resources)
    check_range(min_resources, max_resources)
    s_max = 0  # floor(log_factor(max / min)), counted without logarithms
    while min_resources * f ** (s_max + 1) <= max_resources:
        s_max += 1
    schedules = []
    for bracket, s in enumerate(range(s_max, -1, -1)):
        n = ceil(Fraction(s_max + 1, s + 1) * f**s)
        sizes: list[int] = []
        resources: list[int] = []
        for i in range(s + 1):
            resource = floor(max_resources / f ** (s - i))
            if not resources or resource > resources[-1]:
                sizes.append(floor(n / f**i))
                resources.append(resource)
        schedules.append(Schedule.from_rungs(sizes, resources, continues, bracket))
    return schedules
