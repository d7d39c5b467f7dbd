"""More candidates after a search: as one search over all of them, without repeating any fit."""

import gc
import os
import pickle
import re
import subprocess
import sys
import warnings
import weakref
from functools import partial

import numpy as np
import pytest
from conftest import slow
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import geom, loguniform, randint, uniform
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GroupKFold, KFold, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from test_stopping import SPACE, FailsLater, Stopped, ctrl_c
from toys import CALLS, SCRIPT, Curve, numbers

from sklearn_sha import CheckpointError, HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine import engine, evaluation, preprocessing_calls
from sklearn_sha._search import base, extendable_search
from sklearn_sha._search.selection_warnings import warn_about_lost_best
from sklearn_sha._search.states import Best
from sklearn_sha.candidates import GridSampler, History, RandomSampler, Sampler, SobolSampler

X, Y = (part[:200] for part in load_digits(return_X_y=True))
NOTHING = np.zeros((12, 1))
FAILING = {**SPACE, "fails": [False, False, False, "fit", "score", "nan"]}

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")
    for warning in (
        ":sklearn.exceptions.FitFailedWarning",
        ":sklearn.exceptions.ConvergenceWarning",
        ".*(Scoring failed|non-finite|fixed cost of each fit|same score|too low to eliminate)",
    )
]


def curves(n, **params):
    """A search over curves whose training steps are counted."""
    arguments = {
        "n_candidates": n,
        "resource": "partial_fit",
        "max_resources": 16,
        "cv": KFold(3),
        "refit": False,
        "random_state": 0,
    } | params
    estimator = arguments.pop("estimator", Stopped())
    return SuccessiveHalvingSearchCV(estimator, arguments.pop("space", SPACE), **arguments)


def fitted(search):
    """Attributes that end with an underscore."""
    return {name: value for name, value in vars(search).items() if name.endswith("_")}


def sgd(n, **params):
    return SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": loguniform(1e-6, 1), "penalty": ["l1", "l2"]},
        n_candidates=n, **{"random_state": 0, "cv": 3} | params,
    )  # fmt: skip


def pipeline(n, **params):
    return SuccessiveHalvingSearchCV(
        make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
        {
            "sgdclassifier__alpha": loguniform(1e-6, 1),
            "standardscaler__with_mean": [True, False],
        },
        n_candidates=n, batch_size=50, max_resources=16, resource="partial_fit",
        scoring=["accuracy", "f1_macro"], refit="f1_macro", return_train_score=True,
        random_state=0, cv=2, **params,
    )  # fmt: skip


def forest(n, **params):
    return SuccessiveHalvingSearchCV(
        RandomForestClassifier(n_estimators=16, random_state=0),
        {"max_features": uniform(0.05, 0.5), "min_samples_leaf": randint(1, 20)},
        n_candidates=n, cv=2, random_state=0, **{"resource": "n_estimators"} | params,
    )  # fmt: skip


KINDS = {
    "samples": lambda n, **p: sgd(n, resource="n_samples", min_resources=20, **p),
    "shuffled splits": lambda n, **p: sgd(
        n, resource="n_samples", cv=KFold(4, shuffle=True, random_state=1), **p
    ),
    "epochs in random order": lambda n, **p: sgd(
        n, resource="partial_fit", max_resources=16, batch_size=30, **p
    ),
    "pipeline and metrics": pipeline,
    "trees": forest,
    "growing folds": lambda n, **p: sgd(
        n, resource="partial_fit", max_resources=16, cv=5, min_folds=3, **p
    ),
    "folds": lambda n, **p: sgd(n, resource="folds", cv=6, **p),
    "doubling": lambda n, **p: sgd(
        n, resource="partial_fit", max_resources=16, budget="double", **p
    ),
    "budget": lambda n, **p: sgd(n, resource="partial_fit", budget=300, **p),
    "spread": lambda n, **p: sgd(n, resource="n_samples", sampler="sobol", **p),
    "automatic": sgd,
    "initial candidates": lambda n, **p: sgd(
        n,
        resource="partial_fit",
        max_resources=16,
        initial_candidates=[{"alpha": 100.0}, {}],
        keep_initial=True,
        **p,
    ),
}


def all_of(search):
    """All that a search found, times aside, and what it predicts."""
    found = numbers(search)
    found["schedule"] = str(search.schedule_)
    found["failures"] = [{**row, "error": None} for row in search.failures_]
    if hasattr(search, "best_estimator_"):
        found["predicted"] = search.predict(X).tolist()
    return str(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_jobs"),
    [*((name, None) for name in KINDS), ("pipeline and metrics", 2), ("doubling", 2)],
)
@pytest.mark.filterwarnings("ignore:Candidate .* was eliminated in the search over all")
def test_extended_it_is_one_search_over_all_candidates(name, n_jobs):
    search = KINDS[name](5, n_jobs=n_jobs).fit(X, Y)
    assert search.extend(X, Y, n_candidates=6) is search
    assert search.get_params()["n_candidates"] == 5
    assert all_of(search) == all_of(KINDS[name](11).fit(X, Y))


