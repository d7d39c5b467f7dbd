"""Edge report: whether the best value of a parameter is at the edge of its range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import ceil, floor, isfinite, sqrt
from operator import gt, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from sklearn_sha._formatting import DIGITS, format_params, html_sentences, text_sentences
from sklearn_sha._param_validation import is_int, is_real
from sklearn_sha.candidates.distributions import has_quantiles
from sklearn_sha.candidates.space import is_in
from sklearn_sha.inspection.ranking import check_has_rungs, is_audited, selected_row
from sklearn_sha.inspection.search_space import given_spaces

_EDGE = 0.05  # share of a range that is its edge
_MAX_P_VALUE = 0.1
_MIN_COMPARED = 4
_N_FINALISTS, _FINALISTS_EDGE = 3, 0.2
_MAX_FACTOR = 10


@dataclass(frozen=True)
class Edge:
    """A parameter whose best value is at the edge of its range.

    It prints as a sentence.

    Attributes
    ----------
    name : str
    value : float
        Best value.
    lower, upper : float
        Range that was searched, including candidates beyond that of the search space.
    is_upper : bool
        Whether it is the upper edge.
    bound : float
        Suggested new bound. It extends a linear range by half of its width, and a logarithmic one
        by half of its width on the logarithmic scale, but at most by a factor of 10. An integer if
        all candidates have integers; positive if these are.
    """

    name: str
    value: float
    lower: float
    upper: float
    is_upper: bool
    bound: float

    def __str__(self) -> str:
        old, side, verb, change = self.lower, "lower", "Lower", "divided"
        if self.is_upper:
            old, side, verb, change = self.upper, "upper", "Raise", "multiplied"
        factor = ""
        if old > 0:
            ratio = f"{self.bound / old if self.is_upper else old / self.bound:.3g}"
            factor = "" if ratio == "1" else f" ({change} by {ratio})"
        return (
            f"The best value, {format_params({self.name: self.value})}, is at the {side} edge of "
            f"its range, {self.lower:.4g} to {self.upper:.4g}. {verb} the {side} bound to "
            f"{self._bound_text(old)}{factor} if such values are valid."
        )

    def _bound_text(self, old: float) -> str:
        """Return the new bound with as many digits as it takes to be beyond the old one."""
        if isinstance(self.bound, int):
            return str(self.bound)
        texts = (f"{self.bound:.{digits}g}" for digits in DIGITS)
        is_beyond = gt if self.is_upper else lt
        return next((text for text in texts if is_beyond(float(text), old)), str(self.bound))


@dataclass(frozen=True, repr=False)
class EdgeReport:
    """Parameters whose best values are at the edges of their ranges.

    It prints as one sentence per parameter.

    Attributes
    ----------
    edges : tuple of Edge
        In the order of the search space.
    is_known : bool, default=True
        Whether the ranges are known: those of the dict of the search space that has the best
        candidate, if it is a single one.
    """

    edges: tuple[Edge, ...]
    is_known: bool = True

    def __str__(self) -> str:
        return text_sentences(self._sentences())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_sentences(self._sentences())

    def _sentences(self) -> list[str]:
        if not self.is_known:
            return [
                "The ranges of the best values are not known, since the best candidate is in no "
                "dict of the search space, or in several."
            ]
        return [*map(str, self.edges)] or [
            "No best value is at an edge towards which the scores rise."
        ]


def edge_report(search: Any) -> EdgeReport:
    """Report which best values of a fitted search are at the edge of their range.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
        Fitted search.

    Returns
    -------
    EdgeReport

    Raises
    ------
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.

    Notes
    -----
    A parameter is reported if

    - the value of the best candidate is in the outer 5 % (in the outer 1/(n + 1) with n < 19
      candidates) of a bounded distribution or of a list, of at least three numbers, or beyond the
      range, and no candidate is further beyond this edge; and
    - if it is the only parameter, no candidate closer to this edge was trained with the same
      resource on the same number of folds; and
    - values closer to this edge were better: over the candidates in this half of the range, the
      rank correlation between the value and the result is positive, with a p-value of at most 0.1.
      Candidates are ranked by the furthest rung that they reached, and then by their score in it.
      Results of an audit are left out, and so are candidates that `keep_initial` promotes. The
      candidates are the four nearest to the edge if fewer are in this half; or
    - instead, with more than four candidates, the best three, and those equal to the third, are in
      the fifth of the range next to the edge.

    So a parameter without influence, or one that no longer matters towards the edge, is rarely
    reported.

    A lower bound of 0 is not reported, since it is usually the natural one. Parameters with values
    that are not numbers are left out. If no dict of the search space has the best candidate, for
    example since `extend` added it from another space, or if several have it, the range is not
    known, and nothing is reported.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> from sklearn_sha.inspection import edge_report
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5]}, cv=3
    ... )
    >>> edge_report(search.fit(X, y))
    The best value, max_depth=5, is at the upper edge of its range, 1 to 5. Raise the upper bound
    to 7 (multiplied by 1.4) if such values are valid.
    """
    check_has_rungs(search, "edge_report")
    results = search.all_cv_results_
    row, metric = selected_row(search, search.promote_by_), search.promote_by_
    best = results["params"][row]
    matching = [space for space in given_spaces(search) if space.keys() == best.keys()]
    n_kept = search.schedule_.n_kept
    candidates = _with_ranks(results, metric, n_kept)
    candidates = [one for one in candidates if one[0].keys() == best.keys()]
    kept = [*compress(results["params"], results["candidate"] < n_kept)]
    kept = [params for params in kept if params.keys() == best.keys()]
    if len(matching) > 1:  # such as families of estimators with the same names of parameters
        matching = [space for space in matching if is_in(space, best)]
        candidates = [one for one in candidates if is_in(matching, one[0])]
        kept = [params for params in kept if is_in(matching, params)]
    if np.isnan(results[f"mean_test_{metric}"][row]):
        return EdgeReport(())
    if len(matching) != 1:
        return EdgeReport((), is_known=False)
    (space,) = matching
    is_level = results["n_resources"] == results["n_resources"][row]
    is_level &= results["n_folds"] == results["n_folds"][row]
    rivals = [
        params
        for params in compress(results["params"], is_level)
        if len(best) == 1 and params.keys() == best.keys()
    ]
    edges = (
        _edge(name, values, best[name], candidates, rivals, kept) for name, values in space.items()
    )
    return EdgeReport(tuple(edge for edge in edges if edge is not None))


def _with_ranks(
    results: Mapping[str, Any], metric: str, n_kept: int
) -> list[tuple[dict[str, Any], int]]:
    """Parameters of all candidates, and their ranks by the furthest rung and the score in it.

    The worst candidate has rank 0, and equal ones have equal ranks. Those that are kept whatever
    their score is (the first `n_kept`) are left out, and so are the results of an audit: those of
    the other eliminated candidates are unknown.
    """
    scores = np.nan_to_num(results[f"mean_test_{metric}"], nan=-np.inf)
    levels = np.column_stack((results["n_resources"], results["n_folds"], scores))
    rows = np.flatnonzero(~is_audited(results))
    rows = rows[np.lexsort(levels[rows].T[::-1])]
    furthest = {int(results["candidate"][row]): int(row) for row in rows}
    ranked = [row for candidate, row in furthest.items() if candidate >= n_kept]
    if not ranked:
        return []
    ranks = np.unique(levels[ranked], axis=0, return_inverse=True)[1].ravel()
    return [(results["params"][row], int(rank)) for row, rank in zip(ranked, ranks, strict=True)]


def _edge(
    name: str,
    values: Any,
    value: Any,
    candidates: Sequence[tuple[Mapping[str, Any], int]],
    rivals: Sequence[Mapping[str, Any]],
    kept: Sequence[Mapping[str, Any]] = (),
) -> Edge | None:
    """Return the edge of a range at which the best value is; None if there is none.

    `rivals` are the candidates at the same resource, if they differ in this parameter only, and
    `kept` are those without a rank.
    """
    scale = _Scale.of(values)
    if scale is None or not _is_number(value):
        return None
    ranked = [(p[name], rank) for p, rank in candidates if _is_number(p[name])]
    tried = [*(other for other, _ in ranked), *(p[name] for p in kept if _is_number(p[name]))]
    zone = max(_EDGE, 1 / (len(candidates) + 1))
    position = scale.position(value)
    # Initial candidates and those of another space can be beyond the range.
    lower, upper = min(scale.lower, value, *tried), max(scale.upper, value, *tried)
    is_upper = position >= 1 - zone and (value == upper or upper == scale.upper)
    is_lower = position <= zone and (value == lower or lower == scale.lower)
    if (
        is_upper == is_lower
        or scale.is_natural(is_upper)
        or (is_lower and value <= 0 < scale.lower)
    ):
        return None
    is_beyond = gt if is_upper else lt
    if any(is_beyond(p[name], value) for p in rivals if _is_number(p[name])):
        return None
    positions = np.array([scale.position(other) for other, _ in ranked])
    ranks = np.array([rank for _, rank in ranked])
    if not _improves(positions if is_upper else 1 - positions, ranks):
        return None
    bound = scale.widened(value, is_upper)
    if not isfinite(bound):
        return None
    if all(map(is_int, (value, *tried))):
        bound = ceil(bound) if is_upper else floor(bound)
        if lower > 0:
            bound = max(1, bound)
        if not is_upper and bound >= lower:  # there is no smaller positive integer
            return None
    return Edge(name, value, lower, upper, is_upper, bound)


def _is_number(value: Any) -> bool:
    return is_real(value) and bool(value == value)  # not NaN; integers can be beyond floats


def _improves(positions: NDArray[np.float64], ranks: NDArray[np.intp]) -> bool:
    """Return whether candidates are better towards position 1."""
    if len(positions) > _MIN_COMPARED:
        finalists = positions[ranks >= np.sort(ranks)[-_N_FINALISTS]]
        if np.all(finalists >= 1 - _FINALISTS_EDGE):
            return True
    nearest = np.sort(positions)[::-1][:_MIN_COMPARED]
    if len(nearest) < 2:
        return False
    is_near = positions >= min(0.5, nearest[-1])
    near, results = positions[is_near], ranks[is_near]
    if np.ptp(near) == 0 or np.ptp(results) == 0:
        return False
    return bool(spearmanr(near, results, alternative="greater").pvalue <= _MAX_P_VALUE)


@dataclass(frozen=True)
class _Scale:
    """Range of the numbers of a parameter: sorted values of a list, or a distribution."""

    lower: float
    upper: float
    median: float
    values: Any

    @classmethod
    def of(cls, values: Any) -> _Scale | None:
        """Return the range; None if it has none, or values that are not numbers."""
        if not hasattr(values, "rvs"):
            if isinstance(values, range):
                # It can be long. Its values have equal distances, so that its ends are enough.
                has_range, values = len(values) >= 3, [*values[:1], *values[-1:]]
            else:
                has_range = all(map(_is_number, values)) and len({*values}) >= 3
            if not has_range:
                return None
            try:
                numbers = sorted({*map(float, values)})  # integers of NumPy can overflow
            except OverflowError:
                return None
            return cls(numbers[0], numbers[-1], float(np.median(numbers)), numbers)
        if not all(hasattr(values, name) for name in ("cdf", "support", "median")):
            return None
        if not has_quantiles(values):
            return None
        lower, upper = map(float, values.support())
        if hasattr(values, "pmf") and upper - lower < 2:  # fewer than three numbers
            return None
        return cls(lower, upper, float(values.median()), values)

    def position(self, value: float) -> float:
        """Return where a value is, from 0 to 1."""
        if isinstance(self.values, list):
            return float(np.interp(value, self.values, np.linspace(0, 1, len(self.values))))
        below = float(self.values.cdf(value))
        if not hasattr(self.values, "pmf"):
            return below
        # The first and the last number are at 0 and 1, as those of a list.
        first, own, last = (
            float(self.values.pmf(number)) / 2 if isfinite(number) else 0.0
            for number in (self.lower, value, self.upper)
        )
        return float(np.clip((below - own - first) / (1 - first - last), 0, 1))

    def is_natural(self, is_upper: bool) -> bool:
        """Return whether an edge has no bound, or the lower bound 0."""
        return not isfinite(self.upper) if is_upper else self.lower == 0 or not isfinite(self.lower)

    def widened(self, value: float, is_upper: bool) -> float:
        """Return a new bound beyond an edge, and beyond the best value."""
        low, high = self.lower, self.upper
        if low > 0 and isfinite(high) and self.median <= (sqrt(low * high) + (low + high) / 2) / 2:
            factor = min(_MAX_FACTOR, sqrt(high / low))
            return max(high, value) * factor if is_upper else min(low, value) / factor
        width = (high - low if isfinite(high - low) else abs(value)) / 2
        if is_upper:
            return max(high, value) + width
        below = min(low, value)
        return below / 2 if 0 < below <= width else below - width
