"""Candidates proposed by a forest: it learns, from the right scores, and nothing else matters."""

import json

import joblib
import numpy as np
import pytest
from conftest import slow
from numpy.random import RandomState
from scipy.stats import loguniform, norm, randint, uniform
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve, numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import SuccessiveHalving
from sklearn_sha.candidates import (
    Evaluation,
    History,
    ModelSampler,
    RandomSampler,
    Sampler,
    SobolSampler,
    check_sampler,
)
from sklearn_sha.candidates.encoding import encoded, encoded_to_predict
from sklearn_sha.candidates.model import win_shares

X = np.zeros((40, 1))
SPACE = {
    "rate": loguniform(1e-4, 1),
    "decay": loguniform(1e-6, 1e2),
    "kind": ["relu", "tanh", None],
    "size": randint(2, 100),
}

pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")


def score(params):
    """Best at a rate of 0.01, a decay of 0.001, tanh and a size of 60."""
    return -(
        np.log10(params["rate"] / 1e-2) ** 2
        + np.log10(params["decay"] / 1e-3) ** 2 / 4
        + (params["kind"] != "tanh")
        + (params["size"] - 60) ** 2 / 1000
    )


def evaluated(candidates, scores, n_resources=1, n_folds=5):
    return [
        Evaluation(params, n_resources, n_folds, float(value), (float(value),) * n_folds)
        for params, value in zip(candidates, scores, strict=True)
    ]


def run(sampler, n, space, function, seed):
    """Candidates of a search without rungs."""
    history = History([], [])
    for call in range(n):
        size = n - len(history.candidates)
        new = sampler.propose(size, space, history, RandomState([seed, call]))
        candidates = [*history.candidates, *new]
        evaluations = [*history.evaluations, *evaluated(new, map(function, new))]
        history = History(candidates, evaluations)
        if len(candidates) == n:
            return candidates
    raise AssertionError("too few candidates")


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        SPACE,
        [{"C": loguniform(1e-3, 1e3), "kernel": ["rbf"]}, {"kernel": ["poly"], "degree": [2, 3]}],
        {"limit": norm(), "tuple": [(1,), (2, 3), "auto", 0.5, None]},
        {"n": randint(0, 40)},
        {"n": [1, True, 1.0, "1"]},
    ],
)
def test_it_fulfills_the_contract(space):
    check_sampler(ModelSampler(n_initial=4, wave_size=5), space, n_candidates=24)


@pytest.mark.slow
def test_48_candidates_are_better_than_96_random_ones():
    learned, random = (
        np.array([max(map(score, run(sampler, n, SPACE, score, seed))) for seed in range(40)])
        for sampler, n in [(ModelSampler(), 48), (RandomSampler(), 96)]
    )
    assert np.median(learned) > np.median(random)
    assert np.sum(learned > random) >= 27  # of 40: a probability of 0.02 by chance


def test_the_first_candidates_are_spread():
    history = History([], [])
    first = ModelSampler(n_initial=8).propose(20, SPACE, history, RandomState(3))
    assert first == SobolSampler().propose(8, SPACE, history, RandomState(3))


@pytest.mark.slow
@pytest.mark.parametrize(("wave_size", "exploration", "n_best"), [(12, 0.25, 9), (5, 1.0, 0)])
def test_the_share_of_a_wave_that_is_chosen_at_random(wave_size, exploration, n_best):
    sampler = ModelSampler(wave_size=wave_size, exploration=exploration)
    first = sampler.propose(16, SPACE, History(), RandomState(0))
    waves = []
    for sign in (1, -1):
        scores = [sign * score(params) for params in first]
        history = History(first, evaluated(first, scores))
        waves.append(sampler.propose(50, SPACE, history, RandomState(1)))
        assert len(waves[-1]) == wave_size
    greedy = ModelSampler(wave_size=wave_size, exploration=0)
    for sign, wave in zip((1, -1), waves, strict=True):
        scores = [sign * score(params) for params in first]
        best = greedy.propose(50, SPACE, History(first, evaluated(first, scores)), RandomState(1))
        assert wave[:n_best] == best[:n_best]
        assert all(params not in best for params in wave[n_best:])


