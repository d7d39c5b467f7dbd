"""The space of a fitted search."""

from __future__ import annotations

from typing import Any

from sklearn_sha.candidates.space import spaces_of


def given_spaces(search: Any) -> Any:
    """Return the dicts of the space of a search, by whichever of its names it was given."""
    given = search.param_distributions
    return spaces_of(search.param_grid if given is None else given)
