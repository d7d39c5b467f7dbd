"""scikit-learn's callbacks: its own halving's tree of tasks, and what they may ask for.

Collected with scikit-learn 1.9 and newer, which have callbacks.
"""

import re

import numpy as np
import pytest
from conftest import ROOT, slow
from scipy.stats import loguniform
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import InPlace

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.candidates import RandomSampler

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.01, 0.1, 1.0, 10.0]}
ALL_FOLDS = {"min_folds": "all"}  # as scikit-learn's halving
RUNGS = {"resource": "max_iter", "min_resources": 2, "max_resources": 8, "factor": 2}
CV = KFold(3, shuffle=True, random_state=0)

pytestmark = pytest.mark.filterwarnings("ignore:lbfgs failed to converge")


class Recorder:
    """Writes down what it is told, and answers as `stops` says."""

    def __init__(self, stops=lambda context: False):
        self.told = []
        self.stops = stops

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.told.append(("begin", path(context), None if X is None else X.shape))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None):
        self.told.append(("end", path(context), None if X is None else X.shape))
        return self.stops(context)


def path(context):
    """From the root: name, number, and number of parts of each task."""
    mine = (context.task_name, context.task_id, context.max_subtasks, context.sequential_subtasks)
    return mine if context.parent is None else (*path(context.parent), *mine)


def ours(estimator=None, grid=GRID, **params):
    estimator = estimator or LogisticRegression()
    return SuccessiveHalvingSearchCV(estimator, grid, cv=CV, **RUNGS | ALL_FOLDS | params)


def theirs(estimator=None, grid=GRID, **params):
    return HalvingGridSearchCV(
        estimator or LogisticRegression(), grid, cv=CV, random_state=0, **RUNGS | params
    )


