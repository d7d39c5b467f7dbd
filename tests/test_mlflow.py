"""MLflow's autologging logs a search as it logs a grid search, and no fit inside of it."""

import subprocess
import sys

import mlflow
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.model_selection
from scipy import sparse
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::Warning:mlflow", "ignore::Warning:sqlalchemy"),
]

X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000)
GRID = {"C": [1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0]}
ONE_RUNG = {"min_resources": 100, "max_resources": 100}
THREE_RUNGS = {"min_resources": 25, "max_resources": 100, "factor": 2}


def halving(estimator=MODEL, grid=GRID, **params):
    params = {"cv": 3, "resource": "n_samples", "random_state": 0} | params
    return SuccessiveHalvingSearchCV(estimator, grid, **params)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder / 'runs.db'}")
    return folder


@pytest.fixture
def runs(store, request):
    """Of an experiment of the test's own: its runs without a parent, and their children."""
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment(request.node.name, (store / "artifacts").as_uri())
    )

    def runs():
        found = mlflow.search_runs(output_format="list")
        parents = [run for run in found if "mlflow.parentRunId" not in run.data.tags]
        children = [run for run in found if "mlflow.parentRunId" in run.data.tags]
        ids = {run.info.run_id for run in parents}
        assert {run.data.tags["mlflow.parentRunId"] for run in children} <= ids
        return parents, children

    mlflow.sklearn.autolog(log_models=False, max_tuning_runs=None, silent=True)
    yield runs
    mlflow.sklearn.autolog(disable=True)
    assert mlflow.active_run() is None


def without_times(run):
    return {name: value for name, value in run.data.metrics.items() if "_time" not in name}


def artifacts(run):
    return {file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)}


@pytest.mark.parametrize("max_tuning_runs", [None, 3])
def test_one_rung_is_logged_as_a_grid_search_is(runs, max_tuning_runs):
    mlflow.sklearn.autolog(log_models=False, max_tuning_runs=max_tuning_runs, silent=True)
    logged = []
    for search in (GridSearchCV(MODEL, GRID, cv=3), halving(**ONE_RUNG)):
        search.fit(X, Y)
        parents, children = runs()
        (parent,) = [p for p in parents if p.data.tags["estimator_name"] == type(search).__name__]
        mine = [c for c in children if c.data.tags["mlflow.parentRunId"] == parent.info.run_id]
        logged.append((parent, sorted(mine, key=lambda child: float(child.data.params["C"]))))
    (grid, of_grid), (halved, of_halved) = logged
    assert halved.data.params.keys() == {*search.get_params(deep=False), "best_C"}
    assert halved.data.metrics.keys() == {"best_cv_score", "training_score"}
    assert halved.data.params["best_C"] == grid.data.params["best_C"]
    assert halved.data.params["cv"] == grid.data.params["cv"] == "3"
    for name in ("best_cv_score", "training_score"):
        assert halved.data.metrics[name] == grid.data.metrics[name]
    assert halved.inputs.dataset_inputs[0].dataset == grid.inputs.dataset_inputs[0].dataset
    assert halved.info.status == grid.info.status == "FINISHED"
    assert len(of_halved) == len(of_grid) == (max_tuning_runs or len(GRID["C"]))
    for ours, theirs in zip(of_halved, of_grid, strict=True):
        assert ours.data.params == theirs.data.params
        assert without_times(ours).items() >= without_times(theirs).items()
        for tag in ("estimator_name", "estimator_class", "mlflow.autologging"):
            assert ours.data.tags[tag] == theirs.data.tags[tag]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_candidate_is_logged_at_its_furthest_rung(runs, n_jobs):
    search = halving(**THREE_RUNGS, n_jobs=n_jobs).fit(X, Y)
    (parent,), children = runs()
    assert search.n_candidates_ == [7, 4, 2]
    furthest = [child.data.metrics["n_resources"] for child in children]
    assert sorted(furthest) == [25] * 3 + [50] * 2 + [100] * 2
    assert {float(child.data.params["C"]) for child in children} == set(GRID["C"])
    best = max(child.data.metrics["mean_test_score"] for child in children
               if child.data.metrics["n_resources"] == 100)  # fmt: skip
    assert parent.data.metrics["best_cv_score"] == search.best_score_ == best
    assert artifacts(parent) == {"all_cv_results.csv", "cv_results.csv", "rung_history.json"}
    history = mlflow.artifacts.load_dict(f"{parent.info.artifact_uri}/rung_history.json")
    assert str(history["rungs"]) == str(list(search.rung_history_))  # NaN is not itself


