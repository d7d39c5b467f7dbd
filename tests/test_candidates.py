"""Candidates are those of GridSearchCV or RandomizedSearchCV, without repetitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, randint, uniform, zipf
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from toys import Curve

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._search.fingerprint import described_space
from sklearn_sha.candidates.distinct import sample_distinct
from sklearn_sha.candidates.distributions import has_quantiles
from sklearn_sha.candidates.proposals import N_CANDIDATES, first_candidates
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import is_in, params_key, value_key
from sklearn_sha.candidates.space_check import check_space

GRIDS = [
    {"a": [1, 2, 3], "b": ["x", "y"]},
    [{"a": [1, 2]}, {"b": np.array([0.5, 0.25]), "c": (None, True)}],
    {},
    [{}],
]


def sampled(space, n="auto", seed=0):
    _, candidates = first_candidates(
        CandidateSource(space, RandomSampler()), n, np.random.RandomState(seed), "n_candidates"
    )
    return candidates


@pytest.mark.parametrize("values", [pd.Series([1, 2, 3])[1:], {"a": 1}.values()], ids=type)
def test_values_without_positions_are_refused_together_with_a_distribution_too(values):
    """They are refused in any grid."""
    for space in ({"x": values, "z": uniform()}, [{"z": [1]}, {"x": values}]):
        with pytest.raises(TypeError, match="'x' needs to be a list or a numpy array, but got"):
            check_space(space)


def test_a_series_with_positions_is_sampled_as_in_randomized_search():
    space = {"x": pd.Series([1, 2, 3]), "z": uniform()}
    assert {params["x"] for params in sampled(space)} == {1, 2, 3}


def test_a_long_range_is_not_listed():
    assert is_in({"a": range(10**15)}, {"a": np.int64(10**14)})
    assert not is_in({"a": range(10**15)}, {"a": 1.0})
    assert not is_in({"a": range(10**15)}, {"a": True})
    assert not is_in({"a": range(2, 10)}, {"a": None})
    text, other = (described_space({"a": range(n)}) for n in (10**15, 10**15 + 1))
    assert text == described_space({"a": range(10**15)}) != other


@pytest.mark.parametrize("grid", GRIDS)
def test_auto_is_the_whole_grid_in_order(grid):
    assert sampled(grid) == list(ParameterGrid(grid))


@pytest.mark.parametrize("n", [142, 143])
def test_nearly_all_of_a_grid_is_in_random_order(n):
    """Half of the steps of a random order are upwards, with a standard deviation of 2.5 %."""
    grid = {"a": [*range(144)]}
    numbers = [[params["a"] for params in sampled(grid, n, seed)] for seed in range(5)]
    assert all(len({*some}) == n for some in numbers)
    assert max(np.mean(np.diff(some) > 0) for some in numbers) < 0.7


@given(st.integers(1, 11), st.integers(0, 100))
def test_a_sample_of_a_grid_equals_that_of_randomized_search(n, seed):
    grid = {"a": list(range(4)), "b": [0, 1, 2]}
    assert sampled(grid, n, seed) == list(ParameterSampler(grid, n, random_state=seed))


class Three(RandomSampler):
    def propose(self, n, space, history, rng):
        return super().propose(min(n, 3), space, history, rng)


@pytest.mark.parametrize("values", [uniform(), [1, 2, 3, 4, 5]])
def test_a_sampler_that_proposes_too_few_candidates_is_named(values):
    rng = np.random.RandomState(0)
    with pytest.warns(UserWarning, match="4 is more than the 3 .* that Three proposed; trying"):
        n, candidates = first_candidates(
            CandidateSource({"a": values}, Three()), 4, rng, "n_candidates"
        )
    assert n == len(candidates) == 3


def test_auto_is_64_candidates_for_distributions():
    assert N_CANDIDATES == 64
    assert pytest.approx(0.96, abs=0.005) == 1 - 0.95**N_CANDIDATES
    space = {"a": loguniform(1e-3, 1), "b": [1, 2]}
    assert sampled(space, seed=3) == list(ParameterSampler(space, 64, random_state=3))


class Rounded:
    """Integers of a distribution of scipy, which is its attribute `dist`."""

    def __init__(self, dist):
        self.dist = dist

    def rvs(self, random_state=None):
        return int(self.dist.rvs(random_state=random_state))


def test_a_custom_distribution_can_have_one_of_scipy():
    space = {"a": Rounded(loguniform(1, 1e6))}
    (expected,) = ParameterSampler(space, 1, random_state=0)
    first, *others = sampled(space)
    assert first == expected
    assert len(others) == 63


class Shifted(Rounded):
    """With the functions of scipy's distribution, which is not frozen."""

    def rvs(self, random_state=None):
        return int(self.dist.rvs(3, random_state=random_state)) + 1

    def pmf(self, k):
        return self.dist.pmf(np.subtract(k, 1), 3)

    def ppf(self, q):
        return self.dist.ppf(q, 3) + 1


