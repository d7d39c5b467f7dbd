"""Digits with no budget to choose: double it until more no longer helps
=====================================================================

`budget="double"` runs Successive Halving with the minimum of one epoch in the first rung, then with
twice as many epochs, and so on. Completed evaluations are reused, and models continue training. The
same candidates are also searched with two fixed budgets, since the right budget is not known in
advance.

Expect: cross-validated scores that differ by less than 0.01, with 320 epochs, compared with 72 and
640 of the fixed budgets. The search stops by itself.
Limits: `patience=2` ends the search after two runs without a better score. Scores that stay the
same for longer and then rise again are missed; raise `patience` if you expect that. A few epochs
are enough here, so the smaller fixed budget is cheaper. This is not known in advance.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
grid = {
    "sgdclassifier__alpha": np.logspace(-5, 2, 8),
    "sgdclassifier__penalty": ["l2", "l1"],
}


def search_with(budget):
    search = SuccessiveHalvingSearchCV(
        model,
        grid,
        resource="partial_fit",
        budget=budget,
        min_folds="all",  # with "auto", folds do not grow with a fixed budget
        cv=3,
    )
    return search.fit(X_train, y_train)


searches = {budget: search_with(budget) for budget in ("double", 80, 640)}
print("budget   epochs trained   cross-validated   held out")
for budget, search in searches.items():
    print(
        f"{budget!s:>6}   {search.rung_history_[-1]['total_cost']:>14}"
        f"   {search.best_score_:>15.4f}   {search.score(X_test, y_test):>8.4f}"
    )

doubling = searches["double"]
cached = doubling.all_cv_results_["cached"]
print(f"\nDoubling ended with {doubling.best_n_resources_} epochs for its finalists; of the")
print(f"{len(cached)} scores that it compared, {cached.sum()} were known from an earlier run.")

# %%
# Each run promotes a few candidates to more resource than the previous run:

display = SearchDisplay.from_search(doubling)
