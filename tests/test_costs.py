"""Overhead of the search: what is sent, fitted, sliced and called, and how often."""

import cProfile
import inspect
import os
import pickle
import pstats
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
import toys
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import CALLS, SCRIPT, Curve, Locked, Placed, Recorder

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._data.folds import make_folds
from sklearn_sha._data.preprocessing import FittedPreprocessing, fit_preprocessing
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha._engine import batches
from sklearn_sha._engine.callbacks import NO_CALLBACKS
from sklearn_sha._engine.jobs import Job
from sklearn_sha._parallel import workers
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.preprocessing_file import PreprocessingFile

X, Y = np.arange(60.0).reshape(30, 2), np.arange(30) % 2
NOTHING = np.zeros((30, 1))


class Idle(BaseEstimator):
    """Does nothing; its score is its parameter."""

    def __init__(self, limit=1.0):
        self.limit = limit

    def fit(self, X, y=None):
        return self

    def partial_fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return self.limit


def refitted(
    n_jobs=2,
    search=SuccessiveHalvingSearchCV,
    refit=True,
    limits=(0.1, 0.9, 0.5, 0.2),
    max_time=None,
    **params,
):
    return search(
        Placed(n_all=30, searches=os.getpid(), **params),
        {"limit": limits},
        resource="partial_fit",
        min_resources=1,
        max_resources=4,
        factor=4,
        cv=KFold(3),
        refit=refit,
        promote_by="score",
        max_time=max_time,
        n_jobs=n_jobs,
    ).fit(NOTHING)


