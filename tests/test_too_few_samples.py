"""Candidates that have no score with the samples of a rung are tried with more."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from toys import is_measured

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine.interruption import StoppedError
from sklearn_sha._formatting import text_sentences
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._progress.progress import Progress
from sklearn_sha._search import evaluated_search, too_few_samples
from sklearn_sha.bandit import FixedSchedule, RungLosses
from sklearn_sha.candidates import Sampler
from sklearn_sha.resources import SampleCount
from sklearn_sha.schedules import schedule_from_range

FITS: list[tuple[float, int]] = []
N_TRAIN = 2000
X = np.random.default_rng(0).normal(size=(2 * N_TRAIN, 1))
Y = (X[:, 0] > 0).astype(int)
GRID = {"threshold": np.linspace(-1, 1, 20).tolist()}


class NeedsSamples(ClassifierMixin, BaseEstimator):
    """Predicts by a threshold, and fails with fewer samples than it needs."""

    def __init__(self, threshold=0.0, needs=0, message="too few samples"):
        self.threshold = threshold
        self.needs = needs
        self.message = message

    def fit(self, X, y):
        FITS.append((self.threshold, len(X)))
        if len(X) < self.needs:
            raise ValueError(f"{len(X)} are {self.message}")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > self.threshold).astype(int)


class FromMany(SampleCount):
    """Begins with at least `n` samples."""

    def __init__(self, n):
        self.n = n

    def limits(self, tuned, example, data):
        return replace(super().limits(tuned, example, data), first=self.n)


def search_of(
    needs, cls=SuccessiveHalvingSearchCV, message="too few samples", space=GRID, **params
):
    params = {"resource": "n_samples", "cv": KFold(2), "min_folds": "all"} | params
    FITS.clear()
    return cls(NeedsSamples(needs=needs, message=message), space, **params)


def assert_same_scores(search, other):
    rows, others = search.all_cv_results_, other.all_cv_results_
    for name in {**rows, **others}:
        if not is_measured(name):
            np.testing.assert_array_equal(rows[name], others[name], err_msg=name)


@pytest.mark.parametrize("needs", [201, 300, 500, 501, 1001, 2000])
def test_the_search_is_that_of_a_larger_first_rung(needs):
    first, *larger = search_of(0).plan(X, Y).n_resources
    enough = min(n for n in larger if n >= needs)
    with pytest.warns(UserWarning, match="No candidate has a score with") as caught:
        search = search_of(needs, random_state=0).fit(X, Y)
    (message,) = [str(warning.message) for warning in caught]
    assert f"starts again, with at least {enough} in its first rung" in message
    remedy = 'resource="folds"' if enough == N_TRAIN else f"min_resources={enough}"
    assert f"To start with them, set {remedy}." in message
    assert f"{first} are too few samples" in message
    assert caught[0].filename == __file__
    expected = search_of(needs, random_state=0, resource=FromMany(enough)).fit(X, Y)
    assert_same_scores(search, expected)
    assert search.best_params_ == expected.best_params_
    assert search.failures_ == []
    assert min(search.n_resources_) == enough


@pytest.mark.parametrize("fails", ["fit", "score"])
def test_a_number_as_error_score_is_no_score(fails):
    class FailsToScore(NeedsSamples):
        def fit(self, X, y):
            self.n_samples_ = len(X)
            return super().fit(X, y) if fails == "fit" else self

        def score(self, X, y):
            if self.n_samples_ < self.needs:
                raise ValueError("too few samples")
            return -abs(self.threshold)

    expected = search_of(0, resource=FromMany(400)).set_params(estimator=FailsToScore()).fit(X, Y)
    search = search_of(0, error_score=0).set_params(estimator=FailsToScore(needs=300))
    with pytest.warns(UserWarning, match="starts again, with at least 400"):
        search.fit(X, Y)
    assert_same_scores(search, expected)
    assert search.failures_ == []


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_scores_that_fail_in_each_rung_are_an_error(error_score):
    def fails(model, X, y):
        raise ValueError("not my day")

    with pytest.raises(ValueError, match="No candidate has a score in the first rung"):
        search_of(0, scoring=fails, error_score=error_score).fit(X, Y)


def test_folds_grow_from_a_larger_first_rung():
    with pytest.warns(UserWarning, match="No candidate has a score with"):
        search = search_of(500, min_folds=1).fit(X, Y)
    assert min(search.n_resources_) >= 500
    assert search.rung_history_[0]["n_folds"] == 1
    assert search.failures_ == []


def test_the_schedule_tells_why_it_has_few_rungs():
    search = SuccessiveHalvingSearchCV(NeedsSamples(needs=500), GRID, cv=KFold(2), factor=4)
    with pytest.warns(UserWarning, match="No candidate has a score with"):
        search.fit(X, Y)
    enough = min(search.n_resources_)
    reason = f"at least {enough} training samples, since in a rung with fewer no candidate had a"
    assert reason in " ".join(search.schedule_.notes)


def test_with_all_samples_it_is_the_grid_search():
    search = SuccessiveHalvingSearchCV(NeedsSamples(needs=N_TRAIN), GRID, cv=KFold(2))
    with pytest.warns(UserWarning, match=f"with at least {N_TRAIN} in .*set resource=.folds"):
        search.fit(X, Y)
    theirs = GridSearchCV(NeedsSamples(), GRID, cv=KFold(2)).fit(X, Y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert search.best_params_ == theirs.best_params_


def test_two_candidates_are_trained_to_find_out():
    first, *larger = search_of(0).plan(X, Y).n_resources
    enough = min(n for n in larger if n >= 1000)
    with pytest.warns(UserWarning, match="the search starts again"):
        search = search_of(1000, refit=False).fit(X, Y)
    thresholds = GRID["threshold"]
    tried = [(one, n) for one in (thresholds[0], thresholds[-1]) for n in larger if n < enough]
    before = [fit for fit in FITS if fit[1] < enough]
    assert sorted(before) == sorted(2 * [*((one, first) for one in thresholds), *tried])
    # With enough samples, they are not trained again.
    assert len(FITS) - len(before) == sum(
        len(row["candidates"]) * 2 for row in search.rung_history_
    )


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize("needs", [[1900, 300], [300, 1900], [10**6, 300], [300, 10**6]])
def test_the_order_of_a_grid_does_not_matter(needs):
    """The last candidates fail more often than the first, or the first than the last."""
    first, last = needs
    space = [{"needs": [first], "threshold": GRID["threshold"][:10]}]
    space += [{"needs": [last], "threshold": GRID["threshold"][10:]}]
    search = search_of(0, space=space)
    with pytest.warns(UserWarning, match="starts again, with at least 400"):
        search.fit(X, Y)
    assert min(search.n_resources_) == 400
    theirs = GridSearchCV(search.estimator, space, cv=KFold(2)).fit(X, Y)
    assert search.best_params_ == theirs.best_params_


class Hungry(NeedsSamples):
    """The candidates above 0.5, of which one is the best, need more samples than the others."""

    def fit(self, X, y):
        FITS.append((self.threshold, len(X)))
        if self.threshold > 0.5 and len(X) < self.needs:
            raise ValueError(f"n_components={self.needs} is more than {len(X)}: {self.message}")
        self.classes_ = np.unique(y)
        return self

    def score(self, X, y):
        return -abs(self.threshold - 0.9)


class FailsAboveHalf(Hungry):
    """Those candidates fail with any number of samples."""

    def fit(self, X, y):
        if self.threshold > 0.5:
            raise ValueError(self.message)
        return super().fit(X, y)


NEED_MORE = {15, 16, 17, 18, 19}


def hungry(needs, message="not enough", **params):
    return search_of(0, **params).set_params(estimator=Hungry(needs=needs, message=message))


@pytest.mark.parametrize("needs", [201, 300, 500, 501, 1001, 2000])
@pytest.mark.parametrize(
    "params",
    [{}, {"n_jobs": 2}, {"error_score": -9.0}, {"error_score": 9.0}, {"min_folds": 1}],
)
def test_candidates_that_need_more_samples_wait_for_them(needs, params):
    search = hungry(needs, random_state=0, **params).fit(X, Y)  # without a warning
    theirs = GridSearchCV(Hungry(needs=needs), GRID, cv=KFold(2)).fit(X, Y)
    assert search.best_params_ == theirs.best_params_
    assert search.best_score_ == theirs.best_score_
    scores = [-abs(threshold - 0.9) for threshold in GRID["threshold"]]
    first, *later = search.schedule_.rungs
    candidates, n_failed = {*range(20)}, 0
    assert len(search.rung_history_) == 1 + len(later)
    for rung, row, following in zip(
        search.schedule_.rungs, search.rung_history_, [*later, None], strict=True
    ):
        assert {*row["candidates"]} == candidates
        assert row.get("rank_correlation") in (None, pytest.approx(1))
        waiting = candidates & NEED_MORE if rung.n_resources < needs else set()
        n_failed += len(waiting) * row["n_folds"]
        if following is not None:
            best = sorted(candidates - waiting, key=lambda one: -scores[one])
            promoted = best[: following.n_candidates]
            assert row["cut_score"] == scores[promoted[-1]]
            candidates = {*promoted} | waiting
            assert {*row["promoted"]} == candidates
    assert {failure["candidate"] for failure in search.failures_} == (
        NEED_MORE if needs > first.n_resources else set()
    )
    assert all(failure["n_resources"] < needs for failure in search.failures_)
    assert len(search.failures_) == n_failed


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize(("message", "n_waiting"), [("few samples", 5), ("not my day", 0)])
def test_candidates_that_always_fail_take_no_place(message, n_waiting):
    search = search_of(0, random_state=0).set_params(estimator=FailsAboveHalf(message=message))
    search.fit(X, Y)
    others = [{*row["candidates"]} - NEED_MORE for row in search.rung_history_]
    assert others == [{*range(15)}, {*range(5, 15)}, {*range(10, 15)}, {12, 13, 14}]
    assert search.n_candidates_ == [20, *(n + n_waiting for n in (10, 5, 3))]
    assert search.best_params_ == {"threshold": GRID["threshold"][14]}


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
@pytest.mark.parametrize("params", [{"budget": "anytime"}, {"sampler": "model"}])
def test_candidates_wait_after_others_failed_with_all_samples(params):
    class SomeNever(Hungry):
        def fit(self, X, y):
            if self.threshold > 0.93:
                raise ValueError("n_components is too large")
            return super().fit(X, y)

    params |= {"space": {"threshold": uniform()}, "random_state": 0, "n_candidates": 64}
    search = search_of(0, **params).set_params(estimator=SomeNever(needs=700)).fit(X, Y)
    thresholds = [one["threshold"] for one in search.all_cv_results_["params"]]
    assert max(thresholds) > 0.93
    possible = [one for one in thresholds if one <= 0.93]
    assert search.best_score_ == -min(abs(one - 0.9) for one in possible)


def test_a_failure_for_another_reason_that_is_not_repeated_is_a_warning():
    class FailsWithFew(Hungry):
        def fit(self, X, y):
            if self.threshold > 0.5 and len(X) < 300:
                raise ValueError("not my day")
            return super().fit(X, y)

    search = search_of(0, error_score=0.0).set_params(estimator=FailsWithFew())
    with pytest.warns(FitFailedWarning, match="10 fits failed"):
        search.fit(X, Y)
    assert search.n_candidates_ == [rung.n_candidates for rung in search.schedule_.rungs]


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
@pytest.mark.parametrize(
    "message",
    [
        "Input X contains NaN. You might need to drop samples with missing values.",
        "n_components(700) must be <= n_features(64).",
        "n_components cannot be larger than min(n_features, n_classes - 1).",
    ],
)
def test_what_more_samples_do_not_prevent_is_no_reason_to_wait(message):
    search = search_of(0, random_state=0).set_params(estimator=FailsAboveHalf(message=message))
    search.fit(X, Y)
    assert search.n_candidates_ == [20, 10, 5, 3]


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
def test_a_fold_that_has_no_more_samples_is_no_reason_to_wait():
    held_out = range(3000, 4000)
    cv = [(range(500), held_out), (range(2000), held_out)]
    search = hungry(600, cv=cv, random_state=0).fit(X, Y)
    assert search.schedule_.n_resources == [200, 400, 800, 2000]
    assert search.n_candidates_ == [20, 10 + 5, 5 + 5, 3]


@pytest.mark.filterwarnings("ignore:(?s).*fits failed")
@pytest.mark.parametrize(
    "params",
    [
        {"min_resources": 200},
        {"budget": 40_000},
        {"algorithm": FixedSchedule([20, 4], [200, 2000])},
    ],
    ids=["min_resources", "budget", "algorithm"],
)
def test_none_waits_if_the_user_sets_the_first_rung(params):
    with pytest.warns(UserWarning, match="failed when trained on"):
        search = hungry(1900, random_state=0, **params).fit(X, Y)
    assert NEED_MORE.isdisjoint(search.rung_history_[-1]["candidates"])
    assert search.n_candidates_ == [rung.n_candidates for rung in search.schedule_.rungs]


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
def test_error_score_counts_if_none_waits():
    error_score = -0.9  # the score of half of the others is higher
    options = {"min_resources": 200, "score_aggregation": "mean", "error_score": error_score}
    first, second, *_ = hungry(300, random_state=0, **options).fit(X, Y).rung_history_
    scores = dict(enumerate(-abs(threshold - 0.9) for threshold in GRID["threshold"]))
    with_errors = scores | dict.fromkeys(NEED_MORE, error_score)
    promoted = sorted(scores, key=lambda one: -with_errors[one])[:10]
    assert {*first["promoted"]} == {*promoted}
    assert first["cut_score"] == min(with_errors[one] for one in promoted) == error_score
    best = sorted(promoted, key=lambda one: -with_errors[one] - scores[one])[:5]
    assert {*second["promoted"]} == {*best}
    assert second["cut_score"] == min(scores[one] for one in best)


@pytest.mark.parametrize(
    "params",
    [
        {"budget": "anytime", "n_candidates": 32, "patience": None},
        {"sampler": "model", "n_candidates": 48},
        {"score_aggregation": "mean", "n_candidates": 48},
        {"score_aggregation": "mean", "n_candidates": 48, "error_score": -9.0},
        {"stop": "stable", "n_candidates": 48},
        {"target_score": -0.01, "n_candidates": 48},
        {"keep_initial": True, "initial_candidates": [{"threshold": 0.95}], "n_candidates": 48},
    ],
    ids=["anytime", "model", "mean", "mean and error_score", "stop", "target", "kept"],
)
def test_candidates_wait_with_all_options(params):
    params |= {"space": {"threshold": uniform(-1, 2)}, "random_state": 0}
    search = hungry(700, **params).fit(X, Y)  # without a warning
    assert search.failures_
    thresholds = [one["threshold"] for one in search.all_cv_results_["params"]]
    assert search.best_score_ == -min(abs(threshold - 0.9) for threshold in thresholds)
    repeated = hungry(700, n_jobs=2, **params).fit(X, Y)
    assert_same_scores(search, repeated)


@pytest.mark.parametrize(
    "params",
    [
        {"min_resources": 200},
        {"budget": 20_000},
        {"algorithm": FixedSchedule([20, 4], [200, 2000])},
    ],
)
def test_a_first_rung_of_the_user_is_not_changed(params):
    with pytest.raises(ValueError, match="All the 40 fits failed"):
        search_of(1500, **params).fit(X, Y)
    assert len(FITS) == 40


def test_later_runs_of_budget_doubling_have_more_samples():
    search = search_of(500, budget="double", space={"threshold": [0.0, 0.1, 0.2, 0.3]})
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="failed when trained on"):
        search.fit(X, Y)
    first, second, third, *_ = search.rung_history_
    assert [row["n_resources"] for row in (first, second, third)] == [200, 400, 800]
    assert first["candidates"] == second["candidates"] == third["candidates"] == [0, 1, 2, 3]


def test_if_all_runs_of_budget_doubling_fail_the_errors_are_raised():
    space = {"threshold": GRID["threshold"][:6]}
    search = search_of(1500, budget="double", max_resources=1600, space=space)
    runs = [run.n_resources for run in search.plan(X, Y).brackets]
    assert [min(resources) for resources in runs] == [200, 400]
    assert max(runs[0]) > 400
    with pytest.raises(ValueError, match="All the 24 fits failed"):
        search.fit(X, Y)


@pytest.mark.filterwarnings("ignore:max_resources=400")
def test_a_maximum_of_the_user_remains():
    with pytest.warns(UserWarning, match="starts again, with at least 400 .* min_resources=400."):
        search = search_of(300, max_resources=400).fit(X, Y)
    assert search.n_resources_ == [400]
    assert search.n_candidates_ == [20]


@pytest.mark.parametrize(
    "message",
    [
        "y contains previously unseen labels: ['rare']",
        "The feature names should match those that were passed during fit.",
        "X has 16 features, but LogisticRegression is expecting 15 features as input.",
        "402-th leading minor of the array is not positive definite",
        "The covariance matrix of class 0 is not full rank.",
        "Singular matrix",
        "need 1000 rows, got 600",
        "too few observations",
    ],
)
def test_other_errors_for_lack_of_samples_are_known(message):
    """As of encoders, which lack a rare category, and of matrices with fewer rows than columns."""

    class Encoding(NeedsSamples):
        def fit(self, X, y):
            if len(X) < 300:
                raise ValueError(message)
            return super().fit(X, y)

    search = search_of(0).set_params(estimator=Encoding())
    with pytest.warns(UserWarning, match="starts again, with at least 400"):
        search.fit(X, Y)


def test_a_category_that_is_missing_in_a_dict_is_one_of_them():
    class Counting(NeedsSamples):
        def fit(self, X, y):
            {len(X) >= 300: None}[True]
            return super().fit(X, y)

    with pytest.warns(UserWarning, match="starts again, with at least 400"):
        search_of(0).set_params(estimator=Counting()).fit(X, Y)


def test_another_error_is_raised_at_once():
    with pytest.raises(ValueError, match="All the 40 fits failed"):
        search_of(1500, message="not my day").fit(X, Y)
    assert len(FITS) == 40


def test_a_kernel_is_no_better_with_more_samples():
    with pytest.raises(ValueError, match="All the 40 fits failed") as raised:
        search_of(9999, message="few: The kernel, RBF, is not positive definite").fit(X, Y)
    assert "min_resources" not in str(raised.value)
    assert len(FITS) == 40


def test_if_more_samples_do_not_help_the_errors_are_raised():
    larger = len(search_of(0).plan(X, Y).n_resources) - 1
    with pytest.raises(ValueError, match="All the 40 fits failed") as raised:
        search_of(10**6).fit(X, Y)
    assert len(FITS) == 40 + 4 * larger
    assert "Candidates 0, 19 fail with more samples too, up to 2000." in str(raised.value)


@pytest.mark.parametrize("resource", ["folds", "n_samples"])
def test_a_category_that_one_fold_has_alone_names_the_encoder(resource):
    """In a grid search, all means are NaN, and the first candidate is selected."""
    column = np.array(["a", "b"] * 1000, dtype=object).reshape(-1, 1)
    column[0] = "rare"
    model = make_pipeline(OneHotEncoder(), Ridge())
    search = SuccessiveHalvingSearchCV(
        model, {"ridge__alpha": [*np.logspace(-3, 3, 16)]}, cv=[[range(400, 2000), range(400)]] * 5,
        resource=resource, random_state=0,
    )  # fmt: skip
    with pytest.raises(ValueError, match="set handle_unknown of the encoder") as raised:
        search.fit(column, np.arange(2000.0))
    assert ("in a grid search, their means are NaN" in str(raised.value)) == (resource == "folds")


def test_an_error_after_the_search_started_again_is_shown_alone():
    """Not as one that happened while the search began again, which its warning tells."""

    class FailsToRefit(NeedsSamples):
        def fit(self, X, y):
            if len(X) == len(Y):
                raise OSError("out of luck")
            return super().fit(X, y)

    search = search_of(300).set_params(estimator=FailsToRefit(needs=300))
    with (
        pytest.warns(UserWarning, match="starts again"),
        pytest.raises(OSError, match="out of luck") as raised,
    ):
        search.fit(X, Y)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("needs", [11, 23, 89, 100, 190])
@pytest.mark.filterwarnings("ignore:max_resources=190", "ignore:Including the fixed cost")
def test_a_maximum_below_the_automatic_first_rung(needs):
    """Rungs begin with fewer than 200 samples then, and the search starts again at most once."""
    search = search_of(needs, max_resources=190)
    first = min(search.plan(X, Y).n_resources)
    if needs <= first:
        search.fit(X, Y)
    else:
        with pytest.warns(UserWarning, match="the search starts again"):
            search.fit(X, Y)
    assert needs <= min(search.n_resources_)
    assert max(search.n_resources_) == 190
    assert search.failures_ == []


def test_a_failure_with_the_maximum_is_no_reason_to_start_again():
    class FailsFrom(NeedsSamples):
        def fit(self, X, y):
            if len(X) >= 400:
                raise ValueError("too many samples")
            return super().fit(X, y)

    search = search_of(0, max_resources=400, n_candidates=4, refit=False)
    search.set_params(estimator=FailsFrom())
    with (
        pytest.warns(FitFailedWarning),
        pytest.warns(UserWarning, match="when trained on 400 samples"),
        pytest.warns(UserWarning, match="No candidate of the last rung has a score"),
    ):
        search.fit(X, Y)
    assert search.best_n_resources_ == 200


def test_several_metrics_need_a_score_of_the_one_that_promotes():
    def fails(model, X, y):
        raise ValueError("too few samples to tell")

    scoring = {"a": fails, "b": "accuracy"}
    for refit in ("a", "b"):
        search = search_of(0, scoring=scoring, refit=refit)
        if refit == "a":
            with pytest.raises(ValueError, match="No candidate has a score in the first rung"):
                search.fit(X, Y)
        else:
            with pytest.warns(UserWarning, match="Scoring failed"):
                search.fit(X, Y)
            assert len(search.n_resources_) > 1


@pytest.mark.parametrize("error_score", [np.nan, 0.0])
def test_a_score_on_all_folds_is_needed(error_score):
    """Of the two folds, one needs more samples. Its score is a number too."""

    class OneFoldNeedsMore(NeedsSamples):
        def fit(self, X, y):
            self.needs = 1500 if X[0, 1] else 300
            return super().fit(X, y)

    search = search_of(0, error_score=error_score).set_params(estimator=OneFoldNeedsMore())
    with pytest.warns(UserWarning, match="starts again, with at least 2000"):
        search.fit(np.column_stack([X, np.arange(len(X)) < N_TRAIN]), Y)
    assert search.failures_ == []


class Spread(Sampler):
    """Points that depend on how many there are."""

    uses_history = True

    def propose(self, n, space, history, rng):
        return [{"threshold": k / n + len(history.candidates) / 1000} for k in range(n)]


def test_scores_are_those_of_their_parameters():
    """The first plan has brackets of 9 candidates, and the second one has a bracket of 36."""

    class Truthful(NeedsSamples):
        def score(self, X, y):
            return -self.threshold

    space = {"threshold": uniform()}
    search = search_of(0, sampler=Spread(), n_candidates=36, space=space)
    assert len(search.plan(X, Y).brackets) == 4
    with pytest.warns(UserWarning, match="the search starts again"):
        search.set_params(estimator=Truthful(needs=1200)).fit(X, Y)
    assert len(search.schedule_.brackets) == 1
    rows = search.all_cv_results_
    scores = [-params["threshold"] for params in rows["params"]]
    np.testing.assert_array_equal(rows["mean_test_score"], scores)


@pytest.mark.filterwarnings("ignore:(?s).*fits failed", "ignore:Candidates .* failed when trained")
def test_a_trial_in_vain_leaves_no_trace(monkeypatch):
    """The candidates of the first bracket fail, and those of later ones have scores."""

    class FailsAbove(NeedsSamples):
        def fit(self, X, y):
            self.needs = 10**6 if self.threshold in failing else 0
            return super().fit(X, y)

    params = {"space": {"threshold": uniform(-1, 2)}, "random_state": 0, "patience": None}
    params |= {"budget": "anytime", "n_candidates": 16}
    first = search_of(0, **params).fit(X, Y).all_cv_results_["params"][:8]
    failing = [one["threshold"] for one in first]
    search = search_of(0, **params).set_params(estimator=FailsAbove()).fit(X, Y)
    n_fits = len(FITS)
    automatic = SuccessiveHalvingSearchCV._automatic
    monkeypatch.setattr(
        SuccessiveHalvingSearchCV,
        "_automatic",
        lambda self: replace(automatic(self), first_rung=False),
    )
    expected = search_of(0, **params).set_params(estimator=FailsAbove()).fit(X, Y)
    assert n_fits > len(FITS)
    for one in (search, expected):
        one.audit(X, Y, n_candidates=2)
    assert_same_scores(search, expected)
    histories = [
        [{name: row[name] for name in row if not is_measured(name)} for row in one.rung_history_]
        for one in (search, expected)
    ]
    np.testing.assert_equal(*histories)
    assert len(search.failures_) == len(expected.failures_)


def test_a_search_whose_time_ends_in_the_trial_can_be_resumed(monkeypatch):
    search = search_of(1000, max_time=100)
    expected = search_of(1000)
    with pytest.warns(UserWarning, match="the search starts again"):
        expected.fit(X, Y)

    with monkeypatch.context() as patched:
        patched.setattr(too_few_samples, "larger_rungs", stopping)
        with pytest.raises(TimeoutError, match="since 200 training samples are too few"):
            search.fit(X, Y)
    assert len(search.failures_) == 40
    with pytest.warns(UserWarning, match="the search starts again"):
        search.resume(X, Y)
    assert_same_scores(search, expected)


def stopping(*args):
    raise StoppedError
    yield


@pytest.mark.parametrize("params", [{"min_folds": 1}, {"max_resources": N_TRAIN}])
def test_what_is_recommended_is_possible(params):
    """resource="folds" is not, with other parameters that set the folds or the maximum."""
    search = search_of(N_TRAIN, **params)
    with pytest.warns(UserWarning, match=f"To start with them, set min_resources={N_TRAIN}."):
        search.fit(X, Y)
    search.set_params(min_resources=N_TRAIN).fit(X, Y)
    assert search.n_resources_ == [N_TRAIN] * len(search.n_resources_)


def test_results_are_kept_if_a_trial_is_interrupted(monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt
        yield

    search = search_of(1000)
    with monkeypatch.context() as patched:
        patched.setattr(too_few_samples, "larger_rungs", interrupt)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
    assert search.interrupted_
    assert len(search.all_cv_results_["params"]) == len(search.rung_history_[0]["candidates"]) == 20
    assert len(search.failures_) == 40
    with pytest.warns(UserWarning, match="the search starts again"):
        search.resume(X, Y)
    assert search.failures_ == []


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("params", [{"min_folds": "all", "random_state": 1}, {"random_state": 3}])
def test_a_rare_category_is_no_obstacle(params, n_jobs):
    """An encoder fails on test samples with its default parameters, not in each fold."""
    city = np.random.default_rng(0).choice(list("abc"), 4000).astype(object)
    city[[50, 100, 150, 2000, 2050, 2100, 3800, 3850, 3900]] = "village"
    y = np.arange(4000) % 2
    model = make_pipeline(OneHotEncoder(), KNeighborsClassifier(algorithm="brute"))
    grid = {"kneighborsclassifier__n_neighbors": range(5, 69, 4)}
    cv = KFold(3)
    GridSearchCV(model, grid, cv=cv, error_score="raise").fit(city[:, None], y)
    search = SuccessiveHalvingSearchCV(
        model, grid, cv=cv, resource="n_samples", n_jobs=n_jobs, **params
    )
    with pytest.warns(UserWarning, match=r"or set handle_unknown(?s:.*)unknown categories"):
        search.fit(city[:, None], y)
    assert np.isfinite(search.best_score_)
    assert search.failures_ == []


@pytest.mark.parametrize(
    "params",
    [
        {"budget": "anytime", "n_candidates": 32, "patience": None},
        {"sampler": "model", "n_candidates": 48},
    ],
    ids=["anytime", "model"],
)
def test_a_first_bracket_without_scores_is_not_followed_by_others(params):
    params |= {"space": {"threshold": uniform(-1, 2)}, "random_state": 0}
    first = min(search_of(0, **params).plan(X, Y).n_resources)
    found = []
    for n_jobs in (None, 2):
        with pytest.warns(UserWarning, match="the search starts again") as caught:
            found.append(search_of(first + 1, n_jobs=n_jobs, **params).fit(X, Y))
        assert len(caught) == 1
    search, repeated = found
    assert min(search.n_resources_) > first
    assert search.failures_ == []
    assert search.schedule_.n_different == search_of(0, **params).plan(X, Y).n_different
    assert_same_scores(repeated, search)


def test_a_bracket_of_hyperband_with_scores_is_enough():
    """Its narrowest bracket has the full resource."""
    search = search_of(N_TRAIN, HyperbandSearchCV, space={"threshold": uniform(-1, 2)})
    with pytest.warns(UserWarning, match="min_resources=2000"), pytest.warns(FitFailedWarning):
        search.fit(X, Y)
    assert np.isfinite(search.best_score_)


class Interrupting(NeedsSamples):
    """Raises KeyboardInterrupt once: with one number of samples and some of the thresholds."""

    at = 0, ()

    def fit(self, X, y):
        n_samples, thresholds = type(self).at
        if len(X) == n_samples and self.threshold in thresholds:
            type(self).at = 0, ()
            raise KeyboardInterrupt
        return super().fit(X, y)


@pytest.mark.parametrize(
    ("rung", "candidates"),
    [(0, [10]), (1, [0]), (2, [19]), (2, [10]), (3, range(20))],
    ids=["first rung", "trial", "end of the trial", "first rung again", "last rung"],
)
@pytest.mark.parametrize("how", ["resume", "checkpoint"])
@pytest.mark.filterwarnings("ignore:No candidate has a score")
def test_an_interrupted_search_is_completed(rung, candidates, how, tmp_path):
    plan = search_of(0).plan(X, Y).n_resources
    needs = plan[1] + 1
    expected = search_of(needs, random_state=0).fit(X, Y)
    n_fits = len(FITS)
    params = {"checkpoint": tmp_path / "search"} if how == "checkpoint" else {}
    search = search_of(0, random_state=0, **params).set_params(estimator=Interrupting(needs=needs))
    Interrupting.at = plan[rung], {GRID["threshold"][one] for one in candidates}
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    (search.resume if how == "resume" else search.fit)(X, Y)
    assert_same_scores(search, expected)
    assert search.failures_ == []
    assert len(FITS) == n_fits


def test_a_sampler_does_not_see_failures_that_were_overcome():
    class Watching(Spread):
        def propose(self, n, space, history, rng):
            scores = {}
            for one in history.evaluations:
                scores.setdefault(one.params["threshold"], []).append(one.mean_score)
            SEEN.extend(scores.items())
            return super().propose(n, space, history, rng)

    SEEN.clear()
    search = hungry(700, sampler=Watching(), n_candidates=36, space={"threshold": uniform()})
    search.fit(X, Y)
    assert {row["bracket"] for row in search.rung_history_} == {0, 1, 2, 3}
    assert search.failures_
    assert len(SEEN) > 36
    assert all(np.isfinite(scores).all() for _, scores in SEEN)


SEEN: list[tuple[float, list[float]]] = []


class InterruptingHungry(Interrupting, Hungry):
    pass


@pytest.mark.parametrize(("rung", "candidate"), [(0, 10), (1, 15), (2, 19), (3, 19)])
@pytest.mark.parametrize("how", ["resume", "checkpoint"])
def test_an_interrupted_search_with_candidates_that_wait_is_completed(
    rung, candidate, how, tmp_path
):
    expected = hungry(700, random_state=0).fit(X, Y)
    n_fits, n_resources = len(FITS), expected.schedule_.n_resources[rung]
    params = {"checkpoint": tmp_path / "search"} if how == "checkpoint" else {}
    search = hungry(0, random_state=0, **params)
    search.set_params(estimator=InterruptingHungry(needs=700, message="not enough"))
    InterruptingHungry.at = n_resources, {GRID["threshold"][candidate]}
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, Y)
    (search.resume if how == "resume" else search.fit)(X, Y)
    assert_same_scores(search, expected)
    assert len(search.failures_) == len(expected.failures_) > 0
    assert len(FITS) == n_fits


@pytest.mark.parametrize("fitted_from", [10, 20])
def test_extend_is_one_search_over_all_if_some_wait(fitted_from):
    params = {"space": {"threshold": uniform(-1, 2)}, "random_state": 0}
    expected = hungry(700, n_candidates=40, **params).fit(X, Y)
    search = hungry(700, n_candidates=fitted_from, **params).fit(X, Y)
    search.extend(X, Y, n_candidates=40 - fitted_from)
    assert_same_scores(search, expected)
    assert search.failures_
    search.audit(X, Y, n_candidates=1)
    assert search.all_cv_results_["audited"].sum() == 1


@pytest.mark.filterwarnings("ignore:No candidate has a score")
@pytest.mark.parametrize("fitted_from", [10, 20])
def test_extend_is_one_search_over_all(fitted_from):
    space = {"threshold": uniform(-1, 2)}
    first = min(search_of(0, space=space, n_candidates=40).plan(X, Y).n_resources)
    params = {"space": space, "random_state": 0}
    expected = search_of(first + 1, n_candidates=40, **params).fit(X, Y)
    assert min(expected.n_resources_) > first
    search = search_of(first + 1, n_candidates=fitted_from, **params).fit(X, Y)
    search.extend(X, Y, n_candidates=40 - fitted_from)
    assert_same_scores(search, expected)
    search.audit(X, Y, n_candidates=1)
    assert search.all_cv_results_["audited"].sum() == 1


@pytest.mark.filterwarnings("ignore:No candidate has a score")
def test_extend_proposes_from_what_is_known():
    """The first rung of more candidates has fewer samples, with which all of them fail."""
    params = {"space": {"threshold": uniform(-1, 2)}, "random_state": 0, "sampler": "model"}
    search = search_of(300, n_candidates=6, **params).fit(X, Y)
    known = search.all_cv_results_["params"][:6]
    search.extend(X, Y, n_candidates=6)
    assert search.n_candidates_[0] == 12
    assert search.all_cv_results_["params"][:6] == known
    assert search.failures_ == []
    plain = search_of(0, n_candidates=6, **params).fit(X, Y).extend(X, Y, n_candidates=6)
    assert plain.all_cv_results_["params"][:12] == search.all_cv_results_["params"][:12]


def test_the_splits_are_made_once():
    """A splitter without random_state yields others each time."""
    splits = []

    class Recording(KFold):
        def split(self, X, y=None, groups=None):
            for split in super().split(X, y, groups):
                splits.append(split)
                yield split

    search = search_of(1000, cv=Recording(2, shuffle=True))
    with pytest.warns(UserWarning, match="the search starts again"):
        search.fit(X, Y)
    assert len(splits) == 2


def test_verbose_tells_that_the_search_starts_again(capsys):
    search = search_of(300, verbose=1)
    opening = text_sentences(search.plan(X, Y).sentences).splitlines()
    with pytest.warns(UserWarning, match="the search starts again"):
        search.fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    trial = lines.index(
        "No candidate has a score with 200 training samples. Candidates 0, 19 are trained with "
        "more of them."
    )
    below = trial + 1 + len(opening)
    assert lines[trial + 1 : below] == opening
    assert lines[below].startswith("rung 1/3   2 candidates,  400 training samples")
    assert sum(line.startswith("rung 0/") for line in lines) == 2


def test_the_start_of_the_workers_counts_for_the_run_that_starts_them(monkeypatch):
    """The trial with more samples has the workers of the run before."""
    starts = []

    class Recording(Progress):
        def __init__(self, *args, start_seconds, **params):
            super().__init__(*args, start_seconds=start_seconds, **params)
            starts.append(start_seconds)

    def note_start(self, begin, seconds):
        self.start_seconds = 8.0

    monkeypatch.setattr(evaluated_search, "Progress", Recording)
    monkeypatch.setattr(Workers, "_note_start", note_start)
    with pytest.warns(UserWarning, match="the search starts again"):
        search_of(300).fit(X, Y)
    assert [start() for start in starts] == [8.0, 0.0, 8.0]


def test_larger_rungs_end_with_the_maximum():
    schedule = schedule_from_range(8, max_resources=80)
    run = too_few_samples.larger_rungs(schedule, (3, 5), 10)
    requests = [next(run), run.send(None), run.send(RungLosses.of([np.nan] * 2, [[np.nan]] * 2))]
    with pytest.raises(StopIteration):
        run.send(None)
    assert [(one.candidate_ids, one.n_resources, one.folds) for one in requests] == [
        ((3, 5), n, None) for n in (20, 40, 80)
    ]


@pytest.mark.filterwarnings("ignore:No candidate has a score")
def test_an_extension_that_starts_again_proposes_from_its_own_space():
    search = search_of(
        300, n_candidates=6, space={"threshold": uniform(-1, 2)}, random_state=0, sampler="model"
    ).fit(X, Y)
    with pytest.warns(UserWarning, match="starts again"):
        search.extend(X, Y, n_candidates=40, param_distributions={"threshold": uniform(5, 1)})
    values = {params["threshold"] for params in search.all_cv_results_["params"]}
    assert sum(value < 5 for value in values) == 6


class FailsInBetween(NeedsSamples):
    """All fail with 400 to 900 samples, and half of them with fewer for another reason."""

    def fit(self, X, y):
        if len(X) < 500 and self.threshold < 0:
            raise ValueError("not my day")
        self.needs = 10**6 if 400 < len(X) < 900 else 0
        return super().fit(X, y)


def test_only_those_that_fail_in_the_last_rung_are_tried_with_more_samples():
    search = SuccessiveHalvingSearchCV(
        FailsInBetween(), GRID, resource="n_samples", cv=KFold(2), min_folds="all"
    )
    expected = "No candidate has a score with 800 .* candidate 10 has .* starts again"
    with pytest.warns(UserWarning, match=f"(?s){expected}"):
        search.fit(X, Y)
