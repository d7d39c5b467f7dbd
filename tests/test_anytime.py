"""budget="anytime": brackets with new candidates, and none begun that would end late."""

import warnings
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from time import sleep
from typing import ClassVar

import numpy as np
import pytest
from conftest import slow
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import randint, uniform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from toys import CALLS, Curve, answered, numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine import engine, evaluation
from sklearn_sha._parallel import workers
from sklearn_sha._search import base, bracket_times
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha.bandit import Anytime, Bounds, SuccessiveHalving, check_algorithm, numbered
from sklearn_sha.candidates import History, ModelSampler, RandomSampler, Sampler
from sklearn_sha.inspection import trust_report
from sklearn_sha.resources.limits import WholeFit
from sklearn_sha.schedules import FoldGrowth, Schedule, sizes_with_kept

X = np.zeros((12, 1))
DIGITS = load_digits(return_X_y=True)
SPACE = {"limit": uniform(0, 1), "speed": uniform(0, 20)}

pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")

bounds = st.builds(
    Bounds,
    n_candidates=st.integers(1, 200),
    max_resources=st.integers(1, 300),
    min_resources=st.sampled_from([None, 1]),
    continues=st.booleans(),
    fold_growth=st.sampled_from([None, FoldGrowth(tuple(range(5)))]),
    n_kept=st.integers(0, 40),
)


def search_of(**params):
    params = {
        "budget": "anytime", "resource": "partial_fit", "n_candidates": 16, "max_resources": 20,
        "cv": KFold(2), "refit": False, "random_state": 0,
    } | params  # fmt: skip
    estimator = params.pop("estimator", Curve())
    return SuccessiveHalvingSearchCV(estimator, params.pop("space", SPACE), **params)


class Results:
    """Results that took 2 s for 100 units, without preprocessing."""

    seconds, n_units, preprocessing_seconds, cost = 2.0, 100, 0.0, 4e6


def totals_of(plan):
    """Numbers of candidates after each bracket."""
    return np.cumsum([bracket.n_candidates[0] for bracket in plan.brackets]).tolist()


def n_run(algorithm, plan, losses):
    """Number of brackets that are run if the best candidate of each has one of the losses."""
    rounds = algorithm.rounds(plan, numbered())
    next(rounds)
    for number, loss in enumerate(losses, start=1):
        try:
            rounds.send(loss)
        except StopIteration:
            return number
    raise AssertionError("more brackets than planned")


