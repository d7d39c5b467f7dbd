"""Searches that end before their plan does: a stable order, and a target score."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from conftest import slow
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from toys import CALLS, Curve, answered

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import (
    Anytime,
    Bounds,
    BudgetDoubling,
    FixedBudget,
    FixedSchedule,
    Hyperband,
    RungLosses,
    StableRanking,
    SuccessiveHalving,
    Target,
    check_algorithm,
    halving,
    promote,
)
from sklearn_sha.schedules import FoldGrowth, Schedule, schedule_from_range

X = np.zeros((40, 1))


def search_of(limits, speeds=(1.0,), search=SuccessiveHalvingSearchCV, **params):
    defaults = {"resource": "partial_fit", "max_resources": 32, "cv": KFold(4), "random_state": 0}
    return search(Curve(), {"limit": limits, "speed": speeds}, **defaults | params)


@pytest.mark.parametrize(
    "algorithm", [SuccessiveHalving, BudgetDoubling, Hyperband, Anytime, partial(FixedBudget, 600)]
)
@pytest.mark.parametrize("target", ["0.1", float("nan"), True])
def test_an_invalid_target_is_an_error_before_training(algorithm, target):
    with pytest.raises(ValueError, match=rf"target_loss={target!r} must be a number or None"):
        algorithm(target_loss=target).plan(Bounds(n_candidates=12, max_resources=81))


@pytest.mark.parametrize("n_seeds", [2, *slow(20)])
@pytest.mark.parametrize(
    "algorithm",
    [
        SuccessiveHalving(stop="stable"),
        SuccessiveHalving(target_loss=0.2),
        SuccessiveHalving(factor=3, stop="stable", target_loss=0.3),
        FixedBudget(600, stop="stable", target_loss=0.1),
        BudgetDoubling(target_loss=0.1),
        BudgetDoubling(patience=None, target_loss=0.4),
        Hyperband(stop="stable"),
        Hyperband(n_repeats=2, target_loss=0.05),
        Hyperband(n_repeats=3, patience=1, stop="stable", target_loss=0.05),
        FixedSchedule([12, 3], [1, 81]),
    ],
)
def test_algorithms_that_end_early_keep_their_contract(algorithm, n_seeds):
    bounds = Bounds(n_candidates=12, max_resources=81)
    check_algorithm(algorithm, bounds, n_seeds)
    check_algorithm(algorithm, replace(bounds, min_resources=1), n_seeds)


@given(st.lists(st.floats(0, 1), min_size=28, max_size=60, unique=True), st.integers(2, 3))
def test_an_order_that_never_changes_ends_after_three_rungs(table, factor):
    schedule = schedule_from_range(len(table), factor=factor, min_resources=1, max_resources=100)
    run = halving(schedule, stop=StableRanking())
    requests, best = answered(run, lambda candidate, _: table[candidate])
    assert best == int(np.argmin(table))
    assert [len(r.candidate_ids) for r in requests][:3] == schedule.n_candidates[:3]
    last = requests[-1]
    assert (len(requests), last.candidate_ids) == (4, (int(np.argmin(table)),))
    assert (last.n_resources, last.is_last_rung, last.is_final) == (100, True, True)
    assert last.eliminated == tuple(i for i in requests[2].candidate_ids if i != best)


def test_only_changes_beyond_the_noise_of_the_folds_count():
    """Two candidates change their order by 0.01; the folds say whether that is noise."""
    quiet = np.tile([0.001, -0.001, 0.0, 0.0], (2, 1)) * [[1], [-1]]
    loud = np.tile([0.1, -0.1, 0.1, -0.1], (2, 1)) * [[1], [-1]]
    shared = np.tile([0.5, -0.5, 0.3, -0.3], (2, 1))  # of both: it cancels
    orders = [[0.30, 0.31], [0.31, 0.30]]
    for noise, is_stable in ((quiet, False), (loud, True), (shared, False)):
        rule = StableRanking(n_rungs=1)
        found = [
            rule.is_over((0, 1), RungLosses.of(means, np.array(means)[:, np.newaxis] + noise), 1)
            for means in orders
        ]
        assert found == [False, is_stable]
    # On one fold there is no noise.
    rule = StableRanking(n_rungs=1)
    assert [rule.is_over((0, 1), means, 1) for means in orders] == [False, False]


@pytest.mark.parametrize("later", [[1, 2], [2, 1]])
def test_candidates_with_equal_losses_have_no_order_that_changes(later):
    rule = StableRanking(n_rungs=1)
    assert [rule.is_over((0, 1), losses, 1) for losses in ([1, 1], later)] == [False, True]


@pytest.mark.parametrize(
    ("others", "is_stable"), [([np.inf, 0.5], True), ([np.inf, np.inf], True), ([0.5, 0.5], False)]
)
def test_infinite_losses_change_their_order_with_finite_ones_only(others, is_stable):
    """Two candidates change their places; the mean losses of one are infinite."""
    rule = StableRanking(n_rungs=1)
    folds = [[np.inf, np.inf], others]
    found = [
        rule.is_over((0, 1), RungLosses.of(np.mean(rows, axis=1), rows), 1)
        for rows in (folds, folds[::-1])
    ]
    assert found == [False, is_stable]


def test_leaders_that_are_new_to_the_rung_are_not_stable():
    rule = StableRanking(n_rungs=1)
    assert not rule.is_over((0, 1, 2), [0.1, 0.2, 0.3], 2)
    assert not rule.is_over((3, 4, 5), [0.1, 0.2, 0.3], 2)


def test_a_change_starts_the_count_of_unchanged_rungs_again():
    rule = StableRanking(n_rungs=2)
    orders = [[1, 2], [1, 2], [2, 1], [2, 1], [2, 1], [2, 1]]
    found = [rule.is_over((0, 1), losses, 1) for losses in orders]
    assert found == [False, False, False, False, True, True]


def test_a_stable_search_scores_its_best_candidate_at_full_resource_on_all_folds():
    CALLS.clear()
    search = search_of(np.linspace(0.1, 0.9, 32), stop="stable", min_folds="all").fit(X)
    assert search.n_candidates_ == [32, 16, 8, 1]
    assert search.best_params_["limit"] == pytest.approx(0.9)
    assert search.best_n_resources_ == 32
    assert search.best_score_ == pytest.approx(0.9 * 32 / 33)
    trained = [one for one in CALLS if one[0] == "partial_fit"]
    assert len(trained) == 4 * search.rung_history_[-1]["total_cost"] + 32
    assert search.rung_history_[-1]["total_cost"] < search.schedule_.total_cost
    assert "At most" in str(search.schedule_)
    assert [row["promoted"] for row in search.rung_history_[2:]] == [[31], [31]]


def test_curves_that_cross_are_not_stable():
    """The order of the leaders changes from rung to rung, so that all rungs are run."""
    limits, speeds = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], [1, 2, 4, 8, 16, 32]
    space = [{"limit": [a], "speed": [b]} for a, b in zip(limits, speeds, strict=True)]
    common = {"resource": "partial_fit", "max_resources": 64, "min_resources": 8, "cv": KFold(4)}
    search = SuccessiveHalvingSearchCV(Curve(), space, stop="stable", **common).fit(X)
    assert search.n_candidates_ == [6, 3, 2, 1]


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
@pytest.mark.parametrize("target", [0.3, 0.6, 2.0])
def test_a_target_ends_the_last_rung(target, n_jobs):
    limits = np.random.default_rng(1).permutation(np.linspace(0.1, 0.9, 30))
    search = search_of(limits, target_score=target, min_resources=1.0, n_jobs=n_jobs).fit(X)
    everything = search_of(limits, min_resources=1.0).fit(X).cv_results_["mean_test_score"]
    # One rung: groups in the order of the candidates, until one of them reaches the target.
    groups = [0, 1, 2, 4, 8, 16, 30]
    n = next((n for n in groups if (everything[:n] >= target).any()), 30)
    assert search.n_candidates_ == [n]
    assert search.cv_results_["mean_test_score"].tolist() == everything[:n].tolist()
    assert search.best_index_ == int(np.argmax(everything[:n]))


def test_the_best_candidates_come_first_in_the_last_rung():
    search = search_of(np.linspace(0.1, 0.9, 12), target_score=0.8, factor=4).fit(X)
    plain = search_of(np.linspace(0.1, 0.9, 12), factor=4).fit(X)
    assert plain.n_candidates_ == [12, 3]
    assert search.n_candidates_ == [12, 1]
    assert search.best_params_ == plain.best_params_
    assert search.best_score_ == plain.best_score_ >= 0.8
    # A target that is never reached changes nothing.
    never = search_of(np.linspace(0.1, 0.9, 12), target_score=2, factor=4).fit(X)
    assert never.n_candidates_ == plain.n_candidates_
    for name, column in plain.cv_results_.items():
        if "time" not in name and name != "params":
            assert np.array_equal(column, never.cv_results_[name])


def test_a_target_ends_hyperband_and_budget_doubling():
    search = search_of(
        np.linspace(0.1, 0.9, 200), search=HyperbandSearchCV, max_resources=9, n_repeats=5,
        target_score=0.5, patience=5,
    ).fit(X)  # fmt: skip
    assert len(search.schedule_.brackets) == 15
    assert {row["bracket"] for row in search.rung_history_} == {0, 1, 2}  # the first set
    assert search.best_score_ >= 0.5
    doubling = search_of(
        np.linspace(0.1, 0.9, 16), budget="double", patience=None, target_score=0.5
    ).fit(X)
    # Scores below full resource do not count.
    assert doubling.best_n_resources_ == 32
    assert doubling.n_candidates_[-1] == 1


def test_groups_go_to_the_target_in_order():
    schedule = Schedule.from_rungs([8], [4])
    run = halving(schedule, target=Target(0.0, 4))
    requests, best = answered(run, lambda candidate, _: 0.5)
    assert best == 0
    assert [(request.candidate_ids, request.is_final) for request in requests] == [
        ((0,), False),
        ((0, 1), False),
        ((0, 1, 2, 3), False),
        (tuple(range(8)), True),
    ]


def test_all_candidates_of_a_group_can_fail():
    run = halving(Schedule.from_rungs([4], [4]), target=Target(0.0, 4))
    assert next(run).candidate_ids == (0,)
    assert run.send(None).candidate_ids == (0, 1)
    assert run.send([np.nan, 0.5]).candidate_ids == (0, 1, 2, 3)
    with pytest.raises(StopIteration) as end:
        run.send([np.nan, 0.5, -1.0, 0.2])
    assert end.value.value == 2


@pytest.mark.slow
def test_losses_of_a_search_have_the_losses_on_the_folds():
    seen = []

    class Looking(SuccessiveHalving):
        def requests(self, plan, propose):
            run = super().requests(plan, propose)
            request = next(run)
            while True:
                losses = yield request
                seen.append((request, losses))
                try:
                    request = run.send(losses)
                except StopIteration as end:
                    return end.value

    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": np.logspace(-5, -1, 6)}, algorithm=Looking(),
        resource="n_samples", min_resources=400, min_folds="auto", random_state=0,
    ).fit(X, y)  # fmt: skip
    for row, (request, losses) in zip(search.rung_history_, seen, strict=True):
        assert isinstance(losses, np.ndarray)
        assert losses.tolist() == [-score for score in row["scores"]]
        assert losses.fold_losses.shape == (row["n_candidates"], row["n_folds"])
        np.testing.assert_allclose(losses.fold_losses.mean(axis=1), losses)
        assert list(request.candidate_ids) == row["candidates"]
    assert promote(seen[0][1], 3).tolist() == promote(np.asarray(seen[0][1]), 3).tolist()


def test_two_rungs_are_a_fixed_schedule():
    X, y = load_digits(return_X_y=True)
    grid = {"var_smoothing": np.logspace(-9, 0, 8).tolist()}
    model = GaussianNB()
    search = SuccessiveHalvingSearchCV(
        model, grid, algorithm=FixedSchedule([8, 2], [200, 1437]), resource="n_samples",
        cv=5, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert list(zip(search.n_candidates_, search.n_resources_, strict=True)) == [
        (8, 200),
        (2, 1437),
    ]
    expected = GridSearchCV(model, grid, cv=5).fit(X, y)
    row = expected.cv_results_["params"].index(search.best_params_)
    assert search.best_score_ == pytest.approx(expected.cv_results_["mean_test_score"][row])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stop": "soon"}, "stop='soon' must be \"stable\" or None"),
        ({"target_score": "high"}, "target_score='high' must be a number or None"),
        *[
            (
                {"algorithm": FixedSchedule([5, 1], [1, 2]), name: value},
                f'{name}={value!r} is for algorithm="auto". Set {name}={default!r};',
            )
            for name, value, default in [
                ("stop", "stable", None),
                ("target_score", 0.9, None),
                ("factor", 3, 2),
                ("patience", 3, "auto"),
                ("tol", 0.1, 0.0),
            ]
        ],
        (
            {"algorithm": FixedSchedule([5, 1], [1, 2]), "min_resources": 2},
            r"algorithm=FixedSchedule\(...\) and min_resources=2 both set",
        ),
        (
            {"budget": "double", "stop": "stable"},
            "stop='stable' is not available with budget='double'",
        ),
        ({"algorithm": FixedSchedule([7, 1], [1, 2])}, "has 7 candidates, and the search has 5"),
        ({"algorithm": FixedSchedule([5, 1], [1, 99])}, "ends above the maximum"),
        (
            {"algorithm": Hyperband()},
            r"algorithm=Hyperband\(...\) sets the number .* Use HyperbandS",
        ),
        (
            {"algorithm": type("Own", (Hyperband,), {})()},
            r"algorithm=Hyperband\(...\) sets the number .* Use HyperbandS",
        ),
        (
            {"algorithm": type("Own", (Anytime,), {})()},
            r'algorithm=Anytime\(...\) takes no account of max_time. Set budget="anytime"',
        ),
        (
            {"algorithm": Anytime()},
            r'algorithm=Anytime\(...\) takes no account of max_time. Set budget="anytime"',
        ),
    ],
)
def test_what_is_refused(params, message):
    with pytest.raises(ValueError, match=message):
        search_of(np.linspace(0.1, 0.9, 5), **params).fit(X)


@pytest.mark.parametrize("n_repeats", [1, 2])
def test_brackets_of_hyperband_that_wait_for_a_target_grow_in_turns(n_repeats):
    """Last rungs of several brackets go to the target in groups, one group of each at a time."""
    params = {"search": HyperbandSearchCV, "max_resources": 9, "n_repeats": n_repeats}
    limits = np.linspace(0.1, 0.9, 200)
    plain = search_of(limits, **params).fit(X)
    CALLS.clear()
    # A target that is never reached changes nothing.
    never = search_of(limits, target_score=2, **params).fit(X)
    trained = [one for one in CALLS if one[0] == "partial_fit"]
    assert len(trained) == 4 * never.schedule_.total_cost + 9
    keys = [(row["bracket"], row["iter"]) for row in never.rung_history_]
    assert len({*keys}) == len(keys)
    by_rung = {(row["bracket"], row["iter"]): row["candidates"] for row in plain.rung_history_}
    assert {key: row["candidates"] for key, row in zip(keys, never.rung_history_, strict=True)} == (
        by_rung
    )
    assert never.rung_history_[-1]["total_cost"] == never.schedule_.total_cost
    assert never.best_params_ == plain.best_params_
    early = search_of(limits, target_score=0.6, **params).fit(X)
    assert early.best_score_ >= 0.6
    assert early.rung_history_[-1]["total_cost"] < early.schedule_.total_cost


def test_a_single_rung_with_a_target_is_a_bound():
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, target_score=0.1
    ).fit(X, y)
    assert search.n_candidates_ == [1]
    assert len(search.schedule_.rungs) == 1
    assert "At most" in str(search.schedule_)


def test_folds_of_a_fixed_schedule_grow_by_the_exact_ratio_of_its_rungs():
    growth = FoldGrowth(tuple(range(20)), first=3)
    plan = FixedSchedule([10, 3, 1], [1, 2, 4]).plan(Bounds(10, 4, fold_growth=growth))
    assert [len(rung.folds) for rung in plan.rungs] == [3, 10, 20]
    plan = FixedSchedule([10, 3], [1, 4]).plan(Bounds(10, 4, fold_growth=growth))
    assert [len(rung.folds) for rung in plan.rungs] == [3, 20]


def test_initial_candidates_are_kept_in_a_single_rung_with_a_target():
    X, y = load_digits(return_X_y=True)
    initial = [{"var_smoothing": value} for value in (1e-9, 1e-6, 1e-3)]
    search = SuccessiveHalvingSearchCV(
        GaussianNB(), {"var_smoothing": [1e-2, 1e-1]}, target_score=0.1,
        initial_candidates=initial, keep_initial=True,
    ).fit(X, y)  # fmt: skip
    assert len(search.schedule_.rungs) == 1
    assert search.cv_results_["params"] == initial


@pytest.mark.parametrize(
    ("sizes", "resources", "message"),
    [
        ([], [], "must have one value for each rung"),
        ([8, 2], [4], "must have one value for each rung"),
        ([8, 8, 2], [1, 2, 4], "must decrease from rung to rung"),
        ([8, 16], [1, 2], "must decrease from rung to rung"),
        ([8, 2], [4, 2], "must not decrease"),
        ([8, 2], [0, 2], "a value of n_resources=0 must be an integer of at least 1"),
        ([8, 2], [1, 2.5], "a value of n_resources=2.5 must be an integer"),
        ([8, 2], [3, 3], "has two rungs with the same resource and folds"),
    ],
)
def test_fixed_rungs_that_are_refused(sizes, resources, message):
    with pytest.raises(ValueError, match=message):
        FixedSchedule(sizes, resources).plan(Bounds(n_candidates=8, max_resources=32))
    with pytest.raises(TypeError, match="n_candidates=8 must be a sequence of integers"):
        FixedSchedule(8, 4).plan(Bounds(n_candidates=8, max_resources=32))


def test_all_groups_of_the_last_rung_are_promoted_candidates():
    limits = np.linspace(0.1, 0.9, 12)
    plain = search_of(limits, factor=4).fit(X)
    never = search_of(limits, factor=4, target_score=2).fit(X)
    assert len(plain.rung_history_[-1]["candidates"]) == 3
    for name in ("candidates", "promoted", "cut_score"):
        assert [row[name] for row in never.rung_history_] == [
            row[name] for row in plain.rung_history_
        ], name
