"""Progress on a console: one line per rung, candidate or fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._formatting import format_number, format_params, text_sentences
from sklearn_sha._progress.progress import Progress, refit_line, rung_line
from sklearn_sha._storage.outcomes import Outcome, Scores
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.schedules import Schedule


class ConsoleProgress:
    """One line per rung; with ``verbose=2`` also per candidate, with ``verbose=3`` also per fit.

    The first lines are those that `plan` prints below its table: the cost, whether models continue
    training between rungs, and the notes.

    Parameters
    ----------
    verbose : int
    schedule : Schedule
    params : sequence of dict
        Parameters by candidate id. It may grow during the search.
    progress : Progress
    n_folds : int
    error_score : float
        Score that replaces a missing one.
    metrics : sequence of str, default=()
        Names of the metrics that the user has named; empty for a single one.
    has_train_scores : bool, default=False
    """

    def __init__(
        self,
        verbose: int,
        schedule: Schedule,
        params: Sequence[dict[str, Any]],
        progress: Progress,
        *,
        n_folds: int,
        error_score: float,
        metrics: Sequence[str] = (),
        has_train_scores: bool = False,
    ) -> None:
        self.n_folds = n_folds
        self.error_score = error_score
        self.metrics = metrics
        self.has_train_scores = has_train_scores
        self.verbose = verbose
        self.schedule = schedule
        self.params = params
        self.progress = progress

    def start(self) -> None:
        """Print what `plan` prints below its table."""
        if self.verbose:
            print(text_sentences(self.schedule.sentences))

    def rungs_begin(self, rungs: Sequence[RungJobs], n_known: int) -> None:
        """Show that rungs begin, of which `n_known` jobs are known."""
        self.progress.rungs_begin(rungs, n_known)

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        """Show completed jobs of the current rungs."""
        self.progress.jobs_completed(len(outcomes))
        if self.verbose > 2:
            for outcome in outcomes:
                params = self.params[outcome.candidate]
                line = fit_line(
                    outcome,
                    params,
                    self.n_folds,
                    self.error_score,
                    shows_resource=not self.schedule.counts_folds,  # of which each fit has one
                    metrics=self.metrics,
                    has_train_scores=self.has_train_scores,
                )
                print(line)

    def rung_ends(
        self, request: RungRequest, scores: NDArray[np.float64], is_complete: bool
    ) -> None:
        """Show a rung with the scores of its candidates, of an interrupted one those it has."""
        if not self.verbose:
            return
        if self.verbose > 1:
            width = len(str(len(self.params) - 1))
            for candidate, score in zip(request.candidate_ids, scores, strict=True):
                params, text = format_params(self.params[candidate]), format_number(score, 4)
                print(f"  candidate {candidate:>{width}}  score {text:>8}  {params}")
        print(self._line(request, scores, is_complete))

    def _line(self, request: RungRequest, scores: NDArray[np.float64], is_complete: bool) -> str:
        best, progress = float(np.fmax.reduce(scores)), self.progress
        return rung_line(self.schedule, request, best, progress.elapsed, progress.left, is_complete)

    def audit_begins(self, plan: object) -> None:
        """Show what an audit trains and what it costs, as `plan` prints it."""
        self.progress.audit_begins()
        if self.verbose:
            print(plan)

    def algorithm_ends(self, n_rungs: int) -> None:
        """Show if fewer rungs than planned were evaluated."""
        n_planned = len(self.schedule.rungs)
        if n_rungs < n_planned:
            self.ends_early(f"The search ends after {n_rungs} of at most {n_planned} rungs.")

    def ends_early(self, reason: str) -> None:
        """Show why no more rungs are evaluated."""
        if self.verbose:
            print(reason)

    def refit_begins(self, candidate: int, n_resources: int, n_samples: int) -> None:
        """Show that the best candidate is refit on all samples."""
        if self.verbose:
            print(refit_line(self.schedule, candidate, n_resources, n_samples))

    def refit_ends(self, seconds: float) -> None:
        """Show the seconds of the refit, in this process or in a worker."""
        if self.verbose:
            print(refit_seconds(seconds))

    def end(self) -> None:
        """End the display, after the search and after its refit."""


def fit_line(
    outcome: Outcome,
    params: Mapping[str, Any],
    n_folds: int,
    error_score: float,
    *,
    shows_resource: bool = True,
    metrics: Sequence[str] = (),
    has_train_scores: bool = False,
) -> str:
    """Format one fit as GridSearchCV does, with the resource in addition.

    Parameters
    ----------
    outcome : Outcome
    params : dict
        Parameters of the candidate.
    n_folds : int
    error_score : float
        Score that replaces a missing one.
    shows_resource : bool, default=True
    metrics : sequence of str, default=()
        Metrics whose scores failed with the fit; empty for a single one.
    has_train_scores : bool, default=False

    Examples
    --------
    >>> from sklearn_sha._storage.outcomes import Outcome
    >>> from sklearn_sha._progress.console import fit_line
    >>> outcome = Outcome(0, 0, 8, test_scores=0.75, fit_time=0.25)
    >>> fit_line(outcome, {"C": 1.0}, n_folds=5, error_score=0.0)
    '[CV 1/5] END ..............C=1.0, n_resources=8;, score=0.750 total time=   0.2s'
    """
    values = sorted(params.items())
    if shows_resource:
        values.append(("n_resources", outcome.n_resources))
    text = ", ".join(f"{name}={value}" for name, value in values) + ";"
    test, train = outcome.test_scores, outcome.train_scores
    names = sorted(test if isinstance(test, dict) else metrics)
    for name in names or [""]:
        score = _score(test, name, error_score)
        if has_train_scores:
            score = f"train={_score(train, name, error_score)}, test={score}"
        elif names:
            score = f"test={score}"
        in_parentheses = f"({score})" if names or has_train_scores else score
        text += f" {name}: {in_parentheses}" if names else f", score={in_parentheses}"
    seconds = outcome.fit_time + outcome.score_time
    time = f"{seconds:6.1f}s" if seconds < 60 else f"{seconds / 60:4.1f}min"
    text += f" total time={time}"
    begin = f"[CV {outcome.fold + 1}/{n_folds}] END "
    return begin + "." * (80 - len(begin) - len(text)) + text


def _score(scores: Scores | None, name: str, error_score: float) -> str:
    """Format the score by a metric, or a single one without a name."""
    score = scores.get(name) if isinstance(scores, dict) else scores
    return f"{error_score if score is None else score:.3f}"


def refit_seconds(seconds: float) -> str:
    """Format the line that is printed after the refit."""
    return f"refit finished in {seconds:.1f} s"
