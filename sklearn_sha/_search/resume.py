"""The state from which `resume` continues a search that was interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

from sklearn_sha._search.completed_search import Origin
from sklearn_sha._search.fingerprint import (
    NOT_IN_FINGERPRINT,
    contents_of,
    data_fingerprint,
    digest,
)
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
    origin : Origin
        Has the parameters of the search.
    """

    spec: SearchSpec
    store: Store
    data: Mapping[str, str]
    origin: Origin

    @classmethod
    def of(cls, spec: SearchSpec, store: Store, data: FitArguments, origin: Origin) -> Self:
        """Return the state of a search with the arguments of its fit."""
        return cls(spec, store, data_fingerprint(*data), origin)

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
        return [
            *differences(self.data, data_fingerprint(*data)),
            *changed_params(self.origin, params),
            *changed_folder(self.store.path, checkpoint),
        ]


def changed_params(origin: Origin, now: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that have changed, of those that results depend on."""
    missing, contents = object(), contents_of(now)

    def has_changed(name: str) -> bool:
        before, after = origin.params.get(name, missing), now.get(name, missing)
        if before is after:  # in place
            return origin.contents.get(name) != contents.get(name)
        return digest(before) != digest(after)

    names = {*origin.params, *now}.difference(NOT_IN_FINGERPRINT)
    return [name for name in sorted(names) if has_changed(name)]


def changed_folder(then: str | PathLike[str] | None, now: str | PathLike[str] | None) -> list[str]:
    """Return a text if the folder of the completed results has changed, otherwise none."""
    # Without the completed results, all candidates would be trained again.
    return [] if then == now else [f"checkpoint (from {then} to {now})"]
