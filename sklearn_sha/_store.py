"""What of a search is finished: outcomes, and models that may train on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sklearn_sha._evaluate import Outcome
from sklearn_sha._trained import Trained, TrainedFile

Pair = tuple[Outcome, Trained | TrainedFile | None]


class Store:
    """Keeps it in memory.

    Attributes
    ----------
    outcomes : dict of (int, int, int) to Outcome
        By candidate, fold and resource.
    trained : dict of (int, int) to Trained or TrainedFile
        By candidate and fold: the model of the last outcome, where it may train on.
    folder : Path or None
        Where workers put models.
    seed : int or None
        What stands for ``random_state=None``; None where nothing is to be repeated.
    """

    folder: Path | None = None
    seed: int | None = None

    def __init__(self) -> None:
        self.outcomes: dict[tuple[int, int, int], Outcome] = {}
        self.trained: dict[tuple[int, int], Trained | TrainedFile] = {}

    def keep(self, pairs: Sequence[Pair]) -> None:
        """Take in what came of jobs."""
        for outcome, trained in pairs:
            self.outcomes[outcome.key] = outcome
            self.drop(outcome.candidate, outcome.fold)
            if trained is not None:
                self.trained[outcome.candidate, outcome.fold] = trained

    def drop(self, candidate: int, fold: int) -> None:
        """Let go of a model, where there is one."""
        self.trained.pop((candidate, fold), None)

    def finish(self) -> None:
        """Let go of all models: the search has come to its end."""
        self.trained.clear()
