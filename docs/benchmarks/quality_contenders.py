"""Ways to search one workload of time_to_quality.py, each run in a process of its own.

    python docs/benchmarks/quality_contenders.py svc "ours, random" 0 60 0,1

runs a contender with a seed and a limit of 60 seconds on cores 0 and 1, and prints one line of
JSON: a list of the seconds, the held-out score and the cross-validated score of each model that a
user could have had. What a search does not end by itself is ended by the limit.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # before numpy and joblib count the cores
    os.sched_setaffinity(0, {int(core) for core in sys.argv[5].split(",")})

import json
import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from quality_workloads import WORKLOADS, Workload
from sklearn.base import clone, is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import check_scoring
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    RandomizedSearchCV,
    check_cv,
    cross_val_score,
)

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.bandit import Algorithm, Bounds, RungRequest, promote
from sklearn_sha.candidates import History, ModelSampler, Sampler
from sklearn_sha.schedules import Schedule

N_FOLDS = 5
FIRST_SIZE = 8
WARM_UP_SAMPLES, WARM_UP_SECONDS = 600, 3.0
"""Enough for worker processes to start and to complete a call, which a search with a time limit
does not wait for."""


@dataclass(frozen=True)
class Task:
    """What a contender is given.

    Attributes
    ----------
    work : Workload
    X, y : array-like
    seed : int
    limit : float
        Seconds.
    n_jobs : int
    """

    work: Workload
    X: Any
    y: Any
    seed: int
    limit: float
    n_jobs: int

    @property
    def arguments(self) -> dict[str, Any]:
        """Those that all searches of scikit-learn's kind share."""
        return {"cv": N_FOLDS, "scoring": self.work.scoring, "n_jobs": self.n_jobs}

    def model(self, params: dict[str, Any]) -> Any:
        """A candidate, not fitted."""
        return self.work.new().set_params(**params)

    def score(self, params: dict[str, Any]) -> float:
        """Cross-validate a candidate."""
        return float(cross_val_score(self.model(params), self.X, self.y, **self.arguments).mean())


Model = tuple[float, Any, float]
"""Seconds since the start, a model fitted on all samples, and its cross-validated score."""

Contender = Callable[[Task], Iterable[Model]]


def fitted(search: Any, task: Task) -> Model:
    """Fit a search, with all of its seconds."""
    start = perf_counter()
    search.fit(task.X, task.y)
    return perf_counter() - start, search.best_estimator_, float(search.best_score_)


def sizes(search: Callable[[Task, int], Any]) -> Contender:
    """What is a single fit of a given size: at twice the size as long as there is time."""

    def run(task: Task) -> Iterator[Model]:
        size, seconds = FIRST_SIZE, 0.0
        while 1.5 * seconds < task.limit:  # the next takes about twice as long
            model = fitted(search(task, size), task)
            seconds = model[0]
            yield model
            size *= 2

    return run


Evaluated = tuple[float, float, dict[str, Any]]
"""When a candidate was completed (on the clock of all processes), its score and parameters."""


def incumbents(evaluated: Iterable[Evaluated]) -> Iterator[Evaluated]:
    """Every new best one."""
    best = -np.inf
    for done in sorted(evaluated, key=lambda done: done[0]):
        if done[1] > best:
            best = done[1]
            yield done


def refitted(search: Callable[[Task], Iterable[Evaluated]]) -> Contender:
    """What a search would select, from when on, and the time to refit it.

    The refits come after the search, and each is counted in its own model's seconds only.
    """

    def run(task: Task) -> Iterator[Model]:
        start = perf_counter()
        for seconds, score, params in list(search(task)):
            before = perf_counter()
            model = task.model(params).fit(task.X, task.y)
            yield seconds - start + perf_counter() - before, model, score

    return run


def one_by_one(search: Callable[[Task], Iterable[Evaluated]]) -> Contender:
    """What evaluates one candidate after the other, and would select the best one so far."""
    return refitted(lambda task: incumbents(search(task)))


def workers(search: Callable[[Task, int], list[Evaluated]], task: Task) -> list[Evaluated]:
    """Run a search in each worker, on one core; all of them end at the limit."""
    alone = replace(task, n_jobs=1)
    found = Parallel(task.n_jobs)(delayed(search)(alone, number) for number in range(task.n_jobs))
    return list(chain.from_iterable(found))


