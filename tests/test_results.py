"""Results of a search: cv_results_ as in GridSearchCV, all_cv_results_ with all rungs."""

import warnings

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from toys import Curve

from sklearn_sha import CheckpointError, HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha._search.validation import callable_refit_message
from sklearn_sha.bandit import FixedSchedule, SuccessiveHalving
from sklearn_sha.inspection import trust_report
from sklearn_sha.schedules import Schedule

X = np.zeros((12, 1))
SPACE = {"limit": [0.1, 0.2, 0.3, 0.4], "speed": [1.0, 2.0]}
STEPS = ["bracket", "iter", "n_resources", "n_folds", "candidate"]


def search_of(space=SPACE, cls=SuccessiveHalvingSearchCV, **params):
    params = {"resource": "partial_fit", "max_resources": 9, "cv": KFold(2)} | params
    return cls(Curve(), space, **params)


def both_metrics(model, X, y=None):
    return {"limit": model.limit, "speed": -model.speed}


def test_cv_results_has_the_last_rung_and_all_cv_results_has_all_rungs():
    grid = GridSearchCV(Curve(), SPACE, cv=KFold(2)).fit(X)
    search = search_of().fit(X)
    assert list(search.cv_results_) == list(grid.cv_results_)
    without_ranks = [name for name in grid.cv_results_ if not name.startswith("rank")]
    assert list(search.all_cv_results_) == without_ranks + STEPS
    last = search.all_cv_results_["iter"] == search.n_iterations_ - 1
    assert search.cv_results_rows_ == np.flatnonzero(last).tolist()
    for name in without_ranks:
        column = np.ma.getdata(search.all_cv_results_[name])
        assert np.ma.getdata(search.cv_results_[name]).tolist() == column[last].tolist()
    assert [len(column) for column in search.cv_results_.values()] == [2] * len(grid.cv_results_)
    sizes = search.n_candidates_
    assert (
        search.all_cv_results_["n_resources"].tolist()
        == np.repeat(search.n_resources_, sizes).tolist()
    )
    assert search.all_cv_results_["candidate"].tolist() == [
        candidate for row in search.rung_history_ for candidate in row["candidates"]
    ]
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]


def test_cv_results_with_budget_doubling_has_the_last_rung_of_the_last_run():
    search = search_of(budget="double", patience=None).fit(X)
    rows = search.all_cv_results_
    assert list(rows)[-6:] == [*STEPS, "cached"]
    last = (rows["bracket"] == rows["bracket"].max()) & (rows["iter"] == rows["iter"].max())
    assert search.cv_results_rows_ == np.flatnonzero(last).tolist()
    starts = [row["iter"] for row in search.rung_history_ if row["n_candidates"] == 8]
    runs = np.searchsorted(starts, rows["iter"], side="right") - 1
    assert rows["bracket"].tolist() == runs.tolist()


def test_cv_results_of_hyperband_has_the_last_rungs_of_all_brackets():
    search = search_of({"limit": uniform(0, 1)}, HyperbandSearchCV, random_state=0).fit(X)
    rows = search.all_cv_results_
    assert search.cv_results_rows_ == sorted(
        np.flatnonzero(rows["n_resources"] == 9), key=lambda row: rows["bracket"][row]
    )
    scores = search.cv_results_["mean_test_score"]
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert search.best_score_ == scores.max()


def test_a_callable_refit_receives_the_last_rung_only():
    """scikit-learn's own example: the fewest components within a standard error of the best."""

    def lower_bound(results):
        best = np.argmax(results["mean_test_score"])
        return results["mean_test_score"][best] - results["std_test_score"][best]

    def best_low_complexity(results):
        threshold = lower_bound(results)
        candidates = np.flatnonzero(results["mean_test_score"] >= threshold)
        return candidates[results["param_reduce__n_components"][candidates].argmin()]

    model = Pipeline([("reduce", PCA(random_state=0)), ("classify", GaussianNB())])
    grid = {"reduce__n_components": [4, 8, 16, 32]}
    data = load_digits(return_X_y=True)
    params = {"refit": best_low_complexity, "cv": 3}
    theirs = GridSearchCV(model, grid, **params).fit(*data)
    halving = SuccessiveHalvingSearchCV(model, grid, resource="n_samples", **params)
    with pytest.warns(UserWarning, match="refit is a callable, and receives only the candidates"):
        ours = clone(halving).set_params(min_resources=0.5).fit(*data)
    assert ours.n_iterations_ == 2
    assert ours.best_n_resources_ == ours.max_resources_
    assert ours.best_params_ == theirs.best_params_
    assert not hasattr(ours, "best_score_")
    # As the warning recommends.
    every = clone(halving).set_params(min_resources=1.0).fit(*data)
    assert every.cv_results_["params"] == theirs.cv_results_["params"]
    assert every.best_index_ == theirs.best_index_


