"""Interactive figures: what they show is what the search found, and the pointer names it."""

import sys
import warnings

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.model_selection import GridSearchCV, KFold
from test_curves import X, search_of
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import figures, interactive, interactive_figure, parameter_importance
from sklearn_sha.inspection.figures.style import SELECTED
from sklearn_sha.inspection.possible_scores import possible_scores
from sklearn_sha.inspection.score_axis import score_axis
from sklearn_sha.inspection.search_data import figure_data

pytestmark = [
    # A call costs more than an epoch of so few samples.
    pytest.mark.filterwarnings("ignore:Including the fixed cost"),
]


@pytest.fixture(scope="module")
def search():
    return search_of().fit(X)


def shown(figure):
    """The traces of a figure without those of its legend."""
    return [trace for trace in figure.data if trace.showlegend is False]


def legend_of(figure):
    return {trace.name: trace.marker.color for trace in figure.data if trace.showlegend}


def scores_at(search, figure):
    """Scores of the candidates of each trace, read from its places and its hover texts."""
    axis = score_axis(figure_data(search, "curves", None, "").curves)
    for trace in shown(figure):
        told = [float(text.split("<br>")[1].split()[-1]) for text in trace.text]
        assert axis.score_at(trace.y) == pytest.approx(told, rel=1e-3)
        yield axis.score_at(trace.y)


def test_both_libraries_draw_the_same_kinds():
    assert list(interactive.KINDS) == list(figures.KINDS)


def test_curves_have_every_score_and_the_selected_candidate_in_front(search):
    figure = interactive_figure(search)
    results, found = search.all_cv_results_, {}
    for trace, scores in zip(shown(figure), scores_at(search, figure), strict=True):
        found |= {(trace.name, level): score for level, score in zip(trace.x, scores, strict=True)}
    expected = {
        (f"candidate {candidate}", search.n_resources_.index(n)): score
        for candidate, n, score in zip(
            results["candidate"], results["n_resources"], results["mean_test_score"], strict=True
        )
    }
    assert found.keys() == expected.keys()
    assert [found[key] for key in expected] == pytest.approx(list(expected.values()))
    *others, last = shown(figure)
    assert last.name == f"candidate {search.best_candidate_}"
    assert last.line.color == SELECTED
    assert SELECTED not in [trace.line.color for trace in others]
    legend = legend_of(figure)
    assert list(legend) == [*map(str, search.n_resources_), "selected"]
    assert {trace.line.color for trace in shown(figure)} == set(legend.values())
    for name, value in search.best_params_.items():
        if name in search.param_distributions:
            assert f"{name}={value:.4g}" in last.text[0]


def test_rungs_have_the_median_and_the_lowest_promoted_score(search):
    figure = interactive_figure(search, kind="rungs")
    lines = [trace.text for trace in shown(figure) if trace.mode == "lines"]
    expected = []
    for k, row in enumerate(search.rung_history_):
        expected.append(f"median: {np.median(row['scores']):.4g}")
        if k + 1 < len(search.rung_history_):
            expected.append(f"lowest promoted score: {row['cut_score']:.4g}")
    assert lines == expected
    dots = [trace for trace in shown(figure) if trace.mode == "markers"]
    assert [len(trace.x) for trace in dots] == search.n_candidates_


def test_params_have_a_panel_each_with_every_candidate():
    space = {"limit": loguniform(1e-3, 1), "speed": [1.0, 4.0], "fails": [False]}
    search = search_of(space=space, n_candidates=16).fit(X)
    limit, speed = shown(interactive_figure(search, kind="params"))
    values = [p["limit"] for p in search.results_frame()["params"]]
    assert sorted(limit.x) == pytest.approx(sorted(values))
    assert set(speed.x) == {1.0, 4.0}
    layout = interactive_figure(search, kind="params").layout
    assert (layout.xaxis.type, layout.xaxis2.type) == ("log", None)


