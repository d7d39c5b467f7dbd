"""Folds that grow from rung to rung: counts, scores and plans against a brute-force search."""

import warnings
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, make_classification
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from toys import Curve, exactly, is_measured

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import (
    Bounds,
    BudgetDoubling,
    FixedBudget,
    Hyperband,
    RungRequest,
    SuccessiveHalving,
    promote,
)
from sklearn_sha.candidates import RandomSampler, Sampler
from sklearn_sha.inspection import trust_report
from sklearn_sha.schedules import (
    FoldGrowth,
    Schedule,
    rung_sizes,
    schedule_from_budget,
    schedule_from_range,
    start_later,
)

N_FOLDS, FOLD_SIZE = 5, 100
X = np.arange(float(N_FOLDS * FOLD_SIZE)).reshape(-1, 1)
TRAINED = []  # (candidate, fold, units) of each call of fit or partial_fit


def score_of(candidate, fold, units):
    """Score whose order of candidates depends on the fold and on the units."""
    return np.random.default_rng([candidate, fold, units]).random()


class OnFolds(BaseEstimator):
    """Its score depends on the candidate, the fold and the units of training."""

    def __init__(self, candidate=0, trees=1, fails_on=()):
        self.candidate = candidate
        self.trees = trees
        self.fails_on = fails_on

    def fit(self, X, y=None):
        self._train(X, self.trees)
        self.units_ = self.trees
        return self

    def partial_fit(self, X, y=None):
        self._train(X, 1)
        self.units_ = getattr(self, "units_", 0) + 1
        return self

    def _train(self, X, units):
        (fold, *others) = {*range(N_FOLDS)} - {*(X[:, 0] // FOLD_SIZE).astype(int).tolist()} or [-1]
        if fold in self.fails_on:
            raise ValueError("not on this fold")
        if not others and fold >= 0:  # not the refit
            TRAINED.append((self.candidate, fold, units))

    def score(self, X, y=None):
        return score_of(self.candidate, int(X[0, 0]) // FOLD_SIZE, self.units_)


def search_of(n, search=SuccessiveHalvingSearchCV, **params):
    defaults = {"resource": "partial_fit", "max_resources": 16, "cv": KFold(N_FOLDS)}
    defaults |= {"random_state": 0, "refit": False, "min_folds": "auto"}
    return search(OnFolds(), {"candidate": range(n)}, **defaults | params)


def expected_rungs(search, n):
    """Rungs of a search of one bracket, computed one after the other from `score_of`."""
    ids = [*range(n)]
    for rung, following in pairwise([*search.schedule_.rungs, None]):
        folds = sorted(range(N_FOLDS) if rung.folds is None else rung.folds)
        scores = [[score_of(i, fold, rung.n_resources) for fold in folds] for i in ids]
        means = np.mean(scores, axis=1)
        kept = 1 if following is None else following.n_candidates
        promoted = sorted(np.argsort(-means, kind="stable")[:kept])
        yield ids, folds, scores, means, [ids[k] for k in promoted]
        ids = [ids[k] for k in promoted]


def results_of(search):
    """Tables of a search without its times."""
    return [
        {name: exactly(column) for name, column in table.items() if not is_measured(name)}
        for table in (search.cv_results_, search.all_cv_results_, *search.rung_history_)
    ]


SCHEDULES = {
    "automatic": {},
    "explicit": {"min_resources": 2},
    "budget": {"budget": 4000, "max_resources": "auto"},
    "capped budget": {"budget": 4000},
    "factor 1.5": {"factor": 1.5, "max_resources": 64},
    "from 2 folds": {"min_folds": 2, "min_resources": 1},
}


@pytest.mark.parametrize("resource", ["partial_fit", "trees"])
@pytest.mark.parametrize("n", [2, 9, 20])
@pytest.mark.parametrize("case", SCHEDULES)
def test_rungs_scores_and_costs_are_those_of_a_search_by_hand(case, n, resource):
    TRAINED.clear()
    search = search_of(n, **{"resource": resource} | SCHEDULES[case]).fit(X)
    history, results = search.rung_history_, search.all_cv_results_
    start = 0
    assert len(history) == len(search.schedule_.rungs)
    expected = expected_rungs(search, n)
    for row, rung, one in zip(history, search.schedule_.rungs, expected, strict=True):
        ids, folds, scores, means, promoted = one
        assert (row["candidates"], row["promoted"]) == (ids, promoted)
        assert (row["n_folds"], row["total_cost"]) == (len(folds), rung.total_cost)
        assert row["scores"] == means.tolist()
        rows = slice(start, start + len(ids))
        start += len(ids)
        for fold in range(N_FOLDS):
            column = results[f"split{fold}_test_score"][rows]
            if fold in folds:
                assert column.tolist() == [by_fold[folds.index(fold)] for by_fold in scores]
            else:
                assert np.isnan(column).all()
        assert results["std_test_score"][rows].tolist() == np.std(scores, axis=1).tolist()
        assert (results["n_folds"][rows] == len(folds)).all()
    per_fold = 1 if search.schedule_.n_folds else N_FOLDS
    assert sum(units for *_, units in TRAINED) == search.schedule_.total_cost * per_fold
    if resource == "trees":
        assert len({*TRAINED}) == len(TRAINED)


@pytest.mark.parametrize("factor", [2, 3])
def test_the_last_rung_has_all_folds_and_the_rungs_before_have_nested_ones(factor):
    search = search_of(20, factor=factor, min_resources=1).fit(X)
    folds = [rung.folds for rung in search.schedule_.rungs]
    assert sorted(folds[-1]) == [*range(N_FOLDS)]
    assert all({*fewer} <= {*more} for fewer, more in pairwise(folds))
    assert len(folds[0]) == 1
    assert search.all_cv_results_["n_folds"][search.cv_results_rows_].tolist() == [5] * len(
        search.cv_results_["params"]
    )
    assert not np.isnan(search.cv_results_["split0_test_score"]).any()
    assert "n_folds" not in search.cv_results_


@given(st.integers(1, 12), st.integers(1, 8), st.sampled_from([1.2, 1.5, 2, 3, 4]), st.data())
def test_numbers_of_folds_grow_by_the_factor_up_to_all(n_folds, n_rungs, factor, data):
    first = data.draw(st.none() | st.integers(1, n_folds))
    order = tuple(range(n_folds))
    counts = FoldGrowth(order, first).counts(n_rungs, factor)
    assert len(counts) == n_rungs
    assert counts[-1] == n_folds
    assert min(counts) >= 1
    if first is None:
        # No smaller number could grow to all folds, and what follows is in equal ratios.
        assert counts[0] == 1 or round((counts[0] - 1) * factor ** (n_rungs - 1), 9) < n_folds
        for k, count in enumerate(counts):
            ratio = (n_folds / counts[0]) ** (k / max(1, n_rungs - 1))
            assert count == floor(round(counts[0] * ratio, 9) + 0.5)
    elif n_rungs > 1:
        assert counts[0] == first
        assert counts[1:-1] == [
            min(n_folds, ceil(round(factor * fewer, 9))) for fewer in counts[:-2]
        ]


@given(
    st.integers(1, 100), st.sampled_from([1.5, 2, 3, 4]), st.integers(2, 6), st.integers(1, 2000),
    st.booleans(), st.none() | st.integers(1, 3),
)  # fmt: skip
def test_a_later_start_costs_at_most_what_all_folds_cost(
    n, factor, n_folds, maximum, continues, first
):
    growth = FoldGrowth(tuple(range(n_folds)), first and min(first, n_folds - 1))
    schedule = schedule_from_range(n, factor=factor, max_resources=maximum, continues=continues)
    assume(len(schedule.rungs) > 1)
    later = start_later(schedule, growth, factor)
    assert 100 * later.total_cost <= 101 * schedule.total_cost * n_folds
    assert later.n_candidates == schedule.n_candidates
    assert later.n_resources[-1] == maximum
    before, after = schedule.n_resources, later.n_resources
    shifted = [*before[1:], maximum]
    assert after in (shifted, before) or after[0] == before[1]
    assert bool(later.notes) == (after[0] == before[1])
    costs = [
        Schedule.from_rungs(
            later.n_candidates, shifted, continues, folds=[rung.folds for rung in later.rungs]
        ).total_cost,
        schedule.total_cost * n_folds,
    ]
    counts = growth.counts(len(after), factor)
    levels, shifted_levels = ([*zip(one, counts, strict=True)] for one in (after, shifted))
    # Each rung adds resource or folds: one that adds neither would have nothing to evaluate.
    assert len({*levels}) == len(levels)
    if after != before:
        is_possible = len({*shifted_levels}) == len(levels) and 100 * costs[0] <= 101 * costs[1]
        assert (after == shifted) == is_possible


@given(
    st.integers(1, 60), st.sampled_from([1.3, 1.5, 2, 3]), st.integers(1, 6), st.data(),
    st.booleans(),
)  # fmt: skip
def test_a_budget_over_folds_is_never_exceeded(n, factor, n_folds, data, continues):
    growth = FoldGrowth(tuple(range(n_folds)), data.draw(st.none() | st.integers(1, n_folds)))
    maximum = data.draw(st.sampled_from([0, 1, 20, 300]))
    bounds = Bounds(n, maximum, continues=continues, fold_growth=growth)
    budget = data.draw(st.integers(1, 20_000))
    try:
        plan = FixedBudget(budget, factor).plan(bounds)
    except ValueError as error:
        needed = int(str(error).split("give at least budget=")[1].split(",")[0])
        assert needed > budget
        plan = FixedBudget(needed, factor).plan(bounds)
        assert plan.total_cost <= needed
        return
    assert plan.total_cost <= budget
    assert plan.n_resources[0] >= 1
    assert plan.n_folds == (None if growth.first is None else n_folds)
    if growth.first is not None and not maximum:
        # A rung is left out only if it adds neither resource nor folds.
        sizes = rung_sizes(n, factor)
        kept = [sizes.index(size) for size in plan.n_candidates]
        counts = growth.counts(len(sizes), factor)
        for k in {*range(len(sizes))} - {*kept}:
            assert counts[k] == counts[max(other for other in kept if other < k)]


@pytest.mark.parametrize(
    ("n", "factor", "first", "budget", "sizes", "resources"),
    [
        (8, 2, 1, 20_000, [8, 4, 2], [833, 833, 833]),
        (16, 2, 2, 100_000, [16, 8, 4, 2], [781, 781, 1250, 2500]),
        (27, 3, 1, 50_000, [27, 9, 3], [617, 617, 1111]),
    ],
)
def test_rungs_of_a_budget_that_only_add_folds(n, factor, first, budget, sizes, resources):
    growth = FoldGrowth((0, 1, 2, 3, 4), first)
    plan = schedule_from_budget(n, budget, factor=factor, continues=False, fold_growth=growth)
    assert (plan.n_candidates, plan.n_resources) == (sizes, resources)
    assert [len(rung.folds) for rung in plan.rungs] == growth.counts(len(sizes), factor)
    assert budget / 2 < plan.total_cost <= budget


def test_the_default_does_not_change_the_unit_of_a_budget():
    def plan(**params):
        return search_of(8, budget=480, max_resources="auto", **params).plan(X)

    assert plan() == plan(min_folds="all")
    assert "epochs per fold" in str(plan())
    assert "epochs over all folds" in str(plan(min_folds=1))


def test_folds_join_in_their_own_order_unless_there_is_a_random_state():
    def first_fold(random_state):
        TRAINED.clear()
        search_of(8, random_state=random_state).fit(X)
        return TRAINED[0][1]

    assert {first_fold(None) for _ in range(10)} == {0}
    assert len({first_fold(seed) for seed in range(10)}) > 1


@pytest.mark.parametrize("factor", [1.5, 2, 3])
@pytest.mark.parametrize("min_folds", ["auto", 1, 3])
def test_no_run_of_budget_doubling_repeats_or_exceeds_its_plan(min_folds, factor):
    TRAINED.clear()
    search = search_of(
        12, budget="double", resource="trees", min_resources=1, min_folds=min_folds, factor=factor
    ).fit(X)
    assert len({*TRAINED}) == len(TRAINED)
    assert sum(units for *_, units in TRAINED) == search.rung_history_[-1]["total_cost"]
    assert search.rung_history_[-1]["total_cost"] <= search.schedule_.total_cost
    assert search.all_cv_results_["cached"].any()


def test_each_bracket_of_hyperband_grows_its_own_folds():
    TRAINED.clear()
    search = search_of(100, HyperbandSearchCV, max_resources=9).fit(X)
    folds = [[len(rung.folds) for rung in one.rungs] for one in search.schedule_.brackets]
    assert folds == [[1, 2, 5], [1, 5], [5]]
    by_rung = {(row["bracket"], row["iter"]): row["n_folds"] for row in search.rung_history_}
    assert by_rung == {(b, k): n for b, counts in enumerate(folds) for k, n in enumerate(counts)}
    assert len(TRAINED) == search.schedule_.total_cost == search.rung_history_[-1]["total_cost"]


class Waves(Sampler):
    """Random candidates, some at a time."""

    uses_history = True

    def propose(self, n, space, history, rng):
        assert all(one.n_folds == len(one.fold_scores) for one in history.evaluations)
        return RandomSampler().propose(min(n, 4), space, history, rng)


VARIANTS = {
    "automatic": (SuccessiveHalvingSearchCV, {}),
    "refit from scratch": (SuccessiveHalvingSearchCV, {"resource": "trees"}),
    "folds": (
        SuccessiveHalvingSearchCV,
        {"resource": "folds", "max_resources": "auto", "min_folds": "all"},
    ),
    "doubling": (SuccessiveHalvingSearchCV, {"budget": "double"}),
    "Hyperband": (HyperbandSearchCV, {"max_resources": 9}),
    "waves": (SuccessiveHalvingSearchCV, {"sampler": Waves(), "n_candidates": 12}),
    "target": (SuccessiveHalvingSearchCV, {"target_score": 0.6}),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_result_depends_neither_on_workers_nor_on_interruptions(variant, tmp_path):
    search_class, params = VARIANTS[variant]
    n = 100 if search_class is HyperbandSearchCV else 20
    expected = results_of(search_of(n, search_class, **params).fit(X))
    assert results_of(search_of(n, search_class, n_jobs=2, **params).fit(X)) == expected
    assert results_of(search_of(n, search_class, checkpoint=tmp_path, **params).fit(X)) == expected
    TRAINED.clear()
    assert results_of(search_of(n, search_class, checkpoint=tmp_path, **params).fit(X)) == expected
    assert TRAINED == []
    for limit in (1, 7, 23):
        search = search_of(n, search_class, scoring=Interrupting(limit), **params)
        TRAINED.clear()
        with pytest.raises(KeyboardInterrupt):
            search.fit(X)
        assert results_of(search.resume(X)) == expected
        # Only the fit that was interrupted is repeated.
        assert len(TRAINED) - len({*TRAINED}) <= 1 or params.get("resource") != "trees"


class Interrupting:
    """Scorer that is interrupted once, after some calls."""

    def __init__(self, limit):
        self.left = [limit]

    def __call__(self, model, X, y=None):
        self.left[0] -= 1
        if self.left[0] == 0:
            raise KeyboardInterrupt
        return model.score(X)


@pytest.mark.slow
def test_folds_as_the_resource_are_fit_once_and_end_as_a_grid_search():
    X, y = load_digits(return_X_y=True)
    grid = {"n_neighbors": [1, 2, 3, 5], "weights": ["uniform", "distance"], "p": [1, 2]}
    common = {"cv": KFold(8, shuffle=True, random_state=0)}
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), grid, resource="folds", random_state=0, **common
    ).fit(X[:900], y[:900])
    expected = GridSearchCV(KNeighborsClassifier(), grid, **common).fit(X[:900], y[:900])
    assert search.n_candidates_ == [16, 8, 4, 2]
    assert search.n_resources_ == [1, 2, 4, 8]
    assert search.schedule_.total_cost == 16 + 8 + 8 + 8
    assert search.best_n_resources_ == 8
    for name in ("split0_test_score", "split7_test_score", "mean_test_score", "std_test_score"):
        for params, value in zip(
            search.cv_results_["params"], search.cv_results_[name], strict=True
        ):
            assert value == expected.cv_results_[name][expected.cv_results_["params"].index(params)]
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert "160 folds, 0.31 of a grid search (64 candidates x 8 folds = 512)." in str(
        SuccessiveHalvingSearchCV(
            KNeighborsClassifier(), {"n_neighbors": range(1, 65)}, resource="folds", **common
        ).plan(X[:900], y[:900])
    )


def test_one_rung_is_a_grid_search():
    search = search_of(6, min_resources=1.0).fit(X)
    estimator = OnFolds(trees=16)
    expected = GridSearchCV(estimator, {"candidate": range(6)}, cv=KFold(5), refit=False).fit(X)
    assert search.cv_results_["rank_test_score"].tolist() == (
        expected.cv_results_["rank_test_score"].tolist()
    )
    for name in ("mean_test_score", "std_test_score", "split3_test_score"):
        assert search.cv_results_[name].tolist() == expected.cv_results_[name].tolist()
    assert search.schedule_.n_folds is None


def folds_of(cv, X=X, **params):
    search = search_of(8, cv=cv, **params)
    return [rung.folds for rung in search.plan(X).rungs]


def test_the_order_of_folds_is_random_or_that_of_the_splitter():
    orders = {folds_of(KFold(5), random_state=seed)[-1] for seed in range(20)}
    assert len(orders) > 10
    assert folds_of(KFold(5), random_state=3) == folds_of(KFold(5), random_state=3)
    # The latest has the longest history.
    assert folds_of(TimeSeriesSplit(4, test_size=100)) == [(3,), (3, 2), (3, 2, 1, 0)]
    splits = [*TimeSeriesSplit(4, test_size=100).split(X)]
    assert folds_of(splits) == folds_of(splits, random_state=0) == [(3,), (3, 2), (3, 2, 1, 0)]
    assert folds_of(splits[::-1]) == [(0,), (0, 1), (0, 1, 2, 3)]
    assert folds_of(PredefinedSplit(np.arange(500) // 100))[-1] == (0, 1, 2, 3, 4)
    assert folds_of(KFold(5), min_folds="all") == [None] * 3


def test_the_order_of_folds_does_not_change_the_candidates():
    search = search_of(50, n_candidates=12)
    everywhere = search_of(50, n_candidates=12, min_folds="all")
    ids = [s.fit(X).rung_history_[0] for s in (search, everywhere)]
    assert ids[0]["candidates"] == ids[1]["candidates"]
    assert search.all_cv_results_["params"][:12] == everywhere.all_cv_results_["params"][:12]


def test_the_first_rung_has_at_least_100_test_samples():
    rows = X[:150]
    plan = search_of(8, cv=LeaveOneOut(), resource="trees").plan(rows)
    assert len(plan.rungs[0].folds) == 100
    with pytest.raises(
        ValueError, match=r"min_folds=1 would score the first rung on 1 fold .*Set min_"
    ):
        search_of(8, cv=LeaveOneOut(), min_folds=1).plan(rows)
    with pytest.raises(ValueError, match=r"on 1 fold .*: min_resources, .*at least 100 folds"):
        search_of(
            8, cv=LeaveOneOut(), resource="folds", min_resources=1, max_resources="auto",
            min_folds="all",
        ).plan(rows)  # fmt: skip
    # Fewer samples than that in all: all folds.
    assert folds_of(KFold(5), X=X[:90], resource="trees") == [None] * 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_folds": 6}, "min_folds=6 is larger than the number of folds, 5"),
        ({"min_folds": 0}, 'min_folds=0 must be an integer of at least 1, or "auto" or "all"'),
        ({"min_folds": "some"}, "min_folds='some' must be"),
        ({"resource": "folds", "min_folds": 2}, "Set min_resources=2 if neither budget"),
        (
            {"budget": 10, "min_folds": 2},
            "2 folds in the first of 3 rungs, and .* added late; give at least budget=54,",
        ),
    ],
)
def test_what_is_refused(params, message):
    defaults = {} if "resource" not in params else {"max_resources": "auto"}
    with pytest.raises(ValueError, match=message):
        search_of(8, **defaults | params).fit(X)


class AllFolds(SuccessiveHalving):
    """Ignores the growth of folds."""

    def plan(self, bounds):
        return super().plan(replace(bounds, fold_growth=None))


def test_a_number_of_folds_that_an_algorithm_ignores_is_refused():
    with pytest.raises(ValueError, match=r"min_folds=2 has no effect, since AllFolds\.plan does"):
        search_of(8, algorithm=AllFolds(), min_folds=2).fit(X)
    # With one rung in each run there is nothing to save.
    one_rung = {"budget": "anytime", "min_resources": 16, "min_folds": 2, "n_candidates": 4}
    assert search_of(8, **one_rung).plan(X).n_folds is None
    for min_folds in ("auto", "all", N_FOLDS):
        search = search_of(8, algorithm=AllFolds(), min_folds=min_folds).fit(X)
        assert {row["n_folds"] for row in search.rung_history_} == {N_FOLDS}
    # A single rung has all folds anyway.
    search_of(8, algorithm=AllFolds(), min_folds=2, min_resources=1.0).plan(X)


def test_a_single_split_and_groups():
    assert folds_of(ShuffleSplit(1, random_state=0)) == [None] * 3
    search = search_of(8, cv=GroupKFold(5)).fit(X, groups=np.repeat(np.arange(5), 100))
    assert [row["n_folds"] for row in search.rung_history_] == [1, 2, 5]


def test_a_fold_that_joins_late_can_fail():
    order = search_of(8).plan(X).rungs[-1].folds
    search = SuccessiveHalvingSearchCV(
        OnFolds(fails_on=(order[-1],)), {"candidate": range(8)}, resource="partial_fit",
        max_resources=8, cv=KFold(5), min_folds="auto", random_state=0, refit=False,
        error_score=-1.0,
    )  # fmt: skip
    with pytest.warns(Warning, match="fits failed"):
        search.fit(X)
    failed_in = {record["rung"] for record in search.failures_}
    assert failed_in == {len(search.rung_history_) - 1}
    assert {record["split"] for record in search.failures_} == {order[-1]}


def test_several_metrics_and_train_scores_are_those_of_the_folds_that_score():
    search = search_of(
        8,
        scoring={"a": lambda m, X, y=None: m.score(X), "b": lambda m, X, y=None: -m.score(X)},
        promote_by="b",
        return_train_score=True,
    ).fit(X)
    results = search.all_cv_results_
    for part in ("test_a", "test_b", "train_a"):
        columns = np.stack([results[f"split{k}_{part}"] for k in range(5)], axis=1)
        assert (np.isfinite(columns).sum(axis=1) == results["n_folds"]).all()
        np.testing.assert_allclose(np.nanmean(columns, axis=1), results[f"mean_{part}"])


def test_a_search_that_is_interrupted_before_all_folds_warns():
    search = search_of(8, scoring=Interrupting(20), refit="score")
    with pytest.raises(KeyboardInterrupt):
        search.fit(X)
    assert search.all_cv_results_["n_folds"][search.best_index_] < 5

    class Slow(OnFolds):
        def score(self, X, y=None):
            clock[0] += 1
            return super().score(X)

    clock = [0.0]
    search = SuccessiveHalvingSearchCV(
        Slow(), {"candidate": range(8)}, resource="partial_fit", max_resources=16, cv=KFold(5),
        min_folds="auto", max_time=20, random_state=0,
    )  # fmt: skip
    import sklearn_sha._engine.engine as engine

    start = engine.time()
    with pytest.MonkeyPatch.context() as patch:
        for module in ("_engine.engine", "_engine.evaluation", "_search.base"):
            patch.setattr(f"sklearn_sha.{module}.time", lambda: start + clock[0])
        with pytest.warns(UserWarning, match="scored with [0-9]+ epochs on 2 of 5 folds"):
            search.fit(X)
    assert search.interrupted_


def test_reports_and_displays_know_folds(capsys):
    search = search_of(16, min_resources=2, verbose=1).fit(X)
    out = capsys.readouterr().out
    assert "16 candidates,  2 epochs on 1 fold" in out
    assert "16 epochs on 5 folds" in out
    report = trust_report(search)
    assert [row["folds"] for row in report.rungs] == [1, 2, 3, 5]
    head = str(report).splitlines()[-len(report.rungs) - 1]
    assert "folds" in head
    assert "folds" in search.rung_history_._repr_html_()
    assert "over all folds" in str(search.schedule_)
    assert "folds" in str(search.schedule_).splitlines()[0]
    frame = search.results_frame()
    assert frame["candidate"].tolist() == [*range(16)]
    assert sorted(frame["n_folds"].unique()) == [1, 2, 3, 5]


@pytest.mark.parametrize("continues", [True, False])
@pytest.mark.parametrize("algorithm", [SuccessiveHalving(), BudgetDoubling(), Hyperband(factor=2)])
def test_the_cost_of_a_plan_is_that_of_its_rungs(algorithm, continues):
    """Counted one job after the other: a fold that joins late is trained from 0."""
    growth = FoldGrowth((4, 2, 0, 1, 3))
    for maximum in (1, 7, 40):
        bounds = Bounds(13, maximum, min_resources=1, continues=continues, fold_growth=growth)
        plan = algorithm.plan(bounds)
        cost = 0
        for bracket in plan.brackets:
            trained = {}
            for rung in bracket.rungs:
                for fold in rung.folds or range(5):
                    before = trained.get(fold, 0)
                    start = before if continues or before == rung.n_resources else 0
                    cost += rung.n_candidates * (rung.n_resources - start)
                    trained[fold] = rung.n_resources
        # A single rung is a grid search, whose cost is counted per fold.
        per_fold = 1 if plan.n_folds else 5
        assert plan.total_cost * per_fold == cost
        assert plan.grid_cost * per_fold == plan.n_different * maximum * 5


def test_a_real_search_on_fewer_folds_selects_on_all():
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        GaussianNB(), {"var_smoothing": np.logspace(-9, 0, 12)}, resource="n_samples",
        min_resources=200, min_folds="auto", random_state=0,
    ).fit(X, y)  # fmt: skip
    expected = GridSearchCV(GaussianNB(), {"var_smoothing": np.logspace(-9, 0, 12)}).fit(X, y)
    row = expected.cv_results_["params"].index(search.best_params_)
    assert search.best_score_ == expected.cv_results_["mean_test_score"][row]


def test_a_plan_explains_its_later_start_and_advises_on_equal_terms():
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        HistGradientBoostingClassifier(), {"max_leaf_nodes": range(3, 27)},
        resource="n_samples", random_state=0,
    )  # fmt: skip
    grown = search.set_params(min_folds="auto").plan(X, y)
    rungs = search.set_params(min_folds="all").plan(X, y).rungs
    note = (
        "Early rungs use fewer folds. With the saved cost, n_resources of the first rung is "
        f'{rungs[1].n_resources}, instead of {rungs[0].n_resources} with min_folds="all".'
    )
    assert note in str(grown).replace("\n", " ")
    search.set_params(min_folds="auto")
    (advice,) = [note for note in grown.notes if "costs" in note]
    other = search.set_params(resource="max_iter").plan(X, y)
    ratio = grown.relative_cost() / other.relative_cost()
    cheaper = f"resource='max_iter' continues training and costs {ratio:.1f} times less"
    assert advice == f"{cheaper}, but large trees lead in early rungs."


