"""What resource="auto" chooses, and when an automatic search is a grid search."""

import re
import warnings
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import loguniform, randint, uniform
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import DBSCAN
from sklearn.datasets import (
    load_digits,
    load_iris,
    make_blobs,
    make_classification,
    make_hastie_10_2,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.impute import KNNImputer
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.metrics import silhouette_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import check_random_state

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import FixedBudget, FixedSchedule
from sklearn_sha.inspection import trust, trust_advice, trust_report
from sklearn_sha.resources import PartialFit, SampleCount, TrainingData, TunedEstimator
from sklearn_sha.resources.automatic import auto_resource
from sklearn_sha.resources.class_labels import classes_of
from sklearn_sha.resources.epochs import can_stop
from sklearn_sha.resources.fixed_costs import candidate_cost, fixed_cost

X, Y = make_classification(3000, 20, n_informative=6, random_state=0)
DIGITS = load_digits(return_X_y=True)
IRIS = load_iris(return_X_y=True)


class Network(ClassifierMixin, BaseEstimator):
    """Counts its epochs; a call of partial_fit trains max_epochs of them, as in skorch."""

    def __init__(self, lr=0.1, max_epochs=10, callbacks=None):
        self.lr = lr
        self.max_epochs = max_epochs
        self.callbacks = callbacks

    def fit(self, X, y):
        self.epochs_ = 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else classes
        self.epochs_ = getattr(self, "epochs_", 0) + self.max_epochs
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return self.lr * self.epochs_


def in_pipeline(step):
    return Pipeline([("scale", StandardScaler()), ("clf", step)])


FOREST = RandomForestClassifier()


@pytest.mark.parametrize(
    ("estimator", "space", "expected"),
    [
        (MLPClassifier(), {"alpha": [1, 2]}, "partial_fit"),
        (MLPClassifier(), {"alpha": [1, 2], "solver": ["adam", "sgd"]}, "partial_fit"),
        (MLPClassifier(), {"solver": ["adam", "lbfgs"]}, "n_samples"),
        (MLPClassifier(solver="lbfgs"), {"solver": ["adam"]}, "partial_fit"),
        (MLPClassifier(solver="lbfgs"), {}, "n_samples"),
        (MLPRegressor(solver="lbfgs"), {}, "n_samples"),
        (MLPRegressor(), {"solver": ["adam", "lbfgs"]}, "n_samples"),
        (MLPClassifier(early_stopping=True), {"alpha": [1, 2]}, "n_samples"),
        (MLPClassifier(), {"early_stopping": [False, True]}, "n_samples"),
        (MLPClassifier(), {"max_iter": [10, 20]}, "n_samples"),
        (MLPClassifier(tol=1e-6), {"alpha": [1, 2]}, "n_samples"),
        (in_pipeline(MLPClassifier()), {"clf__alpha": [1, 2]}, "partial_fit"),
        (Network(), {"lr": [1, 2]}, "partial_fit"),
        (Network(), {"lr": [1, 2], "max_epochs": [5, 10]}, "n_samples"),
        (Network(callbacks=["early stopping"]), {"lr": [1, 2]}, "n_samples"),
        # Their fit stops long before 100 epochs.
        (SGDClassifier(), {"alpha": loguniform(1e-6, 1)}, "n_samples"),
        (Perceptron(), {"alpha": [1, 2]}, "n_samples"),
        # What counts samples learns nothing from seeing them again.
        (GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, "n_samples"),
        (LogisticRegression(), {"C": [1, 2]}, "n_samples"),
        (FOREST, {"max_depth": [2, 3]}, "n_estimators"),
        (FOREST, {"max_depth": [2, 3], "n_estimators": [50, 100]}, "n_samples"),
        (ExtraTreesClassifier(), {"max_depth": [2, 3]}, "n_estimators"),
        (BaggingClassifier(), {"max_samples": [0.2, 0.5]}, "n_estimators"),
        (in_pipeline(FOREST), {"clf__max_depth": [2, 3]}, "clf__n_estimators"),
        # Curves of learning rates cross.
        (HistGradientBoostingClassifier(), {"learning_rate": [0.1, 1]}, "n_samples"),
        (HistGradientBoostingClassifier(), {"max_leaf_nodes": [3, 31]}, "max_iter"),
        (GradientBoostingClassifier(), {"max_depth": [2, 3]}, "n_estimators"),
        # Cannot continue, so that there is nothing to gain by counting its trees.
        (AdaBoostClassifier(), {"learning_rate": [0.1, 1]}, "n_samples"),
        # Families: what all of them have.
        (in_pipeline(FOREST), {"clf": [FOREST, ExtraTreesClassifier()]}, "clf__n_estimators"),
        (in_pipeline(FOREST), {"clf": [FOREST, RandomForestClassifier(50)]}, "n_samples"),
        (in_pipeline(MLPClassifier()), {"clf": [MLPClassifier(), SVC()]}, "n_samples"),
        (in_pipeline(FOREST), [{"clf": [FOREST]}, {"clf": [SVC()]}], "n_samples"),
    ],
)
def test_auto_is_what_all_candidates_have_and_what_is_cheapest(estimator, space, expected):
    assert (
        auto_resource(TunedEstimator(estimator, space if isinstance(space, list) else [space]))
        == expected
    )


SAMPLES = "training samples"
TREE = DecisionTreeClassifier(random_state=0)
PRUNING = {"ccp_alpha": [0, 0.001, 0.003, 0.01], "max_depth": [4, 8, None]}
DEPTHS = {"max_depth": [2, 4, 6, 8, 10, 12, 14, None]}
BOOSTING = GradientBoostingClassifier(n_estimators=10)
RATES = [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("estimator", "space", "params", "expected"),
    [
        (TREE, PRUNING, {}, "folds"),
        (TREE, {"min_impurity_decrease": uniform(0, 0.01)}, {"n_candidates": 12}, "folds"),
        (in_pipeline(TREE), {"clf__ccp_alpha": [0.0, 0.001, 0.01, 0.1]}, {}, "folds"),
        (TREE, PRUNING, {"sampler": "model", "n_candidates": 12}, "folds"),
        (TREE, DEPTHS, {}, "folds"),
        (
            BOOSTING,
            {"learning_rate": [0.1, 0.3], "min_samples_leaf": [0.01, 0.1, 0.2, 0.4]},
            {},
            "folds",
        ),
        (
            BOOSTING,
            {"learning_rate": [0.1, 0.3], "min_samples_leaf": uniform(0, 0.5)},
            {"n_candidates": 16},
            "folds",
        ),
        (
            BOOSTING,
            {"learning_rate": [0.1, 0.3], "min_samples_leaf": randint(1, 50)},
            {"n_candidates": 16},
            "n_samples",
        ),
        (
            BOOSTING,
            {"learning_rate": RATES, "min_samples_leaf": [1, 2, 5, 10]},
            {},
            "n_samples",
        ),
        (in_pipeline(ExtraTreeClassifier()), {"clf__max_depth": [*range(1, 9)]}, {}, "folds"),
        (
            in_pipeline(TREE),
            {"clf": [TREE, ExtraTreeClassifier()], "clf__max_depth": [*range(1, 9)]},
            {},
            "folds",
        ),
        (in_pipeline(TREE), {"clf": [TREE, SVC()]}, {"min_folds": 1}, "n_samples"),
        (AdaBoostClassifier(), {"learning_rate": np.linspace(0.1, 1, 16)}, {}, "n_samples"),
        (
            Pipeline([("select", SelectFromModel(TREE)), ("clf", SVC())]),
            {"select__estimator__min_samples_leaf": [0.01, 0.1], "clf__C": np.logspace(-3, 3, 8)},
            {},
            "n_samples",
        ),
        (BOOSTING, {"learning_rate": [0.1, 0.3], "ccp_alpha": [0.0, 0.01, 0.1, 1]}, {}, "folds"),
        (BOOSTING, {"learning_rate": RATES, "max_depth": [1, 2, 3, 4]}, {}, "n_samples"),
        # Their trees are trained on all samples.
        (FOREST, PRUNING, {}, "n_estimators"),
        # What the user sets is a number of samples.
        (TREE, PRUNING, {"resource": "n_samples"}, "n_samples"),
        (TREE, PRUNING, {"min_resources": 300}, "n_samples"),
        (TREE, PRUNING, {"max_resources": 1000}, "n_samples"),
        (TREE, PRUNING, {"min_folds": "all"}, "n_samples"),
        (TREE, PRUNING, {"budget": 10_000}, "n_samples"),
        (TREE, PRUNING, {"budget": "anytime"}, "n_samples"),
    ],
)
@pytest.mark.filterwarnings("ignore:max_resources=1000")
def test_for_the_size_of_a_tree_the_resource_is_the_folds(estimator, space, params, expected):
    X, y = make_classification(3000, flip_y=0.2, random_state=0)
    search = SuccessiveHalvingSearchCV(estimator, space, random_state=0, **params)
    plan = search.plan(X, y)
    unit = {"folds": "folds", "n_samples": "training samples", "n_estimators": "trees"}[expected]
    assert plan.unit == unit
    is_told = any("since the best size of a tree depends on the number" in n for n in plan.notes)
    assert is_told == (expected == "folds")


@pytest.mark.parametrize(
    ("estimator", "space", "expected"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15, 25, 50, 80]}, "folds"),
        (KNeighborsRegressor(), {"n_neighbors": randint(1, 80)}, "folds"),
        (
            in_pipeline(KNeighborsClassifier()),
            {"clf__n_neighbors": [1, 5, 20, 80], "clf__weights": ["uniform", "distance"]},
            "folds",
        ),
        (
            in_pipeline(TREE),
            [
                {"clf": [TREE], "clf__max_depth": [2, 4, 8, None]},
                {"clf": [KNeighborsClassifier()], "clf__n_neighbors": [1, 5, 20, 80]},
            ],
            "folds",
        ),
        (KNeighborsClassifier(), {"p": np.linspace(1, 2, 32)}, SAMPLES),
        (RadiusNeighborsClassifier(1.0), {"radius": np.linspace(1, 16, 32)}, SAMPLES),
        (
            in_pipeline(SVC()),
            [
                {"clf": [SVC()], "clf__C": np.logspace(-2, 2, 16)},
                {"clf": [KNeighborsClassifier()], "clf__n_neighbors": [1, 5, 20, 80]},
            ],
            SAMPLES,
        ),
        (
            Pipeline([("impute", KNNImputer()), ("clf", SVC())]),
            {"impute__n_neighbors": [1, 5, 20, 80], "clf__C": [0.1, 1, 10, 100]},
            SAMPLES,
        ),
    ],
)
def test_for_the_number_of_neighbors_the_resource_is_the_folds(estimator, space, expected):
    plan = SuccessiveHalvingSearchCV(estimator, space).plan(*make_classification(3000))
    assert plan.unit == expected
    is_told = any(re.search("since the best number of neighbors .*depend", n) for n in plan.notes)
    assert is_told == (expected == "folds")


