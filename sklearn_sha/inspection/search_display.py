"""Figures of a search, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._formatting import quantity
from sklearn_sha._param_validation import check_has_rungs
from sklearn_sha.inspection.curves import (
    Curve,
    ParamPoints,
    cost_by_resource,
    curves,
    param_points,
    visible_range,
)
from sklearn_sha.inspection.possible_scores import PossibleScores, possible_scores
from sklearn_sha.inspection.ranking import selected_row

_KINDS = ("curves", "rungs", "params", "cost", "trust")
_ELIMINATED_COLOR, _FINAL_COLOR, _BEST_COLOR = "0.6", "tab:blue", "tab:orange"
_RISKY_COLOR = "tab:purple"
_MAX_COLUMNS = 3
_MAX_HORIZONTAL = 32  # characters of labels that fit horizontally below a panel


class SearchDisplay:
    """Figures of a fitted search.

    Use `from_search` to create it.

    Parameters
    ----------
    curves : dict of int to Curve
        Mean and standard deviation of the scores of each candidate, by resource.
    params : list of ParamPoints
        Values of each searched parameter.
    cuts : list of (int, float)
        Resource and lowest promoted score of each rung. Empty if another metric promoted.
    units : dict of int to int
        Units that were trained at each resource.
    grid_cost : int
        Units of a grid search, which trains every candidate with the largest resource.
    winner : int
        The best candidate.
    metric : str
        Name of the metric.
    unit : str, default="units"
        What the resource counts, in the plural: "epochs", "trees", "training samples".
    cost_unit : str, default="units per fold"
        What `units` and `grid_cost` count, as `Schedule.cost_unit`.
    training : str, default=""
        How models are trained between rungs, as `Schedule.training`. Shown below the resource
        axis.
    possible : PossibleScores or None, default=None
        Scores that eliminated candidates could have had at full resource, for ``kind="trust"``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the figure. With ``kind="params"`` the first panel.
    axes_ : ndarray of matplotlib Axes
        All axes.
    figure_ : matplotlib Figure
        Figure that contains them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
    ...     resource="partial_fit",
    ...     max_resources=8,
    ... ).fit(X, y)
    >>> SearchDisplay.from_search(search, kind="cost").ax_.get_xlabel()
    'epochs over all folds'
    """

    def __init__(
        self,
        *,
        curves: dict[int, Curve],
        params: list[ParamPoints],
        cuts: Sequence[tuple[int, float]],
        units: dict[int, int],
        grid_cost: int,
        winner: int,
        metric: str,
        unit: str = "units",
        cost_unit: str = "units per fold",
        training: str = "",
        possible: PossibleScores | None = None,
    ) -> None:
        self.curves = curves
        self.params = params
        self.cuts = cuts
        self.units = units
        self.grid_cost = grid_cost
        self.winner = winner
        self.metric = metric
        self.unit = unit
        self.cost_unit = cost_unit
        self.training = training
        self.possible = possible

    @classmethod
    def from_search(
        cls, search: Any, *, kind: str = "curves", metric: str | None = None, ax: Any = None,
        spread: bool = False,
    ) -> Self:  # fmt: skip
        """Create a display from a fitted search and plot it.

        Parameters
        ----------
        search : SuccessiveHalvingSearchCV or HyperbandSearchCV
            Fitted search.
        kind, ax, spread
            As in `plot`.
        metric : str or None, default=None
            Metric to show. None: the metric that promotes.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        NotFittedError
            If the search is not fitted.
        TypeError
            If the search has no rungs, such as GridSearchCV.
        ValueError
            If the search does not have the metric; if `kind` is unknown; or, for "trust", if the
            metric does not promote or the search did not reach its last rung.
        """
        check_has_rungs(search, "SearchDisplay")
        check_is_fitted(search, "schedule_")
        results = search.all_cv_results_
        if metric is None:
            metric = search.promote_by_
        if f"mean_test_{metric}" not in results:
            known = [name[10:] for name in results if name.startswith("mean_test_")]
            raise ValueError(
                f"metric={metric!r} is none of the metrics {known}. Choose one of them."
            )
        if kind == "trust" and metric != search.promote_by_:
            raise ValueError(
                f'metric={metric!r} does not promote candidates, and kind="trust" is about '
                f"{search.promote_by_!r}, which does. Leave metric=None."
            )
        candidates = results["candidate"]
        display = cls(
            curves=curves(
                candidates,
                results["n_resources"],
                results[f"mean_test_{metric}"],
                results[f"std_test_{metric}"],
            ),
            params=param_points(dict(zip(candidates.tolist(), results["params"], strict=True))),
            cuts=[
                (row["resource"], row["cut_score"])
                for row in search.rung_history_
                if metric == search.promote_by_ and row["cut_score"] is not None
            ],
            units=dict(sorted(cost_by_resource(search.rung_history_).items())),
            grid_cost=search.schedule_.grid_cost,
            winner=int(candidates[selected_row(search, metric)]),
            metric=metric,
            unit=search.schedule_.unit,
            cost_unit=search.schedule_.cost_unit,
            training=search.schedule_.training,
            possible=possible_scores(search) if kind == "trust" else None,
        )
        return display.plot(ax, kind=kind, spread=spread)

    def plot(self, ax: Any = None, *, kind: str = "curves", spread: bool = False) -> Self:
        """Plot the figure.

        Requires matplotlib, which the extra ``plot`` installs.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to plot on. None: a new figure. With ``kind="params"`` the axes are divided into
            panels.
        kind : "curves", "rungs", "params", "cost" or "trust", default="curves"
            - "curves": score of each candidate by resource. Eliminated candidates are gray, and the
              line of the best candidate is thick.
            - "rungs": distribution of the scores of each rung, and the lowest promoted score.
            - "params": one panel per searched parameter, with the last score of each candidate by
              value. The color shows the resource that the candidate reached.
            - "cost": cost of each rung, compared with a grid search.
            - "trust": for each eliminated candidate, by the rung that eliminated it, the score that
              it is expected to have at full resource, up to the one that, with a probability of
              0.95, no candidate of the rung would exceed, compared with the selected candidate and
              the standard error of its score. Scores of audited candidates are known.
        spread : bool, default=False
            Whether "curves" shows the standard deviation over the folds.

        Returns
        -------
        SearchDisplay
            The display itself, with ``ax_``, ``axes_`` and ``figure_``.

        Raises
        ------
        ValueError
            If `kind` is unknown, if `ax` cannot be divided into panels, or if "trust" is plotted
            on a display of another kind.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind={kind!r} is unknown. Choose one of {', '.join(_KINDS)}.")
        import matplotlib.pyplot as plt

        if ax is None:
            n_rows, n_columns = self._panels() if kind == "params" else (1, 1)
            _, ax = plt.subplots(
                figsize=(2.4 + 4 * n_columns, 1.2 + 3.6 * n_rows), layout="constrained"
            )
        self.ax_, self.figure_ = ax, ax.figure
        self.axes_ = np.array([ax])
        if kind == "curves":
            self._plot_curves(spread)
        elif kind == "rungs":
            self._plot_rungs()
        elif kind == "params":
            self._plot_params()
        elif kind == "cost":
            self._plot_cost()
        else:
            self._plot_trust()
        return self

    def _plot_curves(self, spread: bool) -> None:
        furthest = max(curve.resources[-1] for curve in self.curves.values())
        for curve in sorted(self.curves.values(), key=lambda c: c.candidate == self.winner):
            is_best = curve.candidate == self.winner
            color = _ELIMINATED_COLOR if curve.resources[-1] < furthest else _FINAL_COLOR
            (line,) = self.ax_.plot(
                curve.resources,
                curve.scores,
                marker="o",
                markersize=3,
                color=_BEST_COLOR if is_best else color,
                linewidth=2.5 if is_best else 1,
                alpha=0.5 if color == _ELIMINATED_COLOR else 1,
                label=f"best candidate ({curve.candidate})" if is_best else None,
            )
            if spread:
                low, high = curve.scores - curve.spreads, curve.scores + curve.spreads
                self.ax_.fill_between(
                    curve.resources, low, high, color=line.get_color(), alpha=0.1, linewidth=0
                )
        self.ax_.set_xscale("log")
        self.ax_.set_xticks(list(self.units), [str(resource) for resource in self.units])
        self.ax_.minorticks_off()
        self.ax_.set(xlabel=self._resource_label(), ylabel=f"mean test {self.metric}")
        self._limit_scores(self.ax_)
        self.ax_.legend()

    def _plot_rungs(self) -> None:
        resources = list(self.units)
        positions = {resource: k for k, resource in enumerate(resources)}
        scores_by_rung = [
            [c.scores[c.resources == r][0] for c in self.curves.values() if r in c.resources]
            for r in resources
        ]
        self.ax_.boxplot(
            [[s for s in scores if np.isfinite(s)] for scores in scores_by_rung],
            positions=range(len(resources)),
            showfliers=False,
        )
        for k, scores in enumerate(scores_by_rung):
            self.ax_.plot(
                [k] * len(scores), scores, "o", color=_FINAL_COLOR, alpha=0.4, markersize=4
            )
        if self.cuts:
            self.ax_.plot(
                [positions[resource] for resource, _ in self.cuts],
                [score for _, score in self.cuts],
                "_",
                color=_BEST_COLOR,
                markersize=36,
                label="lowest promoted score",
            )
            self.ax_.legend()
        self.ax_.set_xticks(range(len(resources)), [str(r) for r in resources])
        self.ax_.set(xlabel=self._resource_label(), ylabel=f"mean test {self.metric}")
        self._limit_scores(self.ax_)

    def _resource_label(self) -> str:
        return f"{self.unit}\n{self.training}".rstrip()

    def _limit_scores(self, ax: Any) -> None:
        """Exclude scores far below the others from the y axis, and show their number."""
        low, high = visible_range(self.curves.values())
        scores = np.concatenate([curve.scores for curve in self.curves.values()])
        n_below = int((scores < low).sum())
        if n_below:
            pad = 0.05 * (high - low)
            ax.set_ylim(low - pad, high + pad)
            ax.set_title(f"scores below: {n_below}", fontsize="small", loc="right")

    def _panels(self) -> tuple[int, int]:
        """Numbers of rows and columns of panels, with one panel per parameter."""
        n_columns = max(1, min(_MAX_COLUMNS, len(self.params)))
        return max(1, -(-len(self.params) // n_columns)), n_columns

    def _plot_params(self) -> None:
        from matplotlib.gridspec import GridSpecFromSubplotSpec

        subplot = self.ax_.get_subplotspec()
        if subplot is None:
            raise ValueError(
                "ax cannot be divided into panels, because it is not part of a grid of subplots. "
                "Pass an Axes of plt.subplots, or ax=None."
            )
        n_rows, n_columns = self._panels()
        grid = GridSpecFromSubplotSpec(n_rows, n_columns, subplot)
        self.ax_.set_axis_off()
        self.axes_ = np.array(
            [self.figure_.add_subplot(grid[divmod(k, n_columns)]) for k in range(len(self.params))]
        )
        last = max(1, len(self.units) - 1)
        for ax, points in zip(self.axes_, self.params, strict=True):
            curves = [self.curves[candidate] for candidate in points.candidates]
            dots = ax.scatter(
                points.places,
                [curve.scores[-1] for curve in curves],
                c=[list(self.units).index(curve.resources[-1]) for curve in curves],
                cmap="viridis",
                vmin=0,
                vmax=last,
            )
            if points.is_log:
                ax.set_xscale("log")
            if points.labels is not None:
                # Labels with a $ are not formulas.
                ax.set_xticks(range(len(points.labels)), points.labels, parse_math=False)
                if sum(map(len, points.labels)) > _MAX_HORIZONTAL:
                    ax.tick_params(axis="x", labelrotation=90)
            ax.set(xlabel=points.name, ylabel=f"last mean test {self.metric}")
            self._limit_scores(ax)
        if len(self.axes_):
            bar = self.figure_.colorbar(dots, ax=list(self.axes_), label=f"{self.unit} reached")
            bar.set_ticks(range(len(self.units)), labels=[str(r) for r in self.units])
            self.ax_ = self.axes_[0]

    def _plot_cost(self) -> None:
        names = [f"at {quantity(resource, self.unit)}" for resource in self.units]
        start = 0
        for name, units in zip(names, self.units.values(), strict=True):
            self.ax_.barh(["this search"], [units], left=[start], label=name)
            start += units
        self.ax_.barh(["grid search"], [self.grid_cost], color=_ELIMINATED_COLOR)
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel=self.cost_unit)
        self.ax_.legend()

    def _plot_trust(self) -> None:
        if self.possible is None:
            raise ValueError(
                'kind="trust" requires a display of this kind. Call '
                'SearchDisplay.from_search(search, kind="trust").'
            )
        ax, score, tolerance = self.ax_, self.possible.selected_score, self.possible.tolerance
        rungs = sorted({(one.resource, one.bracket) for one in self.possible.candidates})
        if not rungs:
            ax.set_title("no candidate was eliminated before full resource", fontsize="small")
        limit = score + tolerance
        for position, rung in enumerate(rungs):
            members = [o for o in self.possible.candidates if (o.resource, o.bracket) == rung]
            members.sort(key=lambda one: one.expected)
            places = position + np.linspace(-0.35, 0.35, len(members) + 2)[1:-1]
            for place, one in zip(places, members, strict=True):
                color = _RISKY_COLOR if self.possible.is_risky(one) else _ELIMINATED_COLOR
                ax.plot([place, place], [one.expected, one.highest], color=color, linewidth=2)
                marker = "D" if one.is_audited else "o"
                color = _FINAL_COLOR if one.is_audited else color
                ax.plot([place], [one.expected], marker, color=color, markersize=4)
        ax.axhspan(score - tolerance, limit, color=_BEST_COLOR, alpha=0.2, linewidth=0)
        ax.axhline(score, color=_BEST_COLOR, linewidth=2.5)
        has_brackets = len({bracket for _, bracket in rungs}) > 1
        labels = [f"{at}\nbracket {bracket}" if has_brackets else str(at) for at, bracket in rungs]
        ax.set_xticks(range(len(rungs)), labels)
        ax.set(
            xlabel=f"{self.unit} of the rung that eliminated the candidate",
            ylabel=f"mean test {self.metric} at full resource",
        )
        self._limit_possible_scores(ax, limit)
        self._trust_legend(ax)

    def _limit_possible_scores(self, ax: Any, limit: float) -> None:
        """Exclude expected scores far below the others from the y axis."""
        assert self.possible is not None
        expected = [one.expected for one in self.possible.candidates]
        expected = [value for value in expected if np.isfinite(value)]
        if not expected:
            return
        top = max(limit, *(one.highest for one in self.possible.candidates if one.highest < np.inf))
        low = max(min(expected), 2 * np.median(expected) - top)
        pad = 0.05 * (top - low)
        ax.set_ylim(low - pad, top + pad)

    def _trust_legend(self, ax: Any) -> None:
        from matplotlib.lines import Line2D

        assert self.possible is not None
        is_risky = [self.possible.is_risky(one) for one in self.possible.candidates]
        handles = [Line2D([], [], color=_BEST_COLOR, linewidth=2.5, label="selected candidate")]
        if any(is_risky):
            handles.append(
                Line2D([], [], color=_RISKY_COLOR, marker="o", markersize=4,
                       label="could have been better")
            )  # fmt: skip
        if not all(is_risky):
            handles.append(
                Line2D([], [], color=_ELIMINATED_COLOR, marker="o", markersize=4,
                       label="eliminated")
            )  # fmt: skip
        if any(one.is_audited for one in self.possible.candidates):
            handles.append(
                Line2D([], [], color=_FINAL_COLOR, marker="D", markersize=4, linestyle="",
                       label="audited")
            )  # fmt: skip
        ax.legend(handles=handles, fontsize="small")
