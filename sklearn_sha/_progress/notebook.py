"""Progress in a notebook: a table that is updated in place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._engine.rung_jobs import RungJobs
from sklearn_sha._formatting import format_params, html_table, quantity, renamed, short_names
from sklearn_sha._progress.console import ConsoleProgress, refit_seconds
from sklearn_sha._progress.progress import Progress, refit_line, rung_name
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit.promotion import best_first
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.schedules import Schedule

_SECONDS_BETWEEN_UPDATES = 0.2


@dataclass(frozen=True)
class _Output:
    """Output with the representations that IPython looks up."""

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


class NotebookProgress(ConsoleProgress):
    """Table with one row per rung and one for the refit, and a progress bar.

    The table is updated in place. The lines below are those that `plan` prints below its table.
    With ``verbose=2``, the candidates of the last rung can be expanded.
    """

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        from IPython.display import display

        self._columns: dict[str, list[object]] = {}
        self._lines: list[str] = []
        self._opening = self.schedule.sentences
        self._names: dict[str, str] = {}
        self._ends: list[str] = []
        self._details = self._name = self._refit_params = self._audit = ""
        self._updated = self.progress.elapsed
        self._handle = display(_Output("", ""), display_id=True)

    def start(self) -> None:
        self._lines.extend(self._opening)

    def rungs_begin(self, rungs: Sequence[RungJobs], n_known: int) -> None:
        super().rungs_begin(rungs, n_known)
        self._names = short_names(name for params in self.params for name in params)
        names = ", ".join(rung_name(self.schedule, rung.request) for rung in rungs)
        n_resources = rungs[0].request.n_resources
        self._name = f"{names}, {quantity(n_resources, self.schedule.unit)}"
        self._update(self._bar())

    def jobs_completed(self, outcomes: Sequence[Outcome]) -> None:
        super().jobs_completed(outcomes)
        if self.progress.elapsed - self._updated >= _SECONDS_BETWEEN_UPDATES:
            self._update(self._bar())

    def rung_ends(
        self, request: RungRequest, scores: NDArray[np.float64], is_complete: bool
    ) -> None:
        best = int(best_first(-scores)[0])
        elapsed, left = self.progress.elapsed, self.progress.left
        remaining: object = "" if left is None else round(left)
        name = rung_name(self.schedule, request)
        n_all = self.schedule.n_folds
        folds = {} if n_all is None else {"folds": len(request.folds or range(n_all))}
        row = {
            "rung": "audit" if self._audit else name.replace("rung ", ""),
            "candidates": len(request.candidate_ids),
            **folds,
            self.schedule.unit: request.n_resources,
            "best score": float(scores[best]),
            "best parameters": self._format(request.candidate_ids[best]),
            "elapsed (s)": elapsed,
            "remaining (s)": remaining if is_complete else "interrupted",
        }
        for column, value in row.items():
            self._columns.setdefault(column, []).append(value)
        self._lines.append(self._line(request, scores, is_complete))
        if self.verbose > 1:
            columns = {
                "candidate": request.candidate_ids,
                "score": scores.tolist(),
                "parameters": [self._format(number) for number in request.candidate_ids],
            }
            self._details = (
                f"<details><summary>candidates of {name}</summary>{html_table(columns)}</details>"
            )
        self._update(self._bar())

    def audit_begins(self, plan: object) -> None:
        self.progress.audit_begins()
        self._audit = str(plan)
        self._lines.append(self._audit)

    def ends_early(self, reason: str) -> None:
        self._ends.append(reason)
        self._lines.append(reason)
        self._update()

    def refit_begins(self, candidate: int, n_resources: int, n_samples: int) -> None:
        line = refit_line(self.schedule, candidate, n_resources, n_samples)
        self._refit_params = self._format(candidate)
        self._lines.append(line)
        self._update(f"<progress></progress> {escape(line)}")

    def refit_ends(self, seconds: float) -> None:
        row = {
            "rung": f"refit, {seconds:.1f} s",
            "candidates": 1,
            "best parameters": self._refit_params,
            "elapsed (s)": self.progress.elapsed,
        }
        for column, values in self._columns.items():
            values.append(row.get(column, ""))
        self._lines.append(refit_seconds(seconds))
        self._update()

    def end(self) -> None:
        self._update()

    def _format(self, candidate: int) -> str:
        """Parameters of a candidate, without the names of the steps of a pipeline."""
        return format_params(renamed(self.params[candidate], self._names))

    def _bar(self) -> str:
        """Progress bar of the current rungs."""
        progress = self.progress
        left = "" if progress.left is None else f", about {progress.left:.0f} s left in all"
        return (
            f'<progress max="{max(1, progress.n_jobs)}" value="{progress.n_completed}"></progress> '
            f"{escape(self._name)}: {progress.n_completed} of "
            f"{quantity(progress.n_jobs, 'fits')}{left}"
        )

    def _update(self, bar: str = "") -> None:
        self._updated = self.progress.elapsed
        html = html_table(self._columns) if self._columns else ""
        html += "".join(
            f"<p>{text}</p>"
            for text in (*map(escape, (*self._opening, self._audit, *self._ends)), bar)
            if text
        )
        self._handle.update(_Output(html + self._details, "\n".join(self._lines)))


def progress_display(
    verbose: int,
    schedule: Schedule,
    params: Sequence[dict[str, Any]],
    progress: Progress,
    **settings: Any,
) -> ConsoleProgress:
    """Return the progress display for a notebook or a console."""
    kind = NotebookProgress if verbose and _in_notebook() else ConsoleProgress
    return kind(verbose, schedule, params, progress, **settings)


def _in_notebook() -> bool:
    """Return whether IPython runs in a kernel, whose front end displays HTML."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
