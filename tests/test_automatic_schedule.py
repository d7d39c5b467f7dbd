"""When an automatic search adds folds, since rungs of its resource cost no less."""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._search.too_few_folds import more_folds_message
from sklearn_sha.bandit import Algorithm, FixedSchedule, SuccessiveHalving, halving
from sklearn_sha.resources.fixed_costs import fixed_cost
from sklearn_sha.schedules import Schedule

X, Y = load_breast_cancer(return_X_y=True)
CANCER = StandardScaler().fit_transform(X), Y
DIABETES = load_diabetes(return_X_y=True)
NEIGHBORS = {"n_neighbors": [*range(1, 17)]}
LEAVES = {"leaf_size": [*range(20, 36)]}
ALPHAS = {"alpha": [*np.logspace(-4, 3, 12)]}


def samples(n):
    return make_classification(n, random_state=0)


@pytest.mark.parametrize(
    ("n", "resource", "rungs"),
    [
        (150, "n_samples", [120]),  # even the folds have a single rung
        (240, "n_samples", [192]),
        (255, "folds", [2, 5]),
        (490, "folds", [2, 5]),
        (510, "folds", [1, 2, 5]),
        (990, "folds", [1, 2, 5]),
    ],
)
def test_folds_are_added_where_no_rung_would_have_fewer_samples(n, resource, rungs):
    plan = SuccessiveHalvingSearchCV(KNeighborsClassifier(), LEAVES).plan(*samples(n))
    assert (plan.counts_folds, list(plan.n_resources)) == (resource == "folds", rungs)
    why = f"since each rung would otherwise have the maximum, {n * 4 // 5} training samples. To set"
    assert any(why in note for note in plan.notes) == (resource == "folds")


@pytest.mark.parametrize(
    ("given", "maximum"),
    [({"resource": "n_samples"}, "120 training samples"), ({"resource": "folds"}, "5 folds")],
)
def test_a_single_rung_of_a_given_resource_is_explained(given, maximum):
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [0.1, 1, 10, 100]}, **given)
    plan = search.plan(*samples(150))
    assert plan.n_candidates == [4]
    assert plan.notes == (
        "One rung at full resource, as in GridSearchCV: a second rung would need more than "
        f"{maximum}.",
    )
    # With more samples, there could be several rungs.
    assert search.set_params(factor=4).plan(*samples(2000)).notes == (
        "One rung at full resource, as in GridSearchCV: with factor=4, a single rung is enough for "
        "4 candidates.",
    )
    assert search.set_params(min_resources=1.0).plan(*samples(150)).notes == ()


@pytest.mark.parametrize(
    ("n_candidates", "first", "n_rungs", "is_too_high"),
    [(4, 600, 2, False), (4, 601, 1, True), (4, 1200, 1, False), (1, 601, 1, False)],
)
def test_a_first_rung_that_leaves_no_room_for_a_second_one_is_a_warning(
    n_candidates, first, n_rungs, is_too_high
):
    """Of 1,500 samples, with five folds, the maximum is 1,200."""
    space = {"C": [0.1, 1, 10, 100][:n_candidates]}
    search = SuccessiveHalvingSearchCV(SVC(), space, resource="n_samples", min_resources=first)
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        plan = search.plan(*samples(1500))
    assert len(plan.rungs) == n_rungs
    messages = [str(one.message) for one in shown]
    assert [message.partition(",")[0] for message in messages] == (
        ["min_resources=601 leaves no room for a second rung"] if is_too_high else []
    )


def test_a_single_rung_of_a_given_algorithm_is_explained_by_the_factor_of_the_algorithm():
    class Single(Algorithm):
        def plan(self, bounds):
            return Schedule.from_rungs([bounds.n_candidates], [bounds.max_resources])

        def requests(self, plan, propose):
            return halving(plan, propose)

    search = SuccessiveHalvingSearchCV(SVC(), {"C": [0.1, 1, 10, 100]}, resource="n_samples")
    data = samples(2000)
    own = search.set_params(factor=4).plan(*data)
    assert search.set_params(factor=2, algorithm=SuccessiveHalving(4)).plan(*data) == own
    # Why another algorithm plans a single rung is unknown.
    assert search.set_params(algorithm=Single()).plan(*data).notes == ()


