"""Warnings point at the line of the user, however the search is called."""

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
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
TUNED = SuccessiveHalvingSearchCV(
    SGDRegressor(random_state=0), {"alpha": [1e-4, 1e-3, 0.01, 0.1]}, resource="partial_fit",
    max_resources=4, cv=2,
)  # fmt: skip


@pytest.mark.parametrize(
    "call",
    [
        lambda: SuccessiveHalvingSearchCV(Ridge(), TWO, n_candidates=3, cv=2).plan(X, Y),
        lambda: HyperbandSearchCV(
            SGDRegressor(), TWO, resource="partial_fit", max_resources=9, cv=2
        ).plan(X, Y),
        lambda: HyperbandSearchCV(Ridge(), TWO, cv=2).plan(X, Y),
        lambda: TUNED.set_params(refit=lambda results: 0).fit(X, Y),
        lambda: (
            TUNED.set_params(refit=False)
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


def test_threads_that_no_line_started_point_somewhere():
    with parallel_config("threading", n_jobs=2), pytest.warns(RuntimeWarning, match="no line"):
        Parallel()(delayed(warn_user)("of no line", RuntimeWarning) for _ in range(4))
