"""Samplers compared on stored learning curves: what a search selects with their candidates.

    python docs/benchmarks/samplers.py

writes results/samplers.md. The configurations of a file of learning_curves.py are the search space,
and scores are read from it. Each search has the default schedule, with growing folds: one bracket
for random candidates, and brackets that follow each other for the model. Both are compared with the
other one, too. Regret is how much lower the score of the selected candidate is than that of the
best configuration of the file, both means over all folds at the maximum resource.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from learning_curves import FAMILIES, FOLDER, load_curves
from numpy.random import RandomState
from numpy.typing import NDArray
from replay import Table, answer, bounds_of
from reports import mean_and_error, table, write

from sklearn_sha.bandit import Algorithm, HalvingInTurn, RungLosses, RungRequest, SuccessiveHalving
from sklearn_sha.candidates import History, ModelSampler, RandomSampler, Sampler
from sklearn_sha.candidates.pool import CandidatePool
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import params_key
from sklearn_sha.schedules import FoldGrowth


@dataclass(frozen=True, eq=False)
class Problem:
    """Curves of one family on one data set, as a search space.

    Attributes
    ----------
    table : Table
    space : list of dict
        One dict for each configuration.
    rows : dict
        Rows of the table by the keys of the configurations.
    """

    table: Table
    space: list[dict[str, list[Any]]]
    rows: dict[Any, int]

    @classmethod
    def read(cls, family: str, data: str) -> Problem:
        """Read the curves of configurations without a failure."""
        curves = load_curves(family, data)
        whole = ~np.isnan(curves.scores).any(axis=(1, 2))
        params = [
            {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in one.items()
            }
            for one, is_whole in zip(curves.params, whole, strict=True)
            if is_whole
        ]
        scores = curves.scores[whole]
        return cls(
            Table(family, data, curves.resources, scores, curves.continues),
            [{name: [value] for name, value in one.items()} for one in params],
            {params_key(one): row for row, one in enumerate(params)},
        )

    def regret(self, sampler: Sampler, algorithm: Algorithm, n_candidates: int, seed: int) -> float:
        """Return the regret of one search."""
        first: list[dict[str, Any]] = []
        if not sampler.uses_history:
            rng = RandomState(seed)
            proposed = sampler.propose(n_candidates, self.space, History(), rng)
            first = [dict(proposed[k]) for k in rng.permutation(len(proposed))]
        pool = CandidatePool(CandidateSource(self.space, sampler), first, seed, {})
        growth = FoldGrowth(tuple(RandomState(seed).permutation(self.table.n_folds).tolist()))
        bounds = bounds_of(self.table.subset(np.arange(n_candidates)), growth, None)
        losses_of = partial(self._losses, pool=pool)
        selected = [
            answer(requests, losses_of)
            for (requests,) in algorithm.rounds(algorithm.plan(bounds), pool.propose)
        ]
        final = self.table.scores[:, :, -1].mean(axis=1)
        return float(final.max() - final[[self._row(pool, number) for number in selected]].max())

    def _losses(self, request: RungRequest, pool: CandidatePool) -> RungLosses:
        rows = [self._row(pool, number) for number in request.candidate_ids]
        scores = self.table.scores_of(rows, request)
        pool.record(request.candidate_ids, request.n_resources, scores)
        return RungLosses.of(-scores.mean(axis=1), fold_losses=-scores)

    def _row(self, pool: CandidatePool, number: int) -> int:
        return self.rows[params_key(pool.params[number])]


def main() -> None:
    """Run all searches, and write a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=48)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    n = options.candidates
    random, model = RandomSampler(), ModelSampler()
    single, brackets = SuccessiveHalving(), HalvingInTurn()
    searches: dict[str, tuple[Sampler, Algorithm, int]] = {
        f"random, {n} candidates": (random, single, n),
        f"random, {2 * n} candidates": (random, single, 2 * n),
        f"random, {n} candidates in brackets": (random, brackets, n),
        f"model, {n} candidates in one bracket": (model, single, n),
        f"model, {n} candidates in brackets": (model, brackets, n),
    }
    problems = [Problem.read(*path.stem.split("-", 1)) for path in sorted(FOLDER.glob("*.npz"))]
    problems = [problem for problem in problems if len(problem.space) >= 2 * n]
    regrets: dict[str, NDArray[np.float64]] = {}
    for name, search in searches.items():
        found = [
            problem.regret(*search, seed)
            for problem, seed in product(problems, range(options.seeds))
        ]
        regrets[name] = 1000 * np.reshape(found, (len(problems), options.seeds))
        print(name, f"{regrets[name].mean():.2f}", flush=True)
    write("samplers.md", report(problems, regrets, options.seeds, 2 * n))


def report(
    problems: list[Problem], regrets: dict[str, NDArray[np.float64]], n_seeds: int, most: int
) -> list[str]:
    """Lines of the page."""
    *others, model = regrets
    families = np.array([problem.table.family for problem in problems])
    data = np.array([problem.table.data for problem in problems])
    n_complete = sum(len(problem.space) == most for problem in problems)
    rows = []
    for family in [*FAMILIES, "all"]:
        of_family = np.ones(len(problems), bool) if family == "all" else families == family
        if not of_family.any():
            continue
        own, different = data[of_family], np.unique(data[of_family])
        row = [family, str(len(different))]
        row += [f"{regrets[name][of_family].mean():.2f}" for name in regrets]
        for name in others:
            changes = (regrets[model] - regrets[name])[of_family].mean(axis=1)
            by_data = [changes[own == one].mean() for one in different]
            row.append(mean_and_error(np.array(by_data)))
        rows.append(row)
    head = ["family", "data sets", *regrets, *(f"{model} - {name}" for name in others)]
    return [
        "# Random and model-based candidates",
        "",
        "Regret x 1000 of Successive Halving on stored learning curves: how much lower the score",
        "of the selected candidate is than that of the best configuration of the file. By default,",
        "random candidates have one bracket, and the model has brackets that follow each other.",
        f"Means over {n_seeds} seeds. Differences have the standard error over the data sets,",
        "which are the same for all families. Brackets cost more, which is not shown.",
        f"{n_complete} of the {len(problems)} files have {most} configurations, so that as many",
        "candidates are all of them.",
        "Written by `python docs/benchmarks/samplers.py`.",
        "",
        *table(head, rows),
    ]


if __name__ == "__main__":
    main()
