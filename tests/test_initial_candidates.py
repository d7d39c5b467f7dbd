"""Initial candidates: they come first, are not repeated, and can be kept up to the last rung."""

import pickle
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from conftest import slow
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import loguniform, uniform
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from test_growing_folds import TRAINED, VARIANTS, X, results_of, search_of
from toys import CALLS, Curve

from sklearn_sha import CheckpointError, HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import (
    Bounds,
    BudgetDoubling,
    FixedBudget,
    FixedSchedule,
    Hyperband,
    StableRanking,
    SuccessiveHalving,
    Target,
    check_algorithm,
    halving,
    promote,
)
from sklearn_sha.candidates import GridSampler, RandomSampler, Sampler, SobolSampler
from sklearn_sha.candidates.initial import initial_candidates
from sklearn_sha.candidates.space import params_key
from sklearn_sha.schedules import FoldGrowth, Schedule, schedule_from_range, sizes_with_kept

SPACE = {"limit": uniform(), "speed": [1, 2, 4]}
NOTHING = np.zeros((12, 1))
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")


def curves(search=SuccessiveHalvingSearchCV, space=SPACE, estimator=None, **params):
    defaults = {"resource": "partial_fit", "max_resources": 16, "min_resources": 1}
    defaults |= {"cv": 2, "random_state": 0, "refit": False, "min_folds": "all"}
    return search(estimator or Curve(limit=0.3), space, **defaults | params)


def tried(search, X=NOTHING, y=None):
    """Candidates of a search in the order of their numbers."""
    return search.fit(X, y).results_frame()["params"].tolist()


# The rule for the sizes, and what is promoted


@given(st.integers(1, 60), st.integers(0, 8), st.sampled_from([1.5, 2, 3, 4]))
def test_a_rung_has_room_for_kept_candidates_and_one_more_or_all_of_the_rung_before(n, kept, f):
    sizes = schedule_from_range(n, factor=f, max_resources=100).n_candidates
    larger = sizes_with_kept(sizes, kept)
    assert larger[0] == sizes[0]
    for before, size, old in zip(larger, larger[1:], sizes[1:], strict=False):
        assert size == (max(old, min(kept + 1, before)) if kept else old)


losses = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, float("nan"), float("inf")]), st.floats(-5, 5)),
    min_size=1,
    max_size=12,
)


@given(losses, st.integers(1, 12), st.sets(st.integers(0, 11)))
def test_kept_candidates_are_promoted_first_unless_they_failed(values, n, kept):
    kept = [position for position in kept if position < len(values)]
    order = sorted(
        range(len(values)),
        key=lambda k: (
            k not in kept or np.isnan(values[k]), np.isnan(values[k]), values[k], k,
        ),
    )  # fmt: skip
    numbers = Counter(value for value in values if not np.isnan(value))
    if 4 * max(numbers.values(), default=0) < 3 * numbers.total():  # else some are random
        assert promote(values, n, kept).tolist() == sorted(order[:n])
    n_kept = sum(not np.isnan(values[position]) for position in kept)
    assert {*order[: min(n, n_kept)]} <= {*promote(values, n, kept)} or n < n_kept
    assert promote(values, n, []).tolist() == promote(values, n).tolist()


ENDINGS = {
    "none": lambda schedule: {},
    "stable": lambda schedule: {"stop": StableRanking(1)},
    "target": lambda schedule: {"target": Target(0.2, schedule.rungs[-1].n_resources)},
}


