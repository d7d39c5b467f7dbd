"""Rungs with given numbers of candidates and given resources."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.bandit.successive_halving import halving
from sklearn_sha.schedules import Schedule, sizes_with_kept
from sklearn_sha.schedules.validation import whole_numbers


class FixedSchedule(Algorithm):
    """Rungs with given numbers of candidates and given resources.

    With two rungs, one of a single unit and one at full resource, this is the baseline of [1]_.

    Parameters
    ----------
    n_candidates : sequence of int
        Number of candidates of each rung, decreasing.
    n_resources : sequence of int
        Total resource of each rung. It can stay the same if folds are added.

    References
    ----------
    .. [1] R. Egele, I. Guyon, Y. Sun and P. Balaprakash, "Is One Epoch All You Need For
       Multi-Fidelity Hyperparameter Optimization?", ESANN 2023.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, FixedSchedule
    >>> FixedSchedule([64, 4], [1, 81]).plan(Bounds(n_candidates=64, max_resources=81))
    rung  candidates  step  n_resources  total_cost
       0          64     1            1          64
       1           4    80           81         384
    384 units per fold, 0.07 of a grid search (64 candidates x 81 units = 5184). Models continue
    training between rungs.
    """

    has_own_rungs = True

    def __init__(self, n_candidates: Sequence[int], n_resources: Sequence[int]) -> None:
        self.n_candidates = n_candidates
        self.n_resources = n_resources

    def plan(self, bounds: Bounds) -> Schedule:
        sizes = whole_numbers("n_candidates", self.n_candidates)
        resources = whole_numbers("n_resources", self.n_resources)
        if not sizes or len(sizes) != len(resources):
            raise ValueError(
                f"n_candidates={sizes} and n_resources={resources} must have one value for each "
                "rung."
            )
        if any(more <= fewer for more, fewer in pairwise(sizes)):
            raise ValueError(f"n_candidates={sizes} must decrease from rung to rung.")
        if any(more < fewer for fewer, more in pairwise(resources)):
            raise ValueError(f"n_resources={resources} must not decrease from rung to rung.")
        if sizes[0] != bounds.n_candidates:
            raise ValueError(
                f"The first rung of {sizes} has {sizes[0]} candidates, and the search has "
                f"{bounds.n_candidates}. Set n_candidates of both to the same number. (A search "
                "with this algorithm cannot be extended.)"
            )
        if bounds.max_resources and resources[-1] > bounds.max_resources:
            raise ValueError(
                f"n_resources={resources} ends above the maximum of the resource, "
                f"{bounds.max_resources}. Lower it."
            )
        if sizes != sizes_with_kept(sizes, bounds.n_kept):
            raise ValueError(
                f"n_candidates={sizes} has a rung with fewer than {bounds.n_kept + 1} candidates, "
                f"and the search keeps {bounds.n_kept}. Give each rung room for them and one more, "
                "or set keep_initial=False."
            )
        schedule = Schedule.from_rungs(sizes, resources, bounds.continues)
        schedule = schedule.with_kept(bounds.n_kept)
        if len(sizes) > 1:
            schedule = bounds.with_folds(schedule, Fraction(sizes[0], sizes[1]))
        levels = [(rung.n_resources, rung.folds) for rung in schedule.rungs]
        if any(before == after for before, after in pairwise(levels)):
            raise ValueError(
                f"n_resources={resources} has two rungs with the same resource and folds, the "
                "second of which would evaluate nothing. Raise its resource, or set min_folds so "
                "that it adds folds."
            )
        return schedule

    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        return halving(plan, propose)
