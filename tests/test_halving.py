"""Each elimination, compared with a naive search that refits from scratch at each rung."""

from collections import Counter
from fractions import Fraction
from math import ceil, floor, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold
from toys import CALLS, Curve, curve

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.schedules import rung_sizes

X = np.zeros((12, 1))


def naive_halving(candidates, factor, minimum, maximum):
    """Naive Successive Halving; returns rungs of (ids, resource, scores, promoted)."""
    factor = Fraction(str(factor))
    sizes = [len(candidates)]
    while sizes[-1] > 1:
        sizes.append(min(ceil(sizes[-1] / factor), sizes[-1] - 1))
    contests = max(len(sizes) - 1, 1)
    if minimum == "auto":
        minimum = max(1, floor(maximum / factor ** (contests - 1)))
        resources = [floor(minimum * factor**k) for k in range(contests)]
    else:
        n_rungs = sum(minimum * factor**k <= maximum for k in range(len(sizes)))
        # In equal ratios: resource**(n_rungs - 1) is at most this power.
        powers = [minimum ** (n_rungs - 1 - k) * maximum**k for k in range(n_rungs)]
        resources = [
            max(r for r in range(maximum + 1) if r ** (n_rungs - 1) <= power) for power in powers
        ]
    ids, rungs = list(range(len(candidates))), []
    while True:
        k = len(rungs)
        is_last = k + 1 == len(sizes) or minimum * factor ** (k + 1) > maximum
        resource = maximum if is_last else resources[k]
        scores = []
        for number in ids:
            fails = candidates[number].get("fails")
            truth = curve(candidates[number]["limit"], candidates[number]["speed"], resource)
            scores.append(float("nan") if fails else truth)
        order = sorted(
            range(len(ids)),
            key=lambda i: (isnan(scores[i]), -scores[i] if not isnan(scores[i]) else 0),
        )
        known = [score for score in scores if not isnan(score)]
        (score, n_equal), *_ = Counter(known).most_common(1) or [(None, 0)]
        if known and 4 * n_equal >= 3 * len(known):  # most are equal
            first, *others = [i for i in order if scores[i] == score]
            at = order.index(first)
            order[at : at + n_equal] = [first, *np.random.RandomState(0).permutation(others)]
        n_promoted = 1 if is_last else sizes[k + 1]
        has_scores = not all(map(isnan, scores))
        promoted = sorted(ids[i] for i in order[:n_promoted] if has_scores)
        rungs.append((ids, resource, scores, promoted))
        if is_last:
            return rungs
        ids = promoted


CANDIDATES = st.lists(
    st.fixed_dictionaries(
        {
            "limit": st.sampled_from([0.1, 0.5, 0.7, 0.9]),
            "speed": st.sampled_from([0.0, 0.5, 3.0, 20.0]),
            "fails": st.sampled_from([False, False, False, "score", "nan"]),
        }
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.filterwarnings("ignore:.*(failed|non-finite):UserWarning")
@settings(max_examples=150)
@given(
    CANDIDATES,
    st.sampled_from([2, 3, 4, 2.5]),
    st.sampled_from(["auto", 1, 2]),
    st.integers(2, 60),
    st.sampled_from(["partial_fit", "growth"]),
)
@pytest.mark.filterwarnings("ignore:max_resources=", "ignore:min_resources=. leaves no room")
def test_each_elimination_equals_that_of_the_naive_search(
    candidates, factor, minimum, maximum, resource
):
    grid = [{name: [value] for name, value in params.items()} for params in candidates]
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, factor=factor, resource=resource, min_resources=minimum,
        max_resources=maximum,
        cv=KFold(2), refit=False,
    )  # fmt: skip
    expected = naive_halving(candidates, factor, minimum, maximum)
    if len(expected) > 1 and all(params["fails"] for params in candidates):
        with pytest.raises(ValueError, match="No candidate has a score in the first"):
            search.fit(X)
        return
    search.fit(X)
    assert len(search.rung_history_) == len(expected)
    for row, (ids, n_resources, scores, promoted) in zip(
        search.rung_history_, expected, strict=True
    ):
        assert row["candidates"] == ids
        assert row["n_resources"] == n_resources
        assert row["promoted"] == promoted
        at = search.all_cv_results_["iter"] == row["iter"]
        shown = search.all_cv_results_["mean_test_score"][at]
        np.testing.assert_allclose(shown, scores, rtol=1e-12)
    ids, _, _, promoted = expected[-1]
    assert search.best_candidate_ == (promoted or ids)[0]


@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_training_calls_equal_the_plan(factor):
    grid = {"limit": list(np.linspace(0.1, 0.9, 20)), "speed": [1.0]}
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, factor=factor, max_resources=30, cv=KFold(3), refit=False
    )
    plan = search.plan(X)
    CALLS.clear()
    search.fit(X)
    assert search.schedule_ == plan
    assert [what for what, *_ in CALLS] == ["partial_fit"] * (3 * plan.total_cost)
    # Calls of a candidate on a fold are numbered 1, 2, 3...: no model is refit from scratch.
    firsts = sum(number == 1 for _, _, number in CALLS)
    assert firsts == 3 * len(grid["limit"])
    assert search.rung_history_[-1]["total_cost"] == plan.total_cost


