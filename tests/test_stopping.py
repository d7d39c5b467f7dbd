"""A search that is stopped early: out of time, out of patience, or by Ctrl-C; and resumed."""

import pickle
import re
import warnings
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from conftest import ROOT, slow
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import uniform
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from toys import CALLS, CountingScaler, Curve, Recorder, numbers, rung_lines

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._data.folds import Fold
from sklearn_sha._engine import engine, evaluation, preprocessing_calls
from sklearn_sha._search import base, origin
from sklearn_sha._search.remedies import how_to_complete_first_rung, nothing_scored
from sklearn_sha._search.rung_observer import RungObserver
from sklearn_sha.bandit import FixedBudget, FixedSchedule, SuccessiveHalving
from sklearn_sha.candidates import ModelSampler
from sklearn_sha.resources import FoldCount, PartialFit, SampleCount
from sklearn_sha.schedules import Schedule

pytestmark = pytest.mark.filterwarnings("ignore:max_time=.* ended in the first rung")

X = np.zeros((12, 1))
SPACE = {"limit": uniform(0, 1), "speed": uniform(0, 20)}
COMMON = {"resource": "partial_fit", "cv": KFold(2), "refit": False, "random_state": 0}

SEARCHES = {
    "range": (SuccessiveHalvingSearchCV, {"n_candidates": 12, "max_resources": 20}),
    "budget": (SuccessiveHalvingSearchCV, {"n_candidates": 12, "budget": 150}),
    "double": (
        SuccessiveHalvingSearchCV,
        {"n_candidates": 12, "max_resources": 20, "budget": "double", "patience": None},
    ),
    "hyperband": (HyperbandSearchCV, {"max_resources": 9}),
    "sets": (HyperbandSearchCV, {"max_resources": 9, "n_repeats": 3, "patience": 2}),
}


TOO_SHORT = {"range": 2, "budget": 3, "double": 1, "hyperband": 1, "sets": 1}
"""The longest times in which no candidate begins on a second fold."""


class Stopped(Curve):
    """Is stopped by Ctrl-C, once `CALLS` has as many entries as `at` says."""

    at: float = float("inf")

    def partial_fit(self, X, y=None):
        if len(CALLS) >= self.at:
            raise KeyboardInterrupt
        return super().partial_fit(X, y)


class Swinging(Curve):
    """Its scores go up and down as it trains."""

    def score(self, X, y=None):
        return super().score(X, y) + 0.3 * np.sin(1e3 * self.limit + self.units_)


class FailsLater(Curve):
    """The best one fails once it has trained for a while."""

    def partial_fit(self, X, y=None):
        if self.limit > 0.85 and getattr(self, "units_", 0) >= 4:
            raise RuntimeError("no longer")
        return super().partial_fit(X, y)


def search_of(name, estimator=None, **params):
    search, own = SEARCHES[name]
    own = COMMON | own | params
    return search(estimator or Curve(), own.pop("space", SPACE), **own)


@contextmanager
def ctrl_c(at):
    """Has what runs in it end by Ctrl-C, once there have been so many calls."""
    Stopped.at = at
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            yield caught
    finally:
        Stopped.at = float("inf")


@pytest.fixture(autouse=True)
def a_second_a_call(monkeypatch):
    """A clock that goes on by a second at every call of partial_fit."""
    CALLS.clear()
    for module in (engine, evaluation, preprocessing_calls, base):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))


def whole(name, found={}):  # noqa: B006 - run once for all tests
    """The same search, not stopped."""
    if name not in found:
        calls = CALLS.copy()
        found[name] = search_of(name).fit(X)
        CALLS[:] = calls
    return found[name]


def brackets_of(search):
    """Of each rung in turn, its bracket or halving."""
    sizes = [len(bracket.rungs) for bracket in search.schedule_.brackets]
    if "bracket" in search.rung_history_[0]:
        return [row["bracket"] for row in search.rung_history_]
    return np.repeat(range(len(sizes)), sizes)[: len(search.rung_history_)].tolist()


def winner(search, whole_rungs):
    """Best at most resource: in a bracket that has ended, else in a rung that has, else."""
    brackets = brackets_of(search)
    lengths = [len(bracket.rungs) for bracket in search.schedule_.brackets]
    done = [brackets[k] for k in whole_rungs]
    ended = [k for k in whole_rungs if done.count(brackets[k]) == lengths[brackets[k]]]
    rows = [search.rung_history_[k] for k in ended or whole_rungs or [0]]
    most = max(row["n_resources"] for row in rows)
    scores = {}
    for row in rows:
        if row["n_resources"] == most:
            scores |= dict(zip(row["candidates"], row["scores"], strict=True))
    return min(scores, key=lambda c: (-scores[c], c))


def check_part(search, reference):
    """What a stopped search has is what the whole one has, as far as it came."""
    whole_rungs = []
    rows = {(row.get("bracket"), row["iter"]): row for row in reference.rung_history_}
    for k, part in enumerate(search.rung_history_):
        row = rows[part.get("bracket"), part["iter"]]
        told = dict(zip(row["candidates"], row["scores"], strict=True))
        assert part["scores"] == [told[c] for c in part["candidates"]]
        assert part["n_resources"] == row["n_resources"]
        if part["candidates"] == row["candidates"]:
            # What ended with the stage that was broken off has not been sent on.
            assert part["promoted"] in ([], row["promoted"])
            whole_rungs.append(k)
        else:
            assert part["promoted"] == []
    # Rungs with the same resource run together. Nothing is lost of those that had time to end.
    expected = reference.rung_history_
    ends = [
        k
        for k, row in enumerate(expected, 1)
        if k == len(expected) or expected[k]["n_resources"] != row["n_resources"]
    ]
    completed = [k for k in ends if 2 * expected[k - 1]["total_cost"] <= len(CALLS)]
    n_completed = max(completed, default=0)
    assert whole_rungs[:n_completed] == [*range(n_completed)]
    best = search.best_index_
    assert search.best_candidate_ == winner(search, whole_rungs)
    assert search.cv_results_["rank_test_score"][best] == 1
    assert search.best_params_ == search.cv_results_["params"][best]
    assert not {"iter", "n_resources", "candidate", "bracket", "cached"} & set(search.cv_results_)
    assert search.interrupted_


