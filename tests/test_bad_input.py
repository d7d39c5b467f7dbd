"""Mistakes end in an error that names the parameter and what to do, and lose nothing."""

import re
import warnings
from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from conftest import slow
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.decomposition import FastICA
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, check_scoring
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, PredefinedSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from toys import CALLS, Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import FixedSchedule

X, Y = load_iris(return_X_y=True)
SGD = SGDClassifier(random_state=0)
ALPHAS = {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}


class OneSplitTooMany(KFold):
    def get_n_splits(self, X=None, y=None, groups=None):
        return super().get_n_splits(X, y, groups) - 1


class FirstOnly(BaseEstimator):
    """Has no parameters."""

    def fit(self, X, y=None):
        CALLS.append("fit")
        return self

    def score(self, X, y=None):
        return 0.5


class NoSplits:
    def split(self, X, y=None, groups=None):
        return iter(())

    def get_n_splits(self, X=None, y=None, groups=None):
        return 0


MISTAKES = {
    "no partial_fit": (
        RandomForestClassifier(),
        {"max_depth": [1, 2]},
        {"resource": "partial_fit"},
        "needs partial_fit, which RandomForestClassifier() does not have; use "
        "resource='n_samples' or resource='n_estimators'",
    ),
    "no partial_fit in the last step": (
        make_pipeline(SGD, LogisticRegression()),
        {},
        {"resource": "partial_fit"},
        "which LogisticRegression() does not have; use resource='n_samples' or "
        "resource='logisticregression__max_iter'",
    ),
    "a default below one": (
        SVC(),
        {"C": [1, 10]},
        {"resource": "max_iter"},
        "max_resources=\"auto\" is the value of resource='max_iter' in the estimator, -1, which is "
        "less than 1; give max_resources an integer",
    ),
    "a class": (SGDClassifier, ALPHAS, {}, "estimator=SGDClassifier is a class. Pass an instance"),
    "no such parameter": (
        SGD,
        ALPHAS,
        {"resource": "n_trees"},
        "resource='n_trees' is no parameter of SGDClassifier; use resource='partial_fit' or "
        "resource='n_samples' or resource='max_iter'",
    ),
    "no integer parameter": (SGD, ALPHAS, {"resource": "penalty"}, "is no integer parameter"),
    "a bool is no integer": (SGD, ALPHAS, {"resource": "shuffle"}, "is no integer parameter"),
    "a searched resource": (
        SGD,
        {"max_iter": [1, 2]},
        {"resource": "max_iter"},
        "resource='max_iter' is searched too",
    ),
    "no value to end at": (
        RandomForestClassifier(),
        {},
        {"resource": "max_depth"},
        "give max_resources an integer",
    ),
    "resource of no type": (
        SGD,
        ALPHAS,
        {"resource": 3},
        "resource=3 is neither a string nor a Resource",
    ),
    "minimum above maximum": (
        SGD,
        ALPHAS,
        {"min_resources": 50, "max_resources": 20},
        "min_resources=50 is larger than max_resources=20. Lower min_resources",
    ),
    "minimum of zero": (SGD, ALPHAS, {"min_resources": 0}, "min_resources=0 must be"),
    "fraction above one": (SGD, ALPHAS, {"min_resources": 1.5}, "min_resources=1.5 must be"),
    "maximum of a half": (SGD, ALPHAS, {"max_resources": 0.5}, "max_resources=0.5 must be"),
    "factor of one": (SGD, ALPHAS, {"factor": 1}, "factor=1 must be a finite number"),
    "factor that is not used": (
        SGD,
        ALPHAS,
        {"factor": 1, "algorithm": FixedSchedule([2, 1], [50, 75])},
        "factor=1 must be a finite number",
    ),
    "factor of nan": (SGD, ALPHAS, {"factor": float("nan")}, "factor=nan must be a finite number"),
    "factor of text": (SGD, ALPHAS, {"factor": "2"}, "factor='2' must be a finite number"),
    "budget too small": (
        SGD,
        ALPHAS,
        {"resource": "partial_fit", "budget": 7},
        "budget=7 does not cover one unit for each of 4 candidates in the first of 2 rungs; "
        "give at least budget=8",
    ),
    "budget of a list": (SGD, ALPHAS, {"budget": [32]}, "budget=[32] must be"),
    "budget of text": (SGD, ALPHAS, {"budget": "lots"}, "budget='lots' must be"),
    "budget and minimum": (
        SGD,
        ALPHAS,
        {"budget": 100, "min_resources": 2},
        "budget=100 and min_resources=2 both set the resource of the first rung",
    ),
    "batches of samples": (
        LogisticRegression(),
        {"C": [1, 2]},
        {"batch_size": 10},
        "batch_size=10 is for resource='partial_fit', but the resource is 'n_samples'",
    ),
    "batches of none": (SGD, ALPHAS, {"batch_size": 0}, "batch_size=0 must be"),
    "an empty grid": (
        SGD,
        {"alpha": []},
        {},
        "Parameter grid for parameter 'alpha' need to be a non-empty sequence, got: []",
    ),
    "a distribution without rvs": (
        SGD,
        {"alpha": object},
        {},
        "but got <class 'object'> (of type type) instead. Single values need to be wrapped in a ",
    ),
    "a parameter of a step that not all candidates have": (
        Pipeline([("scale", "passthrough"), ("clf", SGD)]),
        {"scale": ["passthrough", StandardScaler()], "scale__with_mean": [True]},
        {},
        "'scale__with_mean' cannot be set, since 'scale' is 'passthrough' in {'scale': "
        "'passthrough', 'scale__with_mean': True}. Leave it out there: with a list of dicts, each "
        "value of a step can have its own parameters.",
    ),
    "a parameter of an estimator that is not set": (
        AdaBoostClassifier(),
        {"estimator__max_depth": [1, 2]},
        {},
        "'estimator__max_depth' cannot be set, since 'estimator' of AdaBoostClassifier is None. "
        "Set 'estimator' to an estimator that has the parameter.",
    ),
    "no such searched parameter": (SGD, {"beta": [1]}, {}, "Invalid parameter 'beta'"),
    "more samples than there are": (
        LogisticRegression(),
        {"C": [1, 2]},
        {"resource": "n_samples", "max_resources": 120},
        "max_resources=120 is more than the maximum for these data and cv, 100 training samples",
    ),
    "fewer samples than classes": (
        LogisticRegression(),
        {"C": [1, 2, 3, 4]},
        {"min_resources": 2},
        "start with 2 training samples, too few to contain each of the 3 classes. Raise what sets "
        "the first rung: min_resources, max_resources, budget or the rungs of the algorithm, in "
        "training samples.",
    ),
    "a set of values": (
        SGD,
        {"alpha": {0.1, 0.2}},
        {},
        "(of type set) instead. Single values need "
        "to be wrapped in a list with one element. Use a list of its values",
    ),
    "a generator of values": (SGD, {"alpha": iter([0.1])}, {}, "Use a list of its values, or a"),
    "a dict": (SGD, {"class_weight": {0: 1, 1: 2}}, {}, "Use [{0: 1, 1: 2}], or a distribution"),
    "a forest": (
        Pipeline([("clf", SGD)]),
        {"clf": RandomForestClassifier()},
        {},
        "Use [RandomForestClassifier()], or a distribution",
    ),
    "a single number of NumPy": (SGD, {"alpha": np.array(0.1)}, {}, "Use [array(0.1)], or a"),
    "one value": (SGD, {"alpha": 0.1}, {}, "Use [0.1], or a distribution"),
    "no splits": (SGD, ALPHAS, {"cv": NoSplits()}, "yields no split"),
    "no training samples": (
        SGD,
        ALPHAS,
        {"cv": PredefinedSplit(np.zeros(150))},
        "yields no training samples. In the test_fold of a PredefinedSplit, -1 marks samples",
    ),
    "splits of another number": (
        SGD,
        ALPHAS,
        {"cv": OneSplitTooMany(2)},
        "cv.split and cv.get_n_splits return inconsistent results. Expected 1 splits, got 2",
    ),
    "no space": (
        SGD,
        None,
        {},
        "SuccessiveHalvingSearchCV.__init__() missing 1 required positional argument: "
        "'param_distributions'; give param_distributions or param_grid",
    ),
    "two spaces": (
        SGD,
        ALPHAS,
        {"param_grid": ALPHAS},
        "param_distributions and param_grid are two names of the same parameter, and both",
    ),
    "two numbers of candidates": (
        SGD,
        ALPHAS,
        {"n_candidates": 3, "n_iter": 2},
        "n_candidates=3 and n_iter=2 are two names of the same parameter",
    ),
    "no candidates": (SGD, ALPHAS, {"n_iter": 0}, "n_iter=0 must be an integer of at least 1"),
    "grid of a number": (SGD, 7, {}, "should be a dict or a list, got: 7 of type int"),
    "a promotion by no metric": (
        SGD,
        ALPHAS,
        {"scoring": ["accuracy", "f1_macro"], "refit": False, "promote_by": "recall"},
        "promote_by='recall' is none of the metrics ['accuracy', 'f1_macro']. Set it",
    ),
    "metrics in no order": (
        SGD,
        ALPHAS,
        {"scoring": {"accuracy"}, "refit": "accuracy"},
        "scoring={'accuracy'} must be a str, a callable, a list, a tuple, a dict or None",
    ),
    "an unknown metric": (
        SGD,
        ALPHAS,
        {"scoring": "acc"},
        "scoring='acc': 'acc' is not a valid scoring value. Use sklearn.metrics.get_scorer_names",
    ),
    "an empty name of a metric": (SGD, ALPHAS, {"scoring": ""}, "scoring='': '' is not a valid"),
    "an unknown metric in a list": (
        SGD,
        ALPHAS,
        {"scoring": ["f1_macro", "acc"], "refit": False},
        "scoring=['f1_macro', 'acc']: 'acc' is not a valid scoring value",
    ),
    "an unknown metric in a dict": (
        SGD,
        ALPHAS,
        {"scoring": {"f1": "f1_macro", "a": "acc"}, "refit": "f1"},
        "scoring={'f1': 'f1_macro', 'a': 'acc'}: 'acc' is not a valid scoring value",
    ),
    "a metric that is no scorer": (
        SGD,
        ALPHAS,
        {"scoring": accuracy_score},
        "looks like it is a metric function rather than a scorer",
    ),
    "a single leave-one-out fold": (
        SGD,
        ALPHAS,
        {"cv": LeaveOneOut(), "resource": "folds", "max_resources": 1},
        "resource='folds' would score the first rung on 1 fold with fewer than 100 test samples, "
        "which is too few to promote by. Raise what sets the first rung: min_resources, "
        "max_resources, budget or the rungs of the algorithm, to at least 100 folds, or pass a cv "
        "with larger test folds.",
    ),
    "a promotion by another metric than the only one": (
        SGD,
        ALPHAS,
        {"scoring": "accuracy", "promote_by": "recall"},
        "promote_by='recall' is none of the metrics ['score', 'accuracy']",
    ),
    "metrics without a name": (
        SGD,
        ALPHAS,
        {"scoring": ["accuracy", "f1_macro"]},
        "True was passed, and the metrics are ['accuracy', 'f1_macro']",
    ),
    "a name that is no metric": (
        SGD,
        ALPHAS,
        {"scoring": ["accuracy", "f1_macro"], "refit": "recall"},
        "'recall' was passed, and the metrics are ['accuracy', 'f1_macro']",
    ),
    "refit of no type": (SGD, ALPHAS, {"refit": 3.5}, "refit=3.5 must be a bool"),
    "no estimator": (None, ALPHAS, {}, "estimator=None must be an estimator with a fit method"),
    "arguments in another order": (ALPHAS, SGD, {}, "must be an estimator with a fit method"),
    "jobs of text": (SGD, ALPHAS, {"n_jobs": "2"}, "n_jobs='2' must be an integer, or None"),
    "no dispatch": (SGD, ALPHAS, {"pre_dispatch": None}, "pre_dispatch=None must be an integer or"),
    "verbose of text": (
        SGD,
        ALPHAS,
        {"verbose": "x"},
        "verbose='x' must be an integer of at least",
    ),
    "train scores of text": (
        SGD,
        ALPHAS,
        {"return_train_score": "yes"},
        "return_train_score='yes' must be True or False",
    ),
    "a generator as random_state": (
        SGD,
        ALPHAS,
        {"random_state": np.random.default_rng(0)},
        "random_state=Generator(PCG64) at ",
    ),
    "a name in the second of two spaces": (
        Curve(),
        [{"limit": np.linspace(0, 1, 50)}, {"maximum": [1]}],
        {},
        "Invalid parameter 'maximum' for estimator Curve()",
    ),
    "a name that one of two components lacks": (
        Pipeline([("curve", Curve())]),
        {"curve": [Curve(), Curve(limit=0.5), FirstOnly()], "curve__limit": [0.1, 0.2]},
        {},
        "Invalid parameter 'limit' for estimator FirstOnly()",
    ),
    "a name that one of two lists of steps lacks": (
        Pipeline([("curve", Curve())]),
        {"steps": [[("curve", Curve())], [("curve", FirstOnly())]], "curve__limit": [0.1, 0.2]},
        {"random_state": 0},  # of which the candidate that is checked first is valid
        "Invalid parameter 'limit' for estimator FirstOnly()",
    ),
    "a name that one of two nested lists of steps lacks": (
        TransformedTargetRegressor(Pipeline([("curve", Curve())])),
        {
            "regressor__steps": [[("curve", Curve())], [("curve", FirstOnly())]],
            "regressor__curve__limit": [0.1, 0.2],
        },
        {"random_state": 0},
        "Invalid parameter 'limit' for estimator FirstOnly()",
    ),
    "a name in the second of two spaces of which some are proposed": (
        Curve(),
        [{"limit": uniform(0, 1)}, {"maximum": [1]}],
        {"sampler": "model", "n_candidates": 4},
        "Invalid parameter 'maximum' for estimator Curve()",
    ),
    "a splitter without a number of splits": (
        SGD,
        ALPHAS,
        {"cv": type("Splits", (), {"split": lambda self, X, y=None, groups=None: iter([])})()},
        "splitter with split and get_n_splits, such as KFold()",
    ),
    "one fold": (SGD, ALPHAS, {"cv": 1}, "cv=1 must be an integer of at least 2, a splitter with"),
    "folds as text": (SGD, ALPHAS, {"cv": "5"}, "cv='5' must be an integer of at least 2"),
    "half a fold": (SGD, ALPHAS, {"cv": 2.5}, "cv=2.5 must be an integer of at least 2"),
    "error_score of text": (SGD, ALPHAS, {"error_score": "ignore"}, "error_score='ignore'"),
}


