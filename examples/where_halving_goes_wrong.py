"""Failures on purpose: learning curves that cross, and how to notice
==================================================================

A high learning rate is ahead after a few trees and behind after many. A search whose first rung has
two trees promotes the high rates, and eliminates at four trees what would have ended best.
`trust_report` estimates the probability that this did not happen, and names the `min_resources` to
set next time. This example audits the eliminated candidates with the highest risks, and then
follows the advice in a second search.

Expect: a search with a worse result than a grid search, whose report has a low probability; an
audit that finds the grid search's candidate among those eliminated; and a second search with the
advised `min_resources`, at 0.7 of the grid search's cost, which finds it too. The probabilities of
the latter two are 0.95 or more. It takes half a minute.
Limits: the probability is an estimate. It rests on curves of other data sets, and cannot know of
one that is unlike all of them. If you do not know when scores predict the final ranking, use
`HyperbandSearchCV`.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report

X, y = load_breast_cancer(return_X_y=True)
model = GradientBoostingClassifier(n_estimators=128, random_state=0)
space = {
    "learning_rate": np.geomspace(0.02, 1, 6).round(3).tolist(),
    "max_depth": [1, 2, 3],
}


def searched(min_resources, **params):
    search = SuccessiveHalvingSearchCV(
        model,
        space,
        resource="n_estimators",
        min_resources=min_resources,
        min_folds="all",  # so that only too few trees mislead, and not too few folds
        scoring="neg_log_loss",
        cv=3,
        **params,
    ).fit(X, y)
    cost = f"{search.schedule_.total_cost} of {search.schedule_.grid_cost} trees per fold"
    print(f"score {search.best_score_:.4f}, {cost}\n{search.best_params_}")
    return search


# %%
# Too early
# ---------
#
# The first rung has two trees. The models of eliminated candidates are kept, for an audit.

hasty = searched(min_resources=2, keep_eliminated=True)
hasty_report = trust_report(hasty)
print(hasty_report)

# %%
# Each line is a candidate. Some of those eliminated at four trees were still rising steeply.

hasty_display = SearchDisplay.from_search(hasty)

# %%
# Each bar is an eliminated candidate. It starts at the score that the candidate is expected to have
# at full resource. With a probability of 0.95, no candidate of the rung would exceed its upper end.

possible_display = SearchDisplay.from_search(hasty, kind="trust")

# %%
# What an audit finds
# -------------------
#
# `audit` trains, to full resource, the eliminated candidates with the highest risks. Their models
# continue training.

print(hasty.plan_audit(n_candidates=8))
hasty.audit(X, y, n_candidates=8)
print(f"score {hasty.best_score_:.4f}\n{hasty.best_params_}")
audited_report = trust_report(hasty)
print(audited_report)

# %%
# Diamonds are the audited candidates. Their scores are known.

audited_display = SearchDisplay.from_search(hasty, kind="trust")

# %%
# What the report advises
# -----------------------

better = searched(min_resources=55)
print(trust_report(better))

# %%
# Lower rates get far enough to be promoted, among them the best one, 0.209.

better_display = SearchDisplay.from_search(better)

# %%
# What a grid search finds
# ------------------------
#
# A single rung has all candidates at full resource.

everything = searched(min_resources=128)
