"""What test_inputs.py tests, with data of polars."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from test_inputs import (
    KINDS,
    LABELS,
    ONE_RUNG,
    RUNGS,
    WEIGHTS,
    WORDS,
    X,
    Y,
    check_one_rung,
    check_several_rungs,
)

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.resources.fixed_costs import fixed_cost

pytestmark = pytest.mark.slow

FRAME = pl.DataFrame(X, schema=list("abcd"))

FEATURES = {
    "frame": FRAME,
    "categories": FRAME.with_columns(pl.Series("a", KINDS.tolist(), pl.Categorical)),
    "nulls": FRAME.with_columns(pl.Series("a", [None, *X[1:, 0]])),
    "words": FRAME.with_columns(pl.Series("a", KINDS.tolist())),
    "series": FRAME["a"],
    "lazy": FRAME.lazy(),
}

TARGETS = {
    "series": pl.Series(Y),
    "words": pl.Series(WORDS.tolist()),
    "nulls": pl.Series([None, *Y[1:].tolist()]),
    "multilabel": pl.DataFrame(LABELS, schema=["a", "b"]),
}

INPUTS = (
    {f"X {name}": (features, Y, {}) for name, features in FEATURES.items()}
    | {f"y {name}": (X, targets, {}) for name, targets in TARGETS.items()}
    | {"weights": (X, Y, {"sample_weight": pl.Series(WEIGHTS)})}
)


def test_a_column_of_texts_costs_as_much_as_a_list():
    texts = ["some text", "other text"] * 50
    mixed = pl.DataFrame({"text": texts, "number": range(100), "flag": [True, False] * 50})
    for frame, n_values in ((mixed[["text"]], 100), (mixed, 102), (mixed[["number", "flag"]], 2)):
        expected = fixed_cost(Ridge(), np.zeros((100, n_values)), 1)
        assert fixed_cost(Ridge(), frame, 1) == expected


class Dropping(Ridge):
    """Changes the frame that it is given."""

    def fit(self, X, y):
        X.drop_in_place("a")
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X[["b", "c", "d"]])


def test_a_candidate_that_changes_its_frame_leaves_that_of_others_as_it_is():
    grid = {"alpha": [0.01, 0.1, 1, 10]}
    params = {"cv": 3, "error_score": "raise"}
    expected = GridSearchCV(Dropping(), grid, refit=False, **params).fit(FRAME, Y)
    search = SuccessiveHalvingSearchCV(Dropping(), grid, min_resources=1.0, **params)
    search.set_params(resource="n_samples").fit(FRAME, Y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )
    assert FRAME.columns == list("abcd")


@pytest.mark.parametrize("case", ONE_RUNG.values(), ids=ONE_RUNG)
@pytest.mark.parametrize("data", INPUTS.values(), ids=INPUTS)
def test_one_rung_ends_as_grid_search(case, data):
    check_one_rung(case, data)


@pytest.mark.parametrize("case", RUNGS.values(), ids=RUNGS)
@pytest.mark.parametrize("data", INPUTS.values(), ids=INPUTS)
def test_several_rungs_end_in_a_result_or_in_as_clear_an_error(case, data):
    check_several_rungs(case, data)
