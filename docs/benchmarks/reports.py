"""How benchmarks write down what they measured: tables in results/, figures in docs/images/."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
IMAGES = Path(__file__).parents[1] / "images"


def write(name: str, lines: list[str]) -> None:
    """Write lines to a file of results."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / name).write_text("\n".join([*lines, ""]))


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table in Markdown."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def mean_and_error(values: NDArray[np.float64], digits: int = 2) -> str:
    """Mean of independent differences and its standard error, which a single one does not have."""
    error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():+.{digits}f} ± {error:.{digits}f}"


@contextmanager
def picture(name: str, width: float, height: float, **panels: Any) -> Iterator[Any]:
    """Give axes to draw on, as `plt.subplots` does, and save them: equal drawings, equal files."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "sklearn_sha"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height), **panels)
    yield axes
    if figure.get_layout_engine() is None:
        figure.tight_layout()
    figure.savefig(IMAGES / name, metadata={"Date": None})
