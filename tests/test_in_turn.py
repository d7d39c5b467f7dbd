"""Successive Halving in brackets that follow each other, for samplers that use the history."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.stats import loguniform, randint, sem, uniform
from sklearn.datasets import make_regression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.svm import SVR
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve, numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine import engine, evaluation
from sklearn_sha._search import base
from sklearn_sha.bandit import Bounds, HalvingInTurn, SuccessiveHalving, check_algorithm
from sklearn_sha.candidates import History, RandomSampler, Sampler
from sklearn_sha.inspection import trust_report
from sklearn_sha.schedules import FoldGrowth

X = np.zeros((40, 1))
SPACE = {"limit": uniform(0.1, 0.8), "speed": loguniform(0.1, 10)}
ORDER = (2, 0, 1, 4, 3)  # of the folds


class Waves(Sampler):
    """Random candidates, at most six at a time. Records the history of each call."""

    uses_history = True

    def __init__(self):
        self.seen = []

    def propose(self, n, space, history, rng):
        self.seen.append((len(history.candidates), history.evaluations))
        return RandomSampler().propose(min(n, 6), space, History(), rng)


pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")


def search_of(sampler, **params):
    return SuccessiveHalvingSearchCV(
        params.pop("estimator", Curve()),
        params.pop("space", SPACE),
        sampler=sampler,
        **{
            "n_candidates": 32,
            "resource": "partial_fit",
            "max_resources": 32,
            "refit": False,
            "random_state": 0,
            **params,
        },
    )


def test_the_brackets_of_any_search():
    """Later ones have the rungs of a search over folds, if models are refit from scratch."""
    rng = RandomState(0)
    n_brackets, seen = [], set()
    for _ in range(300):
        n, n_kept, factor = rng.randint(1, 150), rng.randint(0, 12), rng.choice([1.5, 2, 3, 4])
        bounds = Bounds(
            n_candidates=int(n),
            max_resources=int(rng.randint(2, 200)),
            min_resources=rng.choice([None, 1, 2]),
            continues=bool(rng.randint(2)),
            n_kept=int(min(n_kept, n - 1)),
            fold_growth=rng.choice([None, FoldGrowth(ORDER), FoldGrowth(ORDER, first=2)]),
        )
        plan = HalvingInTurn(factor).plan(bounds)
        sizes = [bracket.n_candidates for bracket in plan.brackets]
        n_brackets.append(len(sizes))
        firsts = [first for first, *_ in sizes]
        assert sum(firsts) == plan.n_different == n
        assert plan.n_kept == bounds.n_kept
        assert not plan.repeats
        if len(sizes) == 1:
            assert plan == SuccessiveHalving(factor).plan(bounds)
            continue
        assert min(firsts) >= 8
        assert bounds.n_kept < min(firsts)
        assert max(firsts) - min(firsts) <= 1
        assert firsts == sorted(firsts, reverse=True)
        plain = SuccessiveHalving(factor).plan(replace(bounds, n_candidates=firsts[0], n_kept=0))
        assert plan.brackets[0].rungs == plain.with_kept(bounds.n_kept).rungs
        later = [(rung.n_candidates, rung.n_resources, rung.folds) for rung in plain.rungs]
        first = 1 if bounds.fold_growth is None else bounds.fold_growth.first or 1
        of_folds = Bounds(firsts[0], max_resources=5, first=first)
        on_folds = SuccessiveHalving(factor).plan(of_folds)
        is_automatic = bounds.fold_growth is not None and bounds.min_resources is None
        adds_folds = is_automatic and not bounds.continues and len(on_folds.rungs) > 2
        adds_folds &= len(plain.rungs) > 1
        if adds_folds:
            later = [
                (rung.n_candidates, bounds.max_resources, ORDER[: rung.n_resources])
                for rung in on_folds.rungs
            ]
        for bracket in plan.brackets[1:]:
            (first, *sizes), *levels = zip(*later, strict=True)
            assert [(rung.n_resources, rung.folds) for rung in bracket.rungs] == [
                *zip(*levels, strict=True)
            ]
            size = bracket.n_candidates[0]
            assert bracket.n_candidates == [size, *(-(-n * size // first) for n in sizes)]
        assert any("From bracket 1 on, all models" in note for note in plan.notes) == adds_folds
        seen.add(adds_folds)
    assert {*n_brackets} == {1, 2, 3, 4}
    assert seen == {True, False}


def test_a_search_on_samples_adds_folds_only_after_the_first_bracket():
    X, y = make_regression(1000, 4, noise=5, random_state=0)
    search = SuccessiveHalvingSearchCV(
        SVR(),
        {"C": loguniform(0.1, 10), "epsilon": loguniform(0.01, 1)},
        n_candidates=24,
        sampler="model",
        resource="n_samples",
        random_state=0,
    ).fit(X, y)
    levels = [(row["bracket"], row["n_resources"], row["n_folds"]) for row in search.rung_history_]
    later = [(bracket, 800, n_folds) for bracket in (1, 2) for n_folds in (1, 2, 5)]
    assert levels == [(0, 400, 1), (0, 800, 2), (0, 800, 5), *later]
    expected = cross_val_score(SVR(**search.best_params_), X, y, cv=5)
    assert search.best_score_ == pytest.approx(expected.mean())


def test_brackets_with_few_rungs_are_no_reason_to_raise_the_maximum(recwarn):
    X, y = make_regression(4000, 4, noise=5, random_state=0)
    search = SuccessiveHalvingSearchCV(
        SVR(),
        {"C": loguniform(0.1, 10), "epsilon": loguniform(0.01, 1)},
        sampler="model",
        resource="n_samples",
        max_resources=1700,
        random_state=0,
    )
    brackets = search.plan(X, y).brackets
    assert [bracket.n_candidates[-1] for bracket in brackets] == [2, 4, 4, 4]
    assert not [str(warning.message) for warning in recwarn]


@pytest.mark.parametrize("max_resources", [1, 9])
def test_they_fulfill_the_contract(max_resources):
    check_algorithm(HalvingInTurn(), Bounds(27, max_resources), n_seeds=2)


def test_there_are_no_brackets_without_a_choice_of_candidates():
    bounds = Bounds(n_candidates=40, max_resources=16)
    single = SuccessiveHalving().plan(bounds)
    assert HalvingInTurn().plan(replace(bounds, max_candidates=40)) == single
    assert len(HalvingInTurn().plan(replace(bounds, max_candidates=41)).brackets) == 4


def test_brackets_are_not_used_if_their_fits_cost_too_much():
    """Four brackets cost 0.75 of a grid search, and 0.84 with 200 samples for each fit."""
    bounds = Bounds(n_candidates=32, max_resources=2000, first=200, continues=False)
    in_turn, in_one = HalvingInTurn().plan(bounds), SuccessiveHalving().plan(bounds)
    assert len(in_turn.brackets) == 4
    assert in_turn.relative_cost() == 0.75
    assert in_turn.relative_cost(Fraction(200)) == pytest.approx(0.84, abs=0.005)
    assert in_one.relative_cost(Fraction(200)) < 0.8
    X, y = np.zeros((2500, 3)), np.arange(2500.0)
    params = {"sampler": "model", "n_candidates": 32, "min_folds": "all", "cv": 5}
    search = SuccessiveHalvingSearchCV(SVR(), {"C": loguniform(0.1, 10)}, **params)
    assert search.plan(X, y).n_candidates == in_one.n_candidates
    cheaper = search.set_params(resource="n_samples").plan(X, y)
    assert cheaper.brackets[0].n_candidates == in_turn.brackets[0].n_candidates


@pytest.mark.parametrize(("n_values", "n_brackets"), [(16, 1), (17, 2), (1000, 2)])
def test_there_are_none_if_all_values_of_a_discrete_distribution_are_tried(n_values, n_brackets):
    search = search_of("model", space={"speed": randint(0, n_values)}, n_candidates=16)
    assert len(search.plan(X).brackets) == n_brackets


def test_candidates_are_proposed_from_all_rungs_of_the_brackets_before():
    sampler = Waves()
    search = search_of(sampler).fit(X)
    # Eight candidates in each bracket: waves of six and of two.
    assert [n for n, _ in sampler.seen] == [0, 6, 8, 14, 16, 22, 24, 30]
    rungs = search.schedule_.brackets[0].n_resources
    for n, evaluations in sampler.seen:
        n_completed, n_in_wave = divmod(n, 8)
        resources = [one.n_resources for one in evaluations]
        expected = n_completed * np.array([8, 4, 2, 1][: len(rungs)])
        expected[0] += n_in_wave
        assert [resources.count(resource) for resource in rungs] == expected.tolist()
    assert len(search.schedule_.brackets) == 4


def test_the_best_candidate_is_that_of_all_brackets():
    search = search_of(Waves()).fit(X)
    results = search.all_cv_results_
    at_end = results["n_resources"] == 32
    assert {*results["bracket"][at_end]} == {0, 1, 2, 3}
    assert search.best_score_ == results["mean_test_score"][at_end].max()
    assert len(search.cv_results_["params"]) == at_end.sum()


def test_initial_candidates_are_kept_in_the_first_bracket():
    search = search_of(Waves(), initial_candidates=[{"limit": 0.1}, {}], keep_initial=True).fit(X)
    history = search.rung_history_
    kept = [{0, 1} <= {*row["candidates"]} for row in history]
    assert kept == [row["bracket"] == 0 for row in history]
    assert search.n_candidates_ == search.schedule_.n_candidates


@pytest.mark.parametrize("budget", [None, "anytime"])
def test_initial_candidates_that_are_all_candidates(budget):
    initial = [{"limit": k / 20} for k in range(1, 17)]
    params = {"n_candidates": 16, "initial_candidates": initial, "budget": budget}
    models, random = (search_of(name, **params).plan(X) for name in ("model", "random"))
    assert models.n_different == random.n_different == (16 if budget is None else 128)


def test_more_initial_candidates_than_a_bracket_has():
    initial = [{"limit": k / 20} for k in range(1, 12)]
    search = search_of(Waves(), initial_candidates=initial).fit(X)
    first = [row["candidates"] for row in search.rung_history_ if row["iter"] == 0]
    assert [max(ids) for ids in first] == [7, 15, 23, 31]


def test_a_subclass_can_have_its_own_requests():
    """With the arguments of `Algorithm.requests`."""

    class Own(HalvingInTurn):
        def requests(self, plan, propose):
            return super().requests(plan, propose)

    check_algorithm(Own(), Bounds(n_candidates=32, max_resources=32))


def test_a_target_ends_all_brackets():
    scores = search_of(Waves()).fit(X).all_cv_results_
    at_end = scores["n_resources"] == 32
    by_bracket = [
        scores["mean_test_score"][at_end & (scores["bracket"] == number)].max()
        for number in range(4)
    ]
    reached = int(np.argmax(np.array(by_bracket) > by_bracket[0]))
    assert reached  # a later bracket is better than the first one
    search = search_of(Waves(), target_score=by_bracket[reached]).fit(X)
    assert {row["bracket"] for row in search.rung_history_} == {*range(reached + 1)}
    assert search.best_score_ == by_bracket[reached]


def test_a_stable_ranking_ends_each_bracket():
    """Candidates differ by their limits only, so that no ranking ever changes."""
    space = {"limit": uniform(0.1, 0.8), "speed": [1.0]}
    search = search_of(Waves(), n_candidates=160, max_resources=64, stop="stable", space=space)
    search.fit(X)
    n_rungs = [len(bracket.rungs) for bracket in search.schedule_.brackets]
    assert n_rungs == [6, 6, 6, 6]
    brackets = [row["bracket"] for row in search.rung_history_]
    assert [brackets.count(number) for number in range(4)] == [4, 4, 4, 4]


def test_a_sampler_without_history_has_a_single_bracket():
    plan = search_of("random").plan(X)
    assert plan.rungs == search_of("random", algorithm=SuccessiveHalving()).plan(X).rungs
    assert len(plan.brackets) == 1


def test_a_grid_that_is_tried_completely_has_a_single_bracket():
    grid = {"limit": np.linspace(0.1, 0.9, 8).tolist(), "speed": [0.5, 1.0, 2.0, 4.0]}
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, sampler="model", resource="partial_fit", max_resources=16
    )
    assert len(search.plan(X).brackets) == 1
    assert len(search.set_params(n_candidates=31).plan(X).brackets) == 3


def test_brackets_that_would_cost_as_much_as_a_grid_search_are_one():
    bounds = Bounds(n_candidates=32, max_resources=1000, continues=False)
    assert len(HalvingInTurn().plan(bounds).brackets) == 4
    assert HalvingInTurn().plan(bounds).relative_cost() <= 0.8
    assert HalvingInTurn(1.5).plan(bounds) == SuccessiveHalving(1.5).plan(bounds)


@pytest.mark.parametrize(("seed", "is_better"), [(0, False), (3, True)])
def test_a_better_candidate_of_an_interrupted_bracket_is_a_warning(seed, is_better, monkeypatch):
    """The scores of a curve are the same on all folds, and a call takes a second."""
    for module in (engine, evaluation, base):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))
    samples = np.zeros((200, 1))
    params = {"sampler": "model", "cv": KFold(5), "random_state": seed}
    first, second = search_of(**params).plan(samples).brackets[:2]
    assert first.rungs[0].folds is not None
    are_better = []
    for share in (0.3, 0.6, 0.9, 0.95, 0.99):
        CALLS.clear()
        search = search_of(max_time=first.total_cost + share * second.total_cost, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(samples)
        rows = search.all_cv_results_
        rivals = np.flatnonzero(
            (rows["bracket"] == 1) & (rows["n_resources"] == search.best_n_resources_)
        )
        row = max(rivals, key=lambda row: rows["mean_test_score"][row], default=search.best_index_)
        best = rows["mean_test_score"][row]
        are_better.append(len(rivals) > 0 and best > search.best_score_)
        messages = [str(one.message) for one in caught if "interrupted in b" in str(one.message)]
        assert len(messages) == are_better[-1]
        if messages:
            assert (
                f"bracket 1, whose candidate {rows['candidate'][row]} has a higher mean score on "
                f"{rows['n_folds'][row]} of 5 folds than the selected one on the same folds: "
                f"{best:.4g} instead of {search.best_score_:.4g}. Call resume"
            ) in messages[0]
            CALLS.clear()
            assert search.set_params(max_time=1e6).resume(samples).best_score_ >= best
    assert any(are_better) == is_better


class OnFolds(Curve):
    """Its scores differ on the folds, whose first samples are 0, 40, 80, 120 and 160."""

    def score(self, X, y=None):
        return self.score_on(X[0, 0] // 40)

    def score_on(self, fold):
        return float(np.sin(1e3 * self.limit + 7 * fold))


def all_of_best(limit):
    return [OnFolds(limit).score_on(fold) for fold in range(5)]


@pytest.mark.parametrize("seed", [0, 2, 6])
@pytest.mark.parametrize("refit", [True, "score", "minus", np.argmax])
def test_only_candidates_that_can_be_selected_are_ahead(seed, refit, monkeypatch):
    for module in (engine, evaluation, base):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))
    samples = np.arange(200.0)[:, None]
    params = {"estimator": OnFolds(), "random_state": seed, "cv": KFold(5), "refit": False}
    params |= {"sampler": "model", "resource": "partial_fit", "max_resources": 4}
    if isinstance(refit, str):
        params["scoring"] = lambda model, X, y=None: {
            "score": model.score(X), "minus": -model.score(X)
        }  # fmt: skip
        params |= {"refit": refit, "promote_by": "score"}
    elif callable(refit):
        params |= {"refit": lambda results: int(refit(-results["mean_test_score"]))}
        params |= {"promote_by": "score"}
    plan = search_of(**params).plan(samples)
    first, second = plan.brackets[:2]
    sign, n_shown = -1 if refit == "minus" else 1, 0
    for share in np.linspace(0.05, 0.99, 12):
        CALLS.clear()
        search = search_of(max_time=first.total_cost + share * second.total_cost, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(samples)
        values, best = search.all_cv_results_, search.best_candidate_
        limits = dict(zip(values["candidate"], [p["limit"] for p in values["params"]], strict=True))
        history = [row for row in search.rung_history_ if row["bracket"] == 1]
        promoted = [row["promoted"] for row in history if row["promoted"]]
        alive = promoted[-1] if promoted else [one for row in history for one in row["candidates"]]
        ahead = []
        for one in alive:
            row = [row for row in history if one in row["candidates"]][-1]
            folds = plan.brackets[1].rungs[row["iter"]].folds
            own, of_best = (
                np.array([sign * OnFolds(limits[which]).score_on(fold) for fold in folds])
                for which in (one, best)
            )
            difference = own - of_best
            error = sem(difference) if len(folds) > 1 else sem(all_of_best(limits[best]))
            if row["n_resources"] == search.best_n_resources_ and difference.mean() > error:
                ahead.append((len(folds), own.mean(), one))
        messages = [str(one.message) for one in caught if "interrupted in b" in str(one.message)]
        assert len(messages) == (len(ahead) > 0 and not callable(refit))
        if messages:
            n_folds, _, leader = max(ahead)
            expected = f"whose candidate {leader} has a higher mean score on {n_folds} of 5 folds"
            assert expected in messages[0]
        n_shown += len(messages)
    # With the first seed, all leads are smaller than their standard errors.
    assert (n_shown > 0) == (refit in (True, "score") and seed > 0)


def test_a_search_that_ends_inside_a_bracket_is_about_those_before():
    """Also for a callable `refit`, and for the trust report."""

    def lowest_resource(results):
        # The first row with the lowest score is in an incomplete bracket, if there are any.
        return int(np.argmin(results["mean_test_score"]))

    params = {"estimator": Stopped(), "sampler": "model", "cv": KFold(2)}
    CALLS.clear()
    whole = search_of(**params).fit(X)
    first = whole.schedule_.brackets[0]
    calls = 2 * first.total_cost + 2 * 8 * first.rungs[0].n_resources  # and one rung of the next
    CALLS.clear()
    with ctrl_c(calls):
        search = search_of(**params, refit=lowest_resource, promote_by="score")
        search.fit(X)
    assert [row["bracket"] for row in search.rung_history_][-1] == 1
    assert search.rung_history_[-1]["promoted"]
    rows = search.all_cv_results_["bracket"][search.cv_results_rows_]
    assert {*rows} == {0}
    assert search.best_n_resources_ == 32
    report = trust_report(search)
    assert [one["bracket"] for one in report.brackets] == [0]
    assert report.probability is not None
    assert ("call resume" in report.advice.lower()) == (report.probability < 0.95)
    assert numbers(search.set_params(refit=False).resume(X)) == numbers(whole)
