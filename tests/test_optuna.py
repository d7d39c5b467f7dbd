"""Samplers of Optuna: their candidates, what they learn from, and the same result on each run.

Collected where Optuna is installed: the extra ``optuna``, which ``ecosystem`` includes.
"""

import inspect
import logging
import re
import sys
from functools import partial
from textwrap import dedent

import numpy as np
import optuna
import pytest
from conftest import ROOT
from numpy.random import RandomState
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.samplers import BruteForceSampler, QMCSampler, TPESampler
from optuna.samplers import RandomSampler as OptunaRandomSampler
from scipy.stats import loguniform, norm, randint, reciprocal, uniform
from sklearn.linear_model import Ridge
from test_coming_from import SECTIONS, keywords, rows
from test_stopping import Stopped, ctrl_c
from toys import CALLS, numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.candidates import Evaluation, History, OptunaSampler, check_sampler
from sklearn_sha.candidates.space import params_key

X = np.zeros((40, 1))
SPACE = {"limit": uniform(0.1, 0.8), "speed": loguniform(0.1, 10)}
ANY_VALUES = [None, True, 1, 1.0, "1", (1, 2), [1], Ridge(), print]

SPACES = {
    "distributions": SPACE,
    "all kinds": {"a": uniform(-1, 2), "b": reciprocal(1, 8), "c": randint(2, 5), "d": ANY_VALUES},
    "more lists than candidates": {"a": ANY_VALUES, "b": np.linspace(0, 1, 9)},
    "few integers": {"a": randint(0, 3), "b": randint(0, 12)},
    "fewer than asked for": {"a": randint(0, 20)},
    "ranges": {"a": range(10**12), "b": range(9, 0, -4), "c": range(3, 4)},
    "list of dicts": [{"a": uniform(), "b": ["x", "y"]}, {"a": randint(0, 99)}, {"d": ANY_VALUES}],
    "dict without parameters": [{}, {"a": loguniform(1, 2)}],
    "no parameters": {},
}
SAMPLERS = {
    "TPE": TPESampler,
    "TPE of one parameter at a time": partial(TPESampler, multivariate=False, n_startup_trials=3),
    "TPE of groups": partial(TPESampler, multivariate=True, group=True, n_startup_trials=3),
    "QMC": QMCSampler,
    "scrambled Halton": partial(QMCSampler, qmc_type="halton", scramble=True),
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit"),
]


class Spy(OptunaRandomSampler):
    """Records the trials of each study, and seeds."""

    seeds: list[int] = []  # noqa: RUF012 - shared on purpose
    trials: list[list] = []  # noqa: RUF012

    def __init__(self, seed):
        super().__init__(seed=seed)
        self.seeds.append(seed)
        self.is_first = True

    def before_trial(self, study, trial):
        if self.is_first:
            self.trials.append(study.get_trials()[:-1])
            self.is_first = False


@pytest.fixture
def spy():
    Spy.seeds.clear()
    Spy.trials.clear()
    return Spy


class Constant(OptunaRandomSampler):
    """Proposes the same candidate again and again."""

    def sample_independent(self, study, trial, name, distribution):
        return distribution.low


def proposed(make_sampler, n, space, history=None, seed=0, **params):
    sampler = OptunaSampler(make_sampler, **params)
    return sampler.propose(n, space, history or History(), RandomState(seed))


def history_of(name, *rows):
    """A history of candidates with one parameter; rows are (value, scores...).

    A score is (n_resources, n_folds, mean score).
    """
    candidates = [{name: row[0]} for row in rows]
    evaluations = [
        Evaluation(params, n_resources, n_folds, score, (score,) * n_folds)
        for params, row in zip(candidates, rows, strict=True)
        for n_resources, n_folds, score in row[1:]
    ]
    return History(candidates, evaluations)


def history_with(candidates, scores):
    """A history in which all candidates have a score at the same resource."""
    pairs = zip(candidates, scores, strict=True)
    return History(candidates, [Evaluation(params, 1, 1, s, (s,)) for params, s in pairs])


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("make_sampler", SAMPLERS.values(), ids=SAMPLERS)
def test_the_contract_is_kept(make_sampler, space):
    check_sampler(OptunaSampler(make_sampler, wave_size=7), space, n_seeds=2)


