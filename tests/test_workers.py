"""Workers that crash, and fits that hang or have side effects."""

import gc
import multiprocessing
import os
import pickle
import re
import threading
import warnings
from concurrent.futures import BrokenExecutor
from io import FileIO
from itertools import chain
from traceback import extract_stack

import numpy as np
import pytest
from conftest import slow
from crashing import Crashing, CrashingScaler
from joblib import parallel_config
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import Curve, InPlace, Locked, disk_full, numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine import engine
from sklearn_sha._parallel import monitoring, workers
from sklearn_sha._parallel.monitoring import CallMonitor, WorkerDeath

X, Y = np.arange(24.0).reshape(12, 2), np.tile([0, 1], 6)
COMMON = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}


def search_of(how, once="", **params):
    """Search over ten candidates, of which number 4 is the best and fails as `how` names."""
    limits = [k / 10 for k in range(10)]
    grid = [
        {"limit": limits[:4]},
        {"limit": [2.0], "how": [how], "once": [str(once)]},
        {"limit": limits[5:]},
    ]
    return SuccessiveHalvingSearchCV(Crashing(), grid, **COMMON | {"n_jobs": 2} | params)


def scores(search):
    """Results without the parameters of the candidates."""
    return {k: v for k, v in numbers(search).items() if "param" not in k and k != "best"}


