"""Figures of a search."""

import sys
from itertools import pairwise

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeClassifier
from test_curves import X, search_of
from test_stopping import Stopped, ctrl_c
from test_units import each_training
from test_units import search_of as unit_search
from toys import CALLS, Curve
from toys import curve as score_after

from sklearn_sha import HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import parameter_importance, trust_report
from sklearn_sha.inspection.figures import KINDS
from sklearn_sha.inspection.figures.style import RUNG, SELECTED, rung_shares
from sklearn_sha.inspection.possible_scores import possible_scores
from sklearn_sha.inspection.search_data import search_data

mpl.use("agg")


pytestmark = [
    pytest.mark.slow,
    # A call costs more than an epoch of so few samples.
    pytest.mark.filterwarnings("ignore:Including the fixed cost"),
]


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def search():
    return search_of().fit(X)


def rung_color(k, n):
    """Color of a rung on white, by the definition of alpha compositing."""
    share = rung_shares(n)[k]
    return tuple(share * np.array(mpl.colors.to_rgb(RUNG)) + 1 - share)


def levels_reached(search):
    """Index of the last rung of each candidate."""
    results = search.all_cv_results_
    return [
        search.n_resources_.index(max(results["n_resources"][results["candidate"] == c]))
        for c in range(1 + max(results["candidate"]))
    ]


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


@pytest.mark.parametrize("kind", ["curves", "rungs", "params", "parallel", "importance", "trust"])
def test_the_name_of_a_metric_is_not_parsed_as_a_formula(kind):
    name = r"$\frac$"
    scoring = {name: lambda model, X, y=None: model.score(X)}
    search = search_of(scoring=scoring, refit=False).fit(X)
    SearchDisplay.from_search(search, kind=kind).figure_.canvas.draw()


def test_the_selected_candidate_is_orange_and_the_others_are_bluer_the_further_they_got(search):
    ax = SearchDisplay.from_search(search).ax_
    lines = ax.get_lines()
    assert len(lines) == 16
    results = search.all_cv_results_
    mine = results["candidate"] == search.best_candidate_
    np.testing.assert_array_equal(lines[-1].get_xdata(), range(len(search.n_resources_)))
    np.testing.assert_array_equal(lines[-1].get_ydata(), results["mean_test_score"][mine])
    assert lines[-1].get_color() == SELECTED
    assert lines[-1].get_linewidth() > max(line.get_linewidth() for line in lines[:-1])
    n = len(search.n_resources_)
    reached = [
        level for c, level in enumerate(levels_reached(search)) if c != search.best_candidate_
    ]
    np.testing.assert_allclose(
        [line.get_color() for line in lines[:-1]], [rung_color(k, n) for k in sorted(reached)]
    )
    assert not ax.collections
    assert len(SearchDisplay.from_search(search, spread=True).ax_.collections) == 16


@pytest.mark.parametrize("kind", ["curves", "rungs"])
def test_labels_name_the_selected_candidate_the_metric_and_the_numbers_of_candidates(search, kind):
    ax = SearchDisplay.from_search(search, kind=kind).ax_
    assert ax.get_title(loc="left") == (
        f"Selected: score {search.best_score_:.4g} with limit=0.7, "
        f"speed={search.best_params_['speed']}"
    )
    assert ax.get_ylabel() == "score, mean over folds"
    texts = [text.get_text() for text in ax.texts]
    assert [*map(str, search.n_candidates_)] == texts[: len(search.n_candidates_)]
    assert any(text.startswith("selected") for text in texts)
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.get_xticklabels()] == [*map(str, search.n_resources_)]


def test_scores_far_below_the_finalists_are_compressed_and_counted():
    search = search_of(space={"limit": [*(k / 10 for k in range(8)), -1e6]}).fit(X)
    for kind in ("curves", "rungs"):
        ax = SearchDisplay.from_search(search, kind=kind).ax_
        ax.figure.canvas.draw()
        lowest = min(search.all_cv_results_["mean_test_score"])
        heights = [ax.transData.transform((0, s))[1] for s in (lowest, 0.3, search.best_score_)]
        assert heights[2] - heights[1] > (heights[2] - heights[0]) / 3
        assert "where the axis is compressed." in ax.get_xlabel()
        assert ax.get_yticklabels()[0].get_text() == f"{lowest:.0f}"


