"""Fit parameters reach whom they are meant for, cut to the fold, routed or not."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import has_fit_parameter
from toys import CALLS, CountingScaler, Recorder, numbers

from sklearn_sha import SuccessiveHalvingSearchCV

WEIGHTS_ARE_SCORED = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7)

X = np.arange(60.0)[:, None]
Y = np.tile([0, 1, 2], 20)
WEIGHTS = X[:, 0] * 10
IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = IRIS / IRIS.max(axis=0)
HALF = np.tile([1.0, 0.25], 75)


class Weighted(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None, sample_weight=None):
        CALLS.append(
            ("prefix fit", X[:, 0].copy(), None if sample_weight is None else sample_weight.copy())
        )
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


def search_of(estimator, **params):
    grid = {"model__tag" if isinstance(estimator, Pipeline) else "tag": [1, 2, 3, 4]}
    params = {"cv": KFold(3), "resource": "partial_fit", "max_resources": 4} | params
    return SuccessiveHalvingSearchCV(estimator, grid, **params)


def weights_follow_samples(what):
    made = [(rows, weights) for name, rows, weights in CALLS if name == what]
    assert made
    return all(
        weights is not None and weights.tolist() == (rows * 10).tolist() for rows, weights in made
    )


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_without_routing_weights_go_to_the_estimator(resource):
    search_of(Recorder(), resource=resource, max_resources="auto", min_resources=0.1).fit(
        X, Y, sample_weight=WEIGHTS
    )
    assert weights_follow_samples("partial_fit" if resource == "partial_fit" else "fit")


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_without_routing_a_pipelines_steps_are_named(resource):
    pipeline = Pipeline(
        [("prefix", CountingScaler()), ("weigh", Weighted()), ("model", Recorder())]
    )
    search_of(pipeline, resource=resource, max_resources="auto", min_resources=0.1).fit(
        X, Y, model__sample_weight=WEIGHTS, weigh__sample_weight=WEIGHTS, prefix__note="all"
    )
    assert weights_follow_samples("partial_fit" if resource == "partial_fit" else "fit")
    weighed = [call for call in CALLS if call[0] == "prefix fit" and not isinstance(call[1], int)]
    assert weighed
    assert all(weights.tolist() == (rows * 10).tolist() for _, rows, weights in weighed)


def test_without_routing_a_bare_name_for_a_pipeline_is_refused():
    pipeline = Pipeline([("prefix", CountingScaler()), ("model", Recorder())])
    with pytest.raises(ValueError, match=r"e\.g\. `model__sample_weight` for the last step"):
        search_of(pipeline).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize("n_steps", [1, 2])
def test_without_routing_a_step_that_does_not_exist_is_an_error(n_steps):
    pipeline = Pipeline([("scaler", Weighted()), ("model", Recorder())][-n_steps:])
    steps = ["'scaler', 'model'", "'model'"][-n_steps]
    message = (
        "does not accept the modle__sample_weight parameter, since no step has the name 'modle': "
        f"the steps are {steps}. Use e.g. `model__sample_weight` for the last step."
    )
    with pytest.raises(ValueError, match=message):
        search_of(pipeline).fit(X, Y, modle__sample_weight=WEIGHTS)
    assert CALLS == []


def test_weights_and_groups_give_grid_searchs_numbers():
    """From scikit-learn 1.7 on, weights reach the scorer too."""
    grid, groups = {"C": [0.1, 1.0, 10.0]}, np.arange(150) % 5
    for scoring in (None, "accuracy", ["accuracy", "f1_macro"], make_scorer(accuracy_score)):
        refit = "accuracy" if isinstance(scoring, list) else True
        shared = {"cv": GroupKFold(3), "scoring": scoring, "refit": refit}
        theirs = GridSearchCV(LogisticRegression(), grid, **shared)
        ours = SuccessiveHalvingSearchCV(LogisticRegression(), grid, min_resources=1.0, **shared)
        for search in (theirs, ours):
            search.fit(IRIS, SPECIES, sample_weight=HALF, groups=groups)
        for name, column in theirs.cv_results_.items():
            if "test" in name:
                np.testing.assert_array_equal(ours.cv_results_[name], column)


class Typed(LogisticRegression):
    def fit(self, X, y, sample_weight=None, output_type=list, dtype=None, path=None):
        assert output_type is dict
        assert dtype is np.float32
        assert isinstance(path, Path)
        return super().fit(X, y, sample_weight)


def test_parameters_of_fit_that_are_no_arrays_are_passed_as_they_are():
    """Some have a method copy that is something else, as paths do from Python 3.14 on."""
    search = SuccessiveHalvingSearchCV(Typed(), {"C": [0.1, 1.0]}, error_score="raise")
    others = {"output_type": dict, "dtype": np.float32, "path": Path("model")}
    search.fit(IRIS, SPECIES, sample_weight=HALF, **others)


@pytest.mark.parametrize("several", [False, True])
def test_metrics_that_take_no_weights_are_told_of_as_in_grid_search(several):
    def plain(y_true, y_pred):
        return float((y_true == y_pred).mean())

    scoring = {"plain": make_scorer(plain)} if several else make_scorer(plain)
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(), {"C": [1.0]}, scoring=scoring, refit="plain" if several else True
    )
    if WEIGHTS_ARE_SCORED:
        with pytest.warns(UserWarning, match="does not support sample_weight") as warned:
            search.fit(IRIS, SPECIES, sample_weight=HALF)
        assert [warning.filename for warning in warned] == [__file__]
    else:
        search.fit(IRIS, SPECIES, sample_weight=HALF)
    assert np.isfinite(search.best_score_)


def test_weights_for_several_metrics_and_a_function_are_an_error():
    """scikit-learn's scorer would raise in each fit."""
    scoring = {"one": "accuracy", "other": lambda model, X, y: model.score(X, y)}
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(), {"C": [1.0, 2.0]}, scoring=scoring, refit="one"
    )
    search.fit(IRIS, SPECIES)
    if WEIGHTS_ARE_SCORED:
        with (
            pytest.warns(UserWarning, match="does not support"),
            pytest.raises(TypeError, match=r"scoring has functions \(other\) among its metrics"),
        ):
            search.fit(IRIS, SPECIES, sample_weight=HALF)
    else:  # they reach the fits only
        assert np.isfinite(search.fit(IRIS, SPECIES, sample_weight=HALF).best_score_)


