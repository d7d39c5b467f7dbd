"""The contract of what gives groups of jobs the samples that they share."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Protocol

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._engine.jobs import Job
from sklearn_sha._engine.worker_deaths import WorkerCall
from sklearn_sha._storage.samples_file import SamplesFile

GroupKey = tuple[int, int, Hashable]
"""Fold, number of its training samples, and `SampleSources.key` of the candidates."""

Groups = Mapping[GroupKey, list[Job]]
Views = Mapping[tuple[int, int], Fold]
"""The part of each fold that a stage uses, by fold and number of training samples."""

Source = Fold | FittedPreprocessing | SamplesFile


class SampleSources(Protocol):
    """Prepares samples of a stage before its jobs are evaluated."""

    def key(self, candidate: int) -> Hashable:
        """Equal for candidates that are trained on the same samples of a fold."""

    def discard_all_but(self, groups: Groups) -> None:
        """Discard the samples that no group of a stage uses."""

    def calls(self, views: Views, groups: Groups) -> list[WorkerCall]:
        """Return the calls that prepare what groups of jobs lack. None are left after some runs."""

    def source(self, key: GroupKey, view: Fold) -> Source:
        """Return what a group of jobs is trained on."""
