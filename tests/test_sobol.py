"""Candidates spread by Sobol points: shares are exact, and nothing repeats."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.stats import (
    beta,
    betabinom,
    binom,
    hypergeom,
    logser,
    loguniform,
    norm,
    poisson,
    randint,
    rv_discrete,
    skellam,
    uniform,
    zipf,
)
from sklearn.linear_model import SGDClassifier
from sklearn.utils import check_random_state

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.candidates import (
    Evaluation,
    History,
    ModelSampler,
    RandomSampler,
    SobolSampler,
    check_sampler,
)
from sklearn_sha.candidates.distributions import has_quantiles

DISTRIBUTIONS = {
    "log": loguniform(1e-6, 10),
    "normal": norm(3, 2),
    "skewed": beta(0.5, 4),
    "uniform": uniform(-1, 2),
}


class OnlyRvs:
    """A distribution without a ppf."""

    def rvs(self, random_state):
        return random_state.choice(["a", "b", "c"])


class LogIntegers:
    """A distribution of integers with an `rvs` that needs a RandomState, as ParameterSampler's."""

    def rvs(self, random_state):
        return int(10 ** random_state.uniform(0, 3))

    def ppf(self, q):
        return np.floor(10 ** (3 * np.asarray(q)))


def proposed(n, space, known=(), seed=0):
    return SobolSampler().propose(n, space, History([*known]), RandomState(seed))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [2, 16, 256, 1024])
def test_every_parameter_has_one_candidate_in_each_of_n_equal_parts(n, seed):
    # A property of Sobol points in one dimension, for powers of two, that scrambling keeps.
    candidates = proposed(n, DISTRIBUTIONS, seed=seed)
    for name, distribution in DISTRIBUTIONS.items():
        parts = np.floor(n * distribution.cdf([params[name] for params in candidates]))
        assert sorted(parts) == list(range(n)), name


@pytest.mark.parametrize("n", [3, 7, 50, 100])
def test_any_number_of_candidates_is_the_beginning_of_one_sequence(n):
    assert proposed(n, DISTRIBUTIONS) == proposed(300, DISTRIBUTIONS)[:n]


def test_a_distribution_gets_a_random_state():
    values = sorted(params["n"] for params in proposed(4, {"n": LogIntegers()}))
    bounds = LogIntegers().ppf([0, 0.25, 0.5, 0.75, 1])
    assert np.all((bounds[:-1] <= values) & (values <= bounds[1:]))
    assert {*map(type, values)} == {int}


@pytest.mark.parametrize("max_repeats", [0, -1, 1.5])
def test_an_invalid_number_of_repeats_raises(max_repeats):
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(), {"alpha": uniform(0, 1)}, sampler=SobolSampler(max_repeats)
    )
    with pytest.raises(ValueError, match=f"max_repeats={max_repeats} must be an integer of at"):
        search.fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_lists_and_integers_have_exact_shares_and_their_own_types():
    space = {"log": loguniform(1, 2), "penalty": ["l1", "l2", None, ("a", 1)], "n": randint(3, 11)}
    candidates = proposed(64, space)
    assert Counter(p["penalty"] for p in candidates) == dict.fromkeys(space["penalty"], 16)
    assert Counter(p["n"] for p in candidates) == dict.fromkeys(range(3, 11), 8)
    assert {type(p["n"]) for p in candidates} == {int}
    assert {type(p["log"]) for p in candidates} == {float}


def test_a_discrete_distribution_keeps_its_probabilities():
    space = {"n": binom(4, 0.5), "noise": uniform()}
    counts = Counter(params["n"] for params in proposed(1024, space))
    assert counts == {0: 64, 1: 256, 2: 384, 3: 256, 4: 64}


def test_a_distribution_without_ppf_is_sampled():
    candidates = proposed(64, {"C": loguniform(1e-3, 1), "kernel": OnlyRvs()})
    assert {params["kernel"] for params in candidates} == {"a", "b", "c"}
    assert len({params["C"] for params in candidates}) == 64


def for_numbers_only(q):
    return math.sqrt(q)


def the_same_for_all(q):
    return 0.5


def by_comparison(q):
    return 1.0 if q < 0.5 else 2.0


def for_arrays_only(q):
    return q.copy()


def not_in_the_tail(q):
    if np.max(q) > 0.9:
        raise RuntimeError("updating stopped, endless loop")
    return np.asarray(q)


