"""Failures on purpose: curves that cross, and how the search says so
==================================================================

A high learning rate is ahead after a few trees and behind after many. A halving that begins with
two trees keeps the high rates and drops, at four, what would have ended best. Its last rungs,
where all rates are high, show nothing of it; `trust_report` looks at every rung, says that the
budget may be insufficient, and what to set next time. Here that is done, twice.

Expect: two searches that end behind, whose reports say so, and a third that does what they said
and finds what a grid search finds, at three quarters of its cost.
Limits: a report is careful, where it sees something: half as much would have done here. And it
knows only what the rungs have shown. Where all that went on behaved alike it can trust a wrong
answer: over 12 rates with one depth it does. `HyperbandSearchCV` is for those who can't tell.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report

X, y = load_breast_cancer(return_X_y=True)
model = GradientBoostingClassifier(n_estimators=128, max_depth=2, random_state=0)
space = {
    "learning_rate": np.geomspace(0.02, 1, 6).round(3).tolist(),
    "max_depth": [1, 2, 3],
}


def searched(min_resources):
    search = SuccessiveHalvingSearchCV(
        model,
        space,
        resource="n_estimators",
        min_resources=min_resources,
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    spent = f"{search.schedule_.spent} of {search.schedule_.grid_cost} trees per fold"
    print(f"score {search.best_score_:.4f}, {spent}\n{search.best_params_}")
    return search


# %%
# Too hasty
# ---------
#
# The first rung looks at two trees.

hasty = searched(min_resources=2)
print(trust_report(hasty))

# %%
# Every line is a candidate. Some of those dropped at four trees were still rising steeply.

hasty_display = SearchDisplay.from_search(hasty)

# %%
# What the report says to do
# --------------------------

better = searched(min_resources=8)
print(trust_report(better))

# %%
# And once more. The low rates get far enough to be seen.

careful = searched(min_resources=64)

careful_display = SearchDisplay.from_search(careful)

# %%
# What all candidates would have come to
# --------------------------------------

everything = searched(min_resources=1.0)
