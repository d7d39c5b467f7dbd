"""The fit from which a search and what continues it come, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal, Self

from numpy.random import RandomState

from sklearn_sha._formatting import enumerated, quantity
from sklearn_sha._param_validation import is_estimator
from sklearn_sha._search.digest import digest
from sklearn_sha._search.fingerprint import (
    NOT_IN_FINGERPRINT,
    contents_of,
    data_fingerprint,
    described_space,
    fingerprint,
    objects_of,
    splits_digest,
)
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._storage.checkpoint import differences, has_checkpoint

FitArguments = tuple[Any, Any, dict[str, Any]]
"""X, y and the other parameters of `fit`."""

_CHANGEABLE = {*NOT_IN_FINGERPRINT, "refit"} - {"checkpoint"}
"""Parameters of a search that can be changed before a method that continues it."""


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
    objects : dict of str to tuple
        Parameters of `fit` whose state training can change.
    resource : str
        Name of the resource; "auto" is resolved.
    splits : str
        Digest of the splits.
    path : Path or None
        Folder of the checkpoint; None without one.
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
    objects: Mapping[str, tuple[Any, ...]]
    resource: str
    splits: str
    path: Path | None
    fingerprint: Mapping[str, str]
    extensions: tuple[str, ...] = ()
    spaces: tuple[Any, ...] = ()

    @classmethod
    def of(
        cls,
        search: Any,
        random_state: RandomState,
        spec: SearchSpec,
        data: FitArguments,
        path: Path | None,
    ) -> Self:
        """Return the origin of a search that begins.

        Parameters
        ----------
        search : BaseHalvingSearch
        random_state : RandomState
            State at the start of the fit.
        spec : SearchSpec
        data : tuple of X, y and dict
        path : Path or None
            Folder of the checkpoint; None without one.
        """
        params, texts, saved = search_params(search), _data_texts(data, path), {}
        if path is not None:
            own = search_params(search, deep=False)
            saved = fingerprint(type(search).__name__, own, spec, texts)
        return cls(
            random_state,
            params,
            contents_of(params),
            texts,
            objects_of(data[2]),
            spec.resource.name,
            splits_digest(spec.folds),
            path,
            saved,
        )

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
        """Return the origin of an audit of `n_candidates` candidates."""
        number = "auto" if n_candidates == "auto" else quantity(n_candidates, "candidates")
        return replace(self, extensions=(*self.extensions, f"audit of {number}"))

    def check_unchanged(
        self, method: str, params: Mapping[str, Any], data: FitArguments, path: Path | None
    ) -> None:
        """Raise an error if something has changed since fit, of what the results depend on.

        Parameters
        ----------
        method : str
            Method that continues the search, for the message.
        params : dict
            Current parameters of the search and of its components.
        data : tuple of X, y and dict
            Current data.
        path : Path or None
            Current folder of the checkpoint.

        Raises
        ------
        ValueError
            Names all that has changed.
        """
        new = (name for name in data[2] if f"fit parameter {name}" not in self.data)
        if misplaced := [name for name in new if name in params]:
            raise ValueError(_misplaced_message(method, misplaced))
        changes = [*self._changed_data(data), *self._changed_params(params)]
        if path != self.path:
            # Without the completed results, all candidates would be trained again.
            changes.append(f"checkpoint (from {self.path} to {path})")
        elif path is not None and not has_checkpoint(path):
            changes.append(f"checkpoint ({path} was deleted)")
        _raise_for(method, changes)

    def check_unchanged_plan(self, method: str, spec: SearchSpec) -> None:
        """Raise an error if the plan of the same search now differs from that of fit.

        Parameters
        ----------
        method : str
            Method that continues the search, for the message.
        spec : SearchSpec

        Raises
        ------
        ValueError
            Names what differs.
        """
        if splits_digest(spec.folds) != self.splits:
            splits = "the splits (cv yields others each time: give it an integer as random_state)"
            _raise_for(method, [splits])
        if spec.resource.name != self.resource:  # "auto" of other candidates
            raise ValueError(
                f"With these candidates, the resource is {spec.resource.name!r}, and results with "
                f"resource={self.resource!r} cannot be used. Set resource={spec.resource.name!r}, "
                f"and call fit before {method}."
            )

    def _changed_data(self, data: FitArguments) -> list[str]:
        """Return what differs. Of the same objects, such as callbacks, the state is ignored."""
        now, objects = _data_texts(data, self.path), objects_of(data[2])
        same = {
            f"fit parameter {name}"
            for name, before in self.objects.items()
            if name in objects and [*map(id, before)] == [*map(id, objects[name])]
        }
        then = {name: text for name, text in self.data.items() if name not in same}
        return differences(then, {name: text for name, text in now.items() if name not in same})

    def _changed_params(self, now: Mapping[str, Any]) -> Iterator[str]:
        missing, contents = object(), contents_of(now)
        for name in sorted({*self.params, *now}.difference(NOT_IN_FINGERPRINT)):
            before, after = self.params.get(name, missing), now.get(name, missing)
            if name == "refit" and not isinstance(before, str) and not isinstance(after, str):
                continue  # only a metric's name can decide what is promoted
            if before is after:  # in place
                has_changed = self.contents.get(name) != contents.get(name)
            else:
                has_changed = digest(before) != digest(after)
            if has_changed:
                yield name


def search_params(search: Any, *, deep: bool = True) -> dict[str, Any]:
    """Return the parameters of a search.

    If a subclass has its own constructor, `get_params` has only the parameters of that one. Here,
    those of its base classes are included.

    Parameters
    ----------
    search : BaseHalvingSearch
    deep : bool, default=True
        Whether the parameters of its components are included.
    """
    constructors = (vars(base).get("__init__") for base in type(search).__mro__)
    names = {name for one in constructors if one is not None for name in signature(one).parameters}
    own = {name: value for name, value in vars(search).items() if name in names}
    if deep:
        nested = [(name, value) for name, value in own.items() if is_estimator(value)]
        for name, value in nested:
            own |= {f"{name}__{key}": part for key, part in value.get_params().items()}
    return own | search.get_params(deep=deep)


def _misplaced_message(method: str, names: list[str]) -> str:
    """Format that parameters of the search were passed to a method, and how they are set."""
    are = "is a parameter" if len(names) == 1 else "are parameters"
    remedy = f"Call set_params({'=..., '.join(names)}=...) before {method}"
    if decisive := [name for name in names if name not in _CHANGEABLE]:
        remedy = f"To change {enumerated(decisive)}, call set_params, and fit to start a new search"
    return (
        f"{method} takes the parameters of fit, and {enumerated(names)} {are} of the search. "
        f"{remedy}."
    )


def _raise_for(method: str, changes: list[str]) -> None:
    if changes:
        raise ValueError(
            f"{method} requires the search and the data of fit, but {', '.join(changes)} changed "
            "since. Restore what changed, or call fit to start a new search."
        )


def _data_texts(data: FitArguments, path: Path | None) -> dict[str, str]:
    # Every fit computes them. Within a process, a sample of X is enough to notice other data.
    return data_fingerprint(*data, max_samples=1_000 if path is None else 100_000)