@pytest.mark.parametrize(
    "ppf", [for_numbers_only, the_same_for_all, by_comparison, for_arrays_only, not_in_the_tail]
)
def test_a_distribution_whose_ppf_cannot_be_used_is_sampled(ppf, tmp_path):
    class Own:
        def rvs(self, random_state=None):
            return check_random_state(random_state).uniform()

    Own.ppf = staticmethod(ppf)
    space = {"alpha": Own(), "eta0": loguniform(1e-3, 1)}
    sampled = proposed(64, space)
    assert len({params["alpha"] for params in sampled}) == 64
    # A checkpoint records the quantiles of a distribution that has any.
    params = {"n_candidates": 4, "cv": 2, "checkpoint": tmp_path / "search"}
    search = SuccessiveHalvingSearchCV(SGDClassifier(), space, **params)
    search.fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def infinite_at_one(q):
    return -np.log(1 - q)


@pytest.mark.parametrize(
    "ppf", [infinite_at_one, np.vectorize(lambda q: -math.log(1 - q))], ids=["numpy", "math"]
)
def test_a_checkpoint_accepts_quantiles_that_are_infinite_or_an_error_at_one(ppf, tmp_path):
    class Exponential:
        def rvs(self, random_state=None):
            return check_random_state(random_state).exponential()

    Exponential.ppf = staticmethod(ppf)
    params = {"n_candidates": 4, "cv": 2, "checkpoint": tmp_path / "search"}
    search = SuccessiveHalvingSearchCV(SGDClassifier(), {"alpha": Exponential()}, **params)
    search.fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_each_dict_has_its_own_design_and_the_same_share():
    spaces = [{"a": uniform()}, {"b": uniform()}, {"c": uniform(), "kind": ["x", "y"]}]
    candidates = proposed(48, spaces)
    for name in "abc":
        values = [params[name] for params in candidates if name in params]
        assert sorted(np.floor(16 * np.array(values))) == list(range(16))


def test_repeated_candidates_are_replaced_until_all_are_found():
    space = {"n": randint(0, 6), "kind": ["x", "y"]}
    expected = {*product(range(6), "xy")}
    for n in (5, 12, 40):
        found = [(params["n"], params["kind"]) for params in proposed(n, space)]
        assert len({*found}) == len(found) == min(n, 12)
        assert {*found} <= expected
    # A dict that has no more leaves its share to the others.
    assert len(proposed(20, [{"a": [1]}, {"b": uniform()}])) == 20


def test_known_candidates_are_not_proposed_again():
    space = {"a": uniform(), "n": randint(0, 3)}
    known = proposed(20, space)
    assert proposed(20, space, known=known[:8]) == proposed(28, space)[8:]


def test_a_grid_that_fits_is_tried_completely_and_in_order():
    grid = {"b": [1, 2], "a": ["x", "y", "z"]}
    assert proposed(6, grid) == RandomSampler().propose(6, grid, History(), RandomState(0))
    assert len(proposed(5, grid)) == 5


