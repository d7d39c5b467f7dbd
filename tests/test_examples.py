"""Every example runs without a warning, and what it promises comes true."""

import runpy

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(capsys, monkeypatch):
    def run(name):
        monkeypatch.setattr("sys.argv", [name])
        return runpy.run_path(str(EXAMPLES / name)), capsys.readouterr().out

    return run


def test_quickstart(run):
    names, printed = run("quickstart.py")
    search, grid_search = names["search"], names["grid_search"]
    held_out = names["X_test"], names["y_test"]
    assert search.score(*held_out) >= grid_search.score(*held_out)
    assert 3 * search.schedule_.spent <= search.schedule_.grid_cost
    assert str(search.schedule_) in printed
    for number in range(1, 5):
        assert f"rung {number}/4" in printed
    assert "'learning_rate_init': " in printed
    assert "of the grid search's time" in printed


def test_pipeline_text(run):
    names, printed = run("pipeline_text.py")
    assert (names["halving_fits"], names["grid_fits"]) == (3 + 1, 3 * 8 + 1)
    held_out = names["test"], names["labels_test"]
    assert names["halving"].score(*held_out) >= names["exhaustive"].score(*held_out) - 0.01
    assert " 4 vectorisers fitted" in printed


def test_warm_start_boosting(run):
    names, printed = run("warm_start_boosting.py")
    schedule = names["search"].schedule_
    assert names["same"]
    assert (schedule.spent, schedule.restart_cost, schedule.grid_cost) == (768, 1280, 4096)
    assert str(schedule) in printed


def test_replay_learning_curves(run):
    names, printed = run("replay_learning_curves.py")
    table = [line for line in printed.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 6
    assert "\n".join(table) in (ROOT / "docs" / "replayed_curves.md").read_text()
    summary = names["summary"]
    halvings = summary.loc[[name for name in summary.index if name.startswith("halving")]]
    assert (halvings["trained on"] <= 0.25).all()
    assert (halvings["mean regret"] < 0.65 * summary.loc["uniform", "mean regret"]).all()
    assert (halvings["best found"] > summary.loc["uniform", "best found"]).all()


def test_without_choosing_a_budget(run):
    names, printed = run("without_choosing_a_budget.py")
    searches = names["searches"]
    spent = {budget: s.rung_history_[-1]["spent"] for budget, s in searches.items()}
    assert spent[80] <= 80 < spent["double"] < spent[640] <= 640
    scores = [search.best_score_ for search in searches.values()]
    assert max(scores) - min(scores) < 0.01
    assert f"Doubling ended with {searches['double'].best_n_resources_} epochs" in printed


def test_every_example_is_run_here():
    here = {
        "quickstart.py",
        "pipeline_text.py",
        "warm_start_boosting.py",
        "replay_learning_curves.py",
        "without_choosing_a_budget.py",
    }
    assert {path.name for path in EXAMPLES.glob("*.py")} == here
