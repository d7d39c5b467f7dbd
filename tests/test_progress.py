"""Progress displays, and the time left with a simulated clock."""

import re
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import uniform
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from toys import CALLS, Curve, lines_below_plan, rung_lines

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._engine.rung_jobs import RequestedFolds
from sklearn_sha._progress import console
from sklearn_sha._progress.console import fit_line
from sklearn_sha._progress.notebook import NotebookProgress
from sklearn_sha._progress.progress import Progress
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha.bandit import RungRequest
from sklearn_sha.resources import SampleCount
from sklearn_sha.schedules import Schedule, hyperband_schedules, schedule_from_range

X = np.arange(24.0).reshape(12, 2)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def rungs_of(schedule, n_folds=1):
    """Rungs of all brackets, grouped by resource, in the order in which an engine runs them."""
    requests = [
        RungRequest(
            k,
            tuple(range(1000 * rung.bracket, 1000 * rung.bracket + rung.n_candidates)),
            rung.n_resources,
            bracket=rung.bracket,
            folds=rung.folds,
        )
        for bracket in schedule.brackets
        for k, rung in enumerate(bracket.rungs)
    ]
    requested = RequestedFolds(SampleCount(), tuple(range(n_folds)))
    for resource in sorted({request.n_resources for request in requests}):
        yield [requested.jobs(request) for request in requests if request.n_resources == resource]


