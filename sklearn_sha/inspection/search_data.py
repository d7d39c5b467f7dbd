"""What the figures of a search show, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_sha._formatting import format_params, format_score, renamed, short_names
from sklearn_sha.candidates.space import params_key
from sklearn_sha.inspection.curves import Curve, curves, n_candidates_at
from sklearn_sha.inspection.importance import ParameterImportance, parameter_importance
from sklearn_sha.inspection.jitter import jitter
from sklearn_sha.inspection.levels import (
    cost_by_level,
    last_rungs,
    level_labels,
    level_of,
    level_text,
    levels_of,
    levels_of_results,
    selects_best,
)
from sklearn_sha.inspection.metric_names import metric_label
from sklearn_sha.inspection.param_points import ParamPoints, param_points
from sklearn_sha.inspection.possible_scores import PossibleScores, possible_scores
from sklearn_sha.inspection.ranking import check_has_rungs, check_metric, selected_row
from sklearn_sha.inspection.search_space import given_spaces

RUNG_WIDTH = 0.26  # of the points of a rung, to each side
_CATEGORY_WIDTH = 0.25  # of those of a category


@dataclass(frozen=True)
class SearchData:
    """What the figures of a search show.

    Attributes
    ----------
    curves : dict of int to Curve
        Mean and standard deviation of the scores of each candidate, by level: its position in
        `level_labels`.
    level_labels : list of str
        Resource of each level, with the number of folds if it varies.
    params : dict of int to dict
        Parameters of each candidate, with short names.
    points : list of ParamPoints
        Values of each searched parameter.
    cuts : list of (int, float)
        Level and lowest promoted score of each rung. Empty if another metric promoted.
    costs : list of int
        Units that were trained at each level.
    grid_cost : int
        Units of a grid search, which trains every candidate with the largest resource.
    selected : int
        The selected candidate; the best one by `metric` if the search has selected none.
    selected_level : int
        Level from which it was selected.
    metric : str
        As in ``cv_results_``.
    score_label : str
        Name of the metric for axes.
    unit : str
        What the resource counts, in the plural: "epochs", "trees", "training samples".
    cost_unit : str
        What `costs` and `grid_cost` count, as `Schedule.cost_unit`.
    training : str
        How models are trained between rungs, as `Schedule.training`.
    possible : PossibleScores or None
        Scores that eliminated candidates could have had at full resource, for ``kind="trust"``.
    importance : ParameterImportance or None
        For ``kind="importance"``.
    """

    curves: dict[int, Curve]
    level_labels: list[str]
    params: dict[int, dict[str, Any]]
    points: list[ParamPoints]
    cuts: list[tuple[int, float]]
    costs: list[int]
    grid_cost: int
    selected: int
    selected_level: int
    metric: str
    score_label: str
    unit: str
    cost_unit: str
    training: str
    possible: PossibleScores | None = None
    importance: ParameterImportance | None = None

    @property
    def n_levels(self) -> int:
        return len(self.level_labels)

    def n_at(self, level: int) -> int:
        """Number of candidates that were evaluated at a level."""
        return n_candidates_at(level, self.curves)

    def result(self, candidate: int) -> float:
        """Last score of a candidate; that of its selection if it was selected."""
        is_selected = candidate == self.selected
        return self.selected_score if is_selected else float(self.curves[candidate].scores[-1])

    def last_level(self, candidate: int) -> int:
        return int(self.curves[candidate].levels[-1])

    def drawing_order(self, candidates: Iterable[int]) -> list[int]:
        """Return candidates in the order in which they are drawn: the selected one last."""
        return sorted(candidates, key=lambda c: (c == self.selected, self.last_level(c)))

    def panel(self, points: ParamPoints) -> tuple[list[int], NDArray[np.float64]]:
        """Return the candidates that have a parameter, as they are drawn, and their places.

        Those of a category are displaced to each side of it.
        """
        place_of = dict(zip(points.candidates.tolist(), points.places, strict=True))
        candidates = self.drawing_order(place_of)
        places = np.array([place_of[candidate] for candidate in candidates])
        if points.labels is not None:
            places += _CATEGORY_WIDTH * jitter(len(places))
        return candidates, places

    def rung_points(self, level: int) -> tuple[list[int], NDArray[np.float64], NDArray[np.float64]]:
        """Return the candidates of a level, as they are drawn, their places and their scores.

        They are displaced to each side of the level, except for the selected one.
        """
        candidates = self.drawing_order(c for c, one in self.curves.items() if level in one.levels)
        places = level + RUNG_WIDTH * jitter(len(candidates))
        places[np.equal(candidates, self.selected)] = level
        scores = np.array([self.curves[candidate].score_at(level) for candidate in candidates])
        return candidates, places, scores

    def rung_lines(self, level: int, scores: NDArray[np.float64]) -> list[tuple[str, float]]:
        """Return the median of the scores of a level, and the lowest promoted ones, by name."""
        finite = scores[np.isfinite(scores)]
        lines = [("median", float(np.median(finite)))] if len(finite) else []
        return lines + [("lowest promoted score", cut) for at, cut in self.cuts if at == level]

    def level_text(self, level: int) -> str:
        """Resource of a level, with the number of folds if it varies, in one line."""
        return level_text(self.level_labels[level], self.unit, ", ")

    @property
    def cost_headline(self) -> str:
        """Title of the figure of the cost."""
        return f"{sum(self.costs) / self.grid_cost:.2g} times the cost of a grid search"

    @property
    def selected_score(self) -> float:
        """Score of the selected candidate at `selected_level`."""
        return self.curves[self.selected].score_at(self.selected_level)

    def selected_text(self) -> str:
        """Score and parameters of the selected candidate."""
        score = self.selected_score
        params = format_params(self.params[self.selected])
        return f"Selected: {self.score_label} {format_score(score)} with {params}"


def check_kind(kind: str, kinds: Iterable[str]) -> None:
    """Raise a ValueError if a kind of figure is unknown."""
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"kind={kind!r} is unknown. Choose one of {', '.join(kinds)}.")


def figure_data(search: Any, kind: str, metric: str | None, caller: str) -> SearchData:
    """Check a search, and collect what a figure of it shows.

    Parameters
    ----------
    search : SuccessiveHalvingSearchCV or HyperbandSearchCV
    kind : str
        Kind of the figure.
    metric : str or None
        None: the metric that promotes.
    caller : str
        Name of the function for messages.

    Raises
    ------
    NotFittedError
        If the search is not fitted.
    TypeError
        If the search has no rungs, such as GridSearchCV.
    ValueError
        If the search does not have the metric; or, for "trust", if the metric does not promote or
        the search did not reach its last rung.
    """
    check_has_rungs(search, caller)
    if metric is None:
        metric = search.promote_by_
    check_metric(search.all_cv_results_, metric)
    if kind == "trust" and metric != search.promote_by_:
        raise ValueError(
            f'metric={metric!r} does not promote candidates, and kind="trust" is about '
            f"{search.promote_by_!r}, which does. Leave metric=None."
        )
    is_importance = kind == "importance"
    return search_data(
        search,
        metric,
        possible=possible_scores(search, caller) if kind == "trust" else None,
        importance=parameter_importance(search, metric=metric) if is_importance else None,
    )


def search_data(
    search: Any,
    metric: str,
    possible: PossibleScores | None = None,
    importance: ParameterImportance | None = None,
) -> SearchData:
    """Collect what the figures of a fitted search show."""
    results, history = search.all_cv_results_, search.rung_history_
    schedule = search.schedule_
    at_end = last_rungs(schedule)
    levels = levels_of(history)
    position = {level: k for k, level in enumerate(levels)}
    candidates = results["candidate"].tolist()
    level_of_row = [position[level] for level in levels_of_results(results)]
    selected = selected_row(search, metric)
    params = dict(zip(candidates, results["params"], strict=True))
    names = short_names(name for own in params.values() for name in own)
    short = {c: renamed(own, names) for c, own in params.items()}
    return SearchData(
        curves=curves(
            candidates,
            level_of_row,
            results[f"mean_test_{metric}"],
            results[f"std_test_{metric}"],
        ),
        level_labels=level_labels(levels, schedule.unit),
        params=short,
        points=param_points(short, _distributions(search, names)),
        cuts=[
            (position[level_of(row)], row["cut_score"])
            for row in history
            if metric == search.promote_by_
            and row["cut_score"] is not None
            and not selects_best(row, at_end)
        ],
        costs=cost_by_level(history),
        grid_cost=len({*map(params_key, params.values())}) * schedule.full_cost,
        selected=candidates[selected],
        selected_level=level_of_row[selected],
        metric=metric,
        score_label=metric_label(metric, search.scoring, search.estimator),
        unit=schedule.unit,
        cost_unit=schedule.cost_unit,
        training=schedule.training,
        possible=possible,
        importance=importance,
    )


def _distributions(search: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Values of each parameter of the space, by short name.

    With several spaces, a distribution if there is one, or else the values of the last space.
    """
    spaces = given_spaces(search)
    items = [(names.get(name, name), values) for one in spaces for name, values in one.items()]
    return dict(sorted(items, key=lambda item: hasattr(item[1], "rvs")))
