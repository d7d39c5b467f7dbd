"""audit: eliminated candidates at full resource, what they cost, and what becomes of the best."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from conftest import slow
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.tree import DecisionTreeClassifier
from test_stopping import SPACE, Stopped, ctrl_c
from toys import CALLS, Curve, curve, numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine import engine, evaluation
from sklearn_sha._search import audited_search, base
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha.bandit import FixedSchedule
from sklearn_sha.candidates import ModelSampler
from sklearn_sha.inspection import trust, trust_advice, trust_report
from sklearn_sha.inspection.levels import cost_by_level

X, Y = (part[:300] for part in load_digits(return_X_y=True))
NOTHING = np.zeros((300, 1))

pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{warning}")
    for warning in (
        ":sklearn.exceptions.FitFailedWarning",
        ".*(Scoring failed|non-finite|fixed cost of each fit|same score|too low to eliminate)",
    )
]

SEARCHES = {
    "halving": (
        SuccessiveHalvingSearchCV,
        {"n_candidates": 12, "min_folds": "all", "min_resources": 1},
    ),
    "growing folds": (SuccessiveHalvingSearchCV, {"n_candidates": 12, "min_folds": 1}),
    "double": (
        SuccessiveHalvingSearchCV,
        {"n_candidates": 12, "budget": "double", "patience": None, "min_folds": "all"},
    ),
    "hyperband": (HyperbandSearchCV, {}),
    "model": (SuccessiveHalvingSearchCV, {"n_candidates": 20, "sampler": "model"}),
}


CROSSING = {"n_candidates": 32, "max_resources": 64}
"""With which halving is often wrong."""


def search_of(name="halving", seed=0, **params):
    kind, arguments = SEARCHES[name]
    common = {"resource": "partial_fit", "max_resources": 27, "cv": KFold(3), "refit": False}
    estimator = params.pop("estimator", Stopped())
    arguments = common | {"random_state": seed} | arguments | params
    return kind(estimator, arguments.pop("space", SPACE), **arguments)


def audited_ids(search):
    results = search.all_cv_results_
    is_audited = results.get("audited", np.zeros(len(results["candidate"]), dtype=bool))
    return sorted(results["candidate"][is_audited].tolist())


def n_steps():
    """Number of training steps since the last call."""
    n = len(CALLS)
    CALLS.clear()
    return n


@pytest.mark.parametrize("name", ["halving", *slow("growing folds", "double", "hyperband")])
@settings(max_examples=8)
@given(seed=st.integers(0, 999), n=st.integers(1, 5), keeps=st.booleans())
def test_the_riskiest_candidates_have_their_scores_at_full_resource(name, seed, n, keeps):
    search = search_of(name, seed, keep_eliminated=keeps).fit(NOTHING)
    before = trust_report(search)
    expected = [one["candidate"] for one in before.eliminated[:n]]
    history, best = search.rung_history_, search.best_score_
    CALLS.clear()
    plan = search.plan_audit(n)
    assert plan.candidates == tuple(expected)
    assert n_steps() == 0
    search.audit(NOTHING, n_candidates=n)
    counted_folds = 1 if search.schedule_.n_folds else 3
    assert n_steps() == round(plan.cost * counted_folds)  # exactly what was planned
    cost = search.rung_history_[-1]["total_cost"] if name != "hyperband" else None
    if cost is not None:
        assert cost - history[-1]["total_cost"] == plan.cost
    assert audited_ids(search) == sorted(expected)
    rows = {
        candidate: (params, score, n_resources, n_folds)
        for candidate, params, score, n_resources, n_folds, is_audited in zip(
            *(
                search.all_cv_results_[column]
                for column in ("candidate", "params", "mean_test_score", "n_resources", "n_folds")
            ),
            search.all_cv_results_["audited"],
            strict=True,
        )
        if is_audited
    }
    for params, score, n_resources, n_folds in rows.values():
        assert (n_resources, n_folds) == (27, 3)
        assert score == pytest.approx(curve(params["limit"], params["speed"], 27))
    scores = [score for _, score, _, _ in rows.values()]
    assert search.best_score_ == pytest.approx(max([best, *scores]))
    assert search.cv_results_["audited"].sum() == n
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    after = trust_report(search)
    assert {one["candidate"] for one in after.audited} == set(expected)
    left = {one["candidate"] for one in after.eliminated}
    assert left == {one["candidate"] for one in before.eliminated[n:]}
    if search.best_score_ == best:
        assert after.probability == pytest.approx(plan.probability_if_none_is_better)
        assert after.probability > before.probability
        assert "None is better than the best of the others." in after.advice
    else:
        assert [one["is_selected"] for one in after.audited] == [True] + [False] * (n - 1)
        assert f"Candidate {search.best_candidate_}, which had been elim" in after.advice
        assert "and is the selected one." in after.advice


@pytest.mark.parametrize(
    ("name", "sampler"),
    [("halving", "random"), ("double", "random"), ("hyperband", "random"), ("hyperband", "model")],
)
def test_an_audit_costs_units_at_full_resource_only(name, sampler):
    search = search_of(name, sampler=sampler).fit(NOTHING)
    before = cost_by_level(search.rung_history_)
    assert sum(before) == search.rung_history_[-1]["total_cost"]
    search.audit(NOTHING, n_candidates=6)
    after = cost_by_level(search.rung_history_)
    assert after[:-1] == before[:-1]
    assert sum(after) == search.rung_history_[-1]["total_cost"]
    costs = [row["total_cost"] for row in search.rung_history_]
    assert costs == sorted(costs)
    n_audited = len(set(audited_ids(search)))
    assert 0 < after[-1] - before[-1] <= 27 * n_audited


@pytest.mark.parametrize("name", ["halving", "growing folds", "hyperband"])
@pytest.mark.parametrize("seed", [0, *slow(1, 2, 3, 4, 5)])
def test_an_audit_of_all_candidates_is_a_grid_search(name, seed):
    search = search_of(name, seed).fit(NOTHING)
    search.audit(NOTHING, n_candidates=1000)
    candidates = {
        c: p
        for c, p in zip(*(search.all_cv_results_[k] for k in ("candidate", "params")), strict=True)
    }
    finals = [curve(p["limit"], p["speed"], 27) for p in candidates.values()]
    assert search.best_score_ == pytest.approx(max(finals))
    report = trust_report(search)
    assert report.probability == 1
    assert report.expected_loss == 0
    assert report.eliminated == ()
    with pytest.raises(ValueError, match=r"nothing to audit.*Every candidate that has a score was"):
        search.audit(NOTHING)


@pytest.mark.slow
def test_some_audits_find_a_better_candidate():
    """Otherwise the tests above would say little."""
    found = 0
    for seed in range(10):
        search = search_of(seed=seed, **CROSSING).fit(NOTHING)
        before = search.best_candidate_
        found += search.audit(NOTHING, n_candidates=5).best_candidate_ != before
    assert 2 <= found <= 9


@pytest.mark.parametrize("name", SEARCHES)
def test_in_fit_it_is_the_same_as_after_it(name):
    CALLS.clear()
    inside = search_of(name, audit_eliminated=3).fit(NOTHING)
    n_inside = n_steps()
    after = search_of(name).fit(NOTHING).audit(NOTHING, n_candidates=3)
    assert n_inside == n_steps()
    assert numbers(inside) == numbers(after)
    assert audited_ids(inside) == audited_ids(after)


@pytest.mark.slow
@settings(max_examples=20)
@given(seed=st.integers(0, 999))
def test_kept_models_change_the_cost_only(seed):
    steps, found = [], []
    for keep_eliminated in (False, True):
        CALLS.clear()
        search = search_of("growing folds", seed, keep_eliminated=keep_eliminated).fit(NOTHING)
        steps.append(n_steps())
        search.audit(NOTHING)
        steps.append(n_steps())
        found.append([search.all_cv_results_["mean_test_score"].tolist(), search.best_candidate_])
    assert found[0] == found[1]
    assert steps[0] == steps[2]
    assert steps[3] < steps[1] == 4 * 3 * 27


@pytest.mark.slow
@settings(max_examples=25)
@given(seed=st.integers(0, 999), name=st.sampled_from(["halving", "growing folds", "hyperband"]))
def test_an_automatic_audit_ends_when_it_can_be_trusted_or_costs_a_tenth(seed, name):
    params = {"n_candidates": 40} if name != "hyperband" else {}
    plain = search_of(name, seed, keep_eliminated=True, **params).fit(NOTHING)
    cost = sum(row["total_cost"] for row in plain.rung_history_[-1:])
    CALLS.clear()
    search = search_of(
        name, seed, keep_eliminated=True, audit_eliminated="auto", **params
    ).fit(NOTHING)  # fmt: skip
    total_cost = max(row["total_cost"] for row in search.rung_history_)
    assert total_cost <= 1.1 * cost
    if "audited" not in search.all_cv_results_:
        assert total_cost == cost
        return
    before, report = trust_report(plain), trust_report(search)
    assert before.probability < 0.95
    if report.probability < 0.95:  # not one more would have been within the limit
        one = report.eliminated[0]
        row = next(r for r in report.rungs if r["iter"] == one["iter"])
        n_folds, n_known = (3, row["folds"]) if search.schedule_.n_folds else (1, 1)
        assert total_cost + 27 * n_folds - one["n_resources"] * n_known > 1.1 * cost


def test_an_automatic_audit_that_would_cost_too_much_is_left_out_with_a_line(capsys):
    seed = next(s for s in range(9) if not trust_report(search_of(seed=s).fit(NOTHING)).enough)
    search = search_of(seed=seed, audit_eliminated="auto", verbose=1).fit(NOTHING)
    assert "audited" not in search.all_cv_results_
    assert (
        "The audit of a single candidate would cost more than 0.1 times the cost of the search, "
        "and is left out.\n"
    ) in capsys.readouterr().out
    search.audit(NOTHING, n_candidates=2)
    assert "left out" not in capsys.readouterr().out


def test_an_automatic_audit_needs_no_more_than_it_takes(monkeypatch):
    params = {"n_candidates": 60, "max_resources": 9, "seed": 1, "keep_eliminated": True}

    def probability(n_candidates):
        search = search_of(**params).fit(NOTHING).audit(NOTHING, n_candidates=n_candidates)
        return trust_report(search).probability

    one, two = (probability(n) - 1e-9 for n in (1, 2))  # what is left of a sum is rounded
    assert one < two
    for enough, n_needed in ((one, 1), ((one + two) / 2, 2), (two, 2)):
        for module in (trust, trust_advice):
            monkeypatch.setattr(module, "TRUSTED", enough)
        search = search_of(**params, audit_eliminated="auto").fit(NOTHING)
        assert len(audited_ids(search)) == n_needed
        assert trust_report(search).enough


@pytest.mark.parametrize("params", [{}, {"checkpoint": True}, {"keep_eliminated": True}])
@pytest.mark.parametrize("at", [30, *slow(0, 1, 100, 200)])
def test_interrupted_it_keeps_the_search_and_is_resumed(params, at, tmp_path):
    expected = search_of().fit(NOTHING).audit(NOTHING)
    if "checkpoint" in params:
        params = {"checkpoint": tmp_path / "kept"}
    search = search_of(**params).fit(NOTHING)
    best = search.best_candidate_
    CALLS.clear()
    with ctrl_c(at=at):
        search.audit(NOTHING)
    assert search.interrupted_
    assert search.best_score_ == pytest.approx(
        max(search.cv_results_["mean_test_score"])
    )  # of those that are completed
    assert best in search.all_cv_results_["candidate"][search.cv_results_rows_]
    with pytest.raises(ValueError, match="audit requires a completed search"):
        search.audit(NOTHING)
    CALLS.clear()
    search.resume(NOTHING)
    assert not search.interrupted_
    if not params.get("keep_eliminated"):
        assert numbers(search) == numbers(expected)
        assert len(CALLS) <= 4 * 3 * 27 - at + 27
    assert audited_ids(search) == audited_ids(expected)


def test_an_interrupted_audit_has_the_candidates_that_it_completed():
    search = search_of().fit(NOTHING)
    planned = search.plan_audit().candidates
    CALLS.clear()
    with ctrl_c(at=2 * 4 * 27 + 2 * 27):  # four on two folds, two of them on the third
        search.audit(NOTHING)
    assert len(audited_ids(search)) == 2
    assert {*audited_ids(search)} < {*planned}


class TwoBrackets(ModelSampler):
    """Sampler of no more than the 16 candidates of the first two brackets."""

    def propose(self, n, space, history, rng):
        is_end = len(history.candidates) >= 16
        return [] if is_end else super().propose(n, space, history, rng)


PARTS = {
    "in turn": {},
    "anytime": {"budget": "anytime"},
    "keep_eliminated": {"keep_eliminated": True},
    "keep_initial": {"initial_candidates": [{"limit": 0.9}, {"speed": 3.0}], "keep_initial": True},
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("n_more", [0, 40])
@pytest.mark.parametrize("checkpointed", [False, *slow(True)])
def test_the_completed_brackets_of_an_interrupted_search_are_audited(
    name, n_more, checkpointed, tmp_path
):
    """Interrupted at the start of the third bracket, or in it."""
    params = {"n_candidates": 32, "min_folds": "all", "refit": True, "seed": 5} | PARTS[name]
    CALLS.clear()
    expected = search_of(sampler=TwoBrackets(), **params).fit(NOTHING)
    n_calls = len(CALLS) - expected.best_n_resources_
    plans = [str(expected.plan_audit(n)) for n in (1, 4)]
    expected.audit(NOTHING)
    if checkpointed:
        params["checkpoint"] = tmp_path / "kept"
    search = search_of(sampler="model", **params)
    CALLS.clear()
    with ctrl_c(at=n_calls + n_more):
        search.fit(NOTHING)
    assert search.interrupted_
    assert {row["bracket"] for row in search.rung_history_} == ({0, 1, 2} if n_more else {0, 1})
    assert [str(search.plan_audit(n)) for n in (1, 4)] == plans
    report = trust_report(search)
    assert [one["bracket"] for one in report.brackets] == [0, 1]
    assert not report.enough
    is_cheap = report.n_to_audit * 27 <= search.rung_history_[-1]["total_cost"]
    assert is_cheap or name == "anytime"
    assert ("audit(X, y, n_candidates=" in report.advice) == is_cheap
    if is_cheap:
        cost = report.n_to_audit * 27 / search.rung_history_[-1]["total_cost"]
        assert f"for at most {np.ceil(100 * cost) / 100:.2f} times the cost" in report.advice
    assert report.advice.endswith(" Or call resume." if is_cheap else " Call resume.")
    before = len(CALLS)
    search.audit(NOTHING)
    assert numbers(search) == numbers(expected)
    assert str(trust_report(search)) == str(trust_report(expected))
    n_from_scratch = (4 * 3 + 1) * 27  # with the refit
    n_trained = len(CALLS) - before
    assert n_trained <= n_from_scratch
    assert (n_trained < n_from_scratch) == (name == "keep_eliminated")
    assert not search.interrupted_
    with pytest.raises(ValueError, match="There is nothing to resume"):
        search.resume(NOTHING)
    with pytest.raises(ValueError, match=r'of an interrupted search\.|budget="anytime"'):
        search.extend(NOTHING)
    assert numbers(search.audit(NOTHING)) == numbers(expected.audit(NOTHING))


def test_an_automatic_audit_of_completed_brackets_costs_a_tenth_of_these(monkeypatch):
    for module in (trust, trust_advice):
        monkeypatch.setattr(module, "TRUSTED", 0.999999)
    search = search_of("model", n_candidates=200, min_folds="all", max_resources=9, factor=3)
    plan = search.plan(NOTHING)
    CALLS.clear()
    with ctrl_c(at=3 * (plan.total_cost - 5)):
        search.fit(NOTHING)
    cost = plan.total_cost - plan.brackets[-1].total_cost
    planned = search.plan_audit("auto")
    assert 0.1 * cost - 9 < planned.cost <= 0.1 * cost
    assert planned.relative_cost == planned.cost / cost
    search.audit(NOTHING, n_candidates="auto")
    assert audited_ids(search) == sorted(planned.candidates)
    assert search.rung_history_[-1]["total_cost"] == cost + planned.cost


@pytest.mark.parametrize(
    "params", [{"sampler": "random"}, {"sampler": "model"}, {"target_score": 2.0}]
)
def test_an_anytime_search_that_time_ended_is_audited(params, monkeypatch):
    """Its third bracket is not begun."""
    refused = lambda self, bracket, results: "No time." if bracket == 2 else ""  # noqa: E731
    monkeypatch.setattr(BracketTimes, "refusal", refused)
    search = search_of(budget="anytime", max_time=1e9, n_candidates=32, **params).fit(NOTHING)
    assert search.interrupted_
    before = trust_report(search)
    planned = search.plan_audit()
    cost = search.rung_history_[-1]["total_cost"]
    search.audit(NOTHING)
    assert not search.interrupted_
    assert audited_ids(search) == sorted(planned.candidates)
    assert search.rung_history_[-1]["total_cost"] == pytest.approx(cost + planned.cost)
    assert trust_report(search).brackets[-1]["bracket"] == before.brackets[-1]["bracket"] == 1
    assert trust_report(search).probability > before.probability


def test_an_audit_of_an_anytime_search_begins_no_bracket(monkeypatch):
    search = search_of(budget="anytime", max_time=1e9, n_candidates=16, refit=False).fit(NOTHING)
    monkeypatch.setattr(BracketTimes, "refusal", lambda self, bracket, results: "No time.")
    for n_audited in range(1, 5):
        search.audit(NOTHING, n_candidates=1)
        assert not search.interrupted_
        assert len(audited_ids(search)) == n_audited
    bracket_of = search.results_frame().set_index("candidate")["bracket"]
    assert len({bracket_of[candidate] for candidate in audited_ids(search)}) > 1


def test_the_completed_brackets_of_hyperband_with_a_model_are_audited():
    search = search_of("hyperband", sampler="model", min_folds="all")
    n_first = search.plan(NOTHING).brackets[0].total_cost
    CALLS.clear()
    with ctrl_c(at=3 * n_first + 60):
        search.fit(NOTHING)
    assert {row["bracket"] for row in search.rung_history_} == {0, 1}
    assert {one["bracket"] for one in trust_report(search).brackets} == {0}
    assert len(audited_ids(search.audit(NOTHING))) == 4
    assert {row["bracket"] for row in search.rung_history_} == {0}


def test_an_extension_has_to_be_completed_before_an_audit():
    """It would be of fewer candidates than the search before it."""
    params = {"sampler": "model", "n_candidates": 32, "min_folds": "all"}
    CALLS.clear()
    search_of(**params).fit(NOTHING).extend(NOTHING, n_candidates=32)
    n_calls = len(CALLS)
    CALLS.clear()
    search = search_of(**params).fit(NOTHING)
    with ctrl_c(at=n_calls - 100):
        search.extend(NOTHING, n_candidates=32)
    assert {row["bracket"] for row in search.rung_history_} == {0, 1, 2, 3}
    with pytest.raises(ValueError, match=r"audit requires a completed search.* Call resume first"):
        search.audit(NOTHING)
    search.resume(NOTHING)
    assert len(search.results_frame()) == 64
    assert len(audited_ids(search.audit(NOTHING))) == 4


def test_an_interrupted_search_is_not_extended():
    search = search_of(sampler="model", n_candidates=32)
    CALLS.clear()
    with ctrl_c(at=400):
        search.fit(NOTHING)
    search.plan_audit()
    with pytest.raises(ValueError, match=r"extend requires a completed search.* Call resume first"):
        search.extend(NOTHING)


@pytest.mark.parametrize("n_left", [1, 27])
def test_a_search_that_lacks_its_refit_or_its_own_audit_is_resumed_first(n_left):
    params = {"n_candidates": 32, "sampler": "model", "audit_eliminated": 2, "refit": n_left == 1}
    CALLS.clear()
    expected = search_of(**params).fit(NOTHING)
    n_calls = len(CALLS)
    CALLS.clear()
    search = search_of(**params)
    with ctrl_c(at=n_calls - n_left):
        search.fit(NOTHING)
    with pytest.raises(ValueError, match=r"audit requires a completed search.* Call resume first"):
        search.audit(NOTHING)
    assert numbers(search.resume(NOTHING)) == numbers(expected)
    assert len(audited_ids(search.audit(NOTHING))) == 6


def test_after_two_errors_the_second_call_is_resumed(monkeypatch):
    search = search_of(error_score="raise").fit(NOTHING)
    n_calls = len(CALLS)

    def failing(self, X, y=None):
        if len(CALLS) > n_calls:
            raise RuntimeError("no more")
        return Curve.partial_fit(self, X, y)

    with monkeypatch.context() as patched:
        patched.setattr(Stopped, "partial_fit", failing)
        for n_candidates in (4, 2):
            with pytest.raises(RuntimeError, match="no more"):
                search.audit(NOTHING, n_candidates=n_candidates)
    assert len(audited_ids(search.resume(NOTHING))) == 2


def test_without_an_audit_an_interrupted_search_is_resumed():
    params = {"sampler": "model", "n_candidates": 32, "min_folds": "all"}
    CALLS.clear()
    expected = search_of(**params).fit(NOTHING)
    n_calls = len(CALLS)
    CALLS.clear()
    search = search_of(**params)
    with ctrl_c(at=n_calls // 2):
        search.fit(NOTHING)
    search.plan_audit()
    assert numbers(search.resume(NOTHING)) == numbers(expected)
    assert numbers(search.audit(NOTHING)) == numbers(expected.audit(NOTHING))


def test_the_audit_that_an_interrupted_search_had_before_it_is_not_added():
    params = {"sampler": "model", "n_candidates": 32, "min_folds": "all", "audit_eliminated": 2}
    search = search_of(**params)
    CALLS.clear()
    with ctrl_c(at=400):
        search.fit(NOTHING)
    assert {row["bracket"] for row in search.rung_history_} == {0, 1, 2}
    assert len(audited_ids(search.audit(NOTHING, n_candidates=3))) == 3


@pytest.mark.parametrize("refit", [True, False])
def test_after_an_error_in_its_audit_an_interrupted_search_can_be_resumed(refit, monkeypatch):
    params = {"sampler": "model", "n_candidates": 32, "min_folds": "all", "refit": refit}
    CALLS.clear()
    expected = search_of(**params).fit(NOTHING)
    n_all, n_calls = len(CALLS), len(CALLS) // 2
    CALLS.clear()
    search = search_of(error_score="raise", **params)
    with ctrl_c(at=n_calls):
        search.fit(NOTHING)
    before = {**vars(search)}

    def failing(self, X, y=None):
        if len(CALLS) > n_calls + 10:
            raise RuntimeError("no more")
        return Curve.partial_fit(self, X, y)

    with monkeypatch.context() as patched:
        patched.setattr(Stopped, "partial_fit", failing)
        with pytest.raises(RuntimeError, match="no more"):
            search.audit(NOTHING)
    assert vars(search) == before
    CALLS.clear()
    assert numbers(search.resume(NOTHING)) == numbers(expected)
    # Its models continue training; only the fit that was interrupted is repeated.
    assert len(CALLS) <= n_all - n_calls + 27


@pytest.mark.parametrize(("name", "at"), [("halving", 60), ("double", 200), ("hyperband", 400)])
def test_without_a_completed_bracket_an_interrupted_search_is_not_audited(name, at):
    """Budget doubling has one bracket in several runs, and those of Hyperband run together."""
    search = search_of(name)
    CALLS.clear()
    with ctrl_c(at=at):
        search.fit(NOTHING)
    assert search.interrupted_
    assert "audit(X, y" not in trust_report(search).advice
    with pytest.raises(ValueError, match=r"audit requires a completed search.* Call resume first"):
        search.audit(NOTHING)


@pytest.mark.parametrize("name", ["halving", "model"])
def test_an_audit_shows_no_time_for_rungs_that_are_not_run(name, capsys):
    search = search_of(name, verbose=1).fit(NOTHING)
    assert " s left" in capsys.readouterr().out
    search.audit(NOTHING, n_candidates=1)
    shown = capsys.readouterr().out
    assert "The audit trains 1 eliminated candidate " in shown
    assert " s left" not in shown


def test_with_a_checkpoint_the_same_calls_train_nothing_again(tmp_path):
    params = {"checkpoint": tmp_path / "kept", "keep_eliminated": True}
    first = search_of(**params).fit(NOTHING).audit(NOTHING, n_candidates=2).audit(NOTHING)
    CALLS.clear()
    again = search_of(**params).fit(NOTHING)
    assert "audited" not in again.all_cv_results_
    again.audit(NOTHING, n_candidates=2).audit(NOTHING)
    assert CALLS == []
    assert numbers(again) == numbers(first)
    assert len(audited_ids(again)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("backend", [1, 2])
def test_models_that_were_kept_continue_training_exactly(backend):
    """On real estimators, in this process and in workers, as one rung at full resource shows."""
    grid = {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 3, 10]}
    model = SGDClassifier(random_state=0)
    for resource, estimator, space in (
        ("partial_fit", model, grid),
        ("n_estimators", RandomForestClassifier(random_state=0), {"max_depth": [1, 2, 3, 5, 8]}),
        ("n_samples", DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5, 6]}),
    ):
        maximum = "auto" if resource == "n_samples" else 16
        searches = [
            SuccessiveHalvingSearchCV(
                estimator, space, resource=resource, min_resources=50 if maximum == "auto" else 1,
                max_resources=maximum, cv=3, n_jobs=backend, keep_eliminated=keeps, random_state=0,
            ).fit(X, Y).audit(X, Y, n_candidates=3)
            for keeps in (False, True)
        ]  # fmt: skip
        full = SuccessiveHalvingSearchCV(
            estimator, space, resource=resource, min_resources=1.0, max_resources=maximum, cv=3,
            random_state=0,
        ).fit(X, Y)  # fmt: skip
        expected = dict(
            zip(
                map(str, full.cv_results_["params"]),
                full.cv_results_["mean_test_score"],
                strict=True,
            )
        )
        for search in searches:
            results = search.cv_results_
            assert results["audited"].sum() == 3
            for params, score in zip(results["params"], results["mean_test_score"], strict=True):
                assert score == expected[str(params)]


@pytest.mark.slow
def test_only_another_best_candidate_is_refit():
    refits = {}
    for seed in range(10):
        search = search_of(seed=seed, refit=True, **CROSSING).fit(NOTHING)
        before, estimator = search.best_candidate_, search.best_estimator_
        CALLS.clear()
        search.audit(NOTHING)
        is_new = search.best_candidate_ != before
        refits[is_new] = len(CALLS) - 4 * 3 * 64
        assert (search.best_estimator_ is estimator) != is_new
        assert search.best_estimator_.limit == search.best_params_["limit"]
        assert search.refit_time_ >= 0
    assert refits == {False: 0, True: 64}


def test_several_metrics_and_a_callable_refit():
    def scoring(model, X, y=None):
        score = model.score(X)
        return {"good": score, "bad": -score}

    search = search_of(scoring=scoring, refit="bad", promote_by="good").fit(NOTHING)
    expected = [one["candidate"] for one in trust_report(search).eliminated[:4]]
    assert audited_ids(search.audit(NOTHING)) == sorted(expected)
    assert search.best_score_ == search.cv_results_["mean_test_bad"].max()
    seen = []

    def last(results):
        seen.append(len(results["params"]))
        return seen[-1] - 1

    search = search_of(refit=last, promote_by="score").fit(NOTHING)
    n = seen[-1]
    search.audit(NOTHING)
    assert seen[-1] == n + 4


def test_the_report_is_true_if_refit_selects_another_than_the_best():
    def worst(results):
        return int(np.argmin(results["mean_test_score"]))

    search = search_of(refit=worst, promote_by="score").fit(NOTHING).audit(NOTHING, n_candidates=6)
    report = trust_report(search)
    assert max(one["score"] for one in report.audited) > search.cv_results_["mean_test_score"].min()
    assert "None is better than the best of the others." in report.advice


def test_candidates_without_a_score_are_not_audited():
    space = SPACE | {"fails": [False, False, "nan"]}
    search = search_of(space=space, n_candidates=20).fit(NOTHING)
    finalists = search.rung_history_[-1]["candidates"]
    results = search.all_cv_results_
    params = dict(zip(results["candidate"].tolist(), results["params"], strict=True))
    failed = [candidate for candidate, one in params.items() if one["fails"]]
    assert failed
    search.audit(NOTHING, n_candidates=20)
    assert {*audited_ids(search)} == {*params}.difference(failed, finalists)


class Late(Stopped):
    """Fails after 20 epochs, unless it is the best."""

    best = 0.0

    def partial_fit(self, X, y=None):
        if getattr(self, "units_", 0) == 20 and self.limit != self.best:
            raise RuntimeError("no more")
        return super().partial_fit(X, y)


def test_candidates_that_fail_in_the_audit_change_nothing(monkeypatch):
    plain = search_of().fit(NOTHING)
    monkeypatch.setattr(Late, "best", plain.best_params_["limit"])
    search = search_of(estimator=Late()).fit(NOTHING)
    failed_before = {row["candidate"] for row in search.failures_}
    audited = [one["candidate"] for one in trust_report(search).eliminated[:3]]
    search.audit(NOTHING, n_candidates=3)
    assert audited_ids(search) == sorted(audited)
    assert {row["candidate"] for row in search.failures_} == failed_before | {*audited}
    assert search.best_params_ == plain.best_params_
    advice = trust_report(search).advice
    assert "3 of them have no score. None is better than the best of the others." in advice


def test_an_extended_search_can_be_audited_and_an_audited_one_extended():
    search = search_of().fit(NOTHING).extend(NOTHING, n_candidates=8)
    together = search_of(n_candidates=20).fit(NOTHING)
    search.audit(NOTHING), together.audit(NOTHING)
    assert numbers(search) == numbers(together)
    audited = search_of().fit(NOTHING).audit(NOTHING)
    audited.extend(NOTHING, n_candidates=8)
    CALLS.clear()
    assert "audited" not in audited.all_cv_results_
    assert numbers(audited.audit(NOTHING)) == numbers(together)
    assert n_steps() < 4 * 3 * 27


def test_the_plan_says_what_an_audit_costs():
    plain = search_of().plan(NOTHING)
    assert not any("audit" in note for note in plain.notes)
    (cost,) = plain.notes
    assert cost.startswith("Including the estimated fixed cost, ")
    first, note = search_of(audit_eliminated=3).plan(NOTHING).notes
    assert first == cost
    assert note == (
        "The audit at the end trains 3 eliminated candidates to full resource, and costs at most "
        "another 81 epochs per fold."
    )
    for name, n_brackets in (("halving", 1), ("double", 1), ("hyperband", 4)):
        plan = search_of(name, audit_eliminated=500).plan(NOTHING)
        n = plan.n_different - sum(b.n_candidates[-1] for b in plan.brackets[-n_brackets:])
        assert f"trains {n} eliminated candidates" in plan.notes[-1]
        assert f"at most another {27 * n} epochs" in plan.notes[-1]
    stops = search_of(audit_eliminated=500, n_candidates=16, max_resources=8, stop="stable")
    plan = stops.plan(NOTHING)
    assert plan.n_candidates[-1] == 2
    assert (
        f"trains 15 eliminated candidates to full resource, and costs at most another {15 * 8}"
        in plan.notes[-1]
    )
    first, note = search_of(audit_eliminated="auto").plan(NOTHING).notes
    assert first == cost
    assert note == "The audit at the end costs at most another 0.1 times as much."
    single = search_of(audit_eliminated="auto", min_resources=1.0).plan(NOTHING)
    assert not any("audit" in note for note in single.notes)


def test_progress_says_what_is_audited(capsys):
    search = search_of(verbose=1).fit(NOTHING)
    capsys.readouterr()
    plan = search.plan_audit()
    search.audit(NOTHING)
    printed = capsys.readouterr().out
    assert str(plan) + "\n" in printed
    lines = printed.splitlines()
    assert sum(line.startswith("rung ") for line in lines) == 1  # fit has shown the others
    assert lines[-1].startswith(f"rung {len(search.rung_history_) - 1}/")
    assert f"{search.rung_history_[-1]['n_candidates']} candidates, 27 epochs" in lines[-1]
    text = " ".join(str(plan).split())
    assert text.startswith("The audit trains 4 eliminated candidates to 27 epochs (candidates ")
    assert "It costs 108 epochs per fold, " in text
    assert "It costs 1 epoch per fold, " in " ".join(str(replace(plan, cost=1.0)).split())
    assert "(candidate " in " ".join(str(search_of().fit(NOTHING).plan_audit(1)).split())
    low, high = (replace(plan, probability_if_none_is_better=p) for p in (0.918, 0.999))
    endings = [" ".join(str(replace(one, probability=0.912)).split()) for one in (low, high)]
    assert endings[0].endswith("remains 0.91.")
    assert endings[1].endswith("rises from 0.91 to more than 0.99.")


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
def test_what_cannot_be_audited_is_said():
    with pytest.raises(NotFittedError):
        search_of().audit(NOTHING)
    single = search_of(min_resources=1.0).fit(NOTHING)
    with pytest.raises(ValueError, match="Every candidate that has a score was trained"):
        single.audit(NOTHING)
    with pytest.raises(
        ValueError,
        match=r"scores of the selected candidate failed or are non-finite.* fix the scorer",
    ):
        search_of(scoring=lambda model, X, y=None: np.inf).fit(NOTHING).audit(NOTHING)
    assert (
        "audited" not in search_of(min_resources=1.0, audit_eliminated=4).fit(NOTHING).cv_results_
    )
    search = search_of().fit(NOTHING)
    with pytest.raises(ValueError, match="n_candidates=0 must be an integer of at least 1"):
        search.audit(NOTHING, n_candidates=0)
    with pytest.raises(ValueError, match="audit requires the search and the data of fit, but X ch"):
        search.audit(np.ones((300, 1)))
    with pytest.raises(ValueError, match="but cv changed since"):
        search.set_params(cv=KFold(2)).audit(NOTHING)
    with pytest.raises(ValueError, match="audit requires the process of fit"):
        pickle.loads(pickle.dumps(search)).audit(NOTHING)
    with pytest.raises(ValueError, match=r'audit_eliminated=0 must be .* or "auto" or None'):
        search_of(audit_eliminated=0).fit(NOTHING)
    with pytest.raises(TypeError, match="keep_eliminated=1 must be True or False"):
        search_of(keep_eliminated=1).fit(NOTHING)
    dear = search_of(n_candidates=4, seed=1).fit(NOTHING)
    with pytest.raises(ValueError, match=r"single candidate would cost more than 0\.1 times"):
        dear.audit(NOTHING, n_candidates="auto")


def test_a_loaded_search_recommends_no_audit():
    params = {"n_candidates": 60, "max_resources": 9}
    searches = (search_of(seed=seed, **params).fit(NOTHING) for seed in range(20))
    search = next(one for one in searches if "audit(" in trust_report(one).advice)
    assert "audit(" not in trust_report(pickle.loads(pickle.dumps(search))).advice


def test_as_good_is_not_better():
    class Same(Stopped):
        def score(self, X, y=None):
            return min(super().score(X), 0.2)

    search = search_of(estimator=Same()).fit(NOTHING)
    best = search.best_candidate_
    search.audit(NOTHING, n_candidates=11)
    assert np.isclose(search.cv_results_["mean_test_score"], 0.2).sum() > 3
    assert search.best_candidate_ == best
    assert search.rung_history_[-1]["promoted"] == [best]
    assert "None is better than the best of the others." in trust_report(search).advice


def test_as_good_as_what_an_earlier_audit_found_is_not_better():
    finalists = {params["limit"] for params in search_of().fit(NOTHING).cv_results_["params"]}

    class LateBloomer(Stopped):
        def score(self, X, y=None):
            is_late = self.units_ == 27 and self.limit not in finalists
            return 0.99 if is_late else super().score(X)

    search = search_of(estimator=LateBloomer()).fit(NOTHING).audit(NOTHING, n_candidates=1)
    best = search.best_candidate_
    for _ in range(6):
        search.audit(NOTHING, n_candidates=1)
        assert search.best_candidate_ == best
        assert search.rung_history_[-1]["promoted"] == [best]
    assert min(audited_ids(search)) < best
    report = trust_report(search)
    assert report.audited[0]["candidate"] == best
    assert f"Candidate {best}, which had been eliminated" in report.advice
    assert "and is the selected one" in report.advice


def test_an_interrupted_audit_leaves_the_model_of_the_search():
    search = search_of(refit=True).fit(NOTHING)
    estimator = search.best_estimator_
    with ctrl_c(at=len(CALLS) + 5):
        search.audit(NOTHING)
    assert search.best_estimator_ is estimator
    assert search.interrupted_
    n = len(CALLS)
    search.resume(NOTHING)
    # Only a new best candidate is refit.
    assert 4 * 3 * 27 - 5 <= len(CALLS) - n <= 4 * 3 * 27 + 27
    assert not search.interrupted_


@pytest.mark.parametrize("refit", [True, False])
def test_after_an_error_the_search_is_as_before(refit, monkeypatch):
    search = search_of(refit=refit, estimator=Late(), error_score="raise")
    monkeypatch.setattr(Late, "best", search_of().fit(NOTHING).best_params_["limit"])
    before = {**vars(search.fit(NOTHING))}
    with pytest.raises(RuntimeError, match="no more"):
        search.audit(NOTHING)
    assert {name: vars(search)[name] for name in before} == before
    assert not search.interrupted_
    with ctrl_c(at=len(CALLS) + 1):
        search.audit(NOTHING)
    with pytest.raises(RuntimeError, match="no more"):
        search.resume(NOTHING)
    assert search.best_candidate_ == before["best_candidate_"]
    assert hasattr(search, "best_estimator_") == refit
    assert search.interrupted_
    monkeypatch.setattr(Late, "partial_fit", Stopped.partial_fit)
    assert len(audited_ids(search.resume(NOTHING))) == 4
    assert not search.interrupted_


def test_changed_results_do_not_change_the_candidates():
    search, expected = search_of().fit(NOTHING), search_of().fit(NOTHING)
    for params in (*search.all_cv_results_["params"], *search.cv_results_["params"]):
        params["limit"] = 7.0
    audited, known = search.audit(NOTHING), expected.audit(NOTHING)
    assert audited.all_cv_results_["params"] == known.all_cv_results_["params"]
    assert audited.best_score_ == known.best_score_


@pytest.mark.parametrize(("name", "value"), [("n_jobs", 0), ("fit_timeout", 60)])
def test_a_parameter_that_cannot_be_used_does_not_lose_the_search(name, value):
    search = search_of(refit=True).fit(NOTHING)
    before = {**vars(search)}
    with pytest.raises(ValueError, match=name):
        search.set_params(**{name: value}).audit(NOTHING)
    assert vars(search.set_params(**{name: before[name]})).items() >= before.items()
    assert len(audited_ids(search.audit(NOTHING))) == 4


def test_an_audit_that_runs_out_of_time_is_a_warning(monkeypatch):
    for module in (engine, base, audited_search, evaluation):
        monkeypatch.setattr(module, "time", lambda: float(len(CALLS)))
    search = search_of().fit(NOTHING)
    best = search.best_candidate_
    with pytest.warns(UserWarning, match="in its audit, when 0 of 4 candidates were trained"):
        search.set_params(max_time=30).audit(NOTHING)
    assert search.best_candidate_ == best
    assert search.interrupted_
    assert len(audited_ids(search.set_params(max_time=None).resume(NOTHING))) == 4


@pytest.mark.filterwarnings("ignore:param_distributions holds 10 different candidates")
def test_combinations_that_brackets_share_are_one_risk():
    grid = {"limit": [0.1, 0.3, 0.5, 0.7, 0.9], "speed": [1.0, 10.0]}
    search = HyperbandSearchCV(
        Stopped(), grid, resource="partial_fit", max_resources=9, cv=KFold(3), refit=False,
        random_state=0,
    ).fit(NOTHING)  # fmt: skip
    results = search.all_cv_results_
    pairs = zip(results["candidate"].tolist(), results["params"], strict=True)
    params = {candidate: str(values) for candidate, values in pairs}
    finals = {str(values) for values in search.cv_results_["params"]}
    risky = [params[one["candidate"]] for one in trust_report(search).eliminated]
    assert len({*risky}) == len(risky) > 0
    assert finals.isdisjoint(risky)
    assert {*risky} | finals == {*params.values()}
    search.audit(NOTHING, n_candidates=100)
    finals = [curve(p["limit"], p["speed"], 9) for p in results["params"]]
    assert search.best_score_ == pytest.approx(max(finals))
    assert trust_report(search).probability == 1


def test_anytime_and_an_audit_in_fit_contradict_each_other():
    search = search_of(budget="anytime", max_time=10, audit_eliminated=2, min_folds="all")
    with pytest.raises(ValueError, match="audit_eliminated=2 is not available with budget"):
        search.fit(NOTHING)


class Growing(Stopped):
    """Fails with more than 4 epochs."""

    def partial_fit(self, X, y=None):
        if getattr(self, "units_", 0) == 4:
            raise MemoryError
        return super().partial_fit(X, y)


@pytest.mark.filterwarnings("ignore:No candidate of the last rung has a score")
@pytest.mark.parametrize("n_candidates", [2, "auto"])
def test_after_a_last_run_that_fails_the_run_before_is_audited(n_candidates):
    params = {"estimator": Growing(), "max_resources": 8, "n_candidates": 8}
    search = search_of("double", **params).fit(NOTHING)
    assert search.best_n_resources_ == 4
    assert search.plan_audit(2).n_resources == 4
    eliminated = [one["candidate"] for one in trust_report(search).eliminated[:2]]
    cost = search.plan_audit(2).cost
    n_steps()
    search.audit(NOTHING, n_candidates=2)
    assert n_steps() == round(3 * cost) > 0
    report = trust_report(search)
    assert sorted(one["candidate"] for one in report.audited) == sorted(eliminated)
    assert report.rungs[-1]["candidates"] == 4
    # It ends, although a report can have the risk of candidates that failed in the audit.
    assert search_of("double", audit_eliminated=n_candidates, **params).fit(NOTHING).best_score_


def test_an_error_in_the_audit_of_fit_leaves_no_half_fitted_search(monkeypatch):
    monkeypatch.setattr(Late, "best", search_of().fit(NOTHING).best_params_["limit"])
    search = search_of(estimator=Late(), error_score="raise", audit_eliminated=4, refit=True)
    with pytest.raises(RuntimeError, match="no more"):
        search.fit(NOTHING)
    assert not hasattr(search, "best_params_")
    assert search.rung_history_
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        search.predict(NOTHING)


def test_audited_candidates_do_not_remain():
    search = search_of().fit(NOTHING)
    before = search.n_remaining_candidates_
    assert search.audit(NOTHING).n_candidates_[-1] > search.n_candidates_[-2]
    assert search.n_remaining_candidates_ == before


@pytest.mark.parametrize("method", ["audit", "extend"])
def test_splits_that_were_yielded_cannot_be_used_again(method):
    search = search_of(cv=KFold(3).split(NOTHING)).fit(NOTHING)
    message = f"{method} requires the splits of fit.* Pass a list of its splits as cv, and call fit"
    with pytest.raises(ValueError, match=message):
        getattr(search, method)(NOTHING, n_candidates=2)


@pytest.mark.parametrize("checkpointed", [False, True])
def test_models_that_were_kept_are_continued_after_an_extension_too(checkpointed, tmp_path):
    folder = tmp_path / "checkpoint" if checkpointed else None
    search = search_of(min_resources=4, keep_eliminated=True, checkpoint=folder).fit(NOTHING)
    search.extend(NOTHING, n_candidates=2)
    plan, before = search.plan_audit(4), search.rung_history_[-1]["total_cost"]
    n_steps()
    search.audit(NOTHING, n_candidates=4)
    assert n_steps() == round(3 * plan.cost)
    assert search.rung_history_[-1]["total_cost"] - before == plan.cost


class FailsInTheEnd(Stopped):
    """Fails with more than 20 epochs, for some candidates."""

    failing = ()

    def partial_fit(self, X, y=None):
        if getattr(self, "units_", 0) == 20 and self.limit in self.failing:
            raise RuntimeError("no more")
        return super().partial_fit(X, y)


def test_a_bracket_that_fails_is_no_reason_to_say_nothing_of_the_others(monkeypatch):
    plain = search_of("hyperband").fit(NOTHING)
    results = plain.all_cv_results_
    is_last = (results["bracket"] == 0) & (results["n_resources"] == 27)
    limits = [results["params"][row]["limit"] for row in np.flatnonzero(is_last)]
    monkeypatch.setattr(FailsInTheEnd, "failing", limits)
    search = search_of("hyperband", estimator=FailsInTheEnd()).fit(NOTHING)
    report = trust_report(search)
    assert [one["bracket"] for one in report.brackets] == [1, 2, 3]
    assert 0 < report.probability <= 1
    assert {one["bracket"] for one in report.eliminated} == {1, 2}
    search.audit(NOTHING, n_candidates=2)
    assert len(trust_report(search).audited) == 2


def test_targets_are_the_same_whatever_scipy_notes_in_them():
    y = sparse.csr_array(np.arange(900).reshape(300, 3) % 4)
    search = search_of(min_resources=1).fit(NOTHING, y)
    assert y.has_canonical_format
    assert y.has_sorted_indices
    assert len(audited_ids(search.audit(NOTHING, y, n_candidates=1))) == 1


def test_targets_are_the_same_whatever_the_strides_of_their_column():
    y = np.arange(300) % 4
    search = search_of(min_resources=1).fit(NOTHING, y[:, None])
    assert y[:, None].strides != y.reshape(-1, 1).strides
    assert len(audited_ids(search.audit(NOTHING, y.reshape(-1, 1), n_candidates=1))) == 1


def test_the_warnings_of_fit_are_not_repeated():
    space = SPACE | {"fails": [False, False, "nan", "score"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = search_of(space=space, n_candidates=20).fit(NOTHING)
    assert search.failures_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*fixed cost of each fit")
        search.audit(NOTHING)


@pytest.mark.parametrize("keeps", [False, True])
def test_an_audit_trains_on_the_folds_that_are_missing_at_full_resource(keeps):
    """Those that the second rung eliminated have full resource on one fold."""
    search = search_of(
        "growing folds", algorithm=FixedSchedule([12, 6, 2], [4, 8, 8]), keep_eliminated=keeps
    ).fit(NOTHING)
    before, plan = search.rung_history_[-1]["total_cost"], search.plan_audit(10)
    CALLS.clear()
    search.audit(NOTHING, n_candidates=10)
    assert n_steps() == plan.cost
    assert search.rung_history_[-1]["total_cost"] - before == plan.cost


def test_folds_that_are_the_same_in_all_rungs_are_no_column():
    table = search_of().fit(NOTHING).rung_history_._repr_html_().partition("<svg")[0]
    assert "epochs" in table
    assert "folds" not in table


def test_an_audit_does_not_warn_again_about_earlier_failures_of_its_candidates():
    class Late(Curve):
        def score(self, X, y=None):
            if self.fails == "late" and self.units_ < 4 and X[0, 0] == 0:
                raise RuntimeError("no score yet")
            return super().score(X)

    space = [{"limit": [0.1, 0.4, 0.5]}, {"limit": [0.6], "fails": ["late"]}]
    search = SuccessiveHalvingSearchCV(
        Late(), space, resource="partial_fit", min_resources=1, max_resources=4, min_folds="all",
        cv=KFold(3), error_score=0, refit=False,
    )  # fmt: skip
    samples = np.arange(12.0).reshape(12, 1)  # of which the first fold has the 0
    with pytest.warns(UserWarning, match="no score yet"):
        search.fit(samples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.audit(samples, n_candidates=3)
    assert audited_ids(search) == [0, 1, 3]
    assert search.best_candidate_ == 3