@given(st.integers(1, 200), st.integers(2, 5), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_time_left_is_exact_if_all_units_take_the_same_time(
    n, factor, n_folds, n_workers, continues
):
    """Workers train the jobs of a rung in parallel rounds, at one second per unit."""
    clock = Clock()
    schedule = schedule_from_range(n, factor=factor, max_resources=100, continues=continues)
    rounds = [
        -(-rung.n_candidates * n_folds // n_workers)
        * (rung.step if continues else rung.n_resources)
        for rung in schedule.rungs
    ]
    progress = Progress(schedule, n_folds, n_workers, clock)
    rungs = rungs_of(schedule, n_folds)
    for k, ((rung,), seconds) in enumerate(zip(rungs, rounds, strict=True)):
        progress.rungs_begin([rung])
        assert progress.n_completed == 0
        progress.jobs_completed(progress.n_jobs)
        clock.now += seconds
        assert progress.elapsed == sum(rounds[: k + 1])
        assert (progress.left or 0.0) == pytest.approx(sum(rounds[k + 1 :]))


def test_time_left_within_a_rung_and_before_the_first_completed_job():
    clock = Clock()
    schedule = schedule_from_range(8, max_resources=8)  # 8, 4, 2 candidates of 2, 2, 4 units
    progress = Progress(schedule, 1, 1, clock)
    first, *_ = rungs_of(schedule)
    progress.rungs_begin(first)
    clock.now += 3
    assert progress.left is None
    progress.jobs_completed(2)  # 4 of 16 + 8 + 8 units
    assert progress.left == pytest.approx(3 * 28 / 4)


def test_time_left_does_not_count_the_start_of_the_workers_as_training():
    clock = Clock()
    schedule = schedule_from_range(8, max_resources=8)
    progress = Progress(schedule, 1, 1, clock, start_seconds=lambda: 20.0)
    first, *_ = rungs_of(schedule)
    progress.rungs_begin(first)
    clock.now += 23
    progress.jobs_completed(2)
    assert progress.elapsed == 23
    assert progress.left == pytest.approx(3 * 28 / 4)


def test_rungs_that_run_together_are_counted_together():
    """At one second per unit."""
    clock = Clock()
    start = clock.now
    schedule = Schedule.joined(hyperband_schedules(9))
    progress, groups = Progress(schedule, 1, 1, clock), rungs_of(schedule)
    planned = [rung for bracket in schedule.brackets for rung in bracket.rungs]
    for resource in sorted({rung.n_resources for rung in planned}):
        together = [rung for rung in planned if rung.n_resources == resource]
        progress.rungs_begin(next(groups))
        assert progress.n_jobs == sum(rung.n_candidates for rung in together)
        progress.jobs_completed(progress.n_jobs)
        clock.now += sum(rung.n_candidates * rung.step for rung in together)
        assert (progress.left or 0.0) == pytest.approx(start + schedule.total_cost - clock.now)
    assert progress.left is None


def test_known_jobs_are_completed_but_do_not_count_for_the_speed():
    clock = Clock()
    schedule = schedule_from_range(8, max_resources=8)  # 8, 4, 2 candidates of 2, 2, 4 units
    progress = Progress(schedule, 1, 1, clock)
    first, second, _ = rungs_of(schedule)
    progress.rungs_begin(first, 8)
    assert progress.left is None
    progress.rungs_begin(second, 2)
    clock.now += 6
    progress.jobs_completed(1)  # 2 units in 6 seconds; 2 and 8 are left
    assert (progress.n_completed, progress.left) == (3, pytest.approx(30))


def test_time_left_while_a_rung_is_filled_in_waves():
    """Each wave is requested with those before it. One second per unit; the models are new."""
    clock = Clock()
    schedule = schedule_from_range(8, max_resources=8)  # 8, 4, 2 candidates of 2, 2, 4 units
    progress = Progress(schedule, 1, 1, clock)
    requested = RequestedFolds(SampleCount(), (0,))
    for n, n_new in ((3, 3), (5, 2), (7, 2)):  # and not 8, since the sampler has no more
        progress.rungs_begin([requested.jobs(RungRequest(0, tuple(range(n)), 2))])
        assert progress.n_jobs == n_new
        progress.jobs_completed(n_new)
        clock.now += 2 * n_new
        assert progress.left == pytest.approx(2 * (8 - n) + 8 + 8)
    progress.rungs_begin([requested.jobs(RungRequest(1, (0, 1, 2, 3), 4))])
    assert progress.left == pytest.approx(8 + 8)


def test_time_left_while_a_last_rung_has_growing_groups():
    clock = Clock()
    schedule = schedule_from_range(16, factor=4, max_resources=8)
    assert (schedule.n_candidates, schedule.n_resources) == ([16, 4], [2, 8])
    progress = Progress(schedule, 1, 1, clock)
    requested = RequestedFolds(SampleCount(), (0,))
    progress.rungs_begin([requested.jobs(RungRequest(0, tuple(range(16)), 2))])
    progress.jobs_completed(16)
    clock.now += 32
    for n, n_new in ((1, 1), (2, 1), (4, 2)):
        ids, is_final = tuple(range(n)), n == 4
        progress.rungs_begin([requested.jobs(RungRequest(1, ids, 8, True, is_final))])
        progress.jobs_completed(n_new)
        clock.now += 6 * n_new
        assert (progress.left or 0.0) == pytest.approx(6 * (4 - n))


@pytest.mark.parametrize("in_notebook", [False, True])
def test_a_search_without_a_selected_metric_shows_its_rung(in_notebook, request, capsys):
    pages = request.getfixturevalue("notebook") if in_notebook else []
    scoring = {"a": lambda m, X, y=None: m.limit, "b": lambda m, X, y=None: -m.limit}
    search = search_of(verbose=1, scoring=scoring, refit=False, min_resources=1.0).fit(X)
    printed = capsys.readouterr().out
    assert not printed if in_notebook else len(lines_below_plan(search, printed)) == 1
    assert not in_notebook or pages[-1].html.count("<tr>") == 2


def search_of(**params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 4}
    space = {"limit": [k / 10 for k in range(params.pop("space", 8))]}
    return SuccessiveHalvingSearchCV(Curve(), space, **common | params)


@pytest.mark.parametrize("budget", [None, "double"])
def test_a_notebook_shows_one_growing_table(budget, notebook, capsys):
    search = search_of(verbose=1, budget=budget, max_resources=8).fit(X)
    assert capsys.readouterr().out == ""
    rows = [page.html.count("<tr>") for page in notebook]
    assert rows == sorted(rows)
    last = notebook[-1].html
    assert rows[-1] == 1 + len(search.n_resources_) + 1
    assert "<progress" not in last
    assert sum("<progress max" in page.html for page in notebook) >= len(search.n_resources_)
    assert sum("<progress>" in page.html for page in notebook) == 1
    assert f"limit={search.best_params_['limit']:.4g}<" in last
    assert f">refit, {search.refit_time_:.1f} s<" in last
    opening, lines = search.schedule_.sentences, repr(notebook[-1]).splitlines()
    assert tuple(lines[: len(opening)]) == opening
    del lines[: len(opening)]
    assert len(lines) == len(search.n_resources_) + 2
    assert lines[0].startswith("run 0  rung 0/2" if budget else "rung 0/2")
    # The number of updates does not depend on the number of jobs.
    assert len(notebook) <= 3 * len(search.n_resources_) + 4


def test_the_table_of_a_notebook_shows_folds_that_are_the_resource(notebook):
    search = search_of(verbose=1, cv=KFold(4), resource="folds", max_resources="auto").fit(X)
    titles = re.findall("<th[^>]*>([^<]*)</th>", notebook[-1].html)
    assert titles[:4] == ["rung", "candidates", "folds", "best score"]
    for n_folds in search.n_resources_:
        assert f">{n_folds}</td>" in notebook[-1].html


def test_the_table_of_a_notebook_has_seconds_and_no_names_of_steps(notebook):
    search = SuccessiveHalvingSearchCV(
        make_pipeline(Curve()), {"curve__limit": [0.1, 0.2, 0.3, 0.4]}, resource="partial_fit",
        max_resources=4, cv=KFold(2), verbose=2,
    ).fit(X)  # fmt: skip
    last = notebook[-1].html
    assert search.best_params_ == {"curve__limit": 0.4}
    # A rung, the candidates of the last rung, and the refit.
    assert last.count(">limit=0.4<") == len(search.n_resources_) + 2
    assert "curve__" not in last
    titles = re.findall("<th[^>]*>([^<]*)</th>", last)
    assert {"elapsed (s)", "remaining (s)"} <= {*titles}
    assert "about" not in last


def test_a_notebook_can_expand_the_candidates_with_verbose_2(notebook):
    search_of(verbose=2).fit(X)
    details = [page.html for page in notebook if "<details>" in page.html]
    assert details[0].count("<tr>") == 2 + (1 + 8)
    assert "candidates of rung 2/2" in details[-1]


def test_in_an_audit_a_notebook_shows_no_time_for_rungs_that_are_not_run(notebook):
    search = HyperbandSearchCV(
        Curve(), {"limit": uniform()}, random_state=0, resource="partial_fit", max_resources=9,
        cv=KFold(2), verbose=1, patience=1, n_repeats=9, refit=False,
    )  # fmt: skip
    search.fit(X)
    assert search.n_resources_
    del notebook[:]
    search.audit(X)
    assert "fits" in notebook[-2].html
    assert "left in all" not in notebook[-2].html


def test_a_notebook_shows_why_a_search_ends_early(notebook, monkeypatch):
    monkeypatch.setattr(
        BracketTimes, "refusal", lambda self, bracket, results: "No time for <it>." * (bracket > 0)
    )
    search_of(verbose=1, budget="anytime", max_time=1e9, space=16).fit(X)
    assert "No time for &lt;it&gt;." in notebook[-1].html
    assert "No time for <it>." in repr(notebook[-1])


def test_a_notebook_shows_all_reasons_for_early_ends(notebook):
    schedule = schedule_from_range(8, max_resources=4)
    display = NotebookProgress(
        1, schedule, [{}], Progress(schedule, 2, 1), n_folds=2, error_score=np.nan
    )
    for reason in ("one", "another"):
        display.ends_early(reason)
    assert "<p>one</p><p>another</p>" in notebook[-1].html


@pytest.mark.parametrize(
    ("params", "ends_early"),
    [
        ({"budget": "anytime", "patience": 1, "tol": 1.0}, True),
        ({"budget": "anytime", "patience": 1, "tol": 1.0, "sampler": "model"}, True),
        ({"budget": "anytime"}, False),
        ({"budget": "double", "patience": 1, "tol": 1.0}, True),
        ({"budget": "double"}, False),
        ({"target_score": 0.1}, False),  # in the last rung
        ({"stop": "stable", "min_resources": 1}, True),
        ({"sampler": "model"}, False),
    ],
)
def test_a_search_that_ends_early_shows_after_how_many_rungs(params, ends_early, capsys):
    common = {"verbose": 1, "space": 64, "n_candidates": 16, "max_resources": 32}
    search = search_of(random_state=0, **common | params).fit(X)
    n_rungs, n_planned = len(search.rung_history_), len(search.schedule_.rungs)
    assert (n_rungs < n_planned) == ends_early
    line = f"The search ends after {n_rungs} of at most {n_planned} rungs."
    assert (line in capsys.readouterr().out.splitlines()) == ends_early


def test_an_audit_does_not_show_again_that_a_search_ended_early(capsys):
    search = search_of(verbose=1, budget="anytime", target_score=0.1, space=16).fit(X)
    assert "The search ends after" in capsys.readouterr().out
    search.audit(X, n_candidates=1)
    assert "The search ends after" not in capsys.readouterr().out


def test_an_interrupted_search_leaves_no_progress_bar(notebook):
    class Interrupted(Curve):
        def partial_fit(self, X, y=None):
            if getattr(self, "units_", 0) == 1:
                raise KeyboardInterrupt
            return super().partial_fit(X, y)

    with pytest.raises(KeyboardInterrupt):
        search_of(verbose=1).set_params(estimator=Interrupted()).fit(X)
    assert "<progress" not in notebook[-1].html
    assert notebook[-1].html.count("<tr>") == 2


@pytest.mark.parametrize("in_notebook", [False, True])
def test_an_interrupted_rung_is_shown_as_interrupted(in_notebook, request, capsys):
    class Interrupted(Curve):
        def partial_fit(self, X, y=None):
            if self.limit == 0.5 and X[0, 0] == 0:  # on the second fold
                raise KeyboardInterrupt
            return super().partial_fit(X, y)

    pages = request.getfixturevalue("notebook") if in_notebook else []
    with pytest.raises(KeyboardInterrupt):
        search_of(verbose=1).set_params(estimator=Interrupted()).fit(X)
    (line,) = rung_lines(repr(pages[-1]) if in_notebook else capsys.readouterr().out)
    assert re.fullmatch(r"rung 0/2  5 candidates, 1 epoch .* s, interrupted", line)
    assert not in_notebook or ">interrupted<" in pages[-1].html


class Loud(Curve):
    """Prints or raises if it is trained with all samples."""

    def partial_fit(self, X, y=None):
        if len(X) == 12:
            if self.fails == "refit":
                raise RuntimeError("not on all samples")
            print("trained on all samples")
        return super().partial_fit(X, y)


def test_lines_before_and_after_the_refit(capsys, monkeypatch):
    monkeypatch.setattr(console, "refit_seconds", lambda seconds: "0.5 s")
    search = search_of(verbose=1).set_params(estimator=Loud(), max_resources=1, factor=8).fit(X)
    _, begins, trained, ends = lines_below_plan(search, capsys.readouterr().out)
    assert begins == "refit candidate 7, selected at 1 epoch, on all 12 samples"
    assert trained == "trained on all samples"
    assert ends == "0.5 s"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_seconds_of_a_refit_in_this_process_and_in_a_worker(n_jobs, capsys, monkeypatch):
    """With two workers, one of them refits the last candidate while its last folds run."""
    monkeypatch.setattr(console, "refit_seconds", "{!r}".format)
    search = search_of(verbose=1, n_jobs=n_jobs, factor=8, min_resources=1, max_resources=8)
    CALLS.clear()
    search.fit(X)
    assert bool(CALLS) == (n_jobs == 1)  # of this process
    assert capsys.readouterr().out.splitlines()[-1] == repr(search.refit_time_)


def test_a_failed_refit_leaves_no_progress_bar(notebook):
    with pytest.raises(RuntimeError, match="not on all samples"):
        search_of(verbose=1).set_params(estimator=Loud(fails="refit")).fit(X)
    assert any("<progress>" in page.html for page in notebook)
    assert "<progress" not in notebook[-1].html
    assert ">refit" not in notebook[-1].html


@pytest.mark.parametrize(
    "search",
    [
        search_of(verbose=1),
        search_of(verbose=1, budget="double", max_resources=8),
        HyperbandSearchCV(
            Curve(), {"limit": [k / 150 for k in range(150)]}, resource="partial_fit",
            max_resources=81, verbose=1, cv=KFold(2),
        ),
    ],
    ids=["halving", "doubling", "Hyperband"],
)  # fmt: skip
def test_lines_have_the_rung_numbers_of_iter(search, capsys):
    lines = capsys.readouterr().out.splitlines()
    search.fit(X)
    lines = rung_lines(capsys.readouterr().out)
    shown = [re.search(r"rung +(\d+)/(\d+)", line).groups() for line in lines]
    history = search.rung_history_
    assert [int(rung) for rung, _ in shown] == [row["iter"] for row in history]
    # The last rung of each bracket or run is numbered as the last one.
    is_last = [int(rung) == int(last) for rung, last in shown]
    ends = {bracket.n_resources[-1] for bracket in search.schedule_.brackets}
    assert sum(is_last) == len(search.schedule_.brackets)
    assert all(r["n_resources"] in ends for r, last in zip(history, is_last, strict=True) if last)
    assert len({line.index("candidate") for line in lines}) == 1
    assert len({line.index("best score") for line in lines}) == 1
    assert not any(re.search(r"\b1 (candidates|epochs)", line) for line in lines)


@pytest.mark.parametrize("in_notebook", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_a_search_begins_with_its_cost_and_the_notes_of_its_plan(
    load, in_notebook, request, capsys
):
    """Iris has too few samples for rungs."""
    pages = request.getfixturevalue("notebook") if in_notebook else []
    X, y = load(return_X_y=True)
    search = SuccessiveHalvingSearchCV(SVC(), {"C": [0.1, 1.0, 10.0]}, verbose=1)
    plan = search.plan(X, y)
    cost, *notes = plan.sentences
    assert " of a grid search (3 candidates x " in cost
    assert notes == [*plan.notes]
    assert notes[0].startswith("One rung at full resource" if load is load_iris else "The resource")
    search.fit(X, y)
    shown = repr(pages[-1]) if in_notebook else capsys.readouterr().out
    assert " ".join(shown.split()).startswith(" ".join(plan.sentences))
    for text in plan.sentences:
        assert not in_notebook or f"<p>{escape(text)}</p>" in pages[-1].html


def test_ipython_in_a_terminal_prints_lines(ipython, capsys):
    ipython(SimpleNamespace())
    search = search_of(verbose=1, refit=False).fit(X)
    assert len(lines_below_plan(search, capsys.readouterr().out)) == len(search.n_resources_)


def test_lines_show_the_time_left_except_for_the_last_rungs(capsys):
    space = {"limit": [k / 20 for k in range(20)]}
    search = HyperbandSearchCV(
        Curve(), space, resource="partial_fit", max_resources=4, verbose=1, cv=2, refit=False
    ).fit(X)
    lines = lines_below_plan(search, capsys.readouterr().out)
    assert len(lines) == len(search.n_resources_)
    for line in lines:
        # All brackets end together.
        assert line.endswith(" s left") == (" 4 epochs" not in line), line


def test_verbose_2_prints_one_line_per_candidate(capsys):
    search = search_of(verbose=2).fit(X)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [int(line[1]) for line in lines if line[0] == "candidate"] == [
        candidate for row in search.rung_history_ for candidate in row["candidates"]
    ]


class Flaky(LogisticRegression):
    def fit(self, X, y):
        if self.C == 3:
            raise ValueError("three")
        return super().fit(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("scoring", [None, ["accuracy", "f1_macro"]])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_verbose_3_prints_lines_of_grid_search_with_the_resource(scoring, train, n_jobs, capsys):
    iris = load_iris(return_X_y=True)
    grid = {"fit_intercept": [True, False], "C": [0.01, 3]}
    common = {
        "cv": 3, "scoring": scoring, "refit": False, "return_train_score": train, "verbose": 3,
        "error_score": -1.0,
    }  # fmt: skip
    estimator = Flaky(max_iter=1000)
    GridSearchCV(estimator, grid, **common).fit(*iris)
    theirs = fit_lines(capsys)
    SuccessiveHalvingSearchCV(
        estimator, grid, min_resources=1.0, resource="n_samples", n_jobs=n_jobs, **common
    ).fit(*iris)
    ours = [line.replace(", n_resources=100", "") for line in fit_lines(capsys)]
    assert len(theirs) == 4 * 3
    assert sorted(ours) == sorted(theirs)


def fit_lines(capsys):
    """Lines of fits without dots and seconds, after a check of their width."""
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[CV")]
    assert all(len(line) == 80 for line in lines if "...." in line)
    return [re.sub(r"\.{2,}", "", line.rpartition("=")[0]) for line in lines]


def test_verbose_3_prints_the_lines_of_verbose_2_and_one_per_fit(capsys):
    search_of(verbose=2).fit(X)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    search = search_of(verbose=3).fit(X)
    all_lines = capsys.readouterr().out.splitlines()
    more = [line.split() for line in all_lines if not line.startswith("[CV")]
    assert [line[:4] for line in more] == [line[:4] for line in lines]
    assert len(all_lines) - len(more) == 2 * sum(search.n_candidates_)
    assert sum("n_resources=4;" in line for line in all_lines) == 2 * search.n_candidates_[-1]


def test_a_notebook_prints_one_line_per_fit_with_verbose_3(notebook, capsys):
    search = search_of(verbose=3).fit(X)
    assert len(capsys.readouterr().out.splitlines()) == 2 * sum(search.n_candidates_)


def test_a_training_score_that_failed_is_printed_as_in_grid_search():
    outcome = Outcome(1, 2, 9, test_scores=0.5)
    line = fit_line(outcome, {}, n_folds=3, error_score=np.nan, has_train_scores=True)
    assert "score=(train=nan, test=0.500) total time" in line


def test_a_long_fit_is_printed_in_minutes():
    line = fit_line(Outcome(1, 2, 9, 0.5, fit_time=90.0), {}, n_folds=3, error_score=0.0)
    assert line.startswith("[CV 3/3] END ...")
    assert line.endswith("n_resources=9;, score=0.500 total time= 1.5min")
