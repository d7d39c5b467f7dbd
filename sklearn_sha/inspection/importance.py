"""Importance of parameters: the share of the variance of the scores that each one explains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sklearn_sha._formatting import html_table, short_names, text_table
from sklearn_sha.candidates.encoding import encoded, param_names
from sklearn_sha.inspection.ranking import check_has_rungs, check_metric, is_audited

_N_TREES = 64


@dataclass(frozen=True, repr=False)
class ParameterImportance:
    """Share of the variance of the ranks of candidates that each parameter explains.

    It prints as a table.

    Attributes
    ----------
    names : list of str
        Parameters that have more than one value, in decreasing order of their shares. Those of
        pipeline steps are shortened, as in figures: "C" for "svc__C", if that is unique.
    shares, stds : ndarray of float, shape (n_parameters,)
        Mean and standard deviation over the trees. NaN if all candidates of each rung have the same
        score.
    rest, rest_std : float
        The same for what no single parameter explains: interactions, and noise.
    """

    names: list[str]
    shares: NDArray[np.float64]
    stds: NDArray[np.float64]
    rest: float
    rest_std: float

    @property
    def headline(self) -> str:
        """Title of its figure."""
        if not self.names:
            return "No parameter has more than one value."
        if np.isnan(self.shares[0]):
            return "All candidates have the same score: no parameter matters."
        return f"{self.names[0]} explains {self.shares[0]:.0%} of the differences"

    def __str__(self) -> str:
        return text_table(self.columns())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.columns())

    def to_frame(self) -> Any:
        """Return a `pandas.DataFrame` with one row per parameter."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns "parameter", "share" and "std", with one more row for the rest."""
        return {
            "parameter": [*self.names, "interactions and noise"],
            "share": [*self.shares.tolist(), self.rest],
            "std": [*self.stds.tolist(), self.rest_std],
        }


def parameter_importance(
    search: Any, *, metric: str | None = None, random_state: int = 0
) -> ParameterImportance:
    """Estimate how much of the differences between candidates each parameter explains.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search.
    metric : str or None, default=None
        None: the metric that promotes.
    random_state : int, default=0
        Seed of the forest.

    Returns
    -------
    ParameterImportance

    Raises
    ------
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.
    ValueError
        If the search does not have the metric.

    Notes
    -----
    This is the functional analysis of variance of a random forest [1]_. The forest predicts the
    rank of a candidate in its bracket from its parameters. Candidates are ranked by the last rung
    that they reached, and then by their score in it, because scores at different resources are not
    comparable. Candidates that an audit added keep the rank of the rung that eliminated them.
    Candidates that `keep_initial` promotes are left out if there are several rungs.

    The share of a parameter is the variance of the mean prediction as a function of this parameter
    alone, divided by the variance of all predictions. The other parameters are averaged out over
    the values that the candidates have. The shares are computed exactly for each tree.

    With fewer than about 32 candidates the trees describe mostly noise: compare the shares with
    their standard deviations. Parameters with many values get the larger shares of the noise.

    References
    ----------
    .. [1] F. Hutter, H. Hoos and K. Leyton-Brown, "An Efficient Approach for Assessing
       Hyperparameter Importance", ICML 2014.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.inspection import parameter_importance
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": loguniform(1e-4, 1e4), "average": [False, True]},
    ...     resource="partial_fit",
    ...     max_resources=16,
    ...     n_candidates=32,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> importance = parameter_importance(search)
    >>> importance.names[0], bool(importance.shares[0] > 0.5)
    ('alpha', True)
    """
    check_has_rungs(search, "parameter_importance")
    results = search.all_cv_results_
    if metric is None:
        metric = search.promote_by_
    check_metric(results, metric)
    rows, ranks = rung_ranks(results, metric, search.schedule_.n_kept)
    candidates = [results["params"][row] for row in rows]
    columns = encoded(candidates)
    names = np.array(param_names(candidates), dtype=object)
    texts = short_names(names.tolist())  # of all, as in the other figures
    varies = np.ptp(columns, axis=0) > 0
    columns, names = columns[:, varies], names[varies]
    if not len(names) or np.ptp(ranks) == 0 or _have_equal_scores(results, metric, rows):
        unknown = np.full(len(names), np.nan)
        shown = [texts[name] for name in names]
        return ParameterImportance(shown, unknown, unknown, np.nan, np.nan)

    from sklearn.ensemble import RandomForestRegressor  # slow to import, and rarely needed

    forest = RandomForestRegressor(_N_TREES, random_state=random_state).fit(columns, ranks)
    shares = np.array([main_effects(tree.tree_, columns) for tree in forest.estimators_])
    rest = np.maximum(1 - shares.sum(axis=1), 0.0)  # rounding can make it negative
    order = np.argsort(-np.nanmean(shares, axis=0), kind="stable")
    return ParameterImportance(
        [texts[name] for name in names[order]],
        np.nanmean(shares, axis=0)[order],
        np.nanstd(shares, axis=0)[order],
        float(np.nanmean(rest)),
        float(np.nanstd(rest)),
    )


