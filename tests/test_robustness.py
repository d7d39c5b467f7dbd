"""Estimators, data and compositions on which a search must not differ from what it replaces."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.decomposition import PCA, MiniBatchDictionaryLearning
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._data.preprocessing import set_seeds

X, Y = load_iris(return_X_y=True)
X = X / X.max(axis=0)
ALPHAS = {"alpha": [1e-4, 1e-3, 1e-2]}
CS = {"logisticregression__C": [0.1, 1.0]}


class Double(TransformerMixin, BaseEstimator):
    """Has nothing to learn, and does not look fitted."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * X


class Columns(TransformerMixin, BaseEstimator):
    def __init__(self, columns=(0,)):
        self.columns = columns

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[:, list(self.columns)]


class Doubling(RegressorMixin, BaseEstimator):
    """Doubles its samples in place at every call."""

    def __init__(self, a=1.0):
        self.a = a

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y):
        X *= 2
        self.sum_ = getattr(self, "sum_", 0.0) + self.a * float(np.asarray(X)[0, 0])
        return self

    def score(self, X, y):
        return self.sum_


class Heavy(ClassifierMixin, BaseEstimator):
    """Trains a large array in place, and counts the calls that it has had."""

    def __init__(self, a=1.0):
        self.a = a

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y, classes=None):
        if not hasattr(self, "weights_"):
            self.classes_ = classes
            self.weights_ = np.zeros(300_000)
        self.weights_ += self.a
        return self

    def predict(self, X):
        return np.zeros(len(X))

    def score(self, X, y):
        return float(self.weights_[-1])


def one_rung(estimator, grid, X, y, **params):
    """Scores of GridSearchCV and of one rung at full resource."""
    theirs = GridSearchCV(estimator, grid, **params).fit(X, y)
    ours = SuccessiveHalvingSearchCV(
        estimator, grid, resource="n_samples", min_resources=1.0, **params
    ).fit(X, y)
    return theirs.cv_results_, ours.cv_results_


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_a_transformer_with_nothing_to_learn(resource):
    model = make_pipeline(StandardScaler(), Double(), SGDClassifier(random_state=0))
    grid = {"sgdclassifier__alpha": [1e-3, 1e-2]}
    search = SuccessiveHalvingSearchCV(model, grid, resource=resource, cv=3)
    assert search.fit(X, Y).score(X, Y) > 0.8


def test_hashed_text():
    texts = [f"w{i % 7} w{i % 11} w{i % 3}" for i in range(90)]
    model = make_pipeline(HashingVectorizer(n_features=2**10), LogisticRegression())
    theirs, ours = one_rung(model, CS, texts, np.arange(90) % 3, cv=3)
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_large_models_train_on_in_workers(backend):
    with parallel_config(backend=backend, n_jobs=2):
        search = SuccessiveHalvingSearchCV(
            Heavy(), {"a": [1.0, 2.0, 3.0, 4.0]}, resource="partial_fit", max_resources=8, cv=2
        ).fit(X, Y)
    units = search.all_cv_results_["n_resources"]
    a = np.array([params["a"] for params in search.all_cv_results_["params"]])
    assert search.n_iterations_ == 2
    np.testing.assert_array_equal(search.all_cv_results_["mean_test_score"], a * units)


def test_a_large_linear_model_trains_on_in_workers():
    wide = sparse.random(60, 150_000, density=1e-3, random_state=0, format="csr")
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), ALPHAS, resource="partial_fit", max_resources=4, cv=2
    )
    alone = search.fit(wide, Y[30:90]).all_cv_results_["mean_test_score"]
    both = search.set_params(n_jobs=2).fit(wide, Y[30:90]).all_cv_results_["mean_test_score"]
    np.testing.assert_array_equal(alone, both)


@pytest.mark.parametrize(
    ("estimator", "continues"),
    [
        (RandomForestClassifier(8), False),
        (ExtraTreesClassifier(8), False),
        (BaggingClassifier(n_estimators=8), False),
        (IsolationForest(n_estimators=8), False),
        (GradientBoostingClassifier(n_estimators=8, subsample=0.5), True),
    ],
    ids=str,
)
def test_a_random_state_that_goes_on_still_gives_the_scores_of_one_fit(estimator, continues):
    estimator.random_state = np.random.RandomState(0)

    def scoring(model, X, y):
        said = model.score_samples(X) if hasattr(model, "score_samples") else model.predict_proba(X)
        return float((said * np.arange(said.size).reshape(said.shape)).sum())

    grid = {"max_features": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(
        estimator, grid, resource="n_estimators", cv=2, scoring=scoring
    ).fit(X, Y)
    assert search.schedule_.continues == continues
    full = GridSearchCV(estimator, grid, cv=2, scoring=scoring).fit(X, Y)
    last = search.all_cv_results_["iter"] == 1
    survivors = search.all_cv_results_["candidate"][last]
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], full.cv_results_["mean_test_score"][survivors]
    )


