"""What exactly is trained, on which rows, how often: counted call by call."""

import numpy as np
import pytest
from conftest import slow
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from toys import CALLS, CountingScaler, Curve, InPlace, Recorder

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine.preprocessing_calls import SharedPreprocessing
from sklearn_sha.bandit import FixedSchedule, SuccessiveHalving
from sklearn_sha.candidates import ModelSampler

DIGITS = [part[:300] for part in load_digits(return_X_y=True)]
X = np.arange(60.0)[:, None]
Y = np.tile([0, 1, 2], 20)


def searched(estimator, grid, data=(X, Y), **params):
    CALLS.clear()
    params = {"cv": KFold(3), "random_state": 0} | params
    return SuccessiveHalvingSearchCV(estimator, grid, **params).fit(*data)


def calls(what):
    return [rest for name, *rest in CALLS if name == what]


CONTINUING = {
    "SGD": (SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}, "partial_fit"),
    "MLP": (MLPClassifier((8,), random_state=0), {"alpha": [1e-4, 1e-2, 1.0]}, "partial_fit"),
    "clusters": (
        MiniBatchKMeans(5, random_state=0, n_init=1),
        {"reassignment_ratio": [0.0, 0.01, 0.1]},
        "partial_fit",
    ),
    "forest": (RandomForestClassifier(random_state=0), {"max_depth": [1, 3, 5]}, "n_estimators"),
    "boosting": (
        HistGradientBoostingClassifier(random_state=0, max_leaf_nodes=4, max_features=0.5),
        {"learning_rate": [0.1, 0.5, 1.0]},
        "max_iter",
    ),
}


class AnyKeyword(SGDClassifier):
    def partial_fit(self, X, y, **params):
        return super().partial_fit(X, y, **params)


def test_classes_are_told_to_who_takes_any_keyword():
    grid = {"alpha": [1e-4, 1e-2]}
    found, expected = (
        searched(
            cls(random_state=0), grid, DIGITS, resource="partial_fit", max_resources=4
        ).all_cv_results_["mean_test_score"]
        for cls in (AnyKeyword, SGDClassifier)
    )
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("in_pipeline", [True, *slow(False)], ids=["pipeline", "bare"])
@pytest.mark.parametrize("case", CONTINUING.values(), ids=CONTINUING)
def test_scores_of_every_rung_are_those_of_training_from_nothing(case, in_pipeline):
    estimator, grid, resource = case
    (name, values), *_ = grid.items()
    if in_pipeline:
        estimator = Pipeline([("scale", StandardScaler()), ("model", estimator)])
        name = f"model__{name}"
        resource = resource if resource == "partial_fit" else f"model__{resource}"
    data = (DIGITS[0],) if "KMeans" in str(estimator) else DIGITS
    search = searched(
        estimator,
        {name: values},
        data,
        resource=resource,
        max_resources=9,
        min_folds="all",
        cv=KFold(2),
    )
    assert search.schedule_.continues
    assert len(search.schedule_.rungs) > 1
    results = search.all_cv_results_
    for row, (params, units) in enumerate(
        zip(results["params"], results["n_resources"], strict=True)
    ):
        for number, (train, test) in enumerate(KFold(2).split(DIGITS[0])):
            model = trained_at_once(
                clone(estimator).set_params(**params), resource, units, train, data
            )
            score = model.score(*(part[test] for part in data))
            assert score == results[f"split{number}_test_score"][row]


def trained_at_once(model, resource, units, train, data):
    parts = [part[train] for part in data]
    if resource != "partial_fit":
        return model.set_params(**{resource: units}).fit(*parts)
    last = model
    if isinstance(model, Pipeline):
        parts[0] = model[:-1].fit_transform(*parts)
        last = model[-1]
    classes = {"classes": np.unique(data[1])} if len(data) == 2 else {}
    for call in range(units):
        last.partial_fit(*parts, **(classes if call == 0 else {}))
    return model


def test_preprocessing_is_fitted_once_per_fold_and_never_on_test_samples():
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    search = searched(pipeline, {"model__tag": range(8)}, max_resources=12, refit=False)
    assert search.n_iterations_ == 3
    fits = calls("prefix fit")
    assert len(fits) == 3
    for (_, fitted_on), (train, _) in zip(fits, KFold(3).split(X), strict=True):
        assert fitted_on.tolist() == X[train, 0].tolist()
    # Training rows and test rows are transformed once each.
    assert len(calls("prefix transform")) == 6


