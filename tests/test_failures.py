"""Failures cost their own candidates only, and are reported in few lines."""

import re
import warnings

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from toys import CALLS, Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._results.few_samples import encoder_remedy
from sklearn_sha.bandit import FixedSchedule
from sklearn_sha.inspection import trust_report

X = np.zeros((12, 1))
ONE_RUNG = {"resource": "n_samples", "min_resources": 1.0}


def fails_always(model, X, y=None):
    raise ValueError("no score today")


class FailsFrom(Curve):
    """Fails from so many units on; `fails` has more that fail."""

    def __init__(self, limit=1.0, speed=1.0, fails=False, max_epochs=1, growth=0, until=99):
        super().__init__(limit, speed, fails, max_epochs, growth)
        self.until = until

    def partial_fit(self, X, y=None):
        if getattr(self, "units_", 0) >= self.until:
            raise RuntimeError(f"no more than {self.until} units")
        return super().partial_fit(X, y)


def search_of(space, cls=SuccessiveHalvingSearchCV, **params):
    params = {
        "resource": "partial_fit",
        "max_resources": 9,
        "cv": KFold(2),
        "refit": False,
    } | params
    return cls(FailsFrom(), space, **params)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("cls", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize("seed", range(20))
def test_with_half_of_the_candidates_failing_something_is_found(cls, seed):
    n = {"n_candidates": 9} if cls is SuccessiveHalvingSearchCV else {}
    space = {"limit": uniform(0, 1), "fails": ["fit", False]}
    search = search_of(space, cls, factor=3, random_state=seed, refit=True, **n)
    search.fit(X)
    assert search.best_params_["fails"] is False
    rows = search.all_cv_results_
    at_full = rows["mean_test_score"][rows["n_resources"] == search.best_n_resources_]
    assert search.best_score_ == np.nanmax(at_full)


def test_a_rung_that_fails_ends_its_bracket_only():
    """Of Hyperband's brackets of 9, 5 and 3 candidates the first fails in its second rung."""
    limits = {"limit": uniform(0, 1)}
    reference = search_of(limits, HyperbandSearchCV, random_state=0).fit(X)
    widest = {reference.all_cv_results_["params"][k]["limit"] for k in range(9)}

    class First(FailsFrom):
        def partial_fit(self, X, y=None):
            self.until = 1 if self.limit in widest else 99
            return super().partial_fit(X, y)

    search = search_of(limits, HyperbandSearchCV, random_state=0)
    CALLS.clear()
    with pytest.warns(FitFailedWarning, match="6 fits failed out of a total of 42"):
        search.set_params(estimator=First()).fit(X)
    mine = [(row["bracket"], row["iter"], row["promoted"]) for row in search.rung_history_]
    theirs = [(row["bracket"], row["iter"], row["promoted"]) for row in reference.rung_history_]
    assert mine == [
        (bracket, rung, [] if (bracket, rung) == (0, 1) else promoted)
        for bracket, rung, promoted in theirs
        if (bracket, rung) != (0, 2)
    ]
    rows = search.cv_results_rows_
    # Only of the brackets that came to their end.
    assert search.all_cv_results_["bracket"][rows].tolist() == [1] + [2] * 3
    assert search.all_cv_results_["n_resources"][rows].tolist() == [9] * 4
    assert search.best_n_resources_ == 9


def test_where_scores_are_nan_later_more_folds_are_not_recommended():
    y = np.zeros(2000, dtype=int)
    y[:3] = 1
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X[y == 1] += 3
    search = SuccessiveHalvingSearchCV(
        LogisticRegression(), {"C": np.logspace(-3, 2, 12)}, scoring="roc_auc", random_state=2
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    (message,) = (str(one.message) for one in caught if "last rung" in str(one.message))
    assert search.n_resources_ == [1, 2]
    assert search.failures_ == []
    assert message.endswith("scored on 1 of 5 folds. Choose another metric.")


@pytest.mark.parametrize("error_score", [np.nan, 9.0])
def test_where_all_fail_later_the_rung_before_decides(error_score):
    space = {"limit": [0.1, 0.4, 0.3, 0.2], "until": [6]}
    search = search_of(space, min_resources=2, max_resources=8, error_score=error_score)
    with (
        pytest.warns(FitFailedWarning, match="2 fits failed out of a total of 14"),
        pytest.warns(UserWarning, match="earlier rung is .* 4 epochs on 2 of 2 .* See failures_.$"),
    ):
        search.fit(X)
    assert search.n_resources_ == [2, 4, 8]
    assert search.rung_history_[2]["promoted"] == []
    assert (search.best_candidate_, search.best_n_resources_) == (1, 4)
    assert search.best_params_ == {"limit": 0.4, "until": 6}
    assert not search.interrupted_


def test_a_fold_that_fails_is_enough_for_a_score_that_is_missing():
    class OneFold(FailsFrom):
        def partial_fit(self, X, y=None):
            if len(X) == 5 and getattr(self, "units_", 0) >= 4:
                raise RuntimeError("not this fold")
            return super().partial_fit(X, y)

    search = search_of({"limit": [0.1, 0.4]}, min_resources=4, max_resources=8)
    search.set_params(estimator=OneFold())
    with (
        pytest.warns(FitFailedWarning, match="1 fits failed out of a total of 6"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(np.zeros((11, 1)))
    assert (search.best_candidate_, search.best_n_resources_) == (1, 4)


@pytest.mark.parametrize("scoring", [None, lambda model, X, y=None: {"a": model.score(X), "b": 1}])
def test_a_run_of_the_doubling_trick_that_fails_is_followed_by_the_next(scoring):
    """Also where the names of the metrics are not known before something succeeds."""

    class NeedsSamples(Curve):
        def fit(self, X, y=None):
            if len(X) < 8:
                raise ValueError(f"{len(X)} samples are too few")
            return super().fit(X, y)

    space = {"limit": [0.1, 0.4, 0.3, 0.2]}
    search = search_of(
        space, resource="n_samples", max_resources=32, min_resources=2, budget="double",
        patience=1, scoring=scoring, refit="a" if scoring else True,
    ).set_params(estimator=NeedsSamples())  # fmt: skip
    with (
        pytest.warns(FitFailedWarning, match="ValueError: 2 samples are too few"),
        pytest.warns(UserWarning, match="trained on 2, 4 samples, fewer than the 32 samples"),
    ):
        search.fit(np.zeros((64, 1)))
    rows = search.all_cv_results_
    units = [rows["n_resources"][rows["bracket"] == run].tolist() for run in range(4)]
    assert units == [[2] * 4, [4] * 4, [8] * 4 + [16] * 2, [16] * 4 + [32] * 2]
    assert rows["cached"].sum() == 2
    promoted = [row["promoted"] for row in search.rung_history_]
    assert promoted[:2] == [[], []]  # the rungs without a score
    assert [len(numbers) for numbers in promoted[2:]] == [2, 1, 2, 1]
    metric = "a" if scoring else "score"
    expected = [np.nan, np.nan, 0.4 * 8 / 9, 0.4 * 16 / 17, 0.4 * 16 / 17, 0.4 * 32 / 33]
    assert rows[f"mean_test_{metric}"][rows["candidate"] == 1].tolist() == pytest.approx(
        expected, nan_ok=True
    )
    assert search.best_candidate_ == 1
    assert search.best_score_ == pytest.approx(expected[-1])


def test_only_where_nothing_succeeded_it_raises_and_says_what_failed():
    search = search_of({"limit": uniform(0, 1), "fails": ["fit"]}, HyperbandSearchCV)
    with pytest.raises(ValueError, match=r"All the 34 fits failed\.\nIt is very likely"):
        search.fit(X)
    assert len(search.failures_) == 34
    assert not hasattr(search, "best_params_")


def test_failures_are_told_in_grid_searchs_words():
    space = {"limit": [0.1, 0.4], "fails": [False, "fit"]}
    with pytest.warns(UserWarning, match="non-finite"), pytest.warns(FitFailedWarning) as told:
        GridSearchCV(Curve(), space, cv=KFold(2)).fit(X)
    theirs = next(w for w in told if w.category is FitFailedWarning)
    with pytest.warns(FitFailedWarning) as told:
        SuccessiveHalvingSearchCV(Curve(), space, cv=KFold(2), **ONE_RUNG).fit(X)
    (ours,) = told
    shared = str(theirs.message).partition("Traceback")[0]
    assert "4 fits failed with the following error:" in shared
    assert str(ours.message).startswith(shared)


def test_each_failure_is_an_entry():
    space = {"limit": [0.1, 0.4, 0.3], "fails": [False, "fit", "score"]}
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="Scoring failed"):
        search = search_of(space).fit(X)
    failures = search.failures_
    assert list(failures[0]) == [
        "candidate", "params", "split", "rung", "n_resources", "failed", "error",
    ]  # fmt: skip
    for failure in failures:
        assert failure["params"] == search.all_cv_results_["params"][failure["candidate"]]
        assert failure["failed"] == failure["params"]["fails"]
        assert f"RuntimeError: no {failure['failed']} today" in failure["error"]
        row = search.rung_history_[failure["rung"]]
        assert failure["n_resources"] == row["n_resources"]
        assert failure["candidate"] in row["candidates"]
    keys = [(f["candidate"], f["split"], f["rung"]) for f in failures]
    assert len(set(keys)) == len(keys)
    assert {(c, s) for c, s, rung in keys if rung == 0} == {
        (c, s) for c in range(3, 9) for s in (0, 1)
    }


def test_failures_that_differ_in_numbers_only_are_one():
    class Numbered(FailsFrom):
        def partial_fit(self, X, y=None):
            if self.fails:
                raise ValueError(f"expected {self.limit} <= 7e-05, got {self.speed}; {self.fails}")
            return super().partial_fit(X, y)

    space = [
        {"limit": [k / 40, float(k)], "fails": ["often"]} for k in range(1, 16)
    ] + [{"fails": ["a", "b", "c", "d"]}, {"limit": [0.5]}]  # fmt: skip
    search = search_of(space, min_resources=1.0)
    with pytest.warns(FitFailedWarning) as told:
        search.set_params(estimator=Numbered()).fit(X)
    (warning,) = told
    message = str(warning.message)
    assert len(search.failures_) == 2 * 34
    assert message.count("Traceback") == 3
    assert re.findall(r"\d+ fits failed.*", message) == [
        "68 fits failed out of a total of 70.",
        "60 fits failed with the following error:",
        "2 fits failed with the following error:",
        "2 fits failed with the following error:",
        "4 fits failed with 2 other errors. failures_ lists all of them.",
    ]
    assert "Candidates 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 more, in rung 0" in message


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_preprocessing_that_fails_on_test_samples_is_the_same_error_for_all_candidates(n_jobs):
    """One category is in a single fold, so that its encoder does not know it."""
    categories = np.array([["a"], ["b"]] * 15 + [["rare"]] * 2)
    model = make_pipeline(OneHotEncoder(), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 2, 3, 4, 5, 6]}
    search = SuccessiveHalvingSearchCV(model, grid, cv=KFold(2), n_jobs=n_jobs, **ONE_RUNG)
    with pytest.warns(UserWarning, match="6 scores failed with the following error") as caught:
        search.fit(categories, np.arange(32) % 2)
    assert "Found unknown categories" in str(caught[0].message)
    assert "other error" not in str(caught[0].message)
    errors = [failure["error"] for failure in search.failures_]
    assert len(errors) == 6
    assert len({*errors}) == 1


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:.*scores failed", "ignore:One or more")
def test_preprocessing_that_fails_on_test_samples_costs_all_of_several_metrics():
    categories, y = np.array([["a"], ["b"]] * 15 + [["rare"]] * 2), np.arange(32) % 2
    model = make_pipeline(OneHotEncoder(), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": [1, 2, 3]}
    settings = {
        "scoring": ["accuracy", "f1_macro"], "refit": "accuracy", "cv": KFold(2),
        "return_train_score": True,
    }  # fmt: skip
    ours = SuccessiveHalvingSearchCV(model, grid, **settings, **ONE_RUNG)
    theirs = GridSearchCV(model, grid, **settings).fit(categories, y)
    ours.fit(categories, y)
    for name, column in theirs.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(ours.cv_results_[name], column)
    with pytest.raises(ValueError, match="Found unknown categories"):
        ours.set_params(error_score="raise").fit(categories, y)


@pytest.mark.parametrize(
    ("first_rung", "remedy"),
    [
        ({"min_resources": 50}, "raise min_resources, for example min_resources=100."),
        (
            {"algorithm": FixedSchedule([4, 2, 1], [50, 100, 200])},
            "pass an algorithm that begins with 100 training samples.",
        ),
    ],
)
def test_too_few_samples_in_an_early_rung_are_told_with_what_to_do(first_rung, remedy):
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5, 60, 70]}, resource="n_samples",
        max_resources=200, cv=2, **first_rung,
    )  # fmt: skip
    with (
        pytest.warns(UserWarning, match="Scoring failed"),
        pytest.warns(UserWarning, match="when trained on") as told,
    ):
        search.fit(X, y)
    assert search.n_resources_ == [50, 100, 200]
    (message,) = (str(w.message) for w in told if "when trained on" in str(w.message))
    assert message.startswith(
        "Candidates 2, 3 failed when trained on 50 samples, fewer than the 899 samples of the "
        "training fold."
    )
    assert message.endswith(remedy)


