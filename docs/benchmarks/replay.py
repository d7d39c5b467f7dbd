"""Searches on stored learning curves: what an algorithm selects, and what it costs.

    python docs/benchmarks/replay.py
    python docs/benchmarks/replay.py --factor 3
    python docs/benchmarks/replay.py --candidates 3 4 5 6 7 8 --name replay_few_candidates

writes mean cost and mean regret of some searches on LCDB and on the curves of learning_curves.py
to results/, and a figure of those with factor 2.
Scores are read from a table instead of training models, for any algorithm of sklearn_sha.bandit.
LCDB needs `lcdb` and `pandas`: the extra `examples`.

Cost is the share of a grid search over the same candidates on all folds. Regret is how much lower
the score of the selected candidate is than that of the best one of those candidates, both means
over all folds at the maximum resource.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distribution
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from learning_curves import FAMILIES, FOLDER, N_FOLDS, load_curves
from numpy.typing import NDArray
from reports import picture, write
from reports import table as markdown

from sklearn_sha.bandit import (
    Algorithm,
    Bounds,
    BudgetDoubling,
    Hyperband,
    Requests,
    RungLosses,
    RungRequest,
    SuccessiveHalving,
    halving,
    numbered,
)
from sklearn_sha.schedules import FoldGrowth, Schedule, rung_sizes

MIN_CURVES, MIN_SAMPLES = 16, 256
"""Of a data set of LCDB: whole curves, and training samples."""


@dataclass(frozen=True, eq=False)
class Table:
    """Scores of candidates on folds after resources.

    Attributes
    ----------
    family, data : str
    resources : ndarray of int
        Increasing. The last one is the maximum.
    scores : ndarray of float, shape (n_candidates, n_folds, n_resources)
        Higher is better.
    continues : bool
        Whether models continue training, or are refit from scratch at each resource.
    seconds : ndarray of float of the same shape as `scores`, or None
        Seconds to fit from scratch.
    """

    family: str
    data: str
    resources: NDArray[np.int64]
    scores: NDArray[np.float64]
    continues: bool
    seconds: NDArray[np.float64] | None = None

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return self.scores.shape[1]

    def position(self, n_resources: int) -> int:
        """Return the position of the nearest resource, as a ratio."""
        return int(np.abs(np.log(self.resources / n_resources)).argmin())

    def folds_of(self, request: RungRequest) -> list[int]:
        """Return the folds that a request is about."""
        return list(range(self.n_folds) if request.folds is None else request.folds)

    def scores_of(self, candidates: Iterable[int], request: RungRequest) -> NDArray[np.float64]:
        """Return the scores of candidates on the folds of a request, after its resource."""
        at = self.position(request.n_resources)
        return self.scores[list(candidates)][:, self.folds_of(request), at]

    def subset(self, candidates: NDArray[np.intp]) -> Table:
        """Return some candidates in this order, which breaks ties."""
        seconds = None if self.seconds is None else self.seconds[candidates]
        return Table(
            self.family, self.data, self.resources, self.scores[candidates], self.continues, seconds
        )


@dataclass(frozen=True)
class Outcome:
    """Result of a replay.

    Attributes
    ----------
    selected : int
    regret, cost : float
    seconds : float
        Relative to those of a grid search. NaN if the table has no seconds.
    """

    selected: int
    regret: float
    cost: float
    seconds: float


@dataclass
class _Evaluations:
    """What was computed: by candidate and fold, the resources."""

    table: Table
    resources: dict[tuple[int, int], set[int]] = field(default_factory=dict)

    def losses(self, request: RungRequest) -> RungLosses:
        for evaluated in product(request.candidate_ids, self.table.folds_of(request)):
            self.resources.setdefault(evaluated, set()).add(request.n_resources)
        scores = self.table.scores_of(request.candidate_ids, request)
        return RungLosses.of(-scores.mean(axis=1), fold_losses=-scores)

    def cost(self) -> float:
        maximum = int(self.table.resources[-1])
        total = sum(
            max(found) if self.table.continues else sum(found) for found in self.resources.values()
        )
        n_candidates, n_folds, _ = self.table.scores.shape
        return total / (n_candidates * n_folds * maximum)

    def seconds(self) -> float:
        seconds = self.table.seconds
        if seconds is None:
            return float("nan")
        total = 0.0
        for (candidate, fold), found in self.resources.items():
            ran = [max(found)] if self.table.continues else list(found)
            total += sum(seconds[candidate, fold, self.table.position(n)] for n in ran)
        return float(total / seconds[:, :, -1].sum())


def answer(requests: Requests, losses_of: Callable[[RungRequest], RungLosses]) -> int:
    """Answer the requests of an algorithm until it ends, and return the selected candidate."""
    losses: RungLosses | None = None
    while True:
        try:
            request = requests.send(losses)
        except StopIteration as stop:
            selected: int = stop.value
            return selected
        losses = losses_of(request)


def replay(table: Table, requests: Requests) -> Outcome:
    """Run an algorithm on all candidates of a table.

    Parameters
    ----------
    table : Table
    requests : generator of RungRequest
        Its candidates are numbered from 0, in the order of the table.

    Returns
    -------
    Outcome
    """
    evaluations = _Evaluations(table)
    selected = answer(requests, evaluations.losses)
    final = table.scores[:, :, -1].mean(axis=1)
    regret = float(final.max() - final[selected])
    return Outcome(selected, regret, evaluations.cost(), evaluations.seconds())


# -- tables ---------------------------------------------------------------------------------------


def lcdb_tables(metric: str = "accuracy") -> list[Table]:
    """Read the validation scores of LCDB 0.0.9.

    Parameters
    ----------
    metric : {"accuracy", "logloss"}

    Returns
    -------
    list of Table
        One for each data set with at least 16 learners that were scored at all sizes, and at
        least 256 training samples.
    """
    import pandas as pd

    path = distribution("lcdb").locate_file(f"lcdb/database-{metric}.csv")
    sign = -1 if metric == "logloss" else 1
    tables = []
    for number, rows in pd.read_csv(str(path)).groupby("openmlid"):
        index = ["learner", "inner_seed", "size_train"]
        by_fold = rows.set_index(index)["score_valid"].unstack("size_train").unstack("inner_seed")
        whole = by_fold[by_fold.notna().all(axis=1)]
        sizes = np.unique(rows["size_train"])
        if len(whole) < MIN_CURVES or sizes[-1] < MIN_SAMPLES:
            continue
        scores = sign * whole.to_numpy().reshape(len(whole), len(sizes), -1).swapaxes(1, 2)
        tables.append(Table(f"lcdb-{metric}", str(number), sizes, scores, continues=False))
    return tables


def measured_tables(metric: str = "scores") -> Iterator[Table]:
    """Read the files of learning_curves.py.

    Parameters
    ----------
    metric : {"scores", "neg_log_loss", "roc_auc"}
        Configurations without probabilities are left out of the latter two.
    """
    for path in sorted(FOLDER.glob("*.npz")):
        family, _, data = path.stem.partition("-")
        curves = load_curves(family, data)
        scores: NDArray[np.float64] = getattr(curves, metric)
        whole = ~np.isnan(scores).any(axis=(1, 2))
        if whole.any():
            yield Table(
                family,
                data,
                curves.resources,
                scores[whole],
                curves.continues,
                curves.seconds[whole],
            )


# -- rules ----------------------------------------------------------------------------------------

Rungs = list[tuple[int, int, int]]
"""Candidates, resource and folds of each rung."""

Rule = Callable[[int, int, int, int], Rungs]
"""Takes the number of candidates, the maximum resource, the factor and the number of folds."""

Item = TypeVar("Item")


def schedule_of(rungs: Rungs, continues: bool, fold_order: Sequence[int]) -> Schedule:
    """Return the schedule of rungs, on the first folds of an order."""
    sizes, resources, counts = (list(column) for column in zip(*rungs, strict=True))
    folds = [tuple(fold_order[:count]) for count in counts]
    return Schedule.from_rungs(sizes, resources, continues, folds=folds)


def fold_count(left: int, factor: int, n_folds: int) -> int:
    """Return ceil(n_folds / factor**left): the folds of a rung with `left` rungs after it."""
    return -(-n_folds // factor**left)


def all_folds(n: int, maximum: int, factor: int, n_folds: int) -> Rungs:
    """All folds at every rung, from maximum / factor**(rungs - 1)."""
    sizes = rung_sizes(n, factor)
    return [
        (size, max(1, maximum // factor**left), n_folds) for size, left in _with_rungs_left(sizes)
    ]


def fewer_folds(n: int, maximum: int, factor: int, n_folds: int) -> Rungs:
    """The same candidates and resources on growing numbers of folds."""
    rungs = all_folds(n, maximum, factor, n_folds)
    counts = FoldGrowth(tuple(range(n_folds))).counts(len(rungs), factor)
    return [
        (size, resource, folds) for (size, resource, _), folds in zip(rungs, counts, strict=True)
    ]


def same_cost(n: int, maximum: int, factor: int, n_folds: int) -> Rungs:
    """Growing folds, and after each rung the cost of a candidate is that of `all_folds`.

    With `left` rungs after it, a candidate has cost n_folds * maximum / factor**left. It is spent
    on as few folds as can hold it.
    """
    rungs = []
    for size, left in _with_rungs_left(rung_sizes(n, factor)):
        folds = fold_count(left, factor, n_folds)
        rungs.append((size, max(1, n_folds * maximum // (factor**left * folds)), folds))
    return rungs


def folds_only(n: int, maximum: int, factor: int, n_folds: int) -> Rungs:
    """Growing folds, always at the maximum."""
    rungs = fewer_folds(n, maximum, factor, n_folds)
    # The first of the rungs with the same folds has the most candidates.
    sizes = {folds: size for size, _, folds in reversed(rungs)}
    return [(size, maximum, folds) for folds, size in sorted(sizes.items())]


def two_rungs(share: int, folds: int, n_best: int) -> Rule:
    """All candidates at maximum / share on some folds, the best ones at the maximum on all."""
    return lambda n, maximum, factor, n_folds: [
        (n, max(1, maximum // share), folds),
        (min(n, n_best), maximum, n_folds),
    ]


def uniform(share: int) -> Rule:
    """All candidates at maximum / share on all folds; the best one is trained at the maximum."""
    return two_rungs(share, N_FOLDS, 1)


def _with_rungs_left(items: list[Item]) -> Iterator[tuple[Item, int]]:
    """Yield each item and the number of items after it."""
    return zip(items, reversed(range(len(items))), strict=True)


Search = Callable[[Table, int, list[int]], Requests]
"""Takes a table of the candidates, the factor and the order of folds."""


def by_rule(rule: Rule) -> Search:
    """Return the search with the rungs of a rule."""

    def search(table: Table, factor: int, fold_order: list[int]) -> Requests:
        rungs = rule(len(table.scores), int(table.resources[-1]), factor, table.n_folds)
        return halving(schedule_of(rungs, table.continues, fold_order))

    return search


def by_package(
    algorithm: type[Algorithm] = SuccessiveHalving,
    *,
    grows: bool = True,
    first: int | None = None,
    share: int | None = None,
    **params: Any,
) -> Search:
    """Return the search that the package plans.

    Parameters
    ----------
    algorithm : subclass of Algorithm
    grows : bool
        Whether folds grow.
    first : int or None
        Folds of the first rung; None for "auto".
    share : int or None
        The minimum resource is the maximum divided by this; None for "auto".
    **params : dict
        Parameters of the algorithm.
    """

    def search(table: Table, factor: int, fold_order: list[int]) -> Requests:
        growth = FoldGrowth(tuple(fold_order), first=first) if grows else None
        planner = algorithm(factor=factor, **params)
        return planner.requests(planner.plan(bounds_of(table, growth, share)), numbered())

    return search


def bounds_of(table: Table, growth: FoldGrowth | None, share: int | None) -> Bounds:
    """Return the bounds of a search over a table, from its maximum resource / `share`."""
    maximum = int(table.resources[-1])
    return Bounds(
        n_candidates=len(table.scores),
        max_resources=maximum,
        min_resources=None if share is None else max(1, maximum // share),
        continues=table.continues,
        fold_growth=growth,
    )


def by_hyperband(grows: bool) -> Search:
    """Return Hyperband with as many brackets as there are candidates for."""

    def search(table: Table, factor: int, fold_order: list[int]) -> Requests:
        growth = FoldGrowth(tuple(fold_order)) if grows else None
        hyperband = Hyperband(factor)
        plan = hyperband.plan(hyperband_bounds(table, factor, growth))
        return in_turn(hyperband.rounds(plan, numbered()))

    return search


def hyperband_bounds(table: Table, factor: int, growth: FoldGrowth | None) -> Bounds:
    """Return the bounds of Hyperband with as many brackets as there are candidates for."""
    every = [bounds_of(table, growth, factor**left) for left in range(6)]
    plans = map(Hyperband(factor).plan, every)
    n = len(table.scores)
    return [one for one, plan in zip(every, plans, strict=True) if plan.n_different <= n][-1]


def in_turn(rounds: Generator[list[Requests], float, None]) -> Requests:
    """Request the rungs of one bracket after the other, and return the best of their candidates."""
    best: list[tuple[float, int]] = []
    running = next(rounds)
    while True:
        for bracket in running:
            selected = yield from _with_loss(bracket)
            best.append(selected)
        try:
            running = rounds.send(min(best[-len(running) :])[0])
        except StopIteration:
            return min(best)[1]


def _with_loss(bracket: Requests) -> Generator[RungRequest, RungLosses, tuple[float, int]]:
    """Request the rungs of a bracket; return the loss of its best candidate, and the candidate."""
    losses: RungLosses | None = None
    while True:
        try:
            request = bracket.send(losses)
        except StopIteration as stop:
            position = request.candidate_ids.index(stop.value)
            return float(losses[position]), stop.value
        losses = yield request


SEARCHES: dict[str, Search] = {
    "all folds": by_rule(all_folds),
    "growing folds": by_rule(fewer_folds),
    'min_folds="auto"': by_package(),
    'min_folds="auto", stop="stable"': by_package(stop="stable"),
    "min_folds=1": by_package(first=1),
    "min_folds=2": by_package(first=2),
    "min_resources=M/27, all folds": by_package(share=27, grows=False),
    "min_resources=M/27": by_package(share=27),
    "min_resources=M/9, all folds": by_package(share=9, grows=False),
    "min_resources=M/9": by_package(share=9),
    "doubling from M/27, all folds": by_package(BudgetDoubling, share=27, grows=False),
    "doubling from M/27": by_package(BudgetDoubling, share=27),
    "doubling from M/9, all folds": by_package(BudgetDoubling, share=9, grows=False),
    "doubling from M/9": by_package(BudgetDoubling, share=9),
    "same cost": by_rule(same_cost),
    "folds only": by_rule(folds_only),
    "two rungs: M/9 on 1 fold, best 3": by_rule(two_rungs(9, 1, 3)),
    "two rungs: M/3 on 1 fold, best 3": by_rule(two_rungs(3, 1, 3)),
    "uniform: M/9": by_rule(uniform(9)),
    "uniform: M/3": by_rule(uniform(3)),
    "Hyperband": by_hyperband(grows=False),
    "Hyperband, growing folds": by_hyperband(grows=True),
}
BASELINE = "all folds"
DRAWN_FILE = "replay_factor_2"
DRAWN = (
    BASELINE,
    "growing folds",
    'min_folds="auto"',
    "folds only",
    "two rungs: M/9 on 1 fold, best 3",
    "two rungs: M/3 on 1 fold, best 3",
    "uniform: M/9",
    "uniform: M/3",
    "Hyperband",
    "Hyperband, growing folds",
)


@dataclass(frozen=True)
class Run:
    """A search over a random subset of the candidates of a table."""

    table: Table
    n_candidates: int
    seed: int
    search: str
    outcome: Outcome


def runs_of(
    tables: Iterable[Table], sizes: Sequence[int], n_seeds: int, factor: int
) -> Iterator[Run]:
    """Replay every search on the same random subsets, in the same random orders of folds."""
    for table, n, seed in product(tables, sizes, range(n_seeds)):
        if n > len(table.scores):
            continue
        rng = np.random.default_rng([seed, n])
        subset = table.subset(rng.permutation(len(table.scores))[:n])
        order = rng.permutation(table.n_folds).tolist()
        for name, search in SEARCHES.items():
            yield Run(table, n, seed, name, replay(subset, search(subset, factor, order)))


HEAD = ["search", "cost", "seconds", "regret x 1000", "difference", "standard error"]


def rows_of(runs: Sequence[Run]) -> list[list[str]]:
    """Return mean cost and regret of each search, and the difference from all folds.

    Standard errors are over the means of data sets, since the seeds of one are not independent.
    """
    keys = [(run.table.data, run.table.family) for run in runs if run.search == BASELINE]
    cells = sorted(set(keys))
    lines = []
    baseline: NDArray[np.float64] | None = None
    for search in SEARCHES:
        values = np.array(
            [
                (run.outcome.cost, run.outcome.seconds, 1000 * run.outcome.regret)
                for run in runs
                if run.search == search
            ]
        )
        baseline = values if baseline is None else baseline
        change = values[:, 2] - baseline[:, 2]
        by_cell = [
            np.mean([c for c, key in zip(change, keys, strict=True) if key == cell])
            for cell in cells
        ]
        error = np.std(by_cell, ddof=1) / len(cells) ** 0.5 if len(cells) > 1 else np.nan
        cost, seconds, regret = values.mean(axis=0)
        lines.append(
            [
                search,
                *(f"{cost:.3f}", "-" if np.isnan(seconds) else f"{seconds:.3f}", f"{regret:.2f}"),
                *(f"{change.mean():+.2f}", f"{error:.2f}"),
            ]
        )
    return lines


def main() -> None:
    """Replay all searches, and write tables and a figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--factor", type=int, default=2)
    parser.add_argument("--candidates", type=int, nargs="+", default=[16, 27, 32, 54, 64, 81])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--name", help="of the file; default: replay_factor_ and the factor")
    options = parser.parse_args()
    measured = list(measured_tables())
    families = {name: [t for t in measured if t.family == name] for name in FAMILIES}
    few = max(options.candidates) < 16
    span = f"{min(options.candidates)} to {max(options.candidates)} candidates, " if few else ""
    lines = [
        f"# Searches replayed on learning curves, {span}factor {options.factor}",
        "",
        "Cost is the share of a grid search over the same candidates on all folds, in units, and",
        "seconds the share of its time (LCDB: unknown). Regret is how much lower the score of the "
        "selected",
        "candidate is than the best one, on all folds at full resource. Its difference from all",
        "folds is paired, with the standard error over the data sets. Means over",
        f"{options.seeds} seeds and {min(options.candidates)} to {max(options.candidates)} "
        "candidates. M is the maximum",
        "resource, and growing folds have the resources of all folds. Hyperband has as many",
        "brackets as there are candidates for, and does not use all of them. Written by",
        f"`python docs/benchmarks/{shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`.",
    ]
    means: dict[str, list[list[str]]] = {}
    for family, tables in (families | {"LCDB": lcdb_tables()}).items():
        runs = list(runs_of(tables, options.candidates, options.seeds, options.factor))
        means[family] = rows_of(runs)
        lines += ["", f"## {family}, {len(tables)} data sets", "", *markdown(HEAD, means[family])]
        print("\n".join(lines[-len(SEARCHES) - 3 :]), flush=True)
    name = options.name or f"replay_factor_{options.factor}"
    write(f"{name}.md", lines)
    if name == DRAWN_FILE:
        draw(means)


def draw(means: dict[str, list[list[str]]]) -> None:
    """Draw regret by cost, with one panel per family."""
    with picture("replay.svg", 10, 6) as ax:
        figure = ax.figure
        ax.remove()
        for number, (family, rows) in enumerate(means.items()):
            panel = figure.add_subplot(2, 3, number + 1)
            drawn = [row for row in rows if row[0] in DRAWN]
            for row, marker in zip(drawn, "osPXv^<>Dp", strict=True):
                is_default = row[0] == 'min_folds="auto"'
                panel.plot(
                    float(row[1]),
                    float(row[3]),
                    marker,
                    label=row[0],
                    markersize=9 - 3 * (not is_default),
                )
            panel.set(title=family, yscale="log", xlim=(0, None))
            panel.set_xlabel("cost / grid search" if number > 2 else "")
            panel.set_ylabel("regret x 1000" if number % 3 == 0 else "")
        handles, labels = panel.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
        figure.set_layout_engine("constrained")


if __name__ == "__main__":
    main()
