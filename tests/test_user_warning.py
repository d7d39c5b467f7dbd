"""Warnings point at the line of the user, however the search is called."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._user_warning import warn_user

X = np.random.default_rng(0).normal(size=(60, 2))
Y = X[:, 0]
FAILS = {"alpha": [-1.0, 1.0]}


def search_of(**params):
    return SuccessiveHalvingSearchCV(Ridge(), FAILS, cv=2, **params)


@pytest.mark.parametrize(
    "call",
    [
        lambda: search_of().fit(X, Y),
        lambda: make_pipeline(StandardScaler(), search_of()).fit(X, Y),
        lambda: cross_val_score(search_of(), X, Y, cv=2),
        lambda: search_of(n_jobs=2).fit(X, Y),
    ],
    ids=["fit", "pipeline", "nested", "jobs"],
)
def test_warnings_about_fits_point_here(call):
    with pytest.warns(FitFailedWarning, match="fits failed") as caught:
        call()
    assert {warning.filename for warning in caught} == {__file__}


TWO = {"alpha": [1.0, 2.0]}


def tuned(**params):
    space = {"alpha": [1e-4, 1e-3, 0.01, 0.1]}
    params = {"resource": "partial_fit", "max_resources": 4, "cv": 2} | params
    return SuccessiveHalvingSearchCV(SGDRegressor(random_state=0), space, **params)


@pytest.mark.parametrize(
    "call",
    [
        lambda: SuccessiveHalvingSearchCV(Ridge(), TWO, n_candidates=3, cv=2).plan(X, Y),
        lambda: HyperbandSearchCV(
            SGDRegressor(), TWO, resource="partial_fit", max_resources=9, cv=2
        ).plan(X, Y),
        lambda: HyperbandSearchCV(Ridge(), TWO, cv=2).plan(X, Y),
        lambda: tuned(refit=lambda results: 0).fit(X, Y),
        lambda: (
            tuned(refit=False)
            .fit(X, Y)
            .extend(X, Y, n_candidates=9, param_distributions={"alpha": [0.3, 0.4]})
        ),
    ],
    ids=["few", "brackets", "rungs", "refit", "extend"],
)
def test_other_warnings_point_here(call):
    with pytest.warns(UserWarning) as caught:  # noqa: PT030
        call()
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_about_a_checkpoint_point_here(tmp_path):
    """Between this line and theirs is one of a context manager."""
    search = tuned(checkpoint=tmp_path).fit(X, Y)
    journal = tmp_path / "outcomes.jsonl"
    journal.write_bytes(journal.read_bytes()[:-5])
    with pytest.warns(RuntimeWarning, match="is damaged") as caught:
        search.extend(X, Y, n_candidates=1, param_distributions={"alpha": [0.3]})
    assert {warning.filename for warning in caught} == {__file__}


def test_in_another_thread_it_is_the_first_line_there():
    with ThreadPoolExecutor() as pool, pytest.warns(RuntimeWarning, match="of no line") as caught:
        pool.submit(warn_user, "of no line", RuntimeWarning).result()
    assert caught[0].filename.endswith("thread.py")
