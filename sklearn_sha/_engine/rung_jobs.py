"""Jobs of a request: candidates on folds, without those that earlier requests had."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import compress
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.resources.base import Resource

Key = tuple[int, int, int]
"""Candidate, fold and units of training, which identify an evaluation in a search."""


@dataclass(frozen=True)
class RungJobs:
    """Jobs of a request.

    Attributes
    ----------
    request : RungRequest
    folds : tuple of int
        Folds that score the candidates, in increasing order.
    target : int
        Units with which the model of each fold is trained.
    new_folds : tuple of tuple of int
        For each candidate of the request, the folds that no earlier request had at this resource.
    """

    request: RungRequest
    folds: tuple[int, ...]
    target: int
    new_folds: tuple[tuple[int, ...], ...]

    @property
    def n_new(self) -> int:
        """Number of jobs that no earlier request had."""
        return sum(map(len, self.new_folds))

    def new_keys(self) -> Iterator[Key]:
        """Return the keys of the jobs that no earlier request had, candidate by candidate."""
        for candidate, folds in zip(self.request.candidate_ids, self.new_folds, strict=True):
            for fold in folds:
                yield candidate, fold, self.target

    def is_new(self) -> NDArray[np.bool_]:
        """Return whether each job is new, of shape (n_candidates, n_folds)."""
        if all(folds == self.folds for folds in self.new_folds):
            return np.ones((len(self.new_folds), len(self.folds)), dtype=bool)
        return np.array([np.isin(self.folds, folds) for folds in self.new_folds])

    def new_by_fold(self) -> dict[int, list[tuple[int, int]]]:
        """Return the new jobs of each fold: their positions in `new_keys` and their candidates."""
        by_fold: dict[int, list[tuple[int, int]]] = {fold: [] for fold in self.folds}
        for index, (candidate, fold, _) in enumerate(self.new_keys()):
            by_fold[fold].append((index, candidate))
        return by_fold

    def keys(self, candidate: int) -> list[Key]:
        """Return the keys of a candidate on all folds of the rung."""
        return [(candidate, fold, self.target) for fold in self.folds]

    def restricted(self, is_kept: list[bool]) -> Self:
        """Return the jobs of some of the candidates."""
        ids = tuple(compress(self.request.candidate_ids, is_kept))
        request = replace(self.request, candidate_ids=ids)
        return replace(self, request=request, new_folds=tuple(compress(self.new_folds, is_kept)))


class RequestedFolds:
    """Folds on which each candidate was requested at each resource.

    Parameters
    ----------
    resource : Resource
    fold_order : tuple of int
        All folds, in the order in which they are added.
    """

    def __init__(self, resource: Resource, fold_order: tuple[int, ...]) -> None:
        self._resource = resource
        self._fold_order = fold_order
        self._requested: dict[int, dict[int, tuple[int, ...]]] = defaultdict(dict)

    def jobs(self, request: RungRequest) -> RungJobs:
        """Return the jobs of a request, and record its folds."""
        if not request.candidate_ids:
            raise ValueError(
                f"The algorithm requested no candidates in rung {request.rung}. Return the best "
                "candidate instead; sklearn_sha.bandit.check_algorithm tests an algorithm."
            )
        n_folds = self._resource.n_folds_at(request.n_resources)
        folds = request.folds if n_folds is None else self._fold_order[:n_folds]
        folds = tuple(sorted(self._fold_order if folds is None else folds))
        if not folds or not {*folds} <= {*self._fold_order} or len({*folds}) < len(folds):
            raise ValueError(
                f"The algorithm requested folds={request.folds}. Request one or more different "
                f"folds of 0 to {len(self._fold_order) - 1}, or None for all of them."
            )
        target = self._resource.units_per_fold(request.n_resources)
        new_folds = tuple(self._new_folds(c, target, folds) for c in request.candidate_ids)
        return RungJobs(request, folds, target, new_folds)

    def _new_folds(self, candidate: int, target: int, folds: tuple[int, ...]) -> tuple[int, ...]:
        at_target = self._requested[target]
        before = at_target.get(candidate, ())
        if before == folds:
            return ()
        # All candidates of a rung share one tuple: a search can have many of them.
        at_target[candidate] = tuple({*before, *folds}) if before else folds
        return tuple(fold for fold in folds if fold not in before) if before else folds
