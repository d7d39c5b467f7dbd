"""Rungs of a search as cv_results_, all_cv_results_ and the dicts of rung_history_."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._results.columns import (
    param_columns,
    rank_candidates,
    store_splits,
    store_times,
)
from sklearn_sha._results.rung_outcome import RungOutcome, common_positions, last_rung_of
from sklearn_sha.inspection.rank_correlation import spearman

_RUNG_COLUMNS = ("bracket", "iter", "n_resources", "n_folds", "candidate", "cached")
"""Columns of all_cv_results_ that cv_results_ does not have."""


def all_cv_results(
    rungs: Sequence[RungOutcome],
    params: Sequence[dict[str, Any]],
    *,
    n_folds: int,
    has_cached: bool,
    audited: Collection[tuple[int, int]],
) -> dict[str, Any]:
    """Make ``all_cv_results_``, with one row per candidate and rung.

    Parameters
    ----------
    rungs : sequence of RungOutcome
        At least one.
    params : sequence of dict
        Parameters by candidate id.
    n_folds : int
        Number of all folds.
    has_cached : bool
        Whether there is a column ``cached``.
    audited : collection of (int, int)
        Brackets and candidates that an audit added to last rungs. There is a column ``audited`` if
        there are any.

    Returns
    -------
    dict of str to ndarray, MaskedArray or list
        GridSearchCV's columns without ranks, ``bracket``, ``iter`` (the number of the rung),
        ``n_resources`` (the total of the candidate), ``n_folds`` (that scored it), ``candidate``,
        ``cached`` and ``audited``. Scores on other folds are NaN.
    """
    results: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        store_times(results, name, [getattr(rung, name) for rung in rungs])
    ids = np.concatenate([np.array(rung.request.candidate_ids) for rung in rungs])
    for name, column in param_columns(params).items():
        results[f"param_{name}"] = column[ids]
    results["params"] = [{**params[number]} for number in ids]  # those of the search are its own
    for metric in rungs[0].test:
        scores = [(rung.folds, rung.test[metric]) for rung in rungs]
        store_splits(results, f"test_{metric}", scores, n_folds)
        if rungs[0].train:
            train_scores = [(rung.folds, rung.train[metric]) for rung in rungs]
            store_splits(results, f"train_{metric}", train_scores, n_folds)
    results["bracket"] = _repeat(rungs, [rung.request.bracket for rung in rungs])
    results["iter"] = _repeat(rungs, [rung.request.rung for rung in rungs])
    results["n_resources"] = _repeat(rungs, [rung.request.n_resources for rung in rungs])
    results["n_folds"] = _repeat(rungs, [len(rung.folds) for rung in rungs])
    results["candidate"] = ids
    if has_cached:
        results["cached"] = ~np.concatenate([rung.is_new.any(axis=1) for rung in rungs])
    if audited:
        results["audited"] = np.array(
            [
                rung.request.is_last_rung and (rung.request.bracket, candidate) in audited
                for rung in rungs
                for candidate in rung.request.candidate_ids
            ]
        )
    return results


def cv_results(
    rungs: Sequence[RungOutcome],
    all_results: Mapping[str, Any],
    metric: str,
    *,
    repeats: bool,
    audited: Mapping[tuple[int, int], int],
) -> tuple[dict[str, Any], NDArray[np.intp]]:
    """Make ``cv_results_``, with one row per candidate of the last rung of each bracket.

    Parameters
    ----------
    rungs : sequence of RungOutcome
    all_results : mapping
        Result of `all_cv_results`.
    metric : str
        Metric that promotes. Rungs without such scores are ignored if there are others.
    repeats : bool
        Whether brackets are runs over the same candidates. Then only one of them counts.
    audited : mapping of (int, int) to int
        Brackets and candidates that audits added to last rungs, with the number of the audit.

    Returns
    -------
    results : dict of str to ndarray, MaskedArray or list
        GridSearchCV's columns.
    rows : ndarray of int
        Rows of `all_results` that these are.
    """
    starts = np.cumsum([0, *(rung.size for rung in rungs)])
    last = _last_rungs(rungs, metric, repeats=repeats)
    rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in last])
    # Last, in the order of the audits: the selected candidate is another one only if it is better.
    audits = [
        audited.get((rungs[k].request.bracket, candidate), 0)
        for k in last
        for candidate in rungs[k].request.candidate_ids
    ]
    rows = rows[np.argsort(audits, kind="stable")]
    targets = _repeat(rungs, [rung.target for rung in rungs])[rows]
    levels = [
        # A candidate that failed with the same training on further folds ranks behind.
        ~_fails_later(rungs, all_results["candidate"][rows], targets, metric),
        all_results["n_resources"][rows],
        all_results["n_folds"][rows],
    ]
    results: dict[str, Any] = {}
    for name, column in all_results.items():
        if name in _RUNG_COLUMNS:
            continue
        results[name] = [column[row] for row in rows] if name == "params" else column[rows]
        if name.startswith("std_test_"):
            scored = name.removeprefix("std_")
            means = results[f"mean_{scored}"]
            results[f"rank_{scored}"] = rank_candidates(means, levels)
    return results, rows


def selected_run(rungs: Sequence[RungOutcome], metric: str) -> int:
    """Return the number of the run whose last rung ``cv_results_`` is, with budget doubling.

    Parameters
    ----------
    rungs : sequence of RungOutcome
    metric : str
        Metric that promotes.
    """
    (last,) = _last_rungs(rungs, metric, repeats=True)
    return rungs[last].request.bracket


def _last_rungs(rungs: Sequence[RungOutcome], metric: str, *, repeats: bool) -> list[int]:
    """Indices of the last complete rung of each complete bracket, or of each bracket.

    Rungs without scores are ignored if there are others. Incomplete rungs count only if no rung is
    complete, and incomplete brackets only if no bracket is.
    """
    indices = range(len(rungs))
    scored = [k for k in indices if rungs[k].has_scores(metric)] or indices
    complete = [k for k in scored if rungs[k].is_complete] or scored
    last = {rungs[k].request.bracket: k for k in complete}
    completed = {
        rung.request.bracket
        for rung in rungs
        if rung.is_complete and rung.request.is_last_rung and rung.has_scores(metric)
    }
    last = {bracket: k for bracket, k in last.items() if bracket in completed} or last
    return [max(last.values())] if repeats else [last[bracket] for bracket in sorted(last)]


def _fails_later(
    rungs: Sequence[RungOutcome],
    candidates: NDArray[np.intp],
    targets: NDArray[np.intp],
    metric: str,
) -> NDArray[np.bool_]:
    """Return which candidates are in a rung with the same training that has no scores."""
    failed = {
        (number, rung.target)
        for rung in rungs
        if not rung.has_scores(metric)
        for number in rung.request.candidate_ids
    }
    return np.array([pair in failed for pair in zip(candidates, targets, strict=True)])


def _repeat(rungs: Sequence[RungOutcome], values: Sequence[int]) -> NDArray[np.intp]:
    """Repeat one value per rung for each of its candidates."""
    return np.repeat(values, [rung.size for rung in rungs])


def rung_rows(
    rungs: Sequence[RungOutcome],
    promoted: Mapping[tuple[int, int], Sequence[int]],
    metric: str,
    *,
    n_folds_in_cost: int,
    has_brackets: bool,
) -> list[dict[str, Any]]:
    """Make the dicts of ``rung_history_``.

    Parameters
    ----------
    rungs : sequence of RungOutcome
    promoted : mapping
        Promoted candidates by bracket and rung.
    metric : str
        Metric that promotes.
    n_folds_in_cost : int
        Number of folds by which the units are divided.
    has_brackets : bool
        Whether the dicts have the key "bracket".

    Returns
    -------
    list of dict
    """
    rows = []
    units = [*accumulate(rung.units for rung in rungs)]
    for k, rung in enumerate(rungs):
        request = rung.request
        promoted_ids = list(promoted.get((request.bracket, request.rung), ()))
        rows.append(
            {
                **({"bracket": request.bracket} if has_brackets else {}),
                "iter": request.rung,
                "n_candidates": rung.size,
                "n_folds": len(rung.folds),
                "step": rung.step,
                "n_resources": request.n_resources,
                "total_cost": units[k] // n_folds_in_cost,
                "candidates": list(request.candidate_ids),
                "scores": rung.mean_scores(metric).tolist(),
                "promoted": promoted_ids,
                **_promotion(rung, promoted_ids, last_rung_of(rungs[:k], request.bracket), metric),
                "fit_time": float(np.nansum(rung.fit_time)),
                "score_time": float(np.nansum(rung.score_time)),
                "wall_time": rung.times.wall,
                "utilization": rung.times.utilization,
            }
        )
    return rows


def _promotion(
    rung: RungOutcome, promoted_ids: Sequence[int], previous: RungOutcome | None, metric: str
) -> dict[str, float | None]:
    """Best score, lowest promoted score and rank correlation with the previous rung."""
    lowest_promoted = correlation = None
    means = rung.mean_scores(metric)
    if promoted_ids:
        # Those that wait for more samples were not promoted by their score.
        by_score = [one for one in promoted_ids if one not in rung.waiting] or promoted_ids
        positions = np.searchsorted(rung.request.candidate_ids, by_score)
        lowest_promoted = float(np.fmin.reduce(means[positions]))
    if previous is not None:
        # Audited candidates of a last rung are not in the rung before it.
        in_both, before = common_positions(
            rung.request.candidate_ids, previous.request.candidate_ids
        )
        # A candidate that failed, and waited for more samples, had no rank.
        has_rank = ~previous.have_failed(metric)[before]
        if has_rank.any():
            earlier = previous.mean_scores(metric)[before]
            correlation = spearman(earlier[has_rank], means[in_both][has_rank])
    return {
        "best_score": float(np.fmax.reduce(means)),
        "cut_score": lowest_promoted,
        "rank_correlation": correlation,
    }
