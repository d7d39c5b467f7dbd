"""What the page "Guarantees" promises, where no other file has a test of it."""

import os
import re
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from toys import SCRIPT, numbers

from sklearn_sha import SuccessiveHalvingSearchCV

INTERRUPTED = (
    SCRIPT
    + """
if __name__ == "__main__":
    X = np.zeros((10, 1))
    search = SuccessiveHalvingSearchCV(
        Slow(), {"limit": np.linspace(0, 1, 40)}, resource="partial_fit", max_resources=32,
        cv=KFold(2), refit=False, n_jobs=2,
    )
    whole = scores(search.fit(X))
    print("begins", flush=True)
    try:
        search.fit(X)
    except KeyboardInterrupt:
        print("interrupted", search.interrupted_, len(search.all_cv_results_["params"]))
    print("the same", scores(search.resume(X)) == whole, flush=True)
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("to_all", [False, True], ids=["as a notebook does", "as a terminal does"])
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_real_interrupt_is_resumed(tmp_path, to_all, backend):
    script = tmp_path / "a_search.py"
    if backend == "loky":
        script.write_text(INTERRUPTED)
    else:
        script.write_text(
            INTERRUPTED.replace("    X = np", "    import joblib\n    X = np").replace(
                "    whole =", "    joblib.parallel_config(backend='threading')\n    whole ="
            )
        )
    log = tmp_path / "log"
    process = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"LOG": str(log)},
    )  # fmt: skip
    with process:
        assert process.stdout.readline() == "begins\n"
        n_before = len(log.read_text().splitlines())
        # The second rung begins after all 80 fits of the first one.
        while len(log.read_text().splitlines()) <= n_before + 80:
            assert process.poll() is None
            time.sleep(0.01)
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
        printed = process.stdout.read().splitlines()
    assert re.fullmatch(r"interrupted True \d+", printed[0])
    assert int(printed[0].split()[-1]) >= 40
    assert printed[1] == "the same True"


@pytest.mark.filterwarnings("ignore:resource='partial_fit' gives BernoulliNB")
def test_the_order_of_the_samples_changes_nothing_if_the_estimator_ignores_it():
    """Counts and nearest neighbors are the same for any order of the samples."""
    rng = np.random.default_rng(0)
    numbers_, order, fold = rng.normal(size=(300, 8)), rng.permutation(300), np.arange(300) % 3
    target = (numbers_.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    for search, data in [
        (
            SuccessiveHalvingSearchCV(
                BernoulliNB(), {"alpha": [0.1, 1.0, 10.0, 100.0]}, resource="partial_fit",
                max_resources=4,
            ),
            (numbers_ > 0).astype(float),
        ),
        (
            SuccessiveHalvingSearchCV(
                KNeighborsClassifier(), {"n_neighbors": [1, 3, 9]}, resource="n_samples",
                min_resources=1.0,
            ),
            numbers_,
        ),
    ]:  # fmt: skip
        found = numbers(search.set_params(cv=PredefinedSplit(fold)).fit(data, target))
        predicted = search.predict(data)
        search.set_params(cv=PredefinedSplit(fold[order])).fit(data[order], target[order])
        assert numbers(search) == found
        np.testing.assert_array_equal(search.predict(data), predicted)


MEMORY = """
import resource, sys
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn_sha import SuccessiveHalvingSearchCV

def data_segment():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))

if __name__ == "__main__":
    path, n, batch_size, n_jobs = sys.argv[1], *map(int, sys.argv[2:])
    X = np.memmap(path, dtype=np.float64, mode="r", shape=(n, 50))
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit", batch_size=batch_size or None, max_resources=4, cv=KFold(3),
        n_jobs=n_jobs,
    )
    limit = data_segment() + 150 * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    search.fit(X, np.arange(n) % 2)
    print("fitted", X.nbytes / limit)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="limits are set as on Linux")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_data_larger_than_memory(tmp_path, n_jobs):
    n = 2_000_000
    path = tmp_path / "rows"
    with open(path, "wb") as file:
        file.truncate(n * 50 * 8)  # 800 MB, of which the disk has nothing

    def run(batch_size):
        return subprocess.run(
            [sys.executable, "-c", MEMORY, str(path), str(n), str(batch_size), str(n_jobs)],
            capture_output=True, text=True,
        )  # fmt: skip

    done = run(1000)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) > 1.3  # the file is larger than what may be used
    assert "MemoryError" in run(0).stderr  # the limit holds


def test_the_simulation_of_workers_runs_on_the_engine_as_it_is():
    simulated = runpy.run_path(str(ROOT / "docs" / "benchmarks" / "simulated_workers.py"))
    one, eight = (simulated["simulated"]("Hyperband", n, 0) for n in (1, 8))
    assert one.chains == eight.chains
    assert one.now == pytest.approx(sum(one.chains.values()), rel=1e-3)
    assert one.now / 8 < eight.now < one.now / 7


@pytest.mark.parametrize("search", ["Successive Halving", "Hyperband"])
def test_the_simulation_of_early_promotion_trains_the_same(monkeypatch, search):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "benchmarks"))
    module = runpy.run_path(str(ROOT / "docs" / "benchmarks" / "early_promotion.py"))
    simulated, schedules = module["simulated"], module["SEARCHES"][search]
    runs = [simulated(schedules, 64, 0, is_early=is_early) for is_early in (False, True)]
    late, early = (seconds * 64 * share for seconds, share in runs)
    assert early == pytest.approx(late)
    assert runs[1][0] < runs[0][0]


def test_every_promise_names_a_test_that_there_is():
    page = (ROOT / "docs" / "promised.md").read_text()
    named = re.findall(r"`(tests/\w+\.py)::(\w+)`", page)
    assert len(named) > 25
    for file, test in named:
        assert re.search(rf"^(def|class) {test}\b|^{test} =", (ROOT / file).read_text(), re.M), test
    promises = re.findall(r"(?m)^- .*(?:\n  .*)*", page.partition("## What is not guaranteed")[0])
    assert len(promises) > 40
    assert all("`tests/" in promise for promise in promises)
