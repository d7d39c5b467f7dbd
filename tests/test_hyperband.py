"""HyperbandSearchCV: brackets are Successive Halving runs that run together."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from toys import CALLS, Curve, curve, exactly, lines_below_plan

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine.batches import Batching
from sklearn_sha._parallel import workers
from sklearn_sha.bandit import hyperband
from sklearn_sha.candidates import Sampler
from sklearn_sha.candidates.proposals import candidates_for_brackets
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.inspection.search_data import search_data

X = np.zeros((12, 1))
SPACE = {"limit": uniform(0, 1), "speed": uniform(0, 20)}
IRIS, SPECIES = load_iris(return_X_y=True)
DIGITS = load_digits(return_X_y=True)


def search_of(**params):
    params = {"resource": "partial_fit", "cv": KFold(2), "refit": False, "random_state": 0} | params
    return HyperbandSearchCV(Curve(), params.pop("space", SPACE), **params)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(2, 30), st.sampled_from([2, 3, 4]), st.integers(0, 99))
def test_a_search_equals_the_algorithm_over_the_same_candidates(n_steps, factor, seed):
    search = search_of(max_resources=factor * n_steps, factor=factor, random_state=seed).fit(X)
    results = search.all_cv_results_
    params = dict(zip(results["candidate"], results["params"], strict=True))

    def losses(arms, resource):
        return [-curve(params[arm]["limit"], params[arm]["speed"], resource) for arm in arms]

    paper = hyperband(losses, factor * n_steps, factor)
    assert sorted(params) == list(range(sum(s.n_candidates[0] for s in search.schedule_.brackets)))
    mine = {(r["bracket"], r["iter"]): r for r in search.rung_history_}
    assert len(mine) == len(search.rung_history_) == len(paper.history)
    rungs = [(rung.bracket, k) for b in search.schedule_.brackets for k, rung in enumerate(b.rungs)]
    for key, row in zip(rungs, paper.history, strict=True):
        assert mine[key]["candidates"] == list(row["arms"])
        assert mine[key]["promoted"] == list(row["kept"])
        assert mine[key]["n_resources"] == row["n_resources"]
    assert search.best_candidate_ == paper.best
    assert search.rung_history_[-1]["total_cost"] == search.schedule_.total_cost == paper.total_cost


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_training_calls_equal_the_plan_and_candidates_are_numbered_across_brackets():
    search = search_of(max_resources=9)
    plan = search.plan(X)
    CALLS.clear()
    search.fit(X)
    assert len(CALLS) == 2 * plan.total_cost == 2 * search.schedule_.total_cost
    assert plan.n_candidates == [9, 3, 1, 5, 1, 3]
    assert [row["bracket"] for row in search.rung_history_] == [0, 0, 1, 0, 1, 2]
    assert search.n_resources_ == [1, 3, 3, 9, 9, 9]
    assert set(search.all_cv_results_["bracket"]) == {0, 1, 2}
    assert search.best_n_resources_ == 9
    assert search.n_remaining_candidates_ == 1
    at_full = search.all_cv_results_["n_resources"] == 9
    best = search.all_cv_results_["mean_test_score"][at_full].max()
    assert search.best_score_ == best
    assert search.cv_results_rows_ == np.flatnonzero(at_full).tolist()
    assert search.all_cv_results_["bracket"][at_full].tolist() == [0, 1, 2, 2, 2]
    assert sorted(search.cv_results_["rank_test_score"]) == [1, 2, 3, 4, 5]


def test_brackets_share_one_parallel_call_per_resource_with_the_longest_jobs_first(monkeypatch):
    calls = []

    class Listening(workers.Parallel):
        def __call__(self, tasks):
            tasks = list(tasks)
            calls.append([[job.cost() for job in args[2]] for _, args, _ in tasks])
            return super().__call__(tasks)

    monkeypatch.setattr(workers, "Parallel", Listening)
    monkeypatch.setattr(workers, "effective_n_jobs", lambda n_jobs: 2)
    monkeypatch.setattr(Batching, "record", lambda *args: None)  # all candidates are as fast
    search_of(max_resources=81).fit(X)
    # Fifteen rungs, of five resources.
    assert [max(map(max, batches)) for batches in calls] == [1, 3, 9, 27, 81]
    for batches in calls:
        sums = list(map(sum, batches))
        assert sums == sorted(sums, reverse=True)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_repeats_run_the_brackets_again_with_new_candidates():
    once, twice = search_of(max_resources=9), search_of(max_resources=9, n_repeats=2)
    assert twice.plan(X).n_candidates == once.plan(X).n_candidates * 2
    results = twice.fit(X).all_cv_results_
    assert sorted(set(results["bracket"])) == list(range(6))
    sampled = {candidate: str(p) for candidate, p in zip(results["candidate"], results["params"])}  # noqa: B905
    assert len(set(sampled.values())) == len(sampled) == 34


@pytest.mark.parametrize("sampler", ["random", "model"])
@pytest.mark.parametrize("limits", [[1, 5, 9], randint(1, 4)])
def test_few_combinations_take_part_in_several_brackets(sampler, limits):
    search = search_of(space={"limit": limits}, max_resources=9, sampler=sampler)
    with pytest.warns(
        UserWarning, match="holds 3 different candidates, and the brackets have room for 17"
    ):
        search.fit(X)
    results = search.all_cv_results_
    params = dict(zip(results["candidate"], results["params"], strict=True))
    first = [rung["candidates"] for rung in search.rung_history_ if rung["iter"] == 0]
    assert sorted(map(len, first)) == [3, 5, 9]
    for candidates in first:
        assert len({params[candidate]["limit"] for candidate in candidates}) == 3


def test_the_remedy_for_repeated_candidates_can_be_followed():
    """A larger factor can have larger brackets, which repeat the candidates more often."""
    space = SVC(), {"C": [0.1, 1, 10], "gamma": [0.001, 0.01]}
    remedy = "Use SuccessiveHalvingSearchCV, which tries each candidate once"
    with (
        pytest.warns(UserWarning, match=rf"costs .* times a grid search .*\. {remedy}\.$"),
        pytest.warns(UserWarning, match="take part more than once"),
    ):
        HyperbandSearchCV(*space, cv=3).plan(*DIGITS)
    SuccessiveHalvingSearchCV(*space, cv=3).plan(*DIGITS)  # without a warning


def test_the_order_of_a_sampler_is_kept():
    class Reversed(Sampler):
        def propose(self, n, space, history, rng):
            return [{"limit": limit} for limit in space["limit"][::-1]][:n]

    grid = {"limit": [k / 20 for k in range(17)]}
    search = search_of(space=grid, max_resources=9, sampler=Reversed()).fit(X)
    limits = [params["limit"] for params in search.results_frame()["params"]]
    assert limits == grid["limit"][::-1]


def test_brackets_of_a_grid_that_they_complete_are_in_random_order():
    grid = {"limit": [k / 20 for k in range(17)]}
    search = search_of(space=grid, max_resources=9, initial_candidates=[{"limit": 0.8}]).fit(X)
    limits = [params["limit"] for params in search.results_frame()["params"]]
    assert limits[0] == 0.8
    assert sorted(limits) == grid["limit"]
    for _, bracket in search.results_frame().groupby("bracket"):
        assert np.ptp(bracket["param_limit"].astype(float)) > 0.3


@pytest.mark.parametrize(
    ("n", "params", "note"),
    [
        (20, {}, "17 of the 20 combinations of the grid are sampled."),
        (40, {"n_repeats": 2}, "34 of the 40 combinations of the grid are sampled."),
        (17, {}, None),
        # If the grid is smaller than the brackets together, all of it is sampled.
        (15, {}, None),
        (3, {}, None),
    ],
)
@pytest.mark.filterwarnings("ignore:param_distributions holds", "ignore:Including the fixed cost")
def test_a_plan_shows_how_many_combinations_of_a_grid_are_sampled(n, params, note):
    grid = {"limit": [1.0], "speed": list(range(n))}
    search = search_of(space=grid, max_resources=9, **params)
    assert search.plan(X).notes == ((note,) if note else ())
    tried = {params["speed"] for params in search.fit(X).all_cv_results_["params"]}
    assert len(tried) == (int(note.split()[0]) if note else n)
    distributions = search_of(space=grid | {"limit": uniform(0, 1)}, max_resources=9)
    assert distributions.plan(X).notes == ()


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize(("n_iter", "notes"), [(None, ()), (3, ("3 of the 8 combinations",))])
def test_successive_halving_evaluates_the_whole_grid_unless_it_is_limited(n_iter, notes):
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [*range(8)]}, n_iter=n_iter, resource="partial_fit", max_resources=8
    )
    found = tuple(note.partition(" of the grid")[0] for note in search.plan(X).notes)
    assert found == notes


def test_a_plan_compares_with_a_grid_search_over_what_is_different():
    search = search_of(space={"limit": [0.1, 0.5, 0.9]}, max_resources=9)
    CALLS.clear()
    with pytest.warns(UserWarning, match="holds 3 different"):
        search.fit(X)
    n_calls = len(CALLS)
    CALLS.clear()
    whole = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.1, 0.5, 0.9]}, resource="partial_fit", min_resources=9,
        max_resources=9, cv=KFold(2), refit=False,
    ).fit(X)  # fmt: skip
    ratio = n_calls / len(CALLS)
    assert ratio > 2
    assert search.schedule_.relative_cost() == ratio
    assert search.schedule_.grid_cost == whole.schedule_.total_cost == len(CALLS) / 2
    assert search_data(search, "score").grid_cost == len(CALLS) / 2


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize(
    ("params", "is_bound"),
    [({}, False), ({"patience": 1}, False), ({"n_repeats": 2, "patience": 1}, True)],
)
def test_a_plan_that_patience_can_end_is_an_upper_bound(params, is_bound):
    plan = str(search_of(max_resources=9, **params).plan(X))
    assert ("At most" in plan) == is_bound


def test_one_bracket_warns():
    message = (
        "max_resources=5 and min_resources=2, with factor=3, give no bracket with more than one "
        "rung, so that this is a random search over 1 candidate with n_resources=5"
    )
    with pytest.warns(UserWarning, match=message):
        search = search_of(max_resources=5, min_resources=2).fit(X)
    assert search.n_resources_ == [5]
    assert set(search.all_cv_results_["bracket"]) == {0}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_repeats": 0}, "n_repeats=0 must be an integer of at least 1"),
        ({"patience": "auto"}, "patience='auto' must be an integer of at least 1, or None"),
        (
            {"min_resources": 10, "max_resources": 9},
            "min_resources=10 is larger than max_resources=9",
        ),
        ({"factor": 1}, "factor=1 must be a finite number above 1"),
        ({"factor": float("nan")}, "factor=nan must be a finite number above 1"),
    ],
)
def test_invalid_parameters_raise(params, message):
    with pytest.raises(ValueError, match=message):
        search_of(**params).fit(X)


@pytest.mark.slow
def test_results_are_the_same_for_all_backends():
    search = HyperbandSearchCV(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {"sgdclassifier__alpha": loguniform(1e-5, 1)},
        resource="partial_fit",
        max_resources=9,
        cv=3,
        random_state=0,
        verbose=0,
    )
    expected = search.fit(IRIS, SPECIES).all_cv_results_
    assert search.score(IRIS, SPECIES) > 0.9
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend, n_jobs=2):
            results = search.fit(IRIS, SPECIES).all_cv_results_
        for name, column in expected.items():
            if "_time" not in name:
                assert exactly(results[name]) == exactly(column), name


def test_lines_show_the_bracket(capsys):
    search = search_of(max_resources=9, verbose=1, refit=False).fit(X)
    lines = lines_below_plan(search, capsys.readouterr().out)
    assert [line.split()[:4] for line in lines[:3]] == [
        ["bracket", "0", "rung", "0/2"],
        ["bracket", "0", "rung", "1/2"],
        ["bracket", "1", "rung", "0/1"],
    ]
    assert len({len(line.partition(", about")[0]) for line in lines}) == 1


class Three(Sampler):
    def propose(self, n, space, history, rng):
        return [{"limit": k / 10} for k in range(3)]


def test_a_sampler_that_proposes_too_few_is_named():
    space = {"limit": uniform(0, 1)}
    with pytest.warns(UserWarning, match="Three proposed 3 different candidates, and the brackets"):
        candidates_for_brackets(CandidateSource(space, Three()), [4, 2], np.random.RandomState(0))


@given(st.integers(1, 9), st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(0, 99))
def test_all_candidates_take_part_before_any_is_repeated(n, sizes, seed):
    space = {"limit": [*range(n)]}
    if sum(sizes) <= n:
        sizes = [*sizes, n]
    with pytest.warns(UserWarning, match="take part more than once"):
        found = candidates_for_brackets(
            CandidateSource(space, RandomSampler()), sizes, np.random.RandomState(seed)
        )
    assert len(found) == sum(sizes)
    counts = Counter(params["limit"] for params in found[:n])
    assert max(counts.values()) == 1
    assert {params["limit"] for params in found} == {*range(n)}
    start = 0
    for size in sizes:
        own = Counter(params["limit"] for params in found[start : start + size])
        assert max(own.values()) <= -(-size // n)
        start += size
