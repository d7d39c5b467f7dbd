"""Training and scoring of one candidate on one fold."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter, time
from traceback import format_exc
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.preprocessing import FittedPreprocessing, PreprocessingFile
from sklearn_sha._data.samples import Rows, n_samples_of
from sklearn_sha._engine.jobs import Done, EvaluationConfig, Job
from sklearn_sha._parallel.monitoring import CallMonitor
from sklearn_sha._storage.models import ModelFile, ModelSizes, TrainedModel
from sklearn_sha._storage.outcomes import Outcome, Scores
from sklearn_sha.candidates.space import with_params

SECONDS_PER_BATCH = 2.0
"""How long a worker goes on with a batch before it hands back what is done: short enough that
little is lost where a search is stopped, long enough that cutting rows costs nothing."""


def new_model(setting: EvaluationConfig, params: dict[str, Any]) -> Any:
    """The estimator with a candidate's parameters, not fitted: a pipeline where it is one."""
    return with_params(setting.estimator, params)


def evaluate_batch(
    watch: CallMonitor,
    jobs: Sequence[Job],
    source: Fold | FittedPreprocessing | PreprocessingFile,
    X: Any,
    y: Any,
    setting: EvaluationConfig,
    deadline: float,
) -> Done:
    """Evaluate jobs that share their rows; the function that is sent to workers.

    Parameters
    ----------
    watch : CallMonitor
    jobs : sequence of Job
    source : Fold, FittedPreprocessing or PreprocessingFile
        Gives the rows, once for all jobs.
    X, y : array-like or None
        All rows, where the source is a fold, which comes without.
    setting : EvaluationConfig
    deadline : float
        No job begins after it, in seconds as `time.time` counts them.

    Returns
    -------
    Done
        Of the first jobs: all that fit into `SECONDS_PER_BATCH` and the bytes of a batch, and at
        least one before the deadline, unless interrupted.
    """
    done: list[tuple[Outcome, TrainedModel | None]] = []
    unseen: list[tuple[int, int]] = []
    interrupted = False
    sizes = ModelSizes(len(jobs), setting.batch_bytes)
    try:
        with watch.parts() as begins:
            whole = source.with_data(X, y)
            rows = whole.rows(setting.resource.in_batches)
            until = time() + SECONDS_PER_BATCH
            for number, job in enumerate(jobs):
                now = time()
                is_full = now >= until or sizes.total >= setting.batch_bytes
                if now >= deadline or (done and is_full):
                    break
                if isinstance(job.trained, ModelFile) and job.trained.is_out_of_sight:
                    unseen.append((job.candidate, job.fold))
                    continue
                begins(number)
                outcome, trained = evaluate(job, whole, rows, setting)
                if trained is not None:
                    sizes.add(trained)
                done.append((outcome, trained))
    except KeyboardInterrupt:
        interrupted = True
    if setting.models is None or not setting.models.is_for_this_process:
        return Done([*done], interrupted, unseen)
    files = setting.models.put({o.key: trained for o, trained in done if trained is not None})
    return Done([(o, files.get(o.key, trained)) for o, trained in done], interrupted, unseen)