def test_the_last_rung_of_a_run_has_no_lowest_promoted_score():
    """It has the level of an earlier rung of the next run, which promotes."""
    space = {"limit": [k / 10 for k in range(8)]}
    search = search_of(space=space, budget="double", patience=None).fit(X)
    cuts = search_data(search, "score").cuts
    last = [row["iter"] for row in search.rung_history_ if len(row["promoted"]) == 1]
    assert len(last) > 1
    expected = [row["cut_score"] for row in search.rung_history_ if row["iter"] not in last]
    assert [score for _, score in cuts] == expected


def test_rungs_show_scores_medians_and_the_lowest_promoted_score(search):
    display = SearchDisplay.from_search(search, kind="rungs")
    ax = display.ax_

    def heights(label):
        return [line.get_ydata()[0] for line in ax.get_lines() if line.get_label() == label]

    history = search.rung_history_
    assert heights("lowest promoted score") == [row["cut_score"] for row in history[:-1]]
    assert heights("median") == [pytest.approx(np.median(row["scores"])) for row in history]
    others, selected = ax.collections[::2], ax.collections[1::2]
    for level, (row, dots, own) in enumerate(zip(history, others, selected, strict=True)):
        scores = dict(zip(row["candidates"], row["scores"], strict=True))
        assert own.get_offsets().tolist() == [[level, scores.pop(search.best_candidate_)]]
        drawn = [scores[candidate] for candidate in display.data.drawing_order(scores)]
        np.testing.assert_array_equal(dots.get_offsets()[:, 1], drawn)
        assert (abs(dots.get_offsets()[:, 0] - level) < 0.3).all()


def test_rungs_with_the_same_resource_and_more_folds_are_separate():
    search = search_of(
        resource="folds", cv=KFold(6), max_resources="auto", min_resources=1, min_folds="all"
    ).fit(np.zeros((1200, 2)))
    ax = SearchDisplay.from_search(search, kind="curves").ax_
    labels = [text.get_text().splitlines() for text in ax.get_xticklabels()]
    folds = [row["n_folds"] for row in search.rung_history_]
    assert len({*folds}) == len(folds) > 1
    assert [int(label[-1].split()[0]) for label in labels] == folds


def test_each_parameter_has_a_panel():
    search = search_of(
        space={"limit": loguniform(1e-6, 1), "speed": uniform(1, 2), "fails": ["a", "b"]},
        n_candidates=16, random_state=0,
    ).fit(X)  # fmt: skip
    display = SearchDisplay.from_search(search, kind="params")
    assert [ax.get_xlabel() for ax in display.axes_] == ["fails", "limit", "speed"]
    assert [ax.get_xscale() for ax in display.axes_] == ["linear", "log", "linear"]
    assert [ax.get_ylabel() for ax in display.axes_] == ["score, mean over folds", "", ""]
    assert [t.get_text() for t in display.axes_[0].get_xticklabels()] == ["a", "b"]
    results = search.all_cv_results_
    reached = levels_reached(search)
    n = len(search.n_resources_)
    order = sorted(range(16), key=lambda c: (c == search.best_candidate_, reached[c]))
    colors = [rung_color(reached[c], n) for c in order]
    colors[-1] = mpl.colors.to_rgb(SELECTED)
    for ax, name in zip(display.axes_, ("fails", "limit", "speed"), strict=True):
        (dots,) = ax.collections[:1]
        values = [results["params"][c][name] for c in order]
        if name == "fails":
            places = dots.get_offsets()[:, 0]
            assert ["ab"[round(place)] for place in places] == values
            assert len({*places.tolist()}) == 16
        else:
            np.testing.assert_array_equal(dots.get_offsets()[:, 0], values)
        np.testing.assert_allclose(dots.get_facecolors()[:, :3], colors)