def randomized_search(task: Task) -> list[Evaluated]:
    """RandomizedSearchCV with as many candidates as there is time for.

    It runs for twice the limit, since the same run is shown at double budget, too.
    """
    return workers(_randomized_search, replace(task, limit=2 * task.limit))


def _randomized_search(task: Task, number: int) -> list[Evaluated]:
    start, found = perf_counter(), []
    rng = np.random.RandomState([task.seed, number])
    search = RandomizedSearchCV(
        task.work.new(), task.work.space, n_iter=1, refit=False, random_state=rng, **task.arguments
    )
    while perf_counter() - start < task.limit:
        results = search.fit(task.X, task.y).cv_results_
        found.append((perf_counter(), results["mean_test_score"][0], results["params"][0]))
    return found


def halving_random_search(task: Task, size: int) -> Any:
    """Such that the last rung has as many samples as it can."""
    return HalvingRandomSearchCV(
        task.work.new(),
        task.work.space,
        n_candidates=size,
        min_resources="exhaust",
        random_state=task.seed,
        **task.arguments,
    )


def optuna_tpe(task: Task, prune: bool = False, defaults_first: bool = False) -> list[Evaluated]:
    """TPE; two workers share a journal, as Optuna's documentation advises for processes.

    With `defaults_first`, the first trial has the estimator's own values.
    """
    with TemporaryDirectory() as folder:
        journal = str(Path(folder, "journal")) if task.n_jobs > 1 else None
        search = partial(_optuna_tpe, journal=journal, prune=prune, defaults_first=defaults_first)
        return workers(search, task)


def _optuna_tpe(
    task: Task, number: int, journal: str | None, prune: bool, defaults_first: bool
) -> list[Evaluated]:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    found = []

    def objective(trial: Any) -> float:
        params = translated(
            task.work.space,
            trial.suggest_categorical,
            trial.suggest_int,
            lambda name, low, high, log: trial.suggest_float(name, low, high, log=log),
        )
        score = fold_by_fold(trial, params) if prune else task.score(params)
        found.append((perf_counter(), score, params))
        return score

    def fold_by_fold(trial: Any, params: dict[str, Any]) -> float:
        model, scores = task.model(params), []
        scorer = check_scoring(model, task.work.scoring)
        cv = check_cv(N_FOLDS, task.y, classifier=is_classifier(model))
        for n_folds, (train, test) in enumerate(cv.split(task.X, task.y), 1):
            fitted = clone(model).fit(task.X[train], task.y[train])
            scores.append(scorer(fitted, task.X[test], task.y[test]))
            trial.report(np.mean(scores), n_folds)
            if trial.should_prune() and n_folds < N_FOLDS:
                raise optuna.TrialPruned
        return float(np.mean(scores))

    study = optuna.create_study(
        direction="maximize",
        study_name="time to quality",
        storage=JournalStorage(JournalFileBackend(journal)) if journal else None,
        load_if_exists=True,
        sampler=optuna.samplers.TPESampler(
            seed=2 * task.seed + number, constant_liar=journal is not None
        ),
        pruner=optuna.pruners.HyperbandPruner(min_resource=1, max_resource=N_FOLDS)
        if prune
        else optuna.pruners.NopPruner(),
    )
    if defaults_first and number == 0:
        study.enqueue_trial(task.work.defaults)
    study.optimize(objective, timeout=task.limit)
    return found


def flaml_blendsearch(task: Task) -> list[Evaluated]:
    """BlendSearch; its own workers need Ray or Spark, so that the folds are what is parallel."""
    from flaml import BlendSearch, tune

    found = []

    def evaluate(params: dict[str, Any]) -> dict[str, float]:
        score = task.score(params)
        found.append((perf_counter(), score, params))
        return {"score": score}

    space = translated(
        task.work.space,
        lambda name, values: tune.choice(values),
        lambda name, low, high: tune.randint(low, high + 1),
        lambda name, low, high, log: (tune.loguniform if log else tune.uniform)(low, high),
    )
    search = BlendSearch(
        metric="score",
        mode="max",
        space=space,
        low_cost_partial_config=task.work.low_cost,
        time_budget_s=task.limit,
        seed=task.seed,
    )
    tune.run(evaluate, search_alg=search, time_budget_s=task.limit, num_samples=-1, verbose=0)
    return found


