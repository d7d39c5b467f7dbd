"""The theorems hold for the algorithms of this library, over thousands of random arms."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, uniform
from toys import Curve

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha.bandit import successive_halving, uniform_allocation
from sklearn_sha.inspection import envelope
from sklearn_sha.theory import (
    budget_for,
    confidence_for,
    hyperband_h,
    n_candidates_for,
    sampling_gap,
    z_successive_halving,
    z_uniform,
)


def polynomial(power):
    """gamma(t) = t**-power and its inverse."""
    return lambda t: t**-power, lambda a: _smallest(lambda t: t**-power, a)


def exponential(base):
    return lambda t: base**-t, lambda a: _smallest(lambda t: base**-t, a)


def _smallest(gamma, a):
    """Smallest integer t >= 1 with gamma(t) <= a, by bisection."""
    high = 1
    while gamma(high) > a:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gamma(middle) > a else (low, middle)
    return high


ENVELOPES = {
    "1 / sqrt(t)": polynomial(0.5),
    "1 / t": polynomial(1),
    "1 / t^2": polynomial(2),
    "2^-t": exponential(2),
    "1.1^-t": exponential(1.1),
}


def arms(rng, limits, gamma, adversarial):
    """Losses within the envelope: random, or adversarial, with the best arms worst at first."""
    limits = np.asarray(limits)
    by_rank = np.argsort(np.argsort(limits))

    def losses(arms, resource):
        chosen = list(arms)
        if adversarial:
            noise = np.where(by_rank[chosen] < len(limits) / 2, 1.0, -1.0)
        else:
            noise = rng.uniform(-1, 1, len(chosen))
        return limits[chosen] + 0.999 * noise * gamma(resource)

    return losses


@pytest.mark.slow
@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("name", ENVELOPES)
def test_above_z_successive_halving_returns_an_arm_within_half_epsilon(name, adversarial):
    gamma, gamma_inverse = ENVELOPES[name]
    rng = np.random.default_rng(0)
    for _ in range(400):
        n = int(rng.integers(1, 40))  # powers of two and others
        limits = rng.beta(rng.uniform(0.3, 3), rng.uniform(0.3, 3), n)
        epsilon = float(rng.choice([0.05, 0.2, 0.5]))
        budget = math.floor(z_successive_halving(limits, gamma_inverse, epsilon)) + 1
        budget = max(budget, n * max(1, (n - 1).bit_length()))
        best = successive_halving(arms(rng, limits, gamma, adversarial), n, budget).best
        assert limits[best] - limits.min() <= epsilon / 2 + 1e-12


@pytest.mark.parametrize("adversarial", [True, False])
@pytest.mark.parametrize("name", ["1 / t", "1 / t^2", "2^-t"])
def test_above_z_uniform_allocation_returns_the_best_arm(name, adversarial):
    gamma, gamma_inverse = ENVELOPES[name]
    rng = np.random.default_rng(0)
    for _ in range(400):
        n = int(rng.integers(2, 30))
        limits = rng.random(n)
        budget = math.floor(z_uniform(limits, gamma_inverse)) + 1
        best = uniform_allocation(arms(rng, limits, gamma, adversarial), n, max(n, budget)).best
        assert best == limits.argmin()


def test_below_z_successive_halving_can_fail():
    """With a fraction of the budget, the tests above would fail."""
    gamma, gamma_inverse = ENVELOPES["1 / sqrt(t)"]
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(100):
        limits = rng.random(16)
        budget = max(64, math.floor(z_successive_halving(limits, gamma_inverse, 0.2) / 50))
        best = successive_halving(arms(rng, limits, gamma, True), 16, budget).best
        wrong += limits[best] - limits.min() > 0.1
    assert wrong > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("distribution", "n"),
    [(uniform(), 64), (uniform(2, 3), 100), (beta(1, 3), 50)],
    ids=["uniform(0, 1)", "uniform(2, 5)", "beta(1, 3)"],
)
@pytest.mark.parametrize("name", ["1 / t", "2^-t"])
def test_the_proposition_holds_with_its_probability(distribution, n, name):
    gamma, gamma_inverse = ENVELOPES[name]
    rng = np.random.default_rng(0)
    delta = 0.2
    gap = sampling_gap(distribution, n, delta)
    epsilon = 4 * gap
    budget = math.ceil(budget_for(distribution, gamma_inverse, n, delta, epsilon))
    lowest = distribution.support()[0]
    misses = 0
    for trial in range(200):
        limits = distribution.rvs(n, random_state=trial)
        best = successive_halving(arms(rng, limits, gamma, trial % 2 == 0), n, budget).best
        misses += limits[best] - lowest > gap + epsilon / 2
    assert misses / 200 <= delta


def test_h_equals_an_integral_in_closed_form():
    """gamma(t) = 1 / t, F uniform on [0, 1], without rounding gamma^-1 to integers."""
    n, delta, epsilon = 64, 0.1, 0.4
    exact = 2 * n * 4 * math.log(4 / epsilon) + (
        4 / 3 * math.log(2 / delta) + 2 * n * epsilon / 4
    ) * (16 / epsilon)
    approximate = hyperband_h(uniform(), lambda a: 1 / a, n, delta, epsilon)
    assert exact <= approximate <= exact * 1.001


@given(st.floats(0.001, 0.6), st.floats(0.01, 0.999))
def test_numbers_of_candidates_are_minimal(top, confidence):
    n = n_candidates_for(top, confidence)
    assert confidence_for(n, top) >= confidence
    assert n == 1 or confidence_for(n - 1, top) < confidence


@pytest.mark.parametrize("top", [1e-9, 1e-13, 1e-17])
def test_numbers_for_the_rarest_candidates(top):
    """In the limit, the number of the best candidates is of a Poisson distribution."""
    n = n_candidates_for(top, 1 - math.exp(-1))
    assert n * top == pytest.approx(1, rel=1e-6)
    assert confidence_for(n, top) == pytest.approx(1 - math.exp(-1))


@given(st.integers(1, 500), st.floats(1e-6, 0.02))
def test_numbers_are_the_inverse_of_their_confidence(n, top):
    assert n_candidates_for(top, confidence_for(n, top)) == n


@pytest.mark.parametrize(
    ("top", "confidence"),
    [(0.05, 1 - 2**-53), (0.01, 1 - 1e-15), (1e-6, 1 - 1e-11), (1e-10, 1 - 2**-53), (1e-25, 0.95)],
)
def test_numbers_for_probabilities_that_are_rounded_to_one(top, confidence):
    """By the definition, in exact decimal numbers."""
    with localcontext(prec=80):
        chance, wanted = Decimal(top), Decimal(confidence)
        n = n_candidates_for(top, confidence)
        tolerance = Decimal(n) / 10**12  # as far as n can be known from a quotient of floats
        assert (n + tolerance) * (1 - chance).ln() <= (1 - wanted).ln()
        assert (n - 1 - tolerance) * (1 - chance).ln() > (1 - wanted).ln()


def test_numbers_in_the_documentation():
    assert n_candidates_for() == 59
    assert confidence_for(64) == pytest.approx(0.96, abs=0.005)


def test_the_envelope_of_a_search_equals_that_of_its_curves():
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.2, 0.5, 0.9, 0.7], "speed": [1.0, 8.0]}, resource="partial_fit",
        max_resources=40, cv=2, refit=False,
    ).fit(np.zeros((12, 1)))  # fmt: skip
    resources, gamma = envelope(search.all_cv_results_)
    assert resources.tolist() == search.n_resources_[:-1]
    curves = {}
    for candidate, units, score in zip(
        *(search.all_cv_results_[k] for k in ("candidate", "n_resources", "mean_test_score")),
        strict=True,
    ):
        curves.setdefault(candidate, {})[units] = score
    for resource, largest in zip(resources, gamma, strict=True):
        assert largest == max(
            abs(score - curve[max(curve)])
            for curve in curves.values()
            for units, score in curve.items()
            if resource <= units < max(curve)
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: n_candidates_for(top=0), "top=0 must be above 0 and below 1"),
        (lambda: n_candidates_for(confidence=1), "confidence=1 must be above 0 and below 1"),
        (
            lambda: z_uniform([1.0, 1.0, 2.0], math.ceil),
            "lowest of limits occurs more than",
        ),
        (lambda: z_successive_halving([1.0, 2.0], math.ceil, -1), "epsilon=-1 must be at least 0"),
        (lambda: hyperband_h(uniform(), math.ceil, 9, 0.1, 0), "epsilon=0 must be above 0"),
        (lambda: hyperband_h(norm(), math.ceil, 9, 0.1, 1), "not bounded below"),
        (lambda: budget_for(uniform(), math.ceil, 64, 0.1, 0.1), "epsilon=0.1 is less than 0.187"),
        (lambda: sampling_gap(uniform(), 9, 1.5), "delta=1.5 must be above 0"),
        (lambda: sampling_gap(uniform(), 0, 0.1), "n=0 must be an integer of at least 1"),
        (lambda: confidence_for(-3), "n_candidates=-3 must be an integer of at least 1"),
        (lambda: z_uniform([], math.ceil), r"limits=\[\] must have a finite number for each arm"),
        (lambda: z_uniform([1.0, math.nan], math.ceil), "a finite number for each"),
        (lambda: z_uniform([math.inf, 1.0], math.ceil), "a finite number for each"),
        (
            lambda: z_successive_halving([[0.5, 0.1]], math.ceil),
            r"limits=\[\[0.5, 0.1\]\] must",
        ),
        (lambda: z_successive_halving([1.0, 2.0], math.ceil, math.nan), "epsilon=nan must be at l"),
        (lambda: hyperband_h(uniform(), math.ceil, 9, 0.1, math.nan), "epsilon=nan must be above"),
        (lambda: hyperband_h(uniform(), math.ceil, 2.5, 0.1, 1), "n=2.5 must be an integer"),
        (lambda: budget_for(uniform(), math.ceil, 64, 0.1, math.nan), "epsilon=nan is less than"),
        (lambda: sampling_gap(norm(), 1, 0.1), "not bounded below"),
        (lambda: n_candidates_for(5e-324), "top=5e-324 is too small"),
        (
            lambda: budget_for(uniform(), math.ceil, 2, 0.1, 0.4),
            r"n=2 arms are fewer than log\(2 / ",
        ),
    ],
)
def test_invalid_values_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_one_arm_needs_no_budget():
    assert z_successive_halving([0.3], math.ceil) == z_uniform([0.3], math.ceil) == 0
    assert sampling_gap(uniform(), 2, 0.01) == math.inf


@pytest.mark.parametrize("n", [64, 100, 1000])
def test_the_minimum_epsilon_of_the_message_is_large_enough(n):
    with pytest.raises(ValueError, match=r"epsilon=0\.001 is less than") as caught:
        budget_for(uniform(), math.ceil, n, 0.1, 0.001)
    minimum = float(str(caught.value).split("less than ")[1].split(",")[0])
    assert minimum == pytest.approx(4 * sampling_gap(uniform(), n, 0.1), rel=1e-5)
    assert budget_for(uniform(), lambda a: math.ceil(1 / a), n, 0.1, minimum) > 0