@settings(max_examples=100)
@given(bounds, st.sampled_from([2, 3, 1.5, 1.1]), st.booleans())
def test_brackets_have_the_rungs_of_a_search_over_16_candidates(bounds, factor, adds_folds):
    """Later ones have those of a search over folds, if models are refit from scratch."""
    plan = Anytime(factor, adds_folds=adds_folds).plan(bounds)
    n, n_kept = bounds.n_candidates, bounds.n_kept
    n_planned = min(n, max(16, n_kept + 1))
    of_16 = SuccessiveHalving(factor).plan(replace(bounds, n_candidates=n_planned, n_kept=0))
    early = [(rung.n_candidates, rung.n_resources, rung.folds) for rung in of_16.rungs]
    on_folds = SuccessiveHalving(factor).plan(Bounds(n_planned, max_resources=5))
    is_automatic = bounds.fold_growth is not None and bounds.min_resources is None
    adds_folds &= is_automatic and not bounds.continues and len(on_folds.rungs) > 2
    adds_folds &= len(of_16.rungs) > 1
    later = [
        (rung.n_candidates, bounds.max_resources, tuple(range(rung.n_resources)))
        for rung in on_folds.rungs
    ]
    totals = totals_of(plan)
    for number, (bracket, n_before) in enumerate(zip(plan.brackets, [0, *totals], strict=False)):
        sizes, *levels = zip(
            *(later if adds_folds and n_before >= n_planned else early), strict=True
        )
        assert [(rung.n_resources, rung.folds) for rung in bracket.rungs] == [
            *zip(*levels, strict=True)
        ]
        size = bracket.n_candidates[0]
        expected = [size, *(-(-k * size // n_planned) for k in sizes[1:])]
        assert bracket.n_candidates == sizes_with_kept(expected, n_kept * (not number))
    n_first = sum(n_before < n_planned for n_before in [0, *totals[:-1]])
    note = (
        f"From bracket {n_first} on, all models have the full resource, and rungs add folds only."
    )
    assert (note in plan.notes) == (adds_folds and n_first < len(totals))
    assert all(after - before >= 8 for before, after in pairwise(totals))
    assert totals[-1] == 8 * n
    assert totals[0] > n_kept or len(totals) == 1
    if n >= 16 and n_kept < 8:
        assert totals[:2] == [8, 16]
        for before, after in pairwise(totals[1:-1]):
            multiple, rest = divmod(after - before, 16)
            assert not rest
            assert multiple == max(1, before // 64)
    assert not plan.repeats


class CountedTree(DecisionTreeClassifier):
    """Counts its fits by their number of samples."""

    fits: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None, check_input=True):
        self.fits.append(len(y))
        return super().fit(X, y, sample_weight, check_input)


def test_later_brackets_fit_each_fold_once_on_all_of_its_samples():
    X, y = DIGITS
    search = SuccessiveHalvingSearchCV(
        CountedTree(random_state=0),
        {"ccp_alpha": uniform(0, 0.02), "max_features": uniform(0.1, 0.9)},
        sampler="model",
        budget="anytime",
        n_candidates=16,
        cv=KFold(5),
        refit=False,
    )
    CountedTree.fits.clear()
    plan = search.fit(X, y).schedule_
    first, second, third, *_ = plan.brackets
    assert first.n_resources == second.n_resources == [400, 1438, 1438]
    assert third.n_resources == [1438, 1438, 1438]
    later = plan.brackets[2:]
    assert [bracket.n_candidates for bracket in later] == [[16, 8, 4]] * len(later)
    n_early = 2 * (4 * 2 + 2 * 3)  # on all samples of a fold, after 8 on 400
    assert Counter(n > 400 for n in CountedTree.fits) == {
        False: 2 * 8,
        True: n_early + len(later) * (16 + 8 + 4 * 3),
    }
    results = search.all_cv_results_
    for row in np.flatnonzero((results["bracket"] == 2) & (results["iter"] == 2)):
        expected = cross_val_score(
            DecisionTreeClassifier(random_state=0, **results["params"][row]), X, y, cv=KFold(5)
        )
        found = [results[f"split{fold}_test_score"][row] for fold in range(5)]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "params",
    [
        {"sampler": "sobol"},
        {"cv": 3},
        {"min_resources": 400},
        {"min_folds": "all"},
        {"resource": "folds"},
        {"estimator": RandomForestClassifier(n_estimators=20)},
    ],
)
def test_brackets_are_alike_with(params):
    """Candidates that are not proposed, few folds, rungs that are set, and continued training."""
    default = {
        "estimator": DecisionTreeClassifier(), "sampler": "model", "budget": "anytime",
        "param_distributions": {"ccp_alpha": uniform(0, 0.02)},
    }  # fmt: skip
    brackets = SuccessiveHalvingSearchCV(**default | params).plan(*DIGITS).brackets
    levels = [[(rung.n_resources, rung.folds) for rung in bracket.rungs] for bracket in brackets]
    assert levels == [levels[0]] * len(levels)


@pytest.mark.parametrize(
    ("bounds", "sizes"),
    [
        (Bounds(64, 9), [8, 8, *7 * [16], 32, 32, 48, 48, 64, 80, 80]),
        (Bounds(64, 9, max_candidates=130), [8, 8, *6 * [16], 18]),
        (Bounds(64, 9, n_kept=30), [*5 * [31], 31, 31, 31, 62, 62, 93, 47]),
        (Bounds(16, 9, n_kept=8), 8 * [16]),
        (Bounds(10, 9), 8 * [10]),
        (Bounds(5, 9), 4 * [10]),
        (Bounds(5, 9, max_candidates=5), [5]),
    ],
)
def test_numbers_of_candidates(bounds, sizes):
    assert [bracket.n_candidates[0] for bracket in Anytime().plan(bounds).brackets] == sizes


@settings(max_examples=50)
@given(bounds, st.integers(0, 10_000))
def test_each_bracket_has_new_candidates_and_selects_one_of_them(bounds, seed):
    rng = np.random.default_rng(seed)
    algorithm = Anytime()
    plan, n_before = algorithm.plan(bounds), 0
    rounds, totals = algorithm.rounds(plan, numbered()), totals_of(plan)
    (run,) = next(rounds)
    for total in totals:
        requests, best = answered(run, lambda candidate, request: rng.random())
        ids = {one for request in requests for one in request.candidate_ids}
        assert ids == {*range(n_before, total)}
        assert best in requests[-1].candidate_ids
        n_before = total
        if total < totals[-1]:
            (run,) = rounds.send(rng.random())


@settings(max_examples=100)
@given(bounds, st.integers(1, 3), st.one_of(st.none(), st.integers(0, 300)))
def test_patience_ends_no_search_before_there_are_n_candidates(bounds, patience, n_others):
    """The first candidate is the best of all."""
    if n_others is not None:
        most = max(bounds.n_candidates, bounds.n_kept) + n_others
        bounds = replace(bounds, max_candidates=most)
    algorithm = Anytime(patience=patience)
    plan = algorithm.plan(bounds)
    n_made = n_run(algorithm, plan, [float(k) for k in range(len(plan.brackets))])
    totals = totals_of(plan)
    enough = max(bounds.n_candidates, totals[0] * 2**patience)
    assert n_made == 1 + sum(total < enough for total in totals[:-1])


@given(st.data(), st.sampled_from([2, 3, 1.5]), st.integers(1, 3), st.sampled_from([0.0, 0.1]))
def test_patience_counts_how_often_the_number_of_candidates_doubles(data, factor, patience, tol):
    algorithm = Anytime(factor, patience=patience, tol=tol)
    plan = algorithm.plan(Bounds(16, 80))
    totals = totals_of(plan)
    loss = st.sampled_from([0.5, 0.45, 0.3, float("nan")])
    losses = data.draw(st.lists(loss, min_size=len(totals), max_size=len(totals)))
    lowest, at_best, expected = np.inf, totals[0], len(totals)
    for number, (total, loss) in enumerate(zip(totals, losses, strict=True), start=1):
        if loss < lowest - tol:
            lowest, at_best = loss, total
        elif total >= max(16, at_best * 2**patience):
            expected = number
            break
    assert n_run(algorithm, plan, losses) == expected


@settings(max_examples=100)
@given(bounds, st.integers(0, 600), st.sampled_from([2, 3, 1.5, 1.1]))
def test_there_are_no_more_candidates_than_possible(bounds, n_others, factor):
    max_candidates = max(bounds.n_candidates, bounds.n_kept) + n_others
    capped = totals_of(Anytime(factor).plan(replace(bounds, max_candidates=max_candidates)))
    unlimited = totals_of(Anytime(factor).plan(bounds))
    assert capped[-1] == min(unlimited[-1], max_candidates)
    assert all(after - before >= 8 for before, after in pairwise(capped))
    assert capped[0] >= min(8, capped[-1])


@pytest.mark.slow
@pytest.mark.parametrize("max_candidates", [10, 13])
def test_it_fulfills_the_contract_if_there_are_few_candidates(max_candidates):
    check_algorithm(Anytime(), Bounds(10, 9, n_kept=2, max_candidates=max_candidates))


@pytest.mark.parametrize("sampler", ["random", "sobol", "model"])
def test_with_enough_time_all_candidates_of_a_grid_are_tried(sampler):
    grid = {"limit": [k / 20 for k in range(20)], "speed": [1, 2, 3]}
    search = search_of(space=grid, n_candidates="auto", min_resources=5, sampler=sampler)
    plan = search.plan(X)
    assert [bracket.n_candidates[0] for bracket in plan.brackets] == [8, 8, 16, 16, 12]
    search.fit(X)
    assert search.schedule_ == plan
    assert len(search.results_frame()) == 60
    assert not search.interrupted_
    grid_search = GridSearchCV(Curve(), grid, cv=KFold(2), refit=False).fit(X)
    assert search.best_params_["limit"] == grid_search.best_params_["limit"]


@pytest.mark.parametrize("n_candidates", ["auto", 60])
def test_each_bracket_of_a_grid_has_candidates_from_all_of_it(n_candidates):
    grid = {"limit": [k / 10 for k in range(1, 11)], "speed": [*range(1, 11)]}
    search = search_of(space=grid, n_candidates=n_candidates, random_state=1)
    results = search.fit(X).results_frame()
    assert len({*map(str, results["params"])}) == 100
    for _, bracket in results.groupby("bracket"):  # 8 to 32 of 100, 10 for each limit
        n_limits = bracket["param_limit"].nunique()
        assert n_limits >= min(len(bracket), 10) - 4
        assert bracket["param_speed"].nunique() >= min(len(bracket), 10) - 4


@pytest.mark.filterwarnings("ignore:n_candidates=16 is more than the (3|12) different")
@pytest.mark.parametrize("n_values", [3, 12, 20, 41])
def test_all_values_of_a_discrete_distribution_are_planned_and_tried(n_values):
    params = {"sampler": "model", "n_candidates": 16, "space": {"speed": randint(0, n_values)}}
    search = search_of(max_resources=20, **params)
    plan = search.plan(X)
    search.fit(X)
    assert search.schedule_ == plan
    assert len(search.results_frame()) == plan.n_different == n_values
    assert search.rung_history_[-1]["total_cost"] == plan.total_cost


@pytest.mark.parametrize(
    ("space", "n"),
    [
        ({"speed": randint(0, 5), "limit": [0.3, 0.5, 0.7]}, 15),
        ({"speed": randint(0, 5), "limit": uniform(0, 1)}, 128),
        ({"speed": randint(0, 5), "limit": uniform(0.5, 0)}, 5),
        ([{"speed": randint(0, 5)}, {"limit": [0.3, 0.5]}], 7),
        ([{"speed": randint(0, 5)}, {"limit": uniform(0, 1)}], 128),
        ({"speed": randint(0, 1000)}, 128),
        ({"limit": [0.3] * 20 + [0.5] * 20}, 2),
    ],
)
@pytest.mark.parametrize("initial", [[], [{"limit": 0.9}, {"speed": 99, "limit": 0.9}]])
def test_no_more_candidates_are_planned_than_there_are(space, n, initial):
    params = {"sampler": "model", "n_candidates": 16, "initial_candidates": initial}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_candidates=16 is more than")
        plan = search_of(space=space, **params).plan(X)
    assert plan.n_different == min(n + len(initial), 128)


def test_the_end_of_a_sampler_ends_it():
    class Five(Sampler):
        uses_history = True

        def propose(self, n, space, history, rng):
            n = min(n, 5 * (not history.candidates))
            return RandomSampler().propose(n, space, History(), rng) if n else []

    search = search_of(sampler=Five()).fit(X)
    assert len(search.results_frame()) == 5
    assert [row["n_resources"] for row in search.rung_history_] == search.n_resources_
    assert not search.interrupted_


@pytest.mark.parametrize("n_seeds", [2, *slow(20)])
@pytest.mark.parametrize("adds_folds", [False, True])
def test_it_fulfills_the_contract(adds_folds, n_seeds):
    check_algorithm(Anytime(adds_folds=adds_folds), Bounds(10, 9, n_kept=2), n_seeds)


def test_brackets_of_a_single_rung_fulfill_it():
    check_algorithm(Anytime(adds_folds=True), Bounds(10, max_resources=1), n_seeds=2)


def test_nothing_is_trained_twice():
    CALLS.clear()
    search = search_of().fit(X)
    results = search.all_cv_results_
    furthest = {}
    for number, n, folds in zip(
        results["candidate"], results["n_resources"], results["n_folds"], strict=True
    ):
        for fold in range(folds):
            furthest[number, fold] = max(n, furthest.get((number, fold), 0))
    assert len(CALLS) == sum(furthest.values()) == 2 * search.rung_history_[-1]["total_cost"]
    assert search.rung_history_[-1]["total_cost"] == search.schedule_.total_cost
    assert len({number for number, _ in furthest}) == 8 * 16
    assert not search.interrupted_


def test_its_first_candidates_are_those_of_the_search_without_a_budget():
    search = search_of().fit(X)
    plain = search_of(budget=None).fit(X)
    params = dict(
        zip(search.all_cv_results_["candidate"], search.all_cv_results_["params"], strict=True)
    )
    assert [params[number] for number in range(16)] == plain.all_cv_results_["params"][:16]
    assert {*search.n_resources_} == {*plain.n_resources_}


def test_a_grid_ends_it():
    space = {"limit": [k / 20 for k in range(20)]}
    search = search_of(space=space, n_candidates="auto").fit(X)
    assert len(set(search.all_cv_results_["candidate"])) == 20
    assert search.n_resources_[-1] == 20
    space = {"limit": [k / 20 for k in range(20)], "speed": [1, 2, 3, 4, 5]}
    search = search_of(space=space).fit(X)
    assert len(set(search.all_cv_results_["candidate"])) == 100


def test_patience_ends_it_only_if_it_is_set():
    space = {"limit": [0.9] + [k / 1000 for k in range(500)], "speed": [1.0]}

    search = search_of(space=space, patience=1, initial_candidates=[{"limit": 0.9}]).fit(X)
    brackets = {row["bracket"] for row in search.rung_history_}
    assert brackets == {*range(len(brackets))}
    assert 2 <= len(brackets) < len(search.schedule_.brackets)
    assert search.best_params_["limit"] == 0.9
    assert set(search.set_params(patience="auto").fit(X).all_cv_results_["bracket"]) == {
        *range(len(search.schedule_.brackets))
    }


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["random", "model"])
def test_the_result_does_not_depend_on_the_workers(sampler):
    expected = numbers(search_of(sampler=sampler).fit(X))
    assert numbers(search_of(sampler=sampler, n_jobs=2).fit(X)) == expected


@pytest.mark.parametrize(
    ("elapsed", "max_time", "bracket", "is_refused"),
    [
        (10, 1, 0, False),  # the first bracket is always begun
        (10, 41.1, 2, False),  # 30 s for 3 times the units so far, 1 s for the refit
        (10, 40.9, 2, True),
        (1, 7.1, 2, False),  # known results took 2 s: 6 s for the bracket
        (1, 6.9, 2, True),
    ],
)
def test_a_bracket_is_begun_if_it_ends_in_time_with_the_refit(
    elapsed, max_time, bracket, is_refused
):
    plan = Schedule.joined([Schedule.from_rungs([n], [4]) for n in (4, 6, 30)])
    # Refit: 4 units of 2 s / 10 each, on 1.25 times the samples.
    results = Results()
    results.n_units = 10 if elapsed == 10 else 10**9
    results.cost = 40
    times = BracketTimes(
        plan, 1.25, 1, refits=True, start_time=100, max_time=max_time, clock=lambda: 100 + elapsed
    )
    refusal = times.refusal(bracket, results)
    assert bool(refusal) == is_refused
    if is_refused:
        assert refusal.startswith("Bracket 2 is not begun: it would take about ")


@pytest.mark.parametrize(
    ("elapsed", "max_time", "text"),
    [
        (10, 12.04, "it would take about 2.5 s, and there are 2.0 s left"),
        (10, 12.49, "it would take about 2.5 s, and there are 2.4 s left"),
        (10.32, 12.8, "it would take about 2.6 s, and there are 2.4 s left"),
    ],
)
def test_the_seconds_of_a_bracket_and_those_left_are_rounded_apart(elapsed, max_time, text):
    plan = Schedule.joined([Schedule.from_rungs([n], [4]) for n in (8, 2)])
    results = Results()
    results.cost = 32
    times = BracketTimes(
        plan, 1.25, 1, refits=False, start_time=0, max_time=max_time, clock=lambda: elapsed
    )
    assert text in times.refusal(1, results)


def test_the_start_of_the_workers_is_not_training():
    """10 s, of which 6 are the start: 4 s for a bracket, as for the first one."""
    plan = Schedule.joined([Schedule.from_rungs([10], [4])] * 2)
    results = Results()
    results.cost = 40
    for max_time, is_refused in ((13.9, True), (14.1, False)):
        times = BracketTimes(
            plan, 1.25, 1, refits=False, start_time=0, max_time=max_time, clock=lambda: 10.0,
            start_seconds=lambda: 6.0,
        )  # fmt: skip
        assert bool(times.refusal(1, results)) == is_refused


SMALL = Schedule.joined([Schedule.from_rungs([10**6], [4]), Schedule.from_rungs([1], [4])])
"""The second bracket takes hardly any time."""


@pytest.mark.parametrize("n_jobs", [None, *slow(2)])
def test_the_time_of_preprocessing_is_known(monkeypatch, n_jobs):
    """The refit fits it too. The seconds of fits and scores are those of the last step."""

    class Slow(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.fitted_ = True
            sleep(0.02)
            return self

        def transform(self, X):
            return X

    seconds = []

    def refusal(self, bracket, results):
        seconds.append(results.preprocessing_seconds)
        return ""

    monkeypatch.setattr(BracketTimes, "refusal", refusal)
    model = make_pipeline(Slow(), Curve())
    space = {f"curve__{name}": values for name, values in SPACE.items()}
    search = search_of(estimator=model, space=space, max_time=1000, n_jobs=n_jobs).fit(X)
    assert len(seconds) > 1
    assert min(seconds) >= 0.02
    seconds.clear()
    monkeypatch.setattr(BracketTimes, "refusal", lambda self, bracket, results: "No time.")
    search.fit(X)
    monkeypatch.setattr(BracketTimes, "refusal", refusal)
    search.resume(X)
    assert min(seconds) >= 0.02  # of the first bracket, which is known


def test_a_refit_fits_preprocessing_on_all_samples():
    results = Results()
    results.preprocessing_seconds = 4.0
    for max_time, is_refused in ((10.05, True), (10.15, False)):
        times = BracketTimes(
            SMALL, 1.25, 1, refits=True, start_time=0, max_time=max_time, clock=lambda: 5.0
        )
        assert bool(times.refusal(1, results)) == is_refused  # 0.1 s, and 5 s


def test_without_a_refit_no_time_is_reserved():
    for refits in (True, False):
        times = BracketTimes(
            SMALL, 1.25, 1, refits=refits, start_time=0, max_time=5.05, clock=lambda: 5.0
        )
        assert bool(times.refusal(1, Results())) == refits  # 0.1 s


@pytest.mark.parametrize(("from_resource", "is_refused"), [(4, True), (5, False)])
def test_a_refit_by_fit_is_as_long_as_fit_can_be(from_resource, is_refused):
    times = BracketTimes(
        SMALL, 1.25, 1, refits=True, start_time=0, max_time=5.2, clock=lambda: 5.0,
        whole_fit=WholeFit(from_resource, 12),
    )  # fmt: skip
    assert bool(times.refusal(1, Results())) == is_refused  # 0.3 s for 12 units, 0.1 s for 4


def test_a_refit_is_one_fit_if_folds_are_counted():
    for counts_folds, max_time in ((False, 5.1), (True, 5.025)):  # a fold's 0.02 s
        plan = replace(SMALL, counts_folds=counts_folds)
        for difference, is_refused in ((-0.001, True), (0.001, False)):
            times = BracketTimes(
                plan, 1.25, 1,
                refits=True, start_time=0, max_time=max_time + difference, clock=lambda: 5.0,
            )  # fmt: skip
            assert bool(times.refusal(1, Results())) == is_refused


def test_a_bracket_is_predicted_from_what_was_trained():
    """The first bracket ended in its first rung, since no candidate had a score."""
    plan = Schedule.joined([Schedule.from_rungs([8, 4], [10, 20])] * 2)
    assert [bracket.total_cost for bracket in plan.brackets] == [120, 120]
    results = Results()
    results.cost = 80
    for max_time, is_refused in ((24.9, True), (25.1, False)):  # 10 s, and 15 s
        times = BracketTimes(
            plan, 1.25, 1, refits=False, start_time=0, max_time=max_time, clock=lambda: 10.0
        )
        assert bool(times.refusal(1, results)) == is_refused


@pytest.mark.parametrize(("n_samples", "is_refused"), [(10, False), (11, True)])
def test_a_refit_has_all_samples_if_these_are_the_resource(n_samples, is_refused):
    times = BracketTimes(
        SMALL, 1.25, 1, refits=True, start_time=0, max_time=5.21, clock=lambda: 5.0,
        n_samples=n_samples,
    )  # fmt: skip
    assert bool(times.refusal(1, Results())) == is_refused  # 0.02 s for each


@pytest.mark.parametrize(
    ("resource", "cv", "units"),
    [
        ("n_samples", 2, 12),
        ("partial_fit", 2, 2 * 5),
        ("partial_fit", ShuffleSplit(1, test_size=3), 4 / 3 * 5),
        ("partial_fit", TimeSeriesSplit(2), 12 / 6 * 5),  # folds of 4 and of 8
    ],
)
def test_the_predicted_refit_of_a_search(resource, cv, units, monkeypatch):
    """12 samples, and 5 epochs at most."""
    found = []

    def spy(self, bracket, results):
        found.append(self._refit_units())
        return "No time." if bracket else ""

    monkeypatch.setattr(BracketTimes, "refusal", spy)
    params = {"max_resources": 5, "min_resources": 1, "n_candidates": 16, "max_time": 1000}
    search = search_of(resource=resource, cv=cv, refit=True, **params).fit(X)
    assert search.schedule_.brackets[0].n_resources[-1] == 5
    assert set(found) == {units}


@pytest.mark.parametrize(("n", "start"), [(2, 0), (3, 0), (2, 1000)])
def test_a_search_ends_in_time_and_begins_each_bracket_that_fits(n, start, monkeypatch):
    """A second for each call of partial_fit, so that predicted times are exact."""

    def clock():
        return float(len(CALLS)) + start * bool(CALLS)

    def note_start(self, begin, seconds):
        self.start_seconds = float(start)

    monkeypatch.setattr(workers.Workers, "_note_start", note_start)
    for module in (engine, evaluation, base):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setitem(BracketTimes.__init__.__kwdefaults__, "clock", clock)
    brackets = search_of(min_folds="all").plan(X).brackets
    costs = [2 * bracket.total_cost for bracket in brackets]
    for max_time, n_begun in ((sum(costs[:n]) + 1, n), (sum(costs[:n]) - 1, n - 1)):
        CALLS.clear()
        search = search_of(min_folds="all", max_time=start + max_time).fit(X)
        assert len(CALLS) == sum(costs[:n_begun])
        assert search.interrupted_


def test_a_refused_bracket_is_refused_again(monkeypatch):
    search = search_of(max_time=1000)
    monkeypatch.setattr(
        BracketTimes, "refusal", lambda self, bracket, results: "No time." if bracket else ""
    )
    search.fit(X)
    assert {row["bracket"] for row in search.rung_history_} == {0}
    before = numbers(search)
    CALLS.clear()
    search.resume(X)
    assert CALLS == []
    assert numbers(search) == before
    assert search.interrupted_


@pytest.mark.parametrize("sampler", ["random", "model"])
def test_only_a_sampler_without_history_proposes_all_candidates_first(sampler, monkeypatch):
    """Those of the model after the candidates of the first run learn from the scores."""
    blind = []
    propose = ModelSampler.propose

    def spy(self, n, space, history, rng):
        blind.append(0 if history.evaluations else n)
        return propose(self, n, space, history, rng)

    monkeypatch.setattr(ModelSampler, "propose", spy)
    first = {"limit": 0.5, "speed": 1.0}
    search = search_of(sampler=sampler, initial_candidates=[first]).fit(X)
    assert search.all_cv_results_["params"][0] == first
    n_first = search.rung_history_[0]["n_candidates"]
    assert sum(blind) == (n_first - 1 if sampler == "model" else 0)


@pytest.mark.parametrize("checkpointed", [True, *slow(False)])
def test_more_time_continues_it(checkpointed, monkeypatch, tmp_path, capsys):
    """A search whose second run is refused for lack of time is resumed with enough of it."""
    expected = numbers(search_of(n_candidates=32).fit(X))
    folder = {"checkpoint": tmp_path / "runs"} if checkpointed else {}
    search = search_of(n_candidates=32, max_time=1000, verbose=1, **folder)
    refused = lambda self, bracket, results: "No time." if bracket else ""  # noqa: E731
    with monkeypatch.context() as patched:
        patched.setattr(bracket_times.BracketTimes, "refusal", refused)
        search.fit(X)
    assert "No time." in capsys.readouterr().out
    assert search.interrupted_
    first = search.schedule_.brackets[0]
    assert [row["n_candidates"] for row in search.rung_history_] == first.n_candidates
    assert search.best_n_resources_ == 20
    search.resume(X)
    assert numbers(search) == expected
    assert not search.interrupted_
    CALLS.clear()
    if checkpointed:  # another process does the same
        other = search_of(n_candidates=32, max_time=1000, **folder).fit(X)
        assert numbers(other) == expected
        assert CALLS == []


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("n_begun", [1, 2])
def test_a_last_rung_without_a_score_is_named_if_time_ends_too(n_begun, monkeypatch):
    refused = lambda self, bracket, results: "No time." * (bracket >= n_begun)  # noqa: E731
    monkeypatch.setattr(bracket_times.BracketTimes, "refusal", refused)
    search = search_of(
        scoring=lambda model, X, y=None: model.limit if model.units_ < 20 else np.nan,
        max_time=1000,
    )
    with pytest.warns(UserWarning, match="No candidate of the last rung has a score"):
        search.fit(X)
    assert search.interrupted_
    assert {row["bracket"] for row in search.rung_history_} == {*range(n_begun)}
    assert trust_report(search).advice.startswith("No candidate of the last rung has a score")


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.filterwarnings("ignore:No candidate of the last rung", "ignore:Including the fixed")
@pytest.mark.parametrize("at_end", [0.0, np.nan])
@pytest.mark.parametrize("target_score", [None, 2.0])
def test_a_search_that_time_ended_in_its_last_rung_has_not_reached_it(
    target_score, at_end, monkeypatch
):
    """One of its two candidates was not evaluated. With a target, they are requested in turn."""
    for module in (engine, evaluation, base):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))
    search = search_of(
        budget=None, max_resources=16, min_folds="all", target_score=target_score,
        scoring=lambda model, X, y=None: model.limit + (at_end if model.units_ == 16 else 0),
    )  # fmt: skip
    schedule = search.plan(X)
    assert schedule.n_candidates[-1] == 2
    CALLS.clear()
    search.set_params(max_time=2 * schedule.total_cost - 9).fit(X)  # before the last fit
    last = search.rung_history_[-1]
    assert (last["n_resources"], last["n_candidates"], last["promoted"]) == (16, 1, [])
    assert trust_report(search).advice.startswith("The last rung was not reached")


