"""Ways to search one workload, each to be run and timed in a process of its own.

    python docs/benchmarks/contenders.py images sha 0 1

runs a contender on a workload with a seed, on core 1 where it has one worker, and prints one line
of JSON.
"""

from __future__ import annotations

import os
import sys

_CONTENDER = sys.argv[2] if __name__ == "__main__" else ""
N_JOBS = 2 if _CONTENDER.endswith(", 2 workers") else 1
if N_JOBS == 1 and __name__ == "__main__":
    # Before numpy counts the cores: what has one worker has one core, for all its threads.
    os.sched_setaffinity(0, {int(sys.argv[4])})

# ruff: noqa: E402
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline
from workloads import WORKLOADS, Workload

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV

N_FOLDS = 5
WARM_UP_ROWS = 600


@dataclass(frozen=True)
class Found:
    """The result of a search.

    Attributes
    ----------
    model : estimator
        The best model, fitted on all samples.
    params : dict
    score : float
        Its mean over the folds.
    reached : list of (float, float)
        For each rung the seconds from the beginning to its end, and its best score.
    """

    model: Any
    params: dict[str, Any]
    score: float
    reached: list[tuple[float, float]]


class ByHand:
    """What a careful user writes: folds and transformers are made once, and models continue.

    Parameters
    ----------
    work : Workload
    X, y : array-like
    """

    def __init__(self, work: Workload, X: Any, y: Any) -> None:
        self.work, self.X, self.y = work, X, y
        self.candidates = work.candidates()
        *self.steps, self.last = (
            [step for _, step in work.estimator.steps]
            if isinstance(work.estimator, Pipeline)
            else [work.estimator]
        )
        self.name = f"{work.estimator.steps[-1][0]}__" if self.steps else ""
        self.parameter = work.parameter.removeprefix(self.name)
        self.classes = np.unique(y) if is_classifier(work.estimator) else None
        self.folds = []
        for train, test in KFold(N_FOLDS).split(X):
            steps, X_train = self.prepared(X[train])
            X_test = X[test]
            for step in steps:
                X_test = step.transform(X_test)
            self.folds.append((X_train, y[train], X_test, y[test]))
        self.models: dict[tuple[int, int], Any] = {}
        self.n_trained: dict[tuple[int, int], int] = {}

    def prepared(self, X: Any) -> tuple[list[Any], Any]:
        """Return the preprocessing steps, fitted on `X`, and the transformed `X`."""
        steps = [clone(step) for step in self.steps]
        for step in steps:
            X = step.fit_transform(X)
        return steps, X

    def new(self, candidate: int) -> Any:
        """The last step of a candidate, not fitted."""
        params = self.candidates[candidate].items()
        return clone(self.last).set_params(**{k.removeprefix(self.name): v for k, v in params})

    def trained(self, model: Any, X: Any, y: Any, n_trained: int, target: int) -> Any:
        """A model whose training continues from `n_trained` to `target`."""
        if self.work.resource == "partial_fit":
            for _ in range(n_trained, target):
                if self.classes is None:
                    model.partial_fit(X, y)
                else:
                    model.partial_fit(X, y, classes=self.classes)
        elif self.work.resource == "n_samples":
            model.fit(X[:target], y[:target])
        else:
            model.set_params(**{self.parameter: target, "warm_start": n_trained > 0}).fit(X, y)
        return model

    def score(self, candidate: int, fold: int, target: int) -> float:
        """A candidate's score on a fold, with so much resource."""
        X, y, X_test, y_test = self.folds[fold]
        key = candidate, fold
        model = self.models.get(key) or self.new(candidate)
        self.models[key] = self.trained(model, X, y, self.n_trained.get(key, 0), target)
        self.n_trained[key] = target
        return self.models[key].score(X_test, y_test)

    def drop(self, candidate: int) -> None:
        """Discard the models of a candidate."""
        for fold in range(N_FOLDS):
            self.models.pop((candidate, fold), None)

    def refitted(self, candidate: int) -> Any:
        """Return a candidate, trained on all samples."""
        prefix, X = self.prepared(self.X)
        target = len(self.y) if self.work.resource == "n_samples" else self.work.highest
        model = self.trained(self.new(candidate), X, self.y, 0, target)
        if not prefix:
            return model
        names = [name for name, _ in self.work.estimator.steps]
        return Pipeline(list(zip(names, [*prefix, model], strict=True)))


