"""Slices of large data are made once for all workers, and change no result."""

from collections import Counter
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.svm import SVC
from test_parallel import numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._data.folds import Fold, make_folds
from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._engine import slice_calls
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.slice_calls import SharedSlices
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage import samples_file
from sklearn_sha.resources import PartialFit

N_FOLDS, N_JOBS = 3, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(6000, 50))
Y = (X[:, 0] + RNG.normal(size=6000) > 0).astype(int)


def search_of(estimator=None, grid=None, **options):
    return SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0) if estimator is None else estimator,
        {"alpha": list(np.logspace(-5, 0, 16))} if grid is None else grid,
        **{"resource": "partial_fit", "max_resources": 8, "min_folds": "all"} | options,
        cv=KFold(N_FOLDS), refit=False, random_state=0,
    )  # fmt: skip


@pytest.fixture
def calls(monkeypatch):
    """Names of all functions that workers are sent, and what batches get their samples from."""
    sent, run = Counter(), Workers.run

    def counting(self, some):
        for function, args in some:
            sent[function.__name__] += 1
            if function.__name__ == "evaluate_batch":
                sent[type(args[1]).__name__] += 1
        return run(self, some)

    monkeypatch.setattr(Workers, "run", counting)
    return sent


@pytest.mark.slow
def test_each_fold_is_sliced_once_for_all_rungs(calls):
    search = search_of(n_jobs=N_JOBS).fit(X, Y)
    assert len(search.n_candidates_) == 4
    assert calls["_slice"] == N_FOLDS
    assert calls["SamplesFile"] == calls["evaluate_batch"] > 4 * N_FOLDS
    assert calls["Fold"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [np.ascontiguousarray, np.asfortranarray, np.float32, sparse.csr_array, sparse.csc_array],
    ids=["rows", "columns", "float32", "csr", "csc"],
)
def test_results_are_those_of_one_process(form, calls):
    data = form(np.where(np.abs(X) > 0.3, X, 0))
    weights = RNG.uniform(size=len(Y))
    expected = search_of().fit(data, Y, sample_weight=weights)
    assert calls["_slice"] == 0
    found = search_of(n_jobs=N_JOBS).fit(data, Y, sample_weight=weights)
    assert calls["_slice"] == N_FOLDS
    assert numbers(found) == numbers(expected)


@pytest.mark.slow
def test_kernels_are_sliced_once_too(calls):
    kernel = X[:600] @ X[:600].T
    options = {"resource": "n_samples", "min_resources": 100, "max_resources": 400}
    search = search_of(SVC(kernel="precomputed"), {"C": list(np.logspace(-3, 0, 4))}, **options)
    expected = numbers(search.fit(kernel, Y[:600]))
    assert numbers(search.set_params(n_jobs=N_JOBS).fit(kernel, Y[:600])) == expected
    assert calls["_slice"] > N_FOLDS  # once in each rung, which has samples of its own