def test_a_searched_prefix_is_fitted_once_a_fold_and_setting():
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    grid = {"prefix__tag": ["a", "b"], "model__tag": range(6)}
    searched(pipeline, grid, max_resources=12, refit=False)
    fits = [tag for tag, _ in calls("prefix fit")]
    assert sorted(fits) == ["a"] * 3 + ["b"] * 3


def test_with_samples_a_prefix_is_fitted_once_a_fold_and_rung():
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    search = searched(
        pipeline, {"model__tag": range(8)}, resource="n_samples", min_resources=10, refit=False
    )
    assert search.n_resources_ == [10, 20, 40]
    assert [len(rows) for _, rows in calls("prefix fit")] == [10] * 3 + [20] * 3 + [40] * 3
    assert len(calls("fit")) == 3 * (8 + 4 + 2)


@pytest.mark.parametrize(
    ("params", "n_kept"),
    [
        ({"resource": "n_samples", "min_resources": 10}, 3),
        ({"resource": "folds", "cv": KFold(2), "min_resources": 1.0}, 2),
        # Candidates are requested in turn, until one has the target.
        ({"resource": "folds", "cv": KFold(2), "min_resources": 1.0, "target_score": 2}, 2 * 8),
        ({"resource": "folds", "cv": KFold(2), "min_resources": 1.0, "budget": "anytime"}, 2 * 8),
        # The next rung uses what all settings have made.
        ({"resource": "partial_fit", "max_resources": 40}, 3 * 20),
    ],
    ids=["samples", "folds", "in turn", "brackets", "epochs"],
)
def test_the_outputs_of_few_settings_are_kept_if_no_later_rung_uses_them(
    params, n_kept, monkeypatch
):
    held = []

    def source(shared, key, view):
        held.append(len(shared._fitted))
        return original(shared, key, view)

    original = SharedPreprocessing.source
    monkeypatch.setattr(SharedPreprocessing, "source", source)
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    search = searched(pipeline, {"prefix__tag": range(20)}, refit=False, **params)
    assert max(held) == n_kept
    used = search.rung_history_[: 1 if params["resource"] == "partial_fit" else None]
    n_fits = sum(row["n_candidates"] for row in used) * search.n_splits_
    assert len(calls("prefix fit")) == n_fits


def test_few_settings_are_fitted_once_for_candidates_that_follow_each_other():
    """The waves of a sampler that uses the history are in one rung."""
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    space = {"prefix__tag": ["a", "b"], "model__tag": range(100)}
    search = searched(
        pipeline, space, resource="n_samples", min_resources=1.0, refit=False, n_candidates=40,
        sampler=ModelSampler(n_initial=8), algorithm=SuccessiveHalving(),
    )  # fmt: skip
    assert search.n_candidates_ == [40]
    assert sorted(tag for tag, _ in calls("prefix fit")) == ["a"] * 3 + ["b"] * 3


def test_a_prefix_that_fails_costs_its_own_candidates_only():
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    grid = {"prefix__fails": [True, False], "model__tag": range(2)}
    with pytest.warns(match="Candidates 0, 2, in rung 0 \\(2 epochs\\); the first has") as caught:
        search = searched(pipeline, grid, max_resources=4)
    assert "no prefix today" in str(caught[0].message)
    assert len(caught) == 1
    assert search.best_params_["prefix__fails"] is False


def test_classes_go_to_the_first_call_from_all_of_y():
    y = np.repeat([0, 1, 2], 20)  # with KFold, each fold's training rows lack a class
    search = searched(
        Recorder(), {"tag": range(4)}, (X, y), resource="partial_fit", max_resources=4
    )
    assert search.best_estimator_.classes_.tolist() == [0, 1, 2]
    real = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-2]},
        resource="partial_fit",
        cv=KFold(3),
        max_resources=4,
    ).fit(X, y)
    assert np.isfinite(real.all_cv_results_["mean_test_score"]).all()


def test_an_epoch_is_all_samples_in_their_order():
    searched(Recorder(), {"tag": [0]}, max_resources=2, refit=False, resource="partial_fit")
    folds = [X[train, 0].tolist() for train, _ in KFold(3).split(X)]
    assert [rows.tolist() for rows, _ in calls("partial_fit")] == [
        rows for rows in folds for _ in range(2)
    ]