def check_refit_survives(n_jobs):
    """Check a search whose refit terminates its worker."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # calls that ran at the same time are repeated
        search = refitted(n_jobs=n_jobs, on_all="exit")
    assert search.best_estimator_.process_ == os.getpid()
    assert np.isfinite(search.all_cv_results_["mean_test_score"]).all()


@pytest.mark.slow
def test_neither_a_vectorizer_nor_its_output_is_sent(spy):
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdefghij"), 300)) for _ in range(300)]
    SuccessiveHalvingSearchCV(
        make_pipeline(
            CountVectorizer(analyzer="char", ngram_range=(4, 4)), SGDClassifier(random_state=0)
        ),
        {"sgdclassifier__alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
        resource="partial_fit",
        max_resources=4,
        min_folds="all",
        cv=3,
        n_jobs=2,
        refit=False,
    ).fit(texts, rng.integers(0, 2, 300))
    weight = len(pickle.dumps(CountVectorizer(analyzer="char", ngram_range=(4, 4)).fit(texts)))
    fits, *batches = spy.sent
    assert len(fits) == 3
    assert weight > 100_000
    assert max(map(max, batches)) < 10_000
    assert max(map(max, spy.came)) < 10_000


@pytest.mark.parametrize("scores_pipeline", [False, True])
def test_preprocessing_steps_are_only_returned_if_pipelines_are_scored(scores_pipeline):
    (fold,) = make_folds(
        X, Y, [(np.arange(20), np.arange(20, 30))],
        fit_params={}, preprocessing_params={}, score_params={}, pairwise=False,
    )  # fmt: skip
    preprocessing = fit_preprocessing(
        make_pipeline(StandardScaler(), Recorder()),
        fold,
        scores_pipeline=scores_pipeline,
        scores_train=False,
    )
    kept = [preprocessing.pipeline is not None, preprocessing.original is not None]
    assert kept == [scores_pipeline, scores_pipeline]


def test_transformed_samples_are_memory_mapped(tmp_path):
    samples = FoldSamples(np.ones((9, 2)), None, np.ones((3, 2)), None, {}, {}, {})
    file = PreprocessingFile.write(FittedPreprocessing(samples), tmp_path)
    mapped = file.with_data(None, None).samples()
    assert isinstance(mapped.X_train, np.memmap)
    np.testing.assert_array_equal(mapped.X_test, samples.X_test)
    mapped.X_train[:] = 0  # copy-on-write: other processes do not see the change
    assert file.with_data(None, None).samples().X_train.all()
    file.discard()
    assert list(tmp_path.iterdir()) == []


def test_preprocessing_is_sent_if_the_disk_is_full(tmp_path, monkeypatch):
    def full(value, path):
        path.write_bytes(b"some")
        raise OSError("No space left on device")

    monkeypatch.setattr(joblib, "dump", full)
    preprocessing = FittedPreprocessing(FoldSamples(X, Y, X, Y, {}, {}, {}))
    assert PreprocessingFile.write(preprocessing, tmp_path) is preprocessing
    assert list(tmp_path.iterdir()) == []


def test_short_jobs_are_sent_in_few_batches(spy, monkeypatch):
    monkeypatch.setattr(workers, "effective_n_jobs", lambda n_jobs: 2)
    monkeypatch.setattr(batches, "_MIN_SECONDS_PER_BATCH", 1e6)
    SuccessiveHalvingSearchCV(
        Curve(), {"limit": list(np.linspace(0, 1, 81))}, resource="partial_fit",
        min_resources=1, max_resources=81, factor=3, cv=KFold(5), refit=False,
    ).fit(NOTHING)  # fmt: skip
    # The time of a job is unknown in the first rung; after that, one batch per fold is enough.
    assert [len(sizes) for sizes in spy.sent] == [10, 5, 5, 5, 5]


def jobs_of(candidates, fold, n_resources):
    return [
        Job(candidate, fold, {}, 0, n_resources, None, True, 0, NO_CALLBACKS)
        for candidate in candidates
    ]


@pytest.mark.parametrize(("n_workers", "order"), [(1, [0, 1, 2, 3]), (8, [2, 3, 0, 1])])
def test_with_several_workers_candidates_that_were_slow_start_first(n_workers, order):
    """Candidate 2 took 3 s a unit, 0 and 1 took 1 s, and 3 is new: it is expected to take 1.7 s."""
    batching = batches.Batching(n_workers)
    groups = {("fold", k): jobs_of(range(4), k, 2) for k in range(2)}
    done = [Outcome(candidate, 0, 2, 0.0, fit_time=2 * s) for candidate, s in enumerate([1, 1, 3])]
    batching.record(done, [2, 2, 2])
    found = [job.candidate for _, jobs in batching.batches(groups) for job in jobs]
    assert list(dict.fromkeys(found)) == order


@pytest.mark.slow
def test_the_refit_runs_at_the_same_time_as_the_last_rung(spy):
    search = refitted()
    assert search.best_params_ == {"limit": 0.9}
    assert search.best_estimator_.units_ == 4
    assert search.best_estimator_.process_ != os.getpid()
    assert search.refit_time_ > 0
    # One joblib call with three folds and the refit.
    assert len(spy.sent[-1]) == 4


@pytest.mark.parametrize(
    "params",
    [
        {"n_jobs": 1},
        {"search": HyperbandSearchCV, "limits": (0.1, 0.9, 0.5, 0.2, 0.3, 0.4)},
        {"limits": (0.1, 0.9, 0.5, 0.2, 0.3)},
        {"refit": lambda results: 0},
        {"max_time": 1000},
    ],
    ids=[
        "one process",
        "several brackets",
        "two candidates in the last rung",
        "a callable",
        "a time limit",
    ],
)
def test_the_refit_runs_after_the_last_rung_if_it_must(params):
    assert refitted(**params).best_estimator_.process_ == os.getpid()


def test_the_error_of_a_refit_in_a_worker_is_raised():
    with pytest.raises(RuntimeError, match="not on all rows"):
        refitted(on_all="fail")


def test_the_warning_of_a_refit_in_a_worker_is_issued_once():
    with pytest.warns(UserWarning, match="all rows at once") as caught:
        refitted(on_all="warn")
    assert [warning.filename for warning in caught] == [toys.__file__]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="toys")
        refitted(on_all="warn")


@pytest.mark.slow
def test_a_refit_of_a_class_of_a_script_is_an_instance_of_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT
        + """
import pickle

def main():
    search = SuccessiveHalvingSearchCV(
        Slow(), {"limit": [0.1, 0.9, 0.5, 0.2]}, resource="partial_fit", min_resources=1,
        max_resources=4, factor=4, cv=KFold(3), n_jobs=2,
    ).fit(np.zeros((30, 1)))
    assert type(search.best_estimator_) is Slow
    assert pickle.loads(pickle.dumps(search.best_estimator_)).units_ == 4

if __name__ == "__main__":
    main()