@pytest.mark.parametrize(("n_samples", "is_few"), [(50, True), (1.0, False)])
def test_an_error_that_is_raised_with_few_samples_says_so(n_samples, is_few):
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 5, 60, 70000]}, resource="n_samples", cv=2,
        min_resources=n_samples, error_score="raise",
    )  # fmt: skip
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit") as raised:
        search.fit(X, y)
    (note,) = raised.value.__notes__
    few = " The rung has 50 of the 899 samples of the training fold. If the candidate requires more"
    assert note.partition(", in rung 0.")[2].startswith(few) == is_few
    assert note.endswith("raise min_resources, or budget if it is set." if is_few else "in rung 0.")


def test_a_class_with_too_few_samples_for_a_nested_cross_validation_is_about_samples():
    X, y = np.random.default_rng(0).normal(size=(1000, 2)), (np.arange(1000) % 100 == 0) * 1
    search = SuccessiveHalvingSearchCV(
        CalibratedClassifierCV(LogisticRegression(), cv=5), {"estimator__C": [1, 2, 3, 4]},
        resource="n_samples", min_resources=200, min_folds="all",
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"(?s)All the 20 fits failed.*raise min_resources, for"):
        search.fit(X, y)


def test_an_invalid_parameter_does_not_recommend_more_samples():
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [-1, 1]}, min_resources=200, cv=2)
    with pytest.warns(FitFailedWarning, match="must be a float in the range") as told:
        search.fit(X, y)
    assert len(search.n_resources_) > 1
    assert not [w for w in told if "when trained on" in str(w.message)]


