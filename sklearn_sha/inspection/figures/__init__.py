"""One file per kind of figure. A new kind is a file and a line in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn_sha.inspection.figures.cost import cost_size, plot_cost
from sklearn_sha.inspection.figures.curves import plot_curves
from sklearn_sha.inspection.figures.importance import importance_size, plot_importance
from sklearn_sha.inspection.figures.parallel import parallel_size, plot_parallel
from sklearn_sha.inspection.figures.params import params_size, plot_params
from sklearn_sha.inspection.figures.rungs import plot_rungs
from sklearn_sha.inspection.figures.style import HEIGHT, WIDTH
from sklearn_sha.inspection.figures.trust import plot_trust
from sklearn_sha.inspection.search_data import SearchData


def _usual_size(data: SearchData) -> tuple[float, float]:
    return WIDTH, HEIGHT


class Kind(NamedTuple):
    """A kind of figure.

    Attributes
    ----------
    plot : callable
        Takes the data of a search and axes, and returns all axes that it plotted on.
    size : callable
        Takes the data, and returns the width and the height of a new figure, in inches.
    """

    plot: Callable[..., list[Any]]
    size: Callable[[SearchData], tuple[float, float]] = _usual_size


KINDS = {
    "curves": Kind(plot_curves),
    "rungs": Kind(plot_rungs),
    "params": Kind(plot_params, params_size),
    "parallel": Kind(plot_parallel, parallel_size),
    "importance": Kind(plot_importance, importance_size),
    "cost": Kind(plot_cost, cost_size),
    "trust": Kind(plot_trust),
}
