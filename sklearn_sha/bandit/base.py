"""What an algorithm is: the contract of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass

from sklearn_sha.bandit.requests import Propose, Requests
from sklearn_sha.schedules import Schedule


@dataclass(frozen=True)
class Bounds:
    """What an algorithm can plan with.

    Attributes
    ----------
    n_candidates : int
        How many candidates there are. 0: as many as the algorithm plans.
    max_resources : int
        Resource of the last rung.
    min_resources : int or None, default=None
        Resource of the first rung, if the user sets it.
    first : int, default=1
        Least resource of a first rung that is chosen automatically.
    lowest : int, default=1
        Least resource that a model can be trained with.
    is_default_maximum : bool, default=True
        Whether `max_resources` is all that there is, and not set by the user.
    continues : bool, default=True
        Whether models continue training between rungs, or are refit from scratch at each.
    """

    n_candidates: int
    max_resources: int
    min_resources: int | None = None
    first: int = 1
    lowest: int = 1
    is_default_maximum: bool = True
    continues: bool = True


class Algorithm(ABC):
    """Decides what is evaluated next, from the losses so far.

    A subclass writes `plan` and `requests`. An algorithm knows no estimator and no clock, and
    keeps nothing between calls: given the plan and the losses it requests the same, so that a
    search can be resumed and does not depend on the number of workers.
    `sklearn_sha.bandit.check_algorithm` checks that.

    Examples
    --------
    The best of all candidates after a single unit, trained to the maximum:

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
    ...         yield RungRequest(1, (best,), plan.rungs[1].resource, True, True)
    ...         return best
    >>> check_algorithm(OneUnit(), Bounds(n_candidates=8, max_resources=27))
    """

    needs_maximum = True
    """Whether `plan` needs `Bounds.max_resources`; 0 stands for no maximum otherwise."""

    @abstractmethod
    def plan(self, bounds: Bounds) -> Schedule:
        """Return an upper bound of what `requests` will ask for.

        Parameters
        ----------
        bounds : Bounds

        Returns
        -------
        Schedule

        Raises
        ------
        ValueError
            If the bounds leave nothing to plan.
        """

    @abstractmethod
    def requests(self, plan: Schedule, propose: Propose) -> Requests:
        """Yield requests, be sent the losses of their candidates, and return the best one.

        Parameters
        ----------
        plan : Schedule
            What `plan` returned.
        propose : callable
            ``propose(n)`` returns the ids of 1 to n new candidates; none if there are no more.

        Yields
        ------
        RungRequest
            It is sent the losses, in the order of ``candidate_ids``; None if all failed.

        Returns
        -------
        int or None
            Id of the best candidate. None if all failed.
        """

    def rounds(self, plan: Schedule, propose: Propose) -> Generator[list[Requests], float, None]:
        """Yield what is run together, one list after the other; override it for brackets.

        Parameters
        ----------
        plan, propose
            As in `requests`.

        Yields
        ------
        list of generator
            Of `requests`. The rungs at one resource are evaluated together. It is sent the lowest
            loss in their last rungs, NaN if there is none.
        """
        yield [self.requests(plan, propose)]
