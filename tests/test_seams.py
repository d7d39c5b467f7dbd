"""A sampler and an algorithm from outside of the library, through the public class."""

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from conftest import slow
from scipy.stats import loguniform, randint, uniform
from test_stopping import Stopped, ctrl_c
from toys import CALLS, Curve, numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import (
    Algorithm,
    Bounds,
    BudgetDoubling,
    FixedBudget,
    FixedSchedule,
    HalvingInTurn,
    Hyperband,
    RungLosses,
    RungRequest,
    SuccessiveHalving,
    check_algorithm,
    halving,
    promote,
)
from sklearn_sha.bandit.requests import as_rung_losses
from sklearn_sha.candidates import GridSampler, RandomSampler, Sampler, check_sampler
from sklearn_sha.candidates.registry import NAMED
from sklearn_sha.inspection import trust_report
from sklearn_sha.schedules import Schedule

X = np.zeros((40, 1))
SPACE = {"limit": uniform(0.1, 0.8), "speed": loguniform(0.1, 10)}
N_BATCH = 10

pytestmark = pytest.mark.filterwarnings("ignore:Including the fixed cost of each fit")


class NearTheBest(Sampler):
    """Random candidates at first, then neighbours of the best one."""

    uses_history = True

    def propose(self, n, space, history, rng):
        if not history.evaluations:
            return RandomSampler().propose(min(n, N_BATCH), space, history, rng)
        assert len(history.evaluations) == len(history.candidates) == N_BATCH
        best = max(history.evaluations, key=lambda evaluation: evaluation.mean_score)
        assert best.n_folds == len(best.fold_scores) == 5
        return [
            {name: value * rng.uniform(0.9, 1.1) for name, value in best.params.items()}
            for _ in range(n)
        ]


class StopsWhenStable(Algorithm):
    """Successive Halving, until the best candidate is the same in two consecutive rungs."""

    def plan(self, bounds):
        return SuccessiveHalving().plan(bounds)

    def requests(self, plan, propose):
        run = halving(plan, propose)
        request, before = next(run), None
        while True:
            losses = yield request
            best = None if losses is None else request.candidate_ids[promote(losses, 1)[0]]
            is_full = len(request.candidate_ids) == plan.rungs[0].n_candidates or request.rung
            if is_full and best is not None and best == before:
                return best
            before = best if is_full else None
            try:
                request = run.send(losses)
            except StopIteration as end:
                return end.value


def search_of(**params):
    arguments = {
        "n_candidates": 16,
        "max_resources": 16,
        "resource": "partial_fit",
        "sampler": NearTheBest(),
        "algorithm": StopsWhenStable(),
        "refit": False,
        "random_state": 0,
    }
    return SuccessiveHalvingSearchCV(Stopped(), SPACE, **arguments | params)


@pytest.fixture(scope="module")
def expected():
    return numbers(search_of().fit(X))


def test_the_sampler_fills_the_first_rung_in_two_batches():
    search = search_of().fit(X)
    first = search.rung_history_[0]
    assert first["n_candidates"] == 16
    scores = np.array(first["scores"])
    assert scores[:N_BATCH].max() < scores[N_BATCH:].max()  # it has learned
    best = search.all_cv_results_["params"][int(scores[:N_BATCH].argmax())]
    for params in search.all_cv_results_["params"][N_BATCH:16]:
        assert all(0.9 <= params[name] / best[name] <= 1.1 for name in SPACE)


def test_the_rule_stops_within_the_plan():
    search = search_of()
    plan = search.plan(X)
    search.fit(X)
    best = [np.argmax(row["scores"]) for row in search.rung_history_]
    leaders = [row["candidates"][k] for row, k in zip(search.rung_history_, best, strict=True)]
    assert leaders[-1] == leaders[-2]
    assert all(one != other for one, other in pairwise(leaders[:-1]))
    assert len(search.rung_history_) < len(plan.rungs)
    assert search.rung_history_[-1]["total_cost"] <= plan.total_cost
    assert search.best_candidate_ == leaders[-1]


def test_training_is_counted():
    CALLS.clear()
    search = search_of().fit(X)
    assert len(CALLS) == 5 * search.rung_history_[-1]["total_cost"]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("checkpointed", [False, True])
def test_the_result_is_the_same_for_any_number_of_jobs(n_jobs, checkpointed, expected, tmp_path):
    folder = tmp_path / "checkpoint" if checkpointed else None
    assert numbers(search_of(n_jobs=n_jobs, checkpoint=folder).fit(X)) == expected


