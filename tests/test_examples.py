"""Every example runs without a warning, and what it promises comes true."""

import re

import numpy as np
import pytest
from conftest import ROOT

from sklearn_sha.inspection import trust_report

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"


def without_numbers(text):
    """What is the same on any machine, unlike seconds and scores."""
    return re.sub(r" *[\d.]+", " n", text)


def test_quickstart(run):
    names, printed = run("quickstart.py")
    search, grid_search = names["search"], names["grid_search"]
    held_out = names["X_test"], names["y_test"]
    assert search.score(*held_out) >= grid_search.score(*held_out)
    assert 3 * search.schedule_.total_cost <= search.schedule_.grid_cost
    assert " ".join(search.schedule_.sentences) in " ".join(printed.split())
    for number in range(4):
        assert f"rung {number}/3 " in printed
    (shown,) = re.findall(r"the example prints.*: `(.*)`\n", (ROOT / "README.md").read_text())
    assert without_numbers(shown) in without_numbers(printed)
    assert "'learning_rate_init': " in printed
    assert "of the grid search's time" in printed


def test_pipeline_text(run):
    names, printed = run("pipeline_text.py")
    assert (names["halving_fits"], names["grid_fits"]) == (3 + 1, 3 * 8 + 1)
    held_out = names["test"], names["labels_test"]
    assert names["halving"].score(*held_out) >= names["exhaustive"].score(*held_out) - 0.01
    assert " 4 vectorizers fitted" in printed


def test_warm_start_boosting(run):
    names, printed = run("warm_start_boosting.py")
    schedule = names["search"].schedule_
    assert names["same"]
    assert (schedule.total_cost, schedule.with_refit_cost().total_cost, schedule.grid_cost) == (
        2304,
        3328,
        12288,
    )
    assert str(schedule) in printed


def test_replay_learning_curves(run):
    names, printed = run("replay_learning_curves.py")
    table = [line for line in printed.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 6
    assert "\n".join(table) in (ROOT / "docs" / "replayed_curves.md").read_text()
    summary = names["summary"]
    halvings = summary.loc[[name for name in summary.index if name.startswith("halving")]]
    assert (halvings["continued"] <= 0.25).all()
    assert (halvings["mean regret"] < 0.65 * summary.loc["uniform", "mean regret"]).all()
    assert (halvings["best found"] > summary.loc["uniform", "best found"]).all()


def test_without_choosing_a_budget(run):
    names, printed = run("without_choosing_a_budget.py")
    searches = names["searches"]
    cost = {budget: s.rung_history_[-1]["total_cost"] for budget, s in searches.items()}
    assert cost[80] <= 80 < cost["double"] < cost[640] <= 640
    scores = [search.best_score_ for search in searches.values()]
    assert max(scores) - min(scores) < 0.01
    assert f"Doubling ended with {searches['double'].best_n_resources_} epochs" in printed


def test_hyperband(run):
    names, printed = run("hyperband.py")
    brackets, halving = names["brackets"], names["halving"]
    assert str(brackets.schedule_) in printed
    assert printed.count("best score") == 4
    assert brackets.schedule_.total_cost > 2 * halving.schedule_.total_cost
    assert names["n_candidates"] == 49
    held_out = names["X_test"], names["y_test"]
    assert abs(brackets.score(*held_out) - halving.score(*held_out)) < 0.01


def test_where_halving_goes_wrong(run):
    names, printed = run("where_halving_goes_wrong.py")
    hasty, better, everything = (names[name] for name in ("hasty", "better", "everything"))
    best = everything.best_params_
    before, after = names["hasty_report"], names["audited_report"]
    gain = hasty.best_score_ - max(
        score
        for score, is_audited in zip(
            hasty.cv_results_["mean_test_score"], hasty.cv_results_["audited"], strict=True
        )
        if not is_audited
    )
    assert gain > 0.05  # as much as the search was wrong by
    assert (hasty.best_score_, hasty.best_params_) == (everything.best_score_, best)
    assert before.probability < 0.7 < 0.95 <= after.probability
    assert (better.best_score_, better.best_params_) == (everything.best_score_, best)
    assert 0.69 < better.schedule_.relative_cost() < 0.73
    rows = hasty.all_cv_results_
    is_best = [rows[f"param_{key}"] == best[key] for key in names["space"]]
    assert rows["n_resources"][np.all(is_best, axis=0)].tolist() == [2, 4, 128]
    reports = [before, after, trust_report(better)]
    assert all(str(report) in printed for report in reports)
    assert f"set min_resources={better.min_resources}." in reports[0].advice
    assert reports[2].probability >= 0.95


def test_every_example_is_run_here():
    here = {
        "quickstart.py",
        "pipeline_text.py",
        "warm_start_boosting.py",
        "replay_learning_curves.py",
        "without_choosing_a_budget.py",
        "hyperband.py",
        "where_halving_goes_wrong.py",
        "network_with_skorch.py",  # in test_networks.py
    }
    assert {path.name for path in EXAMPLES.glob("*.py")} == here
