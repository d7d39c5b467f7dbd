"""One file per kind of interactive figure. A new kind is a file and a line in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn_sha.inspection.interactive.cost import cost_figure
from sklearn_sha.inspection.interactive.curves import curves_figure
from sklearn_sha.inspection.interactive.importance import importance_figure
from sklearn_sha.inspection.interactive.parallel import parallel_figure
from sklearn_sha.inspection.interactive.params import params_figure
from sklearn_sha.inspection.interactive.rungs import rungs_figure
from sklearn_sha.inspection.interactive.trust import trust_figure
from sklearn_sha.inspection.search_data import SearchData

KINDS: dict[str, Callable[[SearchData], Any]] = {
    "curves": curves_figure,
    "rungs": rungs_figure,
    "params": params_figure,
    "parallel": parallel_figure,
    "importance": importance_figure,
    "cost": cost_figure,
    "trust": trust_figure,
}
"""Functions of the data of a search, which return a figure of plotly."""