def resources(work: Workload) -> list[int]:
    """Of the rungs."""
    rungs = [work.highest]
    while rungs[0] // work.factor >= work.lowest:
        rungs.insert(0, rungs[0] // work.factor)
    return rungs


def by_hand(work: Workload, X: Any, y: Any) -> Found:
    """The limit: Successive Halving, written out."""
    loop = ByHand(work, X, y)
    alive = list(range(len(loop.candidates)))
    for resource in resources(work):
        scores = {
            candidate: np.mean([loop.score(candidate, fold, resource) for fold in range(N_FOLDS)])
            for candidate in alive
        }
        n_kept = -(-len(alive) // work.factor)
        kept = sorted(alive, key=lambda candidate: -scores[candidate])[:n_kept]
        for candidate in set(alive) - set(kept):
            loop.drop(candidate)
        alive = sorted(kept)
    (best,) = alive
    return Found(loop.refitted(best), loop.candidates[best], float(scores[best]), [])


def search_of(work: Workload, kind: Any = SuccessiveHalvingSearchCV, **options: Any) -> Any:
    """A search of this library, not fitted."""
    return kind(
        work.estimator, work.grid, resource=work.resource, factor=work.factor, random_state=0,
        min_resources=work.lowest, max_resources=work.highest, cv=KFold(N_FOLDS), n_jobs=N_JOBS,
        **{"min_folds": "all"} | options,
    )  # fmt: skip


def sha(work: Workload, X: Any, y: Any) -> Found:
    """SuccessiveHalvingSearchCV."""
    return _found(search_of(work).fit(X, y), work)


def growing_folds(work: Workload, X: Any, y: Any) -> Found:
    """SuccessiveHalvingSearchCV with few folds in early rungs."""
    return _found(search_of(work, min_folds="auto").fit(X, y), work)


def doubling(work: Workload, X: Any, y: Any) -> Found:
    """SuccessiveHalvingSearchCV, where nobody sets a budget."""
    return _found(search_of(work, budget="double").fit(X, y), work)


def hyperband(work: Workload, X: Any, y: Any) -> Found:
    """HyperbandSearchCV."""
    return _found(search_of(work, HyperbandSearchCV).fit(X, y), work)


def _found(search: Any, work: Workload) -> Found:
    seconds, wall_time, reached = 0.0, 0.0, []
    for row in getattr(search, "rung_history_", []):  # scikit-learn's have none
        if row["wall_time"] != wall_time:  # of several brackets the rungs share theirs
            wall_time = row["wall_time"]
            seconds += wall_time
        reached.append((seconds, float(row["best_score"])))
    params = {k: v for k, v in search.best_params_.items() if k in work.grid}
    return Found(search.best_estimator_, params, float(search.best_score_), reached)


def grid_search(work: Workload, X: Any, y: Any) -> Found:
    """scikit-learn's GridSearchCV, all candidates at full resource."""
    estimator = clone(work.estimator)
    if work.parameter != "n_samples":
        estimator.set_params(**{work.parameter: work.highest})
    search = GridSearchCV(estimator, work.grid, cv=KFold(N_FOLDS), n_jobs=N_JOBS).fit(X, y)
    return _found(search, work)


def sklearn_halving(work: Workload, X: Any, y: Any) -> Found:
    """scikit-learn's HalvingGridSearchCV, at the same schedule."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    search = HalvingGridSearchCV(
        work.estimator, work.grid, resource=work.parameter, factor=work.factor, random_state=0,
        min_resources=resources(work)[0], max_resources=work.highest, cv=KFold(N_FOLDS),
        n_jobs=N_JOBS,
    ).fit(X, y)  # fmt: skip
    return _found(search, work)


def optuna_pruner(work: Workload, X: Any, y: Any) -> Found:
    """Optuna's SuccessiveHalvingPruner around the loop written by hand."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    loop = ByHand(work, X, y)
    rungs = resources(work)

    def objective(trial: Any) -> float:
        candidate = trial.suggest_int("candidate", 0, len(loop.candidates) - 1)
        for resource in rungs:
            scores = [loop.score(candidate, fold, resource) for fold in range(N_FOLDS)]
            trial.report(float(np.mean(scores)), resource)
            if resource < rungs[-1] and trial.should_prune():
                loop.drop(candidate)
                raise optuna.TrialPruned
        loop.drop(candidate)
        return float(np.mean(scores))

    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.GridSampler(
            {"candidate": list(range(len(loop.candidates)))}, seed=0
        ),
        pruner=optuna.pruners.SuccessiveHalvingPruner(rungs[0], work.factor),
    )
    study.optimize(objective, n_trials=len(loop.candidates))
    best = study.best_params["candidate"]
    return Found(loop.refitted(best), loop.candidates[best], study.best_value, [])


CONTENDERS: dict[str, Callable[[Workload, Any, Any], Found]] = {
    "by hand": by_hand,
    "by hand, alone": by_hand,
    "sha": sha,
    "sha, 2 workers": sha,
    "sha, growing folds": growing_folds,
    "scikit-learn halving": sklearn_halving,
    "scikit-learn halving, 2 workers": sklearn_halving,
    "GridSearchCV": grid_search,
    "Optuna": optuna_pruner,
    "Hyperband": hyperband,
    "doubling": doubling,
}


def main(name: str, contender: str, seed: str, core: str) -> None:
    """Run a contender on a workload, and print its result."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", FutureWarning)
    os.environ["PYTHONWARNINGS"] = "ignore"
    work = WORKLOADS[name]
    X, y, X_test, y_test = work.splits(int(seed))
    search = CONTENDERS[contender]
    start = perf_counter()
    search(_small(work), X[:WARM_UP_ROWS], y[:WARM_UP_ROWS])
    warmed = perf_counter()
    found = search(work, X, y)
    seconds = perf_counter() - warmed
    print(
        json.dumps(
            {
                "workload": name,
                "contender": contender,
                "seed": int(seed),
                "seconds": seconds,
                "first_seconds": warmed - start,
                "held_out": float(found.model.score(X_test, y_test)),
                "score": found.score,
                "params": {k: str(v) for k, v in found.params.items()},
                "reached": found.reached,
            }
        )
    )


def _small(work: Workload) -> Workload:
    """Return a workload for a warm-up: one candidate with little resource."""
    few = {key: values[:1] for key, values in work.grid.items()}
    if work.resource == "n_samples":
        return replace(work, grid=few, lowest=100, highest=300)
    return replace(work, grid=few, highest=work.lowest * work.factor)


if __name__ == "__main__":
    main(*sys.argv[1:])
