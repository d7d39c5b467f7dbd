"""The answer does not depend on the workers, and little is sent to them."""

import errno
import shutil

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import (
    CheckpointError,
    SuccessiveHalvingSearchCV,
    _folds,
    _store,
    _trained,
    _workers,
)
from sklearn_sha._storage.models import ModelFile, TrainedModel

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


def numbers(search):
    return {k: str(v) for k, v in search.all_cv_results_.items() if "_time" not in k}


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


def test_rows_and_splits_are_sent_for_many_candidates_at_once(monkeypatch, spy):
    monkeypatch.setattr(_workers, "effective_n_jobs", lambda n_jobs: 2)
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": list(np.logspace(-6, 0, 64))},
        resource="partial_fit",
        max_resources=64,
        cv=2,
    ).fit(X, Y)
    dispatched = [len(sizes) for sizes in spy.sent]
    # 128 jobs of the first rung go in 8 tasks; in the last each of 4 jobs is a task.
    assert dispatched[0] == 8
    assert dispatched[-1] == 4
    assert max(dispatched) == 8


def test_on_one_core_the_rows_of_a_fold_are_cut_once_a_rung(monkeypatch):
    cuts = []
    monkeypatch.setattr(
        _folds.Fold, "rows", lambda *args, rows=_folds.Fold.rows: cuts.append(1) or rows(*args)
    )
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
        cv=3,
    ).fit(X, Y)
    assert len(cuts) == 3 * search.n_iterations_


def test_models_of_the_last_rung_are_not_sent_back(monkeypatch):
    came_back = []

    class Listening(_workers.Parallel):
        def __call__(self, tasks):
            done = list(super().__call__(tasks))
            came_back.append(
                [trained is not None for _, part, _ in done for _, trained in part.pairs]
            )
            return done

    monkeypatch.setattr(_workers, "Parallel", Listening)
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
        cv=3,
    ).fit(X, Y)
    assert came_back == [[True] * 12, [False] * 6]
    came_back.clear()
    SuccessiveHalvingSearchCV(
        LogisticRegression(max_iter=2000),
        {"C": [1e-3, 1e-2, 1e-1, 1]},
        resource="n_samples",
        min_resources=0.5,
        cv=3,
    ).fit(X, Y)
    assert came_back == [[False] * 12, [False] * 6]


def test_one_pool_serves_the_whole_search(monkeypatch):
    opened = []

    class Counting(_workers.Parallel):
        def __enter__(self):
            opened.append(1)
            return super().__enter__()

    monkeypatch.setattr(_workers, "Parallel", Counting)
    SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=8,
    ).fit(X, Y)
    assert opened == [1]
    assert issubclass(_workers.Parallel, joblib.Parallel)


def test_models_stay_where_the_workers_are_and_are_gone_afterwards(monkeypatch):
    folders, came = set(), []

    def look(self, pairs, keep=_store.Store.keep):
        folders.add(self.models.path)
        came.extend(trained for _, trained in pairs)
        keep(self, pairs)

    monkeypatch.setattr(_store.Store, "keep", look)
    SEARCHES["mini-batches in a pipeline"].set_params(n_jobs=2, cv=3).fit(X, Y)
    assert sum(isinstance(trained, ModelFile) for trained in came) >= 12 * 3
    assert not any(isinstance(trained, TrainedModel) for trained in came)
    (folder,) = folders
    assert not folder.exists()


def test_models_that_somebody_cleared_away_are_trained_anew(monkeypatch):
    search = SEARCHES["mini-batches in a pipeline"].set_params(n_jobs=2, cv=3)
    expected = numbers(search.fit(X, Y))
    n_kept = []

    def clear(self, pairs, keep=_store.Store.keep):
        keep(self, pairs)
        n_kept.append(len(pairs))
        if sum(n_kept) == 12 * 3:  # the first rung is complete
            shutil.rmtree(self.models.path)

    monkeypatch.setattr(_store.Store, "keep", clear)
    assert numbers(search.fit(X, Y)) == expected
    assert sum(n_kept) > 12 * 3


def test_models_that_find_no_room_on_the_disk_are_handed_back(monkeypatch, tmp_path):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    def nearly_full(self, file, dump=TrainedModel.dump):
        dump(self, file)
        if self.spent == 3:
            full()

    monkeypatch.setattr(TrainedModel, "dump", nearly_full)
    monkeypatch.setattr(_trained.Path, "write_bytes", full)
    monkeypatch.setattr(_trained, "_LARGE", 1)
    models = {(number,): TrainedModel(SGDClassifier(), number) for number in (1, 2, 3, 4)}
    left = _trained.ModelFolder(tmp_path).put(models)
    assert list(left) == [(1,), (2,)]
    assert {file.path for file in left.values()} == set(tmp_path.iterdir())
    with pytest.raises(CheckpointError, match="No space left"):
        _trained.ModelFolder(tmp_path, durable=True).put(models)