@pytest.mark.parametrize("ending", ENDINGS)
@given(
    st.integers(1, 30),
    st.integers(0, 5),
    st.sampled_from([2, 3]),
    st.sampled_from([1, 8, 64]),
    st.integers(0, 10**6),
)
@example(5, 4, 2, 1, 70)
def test_the_selected_candidate_is_at_least_as_good_as_each_kept_one(
    ending, n, kept, f, minimum, seed
):
    kept = min(kept, n)
    schedule = schedule_from_range(n, factor=f, min_resources=minimum, max_resources=64)
    schedule = schedule.with_kept(kept)
    rng = np.random.default_rng(seed)
    run = halving(schedule, **ENDINGS[ending](schedule))
    last = request = next(run)
    failed, largest = set(), {}
    while True:
        values = rng.choice([0.2, 0.5, np.nan], len(request.candidate_ids), p=[0.2, 0.7, 0.1])
        values = values + rng.random(len(values)) * (rng.random() < 0.7)
        # Groups of a target and a stable ranking request at most what the plan has.
        assert len(values) <= schedule.n_candidates[request.rung]
        if ending == "none":
            assert len(values) == schedule.n_candidates[request.rung]
        alive = {*range(kept)} - failed
        assert alive <= {*request.candidate_ids}
        if ending == "stable" and request.is_last_rung and request.rung < len(schedule.rungs) - 1:
            assert len(values) == min(len(alive) + 1, len(last.candidate_ids))
        assert alive.isdisjoint(request.eliminated)
        for number, loss in zip(request.candidate_ids, values, strict=True):
            largest[number] = loss
            if number < kept:  # all may be promoted, and one that failed can then have a loss
                (failed.add if np.isnan(loss) else failed.discard)(number)
        last = request
        try:
            request = run.send(None if np.isnan(values).all() else values)
        except StopIteration as end:
            best = end.value
            break
        if request.rung > last.rung and not request.is_last_rung:
            assert {*request.eliminated} == {*last.candidate_ids} - {*request.candidate_ids}
    if best is None:
        return
    assert last.is_last_rung
    for number in {*range(kept)} - failed:
        assert number in last.candidate_ids
        assert largest[best] <= largest[number]


@pytest.mark.parametrize("n_seeds", [2, *slow(6)])
@pytest.mark.parametrize("n_kept", [1, 3, 9])
@pytest.mark.parametrize(
    "algorithm",
    [
        SuccessiveHalving(),
        SuccessiveHalving(3, stop="stable"),
        SuccessiveHalving(target_loss=0.3),
        FixedBudget(900),
        BudgetDoubling(target_loss=0.2),
        BudgetDoubling(patience=None),
        Hyperband(),
        Hyperband(n_repeats=2, patience=1, target_loss=0.4),
    ],
    ids=lambda algorithm: type(algorithm).__name__,
)
def test_every_algorithm_keeps_candidates(algorithm, n_kept, n_seeds):
    n_candidates = 0 if isinstance(algorithm, Hyperband) else 9
    bounds = Bounds(n_candidates, max_resources=27, n_kept=n_kept)
    assert algorithm.plan(bounds).n_kept == n_kept
    check_algorithm(algorithm, bounds, n_seeds)


class Forgets(SuccessiveHalving):
    """Plans as if it kept candidates."""

    def requests(self, plan, propose):
        return halving(plan.with_kept(0), propose)


def test_an_algorithm_that_does_not_keep_what_it_plans_to_keep_is_found():
    check_algorithm(FixedSchedule([9, 4, 3], [1, 2, 27]), Bounds(9, 27, n_kept=2))
    with pytest.raises(AssertionError, match="are kept, but not requested at a last rung"):
        check_algorithm(Forgets(), Bounds(9, 27, n_kept=2))


def test_without_kept_candidates_schedules_are_as_before():
    growth = FoldGrowth((1, 0, 2, 3, 4))
    for algorithm in (SuccessiveHalving(), FixedBudget(900), BudgetDoubling(), Hyperband()):
        plan = algorithm.plan(Bounds(9, 27, fold_growth=growth))
        assert plan.n_kept == 0
        assert [bracket.n_kept for bracket in plan.brackets] == [0] * len(plan.brackets)


def test_only_the_first_bracket_of_hyperband_keeps_candidates():
    plan = Hyperband(n_repeats=2).plan(Bounds(0, 9, n_kept=2))
    assert [b.n_kept for b in plan.brackets] == [2, 0, 0, 0, 0, 0]
    sizes = [bracket.n_candidates for bracket in plan.brackets]
    assert sizes == [[9, 3, 3], [5, 1], [3], [9, 3, 1], [5, 1], [3]]


# Which candidates are tried


@pytest.mark.parametrize("sampler", ["random", "sobol", RandomSampler(), SobolSampler()])
@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_initial_candidates_come_first_and_count(search, sampler):
    n = {"n_candidates": 12} if search is SuccessiveHalvingSearchCV else {}
    search = curves(search, sampler=sampler, initial_candidates=[{"limit": 7.0}, {}], **n)
    n_planned = search.plan(NOTHING).n_different
    candidates = tried(search)
    assert candidates[:2] == [{"limit": 7.0, "speed": 1.0}, {"limit": 0.3, "speed": 1.0}]
    assert len(candidates) == n_planned
    assert len({params_key(params) for params in candidates}) == n_planned