def smac(task: Task) -> list[Evaluated]:
    """Its facade for hyperparameters; the folds are parallel, since Dask is slow to start.

    It spreads 10 candidates before it has a model, as TPE does. The default is 10 for each
    parameter.
    """
    from ConfigSpace import Categorical, ConfigurationSpace, Float, Integer
    from smac import HyperparameterOptimizationFacade as Facade
    from smac import Scenario

    found = []

    def loss(config: Any, seed: int = 0) -> float:
        score = task.score(dict(config))
        found.append((perf_counter(), score, dict(config)))
        return -score

    space = translated(
        task.work.space,
        Categorical,
        lambda name, low, high: Integer(name, (low, high)),
        lambda name, low, high, log: Float(name, (low, high), log=log),
    )
    with TemporaryDirectory() as folder:
        scenario = Scenario(
            ConfigurationSpace(space=space, seed=task.seed),
            deterministic=True,
            output_directory=Path(folder),
            n_trials=10**6,
            walltime_limit=task.limit,
            seed=task.seed,
        )
        first = Facade.get_initial_design(scenario, n_configs=10)
        Facade(scenario, loss, initial_design=first, logging_level=logging.ERROR).optimize()
    return found


def translated(
    space: dict[str, Any],
    choice: Callable[[str, list[Any]], Any],
    integer: Callable[[str, int, int], Any],
    real: Callable[[str, float, float, bool], Any],
) -> dict[str, Any]:
    """Distributions in the words of another library; limits are inclusive."""

    def word(name: str, values: Any) -> Any:
        if isinstance(values, list):
            return choice(name, values)
        low, high = values.support()
        if values.dist.name == "randint":
            return integer(name, int(low), int(high))
        return real(name, float(low), float(high), values.dist.name == "loguniform")

    return {name: word(name, values) for name, values in space.items()}


class TwoRungs(Algorithm):
    """All candidates with the minimum of the resource, the best three with the maximum."""

    def plan(self, bounds: Bounds) -> Schedule:
        n_candidates = [bounds.n_candidates, min(3, bounds.n_candidates)]
        return Schedule.from_rungs(n_candidates, [bounds.first, bounds.max_resources])

    def requests(self, plan: Schedule, propose: Any) -> Any:
        ids = propose(plan.rungs[0].n_candidates)
        losses = yield RungRequest(0, ids, plan.rungs[0].n_resources)
        if losses is None:
            return None
        best = tuple(sorted(ids[k] for k in promote(losses, plan.rungs[1].n_candidates)))
        losses = yield RungRequest(1, best, plan.rungs[1].n_resources, True, True)
        return None if losses is None else best[promote(losses, 1)[0]]


OURS: dict[str, Callable[[int], dict[str, Any]]] = {
    "ours, random": lambda size: {"sampler": "random", "n_candidates": size},
    "ours, sobol": lambda size: {"sampler": "sobol", "n_candidates": size},
    "ours, model": lambda size: {"sampler": "model", "n_candidates": size},
    "ours, all folds": lambda size: {"min_folds": "all", "sampler": "random", "n_candidates": size},
    "ours, two rungs": lambda size: {"algorithm": TwoRungs(), "n_candidates": size},
}
"""Arguments of SuccessiveHalvingSearchCV for a size, 8, 16, 32, ... The others are the defaults."""


def ours(task: Task, **setting: Any) -> Any:
    """Our search with a setting."""
    return SuccessiveHalvingSearchCV(
        task.work.new(), task.work.space, random_state=task.seed, **setting, **task.arguments
    )


def of_size(setting: Callable[[int], dict[str, Any]], task: Task, size: int) -> Any:
    """Our search with a setting for a size."""
    return ours(task, **setting(size))


