"""Where the progress of a search is shown: as lines, or in a notebook as a table that grows."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._evaluate import Outcome
from sklearn_sha._progress import Progress, refit_line, rung_line, rung_name
from sklearn_sha._table import html_table, named, number, quantity
from sklearn_sha.bandit import Pull
from sklearn_sha.schedules import Schedule

_SECONDS_BETWEEN_UPDATES = 0.2


class Lines:
    """A line a rung, with ``verbose=2`` a line a candidate before it, with 3 a line a fit.

    The first line of all shows whether models continue training between rungs.

    Parameters
    ----------
    verbose : int
    schedule : Schedule
    candidates : sequence of dict
    progress : Progress
    n_folds : int
    error_score : float
        Stands for a score that is missing.
    """

    def __init__(
        self,
        verbose: int,
        schedule: Schedule,
        candidates: Sequence[dict[str, Any]],
        progress: Progress,
        *,
        n_folds: int,
        error_score: float,
    ) -> None:
        self.n_folds = n_folds
        self.error_score = error_score
        self.verbose = verbose
        self.schedule = schedule
        self.candidates = candidates
        self.progress = progress

    def start(self) -> None:
        """The search begins."""
        if self.verbose and self.schedule.training:
            print(self.schedule.training)

    def begins(self, pulls: Sequence[Pull], n_known: int) -> None:
        """Rungs begin, of which so many jobs are known."""
        self.progress.begins(pulls, n_known)

    def kept(self, outcomes: Sequence[Outcome]) -> None:
        """Jobs of them are done."""
        self.progress.kept(len(outcomes))
        if self.verbose > 2:
            for outcome in outcomes:
                params = self.candidates[outcome.candidate]
                print(fit_line(outcome, params, self.n_folds, self.error_score))

    def rung(self, pull: Pull, scores: NDArray[np.float64]) -> None:
        """A rung is done, in which its arms had these scores."""
        if not self.verbose:
            return
        if self.verbose > 1:
            width = len(str(len(self.candidates) - 1))
            for arm, score in zip(pull.arms, scores, strict=True):
                params = named(self.candidates[arm])
                print(f"  candidate {arm:>{width}}  score {number(score, 4):>8}  {params}")
        print(self._line(pull, scores))

    def _line(self, pull: Pull, scores: NDArray[np.float64]) -> str:
        best = float(np.fmax.reduce(scores))
        return rung_line(self.schedule, pull, best, self.progress.elapsed, self.progress.left)

    def refit_begins(self, candidate: int, n_resources: int, n_samples: int) -> None:
        """The best candidate, selected at a resource, is refit on all samples."""
        if self.verbose:
            print(refit_line(self.schedule, candidate, n_resources, n_samples))

    def refit_ends(self, seconds: float) -> None:
        """The refit has taken so long, in this process or in a worker."""
        if self.verbose:
            print(_refit_seconds(seconds))

    def end(self) -> None:
        """The search or its refit is over."""


@dataclass(frozen=True)
class _Page:
    """What a notebook shows, by these names."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