@given(st.integers(1, 25), st.integers(1, 400))
def test_training_calls_stay_within_the_budget(n, budget):
    grid = {"limit": [k / n for k in range(n)]}
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, budget=budget, resource="partial_fit", cv=KFold(2), refit=False
    )
    CALLS.clear()
    smallest = n * len(rung_sizes(n, 2))
    if budget < smallest:
        with pytest.raises(ValueError, match=f"give at least budget={smallest}"):
            search.fit(X)
        assert not CALLS
        return
    search.fit(X)
    assert len(CALLS) == 2 * search.schedule_.total_cost <= 2 * budget


def test_a_budget_counts_all_training_if_models_are_refit_from_scratch():
    grid = {"limit": list(np.linspace(0, 1, 8))}
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, budget=32, resource="growth", cv=KFold(2), refit=False
    )
    CALLS.clear()
    search.fit(X)
    # Rungs at 1, 2 and 5 units, each refit from scratch: 8 + 8 + 10.
    assert search.n_resources_ == [1, 2, 5]
    trained = sum(units for _, _, units in CALLS)
    assert trained == 2 * search.schedule_.total_cost == 2 * 26


def test_ranks_are_those_of_the_last_rung_and_rank_one_is_the_best():
    rng = np.random.default_rng(0)
    grid = [
        {"limit": [float(limit)], "speed": [float(speed)]}
        for limit, speed in zip(rng.random(40).round(1), rng.integers(1, 9, 40), strict=True)
    ]
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, resource="partial_fit", min_resources=2, max_resources=9, cv=KFold(2),
        refit=False,
    ).fit(X)  # fmt: skip
    rank, scores = (search.cv_results_[k] for k in ("rank_test_score", "mean_test_score"))
    last = search.rung_history_[-1]
    assert len(rank) == last["n_candidates"] > 2
    assert scores.tolist() == last["scores"]
    assert rank.tolist() == [1 + sum(other > score for other in scores) for score in scores]
    assert rank.dtype == np.int32
    assert search.best_index_ == np.flatnonzero(rank == 1)[0]
    assert not [name for name in search.all_cv_results_ if name.startswith("rank")]


def test_rung_history_is_a_table_with_the_promised_columns():
    grid = {"limit": [0.1, 0.9, 0.5, 0.7], "speed": [1.0, 4.0]}
    search = SuccessiveHalvingSearchCV(
        Curve(), grid, resource="partial_fit", max_resources=40, cv=KFold(2), refit=False
    ).fit(X)
    assert [list(row) for row in search.rung_history_] == [
        [
            "iter", "n_candidates", "n_folds", "step", "n_resources", "total_cost", "candidates",
            "scores", "promoted", "best_score", "cut_score", "rank_correlation", "fit_time",
            "score_time", "wall_time", "utilization",
        ]
    ] * 3  # fmt: skip
    first, second, third = search.rung_history_
    assert (first["rank_correlation"], third["iter"]) == (None, 2)
    # Candidates are (0.1, 1), (0.1, 4), (0.9, 1), (0.9, 4), (0.5, 1), (0.5, 4), (0.7, 1), (0.7, 4).
    assert first["promoted"] == [2, 3, 6, 7]
    assert first["best_score"] == pytest.approx(curve(0.9, 1, 10))
    assert first["cut_score"] == pytest.approx(curve(0.7, 4, 10))
    assert third["promoted"] == [2]
    before = [curve(0.9, 1, 10), curve(0.9, 4, 10), curve(0.7, 1, 10), curve(0.7, 4, 10)]
    after = [curve(0.9, 1, 20), curve(0.9, 4, 20), curve(0.7, 1, 20), curve(0.7, 4, 20)]
    ranks = [np.argsort(np.argsort(scores)) for scores in (before, after)]
    assert second["rank_correlation"] == pytest.approx(np.corrcoef(ranks)[0, 1])
    for row in search.rung_history_:
        assert row["wall_time"] >= row["fit_time"] + row["score_time"]
        assert (row["fit_time"] + row["score_time"]) / row["wall_time"] < row["utilization"] <= 1