def test_a_plan_advises_no_trees_that_are_not_there_and_warns_of_learning_rates():
    X, y = load_digits(return_X_y=True)
    none = SuccessiveHalvingSearchCV(
        RandomForestClassifier(n_estimators=0), {"max_depth": range(1, 17)}, min_resources=100,
        resource="n_samples",
    )  # fmt: skip
    assert "costs" not in str(none.plan(X, y)).partition("grid search")[2]
    rates = SuccessiveHalvingSearchCV(
        GradientBoostingClassifier(), {"learning_rate": loguniform(0.01, 1)}, n_candidates=64,
        resource="n_samples", min_resources=400, min_folds="all", random_state=0,
    )  # fmt: skip
    note = "less, but learning_rate is searched, of which large values lead in early rungs."
    assert note in str(rates.plan(X, y)).replace("\n", " ")


class InTurns(SuccessiveHalving):
    """Requests the same candidates on some folds, on others, and on all, at one resource."""

    def requests(self, plan, propose):
        ids = propose(plan.rungs[0].n_candidates)
        for rung, folds in enumerate([(0, 1), (3, 2), (1, 2)]):
            yield RungRequest(rung, ids, 4, folds=folds)
        losses = yield RungRequest(3, ids, 4, is_last_rung=True, is_final=True)
        return ids[promote(losses, 1)[0]]


