"""Unusual inputs end in GridSearchCV's result, or in an error at least as clear as its."""

import re
import warnings
from tempfile import TemporaryFile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_sha import SuccessiveHalvingSearchCV

N = 40
SHUFFLED = np.random.default_rng(0).permutation(np.arange(50, 150))[:N]
X, Y = (part[SHUFFLED] for part in load_iris(return_X_y=True))
WORDS = np.where(Y == 1, "one", "two")
LABELS = np.c_[Y == 1, X[:, 0] > 6].astype(int)
WEIGHTS = np.linspace(1, 2, N)
NUMBERS = np.arange(N)

FRAME = pd.DataFrame(X, columns=list("abcd"))
KINDS = np.where(X[:, 0] > 6, "long", "short")


def with_one(values, value, dtype=float):
    values = values.astype(dtype)
    values[3] = value
    return values


def in_a_file(values):
    with TemporaryFile() as file:
        mapped = np.memmap(file, values.dtype, "w+", shape=values.shape)
    mapped[:] = values
    return mapped


def read_only(values):
    return np.frombuffer(values.tobytes(), values.dtype).reshape(values.shape)


FEATURES = {
    "as they are": X,
    **{
        f"{form}_{kind}": getattr(sparse, f"{form}_{kind}")(X)
        for form in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
        for kind in ("matrix", "array")
    },
    "sparse with NaN": sparse.csr_array(with_one(X, np.nan)),
    "NaN": with_one(X, np.nan),
    "all NaN": X * np.nan,
    "infinite": with_one(X, np.inf),
    "too large": with_one(X, 1e300),
    "objects": X.astype(object),
    "objects with a word": with_one(X, "word", object),
    "objects with None": with_one(X, None, object),
    "strings of numbers": X.astype(str),
    "words": np.tile(WORDS[:, None], 4),
    "texts": WORDS.tolist(),
    "no columns": X[:, :0],
    "too few rows": X[1:],
    "list": X.tolist(),
    "tuple": tuple(map(tuple, X)),
    "rows of other lengths": [[1.0] * (1 + i % 2) for i in range(N)],
    "None": None,
    "a number": 3,
    "a text": "text",
    "a dict": dict(FRAME),
    "a generator's": iter(X),
    "one-dimensional": X[:, 0],
    "one-dimensional list": X[:, 0].tolist(),
    "three-dimensional": np.stack([X, X]).transpose(1, 2, 0),
    "read-only": read_only(X),
    "Fortran order": np.asfortranarray(X),
    "not contiguous": X.repeat(2, axis=0).repeat(2, axis=1)[::2, ::2],
    "big endian": X.astype(">f8"),
    "memmap": in_a_file(X),
    "masked": np.ma.masked_greater(X, 6),
    "structured": np.array([tuple(row) for row in X], [(name, float) for name in "abcd"]),
    "float16": X.astype(np.float16),
    "float32": X.astype(np.float32),
    "longdouble": X.astype(np.longdouble),
    "complex": X.astype(complex),
    "bool": X > 3,
    "huge int64": X.astype(np.int64) + 2**62,
    "uint64": X.astype(np.uint64) + np.uint64(2**63),
    "huge Python ints": np.array([[int(value) + 2**70 for value in row] for row in X]),
    "datetimes": X.astype("M8[s]"),
    "frame": FRAME,
    "frame, duplicate index": FRAME.set_index(NUMBERS % 3),
    "frame, shuffled index": FRAME.set_index(SHUFFLED),
    "frame, string index": FRAME.set_index(NUMBERS.astype(str)),
    "frame, MultiIndex": FRAME.set_index([NUMBERS % 2, NUMBERS]),
    "frame, datetime index": FRAME.set_index(pd.date_range("2020", periods=N)),
    "frame, duplicate columns": FRAME.set_axis(list("aabb"), axis=1),
    "frame, columns of mixed types": FRAME.set_axis([0, "b", 2.0, None], axis=1),
    "frame, categories": FRAME.assign(a=pd.Categorical(KINDS)),
    "frame, categories seen once": FRAME.assign(a=pd.Categorical(NUMBERS.astype(str))),
    "frame, categories with NaN": FRAME.assign(a=pd.Categorical([None, *KINDS[1:]], ordered=True)),
    "frame, words": FRAME.assign(a=KINDS),
    "frame, objects": FRAME.astype(object),
    "frame, Float64": FRAME.astype("Float64"),
    "frame, Float64 with NA": FRAME.mask(FRAME > 6).astype("Float64"),
    "frame, Int64": FRAME.round().astype("Int64"),
    "frame, boolean with NA": (FRAME > 3).astype("boolean").mask(FRAME > 6),
    "frame, sparse": FRAME.astype(pd.SparseDtype(float, 0)),
    "frame, datetimes": FRAME.assign(a=pd.date_range("2020", periods=N)),
    "series": FRAME["a"],
}