@pytest.mark.slow
def test_files_of_other_rungs_are_deleted(calls, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    n_files, discard = [], SharedSlices.discard_all_but

    def counting(self, groups):
        before = len([*tmp_path.glob("samples-*/*")])
        discard(self, groups)
        n_files.append((before, len([*tmp_path.glob("samples-*/*")])))

    monkeypatch.setattr(SharedSlices, "discard_all_but", counting)
    search = search_of(resource="n_samples", min_resources=500, max_resources=4000, n_jobs=N_JOBS)
    search.fit(X, Y)
    assert len(search.n_candidates_) == 4
    # Of the first two rungs, 500 and 1,000 training samples are too few to be worth a file. The
    # third rung leaves files, which the fourth deletes.
    assert n_files == [(0, 0), (0, 0), (0, 0), (N_FOLDS, 0)]
    assert calls["_slice"] == 2 * N_FOLDS
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
def test_a_full_disk_changes_nothing(calls, monkeypatch):
    monkeypatch.setattr(slice_calls, "_slice", _slice_on_a_full_disk)
    expected = numbers(search_of().fit(X, Y))
    assert numbers(search_of(n_jobs=N_JOBS).fit(X, Y)) == expected
    assert calls["_slice_on_a_full_disk"] == N_FOLDS  # not tried again in each rung
    assert calls["SamplesFile"] == 0


def _slice_on_a_full_disk(monitor, fold, X, y, folder):
    def full(value, path):
        raise OSError("No space left on device")

    dump, samples_file.joblib.dump = joblib.dump, full
    try:
        return slice_calls._slice(monitor, fold, X, y, folder)
    finally:
        samples_file.joblib.dump = dump


class SharedFolder:
    """Stands for workers of this machine."""

    def __init__(self, folder, n_workers):
        self.shared_folder = folder
        self.n_workers = n_workers


def slices_of(data, folder, resource, n_workers):
    config = EvaluationConfig(None, resource or PartialFit(), None, 0.0, False, False, True, False)
    return SharedSlices(N_FOLDS, config, SharedFolder(folder, n_workers), data, None)


def is_sliced(data, folder, resource=None, n_alike=2, n_workers=N_JOBS):
    slices = slices_of(data, folder, resource, n_workers)
    half = n_samples_of(data) // 2
    indices = np.arange(2 * half)
    (fold,) = make_folds(
        data, None, [(indices[:half], indices[half:])],
        fit_params={}, preprocessing_params={}, score_params={}, pairwise=False,
    )  # fmt: skip
    views, groups = {(0, half): fold}, {(0, half, None): [object()] * n_alike}
    is_first = bool(slices.calls(views, groups))
    assert not slices.calls(views, groups)  # once only
    return is_first


def test_only_large_arrays_and_sparse_matrices_are_sliced_into_files(tmp_path):
    assert is_sliced(X, tmp_path)
    assert is_sliced(sparse.csr_array(X), tmp_path)
    assert not is_sliced(X[:2400], tmp_path)  # 0.96 MB
    assert not is_sliced(sparse.lil_array(X), tmp_path)
    assert not is_sliced(X.astype(object), tmp_path)
    assert not is_sliced([*X], tmp_path)
    assert not is_sliced(X, None)  # one process, threads or a cluster
    assert not is_sliced(X, tmp_path, PartialFit(batch_size=10))
    assert not is_sliced(X, tmp_path, n_alike=1)
    assert not is_sliced(X, tmp_path, n_workers=N_FOLDS)  # their own slices take as much


@pytest.mark.parametrize(("free", "expected"), [(4, True), (3.9, False)])
@pytest.mark.parametrize("where", ["disk", "memory"])
def test_files_take_a_quarter_of_the_free_space_at_most(
    free, expected, where, tmp_path, monkeypatch
):
    free = int(free * N_FOLDS * X.nbytes)
    on_disk = free if where == "disk" else 10**15
    monkeypatch.setattr(slice_calls, "is_in_memory", lambda folder: where == "memory")
    monkeypatch.setattr(slice_calls, "free_memory", lambda: free)
    usage = type("Usage", (), {"free": on_disk})
    monkeypatch.setattr(slice_calls, "disk_usage", lambda folder: usage)
    assert is_sliced(X, tmp_path) == expected


def test_a_slice_is_read_as_the_fold_would_be_sliced(tmp_path):
    (fold,) = make_folds(
        X, Y, [(np.arange(100, 6000), np.arange(100))],
        fit_params={"sample_weight": X[:, 1]}, preprocessing_params={},
        score_params={"sample_weight": X[:, 2]}, pairwise=False,
    )  # fmt: skip
    monitor = Workers(n_jobs=1, pre_dispatch=1, fit_timeout=None, folder=None)._new_monitor()
    file = slice_calls._slice(monitor, fold.with_data(None, None), X, Y, tmp_path)
    expected, found = fold.rows(), file.with_data(None, None).rows()
    assert isinstance(fold, Fold)
    for method in ("fitting", "testing", "training"):
        for one, other in zip(getattr(expected, method)(), getattr(found, method)(), strict=True):
            np.testing.assert_equal(one, other)
    assert not found.fitting()[0].flags.writeable
    assert [Path(file.path)] == [*tmp_path.iterdir()]