def test_mini_batches_are_the_next_samples_whatever_the_rungs():
    def batches(**params):
        searched(
            Recorder(), {"tag": range(4)}, cv=KFold(2), max_resources=8, batch_size=7,
            resource="partial_fit", refit=False, **params,
        )  # fmt: skip
        return calls("partial_fit")

    in_rungs = batches()
    at_once = batches(min_resources=1.0)
    assert all(len(rows) == 7 for rows, _ in in_rungs)
    # Each fold's stream is the same for all candidates, and goes on over the rungs.
    streams = {tuple(rows) for rows, _ in at_once}
    assert {tuple(rows) for rows, _ in in_rungs} == streams
    assert len(streams) == 2 * 8
    assert {tuple(rows) for rows, _ in batches(random_state=1)} != streams


def test_sample_weights_are_cut_with_fold_and_batch():
    for batch_size in (None, 11):
        CALLS.clear()
        search = SuccessiveHalvingSearchCV(
            Recorder(), {"tag": range(4)}, cv=KFold(3), max_resources=4, batch_size=batch_size,
            resource="partial_fit", random_state=0, scoring="accuracy",
        )  # fmt: skip
        search.fit(X, Y, sample_weight=X[:, 0] * 10)
        assert calls("partial_fit")
        for rows, weights in calls("partial_fit"):
            assert weights.tolist() == (rows * 10).tolist()


def test_samples_are_as_many_as_the_rung_says_and_nested():
    search = searched(
        Recorder(),
        {"tag": range(4)},
        resource="n_samples",
        min_resources=15,
        refit=False,
        cv=StratifiedKFold(2),
    )
    assert search.n_resources_ == [15, 30]
    fits = [set(rows) for rows, _ in calls("fit")]
    assert [len(rows) for rows in fits] == [15] * 8 + [30] * 4
    assert fits[0] < fits[8]


def test_unequal_folds_get_as_many_samples_as_they_have():
    search = searched(
        Recorder(), {"tag": range(2)}, resource="n_samples", min_resources=8,
        cv=TimeSeriesSplit(3), refit=False,
    )  # fmt: skip
    sizes = [len(train) for train, _ in TimeSeriesSplit(3).split(X)]
    assert search.n_resources_ == [8, 45]
    assert [len(rows) for rows, _ in calls("fit")] == [8] * 6 + sizes
    rows, _ = calls("fit")[4]
    assert rows.tolist() == X[45 - 8 : 45, 0].tolist()


@pytest.mark.parametrize(
    ("resource", "settings"),
    [
        ("partial_fit", {"max_resources": 6}),
        ("partial_fit", {"max_resources": 6, "batch_size": 13}),
        ("n_samples", {}),
    ],
)
def test_refit_trains_on_all_samples_for_the_best_resource(resource, settings):
    search = searched(Recorder(), {"tag": range(4)}, resource=resource, **settings)
    assert search.best_n_resources_ == search.max_resources_
    if resource == "n_samples":
        assert calls("fit")[-1][0].tolist() == X[:, 0].tolist()
        return
    last = [rows for rows, _ in calls("partial_fit")][-6:]
    if "batch_size" in settings:
        stream = np.concatenate(last)
        assert [len(rows) for rows in last] == [13] * 6
        assert sorted(stream[:60]) == X[:, 0].tolist()
    else:
        assert all(rows.tolist() == X[:, 0].tolist() for rows in last)


def test_refit_of_a_parameter_sets_it_and_leaves_no_warm_start():
    search = searched(
        RandomForestRegressor(n_estimators=8, random_state=0),
        {"max_depth": [1, 2, 3, 4]},
        (X, X[:, 0]),
        resource="n_estimators",
    )
    best = search.best_estimator_
    assert best.warm_start is False
    assert best.n_estimators == len(best.estimators_) == search.best_n_resources_ == 8
    straight = RandomForestRegressor(
        n_estimators=8, random_state=0, max_depth=search.best_params_["max_depth"]
    ).fit(X, X[:, 0])
    np.testing.assert_array_equal(best.predict(X), straight.predict(X))


