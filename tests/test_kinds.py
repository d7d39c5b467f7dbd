"""Every kind of resource behaves the same by its name and as an instance, whatever is asked."""

import ast
import warnings

import numpy as np
import pytest
from conftest import ROOT
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from toys import is_measured

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.resources import FoldCount, IntegerParameter, PartialFit, Resource, SampleCount
from sklearn_sha.resources.registry import KINDS, NAMED

X, Y = load_iris(return_X_y=True)
FOREST = ExtraTreesClassifier(n_estimators=12, random_state=0)
SGD = SGDClassifier(max_iter=12, random_state=0)
ALPHAS = {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]}
LEAVES = {"min_samples_leaf": [1, 2, 4, 8, 16, 32]}
BOOST = AdaBoostClassifier(DecisionTreeClassifier(max_depth=6), n_estimators=2, random_state=0)

# An estimator, its space, and the resource by its name and as an instance.
BOTH_WAYS = {
    "partial_fit": (SGD, ALPHAS, {"resource": "partial_fit"}, {"resource": PartialFit()}),
    "partial_fit in batches": (
        SGD, ALPHAS, {"resource": "partial_fit", "batch_size": 32},
        {"resource": PartialFit(batch_size=32)},
    ),
    "partial_fit and batch_size": (
        SGD, ALPHAS, {"resource": "partial_fit", "batch_size": 32},
        {"resource": PartialFit(), "batch_size": 32},
    ),
    "n_samples": (
        SGD, ALPHAS, {"resource": "n_samples", "min_resources": 20},
        {"resource": SampleCount(), "min_resources": 20},
    ),
    "folds": (SGD, ALPHAS, {"resource": "folds"}, {"resource": FoldCount()}),
    "trees": (
        FOREST, LEAVES, {"resource": "n_estimators"}, {"resource": IntegerParameter("n_estimators")}
    ),
    "iterations from scratch": (
        clone(SGD).set_params(tol=None), ALPHAS, {"resource": "max_iter"},
        {"resource": IntegerParameter("max_iter")},
    ),
    "a nested parameter": (
        BOOST, {"learning_rate": [0.01, 0.1, 1.0]}, {"resource": "estimator__max_depth"},
        {"resource": IntegerParameter("estimator__max_depth")},
    ),
}  # fmt: skip


def in_pipeline(model, space, params):
    """The same search with the model as the last step of a pipeline."""
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", model)])
    space = {f"clf__{name}": values for name, values in space.items()}
    resource = params["resource"]
    if isinstance(resource, IntegerParameter):
        resource = IntegerParameter(f"clf__{resource.name}")
    elif resource not in NAMED and isinstance(resource, str):
        resource = f"clf__{resource}"
    return pipeline, space, params | {"resource": resource}


def without_times(results):
    return {
        name: values.tolist() if hasattr(values, "tolist") else values
        for name, values in results.items()
        if not is_measured(name)
    }


def shown_by(search):
    """All that a search shows: plan, results and warnings, or the error."""
    shown = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            shown["plan"] = str(search.plan(X, Y))
            search.fit(X, Y)
        except ValueError as error:
            shown["error"] = str(error)
        else:
            shown |= {
                "cv_results_": repr(without_times(search.cv_results_)),
                "all_cv_results_": repr(without_times(search.all_cv_results_)),
                "rung_history_": repr([without_times(row) for row in search.rung_history_]),
                "n_resources_": search.n_resources_,
                "best_params_": search.best_params_,
                "resource_": search.resource_,
                "schedule_": str(search.schedule_),
                "predictions": search.predict(X).tolist(),
                "best_estimator_": str(search.best_estimator_),
            }
    shown["warnings"] = [(warned.category, str(warned.message)) for warned in caught]
    return shown


