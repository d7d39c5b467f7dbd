"""The states of a search, interrupted or completed, from which its methods continue it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sklearn_sha._results.results import Results
from sklearn_sha._search.origin import Origin
from sklearn_sha._search.run import Run
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.store import Store
from sklearn_sha.candidates.base import Evaluation
from sklearn_sha.candidates.pool import EvaluationKey


@dataclass(frozen=True)
class Best:
    """Selected candidate of a completed search.

    Attributes
    ----------
    candidate : int
    n_resources : int
        Resource at which it was selected.
    score : float
    """

    candidate: int
    n_resources: int
    score: float

    @classmethod
    def of(cls, search: Any) -> Self | None:
        """Return the selected candidate; None if there is none, or if `refit` is a callable."""
        if not hasattr(search, "best_score_"):
            return None
        return cls(search.best_candidate_, search.best_n_resources_, search.best_score_)


@dataclass(frozen=True)
class InterruptedSearch:
    """State of a search that runs or was interrupted, from which `resume` continues it.

    Attributes
    ----------
    origin : Origin
    spec : SearchSpec
    store : Store
        Has the completed results.
    before : Best or None
        Selected candidate before `extend`, if that runs or was interrupted.
    """

    origin: Origin
    spec: SearchSpec
    store: Store
    before: Best | None = None


@dataclass(frozen=True)
class CompletedSearch:
    """State of a completed search, from which `extend` and `audit` continue it.

    Attributes
    ----------
    origin : Origin
    spec : SearchSpec
        Without the data.
    candidates : list of dict
        Parameters by candidate id.
    evaluations : dict of (int, int, int) to Evaluation
        Completed evaluations, if the sampler uses the history.
    store : Store
        Has the outcomes, and the models of eliminated candidates if they are kept. Empty if a
        checkpoint has them.
    results : Results
    cost : float
        Of its rungs, as `Schedule.total_cost` counts it.
    """

    origin: Origin
    spec: SearchSpec
    candidates: Sequence[dict[str, Any]]
    evaluations: Mapping[EvaluationKey, Evaluation]
    store: Store
    results: Results
    cost: float

    @property
    def is_part(self) -> bool:
        """Whether it is the completed part of an interrupted search."""
        return self.spec.n_rounds is not None

    @classmethod
    def of(cls, origin: Origin, run: Run, *, is_complete: bool) -> Self | None:
        """Return the state after a run, without the rounds that were interrupted.

        None if no round was completed, or if all were and only an audit or the refit is missing.
        Also None after an interrupted `extend` or `audit`, which has to be completed first: an
        incomplete extension does not have all candidates of `fit`.
        """
        spec, store, results, cost = run.spec, run.store, run.results, run.results.cost
        if not is_complete:
            rounds = run.rounds
            if rounds.n == 0 or rounds.are_all or origin.extensions:
                return None
            spec, cost = replace(spec, audits=(), n_rounds=rounds.n), rounds.cost
        if not run.keeps_eliminated:
            results.discard_models()
        spec = replace(spec, folds=[], starting_with=None)
        if store.path is not None:
            store = Store()
        elif not store.models:
            store = Store(store.outcomes)  # the folder of its models is deleted
        return cls(origin, spec, run.pool.params, run.pool.evaluations, store, results, cost)