def trained(search, known=()):
    """Evaluations (candidate, fold, resource) of a search, without those that are known."""
    rows = search.all_cv_results_
    has_fold = [search.all_cv_results_[f"split{k}_test_score"] for k in range(search.n_splits_)]
    return {
        (int(c), fold, int(r))
        for row, (c, r) in enumerate(zip(rows["candidate"], rows["n_resources"], strict=True))
        for fold, scores in enumerate(has_fold)
        if not np.isnan(scores[row])
    }.difference(known)


def units(evaluations):
    """Training steps of evaluations whose models continue from one to the next."""
    longest = {}
    for candidate, fold, n_resources in evaluations:
        key = candidate, fold
        longest[key] = max(n_resources, longest.get(key, 0))
    return sum(longest.values())


@pytest.mark.slow
@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4),
    seed=st.integers(0, 5),
    params=st.fixed_dictionaries(
        {},
        optional={
            "factor": st.sampled_from([2, 3, 2.5]),
            "min_folds": st.sampled_from([1, 2, "all"]),
            "min_resources": st.sampled_from([1, 2, 5]),
            "budget": st.just("double"),
            "sampler": st.sampled_from(["random", "sobol"]),
            "score_aggregation": st.sampled_from(["best", "mean"]),
            "stop": st.just("stable"),
            "target_score": st.sampled_from([0.3, 0.6, 0.9]),
        },
    ),
    fails=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:Candidate .* was eliminated in the search over all")
def test_in_any_steps_it_is_the_same(sizes, seed, params, fails):
    if params.get("budget") == "double":
        params.pop("stop", None)
    if fails:
        params = {**params, "space": FAILING}
    x = np.zeros((300, 1))

    def run(search, method, **more):
        try:
            getattr(search, method)(x, **more)
        except ValueError as error:
            assert "All the" in str(error) or "fits failed" in str(error)  # noqa: PT017
            return False
        return True

    expected = curves(sum(sizes), random_state=seed, **params)
    search = curves(sizes[0], random_state=seed, **params)
    if not (run(expected, "fit") and run(search, "fit")):
        return
    assert all(run(search, "extend", n_candidates=n) for n in sizes[1:])
    assert all_of(search) == all_of(expected)


@pytest.mark.parametrize("n", [(3, 5), (8, 8), (16, 1), (1, 30)])
def test_only_unknown_fits_are_made(n):
    """If models are refit at each resource, what is known is never trained again."""
    params = {"resource": "n_samples", "max_resources": "auto", "min_resources": 10}
    data = np.zeros((600, 1))
    search = curves(n[0], **params).fit(data)
    known = trained(search)
    CALLS.clear()
    expected = curves(sum(n), **params).fit(data)
    assert len(CALLS) == len(trained(expected))
    CALLS.clear()
    search.extend(data, n_candidates=n[1])
    assert len(CALLS) == len(trained(expected, known))


@pytest.mark.parametrize("n", [(3, 5), (8, 8), (16, 1), (1, 30)])
def test_models_are_trained_again_only_for_what_is_unknown(n):
    """Models of a completed search are gone: they are trained from zero if they need more."""
    search = curves(n[0]).fit(NOTHING)
    known = trained(search)
    CALLS.clear()
    search.extend(NOTHING, n_candidates=n[1])
    assert len(CALLS) == units(trained(search, known))


def test_extending_a_single_rung_trains_only_the_new_candidates():
    """A single rung at the maximum: the candidates of fit are only read."""
    search = curves(5, min_resources=1.0).fit(NOTHING)
    CALLS.clear()
    search.extend(NOTHING, n_candidates=2)
    assert len(CALLS) == 2 * 3 * 16


@pytest.mark.parametrize("checkpointed", [False, True])
def test_kept_models_of_last_steps_are_not_those_of_whole_pipelines(checkpointed, tmp_path):
    forest = RandomForestClassifier(n_estimators=8, random_state=0)
    steps = [("scale", StandardScaler()), ("forest", forest)]

    def extended(**params):
        search = SuccessiveHalvingSearchCV(
            Pipeline(steps), {"forest__max_depth": [*range(1, 9)]}, resource="forest__n_estimators",
            min_resources=2, min_folds="all", cv=2, random_state=0, **params,
        ).fit(X, Y)  # fmt: skip
        other = {"steps": [[("scale", "passthrough"), steps[-1]]], "forest__max_depth": [1, 2]}
        return search.extend(X, Y, param_grid=other)

    folder = {"checkpoint": tmp_path / "search"} if checkpointed else {}
    kept = extended(keep_eliminated=True, **folder)
    assert kept.failures_ == []
    assert all_of(kept) == all_of(extended())


class Listed(Sampler):
    def __init__(self, candidates):
        self.candidates = candidates

    def propose(self, n, space, history, rng):
        return self.candidates[:n]


class ListedInWaves(Listed):
    uses_history = True

    def propose(self, n, space, history, rng):
        return self.candidates[len(history.candidates) :][:n]


def candidates_of(search):
    first = search.all_cv_results_
    by_id = dict(zip(first["candidate"].tolist(), first["params"], strict=True))
    return [by_id[number] for number in sorted(by_id)]


def distinct(candidates):
    return len({str(sorted(params.items())) for params in candidates})


def assert_is_the_search_over(search, candidates, source=Listed, **params):
    expected = curves(len(candidates), sampler=source(candidates), **params).fit(NOTHING)
    assert numbers(search) == numbers(expected)
    assert str(search.schedule_.rungs) == str(expected.schedule_.rungs)