def test_none_and_an_empty_list_change_nothing():
    for search in (SuccessiveHalvingSearchCV, HyperbandSearchCV):
        expected = results_of(curves(search).fit(NOTHING))
        for given_candidates in (None, [], ()):
            for keep in (False, True):
                same = curves(search, initial_candidates=given_candidates, keep_initial=keep)
                assert results_of(same.fit(NOTHING)) == expected


def test_the_estimator_itself_is_the_first_candidate_of_a_search():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    search = SuccessiveHalvingSearchCV(
        tree, {"max_depth": [1, 2], "criterion": ["gini", "entropy"]}, min_resources=1.0,
        initial_candidates=[{}], cv=3,
    ).fit(X, y)  # fmt: skip
    assert search.cv_results_["params"][0] == {"max_depth": 3, "criterion": "gini"}
    grid = GridSearchCV(tree, {"max_depth": [3]}, cv=3).fit(X, y)
    assert search.cv_results_["mean_test_score"][0] == grid.cv_results_["mean_test_score"][0]
    assert len(search.cv_results_["params"]) == 5


@pytest.mark.parametrize("sampler", ["auto", "sobol", GridSampler()])
def test_a_grid_that_contains_an_initial_candidate_does_not_repeat_it(sampler):
    space = {"limit": np.linspace(0.1, 1, 10), "speed": [1, 2]}
    initial = [{"limit": 0.1, "speed": 2}, {"limit": 1.0, "speed": 1}, {"limit": 5, "speed": 1}]
    search = curves(space=space, sampler=sampler, initial_candidates=initial)
    candidates = tried(search)
    assert len(candidates) == search.schedule_.n_different == 21
    assert {params_key(p) for p in candidates} == {
        params_key({"limit": limit, "speed": speed})
        for limit, speed in [(5, 1), *((float(a), b) for a in space["limit"] for b in (1, 2))]
    }
    search = curves(space=space, sampler=sampler, initial_candidates=initial, n_candidates=7)
    candidates = tried(search)
    assert candidates[:3] == initial
    assert len({params_key(p) for p in candidates}) == 7
    assert "4 of the 20 combinations" not in str(search.schedule_)
    assert "6 of the 20 combinations of the grid are sampled." in str(search.schedule_)


def test_a_sampler_that_ignores_the_history_repeats_no_initial_candidate():
    class First(Sampler):
        def propose(self, n, space, history, rng):
            return [{"limit": value, "speed": 1} for value in space["limit"][:n]]

    space = {"limit": [0.1, 0.2, 0.3, 0.4], "speed": [1]}
    search = curves(space=space, sampler=First(), initial_candidates=[{"limit": 0.2, "speed": 1}])
    assert [p["limit"] for p in tried(search)] == [0.2, 0.1, 0.3]


class Remembers(Sampler):
    """Proposes three candidates a call, and notes what it knows."""

    uses_history = True

    def __init__(self):
        self.known = []

    def propose(self, n, space, history, rng):
        self.known.append(
            ([dict(p) for p in history.candidates], [dict(e.params) for e in history.evaluations])
        )
        return RandomSampler().propose(min(n, 3), space, history, rng)


@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_a_sampler_that_uses_the_history_knows_initial_candidates(search):
    sampler, initial = Remembers(), [{"limit": 0.5, "speed": 3}, {"limit": 0.6, "speed": 1}]
    n = {"n_candidates": 8} if search is SuccessiveHalvingSearchCV else {}
    search = curves(search, sampler=sampler, initial_candidates=initial, **n)
    candidates = tried(search)
    assert len(candidates) == search.plan(NOTHING).n_different
    assert candidates[:2] == initial
    # The first call proposes candidates that are evaluated together with them.
    assert sampler.known[0] == (initial, [])
    later = [evaluations for _, evaluations in sampler.known if evaluations]
    assert all(evaluations[:2] == initial for evaluations in later)
    assert later


