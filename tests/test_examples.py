"""Every example runs without a warning, and what it promises comes true."""

import runpy

import pytest
from conftest import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture
def run(capsys):
    def run(name):
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


def test_every_example_is_run_here():
    here = {"quickstart.py", "pipeline_text.py", "warm_start_boosting.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == here
