"""The state from which `extend` and `audit` continue a completed search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from numpy.random import RandomState

from sklearn_sha._formatting import quantity
from sklearn_sha._results.results import Results
from sklearn_sha._search.fingerprint import described_space, digest
from sklearn_sha._search.search_spec import SearchSpec
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
    contents : dict of str to str
        Texts that identify the contents of those that are containers.
    data : dict of str to str
        Fingerprint of the data.
    resource : str
        Name of the resource; "auto" is resolved.
    splits : str
        Digest of the splits.
    fingerprint : dict of str to str
        Identifies the search in a checkpoint; empty without one.
    extensions : tuple of str
        Texts that identify the extensions and audits since.
    spaces : tuple of dict or list of dict
        Search spaces of the extensions by candidates of another space.
    """

    random_state: RandomState
    params: Mapping[str, Any]
    contents: Mapping[str, str]
    data: Mapping[str, str]
    resource: str
    splits: str
    fingerprint: Mapping[str, str]
    extensions: tuple[str, ...] = ()
    spaces: tuple[Any, ...] = ()

    def extended(self, space: Any, n_candidates: int) -> Self:
        """Return the origin of an extension by further candidates.

        Parameters
        ----------
        space : dict, list of dict or None
            Search space of the further candidates; None: that of the fit.
        n_candidates : int
        """
        identity, spaces = f"extend by {quantity(n_candidates, 'candidates')}", self.spaces
        if space is not None:
            identity += f" of another space ({digest(described_space(space))[:12]})"
            spaces = (*spaces, space)
        return replace(self, extensions=(*self.extensions, identity), spaces=spaces)

    def audited(self, n_candidates: int | Literal["auto"]) -> Self:
        """Return the origin of an audit of so many candidates."""
        number = "auto" if n_candidates == "auto" else quantity(n_candidates, "candidates")
        return replace(self, extensions=(*self.extensions, f"audit of {number}"))


@dataclass(frozen=True)
class CompletedSearch:
    """State of a completed search.

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
    path : Path or None
        Folder of the checkpoint; None without one.
    """

    origin: Origin
    spec: SearchSpec
    candidates: Sequence[dict[str, Any]]
    evaluations: Mapping[EvaluationKey, Evaluation]
    store: Store
    results: Results
    path: Path | None

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
        path = store.path
        if path is not None:
            store = Store()
        elif not store.models:
            store = Store(store.outcomes)  # the folder of its models is deleted
        return cls(origin, without_data, pool.params, pool.evaluations, store, results, path)


def differences_of(spec: SearchSpec, origin: Origin) -> list[str]:
    """Return in what a planned search differs from the fit that it continues."""
    changes = []
    if splits_digest(spec) != origin.splits:
        changes.append("the splits (cv yields others each time: give it a random_state)")
    if spec.resource.name != origin.resource:
        changes.append(
            f"the resource (from {origin.resource!r}, which has to be set for more candidates, to "
            f"{spec.resource.name!r})"
        )
    return changes


def splits_digest(spec: SearchSpec) -> str:
    """Return a short text that identifies the splits of a search."""
    return digest([(len(fold.train), fold.test) for fold in spec.folds])