def test_candidates_outside_of_a_grid_leave_it_spread():
    """With 64 known candidates of another space, ten of 60 values were random."""
    grid = {"a": [*range(60)]}
    others = [{"b": value} for value in range(64)]
    values = [params["a"] for params in proposed(10, grid, known=others)]
    assert values == [params["a"] for params in proposed(10, grid)]
    assert len({value // 6 for value in values}) >= 8
    # All that are left, in order.
    known = [*others, *({"a": value} for value in range(50))]
    assert [params["a"] for params in proposed(10, grid, known=known)] == [*range(50, 60)]


def test_the_order_of_the_parameters_does_not_matter():
    space = {"a": uniform(), "b": loguniform(1, 9)}
    assert proposed(9, space) == proposed(9, dict(reversed(space.items())))


def test_the_contract_of_samplers():
    check_sampler(SobolSampler(), DISTRIBUTIONS | {"kernel": OnlyRvs()})
    check_sampler(SobolSampler(), [{"a": [1, 2, 3]}, {"b": uniform()}, {}])


@pytest.mark.parametrize("search_class", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_searches_take_it_by_name(search_class):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)), np.arange(60) % 2
    n = {"n_candidates": 8} if search_class is SuccessiveHalvingSearchCV else {}
    found = []
    for sampler, n_jobs in (("sobol", None), ("sobol", 2), (SobolSampler(), None)):
        search = search_class(
            SGDClassifier(random_state=0),
            {"alpha": loguniform(1e-6, 1)},
            sampler=sampler,
            resource="partial_fit",
            max_resources=9,
            n_jobs=n_jobs,
            random_state=0,
            cv=2,
            **n,
        )
        found.append(search.fit(X, y).all_cv_results_["params"])
    assert found[0] == found[1] == found[2]
    first = [params["alpha"] for params in found[0][:8]]
    parts = np.floor(8 * loguniform(1e-6, 1).cdf(first))
    assert sorted(parts) == list(range(8))


def test_a_constant_distribution_has_its_value():
    space = {"a": uniform(0.3, 0), "b": norm(1, 0), "c": ["x", "y", "z"]}
    found = SobolSampler().propose(3, space, History(), RandomState(0))
    assert sorted(params["c"] for params in found) == ["x", "y", "z"]
    assert {(params["a"], params["b"]) for params in found} == {(0.3, 1.0)}


@pytest.mark.parametrize("sampler", [SobolSampler(), ModelSampler()])
def test_a_distribution_of_arrays_is_sampled(sampler):
    space = {"scale": loguniform([0.1, 1], [1, 10]), "c": uniform()}
    history = History()
    for _ in range(2):
        found = sampler.propose(16, space, history, RandomState(0))
        scales = np.array([params["scale"] for params in found])
        assert scales.shape[1:] == (2,)
        assert (scales >= [0.1, 1]).all()
        assert (scales <= [1, 10]).all()
        known = [Evaluation(params, 1, 1, params["c"], ()) for params in found]
        history = History(found, known)


@pytest.mark.parametrize(("most", "is_spread"), [(16, True), (10**6, False)])
def test_no_quantile_sums_the_probabilities_of_very_many_integers(most, is_spread):
    n_summed = []

    class Summed(rv_discrete):
        """Integers of equal probability, without a formula for their quantiles."""

        def _pmf(self, k):
            n_summed.append(np.size(k))
            return np.full(np.shape(k), 1 / most)

        def _rvs(self, size=None, random_state=None):
            return random_state.randint(1, most + 1, size)

    space = {"a": Summed(a=1, b=most)()}
    found = SobolSampler().propose(16, space, History(), RandomState(0))
    assert len({params["a"] for params in found}) == 16
    assert has_quantiles(space["a"]) == is_spread
    assert sum(n_summed) < 10**5


@pytest.mark.parametrize(
    ("distribution", "is_spread"),
    [
        (zipf(1.2), False),  # 1 % of the values are more than 10**9
        (zipf(1.2, loc=10**6), False),
        (betabinom(10**6, 2, 5), False),
        (betabinom(10**9, 2, 10**7), False),  # hardly any value is more than 1,000
        (betabinom(50, 2, 5), True),
        (betabinom(50, 2, 5, loc=10**6), True),
        (logser(0.9), True),  # hardly any value is more than 200
        (skellam(500, 20), True),  # has a formula
        (hypergeom(10**6, 2 * 10**5, 15_000), True),
        (randint(0, 2**40), True),
        (poisson(10**6), True),
        (rv_discrete(values=([1, 10**6], [0.5, 0.5])), True),
    ],
)
def test_integers_of_wide_distributions_without_a_formula_are_sampled(distribution, is_spread):
    assert has_quantiles(distribution) == is_spread
    found = SobolSampler().propose(2, {"a": distribution}, History(), RandomState(0))
    assert all(type(params["a"]) is int for params in found)


def test_few_candidates_do_not_cost_many_quantiles():
    """Those of some distributions of scipy take milliseconds each."""

    class Slow:
        n_quantiles = 0

        def ppf(self, q):
            self.n_quantiles += np.size(q)
            return np.asarray(q)

        def rvs(self, random_state=None): ...

    distribution = Slow()
    has_quantiles(distribution)
    n_before = distribution.n_quantiles
    assert len(proposed(8, {"a": distribution})) == 8
    # Once more whether it has quantiles.
    assert distribution.n_quantiles <= 2 * n_before + 16
    assert len({params["a"] for params in proposed(600, {"a": distribution})}) == 600


def test_values_that_scipy_does_not_find_are_sampled():
    class Endless:
        def ppf(self, q):
            if np.max(q) > 0.9:
                raise RuntimeError("updating stopped, endless loop")
            return np.ones_like(q)

        def rvs(self, random_state=None):
            return check_random_state(random_state).randint(9)

    found = SobolSampler().propose(9, {"a": Endless()}, History(), RandomState(0))
    assert sorted(params["a"] for params in found) == [*range(9)]