@pytest.mark.parametrize("settings", [{}, {"n_jobs": 2}, {"budget": "double", "patience": None}])
@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_with_an_automatic_maximum_is_refit_as_by_a_grid_search(in_pipeline, settings):
    network = MLPClassifier((3,), max_iter=101, random_state=0)
    name, model = "alpha", network
    if in_pipeline:
        name = "mlpclassifier__alpha"
        model = make_pipeline(StandardScaler(), network)
    search = searched(model, {name: [1e-4, 1.0, 1e4]}, resource="partial_fit", **settings)
    assert search.best_n_resources_ == 100
    best = search.best_estimator_[-1] if in_pipeline else search.best_estimator_
    straight = clone(model).set_params(**search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(search.predict_proba(X), straight.predict_proba(X))
    assert best.n_iter_ == 101
    assert "The refit calls fit" in str(search.schedule_)


@pytest.mark.parametrize(
    ("network", "settings", "n_epochs"),
    [
        (MLPClassifier((3,), random_state=0), {"max_resources": 100}, 100),
        (MLPClassifier((3,), random_state=0, tol=0), {}, 100),
        (MLPClassifier((3,), random_state=0), {"batch_size": 40}, 100),
        (MLPClassifier((3,), random_state=0), {"algorithm": FixedSchedule([2, 1], [5, 10])}, 10),
        (SGDClassifier(random_state=0), {}, 100),
    ],
    ids=["maximum", "own stopping", "mini-batches", "own schedule", "SGD"],
)
def test_other_refits_train_the_units_of_the_last_rung(network, settings, n_epochs):
    search = searched(network, {"alpha": [1e-4, 1.0]}, resource="partial_fit", **settings)
    assert search.best_n_resources_ == n_epochs
    n_samples = settings.get("batch_size", 60)
    assert search.best_estimator_.t_ == n_epochs * n_samples + isinstance(network, SGDClassifier)
    assert "The refit calls fit" not in str(search.schedule_)


def test_refit_by_a_callable_takes_the_resource_of_its_row():
    search = searched(
        Curve(), {"limit": [0.1, 0.9, 0.5, 0.2]}, resource="partial_fit", max_resources=8,
        refit=lambda results: 1, promote_by="score",
    )  # fmt: skip
    assert (search.best_index_, search.best_candidate_) == (1, 2)
    assert search.best_n_resources_ == 8
    assert search.best_estimator_.units_ == 8
    assert not hasattr(search, "best_score_")


def test_an_index_that_a_callable_refit_makes_up_is_an_error():
    with pytest.raises(IndexError, match="refit returned 9, and cv_results_ has 2 candidates"):
        searched(
            Curve(), {"limit": [0.1, 0.9, 0.5, 0.2]}, resource="partial_fit", max_resources=8,
            refit=lambda results: 9, promote_by="score",
        )  # fmt: skip


def test_copied_samples_have_the_memory_layout_of_the_given_ones():
    class Looking(InPlace):
        def fit(self, X, y):
            self.order_ = X.flags.f_contiguous
            return super().fit(X, y)

    search = SuccessiveHalvingSearchCV(
        Looking(), {"shift": [0.0, 1.0]}, resource="n_samples", cv=KFold(3)
    )
    for order in "CF":
        data = np.asarray(np.hstack([X, X]), order=order)
        assert search.fit(data, Y).best_estimator_.order_ == (order == "F")


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_estimators_that_write_into_their_input_get_copies(resource):
    before = X.copy()
    search = searched(
        InPlace(), {"shift": [0.0, 1.0, 2.0, 3.0]}, resource=resource, max_resources=4
    )
    reference = searched(
        InPlace(), {"shift": [0.0, 1.0, 2.0, 3.0]}, resource="n_samples", min_resources=1.0
    )
    assert np.isfinite(search.all_cv_results_["mean_test_score"]).all()
    np.testing.assert_array_equal(X, before)  # not even at refit
    folds = [before[train] for train, _ in KFold(3).split(before)]
    expected = [-np.mean([rows.mean() for rows in folds])] * 4
    np.testing.assert_allclose(reference.cv_results_["mean_test_score"], expected)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (ValueError, "output array is read-only"),
        (TypeError, "No matching definition for argument type(s) readonly array(float64, 2d, C)"),
        (ValueError, "array is not writeable"),
        (ArithmeticError, "Cannot modify readonly array of type: readonly array(float64, 1d, C)"),
    ],
)
def test_all_words_for_read_only_samples_are_known(kind, message):
    """Those of NumPy, numba and pybind11."""

    class Compiled(Curve):
        def fit(self, X, y=None):
            if not X.flags.writeable:
                raise kind(message)
            return super().fit(X, y)

    search = searched(Compiled(), {"limit": [0.2, 0.4]}, resource="n_samples", refit=False)
    assert search.failures_ == []