@pytest.mark.parametrize("resource", ["partial_fit", "trees"])
def test_a_fold_is_never_trained_twice_at_a_resource_whatever_is_requested(resource):
    TRAINED.clear()
    search = search_of(
        6, algorithm=InTurns(), resource=resource, max_resources=4, min_resources=4
    ).fit(X)
    assert sum(units for *_, units in TRAINED) == 6 * N_FOLDS * 4
    results = search.all_cv_results_
    assert results["n_folds"].tolist() == [2] * 18 + [5] * 6
    # Known scores take no time: both folds of the third rung were scored before.
    assert [row["fit_time"] > 0 for row in search.rung_history_] == [True, True, False, True]
    for fold, rungs in enumerate([[0, 3], [0, 2, 3], [1, 2, 3], [1, 3], [3]]):
        scores = results[f"split{fold}_test_score"].reshape(4, 6)
        assert np.flatnonzero(~np.isnan(scores[:, 0])).tolist() == rungs
        for rung in rungs:
            assert scores[rung].tolist() == [score_of(i, fold, 4) for i in range(6)]


def test_a_last_rung_without_all_folds_is_not_called_interrupted():
    search = search_of(4, resource="folds", max_resources=3, min_folds="all", refit=True)
    with pytest.warns(UserWarning, match="last rung did not have all folds: .* 3 of 5 folds"):
        search.fit(X)
    assert not search.interrupted_


