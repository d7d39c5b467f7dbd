"""Estimators of other libraries: they train on where that is exact, and start over where not.

Collected where they are installed: the extra ``ecosystem``.
"""

import pickle
import re
from collections import Counter
from itertools import pairwise
from string import ascii_lowercase

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier, CatBoostRegressor
from conftest import ROOT
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from imblearn.under_sampling import RandomUnderSampler
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRegressor

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha.resources import IntegerParameter, TunedEstimator
from sklearn_sha.resources.automatic import auto_resource
from sklearn_sha.resources.boosting_libraries import _LOSSES_OF_CATBOOST, _ROUNDS_OF_LIGHTGBM

X, Y = make_classification(300, 8, n_informative=5, n_classes=3, random_state=0)
VALUES = 3 * X[:, 0] + np.sin(X[:, 1])
CV = KFold(3)

LIGHT = {"verbose": -1, "n_jobs": 1}
CAT = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}
DRAWS_NOTHING = {"bootstrap_type": "No", "random_strength": 0, "learning_rate": 0.2}


class OwnLoss:
    """As CatBoost takes one."""

    def calc_ders_range(self, approxes, targets, weights):
        return [(t - a, -1) for a, t in zip(approxes, targets, strict=True)]

    def __repr__(self):
        return "OwnLoss()"


EXACT = [
    (XGBClassifier(n_jobs=1), "n_estimators"),
    (XGBClassifier(n_jobs=1, max_depth=2, tree_method="exact"), "n_estimators"),
    (XGBRegressor(n_jobs=1), "n_estimators"),
    (LGBMClassifier(**LIGHT), "n_estimators"),
    (LGBMRegressor(**LIGHT, num_leaves=5), "n_estimators"),
    (LGBMClassifier(**LIGHT, num_boost_round=7), "num_boost_round"),
    (CatBoostClassifier(**CAT, **DRAWS_NOTHING), "iterations"),
    (CatBoostRegressor(**CAT, **DRAWS_NOTHING), "n_estimators"),
    (CatBoostRegressor(**CAT, **DRAWS_NOTHING, loss_function="Quantile:alpha=0.3"), "iterations"),
]
START_OVER = [
    (XGBClassifier(subsample=0.5), "n_estimators"),
    (XGBRegressor(colsample_bytree=0.5), "n_estimators"),
    (XGBClassifier(booster="dart"), "n_estimators"),
    (XGBClassifier(early_stopping_rounds=3), "n_estimators"),
    (XGBClassifier(callbacks=[]), "n_estimators"),
    (XGBClassifier(), "max_depth"),
    (LGBMClassifier(subsample=0.5, subsample_freq=1), "n_estimators"),
    (LGBMRegressor(colsample_bytree=0.5), "n_estimators"),
    (LGBMClassifier(boosting_type="dart"), "n_estimators"),
    (LGBMClassifier(feature_fraction_bynode=0.5), "n_estimators"),
    (CatBoostClassifier(), "iterations"),
    (CatBoostClassifier(**DRAWS_NOTHING | {"learning_rate": None}), "iterations"),
    (CatBoostRegressor(**DRAWS_NOTHING | {"random_strength": 1}), "iterations"),
    (CatBoostRegressor(**DRAWS_NOTHING | {"langevin": True}), "iterations"),
    (CatBoostRegressor(**DRAWS_NOTHING, loss_function="RMSEWithUncertainty"), "iterations"),
    (CatBoostRegressor(**DRAWS_NOTHING | {"objective": OwnLoss()}), "iterations"),
    (type("Own", (XGBClassifier,), {})(), "n_estimators"),
]

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*feature names:UserWarning")]


def targets_of(model):
    return Y if "Classifier" in type(model).__name__ else VALUES


