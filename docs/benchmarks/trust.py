"""How well the probability of a trust report is calibrated, and the coefficients of its model.

    python docs/benchmarks/trust.py
    python docs/benchmarks/trust.py --fit

replay searches on LCDB and on the curves of learning_curves.py, as replay.py does. Each data set is
in one of four groups. The probabilities for a group come from coefficients that are fitted on the
other three, so that no probability is about a data set that its coefficients have seen. The page is
results/trust.md. `--fit` also writes sklearn_sha/inspection/risk_coefficients.py, fitted on all.
It takes about five minutes. LCDB needs the extra `examples`.

The report is right if no candidate of the search has a score at full resource that is more than the
report's tolerance above that of the selected one.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from learning_curves import DATA
from numpy.typing import NDArray
from replay import Table, answer, bounds_of, lcdb_tables, measured_tables
from reports import picture, table, write
from scipy.integrate import trapezoid
from scipy.optimize import minimize

import sklearn_sha
from sklearn_sha.bandit import Bounds, RungLosses, RungRequest, SuccessiveHalving, numbered
from sklearn_sha.inspection.risk import Eliminated, RungScores, hazards
from sklearn_sha.inspection.trust_advice import TRUSTED, safe_resource
from sklearn_sha.schedules import FoldGrowth

N_GROUPS = 4
MARGINS = {0.0: 0.3, 1.0: 1.0, 3.0: 0.3}
"""Margins on which coefficients are fitted, in tolerances, with their weights."""

PENALTY = 3e-4
"""Of the squared distance from the coefficients that a fit starts from."""

START = {
    "constant": -1.0,
    "ratio": 0.5,
    "continues": 0.0,
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


@dataclass(frozen=True, eq=False)
class Search:
    """A replayed search.

    Attributes
    ----------
    task : str
        Family and metric.
    metric, data : str
    first_rung : str
    known : Eliminated
    regret : float
    regret_if_advised : float
        Of the search with the first rung that the report recommends.
    """

    task: str
    metric: str
    data: str
    first_rung: str
    known: Eliminated
    regret: float
    regret_if_advised: float

    @property
    def tolerance(self) -> float:
        """Of the report."""
        return float(self.known.tolerance[0])


def run(table_: Table, factor: int, bounds: Bounds) -> tuple[int, list[RungScores]]:
    """Return the selected candidate, and the scores of the rungs."""
    algorithm = SuccessiveHalving(factor=factor)
    rungs: list[RungScores] = []

    def losses_of(request: RungRequest) -> RungLosses:
        folds = list(range(table_.n_folds) if request.folds is None else request.folds)
        ids = list(request.candidate_ids)
        scores = np.full((len(ids), table_.n_folds), np.nan)
        at = table_.position(request.n_resources)
        scores[:, folds] = table_.scores[ids][:, folds, at]
        rungs.append(RungScores(ids, request.n_resources, scores))
        return RungLosses.of(-scores[:, folds].mean(axis=1), fold_losses=-scores[:, folds])

    return answer(algorithm.requests(algorithm.plan(bounds), numbered()), losses_of), rungs


def searches(n_seeds: int) -> Iterator[Search]:
    """Replay searches that differ in candidates, factor, first rung and folds."""
    tables = [
        (table_, "R2" if table_.data in DATA and DATA[table_.data].is_regression else "accuracy")
        for table_ in [*measured_tables(), *lcdb_tables()]
    ] + [
        (table_, "log-loss")
        for table_ in [*measured_tables("neg_log_loss"), *lcdb_tables("logloss")]
    ]
    for number, (whole, metric) in enumerate(tables):
        sizes = (8, 16, 20) if whole.family.startswith("lcdb") else (8, 20, 64)
        for n, factor, share, grows in product(sizes, (2, 3), (None, 9, 27), (True, False)):
            if n > len(whole.scores):
                continue
            for seed in range(n_seeds):
                rng = np.random.default_rng([seed, n, number])
                some = whole.subset(rng.permutation(len(whole.scores))[:n])
                order = rng.permutation(some.n_folds).tolist()
                bounds = bounds_of(some, FoldGrowth(tuple(order)) if grows else None, share)
                selected, rungs = run(some, factor, bounds)
                final = some.scores[:, :, -1]
                known = Eliminated.of([rungs], selected, final[selected], continues=some.continues)
                if not len(known.candidate):
                    continue
                at = [rung.n_resources for rung in rungs]
                advised = safe_resource(at, _by_rung(known, len(rungs)))
                # Rungs that differ only in their folds: the advice is to use all of them.
                changed: dict[str, Any] = (
                    {"fold_growth": None} if advised is None else {"min_resources": advised}
                )
                other, _ = run(some, factor, replace(bounds, **changed))
                means = final.mean(axis=1)
                yield Search(
                    f"{whole.family.partition('-')[0]}, {metric}",
                    metric,
                    whole.data,
                    "automatic" if share is None else f"maximum / {share}",
                    known,
                    float(means.max() - means[selected]),
                    float(means.max() - means[other]),
                )


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
        steps = np.concatenate([[0.0], np.geomspace(1e-2, 1e3, 60)])
        better = [1 - self.probabilities(coefficients, step * self.tolerance) for step in steps]
        return np.asarray(trapezoid(better, steps, axis=0) * self.tolerance)

    def fit(self) -> NDArray[np.float64]:
        """Coefficients of the highest penalized likelihood of what is at most which margin."""
        start = np.array(list(START.values()))

        def loss(coefficients: NDArray[np.float64]) -> float:
            total = PENALTY * float(np.sum((coefficients - start) ** 2))
            for margin, weight in MARGINS.items():
                found = self.probabilities(coefficients, margin * self.tolerance)
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


def row_of(
    name: str, some: NDArray[np.bool_], columns: dict[str, NDArray[np.float64]]
) -> list[str]:
    """One line of the tables."""
    at = {key: values[some] for key, values in columns.items()}
    found, is_right = at["probability"], at["right"].astype(bool)
    trusted = found >= TRUSTED
    return [
        name,
        f"{some.sum():,}",
        f"{is_right.mean():.3f}",
        f"{found.mean():.3f}",
        f"{calibration_error(found, is_right):.3f}",
        f"{np.mean((found - is_right) ** 2):.3f}",
        f"{trusted.mean():.2f}",
        f"{is_right[trusted].mean():.3f}" if trusted.any() else "-",
        f"{at['expected'].mean():.4f}",
        f"{at['regret'].mean():.4f}",
    ]


HEAD = [
    *("searches", "number", "right", "probability", "calibration error", "Brier score"),
    *("0.95 or more", "right then", "expected loss", "regret"),
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
    names = sorted({search.data for search in found})
    groups = np.random.default_rng(1).permutation(len(names)) % N_GROUPS
    group = np.array([groups[names.index(search.data)] for search in found])
    probability, expected = np.full((2, len(found)), np.nan)
    for k in range(N_GROUPS):
        inside = Sample.of([s for s, number in zip(found, group, strict=True) if number != k])
        outside = Sample.of([s for s, number in zip(found, group, strict=True) if number == k])
        coefficients = inside.fit()
        probability[group == k] = outside.probabilities(coefficients, outside.tolerance)
        expected[group == k] = outside.expected_losses(coefficients)
        print(dict(zip(NAMES, coefficients.round(2), strict=True)), flush=True)
    regret = np.array([search.regret for search in found])
    tolerance = np.array([search.tolerance for search in found])
    columns = {
        "probability": probability,
        "right": regret <= tolerance + 1e-12,
        "expected": expected,
        "regret": regret,
    }
    write("trust.md", report(found, columns))
    draw(probability, columns["right"])
    if options.fit:
        fitted = Sample.of(found).fit()
        lines = [
            '"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""',
            "",
            "COEFFICIENTS = {",
            *(f'    "{name}": {value:.3f},' for name, value in zip(NAMES, fitted, strict=True)),
            "}",
        ]
        path = Path(sklearn_sha.__file__).parent / "inspection" / "risk_coefficients.py"
        path.write_text("\n".join(lines) + "\n")


def report(found: list[Search], columns: dict[str, NDArray[np.float64]]) -> list[str]:
    """Lines of the page."""
    every = np.ones(len(found), bool)
    rows = [row_of("all", every, columns)]
    for task in sorted({search.task for search in found}):
        rows.append(row_of(task, np.array([s.task == task for s in found]), columns))
    by_first = []
    for metric, first in product(
        ("accuracy", "R2", "log-loss"), ("automatic", "maximum / 9", "maximum / 27")
    ):
        some = np.array([s.metric == metric and s.first_rung == first for s in found])
        by_first.append(row_of(f"{metric}, {first}", some, columns))
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
    return [
        "# The probability of the trust report",
        "",
        "Searches replayed on learning curves. A report is right if no candidate would have ended",
        "better than the selected one by more than the report's tolerance. No probability comes",
        "from coefficients that were fitted on the same data set. Written by",
        "`python docs/benchmarks/trust.py`.",
        "",
        *table(HEAD, rows),
        "",
        "By metric and first rung, all families together:",
        "",
        *table(HEAD, by_first),
        "",
        "How often reports with similar probabilities are right:",
        "",
        *table(["probability", "searches", "its mean", "right"], reliability),
        "",
        f"Of the searches with a probability below {TRUSTED}, the mean regret is",
        f"{columns['regret'][low].mean():.4f}. With the first rung that the report recommends, it",
        f"is {advised[low].mean():.4f}.",
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