@pytest.mark.parametrize("sampler", ["random", "sobol"])
@pytest.mark.parametrize("name", ["param_distributions", "param_grid"])
def test_another_space_is_for_the_new_candidates_only(sampler, name):
    search = curves(8, sampler=sampler).fit(NOTHING)
    first = candidates_of(search)
    search.extend(NOTHING, n_candidates=6, **{name: {"limit": uniform(2, 1), "speed": [1.0]}})
    candidates = candidates_of(search)
    assert candidates[:8] == first
    assert all(2 <= params["limit"] <= 3 for params in candidates[8:])
    assert len(candidates) == 14
    assert_is_the_search_over(search, candidates)
    # Back in its own space, the sampler continues where it ended.
    search.extend(NOTHING, n_candidates=4)
    assert candidates_of(search)[:14] == candidates
    assert candidates_of(search)[14:] == candidates_of(curves(12, sampler=sampler).fit(NOTHING))[8:]


def test_initial_candidates_are_kept_beside_those_of_another_space():
    initial = {"initial_candidates": [{"limit": 0.05}], "keep_initial": True}
    search = curves(8, **initial).fit(NOTHING)
    first = candidates_of(search)
    assert first[0] == {"limit": 0.05, "speed": 1.0}
    search.extend(NOTHING, n_candidates=6, param_distributions={"limit": uniform(2, 1)})
    assert candidates_of(search)[:8] == first
    assert [0 in row["candidates"] for row in search.rung_history_] == [True] * search.n_iterations_


def test_candidates_of_a_shifted_space_are_not_those_of_fit_shifted():
    search = curves(8, space={"limit": uniform(0, 1)}).fit(NOTHING)
    search.extend(NOTHING, n_candidates=8, param_distributions={"limit": uniform(1, 1)})
    limits = np.array([params["limit"] for params in candidates_of(search)])
    assert not np.isclose(limits[:8, None] + 1, limits[8:]).any()


GRID = {"limit": [k / 10 for k in range(9)], "speed": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize("sampler", ["random", "sobol", GridSampler()])
def test_a_grid_is_extended_until_all_combinations_are_tried(sampler):
    search = curves(5, space=GRID, sampler=sampler).fit(NOTHING)
    for n, n_all in [(4, 9), (10, 19), ("auto", 27)]:
        known = candidates_of(search)
        search.extend(NOTHING, n_candidates=n)
        candidates = candidates_of(search)
        assert candidates[: len(known)] == known
        assert len(candidates) == distinct(candidates) == n_all
        assert_is_the_search_over(search, candidates, space=GRID)
    CALLS.clear()
    found = numbers(search)
    message = "all 27 combinations of param_distributions have been tried. Pass other values"
    with pytest.raises(ValueError, match=message):
        search.extend(NOTHING)
    known = {name: [value] for name, value in candidates_of(search)[0].items()}
    with pytest.raises(ValueError, match="the only combination of param_grid has been tried"):
        search.extend(NOTHING, param_grid=known)
    assert CALLS == []
    assert numbers(search) == found
    # The known candidates of an overlapping grid are not repeated.
    search.extend(NOTHING, param_grid={"limit": [0.1, 0.2, 7.0], "speed": [1.0, 9.0]})
    new = [(params["limit"], params["speed"]) for params in candidates_of(search)[27:]]
    assert sorted(new) == [(0.1, 9.0), (0.2, 9.0), (7.0, 1.0), (7.0, 9.0)]


@pytest.mark.parametrize("sampler", ["random", "model"])
def test_what_two_grids_have_in_common_is_counted_once(sampler):
    grids = [{"limit": [k / 10 for k in range(n)], "speed": [1.0]} for n in (20, 30)]
    search = curves(20, space=grids[0], sampler=sampler).fit(NOTHING)
    search.extend(NOTHING, param_grid=grids[1])
    whole = curves(30, space=grids[1], sampler=sampler).fit(NOTHING)
    assert distinct(candidates_of(search)) == 30
    assert search.n_candidates_ == whole.n_candidates_
    assert search.schedule_.notes == whole.schedule_.notes


class Three(Sampler):
    def propose(self, n, space, history, rng):
        return list(ParameterGrid(space))[: min(n, 3)]


def test_a_sampler_without_new_combinations_is_not_a_grid_without_them():
    search = curves(3, space=GRID, sampler=Three()).fit(NOTHING)
    message = "the sampler proposes none that is new in param_distributions"
    with pytest.raises(ValueError, match=message):
        search.extend(NOTHING, n_candidates=2)


def test_a_grid_with_too_few_combinations_is_a_warning():
    search = curves(25, space=GRID).fit(NOTHING)
    message = "n_iter=5 is more than the 2 further candidates that param_distributions holds"
    with pytest.warns(UserWarning, match=message) as caught:
        search.extend(NOTHING, n_iter=5)
    assert caught[0].filename == __file__
    assert len(candidates_of(search)) == 27


def test_the_warning_about_scarce_candidates_names_the_space_of_extend_alone():
    space = {"limit": [0.1, 0.2, 0.3, 0.4]}
    search = curves(5, space=space, initial_candidates=[{"limit": 0.5}]).fit(NOTHING)
    message = "n_candidates=3 is more than the 2 further candidates that param_grid holds; trying"
    with pytest.warns(UserWarning, match=message):
        search.extend(NOTHING, n_candidates=3, param_grid={"limit": [0.4, 0.6, 0.7]})


def test_discrete_values_are_counted_once(recwarn):
    """A second count of so skewed a distribution found fewer, and nothing was added."""
    search = curves(8, space={"speed": geom(0.5)}, sampler="model").fit(NOTHING)
    assert search.n_candidates_[0] == 8
    recwarn.clear()
    search.extend(NOTHING, n_candidates=8)
    (warning,) = recwarn
    n_new = int(re.search(r"is more than the (\d+) further", str(warning.message))[1])
    assert len(candidates_of(search)) == 8 + n_new


def test_another_lambda_as_scorer_is_an_error():
    """Before, scores of both were compared."""
    search = curves(4, scoring=lambda model, X, y=None: 0.5).fit(NOTHING)
    with pytest.raises(ValueError, match="scoring changed since"):
        search.set_params(scoring=lambda model, X, y=None: 1.0).extend(NOTHING)


def test_without_a_number_64_are_added():
    search = curves(2).fit(NOTHING).extend(NOTHING)
    assert search.n_candidates_[0] == 66


SPACES = {
    "distributions": SPACE,
    "discrete": {"limit": randint(0, 40), "speed": [1, 2, 3]},
    "list": [{"limit": uniform(0, 1)}, {"speed": [1, 2, 3], "limit": uniform(1, 1)}],
}


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [RandomSampler(), SobolSampler()])
@pytest.mark.parametrize("space", SPACES)
@example(first=120, more=1, seed=0)
@given(first=st.integers(1, 60), more=st.integers(1, 60), seed=st.integers(0, 100))
@settings(max_examples=20)
def test_samplers_continue_where_they_ended(sampler, space, first, more, seed):
    def propose(n, known):
        rng = np.random.RandomState(seed)
        return sampler.propose(n, SPACES[space], History(known), rng)

    known = propose(first, [])
    assert known + propose(more, known) == propose(first + more, [])