def test_values_of_replaced_steps_are_those_of_the_new_step():
    pipeline = Pipeline([("clf", LogisticRegression(C=5.0))])
    space = {"clf": [LogisticRegression(), SVC()], "clf__C": loguniform(1e-2, 1e2)}
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        pipeline, space, n_candidates=4, initial_candidates=[{}, {"clf": SVC(C=3.0)}],
        random_state=0, cv=2, resource="n_samples", refit=False,
    )  # fmt: skip
    first, second, *_ = tried(search, X[:400], y[:400])
    assert first == {"clf": pipeline.steps[0][1], "clf__C": 5.0}
    assert second["clf__C"] == 3.0


def test_with_alternative_spaces_a_candidate_has_what_is_given():
    spaces = [{"limit": [0.1, 0.2]}, {"speed": [3, 4]}]
    search = curves(space=spaces, initial_candidates=[{}, {"limit": 0.1}], keep_initial=True)
    candidates = tried(search)
    assert candidates == [{}, {"limit": 0.1}, {"limit": 0.2}, {"speed": 3}, {"speed": 4}]
    first = search.all_cv_results_["candidate"] == 0
    assert search.all_cv_results_["param_limit"].mask[first].all()


@pytest.mark.parametrize("n_own", [40, 5])
def test_a_single_value_that_the_estimator_has_is_not_searched(n_own):
    forest = RandomForestClassifier(n_own, random_state=0)
    space = {"n_estimators": [40], "max_depth": [2, 3, 4, 5, 6, 7, 8, 9]}
    X, y = load_digits(return_X_y=True)
    for one in (space, [space]):
        search = SuccessiveHalvingSearchCV(forest, one, cv=3, initial_candidates=[{}])
        plan = search.plan(X, y)
        assert plan.unit == ("trees" if n_own == 40 else "training samples")
        assert plan.n_different == 9


def test_verbose_names_the_parameters_of_the_estimator(capsys):
    curves(space=[{"limit": [0.1]}, {"speed": [3]}], initial_candidates=[{}], verbose=2).fit(
        NOTHING
    )
    assert (
        "candidate 0  score   0.1500  the estimator's own parameters\n" in capsys.readouterr().out
    )


class Steps:
    """A distribution of steps."""

    def rvs(self, random_state=None):
        return SVC()


@pytest.mark.parametrize("placeholder", ["passthrough", None])
@pytest.mark.parametrize("shape", [lambda space: space, lambda space: [{"clf": [SVC()]}, space]])
def test_the_estimator_itself_must_have_a_last_step(placeholder, shape):
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", placeholder)])
    space = shape({"clf": [SVC(), LogisticRegression()], "scale__with_mean": [True, False]})
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    search = SuccessiveHalvingSearchCV(
        pipeline, space, scoring="accuracy", initial_candidates=[{"scale__with_mean": True}], cv=2,
        resource="n_samples", refit=False,
    )  # fmt: skip
    message = re.escape(
        "initial_candidates has {'scale__with_mean': True}, and 'clf' of the pipeline is only a "
        f"placeholder, {placeholder!r}. Add the step: {{'clf': ...}}."
    )
    for method in (search.plan, search.fit):
        with pytest.raises(ValueError, match=message):
            method(X, y)
    search.set_params(initial_candidates=[{"clf": SVC(C=3)}])
    assert str(tried(search, X, y)[0]["clf"]) == "SVC(C=3)"


@pytest.mark.parametrize("placeholder", ["passthrough", None])
@pytest.mark.parametrize(
    ("initial", "other"),
    [
        ({}, "passthrough"),
        ({}, None),
        ({"reduce": "passthrough"}, None),
        ({"reduce": "passthrough"}, PCA(2)),
    ],
)
def test_a_last_step_that_passes_samples_through_can_be_a_candidate(placeholder, initial, other):
    search = SuccessiveHalvingSearchCV(
        Pipeline([("reduce", placeholder)]), {"reduce": [other, PCA(1)]},
        initial_candidates=[initial], cv=2, refit=False,
        scoring=lambda fitted, X, y=None: fitted.transform(X).shape[1],
    )  # fmt: skip
    X, _ = load_digits(return_X_y=True)
    assert tried(search, X[:100], None)[0] == {"reduce": initial.get("reduce", placeholder)}
    assert search.best_score_ == X.shape[1]