def test_brackets_of_a_single_rung_for_lack_of_candidates_are_explained():
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": uniform(0.1, 10)}, n_candidates=4, budget="anytime", resource="n_samples"
    )
    data = np.ones((2000, 1)), np.arange(2000) % 2
    assert len(search.plan(*data).rungs) > len(search.plan(*data).brackets)
    assert search.set_params(factor=4).plan(*data).notes == (
        "Each bracket is one rung at full resource, as in GridSearchCV: with factor=4, a single "
        "rung is enough for so few candidates.",
    )


@pytest.mark.parametrize("budget", ["anytime", "double"])
def test_brackets_of_a_single_rung_are_explained(budget, capsys):
    iris = load_iris(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        SVC(), {"C": uniform(0.1, 10)}, n_candidates=8, budget=budget, random_state=0, verbose=1
    )
    cost, note = search.plan(*iris).sentences
    subject = "Each bracket is one rung" if budget == "anytime" else "One rung"
    assert note == (
        f"{subject} at full resource, as in GridSearchCV: a second rung would need more than "
        "120 training samples."
    )
    search.fit(*iris)
    assert " ".join(capsys.readouterr().out.split()).startswith(f"{cost} {note}")
    assert search.set_params(min_resources=1.0).plan(*iris).notes == ()
    one = search_of(budget="double", n_candidates=1, max_resources=16).plan(X)  # runs of a rung
    assert one.n_resources == [1, 2, 4, 8, 16]
    assert one.notes == ()