@pytest.mark.parametrize("where", ["rungs_begin", "promoted"])
def test_a_stop_iteration_of_a_callback_does_not_complete_the_search(where, monkeypatch):
    def stops(self, *args):
        raise StopIteration("no more")

    monkeypatch.setattr(RungObserver, where, stops)
    search = search_of("range")
    with pytest.raises(StopIteration, match="no more"):
        search.fit(X)
    monkeypatch.undo()
    assert not hasattr(search, "best_params_")


@pytest.mark.parametrize("name", ["range", *slow("budget", "double", "hyperband", "sets")])
@settings(max_examples=30)
@given(max_time=st.integers(1, 400))
def test_out_of_time_it_has_completed_results(name, max_time):
    reference = whole(name)
    CALLS.clear()
    search = search_of(name, max_time=max_time)
    if max_time <= TOO_SHORT[name]:
        with pytest.raises(TimeoutError, match=f"max_time={max_time} seconds? ended before any"):
            search.fit(X)
        return
    search.fit(X)
    longest = max(rung.step for rung in search.schedule_.rungs)
    assert len(CALLS) < max_time + longest
    if search.interrupted_:
        assert len(CALLS) >= max_time
        check_part(search, reference)
    else:
        assert numbers(search) == numbers(reference)


def test_after_the_deadline_no_samples_are_sliced(monkeypatch):
    """Not even for the batches that were sent before it: with large data, that takes long."""
    late = []
    samples = Fold.samples

    def spy(self, in_batches):
        late.append(len(CALLS) >= 30)
        return samples(self, in_batches)

    monkeypatch.setattr(Fold, "samples", spy)
    params = {"n_candidates": 100, "min_resources": 1, "min_folds": "all", "cv": KFold(4)}
    search_of("range", max_time=30, **params).fit(X)
    assert 0 < len(late) < 50
    assert not any(late)


class FailsBelow(Curve):
    """The worse half fails."""

    def partial_fit(self, X, y=None):
        super().partial_fit(X, y)
        if self.limit < 0.5:
            raise RuntimeError("invalid limit")
        return self


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
def test_only_failing_candidates_before_the_deadline_are_no_misconfigured_model():
    space = {"limit": [0.1, 0.2, 0.3, 0.6, 0.7, 0.8], "speed": [1.0]}
    params = {"n_candidates": "auto", "min_resources": 2, "min_folds": "all", "space": space}
    search = search_of("range", FailsBelow(), max_time=4, **params)
    with pytest.raises(
        TimeoutError, match=r"(?s)stopped before a completed candidate had a score\. Call "
    ):
        search.fit(X)
    assert len(search.failures_) == 4
    assert search.set_params(max_time=None).resume(X).best_params_["limit"] == 0.8
    search.set_params(param_distributions={"limit": [0.1, 0.2], "speed": [1.0]})
    with pytest.raises(ValueError, match=r"All the \d fits failed"):
        search.fit(X)


def test_whole_candidates_are_completed_also_if_all_of_them_would_fit_into_a_batch(monkeypatch):
    """Fits of 10 ms: without a deadline, one fold would have all candidates before the next."""
    for module in (engine, evaluation, preprocessing_calls, base):
        monkeypatch.setattr(module, "time", lambda: len(CALLS) / 100)
    params = {"n_candidates": 16, "min_resources": 1, "min_folds": "all", "cv": KFold(4)}
    search = search_of("range", max_time=0.4, **params).fit(X)
    assert len(CALLS) == 40
    assert search.rung_history_[0]["n_candidates"] >= 8


@pytest.mark.parametrize("name", ["range", *slow("budget", "double", "hyperband", "sets")])
@settings(max_examples=30)
@given(at=st.integers(0, 300))
def test_interrupted_it_has_completed_results(name, at):
    reference = whole(name)
    CALLS.clear()
    search = search_of(name, Stopped().set_params())
    Stopped.at = at
    try:
        search.fit(X)
    except KeyboardInterrupt as interrupt:
        (note,) = interrupt.__notes__
        assert "resume(X, y)" in note
        assert len(CALLS) == at
        assert search.interrupted_
        if hasattr(search, "cv_results_"):
            check_part(search, reference)
    else:
        assert numbers(search) == numbers(reference)
    finally:
        Stopped.at = float("inf")


@pytest.mark.slow
def test_an_incomplete_run_of_budget_doubling_does_not_select_the_best_candidate():
    """Its rungs may have a better score at as much resource as the last whole halving."""
    n_better = 0
    for seed in range(40):
        reference = search_of("double", random_state=seed).fit(X)
        # The second halving but for its last rung: rungs stand at 1, 2, 4, 8 and 2, 4, 8, 16.
        units = 2 * reference.rung_history_[6]["total_cost"]
        CALLS.clear()
        search = search_of("double", random_state=seed, max_time=units)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(X)
        check_part(search, reference)
        assert search.n_resources_ == [1, 2, 4, 8, 2, 4, 8]
        assert search.best_score_ == max(search.rung_history_[3]["scores"])
        is_better = max(search.rung_history_[6]["scores"]) > search.best_score_
        assert sum("interrupted in run 1" in str(one.message) for one in caught) == is_better
        n_better += is_better
    assert n_better > 0