def test_a_placeholder_can_be_a_candidate_if_a_dict_or_a_distribution_may_have_it():
    pipeline = Pipeline([("reduce", "passthrough")])
    assert initial_candidates([{}], pipeline, [{}, {"reduce": [PCA(1)]}]) == [{}]
    assert initial_candidates([{}], pipeline, {}) == [{}]
    assert initial_candidates([{}], Pipeline([("clf", None)]), {"clf": Steps()}) == [{"clf": None}]


def test_equal_candidates_are_tried_once():
    depths = [{"max_depth": 2}, {"max_depth": np.int64(2)}, {"max_depth": 3}]
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(), {"max_depth": [3, 4]}, initial_candidates=depths, cv=2
    )
    assert tried(search, X, y) == [{"max_depth": 2}, {"max_depth": 3}, {"max_depth": 4}]


def test_equal_estimators_and_containers_are_equal_candidates():
    values = [Ridge(alpha=2), {"a": [1, 2]}, [1, [2.0]], np.float64(0.5), np.True_]
    for value in values:
        assert params_key({"a": value}) == params_key({"a": clone(value, safe=False)})
    assert params_key({"a": Ridge(1)}) != params_key({"a": Ridge(2)})
    assert params_key({"a": np.float64(1)}) != params_key({"a": np.int64(1)})


def test_in_hyperband_they_are_in_the_first_bracket_even_if_others_are_repeated():
    space = {"limit": [0.1, 0.2, 0.3], "speed": [1]}
    search = curves(HyperbandSearchCV, space, initial_candidates=[{"limit": 9}, {"limit": 0.2}])
    with pytest.warns(UserWarning, match="param_distributions and initial_candidates give 5 diff"):
        search.fit(NOTHING)
    first = search.rung_history_[0]
    assert (first["bracket"], first["candidates"][:2]) == (0, [0, 1])
    rows = search.results_frame().set_index("candidate")["params"]
    assert [rows[0], rows[1]] == [{"limit": 9, "speed": 1.0}, {"limit": 0.2, "speed": 1.0}]


# Kept candidates in searches: counts of training, and the last rung

KEPT = {
    **VARIANTS,
    "explicit": (SuccessiveHalvingSearchCV, {"min_resources": 2}),
    "budget": (SuccessiveHalvingSearchCV, {"budget": 4000, "max_resources": "auto"}),
    "growing budget": (SuccessiveHalvingSearchCV, {"budget": 4000, "min_folds": 2}),
    "stable": (SuccessiveHalvingSearchCV, {"stop": "stable", "min_resources": 1}),
    "mean": (SuccessiveHalvingSearchCV, {"score_aggregation": "mean"}),
}


@pytest.mark.parametrize("n_initial", [1, 3])
@pytest.mark.parametrize("variant", KEPT)
def test_kept_candidates_are_scored_on_all_folds_of_the_last_rung(variant, n_initial):
    search_class, params = KEPT[variant]
    n = 100 if search_class is HyperbandSearchCV else 20
    initial = [{"candidate": 1000}, {"candidate": 3}, {"candidate": 1001}][:n_initial]
    TRAINED.clear()
    search = search_of(n, search_class, initial_candidates=initial, keep_initial=True, **params)
    search.fit(X)
    schedule, history = search.schedule_, search.rung_history_
    # The counts of training are those of the plan, or of the rungs if it is an upper bound.
    per_fold = 1 if schedule.n_folds is not None or schedule.counts_folds else search.n_splits_
    if params.get("resource") != "folds":
        assert sum(units for *_, units in TRAINED) == history[-1]["total_cost"] * per_fold
    is_bound = schedule.is_bound or schedule.repeats or variant == "waves"
    if is_bound:
        assert history[-1]["total_cost"] <= schedule.total_cost
    else:
        planned = sorted(
            (rung.bracket, rung.n_resources, rung.n_candidates) for rung in schedule.rungs
        )
        assert planned == sorted(
            (row.get("bracket", 0), row["n_resources"], row["n_candidates"]) for row in history
        )
        assert history[-1]["total_cost"] == schedule.total_cost
    # They are in cv_results_, on all folds at full resource.
    results = search.cv_results_
    for params in initial:
        row = results["params"].index(params)
        in_all = search.cv_results_rows_[row]
        assert search.all_cv_results_["n_folds"][in_all] == search.n_splits_
        full = search.max_resources_
        assert search.all_cv_results_["n_resources"][in_all] == full
        assert search.best_score_ >= results["mean_test_score"][row]
    if n_initial + 1 < n:
        assert len(results["params"]) > n_initial or variant == "target"


