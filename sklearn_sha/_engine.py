"""Drives algorithms: answers their pulls through joblib and keeps models between rungs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import chain, product
from math import inf
from time import perf_counter, time
from traceback import format_exc
from typing import Any

from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sha._candidates import setting_key
from sklearn_sha._evaluate import (
    SECONDS_PER_BATCH,
    Batch,
    Job,
    Outcome,
    Setting,
    Trained,
    evaluate_batch,
    new_model,
)
from sklearn_sha._folds import FittedPrefix, Fold, fit_prefix
from sklearn_sha.bandit import Algorithm, Pull, went_on

_BATCHES_PER_WORKER = 4
"""Few enough that rows are sent and cut for many jobs at once; enough that no worker waits
long for the last one."""

Promoted = Callable[[Pull, tuple[int, ...]], None]
Record = Callable[[Pull, list[Outcome], float, bool], ArrayLike]
_PrefixKey = tuple[int, int, Hashable]
_Views = dict[tuple[int, int], Fold]
_Groups = dict[_PrefixKey, list[Job]]


class OutOfTimeError(Exception):
    """The deadline has come before all was done that the algorithms asked for."""


class Engine:
    """Trains and scores what algorithms ask for.

    Parameters
    ----------
    candidates : sequence of dict
        Parameters of each arm.
    folds : sequence of Fold
    setting : Setting
    n_jobs, pre_dispatch
        As of joblib.Parallel.
    deadline : float, default=inf
        No job begins after it, in seconds as `time.time` counts them.
    """

    def __init__(
        self,
        candidates: Sequence[dict[str, Any]],
        folds: Sequence[Fold],
        setting: Setting,
        *,
        n_jobs: int | None,
        pre_dispatch: int | str,
        deadline: float = inf,
    ) -> None:
        self._candidates = candidates
        self._folds = folds
        self._setting = setting
        self._deadline = deadline
        self._n_workers = effective_n_jobs(n_jobs)
        # Large arrays reach workers as memory maps. Of models too, which train on in place:
        # copy on write, where joblib's own default would be read-only.
        options = {"n_jobs": n_jobs, "pre_dispatch": pre_dispatch, "mmap_mode": "c"}
        try:
            self._parallel = Parallel(**options, return_as="generator_unordered")
        except ValueError:  # multiprocessing hands back all results at once
            self._parallel = Parallel(**options)
        self._trained: dict[tuple[int, int], Trained] = {}
        self._outcomes: dict[tuple[int, int, int], Outcome] = {}
        self._seconds_per_unit = 0.0
        self._prefixes: dict[_PrefixKey, FittedPrefix] = {}
        self._prefix_keys = [self._prefix_setting(params) for params in candidates]

    def run(self, algorithms: Sequence[Algorithm], record: Record, promoted: Promoted) -> None:
        """Run algorithms to their ends, stage by stage, all that they ask for in one call.

        Parameters
        ----------
        algorithms : sequence of generator
            Of `sklearn_sha.bandit`, over different arms.
        record : callable
            Takes a pull, the outcomes of its new arms (arm by arm, fold by fold), the
            seconds that its stage took, and whether it is whole: of a stage that was broken
            off, the pull has the arms that were done. Returns the losses of the pull's arms.
        promoted : callable
            Told, of each pull, which of its arms go on; of the last, the best.

        Raises
        ------
        OutOfTimeError
            Where the deadline breaks a stage off.
        """
        with self._parallel:
            asking = [(algorithm, next(algorithm)) for algorithm in algorithms]
            while asking:
                pulls = [pull for _, pull in asking]
                start = perf_counter()
                try:
                    self._answer(pulls)
                finally:
                    # Whatever breaks a stage off, nothing that was finished is lost.
                    losses = self._tell(pulls, record, perf_counter() - start)
                following = []
                for (algorithm, pull), told in zip(asking, losses, strict=True):
                    try:
                        following.append((algorithm, algorithm.send(told)))
                        promoted(pull, went_on(pull, told, following[-1][1]))
                    except StopIteration as end:
                        promoted(pull, (end.value,))
                asking = following

    def _tell(self, pulls: list[Pull], record: Record, seconds: float) -> list[ArrayLike]:
        losses = []
        for pull in pulls:
            done: dict[int, list[Outcome]] = {}
            for arm in pull.new:
                keys = [(arm, fold, pull.resource) for fold in range(len(self._folds))]
                if all(key in self._outcomes for key in keys):
                    done[arm] = [self._outcomes[key] for key in keys]
            arms = tuple(arm for arm in pull.arms if arm in done or arm in pull.known)
            if arms:
                outcomes = list(chain.from_iterable(done.values()))
                losses.append(
                    record(replace(pull, arms=arms), outcomes, seconds, arms == pull.arms)
                )
        return losses

    def _answer(self, pulls: Sequence[Pull]) -> None:
        """Have an outcome of every new arm of the pulls, on every fold."""
        self._outcomes.clear()
        numbers = range(len(self._folds))
        for arm, number in product(chain.from_iterable(p.dropped for p in pulls), numbers):
            self._trained.pop((arm, number), None)
        views: _Views = {}
        groups: _Groups = defaultdict(list)
        for number, pull in product(numbers, pulls):
            view = self._setting.resource.view(self._folds[number], pull.resource)
            views[number, len(view.train)] = view
            for arm in pull.new:
                job = Job(
                    arm,
                    number,
                    self._candidates[arm],
                    pull.rung,
                    pull.resource,
                    self._trained.get((arm, number)),
                    not pull.last,
                )
                groups[number, len(view.train), self._prefix_keys[arm]].append(job)
        if self._setting.has_prefix:
            self._fit_prefixes(views, groups)
        while groups := self._unfinished(groups):
            if time() >= self._deadline:
                raise OutOfTimeError
            self._evaluate(self._batches(views, groups))

    def _unfinished(self, groups: _Groups) -> _Groups:
        unfinished = {
            key: [job for job in jobs if job.key not in self._outcomes]
            for key, jobs in groups.items()
        }
        return {key: jobs for key, jobs in unfinished.items() if jobs}

    def _evaluate(self, batches: list[Batch]) -> None:
        """Send batches to the workers, and keep what comes back as it comes."""
        units = {job.key: job.units() for batch in batches for job in batch.jobs}
        seconds = trained_units = 0.0
        calls = (delayed(evaluate_batch)(b, self._setting, self._deadline) for b in batches)
        for done in self._parallel(calls):
            for outcome, trained in done.pairs:
                self._outcomes[outcome.key] = outcome
                self._trained.pop((outcome.candidate, outcome.fold), None)
                if trained is not None:
                    self._trained[outcome.candidate, outcome.fold] = trained
                seconds += outcome.fit_time + outcome.score_time
                trained_units += units[outcome.key]
            if done.interrupted:
                raise KeyboardInterrupt
        self._seconds_per_unit = seconds / max(1, trained_units)

    def _fit_prefixes(self, views: _Views, groups: _Groups) -> None:
        """Fit the prefixes that are new to this stage, and let go of those it can't use."""
        self._prefixes = {key: p for key, p in self._prefixes.items() if key in groups}
        new = [key for key in groups if key not in self._prefixes]
        calls = (
            delayed(_fit_prefix)(key, views[key[:2]], groups[key][0], self._setting, self._deadline)
            for key in new
        )
        for key, prefix in self._parallel(calls):
            if isinstance(prefix, str):
                failures = [job.failed(prefix) for job in groups[key]]
                self._outcomes |= {failure.key: failure for failure in failures}
            elif prefix is not None:
                self._prefixes[key] = prefix

    def _batches(self, views: _Views, groups: _Groups) -> list[Batch]:
        """Jobs that share their rows, in batches; those with most to train first."""
        n_wanted = 1 if self._n_workers == 1 else _BATCHES_PER_WORKER * self._n_workers
        per_group = -(-n_wanted // len(groups))
        batches = []
        for key, jobs in groups.items():
            source = self._prefixes.get(key, views[key[:2]])
            by_length = sorted(jobs, key=Job.units, reverse=True)
            seconds = self._seconds_per_unit * by_length[0].units()
            in_time = int(SECONDS_PER_BATCH / seconds) if seconds else len(jobs)
            size = max(1, min(in_time, -(-len(jobs) // per_group)))
            for start in range(0, len(jobs), size):
                batches.append((start, Batch(tuple(by_length[start : start + size]), source)))
        # The first candidates of all folds before the second ones of any: what is finished
        # when a search is broken off are then whole candidates.
        batches.sort(key=lambda numbered: (-numbered[1].units(), numbered[0]))
        return [batch for _, batch in batches]

    def _prefix_setting(self, params: dict[str, Any]) -> Hashable:
        """What a candidate's parameters say of the steps before the last: equal, shared."""
        if not self._setting.has_prefix:
            return None
        last = self._setting.estimator.steps[-1][0]
        return setting_key({k: v for k, v in params.items() if k.split("__")[0] != last})


def _fit_prefix(
    key: _PrefixKey, fold: Fold, job: Job, setting: Setting, deadline: float
) -> tuple[_PrefixKey, FittedPrefix | str | None]:
    """The prefix of a job's candidate, fitted on a fold.

    In its place the traceback where it fails, and None after the deadline.
    """
    if time() >= deadline:
        return key, None
    pipeline = new_model(setting, job.params)
    try:
        fitted = fit_prefix(
            pipeline,
            fold,
            keep_raw=setting.scores_pipeline,
            scores_train=setting.return_train_score,
        )
    except Exception as error:
        if setting.error_score == "raise":
            job.add_note(error)
            raise
        return key, format_exc()
    return key, fitted
