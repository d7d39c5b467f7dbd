"""A unit of resource: exact continuation, the order of batches, and what starts over."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.cluster import Birch, MiniBatchKMeans
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)
from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha.resources import IntegerParameter, PartialFit, SampleCount
from sklearn_sha.resources.warm_starts import exact_warm_starts

X, Y = make_classification(200, 8, n_informative=5, n_classes=3, random_state=0)
Y_REAL = np.abs(3 * X[:, 0] + np.sin(X[:, 1]) + 5)

WARM = {
    RandomForestClassifier: [{}, {"oob_score": True}, {"class_weight": {0: 1, 1: 2, 2: 3}}],
    RandomForestRegressor: [{}, {"max_samples": 0.5}],
    ExtraTreesClassifier: [{}, {"bootstrap": True, "max_samples": 0.5}],
    ExtraTreesRegressor: [{"max_features": 2}],
    RandomTreesEmbedding: [{}],
    IsolationForest: [{}, {"contamination": 0.1, "max_samples": 0.3}],
    BaggingClassifier: [{}, {"max_samples": 0.5, "max_features": 0.5}],
    BaggingRegressor: [{"bootstrap_features": True}],
    GradientBoostingClassifier: [
        {"subsample": 0.5, "max_features": 2},
        {"init": KNeighborsClassifier()},
    ],
    GradientBoostingRegressor: [{"loss": "huber"}, {"loss": "quantile", "subsample": 0.5}],
    HistGradientBoostingClassifier: [
        {},
        {"max_features": 0.3},
        {"early_stopping": False, "class_weight": "balanced"},
    ],
    HistGradientBoostingRegressor: [
        {"loss": "absolute_error"},
        {"loss": "poisson", "learning_rate": 0.5},
    ],
}
EXACT = [cls(random_state=0, **params) for cls, settings in WARM.items() for params in settings]
RESTARTS = [
    (RandomForestClassifier(class_weight="balanced"), "n_estimators"),
    (RandomForestClassifier(), "max_depth"),
    (BaggingClassifier(oob_score=True), "n_estimators"),
    (GradientBoostingClassifier(n_iter_no_change=3), "n_estimators"),
    (HistGradientBoostingClassifier(early_stopping=True), "max_iter"),
    (MLPClassifier(), "max_iter"),
    (SGDClassifier(), "max_iter"),
    (Perceptron(), "max_iter"),
    (LogisticRegression(), "max_iter"),
    (type("Own", (RandomForestClassifier,), {})(), "n_estimators"),
]


def samples_for(model):
    y = Y_REAL if "Regressor" in type(model).__name__ else Y
    return FoldSamples.for_training(X, y, {})


def answers(model):
    """Everything that a model says of X."""
    methods = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
    said = [getattr(model, name)(X) for name in methods if hasattr(model, name)]
    return [part.toarray() if hasattr(part, "toarray") else part for part in said]


def assert_same(one, other):
    assert one
    for a, b in zip(one, other, strict=True):
        np.testing.assert_array_equal(a, b)


def advanced(resource, estimator, *targets):
    """A model trained through these totals, pickled between them as workers do it."""
    model, start = clone(estimator), 0
    for target in targets:
        resource.advance(model, samples_for(model), start, target)
        model, start = pickle.loads(pickle.dumps(model)), target
    return model


def test_every_line_of_the_table_is_tested():
    assert set(WARM) == set(exact_warm_starts())


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("estimator", EXACT, ids=str)
def test_warm_starts_in_the_table_are_bit_identical_to_one_fit(estimator):
    name, _ = exact_warm_starts()[type(estimator)]
    resource = IntegerParameter(name)
    assert resource.continues(estimator, len(X))
    continued = advanced(resource, estimator, 2, 5, 12)
    scratch = clone(estimator).set_params(**{name: 12})
    samples = samples_for(scratch)
    scratch.fit(samples.X_train, samples.y_train)
    assert_same(answers(continued), answers(scratch))


@pytest.mark.parametrize(("estimator", "name"), RESTARTS, ids=str)
def test_other_parameters_start_over(estimator, name):
    assert not IntegerParameter(name).continues(estimator, len(X))


def test_histogram_boosting_starts_over_where_it_would_stop_early():
    resource = IntegerParameter("max_iter")
    assert resource.continues(HistGradientBoostingClassifier(), 10_000)
    assert not resource.continues(HistGradientBoostingClassifier(), 10_001)
    assert resource.continues(HistGradientBoostingClassifier(early_stopping=False), 10_001)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_a_fit_that_a_monitor_ends_is_not_continued():
    grid = {"max_depth": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(
        GradientBoostingClassifier(n_estimators=8, random_state=0), grid, cv=2, min_folds="all",
        resource="n_estimators",
    )  # fmt: skip
    settings = {"monitor": lambda number, model, frame: number >= 2}  # after 3 trees
    assert search.plan(X, Y).continues
    assert not search.plan(X, Y, **settings).continues
    theirs = GridSearchCV(search.estimator, grid, cv=2).fit(X, Y, **settings)
    ours = search.fit(X, Y, **settings)
    scores = {
        params["max_depth"]: score
        for params, score in zip(
            theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True
        )
    }
    assert ours.n_resources_[-1] == 8
    for params, score in zip(
        ours.cv_results_["params"], ours.cv_results_["mean_test_score"], strict=True
    ):
        assert score == scores[params["max_depth"]]


def test_scikit_learn_stops_boosting_early_from_the_same_number_of_samples():
    wide = np.random.default_rng(0).normal(size=(10_001, 1))
    model = HistGradientBoostingRegressor(max_iter=1)
    assert model.fit(wide[:-1], wide[:-1, 0]).do_early_stopping_ is False
    assert model.fit(wide, wide[:, 0]).do_early_stopping_ is True


@pytest.mark.parametrize("batch_size", [None, 32])
@pytest.mark.parametrize(
    "estimator",
    [
        SGDClassifier(random_state=0, average=3),
        SGDRegressor(random_state=0),
        MLPClassifier((5,), random_state=0),
        MLPClassifier((5,), solver="sgd", momentum=0.5, random_state=0),
        MiniBatchKMeans(3, random_state=0, n_init=1),
        GaussianNB(),
    ],
    ids=str,
)
def test_partial_fit_continues_bit_identically(estimator, batch_size):
    resource = PartialFit(batch_size, seed=3, classes=np.unique(Y))
    assert resource.continues(estimator, len(X))
    continued, straight = advanced(resource, estimator, 1, 4, 11), advanced(resource, estimator, 11)
    by_hand = clone(estimator)
    for call in range(11):
        batch = np.arange(len(X)) if batch_size is None else resource.batch(call, len(X))
        if isinstance(estimator, GaussianNB) and batch_size is not None:
            batch = batch[: max(0, len(X) - call * batch_size)]  # it counts each sample once
            if not len(batch):
                break
        samples = samples_for(estimator)
        classes = {"classes": np.unique(Y)} if hasattr(estimator, "predict_proba") else {}
        if isinstance(estimator, SGDClassifier):
            classes = {"classes": np.unique(Y)}
        by_hand.partial_fit(
            samples.X_train[batch], samples.y_train[batch], **(classes if call == 0 else {})
        )
    assert_same(answers(continued), answers(straight))
    assert_same(answers(continued), answers(by_hand))


@pytest.mark.parametrize("batch_size", [None, 32])
def test_birch_is_refused_since_pickling_changes_how_it_is_trained(batch_size):
    pickled = advanced(PartialFit(), Birch(), 1, 2, 3)
    by_hand = Birch()
    for _ in range(3):
        by_hand.partial_fit(X)
    assert pickled.subcluster_centers_.shape != by_hand.subcluster_centers_.shape
    search = SuccessiveHalvingSearchCV(
        Birch(),
        {"threshold": [0.5, 1.0]},
        resource="partial_fit",
        batch_size=batch_size,
        scoring=lambda model, X: 0.0,
    )
    with pytest.raises(ValueError, match=r"can't continue training Birch\(\).*; .*'n_samples'"):
        search.fit(X)


@given(st.integers(1, 60), st.integers(1, 80), st.integers(0, 9))
def test_batches_of_every_epoch_are_all_samples_once(n, batch_size, seed):
    resource = PartialFit(batch_size, seed)
    size = min(batch_size, n)
    stream = np.concatenate([resource.batch(call, n) for call in range(3 * n)])
    assert len(stream) == 3 * n * size
    passes = stream.reshape(-1, n)
    assert (np.sort(passes, axis=1) == np.arange(n)).all()
    if n > 8:
        assert len({tuple(order) for order in passes[:3].tolist()}) == 3, "reshuffled every pass"


def test_samples_always_start_over():
    assert not SampleCount().continues(RandomForestClassifier(), 10)