def test_small_waves_have_random_candidates_too():
    first = SobolSampler().propose(16, SPACE, History(), RandomState(0))
    history = History(first, evaluated(first, [score(params) for params in first]))
    greedy, sampler = ModelSampler(wave_size=2, exploration=0), ModelSampler(wave_size=2)
    n_random = 0
    for seed in range(12):
        best, wave = (s.propose(2, SPACE, history, RandomState(seed)) for s in (greedy, sampler))
        assert wave[0] == best[0]
        n_random += wave[1] != best[1]
    assert 2 <= n_random <= 10  # a quarter of 24 is 6


def test_failed_candidates_are_avoided():
    sampler = ModelSampler(exploration=0)
    first = SobolSampler().propose(32, SPACE, History(), RandomState(0))
    scores = [np.nan if params["kind"] == "relu" else score(params) for params in first]
    wave = sampler.propose(16, SPACE, History(first, evaluated(first, scores)), RandomState(0))
    assert {params["kind"] for params in wave} <= {"tanh", None}


def test_all_failed_is_no_error():
    first = SobolSampler().propose(16, SPACE, History(), RandomState(0))
    history = History(first, evaluated(first, [np.nan] * 16))
    assert len(ModelSampler().propose(16, SPACE, history, RandomState(0))) == 8


def test_only_the_order_of_the_scores_matters():
    first = SobolSampler().propose(32, SPACE, History(), RandomState(0))
    scores = np.array([score(params) for params in first])
    waves = [
        ModelSampler().propose(16, SPACE, History(first, evaluated(first, values)), RandomState(0))
        for values in (scores, 5 * scores - 3, np.exp(scores), -((-scores) ** 9))
    ]
    assert all(wave == waves[0] for wave in waves)


def test_it_predicts_at_the_largest_resource():
    """Small rates are best after one epoch, large ones after 100."""
    space = {"rate": loguniform(1e-4, 1)}
    first = SobolSampler().propose(32, space, History(), RandomState(0))
    rates = np.array([np.log10(params["rate"]) for params in first])
    early = evaluated(first, -rates, n_resources=1, n_folds=1)
    late = evaluated(first, rates - 10, n_resources=100)
    sampler = ModelSampler(exploration=0, wave_size=8)
    after = [
        np.mean([np.log10(p["rate"]) for p in sampler.propose(8, space, history, RandomState(0))])
        for history in (History(first, early), History(first, early + late))
    ]
    assert after[0] < -3
    assert after[1] > -1


@pytest.mark.parametrize("seed", range(5))
def test_two_candidates_are_compared_where_both_have_scores(seed):
    rng = np.random.default_rng(seed)
    levels = [(1, 2), (1, 5), (4, 5), (9, 1)]  # from lowest to highest
    scores = {
        (number, level): rng.choice([np.nan, *range(6)], p=[0.04, *[0.16] * 6])
        for number in range(12)
        for level in levels
        if rng.random() < 0.6
    }
    failed = {number for (number, _), value in scores.items() if np.isnan(value)}
    evaluations = [
        Evaluation({"C": number}, *level, value, ()) for (number, level), value in scores.items()
    ]
    candidates, shares = win_shares(rng.permutation(np.array(evaluations, dtype=object)))
    numbers = [params["C"] for params in candidates]
    assert sorted(numbers) == sorted({number for number, _ in scores})

    def points(one, other):
        if {one, other} & failed:
            return ((other in failed) - (one in failed) + 1) / 2
        common = [level for level in levels if {(one, level), (other, level)} <= {*scores}]
        if not common:
            return 0.5
        a, b = scores[one, common[-1]], scores[other, common[-1]]
        return 0.5 if a == b else float(a > b)

    expected = [sum(points(a, b) for b in numbers if b != a) / (len(numbers) - 1) for a in numbers]
    np.testing.assert_allclose(shares, expected)


