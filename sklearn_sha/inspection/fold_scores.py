"""The scores of a search on each fold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha.inspection.levels import Level, levels_of_results


def fold_scores(
    results: Mapping[str, Any], metric: str
) -> dict[tuple[int, Level], NDArray[np.float64]]:
    """Test scores on each fold, by candidate and level. NaN for folds that did not score it.

    Parameters
    ----------
    results : mapping
        ``all_cv_results_``.
    metric : str
        "score" for a single metric.

    Returns
    -------
    dict of (int, (int, int)) to ndarray of float, shape (n_folds,)
    """
    names = takewhile(results.__contains__, (f"split{k}_test_{metric}" for k in count()))
    scores = np.stack([results[name] for name in names], axis=1)
    scores = np.where(np.isfinite(scores), scores, np.nan)
    keys = zip(results["candidate"].tolist(), levels_of_results(results), strict=True)
    return dict(zip(keys, scores, strict=True))