@pytest.mark.filterwarnings("ignore:max_resources=", "ignore:Including the fixed cost")
@pytest.mark.parametrize(
    ("estimator", "params"),
    [
        (SVC(), {"resource": "n_samples", "max_resources": 5}),
        (SVC(), {"max_resources": 60, "min_folds": "all"}),
        (SVC(), {"resource": "folds", "max_resources": 2}),
        (SVC(), {"algorithm": FixedSchedule([2], [50])}),
        (SGDClassifier(), {"resource": "partial_fit", "min_folds": "all"}),
    ],
)
def test_a_single_rung_that_is_no_grid_search_is_not_called_one(estimator, params):
    name = "alpha" if isinstance(estimator, SGDClassifier) else "C"
    search = SuccessiveHalvingSearchCV(estimator, {name: [0.1, 1]}, **params)
    plan = search.plan(*samples(400))
    assert plan.n_candidates == [2]
    assert [note for note in plan.notes if "GridSearchCV" in note] == []


@pytest.mark.parametrize(
    ("estimator", "space", "n", "expected"),
    [
        (SVC(), {"C": [*np.logspace(-2, 2, 8)]}, 1500, "folds"),
        (SVC(), {"C": [*np.logspace(-2, 2, 16)]}, 1500, "n_samples"),
        (SVC(), {"C": [*np.logspace(-2, 2, 8)]}, 9_999, "folds"),
        (SVC(), {"C": [*np.logspace(-2, 2, 8)]}, 10_000, "n_samples"),
        (GaussianNB(), {"var_smoothing": [*np.logspace(-9, 0, 16)]}, 1500, "folds"),
        (RandomForestClassifier(), {"max_depth": [*range(2, 10)]}, 1500, "n_estimators"),
        (MLPClassifier(max_iter=50), {"alpha": [*np.logspace(-5, 1, 8)]}, 5000, "folds"),
        (MLPClassifier(max_iter=50), {"alpha": [*np.logspace(-5, 1, 8)]}, 9_999, "partial_fit"),
        (MLPClassifier(max_iter=50), {"alpha": [*np.logspace(-5, 1, 16)]}, 5000, "partial_fit"),
    ],
)
def test_folds_are_added_where_samples_or_epochs_cost_no_less(estimator, space, n, expected):
    plan = SuccessiveHalvingSearchCV(estimator, space).plan(*samples(n))
    units = {"n_samples": "training samples", "n_estimators": "trees", "partial_fit": "epochs"}
    assert plan.unit == units.get(expected, expected)
    why = [
        note
        for note in plan.notes
        if "since rungs that add folds cost 0.45 times a grid search, and" in note
    ]
    assert len(why) == (expected == "folds")


@pytest.mark.parametrize(
    ("estimator", "space", "data"),
    [
        (Ridge(), ALPHAS, DIABETES),
        (KNeighborsClassifier(), NEIGHBORS, CANCER),
        (make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.01, 0.1, 1, 10, 100]}, CANCER),
        pytest.param(
            MLPClassifier(max_iter=20, random_state=0), {"alpha": [1e-4, 0.1, 10, 100]}, CANCER,
            marks=pytest.mark.filterwarnings(
                "ignore::sklearn.exceptions.ConvergenceWarning"
            ),
        ),
    ],
)  # fmt: skip
def test_scores_on_all_folds_are_those_of_a_grid_search_over_fewer_fits(estimator, space, data):
    search = SuccessiveHalvingSearchCV(estimator, space, random_state=0).fit(*data)
    grid_search = GridSearchCV(estimator, space).fit(*data)
    assert search.resource_ == "folds"
    n_candidates = len(grid_search.cv_results_["params"])
    assert search.n_candidates_[0] == n_candidates
    n_fits = sum(rung["step"] * rung["n_candidates"] for rung in search.rung_history_)
    assert n_fits <= 0.8 * 5 * n_candidates
    theirs = dict(
        zip(
            map(str, grid_search.cv_results_["params"]),
            grid_search.cv_results_["mean_test_score"],
            strict=True,
        )
    )
    for params, score in zip(
        search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
    ):
        assert score == pytest.approx(theirs[str(params)], abs=1e-12)
    assert set(search.best_params_) == set(space)


