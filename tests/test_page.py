"""HTML of searches, schedules and reports: tables, figures and escaped text."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import KFold
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._formatting import format_number, format_params, html_table, quantity, text_table
from sklearn_sha._results.rung_history import RungHistory
from sklearn_sha.inspection import trust_report
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


@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_a_fitted_search_shows_rungs_and_candidates_below_the_diagram(kind):
    search = search_of(kind).fit(X)
    page = Page(below_the_diagram(search))
    assert page.tags.count("tr") == 1 + len(search.n_resources_)
    assert page.tags.count("polyline") == len(
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


def test_the_figure_is_xml_with_a_thick_line_at_the_top_for_the_best_candidate():
    search = search_of().fit(X)
    html = search.rung_history_._repr_html_()
    svg = ET.fromstring(html[html.index("<svg") :])
    lines = svg[1]
    thick = [line for line in lines if line.get("stroke-width")]
    (best,) = thick
    assert best is lines[-1]
    assert best.find("title").text == f"candidate {search.best_params_['limit'] * 10:.0f}"
    ends = [float(line.find("circle").get("cy")) for line in lines]
    assert ends[-1] == min(ends)
    n_points = [len(line.find("polyline").get("points").split()) for line in lines]
    lives = [sum(c in r["candidates"] for r in search.rung_history_) for c in range(8)]
    assert sorted(n_points) == sorted(lives)


def history_of(scores):
    return RungHistory(
        {
            "candidates": list(range(len(row))),
            "scores": row,
            "resource": k + 1,
            "promoted": [0],
            "best_score": float(np.fmax.reduce(row)),
        }
        for k, row in enumerate(scores)
    )


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
    assert html.count("<polyline") == (n_lines or 0)
    assert ("<svg" in html) == (n_lines is not None)
    assert "nan" not in html[html.index("</table>") :]
    assert "scores below" not in html


def test_scores_far_below_the_others_are_drawn_at_the_edge_and_counted():
    html = history_of([[0.9, 0.8, 0.85, -50.0, -60.0], [0.9]])._repr_html_()
    assert html.count("<polyline") == 5
    assert "scores below: 2<" in html


@pytest.mark.parametrize("limits", [[0.1, 0.5, 0.5, 0.5], [0.5] * 4, [0.5, 0.1, 0.9, 0.9]], ids=str)
def test_the_thick_line_is_the_best_candidate_with_ties_too(limits):
    search = search_of(space=[{"limit": [v], "growth": [k]} for k, v in enumerate(limits)]).fit(X)
    html = search.rung_history_._repr_html_()
    (thick,) = (
        line for line in ET.fromstring(html[html.index("<svg") :])[1] if line.get("stroke-width")
    )
    best = search.best_candidate_
    assert thick.find("title").text == f"candidate {best}"


@pytest.mark.filterwarnings("ignore:max_resources=")
def test_the_figure_shows_at_most_300_candidates():
    space = {"limit": np.linspace(0, 1, 1000).tolist()}
    html = search_of(space=space).fit(X).rung_history_._repr_html_()
    assert html.count("<polyline") == 300
    assert len(html) < 100_000


def test_without_refit_the_metric_that_promotes_is_shown():
    search = search_of(refit=False, min_resources=1.0, scoring={"a": _score, "b": _other}).fit(X)
    html = search._repr_html_()
    page = Page(html[html.rindex("<div><table") :])
    assert page.tags.count("tr") == 2
    assert "svg" in page.tags
    assert f"{search.cv_results_['mean_test_a'].max():.4g}" in page.texts


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
        ("training samples", "training sample"),
        ("units of n_jobs", "unit of n_jobs"),
        ("units of classes", "unit of classes"),
        ("fish", "fish"),
        ("loss", "loss"),
    ],
)
def test_a_quantity_of_one_is_singular(things, thing):
    assert [quantity(n, things) for n in (0, 1, 2)] == [f"0 {things}", f"1 {thing}", f"2 {things}"]


def test_a_plan_of_one_candidate_and_one_unit_is_singular():
    text = str(schedule_from_range(1, max_resources=1))
    assert "1 unit per fold, 1.00 of a grid search (1 candidate x 1 unit = 1)." in text