@pytest.mark.parametrize(
    ("search_class", "max_resources"),
    [
        (SuccessiveHalvingSearchCV, "auto"),
        pytest.param(SuccessiveHalvingSearchCV, 9, marks=pytest.mark.slow),
        pytest.param(HyperbandSearchCV, 9, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "is_pipeline",
    [
        pytest.param(False, id="alone"),
        pytest.param(True, id="in a pipeline", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("case", BOTH_WAYS)
def test_a_name_and_an_instance_do_the_same(case, is_pipeline, search_class, max_resources):
    model, space, *both = BOTH_WAYS[case]
    if max_resources != "auto" and case == "n_samples":
        max_resources = 60
    shown = []
    for params in both:
        arguments = in_pipeline(model, space, params) if is_pipeline else (model, space, params)
        estimator, own_space, own_params = arguments
        search = search_class(
            clone(estimator), own_space, cv=2 if case != "folds" else 9, random_state=0,
            max_resources=max_resources, **own_params,
        )  # fmt: skip
        shown.append(shown_by(search))
    by_name, as_instance = shown
    assert "error" not in by_name
    assert as_instance == by_name
    prefix = "clf__" if is_pipeline else ""
    own_name = both[0]["resource"]
    if own_name in NAMED:
        assert by_name["resource_"] == own_name
        assert by_name["best_params_"].keys() == {f"{prefix}{name}" for name in space}
    else:
        assert by_name["resource_"] == f"{prefix}{own_name}"
        assert by_name["best_params_"][f"{prefix}{own_name}"] == (by_name["n_resources_"][-1])


def test_every_kind_is_among_them():
    assert {type(instance["resource"]) for *_, instance in BOTH_WAYS.values()} == set(KINDS)


def test_an_instance_keeps_its_own_seed_and_classes():
    def batches(resource, random_state):
        search = SuccessiveHalvingSearchCV(
            SGD, ALPHAS, resource=resource, max_resources=4, cv=2, random_state=random_state
        ).fit(X, Y)
        return search.cv_results_["mean_test_score"].tolist()

    seeded = PartialFit(batch_size=32, seed=0, classes=np.arange(4))
    assert batches(seeded, 1) == batches(seeded, 2)
    unseeded = PartialFit(batch_size=32)
    assert batches(unseeded, 1) != batches(unseeded, 2)
    search = SuccessiveHalvingSearchCV(SGD, ALPHAS, resource=seeded, max_resources=4).fit(X, Y)
    assert search.classes_.tolist() == [0, 1, 2, 3]
    assert (unseeded.seed, unseeded.classes) == (None, None)  # which the search set on a copy


@pytest.mark.parametrize("batch_size", [0, -1, 2.0, "all"])
def test_a_batch_size_is_checked_in_both(batch_size):
    message = f"batch_size={batch_size!r} must be an integer of at least 1, or None"
    with pytest.raises(ValueError, match=message):
        PartialFit(batch_size=batch_size)
    search = SuccessiveHalvingSearchCV(
        SGD, ALPHAS, resource="partial_fit", batch_size=batch_size, max_resources=4
    )
    with pytest.raises(ValueError, match=message):
        search.plan(X, Y)


@pytest.mark.parametrize("seed", [-1, 0.5, "a"])
def test_an_invalid_seed_raises(seed):
    with pytest.raises(ValueError, match=f"seed={seed!r} must be an integer of at least 0"):
        PartialFit(batch_size=8, seed=seed)


FEW = {"n_neighbors": [1, 2, 3, 4, 5, 45]}


@pytest.mark.parametrize(
    ("estimator", "space", "resource", "instance", "params", "message"),
    [
        (GaussianNB(), {"var_smoothing": [1e-9, 1e-6, 1e-3]}, "partial_fit", PartialFit(),
         {"max_resources": 4}, "the same samples at every call"),
        (SGD, ALPHAS | {"tol": [1e-3, 1e-4]}, "partial_fit", PartialFit(), {},
         "searches tol, which partial_fit of SGDClassifier ignores"),
        (SGD, {"class_weight": ["balanced", None]}, "partial_fit", PartialFit(), {},
         "The resource is 'partial_fit'. If the estimator does not support it"),
        (KNeighborsClassifier(), FEW, "n_samples", SampleCount(), {"min_resources": 20},
         "failed when trained on"),
        (FOREST, LEAVES, "n_estimators", IntegerParameter("n_estimators"), {"max_resources": 1},
         "max_resources=1 of resource='n_estimators' is too low"),
    ],
    ids=["counts", "ignored", "failures", "few samples", "little"],
)  # fmt: skip
def test_both_warn_of_the_same(estimator, space, resource, instance, params, message):
    by_name, as_instance = (
        shown_by(
            SuccessiveHalvingSearchCV(
                estimator, space, resource=given, cv=2, random_state=0, **params
            )
        )
        for given in (resource, instance)
    )
    assert any(message in text for _, text in by_name["warnings"])
    assert as_instance == by_name


LOGISTIC = Pipeline([("scale", StandardScaler()), ("clf", LogisticRegression())])


@pytest.mark.parametrize(
    ("estimator", "space", "resource", "instance", "params", "message"),
    [
        (SVC(), {"C": [1, 2]}, "partial_fit", PartialFit(), {}, "which SVC() does not have"),
        (LOGISTIC, {"clf__C": [1, 2]}, "partial_fit", PartialFit(), {},
         "use resource='n_samples' or resource='clf__max_iter'"),
        (SVC(), {"C": [1, 2]}, "trees", IntegerParameter("trees"), {}, "no parameter of SVC"),
        (SVC(), {"C": [1, 2]}, "kernel", IntegerParameter("kernel"), {}, "no integer parameter"),
        (SVC(), {"C": [1, 2]}, "max_iter", IntegerParameter("max_iter"), {}, "less than 1"),
        (FOREST, {"n_estimators": [4, 8]}, "n_estimators", IntegerParameter("n_estimators"), {},
         "is searched too"),
        (FOREST, LEAVES, "n_estimators", IntegerParameter("n_estimators"), {"batch_size": 8},
         "but the resource is 'n_estimators'"),
        (SGD, ALPHAS, "n_samples", SampleCount(), {"batch_size": 8},
         "but the resource is 'n_samples'"),
        (SGD, ALPHAS, "n_samples", SampleCount(), {"max_resources": 1000}, "and cv, 75 training"),
        (SGD, ALPHAS, "n_samples", SampleCount(), {"min_resources": 2}, "too few to contain each"),
    ],
)  # fmt: skip
def test_both_refuse_the_same(estimator, space, resource, instance, params, message):
    by_name, as_instance = (
        shown_by(SuccessiveHalvingSearchCV(estimator, space, resource=given, cv=2, **params))
        for given in (resource, instance)
    )
    assert message in by_name["error"]
    assert as_instance == by_name


@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
@pytest.mark.parametrize("case", ["partial_fit", "n_samples", "trees"])
def test_a_checkpoint_of_one_is_one_of_the_other(case, tmp_path):
    model, space, by_name, as_instance = BOTH_WAYS[case]

    def search_of(params):
        return SuccessiveHalvingSearchCV(
            model, space, cv=2, random_state=0, checkpoint=tmp_path, refit=False, **params
        )

    first = search_of(by_name).fit(X, Y)
    second = search_of(as_instance).fit(X, Y)
    assert repr(second.cv_results_) == repr(first.cv_results_)  # times too: none is trained again


class Leaves(Resource):
    """One unit is a leaf of a tree."""

    name = "leaves"
    unit = "leaves"
    lowest = 2

    def advance(self, model, samples, start, target):
        X, y, params = samples.fitting()
        model.set_params(max_leaf_nodes=target).fit(X, y, **params)


def tree_search(resource, **params):
    tree = DecisionTreeClassifier(random_state=0)
    space = {"max_features": [1, 2, 3, 4]}
    return SuccessiveHalvingSearchCV(tree, space, resource=resource, cv=2, **params)


def test_a_new_kind_is_one_line_of_the_registry(monkeypatch):
    as_instance = shown_by(tree_search(Leaves(), max_resources=8))
    monkeypatch.setitem(NAMED, "leaves", Leaves)
    assert shown_by(tree_search("leaves", max_resources=8)) == as_instance
    assert as_instance["resource_"] == "leaves"
    assert "leaves" in as_instance["plan"]


class Named(Leaves):
    """A resource whose class has no name of its own."""

    def __init__(self, name="of the user's own"):
        self.name = name


class DoubledTrees(IntegerParameter):
    """A subclass of a kind has all that this has."""

    def advance(self, model, samples, start, target):
        super().advance(model, samples, 0, 2 * target)

    def continues(self, model, n_train):
        return False

    def best_params(self, n_resources):
        return {self.name: 2 * n_resources}


class Calls(PartialFit):
    pass


class Passes(PartialFit):
    """Every rung trains a new model."""

    unit = "passes"

    def continues(self, model, n_train):
        return False


def test_a_subclass_of_partial_fit_names_its_unit_and_may_not_continue():
    search = SuccessiveHalvingSearchCV(
        SGD, ALPHAS, cv=2, random_state=0, resource=Passes(), max_resources=8, min_folds="all"
    ).fit(X, Y)
    schedule = search.schedule_
    assert schedule.unit == "passes"
    assert not schedule.continues
    trained = sum(r.n_candidates * r.n_resources for r in schedule.rungs)
    assert search.rung_history_[-1]["total_cost"] == trained


def test_a_subclass_of_a_kind_answers_as_this_does():
    model, space, _ = in_pipeline(FOREST, LEAVES, {"resource": "n_estimators"})
    search = SuccessiveHalvingSearchCV(
        model, space, resource=DoubledTrees("clf__n_estimators"), max_resources=4, cv=2
    ).fit(X, Y)
    assert search.resource_ == "clf__n_estimators"
    assert search.best_params_["clf__n_estimators"] == 8
    assert len(search.best_estimator_[-1].estimators_) == 8
    assert search.schedule_.unit == "trees"
    model, space, _ = in_pipeline(SGD, ALPHAS, {"resource": "partial_fit"})
    search = SuccessiveHalvingSearchCV(model, space, cv=2, random_state=0)
    by_name = clone(search).set_params(resource="partial_fit").fit(X, Y)
    by_subclass = clone(search).set_params(resource=Calls()).fit(X, Y)
    assert by_subclass.resource_ == "Calls"
    np.testing.assert_array_equal(by_subclass.predict(X), by_name.predict(X))
    assert str(by_subclass.schedule_) == str(by_name.schedule_)


@pytest.mark.parametrize(
    ("resource", "name"), [(Leaves(), "leaves"), (Named("mine"), "mine"), (Calls(), "Calls")]
)
def test_a_resource_has_the_name_that_it_sets_or_that_of_its_class(resource, name):
    assert resource.name == name


PACKAGE = ROOT / "sklearn_sha"
ELSEWHERE = [path for path in PACKAGE.rglob("*.py") if path.parent.name != "resources"]


def kinds_told_apart(path):
    """Lines in which a file compares with the name of a kind, or checks a resource's type."""
    classes = {kind.__name__ for kind in KINDS} | {"Resource"}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
            if any(isinstance(p, ast.Constant) and p.value in NAMED for p in parts):
                yield node.lineno
            if any(isinstance(p, ast.Name) and p.id in classes for p in parts):
                yield node.lineno
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            if names & classes:
                yield node.lineno


@pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_kinds_are_told_apart_by_themselves_only(path):
    assert not list(kinds_told_apart(path)), "ask the resource instead"


@pytest.mark.parametrize(
    "code",
    ["kind == 'partial_fit'", "'n_samples' != kind", "kind in ('x', y) or type(r) is SampleCount",
     "isinstance(r, PartialFit | Other)", "isinstance(r, Resource)"],
)  # fmt: skip
def test_what_tells_kinds_apart_is_found(code, tmp_path):
    (tmp_path / "file.py").write_text(code)
    assert list(kinds_told_apart(tmp_path / "file.py"))