def test_further_candidates_of_a_grid_are_sampled_from_all_of_it():
    grid, known = {"C": list(range(20))}, [{"C": -k} for k in range(1, 50)]
    sampled = {
        params["C"]
        for seed in range(60)
        for params in RandomSampler().propose(2, grid, History(known), np.random.RandomState(seed))
    }
    assert sampled == set(range(20))


class Repeats(Sampler):
    """Proposes a candidate that is known, and new ones."""

    def propose(self, n, space, history, rng):
        known = list(history.candidates[:1])
        return known + RandomSampler().propose(n - len(known), space, history, rng)


def test_what_a_sampler_repeats_is_left_out():
    search = curves(4, sampler=Repeats()).fit(NOTHING)
    with pytest.warns(UserWarning, match="n_candidates=3 is more than the 2 further candidates"):
        search.extend(NOTHING, n_candidates=3)
    candidates = candidates_of(search)
    assert len(candidates) == distinct(candidates) == 6
    listed = curves(2, sampler=Listed(candidates)).fit(NOTHING)
    with pytest.raises(ValueError, match="the sampler proposes none that is new in param_distri"):
        listed.extend(NOTHING, n_candidates=2)


SEEN = []


class Waves(Sampler):
    """Proposes four candidates at a time, and records what it is told."""

    uses_history = True

    def propose(self, n, space, history, rng):
        SEEN.append([(e.params["limit"], e.n_resources) for e in history.evaluations])
        assert len(set(SEEN[-1])) == len(SEEN[-1])
        return RandomSampler().propose(min(n, 4), space, History(), rng)


@pytest.mark.parametrize("checkpointed", [False, True])
def test_known_candidates_are_the_history_of_a_sampler(checkpointed, tmp_path):
    folder = tmp_path / "checkpoint" if checkpointed else None
    SEEN.clear()
    search = curves(8, sampler=Waves(), checkpoint=folder).fit(NOTHING)
    assert [len(seen) for seen in SEEN] == [0, 4]
    known = [(params["limit"], n) for params, n in zip(
        search.all_cv_results_["params"], search.all_cv_results_["n_resources"], strict=True
    )]  # fmt: skip
    SEEN.clear()
    search.extend(NOTHING, n_candidates=8)
    # It knows all rungs of fit, and the known candidates at the resource of the first rung.
    assert set(known) <= set(SEEN[0])
    lowest = search.n_resources_[0]
    assert {limit for limit, n in SEEN[0] if n == lowest} == {limit for limit, _ in known}
    assert len(SEEN[1]) == len(SEEN[0]) + 4
    candidates = candidates_of(search)
    assert len(candidates) == distinct(candidates) == 16
    assert_is_the_search_over(search, candidates, ListedInWaves)
    if checkpointed:
        CALLS.clear()
        again = curves(8, sampler=Waves(), checkpoint=folder).fit(NOTHING)
        assert numbers(again.extend(NOTHING, n_candidates=8)) == numbers(search)
        assert CALLS == []


