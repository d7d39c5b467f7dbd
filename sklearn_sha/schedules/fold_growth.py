"""Folds that grow from rung to rung."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from sklearn_sha.schedules.schedule import Schedule
from sklearn_sha.schedules.spread import spread_integers
from sklearn_sha.schedules.validation import exact_factor


@dataclass(frozen=True)
class FoldGrowth:
    """Number of cross-validation folds that score each rung.

    From rung to rung the number grows in equal ratios or, if `first` is given, by the factor of the
    schedule, rounded up. The last rung of each bracket has all folds.

    Attributes
    ----------
    order : tuple of int
        All folds, in the order in which they are added.
    first : int or None, default=None
        Number of folds of the first rung. None: with L rungs, ``ceil(n_folds / factor**L)``. It
        then grows in equal ratios to all folds, rounded to the nearest number.
    lowest : int, default=1
        Minimum number of folds of the first rung if `first` is None.

    Examples
    --------
    >>> from sklearn_sha.schedules import FoldGrowth, schedule_from_range
    >>> growth = FoldGrowth(order=(3, 0, 2, 4, 1))
    >>> growth.counts(n_rungs=3, factor=3), growth.counts(n_rungs=4, factor=2)
    ([1, 2, 5], [1, 2, 3, 5])
    >>> FoldGrowth(order=(3, 0, 2, 4, 1), first=1).counts(n_rungs=4, factor=2)
    [1, 2, 4, 5]
    >>> print(growth.grow(schedule_from_range(8, max_resources=20), factor=2))
    rung  candidates  folds  step  n_resources  total_cost
       0           8      1     5            5          40
       1           4      2     5           10         100
       2           2      5    10           20         260
    260 units over all folds, 0.33 of a grid search (8 candidates x 5 folds x 20 units = 800).
    Models continue training between rungs.
    """

    order: tuple[int, ...]
    first: int | None = None
    lowest: int = 1

    def counts(self, n_rungs: int, factor: float | Fraction) -> list[int]:
        """Return the number of folds of each rung of a bracket.

        Parameters
        ----------
        n_rungs : int >= 1
        factor : real > 1

        Returns
        -------
        list of int
            The last one is the number of all folds.
        """
        f, n_folds = exact_factor(factor), len(self.order)
        if self.first is None:
            first = max(self.lowest, ceil(n_folds / f**n_rungs))
            return spread_integers(first, n_folds, n_rungs, to_nearest=True)
        counts = [self.first]
        while len(counts) < n_rungs:
            counts.append(min(ceil(counts[-1] * f), n_folds))
        return [*counts[:-1], n_folds]

    def folds(self, n_rungs: int, factor: float | Fraction) -> list[tuple[int, ...]]:
        """Return the folds of each rung of a bracket; parameters as in `counts`."""
        return [self.order[:count] for count in self.counts(n_rungs, factor)]

    def grow(self, schedule: Schedule, factor: float | Fraction) -> Schedule:
        """Return a schedule with growing folds in each of its brackets.

        Parameters
        ----------
        schedule : Schedule
        factor : real > 1

        Returns
        -------
        Schedule
            Its cost is counted over all folds.
        """
        brackets = schedule.brackets
        longest = max(len(bracket.rungs) for bracket in brackets)
        grown = []
        for bracket in brackets:
            n_rungs = len(bracket.rungs)
            # Runs over the same candidates can differ in their number of rungs because of rounding.
            # Aligned at their last rungs, no run needs a score that an earlier run left out.
            folds = self.folds(longest if schedule.repeats else n_rungs, factor)[-n_rungs:]
            grown.append(bracket.with_rungs(folds=folds))
        return replace(schedule, rungs=Schedule.joined(grown).rungs)
