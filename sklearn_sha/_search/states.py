"""The states of a search, interrupted or completed, from which its methods continue it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from sklearn_sha._results.results import Results
from sklearn_sha._search.origin import Origin
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.store import Store
from sklearn_sha.candidates.base import Evaluation
from sklearn_sha.candidates.pool import CandidatePool, EvaluationKey


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
    """

    origin: Origin
    spec: SearchSpec
    candidates: Sequence[dict[str, Any]]
    evaluations: Mapping[EvaluationKey, Evaluation]
    store: Store
    results: Results

    @classmethod
    def of(
        cls,
        origin: Origin,
        spec: SearchSpec,
        pool: CandidatePool,
        store: Store,
        results: Results,
    ) -> Self:
        """Return the state of a search with its candidates, its store and its results."""
        without_data = replace(spec, folds=[])
        if store.path is not None:
            store = Store()
        elif not store.models:
            store = Store(store.outcomes)  # the folder of its models is deleted
        return cls(origin, without_data, pool.params, pool.evaluations, store, results)

    @classmethod
    def of_completed_brackets(
        cls,
        origin: Origin,
        spec: SearchSpec,
        pool: CandidatePool,
        store: Store,
        results: Results,
    ) -> Self | None:
        """Return the state of an interrupted search without the brackets that were not completed.

        None if there are none before these, or if the interrupted search was an audit, which has to
        be completed first.
        """
        n = pool.n_completed
        if n == 0 or spec.is_closed:
            return None
        evaluations = {key: known for key, known in pool.evaluations.items() if key[0] < n}
        # The store is shared, since `resume` needs the models of the other brackets.
        without_data = replace(spec, folds=[], audits=())
        return cls(origin, without_data, pool.params[:n], evaluations, store, results)


@dataclass(frozen=True)
class InterruptedSearch:
    """State of an interrupted search, from which `resume` continues it.

    Attributes
    ----------
    origin : Origin
    spec : SearchSpec
    store : Store
        Has the completed results.
    completed : CompletedSearch or None
        The search without the brackets that were not completed, from which `audit` continues it.
        None if no bracket was completed.
    """

    origin: Origin
    spec: SearchSpec
    store: Store
    completed: CompletedSearch | None