@pytest.mark.parametrize(("n", "expected"), [(9_999, "folds"), (10_000, "epochs")])
def test_epochs_are_kept_with_many_samples_even_if_folds_cost_less(n, expected):
    network, grid = MLPClassifier(max_iter=5), {"alpha": [*np.logspace(-5, 1, 12)]}
    data = make_classification(n, n_features=5, random_state=0)
    search = SuccessiveHalvingSearchCV(network, grid, cv=10)
    assert search.plan(*data).unit == expected
    folds, epochs = (
        search.set_params(resource=resource).plan(*data) for resource in ("folds", "partial_fit")
    )
    assert folds.total_cost / (12 * 10) < epochs.total_cost / (12 * 10 * 5)


def test_folds_are_added_where_epochs_cost_more():
    network = MLPClassifier(max_iter=20)
    grid = {"alpha": [*np.logspace(-5, 2, 8)]}
    plan = SuccessiveHalvingSearchCV(network, grid).plan(*CANCER)
    assert (plan.counts_folds, list(plan.n_resources)) == (True, [1, 2, 5])
    (note,) = (note for note in plan.notes if "number of folds" in note)
    assert "and rungs that start with 10 epochs would cost 0.9" in note
    many = make_classification(20_000, random_state=0)
    assert SuccessiveHalvingSearchCV(network, grid).plan(*many).unit == "epochs"


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("seed", range(40))
def test_an_automatic_search_is_the_cheaper_one_where_samples_save_little(seed):
    rng = np.random.RandomState(seed)
    n, n_candidates, n_folds = rng.randint(60, 1200), rng.randint(1, 80), rng.randint(2, 11)
    factor = rng.choice([1.5, 2, 3, 4])
    grid, data = {"leaf_size": [*range(1, n_candidates + 1)]}, samples(n)

    def plan(resource):
        return SuccessiveHalvingSearchCV(
            KNeighborsClassifier(), grid, resource=resource, factor=factor, cv=KFold(n_folds)
        ).plan(*data)

    automatic, in_samples, in_folds = map(plan, ("auto", "n_samples", "folds"))
    fixed = fixed_cost(KNeighborsClassifier(), data[0], 2)
    cost, cost_in_folds = in_samples.relative_cost(fixed), in_folds.relative_cost()
    if cost_in_folds <= min(0.8, cost):
        assert automatic.rungs == in_folds.rungs
        assert automatic.counts_folds
    elif cost <= 0.8:
        assert automatic.rungs == in_samples.rungs
    else:
        assert automatic.n_candidates == [n_candidates]
        assert automatic.unit == "training samples"


@pytest.mark.filterwarnings("ignore:max_resources=353 .* is too low")
@pytest.mark.parametrize(
    "params",
    [
        {"resource": "n_samples"},
        {"min_resources": 100},
        {"max_resources": 353},
        {"budget": "double"},
        {"min_folds": "all"},
        {"min_folds": 2},
    ],
)
def test_a_parameter_of_the_rungs_keeps_training_samples(params):
    data = DIABETES[0], DIABETES[1] > 140
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [0.1, 1, 10]})
    assert search.plan(*data).counts_folds
    plan = search.set_params(**params).plan(*data)
    assert not plan.counts_folds
    assert plan.unit == "training samples"


