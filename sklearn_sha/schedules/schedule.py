"""How much of the resource each rung gets: pure integers, known before any training.

Two numbers describe a rung and both are always named: `step` is what the rung adds to a
surviving candidate (the paper's r_k), `resource` the total that the candidate has had by
then (the paper's R_k).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import accumulate, count, groupby
from math import ceil, floor, isfinite
from numbers import Real
from textwrap import fill
from typing import Any

from sklearn_sha._formatting import html_table, quantity, text_table

_WIDTH = 95  # of the sentences below a table


@dataclass(frozen=True)
class Rung:
    """One rung of a schedule.

    Attributes
    ----------
    n_candidates : int
        How many candidates are trained and compared.
    step : int
        Units of resource that this rung adds to each of them.
    resource : int
        Units of resource that each of them has had at the end of the rung.
    spent : int
        Units per fold that the search has trained by then, over all candidates and
        rungs.
    bracket : int
        The bracket of Hyperband, or the halving of the doubling trick, from 0.
    """

    n_candidates: int
    step: int
    resource: int
    spent: int
    bracket: int = 0


@dataclass(frozen=True, repr=False)
class Schedule:
    """The rungs of a search; prints as a table.

    Attributes
    ----------
    rungs : tuple of Rung
        First to last.
    continues : bool
        True where models keep training from rung to rung, so that a rung costs its
        `step`; False where every rung trains anew and costs its `resource`.
    repeats : bool
        True where each bracket is a halving of the same candidates, as in the doubling trick;
        False where each has candidates of its own, as in Hyperband.
    unit : str
        What the resource counts, in the plural: "epochs", "trees", "training samples".
    notes : tuple of str
        Sentences that are printed below the table, such as why it has one rung.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> print(schedule_from_range(27, factor=3, min_resources=1, max_resources=27))
    rung  candidates  step  resource  spent
       0          27     1         1     27
       1           9     2         3     45
       2           3     6         9     63
       3           1    18        27     81
    81 units per fold, 0.11 of a grid search (27 candidates x 27 units = 729). Models continue
    training between rungs.
    """

    rungs: tuple[Rung, ...]
    continues: bool = True
    repeats: bool = False
    unit: str = "units"
    notes: tuple[str, ...] = ()

    @classmethod
    def from_rungs(
        cls,
        n_candidates: list[int],
        resources: list[int],
        continues: bool = True,
        bracket: int = 0,
    ) -> Schedule:
        """Make a schedule from the sizes and total resources of its rungs.

        Parameters
        ----------
        n_candidates, resources : list of int, of one length
            Candidates, and total units of each candidate, rung by rung.
        continues : bool, default=True
            Whether a rung costs only what it adds.
        bracket : int, default=0
            Number of the bracket that the rungs make up.

        Returns
        -------
        Schedule
        """
        rungs: list[Rung] = []
        previous = spent = 0
        for n, resource in zip(n_candidates, resources, strict=True):
            step = resource - previous
            spent += n * (step if continues else resource)
            rungs.append(Rung(n, step, resource, spent, bracket))
            previous = resource
        return cls(tuple(rungs), continues)

    @classmethod
    def joined(cls, schedules: Iterable[Schedule], repeats: bool = False) -> Schedule:
        """One schedule of several, each a bracket of it.

        Parameters
        ----------
        schedules : iterable of Schedule
            Of one bracket each; they are numbered anew.
        repeats : bool, default=False
            Whether they are halvings of the same candidates.

        Returns
        -------
        Schedule
        """
        parts = list(schedules)
        before = accumulate((part.spent for part in parts), initial=0)
        rungs = tuple(
            replace(rung, spent=spent + rung.spent, bracket=number)
            for number, (part, spent) in enumerate(zip(parts, before, strict=False))
            for rung in part.rungs
        )
        return cls(rungs, parts[0].continues, repeats, parts[0].unit)

    @property
    def brackets(self) -> list[Schedule]:
        """The schedule of each bracket by itself, with the bracket's number."""
        groups = groupby(self.rungs, key=lambda rung: rung.bracket)
        return [
            Schedule.from_rungs(
                [rung.n_candidates for rung in rungs],
                [rung.resource for rung in rungs],
                self.continues,
                number,
            )
            for number, rungs in ((number, list(rungs)) for number, rungs in groups)
        ]

    @property
    def bracket_name(self) -> str:
        """What a bracket of it is called."""
        return "halving" if self.repeats else "bracket"

    @property
    def n_candidates(self) -> list[int]:
        """Candidates in each rung."""
        return [rung.n_candidates for rung in self.rungs]

    @property
    def n_resources(self) -> list[int]:
        """Total units of resource of a candidate at the end of each rung."""
        return [rung.resource for rung in self.rungs]

    @property
    def spent(self) -> int:
        """Units per fold that the whole schedule trains; at most, where halvings repeat."""
        return self.rungs[-1].spent

    @property
    def n_different(self) -> int:
        """Candidates of the first rungs, each counted once."""
        sizes = [bracket.rungs[0].n_candidates for bracket in self.brackets]
        return sizes[0] if self.repeats else sum(sizes)

    @property
    def grid_cost(self) -> int:
        """Units per fold of training every candidate to the last rung's resource."""
        return self.n_different * self.rungs[-1].resource

    @property
    def training(self) -> str:
        """How models train in the rungs after the first; empty if no bracket has any."""
        if len(self.rungs) == len(self.brackets):
            return ""
        if self.continues:
            return "Models continue training between rungs."
        return "Models are refit from scratch at every rung."

    def relative_cost(self, fixed: Fraction = Fraction(0), rate: Fraction = Fraction(1)) -> float:
        """Cost of the schedule as a share of a grid search over the same candidates.

        Parameters
        ----------
        fixed : Fraction, default=0
            Units that a fit costs however little it trains.
        rate : Fraction, default=1
            What a unit costs here, if one costs 1 in a grid search.

        Returns
        -------
        float
        """
        n_fits = sum(rung.n_candidates for rung in self.rungs)
        grid_cost = self.grid_cost + fixed * self.n_different
        return float((self.spent * rate + fixed * n_fits) / grid_cost)

    @property
    def restart_cost(self) -> int:
        """Units per fold of the same rungs, were every rung trained from nothing."""
        return sum(rung.n_candidates * rung.resource for rung in self.rungs)

    def to_frame(self) -> Any:
        """The rungs as a `pandas.DataFrame`, a row each."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def __str__(self) -> str:
        sentences = (fill(text, _WIDTH) for text in (self._summary(), *self.notes))
        return "\n".join([text_table(self._columns()), *sentences])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(text)}</p>" for text in (self._summary(), *self.notes))
        return f"{html_table(self._columns())}\n{sentences}"

    def _columns(self) -> dict[str, list[int]]:
        brackets = self.brackets
        # Of runs over the same candidates rungs are numbered on, as in `iter`.
        by_bracket = [k for bracket in brackets for k in range(len(bracket.rungs))]
        columns = {
            self.bracket_name: [rung.bracket for rung in self.rungs],
            "rung": list(range(len(self.rungs))) if self.repeats else by_bracket,
            "candidates": [rung.n_candidates for rung in self.rungs],
            "step": [rung.step for rung in self.rungs],
            "resource": [rung.resource for rung in self.rungs],
            "spent": [rung.spent for rung in self.rungs],
        }
        if len(brackets) == 1:
            del columns[self.bracket_name]
        return columns

    def _summary(self) -> str:
        return (
            f"{'At most ' if self.repeats else ''}{quantity(self.spent, self.unit)} per fold, "
            f"{self.relative_cost():.2f} of a grid search "
            f"({quantity(self.n_different, 'candidates')} x "
            f"{quantity(self.rungs[-1].resource, self.unit)} = {self.grid_cost}). "
            f"{self.training}"
        ).rstrip()


def rung_sizes(n_candidates: int, factor: float) -> list[int]:
    """Sizes of the successive contests between at least two candidates.

    Each contest promotes ``ceil(n / factor)`` of its n candidates, and never all of them
    (``ceil(n / factor) == n`` happens for factors below 2); after the last contest one
    candidate is left. For an integer factor there are ``ceil(log_factor(n))`` contests;
    counted, since logarithms of floats are wrong at exact powers.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1

    Returns
    -------
    list of int, strictly falling; ``[1]`` where there is a single candidate.

    Examples
    --------
    >>> from sklearn_sha.schedules import rung_sizes
    >>> rung_sizes(243, factor=3)
    [243, 81, 27, 9, 3]
    """
    f = _fraction(factor)
    sizes = [n_candidates]
    while (n := min(ceil(sizes[-1] / f), sizes[-1] - 1)) > 1:
        sizes.append(n)
    return sizes


def schedule_from_range(
    n_candidates: int,
    *,
    factor: float = 2,
    min_resources: int | None = None,
    max_resources: int,
    lowest: int = 1,
    continues: bool = True,
) -> Schedule:
    """Schedule whose first rung is at `min_resources` and whose last is at the maximum.

    Rung k stands at ``floor(min_resources * factor**k)``, or a unit above the rung before
    where a factor below 2 rounds both to the same. There are as many rungs as fit below
    `max_resources`, and no second rung of one candidate. The last rung is lifted to
    `max_resources`, so that the winner's score is a score at full resource.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1, default=2
        Ratio between the resources, and between the sizes, of two rungs.
    min_resources : int >= 1 or None, default=None
        Units of the first rung. None: as many as let the last contest happen at
        `max_resources`.
    max_resources : int >= 1
        Units of the last rung.
    lowest : int >= 1, default=1
        What ``min_resources=None`` never goes below.
    continues : bool, default=True
        Whether models keep training from rung to rung.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If `min_resources` is more than `max_resources`.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedule = schedule_from_range(64, factor=2, max_resources=100)
    >>> schedule.n_candidates, schedule.n_resources
    ([64, 32, 16, 8, 4, 2], [3, 6, 12, 24, 48, 100])
    """
    f = _fraction(factor)
    sizes = rung_sizes(n_candidates, factor)
    if min_resources is None:
        exhaustive = floor(max_resources / f ** (len(sizes) - 1))
        min_resources = min(max(exhaustive, lowest), max_resources)
    elif min_resources > max_resources:
        raise _minimum_above_maximum(min_resources, max_resources)
    if sizes[-1] > 1:
        sizes.append(1)  # the winner of the last contest may go on alone
    resources: list[int] = []
    for k in range(len(sizes)):
        exact = min_resources * f**k
        # A factor below 2 can round two rungs to the same integer: each adds a unit.
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
    """Schedule that spends at most `budget` units, the same share in every rung.

    With L contests, rung k trains r_k = budget // (n_k * L) units for each of its n_k
    candidates [1]_. Where models continue, a candidate's total is R_k = r_0 + ... + r_k;
    where every rung trains from nothing, it is R_k = r_k: more would overspend.

    Parameters
    ----------
    n_candidates : int >= 1
    budget : int >= 1
        Units per fold, over all candidates and rungs.
    factor : real > 1, default=2
        The paper has 2.
    max_resources : int >= 1 or None, default=None
        Where given, no candidate gets more, and the rung that reaches it is the last.
    continues : bool, default=True
        Whether models keep training from rung to rung.

    Returns
    -------
    Schedule

    Raises
    ------
    ValueError
        If the budget gives the candidates of the first rung less than one unit each. The
        message has the smallest budget that works.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016, Algorithm 1. The paper promotes
       floor(n_k / 2); here it is ceil(n_k / factor), which ends with one candidate for
       every n.

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
    cap: int = budget if max_resources is None else max_resources
    kept: list[int] = []
    resources: list[int] = []
    for n in sizes:
        reached: int = resources[-1] if resources else 0
        step = budget // (n * len(sizes))
        resource = min(step + (reached if continues else 0), cap)
        # At the same resource the losses are the same: such a rung would decide nothing.
        if resource > reached:
            kept.append(n)
            resources.append(resource)
    return Schedule.from_rungs(kept, resources, continues)