def fitted(search, *expected):
    """Fit a search and check that its warnings match the expected patterns."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X)
    messages = [str(w.message) for w in caught if w.category is not DeprecationWarning]
    for message in messages:
        assert any(re.search(pattern, message, re.DOTALL) for pattern in expected), message
    for pattern in expected:
        assert any(re.search(pattern, message, re.DOTALL) for message in messages), pattern
    return search


def search_with_failed_fit():
    return fitted(search_of("raise", n_jobs=1), "2 fits failed out of a total of")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["exit", "kill", "segfault"])
def test_a_crash_fails_its_own_candidate_only(how):
    """The results are those of a fit that raises."""
    search = fitted(
        search_of(how),
        r"A worker process crashed or was terminated while .*candidate 4 on fold [01].*once more",
        r"2 fits failed out of a total of .*The worker process crashed or was terminated twice",
    )
    assert scores(search) == scores(search_with_failed_fit())
    assert np.isnan(search.all_cv_results_["mean_test_score"][15])
    assert search.best_params_ == {"limit": 0.9}


def test_a_single_crash_changes_no_result(tmp_path):
    search = fitted(search_of("kill", tmp_path / "once"), "A worker process crashed")
    assert scores(search) == scores(search_of("").set_params(n_jobs=1).fit(X))
    assert search.best_params_["limit"] == 2.0


@pytest.mark.slow
def test_several_crashes_in_several_brackets(tmp_path):
    space = {"limit": [k / 40 for k in range(40)], "how": ["exit"], "once": [str(tmp_path / "a")]}
    common = COMMON | {"max_resources": 9, "random_state": 0, "refit": False}
    search = HyperbandSearchCV(Crashing(), space, n_jobs=2, **common)
    with pytest.warns(RuntimeWarning, match="A worker process crashed"):
        search.fit(X)
    plain = HyperbandSearchCV(Crashing(), space | {"how": [""]}, **common).fit(X)
    assert scores(search) == scores(plain)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["hang", "hang in C"])
def test_a_fit_that_hangs_is_terminated(how):
    search = fitted(
        search_of(how, fit_timeout=2),
        r"exceeded fit_timeout=2 seconds: candidate 4 on fold [01].*Their worker processes were",
        r"TimeoutError: The fit exceeded fit_timeout=2 seconds.*crashing\.py.* in fit",
    )
    assert scores(search) == scores(search_with_failed_fit())


@pytest.mark.slow
def test_a_timeout_that_is_not_exceeded_changes_no_result():
    search = fitted(search_of("", fit_timeout=60.0))
    assert scores(search) == scores(search_of("", n_jobs=1).fit(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_infinite_timeout_is_none(n_jobs):
    search = fitted(search_of("", fit_timeout=np.inf, n_jobs=n_jobs))
    assert scores(search) == scores(search_of("", n_jobs=1).fit(X))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("exit", RuntimeError, "The worker process crashed or was terminated twice"),
        ("hang", TimeoutError, "The fit exceeded fit_timeout=2 seconds"),
    ],
)
def test_error_score_raise_raises(how, error, message):
    search = search_of(how, error_score="raise", fit_timeout=2)
    with pytest.warns(RuntimeWarning), pytest.raises(error, match=message) as caught:
        search.fit(X)
    assert caught.value.__notes__[0].startswith("Raised by candidate 4 with parameters {'how': ")
    assert {0, 1} <= set(search.all_cv_results_["iter"])  # earlier rungs are kept


@pytest.fixture
def start_method(request):
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.mark.parametrize(
    ("backend", "n_jobs", "start_method", "reason"),
    [
        ("loky", 1, None, "fits run in the process of the search"),
        ("threading", 2, None, "fits run in the process of the search"),
        ("multiprocessing", 2, None, "backend does not notice when a worker ends"),
        ("multiprocessing", 2, "forkserver", "backend does not notice when a worker ends"),
    ],
    indirect=["start_method"],
)
@pytest.mark.usefixtures("start_method")
def test_a_timeout_requires_worker_processes(backend, n_jobs, reason):
    search = search_of("", fit_timeout=30, n_jobs=None)
    with (
        parallel_config(backend=backend, n_jobs=n_jobs),
        pytest.raises(ValueError, match=f"fit_timeout=30 ends the worker.*{reason}. Set n_jobs=2"),
    ):
        search.fit(X)
    assert not hasattr(search, "cv_results_")


@pytest.mark.parametrize("seconds", [0, -1, "1h", True, float("nan")])
def test_an_invalid_timeout_raises(seconds):
    with pytest.raises(ValueError, match=r"fit_timeout=.* must be a number of seconds above 0"):
        search_of("", fit_timeout=seconds).fit(X)


def test_an_error_of_the_monitor_is_no_failed_fit_of_preprocessing(monkeypatch):
    def running(self):
        raise RuntimeError("this process runs several fits")

    monkeypatch.setattr(CallMonitor, "running", running)
    pipeline = make_pipeline(StandardScaler(), Curve())
    grid = {"curve__limit": [0.1, 0.2, 0.3]}
    with pytest.raises(RuntimeError, match="runs several fits"):
        SuccessiveHalvingSearchCV(pipeline, grid, **COMMON).fit(X)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "timeout"), [("kill", None), ("hang", 2)])
def test_the_crash_of_a_transformer_fails_the_candidates_that_share_it(how, timeout):
    pipeline = make_pipeline(CrashingScaler(), Curve())
    space = {"curve__limit": [0.1, 0.2, 0.3], "crashingscaler__how": ["", how]}
    search = SuccessiveHalvingSearchCV(pipeline, space, n_jobs=2, fit_timeout=timeout, **COMMON)
    with pytest.warns((RuntimeWarning, FitFailedWarning)):
        search.fit(X)
    first = search.all_cv_results_["iter"] == 0
    failed = np.isnan(search.all_cv_results_["mean_test_score"][first])
    assert failed.tolist() == [False] * 3 + [True] * 3
    assert search.best_params_ == {"curve__limit": 0.3, "crashingscaler__how": ""}


@pytest.mark.slow
def test_a_single_crash_of_a_transformer_changes_no_result(tmp_path):
    pipeline = make_pipeline(CrashingScaler("kill", str(tmp_path / "once")), Curve())
    search = SuccessiveHalvingSearchCV(
        pipeline, {"curve__limit": [0.1, 0.2, 0.3]}, n_jobs=2, refit=False, **COMMON
    )
    with pytest.warns(RuntimeWarning, match="A worker process crashed"):
        search.fit(X)
    assert not np.isnan(search.all_cv_results_["mean_test_score"]).any()


def test_a_monitor_notes_the_part_that_is_running(tmp_path):
    monitor = CallMonitor(0, tmp_path / "note", None)
    assert monitor.death() is None
    with monitor.running() as start_part:
        start_part(0)
        start_part(300)
        assert monitor.death() == WorkerDeath(300, "")
    assert monitor.death() is None


def test_a_monitor_without_access_to_its_file_notes_nothing(tmp_path):
    monitor = CallMonitor(0, tmp_path / "on another machine" / "note", None)
    with monitor.running() as start_part:
        start_part(3)
    assert monitor.death() is None


def test_a_monitor_on_a_full_disk_notes_nothing(tmp_path, monkeypatch):
    """The call itself needs no note: it is for the case that its worker crashes."""

    class OnFullDisk(FileIO):
        write = truncate = disk_full

    monkeypatch.setattr(
        monitoring, "open", lambda path, *_, **__: OnFullDisk(path, "w"), raising=False
    )
    monitor = CallMonitor(0, tmp_path / "note", None)
    with monitor.running() as start_part:
        start_part(0)
        start_part(3)
        assert monitor.death() is None


@pytest.mark.slow
def test_late_results_of_an_interrupted_run_are_ignored(monkeypatch):
    class Late(workers.Parallel):
        def __call__(self, tasks):
            return chain([(-1, "of another run", [], 1e9)], super().__call__(tasks))

    search = search_of("")
    expected = numbers(search.fit(X))
    monkeypatch.setattr(workers, "Parallel", Late)
    assert numbers(search.fit(X)) == expected
    assert all(row["utilization"] < 1 for row in search.rung_history_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A worker process crashed", "ignore:(?s).*2 fits failed")
@pytest.mark.parametrize("comes_back", [True, False])
@pytest.mark.parametrize("n_left", [0, 1])
def test_a_cluster_without_workers_is_waited_for(monkeypatch, comes_back, n_left):
    """With a single one, joblib would run in this process what may have crashed it.

    Without any, its backend for dask raises an error.
    """
    waits = []
    search = search_of("exit", n_jobs=2)
    effective = workers.effective_n_jobs
    monkeypatch.setattr(workers, "_RESTART_SECONDS", 0.2)
    monkeypatch.setattr(workers, "sleep", waits.append)

    def lost(n_jobs):
        crashed = any("_wait_for_restart" in frame.name for frame in extract_stack())
        if not crashed or (comes_back and waits):
            return effective(n_jobs)
        if not n_left:
            raise TimeoutError("no worker after 10 seconds")
        return 1

    monkeypatch.setattr(workers, "effective_n_jobs", lost)
    if comes_back:
        search.fit(X)
        assert waits
    else:
        with pytest.raises(RuntimeError, match="Fewer than two of 2 workers are left after a work"):
            search.fit(X)
        monkeypatch.undo()
        search.resume(X)
    assert scores(search) == scores(search_with_failed_fit())


def test_concurrent_fits_with_a_timeout_in_one_process_raise():
    with (
        CallMonitor(0, None, 60).running(),
        pytest.raises(RuntimeError, match=r"this process runs several fits. Start workers with"),
        CallMonitor(0, None, 60).running(),
    ):
        pass
    with CallMonitor(0, None, 60).running() as start_part:
        start_part(0)


class Verbose(Curve):
    def partial_fit(self, X, y=None):
        warnings.warn("a fit that warns", UserWarning, stacklevel=1)
        print("a fit that prints")
        return super().partial_fit(X, y)


def test_warnings_and_printed_lines_change_no_result(capsys):
    space = {"limit": [0.1, 0.2, 0.3, 0.4]}
    with pytest.warns(UserWarning, match="a fit that warns"):
        search = SuccessiveHalvingSearchCV(Verbose(), space, **COMMON).fit(X)
    assert "a fit that prints" in capsys.readouterr().out
    assert numbers(search) == numbers(SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X))


class NonFinite(Curve):
    def score(self, X, y=None):
        return {0.0: -np.inf, 0.2: np.inf, 0.3: np.nan}.get(self.limit, self.limit)


@pytest.mark.parametrize(
    "limits", [[0.0, 0.1, 0.4], [0.1, 0.2, 0.4], [0.0, 0.2, 0.3, 0.1], [0.3, 0.1]], ids=str
)
def test_non_finite_scores_are_ranked_as_in_grid_search(limits):
    grid = GridSearchCV(NonFinite(growth=1), {"limit": limits}, cv=KFold(2))
    one = SuccessiveHalvingSearchCV(
        NonFinite(growth=1), {"limit": limits}, cv=KFold(2), min_resources=1.0, resource="n_samples"
    )
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy warns of inf - inf
        grid.fit(X, Y)
        one.fit(X, Y)
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(one.cv_results_[name], grid.cv_results_[name])
    assert one.best_params_ == grid.best_params_


@pytest.mark.parametrize("limits", [[0.3, 0.0, 0.1, 0.4, 0.2], [0.3, 0.2, 0.0]], ids=str)
def test_nan_is_never_promoted_before_a_number_or_infinity(limits):
    search = SuccessiveHalvingSearchCV(NonFinite(), {"limit": limits}, **COMMON)
    with np.errstate(invalid="ignore"), pytest.warns(UserWarning, match="scores are non-finite"):
        search.fit(X)
    assert search.best_params_ == {"limit": 0.2}
    assert 0 not in search.rung_history_[0]["promoted"]


def test_a_model_that_cannot_be_pickled_requires_threads():
    space = {"limit": [0.1, 0.2, 0.3]}
    expected = SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X)
    with parallel_config(backend="threading", n_jobs=2):
        search = SuccessiveHalvingSearchCV(Locked(), space, **COMMON).fit(X)
    assert numbers(search) == numbers(expected)
    with pytest.raises(TypeError, match=r"cannot pickle '_thread\.lock' object") as caught:
        search.set_params(n_jobs=2).fit(X)
    assert 'parallel_config(backend="threading"), or n_jobs=1' in caught.value.__notes__[-1]


class TwoArgumentsError(Exception):
    """Can be pickled, and not be unpickled."""

    def __init__(self, code, text):
        super().__init__(text)


class RaisesTwoArguments(Curve):
    def partial_fit(self, X, y=None):
        raise TwoArgumentsError(1, "no")


@pytest.mark.slow
def test_what_a_worker_cannot_send_back_is_no_crash(monkeypatch):
    n_calls = []

    class Counted(workers.Parallel):
        def __call__(self, tasks):
            n_calls.append(1)
            return super().__call__(tasks)

    monkeypatch.setattr(workers, "Parallel", Counted)
    search = SuccessiveHalvingSearchCV(
        RaisesTwoArguments(), {"limit": [0.1, 0.2, 0.3]}, error_score="raise", n_jobs=2, **COMMON
    )
    with pytest.raises(BrokenExecutor, match="un-serialize") as caught:
        search.fit(X)
    assert "must be picklable" in caught.value.__notes__[-1]
    assert len(n_calls) <= 2


class ReadsPickle(Curve):
    def partial_fit(self, X, y=None):
        raise pickle.UnpicklingError("pickle data was truncated")


def test_an_error_of_a_fit_about_pickles_is_not_explained():
    """In the process of the search, nothing is pickled."""
    search = SuccessiveHalvingSearchCV(
        ReadsPickle(), {"limit": [0.1, 0.2, 0.3]}, error_score="raise", **COMMON
    )
    with pytest.raises(pickle.UnpicklingError) as caught:
        search.fit(X)
    assert not any("must be picklable" in note for note in caught.value.__notes__)


class StartsThread(Curve):
    def partial_fit(self, X, y=None):
        self._thread = None
        thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
        thread.start()
        return super().partial_fit(X, y)

    def __getstate__(self):
        return {k: v for k, v in super().__getstate__().items() if k != "_thread"}


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_a_fit_can_leave_threads_running(n_jobs):
    space = {"limit": [0.1, 0.2, 0.3]}
    expected = SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X)
    search = SuccessiveHalvingSearchCV(StartsThread(), space, n_jobs=n_jobs, **COMMON).fit(X)
    assert numbers(search) == numbers(expected)


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_a_fit_that_writes_into_its_input_affects_no_other_fit(n_jobs):
    own = X.copy()
    search = SuccessiveHalvingSearchCV(
        InPlace(), {"shift": [1.0, 2.0, 3.0]}, n_jobs=n_jobs, refit=False, **COMMON
    ).fit(own, Y)
    np.testing.assert_array_equal(own, X)
    # Each call adds its shift to its own copy.
    rows = [X[6:], X[:6]]
    for row, shift in enumerate([1.0, 2.0, 3.0]):
        expected = np.mean([-abs(part.mean()) for part in rows])
        assert search.all_cv_results_["mean_test_score"][row] == pytest.approx(expected), shift


@pytest.mark.parametrize(
    ("streams", "fit_timeout", "expected"), [(True, None, 5.0), (True, 1.0, 8.0), (False, None, 0)]
)
def test_start_of_workers(streams, fit_timeout, expected, monkeypatch):
    """A backend needs 8 s for its first call of 3 s, and 4 s for later ones."""
    clock = [100.0]
    monkeypatch.setattr(workers, "perf_counter", lambda: clock[0])
    own = workers.Workers(n_jobs=1, pre_dispatch=1, fit_timeout=None, folder=None)
    own._streams = streams
    durations = [8.0, 4.0, 4.0]

    def parallel(tasks):
        for _, args, _ in tasks:
            clock[0] += durations.pop(0)
            yield (args[0].number, None, (), 3.0) if args else ("host", 1, 0)

    own._parallel = parallel
    if fit_timeout is not None:
        own._check_timeout()
    for _ in range(2):
        assert [*own.run([(print, ())])] == [(0, None)]
        assert own.start_seconds == expected


@pytest.mark.parametrize("pre_dispatch", [0, "n_jobs//4"])
def test_calls_that_are_never_dispatched_raise(pre_dispatch):
    """As in GridSearchCV. A search would otherwise send them again without end."""
    with parallel_config(backend="threading"):
        own = workers.Workers(n_jobs=2, pre_dispatch=pre_dispatch, fit_timeout=None, folder=None)
        with own, pytest.raises(ValueError, match=f"No fits were .* pre_dispatch={pre_dispatch!r}"):
            [*own.run([(print, ())])]


@pytest.mark.parametrize(
    ("n_jobs", "backend", "n_candidates", "n_started"),
    [(3, "loky", 8, 2), (3, "loky", 2, 1), (3, "threading", 8, 0), (1, "loky", 8, 0)],
)
def test_all_workers_start_together(n_jobs, backend, n_candidates, n_started, monkeypatch):
    """Also if there is a single call at first, which fits the preprocessing of all candidates."""
    sent = []

    def spy(own, calls, fail):
        sent.append([call.function.__name__ for call in calls])
        return run_calls(own, calls, fail)

    run_calls = engine.run_calls
    monkeypatch.setattr(engine, "run_calls", spy)
    search = SuccessiveHalvingSearchCV(
        make_pipeline(StandardScaler(), Curve()),
        {"curve__limit": [k / 10 for k in range(n_candidates)]},
        n_jobs=n_jobs,
        **COMMON | {"min_folds": 1, "min_resources": 1, "refit": False},
    )
    with parallel_config(backend=backend):
        search.fit(np.zeros((200, 1)))  # folds of 100 samples
    first, *others = sent
    assert first == ["_fit_preprocessing"] + ["_import"] * n_started
    assert not any("_import" in names for names in others)


def test_a_folder_whose_deletion_is_interrupted_is_deleted_later(monkeypatch, tmp_path):
    own = workers.Workers(n_jobs=None, pre_dispatch=1, fit_timeout=None, folder=None)
    own.__enter__()
    folder = own.new_folder("kept-", tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", interrupting)
        with pytest.raises(KeyboardInterrupt):
            own.__exit__(None, None, None)
    assert folder.exists()
    del own
    gc.collect()
    assert not folder.exists()


def interrupting(*args, **kwargs):
    raise KeyboardInterrupt
