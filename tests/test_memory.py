"""Models that wait for the next rung take as much memory as is allowed, and change no result."""

import errno
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
from test_stopping import Stopped, ctrl_c, numbers
from test_stopping import search_of as stopping_search_of
from toys import CALLS, Curve

from sklearn_sha import SuccessiveHalvingSearchCV, _search, _store, _trained
from sklearn_sha._storage.memory import free_memory, is_in_memory
from sklearn_sha._storage.models import ModelFolder, ModelSizes, TrainedModel
from sklearn_sha._storage.pickling import dumps, nbytes

MB = 2**20
NOTHING = np.zeros((12, 1))
ALIVE: list[weakref.ref] = []


class Heavy(Curve):
    """Has a MB of weights from its first training on."""

    def partial_fit(self, X, y=None):
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(MB, dtype=np.uint8)
        # What was read from a file is another object.
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
    """MB of models alive, and the numbers of models that were put into files, call by call."""
    alive, files = [], []

    def score(self, X, y=None):
        ALIVE[:] = [ref for ref in ALIVE if ref() is not None]
        alive.append(sum(model.weights_.nbytes for ref in ALIVE if (model := ref())) / MB)
        return Curve.score(self, X, y)

    def put(self, models, put=ModelFolder.put):
        written = put(self, models)
        files.append(len(written))
        return written

    CALLS.clear()
    ALIVE.clear()
    monkeypatch.setattr(Heavy, "score", score)
    monkeypatch.setattr(ModelFolder, "put", put)
    return alive, files


@pytest.fixture(scope="module")
def expected():
    CALLS.clear()
    return numbers(search_of(model_memory=None).fit(NOTHING)), len(CALLS)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("limit", [1, 5 * MB, 20 * MB, 40 * MB, None])
def test_models_beyond_the_limit_wait_in_files(peaks, expected, limit, threads):
    """32 MB of models wait after the first rung, in which 16 of 32 are promoted."""
    alive, files = peaks
    with parallel_config("threading", n_jobs=threads) if threads > 1 else nullcontext():
        search = search_of(model_memory=limit).fit(NOTHING)
    assert (numbers(search), len(CALLS)) == expected
    if limit in (None, 40 * MB):
        assert files == []
        assert max(alive) == 32
        return
    if threads == 1:  # besides those that wait, a batch that is done and one that is under way
        assert max(alive) <= 1.25 * limit / MB + 2
    n_fit = limit // (MB + 1000)
    waiting = [2 * n for n in search.n_candidates_[:-1]]
    assert sum(files) == sum(max(0, n - n_fit) for n in waiting)


class Large(Curve):
    """Has 2 MB of weights from its first training on."""

    def partial_fit(self, X, y=None):
        if not hasattr(self, "weights_"):
            self.weights_ = np.zeros(2 * MB, dtype=np.uint8)
        return super().partial_fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "least", "most"), [(64 * MB, 50, 100), (None, 640, 700)])
def test_640_mb_of_models_take_less_than_100_mb_of_memory(limit, least, most):
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
    assert least < (peak - before) / MB < most


def test_temporary_files_are_gone_afterwards(monkeypatch):
    folders = []

    def made(prefix, make=_store.mkdtemp):
        folders.append(Path(make(prefix=prefix)))
        return folders[-1]

    monkeypatch.setattr(_store, "mkdtemp", made)
    search_of(model_memory=5 * MB).fit(NOTHING)
    assert len(folders) == 1
    assert not folders[0].exists()


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ((_store, "is_in_memory", lambda folder: True), "is in memory itself"),
        ((TrainedModel, "dump", full), "has no room for them"),
        ((_store, "mkdtemp", full), "has no room for them"),
    ],
    ids=["tmpfs", "disk", "folder"],
)
def test_where_files_are_no_help_promoted_models_are_refit(
    monkeypatch, peaks, expected, where, why
):
    alive, files = peaks
    monkeypatch.setattr(*where)
    limit = 8 * (MB + 1000)
    message = rf"model_memory, which is {limit} bytes, and .*{why}"
    with pytest.warns(RuntimeWarning, match=message) as caught:
        search = search_of(model_memory=limit).fit(NOTHING)
    assert len(caught) == 1
    found, n_calls = expected
    assert numbers(search) == found
    assert sum(files) == 0
    assert max(alive) <= 8 * 1.25 + 2
    # The models of the first four of the candidates of a rung are kept, and the later ones are
    # promoted: to two units from one on, to four from two on, and of the next rung all are kept.
    assert len(CALLS) - n_calls == 16 * 1 + 8 * 2


