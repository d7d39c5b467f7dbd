"""Attributes that a search sets after its rungs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha._results.results import Results
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.inspection.ranking import best_index
from sklearn_sha.schedules import rung_sizes


def result_attributes(results: Results) -> dict[str, Any]:
    """Return the tables of a search; an empty dict if no rung has results."""
    if not results.n_rungs:
        return {}
    all_cv_results = results.all_cv_results()
    cv_results, rows = results.cv_results(all_cv_results)
    return {
        "all_cv_results_": all_cv_results,
        "cv_results_": cv_results,
        "cv_results_rows_": rows.tolist(),
        "rung_history_": results.rung_history(),
        "failures_": results.failures,
    }


def rung_attributes(
    rung_history: Sequence[Mapping[str, Any]],
    factor: float,
    audited: Collection[tuple[int, int]],
) -> dict[str, Any]:
    """Return the attributes of HalvingGridSearchCV that describe the rungs.

    Parameters
    ----------
    rung_history : sequence of dict
    factor : float
    audited : collection of (int, int)
        Brackets and candidates that an audit added to last rungs.

    Returns
    -------
    dict of str to object
    """
    n_resources = [row["n_resources"] for row in rung_history]
    # The first bracket ends with the fewest candidates, and that of Hyperband has the most rungs.
    first_bracket = rung_history[0].get("bracket")
    (*_, last) = [row for row in rung_history if row.get("bracket") == first_bracket]
    added = {number for bracket, number in audited if first_bracket in (None, bracket)}
    n_last = len({*last["candidates"]} - added)
    return {
        "n_resources_": n_resources,
        "n_candidates_": [row["n_candidates"] for row in rung_history],
        "n_iterations_": len(rung_history),
        "min_resources_": min(n_resources),
        "max_resources_": max(n_resources),
        "n_remaining_candidates_": [*rung_sizes(n_last, factor), 1][1],
    }


def spec_attributes(spec: SearchSpec) -> dict[str, Any]:
    """Return the attributes that are known before the search."""
    return {
        "resource_": spec.resource.name,
        "schedule_": spec.schedule,
        "n_splits_": len(spec.folds),
        "scorer_": spec.scoring.scorers,
    }


def best_attributes(
    cv_results: Mapping[str, Any],
    all_cv_results: Mapping[str, Any],
    rows: Sequence[int],
    *,
    refit: Any,
    multimetric: bool,
) -> dict[str, Any]:
    """Return the attributes of the best candidate, if `refit` selects one.

    Parameters
    ----------
    cv_results, all_cv_results : dict
    rows : sequence of int
        Rows of `all_cv_results` that `cv_results` consists of.
    refit : bool, str or callable
    multimetric : bool

    Returns
    -------
    dict
        Without ``best_score_`` if `refit` is a callable, as in GridSearchCV.

    Raises
    ------
    TypeError, IndexError
        If `refit` returns no valid index.
    """
    if not refit and multimetric:
        return {}
    best: dict[str, Any] = {}
    if callable(refit):
        index = refit(cv_results)
        if not isinstance(index, int | np.integer):
            raise TypeError("best_index_ returned is not an integer")
        if not 0 <= index < len(cv_results["params"]):
            raise IndexError(
                f"best_index_ index out of range: refit returned {index}, and cv_results_ has "
                f"{quantity(len(cv_results['params']), 'candidates')}. Let refit choose from the "
                "cv_results_ that it receives."
            )
    else:
        metric = refit if multimetric else "score"
        index = best_index(cv_results, metric)
        best["best_score_"] = cv_results[f"mean_test_{metric}"][index]
    row = rows[index]
    return {
        **best,
        "best_index_": index,
        "best_candidate_": int(all_cv_results["candidate"][row]),
        "best_n_resources_": int(all_cv_results["n_resources"][row]),
        "best_params_": dict(cv_results["params"][index]),
    }