def test_interrupted_where_all_that_is_finished_failed():
    grid = [{"limit": [0.5], "fails": ["fit"]}, {"limit": [0.1, 0.2, 0.3]}]
    search = search_of("range", Stopped(), space=grid, n_candidates="auto", min_resources=4)
    with pytest.warns(FitFailedWarning):
        expected = numbers(search.fit(X))
    CALLS.clear()
    with ctrl_c(at=6):  # the second candidate has had its four on the first fold
        search.fit(X)
    assert search.interrupted_
    assert search.all_cv_results_["candidate"].tolist() == [0]
    with pytest.warns(FitFailedWarning):
        search.resume(X)
    assert numbers(search) == expected


@pytest.mark.parametrize("method", ["fit", "extend", "audit"])
@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (base.BaseHalvingSearch, "_replace_fitted"),
        (base, "autologged"),
        (base.CompletedSearch, "of"),
    ],
    ids=["first", "early", "last"],
)
def test_ctrl_c_loses_nothing_at_any_time(monkeypatch, method, owner, name):
    """Also before the first fit, and when all is done but for what later calls need."""
    arguments = {"fit": {}, "extend": {"param_distributions": {"limit": [0.5]}}, "audit": {}}

    def run(search):
        return getattr(search, method)(X, **arguments[method])

    def new():
        search = search_of("range", refit=True)
        return search if method == "fit" else search.fit(X)

    expected, search = numbers(run(new())), new()
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupting)
        with pytest.raises(KeyboardInterrupt):
            run(search)
    assert numbers(search.resume(X)) == expected
    assert numbers(search.audit(X)) == numbers(run(new()).audit(X))


def interrupting(first, *args, **kwargs):
    """Ctrl-C, in a method of a search after it has deleted a part of the attributes."""
    if isinstance(first, base.BaseHalvingSearch):
        vars(first).pop("all_cv_results_", None)
    raise KeyboardInterrupt


def test_after_an_interrupt_all_completed_candidates_are_in_the_results():
    """The two folds take turns, so that all but one of the 19 jobs make whole candidates."""
    search = search_of("range", Stopped(), min_resources=1.0, max_resources=1)
    with ctrl_c(at=19):
        search.fit(X)
    rows = sorted(search.all_cv_results_["candidate"].tolist())
    assert rows == list(range(9))


def test_without_a_whole_rung_the_best_so_far_wins_and_is_refitted():
    search = search_of("range", refit=True, max_time=20, min_resources=1.0, max_resources=2)
    search.fit(X)
    assert search.interrupted_
    assert search.n_candidates_[0] < 12
    assert search.best_score_ == max(search.rung_history_[0]["scores"])
    assert search.best_estimator_.units_ == 2


def two_metrics(model, X, y=None):
    return {"a": model.score(X), "b": 0.0}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize(
    "params",
    [
        # All candidates of one bracket fail.
        {"space": SPACE | {"fails": ["fit", False]}, "random_state": 5},
        # Metrics are known once something has been scored, and refit names none of them.
        {"scoring": two_metrics, "refit": True},
        {"refit": lambda results: 1 / 0, "promote_by": "score"},
    ],
    ids=["bracket", "metrics", "refit"],
)
def test_an_interrupt_is_never_replaced_by_an_error(params):
    """Whenever it comes; an error while recording what is completed becomes its context."""
    search = search_of("hyperband", Stopped(), **params)
    with suppress(ValueError, ZeroDivisionError):
        search.fit(X)
    n_calls = len(CALLS)
    contexts = []
    for at in range(n_calls):
        CALLS.clear()
        with ctrl_c(at) as caught:
            search.fit(X)
        contexts.append(caught.value.__context__)
        assert search.interrupted_
    assert any(contexts) or "refit" not in params


def test_time_left_over_changes_nothing():
    assert numbers(search_of("double", max_time=1e6).fit(X)) == numbers(whole("double"))


class NoScoreAtFirst(Curve):
    def score(self, X, y=None):
        return np.nan if self.units_ == 1 else super().score(X, y)


@pytest.mark.filterwarnings("ignore:.*non-finite")
@pytest.mark.parametrize("aggregation", ["mean", "best"])
def test_a_run_without_scores_does_not_end_later_ones(aggregation):
    search = search_of("double", NoScoreAtFirst(), score_aggregation=aggregation).fit(X)
    assert search.best_n_resources_ == whole("double").best_n_resources_


@pytest.mark.parametrize("max_time", [0, -1, "1h", True, float("nan")])
@pytest.mark.parametrize("name", ["range", "hyperband"])
def test_no_time_at_all(name, max_time):
    with pytest.raises(ValueError, match=r"max_time=.* must be a number of seconds above 0, or No"):
        search_of(name, max_time=max_time).fit(X)


def test_hyperband_stops_after_sets_that_are_no_better():
    space = {"limit": [0.5], "speed": [1.0]}
    with pytest.warns(UserWarning, match="different candidate"):
        search = search_of("sets", space=space, n_repeats=5).fit(X)
    # The first set, and two that are no better.
    assert set(search.all_cv_results_["bracket"]) == set(range(3 * 3))
    assert not search.interrupted_
    assert [row["bracket"] for row in search.rung_history_[:6]] == [0, 0, 1, 0, 1, 2]