def outputs(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def grown(model, name, *stops, y=None):
    model, start = clone(model), 0
    samples = FoldSamples.for_training(X, targets_of(model) if y is None else y, {})
    for target in stops:
        IntegerParameter(name).advance(model, samples, start, target)
        model, start = pickle.loads(pickle.dumps(model)), target
    return outputs(model)


@pytest.mark.parametrize(("model", "name"), EXACT, ids=str)
def test_a_model_that_continues_training_is_that_of_one_fit(model, name):
    assert IntegerParameter(name).continues(clone(model), len(X))
    once = grown(model, name, 30)
    in_steps = grown(model, name, 4, 5, 30)
    if "CatBoost" in type(model).__name__:  # which adds up what trees say in another order
        np.testing.assert_allclose(in_steps, once, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(in_steps, once)
    assert np.abs(grown(model, name, 5) - once).max() > 1e-3


@pytest.mark.parametrize(("model", "name"), EXACT[:6], ids=str)  # not CatBoost
def test_a_scorer_finds_the_number_of_rounds_of_a_model_that_continued_training(model, name):
    model, samples = clone(model), FoldSamples.for_training(X, targets_of(model), {})
    for start, target in pairwise([0, 4, 5, 30]):
        IntegerParameter(name).advance(model, samples, start, target)
        assert model.get_params()[name] == target


def test_the_parameter_that_counts_the_rounds_of_lightgbm_is_the_resource():
    """It has many names, and n_estimators is always set."""
    model, space = LGBMClassifier(**LIGHT, num_iterations=20), {"num_leaves": [4, 8]}
    assert auto_resource(TunedEstimator(model, [space])) == "num_iterations"
    assert auto_resource(TunedEstimator(model, [space | {"n_iter": [10, 20]}])) == "n_samples"
    search = SuccessiveHalvingSearchCV(model, space, min_resources=5).fit(X, Y)
    assert (search.resource_, search.n_resources_[-1]) == ("num_iterations", 20)
    assert list(search.best_params_) == ["num_leaves"]
    assert search.best_estimator_.booster_.num_trees() == 20 * 3
    search.set_params(resource="n_estimators")
    with pytest.raises(ValueError, match="is another name of 'num_iterations', which LGBMC") as e:
        search.fit(X, Y)
    assert "resource='num_iterations'" in str(e.value)
    assert "or resource='n_estimators'" not in str(e.value)
    search.set_params(estimator=LGBMClassifier(**LIGHT), param_distributions={"n_iter": [5, 10]})
    with pytest.raises(ValueError, match="resource='n_estimators' is searched too, as 'n_iter'"):
        search.fit(X, Y)
    assert "continues training" not in str(search.set_params(resource="n_samples").plan(X, Y))


@pytest.mark.filterwarnings("ignore:Found conflicting values for num_iterations")
def test_lightgbm_prefers_its_names_of_the_rounds_in_the_listed_order():
    *names, _ = _ROUNDS_OF_LIGHTGBM
    for first, second in pairwise(names):
        both = LGBMClassifier(**LIGHT, **{first: 3, second: 5}).fit(X, Y)
        assert both.booster_.num_trees() == 3 * 3


POSITIVE, TWO = np.abs(VALUES), (Y > 0).astype(int)
LOSSES = {
    "CrossEntropy": TWO, "Expectile:alpha=0.3": VALUES, "Focal:focal_alpha=0.4;focal_gamma=2": TWO,
    "Huber:delta=1": VALUES, "LogCosh": VALUES, "LogLinQuantile": POSITIVE, "Logloss": TWO,
    "Lq:q=2.5": VALUES, "MAE": VALUES, "MAPE": POSITIVE, "MultiClass": Y, "MultiClassOneVsAll": Y,
    "MultiQuantile:alpha=0.2,0.6": VALUES, "MultiRMSE": np.c_[VALUES, X[:, 2]],
    "Poisson": POSITIVE, "Quantile": VALUES, "RMSE": VALUES, "Tweedie:variance_power=1.5": POSITIVE,
}  # fmt: skip


def test_with_every_loss_that_catboost_trains_on_by_the_model_is_that_of_one_fit():
    assert {loss.partition(":")[0] for loss in LOSSES} == _LOSSES_OF_CATBOOST - {None}
    for loss, y in LOSSES.items():
        cls = CatBoostClassifier if y is TWO or y is Y else CatBoostRegressor
        model = cls(**CAT, **DRAWS_NOTHING, loss_function=loss)
        assert IntegerParameter("iterations").continues(clone(model), len(X))
        once, in_steps = (
            grown(model, "iterations", 30, y=y),
            grown(model, "iterations", 4, 5, 30, y=y),
        )
        np.testing.assert_allclose(in_steps, once, rtol=1e-9, atol=1e-9, err_msg=loss)


@pytest.mark.parametrize(("model", "name"), START_OVER, ids=str)
def test_an_estimator_with_random_samples_or_features_is_refit(model, name):
    assert not IntegerParameter(name).continues(model, len(X))


def test_what_fit_is_given_to_begin_with_makes_a_search_start_over():
    search = SuccessiveHalvingSearchCV(
        LGBMRegressor(**LIGHT),
        {"num_leaves": [2, 4]},
        resource="n_estimators",
        max_resources=4,
        cv=CV,
    )
    assert search.plan(X, VALUES, sample_weight=np.ones(len(X))).continues
    assert not search.plan(X, VALUES, init_score=np.ones(len(X))).continues


@pytest.fixture
def rounds(monkeypatch):
    """How many rounds each class was asked to train, over all fits of this process."""
    asked = Counter()

    def counting(cls, of):
        fit = cls.fit

        def counted(self, *args, **kwargs):
            asked[cls] += of(self)
            return fit(self, *args, **kwargs)

        monkeypatch.setattr(cls, "fit", counted)

    for cls in (XGBClassifier, LGBMClassifier):
        counting(cls, lambda model: model.n_estimators)
    counting(CatBoostClassifier, lambda model: model.get_params()["iterations"])
    return asked


SEARCHED = [
    (XGBClassifier(n_jobs=1), "n_estimators", "max_depth", [1, 2, 3, 4]),
    (LGBMClassifier(**LIGHT), "n_estimators", "num_leaves", [2, 4, 8, 16]),
    (CatBoostClassifier(**CAT, **DRAWS_NOTHING), "iterations", "depth", [1, 2, 3, 4]),
]


@pytest.mark.parametrize(("model", "name", "searched", "values"), SEARCHED, ids=str)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_a_search_trains_as_planned_and_scores_as_fits_at_once(
    model, name, searched, values, in_pipeline, rounds
):
    prefix = ""
    if in_pipeline:
        model = make_pipeline(StandardScaler(), model)
        prefix = f"{model.steps[-1][0]}__"
    search = SuccessiveHalvingSearchCV(
        model,
        {prefix + searched: values},
        resource=prefix + name,
        min_resources=4,
        max_resources=16,
        cv=CV,
    ).fit(X, Y)
    schedule = search.schedule_
    assert schedule.continues
    last = type(model[-1] if in_pipeline else model)
    assert rounds[last] == schedule.total_cost + search.best_n_resources_  # counted over all folds
    assert schedule.total_cost < schedule.with_refit_cost().total_cost
    at_once = cross_val_score(clone(model).set_params(**search.best_params_), X, Y, cv=CV)
    assert search.best_score_ == pytest.approx(at_once.mean(), abs=1e-12)
    both = clone(search).set_params(n_jobs=2).fit(X, Y)
    for column in ("mean_test_score", "candidate"):
        np.testing.assert_array_equal(both.all_cv_results_[column], search.all_cv_results_[column])
    np.testing.assert_array_equal(both.predict(X), search.predict(X))


@pytest.mark.parametrize("in_pipeline", [False, True])
def test_the_number_of_trees_that_xgboost_sets_by_itself_is_the_maximum(in_pipeline):
    model = XGBClassifier(n_jobs=1)
    assert model.n_estimators is None
    model, prefix = (make_pipeline(model), "xgbclassifier__") if in_pipeline else (model, "")
    space = {f"{prefix}max_depth": [1, 2, 3, 4, 5, 6]}
    search = SuccessiveHalvingSearchCV(model, space, cv=CV, min_folds=2).fit(X, Y)
    assert search.resource_ == f"{prefix}n_estimators"
    assert search.schedule_.unit == "trees"
    assert search.schedule_.continues
    assert search.n_resources_[-1] == 100
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    default = clone(model).set_params(**search.best_params_)
    np.testing.assert_array_equal(search.predict_proba(X), default.fit(X, Y).predict_proba(X))
    # An ensemble of another size has no resource in common with it.
    two = Pipeline([("model", model)])
    space = [{"model": [model]}, {"model": [XGBClassifier(n_estimators=50, n_jobs=1)]}]
    assert SuccessiveHalvingSearchCV(two, space, cv=CV).fit(X, Y).resource_ == "n_samples"


@pytest.mark.parametrize(
    ("model", "constants"),
    [
        (CatBoostClassifier(**CAT), DRAWS_NOTHING | {"iterations": 12}),
        (LGBMClassifier(**LIGHT), {"num_iterations": 12, "eta": 0.2}),
        (XGBClassifier(n_jobs=1, n_estimators=12), {"eta": 0.2}),
    ],
    ids=str,
)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_a_list_of_one_value_counts_as_set_also_if_get_params_does_not_return_its_name(
    model, constants, in_pipeline
):
    assert not constants.keys() <= model.get_params().keys()
    fixed, prefix = clone(model).set_params(**constants), ""
    if in_pipeline:
        prefix = f"{type(model).__name__.lower()}__"
        model, fixed = make_pipeline(model), make_pipeline(fixed)
    lists = {f"{prefix}{name}": [value] for name, value in constants.items()}
    space = {f"{prefix}max_depth": [1, 2, 3, 4, 5, 6]}
    params = {"cv": CV, "min_folds": 2, "random_state": 0}
    ours = SuccessiveHalvingSearchCV(model, lists | space, **params).fit(X, Y)
    theirs = SuccessiveHalvingSearchCV(fixed, space, **params).fit(X, Y)
    assert str(ours.schedule_) == str(theirs.schedule_)
    assert ours.resource_ == theirs.resource_
    scores = "mean_test_score"
    np.testing.assert_array_equal(ours.all_cv_results_[scores], theirs.all_cv_results_[scores])
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    unknown = SuccessiveHalvingSearchCV(model, space | {f"{prefix}unknown": [1]}, **params)
    assert unknown.plan(X, Y).n_candidates[0] == 6


@pytest.mark.parametrize(
    "params", [{"eval_metric": ["mlogloss", "merror"]}, {"monotone_constraints": {"a": 1}}], ids=str
)
def test_xgboost_continues_with_lists_of_metrics_and_constraints_by_name(params):
    frame = pd.DataFrame(X, columns=[*ascii_lowercase[: X.shape[1]]])
    model = XGBClassifier(n_estimators=16, n_jobs=1, **params)
    search = SuccessiveHalvingSearchCV(
        model, {"max_depth": [1, 2, 3, 4, 5, 6]}, resource="n_estimators", cv=CV
    ).fit(frame, Y)
    assert search.schedule_.continues
    assert not search.failures_
    best = clone(model).set_params(**search.best_params_)
    assert search.best_estimator_.get_booster().num_boosted_rounds() == 16
    np.testing.assert_array_equal(
        search.predict_proba(frame), best.fit(frame, Y).predict_proba(frame)
    )
    expected = cross_val_score(best, frame, Y, cv=CV).mean()
    assert search.best_score_ == pytest.approx(expected, abs=1e-12)


def test_steps_that_resample_are_fitted_with_their_pipeline():
    keep = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:20], np.flatnonzero(Y == 2)[:20]]
    few, labels = X[keep], Y[keep]
    model = make_sampling_pipeline(
        RandomUnderSampler(random_state=0), XGBClassifier(n_jobs=1, n_estimators=8)
    )
    space = {"xgbclassifier__max_depth": [1, 2, 3, 4]}
    search = SuccessiveHalvingSearchCV(
        model, space, resource="xgbclassifier__n_estimators", cv=3
    ).fit(few, labels)
    assert not search.schedule_.continues
    best = clone(model).set_params(**search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(best, few, labels, cv=3).mean())
    refused = make_sampling_pipeline(RandomUnderSampler(), SGDClassifier())
    with pytest.raises(ValueError, match=r"steps that resample; use resource='n_samples'"):
        SuccessiveHalvingSearchCV(
            refused, {"sgdclassifier__alpha": [1, 2]}, resource="partial_fit"
        ).fit(X, Y)


