"""Successive Halving in brackets that follow each other, for samplers that use the history."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from itertools import chain, repeat
from math import ceil

from sklearn_sha.bandit.base import Bounds
from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.bandit.stopping import target_of
from sklearn_sha.bandit.successive_halving import SuccessiveHalving
from sklearn_sha.schedules import Schedule, schedule_from_range
from sklearn_sha.schedules.schedule import MAX_RELATIVE_COST

_MAX_BRACKETS = 4
"""With more brackets, candidates are proposed from more results, and a search costs more, since the
first rung of a bracket with fewer candidates has more resource."""

MIN_CANDIDATES = 8
"""Minimum number of candidates of a bracket, if there are as many."""

_MIN_RUNGS = 3
"""Number of rungs that folds have to make. With two, too many candidates get all folds."""

NOTE_AT_MAXIMUM = "From bracket {} on, all models have the full resource, and rungs add folds only."

_NOTE = "The sampler proposes the candidates of a bracket from the scores of those before it."


class HalvingInTurn(SuccessiveHalving):
    """Successive Halving in brackets that follow each other.

    Each bracket has new candidates, which can be proposed from the scores of the previous brackets
    in all rungs, as in [1]_. In a single bracket they are only proposed from scores of the first
    rung, which has little resource.

    There are four brackets with the same number of candidates (or one less), or fewer brackets if
    they would have fewer than 8. The first one has the resources and folds of `SuccessiveHalving`
    with the candidates of one bracket. So have the others if models continue training. If models
    are refit from scratch, the others begin at the maximum, and their rungs add folds only: most of
    their candidates are good, and a smaller resource ranks them nearly at random. This requires
    folds for three rungs, several rungs of the first bracket, and no `Bounds.min_resources`.

    There is a single bracket if all candidates are tried (`Bounds.max_candidates`), as is the case
    if the sampler does not use the history; or if brackets would cost more than 0.8 times a grid
    search, as those of a single rung.

    Parameters
    ----------
    factor, stop, target_loss
        As in `SuccessiveHalving`. `stop` is for each bracket.

    References
    ----------
    .. [1] S. Falkner, A. Klein and F. Hutter, "BOHB: Robust and Efficient Hyperparameter
       Optimization at Scale", ICML 2018.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, HalvingInTurn
    >>> plan = HalvingInTurn().plan(Bounds(n_candidates=62, max_resources=80))
    >>> for bracket in plan.brackets:
    ...     print(bracket.n_candidates, bracket.n_resources)
    [16, 8, 4, 2] [10, 20, 40, 80]
    [16, 8, 4, 2] [10, 20, 40, 80]
    [15, 8, 4, 2] [10, 20, 40, 80]
    [15, 8, 4, 2] [10, 20, 40, 80]

    With models that are refit from scratch:

    >>> from sklearn_sha.schedules import FoldGrowth
    >>> bounds = Bounds(62, 80, continues=False, fold_growth=FoldGrowth(tuple(range(5))))
    >>> for bracket in HalvingInTurn().plan(bounds).brackets:
    ...     print(bracket.n_candidates, bracket.n_resources, [len(r.folds) for r in bracket.rungs])
    [16, 8, 4, 2] [20, 40, 80, 80] [1, 2, 3, 5]
    [16, 8, 4] [80, 80, 80] [1, 2, 5]
    [15, 8, 4] [80, 80, 80] [1, 2, 5]
    [15, 8, 4] [80, 80, 80] [1, 2, 5]
    """

    def _schedule(self, bounds: Bounds) -> Schedule:
        n, lowest = bounds.n_candidates, max(MIN_CANDIDATES, bounds.n_kept + 1)
        n_brackets = min(_MAX_BRACKETS, n // lowest)
        if n_brackets < 2 or (bounds.max_candidates is not None and n >= bounds.max_candidates):
            return super()._schedule(bounds)
        sizes = [(n + k) // n_brackets for k in reversed(range(n_brackets))]
        plain = replace(bounds, n_candidates=sizes[0], n_kept=0)
        first = super()._schedule(plain)
        later = at_maximum(first, plain, self.factor)
        schedules = chain([first], repeat(later or first))
        schedule = in_brackets(schedules, sizes, bounds.n_kept)
        if schedule.relative_cost() > MAX_RELATIVE_COST:
            return super()._schedule(bounds)
        notes = (_NOTE, NOTE_AT_MAXIMUM.format(1)) if later else (_NOTE,)
        return replace(schedule, notes=(*schedule.notes, *notes))

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield one bracket after the other."""
        target = target_of(self.target_loss, plan)  # one for all brackets
        for bracket in plan.brackets:
            yield [self._bracket(bracket, propose, target)]
            if target is not None and target.is_reached:
                return


