"""A resource of one's own: one class, which the contract test checks and a search takes."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from sklearn_sha import CheckpointError, HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.resources import (
    IntegerParameter,
    Limits,
    PartialFit,
    Resource,
    SampleCount,
    check_resource,
)

X, Y = load_iris(return_X_y=True)
CV = KFold(3, shuffle=True, random_state=0)
STEPS = []


class Descent(ClassifierMixin, BaseEstimator):
    """Least squares by gradient steps, a class against the others."""

    def __init__(self, rate=0.01):
        self.rate = rate

    def step(self, X, y):
        STEPS.append(self.rate)
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(y)
            self.coef_ = np.zeros((X.shape[1], len(self.classes_)))
        miss = X @ self.coef_ - (y[:, None] == self.classes_)
        self.coef_ -= self.rate * X.T @ miss / len(X)
        return self

    def fit(self, X, y):
        return self.step(X, y)

    def predict(self, X):
        return self.classes_[np.argmax(X @ self.coef_, axis=1)]


class Steps(Resource):
    """One unit is some gradient steps."""

    def __init__(self, per_unit=2):
        self.per_unit = per_unit

    def continues(self, model, n_train):
        return True

    def advance(self, model, samples, start, target):
        X, y, _ = samples.fitting()
        for _ in range(self.per_unit * (target - start)):
            model.step(X, y)


class Leaves(Resource):
    lowest = 2

    def advance(self, model, samples, start, target):
        X, y, params = samples.fitting()
        model.set_params(max_leaf_nodes=target).fit(X, y, **params)


class Share(Leaves):
    """Samples grow with it."""

    def view(self, fold, target):
        return fold.subsampled(10 * target)


@pytest.mark.parametrize(
    ("resource", "model"),
    [
        (Steps(), Descent()),
        (PartialFit(None, 0, np.unique(Y)), SGDClassifier(random_state=0)),
        (PartialFit(16, 0, np.unique(Y)), SGDClassifier(random_state=0)),
        (PartialFit(), SGDClassifier(random_state=0)),
        (IntegerParameter("n_estimators"), RandomForestClassifier(random_state=0)),
        (IntegerParameter("max_iter"), SGDClassifier(random_state=0, tol=None)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_keeps_the_contract_passes(resource, model):
    check_resource(resource, model, X, Y)


@pytest.mark.parametrize(
    ("resource", "units"), [(Leaves(), (2, 4, 9)), (Share(), (2, 4, 9)), (SampleCount(), (20, 60))]
)
def test_what_starts_over_passes(resource, units):
    check_resource(resource, DecisionTreeClassifier(random_state=0), X, Y, units=units)


class Forgets(Steps):
    def advance(self, model, samples, start, target):
        super().advance(model, samples, 0, target)


class Remembers(Steps):
    def advance(self, model, samples, start, target):
        self.per_unit += 1
        Steps(2).advance(model, samples, start, target)


class Writes(Steps):
    def advance(self, model, samples, start, target):
        X, y, _ = samples.fitting()
        for _ in range(target - start):
            model.step(X, y)
        samples.X_train[0] += 1


class Shifts(Steps):
    def view(self, fold, target):
        return fold.with_data(fold.X, fold.y).__class__(
            fold.X, fold.y, fold.train[target : target + 40], fold.test, {}, {}, {}, False
        )


calls = count()


class Draws(Steps):
    def advance(self, model, samples, start, target):
        super().advance(model, samples, start, target)
        model.coef_ *= (-1) ** next(calls)  # no two models in a row say the same


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        (Forgets(), "is not the one trained to 2 in a single fit; let continues return False"),
        (Remembers(), "advance changed the resource"),
        (Writes(), "advance changed its samples"),
        (Shifts(), "samples of a rung are not among those of the next rung"),
        (Draws(), "two models with 2 units each are not the same"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_breaks_the_contract_is_told(resource, message):
    with pytest.raises(AssertionError, match=message):
        check_resource(resource, Descent(), X.copy(), Y)


class OfWhatIsTrained(Steps):
    def __init__(self, per_unit=2, trained=""):
        super().__init__(per_unit)
        self.trained = trained

    def prepared(self, trained, y, seed):
        return OfWhatIsTrained(self.per_unit, type(trained).__name__)

    def advance(self, model, samples, start, target):
        assert self.trained == type(model).__name__
        model.fit(samples.X_train, samples.y_train)

    def continues(self, model, n_train):
        return False


def test_a_resource_is_prepared_for_what_is_trained():
    for model, name in [(Descent(), "rate"), (make_pipeline(Descent()), "descent__rate")]:
        search = SuccessiveHalvingSearchCV(
            model, {name: [1e-3, 1e-2]}, resource=OfWhatIsTrained(), max_resources=2, cv=CV,
            error_score="raise",
        )  # fmt: skip
        search.fit(X, Y)


@pytest.mark.slow
def test_a_search_trains_on_by_it_as_planned():
    STEPS.clear()
    search = SuccessiveHalvingSearchCV(
        Descent(),
        {"rate": [1e-4, 1e-3, 1e-2, 3e-2]},
        resource=Steps(3),
        max_resources=16,
        min_folds="all",
        cv=CV,
    ).fit(X, Y)
    schedule = search.schedule_
    assert len(STEPS) == 3 * (CV.n_splits * schedule.total_cost + search.best_n_resources_)
    assert schedule.continues
    assert search.resource_ == "Steps"
    assert set(search.best_params_) == {"rate"}
    by_hand = clone(search.estimator).set_params(**search.best_params_)
    for _ in range(3 * 16):
        by_hand.step(X, Y)
    np.testing.assert_array_equal(search.predict(X), by_hand.predict(X))
    both = clone(search).set_params(n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(
        both.all_cv_results_["mean_test_score"], search.all_cv_results_["mean_test_score"]
    )


class Half(Steps):
    """A model has half as many units as its candidate."""

    def units_per_fold(self, n_resources):
        return n_resources // 2

    def best_params(self, n_resources):
        return {"label": n_resources}


class Labeled(Descent):
    def __init__(self, rate=0.01, label=None):
        super().__init__(rate)
        self.label = label


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_refit_trains_the_units_of_a_fold_with_the_best_parameters(n_jobs):
    """With two jobs, a worker refits the last candidate while its last folds run."""
    search = SuccessiveHalvingSearchCV(
        Labeled(), {"rate": [1e-4, 1e-3, 1e-2, 3e-2]}, resource=Half(), min_resources=4,
        max_resources=16, factor=4, min_folds="all", cv=CV, n_jobs=n_jobs,
    )  # fmt: skip
    STEPS.clear()
    search.fit(X, Y)
    assert bool(STEPS) == (n_jobs == 1)  # of this process
    assert search.n_candidates_[-1] == 1
    assert search.best_estimator_.label == search.best_params_["label"] == 16
    by_hand = Descent(search.best_params_["rate"])
    for _ in range(2 * 8):
        by_hand.step(X, Y)
    np.testing.assert_array_equal(search.best_estimator_.coef_, by_hand.coef_)


@pytest.mark.filterwarnings("ignore:max_resources=", "ignore:.* have the same score")
@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize("resource", [Leaves(), Share()], ids=["Leaves", "Share"])
def test_a_search_starts_over_by_it(kind, resource):
    space = {"max_features": [1, 2, 3, 4], "min_samples_leaf": [1, 2, 3, 4]}
    search = kind(
        DecisionTreeClassifier(random_state=0), space, resource=resource, max_resources=10, cv=CV,
        factor=2, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert not search.schedule_.continues
    best = clone(search.estimator).set_params(max_leaf_nodes=10, **search.best_params_)
    if type(resource) is Leaves:
        assert search.best_score_ == pytest.approx(cross_val_score(best, X, Y, cv=CV).mean())
    np.testing.assert_array_equal(search.predict(X), best.fit(X, Y).predict(X))


def test_it_needs_max_resources_and_no_batches_and_is_a_resource():
    def search_of(**params):
        return SuccessiveHalvingSearchCV(Descent(), {"rate": [0.1, 0.2]}, **params)

    with pytest.raises(ValueError, match="give max_resources an integer"):
        search_of(resource=Steps()).fit(X, Y)
    with pytest.raises(ValueError, match="leave batch_size=None"):
        search_of(resource=Steps(), max_resources=4, batch_size=8).fit(X, Y)
    with pytest.raises(TypeError, match=r"instance of a subclass of sklearn_sha\.resources\.Reso"):
        search_of(resource=Steps, max_resources=4).fit(X, Y)


class Stepless(Descent):
    step = property()


class Answers(Steps):
    """A resource with answers of its own to all that a search asks."""

    def limits(self, tuned, example, data):
        return Limits(lowest=2, first=2, default=data.n_samples // 10, highest=data.n_samples)

    def unit_for(self, example):
        return f"steps of {example.rate}"

    def why_not(self, model):
        return "" if hasattr(model, "step") else f"{type(model).__name__} has no steps"

    def space_error(self, tuned):
        return "rate is searched at -1" if -1 in tuned.spaces[0]["rate"] else ""

    def first_rung_error(self, n_resources, limits):
        return "one step is nothing" if n_resources == 1 else ""

    def warnings(self, tuned, n_resources):
        return [f"{n_resources} steps of {tuned.space_name}"] if n_resources > 50 else []

    def maximum_notes(self, tuned, example, n_resources):
        return [f"{n_resources} is a tenth of the samples."]

    def cheaper_notes(self, tuned, schedule, n_train, factor):
        return [f"{n_train} samples are cheap."]

    def failure_hint(self):
        return "\nTake smaller steps."

    def best_params(self, n_resources):
        return {"steps": n_resources * self.per_unit}


def test_a_search_uses_the_answers_of_a_custom_resource():
    def search_of(estimator=None, rates=(1e-3, 1e-2, 2e-2, 3e-2), **params):
        estimator = Descent() if estimator is None else estimator
        space = {"rate": list(rates)}
        return SuccessiveHalvingSearchCV(estimator, space, resource=Answers(), cv=CV, **params)

    search = search_of(refit=False).fit(X, Y)
    assert search.n_resources_ == [5, 10]
    assert search.best_params_["steps"] == 20
    assert search.schedule_.unit.startswith("steps of 0.0")
    assert search.schedule_.notes == (
        "100 samples are cheap.", "10 is a tenth of the samples."
    )  # fmt: skip
    assert search_of(max_resources=8, refit=False).plan(X, Y).notes == ("100 samples are cheap.",)
    with pytest.warns(UserWarning, match=r"^60 steps of param_distributions$"):
        search_of(max_resources=60).plan(X, Y)
    for wrong, message in [
        (search_of(Stepless()), r"^Stepless has no steps; use resource='n_samples'\.$"),
        (search_of(rates=[-1, 1]), "^rate is searched at -1$"),
        (search_of(min_resources=1), "^one step is nothing$"),
        (search_of(max_resources=200), "max_resources=200 is more than .* 100 steps of 0.0"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong.plan(X, Y)
    with pytest.raises(ValueError, match=r"Take smaller steps\.$"):
        search_of(rates=["a", "b"], max_resources=4).fit(X, Y)


@pytest.mark.parametrize(
    "params", [{"budget": 100}, {"min_resources": 0.05, "max_resources": 32}, {"max_resources": 1}]
)
@pytest.mark.filterwarnings("ignore:.*too low to eliminate")
def test_a_first_rung_below_its_lowest_is_refused(params):
    grid = {"max_features": [1, 2, 3], "min_samples_leaf": [1, 2, 3, 4, 5]}
    search = SuccessiveHalvingSearchCV(DecisionTreeClassifier(), grid, resource=Leaves(), **params)
    message = "resource='Leaves' would start with 1 unit, but models need at least 2"
    with pytest.raises(ValueError, match=message):
        search.plan(X, Y)


class Nodes(IntegerParameter):
    lowest = 2

    def __init__(self):
        super().__init__("max_leaf_nodes")


class Epochs(PartialFit):
    lowest = 2


@pytest.mark.parametrize(
    ("resource", "model", "name", "batch_size"),
    [
        (Nodes(), DecisionTreeClassifier(), "max_features", None),
        (Epochs(), SGDClassifier(), "alpha", None),
        (Epochs(), SGDClassifier(), "alpha", 50),
    ],
)
@pytest.mark.filterwarnings("ignore:.*too low to eliminate", "ignore:Including the fixed cost")
def test_a_subclass_of_a_resource_can_have_another_lowest(resource, model, name, batch_size):
    search = SuccessiveHalvingSearchCV(
        model, {name: uniform(0, 1)}, n_candidates=16, resource=resource, max_resources=8,
        min_folds="all", batch_size=batch_size,
    )  # fmt: skip
    assert search.plan(X, Y).n_resources == [2, 4, 8]
    search.set_params(min_resources=1)
    with pytest.raises(ValueError, match=r"would start with 1 .*, but models need at least 2"):
        search.plan(X, Y)


def test_a_checkpoint_belongs_to_one_resource(tmp_path):
    search = SuccessiveHalvingSearchCV(
        Descent(), {"rate": [1e-3, 1e-2]}, resource=Steps(1), max_resources=4, checkpoint=tmp_path
    ).fit(X, Y)
    search.fit(X, Y)
    with pytest.raises(CheckpointError, match="resource"):
        search.set_params(resource=Steps(2)).fit(X, Y)


class MoreTestSamples(PartialFit):
    """Scores on more of the test samples in later rungs; all are trained on as many."""

    def view(self, fold, target):
        return replace(fold, test=fold.test[: 5 * target])


def test_preprocessed_samples_are_those_of_the_rung():
    def scores(estimator, prefix):
        search = SuccessiveHalvingSearchCV(
            estimator, {f"{prefix}alpha": [1e-4, 1e-2, 1e-1, 1.0]}, resource=MoreTestSamples(),
            min_resources=1, max_resources=8, min_folds="all", refit=False, cv=CV,
        )  # fmt: skip
        return search.fit(X, Y).all_cv_results_["mean_test_score"].tolist()

    model = SGDClassifier(random_state=0)
    pipeline = make_pipeline(FunctionTransformer(), model)
    assert scores(pipeline, "sgdclassifier__") == scores(model, "")


class Balanced(SampleCount):
    """Has as many samples of each class."""

    def view(self, fold, target):
        labels = np.asarray(fold.y)[fold.train]
        by_class = [fold.train[labels == label][: target // 2] for label in np.unique(labels)]
        return replace(fold, train=np.sort(np.concatenate(by_class)))


def test_a_view_can_depend_on_the_targets():
    X, y = np.arange(80.0).reshape(-1, 1), np.repeat([0, 1], [60, 20])
    model = DecisionTreeClassifier(max_depth=1)
    check_resource(Balanced(), model, X, y, units=[8, 16, 32])
    search = SuccessiveHalvingSearchCV(
        model, {"max_depth": [1, 2, 3, 4]}, resource=Balanced(), min_resources=8,
        max_resources=16, cv=KFold(2, shuffle=True, random_state=0), random_state=0,
    ).fit(X, y)  # fmt: skip
    assert search.n_resources_ == [8, 16]
    assert search.score(X, y) > 0.9