def test_routing_sends_what_partial_fit_asked_for():
    with config_context(enable_metadata_routing=True):
        asking = Recorder().set_partial_fit_request(sample_weight=True)
        asking.set_score_request(sample_weight=False)
        search_of(asking).fit(X, Y, sample_weight=WEIGHTS)
        assert weights_follow_samples("partial_fit")
        CALLS.clear()
        refusing = Recorder().set_partial_fit_request(sample_weight=False)
        splitter_asks = GroupKFold(3)
        groups = np.arange(60) % 6
        refusing.set_score_request(sample_weight=True)
        search_of(refusing, cv=splitter_asks).fit(X, Y, groups=groups, sample_weight=WEIGHTS)
        assert {weights is None for name, _, weights in CALLS if name == "partial_fit"} == {True}


@pytest.mark.parametrize("request_of_fit", [True, False, "their_weight"])
def test_routing_takes_a_request_for_fit_where_there_is_none_for_partial_fit(request_of_fit):
    name = request_of_fit if isinstance(request_of_fit, str) else "sample_weight"
    with config_context(enable_metadata_routing=True):
        asking = Recorder().set_fit_request(sample_weight=request_of_fit)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=name)
        for estimator in (asking, Pipeline([("prefix", CountingScaler()), ("model", asking)])):
            CALLS.clear()
            search_of(estimator, scoring=scorer).fit(X, Y, **{name: WEIGHTS})
            if request_of_fit:
                assert weights_follow_samples("partial_fit")
            else:
                assert {w is None for what, _, w in CALLS if what == "partial_fit"} == {True}