def test_the_advice_for_a_maximum_near_the_automatic_first_rung_can_be_followed():
    """The maximum of these data is 353, so that raising it would not suffice."""
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [*range(1, 25)]}, max_resources=352)
    data = DIABETES[0], DIABETES[1] > 140
    message = r"compares 24\. Set min_resources=(\d+), raise max_resources, or choose another"
    with pytest.warns(UserWarning, match=message) as shown:
        search.plan(*data)
    n_enough = int(re.search(message, str(shown[0].message))[1])
    assert search.set_params(min_resources=n_enough).plan(*data).n_candidates[-1] == 2


@pytest.mark.filterwarnings("ignore:max_resources=")
@pytest.mark.parametrize(
    ("params", "is_explained"),
    [
        ({}, True),
        ({"resource": "n_samples"}, True),
        ({"min_folds": "all"}, True),
        ({"max_resources": 1500}, True),
        ({"max_resources": 400}, False),
        ({"min_resources": 500}, False),
    ],
)
def test_a_first_rung_that_is_raised_for_a_rare_class_is_explained(params, is_explained):
    X, y = samples(3000)[0], np.arange(3000) < 60
    plan = SuccessiveHalvingSearchCV(SVC(), {"C": [*range(1, 25)]}, **params).plan(X, y)
    why = "at least 500 training samples, to include 10 of the 48 samples of the rarest class"
    assert any(why in note for note in plan.notes) == is_explained


def test_hyperband_keeps_training_samples():
    search = HyperbandSearchCV(SVC(), {"C": loguniform(1e-2, 1e3)})
    assert search.plan(DIABETES[0], DIABETES[1] > 140).unit == "training samples"


def test_the_model_proposes_from_brackets_of_folds():
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(max_iter=1000),
        {"C": loguniform(1e-4, 1e4)},
        sampler="model",
        n_candidates=48,
        random_state=0,
    ).fit(*CANCER)
    assert search.resource_ == "folds"
    assert search.n_resources_ == [1, 2, 5] * 4
    assert search.n_candidates_[::3] == [12] * 4
    assert search.best_score_ >= GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": np.logspace(-4, 4, 9)}
    ).fit(*CANCER).best_score_ - 0.005  # fmt: skip


@pytest.mark.parametrize("n", [400, 569])
@pytest.mark.parametrize(
    ("estimator", "space", "resource", "advice"),
    [
        (RandomForestClassifier(), {"max_depth": [*range(1, 13)]}, "folds", "times less."),
        (
            GradientBoostingClassifier(),
            {"learning_rate": [*np.logspace(-2, 0, 12)]},
            "auto",
            "less, but learning_rate is searched",
        ),
    ],
)
def test_the_plan_of_folds_names_a_parameter_that_costs_less(estimator, space, resource, advice, n):
    data = CANCER[0][:n], CANCER[1][:n]
    plan = SuccessiveHalvingSearchCV(estimator, space, resource=resource).plan(*data)
    assert plan.counts_folds
    n_estimators = SuccessiveHalvingSearchCV(estimator, space, resource="n_estimators").plan(*data)
    ratio = plan.relative_cost() / n_estimators.relative_cost()
    (note,) = (note for note in plan.notes if "continues training" in note)
    assert note.startswith(f"resource='n_estimators' continues training and costs {ratio:.1f} ")
    assert advice in note


class NeedsMostSamples(KNeighborsClassifier):
    """Fails with fewer than 500 samples."""

    def fit(self, X, y):
        if len(X) < 500:
            raise ValueError("500 samples are required")
        return super().fit(X, y)


