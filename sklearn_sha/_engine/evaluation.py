"""Training and scoring of one candidate on one fold."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from decimal import Decimal
from time import perf_counter, time
from traceback import format_exc
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing
from sklearn_sha._data.slicing import (
    FoldSamples,
    is_read_only_error,
    n_samples_of,
    with_writable_retry,
)
from sklearn_sha._engine.jobs import BatchResult, EvaluationConfig, Job
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._storage.model_sizes import ModelSizes
from sklearn_sha._storage.models import ModelFile, TrainedModel
from sklearn_sha._storage.outcomes import Outcome, Scores
from sklearn_sha._storage.preprocessing_file import PreprocessingFile
from sklearn_sha._storage.store import OutcomeAndModel
from sklearn_sha.candidates.space import with_params

SECONDS_PER_BATCH = 2.0
"""Time after which a worker returns the results of a batch: short, so that little is lost if the
search is interrupted, and long compared with slicing the samples."""

_SHARE_OF_TIME_LEFT = 1 / 40
"""With a deadline, a batch has at most this share of the time until then. Batches of all folds take
turns, so that what the deadline interrupts is little, and few candidates lack some of the folds."""


def evaluate_batch(
    monitor: CallMonitor,
    jobs: Sequence[Job],
    source: Fold | FittedPreprocessing | PreprocessingFile,
    X: Any,
    y: Any,
    config: EvaluationConfig,
    deadline: float,
) -> BatchResult:
    """Evaluate jobs that share their samples. This function is sent to the workers.

    Parameters
    ----------
    monitor : CallMonitor
    jobs : sequence of Job
    source : Fold, FittedPreprocessing or PreprocessingFile
        Source of the samples. A fold is sent without its data.
    X, y : array-like or None
        The whole data if the source is a fold.
    config : EvaluationConfig
    deadline : float
        Time, as returned by `time.time`, after which no job starts.

    Returns
    -------
    BatchResult
        Results of the first jobs: as many as fit into `SECONDS_PER_BATCH`, less shortly before the
        deadline, and ``config.batch_bytes``; and at least one before the deadline, unless
        interrupted or without access to the models.
    """
    begin = time()
    if begin >= deadline:  # before samples are sliced for nothing
        return BatchResult([])
    results: list[tuple[Outcome, TrainedModel | None]] = []
    inaccessible: list[tuple[int, int]] = []
    interrupted = False
    sizes = ModelSizes(len(jobs), config.batch_bytes)
    try:
        with monitor.running() as start_part:
            loaded = source.with_data(X, y)
            samples = loaded.samples(config.resource.in_batches)
            start = time()
            # At least as long as slicing the samples took.
            seconds = max(start - begin, _SHARE_OF_TIME_LEFT * (deadline - start))
            batch_end = start + min(SECONDS_PER_BATCH, seconds)
            for number, job in enumerate(jobs):
                now = time()
                is_full = now >= batch_end or sizes.total >= config.batch_bytes
                if now >= deadline or (results and is_full):
                    break
                if isinstance(job.model, ModelFile) and job.model.is_inaccessible:
                    inaccessible.append((job.candidate, job.fold))
                    continue
                start_part(number)
                outcome, model = evaluate(job, loaded, samples, config)
                if model is not None:
                    sizes.add(model)
                results.append((outcome, model))
    except KeyboardInterrupt:
        interrupted = True
    kept: list[OutcomeAndModel] = [*results]
    if config.model_folder is not None and config.model_folder.is_used_by_this_process:
        models = {outcome.key: model for outcome, model in results if model is not None}
        files = config.model_folder.write(models)
        kept = [(outcome, files.get(outcome.key, model)) for outcome, model in results]
    return BatchResult(kept, interrupted, inaccessible)


def evaluate(
    job: Job, source: Any, samples: FoldSamples, config: EvaluationConfig
) -> tuple[Outcome, TrainedModel | None]:
    """Train a candidate on a fold with the resource of the job, and score it.

    Parameters
    ----------
    job : Job
    source : Fold or FittedPreprocessing
    samples : FoldSamples
        Samples of the source.
    config : EvaluationConfig

    Returns
    -------
    Outcome
        Also if fitting or scoring failed.
    TrainedModel or None
        The model if a later rung can continue its training.

    Raises
    ------
    Exception
        Any exception of the estimator or the scorer if ``error_score="raise"``, with the
        candidate in a note.
    """
    # Outside of the try block: an invalid parameter is an error of the user, not a failed fit.
    model = _initial_model(job, config)
    start = perf_counter()
    try:
        model = _train(model, job, samples, config)
    except Exception as error:
        if config.error_score == "raise":
            job.add_note(error, config.n_train)
            raise
        return job.failed_outcome(format_exc(), perf_counter() - start), None
    fit_end = perf_counter()
    keep_model = (
        job.keep_model
        and config.continues
        and config.resource.continues(model.estimator, n_samples_of(samples.X_train))
    )
    scored = _to_score(model, source, samples, config, is_kept=keep_model)
    errors: list[str] = []
    try:
        test_scores = _score(*scored, FoldSamples.testing, config, errors)
        score_end = perf_counter()
        train_scores = None
        if config.return_train_score:
            train_scores = _score(*scored, FoldSamples.training, config, errors)
    except Exception as error:
        job.add_note(error, config.n_train)
        raise
    seconds = fit_end - start, score_end - fit_end
    outcome = Outcome(
        *job.key,
        test_scores,
        train_scores,
        *seconds,
        tuple(errors),
        preprocessing_time=source.seconds if isinstance(source, FittedPreprocessing) else 0.0,
    )
    return outcome, model if keep_model else None


def _initial_model(job: Job, config: EvaluationConfig) -> TrainedModel:
    """Return the model to train, which no other job uses from now on."""
    if job.model is not None and (estimator := job.model.load()) is not None:
        return TrainedModel(estimator, job.model.n_resources, job.model.copies_samples)
    return _new_model(job, config)


def _new_model(job: Job, config: EvaluationConfig) -> TrainedModel:
    model = None if config.template is None else config.template.new_model(job.params)
    if model is None:
        estimator = with_params(config.estimator, job.params)
        model = estimator[-1] if config.shares_preprocessing else estimator
    return TrainedModel(model, 0)


def _train(
    model: TrainedModel, job: Job, samples: FoldSamples, config: EvaluationConfig
) -> TrainedModel:
    task = job.task.subtask("candidate-split-evaluation", number=job.index)

    def advance(samples: FoldSamples) -> TrainedModel:
        # After the error of an estimator that writes into its input, refit from scratch.
        is_retry = samples.is_writable and not model.copies_samples
        start = _new_model(job, config) if is_retry else model
        with task.training(start.estimator, samples):
            config.resource.advance(start.estimator, samples, start.n_resources, job.n_resources)
        return TrainedModel(start.estimator, job.n_resources, samples.is_writable)

    return with_writable_retry(advance, samples.writable() if model.copies_samples else samples)


def _to_score(
    model: TrainedModel,
    source: Any,
    samples: FoldSamples,
    config: EvaluationConfig,
    *,
    is_kept: bool,
) -> tuple[Any, FoldSamples]:
    """Return the estimator, or the whole pipeline, that is scored, and the samples for it."""
    estimator = model.estimator
    if is_kept and config.scores_copies:
        with suppress(Exception):  # of models that have a lock, for example
            estimator = deepcopy(estimator)
    if config.scores_pipeline:
        estimator = source.with_last_step(config.estimator.steps[-1][0], estimator)
        samples = source.original
    return estimator, samples.writable() if model.copies_samples else samples


def _score(
    estimator: Any,
    samples: FoldSamples,
    part: Callable[[FoldSamples], tuple[Any, Any, dict[str, Any]]],
    config: EvaluationConfig,
    errors: list[str],
) -> Scores | None:
    """Score an estimator on training or test samples.

    If scoring fails, the result is None and the traceback is appended to `errors`.
    """
    is_transformed = False

    def score(samples: FoldSamples) -> Any:
        nonlocal is_transformed
        X, y, params = part(samples)
        is_transformed = True
        if y is None:
            return config.scorer(estimator, X, **params)
        return config.scorer(estimator, X, y, **params)

    try:
        scores = with_writable_retry(score, samples)
        if config.is_multimetric and not samples.is_writable and isinstance(scores, dict):
            # A scorer of several metrics returns the traceback of each that failed.
            tracebacks = (one.rstrip() for one in scores.values() if isinstance(one, str))
            if any(is_read_only_error(one.rpartition("\n")[2]) for one in tracebacks):
                scores = score(samples.writable())
    except Exception:
        # A scorer of several metrics returns their errors. What it raises, GridSearchCV raises too.
        if config.error_score == "raise" or (config.is_multimetric and is_transformed):
            raise
        errors.append(format_exc())
        return None
    return _as_numbers(scores, config, errors)


def _as_numbers(scores: Any, config: EvaluationConfig, errors: list[str]) -> Scores:
    """Return what a scorer returned as numbers.

    For a metric that failed, the number is None and the traceback is appended to `errors`.
    """
    if not isinstance(scores, dict):
        return _as_number(scores, config.scorer)
    if not scores:
        raise ValueError(
            f"scoring must return a number or at least one metric, got {scores}. "
            f"(scorer={config.scorer})"
        )
    numbers: dict[str, float | None] = {}
    for name, score in {str(name): score for name, score in scores.items()}.items():
        # For a metric that failed, a scorer of several metrics returns the traceback.
        if config.is_multimetric and isinstance(score, str):
            errors.append(score)
            numbers[name] = None
        else:
            numbers[name] = _as_number(score, name)
    return numbers


def _as_number(score: Any, scorer: Any) -> float:
    if isinstance(score, int | float):  # the usual case, which includes np.float64
        return float(score)
    if hasattr(score, "item"):
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, numbers.Real | Decimal):
        raise ValueError(
            f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})"
        )
    return float(score)