def test_routing_prefers_the_request_for_partial_fit():
    with config_context(enable_metadata_routing=True):
        asking = Recorder().set_fit_request(sample_weight=False)
        asking.set_partial_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        search_of(asking).fit(X, Y, sample_weight=WEIGHTS)
    assert weights_follow_samples("partial_fit")
    assert asking.get_metadata_routing().fit.requests["sample_weight"] is False


def test_routing_reports_a_request_that_was_not_made():
    with config_context(enable_metadata_routing=True):
        with pytest.raises(UnsetMetadataPassedError, match=r"set_partial_fit_request"):
            search_of(Recorder()).fit(X, Y, sample_weight=WEIGHTS)
        with pytest.raises(UnsetMetadataPassedError, match=r"Recorder.fit"):
            search_of(Recorder(), resource="n_samples", max_resources="auto").fit(
                X, Y, sample_weight=WEIGHTS
            )


@pytest.mark.parametrize("resource", ["partial_fit", "n_samples"])
def test_routing_reaches_every_step_of_a_pipeline_under_its_alias(resource):
    with config_context(enable_metadata_routing=True):
        last = Recorder()
        getattr(
            last, "set_partial_fit_request" if resource == "partial_fit" else "set_fit_request"
        )(sample_weight="for_model")
        weigh = Weighted().set_fit_request(sample_weight="for_prefix")
        pipeline = Pipeline([("weigh", weigh), ("model", last)])
        search = search_of(pipeline, resource=resource, max_resources="auto", min_resources=0.1)
        search.fit(X, Y, for_model=WEIGHTS, for_prefix=WEIGHTS)
    assert weights_follow_samples("partial_fit" if resource == "partial_fit" else "fit")
    assert weights_follow_samples("prefix fit")
    assert len([rows for name, rows, _ in CALLS if name == "prefix fit" and len(rows) == 60]) == 1


def test_routing_weights_for_the_scorer():
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        grid = {"C": [0.1, 1.0]}
        theirs = GridSearchCV(model, grid, scoring=scorer).fit(IRIS, SPECIES, sample_weight=HALF)
        ours = SuccessiveHalvingSearchCV(model, grid, scoring=scorer, min_resources=1.0)
        ours.fit(IRIS, SPECIES, sample_weight=HALF)
        np.testing.assert_array_equal(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
        )
        weighted = ours.score(IRIS, SPECIES, sample_weight=HALF)
        assert weighted == theirs.score(IRIS, SPECIES, sample_weight=HALF)


def test_routing_into_the_search_from_outside():
    with config_context(enable_metadata_routing=True):
        model = Recorder().set_partial_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        params = {"sample_weight": WEIGHTS}
        cross_validate(search_of(model), X, Y, cv=2, params=params, error_score="raise")
    assert weights_follow_samples("partial_fit")


def test_a_missing_request_of_one_of_several_metrics_is_the_error_of_grid_search():
    weights = np.ones(len(Y))
    errors = []
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        for cls in (GridSearchCV, SuccessiveHalvingSearchCV):
            CALLS.clear()
            search = cls(
                Recorder().set_fit_request(sample_weight=True), {"tag": [0, 1]},
                scoring={"a": weighted, "b": make_scorer(accuracy_score)}, refit="a", cv=KFold(3),
            )  # fmt: skip
            try:
                search.fit(X, Y, sample_weight=weights)
            except UnsetMetadataPassedError as error:
                errors.append(str(error))
    assert len(errors) in (0, 2)  # scikit-learn 1.6 raises none
    assert len(set(errors)) <= 1
    assert bool(CALLS) != bool(errors)  # it is raised before any training


