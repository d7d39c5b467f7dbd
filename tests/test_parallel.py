"""Results do not depend on the workers, and little is sent to them."""

import os
import pickle
import shutil
from time import sleep

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import disk_full, numbers

from sklearn_sha import CheckpointError, SuccessiveHalvingSearchCV
from sklearn_sha._data.folds import Fold
from sklearn_sha._engine import batches
from sklearn_sha._parallel import workers
from sklearn_sha._storage import models as models_module
from sklearn_sha._storage import pickling
from sklearn_sha._storage.limited_preprocessing import LimitedPreprocessing
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.store import Store

X, Y = (part[:400] for part in load_digits(return_X_y=True))

SEARCHES = {
    "mini-batches in a pipeline": SuccessiveHalvingSearchCV(
        make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
        {
            "sgdclassifier__alpha": loguniform(1e-6, 1),
            "standardscaler__with_mean": [True, False],
        },
        n_candidates=12,
        batch_size=50,
        resource="partial_fit",
        max_resources=16,
        scoring=["accuracy", "f1_macro"],
        refit="f1_macro",
        return_train_score=True,
        random_state=0,
    ),
    "samples": SuccessiveHalvingSearchCV(
        LogisticRegression(max_iter=2000), {"C": np.logspace(-4, 0, 6)}, random_state=0
    ),
    "trees": SuccessiveHalvingSearchCV(
        RandomForestClassifier(n_estimators=12, random_state=0),
        {"max_depth": [2, 4, 8, None], "max_features": [2, 8]},
        resource="n_estimators",
    ),
}


def process_after(seconds):
    sleep(seconds)
    return os.getpid()


def test_workers_are_those_of_other_calls_in_the_process():
    """With other options for joblib, each call of scikit-learn after a search starts new ones."""

    def processes():
        """One call lasts until the other has begun."""
        return {*Parallel(n_jobs=2)(delayed(process_after)(0.3) for _ in range(4))}

    before = processes()
    search = clone(SEARCHES["samples"]).set_params(n_jobs=2, cv=3)
    cross_val_score(search.fit(X, Y).best_estimator_, X, Y, n_jobs=2)
    assert processes() & before
    search.fit(X, Y)
    assert processes() & before


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_results_are_the_same_for_every_backend_and_number_of_jobs(search):
    expected = search.set_params(n_jobs=None, cv=3).fit(X, Y)
    results, predictions = numbers(expected), expected.predict_proba(X)
    for backend, n_jobs in [("loky", 2), ("threading", 2), ("loky", 1), ("multiprocessing", 2)]:
        with parallel_config(backend=backend, n_jobs=n_jobs):
            other = search.fit(X, Y)
        assert numbers(other) == results, (backend, n_jobs)
        np.testing.assert_array_equal(other.predict_proba(X), predictions)
    assert numbers(search.set_params(n_jobs=2).fit(X, Y)) == results


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* have the same score")
def test_splits_are_sent_once_for_many_candidates(monkeypatch, spy):
    monkeypatch.setattr(workers, "effective_n_jobs", lambda n_jobs: 2)
    monkeypatch.setattr(batches, "_MIN_SECONDS_PER_BATCH", 0.0)  # however fast the machine is
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": list(np.logspace(-6, 0, 64))},
        resource="partial_fit",
        max_resources=64,
        cv=2,
    ).fit(X, Y)
    dispatched = [len(sizes) for sizes in spy.sent]
    # The 128 jobs of the first rung are sent in 8 batches, and the last 4 jobs in one batch each.
    assert dispatched[0] == 8
    assert dispatched[-1] == 4
    assert max(dispatched) == 8


def test_on_one_core_a_fold_is_sliced_once_per_rung(monkeypatch):
    calls = []
    monkeypatch.setattr(
        Fold, "samples", lambda *args, samples=Fold.samples: calls.append(1) or samples(*args)
    )
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
        min_folds="all",
        cv=3,
    ).fit(X, Y)
    assert len(calls) == 3 * search.n_iterations_