def test_parallel_coordinates_have_a_place_for_missing_parameters():
    space = [{"limit": uniform(0, 1)}, {"limit": uniform(0, 1), "speed": [1.0, 4.0, 9.0]}]
    search = search_of(space=space, n_candidates=16).fit(X)
    (trace,) = interactive_figure(search, kind="parallel").data
    limit, speed, score = trace.dimensions
    assert [limit.label, speed.label, score.label] == ["limit", "speed", "score"]
    n_without = sum("speed" not in p for p in search.results_frame()["params"])
    assert speed.ticktext[0] == "not set"
    assert list(speed.values).count(speed.tickvals[0]) == n_without > 0
    assert max(trace.line.color) == trace.line.color[-1] == len(search.n_resources_)


def test_importance_cost_and_trust_have_the_numbers_of_the_reports(search):
    (bars,) = interactive_figure(search, kind="importance").data
    importance = parameter_importance(search)
    assert bars.x == pytest.approx([*importance.shares, importance.rest])
    (bars,) = interactive_figure(search, kind="cost").data
    schedule = search.schedule_
    assert sum(bars.x[:-1]) == schedule.total_cost
    assert [b + x for b, x in zip(bars.base, bars.x, strict=True)][:-1] == [
        row["total_cost"] for row in search.rung_history_
    ]
    assert bars.x[-1] == schedule.grid_cost
    # In a hovertemplate, x is the end of a bar.
    assert [*bars.customdata] == [*bars.x]
    assert "%{customdata:,}" in bars.hovertemplate
    figure = interactive_figure(search, kind="trust")
    possible = possible_scores(search)
    expected = sorted(one.expected for one in possible.candidates)
    assert sorted(y for trace in shown(figure) for y in trace.y) == pytest.approx(expected)
    assert [*legend_of(figure)] == possible.kinds()


@pytest.mark.parametrize("n_audited", [0, 2, 100])
def test_the_legend_of_the_trust_figure_has_the_kinds_that_there_are(n_audited):
    search = search_of().fit(X)
    if n_audited:
        search.audit(X, n_candidates=n_audited)
    possible = possible_scores(search)
    n_left = sum(not one.is_audited for one in possible.candidates)
    assert ("audited" in possible.kinds()) == (n_audited > 0)
    assert bool({"could have been better", "eliminated"} & {*possible.kinds()}) == (n_left > 0)
    assert (n_left > 0) == (n_audited < 100)
    figure = interactive_figure(search, kind="trust")
    assert [*legend_of(figure)] == possible.kinds()


@pytest.mark.parametrize("kind", interactive.KINDS)
@pytest.mark.parametrize("name", ["Hyperband", "audited", "one candidate", "nan"])
def test_any_search_can_be_shown(kind, name):
    common = {"resource": "partial_fit", "cv": KFold(2), "refit": False, "random_state": 0}
    if name == "Hyperband":
        search = HyperbandSearchCV(Curve(), {"limit": uniform(0, 1)}, max_resources=9, **common)
        search.fit(X)
    elif name == "one candidate":
        search = SuccessiveHalvingSearchCV(Curve(), {"limit": [0.5]}, max_resources=4, **common)
        search.fit(X)
    elif name == "audited":
        search = search_of().fit(X).audit(X, n_candidates=2)
    else:
        space = {"limit": [0.2, 0.4, 0.6, 0.8], "fails": [False, "nan"]}
        search = SuccessiveHalvingSearchCV(Curve(), space, max_resources=4, **common)
        with pytest.warns(UserWarning, match="non-finite"):
            search.fit(X)
    figure = interactive_figure(search, kind=kind)
    assert figure.layout.title.text
    assert figure.data or (kind, name) == ("trust", "one candidate")  # none was eliminated


def test_parallel_coordinates_have_a_place_for_missing_scores():
    space = {"limit": [0.2, 0.4, 0.6, 0.8], "fails": [False, "nan"]}
    with pytest.warns(UserWarning, match="non-finite"):
        search = search_of(space=space).fit(X)
    figure = interactive_figure(search, kind="parallel")
    score = figure.data[0].dimensions[-1]
    assert score.ticktext[0] == "no score"
    assert list(score.values).count(score.tickvals[0]) == 4
    assert np.isfinite(score.values).all()
    note = "4 of 8 candidates have no score in the last rung that they reached."
    assert note in figure.layout.annotations[0].text


