"""scikit-learn's meta-estimators, searched and around a search."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.model_selection import KFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sklearn_sha import SuccessiveHalvingSearchCV

X, SPECIES = load_iris(return_X_y=True)
WIDTHS = X[:, 3] + 1
BOTH = np.c_[SPECIES, SPECIES % 2]
CV = KFold(3, shuffle=True, random_state=0)
ALPHAS = [1e-4, 1e-2, 1.0, 100.0]

union = FeatureUnion([("scale", StandardScaler()), ("pca", PCA(2))])
columns = ColumnTransformer(
    [("scale", StandardScaler(), [0, 1]), ("range", MinMaxScaler(), [2, 3])]
)

# Estimator, searched parameter and its values, resource, targets.
SEARCHED = {
    "target": (
        TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp),
        "regressor__alpha", ALPHAS, "n_samples", WIDTHS,
    ),
    "calibrated": (
        CalibratedClassifierCV(LogisticRegression(max_iter=500), cv=3),
        "estimator__C", ALPHAS, "n_samples", SPECIES,
    ),
    "calibrated, iterations": (
        CalibratedClassifierCV(SGDClassifier(random_state=0, tol=None), cv=3),
        "estimator__alpha", ALPHAS, "estimator__max_iter", SPECIES,
    ),
    "outputs": (
        MultiOutputClassifier(LogisticRegression(max_iter=500)),
        "estimator__C", ALPHAS, "n_samples", BOTH,
    ),
    "classes": (
        OneVsRestClassifier(LogisticRegression(max_iter=500)),
        "estimator__C", ALPHAS, "n_samples", SPECIES,
    ),
    "union": (
        make_pipeline(union, LogisticRegression(max_iter=500)),
        "logisticregression__C", ALPHAS, "n_samples", SPECIES,
    ),
    "union, searched": (
        make_pipeline(union, LogisticRegression(max_iter=500)),
        "featureunion__pca__n_components", [1, 2, 3], "n_samples", SPECIES,
    ),
    "columns": (
        make_pipeline(columns, LogisticRegression(max_iter=500)),
        "logisticregression__C", ALPHAS, "n_samples", SPECIES,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHED)
def test_they_are_searched_and_the_last_rung_scores_as_their_cross_validation(name):
    model, searched, values, resource, y = SEARCHED[name]
    sizes = {"min_resources": 25} if resource == "n_samples" else {"max_resources": 50}
    search = SuccessiveHalvingSearchCV(
        model, {searched: values}, resource=resource, cv=CV, error_score="raise", **sizes
    ).fit(X, y)
    assert len(search.n_resources_) > 1
    best = clone(model).set_params(**search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(best, X, y, cv=CV).mean())
    assert search.predict(X).shape == y.shape


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MultiOutputClassifier(SGDClassifier(random_state=0)), BOTH),
        (OneVsRestClassifier(SGDClassifier(random_state=0)), SPECIES),
    ],
    ids=str,
)
def test_those_with_partial_fit_train_on(model, y):
    search = SuccessiveHalvingSearchCV(
        model, {"estimator__alpha": ALPHAS}, resource="partial_fit", max_resources=8, cv=CV,
        error_score="raise",
    ).fit(X, y)  # fmt: skip
    by_hand = clone(model).set_params(**search.best_params_)
    classes = [np.unique(column) for column in y.T] if y.ndim == 2 else np.unique(y)
    for _ in range(8):
        by_hand.partial_fit(X, y, classes=classes)
    np.testing.assert_array_equal(search.predict(X), by_hand.predict(X))


def inner(estimator=None):
    return SuccessiveHalvingSearchCV(
        estimator or SGDClassifier(random_state=0),
        {"alpha": ALPHAS},
        resource="partial_fit",
        max_resources=8,
        cv=3,
    )


AROUND = {
    "target": (
        TransformedTargetRegressor(inner(SGDRegressor()), transformer=StandardScaler()),
        WIDTHS,
        lambda m: [m.regressor_],
    ),
    "calibrated": (
        CalibratedClassifierCV(inner(), cv=2),
        SPECIES,
        lambda m: [c.estimator for c in m.calibrated_classifiers_],
    ),
    "outputs": (MultiOutputClassifier(inner()), BOTH, lambda m: m.estimators_),
    "classes": (OneVsRestClassifier(inner()), SPECIES, lambda m: m.estimators_),
    "pipeline": (make_pipeline(columns, inner()), SPECIES, lambda m: [m[-1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", AROUND)
def test_they_are_fitted_around_a_search(name):
    model, y, searches_of = AROUND[name]
    model = clone(model).fit(StandardScaler().fit_transform(X), y)
    searches = searches_of(model)
    assert searches
    for search in searches:
        assert search.n_resources_ == [4, 8]
    assert model.score(StandardScaler().fit_transform(X), y) > 0.6


class Shifted(Pipeline):
    """Its predictions, and so its scores, are not those of its last step."""

    def predict(self, X):
        return (super().predict(X) + 1) % 3

    def score(self, X, y):
        return float((self.predict(X) == y).mean())


class ShiftedBy(Pipeline):
    """A pipeline with a parameter of its own, which has no default."""

    def __init__(self, steps, by, *, memory=None, verbose=False):
        super().__init__(steps, memory=memory, verbose=verbose)
        self.by = by

    def predict(self, X):
        return (super().predict(X) + self.by) % 3


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_parameters_of_a_subclass_of_pipeline_are_those_of_the_candidate(resource):
    steps = [("scale", StandardScaler()), ("model", SGDClassifier(random_state=0))]
    search = SuccessiveHalvingSearchCV(
        ShiftedBy(steps, 2), {"by": [0, 1, 2]}, resource=resource, cv=CV, min_resources=1.0,
        max_resources="auto" if resource == "n_samples" else 16, scoring="accuracy",
    ).fit(X, SPECIES)  # fmt: skip
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] > 0.8 > 0.2 > scores[1:].max()
    assert search.best_estimator_.by == 0
    assert search.score(X, SPECIES) > 0.8


@pytest.mark.parametrize("scoring", [None, "accuracy"])
@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_a_pipeline_of_a_subclass_is_scored_as_a_whole(resource, scoring):
    steps = [("scale", StandardScaler()), ("model", SGDClassifier(random_state=0))]
    search = SuccessiveHalvingSearchCV(
        Shifted(steps), {"model__alpha": [1e-4, 1e-3, 1e-2]}, resource=resource, cv=CV,
        max_resources="auto" if resource == "n_samples" else 16, scoring=scoring,
    ).fit(X, SPECIES)  # fmt: skip
    assert isinstance(search.best_estimator_, Shifted)
    assert search.best_score_ < 0.3
    assert search.score(X, SPECIES) < 0.3


@pytest.mark.parametrize(
    ("regressors", "message"),
    [
        (
            [RandomForestRegressor(4), Ridge()],
            "resource='regressor__n_estimators' is no parameter of TransformedTargetRegressor with "
            "regressor=Ridge(); use resource='n_samples'.",
        ),
        (
            [RandomForestRegressor(4), RandomForestRegressor(8)],
            'max_resources="auto" requires a resource with a default maximum, but '
            "resource='regressor__n_estimators' has none, or candidates have different ones; give "
            "max_resources an integer.",
        ),
    ],
)
def test_each_searched_component_must_have_the_resource(regressors, message):
    model = TransformedTargetRegressor(RandomForestRegressor(16))
    search = SuccessiveHalvingSearchCV(
        model, {"regressor": regressors}, resource="regressor__n_estimators"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        search.fit(X, WIDTHS)


def test_only_the_searched_components_must_have_the_resource():
    forests = [RandomForestRegressor(4, random_state=0), ExtraTreesRegressor(4, random_state=0)]
    search = SuccessiveHalvingSearchCV(
        TransformedTargetRegressor(Ridge()),
        {"regressor": forests, "regressor__max_depth": [1, 8]},
        resource="regressor__n_estimators",
    ).fit(X, WIDTHS)
    assert search.n_resources_[-1] == 4 == search.best_params_["regressor__n_estimators"]
    assert len(search.best_estimator_.regressor_.estimators_) == 4


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize(
    ("learner", "name", "message"),
    [
        (SGDClassifier(), "max_iter", "estimator__max_iter, which partial_fit of SGDClassifier"),
        (GaussianNB(), "var_smoothing", "gives GaussianNB the same samples at every call"),
    ],
)
def test_warnings_about_partial_fit_are_those_of_the_estimator_that_learns(learner, name, message):
    search = SuccessiveHalvingSearchCV(
        OneVsRestClassifier(learner), {f"estimator__{name}": [5, 10]}, resource="partial_fit"
    )
    with pytest.warns(UserWarning, match=message):
        search.plan(X, SPECIES)


class OwnIterations(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """It has a parameter of the name that the held estimator has too."""

    def __init__(self, estimator, max_iter=1):
        self.estimator = estimator
        self.max_iter = max_iter

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "held_"):
            self.held_ = clone(self.estimator)
            self.classes_ = classes
        for _ in range(self.max_iter):
            self.held_.partial_fit(X, y, classes=self.classes_)
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y, classes=np.unique(y))

    def predict(self, X):
        return self.held_.predict(X)


@pytest.mark.filterwarnings("error", "ignore:Including the fixed cost")
def test_a_parameter_of_the_meta_estimator_itself_is_not_ignored():
    model = OwnIterations(SGDClassifier(random_state=0))
    search = SuccessiveHalvingSearchCV(model, {"max_iter": [1, 2]}, resource="partial_fit")
    assert search.plan(X, SPECIES).unit == "epochs"


@pytest.mark.filterwarnings("ignore:Including the fixed cost", "ignore:.* gives GaussianNB")
@pytest.mark.parametrize(
    ("model", "n_epochs"),
    [
        (OneVsRestClassifier(SGDClassifier(max_iter=20)), 20),
        (make_pipeline(StandardScaler(), OneVsRestClassifier(MLPClassifier(max_iter=30))), 30),
        (OwnIterations(SGDClassifier(max_iter=20), max_iter=7), 7),
        (OneVsRestClassifier(GaussianNB()), 100),
    ],
    ids=["SGDClassifier", "MLPClassifier", "its own", "none"],
)
def test_the_automatic_maximum_is_the_number_of_iterations_of_the_estimator_that_has_one(
    model, n_epochs
):
    (name,) = [name for name in model.get_params() if name.endswith(("alpha", "var_smoothing"))]
    search = SuccessiveHalvingSearchCV(model, {name: ALPHAS}, resource="partial_fit")
    assert search.plan(X, SPECIES).n_resources[-1] == n_epochs


def test_batches_of_a_held_estimator_that_counts_contain_each_sample_once():
    model = OneVsRestClassifier(MultinomialNB())
    search = SuccessiveHalvingSearchCV(
        model, {"estimator__alpha": [0.1, 1.0]}, resource="partial_fit", batch_size=15
    ).fit(X, SPECIES)
    counts = [one.class_count_.sum() for one in search.best_estimator_.estimators_]
    assert counts == [len(X)] * 3
    whole = clone(model).set_params(**search.best_params_).fit(X, SPECIES)
    assert np.allclose(search.predict_proba(X), whole.predict_proba(X), rtol=1e-12)