@pytest.mark.parametrize("kind", ["params", "parallel"])
@pytest.mark.parametrize("best", [4, 30])
def test_of_many_categories_some_have_labels_with_the_selected_one(kind, best):
    sizes = [(k, k + 1) for k in range(36)]
    limits = [{"limit": [0.9 if k == best else 0.1], "fails": [sizes[k]]} for k in range(36)]
    search = search_of(space=limits, max_resources=32).fit(X)
    display = SearchDisplay.from_search(search, kind=kind)
    display.figure_.canvas.draw()
    ax = display.axes_[0]
    texts = ax.get_xticklabels() if kind == "params" else ax.texts
    labels = [text for text in texts if text.get_text() in map(str, sizes)]
    assert 12 <= len(labels) <= 20
    assert str(sizes[best]) in [label.get_text() for label in labels]
    boxes = [label.get_window_extent() for label in labels]
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))


@pytest.mark.parametrize("kind", ["params", "parallel"])
def test_a_default_that_is_no_number_has_a_label_of_its_own(kind):
    space = {"limit": loguniform(1e-4, 1), "growth": randint(1, 30)}
    search = search_of(
        space=space, n_candidates=16, random_state=0, initial_candidates=[{"growth": False}],
    ).fit(X)  # fmt: skip
    results = search.all_cv_results_
    for params in results["params"]:
        if params["growth"] is False:
            params["growth"] = "auto"
    display = SearchDisplay.from_search(search, kind=kind)
    display.figure_.canvas.draw()
    growth = display.axes_[0]
    texts = growth.get_xticklabels() if kind == "params" else growth.texts
    labels = [text.get_text() for text in texts]
    assert labels.count("auto") == 1
    tried = [params["growth"] for params in results["params"] if params["growth"] != "auto"]
    assert {str(min(tried)), str(max(tried))} <= {*labels}
    if kind == "params":
        (dots,) = growth.collections
        places = dots.get_offsets()[:, 0]
        assert places.min() == pytest.approx(min(tried) - 0.12 * (max(tried) - min(tried)))
        shown = [tick for tick, text in zip(growth.get_xticks(), labels, strict=True) if text]
        assert shown[0] == places.min()
        boxes = [text.get_window_extent() for text in texts if text.get_text()]
        assert not any(a.overlaps(b) for a, b in pairwise(boxes))


def test_without_a_parameter_that_varies_the_figure_says_so():
    display = SearchDisplay.from_search(search_of(space={"limit": [0.5]}).fit(X), kind="params")
    assert display.ax_.get_title("left") == "No parameter has more than one value."


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore:One or more of the test scores")
@pytest.mark.parametrize("kind", ["curves", "rungs"])
@pytest.mark.parametrize("limit", [np.inf, -np.inf])
def test_infinite_scores_have_no_label(kind, limit):
    search = search_of(space={"limit": [0.1, 0.2, limit, 0.4, 0.5, 0.6, 0.7, 0.8]})
    with np.errstate(all="ignore"):
        search.fit(X)
    display = SearchDisplay.from_search(search, kind=kind)
    display.figure_.canvas.draw()
    labels = [text for text in display.ax_.texts if text.xycoords == "data"]
    assert all(np.isfinite(text.xy).all() for text in labels)


def test_parallel_coordinates_have_one_line_per_candidate_through_its_values_and_score():
    space = [
        {"limit": loguniform(1e-6, 1), "speed": uniform(1, 2)},
        {"limit": loguniform(1e-6, 1), "fails": ["a", "b"]},
    ]
    search = search_of(space=space, n_candidates=16, random_state=0).fit(X)
    ax = SearchDisplay.from_search(search, kind="parallel").ax_
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert labels == ["fails", "limit", "speed", "score"]
    lines = [line for line in ax.get_lines() if len(line.get_xdata()) == 4]
    reached = levels_reached(search)
    order = sorted(range(16), key=lambda c: (c == search.best_candidate_, reached[c]))
    params = dict(
        zip(search.all_cv_results_["candidate"], search.all_cv_results_["params"], strict=True)
    )
    logs = np.log([params[c]["limit"] for c in order])
    np.testing.assert_allclose(
        [line.get_ydata()[1] for line in lines], (logs - logs.min()) / np.ptp(logs)
    )
    for line, candidate in zip(lines, order, strict=True):
        fails, _, speed, _ = line.get_ydata()
        assert (fails < 0) == ("fails" not in params[candidate])
        assert (speed < 0) == ("speed" not in params[candidate])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["not set"]
    last_scores = [line.get_ydata()[3] for line in lines]
    assert lines[-1].get_color() == SELECTED
    assert max(last_scores) == pytest.approx(1)
    assert {"a", "b"} <= {text.get_text() for text in ax.texts}


