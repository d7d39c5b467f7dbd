"""What of a search is finished: outcomes, and models that may train on."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

from sklearn_sha._evaluate import Outcome
from sklearn_sha._trained import ModelFolder, Trained, TrainedFile

Pair = tuple[Outcome, Trained | TrainedFile | None]


class Store:
    """Keeps outcomes in memory; models too, or where several processes can have them.

    Attributes
    ----------
    outcomes : dict of (int, int, int) to Outcome
        By candidate, fold and resource.
    trained : dict of (int, int) to Trained or TrainedFile
        By candidate and fold: the model of the last outcome, where it may train on.
    models : ModelFolder or None
        Where workers leave models.
    path : Path or None
        A folder that the user says all workers may see.
    seed : int or None
        What stands for ``random_state=None``; None where nothing is to be repeated.
    """

    models: ModelFolder | None = None
    path: Path | None = None
    seed: int | None = None

    def __init__(self) -> None:
        self.outcomes: dict[tuple[int, int, int], Outcome] = {}
        self.trained: dict[tuple[int, int], Trained | TrainedFile] = {}
        self._obsolete: set[Path] = set()

    def share(self) -> None:
        """Have a folder for the models of other processes, gone when this store is."""
        if self.models is None:
            folder = mkdtemp(prefix="models-")
            finalize(self, rmtree, folder, ignore_errors=True)
            self.models = ModelFolder(Path(folder), memory_of=os.getpid())

    def keep(self, pairs: Sequence[Pair]) -> None:
        """Take in what came of jobs."""
        # Models that what came before made obsolete: from now on nobody goes back to them.
        if self._obsolete:
            _delete(self._obsolete - self.wanted())
            self._obsolete.clear()
        for outcome, trained in pairs:
            self.outcomes[outcome.key] = outcome
            self.drop(outcome.candidate, outcome.fold)
            if trained is not None:
                self.trained[outcome.candidate, outcome.fold] = trained

    def fetch(self, candidate: int, fold: int) -> None:
        """Read a model, to be sent to a worker that does not see its file."""
        trained = self.trained[candidate, fold]
        assert isinstance(trained, TrainedFile)
        if not trained.digest and trained.is_out_of_sight:
            self.drop(candidate, fold)  # somebody has cleared temporary files away
        else:
            self.trained[candidate, fold] = replace(trained, fetched=trained.content())

    def wanted(self) -> set[Path]:
        """The files that have a model which may train on."""
        return {t.path for t in self.trained.values() if isinstance(t, TrainedFile)}

    def drop(self, candidate: int, fold: int) -> None:
        """Let go of a model, where there is one."""
        trained = self.trained.pop((candidate, fold), None)
        if isinstance(trained, TrainedFile):
            self._obsolete.add(trained.path)

    def finish(self) -> None:
        """Let go of all models: the search has come to its end."""
        self.trained.clear()
        if self.models is not None and self.models.path.exists():
            _delete(self.models.path.iterdir())


def _delete(files: Iterable[Path]) -> None:
    for path in files:
        with suppress(OSError):  # its folder goes later
            path.unlink()