def test_waves_of_another_space():
    search = curves(8, sampler=Waves()).fit(NOTHING)
    search.extend(NOTHING, n_candidates=8, param_grid={"limit": uniform(2, 1), "speed": [1.0]})
    candidates = candidates_of(search)
    assert [params["limit"] >= 2 for params in candidates] == [False] * 8 + [True] * 8
    assert_is_the_search_over(search, candidates, ListedInWaves)


def test_an_extension_plans_for_the_values_that_a_distribution_has():
    space = {"limit": randint(1, 20), "speed": [1.0]}
    search = curves(8, space=space, sampler="model").fit(NOTHING)
    with pytest.warns(UserWarning, match="n_candidates=30 is more than the 11 further candidates"):
        search.extend(NOTHING, n_candidates=30)
    assert search.n_candidates_ == search.schedule_.n_candidates
    assert search.schedule_.n_different == 19
    with pytest.raises(ValueError, match="There are no further candidates"):
        search.extend(NOTHING, n_candidates=1)


@pytest.fixture(scope="module")
def expected():
    calls = CALLS.copy()
    found = numbers(curves(20).fit(NOTHING))
    CALLS[:] = calls
    return found


@pytest.mark.parametrize("at", [71, *slow(0, 1, 30, 110, 135)])
@pytest.mark.parametrize("checkpointed", [False, True])
def test_interrupted_it_is_resumed(at, checkpointed, expected, tmp_path):
    search = curves(8, checkpoint=tmp_path / "checkpoint" if checkpointed else None).fit(NOTHING)
    CALLS.clear()
    with ctrl_c(at):
        search.extend(NOTHING, n_candidates=12)
    with pytest.raises(ValueError, match=r"the last one was interrupted\. Call resume first"):
        search.extend(NOTHING, n_candidates=12)
    search.resume(NOTHING)
    assert numbers(search) == expected
    with pytest.raises(ValueError, match="nothing to resume"):
        search.resume(NOTHING)
    if at == 30:
        search.extend(NOTHING, n_candidates=3)
        assert numbers(search) == numbers(curves(23).fit(NOTHING))


@pytest.mark.filterwarnings("ignore:max_time=.* ended in the first rung")
def test_time_that_ends_again_and_again(monkeypatch, expected):
    for module in (engine, evaluation, preprocessing_calls, base, extendable_search):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))
    search = curves(8).fit(NOTHING).set_params(max_time=40)
    CALLS.clear()
    search.extend(NOTHING, n_candidates=12)
    n_parts = 1
    while search.interrupted_:
        search.resume(NOTHING)
        n_parts += 1
    assert n_parts > 2
    assert numbers(search) == expected


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_checkpoint_has_the_extension_too(tmp_path, expected, n_jobs):
    def search(**params):
        return curves(8, checkpoint=tmp_path / "checkpoint", n_jobs=n_jobs, **params)

    first = search().fit(NOTHING)
    found = numbers(first)
    assert numbers(first.extend(NOTHING, n_candidates=12)) == expected
    assert not [*(tmp_path / "checkpoint").glob("models-*/*")]
    CALLS.clear()
    again = search().fit(NOTHING)
    assert numbers(again) == found
    assert numbers(again.extend(NOTHING, n_candidates=12)) == expected
    assert CALLS == []
    again.extend(NOTHING, n_candidates=3)
    assert numbers(again) == numbers(curves(23).fit(NOTHING))
    # What is not a continuation is refused, by what differs.
    other = search().fit(NOTHING)
    with pytest.raises(CheckpointError, match="since fit was 'extend by 12 candidates'"):
        other.extend(NOTHING, n_candidates=13)
    with pytest.raises(CheckpointError, match=r"now 'extend by 12 candidates of another"):
        other.extend(NOTHING, n_candidates=12, param_distributions=SPACE)
    other.extend(NOTHING, n_candidates=12)
    with pytest.raises(CheckpointError, match="call number 2 since fit was 'extend by 3 "):
        other.extend(NOTHING, n_candidates=12)
    with pytest.raises(CheckpointError, match="the checkpoint of another search"):
        curves(20, checkpoint=tmp_path / "checkpoint").fit(NOTHING)
    assert numbers(search().fit(NOTHING)) == found


@pytest.mark.parametrize("at", [71, *slow(0, 1, 30, 110, 135)])
def test_the_same_two_calls_continue_an_interrupted_extension(tmp_path, at, expected):
    def search():
        return curves(8, checkpoint=tmp_path / "checkpoint")

    known = trained(search().fit(NOTHING))
    CALLS.clear()
    with ctrl_c(at):
        search().fit(NOTHING).extend(NOTHING, n_candidates=12)
    again = search().fit(NOTHING).extend(NOTHING, n_candidates=12)
    assert numbers(again) == expected
    # Only the training step that was interrupted is repeated, from the rung before.
    n_needed = units(trained(again, known))
    assert n_needed <= len(CALLS) < n_needed + 16