@pytest.mark.parametrize("at", [0, 3, 20, 49, 50, 51, 60, 79, 80, 81, 100])
@pytest.mark.parametrize("checkpointed", [False, True])
def test_an_interrupted_search_resumes_to_the_same_result(at, checkpointed, expected, tmp_path):
    folder = tmp_path / "checkpoint" if checkpointed else None
    search = search_of(checkpoint=folder)
    CALLS.clear()
    with ctrl_c(at):
        search.fit(X)
    search = search_of(checkpoint=folder).fit(X) if checkpointed else search.resume(X)
    assert numbers(search) == expected
    cost = search.rung_history_[-1]["total_cost"]
    assert len(CALLS) <= 5 * cost + 16  # at most a job is repeated


def test_each_call_of_a_sampler_has_random_numbers_of_its_own():
    class Recording(Sampler):
        uses_history = True

        def propose(self, n, space, history, rng):
            return [{"limit": value} for value in rng.uniform(size=-(-n // 2))]

    search = search_of(sampler=Recording(), algorithm="auto").fit(X)
    assert len({params["limit"] for params in search.all_cv_results_["params"]}) == 16


def test_hyperband_takes_a_sampler():
    class Waves(NearTheBest):
        def propose(self, n, space, history, rng):
            return RandomSampler().propose(-(-n // 2), space, history, rng)

    search = HyperbandSearchCV(
        Curve(), SPACE, sampler=Waves(), resource="partial_fit", max_resources=9, random_state=0
    )
    plan = search.plan(X)
    search.fit(X)
    sizes = [bracket.n_candidates[0] for bracket in plan.brackets]
    assert [row["n_candidates"] for row in search.rung_history_ if not row["iter"]] == sizes
    params = search.results_frame()[["param_limit", "param_speed"]]
    assert len(params.drop_duplicates()) == len(params) == sum(sizes)


def test_a_sampler_that_has_no_more_candidates_ends_the_first_rung():
    class Few(Sampler):
        uses_history = True

        def propose(self, n, space, history, rng):
            return [] if history.candidates else [{"limit": 0.1}, {"limit": 0.9}, {"limit": 0.5}]

    search = search_of(sampler=Few(), algorithm="auto").fit(X)
    assert search.best_params_ == {"limit": 0.9}
    assert search.rung_history_[0]["n_candidates"] == 3


def test_an_audit_adds_no_candidates():
    """Also if the sampler would propose some now."""

    class Late(Sampler):
        uses_history = True

        def propose(self, n, space, history, rng):
            if len(history.candidates) == 3 and len(calls) < 2:
                calls.append(n)
                return []
            first = len(history.candidates)
            return [{"limit": (first + k) / 100} for k in range(min(n, 3))]

    calls = [0]
    search = search_of(sampler=Late(), algorithm="auto", min_resources=1).fit(X)
    assert calls[1:]
    before = [row["candidates"] for row in search.rung_history_ if row["iter"] == 0]
    assert before == [[0, 1, 2]]
    search.audit(X, n_candidates=1)
    assert before == [row["candidates"] for row in search.rung_history_ if row["iter"] == 0]
    assert search.all_cv_results_["audited"].sum() == 1


def test_budget_doubling_begins_each_run_with_all_candidates_of_a_sampler():
    search = search_of(algorithm="auto", budget="double", patience=None).fit(X)
    sizes = [row["n_candidates"] for row in search.rung_history_ if row["n_candidates"] == 16]
    assert len(sizes) == len(search.schedule_.brackets)
    assert numbers(search) == numbers(
        search_of(algorithm="auto", budget="double", patience=None, n_jobs=2).fit(X)
    )


def test_a_sampler_of_the_library_by_instance_is_auto():
    auto, instance = (
        SuccessiveHalvingSearchCV(
            Curve(), SPACE, sampler=s, n_candidates=8, max_resources=8, refit=False, random_state=0
        ).fit(X)
        for s in ("auto", RandomSampler())
    )
    assert numbers(auto) == numbers(instance)


def test_an_algorithm_of_the_library_by_instance_is_its_parameters():
    def fitted(**params):
        search = search_of(sampler="auto", **params).fit(X)
        return numbers(search), search.n_remaining_candidates_

    for factor in (3, 4):
        search = fitted(algorithm=SuccessiveHalving(factor))
        assert search == fitted(algorithm="auto", factor=factor)
    assert fitted(algorithm=FixedBudget(64)) == fitted(algorithm="auto", budget=64)
    assert fitted(algorithm=BudgetDoubling()) == fitted(
        algorithm="auto", budget="double", patience=2
    )


def test_an_algorithm_can_compute_with_the_losses():
    """What it computes from them are plain losses, those of a single fold."""

    class Penalized(SuccessiveHalving):
        def requests(self, plan, propose):
            inner = super().requests(plan, propose)
            request = next(inner)
            while True:
                losses = yield request
                try:
                    request = inner.send(losses + 0.1)
                except StopIteration as end:
                    return end.value

    plain = search_of(algorithm=SuccessiveHalving(stop="stable"), min_folds="all").fit(X)
    penalized = search_of(algorithm=Penalized(stop="stable"), min_folds="all").fit(X)
    assert penalized.best_params_ == plain.best_params_


def test_losses_that_were_computed_keep_which_fits_failed():
    losses = RungLosses.of(
        [0.5, 0.25, 1.0], np.ones((3, 2)), [False, False, True], [False, True, False]
    )
    computed = as_rung_losses(losses + 0.5)
    assert computed.tolist() == [1.0, 0.75, 1.5]
    assert computed.has_failed.tolist() == [False, False, True]
    assert computed.waits.tolist() == [False, True, False]
    assert computed.fold_losses.tolist() == [[1.0], [0.75], [1.5]]
    assert as_rung_losses(losses) is losses
    # In another order, they are not known.
    assert as_rung_losses(losses[[2, 0, 1]]).has_failed.tolist() == [False] * 3
    assert as_rung_losses(losses[[2, 0, 1]]).waits.tolist() == [False] * 3


def test_requests_have_integers():
    numbers = np.array([0, 2])
    request = RungRequest(np.int64(0), tuple(numbers), np.int32(3), folds=tuple(numbers))
    assert json.dumps([request.rung, request.candidate_ids, request.n_resources, request.folds])
    for wrong in ({"n_resources": 2.7}, {"candidate_ids": (0.9,)}, {"folds": (1.5,)}):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            replace(request, **wrong)


class Returns(SuccessiveHalving):
    """Returns given objects, as one does that has no `return`."""

    def __init__(self, **returned):
        super().__init__()
        self.returned = returned

    def plan(self, bounds):
        return self.returned["plan"] if "plan" in self.returned else super().plan(bounds)

    def requests(self, plan, propose):
        return self.returned["requests"]


@pytest.mark.parametrize("sampler", ["random", "model"])
def test_an_algorithm_without_a_schedule_or_requests_is_named(sampler):
    # Before, these were errors of dataclasses, lists and iterators, and the last one showed that
    # "all the 0 fits failed", which is false.
    search = search_of(sampler=sampler, n_candidates=8)
    search.set_params(algorithm=Returns(plan=None))
    with pytest.raises(TypeError, match=r"Returns\.plan returned None\. Return a Schedule"):
        search.plan(X)
    search.set_params(algorithm=Returns(plan=Schedule(())))
    with pytest.raises(
        ValueError, match=r"Returns\.plan returned a Schedule without rungs\. Return"
    ):
        search.plan(X)
    search.set_params(algorithm=Returns(requests=None))
    with pytest.raises(TypeError, match=r"Returns\.requests returned None\. Yield a RungRequest"):
        search.fit(X)
    search.set_params(algorithm=Returns(requests=(_ for _ in ())))
    with pytest.raises(ValueError, match=r"^Returns\.requests requested no rung\. Yield"):
        search.fit(X)


@pytest.mark.parametrize(
    ("sizes", "resources", "message"),
    [([6, 2], [8 / 3, 8], "resources=2.6"), ([6, 6 / 4], [2, 8], "n_candidates=1.5")],
)
def test_a_schedule_of_an_algorithm_has_integers(sizes, resources, message):
    with pytest.raises(ValueError, match=f"a value of {message}.* must be an integer"):
        Schedule.from_rungs(sizes, resources)


def test_what_is_no_sampler_or_algorithm_is_refused_by_name():
    with pytest.raises(
        TypeError, match=r'=\'sobel\' must be "auto", "random", "sobol", "model" or an instance'
    ):
        search_of(sampler="sobel").fit(X)
    with pytest.raises(TypeError, match="algorithm='asha' must be \"auto\" or an instance"):
        search_of(algorithm="asha").plan(X)
    with pytest.raises(ValueError, match=r"budget=64 and algorithm=.* both set the schedule"):
        search_of(budget=64).plan(X)
    with pytest.raises(ValueError, match=r"requires lists of values"):
        search_of(sampler=GridSampler()).plan(X)


def test_proposals_are_checked():
    class Wrong(Sampler):
        def __init__(self, returned):
            self.returned = returned

        def propose(self, n, space, history, rng):
            return self.returned

    with pytest.raises(TypeError, match=r"Wrong.propose returned 3 as a candidate"):
        search_of(sampler=Wrong([3])).fit(X)
    with pytest.raises(ValueError, match=r"returned 17 candidates for n=16"):
        search_of(sampler=Wrong([{}] * 17)).fit(X)
    with pytest.raises(TypeError, match=r"Wrong.propose returned None\. Return a list of dicts"):
        search_of(sampler=Wrong(None)).fit(X)

    for uses_history in (False, True):
        sampler = Wrong([{1: 0.5}])
        sampler.uses_history = uses_history
        with pytest.raises(
            TypeError, match=r"Wrong.propose returned {1: 0.5} as a candidate\. Ret"
        ):
            search_of(sampler=sampler).fit(X)


class Changing(Sampler):
    """Changes what it receives, but proposes the same candidates as RandomSampler."""

    uses_history = True

    def propose(self, n, space, history, rng):
        found = RandomSampler().propose(min(n, 8), space, history, rng)
        space.clear()
        for params in (*history.candidates, *(one.params for one in history.evaluations)):
            params["limit"] = 99.0
        return found


class InWaves(RandomSampler):
    uses_history = True

    def propose(self, n, space, history, rng):
        return super().propose(min(n, 8), space, history, rng)


@pytest.mark.parametrize("budget", [None, "anytime"])
def test_a_sampler_cannot_change_the_search(budget):
    space = {"limit": uniform(), "speed": uniform(1, 9)}
    expected, search = (
        SuccessiveHalvingSearchCV(
            Stopped(),
            space,
            sampler=sampler,
            budget=budget,
            n_candidates=32,
            max_resources=16,
            resource="partial_fit",
            refit=False,
            random_state=0,
        ).fit(X)
        for sampler in (InWaves(), Changing())
    )
    assert search.all_cv_results_["params"] == expected.all_cv_results_["params"]
    assert search.best_params_ == expected.best_params_
    assert sorted(space) == ["limit", "speed"]


@pytest.mark.parametrize("n", [5, *slow(1, 2, 27, 64)])
@pytest.mark.parametrize("highest", [16, *slow(1, 2, 100)])
@pytest.mark.parametrize("factor", [2, *slow(1.5, 3)])
def test_the_algorithms_keep_their_contract(n, highest, factor):
    bounds = Bounds(n, highest)
    check_algorithm(SuccessiveHalving(factor), bounds, n_seeds=3)
    check_algorithm(HalvingInTurn(factor), bounds, n_seeds=3)
    check_algorithm(BudgetDoubling(factor), bounds, n_seeds=3)
    check_algorithm(BudgetDoubling(factor, patience=None), bounds, n_seeds=3)
    check_algorithm(FixedBudget(20 * n, factor), Bounds(n, 0), n_seeds=3)
    check_algorithm(Hyperband(factor, n_repeats=2, patience=1), Bounds(0, highest), n_seeds=3)
    check_algorithm(StopsWhenStable(), bounds, n_seeds=3)


def test_the_samplers_keep_their_contract():
    check_sampler(RandomSampler(), [{"a": [1, 2, 3]}, {"b": randint(0, 9), "c": ["x", None]}])
    check_sampler(GridSampler(), {"a": [1, 2, 3], "b": [True, False]})


@pytest.mark.parametrize("name", NAMED)
def test_the_named_samplers_keep_their_contract(name):
    check_sampler(NAMED[name](), {"b": randint(0, 99), "c": uniform(), "d": ["x", None]})
    check_sampler(NAMED[name](), [{"a": [1, 2, 3]}, {"b": randint(0, 9), "c": ["x", None]}])


class BelowItsPlan(Algorithm):
    """Requests half of the resource that it has planned for the first rung."""

    def plan(self, bounds):
        return FixedSchedule([bounds.n_candidates, 1], [4, 8]).plan(bounds)

    def requests(self, plan, propose):
        ids = propose(plan.rungs[0].n_candidates)
        losses = yield RungRequest(0, ids, 2, folds=plan.rungs[0].folds)
        if losses is None:
            return None
        best = ids[promote(losses, 1)[0]]
        losses = yield RungRequest(1, (best,), 8, is_final=True)
        return None if losses is None else best


@pytest.mark.parametrize("verbose", [1, 2, 3])
def test_an_algorithm_may_request_less_than_it_plans(verbose, capsys):
    check_algorithm(BelowItsPlan(), Bounds(6, 8), n_seeds=3)
    search = search_of(algorithm=BelowItsPlan(), sampler="random", n_candidates=6, verbose=verbose)
    assert search.set_params(max_resources=8).fit(X).n_resources_ == [2, 8]
    printed = capsys.readouterr().out
    assert "rung 0/1" in printed
    assert "rung 1/1" in printed


class AddsLater(Algorithm):
    """Three candidates, and then the best of them and a new one."""

    def plan(self, bounds):
        return FixedSchedule([4, 2], [2, 8]).plan(bounds)

    def requests(self, plan, propose):
        first, last = plan.rungs
        ids = propose(3)
        losses = yield RungRequest(0, ids, first.n_resources, folds=first.folds)
        if losses is None:
            return None
        best = ids[promote(losses, 1)[0]]
        out = tuple(number for number in ids if number != best)
        ids = (best, *propose(1))
        losses = yield RungRequest(1, ids, last.n_resources, True, True, out, folds=last.folds)
        return None if losses is None else ids[promote(losses, 1)[0]]


def test_a_candidate_that_joins_a_later_rung_was_not_promoted():
    check_algorithm(AddsLater(), Bounds(4, 8), n_seeds=3)
    search = search_of(algorithm=AddsLater(), sampler="random", n_candidates=4)
    first, last = search.set_params(max_resources=8).fit(X).rung_history_
    best = int(np.argmax(first["scores"]))
    assert (first["promoted"], first["cut_score"]) == ([best], first["best_score"])
    assert last["candidates"] == [best, 3]
    report = trust_report(search)
    assert report.enough is None
    assert "were not in all rungs before it" in report.advice


class TwoRungsAtALevel(Algorithm):
    """Eliminates half of the candidates before they get more."""

    def plan(self, bounds):
        return FixedSchedule([8, 2], [2, 8]).plan(bounds)

    def requests(self, plan, propose):
        first, last = plan.rungs
        ids = propose(8)
        losses = yield RungRequest(0, ids, first.n_resources, folds=first.folds)
        for rung, n_left in ((1, 4), (2, 2)):
            if losses is None:
                return None
            best = tuple(sorted(ids[k] for k in promote(losses, n_left)))
            out = tuple(sorted({*ids} - {*best}))
            ids, is_last = best, rung == 2
            level = last if is_last else first
            losses = yield RungRequest(
                rung, ids, level.n_resources, is_last, is_last, out, folds=level.folds
            )
        return None if losses is None else ids[promote(losses, 1)[0]]


def test_an_algorithm_can_have_two_rungs_with_the_same_resource():
    check_algorithm(TwoRungsAtALevel(), Bounds(8, 8), n_seeds=3)
    search = search_of(algorithm=TwoRungsAtALevel(), sampler="random", n_candidates=8)
    assert search.set_params(max_resources=8).fit(X).n_resources_ == [2, 2, 8]


class AllNew(Algorithm):
    """Two rungs with different candidates."""

    def plan(self, bounds):
        return FixedSchedule([6, 4], [2, 8]).plan(bounds)

    def requests(self, plan, propose):
        first, last = plan.rungs
        before = propose(4)
        yield RungRequest(0, before, first.n_resources, folds=first.folds)
        ids = propose(2)
        losses = yield RungRequest(1, ids, last.n_resources, True, True, before, folds=last.folds)
        return None if losses is None else ids[promote(losses, 1)[0]]


def test_rungs_without_common_candidates_have_no_rank_correlation():
    search = search_of(algorithm=AllNew(), sampler="random", n_candidates=6)
    first, last = search.set_params(max_resources=8).fit(X).rung_history_
    assert first["promoted"] == []
    assert last["rank_correlation"] is None
    assert search.best_candidate_ in (4, 5)


class Broken(Algorithm):
    """Breaks its contract in the way that its name says."""

    def __init__(self, way):
        self.way = way
        self.calls = 0

    def plan(self, bounds):
        self.calls += 1
        if self.way == "no plan":
            return None
        n = bounds.n_candidates + (self.calls if self.way == "plan" else 0)
        return SuccessiveHalving().plan(replace(bounds, n_candidates=n))

    def requests(self, plan, propose):
        self.calls += 1
        if self.way == "no request":
            return None
        n = plan.rungs[0].n_candidates
        ids = propose(n + 1 if self.way == "too many" else n)
        if self.way == "random" and self.calls % 2:
            ids = ids[1:]
        if self.way == "not proposed":
            ids = (*ids, n)
        if self.way == "order":
            ids = ids[::-1]
        losses = yield RungRequest(0, ids, 1, is_final=self.way == "final")
        if losses is None and self.way != "failed":
            return None
        more = {"cost": plan.rungs[-1].n_resources, "resource": 1000}.get(self.way, 2)
        at = ids[:2] if more < 16 else ids
        losses = yield RungRequest(
            0 if self.way == "same number" else 1,
            at,
            more,
            self.way == "few folds",
            eliminated=(n + 5,) if self.way == "unknown" else (),
            folds=plan.rungs[0].folds,
        )
        if self.way == "numbers":
            yield RungRequest(0, ids, 4, folds=plan.rungs[0].folds)
        if self.way == "no best":
            yield RungRequest(2, at[:1], 8, is_last_rung=True)
            return None
        if self.way == "nan":
            return at[int(np.argmin(losses))]
        return 99 if self.way == "best" else at[promote(losses, 1)[0]]


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("no plan", "plan returned None instead of a Schedule"),
        ("no request", "no rung is requested"),
        ("plan", "plan differs"),
        ("random", "requests differ"),
        ("too many", "candidates are proposed, but the plan has"),
        ("not proposed", "were not proposed"),
        ("order", "do not increase"),
        ("numbers", "the numbers of the rungs of a bracket decrease"),
        ("same number", "same number of a rung have different resources or folds"),
        ("unknown", r"candidates were not proposed: .*eliminated=\(13,\)"),
        ("nan", "is returned, which failed, and others have losses"),
        ("final", "eliminated or final candidates are requested again"),
        ("few folds", "a last rung has . of 5 folds"),
        ("resource", "larger than max_resources"),
        ("cost", "cumulative cost"),
        ("failed", "all candidates failed"),
        ("best", "was not requested"),
        ("no best", "None is returned after a last rung with losses"),
    ],
)
def test_check_algorithm_finds_what_is_broken(way, message):
    with pytest.raises(AssertionError, match=message):
        check_algorithm(Broken(way), Bounds(8, 16))


@pytest.mark.parametrize("n_brackets", [1, 2])
def test_a_plan_has_the_cost_of_models_that_are_refit_whatever_the_algorithm_says(n_brackets):
    class TwoRungs(Algorithm):
        def plan(self, bounds):
            one = Schedule.from_rungs([bounds.n_candidates // n_brackets, 1], [16, 32])
            return Schedule.joined([one] * n_brackets)

        def requests(self, plan, propose):
            return halving(plan, propose)

    search = search_of(algorithm=TwoRungs(), sampler="random", n_candidates=4, max_resources=32)
    assert search.plan(X).total_cost == 4 * 16 + n_brackets * 16
    plan = search.set_params(resource="n_samples").plan(X)
    assert (plan.total_cost, plan.continues) == (4 * 16 + n_brackets * 32, False)


class Careless(Sampler):
    """Breaks its contract in the way that its name says."""

    uses_history = True

    def __init__(self, way):
        self.way = way

    def propose(self, n, space, history, rng):
        if self.way == "random":
            rng = np.random.RandomState()
        if self.way == "many":
            return [{"a": value} for value in rng.uniform(size=n + 1)]
        if self.way == "twice":
            return [{"a": 0.5}] * n
        if self.way == "name":
            return [{"b": 0.5}]
        if self.way == "none":
            return []
        if self.way == "history":
            for evaluation in history.evaluations:
                evaluation.params["a"] = 0.5
            return [{"a": float(value)} for value in rng.uniform(size=min(n, 8))]
        if self.way == "space":
            space.pop("a")
        if self.way == "eight":
            return [{"a": float(value)} for value in rng.uniform(size=8)]
        if self.way == "no list":
            return None
        if self.way == "all failed" and history.evaluations:
            max(one.mean_score for one in history.evaluations if one.mean_score == one.mean_score)
        if self.way == "one evaluation each":
            np.column_stack(([p["a"] for p in history.candidates], history.evaluations))
            n = min(n, 8)
        if self.way == "state":
            self.pool = getattr(self, "pool", rng.uniform(size=64).tolist())
            first = len(history.candidates)
            return [{"a": value} for value in self.pool[first : first + n]]
        if self.way == "counts":
            self.n_calls = getattr(self, "n_calls", 0) * bool(history.candidates) + 1
            return [{"a": float(value)} for value in rng.uniform(size=min(n, self.n_calls))]
        return [{"a": float(value)} for value in rng.uniform(size=n)]


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("random", "differ between two runs"),
        ("many", "32 candidates are proposed, but n is 31"),
        ("eight", "8 candidates are proposed, but n is 7"),
        ("no list", "None is returned instead of a list"),
        ("state", "differ between two runs"),
        ("counts", "differ between two runs"),
        ("twice", r"proposed twice: {'a': 0\.5}\. Skip those of history\.candidates"),
        ("name", "does not belong to a dict of the space"),
        ("none", "no candidate is proposed"),
        ("history", "the candidates of the history were changed"),
        ("space", "the space was changed"),
    ],
)
def test_check_sampler_finds_what_is_broken(way, message):
    with pytest.raises(AssertionError, match=message):
        check_sampler(Careless(way), {"a": uniform()})


@pytest.mark.parametrize("way", ["all failed", "one evaluation each"])
def test_check_sampler_raises_the_errors_of_a_sampler(way):
    with pytest.raises(ValueError, match=r"empty|dimension"):
        check_sampler(Careless(way), {"a": uniform()})


def test_check_sampler_takes_arrays_as_values():
    values = [np.array([0.5, 0.5]), np.array([0.3, 0.7]), np.array([0.1, 0.9])]
    check_sampler(RandomSampler(), {"priors": values})


class Forgetful(Sampler):
    """Does not look at the candidates that were proposed before."""

    def propose(self, n, space, history, rng):
        return [{"limit": value} for value in rng.uniform(size=n)]


def test_check_sampler_calls_a_sampler_without_history_as_extend_does():
    message = r"proposed twice: {'limit': .*}\. .* rng is in the same state in each call"
    with pytest.raises(AssertionError, match=message):
        check_sampler(Forgetful(), {"limit": uniform()})


@pytest.mark.filterwarnings("ignore:n_candidates=4 is more than the 3 different candidates")
@pytest.mark.parametrize("budget", [None, "anytime"])
def test_candidates_that_a_sampler_repeats_are_left_out(budget):
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": uniform()}, sampler=Forgetful(), n_candidates=4, budget=budget,
        initial_candidates=[{"limit": np.random.RandomState(0).uniform()}],
        resource="partial_fit", max_resources=8, refit=False, random_state=0,
    ).fit(X)  # fmt: skip
    limits = [params["limit"] for params in search.results_frame()["params"]]
    assert len(limits) == len(set(limits)) >= 3


def test_a_sampler_that_repeats_itself_ends_the_search_with_a_warning():
    class Stuck(Sampler):
        uses_history = True

        def propose(self, n, space, history, rng):
            return [{"limit": (k + 1) / 10} for k in range(min(n, 8))]

    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": uniform()}, sampler=Stuck(), n_candidates=32,
        resource="partial_fit", max_resources=8, refit=False,
    )  # fmt: skip
    message = (
        r"Stuck\.propose returned only known candidates, so no more are tried after these 8\. "
    )
    with pytest.warns(UserWarning, match=message):
        search.fit(X)
    assert len(search.results_frame()) == 8


@pytest.mark.parametrize("uses_history", [False, True])
@pytest.mark.parametrize("kind", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_a_sampler_without_any_candidate_is_named(kind, uses_history):
    sampler = Careless("none")
    sampler.uses_history = uses_history
    search = kind(
        Curve(), {"limit": uniform()}, sampler=sampler, resource="partial_fit", max_resources=81
    )
    with pytest.raises(ValueError, match=r"Careless\.propose returned no candidates.* Return at l"):
        search.fit(X)
