"""How far a search went: the levels of its rungs, which are resources and numbers of folds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from sklearn_sha._formatting import quantity
from sklearn_sha.schedules import Rung, Schedule

Level = tuple[int, int]
"""A resource and a number of folds."""

RungRecord = Mapping[str, Any]
"""One of the dicts of ``rung_history_``."""


def levels_of(history: Sequence[RungRecord]) -> list[Level]:
    """Levels of a search: the resources and numbers of folds of its rungs, in increasing order.

    Rungs of several brackets with the same resource and folds share a level.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.

    Returns
    -------
    list of (int, int)

    Examples
    --------
    >>> from sklearn_sha.inspection.levels import levels_of
    >>> levels_of([{"n_resources": 1, "n_folds": 2}, {"n_resources": 4, "n_folds": 2}])
    [(1, 2), (4, 2)]
    """
    return sorted({level_of(row) for row in history})


def level_of(row: RungRecord) -> Level:
    """Level of a rung; 0 folds if they are not in the history."""
    return row["n_resources"], row.get("n_folds", 0)


def rungs_by_bracket(
    history: Sequence[RungRecord], results: Mapping[str, Any]
) -> dict[int, list[RungRecord]]:
    """Rungs of each bracket, or of each run of budget doubling, in their order.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.
    results : mapping
        ``all_cv_results_``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_sha.inspection.levels import rungs_by_bracket
    >>> results = {"iter": np.array([0, 1, 2]), "bracket": np.array([0, 0, 1])}
    >>> rungs_by_bracket([{"iter": 0}, {"iter": 1}, {"iter": 2}], results)
    {0: [{'iter': 0}, {'iter': 1}], 1: [{'iter': 2}]}
    """
    # Rows of runs have no bracket, and their numbers are unique.
    run_of = dict(zip(results["iter"].tolist(), results["bracket"].tolist(), strict=True))

    def bracket_of(row: RungRecord) -> int:
        return row.get("bracket", run_of[row["iter"]])

    # An audited rung is the last row.
    ordered = sorted(history, key=lambda row: (bracket_of(row), row["iter"]))
    return {bracket: list(rows) for bracket, rows in groupby(ordered, key=bracket_of)}


def has_score(row: RungRecord) -> bool:
    """Whether a rung has a finite score."""
    return bool(np.isfinite(row["scores"]).any())


def levels_of_results(results: Mapping[str, Any]) -> list[Level]:
    """Level of each row of ``all_cv_results_``."""
    columns = results["n_resources"].tolist(), results["n_folds"].tolist()
    return list(zip(*columns, strict=True))


def last_rungs(schedule: Schedule) -> list[Rung]:
    """The last rung of each bracket."""
    return [*{rung.bracket: rung for rung in schedule.rungs}.values()]


def is_at_end(row: RungRecord, ends: Iterable[Rung]) -> bool:
    """Whether the level of a rung is that of one of the last rungs."""
    return any(
        rung.n_resources == row["n_resources"]
        and (rung.folds is None or len(rung.folds) == row["n_folds"])
        for rung in ends
    )


def selects_best(row: RungRecord, ends: Iterable[Rung]) -> bool:
    """Whether a rung is one of the last rungs, whose best candidate counts as promoted."""
    return len(row["promoted"]) == 1 and is_at_end(row, ends)


def level_labels(levels: Sequence[Level], unit: str) -> list[str]:
    r"""Labels of levels: the resource, and the number of folds in a second line if it varies.

    If folds are the resource, the second line would be the first one again, and is left out.

    Examples
    --------
    >>> from sklearn_sha.inspection.levels import level_labels
    >>> level_labels([(100, 5), (200, 5)], "trees"), level_labels([(100, 1), (100, 5)], "trees")
    (['100', '200'], ['100\n1 fold', '100\n5 folds'])
    >>> level_labels([(1, 1), (5, 5)], "folds")
    ['1', '5']
    """
    folds = [quantity(n_folds, "folds") for _, n_folds in levels]
    if len({*folds}) == 1 or folds == [quantity(resource, unit) for resource, _ in levels]:
        return [str(resource) for resource, _ in levels]
    return [f"{resource}\n{text}" for (resource, _), text in zip(levels, folds, strict=True)]


def level_text(label: str, unit: str, between: str) -> str:
    r"""Return a label of `level_labels` in one line, with the unit.

    Examples
    --------
    >>> from sklearn_sha.inspection.levels import level_text
    >>> level_text("100\n1 fold", "trees", ", "), level_text("1", "trees", ", ")
    ('100 trees, 1 fold', '1 tree')
    """
    resource, *folds = label.split("\n")
    return between.join([quantity(int(resource), unit), *folds])


def total_width(labels: Iterable[str]) -> int:
    """Return the number of characters of labels side by side, of which each can have two lines."""
    return sum(max(map(len, label.split("\n"))) for label in labels)


def cost_by_level(history: Sequence[RungRecord]) -> list[int]:
    """Units that were trained in the rungs of each level.

    Parameters
    ----------
    history : sequence of mapping
        ``rung_history_``.

    Returns
    -------
    list of int
        In the order of `levels_of`.

    Examples
    --------
    >>> from sklearn_sha.inspection.levels import cost_by_level
    >>> cost_by_level([{"n_resources": 1, "total_cost": 8}, {"n_resources": 2, "total_cost": 12}])
    [8, 4]
    """
    costs = dict.fromkeys(levels_of(history), 0)
    previous = 0
    for row in history:
        costs[level_of(row)] += row["total_cost"] - previous
        previous = row["total_cost"]
    return list(costs.values())
