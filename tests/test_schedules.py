"""Schedules: examples, and properties of all schedules."""

import itertools
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sklearn_sha.schedules import (
    Schedule,
    doubling_schedules,
    hyperband_schedules,
    rung_sizes,
    schedule_from_budget,
    schedule_from_range,
)

COUNTS = st.integers(1, 3000)
FACTORS = st.one_of(
    st.integers(2, 12), st.sampled_from([1.1, 1.25, 1.5, 1.9, 2.5, 3.7, Fraction(7, 3)])
)


@pytest.mark.parametrize(
    ("n", "factor", "minimum", "maximum", "sizes", "resources"),
    [
        (64, 2, None, 100, [64, 32, 16, 8, 4, 2], [3, 6, 12, 24, 48, 100]),
        (27, 3, 1, 27, [27, 9, 3, 1], [1, 3, 9, 27]),
        (243, 3, 1, 243, [243, 81, 27, 9, 3, 1], [1, 3, 9, 27, 81, 243]),
        (1000, 10, 1, 1000, [1000, 100, 10, 1], [1, 10, 100, 1000]),
        (1, 2, None, 7, [1], [7]),
        (1, 2, 1, 7, [1], [7]),
        (5, 2, 9, 9, [5], [9]),
        (100, 3, 4, 40, [100, 34, 12], [4, 12, 40]),
    ],
)
def test_examples_of_ranges(n, factor, minimum, maximum, sizes, resources):
    schedule = schedule_from_range(n, factor=factor, min_resources=minimum, max_resources=maximum)
    assert schedule.n_candidates == sizes
    assert schedule.n_resources == resources


def test_example_of_the_paper():
    schedule = schedule_from_budget(8, 32)
    assert [rung.step for rung in schedule.rungs] == [1, 2, 5]
    assert schedule.n_resources == [1, 3, 8]
    assert schedule.total_cost == 26


@given(COUNTS, FACTORS)
def test_rung_sizes_decrease_by_the_factor(n, factor):
    sizes = rung_sizes(n, factor)
    assert sizes[0] == n
    for larger, smaller in zip(sizes, [*sizes[1:], 1], strict=True):
        if n > 1:
            assert smaller == min(ceil(Fraction(larger) / Fraction(str(factor))), larger - 1)
    assert n == 1 or min(sizes) > 1


@given(COUNTS, st.integers(2, 12))
def test_an_integer_factor_has_the_number_of_rungs_of_the_paper(n, factor):
    n_rungs = 0
    while factor**n_rungs < n:  # ceil(log_factor(n)) without logarithms
        n_rungs += 1
    assert len(rung_sizes(n, factor)) == max(n_rungs, 1)


@given(st.integers(2, 12), st.integers(1, 6))
def test_powers_of_the_factor_have_all_rungs(factor, power):
    n = factor**power
    schedule = schedule_from_range(n, factor=factor, min_resources=1, max_resources=n)
    assert schedule.n_candidates == [factor**k for k in range(power, -1, -1)]
    assert schedule.n_resources == [factor**k for k in range(power + 1)]


@given(COUNTS, FACTORS, st.none() | st.integers(1, 500), st.integers(1, 5000), st.integers(1, 40))
def test_a_range_has_decreasing_sizes_and_ends_at_the_maximum(n, factor, minimum, maximum, lowest):
    assume(minimum is None or minimum <= maximum)
    schedule = schedule_from_range(
        n, factor=factor, min_resources=minimum, max_resources=maximum, lowest=lowest
    )
    sizes, resources = schedule.n_candidates, schedule.n_resources
    assert sizes == [*rung_sizes(n, factor), 1][: len(sizes)]
    assert sizes.count(1) <= 1
    assert all(a < b for a, b in itertools.pairwise(resources))
    assert resources[0] >= 1
    assert resources[-1] == maximum
    if minimum is not None and len(sizes) > 1:
        assert resources[0] == minimum
    if minimum is None:
        assert resources[0] >= min(lowest, maximum)
        assert n == 1 or sizes[-1] > 1