@pytest.mark.parametrize("case", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named_before_any_training(case):
    estimator, grid, params, message = case
    search = SuccessiveHalvingSearchCV(estimator, grid, **({"cv": 3} | params))
    CALLS.clear()
    with pytest.raises((ValueError, TypeError)) as caught:
        search.fit(X, Y)
    assert message in str(caught.value)
    assert CALLS == []
    with pytest.raises(type(caught.value)) as planned:
        search.plan(X, Y)
    address = re.compile("0x[0-9a-f]+")
    assert address.sub("", str(planned.value)) == address.sub("", str(caught.value))


@pytest.mark.parametrize(
    "params",
    [{"n_jobs": "2"}, {"refit": 3.5}, {"verbose": "x"}, {"scoring": {"accuracy"}},
     {"error_score": "ignore"}, {"estimator": None}, {"param_grid": "C"}],
    ids=str,
)  # fmt: skip
def test_errors_of_parameters_have_both_classes_of_grid_searchs(params):
    for search in (GridSearchCV(SGD, ALPHAS), SuccessiveHalvingSearchCV(SGD, param_grid=ALPHAS)):
        for kind in (ValueError, TypeError):
            with pytest.raises(kind):
                search.set_params(**params).fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in (SuccessiveHalvingSearchCV, HyperbandSearchCV)
        for name in signature(kind).parameters
    ],
)
def test_every_parameter_refuses_an_object_of_no_meaning(kind, name):
    given = object()
    search = kind(SGD, None if name == "param_grid" else ALPHAS).set_params(**{name: given})
    message = f"{name}=.*{re.escape(repr(given))}"
    if name in ("param_distributions", "param_grid"):
        message = "Parameter grid should be a dict or a list"  # as GridSearchCV
    with pytest.raises((TypeError, ValueError), match=message):
        search.fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in (SuccessiveHalvingSearchCV, HyperbandSearchCV)
        for name in signature(kind).parameters
        if name not in ("param_distributions", "param_grid", "cv", "initial_candidates")
    ],
)
def test_every_parameter_of_a_single_value_refuses_an_array_and_is_named(kind, name):
    search = kind(SGD, ALPHAS).set_params(**{name: np.array([1, 2])})
    for method in (search.plan, search.fit):
        with pytest.raises((TypeError, ValueError), match=name):
            method(X, Y)