def doubling_schedules(
    n_candidates: int,
    *,
    factor: float = 2,
    min_resources: int = 1,
    max_resources: int | None = None,
    continues: bool = True,
) -> Iterator[Schedule]:
    """Schedules of the doubling trick: one halving after the other, each of more budget.

    Rung k of halving j stands at r_0 * factor**(j + k), with r_0 = `min_resources` [1]_. So
    the rungs of a halving, but for the last, are those of the one before, but for the first,
    and what is known there need not be trained again.

    Parameters
    ----------
    n_candidates : int >= 1
    factor : real > 1, default=2
        Ratio between the rungs of a halving, and between the budgets of two halvings.
    min_resources : int >= 1, default=1
        Units of the very first rung.
    max_resources : int >= 1 or None, default=None
        No candidate gets more, and the halving that reaches it is the last. None: no end.
    continues : bool, default=True
        Whether models keep training from rung to rung.

    Yields
    ------
    Schedule
        Its ``spent`` is what it costs by itself, with nothing known.

    Raises
    ------
    ValueError
        If `min_resources` is more than `max_resources`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018, section 5
       (rungs at r_k); the doubling itself is in Jamieson and Talwalkar, section 3.

    Examples
    --------
    >>> from sklearn_sha.schedules import doubling_schedules
    >>> [schedule.n_resources for schedule in doubling_schedules(8, max_resources=12)]
    [[1, 2, 4], [2, 4, 8], [4, 8, 12]]
    """
    f = _fraction(factor)
    if max_resources is not None and min_resources > max_resources:
        raise _minimum_above_maximum(min_resources, max_resources)
    number = 0
    before: list[int] = []
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
        # A factor below 2 can round two halvings to the same one.
        if resources != before:
            yield Schedule.from_rungs(sizes, resources, continues, number)
            number, before = number + 1, resources
        if resources[-1] == max_resources:
            return


