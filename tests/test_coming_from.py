"""The page for those who come from another search names what there is, there and here."""

import re

import pytest
from conftest import ROOT
from sklearn.datasets import load_iris
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)
from test_quoted_figures import rows_of

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.inspection import SearchDisplay

PAGE = (ROOT / "docs" / "coming_from.md").read_text()
SECTIONS = dict(re.findall(r"^## From (.*)\n+((?:.*\n)*?)(?=^## |\Z)", PAGE, flags=re.MULTILINE))
GRID = {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}
MODEL = SGDClassifier(random_state=0)


def rows(section):
    """What is there, and what is here, of each row of a table."""
    return [(there, here) for there, (here,) in rows_of(section).items() if there != "there"]


def code(text):
    return re.findall(r"`([^`]+)`", text)


def keywords(text):
    """Names of parameters, such as `name=value`."""
    return {name for part in code(text) for name in re.findall(r"\b([a-z_]+)=(?!=)", part)}


def fitted_attributes(text):
    return {part.split("[")[0] for part in code(text) if re.fullmatch(r"[a-z_]+_(\[.*\])?", part)}


@pytest.fixture(scope="module")
def ours():
    X, y = load_iris(return_X_y=True)
    halving = SuccessiveHalvingSearchCV(MODEL, GRID, min_resources=30, max_resources=100)
    hyperband = HyperbandSearchCV(MODEL, GRID)
    names = {*halving.get_params(deep=False), *hyperband.get_params(deep=False)}
    return names | {"param_grid", "n_iter"}, halving.fit(X, y)


@pytest.mark.parametrize("peer", SECTIONS)
def test_what_is_here_exists(ours, peer):
    names, search = ours
    # Of fit, of a splitter, of joblib and of the samplers.
    others = {"groups", "sample_weight", "test_size", "backend"}
    table = rows(SECTIONS[peer])
    assert len(table) > 4
    for there, here in table:
        assert keywords(here) - others <= names, there
        for attribute in fitted_attributes(here) - {"interrupted_"}:
            assert hasattr(search, attribute), attribute
        for method in {*re.findall(r"`([a-z_]+)\(", here)} - {"ceil"}:
            assert hasattr(search, method) or hasattr(SearchDisplay, method), method


def test_what_is_in_scikit_learn_exists():
    X, y = load_iris(return_X_y=True)
    of_grid = {*GridSearchCV(MODEL, GRID).get_params(deep=False)}
    of_grid |= {*RandomizedSearchCV(MODEL, GRID).get_params(deep=False)}
    searches = [HalvingGridSearchCV(MODEL, GRID), HalvingRandomSearchCV(MODEL, GRID)]
    of_halving = {name for search in searches for name in search.get_params(deep=False)}
    fitted = searches[0].set_params(min_resources=30).fit(X, y)
    for names, section in (
        (
            of_grid | {"groups", "sample_weight"},
            SECTIONS["`GridSearchCV` and `RandomizedSearchCV`"],
        ),
        (of_halving, SECTIONS["`HalvingGridSearchCV` and `HalvingRandomSearchCV`"]),
    ):
        for there, _ in rows(section):
            assert keywords(there) <= names, there
            for attribute in fitted_attributes(there):
                assert hasattr(fitted, attribute), attribute
            for name in code(there):
                if re.fullmatch(r"[a-z]+_?[a-z]*", name):
                    assert name in names, name


def test_defaults_are_those_of_scikit_learn():
    defaults = HalvingRandomSearchCV(MODEL, GRID).get_params(deep=False)
    table = dict(rows(SECTIONS["`HalvingGridSearchCV` and `HalvingRandomSearchCV`"]))
    for there in ('`n_candidates="exhaust"`', "`factor=3`", '`resource="n_samples"`'):
        assert there in table
        ((name, value),) = re.findall(r'`(\w+)="?([^"`]+)"?`', there)
        assert str(defaults[name]) == value
    assert RandomizedSearchCV(MODEL, GRID).n_iter == 10