@pytest.mark.parametrize(("n_samples", "expected"), [(9_999, "folds"), (10_000, "n_samples")])
def test_many_samples_are_enough_to_rank_the_sizes_of_trees(n_samples, expected):
    X, y = np.zeros((n_samples, 1)), np.arange(n_samples) % 2
    assert resource_of(TREE, DEPTHS, X, y) == expected
    assert resource_of(KNeighborsClassifier(), {"n_neighbors": range(1, 9)}, X, y) == expected
    assert resource_of(TREE, {"min_samples_split": [0.001, 0.01, 0.1, 0.2]}, X, y) == "folds"


def resource_of(estimator, space, X, y):
    search = SuccessiveHalvingSearchCV(estimator, space)
    return search.plan(X, y).unit.replace("training samples", "n_samples")


def test_pruning_is_ranked_on_all_samples():
    """With 200 samples, all small values have the same tree, and the first of them remain."""
    X, y = make_hastie_10_2(3000, random_state=1)
    space = {"ccp_alpha": np.logspace(-5, -1, 16).tolist()}
    searches = [
        GridSearchCV(TREE, space).fit(X, y),
        SuccessiveHalvingSearchCV(TREE, space, random_state=0).fit(X, y),
        SuccessiveHalvingSearchCV(TREE, space, random_state=0, resource="n_samples").fit(X, y),
    ]
    best, ours, on_samples = (search.best_score_ for search in searches)
    assert ours == best
    assert on_samples < best - 0.02


def test_advice_keeps_folds_as_the_resource(monkeypatch):
    """`min_resources` alone would be a number of samples."""
    for module in (trust, trust_advice):
        monkeypatch.setattr(module, "TRUSTED", 0.999)

    def noise(model, X, y):
        if model.ccp_alpha == 0:
            return 0.6
        return np.random.default_rng([int(1e6 * model.ccp_alpha), len(X), y.sum()]).normal(
            0.58, 0.1
        )

    X, y = make_classification(1500, flip_y=0.3, random_state=0)
    space = {"ccp_alpha": np.linspace(0, 1, 12).tolist()}
    cv = ShuffleSplit(10, random_state=0)
    search = SuccessiveHalvingSearchCV(TREE, space, scoring=noise, cv=cv, random_state=0)
    advice = trust_report(search.fit(X, y)).advice
    first = int(re.search(r"Next time set resource='folds' and min_resources=(\d+)\.", advice)[1])
    again = clone(search).set_params(resource="folds", min_resources=first)
    assert again.plan(X, y).n_resources[0] == first > 1


def test_without_scores_on_a_fold_no_samples_are_recommended():
    def fails(model, X, y):
        raise RuntimeError("no score today")

    X, y = make_classification(500, random_state=0)
    space = {"ccp_alpha": np.linspace(0, 0.02, 16).tolist()}
    search = SuccessiveHalvingSearchCV(TREE, space, scoring=fails)
    with pytest.raises(ValueError, match=r"with 1 fold, so that .* Models have the full resource"):
        search.fit(X, y)


@pytest.mark.parametrize("n_folds", [1, 2])
def test_clusters_are_found_in_all_samples(n_folds):
    """A scorer of what was found in the training samples has as many test samples."""

    def silhouette(model, X, y=None):
        labels = model.labels_
        return silhouette_score(X, labels) if len({*labels}) > 1 else -1

    X, _ = make_blobs(1500, 5, centers=6, cluster_std=2, random_state=0)
    space = {"eps": [0.8, 1.2, 1.6, 2.0, 2.5, 3.0], "min_samples": [5, 10, 20]}
    cv = n_folds * [(np.arange(1500), np.arange(1500))]
    params = {"scoring": silhouette, "cv": cv}
    search = SuccessiveHalvingSearchCV(DBSCAN(), space, random_state=0, **params).fit(X)
    theirs = GridSearchCV(DBSCAN(), space, **params).fit(X)
    assert search.best_params_ == theirs.best_params_
    assert search.best_score_ == theirs.best_score_
    notes = " ".join(search.schedule_.notes)
    assert ("since models without predict are scored by what they found" in notes) == (n_folds > 1)


class OfWidth(MLPClassifier):
    """A network whose constructor is its own, and requires an argument."""

    def __init__(self, width, alpha=1e-4):
        super().__init__((width,), alpha=alpha)
        self.width = width


class Resampler(BaseEstimator):
    def fit_resample(self, X, y):
        return X, y


def test_a_subclass_of_a_network_can_have_another_constructor():
    assert auto_resource(TunedEstimator(OfWidth(4), [{"alpha": [1, 2]}])) == "partial_fit"


def test_a_step_that_resamples_can_be_one_of_several():
    pipeline = Pipeline([("sample", "passthrough"), ("clf", MLPClassifier())])
    assert auto_resource(TunedEstimator(pipeline, [{"clf__alpha": [1, 2]}])) == "partial_fit"
    space = {"clf__alpha": [1, 2], "sample": ["passthrough", Resampler()]}
    assert auto_resource(TunedEstimator(pipeline, [space])) == "n_samples"
    # Values of other parameters are not looked at.
    seeds = {"clf__random_state": range(2**62)}
    assert auto_resource(TunedEstimator(pipeline, [space | seeds])) == "n_samples"


class Choice:
    """A distribution over listed values."""

    def __init__(self, *values):
        self.values = values

    def rvs(self, size=None, random_state=None):
        return self.values[random_state.randint(len(self.values))]


@pytest.mark.parametrize(
    ("estimator", "n", "expected"),
    [
        (GradientBoostingClassifier(), 2000, "folds"),
        (in_pipeline(HistGradientBoostingClassifier()), 2000, "folds"),
        (HistGradientBoostingClassifier(), 9_999, "folds"),
        (HistGradientBoostingClassifier(), 10_000, "boosting iterations"),
        (HistGradientBoostingClassifier(), 150, "boosting iterations"),  # folds save little
        (HistGradientBoostingClassifier(early_stopping=True), 2000, "folds"),  # refit in each rung
        (RandomForestClassifier(), 2000, "trees"),
        (BaggingClassifier(), 2000, "estimators"),
    ],
)
def test_few_iterations_of_boosting_do_not_rank_the_sizes_of_its_trees(estimator, n, expected):
    X, y = make_classification(n, random_state=0)
    name = "clf__max_features" if isinstance(estimator, Pipeline) else "max_features"
    search = SuccessiveHalvingSearchCV(estimator, {name: [*np.linspace(0.2, 1, 16)]})
    plan = search.plan(X, y)
    assert plan.unit == expected
    why = any("since boosting with few iterations ranks candidates diff" in n for n in plan.notes)
    assert why == (expected == "folds")
    one_split = search.set_params(cv=ShuffleSplit(1, random_state=0))
    assert one_split.plan(X, y).unit != "folds"