class RequestsFolds(SuccessiveHalving):
    """Plans all folds, and scores the first rung on some of them."""

    def __init__(self, folds):
        super().__init__()
        self.folds = folds

    def plan(self, bounds):
        return Schedule.from_rungs([bounds.n_candidates, 2], [1, 4])

    def requests(self, plan, propose):
        ids = propose(plan.rungs[0].n_candidates)
        losses = yield RungRequest(0, ids, 1, folds=self.folds)
        kept = tuple(ids[k] for k in promote(losses, 2))
        losses = yield RungRequest(1, kept, 4, is_last_rung=True, is_final=True)
        return kept[promote(losses, 1)[0]]


def test_costs_per_fold_of_an_algorithm_that_skips_folds_are_rounded_once():
    TRAINED.clear()
    search = search_of(8, algorithm=RequestsFolds((3,)), max_resources=4).fit(X)
    assert len(TRAINED) == 8 + 2 * (3 + 4 * 4)
    assert search.rung_history_[-1]["total_cost"] == len(TRAINED) // 5


@pytest.mark.parametrize("folds", [(), (5,), (-1, 0), (1, 1)])
def test_folds_that_do_not_exist_are_refused(folds):
    with pytest.raises(ValueError, match=r"requested folds=.*different folds of 0 to 4"):
        search_of(8, algorithm=RequestsFolds(folds), max_resources=4).fit(X)


