"""The state from which `resume` continues a search that was interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

from sklearn_sha._search.fingerprint import NOT_IN_FINGERPRINT, data_fingerprint, digest
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.checkpoint import differences
from sklearn_sha._storage.store import Store

FitArguments = tuple[Any, Any, dict[str, Any]]
"""X, y and the other parameters of `fit`."""


@dataclass(frozen=True)
class InterruptedSearch:
    """State of an interrupted search.

    Attributes
    ----------
    spec : SearchSpec
    store : Store
        Has the completed results.
    data : dict of str to str
        Returned by `data_fingerprint`.
    params : dict
        Parameters of the search and of its components.
    """

    spec: SearchSpec
    store: Store
    data: Mapping[str, str]
    params: Mapping[str, Any]

    @classmethod
    def of(
        cls, spec: SearchSpec, store: Store, data: FitArguments, params: Mapping[str, Any]
    ) -> Self:
        """Return the state of a search with the arguments of its fit and its parameters."""
        return cls(spec, store, data_fingerprint(*data), params)

    def changes(
        self,
        params: Mapping[str, Any],
        data: FitArguments,
        checkpoint: str | PathLike[str] | None,
    ) -> list[str]:
        """Return the names of what has changed, of what the results depend on.

        Parameters
        ----------
        params : dict
            Current parameters of the search and of its components.
        data : tuple of X, y and dict
        checkpoint : path-like or None
            Current folder of the completed results.

        Returns
        -------
        list of str
        """
        changed = differences(self.data, data_fingerprint(*data))
        missing = object()
        for name in sorted({*self.params, *params}.difference(NOT_IN_FINGERPRINT)):
            before, now = self.params.get(name, missing), params.get(name, missing)
            if before is not now and digest(before) != digest(now):
                changed.append(name)
        if self.store.path != checkpoint:
            # Without the completed results, all candidates would be trained again.
            changed.append(f"checkpoint (from {self.store.path} to {checkpoint})")
        return changed
