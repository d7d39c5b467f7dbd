"""Every estimator of scikit-learn that GridSearchCV fits is fitted with the class name replaced."""

import warnings
from unittest import SkipTest

import numpy as np
import pytest
import sklearn
from conftest import slow
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils import all_estimators, get_tags

# What scikit-learn's own tests make of classes that need arguments.
from sklearn.utils._test_common.instance_generator import _construct_instances

from sklearn_sha import SuccessiveHalvingSearchCV

RNG = np.random.default_rng(0)
LABELS = np.tile([0, 1, 2], 20)
X = RNG.random((60, 4)) + LABELS[:, None]
VALUES = X[:, 0] + RNG.random(60)
TEXTS = [f"w{label} w{k % 7} common" for k, label in enumerate(LABELS)]

# Two values of the first of these that an estimator has.
VALUES_OF = {
    "C": [0.1, 1.0],
    "alpha": [0.1, 0.5],
    "max_depth": [1, 3],
    "n_neighbors": [2, 3],
    "n_clusters": [2, 3],
    "n_components": [1, 2],
    "var_smoothing": [1e-9, 1e-3],
    "reg_param": [0.0, 0.1],
    "k": [1, 2],
    "gamma": [0.1, 1.0],
    "tol": [1e-4, 1e-2],
    "random_state": [0, 1],
}


def instances():
    """One instance of every class, or more, by a name of its own."""
    for name, cls in all_estimators():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                for number, estimator in enumerate(_construct_instances(cls)):
                    yield f"{name}-{number}", estimator
            except SkipTest:
                continue


ESTIMATORS = dict(instances())

# What GridSearchCV does not fit either, on the data of `data_of`, and why.
NOT_BY_GRID_SEARCH = {
    "ClassifierChain-0": "accuracy is not defined for several outputs of several classes",
    "DictVectorizer-0": "takes dicts",
    "GridSearchCV-0": "has refit=False, and so no score",
    "GridSearchCV-1": "has refit=False, and so no score",
    "GridSearchCV-2": "has refit=False, and so no score",
    "GridSearchCV-3": "has refit=False, and so no score",
    "IsotonicRegression-0": "predicts NaN outside of the training range",
    "LabelBinarizer-0": "fit takes y alone",
    "LabelEncoder-0": "fit takes y alone",
    "MultiLabelBinarizer-0": "fit takes y alone",
    "SelectFromModel-0": "the estimator inside has to be fitted",
    "SparseCoder-0": "the dictionary is one for three features",
}
if sklearn.__version__.startswith("1.6."):
    of_16 = ("EllipticEnvelope-0", "MultiTaskElasticNet-0", "MultiTaskLasso-0")
    NOT_BY_GRID_SEARCH |= dict.fromkeys(of_16, "a defect of its metadata requests, fixed since")


def grid_of(estimator):
    params = estimator.get_params(deep=False)
    for name, values in VALUES_OF.items():
        if name in params:
            return {name: values}
    for name, value in params.items():
        if isinstance(value, bool):
            return {name: [True, False]}
    # Nothing to vary: the estimator as it is, twice.
    return [{}, {}]


def data_of(estimator):
    tags = get_tags(estimator)
    if tags.input_tags.string and not tags.input_tags.two_d_array:
        return TEXTS, LABELS
    rows = VALUES if tags.input_tags.one_d_array else X
    if tags.input_tags.pairwise:
        rows = X @ X.T
    if not tags.target_tags.single_output or "cross_decomposition" in type(estimator).__module__:
        return rows, np.c_[LABELS, LABELS] if is_classifier(estimator) else np.c_[VALUES, LABELS]
    if is_regressor(estimator):
        return rows, VALUES
    if tags.classifier_tags is not None and not tags.classifier_tags.multi_class:
        return rows, LABELS > 0
    return rows, LABELS


def constant(estimator, X, y=None):
    return 1.0


def fitted(search, name, **params):
    estimator = ESTIMATORS[name]
    if "random_state" in estimator.get_params(deep=False):
        estimator = clone(estimator).set_params(random_state=0)
    scoring = None if hasattr(estimator, "score") else constant
    return search(
        estimator, grid_of(estimator), cv=2, scoring=scoring, error_score="raise", **params
    ).fit(*data_of(estimator))


def every_tenth(names):
    """Names of which every tenth is tested by default."""
    names = sorted(names)
    return [*names[::10], *slow(*(name for k, name in enumerate(names) if k % 10))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", every_tenth(set(ESTIMATORS) - set(NOT_BY_GRID_SEARCH)))
def test_what_a_grid_search_fits_is_fitted(name):
    theirs = fitted(GridSearchCV, name)
    ours = fitted(SuccessiveHalvingSearchCV, name, random_state=0)
    n_train = max(len(train) for train, _ in KFold(2).split(X))
    if (ours.resource_, ours.n_resources_) == ("n_samples", [n_train]):
        scores = ours.cv_results_["mean_test_score"]
        np.testing.assert_array_equal(scores, theirs.cv_results_["mean_test_score"])
    assert type(ours.best_estimator_) is type(theirs.best_estimator_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in NOT_BY_GRID_SEARCH if name in ESTIMATORS])
def test_what_a_grid_search_does_not_fit_is_listed(name):
    with pytest.raises((AttributeError, TypeError, ValueError)):
        fitted(GridSearchCV, name)