class OwnPipeline(Pipeline):
    """Is fitted as a whole if samples are the resource."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.parametrize("cls", [Pipeline, OwnPipeline])
def test_parameters_of_steps_reach_them_if_the_search_becomes_a_grid_search(cls, routed):
    features, targets = np.random.RandomState(0).normal(size=(60, 3)), Y % 2
    weights = np.tile([1.0, 5.0], 30)
    with config_context(enable_metadata_routing=routed):
        scaler, network = StandardScaler(), MLPClassifier((2,), max_iter=20, random_state=0)
        scoring = make_scorer(accuracy_score)
        params = {"scale__sample_weight": weights, "model__sample_weight": weights}
        if not has_fit_parameter(network, "sample_weight"):  # before scikit-learn 1.7
            del params["model__sample_weight"]
        if routed:
            scaler.set_fit_request(sample_weight=True)
            if "model__sample_weight" in params:
                network.set_fit_request(sample_weight=True)
            scoring.set_score_request(sample_weight=False)
            params = {"sample_weight": weights}
        pipeline = cls([("scale", scaler), ("model", network)])
        theirs, ours = (
            search(pipeline, {"model__alpha": [1e-4, 1.0]}, cv=2, scoring=scoring)
            for search in (GridSearchCV, SuccessiveHalvingSearchCV)
        )
        theirs.fit(features, targets, **params)
        ours.fit(features, targets, **params)
    assert len(ours.n_resources_) == 1
    np.testing.assert_array_equal(ours.best_estimator_[0].mean_, theirs.best_estimator_[0].mean_)
    np.testing.assert_array_equal(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


GROUPS = np.arange(150) % 5


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.filterwarnings("ignore:Candidate .* was eliminated in the search over all")
@pytest.mark.parametrize("names", [["sample_weight"], ["groups"], ["sample_weight", "groups"]])
def test_what_continues_a_search_takes_the_parameters_of_fit(names):
    params = {name: {"sample_weight": HALF, "groups": GROUPS}[name] for name in names}

    def search(n, **others):
        cv = GroupKFold(3) if "groups" in params else KFold(3, shuffle=True, random_state=0)
        defaults = {"resource": "partial_fit", "max_resources": 8, "cv": cv, "random_state": 0}
        return SuccessiveHalvingSearchCV(
            SGDClassifier(random_state=0), {"alpha": loguniform(1e-6, 1)}, n_candidates=n,
            **defaults | others,
        )  # fmt: skip

    data = IRIS, SPECIES
    whole = search(12).fit(*data, **params)
    assert search(12).plan(*data, **params) == whole.schedule_
    extended = search(8).fit(*data, **params).extend(*data, n_candidates=4, **params)
    assert numbers(extended) == numbers(whole)
    left = [20]

    def scoring(model, X, y, sample_weight=None):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return model.score(X, y, sample_weight)

    interrupted = search(12, scoring=scoring)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(*data, **params)
    assert numbers(interrupted.resume(*data, **params)) == numbers(whole)
    # An audited candidate has the scores of a grid search.
    grid = search(12, min_resources=1.0).fit(*data, **params)
    audited = whole.audit(*data, n_candidates=2, **params).cv_results_
    assert sum(audited["audited"]) == 2
    for row, candidate in enumerate(whole.all_cv_results_["candidate"][whole.cv_results_rows_]):
        assert audited["mean_test_score"][row] == grid.cv_results_["mean_test_score"][candidate]


@pytest.mark.parametrize("routed", [False, True])
@pytest.mark.filterwarnings("ignore:Candidate .* was eliminated in the search over all")
def test_an_audit_passes_the_parameters_of_fit_as_the_extended_search_does(routed):
    """With candidates of another space, pipelines are trained as a whole."""
    weights, space = np.where(SPECIES == 0, 100.0, 1.0), {"model__C": np.logspace(-4, 2, 8)}
    with config_context(enable_metadata_routing=routed):
        scaler, model = StandardScaler(), LogisticRegression(max_iter=1000)
        other = {"steps": [[("scale", MinMaxScaler()), ("model", model)]]}
        scoring, params = make_scorer(accuracy_score), {"model__sample_weight": weights}
        if routed:
            scaler.set_fit_request(sample_weight=True)
            model.set_fit_request(sample_weight=False)
            scoring.set_score_request(sample_weight=False)
            other, params = {"model": [model]}, {"sample_weight": weights}

        def search(**own):
            pipeline = Pipeline([("scale", scaler), ("model", model)])
            defaults = {"resource": "n_samples", "cv": 3, "min_folds": "all", "random_state": 0}
            params = {"scoring": scoring} | defaults | own
            return SuccessiveHalvingSearchCV(pipeline, space, **params)

        data = IRIS, SPECIES
        whole = search(min_resources=1.0).fit(*data, **params).cv_results_["mean_test_score"]
        extended = search(min_resources=30).fit(*data, **params)
        extended.extend(*data, param_grid=other | {"model__C": [0.1, 1.0]}, **params)
        found = extended.audit(*data, n_candidates=2, **params).cv_results_
    candidates = extended.all_cv_results_["candidate"][extended.cv_results_rows_]
    audited = found["audited"] & (candidates < len(whole))
    assert audited.any()
    assert found["mean_test_score"][audited].tolist() == whole[candidates[audited]].tolist()


def logistic(*, weighted):
    return LogisticRegression().set_fit_request(sample_weight=weighted)


@pytest.mark.parametrize(
    "make_grid",
    [
        lambda: {"scale": ["passthrough", MinMaxScaler()]},
        lambda: {"model": [logistic(weighted=True), KNeighborsClassifier()]},
        lambda: {"model": [logistic(weighted=False)]},
        lambda: {"model": [logistic(weighted=False), logistic(weighted=True)]},
    ],
    ids=["without a step", "another family", "one", "both"],
)
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_the_requests_of_the_steps_of_a_candidate_decide(make_grid):
    weights = np.where(SPECIES == 0, 100.0, 1.0)
    with config_context(enable_metadata_routing=True):
        scaler, grid = StandardScaler().set_fit_request(sample_weight=True), make_grid()
        steps = [("scale", scaler), ("model", logistic(weighted=True))]
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        params = {"cv": 3, "scoring": scoring, "refit": False}
        expected = GridSearchCV(Pipeline(steps), grid, **params)
        found = SuccessiveHalvingSearchCV(
            Pipeline(steps), grid, resource="n_samples", min_resources=1.0, **params
        )
        scores = [
            search.fit(IRIS, SPECIES, sample_weight=weights).cv_results_["mean_test_score"]
            for search in (expected, found)
        ]
    assert not np.isnan(scores[0]).any()
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    "grid",
    [
        {"scale": ["passthrough", MinMaxScaler()]},
        {"model": [SGDClassifier(), SGDClassifier(penalty="l1")]},
    ],
    ids=["preprocessing", "model"],
)
def test_partial_fit_does_not_route_by_the_requests_of_other_steps(grid):
    with config_context(enable_metadata_routing=True):
        steps = [StandardScaler(), SGDClassifier()]
        pipeline = Pipeline(
            [
                (name, step.set_fit_request(sample_weight=True))
                for name, step in zip(("scale", "model"), steps, strict=True)
            ]
        )
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=False)
        params = {"resource": "partial_fit", "max_resources": 4, "scoring": scoring}
        search = SuccessiveHalvingSearchCV(pipeline, grid, min_resources=1, cv=3, **params)
        with pytest.raises(ValueError, match=r"can't route sample_weight by .*'n_samples'\.$"):
            search.fit(IRIS, SPECIES, sample_weight=HALF)
        assert search.fit(IRIS, SPECIES).resource_ == "partial_fit"
        search.set_params(param_distributions={"model__alpha": [1e-4, 1e-3]})
        assert search.fit(IRIS, SPECIES, sample_weight=HALF).resource_ == "partial_fit"
