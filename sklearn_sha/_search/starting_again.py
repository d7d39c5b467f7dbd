"""The error that ends a search which starts again with more resource, and the new plan."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn_sha._search.search_spec import SearchSpec


class StartAgainError(Exception):
    """Ends a search of which no candidate has a score in a rung of the first bracket.

    Parameters
    ----------
    n_enough : int
        Minimum of the first rung when it starts again.
    message : str
        Warning that explains it.
    """

    def __init__(self, n_enough: int, message: str) -> None:
        super().__init__(message)
        self.n_enough = n_enough


def restarted_spec(
    again: StartAgainError, spec: SearchSpec, candidates: Sequence[dict[str, Any]]
) -> SearchSpec:
    """Return the search whose first rung has enough samples or folds.

    Parameters
    ----------
    again : StartAgainError
    spec : SearchSpec
        Of the search that has ended.
    candidates : sequence of dict
        Parameters of its candidates by number. They keep their numbers, since its outcomes are
        known.
    """
    assert spec.starting_with is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the first plan
        other = spec.starting_with(again.n_enough)
    return replace(
        other, source=spec.source, candidates=[*candidates], evaluations=spec.evaluations
    )