def test_what_fails_in_the_last_rung_too_does_not_recommend_more_samples():
    space = {"limit": [0.1, 0.4], "fails": [False, "fit"]}
    with pytest.warns(FitFailedWarning) as told:
        SuccessiveHalvingSearchCV(Curve(), space, cv=KFold(2), **ONE_RUNG).fit(X)
    assert not [w for w in told if "when trained on" in str(w.message)]


def test_a_search_that_was_interrupted_beside_a_failed_bracket_resumes_to_the_same():
    space = {"limit": uniform(0, 1), "until": [2, 99]}
    with pytest.warns(FitFailedWarning):
        whole = search_of(space, HyperbandSearchCV, random_state=0).fit(X)
    for at in range(5, 40, 7):
        left = [at]

        def scoring(model, X, y=None, left=left):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return model.score(X)

        search = search_of(space, HyperbandSearchCV, random_state=0, scoring=scoring)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X)
        with pytest.warns(FitFailedWarning):
            search.resume(X)
        for name in ("candidate", "n_resources", "mean_test_score"):
            np.testing.assert_array_equal(search.all_cv_results_[name], whole.all_cv_results_[name])
        assert [row["promoted"] for row in search.rung_history_] == [
            row["promoted"] for row in whole.rung_history_
        ]
        assert search.best_params_ == whole.best_params_