def test_a_search_that_starts_again_keeps_its_resource():
    data, leaves = samples(1500), {"leaf_size": [*range(20, 84)]}
    search = SuccessiveHalvingSearchCV(NeedsMostSamples(), leaves, cv=StratifiedKFold(5))
    with pytest.warns(UserWarning, match="start"):
        search.fit(*data)
    assert search.resource_ == "n_samples"
    assert set(search.n_resources_) == {1200}
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def fold_without_a_class(n=400):
    """Return data of which the first fold of KFold has one class only."""
    features, y = samples(n)
    y[: n // 5] = 0
    return features, y


BOTH = {"scoring": ["roc_auc", "accuracy"], "cv": KFold(5)}
ONE_CLASS = pytest.mark.filterwarnings(
    "ignore:Only one class", "ignore:One or more of the test scores"
)


class CountedSVC(SVC):
    n_fits = 0

    def fit(self, X, y):
        CountedSVC.n_fits += 1
        return super().fit(X, y)


def by_accuracy(cv_results):
    return int(np.argmax(cv_results["mean_test_accuracy"]))


@ONE_CLASS
@pytest.mark.parametrize("refit", [False, by_accuracy, "accuracy", "roc_auc"])
@pytest.mark.parametrize("resource", ["auto", "folds"])
def test_if_the_first_folds_have_no_score_it_is_a_grid_search(resource, refit):
    data, grid = fold_without_a_class(), {"C": [0.1, 1, 10, 100]}
    CountedSVC.n_fits = 0
    search = SuccessiveHalvingSearchCV(CountedSVC(), grid, refit=refit, resource=resource, **BOTH)
    search.set_params(promote_by=None if refit == "accuracy" else "roc_auc")
    if refit == "accuracy":
        search.fit(*data)
        assert search.n_resources_ == [2, 5]
        return
    with pytest.warns(
        UserWarning, match="No candidate has a mean roc_auc .* on the first 2 folds, "
    ):
        search.fit(*data)
    grid_search = GridSearchCV(SVC(), grid, refit=refit, **BOTH).fit(*data)
    assert (search.resource_, search.n_resources_) == ("folds", [5])
    # Folds that are known are not fit again.
    assert CountedSVC.n_fits == 4 * 5 + bool(refit)
    for name, column in grid_search.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(search.cv_results_[name], column)
    if refit:
        assert search.best_params_ == grid_search.best_params_


def second_without_a_class(n=600):
    """Return data of which the second fold of KFold has one class only."""
    features, y = samples(n)
    y[n // 5 : 2 * n // 5] = 0
    return features, y


@ONE_CLASS
@pytest.mark.parametrize("refit", [False, by_accuracy, "accuracy"])
def test_if_another_metric_selects_later_folds_without_a_score_are_followed_by_all(refit):
    data, grid = second_without_a_class(), {"C": [0.1, 1, 10, 100, 1000]}
    search = SuccessiveHalvingSearchCV(SVC(), grid, refit=refit, promote_by="roc_auc", **BOTH)
    with pytest.warns(UserWarning, match="on the first 2 folds, .* starts again with 5 folds"):
        search.fit(*data)
    grid_search = GridSearchCV(SVC(), grid, refit=refit, **BOTH).fit(*data)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_accuracy"], grid_search.cv_results_["mean_test_accuracy"]
    )
    if refit:
        assert search.best_params_ == grid_search.best_params_


class FailsWithoutOutlier(SVC):
    """Fails on the first fold of KFold, whose training samples lack the outlier."""

    def fit(self, X, y):
        if X[:, 0].max() < 50:
            raise ValueError("no outlier")
        return super().fit(X, y)


def accuracy_without_outlier(model, X, y):
    if X[:, 0].max() > 50:
        raise ValueError("outlier")
    return model.score(X, y)


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:No candidate has a mean score")
@pytest.mark.filterwarnings("ignore:\\n[0-9]+ fits failed")
@pytest.mark.parametrize(
    ("estimator", "scoring"), [(FailsWithoutOutlier(), None), (SVC(), accuracy_without_outlier)]
)
def test_a_number_as_error_score_counts_on_a_fold_on_which_all_fail(estimator, scoring):
    features, y = samples(700)
    features[5, 0] = 99.0
    grid = {"C": [1e-3, 1e-2, 0.1, 1, 10, 100, 1000, 1e4]}
    params = {"cv": KFold(5), "scoring": scoring, "error_score": 0.0}
    search = SuccessiveHalvingSearchCV(estimator, grid, **params).fit(features, y)
    grid_search = GridSearchCV(estimator, grid, **params).fit(features, y)
    assert search.n_resources_ == [5]
    assert search.best_params_ == grid_search.best_params_
    assert search.best_score_ == grid_search.best_score_


@ONE_CLASS
@pytest.mark.parametrize(
    "params", [{"scoring": "roc_auc"}, {"scoring": ["roc_auc", "accuracy"], "refit": "roc_auc"}]
)
def test_scores_of_the_first_fold_are_used_if_the_second_has_none(params):
    data, y = second_without_a_class()
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [0.1, 1, 10, 100, 1000]}, cv=KFold(5), **params)
    with pytest.warns(UserWarning, match="the best candidate is scored on 1 of 5 folds"):
        search.fit(data, y)
    assert search.n_resources_ == [1, 2]
    assert search.best_score_ > 0.9


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
@pytest.mark.parametrize(
    ("n_fold", "message"),
    [
        (2, "on the first 2 folds, .* starts again with 5 folds"),
        (1, "is scored on 2 of 5 folds"),  # a later one
    ],
)
def test_if_scores_lack_since_a_fold_has_a_category_alone_the_encoder_is_named(n_fold, message):
    features, y = samples(600)
    features = np.sign(features)
    features[120 * n_fold, 0] = 99.0
    pipeline = make_pipeline(OneHotEncoder(), SVC())
    grid = {"svc__C": [0.1, 1, 10, 100]}
    search = SuccessiveHalvingSearchCV(pipeline, grid, cv=KFold(5), refit=False, random_state=0)
    encoder = "set handle_unknown of the encoder, since training samples can lack a rare category"
    with pytest.warns(UserWarning, match=f"{message}.* See failures_, or {encoder}.$"):
        search.fit(features, y)
    pipeline.set_params(onehotencoder__handle_unknown="ignore")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(features, y)


