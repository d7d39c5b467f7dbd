"""Algorithms over arbitrary losses, compared with their definitions."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toys import answered

from sklearn_sha.bandit import (
    Bounds,
    BudgetDoubling,
    HalvingInTurn,
    Hyperband,
    LossesError,
    RungLosses,
    StableRanking,
    SuccessiveHalving,
    Target,
    doubling,
    halving,
    hyperband,
    numbered,
    promote,
    running_mean,
    running_min,
    successive_halving,
    uniform_allocation,
)
from sklearn_sha.bandit.in_turn import in_brackets
from sklearn_sha.schedules import (
    Schedule,
    doubling_schedules,
    hyperband_schedules,
    rung_sizes,
    schedule_from_budget,
    schedule_from_range,
)

IN_TURN = HalvingInTurn()
LOSSES = st.lists(
    st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0, float("inf"), float("-inf"), float("nan")]),
    min_size=1,
    max_size=40,
)


@given(LOSSES, st.data())
def test_promote_keeps_the_lowest_losses_and_the_first_of_few_ties(losses, data):
    n = data.draw(st.integers(0, len(losses)))
    numbers = Counter(loss for loss in losses if not np.isnan(loss))
    ordered = sorted(
        range(len(losses)),
        key=lambda i: (np.isnan(losses[i]), 0 if np.isnan(losses[i]) else losses[i], i),
    )
    promoted = promote(losses, n).tolist()
    assert promoted == sorted({*promoted})
    if 4 * max(numbers.values(), default=0) < 3 * numbers.total() or n <= 1:
        assert promoted == sorted(ordered[:n])
    # Of ties, the losses do not say which, but always the first one.
    np.testing.assert_array_equal(
        sorted(losses[i] for i in promoted), sorted(losses[i] for i in ordered[:n])
    )
    assert {losses.index(losses[i]) for i in promoted if not np.isnan(losses[i])} <= {*promoted}


def test_a_run_does_not_stop_while_candidates_wait():
    class Always(StableRanking):
        def is_over(self, ids, losses, n_promoted):
            return True

    for waits, expected in (([0, 0, 0, 1], (1, 3)), ([0, 0, 0, 0], (1,))):
        run = halving(Schedule.from_rungs([4, 1, 1], [2, 4, 8]), stop=Always())
        next(run)
        losses = RungLosses.of([0.3, 0.1, 0.2, 0.0], np.ones((4, 1)), waits=waits)
        request = run.send(losses if any(waits) else [0.3, 0.1, 0.2, 0.9])
        assert request.candidate_ids == expected
        assert request.is_last_rung == (not any(waits))


@pytest.mark.parametrize("has_more", [True, False])
@pytest.mark.parametrize("target", [None, Target(-9.0, 8)])
def test_candidates_that_wait_are_in_the_next_rung_too_if_it_has_more(has_more, target):
    resources = [4, 8] if has_more else [8, 8]
    schedule = Schedule.from_rungs([6, 3], resources, False, folds=[(0,), (0, 1)])
    run = halving(schedule, target=target)
    assert next(run).candidate_ids == (0, 1, 2, 3, 4, 5)
    losses = RungLosses.of(
        [np.nan, 0.5, 0.4, 0.3, 0.2, np.nan], np.ones((6, 1)), waits=[0, 1, 0, 0, 0, 1]
    )
    request = run.send(losses)
    expected = {1, 2, 3, 4, 5} if has_more else {2, 3, 4}
    found = {*request.candidate_ids}
    while target is not None and not request.is_final:
        request = run.send(RungLosses.of([0.5] * len(found), np.ones((len(found), 2))))
        found = {*request.candidate_ids}
    assert found == expected
    assert target is not None or {*request.eliminated} == {*range(6)} - expected


@pytest.mark.parametrize("n_inner", [2, 4, 8])
@pytest.mark.parametrize("n_others", [0, 5])
def test_losses_that_are_mostly_equal_promote_candidates_from_all_of_a_grid(n_inner, n_others):
    """The first ones would have the first values of the parameter that varies most slowly."""
    losses = [0.5] * 16 + [0.9] * n_others
    promoted = promote(losses, 8)
    assert (promoted < 16).all()
    assert len({*(promoted // n_inner)}) > 16 / n_inner / 2
    assert len({*(promoted % n_inner)}) > n_inner / 2


def run(schedule, loss):
    """Run the generator with ``loss(arm, resource)``; return its requests and its best arm."""
    return answered(halving(schedule), lambda arm, request: loss(arm, request.n_resources))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 27, 100])
@pytest.mark.parametrize("factor", [1.5, 2, 3])
def test_requests_equal_the_rungs_of_the_schedule(n, factor):
    schedule = schedule_from_range(n, factor=factor, max_resources=200)
    rng = np.random.default_rng(n)
    table = rng.normal(size=(n, 201))
    requests, best = run(schedule, lambda arm, resource: table[arm, resource])
    assert [len(request.candidate_ids) for request in requests] == schedule.n_candidates
    assert [request.n_resources for request in requests] == schedule.n_resources
    assert [request.is_final for request in requests] == [False] * (len(requests) - 1) + [True]
    assert [request.rung for request in requests] == list(range(len(requests)))
    for before, after in itertools.pairwise(requests):
        kept = sorted(before.candidate_ids, key=lambda arm: table[arm, before.n_resources])[
            : len(after.candidate_ids)
        ]
        assert sorted(kept) == list(after.candidate_ids)
    assert best == min(
        requests[-1].candidate_ids, key=lambda arm: table[arm, requests[-1].n_resources]
    )


def test_constant_losses_find_the_best_arm_with_any_budget():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 50))
        losses = rng.permutation(n)
        schedule = schedule_from_budget(n, int(rng.integers(n * 10, n * 50)))
        assert run(schedule, lambda arm, _, losses=losses: losses[arm])[1] == losses.argmin()


class Table:
    """Losses from a random table, with a record of the calls."""

    def __init__(self, n, maximum, seed):
        self.losses = np.random.default_rng(seed).normal(size=(n, maximum + 1))
        self.calls = []

    def __call__(self, arms, resource):
        self.calls += [(arm, resource) for arm in arms]
        return self.losses[list(arms), resource]


@given(st.integers(1, 40), st.integers(2, 4), st.integers(0, 99), st.integers(1, 10))
def test_successive_halving_equals_the_generator_within_its_budget(n, factor, seed, times):
    budget = n * len(rung_sizes(n, factor)) * times
    table = Table(n, budget, seed)
    result = successive_halving(table, n, budget, factor)
    schedule = schedule_from_budget(n, budget, factor=factor)
    requests, best = run(schedule, lambda arm, resource: table.losses[arm, resource])
    assert result.best == best
    assert result.total_cost == schedule.total_cost <= budget
    assert [row["arms"] for row in result.history] == [
        request.candidate_ids for request in requests
    ]
    assert [row["kept"] for row in result.history] == [
        *(request.candidate_ids for request in requests[1:]),
        (best,),
    ]


@given(st.integers(1, 40), st.integers(2, 4), st.integers(1, 60), st.integers(0, 99))
def test_doubling_calls_losses_once_and_equals_its_runs(n, factor, maximum, seed):
    table = Table(n, maximum, seed)
    result = doubling(table, n, factor, max_resources=maximum, patience=None)
    assert len(table.calls) == len(set(table.calls))
    furthest = {}
    for arm, resource in table.calls:
        furthest[arm] = max(resource, furthest.get(arm, 0))
    assert result.total_cost == sum(furthest.values())
    # The same runs, each on its own and without known losses.
    rows, best = [], None
    for schedule in doubling_schedules(n, factor=factor, max_resources=maximum):
        requests, best = run(schedule, lambda arm, resource: table.losses[arm, resource])
        rows += [request.candidate_ids for request in requests]
    assert [row["arms"] for row in result.history] == rows
    assert result.best == best
    assert result.history[-1]["n_resources"] == maximum


@given(st.integers(1, 30), st.sampled_from([1.1, 1.5, 1.9, 2.5]), st.integers(1, 5))
def test_runs_of_doubling_differ(n, factor, minimum):
    schedules = list(
        doubling_schedules(n, factor=factor, min_resources=minimum, max_resources=60 + minimum)
    )
    tops = [schedule.n_resources for schedule in schedules]
    assert all(a != b for a, b in itertools.pairwise(tops))
    assert all(a[-1] <= b[-1] for a, b in itertools.pairwise(tops))
    assert [schedule.rungs[0].bracket for schedule in schedules] == list(range(len(schedules)))


@given(st.integers(1, 30), st.integers(2, 4), st.integers(1, 5), st.integers(1, 300))
def test_runs_of_doubling_share_rungs_with_the_run_before(n, factor, minimum, maximum):
    minimum = min(minimum, maximum)
    schedules = list(
        doubling_schedules(n, factor=factor, min_resources=minimum, max_resources=maximum)
    )
    for k, schedule in enumerate(schedules):
        resources = schedule.n_resources
        assert resources == sorted(set(resources))
        assert resources[0] == min(minimum * factor**k, maximum)
        if k > 0:
            assert set(resources[:-1]) <= set(schedules[k - 1].n_resources)
        assert (resources[-1] == maximum) == (k == len(schedules) - 1)
        assert {rung.bracket for rung in schedule.rungs} == {k}


@pytest.mark.parametrize(("patience", "n_runs"), [(1, 4), (2, 5), (3, 9)])
def test_patience_counts_runs_without_improvement(patience, n_runs):
    by_resource = {1: 9.0, 2: 8.0, 4: 7.0, 8: 7.0, 16: 7.5, 32: 6.9, 64: 6.9, 128: 8.0, 256: 1.0}
    result = doubling(
        lambda arms, resource: [by_resource[resource]], 1, patience=patience, max_resources=256
    )
    # Losses: 9, 8, 7, then 7 and 7.5 without improvement, 6.9, then 6.9 and 8 without, 1.
    assert len(result.history) == n_runs


def test_tol_is_the_minimum_improvement():
    slowly = {2**k: 1 - 0.01 * k for k in range(9)}
    few = doubling(lambda arms, r: [slowly[r]], 1, patience=2, tol=0.05, max_resources=256)
    all_ = doubling(lambda arms, r: [slowly[r]], 1, patience=2, max_resources=256)
    assert (len(few.history), len(all_.history)) == (3, 9)


def test_hyperband_brackets_follow_the_formulas():
    schedules = hyperband_schedules(81)
    assert [schedule.n_candidates[0] for schedule in schedules] == [81, 34, 15, 8, 5]
    assert [schedule.n_resources[0] for schedule in schedules] == [1, 3, 9, 27, 81]
    assert len(hyperband_schedules(243)) == 6
    assert len(hyperband_schedules(242)) == 5
    assert len(hyperband_schedules(1000, factor=10)) == 4


@given(st.integers(1, 400), st.integers(2, 5), st.integers(1, 20))
def test_every_bracket_of_hyperband_ends_at_the_maximum(maximum, factor, minimum):
    minimum = min(minimum, maximum)
    for schedule in hyperband_schedules(maximum, factor=factor, min_resources=minimum):
        assert schedule.n_resources[-1] == maximum
        assert schedule.n_resources[0] >= minimum
        n = schedule.n_candidates[0]
        assert schedule.n_candidates == [n // factor**i for i in range(len(schedule.rungs))]
        assert min(schedule.n_candidates) >= 1


def test_hyperband_returns_the_best_arm_with_the_largest_resource():
    table = Table(143, 81, 0)
    result = hyperband(table, 81)
    ends = {arm: table.losses[arm, 81] for arm, resource in table.calls if resource == 81}
    assert result.best == min(ends, key=ends.get)
    assert sorted({arm for arm, _ in table.calls}) == list(range(143))
    assert [row["bracket"] for row in result.history] == [0] * 5 + [1] * 4 + [2] * 3 + [3] * 2 + [4]


def test_uniform_allocation_trains_all_arms_with_the_same_resource():
    table = Table(6, 9, 0)
    result = uniform_allocation(table, 6, 59)
    assert table.calls == [(arm, 9) for arm in range(6)]
    assert result.best == table.losses[:, 9].argmin()
    assert result.total_cost == 54


@given(st.lists(st.floats(-9, 9), min_size=1, max_size=20))
def test_running_losses(losses):
    prefixes = [losses[: k + 1] for k in range(len(losses))]
    assert running_min(losses).tolist() == [min(prefix) for prefix in prefixes]
    np.testing.assert_allclose(
        running_mean(losses), [np.mean(prefix) for prefix in prefixes], atol=1e-12
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: successive_halving(Table(4, 9, 0), 4, 3), "give at least budget=8"),
        (lambda: successive_halving(Table(4, 9, 0), 0, 3), "n=0 must be an integer of at least 1"),
        (lambda: uniform_allocation(Table(4, 9, 0), 4, 3), "give at least budget=4"),
        (lambda: hyperband(Table(4, 9, 0), 5, min_resources=6), "min_resources=6 is larger than"),
        (
            lambda: hyperband(Table(4, 9, 0), 9, factor=1),
            "factor=1 must be a finite number",
        ),
        (
            lambda: doubling(Table(4, 9, 0), 4, factor=float("inf")),
            "factor=inf must be a",
        ),
        (
            lambda: successive_halving(Table(4, 9, 0), 4, 99, factor=0.5),
            "factor=0.5 must be a finite number",
        ),
        (lambda: doubling(Table(4, 9, 0), 4, patience=0), "patience=0 must be an integer"),
        (lambda: doubling(Table(4, 9, 0), 4, tol=-1), "tol=-1 must be a number of at least 0"),
        (lambda: doubling(Table(4, 9, 0), 4, patience=None), "would never stop"),
        (lambda: Hyperband(n_repeats=0).plan(Bounds(0, 9)), "n_repeats=0 must be an integer of at"),
        (lambda: Hyperband(patience=0).plan(Bounds(0, 9)), "patience=0 must be an integer of at"),
        (lambda: BudgetDoubling(tol=-1).plan(Bounds(8, 9)), "tol=-1 must be a number of at least"),
        (lambda: Hyperband(stop="never").plan(Bounds(0, 9)), "stop='never' must be \"stable\" or"),
        (lambda: SuccessiveHalving(stop="never").plan(Bounds(8, 9)), "stop='never' must be"),
        (
            lambda: next(IN_TURN.requests(IN_TURN.plan(Bounds(62, 80)), numbered())),
            "one bracket, and this schedule has 4. Call it with each of schedule.brackets",
        ),
    ],
)
def test_invalid_parameters_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda arms: np.zeros((len(arms), 2)), r"shape \(2, 2\) for 2 arms at resource 6"),
        (lambda arms: [np.nan] * len(arms), "NaN for all of 2 arms at resource 6"),
    ],
)
def test_the_error_for_invalid_losses_has_the_history(bad, message):
    def losses(arms, resource):
        return list(arms) if resource < 6 else bad(arms)

    with pytest.raises(LossesError, match=message) as caught:
        successive_halving(losses, 4, 16)
    assert [row["arms"] for row in caught.value.history] == [(0, 1, 2, 3)]


def test_a_rung_of_which_some_losses_were_known_needs_a_number_too():
    """Arm 0 is NaN at 4 units in the first run, and in the second all others of its rung are."""
    at_two_units = [0, 50, 60, 60, 1, 1, 1, 70]

    def losses(arms, resource):
        if resource < 4:
            return [arm if resource == 1 else at_two_units[arm] for arm in arms]
        return [1.0 if arm == 1 else np.nan for arm in arms]

    with pytest.raises(LossesError, match="NaN for all of 4 arms at resource 4") as caught:
        doubling(losses, 8, max_resources=16)
    assert len(caught.value.history) == 4


@pytest.mark.parametrize("factor", [2, 2.5, 3, 4])
@pytest.mark.parametrize("minimum", [1, 3])
def test_the_brackets_of_hyperband_are_those_of_the_paper_for_each_factor(factor, minimum):
    plan = Hyperband(factor).plan(Bounds(1, 64, min_resources=minimum))
    expected = hyperband_schedules(64, factor=factor, min_resources=minimum)
    found = [(bracket.n_candidates, bracket.n_resources) for bracket in plan.brackets]
    assert found == [(one.n_candidates, one.n_resources) for one in expected]
    assert len(found) == 1 + int(np.floor(np.log(64 / minimum) / np.log(factor) + 1e-9))


def test_brackets_in_turn_have_the_notes_of_their_plan_once():
    noted = replace(schedule_from_range(16, max_resources=80), notes=("A note.",))
    assert in_brackets(itertools.repeat(noted), [8, 16, 16]).notes == noted.notes
