"""What GridSearchCV's users rely on: attributes, delegation, nesting, cloning, refit."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags
from toys import Curve, exactly, lines_below_plan

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV

X, Y = load_iris(return_X_y=True)
GRID = {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}
SGD = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0))
SGD_GRID = {"sgdclassifier__alpha": GRID["alpha"]}


def halving(estimator=SGD, grid=SGD_GRID, **params):
    params = {"cv": 3, "random_state": 0, "resource": "partial_fit", "max_resources": 8} | params
    return SuccessiveHalvingSearchCV(estimator, grid, **params)


def without_times(results):
    return {k: exactly(v) for k, v in results.items() if "_time" not in k}


def test_attributes_of_grid_search_and_of_scikit_learns_halving():
    frame = pd.DataFrame(X, columns=list("abcd"))
    search = halving().fit(frame, Y)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert search.best_score_ == search.cv_results_["mean_test_score"][search.best_index_]
    row = search.cv_results_rows_[search.best_index_]
    assert search.all_cv_results_["n_resources"][row] == 8
    assert search.all_cv_results_["candidate"][row] == search.best_candidate_
    assert (search.promote_by_, search.failures_) == ("score", [])
    assert isinstance(search.best_estimator_, Pipeline)
    assert search.n_splits_ == 3
    assert search.refit_time_ > 0
    assert search.multimetric_ is False
    assert search.classes_.tolist() == [0, 1, 2]
    assert search.n_features_in_ == 4
    assert search.feature_names_in_.tolist() == list("abcd")
    assert (search.n_resources_, search.n_candidates_) == ([4, 8], [4, 2])
    assert (search.min_resources_, search.max_resources_) == (4, 8)
    assert (search.n_iterations_, search.n_remaining_candidates_) == (2, 1)
    assert (search.resource_, search.best_n_resources_) == ("partial_fit", 8)
    assert search.score(frame, Y) == (search.predict(frame) == Y).mean()
    table = pd.DataFrame(search.rung_history_)
    assert table["n_candidates"].tolist() == [4, 2]
    assert pd.DataFrame(search.all_cv_results_).shape[0] == 6


METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "score_samples",
    "transform",
    "inverse_transform",
)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=1000),
        SVC(),
        Ridge(),
        PCA(),
        KernelDensity(),
        SGDClassifier(random_state=0),
        MiniBatchKMeans(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
@pytest.mark.parametrize("refit", [True, False])
def test_methods_are_there_where_the_estimator_has_them(estimator, refit):
    theirs = GridSearchCV(estimator, {}, refit=refit)
    ours = SuccessiveHalvingSearchCV(estimator, {}, refit=refit)
    for name in METHODS:
        assert hasattr(ours, name) == hasattr(theirs, name), name
    assert hasattr(ours, "partial_fit") == (refit and hasattr(estimator, "partial_fit"))
    y = None if estimator.__class__.__name__ in ("PCA", "KernelDensity", "MiniBatchKMeans") else Y
    few = {"resource": "n_samples", "min_resources": 1.0}
    ours.set_params(**few).fit(X, y)
    theirs.fit(X, y)
    for name in METHODS:
        assert hasattr(ours, name) == hasattr(theirs, name), name
        if hasattr(ours, name) and name != "inverse_transform":
            np.testing.assert_array_equal(getattr(ours, name)(X), getattr(theirs, name)(X))
    assert hasattr(ours, "classes_") == hasattr(theirs, "classes_")
    if isinstance(estimator, PCA) and refit:
        np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X)
    if not refit:
        with pytest.raises(AttributeError, match=r"`refit=False`\. score is available only after"):
            ours.score(X, y)
    assert is_classifier(ours) == is_classifier(theirs)
    assert is_regressor(ours) == is_regressor(theirs)


def test_before_fit_it_says_so():
    with pytest.raises(NotFittedError):
        halving().predict(X)
    assert not hasattr(halving(), "n_features_in_")
    assert not hasattr(halving(), "classes_")


def test_partial_fit_continues_training_the_best_estimator():
    search = halving(Curve(), {"limit": [0.1, 0.9]}, cv=KFold(2))
    assert search.partial_fit(X).best_estimator_.units_ == 8  # the first call searches
    assert search.partial_fit(X) is search
    assert search.best_estimator_.units_ == 9
    real = halving(SGDClassifier(random_state=0), GRID).fit(X, Y)
    steps = real.best_estimator_.t_
    real.partial_fit(X[:10], Y[:10])
    assert real.best_estimator_.t_ == steps + 10


@pytest.mark.slow
def test_inside_a_pipeline_and_nested_cross_validation():
    search = halving(SGDClassifier(random_state=0), GRID)
    pipeline = make_pipeline(StandardScaler(), search).fit(X, Y)
    assert pipeline.score(X, Y) > 0.8
    outer = StratifiedKFold(3)
    scores = cross_val_score(halving(), X, Y, cv=outer)
    by_hand = [
        halving().fit(X[train], Y[train]).score(X[test], Y[test])
        for train, test in outer.split(X, Y)
    ]
    assert scores.tolist() == by_hand
    grid = GridSearchCV(halving(), {"factor": [2, 4]}, cv=2).fit(X, Y)
    by_factor = [cross_val_score(halving(factor=f), X, Y, cv=2).mean() for f in (2, 4)]
    assert grid.cv_results_["mean_test_score"].tolist() == by_factor


@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_libraries_recognize_a_search_by_its_base_class(search):
    base = GridSearchCV.__base__
    assert base.__name__ == "BaseSearchCV"
    assert issubclass(search, base)
    assert isinstance(search(SGD, SGD_GRID), base)
    assert not issubclass(search, GridSearchCV)


@pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis(), SVC(), make_pipeline(SVC())])
def test_arrays_of_other_libraries_are_supported_as_by_grid_search(estimator):
    tags = get_tags(halving(estimator, {}))
    assert tags.array_api_support == get_tags(GridSearchCV(estimator, {})).array_api_support
    assert tags.array_api_support == get_tags(estimator).array_api_support


def test_clone_and_pickle():
    search = halving().fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    assert without_times(again.all_cv_results_) == without_times(search.all_cv_results_)
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    assert again.schedule_ == search.schedule_
    unfitted = clone(search)
    assert not hasattr(unfitted, "cv_results_")
    assert without_times(unfitted.fit(X, Y).cv_results_) == without_times(search.cv_results_)


def test_set_output_of_the_estimator_reaches_best_estimator():
    pca = make_pipeline(StandardScaler(), PCA()).set_output(transform="pandas")
    search = halving(pca, {"pca__n_components": [1, 2]}, resource="auto", max_resources="auto")
    frame = search.fit(X).transform(X)
    assert isinstance(frame, pd.DataFrame)
    with config_context(transform_output="pandas"):
        inner = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
        named = halving(inner, SGD_GRID).fit(X, Y)
    assert hasattr(named.best_estimator_[-1], "feature_names_in_")


def test_same_seed_same_result_and_another_seed_another():
    space = {"sgdclassifier__alpha": loguniform(1e-5, 1)}
    runs = [
        halving(grid=space, n_candidates=6, batch_size=16, random_state=seed)
        .fit(X, Y)
        .all_cv_results_
        for seed in (1, 1, 2)
    ]
    assert without_times(runs[0]) == without_times(runs[1])
    assert without_times(runs[0]) != without_times(runs[2])


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_plan_leaves_the_search_as_it_was():
    rng, splitter = np.random.RandomState(0), ShuffleSplit(2, random_state=np.random.RandomState(1))
    search = halving(
        grid={"sgdclassifier__alpha": loguniform(1e-5, 1)},
        n_candidates=5,
        random_state=rng,
        cv=splitter,
    )
    states = [str(rng.get_state()), str(splitter.random_state.get_state())]
    plan = search.plan(X, Y)
    assert states == [str(rng.get_state()), str(splitter.random_state.get_state())]
    assert vars(search).keys() == halving().get_params(deep=False).keys()
    assert search.fit(X, Y).schedule_ == plan


@pytest.mark.parametrize(
    ("theirs", "params"),
    [(GridSearchCV, {}), (RandomizedSearchCV, {"n_iter": 3, "random_state": 0})],
)
def test_the_lines_of_scikit_learns_searches_work_as_they_stand(theirs, params):
    name = "param_grid" if theirs is GridSearchCV else "param_distributions"
    keywords = {name: {"C": [0.1, 1.0, 10.0, 100.0]}, "cv": 3, **params}
    search = SuccessiveHalvingSearchCV(LogisticRegression(max_iter=1000), **keywords)
    assert {key: search.get_params()[key] for key in keywords} == keywords
    assert {key: clone(search).get_params()[key] for key in keywords} == keywords
    search.set_params(resource="n_samples", min_resources=1.0).fit(X, Y)
    expected = theirs(LogisticRegression(max_iter=1000), **keywords).fit(X, Y)
    assert search.cv_results_["params"] == expected.cv_results_["params"]
    assert search.best_params_ == expected.best_params_


def test_both_names_of_a_parameter_give_the_same_search():
    ours = halving(n_candidates=3).fit(X, Y)
    for params in ({"n_iter": 3}, {"n_iter": 3, "n_candidates": 3}):
        same = halving(grid=None, param_grid=SGD_GRID, **params).fit(X, Y)
        assert without_times(same.cv_results_) == without_times(ours.cv_results_)
    space = {"C": loguniform(1e-4, 1)}
    plans = [
        HyperbandSearchCV(LogisticRegression(), random_state=0, cv=2, **{name: space})
        .fit(X, Y)
        .best_params_
        for name in ("param_grid", "param_distributions")
    ]
    assert plans[0] == plans[1]


def test_refit_by_any_name_is_true_where_there_is_one_metric():
    for name in ("recall", "accuracy"):
        search = halving(scoring="accuracy", refit=name).fit(X, Y)
        assert search.best_params_ == halving(scoring="accuracy").fit(X, Y).best_params_


def test_the_splitter_is_called_once():
    calls = []

    class Splitter(KFold):
        def split(self, X, y=None, groups=None):
            calls.append(1)
            yield from super().split(X, y, groups)

    search = halving(cv=Splitter(3, shuffle=True)).fit(X, Y)
    assert len(calls) == 1
    assert search.n_iterations_ > 1
    generator = ((train, test) for train, test in KFold(2, shuffle=True).split(X))
    assert halving(cv=generator).fit(X, Y).n_splits_ == 2


def test_a_single_candidate_has_all_samples():
    """There is nothing to halve, whatever could be counted."""
    search = SuccessiveHalvingSearchCV(RandomForestClassifier(), {}, cv=3).fit(X, Y)
    assert (search.resource_, search.max_resources_) == ("n_samples", 100)


@pytest.mark.parametrize("name", ["n_estimators", "forest__n_estimators"])
def test_a_parameter_is_a_resource_up_to_its_own_value(name):
    forest = RandomForestClassifier(n_estimators=12, random_state=0)
    nested = "__" in name
    estimator = Pipeline([("scale", StandardScaler()), ("forest", forest)]) if nested else forest
    grid = {("forest__" if nested else "") + "max_depth": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(estimator, grid, resource=name, cv=2).fit(X, Y)
    assert search.n_resources_ == [6, 12]
    assert search.schedule_.continues
    assert search.best_params_[name] == 12
    assert name not in search.all_cv_results_["params"][0]


def test_models_are_refit_if_the_resource_is_a_parameter_of_an_earlier_step():
    estimator = make_pipeline(PCA(n_components=4), LogisticRegression(max_iter=1000))
    search = SuccessiveHalvingSearchCV(
        estimator, {"logisticregression__C": [0.1, 1, 10, 100]}, resource="pca__n_components", cv=2
    ).fit(X, Y)
    assert not search.schedule_.continues
    assert search.n_resources_ == [2, 4]
    assert search.best_estimator_[0].n_components == 4
    at = search.all_cv_results_["iter"] == 0
    expected = [
        cross_val_score(
            clone(estimator).set_params(pca__n_components=2, logisticregression__C=C), X, Y, cv=2
        ).mean()
        for C in (0.1, 1, 10, 100)
    ]
    assert search.all_cv_results_["mean_test_score"][at].tolist() == expected


def test_fractions_of_the_maximum():
    search = halving(min_resources=0.25, max_resources=10).fit(X, Y)
    assert search.n_resources_[0] == 2
    assert halving(min_resources=1.0, max_resources=10).fit(X, Y).n_resources_ == [10]


def test_several_metrics_promote_by_the_one_that_refit_names():
    params = {"scoring": ["accuracy", "neg_log_loss"], "cv": 3}
    for metric in params["scoring"]:
        search = halving(refit=metric, **params).fit(X, Y)
        alone = halving(scoring=metric).fit(X, Y)
        assert search.rung_history_[0]["promoted"] == alone.rung_history_[0]["promoted"]
        assert search.best_score_ == alone.best_score_
        assert search.score(X, Y) == pytest.approx(alone.score(X, Y))
        assert set(search.scorer_) == set(params["scoring"])


def test_verbose_prints_one_aligned_line_a_rung(capsys):
    halving().fit(X, Y)
    assert capsys.readouterr().out == ""
    search = halving(max_resources=16, verbose=1, n_candidates=4, refit=False).fit(X, Y)
    lines = lines_below_plan(search, capsys.readouterr().out)
    assert [line.split()[:3] for line in lines] == [["rung", "0/1", "4"], ["rung", "1/1", "2"]]
    assert len({len(line.partition(", about")[0]) for line in lines}) == 1


def test_the_notebooks_diagram_is_made():
    assert "SGDClassifier" in halving()._repr_html_()
    assert "SGDClassifier" in halving().fit(X, Y)._repr_html_()


def test_histogram_boosting_in_a_pipeline_with_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = Pipeline(
        [
            ("scale", StandardScaler().set_output(transform="pandas")),
            ("hist", HistGradientBoostingClassifier(max_iter=8, random_state=0)),
        ]
    )
    search = SuccessiveHalvingSearchCV(
        pipeline, {"hist__max_leaf_nodes": [2, 4, 8, 16]}, resource="hist__max_iter", cv=2
    ).fit(frame, Y)
    assert search.best_params_["hist__max_iter"] == 8
    assert search.score(frame, Y) > 0.9


def test_a_prefix_with_a_cache_ends_up_fitted(tmp_path):
    pipeline = Pipeline(SGD.steps, memory=str(tmp_path))
    search = halving(pipeline).fit(X, Y)
    np.testing.assert_array_equal(search.predict(X), halving().fit(X, Y).predict(X))


def test_an_invalid_parameter_keeps_the_results_and_a_failed_fit_replaces_them():
    search = halving().fit(X, Y)
    results = search.all_cv_results_
    with pytest.raises(ValueError, match="min_resources=9"):
        search.set_params(min_resources=9).fit(X, Y)
    assert search.all_cv_results_ is results
    assert search.predict(X).shape == (150,)
    search.set_params(min_resources="auto", max_resources="auto", resource="auto")
    search.set_params(estimator=SVC(), param_distributions={"C": [-1]})
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        search.fit(X, Y)
    assert [name for name in vars(search) if name.endswith("_")] == [
        "all_cv_results_",
        "cv_results_",
        "cv_results_rows_",
        "rung_history_",
        "failures_",
    ]


def test_plan_with_a_generator_says_what_to_give():
    generator = ((train, test) for train, test in KFold(2).split(X))
    message = r"plan would use up the splits of cv=<generator .*>\. Pass a list of them instead"
    with pytest.raises(TypeError, match=message):
        halving(cv=generator).plan(X, Y)
    assert halving(cv=generator).fit(X, Y).n_splits_ == 2


@pytest.mark.filterwarnings("ignore:Including the fixed cost", "ignore:max_resources=")
def test_plan_leaves_numpys_global_random_state_alone():
    state = str(np.random.get_state())
    halving(grid={"sgdclassifier__alpha": loguniform(1e-5, 1)}, random_state=None).plan(X, Y)
    assert str(np.random.get_state()) == state


def test_nan_does_not_win_even_where_it_ties():
    def scoring(model, X, y):
        return float("nan") if model.limit < 0.5 else -1e17

    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.1, 0.9]}, resource="partial_fit", max_resources=2, cv=KFold(2),
        scoring=scoring,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, Y)
    assert search.best_params_ == {"limit": 0.9}
    assert search.rung_history_[-1]["promoted"] == [1]


def test_an_interrupted_search_knows_who_was_promoted():
    def scoring(model, X, y):
        if model.units_ > 4:
            raise KeyboardInterrupt
        return model.limit

    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.1, 0.9, 0.5, 0.7]}, resource="partial_fit", max_resources=8,
        cv=KFold(2), scoring=scoring,
    )  # fmt: skip
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    assert [row["promoted"] for row in search.rung_history_] == [[1, 3]]
    assert search.rung_history_[0]["cut_score"] == 0.7
    assert len(search.all_cv_results_["params"]) == 4


def test_the_lowest_promoted_score_is_a_number_if_there_is_one():
    """Two are promoted, and one has a score."""

    def score(model, X, y=None):
        return 0.9 if model.limit == 0.9 else np.nan

    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.1, 0.9, 0.5, 0.7]}, resource="partial_fit", max_resources=8,
        cv=KFold(2), scoring=score, refit=False,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X, Y)
    assert len(search.rung_history_[0]["promoted"]) == 2
    assert search.rung_history_[0]["cut_score"] == 0.9


class FailsInRefit(Curve):
    def partial_fit(self, X, y=None):
        if len(X) == len(Y):
            raise RuntimeError("no refit today")
        return super().partial_fit(X, y)


def test_why_there_is_no_best_estimator():
    grid, params = {"limit": [0.1, 0.9]}, {"resource": "partial_fit", "max_resources": 4, "cv": 3}
    search = SuccessiveHalvingSearchCV(FailsInRefit(), grid, **params)
    with pytest.raises(RuntimeError, match="no refit today"):
        search.fit(X, Y)
    with pytest.raises(NotFittedError, match="Call resume with the data of fit"):
        search.predict(X)
    with pytest.raises(NotFittedError, match=r"Call fit, or fit an estimator"):
        pickle.loads(pickle.dumps(search)).predict(X)
    search = SuccessiveHalvingSearchCV(Curve(), grid, refit=False, **params).fit(X, Y)
    with pytest.raises(NotFittedError, match=r"without a refit\. Call fit, or"):
        search.set_params(refit=True).predict(X)


def test_values_that_are_no_list_are_named_by_every_method():
    search = SuccessiveHalvingSearchCV(SGDClassifier(), {"alpha": 1.0})
    search.get_metadata_routing()
    for method in ("fit", "partial_fit", "plan"):
        with pytest.raises(TypeError, match="Parameter grid for parameter 'alpha' needs to be a"):
            getattr(search, method)(X, Y)


def test_an_error_of_partial_fit_recommends_n_samples():
    balanced = SGDClassifier(class_weight="balanced")
    with pytest.raises(ValueError, match=r"resource is 'partial_fit'.*set resource='n_samples'"):
        halving(balanced, GRID).fit(X, Y)
