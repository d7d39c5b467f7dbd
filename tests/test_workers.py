"""Workers that die, fits that hang or misbehave: what the user gets."""

import re
import threading
import warnings
from itertools import chain

import numpy as np
import pytest
from deadly import Deadly, DeadlyScaler
from joblib import parallel_config
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from test_stopping import numbers
from toys import Curve, InPlace, Locked

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._parallel import workers
from sklearn_sha._parallel.monitoring import CallMonitor, WorkerDeath

X, Y = np.arange(24.0).reshape(12, 2), np.tile([0, 1], 6)
COMMON = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}


def search_of(how, once="", **params):
    """Ten candidates, of which number 4 is the best and ends as `how` says."""
    limits = [k / 10 for k in range(10)]
    grid = [
        {"limit": limits[:4]},
        {"limit": [2.0], "how": [how], "once": [str(once)]},
        {"limit": limits[5:]},
    ]
    return SuccessiveHalvingSearchCV(Deadly(), grid, **COMMON | {"n_jobs": 2} | params)


def scores(search):
    """What was found, less what the candidates are called."""
    return {k: v for k, v in numbers(search).items() if "param" not in k and k != "best"}


def fitted(search, *expected):
    """A search that is fitted, with warnings of which these are the messages."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        search.fit(X)
    messages = [str(w.message) for w in warned if w.category is not DeprecationWarning]
    for message in messages:
        assert any(re.search(pattern, message, re.DOTALL) for pattern in expected), message
    for pattern in expected:
        assert any(re.search(pattern, message, re.DOTALL) for message in messages), pattern
    return search


def one_that_fails():
    return fitted(search_of("raise", n_jobs=1), "2 fits failed out of a total of")


@pytest.mark.parametrize("how", ["exit", "kill", "segfault"])
def test_a_worker_that_dies_costs_its_candidate_only(how):
    """The answer is that of a fit that raises."""
    search = fitted(
        search_of(how),
        r"A worker process died\. The workers were at .*candidate 4 on fold [01].*tried once more",
        r"2 fits failed out of a total of .*Its worker process died twice: it was killed",
    )
    assert scores(search) == scores(one_that_fails())
    assert np.isnan(search.all_cv_results_["mean_test_score"][15])
    assert search.best_params_ == {"limit": 0.9}


def test_a_worker_that_dies_once_costs_nothing(tmp_path):
    search = fitted(search_of("kill", tmp_path / "once"), "A worker process died")
    assert scores(search) == scores(search_of("").set_params(n_jobs=1).fit(X))
    assert search.best_params_["limit"] == 2.0


def test_brackets_and_several_deaths(tmp_path):
    space = {"limit": [k / 40 for k in range(40)], "how": ["exit"], "once": [str(tmp_path / "a")]}
    common = COMMON | {"max_resources": 9, "random_state": 0, "refit": False}
    search = HyperbandSearchCV(Deadly(), space, n_jobs=2, **common)
    with pytest.warns(RuntimeWarning, match="A worker process died"):
        search.fit(X)
    plain = HyperbandSearchCV(Deadly(), space | {"how": [""]}, **common).fit(X)
    assert scores(search) == scores(plain)


@pytest.mark.parametrize("how", ["hang", "hang in C"])
def test_a_fit_that_hangs_is_ended(how):
    search = fitted(
        search_of(how, fit_timeout=2),
        r"Took more than fit_timeout=2 seconds: candidate 4 on fold [01].*The worker process was",
        r"TimeoutError: It took more than fit_timeout=2 seconds, and was here.*deadly\.py.* in fit",
    )
    assert scores(search) == scores(one_that_fails())


def test_time_that_is_enough_changes_nothing():
    search = fitted(search_of("", fit_timeout=60.0))
    assert scores(search) == scores(search_of("", n_jobs=1).fit(X))


@pytest.mark.parametrize(
    ("how", "error", "says"),
    [
        ("exit", RuntimeError, "Its worker process died twice"),
        ("hang", TimeoutError, "It took more than fit_timeout=2 seconds"),
    ],
)
def test_error_score_raise_raises(how, error, says):
    search = search_of(how, error_score="raise", fit_timeout=2)
    with pytest.warns(RuntimeWarning), pytest.raises(error, match=says) as caught:
        search.fit(X)
    assert caught.value.__notes__[0].startswith("Raised by candidate 4 with parameters {'how': ")
    assert {0, 1} <= set(search.all_cv_results_["iter"])  # the rungs before are kept


@pytest.mark.parametrize(
    ("backend", "n_jobs", "why"),
    [
        ("loky", 1, "here fits run in this very process"),
        ("threading", 2, "here fits run in this very process"),
        ("multiprocessing", 2, "multiprocessing backend does not notice when a worker ends"),
    ],
)
def test_a_timeout_needs_processes_whose_end_is_noticed(backend, n_jobs, why):
    search = search_of("", fit_timeout=30, n_jobs=None)
    with (
        parallel_config(backend=backend, n_jobs=n_jobs),
        pytest.raises(ValueError, match=f"fit_timeout=30 ends the worker.*{why}; set n_jobs=2"),
    ):
        search.fit(X)
    assert not hasattr(search, "cv_results_")


@pytest.mark.parametrize("seconds", [0, -1, "1h", True, float("nan")])
def test_a_timeout_is_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match=r"fit_timeout=.* must be a number of seconds above 0"):
        search_of("", fit_timeout=seconds).fit(X)


@pytest.mark.parametrize(("how", "timeout"), [("kill", None), ("hang", 2)])
def test_a_transformer_that_ends_its_worker_costs_the_candidates_that_share_it(how, timeout):
    pipeline = make_pipeline(DeadlyScaler(), Curve())
    space = {"curve__limit": [0.1, 0.2, 0.3], "deadlyscaler__how": ["", how]}
    search = SuccessiveHalvingSearchCV(pipeline, space, n_jobs=2, fit_timeout=timeout, **COMMON)
    with pytest.warns((RuntimeWarning, FitFailedWarning)):
        search.fit(X)
    first = search.all_cv_results_["iter"] == 0
    failed = np.isnan(search.all_cv_results_["mean_test_score"][first])
    assert failed.tolist() == [False, True] * 3
    assert search.best_params_ == {"curve__limit": 0.3, "deadlyscaler__how": ""}


def test_a_transformer_that_ends_its_worker_once_costs_nothing(tmp_path):
    pipeline = make_pipeline(DeadlyScaler("kill", str(tmp_path / "once")), Curve())
    search = SuccessiveHalvingSearchCV(
        pipeline, {"curve__limit": [0.1, 0.2, 0.3]}, n_jobs=2, refit=False, **COMMON
    )
    with pytest.warns(RuntimeWarning, match="A worker process died"):
        search.fit(X)
    assert not np.isnan(search.all_cv_results_["mean_test_score"]).any()


def test_a_watch_knows_where_it_was(tmp_path):
    watch = CallMonitor(0, tmp_path / "note", None)
    assert watch.death() is None
    with watch.parts() as begins:
        begins(0)
        begins(300)
        assert watch.death() == WorkerDeath(300, "")
    assert watch.death() is None


def test_a_watch_that_cannot_be_written_is_none(tmp_path):
    watch = CallMonitor(0, tmp_path / "on another machine" / "note", None)
    with watch.parts() as begins:
        begins(3)
    assert watch.death() is None


def test_what_comes_late_of_a_run_that_was_broken_off_is_let_go(monkeypatch):
    class Late(workers.Parallel):
        def __call__(self, tasks):
            return chain([(-1, "of another run", [])], super().__call__(tasks))

    search = search_of("")
    expected = numbers(search.fit(X))
    monkeypatch.setattr(workers, "Parallel", Late)
    assert numbers(search.fit(X)) == expected


def test_timed_fits_need_a_process_each():
    with (
        CallMonitor(0, None, 60).parts(),
        pytest.raises(RuntimeError, match="here one process runs several fits; start workers with"),
        CallMonitor(0, None, 60).parts(),
    ):
        pass
    with CallMonitor(0, None, 60).parts() as begins:
        begins(0)


class Noisy(Curve):
    def partial_fit(self, X, y=None):
        warnings.warn("a fit that warns", UserWarning, stacklevel=1)
        print("a fit that prints")
        return super().partial_fit(X, y)


def test_a_fit_that_warns_and_prints(capsys):
    space = {"limit": [0.1, 0.2, 0.3, 0.4]}
    with pytest.warns(UserWarning, match="a fit that warns"):
        search = SuccessiveHalvingSearchCV(Noisy(), space, **COMMON).fit(X)
    assert "a fit that prints" in capsys.readouterr().out
    assert numbers(search) == numbers(SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X))


class Odd(Curve):
    def score(self, X, y=None):
        return {0.0: -np.inf, 0.2: np.inf, 0.3: np.nan}.get(self.limit, self.limit)


@pytest.mark.parametrize(
    "limits", [[0.0, 0.1, 0.4], [0.1, 0.2, 0.4], [0.0, 0.2, 0.3, 0.1], [0.3, 0.1]], ids=str
)
def test_scores_that_are_nan_or_infinite_rank_as_in_grid_search(limits):
    grid = GridSearchCV(Odd(growth=1), {"limit": limits}, cv=KFold(2))
    one = SuccessiveHalvingSearchCV(
        Odd(growth=1), {"limit": limits}, cv=KFold(2), min_resources=1.0, resource="n_samples"
    )
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, of inf - inf, in both
        grid.fit(X, Y)
        one.fit(X, Y)
    for name in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(one.cv_results_[name], grid.cv_results_[name])
    assert one.best_params_ == grid.best_params_


@pytest.mark.parametrize("limits", [[0.3, 0.0, 0.1, 0.4, 0.2], [0.3, 0.2, 0.0]], ids=str)
def test_nan_is_never_promoted_before_a_number_and_infinity_is_one(limits):
    search = SuccessiveHalvingSearchCV(Odd(), {"limit": limits}, **COMMON)
    with np.errstate(invalid="ignore"), pytest.warns(UserWarning, match="scores are non-finite"):
        search.fit(X)
    assert search.best_params_ == {"limit": 0.2}
    assert 0 not in search.rung_history_[0]["promoted"]


def test_a_model_that_cannot_be_pickled():
    space = {"limit": [0.1, 0.2, 0.3]}
    expected = SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X)
    with parallel_config(backend="threading", n_jobs=2):
        search = SuccessiveHalvingSearchCV(Locked(), space, **COMMON).fit(X)
    assert numbers(search) == numbers(expected)
    with pytest.raises(TypeError, match=r"cannot pickle '_thread\.lock' object") as caught:
        search.set_params(n_jobs=2).fit(X)
    assert 'parallel_config(backend="threading"), or n_jobs=1' in caught.value.__notes__[-1]


class Leaving(Curve):
    def partial_fit(self, X, y=None):
        self._thread = None
        thread = threading.Thread(target=threading.Event().wait, args=(0.2,))
        thread.start()
        return super().partial_fit(X, y)

    def __getstate__(self):
        return {k: v for k, v in super().__getstate__().items() if k != "_thread"}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_leaves_threads_behind(n_jobs):
    space = {"limit": [0.1, 0.2, 0.3]}
    expected = SuccessiveHalvingSearchCV(Curve(), space, **COMMON).fit(X)
    search = SuccessiveHalvingSearchCV(Leaving(), space, n_jobs=n_jobs, **COMMON).fit(X)
    assert numbers(search) == numbers(expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_changes_its_input_in_place_changes_nobodys_but_its_own(n_jobs):
    own = X.copy()
    search = SuccessiveHalvingSearchCV(
        InPlace(), {"shift": [1.0, 2.0, 3.0]}, n_jobs=n_jobs, refit=False, **COMMON
    ).fit(own, Y)
    np.testing.assert_array_equal(own, X)
    # What one call adds to its copy, no other call has.
    rows = [X[6:], X[:6]]
    for row, shift in enumerate([1.0, 2.0, 3.0]):
        expected = np.mean([-abs(part.mean()) for part in rows])
        assert search.all_cv_results_["mean_test_score"][row] == pytest.approx(expected), shift