@given(COUNTS, st.integers(2, 12), st.integers(1, 500), st.integers(1, 5000))
def test_a_range_has_as_many_rungs_as_fit(n, factor, minimum, maximum):
    assume(minimum <= maximum)
    schedule = schedule_from_range(n, factor=factor, min_resources=minimum, max_resources=maximum)
    sizes, resources = schedule.n_candidates, schedule.n_resources
    n_steps = len(sizes) - 1
    assert minimum * factor**n_steps <= maximum
    assert sizes[-1] == 1 or minimum * factor ** len(sizes) > maximum
    # They are spread: resource k is the integer part of the k-th of equal ratios.
    for k, resource in enumerate(resources[:-1]):
        power = minimum ** (n_steps - k) * maximum**k
        assert resource**n_steps <= power < (resource + 1) ** n_steps


@given(COUNTS, st.integers(2, 12), st.integers(1, 5000))
def test_an_automatic_minimum_has_all_rungs_if_they_fit(n, factor, maximum):
    schedule = schedule_from_range(n, factor=factor, max_resources=maximum)
    n_rungs = len(rung_sizes(n, factor))
    if factor ** (n_rungs - 1) <= maximum:
        assert len(schedule.rungs) == n_rungs
        assert n == 1 or 1 < schedule.n_candidates[-1] <= factor
    else:
        assert schedule.n_resources[0] == (1 if len(schedule.rungs) > 1 else maximum)


@given(
    COUNTS,
    FACTORS,
    st.integers(1, 10**6),
    st.none() | st.integers(1, 3000),
    st.booleans(),
)
def test_a_budget_is_never_exceeded(n, factor, budget, maximum, continues):
    smallest = n * len(rung_sizes(n, factor))
    if budget < smallest:
        with pytest.raises(ValueError, match=f"budget={smallest}"):
            schedule_from_budget(
                n, budget, factor=factor, max_resources=maximum, continues=continues
            )
        return
    schedule = schedule_from_budget(
        n, budget, factor=factor, max_resources=maximum, continues=continues
    )
    assert schedule.total_cost <= budget
    assert schedule.n_candidates[0] == n
    assert all(
        a > b for a, b in zip(schedule.n_candidates, schedule.n_candidates[1:], strict=False)
    )
    assert all(a < b for a, b in zip(schedule.n_resources, schedule.n_resources[1:], strict=False))
    if maximum is not None:
        assert schedule.n_resources[-1] <= maximum


@given(COUNTS, FACTORS)
def test_the_smallest_budget_is_sufficient(n, factor):
    smallest = n * len(rung_sizes(n, factor))
    assert schedule_from_budget(n, smallest, factor=factor).rungs[0].step == 1


@given(COUNTS, st.integers(2, 12), st.integers(1, 10**6))
def test_a_budget_follows_the_formula_of_the_paper(n, factor, budget):
    sizes = rung_sizes(n, factor)
    assume(budget >= n * len(sizes))
    schedule = schedule_from_budget(n, budget, factor=factor)
    assert [rung.step for rung in schedule.rungs] == [budget // (m * len(sizes)) for m in sizes]


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(1, 99)), min_size=1), st.booleans())
def test_spent_is_the_sum_of_the_costs_of_the_rungs(rungs, continues):
    sizes = [n for n, _ in rungs]
    resources = [sum(step for _, step in rungs[: k + 1]) for k in range(len(rungs))]
    schedule = Schedule.from_rungs(sizes, resources, continues)
    steps = [step for _, step in rungs]
    costs = steps if continues else resources
    assert [rung.step for rung in schedule.rungs] == steps
    assert schedule.total_cost == sum(n * cost for n, cost in zip(sizes, costs, strict=True))
    assert schedule.with_refit_cost().total_cost == sum(
        n * r for n, r in zip(sizes, resources, strict=True)
    )
    assert schedule.grid_cost == sizes[0] * resources[-1]


