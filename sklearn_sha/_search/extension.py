"""The state from which `extend` adds candidates to a completed search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from numpy.random import RandomState

from sklearn_sha._formatting import quantity
from sklearn_sha._search.fingerprint import described_space, digest
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import Store
from sklearn_sha.candidates.base import Evaluation
from sklearn_sha.candidates.pool import CandidatePool, EvaluationKey


@dataclass(frozen=True)
class Origin:
    """The fit from which a search and its extensions come.

    Attributes
    ----------
    random_state : RandomState
        State at the start of the fit.
    params : dict
        Parameters of the search and of its components.
    data : dict of str to str
        Fingerprint of the data.
    resource : str
        Name of the resource; "auto" is resolved.
    splits : str
        Digest of the splits.
    fingerprint : dict of str to str
        Identifies the search in a checkpoint; empty without one.
    extensions : tuple of str
        Texts that identify the extensions since.
    """

    random_state: RandomState
    params: Mapping[str, Any]
    data: Mapping[str, str]
    resource: str
    splits: str
    fingerprint: Mapping[str, str]
    extensions: tuple[str, ...] = ()

    def extended(self, space: Any, n_candidates: int) -> Self:
        """Return the origin of an extension by further candidates.

        Parameters
        ----------
        space : dict, list of dict or None
            Search space of the further candidates; None: that of the fit.
        n_candidates : int
        """
        identity = quantity(n_candidates, "candidates")
        if space is not None:
            identity += f" of another space ({digest(described_space(space))[:12]})"
        return replace(self, extensions=(*self.extensions, identity))


@dataclass(frozen=True)
class CompletedSearch:
    """State of a completed search.

    Attributes
    ----------
    origin : Origin
    candidates : list of dict
        Parameters by candidate id.
    evaluations : dict of (int, int, int) to Evaluation
        Completed evaluations, if the sampler uses the history.
    outcomes : dict of (int, int, int) to Outcome
        By candidate, fold and resource. Empty if a checkpoint has them.
    path : Path or None
        Folder of the checkpoint; None without one.
    """

    origin: Origin
    candidates: Sequence[dict[str, Any]]
    evaluations: Mapping[EvaluationKey, Evaluation]
    outcomes: dict[tuple[int, int, int], Outcome]
    path: Path | None

    @classmethod
    def of(cls, origin: Origin, pool: CandidatePool, store: Store) -> Self:
        """Return the state of a search with its candidates and its store."""
        outcomes = store.outcomes if store.path is None else {}
        return cls(origin, pool.params, pool.evaluations, outcomes, store.path)


def splits_digest(spec: SearchSpec) -> str:
    """Return a short text that identifies the splits of a search."""
    return digest([(len(fold.train), fold.test) for fold in spec.folds])
