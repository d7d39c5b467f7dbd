"""Data that figures of a search show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report
from sklearn_sha.inspection.curves import curves, visible_range
from sklearn_sha.inspection.levels import cost_by_level
from sklearn_sha.inspection.metric_names import metric_label
from sklearn_sha.inspection.param_points import number_labels, param_points
from sklearn_sha.inspection.score_axis import ScoreAxis, score_axis

X = np.arange(24.0).reshape(12, 2)

# A call costs more than an epoch of so few samples.
pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost")


def search_of(kind=SuccessiveHalvingSearchCV, space=None, **params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}
    space = space or {"limit": [k / 10 for k in range(8)], "speed": [1.0, 2.0]}
    return kind(Curve(), space, **common | params)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), unique=True, min_size=1))
def test_curves_have_one_score_per_level_in_increasing_order(rows):
    scores = [float(k) for k in range(len(rows))]
    found = curves(*zip(*rows, strict=True), scores, scores)
    assert {
        (c, r): s
        for c, curve in found.items()
        for r, s in zip(curve.levels.tolist(), curve.scores.tolist(), strict=True)
    } == dict(zip(rows, scores, strict=True))
    for candidate, curve in found.items():
        assert curve.candidate == candidate
        assert (np.diff(curve.levels) > 0).all()
        np.testing.assert_array_equal(curve.spreads, curve.scores)


@given(st.integers(0, 1000), st.integers(8, 200))
def test_values_that_are_even_on_a_log_axis_get_one(seed, n):
    def is_log(values):
        ((points),) = param_points({k: {"a": v} for k, v in enumerate(values)})
        return points.is_log

    assert is_log(np.logspace(-5, 0, n))
    assert not is_log(np.linspace(1e-5, 1, n))
    assert is_log([2**k for k in range(6)])
    assert not is_log([1, 2, 4])
    assert not is_log(range(1, 10))
    assert is_log(loguniform(1e-8, 1).rvs(200, random_state=seed))
    assert not is_log(uniform(0, 1).rvs(200, random_state=seed))


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        (loguniform(0.1, 0.9), True),
        (loguniform(3, 50), True),
        (uniform(0.1, 0.8), False),
        (uniform(0, 1), False),
        (randint(1, 50), False),
        (norm(5, 1), False),
        ([0.1, 0.2, 0.5], False),
    ],
)
def test_a_log_uniform_distribution_gets_a_log_axis_however_narrow_it_is(distribution, expected):
    (points,) = param_points({0: {"a": 0.2}, 1: {"a": 0.25}, 2: {"a": 0.6}}, {"a": distribution})
    assert points.is_log == expected


score_lists = st.lists(
    st.lists(st.floats(-1e3, 1) | st.sampled_from([np.nan, -np.inf]), min_size=1, max_size=4),
    min_size=1,
    max_size=20,
)


@given(score_lists, st.sampled_from([1, 1e-9, 1e9]))
def test_the_score_axis_is_increasing_and_counts_the_candidates_below(scores, factor):
    scores = [[factor * s for s in own] for own in scores]
    rows = [(c, k, s) for c, own in enumerate(scores) for k, s in enumerate(own)]
    candidates, levels, values = zip(*rows, strict=True)
    axis = score_axis(curves(candidates, levels, values, values))
    finite = sorted({s for s in values if np.isfinite(s)})
    if not finite:
        assert axis is None
        return
    positions = axis.position(finite)
    assert (np.diff(positions) >= 0).all()
    assert positions[0] == pytest.approx(0, abs=1e-9)
    assert positions[-1] == pytest.approx(1) or len(finite) == 1
    np.testing.assert_allclose(axis.score_at(positions), finite, atol=1e-6 * np.ptp(finite))
    last = np.array([own[-1] for own in scores])
    assert axis.n_failed == sum(not np.isfinite(s) for s in last)
    assert axis.n_below == sum(np.isfinite(s) and s < axis.low for s in last)
    if axis.is_compressed:
        assert f"{axis.n_below or 'Only early scores'}" in axis.note()
        assert axis.position(axis.low) < 0.2
    assert len(axis.ticks()) == len(axis.labels()) == len({*axis.labels()})


@pytest.mark.parametrize("score", [0.956, -0.31, 0.0, 1234.5, -3.012e9])
def test_a_single_score_has_itself_as_label(score):
    (label,) = score_axis(curves([0], [0], [score], [0.0])).labels()
    assert float(label) == pytest.approx(score, rel=1e-3)


def test_finalists_are_not_compressed_if_the_last_folds_are_difficult():
    """Their scores at the first level are high and close to each other."""
    early = [-14.1, -14.11, -14.12, -14.13, -14.14, -14.15, -20.0, -60.0]
    last = [-15.14, -15.2, -15.21]
    found = curves([*range(8), 0, 1, 2], [0] * 8 + [1] * 3, [*early, *last], [0.0] * 11)
    axis = score_axis(found)
    assert axis.is_compressed
    assert axis.low <= min(last)
    assert (axis.n_below, axis.n_candidates) == (2, 8)


def test_scores_at_the_lower_end_are_not_below_it():
    """41 * 0.02 is more than 0.82."""
    scores = [0.1, 0.5] + [0.82] * 12 + [0.83, 0.84, 0.86, 0.88, 0.9, 0.92] * 2
    levels = [0] * 2 + [1] * 12 + [2] * 12
    axis = score_axis(curves(range(26), levels, scores, [0.0] * 26))
    assert axis.low == pytest.approx(0.82)
    assert axis.n_below == 2


@pytest.mark.parametrize(("start", "step"), [(-3.012e9, 1e5), (5.0e-5, 1e-8), (2e6, 40)])
def test_labels_of_large_and_small_scores_have_enough_digits(start, step):
    scores = [start + k * step for k in range(5)]
    axis = score_axis(curves(range(5), [0] * 5, scores, [0.0] * 5))
    np.testing.assert_allclose(
        [float(label) for label in axis.labels()], axis.ticks(), rtol=0, atol=step / 5
    )


def test_the_score_axis_follows_the_finalists():
    """Three quarters of the height or more are for the candidates of the last two rungs."""
    losers = {c: (0, k / 60) for c, k in enumerate(range(50))}
    rows = [(c, level, s) for c, (level, s) in losers.items()]
    rows += [(c, k, 0.9 + c / 1000 + k / 100) for c in range(50, 54) for k in range(3)]
    axis = score_axis(curves(*zip(*rows, strict=True), [0.0] * len(rows)))
    low, high = axis.position([0.95, 0.974])
    assert axis.low >= 0.9
    assert high - low > 0.25
    assert axis.note() == "50 of 54 candidates ended below 0.950, where the axis is compressed."


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


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 10**400])
def test_values_without_a_place_on_an_axis_are_categories(odd):
    (points,) = param_points({0: {"C": 0.1}, 1: {"C": 10}, 2: {"C": odd}})
    assert points.places.tolist() == [0, 1, 2]
    assert points.labels[:2] == ["0.1", "10"]
    assert not points.is_log


def test_numbers_among_other_values_are_in_increasing_order():
    values = [None, 20, "3", 3, 1, 20, True]
    (points,) = param_points({k: {"x": value} for k, value in enumerate(values)})
    assert points.labels == ["1", "3 (1)", "20", "None", "3 (2)", "True"]
    assert points.places.tolist() == [3, 2, 4, 1, 0, 2, 5]


@pytest.mark.parametrize(
    ("distribution", "others"),
    [
        (loguniform(1e-4, 1), ["scale", None]),
        (loguniform(1e-4, 1), [0.0, -1, "x"]),
        (uniform(0, 1), ["scale", (1, 2)]),
        (randint(1, 50), [None]),
    ],
)
def test_defaults_without_a_place_are_below_the_numbers_of_a_distribution(distribution, others):
    numbers = distribution.rvs(20, random_state=0).tolist()
    params = [{"x": value} for value in (*others, *numbers, others[0])]
    (points,) = param_points(dict(enumerate(params)), {"x": distribution})
    (alone,) = param_points(dict(enumerate(params[len(others) : -1])), {"x": distribution})
    assert points.labels is None
    assert points.is_log == alone.is_log
    assert points.places[len(others) : -1].tolist() == numbers
    below = points.places[: len(others)]
    assert below[0] == points.places[-1]
    assert points.others == dict(zip(below, map(str, others), strict=True))
    scaled = np.log(points.places) if points.is_log else points.places
    distance = -np.diff([scaled[len(others) : -1].min(), *scaled[: len(others)]])
    np.testing.assert_allclose(distance, 0.12 * np.ptp(scaled[len(others) : -1]))
    ticks = points.ticks(3)
    assert len(ticks) == len(others) + 3
    assert {*points.others.items()} < {*ticks}
    assert ticks == sorted(ticks)
    assert [place for place, _ in ticks[-3:]][::2] == [min(numbers), max(numbers)]


@pytest.mark.parametrize(
    "values",
    [["a", "b", "c", "d", 1, 2], ["a", 1, 1], [None, 0.0, -1, 2], [np.inf, 1, 2], [10**400, 1, 2]],
)
def test_values_of_a_distribution_are_categories_if_few_have_a_place(values):
    params = {number: {"x": value} for number, value in enumerate(values)}
    (points,) = param_points(params, {"x": loguniform(0.1, 10)})
    assert len(points.labels) == len({*values})
    assert points.others == {}


def test_numbers_that_are_close_to_each_other_have_no_ticks_of_their_own():
    values = ["auto", 0.01, 0.0101, 0.0102, 1.0]
    (points,) = param_points({k: {"x": v} for k, v in enumerate(values)}, {"x": uniform()})
    assert [label for _, label in points.ticks(3)] == ["auto", "0.01", "0.1", "1"]
    (points,) = param_points({k: {"x": v} for k, v in enumerate([1, 2, 4])})
    assert [place for place, _ in points.ticks(2)] == [1, 2, 4]


def test_numbers_that_are_the_smallest_floats_have_others_below_or_at_them():
    values = ["auto", 1e-307, 1e300]
    (points,) = param_points({k: {"x": v} for k, v in enumerate(values)}, {"x": loguniform(1, 2)})
    assert points.is_log
    assert 0 < points.places[0] <= 1e-307


def test_labels_of_estimators_that_begin_alike_differ():
    trees = [DecisionTreeClassifier(max_depth=depth) for depth in (1, 3)]
    (points,) = param_points({k: {"estimator": tree} for k, tree in enumerate(trees)})
    assert points.labels == ["DecisionTr…(max_depth=1)", "DecisionTr…(max_depth=3)"]


def test_labels_with_the_same_ends_are_numbered():
    (points,) = param_points({0: {"x": lambda: 1}, 1: {"x": lambda: 2}})
    assert points.labels == ["<lambda> (1)", "<lambda> (2)"]
    long = ["a" * 30 + middle + "b" * 30 for middle in "12"]
    (points,) = param_points({k: {"x": value} for k, value in enumerate(long)})
    assert points.labels == [f"{10 * 'a'}…{13 * 'b'} (1)", f"{10 * 'a'}…{13 * 'b'} (2)"]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([0.99, 0.999, 0.9999], ["0.99", "0.999", "0.9999"]),
        ([1e-6, 0.31622776, 1.0], ["1e-06", "0.316", "1"]),
        ([100.25, 100.5], ["100.25", "100.5"]),
        ([0.123456], ["0.123"]),
        ([10**0.5, 1000 * (1 + 1e-15)], ["3.16", "1000"]),
    ],
)
def test_labels_of_ticks_have_as_many_digits_as_they_need(values, labels):
    assert number_labels(values) == labels


@pytest.mark.parametrize("score", [0.2, -31.0, 4e9])
def test_scores_that_differ_by_rounding_are_one_score(score):
    scores = [score, np.nextafter(score, np.inf), np.nextafter(score, -np.inf)]
    (label,) = score_axis(curves(range(3), [0] * 3, scores, [0.0] * 3)).labels()
    assert float(label) == pytest.approx(score)


def test_scores_of_earlier_rungs_are_shown_of_candidates_without_a_last_one():
    scores = [0.5, 0.6, np.nan, 0.7]
    axis = score_axis(curves([0, 1, 0, 1], [0, 0, 1, 1], scores, [0.0] * 4))
    assert axis.lowest == 0.5
    assert axis.note() == "1 of 2 candidates has no score in the last rung that it reached."


def test_a_lowest_score_just_below_zero_is_labeled_zero():
    axis = ScoreAxis(lowest=-0.0003, low=0.9, high=0.97, n_below=1, n_failed=0, n_candidates=8)
    assert axis.labels()[0] == "0"


def test_labels_are_short_and_different_values_have_different_positions():
    values = [SVC(), print, "a b" * 20, "a b" * 20 + "c", "two\nlines"]
    (points,) = param_points({k: {"x": value} for k, value in enumerate(values)})
    assert points.places.tolist() == [0, 1, 2, 3, 4]
    assert points.labels[:2] == ["SVC()", "print"]
    assert points.labels[2:4] == ["a ba ba ba…ba ba ba ba b", "a ba ba ba…a ba ba ba bc"]
    assert points.labels[4] == "two lines"
    first, second = np.zeros(2000), np.zeros(2000)
    second[600] = 1
    (points,) = param_points({0: {"x": first}, 1: {"x": second}, 2: {"x": first.copy()}})
    assert points.places.tolist() == [0, 1, 0]


@pytest.mark.parametrize("params", [{}, {"budget": "double"}, {"kind": HyperbandSearchCV}], ids=str)
def test_costs_by_level_add_up_to_the_cumulative_cost(params):
    search = search_of(**params).fit(X)
    costs = cost_by_level(search.rung_history_)
    assert sum(costs) == search.rung_history_[-1]["total_cost"]
    assert len(costs) == len({*search.n_resources_})


class Descent(ClassifierMixin, BaseEstimator):
    """Its `steps` are not those of a pipeline."""

    def __init__(self, steps=10):
        self.steps = steps


@pytest.mark.parametrize(
    ("metric", "scoring", "estimator", "expected"),
    [
        ("score", "roc_auc", SVC(), "ROC AUC"),
        ("score", "neg_mean_squared_error", SVC(), "negative mean squared error"),
        ("score", None, SVC(), "accuracy"),
        ("score", None, make_pipeline(StandardScaler(), Ridge()), "R²"),
        ("score", None, Curve(), "score"),
        ("score", None, Descent(), "accuracy"),
        ("score", lambda *args: 0.0, SVC(), "score"),
        ("f1_macro", ["f1_macro", "accuracy"], SVC(), "F1 macro"),
    ],
)
def test_metrics_have_names(metric, scoring, estimator, expected):
    assert metric_label(metric, scoring, estimator) == expected


def test_a_display_has_the_scores_and_costs_of_the_search(monkeypatch):
    """Without matplotlib, which plots them in test_display.py."""
    monkeypatch.setattr(SearchDisplay, "plot", lambda self, *args, **params: self)
    search = search_of().fit(X)
    data = SearchDisplay.from_search(search).data
    results = search.all_cv_results_
    assert data.selected == search.best_candidate_
    assert data.level_labels == [*map(str, search.n_resources_)]
    for candidate, curve in data.curves.items():
        mine = results["candidate"] == candidate
        resources = [search.n_resources_[level] for level in curve.levels]
        np.testing.assert_array_equal(resources, results["n_resources"][mine])
        np.testing.assert_array_equal(curve.scores, results["mean_test_score"][mine])
    assert data.grid_cost == search.schedule_.grid_cost
    possible = SearchDisplay.from_search(search, kind="trust").data.possible
    eliminated = {one["candidate"] for one in trust_report(search).eliminated}
    assert {one.candidate for one in possible.candidates} == eliminated


def test_the_axis_of_few_integers_is_linear():
    params = {k: {"a": value} for k, value in enumerate([1, 2, 3, 4, 2, 3])}
    (points,) = param_points(params, {"a": randint(1, 5)})
    assert not points.is_log


def test_scores_whose_difference_is_infinite_have_no_axis():
    shown = curves([0, 1], [1, 1], [1e308, -1e308], [0.0, 0.0])
    assert score_axis(shown) is None
    assert score_axis(curves([0, 1], [1, 1], [1e300, -1e300], [0.0, 0.0])) is not None