def test_the_runs_of_the_best_candidates_are_those_of_the_last_rung(runs):
    mlflow.sklearn.autolog(log_models=False, max_tuning_runs=2, silent=True)
    halving(**THREE_RUNGS).fit(X, Y)
    assert [child.data.metrics["n_resources"] for child in runs()[1]] == [100, 100]


def test_a_parameter_that_is_the_resource_is_logged_as_trained(runs):
    forest = RandomForestClassifier(random_state=0)
    params = {"resource": "n_estimators", "min_resources": 2, "max_resources": 8, "factor": 2}
    halving(forest, {"max_depth": [1, 2, 3, 4]}, **params).fit(X, Y)
    (parent,), children = runs()
    trees = [int(child.data.params["n_estimators"]) for child in children]
    assert sorted(trees) == [2, 2, 4, 8]
    assert parent.data.params["best_n_estimators"] == "8"


def test_hyperband_and_several_metrics(runs):
    search = HyperbandSearchCV(
        MODEL, {"C": loguniform(1e-3, 1e3)}, cv=3, resource="n_samples", min_resources=25,
        max_resources=100, factor=2, scoring=["accuracy", "f1_macro"], refit="f1_macro",
        random_state=0,
    ).fit(X, Y)  # fmt: skip
    (parent,), children = runs()
    assert parent.data.metrics["best_cv_score"] == search.best_score_
    numbers = [child.data.metrics["candidate"] for child in children]
    assert sorted(numbers) == sorted(set(search.all_cv_results_["candidate"]))


def test_inside_of_another_fit_or_cross_validation_nothing_is_logged(runs):
    search = halving(min_resources=30, max_resources=30)
    sklearn.model_selection.cross_val_score(search, X, Y, cv=2)
    assert runs() == ([], [])
    make_pipeline(StandardScaler(), search).fit(X, Y)
    (parent,), children = runs()
    assert parent.data.tags["estimator_name"] == "Pipeline"
    assert not children


def test_a_run_of_the_users_is_continued(runs):
    with mlflow.start_run() as run:
        halving(**ONE_RUNG).fit(X, Y)
        assert mlflow.active_run().info.run_id == run.info.run_id
    (parent,), children = runs()
    assert parent.info.run_id == run.info.run_id
    assert "best_C" in parent.data.params
    assert len(children) == len(GRID["C"])


def test_exclusive_autologging_leaves_a_run_of_the_users_alone(runs):
    mlflow.sklearn.autolog(log_models=False, exclusive=True, silent=True)
    with mlflow.start_run():
        halving(**ONE_RUNG).fit(X, Y)
    (parent,), children = runs()
    assert not parent.data.params
    assert not children


def test_autologging_that_is_off_logs_nothing(runs):
    mlflow.sklearn.autolog(disable=True)
    halving(**ONE_RUNG).fit(X, Y)
    assert runs() == ([], [])


def test_a_search_that_raises_is_a_failed_run_and_autologging_stays_on(runs):
    with pytest.raises(ValueError, match="'C' parameter"):
        halving(grid={"C": [-1.0]}, error_score="raise", **ONE_RUNG).fit(X, Y)
    (parent,), children = runs()
    assert parent.info.status == "FAILED"
    assert parent.data.params["min_resources"] == "100"
    assert not children
    MODEL.fit(X, Y)
    assert len(runs()[0]) == 2


def test_what_cannot_be_logged_is_a_warning(runs, monkeypatch):
    def refuse(*args, **params):
        raise OSError("no connection")

    monkeypatch.setattr(mlflow, "log_metrics", refuse)
    with pytest.warns(UserWarning, match="not logged to MLflow: OSError: no connection") as caught:
        search = halving(**ONE_RUNG).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]
    assert search.predict(X).shape == Y.shape
    (parent,), _ = runs()
    assert parent.info.status == "FINISHED"
    assert artifacts(parent) == {"all_cv_results.csv", "cv_results.csv", "rung_history.json"}


