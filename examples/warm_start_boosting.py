"""Boosting: promoted models keep their trees and add more of them
===============================================================

The resource is `n_estimators`, the number of trees. A promoted candidate already has trees, and
scikit-learn's warm start adds more. The result is bit-identical to the model of a single fit, which
is checked at the end.

Expect: 2304 trees over all folds, compared with 12288 of a grid search, and 3328 if models were
refit from scratch at every rung; the last line prints True.
Limits: early stopping (`n_iter_no_change`; for histogram boosting the default above 10,000
samples) makes warm start inexact, and then models are refit from scratch at every rung. Few trees
favor high learning rates. With log-loss, which penalizes the overfitting of many trees, this search
eliminates the candidate that would end best: run it with `scoring="neg_log_loss"`, and again
with `min_resources=1.0`. :doc:`where_halving_goes_wrong` shows what to do then.
"""

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import train_test_split

from sklearn_sha import SearchDisplay, SuccessiveHalvingSearchCV

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

model = GradientBoostingClassifier(n_estimators=128, random_state=0)
search = SuccessiveHalvingSearchCV(
    model,
    {
        "learning_rate": loguniform(0.01, 0.5),
        "max_depth": randint(1, 7),
        "subsample": uniform(0.3, 0.7),
    },
    n_candidates=32,
    resource="n_estimators",
    cv=3,
    scoring="roc_auc",
    random_state=0,
    verbose=1,
)
print(search.plan(X_train, y_train), end="\n\n")
search.fit(X_train, y_train)

print(f"\nbest: {search.best_params_}")
print(f"held-out ROC AUC {search.score(X_test, y_test):.4f}")
first, last = search.rung_history_[0], search.rung_history_[-1]
print(f"best score at {first['n_resources']} trees {first['best_score']:.4f}, "
      f"at {last['n_resources']} trees {last['best_score']:.4f}")  # fmt: skip

# Warm start between two rungs, compared with a single fit.
grown = clone(model).set_params(**search.best_params_ | {"n_estimators": 8})
grown.fit(X_train, y_train)
grown.set_params(n_estimators=search.best_n_resources_, warm_start=True).fit(X_train, y_train)
same = np.array_equal(grown.predict_proba(X_test), search.best_estimator_.predict_proba(X_test))
print(f"the predictions of a model grown in two steps are bit-identical: {same}")

# %%
# The resource that each candidate reached, by its parameters:

display = SearchDisplay.from_search(search, kind="params")
