"""Figures of a search."""

from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from test_stopping import Stopped, ctrl_c
from test_units import each_training
from test_units import search_of as unit_search
from toys import CALLS, Curve
from toys import curve as score_after

from sklearn_sha import HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report

mpl.use("agg")
X = np.arange(24.0).reshape(12, 2)
KINDS = ("curves", "rungs", "params", "cost", "trust")


pytestmark = [
    pytest.mark.slow,
    # A call costs more than an epoch of so few samples.
    pytest.mark.filterwarnings("ignore:Including the fixed cost"),
]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def search_of(kind=SuccessiveHalvingSearchCV, space=None, **params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}
    space = space or {"limit": [k / 10 for k in range(8)], "speed": [1.0, 2.0]}
    return kind(Curve(), space, **common | params)


@pytest.fixture(scope="module")
def search():
    return search_of().fit(X)


def test_labels_are_not_parsed_as_formulas_and_do_not_overlap():
    names = [r"^\S+$|^\w+$", "a_long_name_of_a_loss", "another_long_name_of_one", "$", "a third"]
    search = search_of(space={"limit": [0.1, 0.2], "fails": names}).fit(X)
    display = SearchDisplay.from_search(search, kind="params")
    figure, labels = display.figure_, display.axes_[0].get_xticklabels()
    figure.canvas.draw()
    assert [label.get_text() for label in labels] == names
    boxes = [label.get_window_extent() for label in labels]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert min(box.y0 for box in boxes) >= 0


def test_the_curve_of_the_best_candidate_is_thick_and_plotted_last(search):
    ax = SearchDisplay.from_search(search).ax_
    lines = ax.get_lines()
    assert len(lines) == 16
    widths = [line.get_linewidth() for line in lines]
    assert widths.index(max(widths)) == 15
    results = search.all_cv_results_
    mine = results["candidate"] == search.best_candidate_
    np.testing.assert_array_equal(lines[-1].get_xdata(), results["n_resources"][mine])
    np.testing.assert_array_equal(lines[-1].get_ydata(), results["mean_test_score"][mine])
    faded = [line for line in lines if line.get_alpha() == 0.5]
    assert len(faded) == 16 - search.n_candidates_[-1]
    assert ax.get_xscale() == "log"
    assert not ax.collections
    assert len(SearchDisplay.from_search(search, spread=True).ax_.collections) == 16


def test_scores_far_below_the_others_are_excluded_and_counted():
    search = search_of(space={"limit": [*(k / 10 for k in range(8)), -1e6]}).fit(X)
    for kind in ("curves", "rungs"):
        ax = SearchDisplay.from_search(search, kind=kind).ax_
        assert ax.get_ylim()[0] > -2
        assert ax.get_title(loc="right") == "scores below: 1"


def test_rungs_show_scores_and_the_lowest_promoted_score(search):
    ax = SearchDisplay.from_search(search, kind="rungs").ax_
    lowest = next(line for line in ax.get_lines() if line.get_label() == "lowest promoted score")
    expected = [r["cut_score"] for r in search.rung_history_]
    np.testing.assert_array_equal(lowest.get_ydata(), expected)
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in dots] == search.n_candidates_
    assert [text.get_text() for text in ax.get_xticklabels()] == [
        str(r) for r in search.n_resources_
    ]


def test_each_parameter_has_a_panel():
    search = search_of(
        space={"limit": loguniform(1e-6, 1), "speed": uniform(1, 2), "fails": ["a", "b"]},
        n_candidates=16, random_state=0,
    ).fit(X)  # fmt: skip
    display = SearchDisplay.from_search(search, kind="params")
    assert [ax.get_xlabel() for ax in display.axes_] == ["fails", "limit", "speed"]
    assert [ax.get_xscale() for ax in display.axes_] == ["linear", "log", "linear"]
    assert [t.get_text() for t in display.axes_[0].get_xticklabels()] == ["a", "b"]
    dots = display.axes_[1].collections[0]
    results = search.all_cv_results_
    np.testing.assert_array_equal(
        dots.get_offsets()[:, 0], [results["params"][k]["limit"] for k in range(16)]
    )
    reached = [
        search.n_resources_.index(max(results["n_resources"][results["candidate"] == c]))
        for c in range(16)
    ]
    np.testing.assert_array_equal(dots.get_array(), reached)


def test_cost_is_compared_with_a_grid_search(search):
    ax = SearchDisplay.from_search(search, kind="cost").ax_
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[-1] == search.schedule_.grid_cost == 16 * 8
    assert sum(widths[:-1]) == search.schedule_.spent


def test_the_cost_of_an_interrupted_search_is_compared_with_the_full_grid_search():
    search = search_of().set_params(estimator=Stopped())
    CALLS.clear()
    with ctrl_c(at=2 * search.plan(X).rungs[0].spent):
        search.fit(X)
    ax = SearchDisplay.from_search(search, kind="cost").ax_
    assert search.n_iterations_ == 1
    assert ax.patches[-1].get_width() == 16 * 8


def test_with_budget_doubling_a_grid_search_counts_each_candidate_once():
    search = search_of(budget="double", max_resources=16).fit(X)
    ax = SearchDisplay.from_search(search, kind="cost").ax_
    assert ax.patches[-1].get_width() == search.schedule_.grid_cost == 16 * 16
    assert "At most 120 epochs per fold" in str(search.plan(X))
    assert "(16 candidates x 16 epochs = 256)" in " ".join(str(search.plan(X)).split())