@pytest.mark.parametrize("refit", [True, False])
def test_the_tasks_are_those_of_scikit_learns_halving(refit):
    mine, its = Recorder(), Recorder()
    ours(refit=refit).set_callbacks(mine).fit(X, Y)
    theirs(refit=refit, aggressive_elimination=False).set_callbacks(its).fit(X, Y)
    # Candidates of a rung come in another order: here all on a fold, there all folds of one.
    assert sorted(map(str, mine.told)) == sorted(map(str, its.told))
    tasks, others = ([t for t in r.told if "evaluation" not in str(t)] for r in (mine, its))
    assert tasks == others


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
@pytest.mark.parametrize("weights", [None, np.arange(150.0)])
def test_callbacks_receive_sample_weights_with_the_tasks_that_have_them_in_scikit_learns(
    weights, n_jobs
):
    class Weights(Recorder):
        def on_fit_task_begin(self, estimator, context, *, metadata=None):
            self.note("begin", context, metadata)

        def on_fit_task_end(self, estimator, context, *, metadata=None):
            self.note("end", context, metadata)

        def note(self, what, context, metadata):
            given = None if metadata is None else {k: v.tolist() for k, v in metadata.items()}
            self.told.append((what, path(context), given))

    seen = []
    for search in (ours(n_jobs=n_jobs), theirs(aggressive_elimination=False, n_jobs=n_jobs)):
        recorder = Weights()
        search.set_callbacks(recorder).fit(X, Y, sample_weight=weights)
        seen.append(sorted(map(str, recorder.told)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_the_monitor_of_an_estimator_inside_logs_what_it_logs_in_their_search(n_jobs):
    logs = []
    for search_of in (ours, theirs):
        monitor = ScoringMonitor(scoring="accuracy")
        search_of(LogisticRegression().set_callbacks(monitor), n_jobs=n_jobs).fit(X, Y)
        logs.append(monitor.get_logs().data)
    assert len(logs[0]) == len(logs[1])
    # The candidates of the first rung have the same numbers in both.
    first, its_first = ([r for r in log if r["task_id_path"][:3] == (0, 0, 0)] for log in logs)
    assert first == its_first
    assert len(first) >= 4 * 3


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_progress_bar_fills_as_in_grid_search(n_jobs, capsys):
    search = ours(n_jobs=n_jobs).set_callbacks(ProgressBar(max_propagation_depth=0)).fit(X, Y)
    shown = capsys.readouterr().out
    for task in ("fit", "search #0", *(f"halving-iteration #{k}" for k in (0, 1))):
        assert re.search(rf"SuccessiveHalvingSearchCV - {task} .*100%", shown), task
    assert search.best_score_ > 0.8


def test_a_pipeline_whose_first_steps_are_shared_is_watched_too():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {f"logisticregression__{name}": values for name, values in GRID.items()}
    recorder = Recorder()
    search = SuccessiveHalvingSearchCV(
        pipeline,
        grid,
        resource="logisticregression__max_iter",
        max_resources=8,
        min_folds="all",
        cv=CV,
    )
    search.set_callbacks(recorder).fit(X, Y)
    ends = [told[1] for told in recorder.told if told[0] == "end"]
    evaluations = [end for end in ends if end[-4] == "candidate-split-evaluation"]
    assert len(evaluations) == 3 * sum(search.n_candidates_)
    assert len(set(evaluations)) == len(evaluations)


@pytest.mark.filterwarnings("ignore:.* have the same score")
def test_brackets_of_hyperband_are_rungs_of_one_search():
    recorder = Recorder()
    space = {"C": [10.0**k for k in range(-9, 9)]}
    search = HyperbandSearchCV(
        LogisticRegression(), space, resource="max_iter", max_resources=9, cv=CV
    )
    search.set_callbacks(recorder).fit(X, Y)
    rungs = [
        told[1][-3:]
        for told in recorder.told
        if told[0] == "begin" and told[1][-4] == "halving-iteration"
    ]
    assert [number for number, _, _ in rungs] == list(range(len(search.n_candidates_)))
    assert sorted(n for _, n, _ in rungs) == sorted(3 * n for n in search.n_candidates_)


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_a_callback_that_returns_true_at_the_end_of_a_rung_stops_the_search(n_jobs):
    stopper = Recorder(lambda context: context.task_name == "halving-iteration")
    search = ours(n_jobs=n_jobs).set_callbacks(stopper).fit(X, Y)
    assert search.interrupted_
    assert search.n_resources_ == [2]
    assert search.rung_history_[0]["promoted"]
    assert search.predict(X).shape == Y.shape
    whole = ours().fit(X, Y)
    search.set_callbacks().resume(X, Y)
    assert not search.interrupted_
    for name in ("mean_test_score", "candidate", "n_resources"):
        assert search.all_cv_results_[name].tolist() == whole.all_cv_results_[name].tolist()


class InWaves(RandomSampler):
    """Proposes two candidates at a time."""

    uses_history = True

    def propose(self, n, space, history, rng):
        return super().propose(min(n, 2), space, history, rng)


@pytest.mark.parametrize(("min_resources", "max_time"), [(2, None), (8, None), (2, 600)])
def test_a_first_rung_that_is_stopped_before_it_has_all_candidates_is_not_complete(
    min_resources, max_time
):
    """Also if it is the only one, and if there is time left."""
    recorder = Recorder(lambda context: context.task_name == "halving-iteration")
    search = ours(
        grid={"C": loguniform(0.01, 10)}, n_candidates=6, sampler=InWaves(),
        min_resources=min_resources, max_time=max_time,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="was stopped in the first rung, when 2 of 6") as caught:
        search.set_callbacks(recorder).fit(X, Y)
    assert "max_time" not in str(caught[0].message)
    assert search.interrupted_
    assert search.n_candidates_ == [2]
    assert search.set_callbacks().resume(X, Y).n_candidates_[0] == 6


@pytest.mark.filterwarnings("ignore:The search was interrupted in run")
@pytest.mark.parametrize("budget", [None, "double"])
def test_what_a_callback_says_of_rungs_that_are_done_does_not_stop_a_resumed_search(budget):
    ended = []

    def has_seen_two(context):
        if context.task_name == "halving-iteration":
            ended.append(context.task_id)
            return len(ended) >= 2
        return False

    params = {"budget": budget, "min_resources": "auto"} if budget else {}
    whole = ours(**params).fit(X, Y)
    search = ours(**params).set_callbacks(Recorder(has_seen_two)).fit(X, Y)
    n_rungs = 2
    while n_rungs < whole.n_iterations_:
        assert search.interrupted_
        assert search.n_resources_ == whole.n_resources_[:n_rungs]
        search.resume(X, Y)
        n_rungs += 1
    assert search.n_resources_ == whole.n_resources_
    assert search.best_params_ == whole.best_params_


def test_the_search_is_a_part_of_a_search_around_it():
    class Propagated(Recorder):
        max_propagation_depth = None

    recorder = Propagated()
    outer = GridSearchCV(ours(), {"estimator__fit_intercept": [True, False]}, cv=2)
    outer.set_callbacks(recorder).fit(X, Y)
    inner = {
        told[1] for told in recorder.told if told[0] == "begin" and "halving-iteration" in told[1]
    }
    assert any(
        way[:20:4] == ("fit", "search", "fit", "search", "halving-iteration") for way in inner
    )
    assert recorder.told.count("setup") == 1


@pytest.mark.parametrize("batch_size", [None, 16])
def test_samples_that_a_callback_requests_are_copies(batch_size):
    class Vandal(Recorder):
        def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
            if context.task_name == "candidate-split-evaluation":
                assert (X.shape, y.shape) == ((100, 4), (100,))
                X[:] = 0
                self.told.append("written")

    def search():
        return SuccessiveHalvingSearchCV(
            SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2]}, resource="partial_fit",
            max_resources=4, cv=CV, batch_size=batch_size, random_state=0, error_score="raise",
        )  # fmt: skip

    vandal = Vandal()
    watched = search().set_callbacks(vandal).fit(X, Y)
    assert "written" in vandal.told
    expected = search().fit(X, Y).all_cv_results_["mean_test_score"]
    assert watched.all_cv_results_["mean_test_score"].tolist() == expected.tolist()


