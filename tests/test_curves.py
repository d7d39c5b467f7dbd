"""Data that figures of a search show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, uniform
from sklearn.model_selection import KFold
from sklearn.svm import SVC
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report
from sklearn_sha.inspection.curves import cost_by_resource, curves, param_points, visible_range

X = np.arange(24.0).reshape(12, 2)

# A call costs more than an epoch of so few samples.
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")


def search_of(kind=SuccessiveHalvingSearchCV, **params):
    space = {"limit": [k / 10 for k in range(8)], "speed": [1.0, 2.0]}
    return kind(Curve(), space, resource="partial_fit", cv=KFold(2), max_resources=8, **params)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), unique=True, min_size=1))
def test_curves_have_one_score_per_resource_in_increasing_order(rows):
    scores = [float(k) for k in range(len(rows))]
    found = curves(*zip(*rows, strict=True), scores, scores)
    assert {
        (c, r): s
        for c, curve in found.items()
        for r, s in zip(curve.resources.tolist(), curve.scores.tolist(), strict=True)
    } == dict(zip(rows, scores, strict=True))
    for candidate, curve in found.items():
        assert curve.candidate == candidate
        assert (np.diff(curve.resources) > 0).all()
        np.testing.assert_array_equal(curve.spreads, curve.scores)


@given(st.integers(0, 1000), st.integers(8, 200))
def test_values_that_are_even_on_a_log_axis_get_one(seed, n):
    def is_log(values):
        ((points),) = param_points({k: {"a": v} for k, v in enumerate(values)})
        return points.is_log

    assert is_log(np.logspace(-5, 0, n))
    assert not is_log(np.linspace(1e-5, 1, n))
    assert not is_log([2**k for k in range(6)])
    assert is_log(loguniform(1e-8, 1).rvs(200, random_state=seed))
    assert not is_log(uniform(0, 1).rvs(200, random_state=seed))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.integers(0, 5))
def test_diverged_candidates_do_not_flatten_the_others(scores, n_diverged):
    """The better half of the candidates is visible and takes at least a quarter of the height."""
    scores = scores + [-1e9] * min(n_diverged, len(scores) - 1)
    n = len(scores)
    low, high = visible_range(curves(range(n), [1] * n, scores, scores).values())
    middle = np.median(scores)
    assert high == max(scores)
    assert low <= middle
    assert high - middle >= 0.249 * (high - low) or high == middle


def test_non_numeric_parameters_have_labels_and_constant_parameters_no_panel():
    first, second = param_points(
        {
            0: {"kind": None, "size": (1, 2), "same": 3},
            2: {"kind": True, "same": 3},
            5: {"kind": None, "size": (3,), "same": 3},
        }
    )
    assert (first.name, first.labels, first.places.tolist()) == (
        "kind",
        ["None", "True"],
        [0, 1, 0],
    )
    assert (second.candidates.tolist(), second.labels) == ([0, 5], ["(1, 2)", "(3,)"])


def test_labels_are_short_and_different_values_have_different_positions():
    values = [SVC(), print, "a b" * 20, "a b" * 30, "two\nlines"]
    (points,) = param_points({k: {"x": value} for k, value in enumerate(values)})
    assert points.places.tolist() == [0, 1, 2, 3, 4]
    assert points.labels[:2] == ["SVC()", "print"]
    assert points.labels[2] == points.labels[3] == ("a b" * 20)[:23] + "…"
    assert points.labels[4] == "two lines"


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        (SuccessiveHalvingSearchCV, {}),
        (SuccessiveHalvingSearchCV, {"budget": "double"}),
        (HyperbandSearchCV, {}),
    ],
)
def test_costs_by_resource_add_up_to_the_cumulative_cost(kind, params):
    search = search_of(kind, **params).fit(X)
    costs = cost_by_resource(search.rung_history_)
    assert sum(costs.values()) == search.rung_history_[-1]["spent"]
    assert set(costs) == set(search.n_resources_)


def test_a_display_has_the_scores_and_costs_of_the_search(monkeypatch):
    """Without matplotlib, which plots them in test_display.py."""
    monkeypatch.setattr(SearchDisplay, "plot", lambda self, *args, **params: self)
    search = search_of().fit(X)
    display = SearchDisplay.from_search(search)
    results = search.all_cv_results_
    assert display.winner == search.best_candidate_
    assert list(display.units) == search.n_resources_
    for candidate, curve in display.curves.items():
        mine = results["candidate"] == candidate
        np.testing.assert_array_equal(curve.resources, results["n_resources"][mine])
        np.testing.assert_array_equal(curve.scores, results["mean_test_score"][mine])
    assert display.grid_cost == search.schedule_.grid_cost
    possible = SearchDisplay.from_search(search, kind="trust").possible
    eliminated = {one["candidate"] for one in trust_report(search).eliminated}
    assert {one.candidate for one in possible.candidates} == eliminated