def test_a_last_run_that_fails_promotes_no_candidate_of_the_run_before():
    class CrossingCurves(Curve):
        def partial_fit(self, X, y=None):
            if getattr(self, "units_", 0) == 4:
                raise MemoryError("not this one")
            return super().partial_fit(X, y)

        def score(self, X, y=None):
            # At 4 units, the candidates that had been the worst are the best.
            return self.limit if self.units_ < 4 else 1 - self.limit

    search = search_of({"limit": [0.1, 0.2, 0.8, 0.9]}, max_resources=8, budget="double")
    search.set_params(estimator=CrossingCurves())
    with (
        pytest.warns(FitFailedWarning),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(X)
    *_, before, last = search.rung_history_
    assert (last["n_resources"], last["promoted"]) == (8, [])
    assert before["promoted"] == last["candidates"] == [0, 1]
    # That of the last completed run.
    assert (search.best_candidate_, search.best_n_resources_) == (2, 4)


def test_the_error_of_a_search_whose_fits_all_fail_on_few_samples_names_what_to_raise():
    class NeedsMore(Curve):
        def fit(self, X, y=None):
            raise ValueError(f"{len(X)} samples are too few")

    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, resource="n_samples", max_resources=32,
                       min_resources=8).set_params(estimator=NeedsMore())  # fmt: skip
    with pytest.raises(ValueError, match=r"(?s)All the 8 fits failed.*raise min_resources, for"):
        search.fit(np.zeros((64, 1)))