class WithCosts(SuccessiveHalvingSearchCV):
    def __init__(self, estimator, param_distributions, *, costs):
        super().__init__(estimator, param_distributions, resource="n_samples", min_resources=60)
        self.costs = costs


@pytest.mark.filterwarnings("ignore:.*fixed cost of each fit")
def test_arrays_that_are_no_parameters_of_the_search_are_accepted():
    frame = pd.DataFrame(X).rename(columns="x{}".format)
    search = WithCosts(SGD, ALPHAS, costs=np.array([1, 2])).fit(frame, Y)
    assert isinstance(search.feature_names_in_, np.ndarray)
    for method in (search.plan, search.fit, search.audit):  # of a fitted search
        method(frame, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_candidates", "exhaust"), ("min_resources", "exhaust"), ("min_resources", "smallest")],
)
def test_values_of_scikit_learns_halving_searches_are_named(name, value):
    search = SuccessiveHalvingSearchCV(SGD, ALPHAS).set_params(**{name: value})
    message = rf"{name}='{value}' is a value of scikit-learn's halving searches\. Set {name} to"
    with pytest.raises(ValueError, match=message):
        search.plan(X, Y)
    search.set_params(**{name: "auto"}).plan(X, Y)


def test_missing_targets_are_named():
    with pytest.raises(ValueError, match="SGDClassifier requires y to be passed"):
        SuccessiveHalvingSearchCV(SGD, ALPHAS).fit(X)


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SuccessiveHalvingSearchCV(SGD, ALPHAS).fit(X, Y[:-1])