@ONE_CLASS
@pytest.mark.filterwarnings("ignore:No candidate of the last rung has a score")
def test_a_search_that_starts_again_ends_with_the_folds_that_were_planned():
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": [0.1, 1, 10, 100]}, refit=by_accuracy, promote_by="roc_auc",
        resource="folds", max_resources=4, **BOTH,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="on the first 2 folds, .* starts again with 4 folds"):
        search.fit(*fold_without_a_class())
    assert search.n_resources_ == [4]
    assert " number on the first fold, so " in more_folds_message("score", 1, 5)


@ONE_CLASS
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parameters_of_partial_fit_are_not_passed_to_folds_that_start_again():
    network = MLPClassifier((5,), max_iter=12, random_state=0)
    search = SuccessiveHalvingSearchCV(
        network, {"alpha": [1e-4, 1e-2, 1, 10, 100, 1000]}, refit=by_accuracy,
        promote_by="roc_auc", **BOTH,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="starts again with 5 folds"):
        search.fit(*fold_without_a_class(), classes=[0, 1])
    assert search.failures_ == []
    grid_search = GridSearchCV(network, search.param_distributions, refit=by_accuracy, **BOTH)
    grid_search.fit(*fold_without_a_class())
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_accuracy"], grid_search.cv_results_["mean_test_accuracy"]
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parameters_of_partial_fit_are_not_passed_to_the_refit_of_a_network():
    """Which calls fit, since the maximum of 100 epochs is below its max_iter."""
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
    network = MLPClassifier((2,), max_iter=101, tol=1e-4, random_state=0)
    search = SuccessiveHalvingSearchCV(
        network, {"alpha": [1e-4, 1e-2]}, resource="partial_fit", min_resources=1.0, cv=2
    ).fit(X, y, classes=[0, 1])
    whole = clone(network).set_params(**search.best_params_).fit(X, y)
    assert search.best_estimator_.n_iter_ == whole.n_iter_ == 101
    assert search.best_estimator_.loss_ == whole.loss_