KILLED = """
if __name__ == "__main__":
    from sklearn_sha import SuccessiveHalvingSearchCV
    from sklearn_sha._engine import batches, evaluation
    batches.SECONDS_PER_BATCH = evaluation.SECONDS_PER_BATCH = 0.05
    search = SuccessiveHalvingSearchCV(
        Slow(), {"limit": np.linspace(0, 1, 24)}, n_candidates=4, resource="partial_fit",
        max_resources=8, cv=KFold(2), refit=False, random_state=0, checkpoint=sys.argv[1],
    ).fit(np.zeros((10, 1)))
    print(len(open(os.environ["LOG"]).readlines()))
    kill = os.environ.get("KILL")
    if kill:
        def fit(self, X, y=None, fit=Slow.fit):
            if len(open(os.environ["LOG"]).readlines()) >= int(kill):
                os.kill(os.getpid(), 9)
            return fit(self, X, y)
        Slow.partial_fit = fit
    search.extend(np.zeros((10, 1)), n_candidates=8)
    print(json.dumps(scores(search)))
"""


@pytest.mark.slow
def test_killed_in_another_process_it_continues(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + KILLED)

    def run(folder, **env):
        log = tmp_path / f"{folder}.log"
        log.touch()
        done = subprocess.run(
            [sys.executable, str(script), str(tmp_path / folder)],
            env=os.environ | {"LOG": str(log)} | env, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout.splitlines(), len(log.read_text().splitlines())

    _, (n_fit, results), n_all = run("whole")
    kill = (int(n_fit) + n_all) // 2
    code, _, _ = run("killed", KILL=str(kill))
    assert code == -9
    code, (_, found), n_trained = run("killed")
    assert code == 0
    assert found == results
    assert n_trained < n_all + 20  # jobs of 50 ms are written together: at most 3 of 8 epochs


def test_there_must_be_a_fit():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        curves(4).extend(NOTHING)


def test_an_interrupted_fit_is_resumed_first():
    search = curves(8)
    CALLS.clear()
    with ctrl_c(20):
        search.fit(NOTHING)
    with pytest.raises(ValueError, match=r"interrupted\. Call resume first"):
        search.extend(NOTHING)
    search.resume(NOTHING).extend(NOTHING, n_candidates=12)
    assert numbers(search) == numbers(curves(20).fit(NOTHING))


@pytest.mark.parametrize("min_folds", ["auto", "all"])
@pytest.mark.parametrize("name", ["trees", "growing folds", "pipeline and metrics"])
def test_kept_models_with_more_training_than_a_rung_has_are_not_scored_in_it(
    tmp_path, name, min_folds
):
    """A search over more candidates starts with less resource than the eliminated ones had."""

    def search(n, **params):
        return KINDS[name](n, **params).set_params(min_folds=min_folds)

    kept = search(4, checkpoint=tmp_path / "checkpoint", keep_eliminated=True).fit(X, Y)
    before, best, score = min(kept.n_resources_), kept.best_candidate_, kept.best_score_
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept.extend(X, Y, n_candidates=16)
    assert min(kept.n_resources_) < before
    assert all_of(kept) == all_of(search(20).fit(X, Y))
    assert not kept.failures_
    is_lower = bool(kept.best_score_ < score)
    assert is_lower == (min_folds == "all" and name != "pipeline and metrics")
    scores = f"{score:.4g}, and best_score_ is now {kept.best_score_:.4g}. To"
    text = f"Candidate {best}, the best one before extend, was eliminated"
    assert [text in str(one.message) for one in caught] == [True] * is_lower
    assert [scores in str(one.message) for one in caught] == [True] * is_lower


@pytest.mark.parametrize(("speed", "is_finalist"), [(0.5, False), (50.0, True)])
def test_a_lower_score_with_less_resource_is_no_warning(speed, is_finalist):
    """With more candidates, the last rung of a budget has less resource."""
    space = {"limit": uniform(0.3, 0.7), "speed": [20.0]}
    search = curves(4, space=space, budget=64, max_resources="auto").fit(NOTHING)
    best, n_resources, score = search.best_candidate_, search.best_n_resources_, search.best_score_
    others = {"limit": uniform(0.2, 0.05), "speed": [speed]}
    search.extend(NOTHING, n_candidates=12, param_distributions=others)
    assert search.best_n_resources_ < n_resources
    assert search.best_score_ < score
    assert (best in search.all_cv_results_["candidate"][search.cv_results_rows_]) == is_finalist


@pytest.mark.parametrize("at", [0, 40])
def test_a_lost_best_candidate_is_a_warning_after_resume_too(at):
    slow_one, others = ({"limit": [0.9], "speed": [20.0]}, {"limit": [0.1, 0.2], "speed": [0.1]})
    search = curves("auto", space=[slow_one, others]).fit(NOTHING)
    assert search.best_candidate_ == 0
    CALLS.clear()
    with ctrl_c(at):
        search.extend(NOTHING, param_grid={"limit": [k / 50 for k in range(13)], "speed": [0.1]})
    lost = r"Candidate 0, the best one before extend, was eliminated.* is 0\.4, and best_score_ is"
    with pytest.warns(UserWarning, match=lost) as caught:
        search.resume(NOTHING)
    assert len(caught) == 1
    assert search.best_score_ < 0.3


@pytest.mark.parametrize("checkpointed", [False, True])
def test_a_pickled_search_leaves_what_extend_needs_behind(tmp_path, checkpointed, expected):
    search = curves(8, checkpoint=tmp_path / "checkpoint" if checkpointed else None).fit(NOTHING)
    loaded = pickle.loads(pickle.dumps(search))
    assert numbers(loaded) == numbers(search)
    with pytest.raises(ValueError, match="extend requires the process of fit, or a checkpoint"):
        loaded.extend(NOTHING)
    assert b"_completed_search" not in pickle.dumps(search)
    if checkpointed:
        CALLS.clear()
        loaded.fit(NOTHING)
        assert CALLS == []
    else:
        loaded.fit(NOTHING)
    assert numbers(loaded.extend(NOTHING, n_candidates=12)) == expected


@pytest.mark.parametrize(
    ("change", "data", "named"),
    [
        ({"max_resources": 8}, NOTHING, "max_resources"),
        ({"estimator__growth": 1}, NOTHING, "estimator__growth"),
        ({"n_candidates": 9}, NOTHING, "n_candidates"),
        ({}, NOTHING + 1, "X"),
        ({}, NOTHING[:-1], "X"),
        ({"checkpoint": "a"}, NOTHING, r"checkpoint \(from None to "),
    ],
)
def test_what_results_depend_on_may_not_change(change, data, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search = curves(8).fit(NOTHING)
    before = search.get_params()
    CALLS.clear()
    with pytest.raises(ValueError, match=f"and the data of fit, but {named}.* changed since"):
        search.set_params(**change).extend(data, n_candidates=12)
    assert CALLS == []
    search.set_params(**before | {"n_jobs": 1}).extend(NOTHING, n_candidates=12)
    assert numbers(search) == numbers(curves(20).fit(NOTHING))


class RandomHalf(KFold):
    """Folds whose training samples are a random half, and whose test samples do not change."""

    def split(self, X, y=None, groups=None):
        for train, test in super().split(X, y, groups):
            yield np.sort(np.random.permutation(train)[: len(train) // 2]), test


@pytest.mark.parametrize("cv", [KFold(3, shuffle=True), RandomHalf(3)])
def test_splits_may_not_change(cv):
    search = curves(4, cv=cv).fit(NOTHING)
    with pytest.raises(ValueError, match=r"the splits \(cv yields others each time: give it a"):
        search.extend(NOTHING)


def test_the_resource_may_not_change():
    search = forest(16, resource="auto").fit(X, Y)
    assert search.resource_ == "n_estimators"
    message = "resource is 'folds', .* Set resource='folds', and call fit before"
    with pytest.raises(ValueError, match=message):
        search.extend(X, Y, param_grid={"n_estimators": [5, 10]})
    search.set_params(resource="n_samples").fit(X, Y)
    search.extend(X, Y, param_grid={"n_estimators": [5, 10]})
    assert search.n_candidates_[0] == 18


def test_the_number_of_further_candidates_has_the_name_of_randomized_search_too():
    expected = curves(4).fit(NOTHING).extend(NOTHING, n_candidates=3)
    assert all_of(curves(4).fit(NOTHING).extend(NOTHING, n_iter=3)) == all_of(expected)


def test_parameters_of_extend_are_checked():
    search = curves(4).fit(NOTHING)
    with pytest.raises(ValueError, match="n_candidates=0 must be an integer of at least 1"):
        search.extend(NOTHING, n_candidates=0)
    with pytest.raises(ValueError, match="n_iter=0 must be an integer of at least 1"):
        search.extend(NOTHING, n_iter=0)
    with pytest.raises(ValueError, match="n_candidates=3 and n_iter=2 are two names of the same"):
        search.extend(NOTHING, n_candidates=3, n_iter=2)
    with pytest.raises(ValueError, match="two names of the same parameter"):
        search.extend(NOTHING, param_distributions=SPACE, param_grid=SPACE)
    with pytest.raises(TypeError, match="needs to be a list or a numpy array"):
        search.extend(NOTHING, param_distributions={"limit": 1})


def test_an_invalid_name_leaves_the_search_and_its_checkpoint_as_they_are(tmp_path):
    search = curves(4, refit=True, checkpoint=tmp_path / "checkpoint").fit(NOTHING)
    before = fitted(search)
    CALLS.clear()
    with pytest.raises(ValueError, match="Invalid parameter 'maximum' for estimator Stopped"):
        search.extend(NOTHING, param_grid={"maximum": [0.5, 0.6]})
    assert CALLS == []
    assert all(vars(search)[name] is value for name, value in before.items())
    search.extend(NOTHING, param_grid={"limit": [0.5, 0.6]})
    assert search.n_candidates_[0] == 6


def test_after_an_error_in_training_the_search_is_as_before_and_can_be_extended():
    """Nothing that the failed extension has evaluated is taken for that of other candidates."""

    def search_of():
        params = {"estimator": FailsLater(), "space": {"limit": [0.1, 0.2, 0.3, 0.4]}}
        return curves(4, error_score="raise", min_folds="all", refit=True, **params).fit(NOTHING)

    search = search_of()
    before = fitted(search)
    failing = {"limit": [0.86, 0.87, 0.88, 0.89]}
    CALLS.clear()
    for call in (partial(search.extend, param_grid=failing), search.resume):
        with pytest.raises(RuntimeError, match="no longer"):
            call(NOTHING)
        assert fitted(search).keys() == before.keys()
        assert all(fitted(search)[name] is value for name, value in before.items())
    assert {limit for _, (limit, _), _ in CALLS} >= {*failing["limit"]}
    others = {"limit": [0.15, 0.16, 0.17, 0.18]}
    search.extend(NOTHING, param_grid=others)
    assert numbers(search) == numbers(search_of().extend(NOTHING, param_grid=others))
    with pytest.raises(ValueError, match="nothing to resume"):
        search.resume(NOTHING)


def test_after_an_error_in_training_the_extension_can_be_resumed(monkeypatch):
    def fails(*args):
        raise OSError("not now")

    search = curves(8, error_score="raise").fit(NOTHING)
    expected = numbers(curves(20).fit(NOTHING))
    with monkeypatch.context() as patch:
        patch.setattr(Stopped, "score", fails)
        with pytest.raises(OSError, match="not now"):
            search.extend(NOTHING, n_candidates=12)
    assert numbers(search.resume(NOTHING)) == expected


def test_missing_parameters_of_fit_are_named_without_a_hash():
    groups = np.arange(12) % 6
    search = curves(4, cv=GroupKFold(3)).fit(NOTHING, groups=groups)
    with pytest.raises(ValueError, match=r"fit parameter groups \(given then, missing now\) chang"):
        search.extend(NOTHING)


def test_other_brackets_are_added_by_their_number():
    search = HyperbandSearchCV(Curve(), SPACE)
    assert not hasattr(search, "extend")
    with pytest.raises(AttributeError, match=r"no extend: .* n_repeats"):
        search.extend(NOTHING)


def test_a_random_state_is_advanced_by_each_fit():
    state = np.random.RandomState(0)
    search = curves(8, random_state=state).fit(NOTHING)
    after = state.get_state()[2]
    search.extend(NOTHING, n_candidates=12)
    assert numbers(search) == numbers(curves(20, random_state=0).fit(NOTHING))
    assert state.get_state()[2] == after
    grid = curves("auto", space=GRID, random_state=state)
    before = state.get_state()[2]
    grid.fit(NOTHING)
    assert state.get_state()[2] != before


def test_without_a_random_state_the_extension_is_that_of_the_fit():
    search = curves(8, random_state=None).fit(NOTHING)
    first = candidates_of(search)
    search.extend(NOTHING, n_candidates=12)
    candidates = candidates_of(search)
    assert candidates[:8] == first
    assert distinct(candidates) == 20
    assert_is_the_search_over(search, candidates, random_state=None)


def test_a_completed_search_keeps_neither_data_nor_models():
    class Kept(Stopped):
        def partial_fit(self, X, y=None):
            models.append(weakref.ref(self))
            return super().partial_fit(X, y)

    models = []
    data = np.zeros((12, 1))
    alive = weakref.ref(data)
    search = curves(8, estimator=Kept()).fit(data)
    del data
    gc.collect()
    assert alive() is None
    assert [ref for ref in models if ref() is not None] == []
    assert not hasattr(search, "_interrupted_search")


def test_candidates_of_another_space_remain_in_further_extensions():
    space, other = ({"limit": [start + k / 40 for k in range(20)]} for start in (0.0, 0.5))
    search = curves(16, space=space, sampler="model").fit(NOTHING)
    search.extend(NOTHING, n_candidates=16, param_grid=other)
    before = search.results_frame()["params"].tolist()
    search.extend(NOTHING, n_candidates=4)
    after = search.results_frame()["params"].tolist()
    assert (after[:32], len(after)) == (before, 36)
    assert all(params in ParameterGrid(space) for params in after[32:])


def test_parameters_changed_in_place_are_noticed():
    initial = [{"limit": 0.5}]
    search = curves(4, initial_candidates=initial).fit(NOTHING)
    initial.append({"limit": 0.9})
    with pytest.raises(ValueError, match="initial_candidates changed since"):
        search.extend(NOTHING, n_candidates=4)
    initial.pop()
    assert search.extend(NOTHING, n_candidates=4).n_candidates_[0] == 8


@pytest.mark.parametrize("name", ["param_grid", "param_distributions"])
def test_a_space_in_the_place_of_the_data_is_named(name):
    search = SuccessiveHalvingSearchCV(Curve(), **{name: {"limit": [0.1, 0.2]}}).fit(NOTHING)
    with pytest.raises(
        TypeError, match=rf"X={{'limit': \[0.3\]}} is a dict.*extend\(X, y, {name}="
    ):
        search.extend({"limit": [0.3]})
    for method in ("extend", "audit"):
        message = rf"first arguments of {method} are X and y .*X=4 is no.*{method}\(X, y, n_cand"
        with pytest.raises(TypeError, match=message):
            getattr(search, method)(4)


def test_an_extension_by_another_grid_counts_the_combinations_of_both():
    search = curves(8, space={"limit": [k / 20 for k in range(20)]}).fit(NOTHING)
    search.extend(NOTHING, n_candidates=6, param_grid={"limit": [1 + k / 20 for k in range(10)]})
    assert "14 of the 30 combinations" in " ".join(search.schedule_.notes)


def test_scores_that_differ_by_rounding_are_no_loss():
    search = curves(4).fit(NOTHING)
    n_resources, score = search.best_n_resources_, search.best_score_
    text = "Candidate -1, the best one before extend, was eliminated"
    with pytest.warns(UserWarning, match=text):
        warn_about_lost_best(search, Best(-1, n_resources, score + 0.01))
    warn_about_lost_best(search, Best(-1, n_resources, np.nextafter(score, 2)))