class TimedSampler(Sampler):
    """Notes when a sampler is first asked for more than a number of candidates.

    An anytime search asks for more when all brackets with these candidates have ended.
    """

    uses_history = True

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.seconds: dict[int, float] = {}

    def propose(self, n: int, space: Any, history: History, rng: Any) -> list[dict[str, Any]]:
        """Note the time, and propose."""
        self.seconds.setdefault(len(history.candidates), perf_counter())
        return self.sampler.propose(n, space, history, rng)


def anytime(
    task: Task, sampler: Sampler | None = None, **setting: Any
) -> tuple[list[Evaluated], list[Evaluated]]:
    """A single search for the limit: its best candidates, and from when on it selects them.

    Those of the first bracket's rungs but the last one, which are selected if it ends before the
    next rung is completed; and those of each bracket.
    """
    timed = TimedSampler(ModelSampler() if sampler is None else sampler)
    setting |= {"budget": "anytime", "max_time": task.limit, "sampler": timed, "refit": False}
    search = ours(task, **setting)
    with suppress(TimeoutError):
        search.fit(task.X, task.y)
    end = perf_counter()
    if not hasattr(search, "rung_history_"):  # nothing was completed
        return [], []
    results, brackets = search.all_cv_results_, search.schedule_.brackets
    params = dict(zip(results["candidate"], results["params"], strict=True))
    n_candidates = np.cumsum([bracket.n_candidates[0] for bracket in brackets])
    early, of_brackets = [], []
    for rung in search.rung_history_:
        number, n_rungs = rung["bracket"], len(brackets[rung["bracket"]].rungs)
        is_last = rung["iter"] == n_rungs - 1
        if rung["promoted"] and (is_last or number == 0):  # completed
            best = int(np.nanargmax(rung["scores"]))
            seconds = timed.seconds.get(n_candidates[number], end)
            if not is_last:
                later = search.rung_history_[rung["iter"] + 1 : n_rungs]
                seconds -= sum(other["wall_time"] for other in later)
            done = (seconds, rung["scores"][best], params[rung["candidates"][best]])
            (of_brackets if is_last else early).append(done)
    return early, of_brackets


def anytime_selection(task: Task, **setting: Any) -> list[Evaluated]:
    """What an anytime search would select, from when on.

    Scores of the first bracket's rungs are not comparable with each other: the latest one counts.
    """
    early, of_brackets = anytime(task, **setting)
    return [*early, *incumbents(of_brackets)]


CONTENDERS: dict[str, Contender] = {
    "RandomizedSearchCV": one_by_one(randomized_search),
    "HalvingRandomSearchCV": sizes(halving_random_search),
    "Optuna, TPE": one_by_one(optuna_tpe),
    "Optuna, TPE and Hyperband": one_by_one(partial(optuna_tpe, prune=True)),
    "FLAML, BlendSearch": one_by_one(flaml_blendsearch),
    "SMAC3": one_by_one(smac),
    "ours, anytime": refitted(anytime_selection),
} | {name: sizes(partial(of_size, setting)) for name, setting in OURS.items()}

DEFAULTS_FIRST: dict[str, Contender] = {
    "ours, anytime, defaults first": refitted(partial(anytime_selection, initial_candidates=[{}])),
    "Optuna, TPE and Hyperband, defaults first": one_by_one(
        partial(optuna_tpe, prune=True, defaults_first=True)
    ),
}
"""Searches of which the estimator's own values are the first candidate, for defaults_first.py."""


def main(name: str, contender: str, seed: str, limit: str, cores: str) -> None:
    """Run a contender on a workload, and print its trace."""
    warnings.simplefilter("ignore")
    work, search = WORKLOADS[name], (CONTENDERS | DEFAULTS_FIRST)[contender]
    X, y, X_test, y_test = work.splits(int(seed))
    task = Task(work, X, y, int(seed), float(limit), len(cores.split(",")))
    few = slice(WARM_UP_SAMPLES)
    for _ in search(replace(task, X=X[few], y=y[few], limit=WARM_UP_SECONDS)):
        pass  # imports, and the start of workers
    scorer = check_scoring(work.new(), work.scoring)
    trace = [
        (round(seconds, 3), round(float(scorer(model, X_test, y_test)), 6), round(score, 6))
        for seconds, model, score in search(task)
    ]
    print(json.dumps(trace))


if __name__ == "__main__":
    main(*sys.argv[1:])
