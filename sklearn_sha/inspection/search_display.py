"""SearchDisplay: pictures of a search, drawn with matplotlib."""

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
    curves,
    param_points,
    units_by_resource,
    visible_range,
)
from sklearn_sha.inspection.ranking import best_row

_KINDS = ("curves", "rungs", "params", "cost")
_FADED, _ALIVE, _WINNER = "0.6", "tab:blue", "tab:orange"
_COLUMNS = 3
_WIDE = 32  # letters that fit side by side below a panel


class SearchDisplay:
    """Pictures of a search that has run; made by `from_search`.

    Parameters
    ----------
    curves : dict of int to Curve
        Of each candidate: resources, and mean and standard deviation of its scores.
    params : list of ParamPoints
        Of each searched parameter: candidates and their values.
    cuts : list of (int, float)
        For each rung that promoted by this metric its resource, and the lowest score promoted.
    units : dict of int to int
        Units per fold that were trained at each resource.
    grid_cost : int
        Units per fold of training every candidate to the largest resource.
    winner : int
        The best candidate.
    metric : str
        What the scores are.
    unit : str, default="units"
        What the resource counts, in the plural: "epochs", "trees", "training samples".
    training : str, default=""
        How models train between rungs, as `Schedule.training`; shown below the resource axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of `plot`; with ``kind="params"`` the first one.
    axes_ : ndarray of matplotlib Axes
        All of them.
    figure_ : matplotlib Figure

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
    'epochs per fold'
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
        training: str = "",
    ) -> None:
        self.curves = curves
        self.params = params
        self.cuts = cuts
        self.units = units
        self.grid_cost = grid_cost
        self.winner = winner
        self.metric = metric
        self.unit = unit
        self.training = training

    @classmethod
    def from_search(
        cls, search: Any, *, kind: str = "curves", metric: str | None = None, ax: Any = None,
        spread: bool = False,
    ) -> Self:  # fmt: skip
        """Draw a search.

        Parameters
        ----------
        search : SuccessiveHalvingSearchCV or HyperbandSearchCV
            Fitted.
        kind, ax, spread
            As for `plot`.
        metric : str or None, default=None
            Of several; None for the one that promotes.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        NotFittedError
            If the search has no rungs yet.
        TypeError
            For a search without rungs, such as GridSearchCV.
        ValueError
            If there is no such metric.
        """
        check_has_rungs(search, "SearchDisplay")
        check_is_fitted(search, "schedule_")
        results = search.all_cv_results_
        if metric is None:
            metric = search.promote_by_
        if f"mean_test_{metric}" not in results:
            known = [name[10:] for name in results if name.startswith("mean_test_")]
            raise ValueError(
                f"metric={metric!r} is none of this search's; choose one of {known} by metric=."
            )
        candidates = results["candidate"]
        best = best_row(search.cv_results_, metric)
        if metric == search.promote_by_:
            best = getattr(search, "best_index_", best)
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
            units=dict(sorted(units_by_resource(search.rung_history_).items())),
            grid_cost=search.schedule_.grid_cost,
            winner=int(candidates[search.cv_results_rows_[best]]),
            metric=metric,
            unit=search.schedule_.unit,
            training=search.schedule_.training,
        )
        return display.plot(ax, kind=kind, spread=spread)

    def plot(self, ax: Any = None, *, kind: str = "curves", spread: bool = False) -> Self:
        """Draw; needs matplotlib, the extra ``plot``.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None for a figure of its own; ``kind="params"`` divides it.
        kind : "curves", "rungs", "params" or "cost", default="curves"
            - "curves": each candidate's score by resource; the dropped ones faded, the winner
              thick.
            - "rungs": how the scores of each rung are distributed, and where it was cut.
            - "params": a panel a searched parameter, score by value, coloured by how far the
              candidate came.
            - "cost": units that each rung spent, beside those of a grid search.
        spread : bool, default=False
            Whether "curves" show the standard deviation over the folds.

        Returns
        -------
        SearchDisplay
            Itself, with ``ax_``, ``axes_`` and ``figure_``.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind={kind!r} is unknown; choose one of {', '.join(_KINDS)}.")
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
        else:
            self._plot_cost()
        return self

    def _plot_curves(self, spread: bool) -> None:
        furthest = max(curve.resources[-1] for curve in self.curves.values())
        for curve in sorted(self.curves.values(), key=lambda c: c.candidate == self.winner):
            is_winner = curve.candidate == self.winner
            colour = _FADED if curve.resources[-1] < furthest else _ALIVE
            (line,) = self.ax_.plot(
                curve.resources,
                curve.scores,
                marker="o",
                markersize=3,
                color=_WINNER if is_winner else colour,
                linewidth=2.5 if is_winner else 1,
                alpha=0.5 if colour == _FADED else 1,
                label=f"candidate {curve.candidate}, the best" if is_winner else None,
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
        self._look_closer(self.ax_)
        self.ax_.legend()

    def _plot_rungs(self) -> None:
        resources = list(self.units)
        at = {resource: k for k, resource in enumerate(resources)}
        shown = [
            [c.scores[c.resources == r][0] for c in self.curves.values() if r in c.resources]
            for r in resources
        ]
        self.ax_.boxplot(
            [[s for s in scores if np.isfinite(s)] for scores in shown],
            positions=range(len(resources)),
            showfliers=False,
        )
        for k, scores in enumerate(shown):
            self.ax_.plot([k] * len(scores), scores, "o", color=_ALIVE, alpha=0.4, markersize=4)
        if self.cuts:
            self.ax_.plot(
                [at[resource] for resource, _ in self.cuts],
                [score for _, score in self.cuts],
                "_",
                color=_WINNER,
                markersize=36,
                label="cut",
            )
            self.ax_.legend()
        self.ax_.set_xticks(range(len(resources)), [str(r) for r in resources])
        self.ax_.set(xlabel=self._resource_label(), ylabel=f"mean test {self.metric}")
        self._look_closer(self.ax_)

    def _resource_label(self) -> str:
        return f"{self.unit}\n{self.training}".rstrip()

    def _look_closer(self, ax: Any) -> None:
        """Leave out scores far below the others, and say how many."""
        low, high = visible_range(self.curves.values())
        scores = np.concatenate([curve.scores for curve in self.curves.values()])
        n_below = int((scores < low).sum())
        if n_below:
            pad = 0.05 * (high - low)
            ax.set_ylim(low - pad, high + pad)
            ax.set_title(f"scores below: {n_below}", fontsize="small", loc="right")

    def _panels(self) -> tuple[int, int]:
        """Rows and columns of panels, one a parameter."""
        n_columns = max(1, min(_COLUMNS, len(self.params)))
        return max(1, -(-len(self.params) // n_columns)), n_columns

    def _plot_params(self) -> None:
        from matplotlib.gridspec import GridSpecFromSubplotSpec

        place = self.ax_.get_subplotspec()
        if place is None:
            raise ValueError(
                "ax was not made by a grid of subplots, and so can't be divided into panels; give "
                "an Axes of plt.subplots, or ax=None."
            )
        n_rows, n_columns = self._panels()
        grid = GridSpecFromSubplotSpec(n_rows, n_columns, place)
        self.ax_.set_axis_off()
        self.axes_ = np.array(
            [self.figure_.add_subplot(grid[divmod(k, n_columns)]) for k in range(len(self.params))]
        )
        last = max(1, len(self.units) - 1)
        for ax, points in zip(self.axes_, self.params, strict=True):
            mine = [self.curves[candidate] for candidate in points.candidates]
            dots = ax.scatter(
                points.places,
                [curve.scores[-1] for curve in mine],
                c=[list(self.units).index(curve.resources[-1]) for curve in mine],
                cmap="viridis",
                vmin=0,
                vmax=last,
            )
            if points.is_log:
                ax.set_xscale("log")
            if points.labels is not None:
                # What a $ stands in is no formula.
                ax.set_xticks(range(len(points.labels)), points.labels, parse_math=False)
                if sum(map(len, points.labels)) > _WIDE:
                    ax.tick_params(axis="x", labelrotation=90)
            ax.set(xlabel=points.name, ylabel=f"last mean test {self.metric}")
            self._look_closer(ax)
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
        self.ax_.barh(["grid search"], [self.grid_cost], color=_FADED)
        self.ax_.invert_yaxis()
        self.ax_.set(xlabel=f"{self.unit} per fold")
        self.ax_.legend()
