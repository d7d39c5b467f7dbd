"""scikit-learn's own checks, with no more exemptions than GridSearchCV has."""

import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_sha import SuccessiveHalvingSearchCV


def expected_failures(search):
    """GridSearchCV is exempt from this check too, and from check_requires_y_none."""
    if "ridge" in str(search.estimator).lower():
        return {"check_supervised_y_2d": "Ridge takes a column vector without a warning"}
    return {}


def halving(estimator, grid, **params):
    params = {"cv": 2, "error_score": "raise", "random_state": 0} | params
    return SuccessiveHalvingSearchCV(estimator, grid, **params)


SEARCHES = [
    halving(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {"sgdclassifier__alpha": [1e-4, 1e-2]},
        resource="partial_fit",
        max_resources=8,
    ),
    halving(Ridge(), {"alpha": [0.1, 1.0]}, resource="n_samples"),
    halving(LogisticRegression(), {"C": [0.1, 1.0]}, resource="n_samples"),
    halving(GaussianNB(), {"var_smoothing": [1e-9, 1e-8]}),
    halving(make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}),
    halving(make_pipeline(PCA(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}),
    halving(
        SGDClassifier(random_state=0),
        {"alpha": [1e-4, 1e-2]},
        resource="partial_fit",
        max_resources=20,
    ),
    halving(
        SGDRegressor(random_state=0),
        {"alpha": [1e-4, 1e-2]},
        resource="partial_fit",
        max_resources=20,
    ),
    halving(
        RandomForestClassifier(n_estimators=10, random_state=0),
        {"max_depth": [1, 3]},
        resource="n_estimators",
    ),
]


# numpy warns when scikit-learn looks at a y with infinities, GaussianNB of weights of 0, and Ridge
# of the solver that it chooses for arrays of other libraries, in GridSearchCV too.
pytestmark = [
    pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:Using Array API dispatch:UserWarning"),
]


@parametrize_with_checks(SEARCHES[:1], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(SEARCHES[1:], expected_failed_checks=expected_failures)
def test_scikit_learn_checks_of_other_estimators(estimator, check):
    check(estimator)
