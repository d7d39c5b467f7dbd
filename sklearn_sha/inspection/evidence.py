"""What a search knows of its eliminated candidates, collected from its attributes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from sklearn_sha._compat import metric_of
from sklearn_sha._param_validation import is_estimator
from sklearn_sha.candidates.space import params_key
from sklearn_sha.inspection.fold_scores import fold_scores
from sklearn_sha.inspection.highest_score import highest_score
from sklearn_sha.inspection.levels import (
    Level,
    RungRecord,
    has_score,
    is_at_end,
    last_rungs,
    level_of,
    levels_of_results,
    rungs_by_bracket,
    selects_best,
)
from sklearn_sha.inspection.ranking import check_has_rungs, is_audited, selected_row
from sklearn_sha.inspection.risk import Eliminated, RungScores
from sklearn_sha.inspection.search_state import is_interrupted
from sklearn_sha.schedules import Rung

NOT_REACHED = (
    "The last rung was not reached, so that eliminated candidates cannot be compared with the best "
    "one at full resource. If the search was interrupted, call resume in the process of fit."
)
LAST_RUNG_FAILED = (
    "No candidate of the last rung has a score, so that eliminated candidates cannot be compared "
    "with the best one at full resource. See failures_, and fix the scorer or the fits."
)
JOINED_LATER = (
    "Some candidates of the last rung were not in all rungs before it, so that eliminated "
    "candidates cannot be compared with them."
)
NOT_SCORED = (
    "All scores of the selected candidate failed or are non-finite, so that eliminated candidates "
    "cannot be compared with it. See failures_, and fix the scorer or the fits. If error_score is "
    "a number, it has to be lower than all scores."
)


@dataclass(frozen=True)
class AuditedCandidate:
    """An eliminated candidate that an audit trained to full resource.

    Attributes
    ----------
    candidate : int
    rung : dict
        The rung that eliminated it.
    score : float
        At full resource.
    """

    candidate: int
    rung: RungRecord
    score: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a fitted search knows of its eliminated candidates.

    Attributes
    ----------
    brackets : list of list of dict
        Rungs of each bracket; with budget doubling, those of the last completed run.
    folds : dict of (int, (int, int)) to ndarray
        Test scores on each fold, by candidate and level. NaN if there is no score, also if a
        numeric `error_score` replaces it.
    failed : set of (int, (int, int))
        Candidates and levels whose mean score contains a numeric `error_score`.
    selected : int
        The selected candidate.
    final_scores : ndarray of shape (n_folds,)
        Its scores at full resource.
    known : Eliminated
    audited : list of AuditedCandidate
        In decreasing order of their scores.
    unscored : list of int
        Candidates that were eliminated without a finite score.
    problem : str
        Why eliminated candidates cannot be compared with the selected one, or "".
    """

    brackets: list[list[RungRecord]]
    folds: dict[tuple[int, Level], NDArray[np.float64]]
    failed: set[tuple[int, Level]]
    selected: int
    final_scores: NDArray[np.float64]
    known: Eliminated
    audited: list[AuditedCandidate]
    unscored: list[int]
    problem: str

    def eliminating_rungs(self) -> list[RungRecord]:
        """Return the rung that eliminated each candidate of `known`."""
        pairs = zip(self.known.bracket, self.known.rung, strict=True)
        return [self.brackets[bracket][rung] for bracket, rung in pairs]