TARGETS = {
    "None": None,
    "too short": Y[1:],
    "too long": np.r_[Y, 1],
    "column": Y[:, None],
    "row": Y[None],
    "list": Y.tolist(),
    "tuple": tuple(Y),
    "column as list": Y[:, None].tolist(),
    "lists of other lengths": [[1] * (1 + i % 2) for i in range(N)],
    "a number": 1,
    "a generator's": iter(Y),
    "series": pd.Series(Y),
    "series, other index": pd.Series(Y, index=SHUFFLED),
    "series, duplicate index": pd.Series(Y, index=NUMBERS % 3),
    "frame": pd.DataFrame({"y": Y}),
    "Categorical": pd.Categorical(WORDS),
    "series of categories": pd.Series(pd.Categorical(WORDS, ["two", "one", "none"])),
    "Int64": pd.Series(Y, dtype="Int64"),
    "Int64 with NA": pd.Series(Y, dtype="Int64").mask(NUMBERS == 3),
    "string": pd.Series(WORDS, dtype="string"),
    "words": WORDS,
    "words as objects": WORDS.astype(object),
    "words as list": WORDS.tolist(),
    "bytes": WORDS.astype("S"),
    "words with NaN": with_one(WORDS, np.nan, object),
    "words with None": with_one(WORDS, None, object),
    "words with a number": with_one(WORDS, 1, object),
    "bool": Y == 1,
    "whole floats": Y.astype(float),
    "floats": Y + 0.5,
    "measurements": X[:, 0],
    "NaN": with_one(Y, np.nan),
    "infinite": with_one(Y, np.inf),
    "complex": Y.astype(complex),
    "datetimes": Y.astype("M8[D]"),
    "huge int64": Y + 2**62,
    "huge Python ints": np.array([int(value) + 2**70 for value in Y]),
    "objects": Y.astype(object),
    "objects of no order": np.array([object() for _ in Y]),
    "read-only": read_only(Y),
    "memmap": in_a_file(Y),
    "not contiguous": Y.repeat(2)[::2],
    "multilabel": LABELS,
    "multilabel, bool": LABELS.astype(bool),
    "multilabel, csr": sparse.csr_matrix(LABELS),
    "multilabel, dok": sparse.dok_array(LABELS),
    "multilabel, frame": pd.DataFrame(LABELS, index=SHUFFLED),
    "many outputs": np.c_[Y, NUMBERS % 3],
    "many numbers": X[:, :2],
    "sparse column": sparse.csr_array(Y[:, None]),
    "no columns": LABELS[:, :0],
    "three-dimensional": LABELS[:, :, None],
    "one class": np.ones_like(Y),
    "a class of one": with_one(Y, 7, int),
    "as many classes as rows": NUMBERS,
}

PARAMS = {
    "weights": {"sample_weight": WEIGHTS},
    "weights, list": {"sample_weight": WEIGHTS.tolist()},
    "weights, range": {"sample_weight": range(1, N + 1)},
    "weights, series of other index": {"sample_weight": pd.Series(WEIGHTS, SHUFFLED)},
    "weights, too short": {"sample_weight": WEIGHTS[1:]},
    "weights, too long": {"sample_weight": [*WEIGHTS, 1.0]},
    "weights, column": {"sample_weight": WEIGHTS[:, None]},
    "weights, NaN": {"sample_weight": with_one(WEIGHTS, np.nan)},
    "weights, words": {"sample_weight": WORDS},
    "weights, a number": {"sample_weight": 2.0},
    "weights of a step": {"model__sample_weight": WEIGHTS},
    "weights of a step, too short": {"model__sample_weight": WEIGHTS[1:]},
    "groups, too short": {"groups": NUMBERS[1:]},
    "groups, words": {"groups": WORDS.tolist()},
}

INPUTS = (
    {f"X {name}": (features, Y, {}) for name, features in FEATURES.items()}
    | {f"y {name}": (X, targets, {}) for name, targets in TARGETS.items()}
    | {name: (X, Y, params) for name, params in PARAMS.items()}
    | {
        "no rows": (X[:0], Y[:0], {}),
        "no rows, lists": ([], [], {}),
        "one row": (X[:1], Y[:1], {}),
        "three rows": (X[:3], np.array([1, 2, 1]), {}),
        "six rows": (X[:6], np.array([1, 2] * 3), {}),
        "two rows of a frame": (FRAME[:2], pd.Series([1, 2], index=[5, 9]), {}),
        "indexes that differ": (FRAME.set_index(SHUFFLED), pd.Series(Y), {}),
    }
)

# estimator, grid, splits, and parameters of our search
HALVES = ShuffleSplit(1, test_size=0.5, random_state=0)
ROWS = {"resource": "n_samples"}
CALLS = {"resource": "partial_fit", "max_resources": 4}
ITERATIONS = {"resource": "max_iter"}
TREE = DecisionTreeClassifier(random_state=0)
SGD = SGDClassifier(max_iter=20, tol=None, random_state=0)
BOOSTING = HistGradientBoostingClassifier(
    max_iter=4, min_samples_leaf=2, categorical_features="from_dtype", random_state=0
)


def scaled(model):
    return Pipeline([("scaler", StandardScaler(with_mean=False)), ("model", model)])