class RequestsNothing(SuccessiveHalving):
    def requests(self, plan, propose):
        propose(plan.rungs[0].n_candidates)
        yield RungRequest(0, (), plan.rungs[0].n_resources)


def test_a_request_without_candidates_is_refused():
    with pytest.raises(ValueError, match="requested no candidates in rung 0"):
        search_of(8, algorithm=RequestsNothing(), max_resources=4).fit(X)


def test_brackets_of_hyperband_whose_candidates_come_in_waves():
    """The first rungs of two brackets at the same resource grow in turns."""
    TRAINED.clear()
    search = search_of(
        600, HyperbandSearchCV, max_resources=9, n_repeats=2, sampler=Waves()
    ).fit(X)  # fmt: skip
    keys = [(row["bracket"], row["iter"]) for row in search.rung_history_]
    assert len({*keys}) == len(keys) == len(search.schedule_.rungs)
    assert len(TRAINED) == search.schedule_.total_cost == search.rung_history_[-1]["total_cost"]


def test_candidates_of_earlier_waves_keep_their_times():
    search = search_of(50, sampler=Waves(), n_candidates=12).fit(X)
    first = search.all_cv_results_["iter"] == 0
    assert first.sum() == 12
    assert (search.all_cv_results_["mean_fit_time"][first] > 0).all()