def test_a_trial_has_its_parameters_in_the_order_in_which_they_are_suggested():
    """BruteForceSampler raises an error otherwise."""
    space = [{"z": [0.1, 0.2, 0.3], "x": [1, 2, 3, 4]}, {"x": [10, 11, 12], "a": [1, 2, 3]}]
    check_sampler(OptunaSampler(BruteForceSampler, 8), space, n_candidates=16, n_seeds=1)


def test_an_optuna_sampler_without_the_seed_breaks_the_contract():
    with pytest.raises(AssertionError, match="differ between two runs"):
        check_sampler(OptunaSampler(lambda seed: TPESampler()), SPACE)


def test_a_wave_has_at_most_wave_size_candidates():
    assert len(proposed(TPESampler, 40, SPACE)) == 16
    assert len(proposed(TPESampler, 40, SPACE, wave_size=7)) == 7
    assert len(proposed(TPESampler, 3, SPACE, wave_size=7)) == 3


def test_candidates_are_those_of_optuna_with_the_same_seed_and_trials():
    # The study by hand: two waves of TPE, in Optuna's own calls.
    first = proposed(TPESampler, 16, SPACE, seed=1)
    scores = [params["limit"] for params in first]
    history = history_with(first, scores)
    second = proposed(TPESampler, 16, SPACE, history, seed=2)
    seeds = [int(RandomState(k).randint(np.iinfo(np.int32).max)) for k in (1, 2)]
    distributions = {
        "limit": FloatDistribution(0.1, 0.1 + 0.8),
        "speed": FloatDistribution(0.1, 10, log=True),
    }
    study = optuna.create_study(sampler=TPESampler(seed=seeds[0]), direction="maximize")
    trials = [study.ask(distributions) for _ in range(16)]
    assert [trial.params for trial in trials] == first
    for trial, score in zip(trials, scores, strict=True):
        study.tell(trial, score)
    study.sampler = TPESampler(seed=seeds[1])
    assert [study.ask(distributions).params for _ in range(16)] == second


def near_the_optimum(seed):
    """Number of candidates in the best tenth of the space, by wave."""
    sampler = OptunaSampler(partial(TPESampler, constant_liar=True))  # the default since 5.0
    candidates, scores, counts = [], [], []
    for wave in range(4):
        history = history_with(candidates, scores)
        new = sampler.propose(99, SPACE, history, RandomState([seed, wave]))
        candidates = candidates + new
        scores = [-abs(params["limit"] - 0.5) for params in candidates]
        counts.append(sum(score > -0.04 for score in scores[-16:]))
    return counts


def test_tpe_learns_from_scores():
    # Of 16 random candidates, 1.6 are in the best tenth: 16 of 10 waves, with deviation 3.8.
    first, *_, last = np.sum([near_the_optimum(seed) for seed in range(10)], axis=0)
    assert abs(first - 16) < 12
    assert last > 45


@pytest.mark.parametrize("scramble", [False, True])
def test_qmc_has_one_candidate_in_each_part(scramble):
    # Points after the first wave are Sobol points; without scrambling, the sequence goes on.
    space = {"a": uniform(), "b": uniform()}
    history = history_with([dict.fromkeys(space, 0.123)], [0.5])
    new = proposed(partial(QMCSampler, scramble=scramble), 64, space, history, wave_size=64)
    for name in space:
        parts = np.floor(64 * np.array([params[name] for params in new])).astype(int)
        assert sorted(parts) == list(range(64))
    if not scramble:
        done = History((*history.candidates, *new), history.evaluations)
        more = proposed(QMCSampler, 64, space, done, wave_size=64, seed=1)
        both = [params["a"] for params in (*new, *more)]
        assert sorted(np.floor(128 * np.array(both)).astype(int)) == list(range(128))