def test_writing_into_samples_gives_the_same_whatever_the_rungs():
    def scores(least):
        search = SuccessiveHalvingSearchCV(
            Doubling(), {"a": [1.0, 2.0, 3.0]}, resource="partial_fit", max_resources=4,
            min_resources=least, cv=2, refit=False,
        )  # fmt: skip
        return search.fit(np.ones((20, 1)), np.arange(20.0)).cv_results_["mean_test_score"][-2:]

    assert scores("auto").tolist() == scores(1.0).tolist() == [2 * 4 * 2, 2 * 4 * 3]


@pytest.mark.filterwarnings("ignore:.*TargetEncoder.*deprecated:FutureWarning")
def test_train_scores_are_of_transformed_samples_as_in_grid_search():
    letters = np.array(list("abcd"), dtype=object)[np.random.RandomState(0).randint(4, size=150)]
    model = make_pipeline(TargetEncoder(random_state=0), LogisticRegression())
    theirs, ours = one_rung(model, CS, letters[:, None], Y, return_train_score=True)
    np.testing.assert_array_equal(ours["mean_train_score"], theirs["mean_train_score"])
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
@pytest.mark.parametrize(
    ("made", "kind"),
    [*((made, "matrix") for made in ("coo", "bsr", "dia", "csc", "lil", "dok")), ("csc", "array")],
)
def test_mini_batches_of_every_sparse_format(made, kind):
    model = SGDClassifier(random_state=0)
    params = {"batch_size": 20, "max_resources": 2, "cv": 2, "random_state": 0}
    data = getattr(sparse, f"{made}_{kind}")(X)
    search = SuccessiveHalvingSearchCV(model, ALPHAS, **params).fit(data, Y)
    dense = SuccessiveHalvingSearchCV(model, ALPHAS, **params).fit(sparse.csr_matrix(X), Y)
    assert search.best_score_ == dense.best_score_
    to_format = FunctionTransformer(_AsFormat(made), accept_sparse=True)
    after = make_pipeline(to_format, SGDClassifier(random_state=0))
    inside = SuccessiveHalvingSearchCV(
        after, {"sgdclassifier__alpha": ALPHAS["alpha"]}, error_score="raise", **params
    ).fit(X, Y)
    assert inside.best_score_ == dense.best_score_


class _AsFormat:
    def __init__(self, made):
        self.made = made

    def __call__(self, X):
        return sparse.csr_matrix(X).asformat(self.made)


@pytest.mark.filterwarnings("ignore:Scoring failed:UserWarning")
@pytest.mark.filterwarnings("ignore:.*fits or scores:UserWarning")
def test_test_samples_that_cannot_be_transformed_cost_the_test_score_only():
    each_new = np.arange(150)[:, None].astype(str).astype(object)
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    params = {"error_score": 0.0, "return_train_score": True}
    theirs, ours = one_rung(model, CS, each_new, Y, **params)
    for name in ("mean_test_score", "mean_train_score"):
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_a_transformer_may_add_a_column_to_a_data_frame():
    """Pandas 2 warns if the frame is a slice, and tests fail on warnings."""
    pandas = pytest.importorskip("pandas")

    def add(frame):
        frame["sum"] = frame["a"] + frame["b"]
        return frame  # as many users write it

    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = make_pipeline(FunctionTransformer(add), LogisticRegression())
    theirs, ours = one_rung(model, CS, frame, Y, refit=False)
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])
    assert list(frame) == ["a", "b"]


def test_a_seed_that_does_not_shuffle_can_matter():
    steps = make_pipeline(MiniBatchDictionaryLearning(shuffle=False), PCA())
    set_seeds(steps, 3)
    assert [step.random_state for _, step in steps.steps] == [3, 3]


def test_a_transformer_that_splits_without_shuffling_gets_no_seed():
    """Its splitter would reject one."""

    class Split(Double):
        def __init__(self, cv=3, shuffle=False, random_state=None):
            self.cv = cv
            self.shuffle = shuffle
            self.random_state = random_state

        def fit(self, X, y=None):
            folds = KFold(self.cv, shuffle=self.shuffle, random_state=self.random_state)
            self.n_ = sum(1 for _ in folds.split(X))
            return self

    model = make_pipeline(Split(), LogisticRegression())
    theirs, ours = one_rung(model, CS, X, Y)
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


