"""Hyperband: several bets on how early scores predict the final ranking
=====================================================================

A Successive Halving run bets that the candidates that are ahead after its first rung stay ahead.
`HyperbandSearchCV` makes several bets: its first bracket starts many candidates with one epoch, the
next one starts fewer candidates with more epochs, and the last bracket is a random search at full
resource. All brackets run together, resource by resource. A Successive Halving run with the same
number of candidates is shown for comparison.

Expect: the plan of all brackets, the best score of each, and two held-out accuracies that
differ by less than 0.01.
Limits: it costs more than twice as much as Successive Halving. If early scores predict the final
ranking, as here, the additional cost brings little. If they do not, it is the price of not having
to know.
"""

from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
space = {
    "sgdclassifier__alpha": loguniform(1e-6, 10),
    "sgdclassifier__penalty": ["l2", "l1"],
    "sgdclassifier__loss": ["hinge", "log_loss", "modified_huber"],
}

brackets = HyperbandSearchCV(model, space, resource="partial_fit", max_resources=27, random_state=0)
print(brackets.plan(X_train, y_train))

# %%
# Lines that start further right are candidates of later brackets.

brackets.fit(X_train, y_train)
display = SearchDisplay.from_search(brackets)

# %%
# The best score of each bracket, and Successive Halving with the same number of candidates:

for rung in brackets.rung_history_:
    if rung["n_resources"] == brackets.max_resources_:
        print(f"bracket {rung['bracket']}: best score {rung['best_score']:.4f}")

n_candidates = sum(bracket.n_candidates[0] for bracket in brackets.schedule_.brackets)
halving = SuccessiveHalvingSearchCV(
    model,
    space,
    n_candidates=n_candidates,
    factor=3,
    resource="partial_fit",
    max_resources=27,
    min_folds="all",  # as Hyperband
    random_state=0,
).fit(X_train, y_train)
for name, search in (("Hyperband", brackets), ("Successive Halving", halving)):
    cost = search.rung_history_[-1]["total_cost"]
    score = search.score(X_test, y_test)
    print(f"{name:18} {cost:4} epochs per fold   held-out accuracy {score:.4f}")
