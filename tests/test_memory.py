"""Models kept for the next rung stay within model_memory, which changes no result."""

import os
import sys
import tracemalloc
import weakref
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import psutil
import pytest
from joblib import parallel_config
from sklearn.model_selection import KFold
from test_stopping import Stopped, ctrl_c
from test_stopping import search_of as stopping_search_of
from toys import CALLS, Curve, disk_full, numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._search import memory
from sklearn_sha._storage import model_sizes, store
from sklearn_sha._storage.free_memory import free_memory, is_in_memory
from sklearn_sha._storage.model_sizes import ModelSizes
from sklearn_sha._storage.models import ModelFolder, TrainedModel
from sklearn_sha._storage.pickling import dumps, nbytes
from sklearn_sha._storage.store import Store

MB = 2**20


class Handle:
    """Can be pickled, and not be unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Handle, ()


class HasHandle(Curve):
    def partial_fit(self, X, y=None):
        self.handle_ = Handle("a")
        return super().partial_fit(X, y)


NOTHING = np.zeros((12, 1))
ALIVE: list[weakref.ref] = []


class Heavy(Curve):
    """Has 1 MB of weights after its first training."""

    def partial_fit(self, X, y=None):
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(MB, dtype=np.uint8)
        # A model that was read from a file is another object.
        if not any(ref() is self for ref in ALIVE):
            ALIVE.append(weakref.ref(self))
        return super().partial_fit(X, y)


def search_of(estimator=None, **params):
    return SuccessiveHalvingSearchCV(
        estimator or Heavy(), {"limit": list(np.linspace(0, 1, 16))}, resource="partial_fit",
        max_resources=8, cv=KFold(2), refit=False, **params,
    )  # fmt: skip


@pytest.fixture
def peaks(monkeypatch):
    """Megabytes of models in memory and numbers of models written to files, call by call."""
    alive, files = [], []

    def score(self, X, y=None):
        ALIVE[:] = [ref for ref in ALIVE if ref() is not None]
        alive.append(sum(model.weights_.nbytes for ref in ALIVE if (model := ref())) / MB)
        return Curve.score(self, X, y)

    def recording(self, models, write=ModelFolder.write):
        written = write(self, models)
        files.append(len(written))
        return written

    CALLS.clear()
    ALIVE.clear()
    monkeypatch.setattr(Heavy, "score", score)
    monkeypatch.setattr(ModelFolder, "write", recording)
    return alive, files


@pytest.fixture(scope="module")
def expected():
    CALLS.clear()
    return numbers(search_of(model_memory=None).fit(NOTHING)), len(CALLS)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("limit", [1, 5 * MB, 20 * MB, 40 * MB, None])
def test_models_beyond_the_limit_are_written_to_files(peaks, expected, limit, threads):
    """After the first rung there are 32 MB of models, and 16 of 32 are promoted."""
    alive, files = peaks
    with parallel_config("threading", n_jobs=threads) if threads > 1 else nullcontext():
        search = search_of(model_memory=limit).fit(NOTHING)
    assert (numbers(search), len(CALLS)) == expected
    if limit in (None, 40 * MB):
        assert files == []
        assert max(alive) == 32
        return
    if threads == 1:  # in addition to those kept, a completed batch and one that is running
        assert max(alive) <= 1.25 * limit / MB + 2
    n_fit = limit // (MB + 1000)
    kept = [2 * n for n in search.n_candidates_[:-1]]
    assert sum(files) == sum(max(0, n - n_fit) for n in kept)


def test_models_that_are_kept_for_an_extension_are_within_the_limit_too(peaks):
    alive, files = peaks
    params = {"n_candidates": 8, "keep_eliminated": True, "random_state": 0}
    search = search_of(model_memory=4 * MB, **params).fit(NOTHING)
    assert max(alive) <= 1.25 * 4 + 2
    # While it is extended, the search as it was before is kept in addition.
    search.extend(NOTHING, n_candidates=8).audit(NOTHING, n_candidates=4)
    assert max(alive) <= 2 * (1.25 * 4) + 2
    assert sum(files) > 0
    unlimited = search_of(model_memory=None, **params).fit(NOTHING)
    unlimited.extend(NOTHING, n_candidates=8).audit(NOTHING, n_candidates=4)
    assert numbers(search) == numbers(unlimited)


class Large(Curve):
    """Has 2 MB of weights after its first training."""

    def partial_fit(self, X, y=None):
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(2 * MB, dtype=np.uint8)
        return super().partial_fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "minimum", "maximum"), [(64 * MB, 50, 100), (None, 640, 700)])
def test_640_mb_of_models_take_less_than_100_mb_of_memory(limit, minimum, maximum):
    """64 candidates on 5 folds train models of 2 MB, half of which are promoted."""
    search = SuccessiveHalvingSearchCV(
        Large(), {"limit": list(np.linspace(0, 1, 64))}, resource="partial_fit",
        min_resources=1, max_resources=4, cv=KFold(5), refit=False, model_memory=limit,
    )  # fmt: skip
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    search.fit(NOTHING)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert search.n_candidates_ == [64, 32, 16]
    assert minimum < (peak - before) / MB < maximum


def test_temporary_files_are_deleted(monkeypatch):
    folders = []

    def recording(prefix, mkdtemp=store.mkdtemp):
        folders.append(Path(mkdtemp(prefix=prefix)))
        return folders[-1]

    monkeypatch.setattr(store, "mkdtemp", recording)
    search_of(model_memory=5 * MB).fit(NOTHING)
    assert len(folders) == 1
    assert not folders[0].exists()


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ((store, "is_in_memory", lambda folder: True), "the files of .* are in memory too"),
        ((TrainedModel, "dump", disk_full), "there is no space for them in "),
        ((store, "mkdtemp", disk_full), "there is no space for them in temporary files"),
    ],
    ids=["tmpfs", "disk", "folder"],
)
def test_without_space_in_files_promoted_models_are_refit_from_scratch(
    monkeypatch, peaks, expected, patch, reason
):
    alive, files = peaks
    monkeypatch.setattr(*patch)
    limit = 8 * (MB + 1000)
    message = rf"exceed model_memory={limit} bytes, and {reason}"
    with pytest.warns(RuntimeWarning, match=message) as caught:
        search = search_of(model_memory=limit).fit(NOTHING)
    assert len(caught) == 1
    found, n_calls = expected
    assert numbers(search) == found
    assert sum(files) == 0
    assert max(alive) <= 8 * 1.25 + 2
    # Eight models of each rung are kept, and the candidates of the others are promoted. The second
    # rung trains one unit again for 16 models, and the third two units for 8 models.
    assert len(CALLS) - n_calls == 16 * 1 + 8 * 2


@pytest.mark.slow
def test_worker_processes_with_files_in_memory(monkeypatch, expected):
    monkeypatch.setattr(store, "is_in_memory", lambda folder: True)
    sizes = []

    def recording(self, results, add=Store.add):
        add(self, results)
        files = {p for p in self.model_folder.path.iterdir() if p in self.model_files()}
        sizes.append(sum(path.stat().st_size for path in files))

    monkeypatch.setattr(Store, "add", recording)
    with pytest.warns(RuntimeWarning, match="are in memory too") as caught:
        search = search_of(n_jobs=2, model_memory=8 * MB).fit(NOTHING)
    assert len(caught) == 1
    assert numbers(search) == expected[0]
    assert 4 * MB < max(sizes) <= 8 * MB


def test_by_default_models_use_a_quarter_of_the_free_memory(monkeypatch, peaks, expected):
    monkeypatch.setattr(memory, "free_memory", lambda: 32 * MB)
    alive, files = peaks
    assert numbers(search_of().fit(NOTHING)) == expected[0]
    assert sum(files) > 16
    assert max(alive) <= 8 * 1.25 + 2


def test_with_a_checkpoint_batches_stay_within_the_limit(tmp_path, peaks, expected):
    alive, _ = peaks
    search = search_of(model_memory=8 * MB, checkpoint=tmp_path).fit(NOTHING)
    assert numbers(search) == expected[0]
    assert max(alive) <= 2 + 2


@pytest.mark.parametrize("at", [20, 60, 100])
def test_a_search_can_be_resumed_with_another_limit(at):
    whole = numbers(stopping_search_of("range").fit(NOTHING))
    for then, now in [(1, None), (None, 1), ("auto", 2000)]:
        CALLS.clear()
        search = stopping_search_of("range", Stopped(), model_memory=then)
        with ctrl_c(at):
            search.fit(NOTHING)
        assert numbers(search.set_params(model_memory=now).resume(NOTHING)) == whole


@pytest.mark.parametrize("model_memory", [0, -1, 1.5, "all", True])
def test_an_invalid_model_memory_raises(model_memory):
    with pytest.raises(ValueError, match=r'model_memory=.* at least 1, or "auto" or None'):
        search_of(model_memory=model_memory).plan(NOTHING)


@pytest.mark.parametrize(
    ("sizes", "limit", "n_measured"),
    [
        ([1000] * 64, 100 * MB, 7),  # 1st, 2nd, 4th ... 64th
        ([1000] * 64, 64 * 1000, 64),
        ([1000, 10 * MB] * 32, 100 * MB, 64),
        ([1000] * 64, np.inf, 0),
    ],
    ids=["small", "large", "unequal", "no limit"],
)
def test_small_models_are_not_all_measured(monkeypatch, sizes, limit, n_measured):
    measured = []
    monkeypatch.setattr(model_sizes, "nbytes", lambda model: measured.append(model) or model)
    estimate = ModelSizes(len(sizes), limit)
    for size in sizes:
        estimate.add(TrainedModel(size, 1))
    assert len(measured) == n_measured
    assert estimate.total == (sum(sizes) if n_measured else 0)


def test_measuring_does_not_copy_arrays():
    model = {"weights": np.zeros(MB), "name": "a", "lock": None}
    assert nbytes(model) == pytest.approx(len(dumps(model)), abs=200)
    array = np.ones(100 * MB, dtype=np.uint8)
    tracemalloc.start()
    try:
        nbytes(array)
        _, highest = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert highest < MB


def files_in(folder, **contents):
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


MEMINFO = {"proc/meminfo": "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable: 8000 kB\n"}
VERSION_2 = {
    "proc/self/cgroup": "0::/jobs/7\n",
    "sys/fs/cgroup/jobs/7/memory.max": "max\n",
    "sys/fs/cgroup/jobs/memory.max": "5000000\n",
    "sys/fs/cgroup/jobs/memory.current": "2000000\n",
    "sys/fs/cgroup/jobs/memory.stat": "anon 1\ninactive_file 500000\n",
}
VERSION_1 = {
    "proc/self/cgroup": "8:pids:/\n4:memory:/docker/abc\n0::/\n",
    # As in a container, where the group is the root.
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "4000000\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "3000000\n",
    "sys/fs/cgroup/memory/memory.stat": "inactive_file 7\ntotal_inactive_file 600000\n",
}
FULL = VERSION_1 | {"sys/fs/cgroup/memory/memory.usage_in_bytes": "5000000\n"}


@pytest.mark.parametrize(
    ("files", "free"),
    [
        (MEMINFO, 8000 * 1024),
        (MEMINFO | VERSION_2, 3_500_000),
        (MEMINFO | VERSION_1, 1_600_000),
        (MEMINFO | FULL, 0),
    ],
    ids=["machine", "version 2", "version 1", "full"],
)
def test_free_memory_is_the_minimum_over_the_machine_and_all_control_groups(tmp_path, files, free):
    files_in(tmp_path, **files)
    assert free_memory(tmp_path) == free


def test_free_memory_on_other_systems_than_linux(tmp_path, monkeypatch):
    assert free_memory(tmp_path) == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    total = psutil.virtual_memory().total
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert free_memory(tmp_path) == total
    monkeypatch.delattr(os, "sysconf")
    assert free_memory(tmp_path) == np.inf


def test_is_in_memory_agrees_with_the_file_system():
    kinds = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    in_memory = {path: is_in_memory(Path(path)) for path in kinds if os.access(path, os.R_OK)}
    assert in_memory
    assert in_memory == {path: kinds[path] in ("tmpfs", "ramfs") for path in in_memory}


@pytest.mark.parametrize("checkpointed", [False, True])
def test_the_error_of_models_that_cannot_be_unpickled_says_what_to_do(tmp_path, checkpointed):
    def search(**params):
        return SuccessiveHalvingSearchCV(
            HasHandle(), {"limit": [0.1, 0.2, 0.3, 0.4]}, resource="partial_fit", max_resources=8,
            cv=KFold(2), refit=False, **params,
        )  # fmt: skip

    with pytest.raises(TypeError, match="missing 1 required positional argument") as caught:
        search(**{"checkpoint": tmp_path} if checkpointed else {"model_memory": 1}).fit(NOTHING)
    assert "could be pickled, but not unpickled" in caught.value.__notes__[0]
    assert search(model_memory=None).fit(NOTHING).best_params_ == {"limit": 0.4}
