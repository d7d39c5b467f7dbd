"""One evaluation: a candidate on a fold, and how it is evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from sklearn_sha._engine.callbacks import NO_CALLBACKS, Task
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.resources.base import Resource


@dataclass(frozen=True)
class Job:
    """One candidate on one fold.

    Attributes
    ----------
    candidate, fold : int
        Their numbers.
    params : dict
        The candidate's parameters.
    rung, target : int
        The rung, and the total units to train to.
    trained : TrainedModel, ModelFile or None
        Where to train on from; None for a new model.
    keep : bool
        Whether the model may be asked for again.
    place : int
        Its number among the jobs of its rung.
    task : Task
        That of its rung.
    """

    candidate: int
    fold: int
    params: dict[str, Any]
    rung: int
    target: int
    trained: TrainedModel | ModelFile | None
    keep: bool
    place: int = 0
    task: Task = NO_CALLBACKS

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it, and its outcome, from all others of a search."""
        return self.candidate, self.fold, self.target

    def units(self) -> int:
        """Units of resource to train."""
        return self.target - (0 if self.trained is None else self.trained.spent)

    def failed(self, error: str, seconds: float = 0.0) -> Outcome:
        """The outcome where its fit raised an error."""
        return Outcome(*self.key, fit_time=seconds, errors=(error,), fit_failed=True)

    def add_note(self, error: Exception) -> None:
        """Say in an error whose it is."""
        error.add_note(
            f"Raised by candidate {self.candidate} with parameters {self.params}, on fold "
            f"{self.fold}, in rung {self.rung} at resource {self.target}."
        )


@dataclass(frozen=True)
class EvaluationConfig:
    """What all jobs of a search share.

    Attributes
    ----------
    estimator : estimator
        Cloned for every new model.
    resource : Resource
    scorer : callable
        Takes an estimator, X, y and parameters, and returns a number or a dict of them.
    error_score : float or "raise"
    return_train_score : bool
    shares_preprocessing : bool
        True where `estimator` is a pipeline of which a job trains the last step only.
    continues : bool
        Whether models keep training from rung to rung, where the resource lets them.
    scores_pipeline : bool
        True where there is a prefix, and the scorer must see the whole pipeline and the rows
        as they came, since the last step on transformed rows might not give the same.
    models : ModelFolder or None
        Where models are left between rungs; None for memory. A worker that does not see the
        folder hands its models back, and is sent those of others.
    batch_bytes : float
        How many bytes of models a worker collects before it hands back what is done.
    """

    estimator: Any
    resource: Resource
    scorer: Any
    error_score: float | str
    return_train_score: bool
    shares_preprocessing: bool
    continues: bool
    scores_pipeline: bool
    models: ModelFolder | None = None
    batch_bytes: float = inf


@dataclass(frozen=True)
class Done:
    """What was done of a batch of jobs.

    Attributes
    ----------
    pairs : list of (Outcome, TrainedModel, ModelFile or None)
    interrupted : bool
        Whether a KeyboardInterrupt ended it, which the search has to raise again.
    unseen : list of (int, int)
        Candidates and folds whose models the worker does not see, and so did nothing for.
    """

    pairs: list[tuple[Outcome, TrainedModel | ModelFile | None]]
    interrupted: bool = False
    unseen: list[tuple[int, int]] = field(default_factory=list)
