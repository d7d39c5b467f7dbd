"""What follows if no candidate has a score with the samples of a rung: some are tried with more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sklearn_sha._engine.interruption import StoppedError
from sklearn_sha._formatting import quantity, with_numbers
from sklearn_sha._results.failures import Failures, details
from sklearn_sha._results.few_samples import few_samples_failures, or_set_encoder
from sklearn_sha._search.run import Run
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._search.starting_again import StartAgainError
from sklearn_sha.bandit.requests import Requests, RungRequest, as_rung_losses
from sklearn_sha.schedules import Schedule


def raise_if_more_samples_have_scores(
    run: Run,
    make_trial: Callable[[SearchSpec], Run],
    *,
    max_time: float | None,
    may_count_folds: bool,
) -> None:
    """Try candidates with more samples, and raise a StartAgainError if one has a score.

    Parameters
    ----------
    run : Run
        No candidate of its last rung has a score. Candidates that have none with more samples
        either are added to `run.tried`.
    make_trial : callable
        Makes a run that has the workers and the store of `run`.
    max_time : float or None
        Seconds.
    may_count_folds : bool
        Whether the search can have the number of folds as its resource.

    Raises
    ------
    StartAgainError
    TimeoutError
        If the time ends during the trial.
    """
    spec, n_samples = run.spec, run.results.last_n_resources
    early = few_samples_failures(run.results.failures, spec.n_train)
    failures = [failure for failure in early if failure["n_resources"] == n_samples]
    if not failures:
        return
    candidates = _first_and_last(failures)
    run.display.ends_early(_trial_message(candidates, n_samples))
    trial = make_trial(replace(spec, candidates=[*run.pool.params], is_closed=True))
    try:
        with trial.observer:
            trial.engine.run([larger_rungs(spec.schedule, candidates, n_samples)])
    except StoppedError:
        assert max_time is not None  # callbacks are not notified of a trial
        raise TimeoutError(
            f"max_time={quantity(max_time, 'seconds')} ended before a candidate had a score, since "
            f"{n_samples} training samples are too few. Raise min_resources or max_time, or call "
            "resume to continue the search."
        ) from None
    finally:
        trial.engine.discard_preprocessing()
    is_scored = ~trial.results.have_failed()
    if not is_scored.any():
        run.tried.extend(candidates)
        return
    n_enough = trial.results.last_n_resources
    remedy = f"min_resources={n_enough}"
    if n_enough >= spec.n_train and may_count_folds:  # it would be a grid search
        remedy = 'resource="folds"'
    candidate = candidates[int(is_scored.argmax())]
    message = _starts_again_message(failures, candidate, n_enough, or_set_encoder(remedy, failures))
    raise StartAgainError(n_enough, message)


def larger_rungs(schedule: Schedule, candidates: tuple[int, ...], n_samples: int) -> Requests:
    """Train candidates with the samples of each larger rung, until one has a score on all folds.

    Parameters
    ----------
    schedule : Schedule
        Plan of the search.
    candidates : tuple of int
    n_samples : int
        Samples with which they have no score.

    Examples
    --------
    >>> from sklearn_sha._search.too_few_samples import larger_rungs
    >>> from sklearn_sha.schedules import schedule_from_range
    >>> requests = larger_rungs(schedule_from_range(8, max_resources=800), (0, 7), 100)
    >>> next(requests).n_resources, requests.send(None).n_resources
    (200, 400)
    """
    for number, rung in enumerate(schedule.brackets[0].rungs):
        if rung.n_resources <= n_samples:  # later rungs can add folds only
            continue
        n_samples = rung.n_resources
        losses = yield RungRequest(number, candidates, n_samples)
        if losses is not None and not as_rung_losses(losses).has_failed.all():
            return None
    return None


def trial_in_vain_message(candidates: Sequence[int], n_samples: int, failures: Failures) -> str:
    """Format that candidates without a score have none with up to `n_samples` either."""
    fail = "fails" if len(candidates) == 1 else "fail"
    remedy = or_set_encoder("raise min_resources", failures)
    return (
        f"{with_numbers('Candidate', candidates)} {fail} with more samples too, up to {n_samples}. "
        f"If others require more samples, {remedy}."
    )


def _first_and_last(failures: Failures) -> tuple[int, ...]:
    """Return the first and the last candidate that failed.

    If their parameters are sorted, one of them needs the fewest samples.
    """
    ids = [failure["candidate"] for failure in failures]
    return tuple(sorted({min(ids), max(ids)}))


def _trial_message(candidates: Sequence[int], n_failed: int) -> str:
    """Format which candidates are tried with more samples."""
    are = "is" if len(candidates) == 1 else "are"
    return (
        f"No candidate has a score with {n_failed} training samples. "
        f"{with_numbers('Candidate', candidates)} {are} trained with more of them."
    )


def _starts_again_message(failures: Failures, candidate: int, n_enough: int, remedy: str) -> str:
    """Format that a search starts again, since no candidate has a score with few samples.

    Parameters
    ----------
    failures : sequence of dict
        Those of the rung, as `few_samples_failures` returns them.
    candidate : int
        One that has a score with more samples.
    n_enough : int
        How many these are.
    remedy : str
        What to set to start with them.
    """
    n_failed = failures[0]["n_resources"]
    return (
        f"No candidate has a score with {n_failed} training samples, and candidate {candidate} has "
        f"one with {n_enough}: the search starts again, with at least {n_enough} in its first "
        f"rung. To start with them, set {remedy}."
        f"\n\n{details(failures, 'fits or scores', 'training samples')}"
    )