def test_every_bracket_has_its_lowest_promoted_score():
    search = HyperbandSearchCV(
        Curve(), {"limit": uniform(0, 1)}, max_resources=9, resource="partial_fit", cv=KFold(2),
        refit=False, random_state=0,
    ).fit(X)  # fmt: skip
    lines = [trace.text for trace in shown(interactive_figure(search, kind="rungs"))]
    told = [text for text in lines if isinstance(text, str) and text.startswith("lowest promoted")]
    below = [row for row in search.rung_history_ if row["n_resources"] < 9]
    assert sorted(told) == sorted(f"lowest promoted score: {row['cut_score']:.4g}" for row in below)


@pytest.mark.parametrize("default", [0.0, "<auto>"])
@pytest.mark.parametrize("step", [1, -1])
def test_a_default_without_a_place_is_below_a_logarithmic_axis(default, step):
    space = [{"limit": [0.2, 0.4]}, {"limit": loguniform(1e-3, 1), "speed": [1, 2]}][::step]
    initial = [{"limit": default}]
    search = search_of(space=space, n_candidates=16, initial_candidates=initial)
    search.set_params(error_score=-1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X)
    limit = interactive_figure(search, kind="parallel").data[0].dimensions[0]
    tried = [params["limit"] for params in search.results_frame()["params"]]
    logs = [np.log10(value) for value in tried if value != default]
    other = min(logs) - 0.12 * np.ptp(logs)
    assert sorted(limit.values) == pytest.approx(sorted([other, *logs]))
    assert (limit.tickvals[0], limit.ticktext[0]) == (pytest.approx(other), str(default))
    axis = interactive_figure(search, kind="params").layout.xaxis
    assert axis.type == "log"
    text = str(default).replace("<", "&lt;").replace(">", "&gt;")
    assert (axis.tickvals[0], axis.ticktext[0]) == (pytest.approx(10**other), text)


def test_lines_of_parallel_coordinates_are_opaque_and_differ(search):
    """They ignore translucency."""
    line = interactive_figure(search, kind="parallel").data[0].line
    colors = [color for _, color in line.colorscale]
    assert len({*colors}) == len(colors) == len(search.n_resources_) + 1
    assert not any("rgba" in color for color in colors)


def test_bars_of_possible_scores_have_the_colors_of_their_candidates(search):
    figure = interactive_figure(search, kind="trust")
    for trace in shown(figure):
        assert trace.error_y.color == trace.marker.color
    assert {trace.marker.color for trace in shown(figure)} <= {*legend_of(figure).values()}


def test_a_space_with_a_single_value_has_no_panel():
    search = search_of(space={"limit": [0.5]}).fit(X)
    title = interactive_figure(search, kind="params").layout.title.text
    assert title == "No parameter has more than one value."


@pytest.mark.parametrize("kind", interactive.KINDS)
def test_text_is_no_html(kind):
    """Ticks of parallel coordinates show text as it stands."""
    scoring = {"<i>": lambda model, X, y=None: model.score(X)}
    space = {"limit": [0.1, 0.2, 0.3, 0.4], "fails": [False, "<b>"]}
    search = search_of(space=space, scoring=scoring, refit="<i>").fit(X)
    texts = str(interactive_figure(search, kind=kind).to_dict())
    assert "<i>" not in texts
    assert "<b>" not in texts or kind == "parallel"
    assert "&lt;" in texts or kind == "cost"  # which names neither metrics nor parameters


def test_a_missing_plotly_names_the_extra(search, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("plotly")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "sklearn_sha\[plotly\]"'):
        interactive_figure(search)


def test_invalid_arguments_raise(search):
    with pytest.raises(ValueError, match="kind='lines' is unknown"):
        interactive_figure(search, kind="lines")
    with pytest.raises(TypeError, match="interactive_figure"):
        interactive_figure(GridSearchCV(Curve(), {"limit": [1]}, cv=KFold(2)).fit(X))