def test_quantiles_of_a_custom_distribution_are_its_own():
    assert has_quantiles(Shifted(zipf))


@pytest.mark.parametrize("space", [{"a": randint(0, 30), "b": [1, 2]}, [{"a": randint(0, 60)}]])
def test_discrete_distributions_do_not_repeat(space):
    candidates = sampled(space, 50)
    assert len({tuple(sorted(c.items())) for c in candidates}) == len(candidates) == 50


@pytest.mark.parametrize("space", [{"a": [1, 2, 3]}, {"a": randint(0, 3)}])
def test_too_few_candidates_warn_with_both_numbers(space):
    with pytest.warns(UserWarning, match="n_candidates=9 is more than the 3 different candidates"):
        candidates = sampled(space, 9)
    assert len(candidates) == 3


@pytest.mark.parametrize("values", [[1, 2, 3], randint(1, 4)])
def test_initial_candidates_are_counted_with_those_of_the_space(values):
    message = "n_candidates=9 is more than the 4 .* that space and initial_candidates give;"
    source = CandidateSource({"a": values}, RandomSampler(), [{"a": 0}], "space")
    with pytest.warns(UserWarning, match=message):
        n, candidates = first_candidates(source, 9, np.random.RandomState(0), "n_candidates")
    assert n == len(candidates) == 4


def test_sampling_stops_when_only_known_values_are_repeated():
    class Counting:
        n_samples = 0

        def rvs(self, random_state):
            self.n_samples += 1
            return random_state.randint(59)

    values = Counting()
    found = sample_distinct({"a": values}, 1000, np.random.RandomState(0))
    assert {params["a"] for params in found} == {*range(59)}
    assert values.n_samples < 59 * 40  # of at most 100,000


def test_the_warning_for_one_candidate_is_singular():
    with pytest.warns(UserWarning, match="more than the 1 different candidate that"):
        sampled({"a": [1]}, 9)


class Elementwise:
    """Hashable, and compared by element, as a tensor."""

    def __eq__(self, other):
        return np.ones(2, dtype=bool)

    __hash__ = object.__hash__


def test_keys_distinguish_types_and_accept_all_values():
    values = [
        1,
        True,
        1.0,
        "1",
        None,
        (1, 2),
        float("nan"),
        [1],
        {"a": 1},
        Ridge(),
        np.ones(2),
        ([],),
        Elementwise(),
        Elementwise(),
    ]
    assert is_in({"a": values[-2:]}, {"a": values[-1]})
    keys = [params_key({"a": value}) for value in values]
    assert len(set(keys)) == len(values)
    assert keys == [params_key({"a": value}) for value in values]
    assert params_key({"a": 1, "b": 2}) == params_key({"b": 2, "a": 1})


def test_estimators_are_equal_if_their_clones_are():
    assert value_key(StandardScaler()) == value_key(StandardScaler().fit(np.eye(2)))
    assert value_key(StandardScaler()) != value_key(StandardScaler(with_mean=False))
    in_pandas = StandardScaler().set_output(transform="pandas")
    assert value_key(in_pandas) == value_key(clone(in_pandas)) != value_key(StandardScaler())
    with config_context(enable_metadata_routing=True):
        requesting = SGDClassifier().set_fit_request(sample_weight=True)
        assert value_key(requesting) == value_key(clone(requesting)) != value_key(SGDClassifier())
    # A clone of a frozen estimator is the estimator itself, with what it has learned.
    one, other = (FrozenEstimator(StandardScaler().fit(k * np.eye(2))) for k in (1, 2))
    assert value_key(one) == value_key(clone(one)) != value_key(other)