def test_too_little_time_for_a_rung_is_an_error():
    X, y = DIGITS
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": uniform(0, 1)},
        resource="partial_fit",
        max_resources=8,
        budget="anytime",
        max_time=1e-3,
        random_state=0,
    )
    # Too short for a run: that of `max_time` without a budget.
    with pytest.raises(TimeoutError, match=r"max_time=0\.001 seconds ended before"):
        search.fit(X, y)


def test_it_is_not_extended():
    search = search_of().fit(X)
    with pytest.raises(ValueError, match='budget="anytime" adds candidates itself'):
        search.extend(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stop": "stable"}, "not available with budget='anytime'. Leave stop=None"),
        (
            {"patience": "never"},
            "patience='never' must be an integer of at least 1, or \"auto\" or None",
        ),
        ({"budget": "any"}, 'budget=\'any\' must be an integer of at least 1, or "double", "anyt'),
    ],
)
def test_invalid_parameters_raise(params, message):
    with pytest.raises(ValueError, match=message):
        search_of(**params).fit(X)


def test_a_target_ends_it():
    """In the first bracket that reaches it, which later candidates do."""
    results = search_of().fit(X).all_cv_results_
    at_end = results["n_resources"] == 20
    best = [
        results["mean_test_score"][at_end & (results["bracket"] == number)].max()
        for number in sorted({*results["bracket"]})
    ]
    number = next(k for k in range(1, len(best)) if best[k] > best[0])
    search = search_of(target_score=best[number]).fit(X)
    assert search.best_score_ >= best[number]
    assert {row["bracket"] for row in search.rung_history_} == {*range(number + 1)}
    # Audits train to full resource.
    assert "to 20 epochs" in str(search.plan_audit(1))
