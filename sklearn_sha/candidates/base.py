"""Base class of samplers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import RandomState

Space = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Dict of parameter names to lists of values or distributions, or a list of alternative dicts."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one candidate at one resource.

    Attributes
    ----------
    params : dict
    n_resources : int
        Total resource of the candidate.
    n_folds : int
        Number of folds that scored it.
    mean_score : float
        Mean score by the metric that promotes. If a fit failed, its score is `error_score`, which
        is NaN by default.
    fold_scores : tuple of float
        Scores on the folds.
    """

    params: Mapping[str, Any]
    n_resources: int
    n_folds: int
    mean_score: float
    fold_scores: tuple[float, ...]


@dataclass(frozen=True)
class History:
    """Candidates and scores of a search so far.

    Attributes
    ----------
    candidates : sequence of dict
        All proposed candidates in the order of their ids, including those not evaluated yet.
    evaluations : sequence of Evaluation
        Evaluations of all completed rungs, in the order of completion and of the candidates. If a
        candidate has a score, those without one and with less resource are left out.
    """

    candidates: Sequence[Mapping[str, Any]] = field(default_factory=list)
    evaluations: Sequence[Evaluation] = field(default_factory=list)


class Sampler(ABC):
    """Base class of samplers, which propose candidates.

    A subclass implements `propose`. A sampler has no state: given the same space, history and state
    of `rng`, it proposes the same candidates. Therefore a search can be resumed, and its result
    does not depend on the number of workers. `sklearn_sha.candidates.check_sampler` tests this.

    Attributes
    ----------
    uses_history : bool
        False: all candidates are proposed before any training, in a single call. With
        ``budget="anytime"`` and `extend` there is a second call for further candidates, whose
        `history` has the first ones. Its `rng` is in the same state as that of the first call,
        unless `extend` has another space, so that a sampler of a sequence skips the candidates of
        the history. True: there is another call whenever all proposed candidates have been
        evaluated.
    packages : tuple of str
        Names of further packages that decide what is proposed. A checkpoint can be used with their
        versions only.

    Examples
    --------
    Propose eight random candidates, then neighbors of the best one:

    >>> from scipy.stats import loguniform
    >>> from sklearn_sha.candidates import RandomSampler, Sampler, check_sampler
    >>> class Neighbors(Sampler):
    ...     uses_history = True
    ...
    ...     def propose(self, n, space, history, rng):
    ...         scored = [e for e in history.evaluations if e.mean_score == e.mean_score]  # no NaN
    ...         if not scored:
    ...             return RandomSampler().propose(min(n, 8), space, history, rng)
    ...         best = max(scored, key=lambda evaluation: evaluation.mean_score)
    ...         return [{"alpha": best.params["alpha"] * rng.lognormal()} for _ in range(n)]
    >>> check_sampler(Neighbors(), {"alpha": loguniform(1e-6, 1)})
    """

    uses_history = False
    packages: tuple[str, ...] = ()

    def check(self, space: Space) -> None:  # noqa: B027 - optional
        """Raise an error if the parameters or the space are invalid. Does nothing by default.

        Called by `plan`, and by `fit` before training.

        Parameters
        ----------
        space : dict or list of dict
            Search space, as `param_distributions` of the search.
        """

    @abstractmethod
    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> Sequence[Mapping[str, Any]]:
        """Return candidates to evaluate.

        If `uses_history` is True, joblib's backend is the sequential one: `n_jobs` of a model of
        the scores has no effect.

        Parameters
        ----------
        n : int >= 1
            Maximum number of candidates.
        space : dict or list of dict
            Search space, as `param_distributions` of the search.
        history : History
        rng : RandomState
            The only source of randomness.

        Returns
        -------
        list of dict
            At most n candidates that were not proposed before. Empty if there are no more. If
            there are fewer than n and `uses_history` is True, `propose` is called again once they
            are evaluated.
        """