def test_an_estimator_that_writes_into_its_samples_is_observed_too():
    search = SuccessiveHalvingSearchCV(
        InPlace(), {"shift": [1.0, 2.0]}, resource="partial_fit", max_resources=4, cv=CV
    )
    recorder = Recorder()
    search.set_callbacks(recorder).fit(X.copy(), Y)
    assert any("evaluation" in str(told) for told in recorder.told)


def test_a_checkpoint_is_found_again_by_an_estimator_that_is_watched(tmp_path):
    def search():
        monitor = ScoringMonitor(scoring="accuracy")
        return ours(LogisticRegression().set_callbacks(monitor), checkpoint=tmp_path)

    assert search().fit(X, Y).rung_history_[0]["utilization"] is not None
    assert search().fit(X, Y).rung_history_[0]["utilization"] is None  # all results were known


def test_callbacks_are_checked_and_taken_away():
    search = ours()
    with pytest.raises(TypeError, match="FitCallback"):
        search.set_callbacks("nothing")
    recorder = Recorder()
    search.set_callbacks(recorder).set_callbacks().fit(X, Y)
    assert not recorder.told


def test_an_error_in_a_fit_still_ends_the_callbacks():
    recorder = Recorder()
    search = ours(LogisticRegression(solver="unknown"), error_score="raise")
    with pytest.raises(ValueError, match="solver"):
        search.set_callbacks(recorder).fit(X, Y)
    assert recorder.told[-1] == "teardown"


@pytest.mark.slow
def test_the_example_of_the_docs_ends_the_search_after_a_rung():
    page = (ROOT / "docs" / "guide" / "extending.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names = {}
    exec(code, names)
    search = names["search"]
    assert search.interrupted_
    assert f"search.n_candidates_  # {search.n_candidates_}" in code


@pytest.mark.filterwarnings("ignore:.* have the same score")
@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize("params", [{"target_score": 2.0}, {"sampler": "model"}])
def test_a_rung_can_be_requested_in_parts(search, params):
    """In groups until a target is reached, or in waves of a sampler."""
    recorder = Recorder()
    searched = search(
        LogisticRegression(), {"C": loguniform(1e-3, 1e3)}, cv=CV, resource="max_iter",
        min_resources=1, max_resources=9, factor=3, min_folds="all", random_state=0, **params,
    ).set_callbacks(recorder)  # fmt: skip
    searched.fit(X, Y)
    rungs = [path for what, path, _ in recorder.told[1:-1] if "halving-iteration" in path]
    assert len({path[:12] for path in rungs}) > len(searched.rung_history_)


def test_preprocessing_alone_is_no_fit_of_the_pipeline_with_callbacks():
    """Its callbacks would see a pipeline without its last step."""
    recorder = Recorder()
    pipeline = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    search = SuccessiveHalvingSearchCV(
        pipeline.set_callbacks(recorder), {"sgdclassifier__alpha": [1e-4, 1e-2]}, cv=2,
        resource="partial_fit", max_resources=4,
    ).fit(X, Y)  # fmt: skip
    assert search.failures_ == []
    assert recorder.told == []


class NeedsSamples(LogisticRegression):
    def fit(self, X, y):
        if len(X) < 1_000:
            raise ValueError("too few samples")
        return super().fit(X, y)


def starting_again(recorder):
    automatic = {"min_resources": "auto", "max_resources": "auto", "resource": "n_samples"}
    search = ours(NeedsSamples(), {"C": np.logspace(-3, 3, 16).tolist()}, **automatic)
    return search.set_callbacks(recorder)


def test_a_search_that_starts_again_has_a_second_search_in_its_tree():
    recorder = Recorder()
    with pytest.warns(UserWarning, match="the search starts again"):
        starting_again(recorder).fit(np.tile(X, (20, 1)), np.tile(Y, 20))
    names = ["search", "search", "refit-with-best-params"]
    for event in ("begin", "end"):
        tasks = [
            place[4] for what, place, _ in recorder.told[1:-1] if (what, len(place)) == (event, 8)
        ]
        assert tasks == names


def test_a_search_does_not_start_again_if_a_callback_stops_it():
    recorder = Recorder(lambda context: context.task_name == "halving-iteration")
    with pytest.raises(ValueError, match="All the 48 fits failed"):
        starting_again(recorder).fit(np.tile(X, (20, 1)), np.tile(Y, 20))
    assert sum(told[0] == "begin" and len(told[1]) == 8 for told in recorder.told[1:-1]) == 1