def test_a_schedule_is_frozen_and_prints_as_a_table():
    schedule = schedule_from_range(8, max_resources=8)
    with pytest.raises(FrozenInstanceError):
        schedule.rungs = ()
    head, *lines = str(schedule).splitlines()
    assert head.split() == ["rung", "candidates", "step", "n_resources", "total_cost"]
    table, sentences = lines[: len(schedule.rungs)], " ".join(lines[len(schedule.rungs) :])
    assert [tuple(map(int, line.split())) for line in table] == [
        (k, r.n_candidates, r.step, r.n_resources, r.total_cost)
        for k, r in enumerate(schedule.rungs)
    ]
    assert sentences == (
        "32 units per fold, 0.50 of a grid search (8 candidates x 8 units = 64). Models continue "
        "training between rungs."
    )
    assert repr(schedule) == str(schedule)


def test_fixed_costs_count_for_each_fit():
    schedule = schedule_from_range(8, max_resources=8, continues=False)  # 8, 4, 2 at 2, 4, 8
    assert schedule.relative_cost() == 48 / 64
    assert schedule.relative_cost(Fraction(3)) == (48 + 3 * 14) / (64 + 3 * 8)
    assert schedule.relative_cost(Fraction(3), Fraction(2)) == (2 * 48 + 3 * 14) / (64 + 3 * 8)


@pytest.mark.parametrize("value", [0, -4, 8.5, True])
@pytest.mark.parametrize(
    ("name", "schedule_of"),
    [
        ("n_candidates", lambda value: schedule_from_range(value, max_resources=9)),
        (
            "min_resources",
            lambda value: schedule_from_range(8, min_resources=value, max_resources=9),
        ),
        ("max_resources", lambda value: schedule_from_range(9, max_resources=value)),
        ("lowest", lambda value: schedule_from_range(9, max_resources=9, lowest=value)),
        ("n_candidates", lambda value: schedule_from_budget(value, 99)),
        ("budget", lambda value: schedule_from_budget(9, value)),
        ("max_resources", lambda value: schedule_from_budget(9, 99, max_resources=value)),
        ("min_resources", lambda value: hyperband_schedules(9, min_resources=value)),
        ("max_resources", lambda value: hyperband_schedules(value)),
        ("n_candidates", lambda value: next(doubling_schedules(value))),
        ("min_resources", lambda value: next(doubling_schedules(9, min_resources=value))),
        ("max_resources", lambda value: next(doubling_schedules(9, max_resources=value))),
    ],
)
def test_what_is_no_positive_integer_raises(name, schedule_of, value):
    with pytest.raises(ValueError, match=f"{name}={value} must be an integer of at least 1"):
        schedule_of(value)


def test_integers_of_numpy_do_not_overflow():
    numbers = {"min_resources": 10, "max_resources": 100_000}
    schedule = schedule_from_range(
        np.int64(256), **{name: np.int64(value) for name, value in numbers.items()}
    )
    assert schedule == schedule_from_range(256, **numbers)
    assert {type(value) for rung in schedule.rungs for value in vars(rung).values()} == {
        int, type(None)
    }  # fmt: skip


def test_a_minimum_above_the_maximum_raises():
    with pytest.raises(ValueError, match="min_resources=50 is larger than max_resources=20"):
        schedule_from_range(4, min_resources=50, max_resources=20)


@pytest.mark.parametrize("continues", [True, False])
def test_brackets_of_one_rung_have_no_sentence_about_training(continues):
    one = Schedule.from_rungs([4], [8], continues)
    several = Schedule.from_rungs([4, 2], [4, 8], continues)
    assert Schedule.joined([one, one]).training == one.training == ""
    assert Schedule.joined([several, one]).training == several.training != ""


def test_a_bracket_prints_as_the_whole_does():
    plan = replace(
        Schedule.joined([Schedule.from_rungs([8, 4], [1, 2])] * 2),
        unit="trees",
        continuation="Trees are added.",
    )
    assert "12 trees per fold, " in str(plan.brackets[0])
    assert str(plan.brackets[0]).endswith("Trees are added.")