@pytest.mark.parametrize("keep", [False, True])
def test_a_bad_candidate_is_eliminated_unless_it_is_kept(keep):
    search = curves(n_candidates=16, initial_candidates=[{"limit": 0.0}], keep_initial=keep)
    search.fit(NOTHING)
    assert [0 in row["candidates"] for row in search.rung_history_] == [True, *[keep] * 4]
    assert [row["n_candidates"] for row in search.rung_history_] == [16, 8, 4, 2, 1 + keep]


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_failed_candidates_are_not_kept_and_the_search_warns():
    search = curves(
        space={"limit": uniform(), "fails": [False]},
        n_candidates=8, initial_candidates=[{"fails": "score"}, {"limit": 0.0}], keep_initial=True,
    )  # fmt: skip
    with pytest.warns(UserWarning, match=r"initial candidates \[0\] failed, and were kept"):
        search.fit(NOTHING)
    assert [0 in row["candidates"] for row in search.rung_history_[:2]] == [True, False]
    assert all(1 in row["candidates"] for row in search.rung_history_)


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
@pytest.mark.parametrize(("fails", "warning"), [("fit", FitFailedWarning), ("score", UserWarning)])
def test_candidates_that_fail_are_not_kept_whatever_their_score_is(fails, warning, error_score):
    search = curves(
        space={"limit": uniform(0.5, 0.5)}, error_score=error_score,
        n_candidates=8, initial_candidates=[{"fails": fails}], keep_initial=True,
    )  # fmt: skip
    with (
        pytest.warns(warning, match="(?i)fits failed|scoring failed"),
        pytest.warns(UserWarning, match=r"initial candidates \[0\] failed"),
    ):
        search.fit(NOTHING)
    assert [0 in row["candidates"] for row in search.rung_history_[:2]] == [True, False]


def test_a_run_of_budget_doubling_is_no_failure_of_kept_candidates():
    initial = [{"limit": 0.0}, {"limit": 0.01}]
    search = curves(
        n_candidates=8, min_resources="auto", budget="double",
        initial_candidates=initial, keep_initial=True,
    )  # fmt: skip
    search.fit(NOTHING)  # without a warning
    assert len(search.rung_history_) > 4
    assert all({*row["candidates"]} >= {0, 1} for row in search.rung_history_)


def test_what_follows_is_the_same_after_interruptions_and_for_workers(tmp_path):
    params = {"initial_candidates": [{"candidate": 50}], "keep_initial": True}
    expected = results_of(search_of(20, **params).fit(X))
    assert results_of(search_of(20, n_jobs=2, **params).fit(X)) == expected
    assert results_of(search_of(20, checkpoint=tmp_path, **params).fit(X)) == expected
    TRAINED.clear()
    assert results_of(search_of(20, checkpoint=tmp_path, **params).fit(X)) == expected
    assert TRAINED == []
    others = [{"initial_candidates": [{"candidate": 51}]}, {"keep_initial": False}]
    for other in others:
        with pytest.raises(CheckpointError, match=r"another search, which differs in .*initial"):
            search_of(20, checkpoint=tmp_path, **params | other).fit(X)
    search = pickle.loads(pickle.dumps(clone(search_of(20, **params))))
    assert results_of(search.fit(X)) == expected
    assert results_of(pickle.loads(pickle.dumps(search))) == expected


# Errors


@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_an_unknown_parameter_is_the_error_of_grid_search(search):
    with pytest.raises(ValueError, match="Invalid parameter") as expected:
        GridSearchCV(Curve(limit=0.3), {"alpha": [1]}, cv=2).fit(NOTHING)
    CALLS.clear()
    for method in ("plan", "fit"):
        with pytest.raises(ValueError, match="Invalid parameter") as error:
            getattr(curves(search, initial_candidates=[{"alpha": 1}]), method)(NOTHING)
        parameter, _, message = str(error.value).partition(". ")
        assert parameter == "initial_candidates has {'alpha': 1}"
        assert message.split(". Valid")[0] == str(expected.value).split(". Valid")[0]
        with pytest.raises(ValueError, match=r"initial_candidates has \{'limit__x': 1\}\. "):
            getattr(curves(search, initial_candidates=[{"limit__x": 1}]), method)(NOTHING)
    assert CALLS == []