def evidence_of(search: Any, caller: str) -> Evidence:
    """Collect what a search knows of its eliminated candidates.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
    caller : str
        Name of the function for messages.

    Returns
    -------
    Evidence

    Raises
    ------
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.
    ValueError
        If no rung was completed.
    """
    check_has_rungs(search, caller)
    history = [row for row in search.rung_history_ if row["promoted"]]
    if not history:
        raise ValueError(
            f"{caller} requires a search with at least one completed rung. Raise max_time, or "
            "call resume in the process of fit to complete the search."
        )
    metric, results = search.promote_by_, search.all_cv_results_
    folds = fold_scores(results, metric)
    failed = _replace_failed(folds, search)
    row = selected_row(search, metric)
    selected = int(results["candidate"][row])
    final = folds[selected, levels_of_results(results)[row]]
    at_end = last_rungs(search.schedule_)

    def is_last(row: RungRecord) -> bool:
        return selects_best(row, at_end) and has_score(row)

    brackets = _brackets(history, results, is_last, repeats=search.schedule_.repeats)
    audited_ids = _audited_ids(brackets, results)
    counts_folds = search.schedule_.counts_folds
    known = Eliminated.of(
        [[_rung_scores(row, folds, counts_folds) for row in rows] for rows in brackets],
        selected,
        final,
        continues=search.schedule_.continues and not counts_folds,
        estimators=_has_several_estimators(results["params"]),
        roc_auc=_is_roc_auc(search),
        highest_score=highest_score(metric, search.scoring, search.estimator),
        audited=audited_ids,
        known_at_full=_repeated(brackets, results),
    )
    problem = ""
    if not np.isfinite(final).any():
        problem = NOT_SCORED
    elif not all(map(is_last, (rows[-1] for rows in brackets))):
        has_failed = _has_failed_end(search, at_end, failed)
        problem = LAST_RUNG_FAILED if has_failed else NOT_REACHED
    elif not all(_began_together(rows, audited_ids) for rows in brackets):
        problem = JOINED_LATER
    audited = _audited(brackets, audited_ids, selected)
    unscored = _unscored(brackets, folds)
    return Evidence(brackets, folds, failed, selected, final, known, audited, unscored, problem)


def _has_failed_end(
    search: Any, at_end: Sequence[Rung], failed: Collection[tuple[int, Level]]
) -> bool:
    """Whether all candidates of a last rung were evaluated, and none has a score.

    It can be one before that of the schedule, if none of its candidates could be promoted.
    """
    is_stopped = is_interrupted(search)
    planned = {rung.bracket: rung.n_candidates for rung in at_end}
    brackets = rungs_by_bracket(search.rung_history_, search.all_cv_results_)
    for bracket, (*before, last) in brackets.items():
        if not is_at_end(last, at_end):
            if not is_stopped and _lacks_scores(last, failed):
                return True
            continue
        n_expected = planned.get(bracket, 0)
        if before and search.target_score is None:  # `stop` ends with fewer than planned
            n_expected = min(n_expected, len(before[-1]["promoted"]))
        is_whole = not is_stopped or len(last["candidates"]) >= n_expected
        # In a rung that was not interrupted, failed candidates leave none to select.
        if is_whole and not (has_score(last) and (last["promoted"] or is_stopped)):
            return True
    return False


def _lacks_scores(row: RungRecord, failed: Collection[tuple[int, Level]]) -> bool:
    """Whether a rung has promoted none, and its candidates have no scores but `error_score`."""
    level = level_of(row)
    has_none = all(np.isnan(score) or (c, level) in failed for c, score in scores_of(row).items())
    return has_none and not row["promoted"]


def _began_together(rows: Sequence[RungRecord], audited: Collection[int]) -> bool:
    """Whether the candidates of a last rung, but for audited ones, were in all rungs before it."""
    finalists = {*rows[-1]["candidates"]} - {*audited}
    return all(finalists <= {*row["candidates"]} for row in rows)


def _unscored(
    brackets: Sequence[Sequence[RungRecord]], folds: Mapping[tuple[int, Level], NDArray[np.float64]]
) -> list[int]:
    """Candidates that were eliminated without a finite score.

    Those of brackets that all failed, which are not among `brackets`, were eliminated too.
    """
    at_end = {candidate for *_, last in brackets for candidate in last["candidates"]}
    furthest = dict(sorted(folds))  # the highest level of each candidate comes last
    return [
        candidate
        for candidate, level in furthest.items()
        if candidate not in at_end and not np.isfinite(folds[candidate, level]).any()
    ]


def _repeated(brackets: Sequence[Sequence[RungRecord]], results: Mapping[str, Any]) -> set[int]:
    """Candidates whose parameters another candidate has, at full resource or later eliminated.

    Brackets of Hyperband can share the combinations of a grid.
    """
    pairs = zip(results["candidate"].tolist(), results["params"], strict=True)
    params = {candidate: params_key(values) for candidate, values in pairs}
    if len({*params.values()}) == len(params):
        return set()
    reached = [
        ((row is rows[-1], row["n_resources"]), candidate)
        for rows in brackets
        for row in rows
        for candidate in row["candidates"]
    ]
    furthest: dict[Hashable, int] = {}  # of candidates that reached the same, the first one
    for _, candidate in sorted(reached, key=itemgetter(0), reverse=True):
        furthest.setdefault(params[candidate], candidate)
    return {*params}.difference(furthest.values())


