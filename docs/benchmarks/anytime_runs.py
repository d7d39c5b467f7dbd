"""Searches with ``budget="anytime"`` for a minute, for the pages that compare their settings.

Each runs on one core, as many at a time as there are cores. They are kept in
results/anytime_runs.json, and not run again.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from quality_contenders import Task, anytime
from quality_workloads import WORKLOADS
from reports import RESULTS
from sklearn.metrics import check_scoring

from sklearn_sha.candidates import History, ModelSampler, RandomSampler

LIMIT = 60.0
SEEDS = range(5, 11)  # not used in time_to_quality.py
STORE = RESULTS / "anytime_runs.json"


class RandomInWaves(RandomSampler):
    """Random candidates in waves of the model's size, so that rungs are filled in the same way."""

    def propose(self, n: int, space: Any, history: History, rng: Any) -> list[dict[str, Any]]:
        """Propose one wave."""
        return super().propose(min(n, ModelSampler().wave_size), space, history, rng)


SAMPLERS = {"model": ModelSampler, "random": RandomInWaves}


@dataclass(frozen=True)
class Run:
    """One search.

    Attributes
    ----------
    workload : str
    n_samples : int
    seed : int
    on_folds : bool, default=True
        Whether later brackets add folds only, where models are refit from scratch. Otherwise all
        brackets have the same rungs.
    sampler : {"model", "random"}, default="model"
    path : list of [float, float, float]
        After each bracket: seconds since the start, the best cross-validated score so far, and the
        held-out score of its model.
    """

    workload: str
    n_samples: int
    seed: int
    on_folds: bool = True
    sampler: str = "model"
    path: list[list[float]] = field(default_factory=list, compare=False)

    def task(self) -> tuple[Task, Any, Any]:
        """What the search is given, and X and y that are held out."""
        work = replace(WORKLOADS[self.workload], n_samples=self.n_samples)
        X, y, X_test, y_test = work.splits(self.seed)
        return Task(work, X, y, self.seed, LIMIT, n_jobs=1), X_test, y_test

    def measured(self) -> Run:
        """Search until the limit."""
        if self.on_folds:
            return self._measured()
        # No parameter does this.
        with patch("sklearn_sha.bandit.anytime.at_maximum", return_value=None):
            return self._measured()

    def _measured(self) -> Run:
        warnings.simplefilter("ignore")
        task, X_test, y_test = self.task()
        scorer = check_scoring(task.work.new(), task.work.scoring)
        path: list[list[float]] = []
        best, held_out, start = -np.inf, np.nan, perf_counter()
        _, of_brackets = anytime(task, SAMPLERS[self.sampler]())
        for seconds, score, params in of_brackets:
            if score > best:
                model = task.model(params).fit(task.X, task.y)
                best, held_out = score, float(scorer(model, X_test, y_test))
            path.append([round(seconds - start, 2), round(best, 5), round(held_out, 5)])
        return replace(self, path=path)


def measured(wanted: Sequence[Run]) -> list[Run]:
    """Runs with their paths, of which those that are missing are measured."""
    runs = [Run(**run) for run in json.loads(STORE.read_text())] if STORE.exists() else []
    missing = [run for run in wanted if run not in runs]
    for run in Parallel(-1, return_as="generator")(delayed(Run.measured)(run) for run in missing):
        runs.append(run)
        lines = (json.dumps(asdict(known)) for known in runs)
        STORE.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    return [runs[runs.index(run)] for run in wanted]