@pytest.mark.parametrize(
    ("estimator", "n", "params", "expected"),
    [
        (MLPClassifier(), 2000, {}, "folds"),
        (in_pipeline(MLPClassifier(max_iter=101)), 9_999, {}, "folds"),
        (MLPClassifier(), 10_000, {}, "epochs"),
        (MLPClassifier(max_iter=100), 2000, {}, "epochs"),
        (MLPClassifier(), 2000, {"resource": "partial_fit"}, "epochs"),
        (MLPClassifier(), 2000, {"budget": "anytime"}, "epochs"),
        (MLPClassifier(), 2000, {"cv": ShuffleSplit(1, random_state=0)}, "epochs"),
        (MLPClassifier(), 2000, {"batch_size": 100}, "mini-batches"),
    ],
)
def test_networks_are_not_compared_before_their_last_epochs(estimator, n, params, expected):
    X, y = make_classification(n, random_state=0)
    name = "clf__alpha" if isinstance(estimator, Pipeline) else "alpha"
    search = SuccessiveHalvingSearchCV(estimator, {name: [*np.logspace(-6, 0, 16)]}, **params)
    plan = search.plan(X, y)
    assert plan.unit == expected
    why = any("compared after 100 of up to" in note for note in plan.notes)
    assert why == (expected == "folds")


@pytest.mark.parametrize(
    ("estimator", "n", "n_candidates", "cheaper"),
    [
        (MLPClassifier(), 2000, 16, "'partial_fit' continues training and costs 1.7"),
        (MLPClassifier(), 2000, 64, "'partial_fit' continues training and costs 4.6"),
        (in_pipeline(GradientBoostingClassifier()), 2000, 16,
         "'clf__n_estimators' continues training and costs 1.7"),
        (HistGradientBoostingClassifier(), 2000, 64,
         "'max_iter' continues training and costs 4.6"),
        # The fixed cost of each epoch is most of the cost.
        (MLPClassifier(), 300, 16, None),
        # Models are refit from scratch, and later rungs can train the same models again.
        (HistGradientBoostingClassifier(early_stopping=True), 2000, 64, None),
    ],
)  # fmt: skip
def test_the_resource_that_folds_replace_is_named_if_it_costs_less(
    estimator, n, n_candidates, cheaper
):
    X, y = make_classification(n, random_state=0)
    name = "alpha" if isinstance(estimator, MLPClassifier) else "max_features"
    if isinstance(estimator, Pipeline):
        name = f"clf__{name}"
    search = SuccessiveHalvingSearchCV(estimator, {name: [*np.linspace(0.2, 1, n_candidates)]})
    plan = search.plan(X, y)
    assert plan.counts_folds
    found = [note for note in plan.notes if "times less" in note]
    assert found == ([] if cheaper is None else [f"resource={cheaper} times less."])