def test_the_resource_must_not_be_in_an_initial_candidate():
    forest = RandomForestClassifier()
    params = {"resource": "n_estimators", "cv": 2}
    messages = []
    for space, initial in (
        ({"max_depth": [1, 2], "n_estimators": [1, 2]}, None),
        ({"max_depth": [1, 2]}, [{"n_estimators": 5}]),
        ([{"max_depth": [1, 2]}], [{"n_estimators": 5}]),
    ):
        with pytest.raises(ValueError, match="resource='n_estimators' is searched too") as error:
            SuccessiveHalvingSearchCV(forest, space, initial_candidates=initial, **params).fit(
                *load_digits(return_X_y=True)
            )
        messages.append(str(error.value))
    assert "initial_candidates" in messages[1]


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"initial_candidates": {"limit": 1}}, TypeError, "must be a list of dicts"),
        ({"initial_candidates": "limit"}, TypeError, "must be a list of dicts"),
        ({"initial_candidates": [1]}, TypeError, "has 1, which is not a dict"),
        ({"keep_initial": "yes"}, TypeError, "keep_initial='yes' must be True or False"),
        (
            {"initial_candidates": [{"limit": 1}, {"limit": 2}], "n_candidates": 1},
            ValueError,
            "n_candidates=1 is less than the 2 initial candidates",
        ),
        (
            {"initial_candidates": [{"limit": 1}, {"limit": 2}], "n_iter": 1},
            ValueError,
            "n_iter=1 is less than the 2 initial candidates",
        ),
    ],
)
def test_errors_name_the_parameter(params, error, message):
    with pytest.raises(error, match=message):
        curves(**params).plan(NOTHING)


def test_too_many_for_the_first_bracket():
    initial = [{"limit": k} for k in range(99)]
    with pytest.raises(ValueError, match=r"The first bracket has .* and there are 99 initial"):
        curves(HyperbandSearchCV, initial_candidates=initial).plan(NOTHING)


def test_with_all_samples_the_first_bracket_has_more_candidates_if_it_starts_with_fewer():
    """The maximum is that of the data, and cannot be raised."""
    given = {"initial_candidates": [{"C": k} for k in range(1, 21)], "cv": 3, "random_state": 0}
    search = HyperbandSearchCV(SVC(), {"C": loguniform(1e-3, 1e3)}, resource="n_samples", **given)
    with pytest.raises(ValueError, match=r"has 9 .* raise max_resources or lower min_resources"):
        search.plan(*load_digits(return_X_y=True))
    search.set_params(min_resources=40)
    assert search.plan(*load_digits(return_X_y=True)).n_candidates[0] == 27


class Ignores(SuccessiveHalving):
    """Plans without `Bounds.n_kept`."""

    def plan(self, bounds):
        return Schedule.from_rungs([bounds.n_candidates, 1], [1, bounds.max_resources])


def test_an_algorithm_that_does_not_keep_candidates_is_an_error():
    params = {"initial_candidates": [{}], "n_candidates": 9, "algorithm": Ignores()}
    curves(**params).fit(NOTHING)
    with pytest.raises(ValueError, match=r"keep_initial=True has no effect, since Ignores\.plan"):
        curves(keep_initial=True, **params).plan(NOTHING)
    params |= {"algorithm": FixedSchedule([9, 1], [1, 16]), "min_resources": "auto"}
    with pytest.raises(ValueError, match="has a rung with fewer than 2 candidates"):
        curves(keep_initial=True, **params).plan(NOTHING)
    params["algorithm"] = FixedSchedule([9, 2], [1, 16])
    search = curves(keep_initial=True, **params).fit(NOTHING)
    assert all(0 in row["candidates"] for row in search.rung_history_)
    assert [*pairwise(row["n_candidates"] for row in search.rung_history_)] == [(9, 2)]