def test_score_takes_no_metadata_without_routing():
    search = SuccessiveHalvingSearchCV(SGD, ALPHAS).fit(X, Y)
    with pytest.raises(ValueError, match=r"extra keyword arguments .*\['sample_weight'\]"):
        search.score(X, Y, sample_weight=Y)


def curves(grid, **params):
    params = {"resource": "partial_fit", "max_resources": 8, "cv": KFold(2)} | params
    return SuccessiveHalvingSearchCV(Curve(), grid, **params)


FAILING = {"limit": [0.2, 0.9], "fails": [False, "fit", "score"]}


def test_a_failure_costs_its_candidate_only_and_is_told_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search = curves(FAILING).fit(X)
    assert [warning.category for warning in caught] == [FitFailedWarning, UserWarning]
    assert {warning.filename for warning in caught} == {__file__}
    fits, scores = (str(warning.message) for warning in caught)
    assert "6 fits failed out of a total of 22.\nThe score on these train-test" in fits
    assert "will be set to nan" in fits
    assert "Candidates 2, 3, in rungs 0, 1 (2, 4 epochs); the first has the parameters" in fits
    assert "no fit today" in fits
    assert "no score" not in fits
    assert "4 scores failed with the following error:" in scores
    assert "Candidates 4, 5, in rung 0 (2 epochs); the first has the parameters" in scores
    assert "no score today" in scores
    assert search.best_params_ == {"limit": 0.9, "fails": False}
    scores = search.all_cv_results_["mean_test_score"][:6]
    assert np.isnan(scores).tolist() == [False, False, True, True, True, True]