@pytest.mark.parametrize("how", ["nan", "error", "one fold of each"])
def test_a_first_rung_without_scores_eliminates_by_no_order(how):
    """A grid search would find the last candidate. The first ones are not better."""

    def scoring(model, X, y=None):
        if model.units_ < 4 and (how != "one fold of each" or X[0, 0] < 8):
            if how == "nan":
                return np.nan
            raise ValueError("Found unknown categories ['rare']")
        return model.score(X, y)

    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, scoring=scoring, min_resources=2,
                       max_resources=8)  # fmt: skip
    message = "No candidate has a score in the first rung, with 2 epochs,"
    with pytest.raises(ValueError, match=message) as raised:
        search.fit(np.arange(16.0)[:, None])
    assert "raise min_resources" in str(raised.value)
    assert ("unknown categories" in str(raised.value)) == (how != "nan")
    assert not hasattr(search, "best_params_")
    assert len(search.all_cv_results_["params"]) == 4
    assert len(search.failures_) == {"nan": 0, "error": 8, "one fold of each": 4}[how]
    search.set_params(min_resources=4).fit(np.arange(16.0)[:, None])
    assert search.best_params_ == {"limit": 0.4}


def test_without_scores_the_budget_is_named_if_it_sets_the_first_rung():
    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, budget=64, max_resources="auto",
                       scoring=lambda *args: np.nan)  # fmt: skip
    with pytest.raises(ValueError, match=r"If scores require more, raise budget\."):
        search.fit(X)


def test_runs_with_more_units_can_have_scores():
    def scoring(model, X, y=None):
        if model.units_ < 4:
            raise ValueError("more units, please")
        return model.score(X, y)

    search = search_of(
        {"limit": [0.1, 0.2, 0.3, 0.4]}, scoring=scoring, budget="double", patience=None
    )
    with pytest.warns(UserWarning, match="Scoring failed"):
        search.fit(X)
    assert search.best_params_ == {"limit": 0.4}


def test_brackets_that_have_scores_are_enough():
    def scoring(model, X, y=None):
        return model.score(X, y) if model.units_ >= 3 else np.nan

    search = search_of({"limit": uniform(0, 1)}, HyperbandSearchCV, scoring=scoring, random_state=0)
    with pytest.warns(UserWarning, match="non-finite"):
        search.fit(X)
    first = [row for row in search.rung_history_ if row["n_resources"] < 3]
    assert first
    assert all(row["promoted"] == [] for row in first)
    assert np.isfinite(search.best_score_)


def test_a_warning_about_many_scores_names_ten_candidates():
    def scoring(model, X, y=None):
        return np.nan if model.limit > 0.5 else model.score(X, y)

    search = search_of({"limit": np.linspace(0, 1, 40).tolist()}, scoring=scoring, max_resources=64)
    listed = ", ".join(map(str, range(20, 30)))
    with pytest.warns(UserWarning, match=f"non-finite: mean_test_score of candidates {listed} and"):
        search.fit(X)