@pytest.mark.parametrize("kind", [pd.Series, list])
def test_targets_that_are_no_array_are_logged_as_one(runs, kind):
    for targets in (Y, kind(Y)):
        halving(**ONE_RUNG).fit(X, targets)
    (first, second), children = runs()
    assert second.inputs.dataset_inputs[0].dataset == first.inputs.dataset_inputs[0].dataset
    assert second.data.params == first.data.params
    assert len(children) == 2 * len(GRID["C"])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_matrix, pl.DataFrame, pd.DataFrame])
def test_data_of_other_types_are_logged_as_of_a_grid_search(runs, kind):
    for search in (GridSearchCV(MODEL, GRID, cv=3), halving(**ONE_RUNG)):
        search.fit(kind(X), Y)
    (ours, theirs), _ = runs()
    assert ours.inputs.dataset_inputs[0].dataset == theirs.inputs.dataset_inputs[0].dataset


def test_of_texts_in_a_series_everything_but_the_data_is_logged(runs):
    texts = pd.Series(Y).map({0: "one word", 1: "two words", 2: "three words"})
    model = make_pipeline(HashingVectorizer(n_features=16), MODEL)
    halving(model, {"logisticregression__C": [0.1, 1.0]}, **ONE_RUNG).fit(texts, Y)
    (parent,), children = runs()
    assert not parent.inputs.dataset_inputs
    assert parent.data.metrics.keys() == {"best_cv_score", "training_score"}
    assert len(children) == 2


def test_what_cannot_be_logged_leaves_out_nothing_else(runs):
    """MLflow refuses the parameters of a second search in a run, since they have other values."""
    with mlflow.start_run():
        halving(**ONE_RUNG).fit(X, Y)
        with pytest.warns(UserWarning, match="Changing param values is not allowed"):
            halving(grid={"C": [1e-4, 1e-3]}, **ONE_RUNG).fit(X, Y)
    (parent,), children = runs()
    assert len(children) == len(GRID["C"]) + 2
    client = mlflow.MlflowClient()
    assert len(client.get_metric_history(parent.info.run_id, "best_cv_score")) == 2


def test_models_are_logged_and_predict(runs):
    mlflow.sklearn.autolog(log_datasets=False, silent=True)
    search = halving(**ONE_RUNG).fit(X, Y)
    (parent,), _ = runs()
    models = {model.name: model for model in mlflow.search_logged_models(output_format="list")}
    assert models.keys() == {"model", "best_estimator"}
    assert {model.source_run_id for model in models.values()} == {parent.info.run_id}
    for model in models.values():
        loaded = mlflow.sklearn.load_model(model.model_uri)
        np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
        assert mlflow.models.get_model_info(model.model_uri).signature.inputs is not None


class NeedsSamples(LogisticRegression):
    def predict(self, X):
        if len(X) < 10:
            raise ValueError("too few samples to predict")
        return super().predict(X)


def test_without_a_prediction_of_the_example_models_are_logged_without_a_signature(runs):
    mlflow.sklearn.autolog(log_datasets=False, serialization_format="cloudpickle", silent=True)
    search = halving(NeedsSamples(max_iter=1000), **ONE_RUNG).fit(X, Y)
    models = mlflow.search_logged_models(output_format="list")
    assert {model.name for model in models} == {"model", "best_estimator"}
    for model in models:
        assert mlflow.models.get_model_info(model.model_uri).signature is None
        loaded = mlflow.sklearn.load_model(model.model_uri)
        np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


def test_models_of_a_sparse_matrix_without_rows_have_an_example(runs):
    mlflow.sklearn.autolog(log_datasets=False, log_input_examples=True, silent=True)
    halving(**ONE_RUNG).fit(sparse.coo_matrix(X), Y)
    models = mlflow.search_logged_models(output_format="list")
    assert {model.name for model in models} == {"model", "best_estimator"}


def test_mlflow_is_not_imported_by_a_search():
    code = (
        "import sys; from sklearn.linear_model import Ridge; from sklearn_sha import *;"
        "SuccessiveHalvingSearchCV(Ridge(), {'alpha': [1.0, 2.0]}, cv=2).fit("
        "[[0.0], [1.0]] * 8, [0.0, 1.0] * 8); print('mlflow' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "False"
