"""Digits with no budget to choose: double it until more no longer helps
=====================================================================

`budget="double"` halves all candidates with the least there is, one epoch, then with twice as
much, and so on. What has been trained is read back or trained on. Beside it, the same
candidates with fixed budgets, of which nobody knows beforehand which is right.

Expect: cross-validated scores that are within one in a hundred of each other, at 320 epochs
where the fixed budgets train 72 and 640. It stops by itself.
Limits: `patience=2` takes two halvings without a better winner for the end. Scores that stand
still for longer and then rise again are missed; raise `patience` where you expect that. Here a
few epochs are enough, which only the smaller fixed budget could profit from, by chance.
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
        min_folds="all",  # otherwise doubling grows its folds, and a fixed budget does not
        cv=3,
    )
    return search.fit(X_train, y_train)


searches = {budget: search_with(budget) for budget in ("double", 80, 640)}
print("budget   epochs trained   cross-validated   held out")
for budget, search in searches.items():
    print(
        f"{budget!s:>6}   {search.rung_history_[-1]['spent']:>14}   {search.best_score_:>15.4f}"
        f"   {search.score(X_test, y_test):>8.4f}"
    )

doubling = searches["double"]
cached = doubling.all_cv_results_["cached"]
print(f"\nDoubling ended with {doubling.best_n_resources_} epochs for its finalists; of the")
print(f"{len(cached)} scores that it compared, {cached.sum()} were known from an earlier halving.")

# %%
# Each halving goes further than the one before, with fewer candidates:

display = SearchDisplay.from_search(doubling)