def test_later_rungs_without_scores_leave_the_best_of_the_rung_before():
    def scoring(model, X, y=None):
        return model.score(X, y) if model.units_ < 4 else np.nan

    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, scoring=scoring, min_resources=2,
                       max_resources=8)  # fmt: skip
    with (
        pytest.warns(UserWarning, match="non-finite"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(X)
    assert search.best_params_ == {"limit": 0.4}


def test_a_score_of_another_metric_does_not_decide_which_rung_has_the_best():
    def fails_later(model, X, y=None):
        return model.score(X, y) if model.units_ < 4 else np.nan

    scoring = {"fails": fails_later, "other": lambda model, X, y=None: -model.limit}
    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, scoring=scoring, refit="fails",
                       min_resources=2, max_resources=8)  # fmt: skip
    with (
        pytest.warns(UserWarning, match="non-finite"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(X)
    assert (search.best_params_, search.best_n_resources_) == ({"limit": 0.4}, 2)


@pytest.mark.parametrize("rungs", [{"min_resources": 1.0}, {"min_resources": 50}])
def test_an_error_of_no_single_metric_is_raised_as_in_grid_search(rungs):
    """Both metrics need predictions of one kind or another, and SVC has no probabilities."""
    X, y = (part[:200] for part in load_digits(return_X_y=True))
    params = {"scoring": ["accuracy", "roc_auc_ovr"], "refit": "accuracy", "cv": KFold(2)}
    for search in (
        GridSearchCV(SVC(), {"C": [1, 2, 3, 4]}, **params),
        SuccessiveHalvingSearchCV(SVC(), {"C": [1, 2, 3, 4]}, **rungs, **params),
    ):
        with pytest.raises(AttributeError, match="attributes: predict_proba"):
            search.fit(X, y)


def test_encoders_that_lack_categories_are_told_of():
    """As OneHotEncoder() by default."""
    rng = np.random.default_rng(0)
    city = rng.choice(list("abc"), 2000).astype(object)
    city[rng.choice(2000, 4, replace=False)] = "village"
    model = make_pipeline(OneHotEncoder(), KNeighborsClassifier())
    grid = {"kneighborsclassifier__n_neighbors": range(1, 17)}
    search = SuccessiveHalvingSearchCV(model, grid, min_resources=50, min_folds="all", cv=KFold(2))
    with pytest.raises(ValueError, match=r"unknown categories \['village'\](?s:.*)handle_unknown"):
        search.fit(city[:, None], city == "a")


def test_one_encoder_among_other_failures_is_told_of_too():
    errors = "ValueError: Found unknown categories", "ValueError: Expected n_neighbors <= 3"
    assert "handle_unknown" in encoder_remedy([{"error": error} for error in errors])
    assert encoder_remedy([{"error": errors[1]}]) == ""


def test_an_impossible_candidate_does_not_hide_those_that_require_more_samples():
    """Candidate 0 fails with all samples too, and 1 no longer does."""
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1500, 700, 800, 5, 900]}, resource="n_samples",
        cv=3, min_resources=400, min_folds="all",
    )  # fmt: skip
    with (
        pytest.warns(UserWarning, match="Scoring failed"),
        pytest.warns(UserWarning, match="Candidates 1, 2, 4 failed when trained on 400 samples"),
    ):
        search.fit(X, y)
    assert [row["candidates"] for row in search.rung_history_] == [[0, 1, 2, 3, 4], [0, 1, 3]]


@pytest.mark.parametrize(("n_samples", "n_told"), [(50, 1), (200, 0)])
def test_more_components_than_features_are_not_about_samples(n_samples, n_told):
    """There are 64 features."""
    X, y = load_digits(return_X_y=True)
    model = make_pipeline(PCA(), KNeighborsClassifier())
    grid = {"pca__n_components": [100, 60, 20, 10], "kneighborsclassifier__n_neighbors": [1, 5]}
    search = SuccessiveHalvingSearchCV(
        model, grid, resource="n_samples", cv=3, min_resources=n_samples, min_folds="all"
    )
    with pytest.warns() as caught:
        search.fit(X, y)
    fits, *others = [str(warning.message) for warning in caught]
    assert "n_components=100 must be between 0 and min(n_samples, n_features)=" in fits
    assert len(others) == n_told
    assert all("Candidates 0, 1, 4, 5 failed when trained on 50 samples" in one for one in others)


@pytest.mark.parametrize("first", ["auto", 200])
def test_more_of_a_full_resource_is_not_recommended(first):
    """An automatic first rung has it, on two of the folds."""
    rows, labels = np.zeros((500, 1)), np.arange(500) % 2
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7]}, resource="n_samples",
        min_resources=first, scoring=fails_always,
    )  # fmt: skip
    plan = search.plan(rows, labels)
    assert [rung.n_resources for rung in plan.rungs] == [400 if first == "auto" else first, 400]
    with pytest.raises(ValueError, match="No candidate has a score in the first rung") as raised:
        search.fit(rows, labels)
    assert ("Models have the full resource" in str(raised.value)) == (first == "auto")
    assert ("raise min_resources" in str(raised.value)) == (first == 200)