def test_after_halving_candidates_are_ranked_by_the_rung_that_they_reached():
    rng = np.random.default_rng(0)
    evaluations, reached, remaining = [], {}, list(range(32))
    for rung in range(5):
        losses = dict(zip(remaining, rng.random(len(remaining)), strict=True))
        evaluations += [Evaluation({"C": c}, 2**rung, 5, -loss, ()) for c, loss in losses.items()]
        reached |= {c: (rung, -loss) for c, loss in losses.items()}
        remaining = sorted(losses, key=losses.get)[: len(remaining) // 2]
    candidates, shares = win_shares(evaluations)
    order = [candidates[k]["C"] for k in np.argsort(shares)]
    assert order == sorted(range(32), key=reached.get)


def test_encoded_values_do_not_depend_on_the_scale():
    rng = np.random.default_rng(0)
    values = rng.uniform(-3, 3, 50)
    one = encoded([{"C": value} for value in values])
    np.testing.assert_array_equal(one, encoded([{"C": 10**value} for value in values]))
    assert one[values.argmax()] == 50


def test_encoded_values_tell_all_values_apart():
    values = [3, "a", None, 1.5, ("a", 1), np.int64(7), float("nan"), "a", True]
    codes = encoded([{"v": value} for value in values] + [{}])[:, 0]
    assert codes[1] == codes[7]
    assert len(set(codes)) == 9
    assert codes[-1] == -1 == codes.min()
    assert codes[[8, 3, 0, 5]].tolist() == [1, 2, 3, 4]  # numbers in their order, 1 == True
    assert codes[:-1].min() == 1


def test_encoded_values_may_be_of_any_size():
    values = [1, 2**64, True, np.True_, None, 10**400, np.timedelta64(1, "D")]
    codes = encoded([{"v": value} for value in values])[:, 0]
    assert codes[0] == codes[2] == codes[3] < codes[1] < codes[4] < codes[5] < codes[6]


def test_the_place_of_a_default_without_a_number_is_unknown():
    known = [{"a": None, "b": "x", "c": 1.0}, {"a": 2, "b": "y"}, {"a": 3, "b": 4, "c": "z"}]
    others = [{"a": 1, "b": 5, "c": 0.5}, {"a": True, "b": "y", "c": 2.0}]
    codes, codes_of_others = encoded_to_predict(known, others)
    plain = encoded([*known, *others])
    np.testing.assert_array_equal(codes_of_others, plain[3:])
    unknown = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 1]], dtype=bool)  # b of others has a string
    np.testing.assert_array_equal(np.isnan(codes), unknown)
    np.testing.assert_array_equal(codes[~unknown], plain[:3][~unknown])


@pytest.mark.parametrize("default", [dict.fromkeys("abc"), dict.fromkeys("abc", "auto"), {}])
def test_a_good_default_without_numbers_misleads_no_proposals(default):
    """Candidates are best at 0.2 of all parameters, far from the highest values."""
    space = dict.fromkeys("abc", uniform())
    sampler = ModelSampler(exploration=0)
    proposed = []
    for seed in range(8):
        others = SobolSampler().propose(15, space, History(), RandomState(seed))
        scores = [1.0, *(-sum(abs(value - 0.2) for value in p.values()) for p in others)]
        history = History([default, *others], evaluated([default, *others], scores))
        proposed += sampler.propose(8, space, history, RandomState(seed))
    assert 0.15 < np.mean([value for params in proposed for value in params.values()]) < 0.4


class Counted(Sampler):
    """Counts what the model sampler is asked and answers."""

    uses_history = True

    def __init__(self, **params):
        self.sampler = ModelSampler(**params)
        self.calls = []

    def propose(self, n, space, history, rng):
        new = self.sampler.propose(n, space, history, rng)
        seen = sorted({one.n_resources for one in history.evaluations})
        self.calls.append((n, len(history.candidates), seen, len(new)))
        return new


def search_of(search_class=SuccessiveHalvingSearchCV, **params):
    params = {
        "resource": "partial_fit",
        "max_resources": 16,
        "sampler": "model",
        "refit": False,
        "random_state": 0,
        **params,
    }
    space = {"limit": uniform(0.1, 0.8), "speed": loguniform(0.1, 10)}
    return search_class(Curve(), space, **params)


def test_the_first_rung_is_filled_in_waves():
    sampler = Counted()
    search = search_of(
        n_candidates=40, sampler=sampler, algorithm=SuccessiveHalving(), max_resources=32
    ).fit(X)
    first = search.schedule_.n_resources[0]
    waves = [(24, 16, [first], 8), (16, 24, [first], 8), (8, 32, [first], 8)]
    assert sampler.calls == [(40, 0, [], 16), *waves]
    assert search.n_candidates_[0] == 40