def test_importance_shows_the_share_of_each_parameter(search):
    display = SearchDisplay.from_search(search, kind="importance")
    importance = parameter_importance(search)
    bars = display.ax_.patches
    assert [bar.get_width() for bar in bars] == [*importance.shares, importance.rest]
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == [*importance.names, "interactions and noise"]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts == [f"{100 * share:.0f}%" for share in [*importance.shares, importance.rest]]


def test_a_display_plots_its_own_kind_again(search):
    for kind in KINDS:
        display = SearchDisplay.from_search(search, kind=kind)
        labels = [(ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) for ax in display.axes_]
        again = display.plot().axes_
        assert [(ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) for ax in again] == labels


def test_importance_names_parameters_as_the_other_figures_do():
    """As short as is clear among all parameters, also those with a single value."""
    trees = [("one", DecisionTreeClassifier()), ("two", DecisionTreeClassifier(max_depth=1))]
    space = {"one__max_depth": [1, 2, 3, 4], "two__max_depth": [1]}
    search = SuccessiveHalvingSearchCV(VotingClassifier(trees), space, min_resources=1.0)
    search.fit(*load_iris(return_X_y=True))
    assert parameter_importance(search).names == ["one__max_depth"]
    assert "one__max_depth" in SearchDisplay.from_search(search, kind="params").ax_.get_xlabel()


def worst(results):
    return int(np.argmax(results["rank_test_roc_auc"]))


@pytest.mark.parametrize("refit", ["roc_auc", "accuracy", worst])
def test_the_history_shows_the_candidate_that_refit_selects(refit):
    X, y = make_classification(300, random_state=0)
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 8, 16]}, cv=3,
        resource="n_samples", min_resources=60, scoring=["accuracy", "roc_auc"], refit=refit,
        promote_by="roc_auc",
    ).fit(X, y)  # fmt: skip
    assert search.rung_history_.best_candidate == search.best_candidate_
    assert f"candidate {search.best_candidate_} (selected)" in search._repr_html_()


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("kind", ["curves", "rungs", "parallel"])
def test_the_score_of_the_selected_candidate_is_that_of_the_rung_that_selected_it(kind, refit):
    """It was trained further in a rung that was interrupted."""
    space = {"limit": [k / 10 for k in range(8)][::-1], "speed": [2.0, 1.0]}
    search = search_of(space=space, refit=refit).set_params(estimator=Stopped())
    first, second = search.plan(X).rungs[:2]
    CALLS.clear()
    with ctrl_c(at=2 * second.total_cost - 3):
        search.fit(X)
    assert len(search.rung_history_) == 2
    assert not search.rung_history_[1]["promoted"]
    reached = search.results_frame().query(f"candidate == {search.best_candidate_}")
    assert reached["n_resources"].max() > search.best_n_resources_ == first.n_resources
    display = SearchDisplay.from_search(search, kind=kind)
    text = f"{search.best_score_:.4g}"
    assert f" {text} with " in display.ax_.get_title(loc="left") + display.ax_.get_title()
    assert f">{text}</text>" in search.rung_history_._repr_html_()


def test_another_metric_does_not_select_another_candidate():
    scoring = {"a": lambda m, X, y=None: m.limit, "b": lambda m, X, y=None: -m.limit}
    search = search_of(scoring=scoring, refit="a").fit(X)
    display = SearchDisplay.from_search(search, metric="b")
    assert display.data.selected == search.best_candidate_
    assert display.data.selected_score == search.cv_results_["mean_test_b"][search.best_index_]