def test_worker_processes_whose_files_are_in_memory(monkeypatch, expected):
    monkeypatch.setattr(_store, "is_in_memory", lambda folder: True)
    sizes = []

    def keep(self, pairs, keep=_store.Store.keep):
        keep(self, pairs)
        files = {p for p in self.models.path.iterdir() if p in self.wanted()}
        sizes.append(sum(path.stat().st_size for path in files))

    monkeypatch.setattr(_store.Store, "keep", keep)
    with pytest.warns(RuntimeWarning, match="is in memory itself") as caught:
        search = search_of(n_jobs=2, model_memory=8 * MB).fit(NOTHING)
    assert len(caught) == 1
    assert numbers(search) == expected[0]
    assert 4 * MB < max(sizes) <= 8 * MB


def test_a_quarter_of_the_free_memory_is_for_models(monkeypatch, peaks, expected):
    monkeypatch.setattr(_search, "free_memory", lambda: 32 * MB)
    alive, files = peaks
    assert numbers(search_of().fit(NOTHING)) == expected[0]
    assert sum(files) > 16
    assert max(alive) <= 8 * 1.25 + 2


def test_with_a_checkpoint_no_more_is_in_hand_than_allowed(tmp_path, peaks, expected):
    alive, _ = peaks
    search = search_of(model_memory=8 * MB, checkpoint=tmp_path).fit(NOTHING)
    assert numbers(search) == expected[0]
    assert max(alive) <= 2 + 2


@pytest.mark.parametrize("at", [20, 60, 100])
def test_a_search_is_resumed_with_another_limit(at):
    whole = numbers(stopping_search_of("range").fit(NOTHING))
    for then, now in [(1, None), (None, 1), ("auto", 2000)]:
        CALLS.clear()
        search = stopping_search_of("range", Stopped(), model_memory=then)
        with ctrl_c(at):
            search.fit(NOTHING)
        assert numbers(search.set_params(model_memory=now).resume(NOTHING)) == whole


@pytest.mark.parametrize("model_memory", [0, -1, 1.5, "all", True])
def test_a_limit_is_a_number_of_bytes(model_memory):
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
    monkeypatch.setattr(_trained, "nbytes", lambda model: measured.append(model) or model)
    estimate = ModelSizes(len(sizes), limit)
    for size in sizes:
        estimate.add(TrainedModel(size, 1))
    assert len(measured) == n_measured
    assert estimate.total == (sum(sizes) if n_measured else 0)


def test_arrays_are_measured_and_not_copied():
    model = {"weights": np.zeros(MB), "name": "a", "lock": None}
    assert nbytes(model) == pytest.approx(len(dumps(model)), abs=200)
    before = psutil.Process().memory_info().rss
    nbytes(np.ones(100 * MB, dtype=np.uint8))
    assert psutil.Process().memory_info().rss - before < 50 * MB


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
    # As seen in a container, where it is the top.
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
def test_free_memory_is_that_of_the_machine_and_of_all_groups(tmp_path, files, free):
    files_in(tmp_path, **files)
    assert free_memory(tmp_path) == free


def test_free_memory_elsewhere_than_on_linux(tmp_path, monkeypatch):
    assert free_memory(tmp_path) == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    total = psutil.virtual_memory().total
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert free_memory(tmp_path) == total
    monkeypatch.delattr(os, "sysconf")
    assert free_memory(tmp_path) == np.inf


def test_files_in_memory_are_told_from_files_on_a_disk():
    kinds = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    told = {path: is_in_memory(Path(path)) for path in kinds if os.access(path, os.R_OK)}
    assert told
    assert told == {path: kinds[path] in ("tmpfs", "ramfs") for path in told}
