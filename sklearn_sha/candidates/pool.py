"""Candidates of a search by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from joblib import parallel_config
from numpy.random import RandomState

from sklearn_sha.candidates.base import Evaluation, History
from sklearn_sha.candidates.proposals import proposed
from sklearn_sha.candidates.source import CandidateSource

EvaluationKey = tuple[int, int, int]
"""Candidate, resource and number of folds of an evaluation."""


class CandidatePool:
    """Candidates of a search, to which a sampler adds.

    Parameters
    ----------
    source : CandidateSource
    candidates : sequence of dict
        First candidates to propose. If the sampler uses the history, it is called once more for
        those that are proposed with them.
    seed : int
        Seed of all later calls of the sampler.
    evaluations : dict of (int, int, int) to Evaluation
        What is known of `candidates`, by candidate id, resource and number of folds.
    is_closed : bool, default=False
        Whether there are no others: `candidates` are all those of a completed search.

    Attributes
    ----------
    params : list of dict
        Parameters by candidate id.
    evaluations : dict of (int, int, int) to Evaluation
        Completed evaluations, if the sampler uses the history.
    """

    def __init__(
        self,
        source: CandidateSource,
        candidates: Sequence[dict[str, Any]],
        seed: int,
        evaluations: Mapping[EvaluationKey, Evaluation],
        *,
        is_closed: bool = False,
    ) -> None:
        self.params = [*candidates]
        self.evaluations = {**evaluations}
        self._source = source
        self._seed = seed
        self._proposes = source.sampler.uses_history and not is_closed
        self._n_proposed = 0
        # The search that the candidates are from had at most as many calls.
        self._n_calls = len(candidates)

    def propose(self, n: int) -> tuple[int, ...]:
        """Return the ids of new candidates.

        Parameters
        ----------
        n : int
            Maximum number of candidates.

        Returns
        -------
        tuple of int
            Empty if there are no more candidates.
        """
        n_waiting = len(self.params) - self._n_proposed
        # Initial candidates are proposed together with those of the first call.
        is_due = n_waiting == 0 or (self._n_proposed == 0 and not self.evaluations)
        if is_due and n_waiting < n and self._proposes:
            rng = RandomState([self._seed, self._n_calls])
            history = History(tuple(self.params), tuple(self._not_overcome()))
            with parallel_config(backend="sequential"):  # parallel code would end the workers
                new = proposed(self._source, n - n_waiting, history, rng)
            self.params += new
            self._n_calls += 1
            self._proposes = bool(new)  # otherwise there are no more, for later brackets neither
        first = self._n_proposed
        self._n_proposed = min(first + n, len(self.params))
        return tuple(range(first, self._n_proposed))

    def record(
        self, ids: Iterable[int], n_resources: int, fold_scores: Iterable[Sequence[float]]
    ) -> None:
        """Add completed evaluations to the history, in the order of the candidates.

        Parameters
        ----------
        ids : iterable of int
        n_resources : int
        fold_scores : iterable of sequence of float
            Scores of each candidate on the folds.
        """
        if not self._source.sampler.uses_history:
            return
        for number, scores in zip(ids, fold_scores, strict=True):
            params: Mapping[str, Any] = self.params[number]
            values = tuple(float(score) for score in scores)
            mean = sum(values) / len(values)
            evaluation = Evaluation(params, n_resources, len(values), mean, values)
            self.evaluations.setdefault((number, n_resources, len(values)), evaluation)

    def _not_overcome(self) -> Iterator[Evaluation]:
        """Yield evaluations without those that had no score, if a later one with more has one."""
        scored: dict[int, int] = {}
        for (number, n_resources, _), one in self.evaluations.items():
            if not isnan(one.mean_score):
                scored[number] = max(n_resources, scored.get(number, 0))
        for (number, n_resources, _), one in self.evaluations.items():
            if not (isnan(one.mean_score) and n_resources < scored.get(number, 0)):
                yield one
