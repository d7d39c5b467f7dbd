"""budget="double" in a search: repeated runs in which nothing is trained or scored twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from toys import CALLS, Curve, answered, curve, lines_below_plan

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.bandit import BudgetDoubling, doubling, repeated_halving
from sklearn_sha.schedules import Schedule

X = np.zeros((12, 1))
SPACE = {"limit": uniform(0, 1), "speed": uniform(0, 20)}
IRIS, SPECIES = load_iris(return_X_y=True)


def search_of(**params):
    params = {
        "budget": "double", "resource": "partial_fit", "n_candidates": 12, "max_resources": 20,
        "cv": KFold(2), "refit": False, "random_state": 0,
    } | params  # fmt: skip
    return SuccessiveHalvingSearchCV(Curve(), params.pop("space", SPACE), **params)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.integers(1, 20),
    st.integers(2, 40),
    st.sampled_from([2, 3, 1.5]),
    st.sampled_from([None, 1, 2]),
    st.integers(0, 99),
)
def test_a_search_equals_the_algorithm_over_the_same_candidates(n, maximum, factor, patience, seed):
    search = search_of(
        n_candidates=n, max_resources=maximum, factor=factor, patience=patience, random_state=seed
    )
    CALLS.clear()
    search.fit(X)
    results = search.all_cv_results_
    params = dict(zip(results["candidate"], results["params"], strict=True))

    def losses(arms, resource):
        return [-curve(params[arm]["limit"], params[arm]["speed"], resource) for arm in arms]

    paper = doubling(losses, n, factor, max_resources=maximum, patience=patience)
    for row, theirs in zip(search.rung_history_, paper.history, strict=True):
        assert row["candidates"] == list(theirs["arms"])
        assert row["promoted"] == list(theirs["kept"])
        assert row["n_resources"] == theirs["n_resources"]
    assert search.best_candidate_ == paper.best
    # The cost is the largest resource of each candidate, once per fold.
    furthest = {c: results["n_resources"][results["candidate"] == c].max() for c in params}
    assert len(CALLS) == 2 * sum(furthest.values()) == 2 * paper.total_cost
    assert search.rung_history_[-1]["total_cost"] == paper.total_cost <= search.schedule_.total_cost


def test_cached_scores_equal_the_first_ones():
    results = search_of(patience=None).fit(X).all_cv_results_
    assert results["cached"].dtype == bool
    assert results["cached"].any()
    first = {}
    for row, key in enumerate(zip(results["candidate"], results["n_resources"], strict=True)):
        assert results["cached"][row] == (key in first)
        for name in ("split0_test_score", "split1_test_score", "mean_test_score"):
            assert results[name][row] == results[name][first.get(key, row)]
        if results["cached"][row]:
            assert results["mean_fit_time"][row] == 0
        first.setdefault(key, row)
    assert results["iter"].tolist() == sorted(results["iter"])


def test_patience_stops_a_search_early():
    still = search_of(space={"limit": [0.5, 0.4, 0.3], "speed": [0.0]}, n_candidates=3)
    still.set_params(max_resources=64)
    # The best score is 0.5 from the first unit.
    assert len({tuple(row["promoted"]) for row in still.fit(X).rung_history_[1::2]}) == 1
    assert still.n_iterations_ == 3 * 2
    assert still.set_params(patience=None).fit(X).max_resources_ == 64
    assert still.set_params(patience=1).fit(X).n_iterations_ == 2 * 2


def test_tol_is_the_minimum_improvement():
    grid = {"limit": [0.9, 0.8], "speed": [1.0]}
    eager = search_of(space=grid, n_candidates=2, max_resources=64).fit(X)
    content = search_of(space=grid, n_candidates=2, max_resources=64, tol=0.2).fit(X)
    # 0.45, 0.6, 0.72 (better by more than 0.2), 0.8, 0.85: two consecutive runs that are not.
    assert (content.n_iterations_, eager.n_iterations_) == (5, 7)


def test_min_resources_is_the_first_resource():
    assert search_of(min_resources=3).fit(X).n_resources_[0] == 3
    assert search_of().fit(X).n_resources_[0] == 1


@pytest.mark.parametrize("how", [{"budget": "double"}, {"algorithm": BudgetDoubling()}])
def test_a_number_of_trees_in_the_space_is_kept_since_runs_can_end_before_it(how):
    space = {"n_estimators": [64], "max_depth": [1, 2, 3, 4]}
    forest = RandomForestClassifier(random_state=0)
    search = SuccessiveHalvingSearchCV(forest, space, cv=3, **how).fit(IRIS, SPECIES)
    assert search.best_params_["n_estimators"] == 64


def test_results_are_the_same_for_any_number_of_jobs(capsys):
    search = SuccessiveHalvingSearchCV(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {"sgdclassifier__alpha": [10.0**-k for k in range(8)]},
        resource="partial_fit",
        budget="double",
        max_resources=16,
        cv=3,
        verbose=1,
    )
    alone = search.fit(IRIS, SPECIES).all_cv_results_
    first, *_ = lines_below_plan(search, capsys.readouterr().out)
    assert first.split()[:4] == ["run", "0", "rung", "0/2"]
    both = search.set_params(n_jobs=2).fit(IRIS, SPECIES).all_cv_results_
    for name in ("mean_test_score", "candidate", "n_resources", "cached"):
        np.testing.assert_array_equal(alone[name], both[name])
    assert search.score(IRIS, SPECIES) > 0.9


def test_models_of_n_samples_are_refit_and_scored_once():
    search = search_of(resource="n_samples", max_resources="auto", n_candidates=4)
    CALLS.clear()
    search.fit(np.zeros((64, 1)))
    results = search.all_cv_results_
    assert len(CALLS) == 2 * (~results["cached"]).sum()
    assert sum(units for _, _, units in CALLS) == 2 * search.rung_history_[-1]["total_cost"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"budget": "triple"}, "budget='triple' must be an integer of at least 1, or \"double\""),
        ({"patience": 0}, 'patience=0 must be an integer of at least 1, or "auto" or None'),
        ({"tol": -0.1}, "tol=-0.1 must be a number of at least 0"),
        ({"min_resources": 30}, "min_resources=30 is larger than max_resources=20"),
    ],
)
def test_invalid_parameters_raise(params, message):
    with pytest.raises(ValueError, match=message):
        search_of(**params).fit(X)


def run(n_resources, losses):
    """Candidates of the last rungs of runs over 4 candidates, and the best one."""
    runs = [Schedule.from_rungs([4, 2], [1, n]) for n in n_resources]
    schedules = Schedule.joined(runs, repeats=True).brackets
    requests, best = answered(repeated_halving(schedules, patience=None), losses)
    return [request.candidate_ids for request in requests if request.is_last_rung], best


def test_each_run_promotes_by_its_own_losses():
    """Later candidates have lower losses after one unit, and higher ones at the end."""
    reverse = lambda c, request: -c if request.n_resources == 1 else c  # noqa: E731
    assert run((5, 9), reverse) == ([(2, 3), (2, 3)], 2)


def test_a_run_that_fails_leaves_the_best_candidate_of_the_run_before():
    failing = lambda c, request: np.nan if request.bracket else c  # noqa: E731
    assert run((9, 9), failing)[1] == 0