def test_an_error_score_stands_for_what_failed_and_may_be_promoted():
    grid = {"limit": [0.2, 0.9], "fails": [False, "score"]}
    with (
        pytest.warns(UserWarning, match=r"will be set to 0.5"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search = curves(grid, error_score=0.5, min_resources=1).fit(X)
    first = search.all_cv_results_["iter"] == 0
    assert search.all_cv_results_["mean_test_score"][first].tolist() == [0.1, 0.45, 0.5, 0.5]
    assert search.rung_history_[0]["promoted"] == [2, 3]


@pytest.mark.parametrize("fails", ["fit", "score"])
@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_error_score_raise_names_the_candidate(fails, n_jobs):
    search = curves({"limit": [0.2, 0.9], "fails": [fails]}, error_score="raise", n_jobs=n_jobs)
    with pytest.raises(RuntimeError, match=f"no {fails} today") as caught:
        search.fit(X)
    note = " ".join(caught.value.__notes__)
    assert re.search(rf"candidate [01] with parameters {{'fails': '{fails}', 'limit': 0.\d}}", note)
    assert re.search(r"on fold [01], in rung 0", note)


def test_all_failing_raises_as_grid_search_does_and_keeps_the_results():
    grid = {"limit": [0.2, 0.9], "fails": ["fit"]}
    search = curves(grid)
    with pytest.raises(ValueError, match="All the 4 fits failed") as ours:
        search.fit(X)
    with pytest.raises(ValueError, match="All the 4 fits failed") as theirs:
        GridSearchCV(Curve(), grid, cv=KFold(2)).fit(X)
    shared = "It is very likely that your model is misconfigured"
    assert shared in str(ours.value)
    assert shared in str(theirs.value)
    assert "no fit today" in str(ours.value)
    assert len(search.all_cv_results_["params"]) == 2
    assert np.isnan(search.all_cv_results_["mean_test_score"]).all()


def test_an_error_in_a_later_rung_keeps_the_rungs_before_it():
    def scorer(estimator, X, y=None):
        if estimator.units_ > 4:
            raise KeyError("a bug of the user's")
        return estimator.score(X)

    search = curves({"limit": [0.1, 0.9, 0.5, 0.3]}, scoring=scorer, error_score="raise")
    with pytest.raises(KeyError):
        search.fit(X)
    assert search.all_cv_results_["n_resources"].tolist() == [4] * 4
    assert search.rung_history_[0]["best_score"] == pytest.approx(0.9 * 4 / 5)


def test_all_scores_failing_ends_with_the_first_candidate():
    with pytest.warns(UserWarning, match="no score today"):
        search = curves({"limit": [0.2, 0.9], "fails": ["score"]}).fit(X)
    assert search.best_index_ == 0


def test_a_metric_that_fails_alone_gets_the_error_score():
    def broken(estimator, X, y=None):
        raise RuntimeError("no metric today")

    scoring = {"good": lambda estimator, X, y=None: estimator.limit, "bad": broken}
    with pytest.warns(UserWarning, match="no metric today"):
        search = curves({"limit": [0.2, 0.9]}, scoring=scoring, refit="good").fit(X)
    assert search.best_params_ == {"limit": 0.9}
    assert np.isnan(search.all_cv_results_["mean_test_bad"]).all()


def test_a_scorer_has_to_return_a_number():
    with pytest.raises(ValueError, match="scoring must return a number, got text"):
        curves({"limit": [0.2]}, scoring=lambda *_: "text").fit(X)
    with pytest.raises(ValueError, match="scoring must return a number, got text"):
        curves({"limit": [0.2]}, scoring=lambda *_: {"a": "text"}, refit="a").fit(X)


@pytest.mark.parametrize(
    ("first", "second"),
    [(0.5, {"a": 0.5}), ({"a": 0.5}, 0.5), ({"a": 0.5}, {"b": 0.5})],
)
def test_a_scorer_has_to_return_the_same_metrics(first, second):
    scores = iter([first, *[second] * 99])
    search = curves({"limit": [0.2, 0.3]}, scoring=lambda *_: next(scores), refit=False)
    with pytest.raises(ValueError, match=r"scoring returned .* Return the same metrics in each"):
        search.fit(X)


@pytest.mark.parametrize("first", [{}, {"a": 1}])
def test_a_scorer_has_to_return_a_metric(first):
    scores = iter([first, *[{}] * 99])
    search = curves({"limit": [0.2, 0.3]}, scoring=lambda *_: next(scores), refit=False)
    with pytest.raises(ValueError, match="scoring must return a number or at least one metric"):
        search.fit(X)


def test_a_scorer_of_several_metrics_can_be_given_as_a_callable():
    """A metric that fails has the error score, as in GridSearchCV."""
    X, y = load_iris(return_X_y=True)
    scoring = check_scoring(SVC(), scoring=["accuracy", "roc_auc"], raise_exc=False)
    params = {"scoring": scoring, "refit": "accuracy", "cv": 3}
    grid = {"C": [1, 10]}
    expected, found = (
        kind(SVC(), grid, **params, **more)
        for kind, more in [
            (GridSearchCV, {}),
            (SuccessiveHalvingSearchCV, {"resource": "n_samples", "min_resources": 1.0}),
        ]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected.fit(X, y)
        found.fit(X, y)
    for name in ("mean_test_accuracy", "mean_test_roc_auc"):
        np.testing.assert_array_equal(found.cv_results_[name], expected.cv_results_[name])


def test_distributions_and_metrics_found_late():
    """A scorer of several metrics is known as such after its first call only."""
    space = {"limit": uniform(0, 1)}
    search = curves(
        space, n_candidates=4, scoring=lambda est, X, y=None: {"a": 1.0, "b": 2.0}, random_state=0
    )
    with pytest.raises(ValueError, match=r"True was passed, and the metrics are \['a', 'b'\]"):
        search.fit(X)
    assert search.all_cv_results_["mean_test_a"].tolist() == [1.0] * 4


def test_failed_fits_are_tried_anew_where_their_error_score_is_promoted():
    search = curves({"limit": [0.1, 0.2, 0.3], "fails": ["fit", False]}, error_score=9.0)
    with (
        pytest.warns(FitFailedWarning, match="12 fits failed out of a total of 18"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
        pytest.raises(RuntimeError, match="no fit today"),  # of the refit, as in GridSearchCV
    ):
        search.fit(X)
    assert search.all_cv_results_["iter"].tolist() == [0] * 6 + [1] * 3


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("names", [["tol"], ["max_iter", "n_iter_no_change"]])
def test_searching_what_partial_fit_does_not_look_at_is_warned_of(names):
    search = SuccessiveHalvingSearchCV(
        SGD, {**ALPHAS, **{name: [3, 5] for name in names}}, resource="partial_fit"
    )
    with pytest.warns(
        UserWarning, match=f"searches {', '.join(names)}, which partial_fit of SGD"
    ) as warned:
        search.plan(X, Y)
    assert warned[0].filename == __file__
    search.set_params(resource="n_samples").plan(X, Y)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_the_last_steps_partial_fit_does_not_decide_what_other_steps_look_at():
    pipeline = make_pipeline(FastICA(2, random_state=0), SGD)
    by_calls = partial(SuccessiveHalvingSearchCV, pipeline, resource="partial_fit")
    by_calls({"fastica__tol": [1e-4, 1e-2]}).plan(X, Y)
    search = by_calls({"sgdclassifier__tol": [1e-4, 1e-2]})
    with pytest.warns(UserWarning, match="searches tol, which partial_fit of SGD"):
        search.plan(X, Y)


def test_what_partial_fit_refuses_of_some_candidates_comes_with_what_to_do():
    search = SuccessiveHalvingSearchCV(
        SGD, {"class_weight": [None, "balanced"]}, resource="partial_fit", max_resources=2
    )
    with pytest.warns(FitFailedWarning, match="set resource='n_samples'") as warned:
        search.fit(X, Y)
    assert [warning.filename for warning in warned] == [__file__]


def test_the_first_of_several_failures_is_that_of_the_first_candidate():
    """It failed in the second rung, another one in the first."""

    class FailsLate(Curve):
        def partial_fit(self, X, y=None):
            super().partial_fit(X, y)
            if self.units_ > self.fails:
                raise RuntimeError("no fit today")
            return self

    values = [(0.5, 1e9), (0.9, 4), (0.6, 1e9), (0.9, 0)]
    grid = [{"limit": [limit], "fails": [fails]} for limit, fails in values]
    search = curves(grid, min_resources=4, min_folds="all").set_params(estimator=FailsLate())
    with pytest.warns(FitFailedWarning, match="Candidates 1, 3, in rungs 0, 1") as warned:
        search.fit(X)
    assert "; the first has the parameters {'fails': 4, 'limit': 0.9}." in str(warned[0].message)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("call", ["plan", "fit"])
def test_warnings_of_too_few_candidates_are_of_the_line_that_calls(call):
    few = curves({"limit": [0.2, 0.5, 0.9]}, n_candidates=9)
    brackets = HyperbandSearchCV(
        Curve(), {"limit": [0.2, 0.9]}, resource="partial_fit", max_resources=9, cv=KFold(2)
    )
    for search in (few, brackets):
        with pytest.warns(UserWarning, match="[23] different candidates") as warned:
            getattr(search, call)(X)
        assert {warning.filename for warning in warned} == {__file__}


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize(("budget", "used"), [(None, "double"), (400, "anytime")])
def test_patience_without_effect_is_warned_of(budget, used):
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": uniform(0, 1)}, resource="partial_fit", max_resources=81, cv=KFold(2)
    )
    search.set_params(budget=budget, patience=None).plan(X)
    with pytest.warns(UserWarning, match='patience=2 has no effect. It .*"double"') as got:
        search.set_params(patience=2).plan(X)
    assert [warning.filename for warning in got] == [__file__]
    search.set_params(budget=used).plan(X)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
def test_too_little_resource_to_drop_candidates_is_warned_of():
    forest = RandomForestClassifier(random_state=0)
    depths = {"max_depth": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(forest, depths, resource="n_samples", max_resources=8)
    with pytest.warns(
        UserWarning,
        match=r"max_resources=8 of resource='n_samples' is too low .* 4\. Raise max_res",
    ) as warned:
        assert search.plan(X, Y).n_candidates == [4]
    assert warned[0].filename == __file__
    assert search.set_params(resource="n_estimators").plan(X, Y).n_candidates == [4, 2]
    search.set_params(resource="n_samples", max_resources=70)
    with pytest.warns(
        UserWarning,
        match="min_resources=0.6 leaves .* factor=2 times 42 training samples is",
    ) as warned:
        assert search.set_params(min_resources=0.6).plan(X, Y).n_resources == [70]
    assert warned[0].filename == __file__
    assert search.set_params(min_resources=35).plan(X, Y).n_resources == [35, 70]
    # One rung on purpose, or all that there is.
    search.set_params(resource="n_samples", min_resources=1.0).plan(X, Y)
    search.set_params(min_resources="auto", max_resources="auto").plan(X, Y)


def test_an_estimator_whose_targets_are_optional_needs_none():
    """As in GridSearchCV. All regressors have the tag of required targets."""

    class Inside(RegressorMixin, Curve):
        pass

    search = SuccessiveHalvingSearchCV(Inside(), {"limit": [0.1, 0.9]}, scoring=Curve.score, cv=2)
    assert search.fit(X).best_params_ == {"limit": 0.9}
    with pytest.raises(ValueError, match="LogisticRegression requires y to be passed"):
        SuccessiveHalvingSearchCV(LogisticRegression(), {"C": [1, 2]}).fit(X)


@pytest.mark.parametrize(
    ("estimator", "name", "instead"),
    [
        (make_pipeline(StandardScaler(), SVC()), "C", ["'svc__C'"]),
        (CalibratedClassifierCV(DecisionTreeClassifier()), "max_depth", ["'estimator__max_depth'"]),
        (make_pipeline(StandardScaler(), StandardScaler(), SVC()), "copy", [" or "]),
        (SVC(), "D", []),
    ],
)
def test_a_missing_prefix_is_named(estimator, name, instead):
    search = SuccessiveHalvingSearchCV(estimator, {name: [1, 2]})
    with pytest.raises(ValueError, match=f"Invalid parameter '{name}' for estimator") as raised:
        search.plan(X, Y)
    notes = getattr(raised.value, "__notes__", [])
    assert len(notes) == len(instead)
    assert all(text in note for text, note in zip(instead, notes, strict=True))


def test_a_distribution_without_its_parameters_is_named():
    search = SuccessiveHalvingSearchCV(SVC(), {"C": loguniform}, n_candidates=8)
    message = r"distribution of parameter 'C' lacks its own parameters a, b\. .* loguniform\(a, b\)"
    with pytest.raises(TypeError, match=message):
        search.plan(X, Y)
    # Whose parameters all have defaults.
    assert search.set_params(param_distributions={"C": uniform}).plan(X, Y).n_candidates[0] == 8


INVALID_DISTRIBUTIONS = {
    "loguniform(10, 1)": loguniform(10, 1),
    "loguniform(a=0, b=1)": loguniform(a=0, b=1),
    "uniform(1, scale=-2)": uniform(1, scale=-2),
    "randint(5, 2)": randint(5, 2),
    "uniform([1, 2], [1, -1])": uniform([1, 2], [1, -1]),
}


@pytest.mark.parametrize("sampler", ["random", "sobol", "model"])
@pytest.mark.parametrize("shown", INVALID_DISTRIBUTIONS)
def test_a_distribution_with_invalid_arguments_is_named(shown, sampler):
    space = {"gamma": uniform(), "C": INVALID_DISTRIBUTIONS[shown]}
    search = SuccessiveHalvingSearchCV(SVC(), space, n_candidates=8, sampler=sampler)
    message = f"The distribution of parameter 'C' has invalid arguments: {shown}. Bounds have"
    with pytest.raises(ValueError, match=re.escape(message)):
        search.plan(X, Y)
    # Its support is NaN too, but it can be sampled.
    search.set_params(param_distributions=space | {"C": norm(1, 0)}).plan(X, Y)


def test_a_distribution_of_scipy_without_rvs_is_no_single_value():
    class Uniform:
        """As that of scipy 1.15 and newer."""

        def sample(self, shape, rng=None): ...

        def icdf(self, p): ...

    search = SuccessiveHalvingSearchCV(SVC(), {"C": Uniform()}, n_candidates=8)
    with pytest.raises(TypeError, match=r"distribution of parameter 'C', .* has no rvs method"):
        search.plan(X, Y)


def test_a_method_of_subclasses_of_grid_search_is_named():
    class Own(SuccessiveHalvingSearchCV):
        def _run_search(self, evaluate_candidates):
            evaluate_candidates([{"alpha": 0.1}])

    with pytest.raises(TypeError, match=r"Own defines _run_search, .* set sampler to an instance"):
        Own(SGD, ALPHAS).fit(X, Y)