def evaluate(
    job: Job, source: Any, rows: Rows, setting: EvaluationConfig
) -> tuple[Outcome, TrainedModel | None]:
    """Train one candidate on one fold up to the job's target, and score it.

    Parameters
    ----------
    job : Job
    source : Fold or FittedPreprocessing
    rows : Rows
        What it gives to train on.
    setting : EvaluationConfig

    Returns
    -------
    Outcome
        A failure is an outcome too.
    TrainedModel or None
        The model, where it is kept and training can continue from it.

    Raises
    ------
    Exception
        What the estimator or the scorer raised, where ``error_score="raise"``, with the
        candidate in a note.
    """
    # Parameters that the estimator does not have are the user's mistake, not a failed fit.
    trained = _begin(job, setting)
    start = perf_counter()
    try:
        trained = _train(trained, job, rows, setting)
    except Exception as error:
        if setting.error_score == "raise":
            job.add_note(error)
            raise
        return job.failed(format_exc(), perf_counter() - start), None
    fitted = perf_counter()
    model, scored_rows = trained.model, rows
    if setting.scores_pipeline:
        name = setting.estimator.steps[-1][0]
        model, scored_rows = source.with_last(name, model), source.raw
    errors: list[str] = []
    try:
        test_scores = _score(model, scored_rows, Rows.testing, trained, setting, errors)
        scored = perf_counter()
        train_scores = None
        if setting.return_train_score:
            train_scores = _score(model, scored_rows, Rows.training, trained, setting, errors)
    except Exception as error:
        job.add_note(error)
        raise
    outcome = Outcome(
        *job.key,
        test_scores,
        train_scores,
        fitted - start,
        scored - fitted,
        tuple(errors),
    )
    may_continue = job.keep and setting.continues
    if may_continue and setting.resource.continues(trained.model, n_samples_of(rows.X_train)):
        return outcome, trained
    return outcome, None


def _begin(job: Job, setting: EvaluationConfig) -> TrainedModel:
    """The model that a job trains, which nobody else has from here on."""
    model = None if job.trained is None else job.trained.take()
    if job.trained is None or model is None:
        return _untrained(job, setting)
    return TrainedModel(model, job.trained.spent, job.trained.copies_samples)


def _untrained(job: Job, setting: EvaluationConfig) -> TrainedModel:
    model = new_model(setting, job.params)
    return TrainedModel(model[-1] if setting.shares_preprocessing else model, 0)


def _train(trained: TrainedModel, job: Job, rows: Rows, setting: EvaluationConfig) -> TrainedModel:
    task = job.task.subtask("candidate-split-evaluation", number=job.place)

    def advance(start: TrainedModel, view: Rows) -> TrainedModel:
        with task.training(start.model, view):
            setting.resource.advance(start.model, view, start.spent, job.target)
        return TrainedModel(start.model, job.target, view.is_owned)

    if trained.copies_samples:
        return advance(trained, rows.owned())
    try:
        return advance(trained, rows)
    except ValueError as error:
        if not is_read_only(error):
            raise
        # The estimator writes into its input: start over, on rows of its own.
        return advance(_untrained(job, setting), rows.owned())


def _score(
    model: Any,
    rows: Rows,
    part: Callable[[Rows], tuple[Any, Any, dict[str, Any]]],
    trained: TrainedModel,
    setting: EvaluationConfig,
    errors: list[str],
) -> Scores | None:
    """Scores on a part of the rows; None, and an error more, where that fails."""

    def call(view: Rows) -> Any:
        X, y, params = part(view)
        if y is None:
            return setting.scorer(model, X, **params)
        return setting.scorer(model, X, y, **params)

    try:
        try:
            scores = call(rows.owned() if trained.copies_samples else rows)
        except ValueError as error:
            if trained.copies_samples or not is_read_only(error):
                raise
            scores = call(rows.owned())
    except Exception:
        if setting.error_score == "raise":
            raise
        errors.append(format_exc())
        return None
    if not isinstance(scores, dict):
        return _number(scores, setting.scorer)
    # A scorer of several metrics gives the traceback of a metric that failed as its score.
    failed = {name: score for name, score in scores.items() if isinstance(score, str)}
    errors.extend(failed.values())
    return {
        name: None if name in failed else _number(score, name) for name, score in scores.items()
    }


def _number(score: Any, scorer: Any) -> float:
    if hasattr(score, "item"):
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, numbers.Real):
        raise ValueError(
            f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})"
        )
    return float(score)


def is_read_only(error: ValueError) -> bool:
    """Whether an error comes from writing into rows that are lent read-only."""
    return "read-only" in str(error)
