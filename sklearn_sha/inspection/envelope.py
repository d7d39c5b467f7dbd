"""The envelope of Jamieson and Talwalkar, measured from the scores of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = Mapping[str, Any]


def envelope(
    results: Mapping[str, Any] | Sequence[Row], metric: str = "score"
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The empirical gamma of a search: how far scores were from the last ones seen.

    Parameters
    ----------
    results : dict or list of dict
        ``all_cv_results_`` or ``rung_history_`` of a search of this library.
    metric : str, default="score"
        Of ``all_cv_results_``; ``rung_history_`` has the one that promoted.

    Returns
    -------
    n_resources : ndarray of int, shape (n,)
        The resources, rising, at which candidates stood that later had more.
    gamma : ndarray of float, shape (n,)
        The largest distance at this resource or a larger one, over those candidates, of the
        mean test score from the candidate's last. What was dropped at once says nothing.

    Examples
    --------
    >>> from sklearn_sha.inspection import envelope
    >>> rungs = [
    ...     {"resource": 1, "candidates": [0, 1, 2], "scores": [0.5, 0.25, 0.0]},
    ...     {"resource": 2, "candidates": [0, 1], "scores": [0.75, 0.5]},
    ...     {"resource": 4, "candidates": [0], "scores": [1.0]},
    ... ]
    >>> resources, gamma = envelope(rungs)
    >>> resources.tolist(), gamma.tolist()
    ([1, 2], [0.5, 0.25])
    """
    if isinstance(results, Mapping):
        if "candidate" not in results:
            raise TypeError(
                "envelope needs all_cv_results_ or rung_history_; cv_results_ has only the last "
                "rung."
            )
        candidates = np.asarray(results["candidate"])
        resources = np.asarray(results["n_resources"])
        scores = np.asarray(results[f"mean_test_{metric}"], dtype=float)
    else:
        candidates = np.concatenate([row["candidates"] for row in results])
        resources = np.repeat([row["resource"] for row in results], _sizes(results))
        scores = np.concatenate([row["scores"] for row in results])
    order = np.argsort(resources, kind="stable")
    last_score = dict(zip(candidates[order].tolist(), scores[order].tolist(), strict=True))
    last_resource = dict(zip(candidates[order].tolist(), resources[order].tolist(), strict=True))
    went_on = np.array([last_resource[c] for c in candidates.tolist()]) > resources
    distance = np.abs(scores - np.array([last_score[c] for c in candidates.tolist()]))
    at = np.unique(resources[went_on])
    largest = np.array([np.fmax.reduce(distance[went_on & (resources == r)]) for r in at])
    return at, np.fmax.accumulate(largest[::-1])[::-1]


def _sizes(history: Sequence[Row]) -> list[int]:
    return [len(row["candidates"]) for row in history]
