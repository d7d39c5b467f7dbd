"""Schedule of a search: the numbers of candidates and the resources of its rungs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, groupby
from typing import Any

from sklearn_sha._formatting import (
    html_sentences,
    html_table,
    quantity,
    text_sentences,
    text_table,
)
from sklearn_sha.schedules.rungs import sizes_with_kept
from sklearn_sha.schedules.validation import whole_numbers

MAX_RELATIVE_COST = 0.8
"""Cost of an automatic schedule, relative to a grid search, above which a simpler one is used."""


@dataclass(frozen=True)
class Rung:
    """One rung of a schedule.

    Attributes
    ----------
    n_candidates : int
        Number of candidates.
    step : int
        Units that the rung adds to each candidate.
    n_resources : int
        Total units of each candidate at the end of the rung.
    total_cost : int
        Cumulative cost at the end of the rung: units of all candidates, per fold, or over all folds
        if the number of folds grows.
    bracket : int
        Bracket of the search or run of the doubling trick, numbered from 0.
    folds : tuple of int or None
        Folds that score the rung. None: all folds.
    n_fits : int
        Number of fits of all candidates, per fold or over the folds, as in `total_cost`. A rung
        with the resource of the previous one only fits the folds that it adds.
    """

    n_candidates: int
    step: int
    n_resources: int
    total_cost: int
    bracket: int = 0
    folds: tuple[int, ...] | None = None
    n_fits: int = 0


@dataclass(frozen=True, repr=False)
class Schedule:
    """Rungs of a search. It prints as a table.

    Attributes
    ----------
    rungs : tuple of Rung
        In the order in which they run. If two consecutive rungs have the same resource, the second
        one adds folds only.
    continues : bool
        Whether models continue training between rungs. If so, a candidate costs `step` units in a
        rung. Otherwise it is refit from scratch and costs `n_resources` units.
    repeats : bool
        Whether brackets are runs over the same candidates, as in the doubling trick. Otherwise,
        each bracket has different candidates.
    unit : str
        What the resource counts, in the plural: "epochs", "trees", "training samples".
    notes : tuple of str
        Sentences that are printed below the table, such as the reason for a single rung.
    continuation : str
        Sentence that is printed if `continues` is True.
    counts_folds : bool
        Whether the unit of the resource is a fold, so that costs are not per fold.
    is_bound : bool
        Whether the search may end earlier, so that the cost is an upper bound.
    n_kept : int
        Number of candidates that every rung promotes: those that are proposed first. If brackets
        have different candidates, only the first one has them.
    n_repeated : int
        Number of candidates that an earlier bracket has too, since the space has too few.
    min_brackets : int
        Number of brackets before a search may end for lack of improvement.

    Examples
    --------
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> print(schedule_from_range(27, factor=3, min_resources=1, max_resources=27))
    rung  candidates  step  n_resources  total_cost
       0          27     1            1          27
       1           9     2            3          45
       2           3     6            9          63
       3           1    18           27          81
    81 units per fold, 0.11 of a grid search (27 candidates x 27 units = 729). Models continue
    training between rungs.
    """

    rungs: tuple[Rung, ...]
    continues: bool = True
    repeats: bool = False
    unit: str = "units"
    notes: tuple[str, ...] = ()
    continuation: str = "Models continue training between rungs."
    counts_folds: bool = False
    is_bound: bool = False
    n_kept: int = 0
    n_repeated: int = 0
    min_brackets: int = 1

    @classmethod
    def from_rungs(
        cls,
        n_candidates: list[int],
        resources: list[int],
        continues: bool = True,
        bracket: int = 0,
        folds: Sequence[tuple[int, ...] | None] | None = None,
    ) -> Schedule:
        """Create a schedule from the numbers of candidates and the resources of its rungs.

        Parameters
        ----------
        n_candidates, resources : list of int, of the same length
            Number of candidates, and total units of each candidate, in each rung.
        continues : bool, default=True
            Whether models continue training between rungs.
        bracket : int, default=0
            Number of the bracket.
        folds : list of tuple of int, default=None
            Folds that score each rung. None: all folds in each rung.

        Returns
        -------
        Schedule
        """
        sizes = whole_numbers("n_candidates", n_candidates)
        totals = whole_numbers("resources", resources)
        rungs: list[Rung] = []
        previous = total_cost = 0
        trained: tuple[int, ...] = ()
        rung_folds = folds or [None] * len(totals)
        for n, resource, own in zip(sizes, totals, rung_folds, strict=True):
            n_folds = 1 if own is None else len(own)
            # Models of folds that are added late are trained from 0.
            n_trained = 1 if own is None else len({*own} & {*trained})
            units = n_folds * resource
            if continues or resource == previous:
                units -= n_trained * previous
            total_cost += n * units
            n_fits = n * (n_folds - n_trained if resource == previous else n_folds)
            rungs.append(Rung(n, resource - previous, resource, total_cost, bracket, own, n_fits))
            previous, trained = resource, own or ()
        return cls(tuple(rungs), continues)

    @classmethod
    def joined(cls, schedules: Iterable[Schedule], repeats: bool = False) -> Schedule:
        """Join schedules, each of which becomes a bracket.

        Parameters
        ----------
        schedules : iterable of Schedule
            Schedules of one bracket each. The brackets are renumbered from 0.
        repeats : bool, default=False
            Whether they are runs over the same candidates.

        Returns
        -------
        Schedule
        """
        brackets = list(schedules)
        costs_before = accumulate((bracket.total_cost for bracket in brackets), initial=0)
        rungs = tuple(
            replace(rung, total_cost=cost + rung.total_cost, bracket=number)
            for number, (bracket, cost) in enumerate(zip(brackets, costs_before, strict=False))
            for rung in bracket.rungs
        )
        return cls(
            rungs, brackets[0].continues, repeats, brackets[0].unit, n_kept=brackets[0].n_kept
        )

    def with_kept(self, n_kept: int) -> Schedule:
        """Return a schedule of one bracket in which every rung promotes candidates.

        Parameters
        ----------
        n_kept : int
            Number of candidates. Rungs with fewer than ``n_kept + 1`` candidates have more of them.

        Returns
        -------
        Schedule
        """
        sizes = sizes_with_kept(self.n_candidates, n_kept)
        return replace(self.with_rungs(n_candidates=sizes), n_kept=n_kept)

    def with_rungs(
        self,
        n_candidates: list[int] | None = None,
        folds: Sequence[tuple[int, ...] | None] | None = None,
    ) -> Schedule:
        """Return this bracket with other numbers of candidates or other folds, and their cost."""
        rungs = Schedule.from_rungs(
            n_candidates or self.n_candidates,
            self.n_resources,
            self.continues,
            self.rungs[0].bracket,
            folds or [rung.folds for rung in self.rungs],
        ).rungs
        return replace(self, rungs=rungs)

    def with_refit_cost(self) -> Schedule:
        """Return the same rungs with the cost of models that are refit from scratch in each."""
        if not self.continues:
            return self
        refit = replace(self, continues=False)
        return replace(refit, rungs=Schedule.joined(refit.brackets).rungs)

    @property
    def has_brackets(self) -> bool:
        """Whether there are several brackets, with different candidates."""
        return len(self.brackets) > 1 and not self.repeats

    @property
    def can_cost_less(self) -> bool:
        """Whether the cost is an upper bound."""
        return self.repeats or self.is_bound

    @property
    def has_full_rungs(self) -> bool:
        """Whether all rungs have the maximum resource."""
        return self.min_resources == self.max_resources

    @property
    def has_single_rungs(self) -> bool:
        """Whether each bracket has a single rung, as a grid search has."""
        return len(self.rungs) == len(self.brackets)

    @property
    def brackets(self) -> list[Schedule]:
        """Schedules of the single brackets, with their numbers."""
        return [
            replace(
                self,
                rungs=tuple(rungs),
                repeats=False,
                notes=(),
                n_kept=self.n_kept if self.repeats or number == 0 else 0,
                n_repeated=0,
            ).with_rungs()
            for number, rungs in groupby(self.rungs, key=lambda rung: rung.bracket)
        ]

    @property
    def bracket_name(self) -> str:
        """Title of the column of brackets."""
        return "run" if self.repeats else "bracket"

    @property
    def n_candidates(self) -> list[int]:
        """Number of candidates in each rung."""
        return [rung.n_candidates for rung in self.rungs]

    @property
    def n_resources(self) -> list[int]:
        """Total units of each candidate at the end of each rung."""
        return [rung.n_resources for rung in self.rungs]

    @property
    def min_resources(self) -> int:
        """Smallest number of total units of a candidate at the end of a rung."""
        return min(self.n_resources)

    @property
    def max_resources(self) -> int:
        """Total units of each candidate at full resource."""
        return max(self.n_resources)

    @property
    def n_folds(self) -> int | None:
        """Number of all folds, over which costs are counted; None if costs are per fold."""
        folds = self.rungs[-1].folds
        return None if folds is None else len(folds)

    @property
    def costs_all_folds(self) -> bool:
        """Whether costs are over all folds, and not per fold."""
        return self.n_folds is not None or self.counts_folds

    @property
    def cost_unit(self) -> str:
        """What costs count, in the plural."""
        if self.n_folds is not None:
            return f"{self.unit} over all folds"
        return self.unit if self.counts_folds else f"{self.unit} per fold"

    @property
    def total_cost(self) -> int:
        """Cost in units; an upper bound if runs repeat and known scores are reused."""
        return self.rungs[-1].total_cost

    @property
    def n_different(self) -> int:
        """Number of distinct candidates."""
        sizes = [bracket.rungs[0].n_candidates for bracket in self.brackets]
        return max(sizes) if self.repeats else sum(sizes) - self.n_repeated

    @property
    def grid_cost(self) -> int:
        """Units of a grid search over the same candidates with the maximum resource."""
        return self.n_different * self.full_cost

    @property
    def full_cost(self) -> int:
        """Units of a candidate that is trained from 0 to the maximum resource."""
        return self.max_resources * (self.n_folds or 1)

    @property
    def training(self) -> str:
        """Sentence about how models are trained between rungs; empty for brackets of one rung."""
        if self.has_single_rungs:
            return ""
        if self.continues:
            return self.continuation
        return "Models are refit from scratch at every rung."

    def relative_cost(self, fixed: Fraction = Fraction(0), rate: Fraction = Fraction(1)) -> float:
        """Return the cost relative to a grid search over the same candidates.

        Parameters
        ----------
        fixed : Fraction, default=0
            Fixed cost of each fit, in units.
        rate : Fraction, default=1
            Cost of a unit relative to its cost in a grid search.

        Returns
        -------
        float
        """
        n_fits = sum(rung.n_fits for rung in self.rungs)
        grid_cost = self.grid_cost + fixed * self.n_different * (self.n_folds or 1)
        return float((self.total_cost * rate + fixed * n_fits) / grid_cost)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is printed below the table: the cost, how models are trained, and the notes."""
        times_folds = "" if self.n_folds is None else f"{quantity(self.n_folds, 'folds')} x "
        at_most = "At most " if self.can_cost_less else ""
        summary = (
            f"{at_most}{quantity(self.total_cost, self.cost_unit)}, "
            f"{self.relative_cost():.2f} of a grid search "
            f"({quantity(self.n_different, 'candidates')} x {times_folds}"
            f"{quantity(self.max_resources, self.unit)} = {self.grid_cost}). "
            f"{self.training}"
        )
        return summary.rstrip(), *self.notes

    def to_frame(self) -> Any:
        """Return the rungs as a `pandas.DataFrame`, one row per rung."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def __str__(self) -> str:
        return f"{text_table(self._columns())}\n{text_sentences(self.sentences)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"{html_table(self._columns())}\n{html_sentences(self.sentences)}"

    def _columns(self) -> dict[str, list[int]]:
        brackets = self.brackets
        # Rungs of repeated runs are numbered consecutively, as in the column `iter`.
        numbers = [k for bracket in brackets for k in range(len(bracket.rungs))]
        columns = {
            self.bracket_name: [rung.bracket for rung in self.rungs],
            "rung": list(range(len(self.rungs))) if self.repeats else numbers,
            "candidates": [rung.n_candidates for rung in self.rungs],
            "folds": [len(rung.folds or ()) for rung in self.rungs],
            "step": [rung.step for rung in self.rungs],
            "n_resources": [rung.n_resources for rung in self.rungs],
            "total_cost": [rung.total_cost for rung in self.rungs],
        }
        if len(brackets) == 1:
            del columns[self.bracket_name]
        if self.n_folds is None:
            del columns["folds"]
        return columns
