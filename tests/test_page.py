"""HTML of searches, schedules and reports: tables, figures and escaped text."""

import re
import warnings
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._formatting import format_number, format_params, html_table, quantity, text_table
from sklearn_sha._results.rung_history import RungHistory
from sklearn_sha.inspection import trust_report
from sklearn_sha.resources import PartialFit
from sklearn_sha.schedules import Schedule, hyperband_schedules, schedule_from_range

X = np.arange(24.0).reshape(12, 2)
EVIL = "<script>alert('&')</script>"
VOID = {"br", "hr", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """Tags and text; every tag that is opened is closed, in order."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self._open = [], [], []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def search_of(kind=SuccessiveHalvingSearchCV, space=None, **params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 8}
    space = space or {"limit": [k / 10 for k in range(8)]}
    return kind(Curve(), space, **common | params)


def below_the_diagram(search):
    before = search_of()._repr_html_
    html = search._repr_html_()
    assert html.count("</style>") >= 1
    assert before().count("</style>") == html.count("</style>")
    return html[html.rindex("<div><p>Best") :]


class Marked(PartialFit):
    """Has HTML in a text."""

    continuation = "Models <b>continue</b> training."


def test_texts_of_a_resource_are_escaped():
    search = search_of(resource=Marked()).fit(X)
    assert "<p>Models &lt;b&gt;continue&lt;/b&gt; training.</p>" in search._repr_html_()


@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_a_fitted_search_shows_rungs_and_candidates_below_the_diagram(kind):
    search = search_of(kind).fit(X)
    page = Page(below_the_diagram(search))
    assert page.tags.count("tr") == 1 + len(search.n_resources_)
    assert page.tags.count("circle") == len(
        {c for r in search.rung_history_ for c in r["candidates"]}
    )
    assert f"{search.best_score_:.4g}" in "".join(page.texts)
    assert search._repr_mimebundle_()["text/html"].endswith(below_the_diagram(search))


def test_the_diagram_is_that_of_grid_search_with_the_best_estimator():
    search = search_of()
    assert "estimator: Curve" in search._repr_html_()
    assert "best_estimator_: Curve" in search.fit(X)._repr_html_()
    assert "<svg viewBox" not in search_of()._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(search, "_repr_html_")
        assert "text/html" not in search._repr_mimebundle_()


def test_everything_is_escaped():
    search = search_of(space=[{"limit": [0.1, 0.2]}, {"limit": [0.9], "fails": [EVIL]}]).fit(X)
    assert EVIL in str(search.best_params_)
    for html in (below_the_diagram(search), html_table({EVIL: [EVIL]})):
        page = Page(html)
        assert "script" not in page.tags
        assert repr(EVIL)[1:-1] in "".join(page.texts)


def svg_of(history):
    html = history._repr_html_()
    return ET.fromstring(html[html.index("<svg") :])


def lines_of(svg):
    """Lines of the candidates by candidate, in the order in which they are drawn."""
    lines = [group for group in svg.iter("g") if group.find("title") is not None]
    return {int(re.search(r"\d+", line.find("title").text)[0]): line for line in lines}


def n_points(line):
    polyline = line.find("polyline")
    return 1 if polyline is None else len(polyline.get("points").split())


def test_the_figure_is_xml_with_a_thick_line_at_the_top_for_the_best_candidate():
    search = search_of().fit(X)
    lines = lines_of(svg_of(search.rung_history_))
    (best,) = (line for line in lines.values() if line.get("stroke-width"))
    assert best is lines[search.best_candidate_] is [*lines.values()][-1]
    ends = [float(line.find("circle").get("cy")) for line in lines.values()]
    assert ends[-1] == min(ends)
    lives = {c: sum(c in r["candidates"] for r in search.rung_history_) for c in range(8)}
    assert {c: n_points(line) for c, line in lines.items()} == lives


def test_a_line_shows_its_score_resource_and_parameters():
    search = search_of(space={"limit": [k / 10 for k in range(8)], "speed": [1.0, 2.0]}).fit(X)
    lines = lines_of(svg_of(search.rung_history_))
    results = search.all_cv_results_
    assert len(lines) == 16
    for candidate, line in lines.items():
        last = np.flatnonzero(results["candidate"] == candidate)[-1]
        params, n = results["params"][last], results["n_resources"][last]
        selected = " (selected)" if candidate == search.best_candidate_ else ""
        assert line.find("title").text == (
            f"candidate {candidate}{selected}: "
            f"score {results['mean_test_score'][last]:.4f} at {quantity(n, 'epochs')}\n"
            f"limit={params['limit']}, speed={params['speed']}"
        )


def test_steps_of_a_pipeline_are_not_repeated_in_the_figure():
    search = search_of()
    search.set_params(
        estimator=make_pipeline(Curve()), param_distributions={"curve__limit": [0.1, 0.2]}
    )
    html = search.fit(X).rung_history_._repr_html_()
    assert "\nlimit=0.2</title>" in html
    assert "curve__" not in html


def test_the_figure_names_the_metric_the_unit_and_the_number_of_candidates():
    X, y = load_iris(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        RandomForestClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 4], "min_samples_leaf": [1, 5]},
        resource="n_estimators", min_resources=1, max_resources=4, scoring="roc_auc_ovr", cv=2,
    ).fit(X, y)  # fmt: skip
    texts = [text.text for text in svg_of(search.rung_history_).iter("text")]
    assert {"ROC AUC ovr", "trees", "candidates", "selected", f"{search.best_score_:.4g}"} <= {
        *texts
    }
    for rung in search.rung_history_:
        assert str(rung["n_candidates"]) in texts
        assert str(rung["n_resources"]) in texts


def test_colors_of_the_figure_become_stronger_with_the_rungs():
    search = search_of(min_resources=1).fit(X)
    opacities = {
        n_points(line): float(line.get("opacity", 1))
        for line in lines_of(svg_of(search.rung_history_)).values()
    }
    assert len(opacities) == len(search.n_resources_)
    by_rung = [opacities[n] for n in sorted(opacities)]
    assert by_rung == sorted({*by_rung})


def history_of(scores):
    return RungHistory(
        {
            "candidates": list(range(len(row))),
            "scores": row,
            "n_resources": k + 1,
            "promoted": [0],
            "best_score": float(np.fmax.reduce(row)),
        }
        for k, row in enumerate(scores)
    )


def test_a_last_rung_without_scores_does_not_select_in_the_figure():
    """It has no score of the selected candidate, which is that of the rung before."""

    def score(model, X, y=None):
        return model.limit if model.units_ < 8 else np.nan

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = search_of(scoring=score, min_folds="all").fit(X)
    html = search.rung_history_._repr_html_()
    about_selected = html[html.index("(selected)") :].partition("</title>")[0]
    assert re.search(r": score 0\.7\d* at 4 ", about_selected), about_selected


def test_a_completed_rung_that_promoted_none_selects_in_the_figure():
    """Hyperband was interrupted in the last one of its rungs with 9 epochs."""
    space = {"limit": np.linspace(0.1, 0.9, 49)}
    search = search_of(HyperbandSearchCV, space, max_resources=27, random_state=0)
    search.set_params(estimator=Stopped())
    CALLS.clear()
    with ctrl_c(at=2 * (27 + 18 + 36 + 54 + 18 + 24) - 3):
        search.fit(X)
    rungs = [row for row in search.rung_history_ if search.best_candidate_ in row["candidates"]]
    assert [row["n_resources"] for row in rungs] == [1, 3, 9]
    assert rungs[-1]["promoted"] == []
    assert search.best_score_ == rungs[-1]["best_score"]
    html = search.rung_history_._repr_html_()
    assert f">{search.best_score_:.4g}</text></g></svg>" in html


@pytest.mark.parametrize(
    ("scores", "n_lines"),
    [
        ([[np.nan, np.nan], [np.nan]], None),
        ([[np.nan, 0.5], [0.5]], 2),
        ([[np.nan, 0.5], [np.nan]], 1),
        ([[-np.inf, 0.5], [0.5]], 2),
        ([[0.5, 0.5], [0.5]], 2),
    ],
    ids=str,
)
def test_figure_of_missing_infinite_and_equal_scores(scores, n_lines):
    html = history_of(scores)._repr_html_()
    assert html.count("<circle") == (n_lines or 0)
    assert ("<svg" in html) == (n_lines is not None)
    assert "nan" not in html[html.index("</table>") :]
    assert "compressed" not in html


def test_a_history_without_rungs_has_no_figure():
    assert "<svg" not in RungHistory()._repr_html_()


def test_scores_far_below_the_others_are_compressed_and_counted():
    scores = [0.95, 0.9, 0.92, -50.0, -60.0]
    svg = svg_of(history_of([scores, [0.94, 0.91, 0.93], [0.96]]))
    texts = [text.text for text in svg.iter("text")]
    assert "2 of 5 candidates ended below 0.90, where the axis is compressed." in texts
    ends = {c: float(line.find("circle").get("cy")) for c, line in lines_of(svg).items()}
    height = max(ends.values()) - min(ends.values())
    # The finalists take most of the height.
    assert ends[1] - ends[0] > 0.4 * height
    assert ends[4] - ends[3] < 0.1 * height


@pytest.mark.parametrize("limits", [[0.1, 0.5, 0.5, 0.5], [0.5] * 4, [0.5, 0.1, 0.9, 0.9]], ids=str)
def test_the_thick_line_is_the_best_candidate_with_ties_too(limits):
    search = search_of(space=[{"limit": [v], "growth": [k]} for k, v in enumerate(limits)]).fit(X)
    lines = lines_of(svg_of(search.rung_history_))
    assert [c for c, line in lines.items() if line.get("stroke-width")] == [search.best_candidate_]


@pytest.mark.filterwarnings("ignore:max_resources=")
def test_the_figure_shows_at_most_300_candidates():
    space = {"limit": np.linspace(0, 1, 1000).tolist()}
    html = search_of(space=space).fit(X).rung_history_._repr_html_()
    assert html.count("<circle") == 300
    assert "300 of 1000 candidates are shown." in html
    assert len(html) < 100_000


def test_without_refit_the_metric_that_promotes_is_shown():
    search = search_of(refit=False, min_resources=1.0, scoring={"a": _score, "b": _other}).fit(X)
    html = search._repr_html_()
    page = Page(html[html.rindex("<div><table") :])
    assert page.tags.count("tr") == 2
    assert "svg" in page.tags
    assert f"{search.cv_results_['mean_test_a'].max():.3f}" in page.texts
    assert "a" in page.texts


def _score(model, X, y=None):
    return model.limit


def _other(model, X, y=None):
    return -model.limit


def test_html_of_schedules_and_reports_has_the_printed_text():
    schedule = schedule_from_range(8, max_resources=8)
    report = trust_report(search_of(min_resources=1).fit(X))
    for thing, rows in ((schedule, schedule.rungs), (report, report.rungs)):
        page = Page(thing._repr_html_())
        assert page.tags.count("tr") == 1 + len(rows)
        words = " ".join(" ".join(page.texts).split())
        assert words == " ".join(str(thing).split())


def test_frames_have_the_printed_numbers():
    several = Schedule.joined(hyperband_schedules(9))
    for schedule in (schedule_from_range(8, max_resources=8), several):
        table = "\n".join(str(schedule).splitlines()[: len(schedule.rungs) + 1])
        assert schedule.to_frame().to_string(index=False).split() == table.split()
    search = search_of().fit(X)
    pd.testing.assert_frame_equal(
        search.rung_history_.to_frame(), pd.DataFrame(search.rung_history_)
    )
    assert isinstance(search.rung_history_, list)


@pytest.mark.parametrize("factor", [1e-11, 1e-4, 1, 1e5, 1e9])
def test_different_numbers_print_differently_at_any_scale(factor):
    values = [-0.9 * factor, -0.5 * factor, 0.25 * factor]
    _, *cells = text_table({"score": values}).split()
    assert [float(cell) for cell in cells] == pytest.approx(values, rel=0.01)
    assert [float(format_number(value, 4)) for value in values] == pytest.approx(values, rel=0.01)
    assert max(map(len, cells)) <= 10
    assert text_table({"score": [0.1 + 0.2 - 0.3]}).split()[1] == "0.000"


def test_parameters_are_formatted_in_one_line():
    params = {"a": np.float32(0.1), "b": np.array([[1], [2]]), "c": "two\nlines", "d": np.True_}
    assert format_params({"a": list(range(999)), "b": 1}) == f"a={str([*range(99)])[:99]}…, b=1"
    assert format_params(params) == r"a=0.1, b=array([[1], [2]]), c='two\nlines', d=True"


def test_columns_and_their_headers_have_the_same_alignment():
    table = html_table({"name": ["a", ""], "n": [1, 2], "mixed": ["-", 1.5]})
    sides = re.findall(r"<t([hd]) style=\"text-align:(\w+)\"", table)
    assert sides == [(tag, side) for tag in "hdd" for side in ("left", "right", "right")]


@pytest.mark.parametrize(
    ("things", "thing"),
    [
        ("epochs", "epoch"),
        ("mini-batches", "mini-batch"),
        ("passes", "pass"),
        ("leaves", "leaf"),
        ("queries", "query"),
        ("boxes", "box"),
        ("time series", "time series"),
        ("training samples", "training sample"),
        ("units of n_jobs", "unit of n_jobs"),
        ("units of classes", "unit of classes"),
        ("epochs per fold", "epoch per fold"),
        ("trees over all folds", "tree over all folds"),
        ("fish", "fish"),
        ("loss", "loss"),
    ],
)
def test_a_quantity_of_one_is_singular(things, thing):
    assert [quantity(n, things) for n in (0, 1, 2)] == [f"0 {things}", f"1 {thing}", f"2 {things}"]


def test_a_plan_of_one_candidate_and_one_unit_is_singular():
    text = str(schedule_from_range(1, max_resources=1))
    assert "1 unit per fold, 1.00 of a grid search (1 candidate x 1 unit = 1)." in text