@pytest.mark.parametrize("several", [False, True])
def test_a_metric_may_write_into_the_targets(several):
    def written(y_true, y_pred):
        y_true[y_true == 0] = 1
        return np.mean(y_true == y_pred)

    own = make_scorer(written)
    params = {"scoring": {"a": "accuracy", "own": own}, "refit": "own"}
    params = params if several else {"scoring": own}
    theirs, ours = one_rung(make_pipeline(LogisticRegression()), CS, X, Y, **params)
    for name in (name for name in theirs if name.startswith("mean_test")):
        assert np.isfinite(theirs[name]).all()
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_errors_about_files_are_no_errors_about_samples():
    n_fits = []

    class Writes(LogisticRegression):
        def fit(self, X, y):
            n_fits.append(1)
            raise OSError("[Errno 30] Read-only file system")

    search = SuccessiveHalvingSearchCV(Writes(), {"C": [1.0]}, cv=2, error_score="raise")
    with pytest.raises(OSError, match="Read-only file system"):
        search.fit(X, Y)
    assert len(n_fits) == 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solvers", [["lbfgs", "adam"], ["adam", "lbfgs"]])
def test_candidates_without_partial_fit_are_searched_by_what_all_have(solvers):
    search = SuccessiveHalvingSearchCV(
        MLPClassifier((3,), max_iter=20, random_state=0), {"solver": solvers}, cv=2
    ).fit(X, Y)
    assert search.resource_ == "n_samples"
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_plan_does_not_promise_what_one_candidate_cannot_keep():
    grid = {"n_iter_no_change": [None, 3]}
    search = SuccessiveHalvingSearchCV(
        GradientBoostingClassifier(n_estimators=8), grid, resource="n_estimators", cv=2
    )
    assert not search.plan(X, Y).continues
    assert not search.fit(X, Y).schedule_.continues


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_more_classes_than_samples_at_full_resource():
    many = np.arange(150)
    theirs, ours = one_rung(KNeighborsClassifier(1), {"p": [1, 2]}, X, many, cv=KFold(3))
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


def test_a_last_step_that_passes_samples_on():
    def total(model, X, y):
        return float(model.transform(X).sum())

    pipeline = Pipeline([("scale", StandardScaler()), ("model", PCA(2))])
    grid = {"model": ["passthrough", PCA(2), PCA(1)]}
    theirs, ours = one_rung(pipeline, grid, X, Y, scoring=total, cv=3)
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


def test_settings_that_compare_equal_have_prefixes_of_their_own():
    grid = {"columns__columns": [(0, 1, 0, 1), (False, True, False, True)]}
    pipeline = Pipeline([("columns", Columns()), ("model", LogisticRegression())])
    theirs, ours = one_rung(pipeline, grid, X, Y)
    np.testing.assert_array_equal(ours["mean_test_score"], theirs["mean_test_score"])


@pytest.mark.parametrize("estimator", [LogisticRegression(), make_pipeline(Double(), SVC())])
def test_a_misspelt_parameter_in_any_dict_raises(estimator):
    grid = [{}, {"Q": [1]}]
    with pytest.raises(ValueError, match="Invalid parameter 'Q'"):
        SuccessiveHalvingSearchCV(estimator, grid, resource="n_samples").fit(X, Y)


def test_a_column_of_targets_and_several_outputs_with_partial_fit():
    column = [[int(label)] for label in Y]
    with pytest.warns(match="column-vector"):
        SuccessiveHalvingSearchCV(
            MLPClassifier((3,), random_state=0), {"alpha": [0.1]}, max_resources=2, cv=2
        ).fit(X, column)
    rows, labels = make_multilabel_classification(90, 6, n_classes=3, random_state=0)
    for model, name in [
        (MultiOutputClassifier(SGDClassifier(random_state=0)), "estimator__alpha"),
        (MLPClassifier((3,), random_state=0), "alpha"),
    ]:
        search = SuccessiveHalvingSearchCV(
            model, {name: [0.1, 0.01]}, resource="partial_fit", max_resources=2, cv=2
        ).fit(rows, labels)
        assert np.isfinite(search.best_score_)


def test_kernels_have_to_be_square():
    with pytest.raises(ValueError, match="X should be a square kernel matrix"):
        SuccessiveHalvingSearchCV(SVC(kernel="precomputed"), {}).fit(X, Y)
    with pytest.raises(ValueError, match=r"passed as arrays .* not as frames"):
        SuccessiveHalvingSearchCV(SVC(kernel="precomputed"), {}).fit(pd.DataFrame(X @ X.T), Y)


@pytest.mark.parametrize("sampler", ["random", "model"])
@pytest.mark.parametrize("seed", range(3))
def test_a_kernel_matrix_for_some_candidates_only_is_an_error(seed, sampler):
    """GridSearchCV slices X for each candidate, and here the result depended on the seed."""
    kernel, space = X @ X.T, [{"kernel": ["precomputed"]}, {"kernel": ["rbf"], "C": [1, 10]}]
    search = SuccessiveHalvingSearchCV(
        SVC(), space, random_state=seed, sampler=sampler, n_candidates=3
    )
    with pytest.raises(ValueError, match=r"while others do not\. Search them separately"):
        search.plan(kernel, Y)
    search.set_params(param_distributions=space[1], n_candidates=2).plan(kernel, Y)