def test_scores_at_the_largest_resource_are_complete_and_others_are_pruned(spy):
    history = history_of(
        "a",
        (0.1, (1, 2, 0.5)),
        (0.2, (1, 2, 0.6), (4, 2, 0.7), (4, 5, 0.65)),
        (0.3, (1, 2, 0.55), (4, 2, 0.6)),
        (0.4,),
        (0.5, (4, 5, 0.9)),
    )
    before = [*history.candidates]
    proposed(spy, 4, {"a": uniform()}, history)
    assert history.candidates == before
    (trials,) = spy.trials
    assert [(t.state.name, t.value, t.intermediate_values) for t in trials] == [
        ("PRUNED", 0.5, {0: 0.5}),
        ("COMPLETE", 0.65, {0: 0.6, 1: 0.7, 2: 0.65}),
        ("PRUNED", 0.6, {0: 0.55, 1: 0.6}),
        ("RUNNING", None, {}),
        ("COMPLETE", 0.9, {2: 0.9}),
    ]
    assert [t.params for t in trials] == before


def test_a_failed_candidate_is_the_worst_of_all(spy):
    nan = float("nan")
    history = history_of(
        "a",
        (0.1, (1, 2, 0.5)),
        (0.2, (1, 2, 0.6), (4, 2, nan)),
        (0.3, (1, 2, nan)),
        (0.4, (1, 2, 0.7), (4, 2, 0.1)),
    )
    proposed(spy, 1, {"a": uniform()}, history)
    proposed(spy, 1, {"a": uniform()}, history_of("a", (0.1, (1, 2, nan)), (0.2, (1, 2, -3.0))))
    proposed(spy, 1, {"a": uniform()}, history_of("a", (0.1, (1, 2, nan)), (0.2, (2, 2, -3.0))))
    proposed(spy, 1, {"a": uniform()}, history_of("a", (0.1, (1, 2, nan)), (0.2, (1, 2, nan))))
    assert [[(t.state.name, t.value) for t in trials] for trials in spy.trials] == [
        [("PRUNED", 0.5), ("PRUNED", 0.5), ("PRUNED", 0.5), ("COMPLETE", 0.1)],
        [("COMPLETE", -3.0), ("COMPLETE", -3.0)],
        [("COMPLETE", -3.0), ("COMPLETE", -3.0)],
        [("FAIL", None), ("FAIL", None)],
    ]


def test_tpe_avoids_candidates_that_fail():
    nan = float("nan")
    values = np.linspace(0.01, 0.99, 40)
    rows = [(v, (1, 1, nan if v > 0.3 else 0.5)) for v in values]
    new = proposed(TPESampler, 16, {"a": uniform()}, history_of("a", *rows))
    assert np.mean([params["a"] < 0.4 for params in new]) > 0.8


def test_a_candidate_that_is_not_in_the_space_is_left_out(spy):
    outside = [{"a": 2.0, "b": 3}, {"a": 0.5, "b": 9}, {"a": 0.5, "b": 2.5}, {"a": 0.5, "b": True}]
    outside += [{"a": "x", "b": 3}, {"a": 0.5}, {"a": 0.5, "b": 3, "c": 1}]
    inside = {"a": np.float64(0.5), "b": np.int64(4)}
    proposed(spy, 1, {"a": uniform(), "b": randint(2, 5)}, History([*outside, inside], []))
    (trials,) = spy.trials
    assert [trial.params for trial in trials] == [{"a": 0.5, "b": 4}]
    assert [type(value) for value in trials[0].params.values()] == [float, int]


def test_trials_are_complete_at_the_largest_resource_of_candidates_in_the_space(spy):
    """Although a candidate that is not in the space has more of it, and a lower score."""
    history = history_of("a", (2.0, (1, 2, 0.1), (4, 2, 0.2)), (0.1, (1, 2, 0.5)))
    history = History(
        [*history.candidates, {"a": 0.2}],
        [*history.evaluations, Evaluation({"a": 0.2}, 1, 2, float("nan"), ())],
    )
    proposed(spy, 1, {"a": uniform()}, history)
    (trials,) = spy.trials
    assert [(t.params, t.state.name, t.value) for t in trials] == [
        ({"a": 0.1}, "COMPLETE", 0.5), ({"a": 0.2}, "COMPLETE", 0.5),
    ]  # fmt: skip