@pytest.mark.parametrize("initial", [None, [{"growth": 2}, {"growth": 9}]])
def test_a_distribution_with_few_values_is_planned_as_such(initial):
    """The values 1, 2 and 3, and initial candidates of which one is among them."""
    search = SuccessiveHalvingSearchCV(
        Curve(), {"growth": randint(1, 4)}, sampler="model", n_candidates=12, random_state=0,
        resource="partial_fit", max_resources=8, initial_candidates=initial,
    )  # fmt: skip
    n = 3 if initial is None else 4
    message = f"n_candidates=12 is more than the {n} different candidates that param_distributions"
    with pytest.warns(UserWarning, match=message):
        planned = search.plan(X).n_candidates
    with pytest.warns(UserWarning, match=message):
        search.fit(X)
    assert planned[0] == n
    assert search.n_candidates_ == planned


@pytest.mark.slow
def test_the_result_does_not_depend_on_the_workers():
    params = {"n_candidates": 40, "max_resources": 32}
    expected = numbers(search_of(**params).fit(X))
    assert numbers(search_of(**params, n_jobs=2).fit(X)) == expected
    with_threads = search_of(**params, n_jobs=2)
    with joblib.parallel_config("threading"):
        assert numbers(with_threads.fit(X)) == expected
    for backend in ("loky", "threading"):
        with joblib.parallel_config(backend, n_jobs=2):
            assert numbers(search_of(**params).fit(X)) == expected


@pytest.mark.parametrize("share", [0.5, *slow(0.1, 0.8)])
def test_a_resumed_search_proposes_the_same(share):
    CALLS.clear()
    expected = numbers(search_of(n_candidates=24).fit(X))
    n_calls = len(CALLS)
    CALLS.clear()
    search = search_of(n_candidates=24).set_params(estimator=Stopped())
    with ctrl_c(int(share * n_calls)):
        search.fit(X)
    assert numbers(search.resume(X)) == expected


@pytest.mark.slow
def test_hyperband_proposes_bracket_by_bracket():
    sampler = Counted(n_initial=4, wave_size=4)
    search = search_of(HyperbandSearchCV, sampler=sampler, factor=2).fit(X)
    sizes = [bracket.n_candidates[0] for bracket in search.schedule_.brackets]
    assert sum(call[-1] for call in sampler.calls) == sum(sizes)
    starts = np.cumsum([0, *sizes])
    resources = [seen for _, known, seen, _ in sampler.calls if known in starts]
    assert resources[0] == []
    # Each bracket begins with the results of all rungs of the previous brackets.
    assert all(seen[-1] == 16 for seen in resources[1:])
    assert len(resources) == len(sizes)


@pytest.mark.parametrize("patience", [None, 1])
def test_brackets_in_turn_have_the_results_of_brackets_together(patience):
    def scores(search):
        rows = search.results_frame()
        return json.dumps(sorted(zip(rows["param_limit"], rows["mean_test_score"], strict=True)))

    space = {"n_repeats": 2, "patience": patience, "sampler": "random"}
    together = search_of(HyperbandSearchCV, **space).fit(X)

    class InTurn(RandomSampler):
        uses_history = True
        planned = iter(together.results_frame()["params"])

        def propose(self, n, space, history, rng):
            return [next(self.planned) for _ in range(n)]

    in_turn = search_of(HyperbandSearchCV, **space | {"sampler": InTurn()}).fit(X)
    assert scores(in_turn) == scores(together)


@pytest.mark.parametrize(
    "params", [{"n_initial": 0}, {"wave_size": 1.5}, {"exploration": 1.1}, {"exploration": "all"}]
)
def test_invalid_parameters_are_refused(params):
    ((name, value),) = params.items()
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        search_of(sampler=ModelSampler(**params)).plan(X)
    CALLS.clear()
    search = search_of().fit(X)
    before, n_calls = vars(search).copy(), len(CALLS)
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        search.set_params(sampler=ModelSampler(**params)).fit(X)
    assert vars(search) == before | {"sampler": search.sampler}
    assert len(CALLS) == n_calls


def test_what_is_left_of_a_grid_is_proposed_together():
    sampler = Counted()
    search = search_of(n_candidates="auto", sampler=sampler, max_resources=32)
    search.set_params(param_distributions={"limit": [0.1, 0.5, 0.9], "speed": [*range(1, 21)]})
    assert search.fit(X).n_candidates_[0] == 60
    assert [call[0] for call in sampler.calls] == [60]
