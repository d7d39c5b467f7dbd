"""What docs/benchmarks/time_to_quality.py makes of its runs, by hand-written traces."""

from math import inf

import pytest
from conftest import ROOT

LIMIT = 10.0


@pytest.fixture
def quality(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "benchmarks"))
    import quality_report

    return quality_report


def run(contender, trace, *, workload="svc", n_cores=1, seed=0, **more):
    which = {"workload": workload, "contender": contender, "n_cores": n_cores, "seed": seed}
    return which | {"limit": LIMIT, "trace": trace, "date": "2026-01-02"} | more


RUNS = [
    run("ours, random", [[4.0, 0.9, 0.9], [8.0, 0.8, 0.91]]),
    run("Optuna, TPE", [[1.0, 0.85, 0.8], [2.0, 0.896, 0.9], [11.0, 0.99, 0.99]]),
    run("RandomizedSearchCV", [[5.0, 0.7, 0.7], [16.0, 0.895, 0.9], [30.0, 0.9, 0.9]]),
    run("SMAC3", [], error="ValueError: no"),
]


def test_seconds_end_with_the_first_model_that_is_good_enough(quality):
    trace = [(1.0, 0.5, 0.0), (2.0, 0.9, 0.0), (3.0, 0.6, 0.0)]
    assert quality.seconds_to(0.5, trace) == 1.0
    assert quality.seconds_to(0.51, trace) == 2.0
    assert quality.seconds_to(0.91, trace) == inf
    assert quality.seconds_to(0.0, []) == inf


def test_the_latest_model_is_the_one_at_hand(quality):
    trace = [(1.0, 0.5, 0.0), (2.0, 0.9, 0.0), (3.0, 0.6, 0.0)]
    assert [quality.held_out_at(at, trace) for at in (0.9, 1.0, 2.5, 9.0)] == [-inf, 0.5, 0.9, 0.6]


def test_nothing_after_the_limit_counts_and_double_budget_is_half_of_the_seconds(quality):
    traces = quality.traces_of(RUNS, LIMIT)
    seconds = {key[1]: [model[0] for model in trace] for key, trace in traces.items()}
    assert seconds == {
        "ours, random": [4.0],
        "Optuna, TPE": [1.0, 2.0],
        "RandomizedSearchCV": [5.0],
        "RandomizedSearchCV, double budget": [2.5, 8.0],
        "SMAC3": [],
    }
    assert quality.best_found(RUNS, LIMIT) == {("svc", 0): 0.9}


def test_runs_that_were_slowed_on_two_cores_are_counted(quality):
    runs = [
        run("ours, random", [[4.0, 0.9, 0.9], [8.0, 0.8, 0.9]]),
        run("ours, random", [[2.0, 0.9, 0.9], [4.0, 0.8, 0.9], [6.0, 0.7, 0.7]], n_cores=2),
        run("ours, anytime", [[1.0, 0.9, 0.9]]),
        run("ours, anytime", [[1.0, 0.9, 0.9]], n_cores=2),
        run("ours, sobol", [[1.0, 0.9, 0.9]]),
        run("ours, sobol", [[1.0, 0.8, 0.9]], n_cores=2),
        run("Optuna, TPE", [[1.0, 0.9, 0.9]]),
        run("Optuna, TPE", [[1.0, 0.9, 0.9]], n_cores=2),
    ]
    assert quality.slowdowns(runs) == [0.5, 1.0]
    assert quality.slowdowns(RUNS) == []


def test_one_size_is_best_over_all_seeds_of_a_workload(quality):
    """With a size for each seed, it would be 1 s and 2 s; with one for both, it is 2 s and 2 s."""
    runs = [
        run("ours, random", [[1.0, 0.9, 0.9], [2.0, 0.9, 0.9], [3.0, 0.9, 0.9]]),
        run("ours, random", [[1.0, 0.8, 0.9], [2.0, 0.9, 0.9], [3.0, 0.9, 0.9]], seed=1),
        run("HalvingRandomSearchCV", []),
        run("ours, anytime", [[1.5, 0.1, 0.9], [1.6, 0.2, 0.9]]),
    ]
    assert quality.best_sizes(runs, LIMIT, 0.005) == {
        ("svc", "ours, random", 1): 1,
        ("svc", "HalvingRandomSearchCV", 1): 0,
    }
    traces = quality.traces_of(runs, LIMIT)
    assert traces["svc", "ours, random", 1, 0] == traces["svc", "ours, random", 1, 1]
    assert traces["svc", "ours, random", 1, 0] == [(2.0, 0.9, 0.9)]
    assert traces["svc", "HalvingRandomSearchCV", 1, 0] == []
    assert len(traces["svc", "ours, anytime", 1, 0]) == 2
    # For a lower goal, the first size is enough.
    assert quality.best_sizes(runs, LIMIT, 0.2)["svc", "ours, random", 1] == 0


def test_sizes_in_turn_have_the_seconds_of_all_smaller_ones_and_keep_the_best_model(quality):
    trace = [[2.0, 0.8, 0.8], [1.0, 0.95, 0.7], [3.0, 0.7, 0.85], [6.0, 0.9, 0.9]]
    traces = quality.traces_of([run("ours, model", trace)], LIMIT)
    assert traces["svc", "ours, model, sizes in turn", 1, 0] == [(2.0, 0.8, 0.8), (6.0, 0.7, 0.85)]