def test_cost_is_compared_with_a_grid_search(search):
    ax = SearchDisplay.from_search(search, kind="cost").ax_
    widths = [bar.get_width() for bar in ax.patches]
    assert widths[-1] == search.schedule_.grid_cost == 16 * 8
    assert sum(widths[:-1]) == search.schedule_.total_cost
    assert [bar.get_x() for bar in ax.patches[:-1]] == [
        0, *(row["total_cost"] for row in search.rung_history_[:-1])
    ]  # fmt: skip
    texts = [text.get_text() for text in ax.texts]
    assert texts == [f"this search: {search.schedule_.total_cost}", "128"]


def test_the_cost_of_an_interrupted_search_is_compared_with_the_full_grid_search():
    search = search_of().set_params(estimator=Stopped())
    CALLS.clear()
    with ctrl_c(at=2 * search.plan(X).rungs[0].total_cost):
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


def test_figures_follow_a_dark_style(search):
    with plt.style.context("dark_background"):
        for kind in KINDS:
            display = SearchDisplay.from_search(search, kind=kind)
            display.figure_.canvas.draw()
        ax = SearchDisplay.from_search(search).ax_
    faint, strong = (line.get_color() for line in (ax.get_lines()[0], ax.get_lines()[-2]))
    assert sum(faint) < sum(strong)


def test_a_missing_matplotlib_names_the_extra(search, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn_sha\[plot\]"'):
        SearchDisplay.from_search(search)


def test_panels_require_axes_that_can_be_divided(search):
    ax = plt.figure().add_axes((0, 0, 1, 1))
    with pytest.raises(ValueError, match=r"Pass an Axes of plt\.subplots, or ax=None"):
        SearchDisplay.from_search(search, kind="params", ax=ax)


@pytest.mark.parametrize("kind", KINDS)
def test_other_objects_than_axes_raise(search, kind):
    figure, several = plt.subplots(1, 2)
    for ax in (figure, several, "ax"):
        with pytest.raises(TypeError, match=r"(?s)ax=.* must be a matplotlib Axes, or None"):
            SearchDisplay.from_search(search, kind=kind, ax=ax)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("budget", [None, "double"])
def test_a_display_plots_on_given_axes(kind, budget):
    figure, ax = plt.subplots()
    display = SearchDisplay.from_search(search_of(budget=budget).fit(X), kind=kind, ax=ax)
    assert display.figure_ is figure
    assert (display.ax_ is ax) == (kind != "params")
    assert display.plot(kind=kind).figure_ is not figure
    assert display.axes_[0] is display.ax_
    figure.canvas.draw()


@pytest.mark.parametrize("kind", KINDS)
def test_a_display_plots_in_a_subfigure(search, kind):
    figure = plt.figure(layout="constrained")
    ax = figure.subfigures(1, 2)[1].subplots()
    SearchDisplay.from_search(search, kind=kind, ax=ax)
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
    assert {one.candidate for one in display.data.possible.candidates} == eliminated
    bars = [line for line in display.ax_.get_lines() if len({*line.get_xdata()}) == 1]
    bars = [tuple(line.get_ydata()) for line in bars if len(line.get_ydata()) == 2]
    assert sorted(bars) == sorted((o.expected, o.highest) for o in display.data.possible.candidates)
    assert display.data.possible.selected_score == pytest.approx(search.best_score_)
    search.audit(X, n_candidates=2)
    display = SearchDisplay.from_search(search, kind="trust")
    known = [one for one in display.data.possible.candidates if one.is_audited]
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
    for kind in ("trust", "importance"):
        with pytest.raises(ValueError, match=f'kind="{kind}" requires a display of this kind'):
            SearchDisplay.from_search(search).plot(kind=kind)


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
    with pytest.raises(ValueError, match=r"kind=\['rungs'\] is unknown\. Choose one of curves"):
        SearchDisplay.from_search(search, kind=["rungs"])


def test_lowest_promoted_scores_are_shown_for_the_metric_that_promotes_only():
    scoring = {"a": lambda m, X, y=None: m.limit, "b": lambda m, X, y=None: -m.limit}
    search = search_of(scoring=scoring, refit="a").fit(X)
    by_a, by_b = (
        SearchDisplay.from_search(search, kind="rungs", metric=m).ax_ for m in (None, "b")
    )
    assert by_a.get_ylabel() == "a, mean over folds"
    assert any(line.get_label() == "lowest promoted score" for line in by_a.get_lines())
    assert not any(line.get_label() == "lowest promoted score" for line in by_b.get_lines())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("search_kind", "params"),
    [(SuccessiveHalvingSearchCV, {"n_candidates": 32}), (HyperbandSearchCV, {})],
)
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_nothing_is_cut_off(kind, search_kind, params):
    space = {
        "limit": uniform(0, 1),
        "speed": loguniform(1, 100),
        "fails": ["a long name of a category", "b", "another long name of a category", "nan"],
        "growth": [0],
    }
    search = search_of(
        search_kind, space, max_resources=81, scoring=_NAMED, refit="neg_mean_squared_error",
        random_state=0, **params,
    ).fit(X)  # fmt: skip
    figure = SearchDisplay.from_search(search, kind=kind).figure_
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(box.x0, box.y0) > -0.02
    assert box.x1 < width + 0.02
    assert box.y1 < height + 0.02
    sizes = [text.get_fontsize() for text in figure.findobj(mpl.text.Text) if text.get_text()]
    if kind not in ("params", "parallel"):  # which are wider, by parameter
        assert min(sizes) * 400 / (width * 72) >= 8  # pixels, at a width of 400


