"""Outcomes made into cv_results_, all_cv_results_, rung_history_ and failures_."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._results.columns import param_columns, ranks_of, store_moments, store_splits
from sklearn_sha._results.rung_history import RungHistory
from sklearn_sha._storage.outcomes import Outcome, Scores
from sklearn_sha.bandit.requests import Pull
from sklearn_sha.inspection.ranking import spearman
from sklearn_sha.schedules import Schedule

_RUNG_COLUMNS = ("bracket", "iter", "n_resources", "candidate", "cached")
"""What all_cv_results_ has and cv_results_ does not, which has GridSearchCV's columns."""


@dataclass(frozen=True)
class _RungOutcome:
    """Arrays of one rung, of shape (n_arms, n_folds); scores by metric."""

    pull: Pull
    is_whole: bool
    step: int
    spent: int
    wall_time: float
    fit_time: NDArray[np.float64]
    score_time: NDArray[np.float64]
    fit_failed: NDArray[np.bool_]
    test: dict[str, NDArray[np.float64]]
    train: dict[str, NDArray[np.float64]]

    def means(self, metric: str) -> NDArray[np.float64]:
        return self.test[metric].mean(axis=1)


class Results:
    """Collects the outcomes of a search, rung by rung.

    Parameters
    ----------
    candidates : sequence of dict
        Parameters of each candidate.
    schedule : Schedule
    n_folds : int
    columns : sequence of str
        Of "bracket" (rung_history_ has the bracket of each rung) and "cached" (all_cv_results_
        has which scores were known and read back): those that the search has.
    error_score : float
        Stands for a score that is missing.
    metrics : list of str or None
        Names of the metrics, ``["score"]`` for a single one; None where only the first
        rung's scores can tell.
    return_train_score : bool

    Attributes
    ----------
    failures : list of dict
        One per failed fit or score: candidate, params, split, rung, n_resources, failed ("fit" or
        "score") and error (the traceback).
    n_fits : int
        How many fits there were, those that failed included.
    metric : str
        What promotes; the first one unless it is set.
    """

    def __init__(
        self,
        candidates: Sequence[dict[str, Any]],
        schedule: Schedule,
        *,
        n_folds: int,
        columns: Sequence[str],
        error_score: float,
        metrics: list[str] | None,
        return_train_score: bool,
    ) -> None:
        self.candidates = candidates
        self.n_folds = n_folds
        self._continues = schedule.continues
        self._repeats = schedule.repeats
        self._unit = schedule.unit
        self._ends = [bracket.n_resources[-1] for bracket in schedule.brackets]
        self.columns = columns
        self.error_score = error_score
        self._metrics = metrics
        self.return_train_score = return_train_score
        self.failures: list[dict[str, Any]] = []
        self.n_fits = 0
        self.metric = self.metrics[0]
        self._furthest: dict[int, int] = {}
        self._promoted: dict[tuple[int, int], tuple[int, ...]] = {}
        self._rungs: list[_RungOutcome] = []

    def add(
        self, pull: Pull, outcomes: Sequence[Outcome], wall_time: float, is_whole: bool
    ) -> None:
        """Take in a rung, or its part that was done before the search was broken off.

        Parameters
        ----------
        pull : Pull
        outcomes : sequence of Outcome
            Of its new arms, candidate by candidate and fold by fold.
        wall_time : float
        is_whole : bool
            False where arms are missing.
        """
        if self._metrics is None and (names := _metric_names(outcomes)):
            self._metrics = names
            self.metric = names[0]
            # Before, everything failed: what stands for the score does for each metric.
            self._rungs = [
                replace(
                    rung,
                    test={name: scores for name in names for scores in rung.test.values()},
                    train={name: scores for name in names for scores in rung.train.values()},
                )
                for rung in self._rungs
            ]
        self.n_fits += len(outcomes)
        self.failures += [
            {
                "candidate": o.candidate,
                "params": self.candidates[o.candidate],
                "split": o.fold,
                "rung": pull.rung,
                "n_resources": o.resource,
                "failed": "fit" if o.fit_failed else "score",
                "error": error,
            }
            for o in outcomes
            for error in o.errors
        ]
        before = self._before(len(self._rungs), pull)
        step = pull.resource - (before.pull.resource if before else 0)
        trained = [
            pull.resource - (self._furthest.get(arm, 0) if self._continues else 0)
            for arm in pull.new
        ]
        self._furthest |= dict.fromkeys(pull.new, pull.resource)
        spent = (self._rungs[-1].spent if self._rungs else 0) + sum(trained)

        is_new = np.isin(pull.arms, pull.new)
        known = np.asarray(pull.arms)[~is_new].tolist()
        told = [self._told(arm, pull.resource) for arm in known]

        def rows(values: Sequence[float], known: Sequence[NDArray[Any]] = ()) -> NDArray[Any]:
            """An array of the rung: of new arms the values, of known ones what was told."""
            array = np.zeros((len(pull.arms), self.n_folds))
            array[is_new] = np.reshape(values, (len(pull.new), self.n_folds))
            if known:
                array[~is_new] = known
            return array

        test = self._by_metric([o.test_scores for o in outcomes])
        train = self._by_metric([o.train_scores for o in outcomes])
        failed = [o.fit_failed for o in outcomes]
        self._rungs.append(
            _RungOutcome(
                pull,
                is_whole,
                step,
                spent,
                wall_time,
                rows([o.fit_time for o in outcomes]),
                rows([o.score_time for o in outcomes]),
                rows(failed, [rung.fit_failed[k] for rung, k in told]).astype(bool),
                {m: rows(test[m], [rung.test[m][k] for rung, k in told]) for m in self.metrics},
                {m: rows(train[m], [rung.train[m][k] for rung, k in told]) for m in self.metrics}
                if self.return_train_score
                else {},
            )
        )

    def _told(self, arm: int, resource: int) -> tuple[_RungOutcome, int]:
        """The rung in which an arm was trained to a resource, and its position there."""
        rung = next(r for r in self._rungs if r.pull.resource == resource and arm in r.pull.new)
        return rung, rung.pull.arms.index(arm)

    def promoted(self, pull: Pull, arms: tuple[int, ...]) -> None:
        """Take in which arms of a rung went on; of a bracket's last rung, the best."""
        self._promoted[pull.bracket, pull.rung] = arms

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics; ``["score"]`` until something tells that they are others."""
        return self._metrics or ["score"]

    @property
    def has_metrics(self) -> bool:
        """Whether the names of the metrics are known."""
        return self._metrics is not None

    @property
    def n_rungs(self) -> int:
        """How many rungs there are so far."""
        return len(self._rungs)

    @property
    def has_complete_rung(self) -> bool:
        """Whether all candidates of some rung were evaluated."""
        return any(rung.is_whole for rung in self._rungs)

    def ends_bracket(self, pull: Pull) -> bool:
        """Whether a rung is the last of its bracket."""
        return pull.resource == self._ends[pull.bracket]

    def last_rung_failed(self) -> bool:
        """Whether failed fits left no candidate a score in the last rung that was added."""
        return self._has_failed(self._rungs[-1])

    def _has_failed(self, rung: _RungOutcome) -> bool:
        # Where NaN is the score of a fit that failed, one fold is enough.
        failed = rung.fit_failed.any(axis=1) if np.isnan(self.error_score) else rung.fit_failed
        return bool(failed.all())

    @property
    def all_failed(self) -> bool:
        """Whether no fit of all rungs succeeded."""
        return all(rung.fit_failed.all() for rung in self._rungs)

    def mean_scores(self) -> NDArray[np.float64]:
        """Mean test scores, by `metric`, of the arms of the last rung that was added."""
        return self._rungs[-1].means(self.metric)

    def remembered(self, memory: Callable[[ArrayLike], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Losses of the arms of the last rung, by a memory over all they have shown so far.

        What is NaN now is NaN, whatever it was before.

        Parameters
        ----------
        memory : callable
            Takes an arm's losses, from the least resource to the most, and returns as many.

        Returns
        -------
        ndarray of float, shape (n_arms,)
        """
        now = self._rungs[-1].pull
        shown: dict[int, dict[int, float]] = {arm: {} for arm in now.arms}
        for rung in self._rungs:
            if rung.pull.resource <= now.resource:
                for arm, score in zip(rung.pull.arms, rung.means(self.metric), strict=True):
                    if arm in shown:
                        shown[arm][rung.pull.resource] = score
        losses = [memory([-s for _, s in sorted(of.items())])[-1] for of in shown.values()]
        return np.where(np.isnan(self.mean_scores()), np.nan, losses)

    def all_cv_results(self) -> dict[str, Any]:
        """GridSearchCV's columns but for the ranks, one row per candidate and rung.

        Returns
        -------
        dict of str to ndarray, MaskedArray or list
            With ``bracket``, ``iter`` (the rung), ``n_resources`` (of the candidate by then),
            ``candidate`` (its number) and, among `columns`, ``cached``.
        """
        rungs = self._rungs
        results: dict[str, Any] = {}
        for name in ("fit_time", "score_time"):
            store_moments(results, name, np.concatenate([getattr(r, name) for r in rungs]))
        arms = np.concatenate([np.array(r.pull.arms) for r in rungs])
        for name, column in param_columns(self.candidates).items():
            results[f"param_{name}"] = column[arms]
        results["params"] = [self.candidates[arm] for arm in arms]
        for metric in self.metrics:
            scores = np.concatenate([r.test[metric] for r in rungs])
            store_splits(results, f"test_{metric}", scores)
            if self.return_train_score:
                train = np.concatenate([r.train[metric] for r in rungs])
                store_splits(results, f"train_{metric}", train)
        results["bracket"] = self._per_row([r.pull.bracket for r in rungs])
        results["iter"] = self._per_row([r.pull.rung for r in rungs])
        results["n_resources"] = self._per_row([r.pull.resource for r in rungs])
        results["candidate"] = arms
        if "cached" in self.columns:
            results["cached"] = np.concatenate([np.isin(r.pull.arms, r.pull.known) for r in rungs])
        return results

    def cv_results(
        self, all_cv_results: Mapping[str, Any]
    ) -> tuple[dict[str, Any], NDArray[np.intp]]:
        """GridSearchCV's columns over the last completed rung of each bracket, ranked.

        Parameters
        ----------
        all_cv_results : dict
            What the method of this name gives.

        Returns
        -------
        results : dict of str to ndarray, MaskedArray or list
        rows : ndarray of int
            Where its rows are in `all_cv_results`.
        """
        final = self._last_rungs()
        starts = np.cumsum([0, *(len(rung.pull.arms) for rung in self._rungs)])
        rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in final])
        standing = self._per_row([self._standing(rung) for rung in self._rungs])[rows]
        n_resources = all_cv_results["n_resources"][rows]
        results: dict[str, Any] = {}
        for name, column in all_cv_results.items():
            if name in _RUNG_COLUMNS:
                continue
            results[name] = [column[row] for row in rows] if name == "params" else column[rows]
            if name.startswith("std_test_"):
                scored = name.removeprefix("std_")
                means = results[f"mean_{scored}"]
                results[f"rank_{scored}"] = ranks_of(means, standing, n_resources)
        return results, rows

    def _last_rungs(self) -> list[int]:
        """Numbers of the rungs that decide: of each bracket, the last that is complete.

        Not one that failed; and what was done of one that was broken off only where no other is
        complete.
        """
        numbers = range(len(self._rungs))
        succeeded = [k for k in numbers if not self._has_failed(self._rungs[k])] or numbers
        whole = [k for k in succeeded if self._rungs[k].is_whole] or succeeded
        last = {self._rungs[k].pull.bracket: k for k in whole}
        if not self._repeats:
            return [last[bracket] for bracket in sorted(last)]
        # Runs over the same candidates: the last of those that came to their end.
        return [max(last.values(), key=lambda k: (self._standing(self._rungs[k]), k))]

    def _per_row(self, values: Sequence[int]) -> NDArray[np.intp]:
        """One value per candidate and rung, of one per rung."""
        return np.repeat(values, [len(rung.pull.arms) for rung in self._rungs])

    def rung_history(self) -> RungHistory:
        """One dict a rung."""
        rows = (self._history_of(k, rung) for k, rung in enumerate(self._rungs))
        return RungHistory(rows, self._unit)

    def _history_of(self, k: int, rung: _RungOutcome) -> dict[str, Any]:
        pull, metric = rung.pull, self.metric
        kept = list(self._promoted.get((pull.bracket, pull.rung), ()))
        return {
            **({"bracket": pull.bracket} if "bracket" in self.columns else {}),
            "iter": pull.rung,
            "n_candidates": len(pull.arms),
            "step": rung.step,
            "resource": pull.resource,
            "spent": rung.spent,
            "candidates": list(pull.arms),
            "scores": rung.means(metric).tolist(),
            "promoted": kept,
            **_promotion(rung, kept, self._before(k, pull), metric),
            "fit_time": float(rung.fit_time.sum()),
            "score_time": float(rung.score_time.sum()),
            "wall_time": rung.wall_time,
        }

    def _before(self, k: int, pull: Pull) -> _RungOutcome | None:
        """The rung before the k-th in its bracket."""
        earlier = (r for r in reversed(self._rungs[:k]) if r.pull.bracket == pull.bracket)
        return next(earlier, None)

    def _standing(self, rung: _RungOutcome) -> int:
        """2 in a bracket that has ended, 1 in another, 0 in a rung that was broken off."""
        if not rung.is_whole:
            return 0
        return 1 + any(
            r.is_whole
            and r.pull.bracket == rung.pull.bracket
            and self.ends_bracket(r.pull)
            and not self._has_failed(r)
            for r in self._rungs
        )

    def _by_metric(self, scores: Sequence[Scores | None]) -> dict[str, list[float]]:
        def score_of(scores: Scores | None, metric: str) -> float:
            score = scores[metric] if isinstance(scores, dict) else scores
            return self.error_score if score is None else score

        return {metric: [score_of(s, metric) for s in scores] for metric in self.metrics}


def _metric_names(outcomes: Sequence[Outcome]) -> list[str] | None:
    """Those that the first scores have; None where nothing could be scored."""
    scores = next((o.test_scores for o in outcomes if o.test_scores is not None), None)
    if scores is None:
        return None
    return list(scores) if isinstance(scores, dict) else ["score"]


def _promotion(
    rung: _RungOutcome, kept: list[int], before: _RungOutcome | None, metric: str
) -> dict[str, float | None]:
    """The scores that a rung promoted by."""
    cut = correlation = None
    means = rung.means(metric)
    if kept:
        cut = float(means[np.searchsorted(rung.pull.arms, kept)].min())
    if before is not None:
        shared = np.searchsorted(before.pull.arms, rung.pull.arms)
        correlation = spearman(before.means(metric)[shared], means)
    best = float(np.fmax.reduce(means))
    return {"best_score": best, "cut_score": cut, "rank_correlation": correlation}
