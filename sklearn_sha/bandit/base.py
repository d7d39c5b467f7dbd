"""Base class of algorithms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction

from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.schedules import FoldGrowth, Schedule


@dataclass(frozen=True)
class Bounds:
    """Limits within which an algorithm plans.

    Attributes
    ----------
    n_candidates : int
        Number of candidates. 0: the algorithm decides.
    max_resources : int
        Resource of the last rung. 0 if there is no limit, for an algorithm that does not need one
        (`Algorithm.has_own_rungs`).
    min_resources : int or None, default=None
        Resource of the first rung. None: the algorithm decides.
    first : int, default=1
        Minimum resource of a first rung that the algorithm decides on.
    lowest : int, default=1
        Minimum resource with which a model can be trained.
    is_default_maximum : bool, default=True
        Whether `max_resources` is the default and not set by the user.
    continues : bool, default=True
        Whether models continue training between rungs, or are refit from scratch at each. A
        schedule that ignores it gets the cost of refits.
    fold_growth : FoldGrowth or None, default=None
        Folds that score each rung. None: all folds in each rung.
    n_kept : int, default=0
        Number of candidates that every rung promotes, unless they fail: those that are proposed
        first. A schedule that allows for them has the same ``n_kept``
        (`Schedule.with_kept`), and `halving` promotes them.
    max_candidates : int or None, default=None
        Number of distinct candidates that there are. None: unlimited, unknown, or more than are
        planned without it.
    """

    n_candidates: int
    max_resources: int
    min_resources: int | None = None
    first: int = 1
    lowest: int = 1
    is_default_maximum: bool = True
    continues: bool = True
    fold_growth: FoldGrowth | None = None
    n_kept: int = 0
    max_candidates: int | None = None

    def with_folds(self, schedule: Schedule, factor: float | Fraction) -> Schedule:
        """Return a schedule with the folds of each rung, which grow by `factor`."""
        if self.fold_growth is None:
            return schedule
        return self.fold_growth.grow(schedule, factor)


class Algorithm(ABC):
    """Base class of algorithms, which decide which candidates are evaluated next.

    A subclass implements `plan` and `requests`. An algorithm has no state: given the same plan and
    the same losses, it makes the same requests. Therefore a search can be resumed, and its result
    does not depend on the number of workers. `sklearn_sha.bandit.check_algorithm` tests this.

    Examples
    --------
    Train all candidates with one unit, and the best one with the maximum resource:

    >>> from sklearn_sha.bandit import Algorithm, Bounds, RungRequest, check_algorithm, promote
    >>> from sklearn_sha.schedules import Schedule
    >>> class OneUnit(Algorithm):
    ...     def plan(self, bounds):
    ...         return Schedule.from_rungs([bounds.n_candidates, 1], [1, bounds.max_resources])
    ...
    ...     def requests(self, plan, propose):
    ...         ids = propose(plan.rungs[0].n_candidates)
    ...         losses = yield RungRequest(0, ids, 1)
    ...         if losses is None:
    ...             return None
    ...         best = ids[promote(losses, 1)[0]]
    ...         yield RungRequest(1, (best,), plan.rungs[1].n_resources, True, True)
    ...         return best
    >>> check_algorithm(OneUnit(), Bounds(n_candidates=8, max_resources=27))
    """

    has_own_rungs = False
    """Whether it sets its rungs instead of `min_resources` and `max_resources` of the search.

    Then `Bounds.max_resources` can be 0 for no maximum, and `min_resources` of the search must be
    "auto".
    """

    factor: float = 2
    """Ratio of the resources of consecutive rungs, for ``n_remaining_candidates_`` and advice."""

    @abstractmethod
    def plan(self, bounds: Bounds) -> Schedule:
        """Return an upper bound of the requests.

        Parameters
        ----------
        bounds : Bounds

        Returns
        -------
        Schedule

        Raises
        ------
        ValueError
            If no schedule fits the bounds.
        """

    @abstractmethod
    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        """Yield requests, receive the losses of their candidates and return the best candidate.

        Parameters
        ----------
        plan : Schedule
            Schedule that `plan` returned, with one bracket: `rounds` runs several.
        propose : callable
            ``propose(n)`` returns the ids of 1 to n new candidates. Empty if there are no more.

        Yields
        ------
        RungRequest
            The generator receives the losses in the order of ``candidate_ids`` (`RungLosses`), or
            None if all candidates failed or if no candidate of a rung before the last has a score.

        Returns
        -------
        int or None
            Id of the best candidate. None if all candidates failed.
        """

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield generators that run together. Override this method for several brackets.

        Parameters
        ----------
        plan, propose
            As in `requests`.

        Yields
        ------
        list of generator
            Generators of `requests`, whose rungs at the same resource are evaluated together.
            `rounds` receives the lowest loss of their last rungs, or NaN if there is none.
        """
        requests = self.requests(plan, propose)
        if not hasattr(requests, "send"):
            name = type(self).__name__
            raise TypeError(
                f"{name}.requests returned {requests!r}. Yield a RungRequest for each rung, or "
                "return a generator, such as halving(plan, propose)."
            )
        yield [requests]
