"""Displays of a search name the unit of the resource and how models are trained."""

import copy
import pickle
from html import escape

import numpy as np
import pytest
from sklearn.model_selection import KFold
from toys import Curve, lines_below_plan

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import trust_report

X = np.arange(24.0).reshape(12, 2)


def search_of(kind=SuccessiveHalvingSearchCV, resource="partial_fit", **params):
    space = {"limit": [k / 10 for k in range(8)]}
    common = {"cv": KFold(2), "min_resources": 1, "max_resources": 8}
    return kind(Curve(), space, resource=resource, **common | params)


def test_console_lines(unit, capsys):
    search = search_of(verbose=1).fit(X)
    *rungs, refit, _ = lines_below_plan(search, capsys.readouterr().out)
    for line, n, units in zip(rungs, search.n_candidates_, search.n_resources_, strict=True):
        candidates = "candidates, " if n > 1 else "candidate,  "
        laps = unit if units > 1 else "<b>lap "
        assert f" {n} {candidates}{units} {laps}   best score" in line
    assert refit == f"refit candidate 7, selected at 8 {unit}, on all 12 samples"


def test_notebook_table(unit, notebook):
    search_of(verbose=1).fit(X)
    assert any("1 &lt;b&gt;lap: 0 of 16 fits" in page.html for page in notebook)
    assert any("selected at 8 &lt;b&gt;laps, on" in page.html for page in notebook)
    assert notebook[-1].html.count("&lt;b&gt;laps</th>") == 1
    assert not any("<b>" in page.html or "resource" in page.html for page in notebook)


@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_html(kind, unit):
    html = search_of(kind).fit(X).rung_history_._repr_html_()
    assert html.count("&lt;b&gt;laps</th>") == 1
    assert html.count("&lt;b&gt;laps</text>") == 1
    assert "<b>" not in html
    assert "resource" not in html


def test_copies_of_the_history_keep_the_unit(unit):
    history = search_of().fit(X).rung_history_
    assert "n_resources" in history[0]
    for again in (copy.copy(history), copy.deepcopy(history), pickle.loads(pickle.dumps(history))):
        assert again._repr_html_() == history._repr_html_()


def test_the_inline_figure_names_the_unit(unit):
    search = search_of().fit(X)
    title = f"score {search.best_score_:.4f} at 8 {escape(unit)}"
    assert title in search.rung_history_._repr_html_()


class Late(Curve):
    """Scores of which the best candidate gains more than all others."""

    def score(self, X, y=None):
        return 0.45 if (self.limit, self.units_) == (0.7, 1) else self.limit


def test_trust_report(unit):
    report = trust_report(search_of().set_params(estimator=Late()).fit(X))
    assert report.enough is False
    assert "Candidates eliminated at 1 <b>lap carry most" in report.advice


each_training = pytest.mark.parametrize(
    ("params", "sentences"),
    [
        ({}, ["Models continue training between rungs."]),
        (
            {"resource": "n_samples", "max_resources": "auto"},
            ["Models are refit from scratch at every rung."],
        ),
        ({"min_resources": 8}, []),
    ],
    ids=["continue", "from scratch", "one rung"],
)


@each_training
@pytest.mark.filterwarnings("ignore:max_resources=")
@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_html_describes_once_how_models_are_trained(kind, params, sentences):
    html = search_of(kind, **params).fit(X)._repr_html_()
    below = html[html.rindex("<div><p>Best") :]
    assert [part.partition("</p>")[0] for part in below.split("<p>Models")[1:]] == [
        text.removeprefix("Models") for text in sentences
    ]


@each_training
def test_console_lines_begin_with_how_models_are_trained(params, sentences, capsys):
    search = search_of(verbose=1, refit=False, **params).fit(X)
    lines = capsys.readouterr().out.splitlines()[: -len(search.n_resources_)]
    assert " ".join(lines) == " ".join(search.schedule_.sentences)
    assert sum(line.count("Models") for line in lines) == len(sentences)
    assert all(text in " ".join(lines) for text in sentences)
    search_of(refit=False, **params).fit(X)
    assert capsys.readouterr().out == ""


@each_training
def test_the_notebook_table_describes_how_models_are_trained(params, sentences, notebook):
    search_of(verbose=1, **params).fit(X)
    for page in notebook[1:]:
        assert all(f" {text}</p>" in page.html for text in sentences)
        assert page.html.count("Models") == len(sentences)
    assert repr(notebook[-1]).count("Models") == len(sentences)