"""
    )
    subprocess.run([sys.executable, script], check=True)


def test_a_refitted_estimator_that_cannot_be_pickled_is_refitted_by_the_search():
    search = SuccessiveHalvingSearchCV(
        Locked(), {"limit": [0.1, 0.9, 0.5, 0.2]}, resource="n_samples", min_resources=5,
        factor=4, cv=KFold(3), n_jobs=2,
    ).fit(NOTHING)  # fmt: skip
    assert search.best_estimator_.lock_.acquire()


@pytest.mark.slow
def test_a_refit_that_terminates_its_worker_is_repeated_by_the_search():
    check_refit_survives(n_jobs=2)


def test_threads_times_workers_do_not_exceed_the_cores(monkeypatch):
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    search = refitted()
    assert search.best_estimator_.threads_ == max(1, joblib.cpu_count() // 2)


@pytest.mark.parametrize("return_train_score", [False, True])
def test_predictions_are_computed_once_for_all_metrics(return_train_score):
    CALLS.clear()
    search = SuccessiveHalvingSearchCV(
        Recorder(), {"tag": range(4)}, resource="partial_fit", max_resources=4, cv=KFold(3),
        scoring=["accuracy", "recall_macro", "f1_macro"], refit="accuracy",
        return_train_score=return_train_score,
    ).fit(X, Y)  # fmt: skip
    n_evaluations = 3 * sum(search.n_candidates_)
    assert [what for what, *_ in CALLS].count("predict") == n_evaluations * (1 + return_train_score)


@pytest.mark.filterwarnings("ignore:max_resources=")
@pytest.mark.parametrize(("tags", "n_per_candidate"), [((1, 2), 0), ([1, 2], 2)])
def test_an_estimator_is_constructed_once_per_search_unless_clones_differ(tags, n_per_candidate):
    made = []

    class Made(Curve):
        def __init__(self, limit=1.0, tags=None, max_epochs=1):
            made.append(1)
            super().__init__(limit)
            self.tags = tags
            self.max_epochs = max_epochs

    counts = []
    for n in (64, 128):
        made.clear()
        SuccessiveHalvingSearchCV(
            Made(tags=tags), {"limit": list(np.linspace(0, 1, n))}, resource="partial_fit",
            max_resources=8, cv=KFold(2), refit=False,
        ).fit(NOTHING)  # fmt: skip
        counts.append(len(made))
    assert counts[1] - counts[0] == n_per_candidate * 64


@pytest.mark.filterwarnings("ignore:max_resources=")
@pytest.mark.parametrize(
    ("estimator", "name"),
    [(Idle(), "limit"), (make_pipeline(StandardScaler(), Idle()), "idle__limit")],
    ids=["estimator", "pipeline"],
)
def test_constructors_are_inspected_as_often_for_any_number_of_candidates(
    estimator, name, monkeypatch
):
    inspected = []
    signature = inspect.signature

    def counted(*args, **kwargs):
        inspected.append(args)
        return signature(*args, **kwargs)

    monkeypatch.setattr(inspect, "signature", counted)
    counts = []
    for n in (64, 128):
        inspected.clear()
        SuccessiveHalvingSearchCV(
            estimator, {name: list(np.linspace(0, 1, n))}, resource="partial_fit",
            max_resources=8, min_folds="all", cv=KFold(2), refit=False,
        ).fit(NOTHING)  # fmt: skip
        counts.append(len(inspected))
    assert counts[0] == counts[1] > 0


def test_an_evaluation_takes_few_calls_of_functions():
    def n_calls(cls, n, **params):
        search = cls(
            Idle(), {"limit": list(np.linspace(0, 1, n))}, cv=KFold(2), refit=False, **params
        )
        profile = cProfile.Profile()
        profile.runcall(search.fit, NOTHING)
        return pstats.Stats(profile).total_calls

    def n_calls_of_evaluations(cls, **params):
        n_calls(cls, 10, **params)  # imports and caches at first use
        return n_calls(cls, 300, **params) - n_calls(cls, 100, **params)

    rung = {"resource": "partial_fit", "max_resources": 1, "min_resources": 1}
    ours = n_calls_of_evaluations(SuccessiveHalvingSearchCV, **rung)
    # Ours are about 140 per evaluation; GridSearchCV's are 500 to 1,000, depending on its version.
    assert ours < n_calls_of_evaluations(GridSearchCV) / 3


def test_a_fit_calls_nothing_for_values_that_are_no_candidates():
    def n_calls(values):
        search = SuccessiveHalvingSearchCV(
            Idle(), {"limit": values}, n_candidates=10, cv=KFold(2), refit=False, random_state=0
        )
        profile = cProfile.Profile()
        profile.runcall(search.fit, NOTHING)
        return pstats.Stats(profile).total_calls

    for values in ([*range(20_000)], np.linspace(0, 1, 20_000).tolist(), np.arange(2e4)):
        n_calls(values)  # imports and caches at first use
        assert n_calls([*values]) < n_calls([*values[:1000]]) + 10_000


@pytest.mark.slow
def test_the_overhead_is_linear_in_the_number_of_candidates():
    def n_calls(n):
        search = SuccessiveHalvingSearchCV(
            Curve(), {"limit": list(np.linspace(0, 1, n))}, resource="partial_fit",
            max_resources=64, min_resources=1, factor=2, cv=KFold(2), refit=False,
        )  # fmt: skip
        profile = cProfile.Profile()
        profile.runcall(search.fit, NOTHING)
        return pstats.Stats(profile).total_calls

    n_calls(10)  # imports and caches at first use
    small, middle, large = map(n_calls, (250, 500, 1000))
    assert large - middle <= 2.2 * (middle - small)