def test_what_whole_pipelines_are_scored_on_is_not_transformed_before():
    """A scorer that is any function receives the original samples."""
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    searched(
        pipeline, {"model__tag": range(4)}, max_resources=1, min_resources=1, refit=False,
        scoring=lambda model, X, y: 0.5, return_train_score=True,
    )  # fmt: skip
    # Training samples, by fit_transform, once for each fold.
    assert len(calls("prefix transform")) == 3


def test_models_of_the_eliminated_are_let_go():
    import weakref

    alive = []

    class Watched(Curve):
        def partial_fit(self, X, y=None):
            if not hasattr(self, "units_"):
                alive.append(weakref.ref(self))
            return super().partial_fit(X, y)

        def score(self, X, y=None):
            counts.append(sum(ref() is not None for ref in alive))
            return super().score(X, y)

    counts = []
    search = SuccessiveHalvingSearchCV(
        Watched(), {"limit": list(np.linspace(0, 1, 16))}, resource="partial_fit",
        max_resources=8, cv=KFold(2), refit=False,
    ).fit(X)  # fmt: skip
    assert search.n_candidates_ == [16, 8, 4, 2]
    # By the last score of a rung no more models live than the rung has; of the last rung, in
    # which none is asked for again, the one that is scored.
    ends = np.cumsum([2 * n for n in search.n_candidates_]) - 1
    assert [counts[end] for end in ends] == [2 * n for n in search.n_candidates_[:-1]] + [1]


@pytest.mark.filterwarnings("ignore:One or more of the test scores", "ignore:Scoring failed")
@pytest.mark.parametrize("batch_size", [None, 20])
def test_test_indices_from_the_end_and_test_folds_without_samples(batch_size):
    X, y = load_iris(return_X_y=True)
    shuffled = np.random.RandomState(0).permutation(150)
    X, y, train = X[shuffled], y[shuffled], np.arange(100)
    params = {"resource": "partial_fit", "max_resources": 4, "min_resources": 1.0, "refit": False}
    params["random_state"] = 0  # of the batches

    def scores(*tests):
        search = SuccessiveHalvingSearchCV(
            SGDClassifier(random_state=0), {"alpha": [0.1, 1, 9]}, batch_size=batch_size,
            cv=[(train, test) for test in tests], **params,
        ).fit(X, y)  # fmt: skip
        return [search.all_cv_results_[f"split{k}_test_score"] for k in range(len(tests))]

    (expected,) = scores(np.arange(100, 150))
    from_the_end, empty = scores(np.arange(-50, 0), np.array([], dtype=int))
    assert np.isfinite(expected).all()
    assert from_the_end[:3].tolist() == expected[:3].tolist()
    assert np.isnan(empty).all()


class Basis(TransformerMixin, BaseEstimator):
    """Features that differ in every fit, unless there is a seed."""

    def __init__(self, width=1, random_state=None):
        self.width = width
        self.random_state = random_state

    def fit(self, X, y=None):
        self.value_ = check_random_state(self.random_state).uniform()
        return self

    def transform(self, X):
        return np.full_like(X, self.value_)


class SameFeatures(Curve):
    """Raises an error if it continues training on other features."""

    def partial_fit(self, X, y=None):
        assert getattr(self, "seen_", X[0, 0]) == X[0, 0]
        self.seen_ = X[0, 0]
        return super().partial_fit(X, y)


@pytest.mark.parametrize(
    "params",
    [
        {"budget": "double"},
        {"keep_eliminated": True, "audit_eliminated": 3, "min_resources": 1},
        {"budget": "double", "n_jobs": 2},
    ],
    ids=str,
)
def test_models_continue_training_on_the_features_with_which_they_began(params):
    pipeline = Pipeline([("basis", Basis()), ("model", SameFeatures())])
    search = searched(
        pipeline, {"basis__width": [*range(8)], "model__limit": [0.5, 1.0]},
        resource="partial_fit", max_resources=16, min_folds="all", error_score="raise",
        refit=False, **params,
    )  # fmt: skip
    assert search.schedule_.continues
    assert max(search.all_cv_results_["n_resources"]) == 16
    assert pipeline[0].random_state is None