def test_scores_that_fail_with_all_samples_are_no_matter_of_samples():
    def fails(model, X, y=None):
        if model.limit == 0.4:
            return 0.5
        raise ValueError(f"not with {len(X)} samples")

    # Of the two candidates in the last rung, one still fails.
    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, resource="n_samples", min_resources=16,
                       max_resources=32, scoring=fails)  # fmt: skip
    with pytest.warns(UserWarning, match="Scoring failed") as warned:
        search.fit(np.zeros((64, 1)))
    assert not [w for w in warned if "when trained on" in str(w.message)]


class TwoArgumentsError(ValueError):
    """Its pickle cannot be loaded, since its constructor needs two arguments."""

    def __init__(self, what, where):
        super().__init__(f"{what} at {where}")


class Picky(TransformerMixin, BaseEstimator):
    """Does not transform samples above a value."""

    def fit(self, X, y=None):
        self.highest_ = X.max()
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).highest_ * X

    def transform(self, X):
        if X.max() >= 29:
            raise TwoArgumentsError("unknown value", X.max())
        return X


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_that_cannot_be_pickled_fails_the_scores_only(n_jobs):
    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 2
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    search = SuccessiveHalvingSearchCV(
        make_pipeline(Picky(), KNeighborsClassifier()), grid, cv=KFold(3), n_jobs=n_jobs,
        return_train_score=True, error_score=-1.0, **ONE_RUNG,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="TwoArgumentsError: unknown value at 29"):
        search.fit(X, y)
    results = search.cv_results_
    # The last sample is in the last test fold, and in the training samples of the others.
    np.testing.assert_array_equal(results["split2_test_score"], -1)
    assert (results["split0_test_score"] >= 0).all()
    np.testing.assert_array_equal(results["split0_train_score"], -1)
    assert (results["split2_train_score"] >= 0).all()
    assert {failure["failed"] for failure in search.failures_} == {"score"}


@pytest.mark.parametrize("kind", ["NaN", "error"])
def test_a_last_rung_without_a_score_does_not_select(kind):
    """Its fits succeed; numbers of the rung before are better than NaN."""

    def score(model, X, y=None):
        if model.units_ < 8:
            return model.limit
        if kind == "error":
            raise ValueError("no score")
        return float("nan")

    search = search_of({"limit": [0.1, 0.9, 0.5, 0.2]}, scoring=score, max_resources=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.set_params(estimator=Curve()).fit(X)
    assert search.rung_history_[-1]["n_resources"] == 8
    assert search.best_params_["limit"] == 0.9
    assert (search.best_score_, search.best_n_resources_) == (0.9, 4)
    report = trust_report(search)
    assert np.isnan(report.probability)
    assert report.advice.startswith("No candidate of the last rung has a score")


def test_errors_that_are_not_about_samples_do_not_ask_for_more():
    class Confused(Curve):
        def fit(self, X, y=None):
            raise ValueError("Unknown label type: continuous")

    search = search_of({"limit": [0.1, 0.2, 0.3, 0.4]}, resource="n_samples", max_resources=32,
                       min_resources=8).set_params(estimator=Confused())  # fmt: skip
    with pytest.raises(ValueError, match=r"All the 8 fits failed") as caught:
        search.fit(np.zeros((64, 1)))
    assert "min_resources" not in str(caught.value)


def test_a_missing_method_does_not_recommend_more_samples():
    """Others have scores."""
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"loss": ["hinge", "log_loss"], "alpha": [1e-4, 1e-2]},
        scoring="neg_log_loss", resource="n_samples", cv=3, random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    messages = " ".join(str(warning.message) for warning in caught)
    assert "predict_proba" in messages
    assert "min_resources" not in messages


@pytest.mark.filterwarnings("ignore:(Scoring failed|.*non-finite)")
def test_a_trust_report_is_not_about_candidates_that_failed():
    X, y = load_digits(return_X_y=True)
    search = SuccessiveHalvingSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 60, 70]}, resource="n_samples",
        min_resources=50, cv=3, refit=False,
    )  # fmt: skip
    with pytest.warns(UserWarning, match="Candidates 3, 4 failed when trained on 50 samples"):
        search.fit(X[:600], y[:600])
    report = trust_report(search)
    assert report.unscored == (3, 4)
    about = (
        "2 candidates were eliminated without a finite score (see failures_), and this report "
        "leaves "
    )
    assert report.advice.startswith(about)