def test_panels_require_axes_that_can_be_divided(search):
    ax = plt.figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"Pass an Axes of plt\.subplots, or ax=None"):
        SearchDisplay.from_search(search, kind="params", ax=ax)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [None, "double"])
def test_a_display_plots_on_given_axes(kind, budget):
    figure, ax = plt.subplots()
    display = SearchDisplay.from_search(search_of(budget=budget).fit(X), kind=kind, ax=ax)
    assert display.figure_ is figure
    assert (display.ax_ is ax) == (kind != "params")
    assert display.plot(kind=kind).figure_ is not figure
    figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_hyperband_and_a_single_candidate_can_be_plotted(kind):
    for one in (search_of(HyperbandSearchCV), search_of(space={"limit": [0.5]})):
        SearchDisplay.from_search(one.fit(X), kind=kind).figure_.canvas.draw()


@pytest.mark.parametrize(
    ("kind", "params"),
    [(SuccessiveHalvingSearchCV, {"n_candidates": 8}), (HyperbandSearchCV, {})],
)
def test_trust_shows_what_each_eliminated_candidate_could_have_reached(kind, params):
    space = {"limit": uniform(0, 1), "speed": uniform(0, 20)}
    search = search_of(kind, space=space, random_state=3, **params).fit(X)
    display = SearchDisplay.from_search(search, kind="trust")
    eliminated = {one["candidate"] for one in trust_report(search).eliminated}
    assert {one.candidate for one in display.possible.candidates} == eliminated
    bars = [line for line in display.ax_.get_lines() if len({*line.get_xdata()}) == 1]
    bars = [tuple(line.get_ydata()) for line in bars if len(line.get_ydata()) == 2]
    assert sorted(bars) == sorted((o.expected, o.highest) for o in display.possible.candidates)
    assert display.possible.selected_score == pytest.approx(search.best_score_)
    search.audit(X, n_candidates=2)
    display = SearchDisplay.from_search(search, kind="trust")
    known = [one for one in display.possible.candidates if one.is_audited]
    for one in known:
        params = search.all_cv_results_["params"][
            search.all_cv_results_["candidate"].tolist().index(one.candidate)
        ]
        assert one.expected == one.highest == pytest.approx(score_after(**params, units=8))
    diamonds = [line for line in display.ax_.get_lines() if line.get_marker() == "D"]
    assert len(diamonds) == len(known) == 2


def test_trust_is_about_the_metric_that_promotes_and_a_complete_search():
    scoring = {"a": lambda m, X, y=None: m.limit, "b": lambda m, X, y=None: -m.limit}
    search = search_of(scoring=scoring, refit="a").fit(X)
    with pytest.raises(ValueError, match="metric='b' does not promote candidates"):
        SearchDisplay.from_search(search, kind="trust", metric="b")
    with pytest.raises(ValueError, match='kind="trust" requires a display of this kind'):
        SearchDisplay.from_search(search).plot(kind="trust")


def test_invalid_arguments_raise(search):
    with pytest.raises(NotFittedError):
        SearchDisplay.from_search(search_of())
    grid = GridSearchCV(Curve(), {"limit": [0.1, 0.2]}, cv=KFold(2)).fit(X)
    with pytest.raises(TypeError, match="SearchDisplay requires a search with rungs"):
        SearchDisplay.from_search(grid)
    with pytest.raises(ValueError, match="metric='auc' is none of the metrics"):
        SearchDisplay.from_search(search, metric="auc")
    with pytest.raises(ValueError, match=r"kind='pie' is unknown\. Choose one of curves"):
        SearchDisplay.from_search(search, kind="pie")


def test_lowest_promoted_scores_are_shown_for_the_metric_that_promotes_only():
    scoring = {"a": lambda m, X, y=None: m.limit, "b": lambda m, X, y=None: -m.limit}
    search = search_of(scoring=scoring, refit="a").fit(X)
    by_a, by_b = (
        SearchDisplay.from_search(search, kind="rungs", metric=m).ax_ for m in (None, "b")
    )
    assert by_a.get_ylabel() == "mean test a"
    assert any(line.get_label() == "lowest promoted score" for line in by_a.get_lines())
    assert not any(line.get_label() == "lowest promoted score" for line in by_b.get_lines())


def test_figures(unit):
    search = unit_search().fit(X)
    for kind in ("curves", "rungs"):
        label = SearchDisplay.from_search(search, kind=kind).ax_.get_xlabel()
        assert label.splitlines()[0] == unit
    cost = SearchDisplay.from_search(search, kind="cost").ax_
    assert cost.get_xlabel() == f"{unit} per fold"
    labels = [text.get_text() for text in cost.get_legend().get_texts()]
    assert labels == ["at 1 <b>lap", *(f"at {n} {unit}" for n in search.n_resources_[1:])]
    bar = SearchDisplay.from_search(search, kind="params").figure_.axes[-1]
    assert bar.get_ylabel() == f"{unit} reached"


@each_training
@pytest.mark.parametrize("kind", ["curves", "rungs"])
def test_figures_describe_below_the_resource_how_models_are_trained(params, sentences, kind):
    search = unit_search(**params).fit(X)
    label = SearchDisplay.from_search(search, kind=kind).ax_.get_xlabel()
    assert label.splitlines() == [search.schedule_.unit, *sentences]
