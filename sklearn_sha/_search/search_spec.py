"""What a search consists of after its parameters and data were validated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from sklearn.pipeline import Pipeline

from sklearn_sha._compat import routing_enabled
from sklearn_sha._data.folds import Fold
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.scoring import Scoring
from sklearn_sha._search.routing import RoutedParams
from sklearn_sha._search.split_data import SplitData
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.candidates.base import Evaluation
from sklearn_sha.candidates.distinct import sample_distinct
from sklearn_sha.candidates.pool import EvaluationKey
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.schedules import Schedule


@dataclass(frozen=True)
class SearchSpec:
    """Validated parameters and data of a search.

    Attributes
    ----------
    source : CandidateSource
    algorithm : Algorithm
    candidates : list of dict
        Candidates that are known before the search.
    seed : int
        Seed of subsamples, mini-batches and candidates that are sampled later.
    schedule : Schedule
    folds : list of Fold
    fold_order : tuple of int
        Numbers of all folds, in the order in which they are added.
    config : EvaluationConfig
    scoring : Scoring
    resource : Resource
        As the user gave it, or what "auto" was resolved to; `config` has the one of the jobs.
    warning : str
        Warning that `plan` shows; empty for none.
    evaluations : dict of (int, int, int) to Evaluation
        What a sampler that uses the history knows of `candidates` from an earlier search.
    audits : tuple of int or "auto"
        Numbers of eliminated candidates that are audited, one audit after the other.
    is_closed : bool
        Whether `candidates` are all those of a completed search, to which none are added.
    n_rounds : int or None
        Number of rounds of the algorithm that are run. None: all.
    starting_with : callable or None
        Returns the specification of the same search, given a minimum of its automatic first rung,
        in samples or folds. None if that is not possible.
    failed_wait : bool
        Whether candidates that fail for lack of samples wait for a rung with more.
    """

    source: CandidateSource
    algorithm: Algorithm
    candidates: list[dict[str, Any]]
    seed: int
    schedule: Schedule
    folds: list[Fold]
    fold_order: tuple[int, ...]
    config: EvaluationConfig
    scoring: Scoring
    resource: Resource
    warning: str = ""
    evaluations: Mapping[EvaluationKey, Evaluation] = field(default_factory=dict)
    audits: tuple[int | Literal["auto"], ...] = ()
    is_closed: bool = False
    n_rounds: int | None = None
    starting_with: Callable[[int], SearchSpec] | None = None
    failed_wait: bool = False

    def has_models_of(self, other: SearchSpec) -> bool:
        """Whether its models are of the same kind as those of another: pipelines, or last steps."""
        return self.config.shares_preprocessing == other.config.shares_preprocessing

    @property
    def n_train(self) -> int:
        """Number of samples of the largest training fold."""
        return max(len(fold.train) for fold in self.folds)


@dataclass(frozen=True)
class FitInputs:
    """Parameters and samples of a fit, before its rungs are planned.

    Attributes
    ----------
    params : dict
        Parameters of `fit`.
    scoring : Scoring
    routed : RoutedParams
        Those parameters by recipient.
    data : SplitData
    seed : int
        As in `SearchSpec`.
    """

    params: dict[str, Any]
    scoring: Scoring
    routed: RoutedParams
    data: SplitData
    seed: int


def search_seed(random_state: RandomState) -> int:
    """Return the seed of a search; `random_state` is not advanced.

    It does not depend on the number of candidates, which are sampled from the same state.
    """
    return int(deepcopy(random_state).randint(np.iinfo(np.int32).max))


def example_model(estimator: Any, space: Any, random_state: RandomState) -> Any:
    """Return an estimator with the parameters of one candidate; `random_state` is not advanced."""
    (params,) = sample_distinct(space, 1, deepcopy(random_state))
    return with_params(estimator, params)


def scores_pipeline(
    pipeline: Pipeline, scoring: Scoring, *, is_default: bool, routed: RoutedParams
) -> bool:
    """Return whether a scorer needs the whole pipeline and the original samples.

    Parameters
    ----------
    pipeline : Pipeline
        A subclass can predict and score differently from its last step.
    scoring : Scoring
    is_default : bool
        Whether the scorer is the estimator's own ``score``.
    routed : RoutedParams
    """
    if type(pipeline) is not Pipeline or not scoring.uses_predictions_only:
        return True
    # With metadata routing, a pipeline's score may pass metadata to its preprocessing steps.
    return is_default and bool(routed.score) and routing_enabled()
