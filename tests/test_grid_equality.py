"""One rung is a grid search: every column of GridSearchCV's cv_results_, times aside."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingRegressor, IsolationForest, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_sha import SuccessiveHalvingSearchCV

pytestmark = [
    pytest.mark.filterwarnings("ignore:lbfgs failed to converge"),
    pytest.mark.filterwarnings("ignore:invalid value encountered in subtract:RuntimeWarning"),
]

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
FRAME = load_iris(return_X_y=True, as_frame=True)
LABELS = make_multilabel_classification(120, 6, n_classes=3, random_state=0)
TEXTS = ([f"w{i % 7} w{i % 3} w{i % 11}" for i in range(60)], [i % 3 for i in range(60)])
SIMILAR = IRIS[0] @ IRIS[0].T
GROUPS = np.arange(150) % 7


def own_scorer(estimator, X, y):
    return float((estimator.predict(X) == y).mean() - 0.01 * len(X))


def two_scores(estimator, X, y):
    hit = estimator.predict(X) == y
    return {"hits": int(hit.sum()), "share": hit.mean()}


def one_score(estimator, X, y):
    return {"score": (estimator.predict(X) == y).mean()}


def pipeline_scorer(estimator, X, y):
    """A scorer that needs the whole pipeline and samples that are not transformed."""
    return estimator.named_steps["scaler"].mean_[0] + X[0, 0] + estimator.score(X, y)


def has_no_score(estimator, X, y):
    raise ValueError("no score")


SCALED = Pipeline([("scaler", StandardScaler()), ("model", LogisticRegression())])

# estimator, grid, data, and parameters of both searches
CASES = {
    "classifier": (LogisticRegression(), {"C": [0.01, 1, 10]}, IRIS, {}),
    "string values": (SVC(), {"kernel": ["rbf", "linear"], "C": [1, 2]}, IRIS, {}),
    "missing in some": (SVC(), [{"gamma": [0.1, 1.0]}, {"kernel": ["linear"]}], IRIS, {}),
    "mixed values": (
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, None], "max_features": [2, "sqrt", 0.5]},
        IRIS,
        {},
    ),
    "sequences": (
        GaussianNB(),
        {"priors": [None, [0.2, 0.3, 0.5], np.array([0.1, 0.1, 0.8])]},
        IRIS,
        {},
    ),
    "an empty grid of parameters": (GaussianNB(), {}, IRIS, {}),
    "random forest": (
        RandomForestClassifier(5, random_state=0),
        {"max_depth": [1, 2]},
        IRIS,
        {"return_train_score": True},
    ),
    "regressor": (Ridge(), {"alpha": np.logspace(-2, 2, 4)}, DIABETES, {"scoring": "r2"}),
    "boosting": (
        GradientBoostingRegressor(n_estimators=5, random_state=0),
        {"max_depth": [1, 2]},
        DIABETES,
        {"cv": ShuffleSplit(3, random_state=1)},
    ),
    "several metrics": (
        LogisticRegression(),
        {"C": [0.01, 1]},
        IRIS,
        {
            "scoring": ["accuracy", "f1_macro"],
            "refit": "f1_macro",
            "return_train_score": True,
        },
    ),
    "metrics in a dict": (
        Ridge(),
        {"alpha": [0.1, 1]},
        DIABETES,
        {
            "scoring": {
                "r2": "r2",
                "mae": make_scorer(mean_absolute_error, greater_is_better=False),
            },
            "refit": False,
        },
    ),
    "a scorer of our own": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5]},
        IRIS,
        {"scoring": own_scorer},
    ),
    "a scorer of two": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 5]},
        IRIS,
        {"scoring": two_scores, "refit": "share"},
    ),
    "probabilities": (LogisticRegression(), {"C": [0.1, 1]}, IRIS, {"scoring": "neg_log_loss"}),
    "groups": (
        LogisticRegression(),
        {"C": [0.1, 1]},
        IRIS,
        {"cv": GroupKFold(3), "fit": {"groups": GROUPS}},
    ),
    "a group out": (
        LogisticRegression(),
        {"C": [0.1, 1]},
        IRIS,
        {"cv": LeaveOneGroupOut(), "fit": {"groups": GROUPS}},
    ),
    "repeated folds": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1e-2]},
        IRIS,
        {"cv": RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)},
    ),
    "given splits": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1e-2]},
        IRIS,
        {"cv": [(np.arange(0, 150, 2), np.arange(1, 150, 2)), (np.arange(5, 150), np.arange(5))]},
    ),
    "predefined": (GaussianNB(), {}, IRIS, {"cv": PredefinedSplit(np.arange(150) % 4 - 1)}),
    "time series": (Ridge(), {"alpha": [0.1, 1]}, DIABETES, {"cv": TimeSeriesSplit(4)}),
    "unequal folds": (GaussianNB(), {}, (IRIS[0][:50], IRIS[1][:50]), {"cv": KFold(7)}),
    "sparse": (
        LogisticRegression(),
        {"C": [0.1, 1]},
        (sparse.csr_matrix(IRIS[0]), IRIS[1]),
        {},
    ),
    "sparse coo": (
        TruncatedSVD(2, random_state=0),
        {"n_components": [1, 2]},
        (sparse.coo_matrix(IRIS[0]), None),
        {"scoring": lambda m, X, y=None: m.explained_variance_ratio_.sum()},
    ),
    "pandas": (
        LogisticRegression(),
        {"C": [0.1, 1]},
        (FRAME[0].set_index(np.arange(150, 0, -1)), pd.Series(FRAME[1].map(str))),
        {},
    ),
    "lists": (GaussianNB(), {}, (IRIS[0].tolist(), IRIS[1].tolist()), {}),
    "texts": (
        make_pipeline(TfidfVectorizer(), LogisticRegression()),
        {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "logisticregression__C": [0.1, 1]},
        TEXTS,
        {},
    ),
    "many outputs": (
        KNeighborsRegressor(),
        {"n_neighbors": [1, 3]},
        (DIABETES[0], np.c_[DIABETES[1], -DIABETES[1]]),
        {},
    ),
    "multilabel": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}, LABELS, {}),
    "multilabel frame": (
        KNeighborsClassifier(),
        {"n_neighbors": [1, 3]},
        (pd.DataFrame(LABELS[0]), pd.DataFrame(LABELS[1])),
        {},
    ),
    "clusters": (KMeans(random_state=0, n_init=1), {"n_clusters": [2, 3, 4]}, (IRIS[0], None), {}),
    "densities": (GaussianMixture(random_state=0), {"n_components": [1, 2]}, (IRIS[0], None), {}),
    "a decomposition": (PCA(), {"n_components": [1, 2]}, (IRIS[0], None), {}),
    "precomputed": (SVC(kernel="precomputed"), {"C": [0.1, 1]}, (SIMILAR, IRIS[1]), {}),
    "precomputed regression": (
        KernelRidge(kernel="precomputed"),
        {"alpha": [0.1, 1]},
        (SIMILAR, IRIS[0][:, 0]),
        {"cv": KFold(3, shuffle=True, random_state=0)},
    ),
    "pipeline": (SCALED, {"model__C": [0.1, 1], "scaler__with_mean": [True, False]}, IRIS, {}),
    "steps replaced": (
        SCALED,
        [
            {
                "model": [GaussianNB(), KNeighborsClassifier(3)],
                "scaler": ["passthrough", StandardScaler()],
            }
        ],
        IRIS,
        {},
    ),
    "feature selection": (
        make_pipeline(SelectKBest(k=2), DecisionTreeRegressor(random_state=0)),
        {"selectkbest__k": [1, 3], "decisiontreeregressor__max_depth": [1, 2]},
        DIABETES,
        {"scoring": "neg_mean_absolute_error"},
    ),
    "a scorer that looks inside": (
        SCALED,
        {"model__C": [0.1, 1]},
        IRIS,
        {"scoring": pipeline_scorer},
    ),
    "a pipeline of one step": (Pipeline([("model", GaussianNB())]), {}, IRIS, {}),
    "nested pipelines": (
        make_pipeline(make_pipeline(StandardScaler(), PCA(3)), LogisticRegression()),
        {"pipeline__pca__n_components": [1, 2], "logisticregression__C": [0.1, 1]},
        IRIS,
        {},
    ),
    "a metric of the user's named score": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1.0]},
        IRIS,
        {"scoring": {"score": "accuracy"}, "refit": "score"},
    ),
    "a callable with a metric named score": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1.0]},
        IRIS,
        {"scoring": one_score, "refit": "score"},
    ),
    "all wrong scores": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1.0]},
        IRIS,
        {"scoring": lambda estimator, X, y: -np.inf},
    ),
    "an integer as the score of each failure": (
        GaussianNB(),
        {"var_smoothing": [1e-9, 1.0]},
        IRIS,
        {"scoring": has_no_score, "error_score": 0, "return_train_score": True},
    ),
}


def fitted(estimator, grid, data, params):
    params = dict(params)
    fit_params = params.pop("fit", {})
    searches = (
        GridSearchCV(estimator, grid, **params),
        SuccessiveHalvingSearchCV(
            estimator, grid, resource="n_samples", min_resources=1.0, random_state=0, **params
        ),
    )
    return [search.fit(*data, **fit_params) for search in searches]


@pytest.mark.filterwarnings("ignore:.*non-finite:UserWarning")
@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_rung_equals_grid_search(case):
    theirs, ours = fitted(*case)
    expected = {name: column for name, column in theirs.cv_results_.items() if "_time" not in name}
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for name, column in expected.items():
        mine = ours.cv_results_[name]
        assert type(mine) is type(column), name
        if name == "params":
            assert list(map(str, mine)) == list(map(str, column))
            continue
        assert mine.dtype == column.dtype, name
        if isinstance(column, np.ma.MaskedArray):
            assert mine.mask.tolist() == column.mask.tolist(), name
            assert list(map(str, mine)) == list(map(str, column)), name
        else:
            np.testing.assert_array_equal(mine, column, err_msg=name)
    for name in ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"):
        assert ours.cv_results_[name].shape == theirs.cv_results_[name].shape
        assert (ours.cv_results_[name] >= 0).all()
    assert ours.all_cv_results_["iter"].tolist() == [0] * len(expected["params"])
    for name in ("best_index_", "best_score_", "best_params_", "n_splits_", "multimetric_"):
        assert hasattr(ours, name) == hasattr(theirs, name), name
        if hasattr(theirs, name):
            assert str(getattr(ours, name)) == str(getattr(theirs, name)), name
    assert str(ours.scorer_).split(" at 0x")[0] == str(theirs.scorer_).split(" at 0x")[0]
    if theirs.refit and hasattr(theirs, "predict"):
        X = case[2][0]
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        if case[2][1] is not None and theirs.scorer_ not in (pipeline_scorer, has_no_score):
            assert ours.score(*case[2]) == theirs.score(*case[2])


@pytest.mark.parametrize("scoring", [{"score": "accuracy"}, one_score])
def test_a_named_metric_has_to_be_chosen_for_the_refit(scoring):
    for search in (GridSearchCV, SuccessiveHalvingSearchCV):
        with pytest.raises(ValueError, match="the parameter refit must be set to a scorer key"):
            search(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, scoring=scoring).fit(*IRIS)


def test_one_rung_of_a_parameter_equals_grid_search_at_its_value():
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    forest = RandomForestClassifier(n_estimators=7, random_state=0)
    theirs = GridSearchCV(forest, grid).fit(*IRIS)
    ours = SuccessiveHalvingSearchCV(forest, grid, resource="n_estimators", min_resources=1.0).fit(
        *IRIS
    )
    assert ours.n_resources_ == [7]
    for name, column in theirs.cv_results_.items():
        if "_time" not in name:
            np.testing.assert_array_equal(ours.cv_results_[name], column)
    assert ours.best_params_ == theirs.best_params_ | {"n_estimators": 7}
    np.testing.assert_array_equal(ours.predict_proba(IRIS[0]), theirs.predict_proba(IRIS[0]))


def test_failures_rank_as_in_grid_search():
    def fails_for_big(estimator, X, y):
        return np.nan if estimator.C > 5 else estimator.score(X, y) - 9

    grid = {"C": [10, 0.001, 20, 1]}
    with pytest.warns(UserWarning, match="non-finite"):
        theirs = GridSearchCV(LogisticRegression(), grid, scoring=fails_for_big).fit(*IRIS)
    with pytest.warns(UserWarning, match=r"non-finite: mean_test_score of candidates 0, 2\."):
        ours = SuccessiveHalvingSearchCV(
            LogisticRegression(), grid, scoring=fails_for_big, min_resources=1.0
        ).fit(*IRIS)
    np.testing.assert_array_equal(
        ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"]
    )


def trained_and_fitted(model, X, y=None):
    """Score of the trained model, and of the model that is fitted to the test samples."""
    return float(model.score_samples(X).mean() + (model.fit_predict(X) == 1).mean())


def silhouette(model, X, y=None):
    transformed = model[:-1].transform(X)
    return silhouette_score(transformed, model.fit_predict(X))


@pytest.mark.parametrize("rungs", [{}, {"min_resources": 4, "min_folds": "all"}])
def test_a_scorer_can_fit_a_model_that_continues_training(rungs):
    X, forest = IRIS[0], IsolationForest(n_estimators=16, random_state=0)
    grid = {"max_samples": [8, 16, 32, 48]}
    params = {"scoring": trained_and_fitted, "cv": 3, "refit": False}
    search = SuccessiveHalvingSearchCV(forest, grid, resource="n_estimators", **params, **rungs)
    results = search.fit(X).cv_results_
    assert len(search.n_resources_) > 1
    expected = GridSearchCV(forest, grid, **params).fit(X).cv_results_
    scores = dict(zip(map(str, expected["params"]), expected["mean_test_score"], strict=True))
    for candidate, score in zip(results["params"], results["mean_test_score"], strict=True):
        assert scores[str(candidate)] == score


@pytest.mark.parametrize(
    "steps", [[StandardScaler()], [make_union(StandardScaler(), "passthrough")],
              [make_pipeline(StandardScaler(), PCA(3))]],
)  # fmt: skip
def test_a_scorer_can_fit_the_preprocessing(steps):
    X = IRIS[0] * [30, 1, 1, 1]
    pipeline = make_pipeline(*steps, AgglomerativeClustering())
    grid = {"agglomerativeclustering__n_clusters": [2, 3, 4, 5]}
    params = {"scoring": silhouette, "cv": KFold(4, shuffle=True, random_state=0), "refit": False}
    expected = GridSearchCV(pipeline, grid, **params).fit(X)
    found = SuccessiveHalvingSearchCV(
        pipeline, grid, resource="n_samples", min_resources=1.0, **params
    ).fit(X)
    for name in ("mean_test_score", "std_test_score"):
        np.testing.assert_array_equal(found.cv_results_[name], expected.cv_results_[name])


def test_a_placeholder_does_not_require_targets():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    grid = {"model": [KMeans(2, random_state=0), KMeans(3, random_state=0)]}
    expected = GridSearchCV(pipeline, grid, cv=3).fit(IRIS[0])
    found = SuccessiveHalvingSearchCV(pipeline, grid, cv=3, min_resources=1.0).fit(IRIS[0])
    assert found.best_score_ == expected.best_score_
    assert type(found.best_index_) is type(expected.best_index_)
    with pytest.raises(ValueError, match="SVC requires y to be passed"):
        SuccessiveHalvingSearchCV(pipeline, {"model__C": [1, 2]}, cv=3).fit(IRIS[0])


@pytest.mark.parametrize(
    ("scoring", "refit"),
    [
        (lambda model, X, y: {1: model.score(X, y)}, False),
        (lambda model, X, y: {0: model.score(X, y), 1: 0.5}, False),
        (lambda model, X, y: Decimal("0.5"), True),
        (lambda model, X, y: {"a": model.score(X, y)} | ({"b": 1} if model.C > 1 else {}), "a"),
    ],
    ids=["integer", "zero", "decimal", "additional"],
)
def test_metrics_as_in_a_grid_search(scoring, refit):
    params = {"cv": 3, "scoring": scoring, "refit": refit}
    expected = GridSearchCV(SVC(), {"C": [0.1, 1, 10]}, **params).fit(*IRIS)
    found = SuccessiveHalvingSearchCV(
        SVC(), {"C": [0.1, 1, 10]}, resource="n_samples", min_resources=1.0, **params
    ).fit(*IRIS)
    means = [name for name in expected.cv_results_ if name.startswith("mean_test")]
    for name in means:
        np.testing.assert_array_equal(found.cv_results_[name], expected.cv_results_[name])
