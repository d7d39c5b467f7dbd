"""What a source of candidates is: the contract of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import RandomState

Space = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Parameter names to lists of values or to distributions; several of them are alternatives."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one candidate at one resource.

    Attributes
    ----------
    params : dict
    n_resources : int
        Total resource that the candidate has had.
    n_folds : int
        How many folds scored it.
    mean_score : float
        By the metric that promotes. NaN if it failed.
    fold_scores : tuple of float
    """

    params: Mapping[str, Any]
    n_resources: int
    n_folds: int
    mean_score: float
    fold_scores: tuple[float, ...]


@dataclass(frozen=True)
class History:
    """What a search knows when it asks for candidates.

    Attributes
    ----------
    candidates : sequence of dict
        All candidates that were proposed, in the order of their ids, evaluated or not.
    evaluations : sequence of Evaluation
        Of all completed rungs, in the order of completion and of the candidates.
    """

    candidates: Sequence[Mapping[str, Any]] = field(default_factory=list)
    evaluations: Sequence[Evaluation] = field(default_factory=list)


class Sampler(ABC):
    """Proposes candidates.

    A subclass writes `propose`. A sampler keeps nothing between calls: given the space, the history
    and the state of `rng` it proposes the same, so that a search can be resumed and does not
    depend on the number of workers. `sklearn_sha.candidates.check_sampler` checks that.

    Attributes
    ----------
    uses_history : bool
        False: all candidates of a search are asked for in one call, before any training. True:
        more are asked for whenever those proposed so far have been evaluated.

    Examples
    --------
    Eight random candidates, then neighbours of the best one:

    >>> from scipy.stats import loguniform
    >>> from sklearn_sha.candidates import RandomSampler, Sampler, check_sampler
    >>> class Neighbours(Sampler):
    ...     uses_history = True
    ...
    ...     def propose(self, n, space, history, rng):
    ...         if not history.evaluations:
    ...             return RandomSampler().propose(min(n, 8), space, history, rng)
    ...         best = max(history.evaluations, key=lambda evaluation: evaluation.mean_score)
    ...         return [{"alpha": best.params["alpha"] * rng.lognormal()} for _ in range(n)]
    >>> check_sampler(Neighbours(), {"alpha": loguniform(1e-6, 1)})
    """

    uses_history = False

    @abstractmethod
    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> Sequence[Mapping[str, Any]]:
        """Return candidates to evaluate.

        Parameters
        ----------
        n : int >= 1
            How many are wanted.
        space : dict or list of dict
            `param_distributions` of the search.
        history : History
        rng : RandomState
            The only source of randomness.

        Returns
        -------
        list of dict
            At most n candidates that were not proposed before. Empty: there are no more. If
            there are fewer than n and `uses_history` is True, more are asked for once these are
            evaluated.
        """
