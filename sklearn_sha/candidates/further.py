"""Further candidates of a search that has been completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.random import RandomState

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_int
from sklearn_sha._user_warning import warn_user
from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.distinct import first_distinct, n_further
from sklearn_sha.candidates.proposals import N_CANDIDATES, proposed, what_is_scarce
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import grid_of


class GivenCandidates(Sampler):
    """Sampler of given candidates, in their order.

    Parameters
    ----------
    candidates : sequence of dict

    Examples
    --------
    >>> from numpy.random import RandomState
    >>> from sklearn_sha.candidates import History
    >>> from sklearn_sha.candidates.further import GivenCandidates
    >>> GivenCandidates([{"C": 3}, {"C": 1}]).propose(2, {}, History(), RandomState(0))
    [{'C': 3}, {'C': 1}]
    """

    def __init__(self, candidates: Sequence[dict[str, Any]]) -> None:
        self.candidates = candidates

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> Sequence[Mapping[str, Any]]:
        start = len(history.candidates)
        return self.candidates[start : start + n]


def further_candidates(
    source: CandidateSource,
    n_candidates: int | str,
    history: History,
    rng: RandomState,
    n_name: str,
) -> tuple[int, list[dict[str, Any]]]:
    """Return the number of further candidates, and those that are known before any training.

    Parameters
    ----------
    source : CandidateSource
        Without initial candidates.
    n_candidates : int or "auto"
        Number of further candidates. "auto": the remaining combinations of a grid, or
        `N_CANDIDATES` if there are distributions.
    history : History
        Of the search so far. Its candidates are not repeated.
    rng : RandomState
        In the state in which the first candidates were sampled, if they are of the same space.
    n_name : str
        Name of the parameter by which the user set `n_candidates`.

    Returns
    -------
    n : int
        Fewer than `n_candidates`, with a warning, if the space has fewer or the sampler proposes
        fewer.
    candidates : list of dict
        Empty if the sampler uses the history.

    Raises
    ------
    TypeError, ValueError
        If there are no further candidates, or if `n_candidates`, the space or a parameter of the
        sampler is invalid.
    """
    check_int("n_candidates", n_candidates, "auto")
    source.check()
    sampler, space = source.sampler, source.space
    grid = grid_of(space)
    if n_candidates == "auto":
        wanted = N_CANDIDATES if grid is None else len(grid)
    else:
        wanted = int(n_candidates)
    candidates: list[dict[str, Any]] = []
    if sampler.uses_history:
        n = n_further(space, wanted, history.candidates)
    else:
        candidates = first_distinct(proposed(source, wanted, history, rng), wanted)
        n = len(candidates)
    if not n:
        reason = f"the sampler proposes none that is new in {source.space_name}"
        if grid is not None and not n_further(space, 1, history.candidates):
            reason = f"all {len(grid)} combinations of {source.space_name} have been tried"
            if len(grid) == 1:
                reason = f"the only combination of {source.space_name} has been tried"
        raise ValueError(
            f"There are no further candidates: {reason}. Pass other values to extend, as "
            "param_distributions."
        )
    if n < wanted and n_candidates != "auto":
        scarce = what_is_scarce(source, n, wanted, history.candidates)
        warn_user(
            f"{n_name}={wanted} is more than the {quantity(n, 'further candidates')} that "
            f"{scarce}; trying these.",
        )
    return n, candidates