def _neg(model, X, y=None):
    return -1000 - model.score(X)


_NAMED = {"neg_mean_squared_error": _neg}


def test_figures_name_the_unit(unit):
    search = unit_search().fit(X)
    for kind in ("curves", "rungs"):
        label = SearchDisplay.from_search(search, kind=kind).ax_.get_xlabel()
        assert label.splitlines()[0] == unit
    cost = SearchDisplay.from_search(search, kind="cost").ax_
    assert cost.get_xlabel() == f"{unit} per fold"
    assert cost.get_ylabel() == "candidates"
    first, *others = zip(search.n_candidates_, search.n_resources_, strict=True)
    assert [text.get_text() for text in cost.get_yticklabels()] == [
        f"{first[0]} at 1 <b>lap",
        *(f"{n_candidates} at {n} {unit}" for n_candidates, n in others),
        "grid search",
    ]
    for kind in ("params", "parallel"):
        (key,) = SearchDisplay.from_search(search, kind=kind).figure_.legends
        assert key.get_title().get_text() == f"{unit} reached"
        labels = [text.get_text() for text in key.get_texts()]
        assert labels == [*map(str, search.n_resources_), "selected"]


@each_training
@pytest.mark.parametrize("kind", ["curves", "rungs"])
def test_figures_describe_below_the_resource_how_models_are_trained(params, sentences, kind):
    search = unit_search(**params).fit(X)
    label = SearchDisplay.from_search(search, kind=kind).ax_.get_xlabel()
    lines = [line for line in label.splitlines() if "compressed" not in line]
    assert lines == [search.schedule_.unit, *sentences]


@pytest.mark.parametrize("n_audited", [0, 2, 100])
def test_the_legend_of_the_trust_figure_has_the_kinds_that_there_are(n_audited):
    search = search_of().fit(X)
    if n_audited:
        search.audit(X, n_candidates=n_audited)
    legend = SearchDisplay.from_search(search, kind="trust").ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == possible_scores(search).kinds()


def test_an_error_of_refit_leaves_the_rungs_without_a_selected_candidate():
    search = SuccessiveHalvingSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}, cv=3,
        resource="n_samples", min_resources=60, refit=lambda results: 99, promote_by="score",
    )  # fmt: skip
    with pytest.raises(IndexError, match="best_index_ index out of range"):
        search.fit(*make_classification(300, random_state=0))
    history = search.rung_history_
    assert (history.best_candidate, history.score_label) == (None, "accuracy")