class TakesClasses(SVC):
    """Whose fit takes classes, as partial_fit of others does."""

    def fit(self, X, y, classes=None):
        assert classes == ["any"]
        return super().fit(X, y)


@pytest.mark.parametrize("n", [100, 600])
def test_a_parameter_of_fit_can_have_the_name_of_one_of_partial_fit(n):
    """Of folds as the resource, and of a grid search."""
    search = SuccessiveHalvingSearchCV(TakesClasses(), {"C": [0.1, 1, 10, 100]})
    search.fit(*samples(n), classes=["any"])
    assert (search.resource_ == "folds") == (n == 600)
    assert search.failures_ == []


def test_equal_costs_are_no_reason_for_folds():
    forest, grid = RandomForestClassifier(n_estimators=10), {"max_depth": [1, 2, 3, 4]}
    plan = SuccessiveHalvingSearchCV(forest, grid).plan(*samples(5000))
    as_folds = SuccessiveHalvingSearchCV(forest, grid, resource="folds").plan(*samples(5000))
    assert [len(rung.folds or range(5)) for rung in plan.rungs] == list(as_folds.n_resources)
    assert plan.unit == "trees"


def test_mini_batches_are_kept():
    linear = SGDClassifier(max_iter=1)
    search = SuccessiveHalvingSearchCV(linear, {"alpha": [*np.logspace(-5, 2, 8)]})
    assert search.plan(*samples(600)).counts_folds
    plan = search.set_params(batch_size=2000).plan(*samples(600))
    assert (plan.unit, list(plan.n_resources)) == ("mini-batches", [1])


def fails(model, X, y):
    raise RuntimeError("no score today")


@pytest.mark.parametrize(
    ("grid", "scoring", "message"),
    [({"C": [-1, -2, -3]}, None, "All the 6 fits failed"), ({"C": [1, 2, 3]}, fails, "first rung")],
)
def test_if_all_scores_of_the_first_folds_fail_there_are_no_others(grid, scoring, message):
    search = SuccessiveHalvingSearchCV(SVC(), grid, scoring=scoring)
    with pytest.raises(ValueError, match=message):
        search.fit(*samples(400))


@ONE_CLASS
def test_an_explicit_number_of_folds_without_a_score_is_an_error():
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": [0.1, 1, 10, 100]}, resource="folds", min_resources=2, scoring="roc_auc",
        cv=KFold(5),
    )  # fmt: skip
    with pytest.raises(ValueError, match="in a grid search, their means are NaN, too") as error:
        search.fit(*fold_without_a_class())
    assert "Choose a metric that has values on each fold" in str(error.value)


def test_errors_on_the_first_folds_are_scores_in_a_grid_search_with_an_error_score():
    def scoring(model, X, y):
        if not y.any():
            raise ValueError("no samples of class 1")
        return model.score(X, y)

    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": [0.1, 1, 10, 100]}, resource="folds", min_resources=1, scoring=scoring,
        cv=KFold(5), error_score=0.0,
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"with min_resources=1\.0 it is a grid") as error:
        search.fit(*fold_without_a_class(600))
    assert "Choose a metric" not in str(error.value)
    with pytest.raises(ValueError, match=r"with min_resources=1\.0 it is a grid"):
        clone(search).set_params(min_resources="auto", min_folds=1, resource="n_samples").fit(
            *fold_without_a_class(600)
        )
    search.set_params(min_resources=1.0)
    with pytest.warns(UserWarning, match="Scoring failed"):
        search.fit(*fold_without_a_class(600))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@ONE_CLASS