def test_more_folds_rank_first_at_the_same_resource():
    """An interrupted Hyperband, whose brackets have 3 folds and 1 fold at 3 units."""
    search = search_of(
        100, HyperbandSearchCV, max_resources=9, min_folds=1, scoring=Interrupting(24)
    )
    with pytest.raises(KeyboardInterrupt):
        search.fit(X)
    results, rows = search.cv_results_, search.cv_results_rows_
    n_folds = search.all_cv_results_["n_folds"][rows]
    assert n_folds.tolist() == [3] * 3 + [1] * 5
    ranks = results["rank_test_score"]
    assert sorted(ranks[n_folds == 3]) == [1, 2, 3]
    assert sorted(ranks[n_folds == 1]) == [4, 5, 6, 7, 8]
    assert results["mean_test_score"][n_folds == 1].max() > results["mean_test_score"][0]


class FailsOnTheLastFold(DecisionTreeClassifier):
    """Deep trees fail on the fold whose training samples do not end as all samples do."""

    def fit(self, X, y, sample_weight=None, check_input=True):
        if self.max_depth in (4, 5) and len(X) == 2400 and X[-1, 0] != SAMPLES[0][-1, 0]:
            raise RuntimeError("not this fold")
        return super().fit(X, y, sample_weight, check_input)


SAMPLES = make_classification(3000, 8, flip_y=0.2, random_state=0)


@pytest.mark.parametrize("resource", ["n_samples", "folds"])
def test_a_candidate_that_failed_on_a_later_fold_is_not_selected(resource):
    search = SuccessiveHalvingSearchCV(
        FailsOnTheLastFold(random_state=0), {"max_depth": range(1, 9)}, cv=KFold(5),
        resource=resource, random_state=0,
    )  # fmt: skip
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score.* 2 of 5 folds"),
    ):
        search.fit(*SAMPLES)
    failed = {failure["params"]["max_depth"] for failure in search.failures_}
    assert failed == {4, 5}  # the two of the last rung
    assert search.best_params_["max_depth"] not in failed
    behind = [params["max_depth"] in failed for params in search.cv_results_["params"]]
    ranks = search.cv_results_["rank_test_score"]
    assert ranks[behind].min() > ranks[np.logical_not(behind)].max()


@pytest.mark.parametrize("n", [4, 6, 12, 16])
def test_the_fixed_cost_counts_the_fits_that_are_made(n):
    TRAINED.clear()
    search = search_of(n, resource="trees").fit(X)
    schedule = search.schedule_
    assert schedule.rungs[-1].n_resources == schedule.rungs[-2].n_resources
    # With an infinite fixed cost, only the number of fits counts.
    cost = schedule.relative_cost(fixed=Fraction(10**9))
    assert cost == pytest.approx(len(TRAINED) / (n * N_FOLDS), abs=1e-6)
    assert schedule.with_refit_cost().total_cost == sum(units for *_, units in TRAINED)


def test_times_are_means_over_the_fits_of_a_rung():
    search = search_of(8, resource="trees").fit(X)
    folds = [row["n_folds"] for row in search.rung_history_]
    n_new = folds[-1] - folds[-2]
    assert 0 < n_new < N_FOLDS
    for name in ("fit_time", "score_time"):
        total = search.cv_results_[f"mean_{name}"].sum() * n_new
        assert total == pytest.approx(search.rung_history_[-1][name])


class EqualOnFirstFold(OnFolds):
    def score(self, X, y=None):
        return 0.0 if X[0, 0] == 0 else super().score(X, y)


