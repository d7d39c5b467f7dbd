"""When a run of an algorithm ends early."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha.bandit.promotion import promote
from sklearn_sha.bandit.requests import as_rung_losses
from sklearn_sha.schedules import Schedule


class StableRanking:
    """Stop when the order of the leading candidates is stable.

    The leading candidates are those that the rung would promote, at least two [1]_. Their order is
    unchanged if it is the same as in the previous rung, except for pairs whose difference is within
    its standard error over the folds in one of the two rungs. The differences are paired: what a
    fold has in common for both candidates cancels. On a single fold no difference is noise.

    Parameters
    ----------
    n_rungs : int >= 1, default=2
        Number of consecutive rungs in which the order has to be unchanged.

    References
    ----------
    .. [1] O. Bohdal, L. Balles, M. Wistuba, B. Ermis, C. Archambeau and G. Zappella, "PASHA:
       Efficient HPO and NAS with Progressive Resource Allocation", ICLR 2023. It stops after one
       such rung, and estimates the noise from fluctuations of the scores during training.

    Examples
    --------
    >>> from sklearn_sha.bandit import StableRanking
    >>> stop = StableRanking()
    >>> stop.is_over((0, 1, 2, 3), [0.4, 0.3, 0.2, 0.1], n_promoted=2)
    False
    >>> [stop.is_over((2, 3), losses, n_promoted=1) for losses in ([0.2, 0.1], [0.2, 0.1])]
    [False, True]
    """

    def __init__(self, n_rungs: int = 2) -> None:
        self.n_rungs = n_rungs
        self._n_unchanged = 0
        self._previous: dict[int, NDArray[np.float64]] = {}

    def is_over(self, ids: tuple[int, ...], losses: ArrayLike, n_promoted: int) -> bool:
        """Record the losses of a rung, and return whether to stop.

        Parameters
        ----------
        ids : tuple of int
            Candidates of the rung.
        losses : array-like of float, shape (n_candidates,)
            If they are `RungLosses`, those on the folds count.
        n_promoted : int
            Number of candidates that the rung would promote.

        Returns
        -------
        bool
        """
        values = np.asarray(losses, dtype=float)
        folds = as_rung_losses(losses).fold_losses
        previous, current = self._previous, dict(zip(ids, folds, strict=True))
        self._previous = current
        leaders = [ids[position] for position in promote(values, max(2, n_promoted))]
        is_unchanged = previous.keys() >= set(leaders) and not any(
            _order(previous[a], previous[b]) * _order(current[a], current[b]) < 0
            for a, b in combinations(leaders, 2)
        )
        self._n_unchanged = self._n_unchanged + 1 if is_unchanged else 0
        return self._n_unchanged >= self.n_rungs


def _order(losses: NDArray[np.float64], others: NDArray[np.float64]) -> int:
    """Return the sign of the mean difference over the folds; 0 if it is within its noise."""
    n = len(losses)
    with np.errstate(invalid="ignore"):  # of infinite losses
        differences = losses - others
        noise = differences.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
        mean = differences.mean()
    return 0 if np.isnan(mean) or abs(mean) <= noise else int(np.sign(mean))


class Target:
    """Loss of a candidate at full resource at which a search ends.

    Parameters
    ----------
    loss : float
    n_resources : int
        The full resource.

    Attributes
    ----------
    is_reached : bool

    Examples
    --------
    >>> from sklearn_sha.bandit import Target
    >>> target = Target(0.1, n_resources=81)
    >>> target.is_reached_by([0.3, 0.2]), target.is_reached_by([0.3, 0.1]), target.is_reached
    (False, True, True)
    """

    def __init__(self, loss: float, n_resources: int) -> None:
        self.loss = loss
        self.n_resources = n_resources
        self.is_reached = False

    def is_reached_by(self, losses: ArrayLike | None) -> bool:
        """Return whether one of the losses of candidates at full resource is low enough."""
        if losses is not None and np.any(np.asarray(losses, dtype=float) <= self.loss):
            self.is_reached = True
        return self.is_reached


def stop_rule(stop: str | None) -> StableRanking | None:
    """Return a new rule by its name; None for no rule.

    Raises
    ------
    ValueError
        If the name is neither "stable" nor None.
    """
    if stop not in (None, "stable"):
        raise ValueError(f'stop={stop!r} must be "stable" or None.')
    return None if stop is None else StableRanking()


def target_of(loss: float | None, plan: Schedule) -> Target | None:
    """Return a new target at the full resource of a plan; None for no target."""
    return None if loss is None else Target(loss, plan.max_resources)
