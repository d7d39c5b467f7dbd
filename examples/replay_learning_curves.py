"""Learning curves that others measured: which algorithm finds the best, and at what cost?
=======================================================================================

LCDB (Mohr et al., 2022) has the validation accuracy of 20 scikit-learn classifiers on data
sets of OpenML, over growing numbers of training rows. Its release 0.0.9 is 2.5 MB and has 63
data sets. Each algorithm of `sklearn_sha.bandit` looks for the classifier that is best at
full size, and asks for the accuracy at some sizes only, which are then read off the curves.

Expect: the table of docs/replayed_curves.md. Halving comes much closer to the best than the
same budget in equal shares.
Limits: 20 arms are few, so that Hyperband, which wants more, draws some of them twice. A
classifier that is given more rows starts over; the papers count as if it trained on. The
table has both costs. Accuracies are means over five splits, and the best is the best of them.

    python examples/replay_learning_curves.py FILE.png

keeps the picture in a file. Needs `lcdb`, `pandas` and `matplotlib`: the extra `examples`.
"""

import sys
from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_sha.bandit import doubling, hyperband, successive_halving, uniform_allocation

SHARE = 4  # a budget of one unit in so many that a grid search needs
WIDEST = 27  # Hyperband's widest bracket starts at one row in so many

SHOWN = 40981  # the data set of the picture: Australian


def curves_of(table):
    """Losses of one data set: a row a classifier, a column a number of rows."""
    losses = 1 - table.groupby(["learner", "size_train"])["score_valid"].mean().unstack()
    # A few classifiers ran out of time before they saw all rows.
    return losses[losses.notna().all(axis=1)]


class Replay:
    """The losses of a data set's curves, and the rows that were trained on for them."""

    def __init__(self, curves, arms):
        self.values = curves.to_numpy()[arms]
        self.sizes = curves.columns.to_numpy()
        self.arms = arms
        self.fits = set()

    def __call__(self, arms, resource):
        at = np.searchsorted(self.sizes, max(resource, self.sizes[0]), side="right") - 1
        self.fits |= {(self.arms[arm], at) for arm in arms}
        return self.values[list(arms), at]

    def rows_trained_on(self):
        furthest = {}
        for arm, at in self.fits:
            furthest[arm] = max(at, furthest.get(arm, 0))
        return sum(self.sizes[at] for at in furthest.values())

    def rows_starting_over(self):
        return sum(self.sizes[at] for _, at in self.fits)


def halving(factor):
    return lambda replay, n, rows: successive_halving(replay, n, n * rows // SHARE, factor)


ALGORITHMS = {
    "uniform": lambda replay, n, rows: uniform_allocation(replay, n, n * rows // SHARE),
    "halving, factor 2": halving(2),
    "halving, factor 3": halving(3),
    "halving, factor 4": halving(4),
    "doubling": lambda replay, n, rows: doubling(replay, n, min_resources=16, max_resources=rows),
    "Hyperband": lambda replay, n, rows: hyperband(replay, rows, min_resources=rows // WIDEST + 1),
}


def replayed(curves, name, rng):
    """What an algorithm found on one data set: its costs, and how much worse than the best."""
    n, n_rows = len(curves), int(curves.columns[-1])
    arms = rng.permutation(n)
    if name == "Hyperband":  # as many arms as its brackets ask for, each as often as need be
        arms = np.resize(arms, 200)
    replay = Replay(curves, arms)
    best = ALGORITHMS[name](replay, n, n_rows).best
    final = curves.to_numpy()[:, -1]
    return {
        "algorithm": name,
        "trained on": replay.rows_trained_on() / (n * n_rows),
        "starting over": replay.rows_starting_over() / (n * n_rows),
        "regret": final[arms[best]] - final.min(),
    }


package = distribution("lcdb")
database = pd.read_csv(package.locate_file("lcdb/database-accuracy.csv"))
rng = np.random.default_rng(0)
data_sets = {number: curves_of(table) for number, table in database.groupby("openmlid")}
data_sets = {number: curves for number, curves in data_sets.items() if len(curves) >= 16}
runs = pd.DataFrame(
    [replayed(curves, name, rng) for curves in data_sets.values() for name in ALGORITHMS]
)

by_algorithm = runs.groupby("algorithm", sort=False)
summary = by_algorithm[["trained on", "starting over"]].mean()
summary["median regret"] = by_algorithm["regret"].median()
summary["mean regret"] = by_algorithm["regret"].mean()
summary["best found"] = by_algorithm["regret"].agg(lambda regret: (regret < 1e-9).mean())

print(f"{len(data_sets)} data sets; costs as shares of training every classifier on all rows\n")
print("| algorithm |", " | ".join(summary.columns), "|")
print("|---|", "|".join(["---"] * len(summary.columns)), "|", sep="")
for name, row in summary.iterrows():
    print(f"| {name} |", " | ".join(f"{value:.4f}" for value in row), "|")

# %%
# One data set, and all of them:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
curves = data_sets[SHOWN]
n, n_rows = len(curves), int(curves.columns[-1])
history = successive_halving(Replay(curves, np.arange(n)), n, n * n_rows // SHARE).history
for arm, (_, curve) in enumerate(curves.iterrows()):
    seen = max(row["resource"] for row in history if arm in row["arms"])
    won = history[-1]["kept"] == (arm,)
    left.plot(curve, color="0.85", linewidth=1)
    left.plot(curve[curve.index <= seen], color="C1" if won else "C0", linewidth=1 + won)
left.set_xscale("log", base=2)
left.set(xlabel="training rows", ylabel="validation error")
left.set_title("Halving on one data set: seen, and (grey) not", fontsize=10)
for name, row in summary.iterrows():
    right.scatter(row["trained on"], row["mean regret"], label=name)
right.set(xlabel="share of the full cost", ylabel="mean regret", ylim=(0, 0.008), xlim=(0, 0.5))
right.legend()
right.set_title(f"All {len(data_sets)} data sets", fontsize=10)
if sys.argv[1:]:
    figure.savefig(sys.argv[1], dpi=100)