def test_a_rung_whose_folds_do_not_distinguish_candidates_is_a_warning():
    search = search_of(8, random_state=None).set_params(estimator=EqualOnFirstFold())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_params(min_folds=2).fit(X)
        search.set_params(min_folds="all").fit(X)
    search.set_params(min_folds="auto")  # one fold in the first rung
    with pytest.warns(UserWarning, match="All 8 candidates of rung 0 .* 0, on 1 of 5 folds"):
        search.fit(X)
    assert search.rung_history_[0]["promoted"] == [0, 2, 3, 7]


class EqualUntil(OnFolds):
    """All candidates have the same score with fewer than `trees` units."""

    def score(self, X, y=None):
        return self.candidate if self.units_ >= self.trees else 0.5


AS_FOLDS = {"resource": "folds"}
AUTOMATIC = {"min_resources": "auto", "max_resources": "auto"}


@pytest.mark.parametrize(
    ("n_enough", "params", "remedy"),
    [
        (5, {"min_resources": 2, "min_folds": "all"}, {"min_resources": 8}),
        (5, {"min_resources": 2, "min_folds": 1}, {"min_resources": 8}),
        (16, {"min_resources": 4}, AS_FOLDS | AUTOMATIC),
        (16, {"min_folds": 1}, AS_FOLDS | {"max_resources": "auto", "min_folds": "auto"}),
        (
            16,
            {"min_resources": 4, "min_folds": "all", "batch_size": FOLD_SIZE},
            AS_FOLDS | AUTOMATIC | {"batch_size": None},
        ),
        (16, {"budget": 96}, {"budget": 960}),
    ],
)
def test_a_rung_whose_resource_does_not_distinguish_candidates_is_a_warning(
    n_enough, params, remedy
):
    search = search_of(8, **params).set_params(estimator=EqualUntil(trees=n_enough))
    settings = [f"{name}={value!r}".replace("'", '"') for name, value in remedy.items()]
    advice = f"set {' and '.join(', '.join(settings).rsplit(', ', 1))}"
    if "budget" in params:
        advice = "raise budget"
    unit, plural = ("mini-batch", "es") if "batch_size" in params else ("epoch", "s")
    message = (
        rf"All 8 candidates of rung 0 have the same score, 0\.5, on .* with \d+ {unit}({plural})?, "
        rf"so that .* With \d+ {unit}{plural}, scores differ: {advice}, or choose another metric\.$"
    )
    with pytest.warns(UserWarning, match=message):
        search.fit(X)
    search.set_params(**remedy).fit(X)  # without a warning
    assert search.best_params_ == {"candidate": 7}


class EqualUntilItFails(EqualUntil):
    """With enough units, it has NaN, or fails, instead of another score."""

    def __init__(self, candidate=0, trees=1, fails_on=(), how="nan"):
        super().__init__(candidate, trees, fails_on)
        self.how = how

    def score(self, X, y=None):
        is_bad = self.units_ >= self.trees and (self.candidate % 2 or "half" not in self.how)
        if is_bad and "error" in self.how:
            raise ValueError("not with so many units")
        return np.nan if is_bad else 0.5


@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:.*Scoring failed", "ignore:No candidate")
@pytest.mark.parametrize("how", ["nan", "error", "half of them nan", "half of them error"])
@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_scores_that_are_missing_later_do_not_differ(how, error_score):
    estimator = EqualUntilItFails(trees=5, how=how)
    search = search_of(8, min_resources=2, min_folds="all", error_score=error_score)
    search.set_params(estimator=estimator).fit(X)  # without a warning about equal scores
    assert len({*search.rung_history_[0]["scores"]}) == 1


def test_a_single_split_has_no_folds_to_add():
    search = search_of(8, min_resources=4, cv=[next(KFold(N_FOLDS).split(X))])
    search.set_params(estimator=EqualUntil(trees=16))
    with pytest.warns(UserWarning, match="scores differ: choose another metric"):
        search.fit(X)


@pytest.mark.parametrize("score_aggregation", ["best", "mean"])
def test_scores_that_are_combined_are_no_warning(score_aggregation):
    search = search_of(8, min_resources=2, min_folds="all", score_aggregation=score_aggregation)
    search.set_params(estimator=EqualUntil(trees=5)).fit(X)  # without a warning


def test_candidates_that_are_equal_with_all_folds_and_any_resource_are_no_warning():
    class Equal(OnFolds):
        def score(self, X, y=None):
            return 0.5

    search = search_of(8, min_folds="all").set_params(estimator=Equal())
    assert search.fit(X).best_params_ == {"candidate": 0}


@pytest.mark.parametrize("refit", [True, False, "accuracy"])
def test_equal_scores_are_no_warning_if_a_candidate_ends_with_the_highest_score(refit):
    y = np.arange(2000) % 2
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(), {"max_leaf_nodes": [*range(2, 18)]}, resource="n_samples",
        scoring="accuracy", refit=refit, random_state=0, min_folds=1,
    )  # fmt: skip
    assert search.fit(y[:, None], y).best_score_ == 1  # without a warning
    assert search.rung_history_[0]["scores"] == [1.0] * 16
    # What a function can return at most is not known.
    search.set_params(scoring=lambda model, X, y: model.score(X, y))
    with pytest.warns(UserWarning, match="All 16 candidates of rung 0 have the same score, 1, "):
        search.fit(y[:, None], y)


