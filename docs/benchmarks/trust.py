"""How well the probability of a trust report is calibrated, and the coefficients of its model.

    python docs/benchmarks/trust.py
    python docs/benchmarks/trust.py --fit

replay searches on LCDB and on the curves of learning_curves.py and learner_curves.py, as replay.py
does. Each data set is in one of eight groups. The probabilities for a group come from coefficients
that are fitted on the other seven, so that no probability is about a data set that its coefficients
have seen. Another table is about LCDB, with coefficients that are fitted without any of its data
sets. Two more tables are about searches that no coefficients are fitted on: those whose rungs add
folds only, and those in several brackets. The page is results/trust.md. `--fit` also writes
sklearn_sha/inspection/risk_coefficients.py, fitted on all. It takes ten to twenty minutes. LCDB
needs the extra `examples`.

The report is right if no candidate of the search has a score at full resource that is more than the
report's tolerance above that of the selected one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from learner_curves import CLASSIFICATION, FOLDERS, REGRESSION, learner_scores
from learning_curves import DATA
from numpy.typing import NDArray
from replay import (
    Table,
    answer,
    bounds_of,
    hyperband_bounds,
    in_turn,
    lcdb_tables,
    measured_tables,
)
from reports import picture, table, write
from scipy.integrate import trapezoid
from scipy.optimize import minimize

import sklearn_sha
from sklearn_sha.bandit import (
    Algorithm,
    Anytime,
    Bounds,
    HalvingInTurn,
    Hyperband,
    RungLosses,
    RungRequest,
    SuccessiveHalving,
    numbered,
)
from sklearn_sha.inspection.risk import MARGIN_STEPS, Eliminated, RungScores, hazards
from sklearn_sha.inspection.trust_advice import TRUSTED, larger_budget
from sklearn_sha.schedules import FoldGrowth, Schedule

N_GROUPS = 8
MARGINS = {0.0: 0.3, 1.0: 1.0, 3.0: 0.3}
"""Margins on which coefficients are fitted, in tolerances, with their weights."""

N_AUDITED = 4
"""Candidates of an audit, the default of `SuccessiveHalvingSearchCV.audit`."""

PENALTY = 3e-4
"""Of the squared distance from the coefficients that a fit starts from."""

START = {
    "constant": -1.0,
    "ratio": 0.5,
    "share": 0.0,
    "continues": 0.0,
    "estimators": 0.0,
    "roc_auc": 0.0,
    "n_candidates": -1.0,
    "tail": 4.0,
    "carried_over": 0.5,
    "tolerance": 0.0,
    "folds": 0.0,
    "missing_folds": 0.0,
    "changes": -2.0,
    "lead": -4.0,
    "spread_ratio": 1.0,
}
"""Round numbers, and not what was fitted before: that would know of all data sets."""

NAMES = list(START)

SOURCES = {name: path for name, (path, *_) in {**CLASSIFICATION, **REGRESSION}.items()} | {
    "diamonds": "ggplot2/diamonds.csv",
    "late_flights": "flights",
    "speeds": "flights",
}

RESOURCES = {"mlp": "epochs", "boosting": "iterations", "forest": "trees"}
"""Of families of candidates. That of all others is the number of training samples."""

N_ANYTIME = 16
"""Parameter `n_candidates` of the anytime searches, which try all candidates of a table."""

METRICS = ("accuracy", "R2", "log-loss", "AUC")
FIRST_RUNGS = ("automatic", "maximum / 9", "maximum / 27", "64 samples")
ON_FOLDS = "folds"
IN_BRACKETS = ("brackets in turn", "anytime", "Hyperband")


@dataclass(frozen=True, eq=False)
class Search:
    """A replayed search.

    Attributes
    ----------
    task : str
        Family and metric.
    metric, data : str
    kind : str
        One of FIRST_RUNGS or IN_BRACKETS, or ON_FOLDS.
    brackets : list of list of RungScores
    selected : int
    final : ndarray of shape (n_candidates, n_folds)
        Scores at full resource.
    continues : bool
    estimators : bool
        Whether candidates are estimators of different classes.
    cost : int
        Units per fold, or over all folds if folds grow.
    cost_of_candidate : int
        Of one candidate that is trained to full resource.
    regret_if_advised : float, default=0.0
        Of the search with the parameters that the report recommends.
    cost_if_advised : int, default=0
    audited_ids : tuple of int, default=()
        Candidates that an audit added to the last rung.
    """

    task: str
    metric: str
    data: str
    kind: str
    brackets: list[list[RungScores]]
    selected: int
    final: NDArray[np.float64]
    continues: bool
    estimators: bool
    cost: int
    cost_of_candidate: int
    regret_if_advised: float = 0.0
    cost_if_advised: int = 0
    audited_ids: tuple[int, ...] = ()

    @cached_property
    def known(self) -> Eliminated:
        """What the report knows."""
        final = self.final[self.selected]
        return Eliminated.of(
            self.brackets,
            self.selected,
            final,
            continues=self.continues,
            estimators=self.estimators,
            roc_auc=self.metric == "AUC",
            highest_score=0.0 if self.metric == "log-loss" else 1.0,
            audited=self.audited_ids,
        )

    @property
    def source(self) -> str:
        """Data set, of which several targets can be searched for."""
        return SOURCES.get(self.data, self.data)

    @property
    def resource(self) -> str:
        """Unit of the resource."""
        return RESOURCES.get(self.task.partition(",")[0], "training samples")

    @property
    def regret(self) -> float:
        """Difference from the best candidate at full resource."""
        means = self.final.mean(axis=1)
        return float(means.max() - means[self.selected])

    def audited(self, coefficients: NDArray[np.float64]) -> Search:
        """Return a search in one bracket after an audit of the candidates with the most risk."""
        at = dict(zip(NAMES, coefficients, strict=True))
        order = np.argsort(-hazards(self.known, self.known.tolerance, at), kind="stable")
        ((*before, last),) = self.brackets
        chosen = self.known.candidate[order[:N_AUDITED]].tolist()
        ids = sorted({*last.candidates, *chosen})
        rungs = [*before, RungScores(ids, last.n_resources, self.final[ids])]
        selected = ids[int(self.final[ids].mean(axis=1).argmax())]
        cost = self.cost + len(chosen) * self.cost_of_candidate
        return replace(
            self, brackets=[rungs], selected=selected, cost=cost, audited_ids=tuple(chosen)
        )

    @property
    def tolerance(self) -> float:
        """Of the report."""
        return float(self.known.tolerance[0])


def run(
    table_: Table, algorithm: Algorithm, bounds: Bounds
) -> tuple[int, list[list[RungScores]], Schedule]:
    """Return the selected candidate, the scores of the rungs by bracket, and the schedule."""
    plan = algorithm.plan(bounds)
    brackets: list[list[RungScores]] = [[] for _ in plan.brackets]

    def losses_of(request: RungRequest) -> RungLosses:
        ids, known = list(request.candidate_ids), table_.scores_of(request.candidate_ids, request)
        scores = np.full((len(ids), table_.n_folds), np.nan)
        scores[:, table_.folds_of(request)] = known
        brackets[request.bracket].append(RungScores(ids, request.n_resources, scores))
        return RungLosses.of(-known.mean(axis=1), fold_losses=-known)

    requests = in_turn(algorithm.rounds(plan, numbered()))
    return answer(requests, losses_of), brackets, plan


def all_tables() -> Iterator[tuple[Table, str, bool]]:
    """Read tables, their metrics, and whether candidates are estimators of different classes."""
    for metric, name, lcdb in (
        ("scores", "accuracy", "accuracy"),
        ("neg_log_loss", "log-loss", "logloss"),
        ("roc_auc", "AUC", None),
    ):
        for one in measured_tables(metric):
            yield one, "R2" if DATA[one.data].is_regression else name, False
        for one in lcdb_tables(lcdb) if lcdb else []:
            yield one, name, True
        for family in FOLDERS:
            for data, resources, scores in learner_scores(family, metric):
                one = Table(family, data, resources, scores, continues=False)
                yield one, "R2" if data in REGRESSION else name, True


def first_rungs(table_: Table) -> dict[str, int | None]:
    """Return the resources of the first rung, by name."""
    maximum = int(table_.resources[-1])
    found: dict[str, int | None] = {"automatic": None}
    found |= {f"maximum / {share}": max(1, maximum // share) for share in (9, 27)}
    return found | ({"64 samples": 64} if table_.family.startswith(("lcdb", "large")) else {})


def numbers_of_candidates(table_: Table, estimators: bool) -> list[int]:
    """Return how many candidates searches over a table have."""
    sizes = (8, 16, 20) if estimators else (8, 20, 64)
    return [n for n in sizes if n <= len(table_.scores)]


def sampled(whole: Table, number: int, n: int, seed: int) -> tuple[Table, tuple[int, ...]]:
    """Return n candidates of the table with a number, and the order of its folds."""
    rng = np.random.default_rng([seed, n, number])
    some = whole.subset(rng.permutation(len(whole.scores))[:n])
    return some, tuple(rng.permutation(some.n_folds).tolist())


def searches(n_seeds: int) -> Iterator[Search]:
    """Replay searches that differ in candidates, factor, first rung and folds."""
    for number, (whole, metric, estimators) in enumerate(all_tables()):
        sizes, starts = numbers_of_candidates(whole, estimators), first_rungs(whole).items()
        for n, factor, (first_rung, start), grows in product(sizes, (2, 3), starts, (True, False)):
            for seed in range(n_seeds):
                some, order = sampled(whole, number, n, seed)
                growth = FoldGrowth(order) if grows else None
                bounds = replace(bounds_of(some, growth, None), min_resources=start)
                algorithm = SuccessiveHalving(factor)
                found, plan = replayed(some, metric, estimators, first_rung, algorithm, bounds)
                if not len(found.known.candidate):
                    continue
                (rungs,) = found.brackets
                folds = [rung.folds for rung in plan.rungs]
                levels = [
                    (rung.n_resources, some.n_folds if own is None else len(own))
                    for rung, own in zip(rungs, folds, strict=True)
                ]
                settings = larger_budget(levels, _by_rung(found.known, len(rungs)), factor)
                names = settings.keys() & {"min_resources"}
                changed: dict[str, Any] = {name: settings[name] for name in names}
                if min_folds := settings.get("min_folds"):
                    is_all = min_folds == "all"
                    growth = None if is_all else FoldGrowth(order, int(min_folds))
                    changed["fold_growth"] = growth
                other, _, longer = run(some, algorithm, replace(bounds, **changed))
                # Over all folds, as those of a search whose folds grow.
                times = 1 if longer.n_folds == plan.n_folds else some.n_folds
                yield replace(
                    found,
                    regret_if_advised=replace(found, selected=other).regret,
                    cost_if_advised=times * longer.total_cost,
                )


def replayed(
    table_: Table,
    metric: str,
    estimators: bool,
    kind: str,
    algorithm: Algorithm,
    bounds: Bounds,
) -> tuple[Search, Schedule]:
    """Return a replayed search, over the candidates that it tries, and its schedule."""
    selected, brackets, plan = run(table_, algorithm, bounds)
    n_tried = sum(bracket.n_candidates[0] for bracket in plan.brackets)
    found = Search(
        f"{table_.family.partition('-')[0]}, {metric}",
        metric,
        table_.data,
        kind,
        brackets,
        selected,
        table_.scores[:n_tried, :, -1],
        table_.continues,
        estimators,
        plan.total_cost,
        plan.full_cost,
    )
    return found, plan


class OnFolds(SuccessiveHalving):
    """Rungs that add folds at the maximum, as `FoldCount` plans them if one fold is enough."""

    def plan(self, bounds: Bounds) -> Schedule:
        assert bounds.fold_growth is not None
        order = bounds.fold_growth.order
        rungs = super().plan(Bounds(bounds.n_candidates, len(order))).rungs
        return Schedule.from_rungs(
            [rung.n_candidates for rung in rungs],
            [bounds.max_resources] * len(rungs),
            continues=False,
            folds=[order[: rung.n_resources] for rung in rungs],
        )


def searches_on_folds(n_seeds: int) -> Iterator[Search]:
    """Replay searches whose rungs add folds only."""
    for number, (whole, metric, estimators) in enumerate(all_tables()):
        sizes = numbers_of_candidates(whole, estimators)
        for n, factor, seed in product(sizes, (2, 3), range(n_seeds)):
            some, order = sampled(whole, number, n, seed)
            at_maximum = replace(some, continues=False)
            bounds = bounds_of(at_maximum, FoldGrowth(order), None)
            found, _ = replayed(at_maximum, metric, estimators, ON_FOLDS, OnFolds(factor), bounds)
            if len(found.known.candidate):
                yield found


def searches_in_brackets(n_seeds: int) -> Iterator[Search]:
    """Replay searches in several brackets."""
    for number, (whole, metric, estimators) in enumerate(all_tables()):
        n = len(whole.scores)
        for factor, grows, seed in product((2, 3), (True, False), range(n_seeds)):
            rng = np.random.default_rng([seed, number])
            some = whole.subset(rng.permutation(n))
            growth = FoldGrowth(tuple(rng.permutation(some.n_folds).tolist())) if grows else None
            bounds = bounds_of(some, growth, None)
            until_all = replace(bounds, n_candidates=N_ANYTIME, max_candidates=n)
            ways = (
                (HalvingInTurn(factor), bounds),
                (Anytime(factor), until_all),
                (Hyperband(factor), hyperband_bounds(some, factor, growth)),
            )
            for kind, way in zip(IN_BRACKETS, ways, strict=True):
                found, _ = replayed(some, metric, estimators, kind, *way)
                if len(found.brackets) > 1 and len(found.known.candidate):
                    yield found


def _by_rung(known: Eliminated, n_rungs: int) -> list[float]:
    return np.bincount(known.rung, hazards(known, known.tolerance), n_rungs).tolist()


@dataclass(frozen=True, eq=False)
class Sample:
    """Many searches, as arrays.

    Attributes
    ----------
    known : Eliminated
        Of all searches.
    lengths : ndarray of int, shape (n_searches,)
        Numbers of eliminated candidates.
    regret, tolerance, weight : ndarray of shape (n_searches,)
        The weights of each table add up to the same.
    """

    known: Eliminated
    lengths: NDArray[np.int64]
    regret: NDArray[np.float64]
    tolerance: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, found: Sequence[Search]) -> Sample:
        """Collect searches."""
        columns = (
            np.concatenate([getattr(search.known, field.name) for search in found])
            for field in fields(Eliminated)
        )
        tables = np.array([search.task + search.data for search in found])
        _, inverse, counts = np.unique(tables, return_inverse=True, return_counts=True)
        weight = 1 / counts[inverse]
        return cls(
            Eliminated(*columns),
            np.array([len(search.known.candidate) for search in found]),
            np.array([search.regret for search in found]),
            np.array([search.tolerance for search in found]),
            weight / weight.mean(),
        )

    def probabilities(
        self, coefficients: NDArray[np.float64], margin: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Probability of each search that nothing better by its margin was eliminated."""
        by_candidate = hazards(
            self.known,
            np.repeat(margin, self.lengths),
            dict(zip(NAMES, coefficients, strict=True)),
        )
        starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])
        return np.asarray(np.exp(-np.add.reduceat(by_candidate, starts)))

    def expected_losses(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Integral over the margins, as in sklearn_sha.inspection.risk."""
        better = [
            1 - self.probabilities(coefficients, step * self.tolerance) for step in MARGIN_STEPS
        ]
        return np.asarray(trapezoid(better, MARGIN_STEPS, axis=0) * self.tolerance)

    def fit(self) -> NDArray[np.float64]:
        """Coefficients of the highest penalized likelihood of what is at most which margin.

        They are fitted as if scores had no maximum, and hold for other data sets better then.
        """
        start = np.array(list(START.values()))
        room = np.full_like(self.known.room, np.inf)
        unlimited = replace(self, known=replace(self.known, room=room))

        def loss(coefficients: NDArray[np.float64]) -> float:
            total = PENALTY * float(np.sum((coefficients - start) ** 2))
            for margin, weight in MARGINS.items():
                found = unlimited.probabilities(coefficients, margin * self.tolerance)
                found = np.clip(found, 1e-5, 1 - 1e-5)
                is_right = self.regret <= margin * self.tolerance + 1e-12
                logs = np.where(is_right, np.log(found), np.log(1 - found))
                total -= weight * float(np.mean(self.weight * logs))
            return total

        return np.asarray(minimize(loss, start, method="L-BFGS-B", options={"maxiter": 100}).x)


def bins_of(found: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number each probability by its bin, of ten of equal width."""
    return np.minimum((10 * found).astype(int), 9)


def calibration_error(found: NDArray[np.float64], is_right: NDArray[np.bool_]) -> float:
    """Expected calibration error."""
    bins = bins_of(found)
    return float(
        sum(
            abs(found[bins == k].mean() - is_right[bins == k].mean()) * (bins == k).mean()
            for k in np.unique(bins)
        )
    )


def standard_error(differences: NDArray[np.float64], sources: NDArray[np.str_]) -> float:
    """Standard error of the mean of differences that belong together by data set."""
    deviations, names = differences - differences.mean(), np.unique(sources)
    sums = [deviations[sources == name].sum() for name in names]
    variance = np.square(sums).sum() * len(names) / (len(names) - 1)
    return float(np.sqrt(variance) / len(differences))


def row_of(name: str, some: NDArray[np.bool_], columns: dict[str, NDArray[Any]]) -> list[str]:
    """One line of the tables."""
    at = {key: values[some] for key, values in columns.items()}
    found, is_right = at["probability"], at["right"].astype(bool)
    trusted = found >= TRUSTED
    return [
        name,
        f"{some.sum():,}",
        f"{is_right.mean():.3f}",
        f"{found.mean():.3f}",
        f"{(found - is_right).mean():+.3f} ± {standard_error(found - is_right, at['source']):.3f}",
        f"{calibration_error(found, is_right):.3f}",
        f"{np.mean((found - is_right) ** 2):.3f}",
        f"{trusted.mean():.2f}",
        f"{is_right[trusted].mean():.3f}" if trusted.any() else "-",
        f"{at['expected'].mean():.4f}",
        f"{at['regret'].mean():.4f}",
    ]


HEAD = [
    *("searches", "number", "share right", "mean probability", "difference", "calibration error"),
    "Brier score",
    *("share with 0.95 or more", "share right of these", "expected loss", "regret"),
]


def main() -> None:
    """Fit, and write the page, the figure and the coefficients."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--fit", action="store_true", help="write the coefficients")
    options = parser.parse_args()
    found = list(searches(options.seeds))
    print(f"{len(found):,} searches", flush=True)
    names = sorted({search.source for search in found})
    groups = np.random.default_rng(1).permutation(len(names)) % N_GROUPS
    group_of = dict(zip(names, groups.tolist(), strict=True))
    parts = [[s for s in found if group_of[s.source] != k] for k in range(N_GROUPS)]
    parts += [[s for s in found if not s.task.startswith("lcdb")], found]
    *fits, without_lcdb, of_all = Parallel(n_jobs=-1)(
        delayed(Sample.fit)(Sample.of(part)) for part in parts
    )
    for coefficients in (*fits, without_lcdb, of_all):
        print(dict(zip(NAMES, coefficients.round(2).tolist(), strict=True)), flush=True)

    audited = [search.audited(fits[group_of[search.source]]) for search in found]
    on_folds = list(searches_on_folds(options.seeds))
    in_brackets = list(searches_in_brackets(options.seeds))
    columns, after_audit, columns_on_folds, columns_in_brackets = (
        columns_of(some, fits, [group_of[search.source] for search in some])
        for some in (found, audited, on_folds, in_brackets)
    )
    write(
        "trust.md",
        [
            *report(found, columns),
            *lcdb_report(found, without_lcdb),
            *fold_report(on_folds, columns_on_folds),
            *bracket_report(in_brackets, columns_in_brackets),
            *audit_report(found, columns, audited, after_audit),
        ],
    )
    draw(columns["probability"], columns["right"])
    if options.fit:
        lines = [
            '"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""',
            "",
            "COEFFICIENTS = {",
            *(f'    "{name}": {value:.3f},' for name, value in zip(NAMES, of_all, strict=True)),
            "}",
        ]
        path = Path(sklearn_sha.__file__).parent / "inspection" / "risk_coefficients.py"
        path.write_text("\n".join(lines) + "\n")


def columns_of(
    found: Sequence[Search], fits: Sequence[NDArray[np.float64]], groups: Sequence[int]
) -> dict[str, NDArray[Any]]:
    """Columns of the tables, one value per search, with the coefficients of its group."""
    probability, expected = np.full((2, len(found)), np.nan)
    for k, coefficients in enumerate(fits):
        some = np.flatnonzero(np.array(groups) == k)
        sample = Sample.of([found[position] for position in some.tolist()])
        probability[some] = sample.probabilities(coefficients, sample.tolerance)
        expected[some] = sample.expected_losses(coefficients)
    regret = np.array([search.regret for search in found])
    tolerance = np.array([search.tolerance for search in found])
    return {
        "probability": probability,
        "expected": expected,
        "right": regret <= tolerance + 1e-12,
        "regret": regret,
        "source": np.array([search.source for search in found]),
    }


def lcdb_report(found: Sequence[Search], without_lcdb: NDArray[np.float64]) -> list[str]:
    """Lines about LCDB, with coefficients that are fitted on all other data sets."""
    inside = [search for search in found if search.task.startswith("lcdb")]
    columns = columns_of(inside, [without_lcdb], [0] * len(inside))
    outer = np.array([s.kind in ("automatic", "64 samples") for s in inside])
    every = np.ones(len(inside), bool)
    groups = [*by_kind(inside), ("automatic and 64 samples", outer), ("all", every)]
    rows = [[*row_of(name, some, columns), highest_third(some, columns)] for name, some in groups]
    return [
        "",
        "## LCDB, without LCDB in the fit",
        "",
        "The coefficients are fitted on all searches but those on LCDB. The last column is about",
        "the third of the searches with the highest probabilities, however high these are, and",
        "depends only on their order.",
        "",
        *table([*HEAD, "share right of the highest third"], rows),
    ]


def fold_report(found: Sequence[Search], columns: dict[str, NDArray[Any]]) -> list[str]:
    """Lines about searches whose rungs add folds only."""
    every = np.ones(len(found), bool)
    return [
        "",
        "## Searches whose resource is the folds",
        "",
        "All models of these searches have the maximum of the other resource, and a rung adds",
        "folds only. No coefficients were fitted on such searches.",
        "",
        *table(
            HEAD,
            [row_of("all", every, columns)]
            + [row_of(name, some, columns) for name, some in by_kind(found)],
        ),
    ]


def bracket_report(found: Sequence[Search], columns: dict[str, NDArray[Any]]) -> list[str]:
    """Lines about searches in brackets."""
    return [
        "",
        "## Searches in several brackets",
        "",
        "The brackets are those of a sampler that uses the history (in turn), of",
        '`budget="anytime"`, or of Hyperband with as many brackets as there are candidates for.',
        "The candidates are in random order. No coefficients were fitted on such searches.",
        "",
        *table(HEAD, [row_of(name, some, columns) for name, some in by_kind(found)]),
    ]


def highest_third(some: NDArray[np.bool_], columns: dict[str, NDArray[Any]]) -> str:
    """Share of right reports among the third with the highest probabilities."""
    order = np.argsort(-columns["probability"][some], kind="stable")
    return f"{columns['right'][some][order[: len(order) // 3]].mean():.3f}"


def audit_report(
    found: Sequence[Search],
    before: dict[str, NDArray[Any]],
    audited: Sequence[Search],
    after: dict[str, NDArray[Any]],
) -> list[str]:
    """Lines about the audits."""
    shares = np.array([b.cost / a.cost - 1 for a, b in zip(found, audited, strict=True)])
    rows = []
    for name, some in by_kind(found):
        probability, is_right = after["probability"][some], after["right"][some].astype(bool)
        trusted = probability >= TRUSTED
        rows.append(
            [
                name,
                f"{before['regret'][some].mean():.4f}",
                f"{after['regret'][some].mean():.4f}",
                f"{before['right'][some].mean():.3f}",
                f"{is_right.mean():.3f}",
                f"{probability.mean():.3f}",
                f"{calibration_error(probability, is_right):.3f}",
                f"{trusted.mean():.2f}",
                f"{is_right[trusted].mean():.3f}" if trusted.any() else "-",
                f"{shares[some].mean():.2f}",
            ]
        )
    return [
        "",
        "## Audits",
        "",
        f"The same searches after an audit of the {N_AUDITED} candidates with the highest risks.",
        "The cost is relative to that of the search, with models that are refit from scratch.",
        "",
        *table(
            [
                *(
                    "searches",
                    "regret before",
                    "regret after",
                    "share right before",
                    "share right after",
                ),
                *("mean probability", "calibration error", "share with 0.95 or more"),
                *("share right of these", "cost"),
            ],
            rows,
        ),
    ]


def by_kind(found: Sequence[Search]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield names and masks of the searches with the same metric and first rung, or brackets."""
    for metric, kind in product(METRICS, (*FIRST_RUNGS, ON_FOLDS, *IN_BRACKETS)):
        some = np.array([s.metric == metric and s.kind == kind for s in found])
        if some.any():
            yield f"{metric}, {kind}", some


def report(found: list[Search], columns: dict[str, NDArray[Any]]) -> list[str]:
    """Lines of the page."""
    every = np.ones(len(found), bool)
    rows = [row_of("all", every, columns)]
    for task in sorted({search.task for search in found}):
        rows.append(row_of(task, np.array([s.task == task for s in found]), columns))
    by_metric = [
        row_of(metric, np.array([s.metric == metric for s in found]), columns) for metric in METRICS
    ]
    by_first = [row_of(name, some, columns) for name, some in by_kind(found)]
    by_resource = [
        row_of(unit, np.array([s.resource == unit for s in found]), columns)
        for unit in sorted({search.resource for search in found})
    ]
    probability, is_right = columns["probability"], columns["right"]
    bins = bins_of(probability)
    reliability = [
        [
            f"{k / 10:.1f} to {(k + 1) / 10:.1f}",
            f"{(bins == k).sum():,}",
            f"{probability[bins == k].mean():.2f}",
            f"{is_right[bins == k].mean():.2f}",
        ]
        for k in np.unique(bins)
    ]
    low = probability < TRUSTED
    advised = np.array([search.regret_if_advised for search in found])
    more = np.array([search.cost_if_advised / search.cost for search in found])
    return [
        "# The probability of the trust report",
        "",
        "Searches replayed on learning curves. A report is right if no candidate would have ended",
        "better than the selected one by more than the report's tolerance. No probability comes",
        "from coefficients that were fitted on the same data set. Written by",
        "`python docs/benchmarks/trust.py`.",
        "",
        "The candidates of `lcdb`, `learners` (1,000 training samples) and `large learners` (3,000",
        "to 10,000) are estimators of different classes. Those of the other families differ in the",
        "parameters of one estimator. The difference is that of the mean probability and the share",
        "right, with its standard error over the data sets.",
        "",
        *table(HEAD, rows),
        "",
        "By metric, all families together:",
        "",
        *table(HEAD, by_metric),
        "",
        "By metric and first rung:",
        "",
        *table(HEAD, by_first),
        "",
        "By resource:",
        "",
        *table(HEAD, by_resource),
        "",
        "How often reports with similar probabilities are right:",
        "",
        *table(["probability", "searches", "mean probability", "share right"], reliability),
        "",
        f"Of the searches with a probability below {TRUSTED}, the mean regret is",
        f"{columns['regret'][low].mean():.4f}. With the parameters that the report recommends,",
        f"it is {advised[low].mean():.4f}, at {more[low].mean():.1f} times the cost. The",
        "parameters are recommended with the coefficients of the library, which know these data",
        "sets.",
        "",
        "![How often reports are right, by their probability](../../images/trust.svg)",
    ]


def draw(probability: NDArray[np.float64], is_right: NDArray[np.float64]) -> None:
    """Draw how often reports are right, by their probability."""
    bins = bins_of(probability)
    known = np.unique(bins)
    with picture("trust.svg", 4, 4) as ax:
        ax.plot([0, 1], [0, 1], color="0.7", zorder=0)
        ax.plot(
            [probability[bins == k].mean() for k in known],
            [is_right[bins == k].mean() for k in known],
            "o-",
        )
        ax.set(xlabel="probability in the report", ylabel="share of reports that are right")
        ax.set(xlim=(0, 1), ylim=(0, 1))


if __name__ == "__main__":
    main()
