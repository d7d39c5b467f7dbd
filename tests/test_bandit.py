"""The algorithm alone, against its definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_sha.bandit import halving, promote
from sklearn_sha.schedules import schedule_from_budget, schedule_from_range

LOSSES = st.lists(
    st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0, float("inf"), float("-inf"), float("nan")]),
    min_size=1,
    max_size=40,
)


@given(LOSSES, st.data())
def test_promote_keeps_the_best_and_the_earliest_of_equals(losses, data):
    n = data.draw(st.integers(0, len(losses)))
    ordered = sorted(
        range(len(losses)),
        key=lambda i: (np.isnan(losses[i]), 0 if np.isnan(losses[i]) else losses[i], i),
    )
    assert promote(losses, n).tolist() == sorted(ordered[:n])


def run(schedule, loss):
    """Drive the generator with a loss(arm, resource); return its pulls and its best arm."""
    search, pulls = halving(schedule), []
    pull = next(search)
    while True:
        pulls.append(pull)
        try:
            pull = search.send([loss(arm, pull.resource) for arm in pull.arms])
        except StopIteration as end:
            return pulls, end.value


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 27, 100])
@pytest.mark.parametrize("factor", [1.5, 2, 3])
def test_pulls_are_the_schedules_rungs(n, factor):
    schedule = schedule_from_range(n, factor=factor, max_resources=200)
    rng = np.random.default_rng(n)
    table = rng.normal(size=(n, 201))
    pulls, best = run(schedule, lambda arm, resource: table[arm, resource])
    assert [len(pull.arms) for pull in pulls] == schedule.n_candidates
    assert [pull.resource for pull in pulls] == schedule.n_resources
    assert [pull.last for pull in pulls] == [False] * (len(pulls) - 1) + [True]
    assert [pull.rung for pull in pulls] == list(range(len(pulls)))
    for before, after in itertools.pairwise(pulls):
        kept = sorted(before.arms, key=lambda arm: table[arm, before.resource])[: len(after.arms)]
        assert sorted(kept) == list(after.arms)
    assert best == min(pulls[-1].arms, key=lambda arm: table[arm, pulls[-1].resource])


def test_constant_losses_find_the_best_arm_whatever_the_budget():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 50))
        losses = rng.permutation(n)
        schedule = schedule_from_budget(n, int(rng.integers(n * 10, n * 50)))
        assert run(schedule, lambda arm, _, losses=losses: losses[arm])[1] == losses.argmin()