ONE_RUNG = {
    "rows, tree": (TREE, {"max_depth": [1, 2]}, 2, ROWS),
    "rows, neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}, HALVES, ROWS),
    "rows, pipeline": (scaled(LogisticRegression()), {"model__C": [0.1, 1]}, HALVES, ROWS),
    "rows, ridge": (Ridge(), {"alpha": [0.1, 1]}, HALVES, ROWS),
    "rows, dummy": (
        DummyClassifier(random_state=0),
        {"strategy": ["stratified", "prior"]},
        HALVES,
        ROWS,
    ),
    "iterations": (BOOSTING, {"learning_rate": [0.1, 1]}, HALVES, ITERATIONS),
    # Of naive Bayes, one call of partial_fit is a fit.
    "calls": (
        scaled(BernoulliNB(binarize=7)),
        {"model__alpha": [0.1, 1]},
        HALVES,
        CALLS | {"max_resources": 1},
    ),
}
RUNGS = {
    "rows": (TREE, {"max_depth": [1, 2, 3]}, HALVES, ROWS),
    "iterations": (BOOSTING, {"learning_rate": [0.1, 0.5, 1]}, HALVES, ITERATIONS),
    "calls": (scaled(SGD), {"model__alpha": [0.01, 0.1, 1]}, HALVES, CALLS),
    "batches": (SGD, {"alpha": [0.01, 0.1, 1]}, HALVES, CALLS | {"batch_size": 7}),
}

OWN_WORDS = {
    "requires y to be passed",
    "stepname__parameter",
    "partial_fit requires the classes of y",
}
"""What errors of ours say that are clearer than GridSearchCV's."""


def end_of(search, X, y, params):
    """What a search ends in, its numbers or an error, and the kinds of warnings it gave."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            predicted = search.fit(X, y, **params).predict(X)
        except Exception as error:
            return error, {warning.category for warning in told}
    numbers = {
        "scores": search.cv_results_["mean_test_score"],
        "best": {name: search.best_params_[name] for name in search.cv_results_["params"][0]},
        "predicted": str(predicted) if sparse.issparse(y) else predicted,
    }
    return numbers, {warning.category for warning in told}


def without_numbers(text):
    return re.sub(r"\d+|\S+fit\(\)", "", text)


def wordings(error):
    """What an error says, or each of those of fits that failed, up to a value in it."""
    text = without_numbers(str(error))
    reasons = re.findall(r"^[\w.]+(?:Error|Exception): (.+)", text, re.MULTILINE) or [text]
    words = {re.split(r"\((?!\))|[\[{]|: '", reason)[0] for reason in reasons}
    assert all(len(some) > 8 for some in words), reasons
    return words


def assert_as_clear(ours, theirs):
    assert type(ours) is type(theirs)
    assert any(words in without_numbers(str(ours)) for words in wordings(theirs) | OWN_WORDS)


def cases(of, quick):
    """Parameters of a test: by default it runs with those that are quick."""
    for name, case in of.items():
        yield pytest.param(case, id=name, marks=[] if name in quick else pytest.mark.slow)


@pytest.mark.parametrize("case", cases(ONE_RUNG, {"rows, tree"}))
@pytest.mark.parametrize("data", INPUTS.values(), ids=INPUTS)
def test_one_rung_ends_as_grid_search(case, data):
    check_one_rung(case, data)


def check_one_rung(case, data):
    estimator, grid, cv, params = case
    search = SuccessiveHalvingSearchCV(
        estimator, grid, min_resources=1.0, cv=cv, random_state=0, **params
    )
    theirs, their_warnings = end_of(GridSearchCV(estimator, grid, cv=cv), *data)
    ours, our_warnings = end_of(search, *data)
    if isinstance(theirs, Exception):
        assert_as_clear(ours, theirs)
    else:
        np.testing.assert_equal(ours, theirs)
    assert our_warnings <= their_warnings


@pytest.mark.parametrize("case", cases(RUNGS, {"calls"}))
@pytest.mark.parametrize("data", INPUTS.values(), ids=INPUTS)
def test_several_rungs_end_in_a_result_or_in_as_clear_an_error(case, data):
    check_several_rungs(case, data)


def check_several_rungs(case, data):
    estimator, grid, cv, params = case
    search = SuccessiveHalvingSearchCV(estimator, grid, cv=cv, random_state=0, **params)
    whole = GridSearchCV(estimator, grid, cv=cv)
    ours, _ = end_of(search, *data)
    theirs, _ = end_of(whole, *data)
    if str(ours).startswith("No candidate has a score"):
        # In the grid search neither, so that it selects the first one, or fails in predict.
        if isinstance(theirs, Exception):
            assert any(words in without_numbers(str(ours)) for words in wordings(theirs))
        else:
            assert np.isnan(theirs["scores"]).all()
    elif isinstance(ours, Exception):
        assert_as_clear(ours, theirs)
    elif params in (ROWS, ITERATIONS):  # of which the last rung has what fit trains
        last = [whole.cv_results_["params"].index(one) for one in search.cv_results_["params"]]
        np.testing.assert_equal(ours["scores"], theirs["scores"][last])