def test_a_value_between_those_of_a_range_is_left_out(spy):
    history = History([{"a": n, "b": 0.5} for n in (1, 2, 3, 4, 5, np.int64(6), 8)], [])
    proposed(spy, 1, {"a": range(2, 7, 2), "b": uniform()}, history)
    (trials,) = spy.trials
    assert [trial.params["a"] for trial in trials] == [2, 4, 6]


def test_distributions_are_converted(spy):
    space = {
        "a": uniform(-3, 5),
        "b": loguniform(1e-4, 10),
        "c": reciprocal(2, 4, scale=3),
        "d": randint(2, 9),
        "e": randint(0, 3, loc=4),
        "f": uniform,
        "g": range(2, 9, 3),
        "h": range(5, -(10**12), -5),
    }
    (params,) = proposed(spy, 1, space)
    proposed(spy, 1, space, History([params], []))
    (trial,) = spy.trials[-1]
    assert trial.distributions == {
        "a": FloatDistribution(-3, 2),
        "b": FloatDistribution(1e-4, 10, log=True),
        "c": FloatDistribution(6, 12, log=True),
        "d": IntDistribution(2, 8),
        "e": IntDistribution(4, 6),
        "f": FloatDistribution(0, 1),
        "g": IntDistribution(2, 8, step=3),
        "h": IntDistribution(5 - 10**12, 5, step=5),
    }
    assert trial.params == params


@pytest.mark.parametrize(
    ("distribution", "described"),
    [
        (norm(), "norm()"),
        (loguniform(1, 2, loc=3), "loguniform(1, 2, loc=3)"),
        (loguniform(1e-10, 1e-8, loc=5e-9), "loguniform(1e-10, 1e-08, loc=5e-09)"),
        (loguniform(-1, 2), "loguniform(-1, 2)"),
        (uniform(0, -1), "uniform(0, -1)"),
        (randint(3, 3), "randint(3, 3)"),
        (uniform([1, 2], 3), "uniform([1, 2], 3)"),
        (type("Own", (), {"rvs": None, "__repr__": lambda self: "Own()"})(), "Own()"),
        (
            type("Own", (), {"rvs": None, "dist": uniform(), "__repr__": lambda self: "Own()"})(),
            "Own()",
        ),
    ],
)
def test_other_distributions_raise_by_name(distribution, described):
    message = f"distribution of parameter 'alpha': {described}. Use scipy.stats.uniform, loguni"
    for space in ({"alpha": distribution}, [{"a": [1]}, {"alpha": distribution}]):
        with pytest.raises(ValueError, match=re.escape(message)):
            proposed(TPESampler, 1, space)


def test_values_of_lists_are_those_of_the_space_and_are_found_again(spy):
    space = {"a": ANY_VALUES, "b": uniform()}
    new = proposed(spy, 40, space, wave_size=40)
    assert all(any(params["a"] is value for value in ANY_VALUES) for params in new)
    proposed(spy, 1, space, History(new, []))
    told = [trial.params["a"] for trial in spy.trials[-1]]
    assert [ANY_VALUES[index] for index in told] == [params["a"] for params in new]
    assert set(told) == set(range(len(ANY_VALUES)))


def test_dicts_of_a_list_have_parameters_of_their_own(spy):
    space = [{"a": uniform(), "b": ["x"]}, {"a": randint(0, 9)}]
    new = proposed(spy, 16, space)
    proposed(spy, 1, space, History(new, []))
    for params, trial in zip(new, spy.trials[-1], strict=True):
        if "b" in params:
            assert trial.params == {"space": 0, "0.a": params["a"], "0.b": 0}
        else:
            assert trial.params == {"space": 1, "1.a": params["a"]}
    assert {len(params) for params in new} == {1, 2}


