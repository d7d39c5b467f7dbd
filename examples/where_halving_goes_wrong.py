"""Failures on purpose: curves that cross, and how the search says so
==================================================================

A high learning rate is ahead after a few trees and behind after many. A search whose first rung has
two trees promotes the high rates, and eliminates at four trees what would have ended best. Its last
rungs, with high rates only, do not show this. `trust_report` looks at every rung, reports that the
budget may be insufficient, and names the `min_resources` to set next time. This example follows its
advice twice.

Expect: two searches with a worse result than a grid search, whose reports advise a larger budget.
The second report advises a single rung at full resource, which is a grid search.
Limits: such advice is cautious. Here, `min_resources=32` finds the same candidate as the grid
search at half of its cost. And the report depends on what the rungs have shown. If all promoted
candidates behaved alike, it can trust a wrong result: over 12 rates with one depth it does. If you
cannot tell how early scores can be trusted, use `HyperbandSearchCV`.
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
        min_folds="all",  # so that only too few trees mislead, and not too few folds
        scoring="neg_log_loss",
        cv=3,
    ).fit(X, y)
    spent = f"{search.schedule_.spent} of {search.schedule_.grid_cost} trees per fold"
    print(f"score {search.best_score_:.4f}, {spent}\n{search.best_params_}")
    return search


# %%
# Too early
# ---------
#
# The first rung has two trees.

hasty = searched(min_resources=2)
print(trust_report(hasty))

# %%
# Each line is a candidate. Some of those eliminated at four trees were still rising steeply.

hasty_display = SearchDisplay.from_search(hasty)

# %%
# What the report advises
# -----------------------

better = searched(min_resources=10)
print(trust_report(better))

# %%
# Again: a single rung, with all candidates at full resource.

everything = searched(min_resources=128)

# %%
# Less caution would have been enough
# -----------------------------------
#
# The low rates get far enough to be promoted.

half = searched(min_resources=32)

half_display = SearchDisplay.from_search(half)