def test_the_goal_is_the_best_of_all_contenders_on_any_number_of_cores(quality):
    runs = [*RUNS, run("ours, random", [[3.0, 0.95, 0.9]], n_cores=2)]
    traces, best = quality.traces_of(runs, LIMIT), quality.best_found(runs, LIMIT)
    assert quality.reached(traces, best, 1)["ours, random"] == {"svc": [inf]}
    assert quality.reached(traces, best, 2) == {"ours, random": {"svc": [3.0]}}
    assert quality.reached(traces, best, 1, 0.06)["ours, random"] == {"svc": [4.0]}


def test_never_counts_as_twice_the_limit_in_the_mean(quality):
    assert quality.overall({"a": [inf, 5.0], "b": [10.0, 10.0]}, LIMIT) == pytest.approx(10.0)


def test_the_report_shows_losses_and_failures(quality):
    runs = [*RUNS[:-1], RUNS[-1] | {"date": "2026-01-01"}]
    measured = {"machine": "M", "versions": {"P": "1"}, "runs": runs}
    lines = quality.report(measured, LIMIT, {"svc": "support vectors", "x": "not run"}, "stem")
    assert "2026-01-01 to 2026-01-02; M; P 1." in lines
    rows = [line for line in lines if line.startswith("| ")]
    assert rows[2:7] == [
        "| Optuna, TPE | 2.0 | 2.0 |",
        "| sklearn_sha, random | 4.0 | 4.0 |",
        "| RandomizedSearchCV, double budget | 8.0 | 8.0 |",
        "| RandomizedSearchCV | never (1) | 20.0 |",
        "| SMAC3 | never (1) | 20.0 |",
    ]
    assert rows[9:11] == [
        "| fastest other search | Optuna, TPE |",
        "| sklearn_sha, random | 2.00 |",
    ]
    assert "| sklearn_sha, random | -0.1000 |" in rows
    assert "- svc, SMAC3, 1, 0: ValueError: no" in lines
    assert lines[-1].endswith("over time: support vectors](../../images/stem_svc.svg)")


def test_a_goal_that_no_peer_reached_is_only_ours(quality):
    runs = [run("ours, random", [[4.0, 0.9, 0.9]]), run("ours, sobol", []), run("SMAC3", [])]
    lines = quality.tables(runs, 1, LIMIT, {"svc": "support vectors"})
    for row in (
        "| fastest other search |  |",
        "| sklearn_sha, random | only sklearn_sha |",
        "| sklearn_sha, sobol | never |",
    ):
        assert row in lines


def test_distances_are_paired_and_have_two_standard_errors(quality):
    """Ratios of 2 and 8: the logarithms are 1 and 3 times log(2), with a standard error of 1."""
    runs = [
        run("ours, anytime", [[1.0, 0.9, 0.9]]),
        run("ours, anytime", [[1.0, 0.9, 0.9]], seed=1),
        run("SMAC3", [[2.0, 0.9, 0.9]]),
        run("SMAC3", [[8.0, 0.899, 0.9]], seed=1),
    ]
    lines = quality.other_goals(runs, 1, LIMIT, ["ours, anytime", "SMAC3"])
    assert lines[-2:] == [
        "| sklearn_sha, anytime |  | 1.0 | 1.0 | 1.0 |",
        "| SMAC3 | 4.00 (1.00 to 16.00) | 4.0 | 4.0 | 4.0 |",
    ]


def test_a_goal_counts_for_good_only_if_later_models_reach_it_too(quality):
    """The goal is 0.895. SMAC3 reaches it at 1, leaves it at 3, and is back from 4 on."""
    runs = [
        run("ours, anytime", [[2.0, 0.9, 0.8], [6.0, 0.896, 0.9]]),
        run("SMAC3", [[1.0, 0.9, 0.7], [3.0, 0.8, 0.8], [4.0, 0.895, 0.85], [5.0, 0.9, 0.9]]),
        run("Optuna, TPE", [[1.0, 0.9, 0.8], [9.0, 0.89, 0.9]]),
    ]

    def lines(runs):
        traces, best = quality.traces_of(runs, LIMIT), quality.best_found(runs, LIMIT)
        return quality.staying(traces, best, 1, LIMIT)

    assert lines(runs)[-3:] == [
        "| sklearn_sha, anytime | 2.0 |  | 0 |",
        "| SMAC3 | 4.0 |  | 0 |",
        "| Optuna, TPE | 20.0 |  | 1 |",
    ]
    twice = [*runs, *[one | {"seed": 1} for one in runs]]
    assert lines(twice)[-2] == "| SMAC3 | 4.0 | 2.00 (2.00 to 2.00) | 0 |"
    assert quality.seconds_to_stay(0.9, []) == inf


def test_a_split_whose_runs_are_not_all_there_is_left_out(quality):
    second = [one | {"seed": 1} for one in RUNS]
    assert quality.complete([*RUNS, *second], LIMIT) == [*RUNS, *second]
    assert quality.complete([*RUNS, *second[:3]], LIMIT) == RUNS
    other_limit = [one | {"limit": 2 * LIMIT} for one in RUNS]
    assert quality.complete([*RUNS, *other_limit, run("SMAC3", [], n_cores=2)], LIMIT) == RUNS
    assert quality.complete([], LIMIT) == []