@pytest.mark.parametrize("refit", ["own", lambda results: 0])
def test_equal_scores_are_a_warning_if_another_metric_selects(refit):
    def own(model, X, y):
        return -model.max_leaf_nodes

    y = np.arange(2000) % 2
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(), {"max_leaf_nodes": [*range(2, 18)]}, resource="n_samples",
        scoring={"accuracy": "accuracy", "own": own}, refit=refit, promote_by="accuracy",
        random_state=0, min_folds=1,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="All 16 candidates of rung 0 have the same score, 1, "):
        search.fit(y[:, None], y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_the_score_of_a_failed_fit_is_not_the_highest_one():
    class Fails(DummyRegressor):
        def fit(self, X, y):
            if self.constant == 15:
                raise ValueError("never")
            self.n_samples_ = len(X)
            return super().fit(X, y)

        def predict(self, X):
            return np.full(len(X), 1.0 + self.constant * (self.n_samples_ > 400))

    search = SuccessiveHalvingSearchCV(
        Fails(), {"constant": [*range(16)]}, resource="n_samples", random_state=0, min_folds=1,
        scoring="neg_mean_squared_error", error_score=0, refit=False,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="15 of the 16 candidates .* have the same score, -1, "):
        search.fit(np.zeros((2000, 1)), np.zeros(2000))
    assert search.best_score_ == 0


class EqualOnTwoFolds(OnFolds):
    def score(self, X, y=None):
        return 0.0 if X[0, 0] < 2 * FOLD_SIZE else super().score(X, y)


class MostAreEqualOnTwoFolds(OnFolds):
    """All are equal on the first fold, and all but the last one on the first two."""

    def score(self, X, y=None):
        is_equal = X[0, 0] < FOLD_SIZE or (X[0, 0] < 2 * FOLD_SIZE and self.candidate < 7)
        return 0.0 if is_equal else super().score(X, y)


class EqualOnAllFolds(OnFolds):
    def score(self, X, y=None):
        return 0.25


@pytest.mark.parametrize(
    ("estimator", "params", "n_folds"),
    [
        (EqualOnFirstFold(), {"min_resources": 1}, 2),
        (EqualOnTwoFolds(), {"min_resources": 2}, 5),  # 3 leaves no room for a second rung
        (EqualOnTwoFolds(), {"min_resources": 1, "factor": 1.5}, 3),
        (EqualOnFirstFold(), {"min_resources": 1, "max_resources": 3, "factor": 3}, 3),
        (EqualOnTwoFolds(), {"min_resources": 1}, 5),  # 2 would be a warning too
        (EqualOnAllFolds(), {"min_resources": 1}, 5),
        (MostAreEqualOnTwoFolds(), {"min_resources": 1}, 5),
        (EqualOnTwoFolds(), {"min_resources": 1, "max_resources": 2}, 5),
        (EqualOnAllFolds(), {"min_resources": 1, "max_resources": 3}, 5),
    ],
)
@pytest.mark.filterwarnings("ignore:The last rung did not have all folds")
def test_the_remedy_for_too_few_folds_can_be_followed(estimator, params, n_folds):
    params = {"resource": "folds", "max_resources": "auto", "random_state": None, **params}
    search = search_of(8, **params).set_params(estimator=estimator)
    is_low = params["max_resources"] in (2, 3) and n_folds == 5
    setting = 'max_resources="auto"' if is_low else 'resource="folds"'
    message = f"set {setting} and min_resources={n_folds}, or choose another metric"
    with pytest.warns(UserWarning, match=message):
        search.fit(X)
    remedy = {"max_resources": "auto"} if is_low else {}
    search.set_params(min_resources=n_folds, **remedy).fit(X)  # without a warning


def test_no_number_of_folds_is_recommended_with_a_budget():
    params = {"resource": "folds", "max_resources": "auto", "budget": 24, "random_state": None}
    search = search_of(8, **params).set_params(estimator=EqualOnFirstFold())
    with pytest.warns(UserWarning, match="raise budget, or choose another metric"):
        search.fit(X)


@pytest.mark.parametrize("n_equal", [11, 12, 15])
@pytest.mark.parametrize("differ_later", [False, True])
def test_a_cut_through_equal_scores_is_a_warning_if_they_differ_later(n_equal, differ_later):
    class Equal(OnFolds):
        def score(self, X, y=None):
            if self.candidate >= n_equal:
                return -self.candidate
            return super().score(X, y) if differ_later and X[0, 0] > 0 else 0.25

    search = search_of(16, random_state=None).set_params(estimator=Equal())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X)
    expected = (
        f"{n_equal} of the 16 candidates of rung 0 have the same score, 0.25, on 1 of 5 folds with "
        "4 epochs, so that their scores do not decide which were promoted. These folds may not "
        'distinguish the candidates: set min_folds="all", or choose another metric.'
    )
    # If all of a rung are equal, that is a warning in any case.
    shown = [str(one.message) for one in caught if not str(one.message).startswith("All 8")]
    assert shown == ([expected] if differ_later and n_equal >= 12 else [])
    promoted = search.rung_history_[0]["promoted"]
    is_random = n_equal >= 12  # with three quarters
    assert (promoted == [*range(8)]) == (not is_random)
    assert {0} < {*promoted} < {*range(n_equal)}


def test_a_candidate_that_needs_history_is_not_eliminated_on_the_shortest_one():
    class NeedsHistory(BaseEstimator):
        def __init__(self, needed=0):
            self.needed = needed

        def fit(self, X, y=None):
            self.n_ = len(X)
            return self

        def score(self, X, y=None):
            return self.needed if self.n_ >= self.needed else 0.0

    grid = {"needed": [0, 50, 100, 150, 200, 250, 300, 350]}
    common = {"cv": TimeSeriesSplit(5), "refit": False}
    search = SuccessiveHalvingSearchCV(
        NeedsHistory(), grid, resource="n_samples", min_resources=500, random_state=0, **common
    )
    samples = np.zeros((600, 1))
    expected = GridSearchCV(NeedsHistory(), grid, **common).fit(samples)
    assert search.fit(samples).best_params_ == expected.best_params_


def test_with_two_folds_every_rung_has_something_to_evaluate():
    """The report compares each rung with the last one, so that two equal ones would hide others."""
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": np.linspace(0.1, 1, 8), "speed": [1.0, 30.0]}, resource="n_samples",
        cv=2, random_state=0, refit=False,
    ).fit(np.zeros((4000, 1)))  # fmt: skip
    levels = [(row["n_resources"], row["n_folds"]) for row in search.rung_history_]
    assert len({*levels}) == len(levels) > 2
    report = trust_report(search)
    assert len(report.rungs) == len(levels)
    assert len(report.eliminated) == 16 - len(search.rung_history_[-1]["candidates"])


def test_all_but_the_rungs_of_a_schedule_is_kept():
    given = replace(
        schedule_from_range(8, max_resources=20),
        unit="trees", notes=("A note.",), is_bound=True, min_brackets=2, n_repeated=3,
    )  # fmt: skip
    grown = FoldGrowth((0, 1, 2, 3, 4)).grow(given, 2)
    assert [rung.folds for rung in grown.rungs] != [rung.folds for rung in given.rungs]
    assert replace(grown, rungs=given.rungs) == given