def test_models_of_the_last_rung_are_not_returned(monkeypatch):
    returned = []

    class Recording(workers.Parallel):
        def __call__(self, tasks):
            done = list(super().__call__(tasks))
            returned.append(
                [model is not None for _, batch, *_ in done for _, model in batch.results]
            )
            return done

    monkeypatch.setattr(workers, "Parallel", Recording)
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
        min_folds="all",
        cv=3,
    ).fit(X, Y)
    assert returned == [[True] * 12, [False] * 6]
    returned.clear()
    SuccessiveHalvingSearchCV(
        LogisticRegression(max_iter=2000),
        {"C": [1e-3, 1e-2, 1e-1, 1]},
        resource="n_samples",
        min_resources=0.5,
        min_folds="all",
        cv=3,
    ).fit(X, Y)
    assert returned == [[False] * 12, [False] * 6]


def test_one_pool_is_used_for_the_whole_search(monkeypatch):
    opened = []

    class Counting(workers.Parallel):
        def __enter__(self):
            opened.append(1)
            return super().__enter__()

    monkeypatch.setattr(workers, "Parallel", Counting)
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
    ).fit(X, Y)
    assert opened == [1]
    assert issubclass(workers.Parallel, joblib.Parallel)


def test_models_stay_in_a_temporary_folder_that_is_deleted(monkeypatch):
    folders, models = set(), []

    def recording(self, results, add=Store.add):
        folders.add(self.model_folder.path)
        models.extend(model for _, model in results)
        add(self, results)

    monkeypatch.setattr(Store, "add", recording)
    search = clone(SEARCHES["mini-batches in a pipeline"])
    search.set_params(n_jobs=2, cv=3, min_folds="all").fit(X, Y)
    assert sum(isinstance(model, ModelFile) for model in models) >= 12 * 3
    assert not any(isinstance(model, TrainedModel) for model in models)
    (folder,) = folders
    assert not folder.exists()


@pytest.mark.slow
def test_models_in_deleted_temporary_files_are_refit_from_scratch(monkeypatch):
    search = clone(SEARCHES["mini-batches in a pipeline"])
    search.set_params(n_jobs=2, cv=3, min_folds="all")
    expected = numbers(search.fit(X, Y))
    n_results = []

    def deleting(self, results, add=Store.add):
        add(self, results)
        n_results.append(len(results))
        if sum(n_results) == 12 * 3:  # the first rung is complete
            shutil.rmtree(self.model_folder.path)

    monkeypatch.setattr(Store, "add", deleting)
    assert numbers(search.fit(X, Y)) == expected
    assert sum(n_results) > 12 * 3


def test_models_are_returned_if_the_disk_is_full(monkeypatch, tmp_path):
    def nearly_full(self, file, dump=TrainedModel.dump):
        dump(self, file)
        if self.n_resources == 3:
            disk_full()

    monkeypatch.setattr(TrainedModel, "dump", nearly_full)
    monkeypatch.setattr(models_module.Path, "write_bytes", disk_full)
    monkeypatch.setattr(models_module, "_LARGE", 1)
    models = {(number,): TrainedModel(SGDClassifier(), number) for number in (1, 2, 3, 4)}
    written = ModelFolder(tmp_path).write(models)
    assert list(written) == [(1,), (2,)]
    assert {file.path for file in written.values()} == set(tmp_path.iterdir())
    with pytest.raises(CheckpointError, match="No space left"):
        ModelFolder(tmp_path, durable=True).write(models)


@pytest.mark.parametrize("has_cloudpickle", [True, False])
def test_a_model_of_a_local_class_is_sent_as_bytes(monkeypatch, has_cloudpickle):
    """Otherwise joblib maps its arrays read-only, and SGD crashes when it continues training."""

    class Local(SGDClassifier):
        pass

    if not has_cloudpickle:
        monkeypatch.setattr(pickling, "_pickler", lambda: pickle.Pickler)
    model = TrainedModel(Local().fit(X, Y), 1)
    (_, state) = model.__getstate__()
    assert isinstance(state["estimator"], bytes)
    np.testing.assert_array_equal(pickle.loads(state["estimator"]).coef_, model.estimator.coef_)


@pytest.mark.parametrize("resource", ["n_samples", "folds"])
def test_initial_values_are_not_written_to(resource):
    """Compiled code of SGD does so, also if they are read-only."""
    initial = np.ones((10, X.shape[1]))
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 1, 2]}, resource=resource, cv=3,
        random_state=0, refit=False,
    )  # fmt: skip
    search.fit(X, Y, coef_init=initial)
    assert (initial == 1).all()


def test_what_limits_memory_can_be_sent_to_a_worker_that_joins_later():
    limit = LimitedPreprocessing(1, None)
    fitted = object()
    assert pickle.loads(pickle.dumps(limit.kept))(fitted) is fitted