TO_TRAIN_ALL = "To train all with full resource, set min_resources=1.0. "


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {},
            "the last rung. The others are eliminated by their score. "
            f'{TO_TRAIN_ALL}To confirm the elimination, set promote_by to "score".',
        ),
        (
            {"scoring": ["r2", "neg_mean_absolute_error"]},
            f"eliminated by 'r2', the first metric. {TO_TRAIN_ALL}To confirm the elimination, set "
            "promote_by to the metric that refit uses.",
        ),
        (
            {"scoring": lambda model, X, y: 0.5},
            f"eliminated. {TO_TRAIN_ALL}To confirm the elimination, set promote_by to "
            '"score" if scoring returns a number, otherwise the metric that refit uses.',
        ),
        (
            {"cls": HyperbandSearchCV},
            "the last rung of each bracket. The others are eliminated by their score. To confirm",
        ),
        (
            {"budget": 100, "max_resources": "auto"},
            "by their score. To confirm the elimination, set promote_",
        ),
        ({"algorithm": FixedSchedule([4, 1], [2, 8])}, "by their score. To confirm the elim"),
        (
            {"algorithm": SuccessiveHalving()},
            "by their score. To confirm the elimination, set promote_by",
        ),
        ({"budget": "double"}, "only the candidates of the last rung. The others"),
        ({"scoring": "r2", "promote_by": "r2"}, ""),
        ({"promote_by": "score"}, ""),
        ({"min_resources": 1.0}, ""),
        ({"refit": True}, ""),
        ({"scoring": ["r2", "neg_mean_absolute_error"], "refit": False}, ""),
    ],
)
def test_a_callable_refit_of_eliminated_candidates_is_warned_about(params, message):
    params = {"refit": lambda results: 0, "random_state": 0, **params}
    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, **params)
    for method in (search.plan, search.fit):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            method(X, X[:, 0])
        caught = [one for one in caught if "is a callable" in str(one.message)]
        assert len(caught) == bool(message)
        if message:
            assert message in str(caught[0].message)
            assert caught[0].filename == __file__


def test_brackets_of_different_sizes_eliminate_nothing():
    brackets = [Schedule.from_rungs([n], [4]) for n in (8, 4)]
    plans = (
        Schedule.joined(brackets),
        Schedule.joined([*brackets, Schedule.from_rungs([2, 1], [2, 4])]),
    )
    messages = [
        callable_refit_message(print, None, None, plan, can_train_all=True) for plan in plans
    ]
    assert [bool(message) for message in messages] == [False, True]


def test_the_warning_about_a_callable_refit_is_not_repeated_by_extend():
    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, refit=lambda results: 0)
    with pytest.warns(UserWarning, match="refit is a callable"):
        search.fit(X)
    search.extend(X, param_distributions={"limit": [0.5, 0.6]})


@pytest.mark.parametrize("refit", [False, lambda results: 1, "limit", "speed"])
@pytest.mark.parametrize("promote_by", [None, "limit", "speed"])
@pytest.mark.filterwarnings("ignore:refit is a callable, and receives only")
def test_promote_by_promotes_and_refit_selects(refit, promote_by, monkeypatch):
    space = [{"limit": [k / 10], "speed": [1.0 + k]} for k in range(8)]
    search = search_of(space, scoring=both_metrics, refit=refit, promote_by=promote_by).fit(X)
    promotes = promote_by or (refit if isinstance(refit, str) else "limit")
    assert search.promote_by_ == promotes
    survivors = {"limit": [4, 5, 6, 7], "speed": [0, 1, 2, 3]}[promotes]
    assert search.rung_history_[0]["promoted"] == survivors
    last = search.rung_history_[-1]["candidates"]
    assert hasattr(search, "best_params_") == (refit is not False)
    assert hasattr(search, "best_score_") == isinstance(refit, str)
    if callable(refit):
        assert search.best_candidate_ == last[1]
        with pytest.raises(ValueError, match="score requires the name of a metric as refit"):
            search.score(X)
    elif refit:
        assert search.best_candidate_ == {"limit": max, "speed": min}[refit](last)
        assert search.best_score_ == search.cv_results_[f"mean_test_{refit}"].max()
    assert trust_report(search).rungs[0]["gap"] == pytest.approx(
        {"limit": 0.1, "speed": 1}[promotes]
    )
    monkeypatch.setattr(SearchDisplay, "plot", lambda self, *args, **params: self)
    assert SearchDisplay.from_search(search).data.metric == promotes


def test_a_checkpoint_of_another_promote_by_raises(tmp_path):
    space = [{"limit": [k / 10], "speed": [1.0 + k]} for k in range(8)]
    search = search_of(space, scoring=both_metrics, refit=False, checkpoint=tmp_path).fit(X)
    with pytest.raises(CheckpointError, match=r"promote_by \(None then, 'speed' now\)"):
        search.set_params(promote_by="speed").fit(X)


def test_results_frame_has_each_candidate_once_at_its_last_rung():
    for params in ({}, {"budget": "double", "patience": None}):
        search = search_of(**params).fit(X)
        frame = search.results_frame()
        assert frame["candidate"].tolist() == list(range(8))
        assert list(frame) == list(search.all_cv_results_)
        reached = {
            candidate: row["n_resources"]
            for row in sorted(search.rung_history_, key=lambda row: row["n_resources"])
            for candidate in row["candidates"]
        }
        assert frame["n_resources"].tolist() == [reached[candidate] for candidate in range(8)]
        assert not frame.get("cached", np.zeros(8, dtype=bool)).any()
        table = frame.pivot_table(
            index="param_limit", columns="param_speed", values="mean_test_score"
        )
        assert table.shape == (4, 2)
        assert table.notna().all(axis=None)