def test_the_order_of_a_dict_does_not_matter():
    backwards = dict(reversed(SPACE.items()))
    assert proposed(TPESampler, 16, SPACE) == proposed(TPESampler, 16, backwards)


def test_each_wave_has_a_new_seed(spy):
    search_of(sampler=OptunaSampler(spy, 4)).fit(X)
    assert len(set(spy.seeds)) == len(spy.seeds) == 4
    assert [len(trials) for trials in spy.trials] == [0, 4, 8, 12]


def test_random_candidates_replace_repeated_ones():
    space = {"a": randint(0, 100)}
    first = proposed(Constant, 8, space)
    assert first[0] == {"a": 0}
    second = proposed(Constant, 8, space, History(first, []))
    assert len({params["a"] for params in first + second}) == 16


def test_a_space_that_fits_is_proposed_in_one_call():
    space = {"a": [1, 2, 3], "b": ["x", "y"]}
    assert len(proposed(TPESampler, 6, space, wave_size=2)) == 6
    history = History([{"a": 1, "b": "x"}], [])
    assert len(proposed(TPESampler, 5, space, history, wave_size=2)) == 5
    assert len(proposed(TPESampler, 4, space, history, wave_size=2)) == 2


@pytest.mark.parametrize("level", [optuna.logging.DEBUG, optuna.logging.CRITICAL])
def test_optuna_logs_nothing_and_keeps_its_verbosity(level, request):
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger("optuna").addHandler(handler)
    request.addfinalizer(lambda: logging.getLogger("optuna").removeHandler(handler))
    request.addfinalizer(partial(optuna.logging.set_verbosity, optuna.logging.get_verbosity()))
    optuna.logging.set_verbosity(level)
    for space in SPACES.values():
        check_sampler(OptunaSampler(QMCSampler), space, n_seeds=1)
    with pytest.raises(ZeroDivisionError):
        proposed(lambda seed: 1 / 0, 1, SPACE)
    assert optuna.logging.get_verbosity() == level
    assert not records
    optuna.create_study()
    assert len(records) == (level == optuna.logging.DEBUG)


def test_the_global_random_state_is_left_alone():
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    proposed(TPESampler, 16, SPACE)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def search_of(kind=SuccessiveHalvingSearchCV, space=SPACE, **params):
    arguments = {"sampler": OptunaSampler(TPESampler, 4), "max_resources": 8, "random_state": 0}
    if kind is SuccessiveHalvingSearchCV:
        arguments["n_candidates"] = 16
    arguments |= {"resource": "partial_fit", "refit": False}
    return kind(Stopped(), space, **arguments | params)


FAILING = [
    {"limit": uniform(0.1, 0.8), "fails": [False, False, "nan"]},
    {"limit": uniform(0.1, 0.8), "speed": loguniform(0.1, 10)},
]