def rung_ranks(
    results: Mapping[str, Any], metric: str, n_kept: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Rank the candidates of each bracket by the last rung that they reached, and by score in it.

    Parameters
    ----------
    results : mapping
        ``all_cv_results_``.
    metric : str
    n_kept : int, default=0
        Number of first candidates to leave out if there are several rungs, and at least two
        others: they are promoted whatever their score is.

    Returns
    -------
    rows : ndarray of int
        Last row of each candidate in each bracket.
    ranks : ndarray of float
        Between 0 and 1 in each bracket; the best has the largest one. NaN is ranked last.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.inspection.importance import rung_ranks
    >>> rows, ranks = rung_ranks({
    ...     "bracket": np.zeros(4), "iter": np.array([0, 0, 0, 1]),
    ...     "candidate": np.array([0, 1, 2, 1]), "mean_test_score": np.array([0.5, 0.9, 0.8, 0.7]),
    ... }, "score")
    >>> rows.tolist(), ranks.round(2).tolist()
    ([0, 2, 3], [0.17, 0.5, 0.83])
    """
    scores = np.nan_to_num(results[f"mean_test_{metric}"], nan=-np.inf)
    last: dict[tuple[int, int], int] = {}
    is_kept = (results["candidate"] < n_kept) & (np.max(results["iter"]) > 0)
    if len({*results["candidate"][~is_kept]}) < 2:
        is_kept[:] = False
    for row in np.flatnonzero(~is_audited(results) & ~is_kept).tolist():
        last[int(results["bracket"][row]), int(results["candidate"][row])] = row
    rows = np.array(sorted(last.values()), dtype=np.intp)
    ranks = np.empty(len(rows))
    for bracket in np.unique(results["bracket"][rows]):
        own = results["bracket"][rows] == bracket
        order = np.unique(
            np.array([(results["iter"][row], scores[row]) for row in rows[own]]), axis=0,
            return_inverse=True,
        )[1].ravel()  # fmt: skip
        ranks[own] = (rankdata(order) - 0.5) / own.sum()
    return rows, ranks


def _have_equal_scores(results: Mapping[str, Any], metric: str, rows: NDArray[np.intp]) -> bool:
    """Whether the candidates of `rows` have equal scores in each rung, which decided nothing."""
    is_ranked = np.isin(results["candidate"], results["candidate"][rows])
    is_ranked &= ~is_audited(results)
    scores = results[f"mean_test_{metric}"][is_ranked]
    rungs = np.column_stack((results["bracket"], results["iter"]))[is_ranked]
    scored = np.unique(np.column_stack((rungs, scores)), axis=0)
    return len(scored) == len(np.unique(rungs, axis=0))


def main_effects(tree: Any, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the variance of a tree's predictions that each feature explains alone.

    Parameters
    ----------
    tree : sklearn.tree._tree.Tree
        Attribute ``tree_`` of a regression tree.
    columns : ndarray of float, shape (n_samples, n_features)
        Values of each feature, which are taken to be independent of the other features.

    Returns
    -------
    ndarray of float, shape (n_features,)
        NaN if the tree always predicts the same.
    """
    n_samples, n_features = columns.shape
    lower, upper, values = _leaves(tree, n_features)
    # The values in each leaf are a range of the sorted ones.
    ranges = [
        (np.searchsorted(ordered, low, side="right"), np.searchsorted(ordered, high, side="right"))
        for ordered, low, high in zip(np.sort(columns, axis=0).T, lower.T, upper.T, strict=True)
    ]
    shares = np.column_stack([stop - start for start, stop in ranges]) / n_samples
    weights = shares.prod(axis=1)
    mean = weights @ values
    variance = weights @ (values - mean) ** 2
    effects = np.empty(n_features)
    for feature, (start, stop) in enumerate(ranges):
        parts = np.delete(shares, feature, axis=1).prod(axis=1) * values
        begin, end = (np.bincount(at, parts, n_samples + 1) for at in (start, stop))
        means = np.cumsum(begin - end)[:-1]  # at each sorted value
        effects[feature] = ((means - mean) ** 2).mean()
    return effects / variance if variance > 0 else np.full(n_features, np.nan)


def _leaves(
    tree: Any, n_features: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Lower bounds (exclusive), upper bounds (inclusive) and predictions of a tree's leaves."""
    found = []
    nodes = [(0, np.full(n_features, -np.inf), np.full(n_features, np.inf))]
    while nodes:
        node, lower, upper = nodes.pop()
        left, right = tree.children_left[node], tree.children_right[node]
        if left == right:
            found.append((lower, upper, float(tree.value[node].ravel()[0])))
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        below, above = upper.copy(), lower.copy()
        below[feature], above[feature] = threshold, threshold
        nodes += [(left, lower, below), (right, above, upper)]
    lowers, uppers, values = zip(*found, strict=True)
    return np.array(lowers), np.array(uppers), np.array(values)
