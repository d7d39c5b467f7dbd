"""Drives algorithms: answers their pulls through joblib and keeps models between rungs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import chain, product
from time import perf_counter
from traceback import format_exc
from typing import Any

from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from sklearn.utils.parallel import Parallel, delayed

from sklearn_sha._candidates import setting_key
from sklearn_sha._evaluate import (
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
Record = Callable[[Pull, list[Outcome], float], ArrayLike]
_PrefixKey = tuple[int, int, Hashable]


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
    """

    def __init__(
        self,
        candidates: Sequence[dict[str, Any]],
        folds: Sequence[Fold],
        setting: Setting,
        *,
        n_jobs: int | None,
        pre_dispatch: int | str,
    ) -> None:
        self._candidates = candidates
        self._folds = folds
        self._setting = setting
        self._n_workers = effective_n_jobs(n_jobs)
        # Large arrays reach workers as memory maps. Of models too, which train on in place:
        # copy on write, where joblib's own default would be read-only.
        self._parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch, mmap_mode="c")
        self._trained: dict[tuple[int, int], Trained] = {}
        self._prefixes: dict[_PrefixKey, FittedPrefix | str] = {}
        self._prefix_keys = [self._prefix_setting(params) for params in candidates]

    def run(self, algorithms: Sequence[Algorithm], record: Record, promoted: Promoted) -> None:
        """Run algorithms to their ends, stage by stage, all that they ask for in one call.

        Parameters
        ----------
        algorithms : sequence of generator
            Of `sklearn_sha.bandit`, over different arms.
        record : callable
            Takes a pull, the outcomes of its new arms (arm by arm, fold by fold) and the
            seconds that its stage took; returns the losses of the pull's arms.
        promoted : callable
            Told, of each pull, which of its arms go on; of the last, the best.
        """
        with self._parallel:
            asking = [(algorithm, next(algorithm)) for algorithm in algorithms]
            while asking:
                start = perf_counter()
                outcomes = self._answer([pull for _, pull in asking])
                seconds = perf_counter() - start
                following = []
                for algorithm, pull in asking:
                    keys = product(pull.new, range(len(self._folds)))
                    losses = record(pull, [outcomes[key] for key in keys], seconds)
                    try:
                        following.append((algorithm, algorithm.send(losses)))
                        promoted(pull, went_on(pull, losses, following[-1][1]))
                    except StopIteration as end:
                        promoted(pull, (end.value,))
                asking = following

    def _answer(self, pulls: Sequence[Pull]) -> dict[tuple[int, int], Outcome]:
        numbers = range(len(self._folds))
        for arm, number in product(chain.from_iterable(p.dropped for p in pulls), numbers):
            self._trained.pop((arm, number), None)
        views: dict[tuple[int, int], Fold] = {}
        groups: dict[_PrefixKey, list[Job]] = defaultdict(list)
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
        batches = self._batches(views, groups)
        done = self._parallel(delayed(evaluate_batch)(batch, self._setting) for batch in batches)
        outcomes = self._prefix_failures(groups)
        for outcome, trained in chain.from_iterable(done):
            key = outcome.candidate, outcome.fold
            outcomes[key] = outcome
            self._trained.pop(key, None)
            if trained is not None:
                self._trained[key] = trained
        return outcomes

    def _fit_prefixes(
        self, views: dict[tuple[int, int], Fold], groups: dict[_PrefixKey, list[Job]]
    ) -> None:
        """Fit the prefixes that are new to this stage, and let go of those it can't use."""
        new = [key for key in groups if key not in self._prefixes]
        fitted = self._parallel(
            delayed(_fit_prefix)(views[key[:2]], groups[key][0], self._setting) for key in new
        )
        known = self._prefixes | dict(zip(new, fitted, strict=True))
        self._prefixes = {key: known[key] for key in groups}

    def _batches(
        self, views: dict[tuple[int, int], Fold], groups: dict[_PrefixKey, list[Job]]
    ) -> list[Batch]:
        """Jobs that share their rows, in batches; those with most to train first."""
        n_wanted = 1 if self._n_workers == 1 else _BATCHES_PER_WORKER * self._n_workers
        per_group = -(-n_wanted // max(1, len(groups)))
        batches = []
        for key, jobs in groups.items():
            source = self._prefixes.get(key, views[key[:2]])
            size = -(-len(jobs) // per_group)
            if not isinstance(source, str):
                by_length = sorted(jobs, key=Job.units, reverse=True)
                for start in range(0, len(jobs), size):
                    batches.append(Batch(tuple(by_length[start : start + size]), source))
        return sorted(batches, key=lambda batch: sum(map(Job.units, batch.jobs)), reverse=True)

    def _prefix_failures(
        self, groups: dict[_PrefixKey, list[Job]]
    ) -> dict[tuple[int, int], Outcome]:
        return {
            (job.candidate, job.fold): Outcome(
                job.candidate, job.fold, errors=(error,), fit_failed=True
            )
            for key, error in self._prefixes.items()
            if isinstance(error, str)
            for job in groups[key]
        }

    def _prefix_setting(self, params: dict[str, Any]) -> Hashable:
        """What a candidate's parameters say of the steps before the last: equal, shared."""
        if not self._setting.has_prefix:
            return None
        last = self._setting.estimator.steps[-1][0]
        return setting_key({k: v for k, v in params.items() if k.split("__")[0] != last})


def _fit_prefix(fold: Fold, job: Job, setting: Setting) -> FittedPrefix | str:
    """The prefix of a job's candidate, fitted on a fold; its traceback where it fails."""
    pipeline = new_model(setting, job.params)
    try:
        return fit_prefix(
            pipeline,
            fold,
            keep_raw=setting.scores_pipeline,
            scores_train=setting.return_train_score,
        )
    except Exception as error:
        if setting.error_score == "raise":
            job.add_note(error)
            raise
        return format_exc()