class LiveTable(Lines):
    """One table, updated in place: a row a rung and one for the refit, and a bar meanwhile.

    Below it is shown whether models continue training between rungs.
    With ``verbose=2`` the candidates of the last rung can be unfolded below.
    """

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        from IPython.display import display

        self._columns: dict[str, list[object]] = {}
        self._lines: list[str] = []
        self._details = self._name = self._refitted = ""
        self._updated = self.progress.elapsed
        self._handle = display(_Page("", ""), display_id=True)

    def start(self) -> None:
        if self.schedule.training:
            self._lines.append(self.schedule.training)

    def begins(self, pulls: Sequence[Pull], n_known: int) -> None:
        super().begins(pulls, n_known)
        names = ", ".join(rung_name(self.schedule, pull) for pull in pulls)
        self._name = f"{names}, {quantity(pulls[0].resource, self.schedule.unit)}"
        self._update(self._bar())

    def kept(self, outcomes: Sequence[Outcome]) -> None:
        super().kept(outcomes)
        if self.progress.elapsed - self._updated >= _SECONDS_BETWEEN_UPDATES:
            self._update(self._bar())

    def rung(self, pull: Pull, scores: NDArray[np.float64]) -> None:
        best = int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))
        elapsed, left = self.progress.elapsed, self.progress.left
        name = rung_name(self.schedule, pull)
        row = {
            "rung": name.replace("rung ", ""),
            "candidates": len(pull.arms),
            self.schedule.unit: pull.resource,
            "best score": float(scores[best]),
            "best parameters": named(self.candidates[pull.arms[best]]),
            "elapsed": elapsed,
            "left": "" if left is None else f"about {left:.0f} s",
        }
        for column, value in row.items():
            self._columns.setdefault(column, []).append(value)
        self._lines.append(self._line(pull, scores))
        if self.verbose > 1:
            columns = {
                "candidate": pull.arms,
                "score": scores.tolist(),
                "parameters": [named(self.candidates[arm]) for arm in pull.arms],
            }
            self._details = (
                f"<details><summary>candidates of {name}</summary>{html_table(columns)}</details>"
            )
        self._update(self._bar())

    def refit_begins(self, candidate: int, n_resources: int, n_samples: int) -> None:
        line = refit_line(self.schedule, candidate, n_resources, n_samples)
        self._refitted = named(self.candidates[candidate])
        self._lines.append(line)
        self._update(f"<progress></progress> {escape(line)}")

    def refit_ends(self, seconds: float) -> None:
        row = {
            "rung": f"refit, {seconds:.1f} s",
            "candidates": 1,
            "best parameters": self._refitted,
            "elapsed": self.progress.elapsed,
        }
        for column, values in self._columns.items():
            values.append(row.get(column, ""))
        self._lines.append(_refit_seconds(seconds))
        self._update()

    def end(self) -> None:
        self._update()

    def _bar(self) -> str:
        """How far the rungs are that are under way."""
        progress = self.progress
        left = "" if progress.left is None else f", about {progress.left:.0f} s left in all"
        return (
            f'<progress max="{max(1, progress.n_jobs)}" value="{progress.n_kept}"></progress> '
            f"{escape(self._name)}: {progress.n_kept} of "
            f"{quantity(progress.n_jobs, 'fits')}{left}"
        )

    def _update(self, bar: str = "") -> None:
        self._updated = self.progress.elapsed
        html = html_table(self._columns) if self._columns else ""
        html += "".join(f"<p>{text}</p>" for text in (self.schedule.training, bar) if text)
        self._handle.update(_Page(html + self._details, "\n".join(self._lines)))


def shown(
    verbose: int,
    schedule: Schedule,
    candidates: Sequence[dict[str, Any]],
    progress: Progress,
    **params: Any,
) -> Lines:
    """What shows a search here: a notebook's table or lines; nothing with ``verbose=0``."""
    kind = LiveTable if verbose and _in_notebook() else Lines
    return kind(verbose, schedule, candidates, progress, **params)


def fit_line(outcome: Outcome, params: Mapping[str, Any], n_folds: int, error_score: float) -> str:
    """Format one fit as GridSearchCV does, whose formatter is private; the resource is added.

    Parameters
    ----------
    outcome : Outcome
    params : dict
        Of its candidate.
    n_folds : int
    error_score : float
        Stands for a score that is missing.

    Examples
    --------
    >>> from sklearn_sha._evaluate import Outcome
    >>> from sklearn_sha._shown import fit_line
    >>> outcome = Outcome(0, 0, 8, test_scores=0.75, fit_time=0.25)
    >>> fit_line(outcome, {"C": 1.0}, n_folds=5, error_score=0.0)
    '[CV 1/5] END ..............C=1.0, n_resources=8;, score=0.750 total time=   0.2s'
    """
    listed = [*sorted(params.items()), ("n_resources", outcome.resource)]
    text = ", ".join(f"{name}={value}" for name, value in listed) + ";"
    test, train = outcome.test_scores, outcome.train_scores
    if isinstance(test, dict):
        trains = train if isinstance(train, dict) else {}
        for name in sorted(test):
            text += f" {name}: ({_scores(test[name], trains.get(name), error_score)})"
    elif isinstance(train, float):
        text += f", score=({_scores(test, train, error_score)})"
    else:
        text += f", score={error_score if test is None else test:.3f}"
    seconds = outcome.fit_time + outcome.score_time
    time = f"{seconds:6.1f}s" if seconds < 60 else f"{seconds / 60:4.1f}min"
    text += f" total time={time}"
    begin = f"[CV {outcome.fold + 1}/{n_folds}] END "
    return begin + "." * (80 - len(begin) - len(text)) + text


def _scores(test: float | None, train: float | None, error_score: float) -> str:
    of_train = "" if train is None else f"train={train:.3f}, "
    return f"{of_train}test={error_score if test is None else test:.3f}"


def _refit_seconds(seconds: float) -> str:
    return f"refit finished in {seconds:.1f} s"


def _in_notebook() -> bool:
    """Whether there is a front end that shows HTML: the shell of a kernel, not of a terminal."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
