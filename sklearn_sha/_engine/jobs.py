"""Evaluation of one candidate on one fold: the job, its configuration and its result."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

from sklearn_sha._engine.callbacks import Task
from sklearn_sha._engine.template import Template
from sklearn_sha._storage.models import ModelFolder, ModelReference
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import OutcomeAndModel
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import WholeFit


@dataclass(slots=True)  # making a frozen one takes ten times as long
class Job:
    """Evaluation of one candidate on one fold.

    Attributes
    ----------
    candidate, fold : int
        Numbers of the candidate and of the fold.
    params : dict
        Parameters of the candidate.
    rung : int
        Number of the rung.
    n_resources : int
        Total units to train with: `Resource.units_per_fold` of the resource of the rung.
    model : TrainedModel, ModelFile or None
        Model to continue training from; None for a new model.
    keep_model : bool
        Whether a later rung may continue training the model.
    index : int
        Position among the jobs of the rung.
    task : Task
        Callback task of the rung.
    """

    candidate: int
    fold: int
    params: dict[str, Any]
    rung: int
    n_resources: int
    model: ModelReference | None
    keep_model: bool
    index: int
    task: Task

    @property
    def key(self) -> tuple[int, int, int]:
        """Candidate, fold and resource, which identify the job and its outcome in a search."""
        return self.candidate, self.fold, self.n_resources

    def cost(self) -> int:
        """Return the resource that the job adds to its model."""
        return self.n_resources - (0 if self.model is None else self.model.n_resources)

    def failed_outcome(self, error: str, seconds: float = 0.0) -> Outcome:
        """Return the outcome of a fit that failed with a traceback."""
        return Outcome(*self.key, fit_time=seconds, errors=(error,), fit_failed=True)

    def add_note(self, error: Exception, n_train: int) -> None:
        """Add the candidate, fold and rung to an error.

        Parameters
        ----------
        error : Exception
        n_train : int
            As in `EvaluationConfig`.
        """
        note = (
            f"Raised by candidate {self.candidate} with parameters {self.params}, on fold "
            f"{self.fold}, in rung {self.rung}."
        )
        if self.n_resources < n_train:
            note += (
                f" The rung has {self.n_resources} of the {n_train} samples of the training fold. "
                "If the candidate requires more, raise min_resources, or budget if it is set."
            )
        error.add_note(note)


@dataclass(frozen=True)
class EvaluationConfig:
    """Configuration of all jobs of a search.

    Attributes
    ----------
    estimator : estimator
        Cloned for every new model.
    resource : Resource
    scorer : callable
        Receives an estimator, X, y and parameters; returns a number or a dict of numbers.
    error_score : float or "raise"
    return_train_score : bool
    shares_preprocessing : bool
        Whether `estimator` is a pipeline of which jobs fit the last step only. The preprocessing
        steps are then fitted once for all candidates with equal parameters of these steps.
    continues : bool
        Whether training continues from rung to rung, if the resource supports it.
    scores_pipeline : bool
        Whether whole pipelines are scored on the original samples although preprocessing is
        shared. Otherwise the last step is scored on the transformed samples.
    template : Template or None
        Model of which new models are copies; None if each has to be a clone.
    whole_fit : WholeFit or None
        When the refit calls ``fit``; None: it trains the units at which the candidate was selected.
    seed : int
        Of preprocessing steps that are fitted separately and have ``random_state=None``.
    is_multimetric : bool
        Whether `scorer` is of several metrics, and returns the traceback of a metric that fails.
    scores_copies : bool
        Whether models that continue training are copied to be scored: `scorer` is a function, which
        can train them.
    n_train : int
        Number of samples of the largest training fold, if the resource counts samples; otherwise 0.
    model_folder : ModelFolder or None, default=None
        Folder in which workers leave models between rungs; None for memory. Workers that cannot
        access it return their models, and are sent those they need.
    batch_bytes : float, default=inf
        Size of models, in bytes, at which a worker returns the results of a batch early.
    """

    estimator: Any
    resource: Resource
    scorer: Any
    error_score: float | str
    return_train_score: bool
    shares_preprocessing: bool
    continues: bool
    scores_pipeline: bool
    template: Template | None
    whole_fit: WholeFit | None
    seed: int
    is_multimetric: bool
    scores_copies: bool
    n_train: int
    model_folder: ModelFolder | None = None
    batch_bytes: float = inf


@dataclass(frozen=True)
class BatchResult:
    """Results of the jobs of a batch that were run.

    Attributes
    ----------
    results : list of (Outcome, TrainedModel, ModelFile or None)
    interrupted : bool
        Whether a KeyboardInterrupt ended the batch, which the search has to raise again.
    inaccessible : list of (int, int)
        Candidates and folds that were not evaluated because the worker cannot access the file of
        their model.
    """

    results: list[OutcomeAndModel]
    interrupted: bool = False
    inaccessible: list[tuple[int, int]] = field(default_factory=list)