def test_another_metric_is_recommended_if_folds_of_other_resources_have_no_score():
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": [*np.logspace(-2, 3, 8)]}, scoring="roc_auc", cv=KFold(5)
    )
    with pytest.raises(ValueError, match="Choose a metric that has values on each fold"):
        search.fit(*fold_without_a_class(5000))


@ONE_CLASS
def test_a_search_that_started_again_on_all_folds_can_be_resumed(tmp_path):
    data, grid = fold_without_a_class(), {"C": [0.1, 1, 10, 100]}

    def search():
        return SuccessiveHalvingSearchCV(
            CountedSVC(), grid, refit=by_accuracy, promote_by="roc_auc", checkpoint=tmp_path, **BOTH
        )

    with pytest.warns(UserWarning, match="starts again"):
        first = search().fit(*data)
    CountedSVC.n_fits = 0
    with pytest.warns(UserWarning, match="starts again"):
        again = search().fit(*data)
    assert CountedSVC.n_fits == 1  # the refit
    assert again.n_resources_ == first.n_resources_ == [5]
    np.testing.assert_array_equal(
        again.cv_results_["mean_test_accuracy"], first.cv_results_["mean_test_accuracy"]
    )


@pytest.mark.parametrize(
    ("n", "n_first", "n_more"), [(400, 2, 2), (400, 2, 8), (600, 2, 2), (600, 1, 12), (600, 2, 6)]
)
def test_extend_keeps_samples_where_more_candidates_would_have_folds(n, n_first, n_more):
    space = {"C": loguniform(1e-2, 1e3)}
    search = SuccessiveHalvingSearchCV(SVC(), space, n_candidates=n_first, random_state=0)
    search.fit(*samples(n))
    assert search.resource_ == "n_samples"
    union = clone(search).set_params(n_candidates=n_first + n_more)
    assert union.plan(*samples(n)).counts_folds
    search.extend(*samples(n), n_candidates=n_more)
    # Rungs of all samples would be a grid search, or cost 0.7 of it.
    assert search.n_resources_[0] == n * 4 // 5
    assert search.resource_ == "n_samples"
    union.set_params(resource="n_samples").fit(*samples(n))
    assert search.schedule_.rungs == union.schedule_.rungs
    assert search.best_params_ == union.best_params_
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], union.cv_results_["mean_test_score"]
    )


def test_extend_is_a_grid_search_where_rungs_of_the_kept_resource_save_little():
    space, data = {"C": loguniform(1e-2, 1e3)}, samples(500)
    search = SuccessiveHalvingSearchCV(
        SVC(), space, n_candidates=1, factor=1.5, random_state=0
    ).fit(*data)
    assert search.resource_ == "n_samples"
    explicit = clone(search).set_params(n_candidates=12, resource="n_samples")
    assert 0.8 < explicit.plan(*data).relative_cost() < 1
    assert search.extend(*data, n_candidates=11).n_resources_ == [400]
    assert search.n_candidates_ == [12]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_extend_keeps_folds_where_more_candidates_would_have_epochs():
    data = samples(1500)
    network = MLPClassifier((20,), max_iter=20, random_state=0)
    search = SuccessiveHalvingSearchCV(
        network, {"alpha": loguniform(1e-2, 1e3)}, n_candidates=4, random_state=0
    ).fit(*data)
    assert search.resource_ == "folds"
    assert clone(search).set_params(n_candidates=24).plan(*data).unit == "epochs"
    assert search.extend(*data, n_candidates=20).resource_ == "folds"
    assert search.n_candidates_[0] == 24


def test_rungs_that_one_replaces_are_named_with_their_start_and_cost():
    search = SuccessiveHalvingSearchCV(
        MLPClassifier(max_iter=20), {"alpha": [*np.logspace(-5, 2, 8)]}, cv=KFold(3), factor=1.3
    )
    (note,) = search.plan(*CANCER).notes
    assert "3 rungs starting at 1 fold would cost 0.88 times" in note
    assert "Set resource='folds'" in note