def test_boosting_finds_the_size_of_its_trees_on_folds():
    """On an additive target, large trees are ahead after few iterations, and small ones at last."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + np.abs(X[:, 2]) + rng.normal(size=1500)
    model = HistGradientBoostingRegressor(random_state=0, learning_rate=0.3)
    space = {"max_leaf_nodes": [2, 3, 4, 8, 16, 31], "min_samples_leaf": [5, 60]}
    searches = [
        GridSearchCV(model, space).fit(X, y),
        SuccessiveHalvingSearchCV(model, space, random_state=0).fit(X, y),
        SuccessiveHalvingSearchCV(model, space, resource="max_iter", random_state=0).fit(X, y),
    ]
    theirs, ours, early = (search.best_score_ for search in searches)
    assert early < ours == theirs


def test_a_step_that_is_sampled_can_be_anything():
    assert (
        auto_resource(TunedEstimator(in_pipeline(FOREST), [{"clf": Choice(SVC())}])) == "n_samples"
    )
    tree = TunedEstimator(in_pipeline(TREE), [{"clf": Choice(SVC())}])
    assert SampleCount().why_misleading(tree, n_samples=1000) == ""


def test_families_of_a_last_step_are_searched_as_by_a_grid_search():
    X, y = make_classification(700, 10, n_informative=6, random_state=0)
    boosting = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    space = [
        {"clf": [SGDClassifier(random_state=0)], "clf__alpha": [1e-4, 1e-2]},
        {"clf": [SVC()], "clf__C": [1, 10]},
        {"clf": [boosting], "clf__max_leaf_nodes": [7, 31]},
    ]
    pipeline = in_pipeline(SGDClassifier())
    ours = SuccessiveHalvingSearchCV(pipeline, space, random_state=0, cv=3).fit(X, y)
    grid = GridSearchCV(pipeline, space, cv=3).fit(X, y)
    assert not np.isnan(ours.cv_results_["mean_test_score"]).any()
    assert str(ours.best_params_) == str(grid.best_params_)
    assert ours.best_score_ == grid.best_score_


@pytest.mark.parametrize("method", ["plan", "fit"])
def test_an_explicit_resource_that_a_candidate_lacks_is_refused_by_name(method):
    spaces = {
        "partial_fit": (SGDClassifier(), "which SVC() does not have"),
        "clf__n_estimators": (FOREST, "no parameter of Pipeline with the last step SVC()"),
    }
    for resource, (first, message) in spaces.items():
        # 70 candidates of which one is of the other family.
        space = [{"clf": [first], "clf__random_state": [*range(69)]}, {"clf": [SVC()]}]
        search = SuccessiveHalvingSearchCV(in_pipeline(first), space, resource=resource)
        with pytest.raises(ValueError, match=rf"resource='{resource}'.*") as caught:
            getattr(search, method)(X, Y)
        assert message in str(caught.value)


SGD, LBFGS = MLPClassifier(), MLPClassifier(solver="lbfgs")


@pytest.mark.parametrize("method", ["plan", "fit"])
@pytest.mark.parametrize(
    ("estimator", "space", "resource", "message"),
    [
        (in_pipeline(SGD), {"clf": Choice(SGD, SVC())}, "partial_fit", "which SVC("),
        (in_pipeline(SGD), {"clf": Choice(SGD, LBFGS)}, "partial_fit", "solver='lbfgs') does not"),
        (in_pipeline(FOREST), {"clf": Choice(FOREST, SVC())}, "clf__n_estimators", "step SVC("),
        (SGD, {"solver": Choice("adam", "lbfgs")}, "partial_fit", "solver='lbfgs') does not"),
        (MLPRegressor(), {"solver": ["lbfgs"]}, "partial_fit", "solver='lbfgs') does not"),
    ],
)
def test_an_explicit_resource_that_a_sampled_candidate_lacks_is_refused_by_name(
    method, estimator, space, resource, message
):
    name = "clf__random_state" if "clf" in space else "random_state"
    space = [{name: [0]}, space | {name: randint(0, 1000)}]
    search = SuccessiveHalvingSearchCV(estimator, space, resource=resource, random_state=0)
    with pytest.raises(ValueError, match=f"resource='{resource}'") as caught:
        getattr(search, method)(X, Y)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("estimator", "space", "resource", "advice"),
    [
        (SGD, {}, "trees", ["partial_fit", "n_samples", "max_iter"]),
        (SGD, {"max_iter": [10, 20]}, "trees", ["partial_fit", "n_samples"]),
        (SVC(), {}, "partial_fit", ["n_samples"]),  # whose max_iter is -1
        (SVC(max_iter=100), {}, "partial_fit", ["n_samples", "max_iter"]),
        (SGD, {"solver": ["adam", "lbfgs"]}, "partial_fit", ["n_samples", "max_iter"]),
        (in_pipeline(SGD), {"clf": [SGD, FOREST]}, "clf__trees", ["n_samples"]),
        (in_pipeline(SGD), {"clf": [SGD, LBFGS]}, "clf__trees", ["n_samples", "clf__max_iter"]),
        (in_pipeline(SGD), [{"clf": [SGD]}, {"clf": [SVC()]}], "partial_fit", ["n_samples"]),
        (in_pipeline(SGD), {"clf": Choice(SGD, FOREST)}, "partial_fit", ["n_samples"]),
    ],
)
def test_what_is_advised_instead_is_what_all_candidates_have(estimator, space, resource, advice):
    search = SuccessiveHalvingSearchCV(estimator, space, resource=resource, random_state=0)
    with pytest.raises(ValueError, match=f"resource='{resource}'") as caught:
        search.plan(X, Y)
    names = " or ".join(f"resource={name!r}" for name in advice)
    assert str(caught.value).endswith(f"; use {names}.")


SMALL = [
    (SGDClassifier(random_state=0), {"alpha": np.logspace(-6, 1, 8), "penalty": ["l2", "l1"]}),
    (LogisticRegression(), {"C": np.logspace(-2, 3, 8)}),
    (MultinomialNB(), {"alpha": np.linspace(0.01, 1, 16)}),
    (KNeighborsClassifier(), {"n_neighbors": range(1, 17)}),
    (DecisionTreeClassifier(random_state=0), {"max_depth": range(1, 9)}),
    (in_pipeline(SVC()), {"clf__C": [0.1, 1, 10]}),
    (MLPClassifier(max_iter=5, random_state=0), {"alpha": [1e-4, 1e-2]}),
    (RandomForestClassifier(5, random_state=0), {"max_depth": [2, None]}),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "grid"),
    [*SMALL[:3], *(pytest.param(*case, marks=pytest.mark.slow) for case in SMALL[3:])],
)
def test_where_halving_cannot_pay_a_search_is_a_grid_search(estimator, grid):
    X, y = IRIS
    ours = SuccessiveHalvingSearchCV(estimator, grid, random_state=0).fit(X, y)
    theirs = GridSearchCV(estimator, grid).fit(X, y)
    assert ours.resource_ == "n_samples"
    assert ours.n_resources_ == [120]
    assert ours.best_params_ == theirs.best_params_
    for name, column in theirs.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(ours.cv_results_[name], column)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert "One rung at full resource, as in GridSearchCV" in str(ours.schedule_)


@pytest.mark.parametrize(("n", "rungs"), [(12_000, 4), (40_000, 1)])  # half of them for training
def test_early_stopping_that_begins_with_many_samples_leaves_nothing_to_gain(n, rungs):
    space = {"learning_rate": np.logspace(-2, 0, 16)}
    boosting = HistGradientBoostingClassifier()
    search = SuccessiveHalvingSearchCV(boosting, space, cv=2, min_folds="all")
    data = np.zeros((n, 2)), np.arange(n) % 2
    assert len(search.plan(*data).rungs) == rungs
    assert search.set_params(min_folds="auto").plan(*data).counts_folds == (rungs == 1)


def test_the_fixed_cost_of_several_families_is_that_of_no_sampled_candidate():
    pipeline = Pipeline([("model", Ridge())])
    space = [
        {"model": [Ridge()], "model__alpha": np.logspace(-3, 3, 8)},
        {"model": [SVR()], "model__C": np.logspace(-2, 3, 8)},
    ]
    tuned = TunedEstimator(pipeline, space)
    data = TrainingData(np.zeros((2000, 20)), 1600)
    costs = [
        candidate_cost(TunedEstimator(pipeline, space[k : k + 1]), None, data) for k in range(2)
    ]
    assert costs == [10_000, 200]
    # Fits without samples take a second each: samples take 1/10,000 and 1/200 of a second.
    assert candidate_cost(tuned, None, data) == Fraction(2) / (
        Fraction(1, 10_000) + Fraction(1, 200)
    )
    plans = {
        str(SuccessiveHalvingSearchCV(pipeline, space, min_folds="all", random_state=seed).plan(
            data.X, np.arange(2000.0)
        ))
        for seed in range(6)
    }  # fmt: skip
    assert len(plans) == 1
    assert len(plans.pop().splitlines()) > 4


@pytest.mark.parametrize("model", [LogisticRegression(), MultinomialNB()])
def test_a_text_costs_the_same_in_a_list_an_array_and_a_frame(model):
    texts = ["some text", "other text"] * 50
    alone = fixed_cost(model, texts, 2)
    for column in (np.array(texts), np.array(texts, dtype=object), pd.Series(texts)):
        assert fixed_cost(model, column, 2) == alone
        assert fixed_cost(model, pd.DataFrame({"text": column}), 2) == alone
    assert fixed_cost(model, np.array(texts, dtype=object).reshape(-1, 1), 2) == alone
    numbers = np.zeros((100, 4))
    assert fixed_cost(model, pd.DataFrame(numbers), 2) == fixed_cost(model, numbers, 2)
    mixed = pd.DataFrame({"text": texts, "number": range(100), "flag": [True, False] * 50})
    mixed["kind"] = mixed["text"].astype("category")
    assert fixed_cost(model, mixed, 2) == fixed_cost(model, np.zeros((100, 103)), 2)


def test_a_list_of_lists_costs_what_its_array_costs():
    numbers, words = np.zeros((100, 4)), np.full((100, 4), "word")
    for X in (numbers, words):
        rows = X.tolist()
        for listed in (rows, [*X], [tuple(row) for row in rows], tuple(rows)):
            assert fixed_cost(MultinomialNB(), listed, 2) == fixed_cost(MultinomialNB(), X, 2)
    for texts in ([["a", "b"], ["c"]] * 50, [{"a": 1, "b": 2}] * 100, []):
        assert fixed_cost(MultinomialNB(), texts, 2) == fixed_cost(MultinomialNB(), ["text"], 2)


def test_candidates_that_stop_early_save_nothing_beside_those_that_do_not():
    data = TrainingData(np.zeros((40_000, 2)), 20_000, 2)
    space = [{"early_stopping": ["auto", False], "learning_rate": [0.1, 0.3]}]
    tuned = TunedEstimator(HistGradientBoostingClassifier(), space)
    assert candidate_cost(tuned, None, data) == Fraction(40_000 + 200, 2)


@pytest.mark.parametrize(
    "explicit",
    [{"resource": "n_samples"}, {"min_resources": 30}, {"max_resources": 100}, {"budget": 2400}],
)
def test_what_is_explicit_is_obeyed(explicit):
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(), {"max_depth": range(1, 13)}, random_state=0, **explicit
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these are dearer than a grid search
        schedule = search.plan(*IRIS)
    is_one_rung = "resource" in explicit  # 120 samples are less than a first rung has
    assert (len(schedule.rungs) == 1) == is_one_rung


@pytest.mark.parametrize("n_classes", [2, 10, 60])
def test_an_automatic_first_rung_has_samples_enough(n_classes):
    y = np.arange(20_000) % n_classes
    rng = np.random.default_rng(0)
    tree = DecisionTreeClassifier()
    search = SuccessiveHalvingSearchCV(tree, {"max_depth": range(1, 513)}, min_folds="all", cv=2)
    first = search.plan(rng.random((20_000, 2)), y).rungs[0].n_resources
    assert first == max(200, -(-10 * 10_000 // (10_000 // n_classes)))  # 10 of the rarest class


@pytest.mark.parametrize("resource", ["auto", "partial_fit"])
def test_an_automatic_maximum_is_the_largest_of_all_candidates(resource):
    """And not that of a candidate that was sampled at random."""
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", MLPClassifier())])
    alpha = {"clf__alpha": np.logspace(-5, 1, 16)}
    space = [{"clf": [MLPClassifier(max_iter=n)], **alpha} for n in (20, 80)]
    for seed in range(12):
        search = SuccessiveHalvingSearchCV(pipeline, space, resource=resource, random_state=seed)
        plan = search.plan(X, Y)
        assert plan.n_resources[-1] == 80
        assert "max_iter=80 of MLPClassifier" in " ".join(str(plan).split())


class Pick:
    """A distribution of steps."""

    def __init__(self, *steps):
        self.steps = steps

    def rvs(self, random_state=None):
        return self.steps[check_random_state(random_state).randint(len(self.steps))]


@pytest.mark.filterwarnings("ignore:.* searches max_iter", "ignore:.*same samples at every call")
@pytest.mark.parametrize(
    ("space", "n_epochs"),
    [
        ({"clf": [MLPClassifier()], "clf__max_iter": [20]}, 20),
        ({"clf": [MLPClassifier()], "clf__max_iter": [60, 20]}, 60),
        ({"clf": [GaussianNB(), SGDClassifier(max_iter=20)]}, 20),
        ({"clf": [GaussianNB()]}, 100),
        ({"clf": Pick(SGDClassifier(max_iter=20))}, 20),
    ],
)
def test_an_automatic_maximum_is_one_that_a_candidate_has(space, n_epochs):
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", SGDClassifier())])
    space = {**space, "scale__with_mean": [True, False], "scale__with_std": [True, False]}
    search = SuccessiveHalvingSearchCV(pipeline, space, resource="partial_fit", n_candidates=4)
    assert search.plan(X, Y).n_resources[-1] == n_epochs


@pytest.mark.parametrize(
    ("step", "calls_fit"),
    [
        (SGDClassifier(max_iter=20, tol=None), False),
        (MLPClassifier(max_iter=20), False),
        (MLPClassifier(max_iter=200), True),
        (GaussianNB(), False),
    ],
)
@pytest.mark.parametrize("placeholder", [MLPClassifier(), SGDClassifier()])
@pytest.mark.filterwarnings("ignore:resource='partial_fit' gives GaussianNB")
@pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")
def test_the_refit_calls_fit_by_the_steps_that_are_sampled(step, calls_fit, placeholder):
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", placeholder)])
    for steps in ([step], Pick(step)):
        space = {"clf": steps, "scale__with_mean": [True, False]}
        search = SuccessiveHalvingSearchCV(pipeline, space, resource="partial_fit", n_candidates=2)
        notes = search.plan(X, Y).notes
        assert ("The refit calls fit, as that of GridSearchCV." in notes) == calls_fit


@pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")
@pytest.mark.parametrize("algorithm", [FixedSchedule([2, 1], [2, 104]), FixedBudget(120)])
def test_rungs_of_an_algorithm_are_no_automatic_maximum(algorithm):
    network = MLPClassifier((4,), max_iter=300, random_state=0)
    search = SuccessiveHalvingSearchCV(
        network, {"alpha": [1e-4, 1]}, resource="partial_fit", algorithm=algorithm, cv=2
    )  # fmt: skip
    notes = " ".join(search.plan(X[:200], Y[:200]).notes)
    assert "max_resources='auto'" not in notes
    assert "The refit calls fit" not in notes
    search.fit(X[:200], Y[:200])
    assert len(search.best_estimator_.loss_curve_) == search.best_n_resources_


@pytest.mark.parametrize("batch_size", [1, 7, np.int64(200), 10**6])
@pytest.mark.parametrize(("max_iter", "n_epochs"), [(3, 3), (200, 100)])
def test_with_batches_the_automatic_maximum_is_as_many_epochs(batch_size, max_iter, n_epochs):
    network = MLPClassifier(max_iter=max_iter)
    search = SuccessiveHalvingSearchCV(network, {"alpha": [1, 2]}, batch_size=batch_size, cv=4)
    plan = search.plan(X, Y)
    n_train = len(next(StratifiedKFold(4).split(X, Y))[0])
    resource, n_calls = PartialFit(batch_size), plan.n_resources[-1]
    seen = sum(len(resource.batch(call, n_train)) for call in range(n_calls))
    last = len(resource.batch(n_calls - 1, n_train))
    assert seen - last < n_epochs * n_train <= seen
    assert plan.unit == "mini-batches"
    given = f"max_iter={max_iter} of MLPClassifier"
    if max_iter > n_epochs:
        given += " is only an upper bound, since fit can stop earlier"
    amount = f"{n_calls} mini-batches, {n_epochs} epochs"
    assert f"max_resources='auto' is {amount}: {given}." in plan.notes


def test_with_batches_a_family_that_counts_has_one_pass_and_others_all_epochs():
    counts, updates = [], []

    def counted(model, X, y):
        last = model[-1]
        if isinstance(last, GaussianNB):
            counts.append(int(last.class_count_.sum()))
        else:
            updates.append(int(last.t_) - 1)
        return model.score(X, y)

    n_train = len(X) * 4 // 5
    space = [
        {"clf": [GaussianNB()]},
        {"clf": [SGDClassifier(max_iter=3, random_state=0)], "clf__alpha": [1e-4, 1e-3, 1e-2]},
    ]
    for placeholder in (SGDClassifier(), GaussianNB()):
        search = SuccessiveHalvingSearchCV(
            Pipeline([("clf", placeholder)]), space, resource="partial_fit", batch_size=200,
            min_resources=1.0, scoring=counted, random_state=0,
        ).fit(X, Y)  # fmt: skip
        assert search.n_resources_ == [3 * n_train // 200]
        assert "3 epochs: max_iter=3 of SGDClassifier." in str(search.schedule_)
    assert counts == [n_train] * 10
    assert updates == [3 * n_train] * 30


def test_hyperband_has_three_brackets_even_of_few_samples():
    search = HyperbandSearchCV(DecisionTreeClassifier(), {"max_depth": range(1, 30)})
    plan = search.plan(*IRIS)
    assert len(plan.brackets) == 3
    assert plan.rungs[0].n_resources == 13
    widest = HyperbandSearchCV(DecisionTreeClassifier(), {"max_depth": range(1, 900)})
    assert widest.plan(X, Y).rungs[0].n_resources >= 200


def test_a_plan_names_units_and_the_resource_that_costs_less():
    space = {"hist__learning_rate": [0.01, 0.1], "hist__max_leaf_nodes": [*range(3, 35)]}
    pipeline = Pipeline([("scale", StandardScaler()), ("hist", HistGradientBoostingClassifier())])
    plan = str(SuccessiveHalvingSearchCV(pipeline, space).plan(X, Y))
    assert "training samples over all folds" in plan
    assert "Models are refit from scratch at every rung." in plan
    advice, space["hist__learning_rate"] = "resource='hist__max_iter' continues training", [0.1]
    assert advice in " ".join(plan.split())
    del space["hist__learning_rate"]
    search = SuccessiveHalvingSearchCV(pipeline, space, resource="hist__max_iter")
    plan = str(search.plan(X, Y))
    assert "boosting iterations over all folds" in plan
    assert "Models continue training between rungs." in plan
    assert advice not in plan
    forest = SuccessiveHalvingSearchCV(FOREST, {"max_depth": range(2, 10)})
    assert "trees over all folds" in str(forest.plan(*DIGITS))
    assert forest.plan(*DIGITS).unit == "trees"


class OwnPipeline(Pipeline):
    """Fitted as a whole, as those of imbalanced-learn are."""


@pytest.mark.parametrize("pipeline_class", [Pipeline, OwnPipeline])
def test_a_plan_names_no_iterations_of_a_pipeline_that_is_fitted_as_a_whole(pipeline_class):
    steps = [("scale", StandardScaler()), ("hist", HistGradientBoostingClassifier())]
    space = {"hist__learning_rate": [0.01, 0.1], "hist__max_leaf_nodes": [*range(3, 35)]}
    search = SuccessiveHalvingSearchCV(pipeline_class(steps), space)
    is_named = any("continues training" in note for note in search.plan(X, Y).notes)
    continues = search.set_params(resource="hist__max_iter").plan(X, Y).continues
    assert is_named == continues == (pipeline_class is Pipeline)


@pytest.mark.parametrize(
    ("estimator", "params", "cost", "advice"),
    [
        (LogisticRegression(), {"resource": "n_samples", "min_resources": 20}, "", "Raise min"),
        (
            LogisticRegression(),
            {"resource": "n_samples", "algorithm": FixedSchedule([8, 2], [50, 120])},
            "",
            "Start with more",
        ),
        (
            SGDClassifier(),
            {"resource": "partial_fit"},
            "at least ",
            "Raise min_resources or the fac",
        ),
    ],
)
def test_the_warning_of_a_cost_recommends_what_there_is(estimator, params, cost, advice):
    name = "C" if isinstance(estimator, LogisticRegression) else "alpha"
    search = SuccessiveHalvingSearchCV(estimator, {name: np.logspace(-2, 2, 8)}, **params)
    with pytest.warns(UserWarning, match=rf"costs {cost}\d\.\d\d times .*\. {advice}"):
        search.plan(*IRIS)


@pytest.mark.parametrize(
    ("budget", "advice", "followed"),
    [
        (1600, "Raise budget or the factor", [{"budget": 3200}, {"factor": 3}]),
        # The last rung has all samples, and a larger budget is spent on the others.
        (30_000, "Lower budget or raise the factor", [{"budget": 20_000}, {"factor": 3}]),
    ],
)
def test_the_advice_about_the_cost_of_a_budget_lowers_it(budget, advice, followed):
    params = {"resource": "n_samples", "budget": budget, "cv": 3}
    search = SuccessiveHalvingSearchCV(SVC(), {"C": np.logspace(-3, 3, 16)}, **params)
    found = rf"costs 1\.1\d times a grid search .*\. {advice}, or choose another resource\.$"
    with pytest.warns(UserWarning, match=found):
        search.plan(*DIGITS)
    for changed in followed:
        clone(search).set_params(**changed).plan(*DIGITS)  # costs less, without a warning


def test_a_plan_warns_of_settings_that_cost_more_than_a_grid_search():
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(), {"C": np.logspace(-2, 2, 8)}, resource="n_samples", min_resources=20
    )
    with pytest.warns(UserWarning, match=r"costs \d\.\d\d times a grid search"):
        search.plan(*IRIS)


def test_a_plan_shows_the_cost_with_fixed_costs_if_it_is_a_tenth_more():
    """Each fit of a forest costs as much as five of its trees in addition."""
    start = "Including the estimated fixed cost,"
    space = {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 2, 3, 4]}
    forest = SuccessiveHalvingSearchCV(RandomForestClassifier(), space, cv=5)
    plan = forest.plan(*IRIS)
    n_fits = sum(rung.n_candidates * len(rung.folds) for rung in plan.rungs)
    cost = (plan.total_cost + 5 * n_fits) / (16 * 5 * (100 + 5))
    assert plan.notes[0] == f"{start} {cost:.2f} of a grid search."
    assert plan.relative_cost() < cost - 0.05
    bound = forest.set_params(stop="stable").plan(*IRIS)
    assert bound.notes[0] == f"{start} at most {cost:.2f} of a grid search."
    forest.set_params(stop=None)
    for params in ({"max_resources": 1000}, {"min_resources": 1.0, "min_folds": "all"}):
        plan = clone(forest).set_params(**params).plan(*IRIS)
        assert not any(start in note for note in plan.notes)
    more = {"max_depth": [*range(1, 65)]}
    doubling = forest.set_params(budget="double", param_distributions=more).plan(*IRIS)
    assert doubling.notes[0].startswith(f"{start} at most ")


def test_fixed_costs_of_calls_are_at_least_those_shown_if_fit_can_stop():
    """A call costs as much as 300 samples, and a fit as much as 200, in addition."""
    start = "Including the estimated fixed cost, at least"
    params = {"resource": "partial_fit", "max_resources": 16, "cv": 4, "min_folds": "all"}
    linear = SuccessiveHalvingSearchCV(SGDClassifier(), {"alpha": np.logspace(-4, 1, 8)}, **params)
    X, y = DIGITS[0][:1600], DIGITS[1][:1600]
    plan = linear.plan(X, y)
    n_fits, rate = sum(plan.n_candidates), 1 + 300 / 1200
    cost = (plan.total_cost * rate + n_fits * 200 / 1200) / (8 * (16 + 200 / 1200))
    assert plan.notes[0] == f"{start} {cost:.2f} of a grid search."
    few = linear.set_params(max_resources=4)
    with pytest.warns(UserWarning, match="costs at least (.*) times a grid search"):
        assert not any("fixed cost" in note for note in few.plan(X[:100], y[:100]).notes)


@pytest.mark.parametrize(("max_iter", "epochs"), [(20, 20), (100, 100), (500, 100)])
def test_epochs_are_those_of_the_estimator(max_iter, epochs):
    search = SuccessiveHalvingSearchCV(
        MLPClassifier(max_iter=max_iter), {"alpha": range(1, 17)}, min_folds="all"
    )
    plan = search.plan(*DIGITS)
    assert (plan.rungs[-1].n_resources, plan.unit) == (epochs, "epochs")
    assert f"max_iter={max_iter}" in str(plan)


@pytest.mark.parametrize(
    ("model", "largest"), [(SGDClassifier(), 300), (MLPClassifier(max_iter=20), 600)]
)
def test_a_plan_names_the_fixed_cost_of_small_mini_batches(model, largest):
    def note(batch_size):
        search = SuccessiveHalvingSearchCV(
            model, {"alpha": [1, 2, 3, 4]}, resource="partial_fit", batch_size=batch_size, cv=4
        )
        shown = " ".join(str(search.plan(*DIGITS)).split())
        return re.findall(r"batch_size=\d+ makes \d+ calls of partial_fit per epoch", shown)

    n_train = len(DIGITS[1]) * 3 // 4
    n_calls = -(-n_train // largest)
    assert note(largest) == [f"batch_size={largest} makes {n_calls} calls of partial_fit per epoch"]
    assert note(largest + 1) == note(None) == []
    few = DIGITS[0][:200], DIGITS[1][:200]
    search = SuccessiveHalvingSearchCV(
        model, {"alpha": [1, 2, 3, 4]}, resource="partial_fit", batch_size=largest, cv=4
    )
    assert "per epoch" not in str(search.plan(*few))  # a call is an epoch


def test_a_call_of_partial_fit_is_one_epoch_whatever_max_epochs_is():
    search = SuccessiveHalvingSearchCV(Network(max_epochs=16), {"lr": range(1, 9)}, cv=2)
    search.fit(*DIGITS)
    assert search.n_resources_[-1] == 16
    assert search.best_estimator_.epochs_ == 16
    assert search.best_estimator_.max_epochs == 16
    assert search.best_score_ == 8 * 16


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_one_candidate_that_cannot_continue_is_planned_for(seed):
    # A forest with class_weight="balanced" does not continue exactly.
    forest = ExtraTreesClassifier(max_depth=2, random_state=0)
    space = [{"min_samples_leaf": [*range(1, 100)]}, {"class_weight": ["balanced"]}]
    search = SuccessiveHalvingSearchCV(
        forest, space, resource="n_estimators", budget=900, cv=2, random_state=seed
    )
    trees = []
    fit = ExtraTreesClassifier.fit

    def counted(self, X, y, **params):
        before = 0 if not self.warm_start or not hasattr(self, "estimators_") else len(self)
        result = fit(self, X, y, **params)
        trees.append(len(self.estimators_) - before)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ExtraTreesClassifier, "fit", counted)
        plan = search.set_params(refit=False).plan(*IRIS)
        search.fit(*IRIS)
    assert not plan.continues
    cost = search.rung_history_[-1]["total_cost"]
    assert sum(trees) == 2 * plan.total_cost == 2 * cost <= 2 * 900


@pytest.mark.parametrize(
    ("model", "constants", "searched", "resource"),
    [
        (RandomForestClassifier(random_state=0), {"n_estimators": 12}, "max_depth", "n_estimators"),
        (
            GradientBoostingClassifier(random_state=0),
            {"n_estimators": 12, "learning_rate": 0.3},
            "max_leaf_nodes",
            "n_estimators",
        ),
    ],
)
def test_a_list_of_one_value_is_as_if_the_estimator_had_it(model, constants, searched, resource):
    space = {searched: [*range(2, 18)]}
    lists = {name: [value] for name, value in constants.items()}
    params = {"cv": 2, "random_state": 0}
    ours = SuccessiveHalvingSearchCV(model, lists | space, **params)
    fixed = SuccessiveHalvingSearchCV(clone(model).set_params(**constants), space, **params)
    assert str(ours.plan(*IRIS)) == str(fixed.plan(*IRIS))
    ours.fit(*IRIS)
    fixed.fit(*IRIS)
    assert ours.resource_ == fixed.resource_ == resource
    scores = "mean_test_score"
    assert ours.all_cv_results_[scores].tolist() == fixed.all_cv_results_[scores].tolist()
    assert ours.best_params_ == constants | fixed.best_params_
    for name, value in constants.items():
        assert ours.best_estimator_.get_params()[name] == value
    name = next(iter(constants))
    several = [lists | space, lists | space | {name: [8]}]
    assert SuccessiveHalvingSearchCV(model, several, **params).plan(*IRIS).unit == (
        "training samples"
    )


@pytest.mark.parametrize(
    "steps",
    [
        {"model": [RandomForestClassifier(), ExtraTreesClassifier()]},
        {"steps": [[("model", RandomForestClassifier())], [("model", ExtraTreesClassifier())]]},
    ],
)
def test_a_value_for_all_families_of_a_step_is_not_that_of_a_family(steps):
    pipeline = Pipeline([("model", RandomForestClassifier())])
    space = steps | {"model__n_estimators": [12], "model__max_depth": range(2, 10)}
    plan = SuccessiveHalvingSearchCV(pipeline, space, min_folds=1).plan(*DIGITS)
    assert plan.unit == "training samples"


def test_networks_in_lists_of_steps_are_trained_on_samples():
    scalers = StandardScaler(), MinMaxScaler()
    network = MLPClassifier((8,), solver="sgd", max_iter=20, random_state=0)
    lists = [[("scale", scaler), ("network", network)] for scaler in scalers]
    alphas = {"network__alpha": np.logspace(-5, 1, 8)}
    search = SuccessiveHalvingSearchCV(Pipeline(lists[0]), alphas | {"steps": lists}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(*DIGITS)
    assert (search.resource_, search.failures_) == ("n_samples", [])
    assert {len(params) for params in search.cv_results_["params"]} == {2}
    for params in ({"resource": "partial_fit"}, {"batch_size": 32}):
        search.set_params(resource="auto", batch_size=None).set_params(**params)
        with pytest.raises(ValueError, match=r"'steps' is in param_distributions.*'n_samples'"):
            search.plan(*DIGITS)
    alphas = {"network__alpha": np.logspace(-5, 1, 32)}
    alone = SuccessiveHalvingSearchCV(Pipeline(lists[0]), alphas | {"steps": lists[:1]})
    assert alone.plan(*DIGITS).unit == "epochs"


@pytest.mark.parametrize("params", [{"resource": "partial_fit"}, {"batch_size": 32}])
def test_partial_fit_does_not_train_a_frozen_estimator(params):
    frozen = FrozenEstimator(SGDClassifier(random_state=0).fit(*IRIS))
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SGDClassifier(random_state=0))])
    space = {"model": [frozen, SGDClassifier(random_state=0)]}
    with pytest.raises(ValueError, match=r"would train FrozenEstimator.* use resource='n_samples'"):
        SuccessiveHalvingSearchCV(pipeline, space, **params).plan(*IRIS)
    pipeline.set_params(model=FrozenEstimator(Network().fit(*IRIS)))
    assert (
        auto_resource(TunedEstimator(pipeline, [{"scale": [StandardScaler(), MinMaxScaler()]}]))
        == "n_samples"
    )


def test_networks_behind_searched_steps_are_trained_on_samples_with_metadata_routing():
    """Their requests decide what they receive, which one for all candidates does not."""
    pipeline = Pipeline([("scale", StandardScaler()), ("network", MLPClassifier())])
    scalers = {"scale": [StandardScaler(), MinMaxScaler()]}
    for enabled, resource in ((False, "partial_fit"), (True, "n_samples")):
        with config_context(enable_metadata_routing=enabled):
            assert auto_resource(TunedEstimator(pipeline, [scalers])) == resource
            assert (
                auto_resource(TunedEstimator(pipeline, [{"network__alpha": [0.1, 1]}]))
                == "partial_fit"
            )


def test_one_solver_and_one_number_of_epochs_are_as_if_the_network_had_them():
    space = {"mlpclassifier__alpha": np.logspace(-5, 1, 32)}
    constants = {"mlpclassifier__max_iter": [50], "mlpclassifier__solver": ["sgd"]}
    model = make_pipeline(StandardScaler(), MLPClassifier())
    plan = SuccessiveHalvingSearchCV(model, constants | space).plan(*DIGITS)
    assert (plan.unit, plan.n_resources[-1]) == ("epochs", 50)


@pytest.mark.parametrize(
    "params",
    [{"budget": 900}, {"budget": "double"}, {"algorithm": FixedSchedule([4, 1], [20, 40])}],
    ids=["budget", "doubling", "algorithm"],
)
@pytest.mark.parametrize("name", ["n_estimators", "max_iter"])
def test_rungs_that_do_not_end_at_the_value_are_not_of_this_parameter(name, params):
    model = {
        "n_estimators": RandomForestClassifier(random_state=0),
        "max_iter": MLPClassifier(solver="sgd", random_state=0),
    }[name]
    space = {"n_estimators": {"max_depth": [1, 2, 3, 4]}, "max_iter": {"alpha": [1, 2, 3, 4]}}
    search = SuccessiveHalvingSearchCV(model, {name: [5]} | space[name], cv=2, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*IRIS)
    assert search.resource_ == "n_samples"
    assert search.best_params_[name] == search.best_estimator_.get_params()[name] == 5


def test_other_lists_of_one_value_do_not_count_as_searched_with_any_maximum():
    space = {"learning_rate": [0.1], "max_depth": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(GradientBoostingClassifier(), space, max_resources=50)
    assert search.plan(*IRIS).unit == "trees"
    pipeline = Pipeline([("model", SVC())])
    space = {"model": [RandomForestClassifier()], "model__n_estimators": [12]}
    space |= {"model__max_depth": [*range(2, 18)]}
    assert SuccessiveHalvingSearchCV(pipeline, space).plan(*IRIS).n_resources[-1] == 12


def test_a_search_without_a_space_can_be_routed():
    assert SuccessiveHalvingSearchCV(SVC(), []).get_metadata_routing()


def test_with_another_maximum_a_list_of_one_value_is_searched():
    space = {"n_estimators": [12], "max_depth": [1, 2, 3, 4]}
    model = RandomForestClassifier()
    search = SuccessiveHalvingSearchCV(model, space, resource="n_estimators", max_resources=8)
    with pytest.raises(ValueError, match="resource='n_estimators' is searched too"):
        search.plan(*IRIS)
    search.set_params(max_resources="auto")
    assert search.plan(*IRIS).n_resources[-1] == 12


def test_samples_are_a_bound_for_instances_too():
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": [1, 2]}, resource=SampleCount(), max_resources=1000
    )
    with pytest.raises(ValueError, match=r"max_resources=1000 is more than the maximum.*, 120"):
        search.fit(*IRIS)


def test_batch_sizes_of_a_search_and_its_resource_must_agree():
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(), {"alpha": [1, 2]}, resource=PartialFit(batch_size=8), batch_size=16
    )
    with pytest.raises(ValueError, match="batch_size=16"):
        search.fit(*IRIS)


@pytest.mark.parametrize("placeholder", [SVC(), "passthrough"])
def test_mini_batches_are_of_the_candidates_and_not_of_a_placeholder(placeholder):
    pipeline = in_pipeline(placeholder)
    space = {"clf": [SGDClassifier(), SGDClassifier(loss="log_loss")]}
    search = SuccessiveHalvingSearchCV(pipeline, space, batch_size=32, scoring="accuracy")
    assert search.plan(*DIGITS).unit == "mini-batches"
    assert search.set_params(batch_size=None).plan(*DIGITS).unit == "training samples"


@pytest.mark.parametrize("counts", [False, True])
def test_a_warning_about_partial_fit_is_about_the_candidates(counts):
    linear, bayes = SGDClassifier(), GaussianNB()
    placeholder, candidates = (linear, [linear, bayes]) if counts else (bayes, [linear, linear])
    search = SuccessiveHalvingSearchCV(
        in_pipeline(placeholder), {"clf": candidates, "scale__with_std": [True, False]},
        resource="partial_fit", max_resources=10,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.plan(*DIGITS)
    messages = [str(one.message) for one in caught if "the same samples" in str(one.message)]
    assert len(messages) == counts
    assert all("gives GaussianNB the same samples" in one for one in messages)


@pytest.mark.filterwarnings("ignore:.*same samples at every call")
def test_a_warning_names_the_estimator_whose_parameter_is_ignored():
    space = [{"clf": [GaussianNB()]}, {"clf": [SGDClassifier()], "clf__tol": [1e-3, 1e-2]}]
    search = SuccessiveHalvingSearchCV(
        in_pipeline(SGDClassifier()), space, resource="partial_fit", max_resources=10
    )
    with pytest.warns(UserWarning, match="searches tol, which partial_fit of SGDClassifier ign"):
        search.plan(*DIGITS)


def test_what_counts_samples_is_given_them_once():
    space = {"var_smoothing": np.logspace(-9, 0, 16)}
    search = SuccessiveHalvingSearchCV(GaussianNB(), space, resource="partial_fit", cv=2)
    with pytest.warns(UserWarning, match="Set resource='n_samples'"):
        search.plan(*DIGITS)
    search.set_params(batch_size=32)
    one_pass = -(-max(len(DIGITS[1]) // 2 + 1, 899) // 32)
    assert search.plan(*DIGITS).rungs[-1].n_resources == one_pass
    with pytest.raises(ValueError, match=f"max_resources={one_pass + 1} is more than"):
        search.set_params(max_resources=one_pass + 1).plan(*DIGITS)


@pytest.mark.parametrize("model", [GaussianNB(), make_pipeline(StandardScaler(), GaussianNB())])
def test_what_counts_samples_counts_each_once(model):
    """In the last call, in folds with one call less than the largest, and in the refit."""
    counts = []

    def counted(model, X, y):
        last = model[-1] if isinstance(model, Pipeline) else model
        counts.append(last.class_count_.sum())
        return 0.0

    X, y = (part[:126] for part in DIGITS)
    name = "var_smoothing" if isinstance(model, GaussianNB) else "gaussiannb__var_smoothing"
    search = SuccessiveHalvingSearchCV(
        model, {name: [1e-9, 1e-3]}, resource="partial_fit", batch_size=20, min_resources=6,
        cv=KFold(5), scoring=counted,
    ).fit(X, y)  # fmt: skip
    assert search.n_resources_ == [6]
    assert sorted(counts) == 2 * [100] + 8 * [101]
    counted(search.best_estimator_, X, y)
    assert counts[-1] == 126
    assert "The refit has one pass over all samples." in search.schedule_.notes
    name = "classes" if isinstance(model, GaussianNB) else "gaussiannb__classes"
    best = search.fit(X, y, **{name: [*range(12)]}).best_estimator_
    assert best.classes_.tolist() == [*range(12)]


def test_regression_has_no_classes_to_count():
    X, y = np.random.default_rng(0).random((4000, 500)), np.arange(4000.0)
    search = SuccessiveHalvingSearchCV(
        make_pipeline(Ridge()), {"ridge__alpha": range(1, 65)}, min_folds="all"
    )
    plan = search.plan(X, y)
    assert plan.rungs[0].n_resources == 200


class CountsRare(LogisticRegression):
    """Records how many samples of class 1 each fit has."""

    counts: ClassVar = []

    def fit(self, X, y):
        self.counts.append(int(y.sum()))
        return super().fit(X, y)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("n_rare", [4, 5, 6, 7, 12, 15, 40, 400])
def test_a_first_rung_has_samples_of_a_rare_class(n_rare):
    rng = np.random.default_rng(n_rare)
    y = rng.permutation(np.arange(3000) < n_rare).astype(int)
    X = rng.normal(size=(3000, 2))
    search = SuccessiveHalvingSearchCV(
        CountsRare(), {"C": np.logspace(-3, 3, 32)}, cv=StratifiedKFold(2), random_state=0
    )
    plan = search.plan(X, y)
    trains, tests = zip(*StratifiedKFold(2).split(X, y), strict=True)
    n_folds = plan.n_resources[0] if plan.counts_folds else len(plan.rungs[0].folds or tests)
    assert sum(sum(y[test]) for test in tests[:n_folds]) >= min(10, n_rare / 2) - 1
    in_trains = [sum(y[train]) for train in trains]
    needed = min(10, in_trains[0] // 2)
    search.set_params(min_folds="all")
    notes = [n for n in search.plan(X, y).notes if "samples of the rarest class" in n]
    assert len(notes) == (n_rare < 400)
    wanted = f"include {needed} of the {in_trains[0]} samples of the rarest class."
    assert all(wanted in note for note in notes)
    search.set_params(resource="n_samples")
    first = search.plan(X, y).n_resources[0]
    assert first == max(200, -(-1500 * needed // in_trains[0]))
    CountsRare.counts = []
    search.fit(X, y)
    assert min(CountsRare.counts[:64]) >= min(needed, min(in_trains) // 2)


@pytest.mark.filterwarnings("ignore:All 16 candidates of rung 0 have the same score")
def test_a_first_rung_of_a_time_series_has_all_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6000)
    y[3700:5000] = 1  # the latest training samples
    X = rng.normal(size=(6000, 2))
    search = SuccessiveHalvingSearchCV(
        CountsRare(), {"C": np.logspace(-3, 3, 16)}, cv=TimeSeriesSplit(5), resource="n_samples"
    )
    CountsRare.counts = []
    search.fit(X, y)
    first = search.n_resources_[0]
    assert first < 1300
    assert set(CountsRare.counts[:16]) == {first - 10}


def test_a_list_of_splits_of_a_time_series_has_the_latest_samples_too():
    X, y = make_regression(2000, 3, noise=5, random_state=0)
    scores = []
    for cv in (TimeSeriesSplit(5), [*TimeSeriesSplit(5).split(X)]):
        search = SuccessiveHalvingSearchCV(
            SVR(), {"C": np.logspace(-2, 3, 8)}, cv=cv, resource="n_samples", refit=False
        ).fit(X, y)
        scores.append(search.all_cv_results_["mean_test_score"].tolist())
    assert scores[0] == scores[1]


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.filterwarnings("ignore:All .* candidates of rung . have the same score")
@pytest.mark.parametrize("placeholder", ["passthrough", None])
def test_a_placeholder_that_classifiers_replace_is_one(placeholder):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), rng.permutation(np.arange(3000) < 30).astype(int)
    families = np.array([CountsRare(), LogisticRegression(tol=0.1)], dtype=object)
    space = {"clf": families, "clf__C": np.logspace(-3, 3, 8)}
    counts, plans = [], []
    for last in (placeholder, SVC()):
        pipeline = Pipeline([("scale", StandardScaler()), ("clf", last)])
        assert TunedEstimator(pipeline, [space]).fits_last_step_alone
        search = SuccessiveHalvingSearchCV(
            pipeline, space, scoring="accuracy", cv=StratifiedKFold(2), resource="n_samples",
            min_folds="all", random_state=0,
        )  # fmt: skip
        plans.append(search.plan(X, y))
        CountsRare.counts = []
        search.fit(X, y)
        counts.append(CountsRare.counts)
    assert plans[0] == plans[1]
    assert plans[0].n_resources[0] == 700
    assert counts[0] == counts[1]
    assert min(counts[0]) == 7  # half of those of a training fold
    others = [space, {"clf": ["passthrough", SVC()]}]
    assert not TunedEstimator(pipeline, others).fits_last_step_alone


@pytest.mark.parametrize("seed", range(4))
def test_a_first_rung_has_samples_of_a_rare_label(seed):
    """Without a positive sample of it, no candidate could be trained."""
    X, y = make_multilabel_classification(4000, n_classes=3, random_state=0)
    y[:, 0] = np.arange(4000) % 500 == 0
    search = SuccessiveHalvingSearchCV(
        MultiOutputClassifier(LogisticRegression(max_iter=1000)),
        {"estimator__C": np.logspace(-4, -1, 16)},
        resource="n_samples",
        random_state=seed,
    )
    search.fit(X, y)
    assert len(search.n_resources_) > 1
    assert search.failures_ == []


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("n_rare", [0, 30])
def test_a_class_of_one_sample_requires_nothing(n_rare):
    """Other rare classes are included as without it."""
    y = np.r_[np.zeros(3000 - n_rare, dtype=int), np.ones(3000, dtype=int), np.full(n_rare, 2)]
    X = np.random.default_rng(0).random((len(y), 2))
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(),
        {"C": np.logspace(-3, 3, 64)},
        resource="n_samples",
        cv=StratifiedKFold(2),
    )
    plan = search.plan(X, y)
    y[0] = 3
    with pytest.warns(UserWarning, match="The least populated class"):
        other = search.plan(X, y)
    assert other.n_resources == plan.n_resources
    assert [rung.folds for rung in other.rungs] == [rung.folds for rung in plan.rungs]
    assert len(plan.rungs) > 1


def test_a_first_rung_has_samples_of_each_of_many_classes():
    y = np.r_[np.repeat([0, 1], 2000), np.arange(2, 302)]  # most have a single sample
    X = np.random.default_rng(0).random((len(y), 3))
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(), {"max_depth": range(1, 65)}, min_folds="all"
    )
    with pytest.warns(UserWarning, match="The least populated class"):
        plan = search.plan(X, y)
    search.set_params(resource="n_samples")
    with pytest.warns(UserWarning, match="The least populated class"):
        rungs = search.plan(X, y).rungs
    assert rungs[0].n_resources == 2 * 302
    assert len(rungs) > 1
    assert any("two samples of each of the 302 classes" in note for note in plan.notes)


@pytest.mark.parametrize("n_tested", [0, 1])
def test_a_class_of_hardly_any_test_samples_does_not_prevent_that_folds_grow(n_tested):
    y = np.arange(3000) % 2
    y[:20] = 2
    y[600 : 600 + n_tested] = 2  # in the fold that is added last
    X = np.random.default_rng(0).random((3000, 3))
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(),
        {"max_depth": range(1, 33)},
        resource="folds",
        cv=TimeSeriesSplit(5),
    )
    n_folds = search.plan(X, y).n_resources
    assert n_folds[0] < n_folds[-1] == 5


def test_balanced_classes_need_no_more_samples_than_200():
    X, y = DIGITS
    first = [
        SuccessiveHalvingSearchCV(
            LogisticRegression(), {"C": np.logspace(-3, 3, 64)}, min_folds="all"
        ).plan(X[: n * len(X) // 10], y[: n * len(X) // 10]).rungs[0].n_resources
        for n in (9, 10)
    ]  # fmt: skip
    assert first == [200, 200]


@pytest.mark.filterwarnings("ignore:.*fixed cost of each fit")
def test_explicit_folds_are_used_with_a_rare_class_too():
    y = (np.arange(1000) % 100 == 0).astype(int)
    X = np.random.default_rng(0).normal(size=(1000, 2))
    grid = {"C": np.logspace(-3, 3, 8)}
    search = SuccessiveHalvingSearchCV(LogisticRegression(), grid, min_folds=1, min_resources=400)
    assert len(search.plan(X, y).rungs[0].folds) == 1
    search.set_params(min_folds="auto")
    assert len(search.plan(X, y).rungs[0].folds) == 3  # with six of the ten rare samples


def test_a_sparse_matrix_of_labels_has_classes():
    labels = np.eye(3, dtype=int)[[0, 1, 2, 0]]
    for y in (labels, sparse.csr_matrix(labels)):
        np.testing.assert_array_equal(classes_of(MLPClassifier(), y), [0, 1, 2])


class HasPatience(BaseEstimator):
    """Stops by a number of iterations, and has no tolerance."""

    def __init__(self, n_iter_no_change=5):
        self.n_iter_no_change = n_iter_no_change


def test_a_model_without_tol_can_stop_too():
    assert can_stop(HasPatience())
    assert not can_stop(BaseEstimator())


@pytest.mark.parametrize(("tol", "n_epochs"), [(None, 130), (1e-3, 100)])
def test_the_automatic_maximum_is_max_iter_if_fit_runs_all_of_it(tol, n_epochs):
    model = SGDClassifier(max_iter=130, tol=tol, random_state=0)
    assert (model.fit(X, Y).n_iter_ == 130) == (tol is None)
    search = SuccessiveHalvingSearchCV(model, {"alpha": [1, 2, 3, 4]}, resource="partial_fit")
    plan = search.plan(X, Y)
    assert plan.max_resources == n_epochs
    is_bound = any("is only an upper bound, since fit can stop" in note for note in plan.notes)
    assert is_bound == (tol is not None)


@pytest.mark.parametrize(("stop", "maximum"), [(30, 29), (10**12, 100)])
@pytest.mark.filterwarnings("ignore:param_distributions searches max_iter")
def test_a_range_of_any_length_is_planned(stop, maximum):
    """Its largest number is the last one: there is no time to look at all of them."""
    X, y = make_classification(400, random_state=0)
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(),
        {"max_iter": range(5, stop), "alpha": [1e-4, 1e-3]},
        n_candidates=8,
        resource="partial_fit",
        random_state=0,
    )
    assert max(search.plan(X, y).n_resources) == maximum


def test_best_params_are_those_of_grid_search_if_the_estimator_has_the_resource_anyway():
    forest = RandomForestClassifier(n_estimators=16, random_state=0)
    pipeline = Pipeline([("clf", SVC())])
    depths = [2, 4, 6, 8]
    for estimator, space in (
        (forest, {"max_depth": depths}),
        (Pipeline([("clf", forest)]), {"clf__max_depth": depths}),
        (pipeline, {"clf": [forest], "clf__max_depth": depths}),
    ):
        search = SuccessiveHalvingSearchCV(estimator, space, random_state=0).fit(*DIGITS)
        assert search.resource_.endswith("n_estimators")
        assert search.best_params_ == search.cv_results_["params"][search.best_index_]
        best = clone(estimator).set_params(**search.best_params_).fit(*DIGITS)
        np.testing.assert_array_equal(
            best.predict_proba(DIGITS[0]), search.predict_proba(DIGITS[0])
        )


@pytest.mark.parametrize(
    "params",
    [
        {"resource": "n_estimators"},
        {"max_resources": 8, "min_resources": 2},
        {"max_resources": 32, "min_resources": 2},
        {"budget": 600},
    ],
)
def test_best_params_have_the_resource_that_is_set_or_ended_at_another_value(params):
    forest = RandomForestClassifier(n_estimators=16, random_state=0)
    search = SuccessiveHalvingSearchCV(
        forest, {"max_depth": [2, 4, 6, 8]}, random_state=0, min_folds="all", **params
    ).fit(*DIGITS)
    assert search.best_params_["n_estimators"] == search.best_n_resources_
    best = clone(forest).set_params(**search.best_params_).fit(*DIGITS)
    np.testing.assert_array_equal(best.predict_proba(DIGITS[0]), search.predict_proba(DIGITS[0]))