@pytest.mark.parametrize("backwards", [False, True])
def test_frozen_steps_are_different_candidates(backwards):
    """They have the same parameters."""
    X, y = load_iris(return_X_y=True)
    frozen = [FrozenEstimator(StandardScaler().fit(X * scale)) for scale in (1, 1e-3)]
    grid = {"scale": frozen[::-1] if backwards else frozen}
    pipeline = Pipeline([("scale", frozen[0]), ("model", SVC())])
    search = SuccessiveHalvingSearchCV(
        pipeline, grid, resource="n_samples", min_resources=1.0, refit=False
    ).fit(X, y)
    expected = GridSearchCV(pipeline, grid, refit=False).fit(X, y).cv_results_["mean_test_score"]
    assert search.cv_results_["mean_test_score"].tolist() == expected.tolist()
    assert np.ptp(expected) > 0.01


def test_arrays_are_compared_by_their_values():
    arrays = [np.ones(2), np.ones((2, 1)), np.ones(2, dtype=int), np.zeros(2)]
    arrays += [np.array([1, "a"], dtype=object), np.array([True, "a"], dtype=object)]
    keys = [value_key(array) for array in arrays]
    assert len({*keys}) == len(arrays)
    assert keys == [value_key(array.copy()) for array in arrays]
    space = {"a": [np.ones(2), np.ones(2), np.zeros(2)], "b": randint(1, 3)}
    assert len(sample_distinct(space, 9, np.random.RandomState(0))) == 4


@pytest.mark.parametrize(
    ("space", "error", "message"),
    [
        ([], ValueError, "Were there no candidates"),
        ({"a": []}, ValueError, r"parameter 'a' need to be a non-empty sequence, got: \[\]"),
        ({"a": 3}, TypeError, r"but got 3 \(of type int\) instead"),
        ({"a": "abc"}, TypeError, r"with one element. Use \['abc'\], or a distribution"),
        ({"a": uniform}, None, None),
        ("a", TypeError, "should be a dict or a list, got: 'a' of type str"),
        ([3], TypeError, r"Parameter grid is not a dict \(3\)"),
        (7, TypeError, "should be a dict or a list, got: 7 of type int"),
        (
            {f"a{k}": [*range(10)] for k in range(400)},
            ValueError,
            "The parameter grid has about 1e400 combinations, which is too many",
        ),
        ({**{f"a{k}": [*range(10)] for k in range(400)}, "b": uniform()}, None, None),
    ],
)
def test_invalid_spaces_raise(space, error, message):
    if error is None:
        assert len(sampled(space)) == 64
        return
    with pytest.raises(error, match=message):
        sampled(space)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "all", None])
def test_invalid_numbers_of_candidates_raise(n):
    with pytest.raises(ValueError, match=f"n_candidates={n!r} must be an integer of at least 1"):
        sampled({"a": [1]}, n)


SPACE = {"limit": [0.1, 0.2]}
X = np.arange(24.0).reshape(12, 2)


@pytest.mark.filterwarnings("ignore:Including the fixed cost")
@pytest.mark.parametrize("space_name", ["param_grid", "param_distributions"])
@pytest.mark.parametrize("n_name", ["n_iter", "n_candidates"])
def test_messages_name_the_parameter_that_the_user_set(space_name, n_name):
    def plan(kind=SuccessiveHalvingSearchCV, space=SPACE, estimator=None, **params):
        common = {"resource": "partial_fit", "max_resources": 9, "cv": 2, space_name: space}
        kind(estimator or Curve(), **common | params).plan(X)

    with pytest.warns(UserWarning, match=f"^{n_name}=9 is more than .* that {space_name} holds"):
        plan(**{n_name: 9})
    with pytest.warns(UserWarning, match=f"^{space_name} holds 2 different candidates"):
        plan(HyperbandSearchCV)
    with pytest.raises(ValueError, match=f"take it out of {space_name}, or"):
        plan(resource="growth", space={"growth": [1, 2]})
    with pytest.warns(UserWarning, match=f"^{space_name} searches tol, which partial_fit"):
        plan(estimator=MiniBatchKMeans(), space={"tol": [0.0, 0.1]})