def _has_several_estimators(params: Sequence[Mapping[str, Any]]) -> bool:
    """Whether candidates differ in the class of an estimator, such as a step of a pipeline."""
    return len({frozenset(chain(*map(_predictors, one.values()))) for one in params}) > 1


def _predictors(value: Any) -> Iterator[type]:
    """Yield the classes of the estimators in the value of a parameter that predict."""
    if is_estimator(value):
        for part in (value, *value.get_params().values()):
            if hasattr(part, "predict"):
                yield type(part)


def _is_roc_auc(search: Any) -> bool:
    """Whether candidates are promoted by the area under the ROC curve."""
    is_one_of_several = isinstance(search.scorer_, Mapping)
    scorer = search.scorer_[search.promote_by_] if is_one_of_several else search.scorer_
    return metric_of(scorer) is roc_auc_score


def _audited_ids(brackets: Sequence[Sequence[RungRecord]], results: Mapping[str, Any]) -> set[int]:
    """Candidates that an audit added to the last rungs of these brackets."""
    levels, rows = levels_of_results(results), np.flatnonzero(is_audited(results))
    audited = {(int(results["candidate"][row]), levels[row]) for row in rows}
    ends = [rows[-1] for rows in brackets]
    return {c for row in ends for c in row["candidates"] if (c, level_of(row)) in audited}


def _audited(
    brackets: Sequence[Sequence[RungRecord]], ids: Collection[int], selected: int
) -> list[AuditedCandidate]:
    """Audited candidates, the best first. The selected one is before those that are as good."""

    def order(one: AuditedCandidate) -> tuple[float, bool]:
        return -np.nan_to_num(one.score, nan=-np.inf), one.candidate != selected

    found = [
        AuditedCandidate(
            candidate,
            next(row for row in reversed(before) if candidate in row["candidates"]),
            score,
        )
        for *before, last in brackets
        for candidate, score in scores_of(last).items()
        if candidate in ids
    ]
    return sorted(found, key=order)


def _rung_scores(
    row: RungRecord, folds: Mapping[tuple[int, Level], NDArray[np.float64]], counts_folds: bool
) -> RungScores:
    """Scores of a rung on each fold.

    With folds as the resource, all models have full resource, and folds are missing.
    """
    scores = np.stack([folds[candidate, level_of(row)] for candidate in row["candidates"]])
    return RungScores(row["candidates"], 1 if counts_folds else row["n_resources"], scores)


def scores_of(row: RungRecord) -> dict[int, float]:
    """Mean test scores of a rung by candidate; NaN if they are not finite."""
    scores = np.asarray(row["scores"], dtype=float)
    return dict(
        zip(row["candidates"], np.where(np.isfinite(scores), scores, np.nan).tolist(), strict=True)
    )


def _replace_failed(
    folds: Mapping[tuple[int, Level], NDArray[np.float64]], search: Any
) -> set[tuple[int, Level]]:
    """Replace scores that are `error_score`, a number, of failed fits and scores by NaN.

    Returns
    -------
    set of (int, (int, int))
        Candidates and levels at which a score was replaced.
    """
    # With folds as the resource, later rungs have the scores of earlier ones.
    counts_folds = search.schedule_.counts_folds
    failed = {
        (row["candidate"], row["split"], 0 if counts_folds else row["n_resources"])
        for row in search.failures_
    }
    replaced: set[tuple[int, Level]] = set()
    if not failed:  # as with "raise", which is no score to compare with
        return replaced
    for (candidate, level), scores in folds.items():
        for split in np.flatnonzero(scores == search.error_score).tolist():
            if (candidate, split, 0 if counts_folds else level[0]) in failed:
                scores[split] = np.nan
                replaced.add((candidate, level))
    return replaced


def _brackets(
    history: Sequence[RungRecord],
    results: Mapping[str, Any],
    is_last: Callable[[RungRecord], bool],
    *,
    repeats: bool,
) -> list[list[RungRecord]]:
    """Rungs of each completed bracket; with budget doubling, of the last completed run.

    If none is completed, those of each bracket, or of the last run. A bracket all of whose
    candidates have failed is not completed.
    """
    brackets = [*rungs_by_bracket(history, results).values()]
    brackets = [rows for rows in brackets if is_last(rows[-1])] or brackets
    return brackets[-1:] if repeats else brackets
