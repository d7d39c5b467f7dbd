"""Arrays of other libraries: what GridSearchCV does with them, slicing in their own namespace."""

from importlib import import_module

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._storage.durable_files import CheckpointError

X, Y = make_classification(240, n_informative=4, random_state=0)
TOL = {"tol": [1e-2, 1e-3, 1e-4, 1e-5]}
ONE_RUNG = {"min_resources": 120, "max_resources": 120}
THREE_RUNGS = {"min_resources": 30, "factor": 2}
SCALED_RIDGE = make_pipeline(MinMaxScaler(), Ridge(solver="svd"))


@pytest.fixture(autouse=True)
def dispatch():
    with config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["array_api_strict", "torch"])
def xp(request):
    return import_module(request.param)


def halving(estimator=None, grid=TOL, **params):
    params = {"resource": "n_samples", "cv": 2, "error_score": "raise", "random_state": 0} | params
    return SuccessiveHalvingSearchCV(estimator or LinearDiscriminantAnalysis(), grid, **params)


def scores(search):
    return np.stack([search.cv_results_[f"split{fold}_test_score"] for fold in (0, 1)])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_are_those_of_numpy_arrays(xp, n_jobs):
    there = halving(**THREE_RUNGS, n_jobs=n_jobs).fit(xp.asarray(X), xp.asarray(Y))
    here = halving(**THREE_RUNGS).fit(X, Y)
    assert there.n_resources_ == here.n_resources_ == [30, 60, 120]
    # Of tensors, scikit-learn's accuracy is a float32.
    np.testing.assert_allclose(scores(there), scores(here), rtol=1e-7)
    predicted = there.predict(xp.asarray(X))
    assert type(predicted) is type(xp.asarray(Y))
    np.testing.assert_array_equal(np.asarray(predicted), here.predict(X))
    assert there.score(xp.asarray(X), xp.asarray(Y)) == pytest.approx(here.score(X, Y))


def test_one_rung_is_a_grid_search(xp):
    data = xp.asarray(X), xp.asarray(Y)
    grid = GridSearchCV(LinearDiscriminantAnalysis(), TOL, cv=2).fit(*data)
    np.testing.assert_array_equal(scores(halving(**ONE_RUNG).fit(*data)), scores(grid))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_shared_preprocessing_stays_in_the_namespace(xp, n_jobs):
    data = xp.asarray(X), xp.asarray(X[:, 0])
    params = {"return_train_score": True, "n_jobs": n_jobs, **ONE_RUNG}
    search = halving(SCALED_RIDGE, {"ridge__alpha": [0.1, 1.0]}, **params).fit(*data)
    grid = GridSearchCV(SCALED_RIDGE, {"ridge__alpha": [0.1, 1.0]}, cv=2).fit(*data)
    np.testing.assert_array_equal(scores(search), scores(grid))
    assert type(search.best_estimator_[-1].coef_) is type(data[0])


@pytest.mark.filterwarnings("ignore:resource='partial_fit' gives GaussianNB")
@pytest.mark.parametrize("batch_size", [None, 32])
def test_training_continues_on_them(xp, batch_size):
    params = {"resource": "partial_fit", "max_resources": 4, "batch_size": batch_size}
    search = halving(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 1e-1, 1.0]}, **params)
    there = scores(search.fit(xp.asarray(X), xp.asarray(Y)))
    assert len(search.n_resources_) > 1
    np.testing.assert_allclose(there, scores(search.fit(X, Y)), rtol=1e-7)


def test_fit_parameters_are_sliced_too(xp):
    weights = np.where(np.arange(len(X)) % 3, 1.0, 0.1)
    data = xp.asarray(X), xp.asarray(X[:, 0] ** 2)
    alphas = {"alpha": [0.1, 1.0, 10.0, 100.0]}
    search = halving(Ridge(solver="svd"), alphas, **THREE_RUNGS)
    there = search.fit(*data, sample_weight=xp.asarray(weights)).cv_results_
    here = search.fit(X, X[:, 0] ** 2, sample_weight=weights).cv_results_
    np.testing.assert_allclose(there["mean_test_score"], here["mean_test_score"], rtol=1e-6)


class Erases(LinearDiscriminantAnalysis):
    """Leaves nothing of the samples that it was fitted on."""

    def fit(self, X, y):
        super().fit(X, y)
        X[:, :] = 0.0
        return self


def test_what_an_estimator_writes_stays_its_own(xp):
    data = xp.asarray(X), xp.asarray(Y)
    erased = halving(Erases(), return_train_score=True, **THREE_RUNGS).fit(*data)
    kept = halving(return_train_score=True, **THREE_RUNGS).fit(xp.asarray(X), xp.asarray(Y))
    for name in ("mean_test_score", "mean_train_score"):
        np.testing.assert_array_equal(erased.cv_results_[name], kept.cv_results_[name])
    np.testing.assert_array_equal(np.asarray(data[0]), X)


class Counts(LinearDiscriminantAnalysis):
    n_fits = 0

    def fit(self, X, y):
        Counts.n_fits += 1
        return super().fit(X, y)


def test_a_checkpoint_knows_the_same_data_again(xp, tmp_path):
    params = THREE_RUNGS | {"min_folds": "all"}
    search = halving(Counts(), refit=False, checkpoint=tmp_path / "search", **params)
    Counts.n_fits = 0
    search.fit(xp.asarray(X), xp.asarray(Y))
    assert Counts.n_fits == 2 * (4 + 2 + 1)
    search.fit(xp.asarray(X.copy()), xp.asarray(Y.copy()))
    assert Counts.n_fits == 2 * (4 + 2 + 1)
    with pytest.raises(CheckpointError, match=r"differs in y\b"):
        search.fit(xp.asarray(X), xp.asarray(1 - Y))