@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize("space", [SPACE, FAILING], ids=["dict", "list of dicts"])
@pytest.mark.parametrize("make_sampler", [TPESampler, QMCSampler])
@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_the_result_is_the_same_for_any_number_of_jobs_and_if_resumed(
    kind, space, make_sampler, tmp_path
):
    params = {"kind": kind, "space": space, "sampler": OptunaSampler(make_sampler, 4)}
    CALLS.clear()
    search = search_of(**params).fit(X)
    n_calls, expected = len(CALLS), numbers(search)
    sizes = [row["n_candidates"] for row in search.rung_history_ if not row["iter"]]
    found = [params_key(params) for params in search.results_frame()["params"]]
    assert len(set(found)) == len(found) == sum(sizes)
    assert numbers(search_of(**params, n_jobs=2).fit(X)) == expected
    for at in (n_calls // 3, n_calls - 1):
        for folder in (None, tmp_path / str(at)):
            CALLS.clear()
            search = search_of(**params, checkpoint=folder)
            with ctrl_c(at):
                search.fit(X)
            resumed = search.resume(X) if folder is None else search_of(**params, checkpoint=folder)
            assert numbers(resumed if folder is None else resumed.fit(X)) == expected


def test_the_seed_of_the_search_matters():
    assert numbers(search_of().fit(X)) != numbers(search_of(random_state=1).fit(X))


def test_an_unsuitable_space_raises_before_training():
    CALLS.clear()
    with pytest.raises(ValueError, match=r"parameter 'limit': norm\(\). Use scipy.stats.uniform"):
        search_of(space={"limit": norm()}).fit(X)
    with pytest.raises(ValueError, match=r"parameter 'limit': norm\(\). Use scipy.stats.uniform"):
        search_of(space={"limit": norm()}).plan(X)
    assert not CALLS


@pytest.mark.parametrize("sampler", [TPESampler, TPESampler(seed=0)], ids=["class", "instance"])
def test_an_optuna_sampler_itself_raises_with_what_to_write(sampler):
    with pytest.raises(
        TypeError,
        match=r"subclass of sklearn_sha.candidates.Sampler. Use "
        r"sklearn_sha.candidates.OptunaSampler\(TPESampler\), or functools.partial\(TPESampler, ",
    ):
        search_of(sampler=sampler).fit(X)


def test_parameters_are_checked():
    with pytest.raises(
        TypeError, match=r"must be a class .* Use .*OptunaSampler\(TPESampler\), or"
    ):
        OptunaSampler(TPESampler(seed=0))
    with pytest.raises(ValueError, match="wave_size=0 must be an integer of at least 1"):
        OptunaSampler(TPESampler, wave_size=0)
    with pytest.raises(TypeError, match=r"must be a class .* Use a class of optuna.samplers"):
        OptunaSampler("tpe")


def test_without_optuna_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"requires the package optuna. Install sklearn_sha\[opt"):
        proposed(TPESampler, 1, SPACE)
    with pytest.raises(ImportError, match=r"requires the package optuna. Install sklearn_sha\[opt"):
        search_of(sampler=OptunaSampler(lambda seed: None)).plan(X)


def test_a_distribution_of_optuna_is_an_error_that_names_those_of_scipy():
    search = SuccessiveHalvingSearchCV(Ridge(), {"alpha": FloatDistribution(1e-6, 1, log=True)})
    with pytest.raises(TypeError, match=r"'alpha', Float.* has no rvs .* of scipy\.stats "):
        search.plan(np.ones((60, 2)), np.ones(60))


def test_the_example_of_the_class_runs():
    exec(dedent(inspect.getdoc(OptunaSampler).partition("::\n")[2]), {})


def test_the_example_of_the_guide_runs():
    guide = (ROOT / "docs" / "guide" / "samplers.md").read_text()
    (code,) = re.findall(r"```python\n([^`]*OptunaSampler[^`]*)```", guide)
    names = {}
    exec(code, names)
    search = names["search"]
    (printed,) = re.findall(r"search.n_candidates_  # (.*)", code)
    assert str(search.n_candidates_) == printed


def test_the_page_for_those_who_come_from_optuna_names_what_it_has():
    section = SECTIONS["Optuna"]
    callables = (
        optuna.create_study,
        optuna.Study.optimize,
        optuna.Study.enqueue_trial,
        optuna.Trial.suggest_float,
        optuna.Trial.suggest_int,
        optuna.Trial.suggest_categorical,
        optuna.pruners.SuccessiveHalvingPruner,
        optuna.pruners.HyperbandPruner,
    )
    names = {name for one in callables for name in inspect.signature(one).parameters}
    owners = {"study": optuna.Study, "trial": optuna.Trial}
    n_attributes = 0
    for there, _ in rows(section):
        assert keywords(there) <= names, there
        for owner, attribute in re.findall(r"`(study|trial)\.(\w+)", there):
            n_attributes += 1
            assert hasattr(owners[owner], attribute), attribute
        for pruner, arguments in re.findall(r"`(\w+Pruner)\(([^)]*)\)", there):
            parameters = inspect.signature(getattr(optuna.pruners, pruner)).parameters
            assert {*arguments.split(", ")} <= {*parameters}, pruner
    assert n_attributes > 6
    assert "`plot_intermediate_values(study)`" in section
    assert callable(optuna.visualization.plot_intermediate_values)
