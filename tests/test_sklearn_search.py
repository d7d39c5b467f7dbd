"""scikit-learn's own tests of its searches, with ours in their place: one rung at full resource.

Collected with the newest scikit-learn, whose tests are not those of an older one.
"""

import importlib.util
import sys
from unittest.mock import patch

import numpy as np
import pytest
import sklearn.model_selection

from sklearn_sha import SuccessiveHalvingSearchCV

ITS = "sklearn.model_selection.tests.test_search"
ONE_RUNG = {"resource": "n_samples", "min_resources": 1.0}


# Tests that cannot apply, and why each.
NOT_APPLICABLE = {
    "test_custom_run_search": "asks BaseSearchCV for every attribute of ours, which has more",
    "test_search_callbacks_with_partial_fit_failures": "counts tasks, and ours has one per rung",
}


class HalvingInGridsPlace(SuccessiveHalvingSearchCV):
    """GridSearchCV's parameters, and a schedule of one rung."""

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        error_score=np.nan,
        return_train_score=False,
    ):
        super().__init__(
            estimator,
            param_grid=param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
            **ONE_RUNG,
        )


class HalvingInRandomsPlace(SuccessiveHalvingSearchCV):
    """RandomizedSearchCV's parameters, and a schedule of one rung."""

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=10,
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=None,
        error_score=np.nan,
        return_train_score=False,
    ):
        super().__init__(
            estimator,
            param_distributions,
            n_iter=n_iter,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
            **ONE_RUNG,
        )


def its_tests():
    """Load scikit-learn's tests under another name, with ours in the place of its searches."""
    importlib.import_module(ITS)  # what it imports is imported before the searches are replaced
    spec = importlib.util.find_spec(ITS)
    spec = importlib.util.spec_from_file_location("sklearn_search_tests", spec.origin)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # classes of it are pickled
    with patch.multiple(
        sklearn.model_selection,
        GridSearchCV=HalvingInGridsPlace,
        RandomizedSearchCV=HalvingInRandomsPlace,
    ):
        spec.loader.exec_module(module)
    return module


MODULE = its_tests()
TESTS = {name: test for name, test in vars(MODULE).items() if name.startswith("test_")}
globals().update({name: test for name, test in TESTS.items() if name not in NOT_APPLICABLE})

# Its tests assert the warnings that they are about, and give others.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_ours_are_in_the_place_of_scikit_learns_in_its_tests_alone():
    assert MODULE.GridSearchCV is HalvingInGridsPlace
    assert MODULE.RandomizedSearchCV is HalvingInRandomsPlace
    assert sklearn.model_selection.GridSearchCV.__module__.startswith("sklearn.")


@pytest.mark.parametrize("name", NOT_APPLICABLE)
def test_what_does_not_apply_fails(name):
    with pytest.raises((AssertionError, AttributeError)):
        TESTS[name]()