def test_hyperbands_patience_ends_where_the_scores_say():
    search = search_of("sets", n_repeats=8, patience=1, random_state=3).fit(X)
    results = search.all_cv_results_
    at_full = results["n_resources"] == 9
    n_sets = results["bracket"].max() // 3 + 1
    best = [
        results["mean_test_score"][at_full & (results["bracket"] // 3 == k)].max()
        for k in range(n_sets)
    ]
    improved = [b > max(best[:k], default=-1) for k, b in enumerate(best)]
    assert improved == [True] * (n_sets - 1) + [False]
    assert 1 < n_sets < 8


class FailsAtTheEnd(Curve):
    """Has no score at full resource if its limit is one of the highest."""

    def score(self, X, y=None):
        return np.nan if self.units_ == 9 and self.limit > 0.9 else super().score(X, y)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_bracket_that_fails_costs_no_patience():
    stopped_early = 0
    for seed in range(8):
        params = {"n_repeats": 4, "patience": 1, "random_state": seed}
        search = search_of("sets", FailsAtTheEnd(), **params).fit(X)
        results = search.all_cv_results_
        scores = np.where(results["n_resources"] == 9, results["mean_test_score"], np.nan)
        n_sets = results["bracket"].max() // 3 + 1
        best = [np.fmax.reduce(scores[results["bracket"] // 3 == k]) for k in range(n_sets)]
        improved = [b > np.fmax.reduce([-1, *best[:k]]) for k, b in enumerate(best)]
        assert all(improved[:-1])
        assert n_sets == 4 or not improved[-1]
        stopped_early += n_sets < 4
    assert 0 < stopped_early < 8


def test_hyperband_without_patience_runs_all_sets_together():
    one_by_one = search_of("sets").fit(X)
    together = search_of("sets", patience=None).fit(X)
    # The widest bracket of each set comes first.
    assert [row["bracket"] for row in together.rung_history_[:4]] == [0, 3, 6, 0]
    assert [row["bracket"] for row in one_by_one.rung_history_[:4]] == [0, 0, 1, 0]
    assert together.best_score_ == one_by_one.best_score_


@pytest.mark.parametrize("memory", ["best", "mean"])
def test_candidates_are_promoted_by_the_aggregate_of_their_scores(memory):
    """Every rung's survivors, by an oracle over the scores seen so far."""
    search = search_of("range", Swinging(), score_aggregation=memory, n_candidates=30).fit(X)
    fold = {"best": np.max, "mean": np.mean}[memory]
    seen = {c: [] for c in range(30)}
    differs = False
    for row, following in zip(search.rung_history_, search.rung_history_[1:], strict=False):
        for c, score in zip(row["candidates"], row["scores"], strict=True):
            seen[c].append(score)
        n = following["n_candidates"]
        by_memory = sorted(row["candidates"], key=lambda c: (-fold(seen[c]), c))[:n]
        by_last = sorted(row["candidates"], key=lambda c: (-seen[c][-1], c))[:n]
        assert row["promoted"] == following["candidates"] == sorted(by_memory)
        differs |= set(by_memory) != set(by_last)
    assert differs


@pytest.mark.parametrize("memory", ["best", "mean"])
def test_the_best_candidate_has_the_highest_score_of_the_last_rung(memory):
    for seed in range(20):
        search = search_of("range", Swinging(), score_aggregation=memory, random_state=seed).fit(X)
        last = search.rung_history_[-1]
        assert last["promoted"] == [last["candidates"][np.argmax(last["scores"])]]
        assert last["promoted"] == [search.best_candidate_]
        assert search.best_score_ == max(last["scores"])


@pytest.mark.parametrize("seed", range(10))
def test_the_mean_over_runs_counts_each_resource_once(seed):
    search = search_of("double", Swinging(), score_aggregation="mean", random_state=seed).fit(X)
    seen = {}
    ends = {bracket.n_resources[-1] for bracket in search.schedule_.brackets}
    for row, following in zip(search.rung_history_, search.rung_history_[1:], strict=False):
        for c, score in zip(row["candidates"], row["scores"], strict=True):
            seen[c, row["n_resources"]] = score
        if following["n_resources"] > row["n_resources"]:
            means = {
                c: np.mean([s for (d, r), s in seen.items() if d == c and r <= row["n_resources"]])
                for c in row["candidates"]
            }
            best = sorted(means, key=lambda c: (-means[c], c))[: following["n_candidates"]]
            assert following["candidates"] == sorted(best)
    assert len(ends) > 2


def test_a_candidate_that_fails_now_is_not_promoted_for_what_it_was():
    space = {"limit": [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]}
    search = search_of(
        "range",
        FailsLater(),
        space=space,
        n_candidates=8,
        max_resources=16,
        score_aggregation="best",
    )
    with pytest.warns(FitFailedWarning, match="fits failed out of a total of"):
        search.fit(X)
    assert search.n_resources_ == [4, 8, 16]
    assert [row["promoted"] for row in search.rung_history_] == [[0, 1, 2, 3], [1, 2], [1]]


@pytest.mark.parametrize("name", ["range", "hyperband"])
def test_an_unknown_score_aggregation_raises(name):
    with pytest.raises(
        ValueError, match='score_aggregation=\'worst\' must be "last", "best" or "mean"'
    ):
        search_of(name, score_aggregation="worst").fit(X)


@pytest.mark.parametrize("name", ["range", *slow("budget", "double", "hyperband", "sets")])
@settings(max_examples=30)
@given(at=st.integers(0, 300), checkpointed=st.booleans())
def test_resumed_it_ends_as_if_not_interrupted(tmp_path_factory, name, at, checkpointed):
    reference = whole(name)
    n_calls = 2 * reference.rung_history_[-1]["total_cost"]
    CALLS.clear()
    checkpoint = tmp_path_factory.mktemp("of") / "a search" if checkpointed else None
    search = search_of(name, Stopped(), checkpoint=checkpoint)
    Stopped.at = at
    try:
        search.fit(X)
    except KeyboardInterrupt:
        Stopped.at = float("inf")
        assert search.resume(X) is search
    finally:
        Stopped.at = float("inf")
    assert numbers(search) == numbers(reference)
    # Nothing finished is done again: what was broken off, at most from its beginning.
    longest = reference.schedule_.rungs if checkpointed else reference.schedule_.n_resources
    again = max(rung.step for rung in longest) if checkpointed else max(longest)
    assert n_calls <= len(CALLS) <= n_calls + again


@pytest.mark.filterwarnings("ignore:The search was interrupted in bracket")
@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_that_gets_a_little_time_again_and_again_ends_the_same(name):
    CALLS.clear()
    search = search_of(name, max_time=11).fit(X)
    n_parts = 1
    while search.interrupted_:
        search.resume(X)
        n_parts += 1
    assert n_parts > 2
    assert numbers(search) == numbers(whole(name))
    assert len(CALLS) == 2 * search.rung_history_[-1]["total_cost"]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_best_candidate_of_an_incomplete_first_rung_is_a_warning(name):
    search = search_of(name, max_time=TOO_SHORT[name] + 3)
    with pytest.warns(UserWarning, match="ended in the first rung") as caught:
        search.fit(X)
    ((_, n_candidates),) = [(row["iter"], row["n_candidates"]) for row in search.rung_history_]
    n_all = search.schedule_.n_candidates[0]
    assert 0 < n_candidates < n_all
    (message,) = [str(warning.message) for warning in caught]
    assert message.startswith(
        f"max_time={TOO_SHORT[name] + 3} seconds ended in the first rung, when {n_candidates} of "
        f"{n_all} candidates were completed: the best candidate is selected from these only."
    )
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("resource", "algorithm", "n_first", "lower"),
    [
        (SampleCount(), SuccessiveHalving(), 100, ", lower min_resources"),
        (PartialFit(), SuccessiveHalving(), 2, ", lower min_resources"),
        (PartialFit(), SuccessiveHalving(), 1, ""),
        (SampleCount(), FixedBudget(100), 100, ""),
        (FoldCount(), SuccessiveHalving(), 2, ""),
    ],
)
def test_what_sets_a_first_rung_that_takes_too_long_is_named(resource, algorithm, n_first, lower):
    schedule = Schedule.from_rungs([8, 4], [n_first, 200])
    spec = SimpleNamespace(algorithm=algorithm, resource=resource, schedule=schedule)
    remedy = f"Raise max_time{lower}, or call resume"
    assert how_to_complete_first_rung(spec) == remedy
    assert f"{remedy} to continue the search." in nothing_scored(spec, 6.0, start_seconds=2.0)
    slow_start = nothing_scored(spec, 6.0, start_seconds=4.0)
    assert "since the worker processes took 4.0 s to start" in slow_start
    assert "min_resources" not in slow_start


@pytest.mark.parametrize(
    ("name", "params"),
    [("range", {}), ("budget", {}), ("double", {}), ("double", {"min_resources": 2})],
)
@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_what_is_recommended_after_a_short_time_is_possible(name, params):
    search = search_of(name, **params)
    n_first = search.plan(X).n_resources[0]
    with pytest.raises(TimeoutError, match=r"Raise max_time, .*or call resume") as error:
        search.set_params(max_time=TOO_SHORT[name]).fit(X)
    CALLS.clear()
    search = search_of(name, max_time=TOO_SHORT[name] + 3 * n_first, **params)
    with pytest.warns(UserWarning, match=r"Raise max_time.* or call resume") as warning:
        search.fit(X)
    for message in (str(error.value), str(warning[0].message)):
        assert ("lower min_resources" in message) == (n_first > 1 and name != "budget")


def test_time_that_ends_after_the_first_rung_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = search_of("range", max_time=60).fit(X)
    assert search.interrupted_
    assert search.n_candidates_ == [12, 3]


def test_a_search_that_is_stopped_without_scores_selects_no_candidate():
    search = search_of("hyperband", scoring=lambda *args: np.nan, max_time=40, refit=True)
    with pytest.raises(TimeoutError, match="before a completed candidate had a score"):
        search.fit(X)
    assert len(CALLS) >= 40
    assert not hasattr(search, "best_params_")
    # The bracket with a single rung is at full resource, as a grid search.
    with pytest.warns(UserWarning, match="non-finite"):
        search.set_params(max_time=None).resume(X)
    assert np.isnan(search.best_score_)


def test_time_that_was_too_short_for_anything_can_be_resumed():
    search = search_of("range", max_time=1)
    with pytest.raises(TimeoutError, match="or call resume to continue"):
        search.fit(X)
    assert not hasattr(search, "cv_results_")
    with pytest.raises(ValueError, match=r"max_time is a parameter of the search. Call set_p"):
        search.resume(X, max_time=60)
    message = (
        r"max_time and n_jobs are parameters of the search. Call set_params\(max_time=..., n_jobs="
    )
    with pytest.raises(ValueError, match=message):
        search.resume(X, max_time=60, n_jobs=2)
    with pytest.raises(ValueError, match=r"To change cv, call set_params, and fit to start a new"):
        search.resume(X, max_time=60, cv=3)  # with set_params alone, there is another error
    search.set_params(max_time=None).resume(X)
    assert numbers(search) == numbers(whole("range"))


@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1"]])
def test_without_a_refit_the_error_recommends_best_params_if_there_are_any(scoring):
    samples = make_classification(60, random_state=0)
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(), {"C": [0.1, 1]}, scoring=scoring, refit=False
    ).fit(*samples)
    search.set_params(refit=True)
    with pytest.raises(NotFittedError, match=r"fitted without a refit\. Call fit") as error:
        search.predict(samples[0])
    assert ("best_params_" in str(error.value)) == hasattr(search, "best_params_")


def test_interrupted_in_the_refit_only_that_is_resumed():
    search = search_of("range", Stopped(), refit=True)
    at = 2 * whole("range").rung_history_[-1]["total_cost"] + 5
    CALLS.clear()
    with ctrl_c(at):
        search.fit(X)
    assert search.interrupted_
    assert not hasattr(search, "best_estimator_")
    for method in (search.predict, search.score, search.partial_fit):
        with pytest.raises(NotFittedError, match="interrupted before the best candidate was refit"):
            method(X)
    assert "<p>The search was interrupted.</p>" in search._repr_html_()
    CALLS.clear()
    search.resume(X)
    assert len(CALLS) == search.best_estimator_.units_ == 20
    assert not search.interrupted_
    assert "The search was interrupted." not in search._repr_html_()


def test_after_a_resume_that_was_interrupted_nothing_of_the_first_fit_is_left():
    search = search_of("range", Stopped(), refit=True, max_time=30).fit(X)
    assert hasattr(search, "best_estimator_")
    with ctrl_c(at=len(CALLS) + 10):
        search.resume(X)
    assert not hasattr(search, "best_estimator_")
    assert search.interrupted_


def test_an_error_can_be_resumed_once_its_cause_is_gone():
    broken = []

    class Fragile(Curve):
        def partial_fit(self, X, y=None):
            if len(CALLS) == 40 and not broken:
                broken.append(1)
                raise OSError("the network is away")
            return super().partial_fit(X, y)

    search = search_of("range", Fragile(), error_score="raise")
    with pytest.raises(OSError, match="the network is away"):
        search.fit(X)
    assert numbers(search.resume(X)) == numbers(whole("range"))


def test_there_must_be_something_to_resume():
    about = "no fit of this Succ.* was interrupted in this process, or it has been completed since"
    for search in (search_of("range"), search_of("range").fit(X)):
        with pytest.raises(ValueError, match=f"There is nothing to resume: {about}"):
            search.resume(X)


@pytest.fixture
def stopped():
    return search_of("range", max_time=30, cv=iter(list(KFold(2).split(X)))).fit(X)


def test_parameters_of_the_estimator_may_not_change(stopped):
    with pytest.raises(ValueError, match="the data of fit, but estimator__growth changed since"):
        stopped.set_params(estimator__growth=1).resume(X)


MAY_CHANGE = {
    "n_jobs": 2, "pre_dispatch": 3, "verbose": 1, "max_time": 1e6, "fit_timeout": 1e6,
    "model_memory": None,
}  # fmt: skip
MAY_NOT_CHANGE = {
    "estimator": Curve(growth=1), "param_distributions": {"limit": uniform(0, 1)},
    "param_grid": {"limit": [0.1]}, "n_candidates": 13, "n_iter": 12, "sampler": "sobol",
    "initial_candidates": [{"limit": 0.5}], "keep_initial": True, "factor": 2.5,
    "resource": "n_samples", "min_resources": 1, "max_resources": 40, "min_folds": 2,
    "budget": 150, "algorithm": FixedSchedule([12, 1], [1, 20]), "n_repeats": 5, "patience": 3,
    "tol": 0.1, "stop": "stable", "target_score": 0.9, "checkpoint": "a", "keep_eliminated": True,
    "audit_eliminated": 2, "score_aggregation": "best", "promote_by": "score", "batch_size": 2,
    "scoring": "r2", "refit": "score", "cv": 3, "random_state": 1, "error_score": 0.0,
    "return_train_score": True,
}  # fmt: skip


def test_all_parameters_are_known_to_change_or_not():
    names = {name for kind in ("range", "sets") for name in search_of(kind).get_params(deep=False)}
    assert names == {*MAY_CHANGE, *MAY_NOT_CHANGE}
    text = (ROOT / "docs" / "guide" / "stopping_and_resuming.md").read_text()
    listed = re.search(r"(`\w+`(, | and )){5}`\w+` may be changed", text)
    assert {*re.findall(r"`(\w+)`", listed[0])} == {*MAY_CHANGE}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in ("range", "sets")
        for name in MAY_NOT_CHANGE
        if name in search_of(kind).get_params(deep=False)
    ],
)
def test_a_parameter_on_which_results_depend_may_not_change(kind, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search = search_of(kind, max_time=30, cv=KFold(2)).fit(X)
    search.set_params(**{name: MAY_NOT_CHANGE[name]})
    with pytest.raises(ValueError, match=rf"the data of fit, but (.*, )?{name}\b.* changed since"):
        search.resume(X)


@pytest.mark.parametrize("kind", ["range", "sets"])
@pytest.mark.parametrize("name", sorted({*MAY_CHANGE} - {"n_jobs", "fit_timeout"}))
def test_a_parameter_on_which_no_result_depends_may_change(kind, name):
    search = search_of(kind, max_time=30, cv=KFold(2)).fit(X)
    search.set_params(**{"max_time": None, name: MAY_CHANGE[name]}).resume(X.copy())
    assert numbers(search) == numbers(whole(kind))


@pytest.mark.parametrize(
    ("before", "after", "may_change"),
    [("a", "b", False), ("a", False, False), (False, "a", False), (False, True, True)],
)
def test_refit_may_change_unless_it_is_the_name_of_a_metric(before, after, may_change):
    scoring = None if after is True else lambda model, X: {"a": model.score(X), "b": 1}
    search = search_of("range", max_time=30, cv=KFold(2), refit=before, scoring=scoring).fit(X)
    search.set_params(max_time=None, refit=after)
    if may_change:
        assert hasattr(search.resume(X), "best_estimator_")
        return
    with pytest.raises(ValueError, match="the data of fit, but refit changed since"):
        search.resume(X)


@pytest.mark.slow
def test_workers_and_a_timeout_may_be_set_before_resume():
    search = search_of("range", max_time=30, cv=KFold(2)).fit(X)
    search.set_params(max_time=None, n_jobs=2, fit_timeout=60).resume(X)
    assert numbers(search) == numbers(whole("range"))


def test_resume_compares_all_of_y_and_the_ends_of_x():
    many, y = np.zeros((3_000, 1)), np.zeros(3_000)
    search = search_of("range", max_time=30).fit(many, y)
    for values, sample, name in ((y, 7, "y"), (many, 0, "X"), (many, -1, "X")):
        values[sample] = 1
        with pytest.raises(ValueError, match=f"fit, but {name} changed since"):
            search.resume(many, y)
        values[sample] = 0


@pytest.mark.parametrize("data", [(X + 1,), (X[:-1],), (X, np.arange(12))], ids=["X", "rows", "y"])
def test_data_may_not_change(stopped, data):
    with pytest.raises(ValueError, match=r"fit, but (X|y)( \(.*\))? changed since\. Restore"):
        stopped.resume(*data)


def test_data_changed_in_place_are_noticed():
    own = X.copy()
    search = search_of("range", max_time=30).fit(own)
    own += 1
    with pytest.raises(ValueError, match="X changed since"):
        search.resume(own)
    own -= 1
    assert numbers(search.set_params(max_time=None).resume(own)) == numbers(whole("range"))


@pytest.mark.parametrize("seed", [3, np.random.RandomState(3)])
def test_parameters_changed_in_place_are_noticed(seed):
    space = {"limit": [0.1, 0.4, 0.3], "speed": [1.0, 9.0]}
    splits = list(KFold(2).split(X))
    search = SuccessiveHalvingSearchCV(
        Pipeline([("curve", Stopped())]), {f"curve__{name}": space[name] for name in space},
        resource="partial_fit", max_resources=20, cv=splits, refit=False, random_state=seed,
    )  # fmt: skip
    with ctrl_c(at=15):
        search.fit(X)
    space["limit"].append(0.9)
    with pytest.raises(ValueError, match="param_distributions changed since"):
        search.resume(X)
    space["limit"].pop()
    splits.reverse()
    with pytest.raises(ValueError, match="cv changed since"):
        search.resume(X)
    splits.reverse()
    step, search.estimator.steps[0] = search.estimator.steps[0], ("curve", Recorder())
    with pytest.raises(ValueError, match="estimator__curve"):
        search.resume(X)
    search.estimator.steps[0] = step
    # The state of a random number generator is not a parameter.
    if seed != 3:
        seed.rand()
    assert not search.resume(X).interrupted_


def test_equal_data_in_another_memory_layout_are_the_same_data():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": range(12), "b": np.linspace(0, 1, 12), "c": pd.Categorical(list("xyz") * 4)}
    )
    by_column = pd.DataFrame(index=frame.index)
    for name in ("a", "b", "c"):
        by_column[name] = frame[name].copy()
    table = np.arange(48.0).reshape(12, 4)
    column = table[:, 1]
    for one, two in (
        ((frame,), (by_column,)),
        ((X, column), (X, column.copy())),
        ((X, pd.Series(column)), (X, pd.Series(column.copy()))),
        ((table,), (np.asfortranarray(table),)),
    ):
        search = search_of("range", max_time=30).fit(*one)
        assert not search.set_params(max_time=None).resume(*two).interrupted_
    renamed, other = by_column.rename(columns={"a": "A"}), by_column.assign(b=0.0)
    for changed in (renamed, other, by_column.astype({"c": object}), by_column[["b", "a", "c"]]):
        search = search_of("range", max_time=30).fit(frame)
        with pytest.raises(ValueError, match="X changed since"):
            search.resume(changed)


def test_attributes_of_a_sampler_that_are_changed_in_place_are_noticed():
    sampler = ModelSampler(n_initial=4, wave_size=4)
    search = search_of("range", Stopped(), sampler=sampler)
    with ctrl_c(at=15):
        search.fit(X)
    sampler.wave_size = 8
    with pytest.raises(ValueError, match="sampler changed since"):
        search.resume(X)
    sampler.wave_size = 4
    assert not search.resume(X).interrupted_


def test_after_the_error_of_a_callable_refit_another_one_can_be_set():
    def wrong(results):
        raise KeyError("no such column")

    search = search_of("range", refit=wrong, promote_by="score")
    with pytest.raises(KeyError, match="no such column"):
        search.fit(X)
    n_calls = len(CALLS)
    search.set_params(refit=lambda results: int(np.argmax(results["mean_test_score"]))).resume(X)
    assert search.best_params_ == whole("range").best_params_
    assert len(CALLS) - n_calls == search.best_n_resources_  # the refit alone
    with pytest.raises(ValueError, match="There is nothing to resume"):
        search.resume(X)


def test_an_interrupted_search_does_not_wait_for_a_hash_of_its_data(monkeypatch):
    """A second Ctrl-C during it would lose what was completed."""
    n_hashed = []
    hashed = origin.data_fingerprint
    monkeypatch.setattr(
        origin, "data_fingerprint", lambda *data, **n: n_hashed.append(1) or hashed(*data, **n)
    )
    search = search_of("range", Stopped())
    with ctrl_c(at=15):
        search.fit(X)
    assert n_hashed == [1]  # at the beginning
    assert numbers(search.resume(X)) == numbers(whole("range"))


class WithCallbacks(Curve):
    def partial_fit(self, X, y=None, callbacks=()):
        for callback in callbacks:
            callback.n_calls += 1
        return super().partial_fit(X, y)


class CountsCalls:
    def __init__(self, n_calls=0):
        self.n_calls = n_calls


def test_the_state_of_callbacks_may_change():
    """Those of boosting libraries keep the best score, for example."""
    callbacks = [CountsCalls()]
    search = search_of("range", WithCallbacks(), max_time=30).fit(X, callbacks=callbacks)
    assert callbacks[0].n_calls > 0
    with pytest.raises(ValueError, match="fit parameter callbacks changed since"):
        search.resume(X, callbacks=[CountsCalls(7)])
    search.set_params(max_time=None).resume(X, callbacks=callbacks)
    assert numbers(search) == numbers(whole("range"))


def test_a_new_fit_does_not_keep_the_models_of_the_one_before():
    search = search_of("range", max_time=30).fit(X)
    before = [search._interrupted_search.store]

    class Looks(Curve):
        def partial_fit(self, X, y=None):
            assert "_completed_search" not in vars(search)
            assert search._interrupted_search.store is not before[-1]
            return super().partial_fit(X, y)

    for _ in range(2):
        search.set_params(estimator=Looks(), max_time=None, error_score="raise").fit(X)
        before.append(search._completed_search.store)


def test_a_new_checkpoint_is_not_called_other_data(tmp_path):
    many = np.arange(3_000.0).reshape(-1, 1)
    search = search_of("range", Stopped())
    with ctrl_c(at=15):
        search.fit(many)
    with pytest.raises(ValueError, match=r"of fit, but checkpoint \(from None to .*\) changed"):
        search.set_params(checkpoint=tmp_path / "new").resume(many)


@pytest.mark.parametrize(("then", "now"), [("a", None), (None, "a"), ("a", "b")])
def test_a_search_is_resumed_where_its_results_are(tmp_path, monkeypatch, then, now):
    """Results are not moved between memory and folders, nor are they silently trained again."""
    monkeypatch.chdir(tmp_path)
    search = search_of("range", max_time=30, checkpoint=then).fit(X)
    n_calls = len(CALLS)
    where, changed = (None if name is None else tmp_path / name for name in (then, now))
    named = re.escape(f"fit, but checkpoint (from {where} to {changed}) changed since. Res")
    with pytest.raises(ValueError, match=named):
        search.set_params(checkpoint=now).resume(X)
    assert len(CALLS) == n_calls
    assert {path.name for path in tmp_path.iterdir()} == {then} - {None}
    # The refusal costs nothing: set back, by whatever name of the folder, it resumes.
    search.set_params(checkpoint=where, max_time=None)
    assert numbers(search.resume(X)) == numbers(whole("range"))
    assert len(CALLS) == 2 * search.rung_history_[-1]["total_cost"]


def test_a_pickled_search_leaves_what_resume_needs_behind(stopped):
    copied = pickle.loads(pickle.dumps(stopped))
    assert numbers(copied) == numbers(stopped)
    with pytest.raises(ValueError, match="nothing to resume"):
        copied.resume(X)
    assert len(pickle.dumps(stopped)) < 2 * len(pickle.dumps(whole("range")))


class StoppedScaler(CountingScaler):
    """Is stopped as `Stopped` is."""

    def fit(self, X, y=None):
        if len(CALLS) >= Stopped.at:
            raise KeyboardInterrupt
        return super().fit(X, y)


def preprocessing_search(**params):
    pipeline = Pipeline([("prefix", StoppedScaler()), ("model", Curve())])
    return SuccessiveHalvingSearchCV(
        pipeline, {"prefix__tag": [*range(24)]}, resource="partial_fit", min_resources=4,
        max_resources=4, cv=KFold(3), refit=False, min_folds="all",
    ).set_params(**params)  # fmt: skip


def test_a_search_that_is_resumed_shows_all_its_rungs(capsys):
    search = search_of("range", Stopped(), min_folds="all", verbose=1)
    search.fit(X)
    n_calls, expected = len(CALLS), rung_lines(capsys.readouterr().out)
    assert len(expected) == len(search.rung_history_)
    CALLS.clear()
    with ctrl_c(at=n_calls - 1):
        search.fit(X)
    capsys.readouterr()
    search.resume(X)

    def without_time(lines):
        return [re.sub(r" +\d+\.\d s.*", "", line) for line in lines]

    assert without_time(rung_lines(capsys.readouterr().out)) == without_time(expected)


def test_ctrl_c_does_not_lose_all_of_the_searched_preprocessing():
    search = preprocessing_search()
    with ctrl_c(at=100):
        search.fit(np.zeros((12, 1)))
    assert len(search.all_cv_results_["params"]) >= 3
    search.resume(np.zeros((12, 1)))
    assert len(search.all_cv_results_["params"]) == 24
    assert sum(call[0] == "prefix fit" for call in CALLS) <= 3 * 24 + 3


@pytest.mark.parametrize(("n_jobs", "n_lost"), [(1, 3), (2, 12)])
@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_time_for_some_of_the_searched_preprocessing_is_enough_to_go_on(resource, n_jobs, n_lost):
    """A second for each fit and transform: 24 settings take 24 * 3 * 3 seconds before any score."""
    search = preprocessing_search(resource=resource, max_time=120, n_jobs=n_jobs)
    with joblib.parallel_config("threading"), pytest.warns(UserWarning, match="max_time"):
        search.fit(np.zeros((12, 1)))
    n_completed = len(search.all_cv_results_["params"])
    assert 3 <= n_completed < 24
    n_fits = sum(call[0] == "prefix fit" for call in CALLS)
    assert 3 * n_completed <= n_fits <= 3 * n_completed + n_lost
    with joblib.parallel_config("threading"):
        search.set_params(max_time=None).resume(np.zeros((12, 1)))
    assert len(search.all_cv_results_["params"]) == 24
    assert 3 * 24 <= sum(call[0] == "prefix fit" for call in CALLS) <= 3 * 24 + n_lost
