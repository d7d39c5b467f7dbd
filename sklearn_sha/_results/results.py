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
from sklearn_sha.bandit.requests import RungRequest
from sklearn_sha.inspection.ranking import spearman

_RUNG_COLUMNS = ("bracket", "iter", "n_resources", "candidate", "cached")
"""What all_cv_results_ has and cv_results_ does not, which has GridSearchCV's columns."""


@dataclass(frozen=True)
class _RungOutcome:
    """Arrays of one rung, of shape (n_candidates, n_folds); scores by metric."""

    request: RungRequest
    is_complete: bool
    step: int
    spent: int
    wall_time: float
    fit_time: NDArray[np.float64]
    score_time: NDArray[np.float64]
    fit_failed: NDArray[np.bool_]
    test: dict[str, NDArray[np.float64]]
    train: dict[str, NDArray[np.float64]]

    def is_joined_by(self, request: RungRequest) -> bool:
        """Whether a request adds candidates to this rung."""
        own = self.request
        return (own.bracket, own.rung) == (request.bracket, request.rung)

    def means(self, metric: str) -> NDArray[np.float64]:
        return self.test[metric].mean(axis=1)


class Results:
    """Collects the outcomes of a search, rung by rung.

    Parameters
    ----------
    params : sequence of dict
        Parameters by candidate id. It may grow while results come in.
    n_folds : int
    continues : bool
        Whether models continue training between rungs.
    repeats : bool
        Whether brackets are runs over the same candidates, of which the last one counts.
    unit : str
        What the resource counts, in the plural.
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
        params: Sequence[dict[str, Any]],
        *,
        n_folds: int,
        continues: bool,
        repeats: bool,
        unit: str,
        columns: Sequence[str],
        error_score: float,
        metrics: list[str] | None,
        return_train_score: bool,
    ) -> None:
        self.params = params
        self.n_folds = n_folds
        self._continues = continues
        self._repeats = repeats
        self._unit = unit
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
        self,
        request: RungRequest,
        outcomes: Sequence[Outcome],
        wall_time: float,
        is_complete: bool,
    ) -> None:
        """Add a rung, or the completed part of one that was interrupted.

        More candidates of a rung that is there join it.

        Parameters
        ----------
        request : RungRequest
        outcomes : sequence of Outcome
            Of its new candidates, candidate by candidate and fold by fold.
        wall_time : float
        is_complete : bool
            False if candidates are missing.
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
                "params": self.params[o.candidate],
                "split": o.fold,
                "rung": request.rung,
                "n_resources": o.n_resources,
                "failed": "fit" if o.fit_failed else "score",
                "error": error,
            }
            for o in outcomes
            for error in o.errors
        ]
        joined = self._rungs[-1] if self._rungs and self._rungs[-1].is_joined_by(request) else None
        before = self._before(len(self._rungs) - (joined is not None), request)
        step = request.n_resources - (before.request.n_resources if before else 0)
        trained = [
            request.n_resources - (self._furthest.get(candidate, 0) if self._continues else 0)
            for candidate in request.new_ids
        ]
        self._furthest |= dict.fromkeys(request.new_ids, request.n_resources)
        spent = (self._rungs[-1].spent if self._rungs else 0) + sum(trained)

        is_new = np.isin(request.candidate_ids, request.new_ids)
        known_ids = np.asarray(request.candidate_ids)[~is_new].tolist()
        known = [self._scored(candidate, request.n_resources) for candidate in known_ids]

        def rows(
            values: Sequence[float], known_values: Sequence[NDArray[Any]] = ()
        ) -> NDArray[Any]:
            """An array of the rung: values of new candidates, and those that were known."""
            array = np.zeros((len(request.candidate_ids), self.n_folds))
            array[is_new] = np.reshape(values, (len(request.new_ids), self.n_folds))
            if known_values:
                array[~is_new] = known_values
            return array

        def times(name: str) -> NDArray[np.float64]:
            # Of a rung that is joined; a known score that is read back takes no time.
            earlier = [] if joined is None else [getattr(joined, name)[k] for _, k in known]
            return rows([getattr(outcome, name) for outcome in outcomes], earlier)

        test = self._by_metric([o.test_scores for o in outcomes])
        train = self._by_metric([o.train_scores for o in outcomes])
        failed = [o.fit_failed for o in outcomes]
        outcome = _RungOutcome(
            request if joined is None else replace(request, known=joined.request.known),
            is_complete,
            step,
            spent,
            wall_time + (0.0 if joined is None else joined.wall_time),
            times("fit_time"),
            times("score_time"),
            rows(failed, [rung.fit_failed[k] for rung, k in known]).astype(bool),
            {m: rows(test[m], [rung.test[m][k] for rung, k in known]) for m in self.metrics},
            {m: rows(train[m], [rung.train[m][k] for rung, k in known]) for m in self.metrics}
            if self.return_train_score
            else {},
        )
        if joined is not None:
            self._rungs.pop()
        self._rungs.append(outcome)

    def _scored(self, candidate: int, n_resources: int) -> tuple[_RungOutcome, int]:
        """The rung in which a candidate was scored at a resource, and its position there."""
        rung = next(
            r
            for r in self._rungs
            if r.request.n_resources == n_resources and candidate in r.request.new_ids
        )
        return rung, rung.request.candidate_ids.index(candidate)

    def promoted(self, request: RungRequest, ids: tuple[int, ...]) -> None:
        """Add which candidates of a rung were promoted; of a bracket's last rung, the best one."""
        self._promoted[request.bracket, request.rung] = ids

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
        return any(rung.is_complete for rung in self._rungs)

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
        """Mean test scores, by `metric`, of the candidates of the rung that was added last."""
        return self._rungs[-1].means(self.metric)

    def aggregated(
        self, aggregate: Callable[[ArrayLike], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Losses of the rung that was added last, aggregated over those of each candidate so far.

        What is NaN in this rung stays NaN.

        Parameters
        ----------
        aggregate : callable
            Takes a candidate's losses by increasing resource, and returns as many.

        Returns
        -------
        ndarray of float, shape (n_candidates,)
        """
        now = self._rungs[-1].request
        scores: dict[int, dict[int, float]] = {number: {} for number in now.candidate_ids}
        for rung in self._rungs:
            if rung.request.n_resources <= now.n_resources:
                means = rung.means(self.metric)
                for number, score in zip(rung.request.candidate_ids, means, strict=True):
                    if number in scores:
                        scores[number][rung.request.n_resources] = score
        losses = [aggregate([-s for _, s in sorted(of.items())])[-1] for of in scores.values()]
        return np.where(np.isnan(self.mean_scores()), np.nan, losses)

    def fold_scores(self) -> NDArray[np.float64]:
        """Test scores, by `metric`, of the rung that was added last; (n_candidates, n_folds)."""
        return self._rungs[-1].test[self.metric]

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
        ids = np.concatenate([np.array(r.request.candidate_ids) for r in rungs])
        for name, column in param_columns(self.params).items():
            results[f"param_{name}"] = column[ids]
        results["params"] = [self.params[number] for number in ids]
        for metric in self.metrics:
            scores = np.concatenate([r.test[metric] for r in rungs])
            store_splits(results, f"test_{metric}", scores)
            if self.return_train_score:
                train = np.concatenate([r.train[metric] for r in rungs])
                store_splits(results, f"train_{metric}", train)
        results["bracket"] = self._per_row([r.request.bracket for r in rungs])
        results["iter"] = self._per_row([r.request.rung for r in rungs])
        results["n_resources"] = self._per_row([r.request.n_resources for r in rungs])
        results["candidate"] = ids
        if "cached" in self.columns:
            results["cached"] = np.concatenate(
                [np.isin(r.request.candidate_ids, r.request.known) for r in rungs]
            )
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
        starts = np.cumsum([0, *(len(rung.request.candidate_ids) for rung in self._rungs)])
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
        whole = [k for k in succeeded if self._rungs[k].is_complete] or succeeded
        last = {self._rungs[k].request.bracket: k for k in whole}
        if not self._repeats:
            return [last[bracket] for bracket in sorted(last)]
        # Runs over the same candidates: the last of those that came to their end.
        return [max(last.values(), key=lambda k: (self._standing(self._rungs[k]), k))]

    def _per_row(self, values: Sequence[int]) -> NDArray[np.intp]:
        """One value per candidate and rung, of one per rung."""
        return np.repeat(values, [len(rung.request.candidate_ids) for rung in self._rungs])

    def rung_history(self) -> RungHistory:
        """One dict a rung."""
        rows = (self._history_of(k, rung) for k, rung in enumerate(self._rungs))
        return RungHistory(rows, self._unit)

    def _history_of(self, k: int, rung: _RungOutcome) -> dict[str, Any]:
        request, metric = rung.request, self.metric
        kept = list(self._promoted.get((request.bracket, request.rung), ()))
        return {
            **({"bracket": request.bracket} if "bracket" in self.columns else {}),
            "iter": request.rung,
            "n_candidates": len(request.candidate_ids),
            "step": rung.step,
            "resource": request.n_resources,
            "spent": rung.spent,
            "candidates": list(request.candidate_ids),
            "scores": rung.means(metric).tolist(),
            "promoted": kept,
            **_promotion(rung, kept, self._before(k, request), metric),
            "fit_time": float(rung.fit_time.sum()),
            "score_time": float(rung.score_time.sum()),
            "wall_time": rung.wall_time,
        }

    def _before(self, k: int, request: RungRequest) -> _RungOutcome | None:
        """The rung before the k-th in its bracket."""
        earlier = (r for r in reversed(self._rungs[:k]) if r.request.bracket == request.bracket)
        return next(earlier, None)

    def _standing(self, rung: _RungOutcome) -> int:
        """2 in a bracket that has ended, 1 in another, 0 in a rung that was broken off."""
        if not rung.is_complete:
            return 0
        return 1 + any(
            r.is_complete
            and r.request.bracket == rung.request.bracket
            and r.request.is_last_rung
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
        cut = float(means[np.searchsorted(rung.request.candidate_ids, kept)].min())
    if before is not None:
        shared = np.searchsorted(before.request.candidate_ids, rung.request.candidate_ids)
        correlation = spearman(before.means(metric)[shared], means)
    best = float(np.fmax.reduce(means))
    return {"best_score": best, "cut_score": cut, "rank_correlation": correlation}