def hyperband_schedules(
    max_resources: int,
    *,
    factor: float = 3,
    min_resources: int = 1,
    continues: bool = True,
) -> list[Schedule]:
    """Schedules of Hyperband's brackets, from the widest to the one that is a grid search.

    With s_max = floor(log_factor(max / min)), bracket s = s_max, ..., 0 starts
    n = ceil((s_max + 1) / (s + 1) * factor**s) candidates at max * factor**-s units, and its
    rung i has floor(n * factor**-i) of them at max * factor**(i - s) units ([1]_, Algorithm
    1). Table 1 of the paper has other n; they do not follow from its formula.

    Parameters
    ----------
    max_resources : int >= 1
        Units of the last rung of every bracket.
    factor : real > 1, default=3
    min_resources : int >= 1, default=1
        Least units of the first rung of the widest bracket.
    continues : bool, default=True
        Whether models keep training from rung to rung.

    Returns
    -------
    list of Schedule

    Raises
    ------
    ValueError
        If `min_resources` is more than `max_resources`.

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
    f = _fraction(factor)
    if min_resources > max_resources:
        raise _minimum_above_maximum(min_resources, max_resources)
    s_max = 0  # floor(log_f(max / min)), without a logarithm
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


def _minimum_above_maximum(min_resources: int, max_resources: int) -> ValueError:
    return ValueError(
        f"min_resources={min_resources} is more than max_resources={max_resources}; "
        'lower it or leave it "auto".'
    )


def _fraction(factor: float) -> Fraction:
    """`factor` as an exact number: 1.1 is eleven tenths, not the nearest float."""
    is_number = isinstance(factor, Real) and not isinstance(factor, bool)
    if not (is_number and isfinite(factor) and factor > 1):
        raise ValueError(
            f"factor={factor!r} would drop no candidate; give a finite number above 1, such as 2."
        )
    return Fraction(str(factor))
