"""One file per kind of figure. A new kind is a file and a line in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn_sha.inspection.figures.cost import plot_cost
from sklearn_sha.inspection.figures.curves import plot_curves
from sklearn_sha.inspection.figures.importance import plot_importance
from sklearn_sha.inspection.figures.parallel import plot_parallel
from sklearn_sha.inspection.figures.params import plot_params
from sklearn_sha.inspection.figures.rungs import plot_rungs
from sklearn_sha.inspection.figures.trust import plot_trust

KINDS: dict[str, Callable[..., list[Any]]] = {
    "curves": plot_curves,
    "rungs": plot_rungs,
    "params": plot_params,
    "parallel": plot_parallel,
    "importance": plot_importance,
    "cost": plot_cost,
    "trust": plot_trust,
}
"""Functions of the data of a search and of axes, which return all axes that they plotted on."""
