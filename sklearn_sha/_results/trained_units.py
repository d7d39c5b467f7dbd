"""Counts the units with which each candidate was trained on each fold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class TrainedUnits:
    """Units of the models of all candidates, and those that further training takes.

    Parameters
    ----------
    n_folds : int
    continues : bool
        Whether models continue training between rungs.
    """

    def __init__(self, n_folds: int, continues: bool) -> None:
        self._continues = continues
        self._trained = np.zeros((0, n_folds), dtype=np.intp)
        self._without_models: set[int] = set()

    def add(
        self,
        candidates: Sequence[int],
        folds: Sequence[int],
        target: int,
        is_new: NDArray[np.bool_],
    ) -> int:
        """Record which jobs of a rung trained a model to `target`; return their units.

        Parameters
        ----------
        candidates, folds : sequence of int
        target : int
        is_new : ndarray of bool, shape (n_candidates, n_folds)
            Whether each job was evaluated for this rung.
        """
        self._make_room(max(candidates, default=-1))
        units = self._missing(candidates, folds, target)
        where = np.ix_(candidates, folds)
        self._trained[where] = np.where(is_new, target, self._trained[where])
        return int(units[is_new].sum())

    def missing_of(self, candidate: int, folds: Sequence[int], target: int) -> int:
        """Return the units of a candidate on those folds where it has less than `target`."""
        is_missing = self._trained[candidate, folds] < target
        return int(self._missing([candidate], folds, target)[0][is_missing].sum())

    def discard_models(self) -> None:
        """Count the further training of all candidates so far from scratch."""
        self._without_models.update(range(len(self._trained)))

    def _missing(
        self, candidates: Sequence[int], folds: Sequence[int], target: int
    ) -> NDArray[np.intp]:
        """Return the units that models have to be trained with until they have `target`."""
        if not self._continues:
            return np.full((len(candidates), len(folds)), target)
        has_model = np.array([number not in self._without_models for number in candidates])
        return np.asarray(target - self._trained[np.ix_(candidates, folds)] * has_model[:, None])

    def _make_room(self, candidate: int) -> None:
        if (n_missing := 1 + candidate - len(self._trained)) > 0:
            more = np.zeros((n_missing, self._trained.shape[1]), dtype=np.intp)
            self._trained = np.concatenate([self._trained, more])