def at_maximum(first: Schedule, bounds: Bounds, factor: float) -> Schedule | None:
    """Return a schedule with the maximum resource in all rungs, which add folds only.

    Parameters
    ----------
    first : Schedule
        That of the first bracket.
    bounds : Bounds
    factor : real > 1
        As in `SuccessiveHalving`.

    Returns
    -------
    Schedule or None
        None if models continue training, folds do not grow in the first bracket, which can have a
        single rung, `Bounds.min_resources` is set, or the folds make fewer than three rungs.

    Examples
    --------
    >>> from sklearn_sha.bandit import Bounds, SuccessiveHalving
    >>> from sklearn_sha.bandit.in_turn import at_maximum
    >>> from sklearn_sha.schedules import FoldGrowth
    >>> bounds = Bounds(16, 80, continues=False, fold_growth=FoldGrowth(tuple(range(5))))
    >>> first = SuccessiveHalving().plan(bounds)
    >>> schedule = at_maximum(first, bounds, factor=2)
    >>> print(schedule.n_candidates, schedule.n_resources, [len(r.folds) for r in schedule.rungs])
    [16, 8, 4] [80, 80, 80] [1, 2, 5]
    >>> print(at_maximum(first, bounds, factor=3))
    None
    """
    growth = bounds.fold_growth
    if growth is None or first.rungs[0].folds is None:
        return None
    if bounds.continues or bounds.min_resources is not None:
        return None
    folds = schedule_from_range(
        bounds.n_candidates,
        factor=factor,
        max_resources=len(growth.order),
        lowest=growth.lowest if growth.first is None else growth.first,
    )
    n_rungs = len(folds.rungs)
    if n_rungs < _MIN_RUNGS:
        return None
    return Schedule.from_rungs(
        folds.n_candidates,
        [bounds.max_resources] * n_rungs,
        bounds.continues,
        folds=[growth.order[:n_folds] for n_folds in folds.n_resources],
    )


def in_brackets(schedules: Iterable[Schedule], sizes: Sequence[int], n_kept: int = 0) -> Schedule:
    """Return brackets with the resources and folds of schedules, and other numbers of candidates.

    Parameters
    ----------
    schedules : iterable of Schedule
        Of one bracket each; at least as many as there are sizes.
    sizes : sequence of int
        Number of candidates of the first rung of each bracket. Those of its other rungs are in
        proportion, rounded up.
    n_kept : int, default=0
        Number of candidates that every rung of the first bracket promotes.

    Returns
    -------
    Schedule
        With the notes of the first one.

    Examples
    --------
    >>> from itertools import repeat
    >>> from sklearn_sha.bandit.in_turn import in_brackets
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> schedules = repeat(schedule_from_range(16, max_resources=80))
    >>> [bracket.n_candidates for bracket in in_brackets(schedules, [8, 24], n_kept=1).brackets]
    [[8, 4, 2, 2], [24, 12, 6, 3]]
    """
    pairs = [*zip(schedules, sizes, strict=False)]
    first, *others = (_of_size(size, schedule) for schedule, size in pairs)
    joined = Schedule.joined([first.with_kept(n_kept), *others])
    return replace(joined, notes=pairs[0][0].notes)


def _of_size(size: int, schedule: Schedule) -> Schedule:
    """Return a schedule of one bracket with another number of candidates."""
    n_all, *n_others = schedule.n_candidates
    return schedule.with_rungs([size, *(ceil(n * size / n_all) for n in n_others)])
