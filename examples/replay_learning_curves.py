"""Learning curves that others measured: which algorithm finds the best, and at what cost?
=======================================================================================

LCDB (Mohr et al., 2022) has the validation accuracy of 20 scikit-learn classifiers on data
sets of OpenML, for increasing numbers of training samples. Its release 0.0.9 is 2.5 MB and has 63
data sets. Each algorithm of `sklearn_sha.bandit` searches for the classifier that is best on all
samples. It requests the accuracy for some numbers of samples only, which is read from the curves.

Expect: the table of :doc:`replayed learning curves </replayed_curves>`. Successive Halving comes
much closer to the best classifier than uniform allocation with the same budget.
Limits: 20 arms are few. Hyperband needs more, so that its brackets sample some of them twice.
These classifiers are refit from scratch on more samples; the papers count the cost as if training
continued. The table has both costs. Accuracies are means over five splits, and the best classifier
is selected by the same accuracies. ::

    python examples/replay_learning_curves.py FILE.png

saves the figure in a file. Needs `lcdb`, `pandas` and `matplotlib`: the extra `examples`.
"""

import sys
from importlib.metadata import distribution

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from sklearn_sha.bandit import doubling, hyperband, successive_halving, uniform_allocation

SHARE = 4  # the budget is 1/4 of the cost of a grid search
WIDEST = 27  # the first bracket of Hyperband starts with 1/27 of the samples

SHOWN = 40981  # the data set of the figure: Australian


def curves_of(table):
    """Losses of one data set: one row per classifier, one column per number of samples."""
    losses = 1 - table.groupby(["learner", "size_train"])["score_valid"].mean().unstack()
    # A few classifiers ran out of time before they were trained on all samples.
    return losses[losses.notna().all(axis=1)]


class Replay:
    """The losses of a data set's curves, and the training samples that they cost."""

    def __init__(self, curves, arms):
        self.values = curves.to_numpy()[arms]
        self.sizes = curves.columns.to_numpy()
        self.arms = arms
        self.fits = set()

    def __call__(self, arms, resource):
        at = np.searchsorted(self.sizes, max(resource, self.sizes[0]), side="right") - 1
        self.fits |= {(self.arms[arm], at) for arm in arms}
        return self.values[list(arms), at]

    def cost_continued(self):
        furthest = {}
        for arm, at in self.fits:
            furthest[arm] = max(at, furthest.get(arm, 0))
        return sum(self.sizes[at] for at in furthest.values())

    def cost_refit(self):
        return sum(self.sizes[at] for _, at in self.fits)


def halving(factor):
    return lambda replay, n, n_samples: successive_halving(
        replay, n, n * n_samples // SHARE, factor
    )


ALGORITHMS = {
    "uniform": lambda replay, n, n_samples: uniform_allocation(replay, n, n * n_samples // SHARE),
    "halving, factor 2": halving(2),
    "halving, factor 3": halving(3),
    "halving, factor 4": halving(4),
    "doubling": lambda replay, n, n_samples: doubling(
        replay, n, min_resources=16, max_resources=n_samples
    ),
    "Hyperband": lambda replay, n, n_samples: hyperband(
        replay, n_samples, min_resources=n_samples // WIDEST + 1
    ),
}


def replayed(curves, name, rng):
    """Costs of an algorithm on one data set, and its regret."""
    n, n_samples = len(curves), int(curves.columns[-1])
    arms = rng.permutation(n)
    if name == "Hyperband":  # as many arms as its brackets need, with repetitions
        arms = np.resize(arms, 200)
    replay = Replay(curves, arms)
    best = ALGORITHMS[name](replay, n, n_samples).best
    final = curves.to_numpy()[:, -1]
    return {
        "algorithm": name,
        "continued": replay.cost_continued() / (n * n_samples),
        "refit from scratch": replay.cost_refit() / (n * n_samples),
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
summary = by_algorithm[["continued", "refit from scratch"]].mean()
summary["median regret"] = by_algorithm["regret"].median()
summary["mean regret"] = by_algorithm["regret"].mean()
summary["best found"] = by_algorithm["regret"].agg(lambda regret: (regret < 1e-9).mean())

print(f"{len(data_sets)} data sets; costs as shares of training every classifier on all samples\n")
print("| algorithm |", " | ".join(summary.columns), "|")
print("|---|", "|".join(["---"] * len(summary.columns)), "|", sep="")
for name, row in summary.iterrows():
    print(f"| {name} |", " | ".join(f"{value:.4f}" for value in row), "|")

# %%
# One data set, and all of them:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
curves = data_sets[SHOWN]
n, n_samples = len(curves), int(curves.columns[-1])
history = successive_halving(Replay(curves, np.arange(n)), n, n * n_samples // SHARE).history
for arm, (_, curve) in enumerate(curves.iterrows()):
    seen = max(row["n_resources"] for row in history if arm in row["arms"])
    won = history[-1]["kept"] == (arm,)
    left.plot(curve, color="0.85", linewidth=1)
    left.plot(curve[curve.index <= seen], color="C1" if won else "C0", linewidth=1 + won)
left.set_xscale("log", base=2)
left.set(xlabel="training samples", ylabel="validation error")
left.set_title("One data set: curves as halving saw them (gray: not seen)", fontsize=10)
for name, row in summary.iterrows():
    right.scatter(row["continued"], row["mean regret"], label=name)
right.set(xlabel="share of the full cost", ylabel="mean regret", ylim=(0, 0.008), xlim=(0, 0.5))
right.legend()
right.set_title(f"All {len(data_sets)} data sets", fontsize=10)
if sys.argv[1:]:
    figure.savefig(sys.argv[1], dpi=100)