def test_the_example_of_the_faq_stops_early_in_every_fit():
    (code,) = re.findall(r"```python\n([^`]*LGBM[^`]*)```", (ROOT / "docs" / "faq.md").read_text())
    names = {}
    exec(code, names)
    search = names["search"]
    assert f"search.n_resources_  # {search.n_resources_}" in code
    assert search.best_estimator_.best_iteration_ < 200
    assert not search.schedule_.continues


def test_the_example_of_the_recipes_continues_its_boosters():
    page = (ROOT / "docs" / "guide" / "recipes.md").read_text()
    (code,) = re.findall(r"```python\n([^`]*XGBClassifier[^`]*)```", page)
    names = {}
    exec(code.replace("n_jobs=-1", "n_jobs=1"), names)
    search = names["search"]
    assert f"search.resource_  # {search.resource_!r}" in code
    assert search.schedule_.continues
    assert len(search.n_resources_) > 1


@pytest.mark.parametrize(
    ("model", "n_samples"),
    [
        (CatBoostRegressor(**CAT), 5000),
        (XGBRegressor(n_jobs=1), 3000),
        (LGBMRegressor(**LIGHT), 1500),
    ],
)
def test_few_samples_are_not_the_resource_of_boosting_that_takes_as_long_with_more(
    model, n_samples
):
    """A learning rate is searched, so that it cannot be the iterations."""
    space = {"learning_rate": np.linspace(0.05, 0.3, 12)}
    plan = SuccessiveHalvingSearchCV(model, space).plan(
        np.zeros((n_samples, 10)), np.arange(n_samples)
    )
    assert plan.counts_folds
    assert plan.relative_cost() == pytest.approx(0.45)
    samples = SuccessiveHalvingSearchCV(model, space, resource="n_samples")
    assert samples.plan(np.zeros((n_samples, 10)), np.arange(n_samples)).relative_cost() < 0.45
