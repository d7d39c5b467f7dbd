"""A search that was stopped: what it takes to go on with it in the same process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sklearn_sha._search.fingerprint import NOT_IN_FINGERPRINT, data_fingerprint, digest
from sklearn_sha._search.prepare import Setup
from sklearn_sha._storage.checkpoint import differences
from sklearn_sha._storage.store import Store


@dataclass(frozen=True)
class InterruptedSearch:
    """Where a search stood.

    Attributes
    ----------
    setup : Setup
    store : Store
    data : dict of str to str
        Of `data_fingerprint`.
    params : dict
        Parameters of the search, and of what it holds.
    """

    setup: Setup
    store: Store
    data: Mapping[str, str]
    params: Mapping[str, Any]

    @classmethod
    def now(
        cls, search: Any, setup: Setup, store: Store, data: tuple[Any, Any, dict[str, Any]]
    ) -> Self:
        """Where a search stands, which was given this X, y and parameters of fit."""
        return cls(setup, store, data_fingerprint(*data), search.get_params())

    def changes(self, search: Any, data: tuple[Any, Any, dict[str, Any]]) -> list[str]:
        """Names of what is not as it was then, of the data and of what results depend on."""
        params = search.get_params()
        names = [name for name in {**self.params, **params} if name not in NOT_IN_FINGERPRINT]
        missing = object()
        pairs = ((n, self.params.get(n, missing), params.get(n, missing)) for n in names)
        changed = [n for n, then, now in pairs if then is not now and digest(then) != digest(now)]
        return differences(self.data, data_fingerprint(*data)) + changed
