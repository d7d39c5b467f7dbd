"""Checkpoint folders: completed results survive the process, however it ends."""

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
from conftest import slow
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import loguniform, randint, rv_discrete, uniform
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso, Ridge, SGDClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from test_stopping import Stopped, ctrl_c, search_of
from toys import CALLS, SCRIPT, Curve, Locked, disk_full, numbers

from sklearn_sha import CheckpointError, HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._parallel import workers
from sklearn_sha._search.digest import digest
from sklearn_sha._search.fingerprint import described_space
from sklearn_sha._storage import checkpoint, durable_files
from sklearn_sha._storage import models as models_module
from sklearn_sha._storage.checkpoint import FORMAT, Checkpoint
from sklearn_sha._storage.models import ModelFile, ModelFolder, TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit import Algorithm, FixedSchedule, RungRequest, promote
from sklearn_sha.candidates import Sampler
from sklearn_sha.schedules import Schedule

X, Y = (part[:300] for part in load_digits(return_X_y=True))
NOTHING = np.zeros((12, 1))


def searches(**params):
    return {
        "mini-batches in a pipeline": SuccessiveHalvingSearchCV(
            make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=0)),
            {
                "sgdclassifier__alpha": loguniform(1e-6, 1),
                "standardscaler__with_mean": [True, False],
            },
            n_candidates=8, batch_size=50, max_resources=8, scoring=["accuracy", "f1_macro"],
            refit="f1_macro", return_train_score=True, random_state=0, cv=2, **params,
        ),
        "trees, several metrics of one callable": SuccessiveHalvingSearchCV(
            RandomForestClassifier(n_estimators=8, random_state=0),
            {"max_depth": [2, 4, 8, None]}, resource="n_estimators", cv=2, **params,
        ),
        "doubling": SuccessiveHalvingSearchCV(
            SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 1e-1, 1]}, budget="double",
            resource="partial_fit", max_resources=8, cv=2, **params,
        ),
        "brackets": HyperbandSearchCV(
            SGDClassifier(random_state=0), {"alpha": loguniform(1e-6, 1)}, max_resources=4,
            resource="partial_fit", factor=2, cv=2, random_state=0, **params,
        ),
    }  # fmt: skip


def files_of(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def models_in(folder):
    return [path for path in folder.glob("models-*/*") if path.is_file()]


def interrupt(folder, at, **params):
    """Interrupt a search with a checkpoint by Ctrl-C after `at` calls."""
    CALLS.clear()
    with ctrl_c(at):
        search_of("range", Stopped(), checkpoint=folder, **params).fit(NOTHING)


def same_search(folder, **params):
    """Return the search of `interrupt`, unfitted."""
    return search_of("range", Stopped(), checkpoint=folder, **params)


def test_a_pipeline_may_cache_its_steps_in_another_folder(tmp_path):
    for folder in ("a", "b"):
        CALLS.clear()
        pipeline = Pipeline(
            [("scaler", StandardScaler()), ("model", Curve())], memory=str(tmp_path / folder)
        )
        SuccessiveHalvingSearchCV(
            pipeline, {"model__limit": [0.1, 0.4]}, resource="partial_fit", max_resources=2,
            cv=KFold(2), refit=False, checkpoint=tmp_path / "kept",
        ).fit(NOTHING)  # fmt: skip
    assert CALLS == []


@pytest.fixture(scope="module")
def reference():
    return numbers(search_of("range").fit(NOTHING))


@pytest.mark.parametrize("name", searches())
@pytest.mark.parametrize("n_jobs", [None, *slow(2)])
def test_results_are_the_same_with_a_checkpoint_and_when_read_from_it(tmp_path, name, n_jobs):
    plain = searches()[name].fit(X, Y)
    saved = searches(checkpoint=tmp_path / "a", n_jobs=n_jobs)[name].fit(X, Y)
    assert numbers(saved) == numbers(plain)
    np.testing.assert_array_equal(saved.predict(X), plain.predict(X))
    assert models_in(tmp_path / "a") == []
    # A second fit, which could be in another process, only refits.
    second = searches(checkpoint=str(tmp_path / "a"))[name].fit(X, Y)
    assert numbers(second) == numbers(plain)
    assert [row["utilization"] for row in second.rung_history_] == [None] * second.n_iterations_
    np.testing.assert_array_equal(second.all_cv_results_["mean_fit_time"],
                                  saved.all_cv_results_["mean_fit_time"])  # fmt: skip
    np.testing.assert_array_equal(second.predict(X), plain.predict(X))


SEARCH = """
if __name__ == "__main__":
    search = SuccessiveHalvingSearchCV(
        Slow(), {"limit": np.linspace(0, 1, 9)}, resource="partial_fit", max_resources=8,
        cv=KFold(2), refit=False, n_jobs=int(os.environ["N_JOBS"]), checkpoint=sys.argv[1],
    ).fit(np.zeros((10, 1)))
    print(json.dumps(scores(search)))
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("script") / "a_search.py"
    path.write_text(SCRIPT + SEARCH)
    return path


def start(script, folder, n_jobs):
    log = folder.parent / "log"
    log.touch()
    env = os.environ | {"N_JOBS": str(n_jobs), "LOG": str(log)}
    command = [sys.executable, str(script), str(folder)]
    return log, subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def results_of(process):
    with process:
        printed = process.communicate()[0]
    assert process.returncode == 0
    return json.loads(printed)


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "kills"), [(1, (1, 20, 40)), (2, (25, 50))])
def test_a_search_that_was_terminated_is_resumed(tmp_path, script, n_jobs, kills):
    folder = tmp_path / "checkpoint"
    for kill in kills:
        log, process = start(script, folder, n_jobs)
        while len(log.read_text().splitlines()) < kill:
            assert process.poll() is None
            time.sleep(0.005)
        with process:
            os.kill(process.pid, signal.SIGKILL)
        time.sleep(0.3)  # running jobs of its workers
    log, process = start(script, folder, n_jobs)
    results = results_of(process)
    n_trained = len(log.read_text().splitlines())

    (tmp_path / "whole").mkdir()
    log, process = start(script, tmp_path / "whole" / "checkpoint", 1)
    assert results == results_of(process)
    n_needed = len(log.read_text().splitlines())
    # The last fit is lost, of at most 4 epochs, or the last batches: at most the 18 of a rung.
    n_lost = 4 if n_jobs == 1 else 18
    assert len(kills) * n_lost < sum(kills)  # what is lost without a checkpoint
    assert n_needed <= n_trained <= n_needed + len(kills) * n_lost
    assert models_in(folder) == []


OWN_CLASS = """
CALLS = []

def f(self, X, y=None):
    if len(CALLS) == int(os.environ["AT"]):
        os._exit(9)
    CALLS.append(self)
    return self.fit(X)

class Mine(Slow):
    partial_fit = f

def local():
    class Mine(Slow):
        partial_fit = f
    return Mine

if __name__ == "__main__":
    for own in Mine, local():
        search = SuccessiveHalvingSearchCV(
            own(), {"limit": np.linspace(0, 1, 9)}, resource="partial_fit", max_resources=8,
            cv=KFold(2), n_jobs=int(os.environ["N_JOBS"]), checkpoint=f"{sys.argv[1]}-{own is Mine}"
        ).fit(np.zeros((10, 1)))
        assert own.partial_fit is f
        assert f.__globals__ is globals()
        assert {type(model) for model in CALLS} <= {Mine, own}
        print(json.dumps([scores(search), len(CALLS)]))
"""


@pytest.mark.slow
def test_classes_of_a_script_are_unchanged(tmp_path):
    """Models are loaded as instances of these classes, also in another process."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + OWN_CLASS)

    def run(folder, at=-1, n_jobs=1):
        env = os.environ | {"AT": str(at), "N_JOBS": str(n_jobs)}
        command = [sys.executable, str(script), str(tmp_path / folder)]
        done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True)
        assert done.returncode == (0 if at < 0 else 9)
        return [json.loads(line) for line in done.stdout.splitlines()]

    (expected, n_calls), (other, n_both) = run("whole")
    assert expected == other
    assert n_both == 2 * n_calls
    assert run("killed", at=n_calls // 2) == []
    (resumed, n_resumed), _ = run("killed")
    assert resumed == expected
    assert n_resumed < n_calls
    assert [found for found, _ in run("workers", n_jobs=2)] == [expected] * 2


@pytest.mark.slow
def test_models_of_workers_are_instances_of_the_class_of_the_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT
        + """
import joblib

def write(path):
    from sklearn_sha._storage.models import ModelFolder, TrainedModel
    return ModelFolder(path, durable=True).write({(0,): TrainedModel(Slow(limit=3), 1)})

if __name__ == "__main__":
    from pathlib import Path
    fit = Slow.fit
    ((files,),) = [joblib.Parallel(n_jobs=2)([joblib.delayed(write)(Path(sys.argv[1]))])]
    model = files[0,].load()
    assert type(model) is Slow
    assert Slow.fit is fit
    assert model.limit == 3
"""
    )
    subprocess.run([sys.executable, script, tmp_path], check=True)


@pytest.mark.parametrize("at", range(0, 144, 7))
def test_at_most_one_job_is_repeated(tmp_path, reference, at):
    interrupt(tmp_path, at)
    search = same_search(tmp_path).fit(NOTHING)
    assert numbers(search) == reference
    steps = [rung.step for rung in search.schedule_.rungs]
    assert 144 <= len(CALLS) <= 144 + max(steps)


@pytest.mark.parametrize("temporary", [False, True], ids=["checkpoint", "temporary folder"])
@pytest.mark.parametrize("large", [True, False])
def test_models_of_eliminated_candidates_are_deleted(tmp_path, monkeypatch, large, temporary):
    """Large models have a file each; small models share one, which is deleted after the last."""
    sizes = []

    def recording(self, X, y=None, partial_fit=Curve.partial_fit):
        sizes.append(sum(path.stat().st_size for path in models_in(tmp_path)))
        return partial_fit(self, X, y)

    def create_model_folder(self):
        self.model_folder = ModelFolder(tmp_path / "models-temporary")

    monkeypatch.setattr(Curve, "partial_fit", recording)
    monkeypatch.setattr(models_module, "_LARGE", 1 if large else 2**20)
    if temporary:
        (tmp_path / "models-temporary").mkdir()
        monkeypatch.setattr(workers, "effective_n_jobs", lambda n_jobs: 2)
        monkeypatch.setattr(Store, "create_model_folder", create_model_folder)
    search = search_of("range", checkpoint=None if temporary else tmp_path).fit(NOTHING)
    one = Curve(np.float64(0.1), np.float64(0.2)).partial_fit(NOTHING)
    counts = np.array(sizes) / len(TrainedModel(one, 1).to_bytes())
    assert max(counts) > search.n_candidates_[0]
    # The large models of eliminated candidates are deleted before the second fold of the next rung.
    for row, after in itertools.pairwise(search.rung_history_):
        calls = 2 * row["total_cost"] + after["n_candidates"] * after["step"]
        eliminated = 0 if large else row["n_candidates"] - after["n_candidates"]
        assert counts[calls] <= 1.1 * (3 * after["n_candidates"] + 2 * eliminated)
    assert models_in(tmp_path) == []


def test_files_are_on_the_disk_before_others_refer_to_them(tmp_path, monkeypatch):
    events = []

    def recording_event(name, function, target):
        def call(*args, **kwargs):
            events.append((name, *map(str, target(args))))
            return function(*args, **kwargs)

        return call

    monkeypatch.setattr(
        durable_files, "sync", recording_event("sync", durable_files.sync, lambda a: [a[0]])
    )
    monkeypatch.setattr(Path, "replace", recording_event("rename", Path.replace, lambda a: a[:2]))
    monkeypatch.setattr(os, "fsync", recording_event("fsync", os.fsync, lambda a: []))
    monkeypatch.setattr(Path, "unlink", recording_event("unlink", Path.unlink, lambda a: [a[0]]))
    search_of("range", checkpoint=tmp_path).fit(NOTHING)
    synced, durable, n_lines = set(), set(), 0
    for number, (name, *paths) in enumerate(events):
        if name == "sync":
            assert events[number + 1][0] == "fsync"
            synced.add(paths[0])
        elif name == "rename":
            assert paths[0] in synced  # the content is on the disk before the file is renamed
            durable.add(paths[1])
        elif name == "unlink" and "models" in paths[0]:
            assert n_lines > 0
        elif name == "fsync" and events[number - 1][0] != "sync":
            n_lines += 1  # the folder of the models was synced before the line of the journal
            last = [e for e in events[:number] if e[0] in ("sync", "rename")]
            assert not last or last[-1][0] == "sync"
    assert len(durable) == 1 + 3 * 2  # about.json, and three rungs of two folds
    assert n_lines >= 8


@pytest.mark.slow
@settings(max_examples=60)
@given(data=st.data())
def test_damage_is_an_error_or_repaired_and_never_changes_results(
    tmp_path_factory, reference, data
):  # fmt: skip
    folder = tmp_path_factory.mktemp("damaged")
    share = st.floats(0, 1, exclude_max=True)
    interrupt(folder, data.draw(st.integers(1, 143), label="at"))
    files = [p for p in files_of(folder) if p.name not in ("lock", "process")]
    path = data.draw(st.sampled_from(files), label="file")
    content = bytearray(path.read_bytes())
    if content and data.draw(st.booleans(), label="alter"):
        content[int(data.draw(share) * len(content))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(bytes(content))
    elif data.draw(st.booleans(), label="delete"):
        path.unlink()
    else:
        os.truncate(path, int(data.draw(share) * len(content)))
    search = same_search(folder)
    message = ""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            search.fit(NOTHING)
        except CheckpointError as error:
            message = str(error)
    if message:
        assert str(path) in message
        assert "delete the folder" in message
    else:
        assert numbers(search) == reference
    for warning in warned:
        assert f"The end of {folder / 'outcomes.jsonl'} is damaged" in str(warning.message)


def test_results_at_a_damaged_end_are_discarded_and_repeated(tmp_path, reference):
    interrupt(tmp_path, 100)
    journal = tmp_path / "outcomes.jsonl"
    n_lines = len(journal.read_bytes().splitlines())
    os.truncate(journal, journal.stat().st_size - 10)
    search = same_search(tmp_path)
    with pytest.warns(
        RuntimeWarning, match=r"The end of .*outcomes.jsonl is damaged\. The last completed"
    ):
        search.fit(NOTHING)
    assert numbers(search) == reference
    lines = journal.read_bytes().splitlines()
    assert all(checkpoint._without_checksum(line) is not None for line in lines)
    assert len(lines) > n_lines
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


def test_damage_in_the_middle_is_an_error(tmp_path):
    interrupt(tmp_path, 100)
    journal = tmp_path / "outcomes.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], lines[1].replace(b"0", b"1"), *lines[2:]]))
    with pytest.raises(
        CheckpointError, match=r"outcomes.jsonl can't be used: line 2 is truncated or was m"
    ):
        same_search(tmp_path).fit(NOTHING)


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda path: os.truncate(path, 20), "is truncated or was modified"),
        (
            lambda path: path.write_bytes(b"cos\nmkdir\n(S'%s'\ntR." % bytes(path.parent / "run")),
            "is truncated or was modified",
        ),
    ],
    ids=["truncated", "another pickle"],
)
def test_a_damaged_model_is_not_loaded(tmp_path, damage, problem):
    interrupt(tmp_path, 100)
    for path in models_in(tmp_path):
        damage(path)
    with pytest.raises(
        CheckpointError, match=rf"models-.* {problem}.*delete the folder {tmp_path}"
    ):
        same_search(tmp_path).fit(NOTHING)
    assert not [*tmp_path.rglob("run")]  # which loading it would make


def test_deleted_models_are_refit(tmp_path, reference):
    interrupt(tmp_path, 100)
    assert models_in(tmp_path)
    for path in models_in(tmp_path):
        path.unlink()
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


@pytest.mark.parametrize("n_lines", [1, 3])
def test_lost_results_of_a_completed_search_are_repeated(tmp_path, reference, n_lines):
    """It has deleted all models."""
    same_search(tmp_path).fit(NOTHING)
    assert not models_in(tmp_path)
    journal = tmp_path / "outcomes.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-n_lines]) + lines[-n_lines][:-10])
    with pytest.warns(RuntimeWarning, match=r"outcomes.jsonl is damaged\. The last completed"):
        assert numbers(same_search(tmp_path).fit(NOTHING)) == reference
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


@pytest.mark.parametrize("method", ["resume", "audit", "extend"])
def test_a_deleted_folder_is_not_made_again(tmp_path, method):
    search = same_search(tmp_path / "a")
    with ctrl_c(100) if method == "resume" else nullcontext():
        search.fit(NOTHING)
    rmtree(tmp_path / "a")
    params = {} if method == "resume" else {"n_candidates": 2}
    with pytest.raises(ValueError, match=r"but checkpoint \(.* was deleted\) changed since"):
        getattr(search, method)(NOTHING, **params)
    assert not (tmp_path / "a").exists()


def test_a_folder_that_is_deleted_during_the_search_is_named(tmp_path):
    def score(model, X, y=None):
        if len(CALLS) > 5 and (tmp_path / "a").exists():
            rmtree(tmp_path / "a")
        return 0.5

    CALLS.clear()
    search = SuccessiveHalvingSearchCV(
        Curve(), {"limit": [0.1, 0.2, 0.3, 0.4]}, resource="n_samples", min_resources=3,
        scoring=score, cv=2, checkpoint=tmp_path / "a",
    )  # fmt: skip
    with pytest.raises(CheckpointError, match="/a can't be used: the folder was deleted"):
        search.fit(NOTHING)


def test_a_newer_format_raises(tmp_path):
    same_search(tmp_path).fit(NOTHING)
    about = json.loads((tmp_path / "about.json").read_bytes().partition(b" ")[2])
    assert about["format"] == FORMAT
    about["format"] += 1
    (tmp_path / "about.json").write_bytes(checkpoint._with_checksum(about))
    with pytest.raises(
        CheckpointError, match=r"about.json.*format 2, and this version reads formats up to 1"
    ):
        same_search(tmp_path).fit(NOTHING)


@pytest.mark.parametrize(
    ("params", "data", "named"),
    [
        ({"max_resources": 21}, NOTHING, r"schedule, max_resources \(20 then, 21 now\)"),
        ({"random_state": 1}, NOTHING, "candidates, random_state"),
        ({"n_candidates": 11}, NOTHING, r"candidates, n_candidates \(12 then, 11 now\), schedule"),
        ({"cv": KFold(3)}, NOTHING, "splits"),
        ({"tol": 0.5}, NOTHING, r"tol \(0.0 then, 0.5 now\)"),
        ({"estimator": Curve(growth=1)}, NOTHING, "estimator"),
        ({}, NOTHING + 1, "X"),
        ({}, NOTHING[:-1], "splits, X"),
    ],
    ids=["resource", "seed", "candidates", "splits", "tol", "estimator", "data", "rows"],
)
def test_the_checkpoint_of_another_search_raises(tmp_path, params, data, named):
    same_search(tmp_path).fit(NOTHING)
    before = files_of(tmp_path)
    other = same_search(tmp_path).set_params(**params)
    with pytest.raises(
        CheckpointError, match=f"another search, which differs in {named}.* Set checkpoint"
    ) as raised:
        other.fit(data)
    assert ("random_state" in str(raised.value)) == ("random_state" in params)
    after = files_of(tmp_path)
    assert {p for p in before if before[p] != after[p]} <= {tmp_path / "process"}


def with_own_constructor(**fixed):
    """A subclass that takes only some of the search's parameters, and sets others itself."""

    class Own(SuccessiveHalvingSearchCV):
        def __init__(self, estimator, param_grid, checkpoint=None):
            params = {"param_grid": param_grid, "checkpoint": checkpoint, "cv": 2, **fixed}
            super().__init__(estimator, **params)

    return Own


@pytest.mark.parametrize("name", ["tol", "scoring", "random_state", "factor"])
def test_parameters_that_a_subclass_sets_itself_are_compared(tmp_path, name):
    first = {"tol": 0.0, "scoring": "accuracy", "random_state": 0, "factor": 2, "n_candidates": 8}
    other = {"tol": 0.5, "scoring": "f1_macro", "random_state": 1, "factor": 3}
    grid = {"alpha": np.geomspace(1e-5, 1, 20).tolist()}
    model, data = SGDClassifier(random_state=0), (X, Y)
    for folder in (tmp_path, None):
        search = with_own_constructor(**first)(model, grid, folder).fit(*data)
        again = with_own_constructor(**first)(model, grid, folder).fit(*data)
        assert numbers(again) == numbers(search)
    changed = with_own_constructor(**{**first, name: other[name]})(model, grid, tmp_path)
    with pytest.raises(CheckpointError, match=rf"another search, which differs in .*{name}"):
        changed.fit(*data)
    setattr(search, name, other[name])
    with pytest.raises(ValueError, match=rf"the data of fit, but {name} changed since"):
        search.extend(*data)


def test_parameters_of_an_estimator_that_a_subclass_sets_itself_are_compared():
    class OfOneEstimator(SuccessiveHalvingSearchCV):
        def __init__(self, param_grid):
            super().__init__(SGDClassifier(random_state=0), param_grid, n_candidates=4)

    search = OfOneEstimator({"alpha": np.geomspace(1e-5, 1, 20).tolist()}).fit(X, Y)
    search.estimator.set_params(penalty="l1")
    with pytest.raises(ValueError, match="the data of fit, but estimator__penalty changed since"):
        search.extend(X, Y)


def test_parameters_that_do_not_affect_results_can_change(tmp_path, reference):
    interrupt(tmp_path, 100)
    search = same_search(tmp_path, n_jobs=1, max_time=1e6, refit=True)
    assert numbers(search.fit(NOTHING)) == reference


def test_without_a_random_state_candidates_are_sampled_once(tmp_path):
    """The checkpoint contains a seed for random_state=None."""
    interrupt(tmp_path / "a", 60, random_state=None)
    first, second, other = (
        numbers(same_search(tmp_path / name, random_state=None).fit(NOTHING)) for name in "aab"
    )
    assert first == second
    assert first != other


@pytest.mark.slow
def test_a_second_process_raises_and_names_the_first(tmp_path):
    with Checkpoint(tmp_path):
        code = (
            "from sklearn_sha._storage.checkpoint import Checkpoint\n"
            f"with Checkpoint({str(tmp_path)!r}): pass"
        )
        second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert second.returncode != 0
        message = second.stderr.splitlines()[-1]
        assert f"CheckpointError: {tmp_path} is in use by process {os.getpid()} on " in message
        with pytest.raises(CheckpointError, match=f"in use by process {os.getpid()}"):
            same_search(tmp_path).fit(NOTHING)
    same_search(tmp_path).fit(NOTHING)


def test_two_processes_begin_with_one_new_folder(tmp_path, monkeypatch):
    """The other one creates and locks it at the same moment, before it has written its name."""
    other = FileLock(tmp_path / "new" / "lock")

    def meanwhile(self, *args, **kwargs):
        monkeypatch.undo()
        os.mkdir(self, 0o700)
        other.acquire()
        (self / "process").touch()
        self.mkdir(*args, **kwargs)

    monkeypatch.setattr(Path, "mkdir", meanwhile)
    with pytest.raises(CheckpointError, match="new is in use by another process"):
        same_search(tmp_path / "new").fit(NOTHING)
    other.release()
    same_search(tmp_path / "new").fit(NOTHING)


@pytest.mark.parametrize("n_writes", [0, 1, 2, 4, 6])
@pytest.mark.parametrize("operation", ["write", "fsync"])
def test_after_the_error_of_a_full_disk_the_search_can_be_resumed(
    tmp_path, monkeypatch, reference, n_writes, operation
):
    left = [n_writes]

    def failing(function):
        def call(*args):
            left[0] -= 1
            if left[0] < 0:
                disk_full()
            return function(*args)

        return call

    with monkeypatch.context() as patch:
        if operation == "write":
            patch.setattr(Path, "write_bytes", failing(Path.write_bytes))
        else:
            patch.setattr(os, "fsync", failing(os.fsync))
        search = same_search(tmp_path)
        with pytest.raises(
            CheckpointError, match=r"can't be written: No space left on device\. All results"
        ):
            search.fit(NOTHING)
    assert not [p for p in files_of(tmp_path) if p.name.endswith(".tmp")]
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


def test_a_disk_that_is_full_at_the_start_is_a_clear_error(tmp_path, monkeypatch, reference):
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", disk_full)
        with pytest.raises(CheckpointError, match=r"process can't be written: No space left"):
            same_search(tmp_path).fit(NOTHING)
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="requires a device that is full")
def test_a_line_that_does_not_fit_on_the_disk_is_a_clear_error():
    with pytest.raises(CheckpointError, match="can't be written: No space left on device"):
        durable_files.append(Path("/dev/full"), b"a line")


def test_a_line_that_is_written_in_part_is_taken_back(tmp_path, monkeypatch):
    """The disk has room for the beginning."""
    path = tmp_path / "lines"
    durable_files.append(path, b"first\n")

    class Full(io.FileIO):
        def write(self, content):
            if len(content) < 6:
                disk_full()
            return super().write(content[:3])

    monkeypatch.setattr(
        durable_files, "open", lambda path, mode, buffering: Full(path, mode), raising=False
    )
    with pytest.raises(CheckpointError, match="No space left"):
        durable_files.append(path, b"second\n")
    monkeypatch.undo()
    assert path.read_bytes() == b"first\n"
    durable_files.append(path, b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


def test_the_folder_is_private(tmp_path):
    folder = tmp_path / "new" / "one"
    same_search(folder).fit(NOTHING)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert next(folder.glob("models-*")).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_raises(tmp_path, mode):
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(mode)
    with pytest.raises(CheckpointError, match=r"others can write to it.*chmod 700"):
        same_search(tmp_path / "a").fit(NOTHING)
    assert list((tmp_path / "a").iterdir()) == []


def test_a_folder_of_another_user_raises(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(CheckpointError, match="belongs to another user"):
        same_search(tmp_path).fit(NOTHING)


def test_a_folder_with_other_files_raises(tmp_path):
    (tmp_path / "thesis.tex").write_text("nine years of work")
    with pytest.raises(CheckpointError, match=r"is not a checkpoint and contains other files \(th"):
        same_search(tmp_path).fit(NOTHING)
    assert (tmp_path / "thesis.tex").read_text() == "nine years of work"


@pytest.mark.parametrize("name", ["models-v1", "workers-list", "models-0123abcd.pkl"])
def test_folders_of_others_are_neither_used_nor_deleted(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "thesis.tex").write_text("nine years of work")
    with pytest.raises(CheckpointError, match=rf"contains other files \({name}\)"):
        same_search(tmp_path).fit(NOTHING)
    assert (tmp_path / name / "thesis.tex").read_text() == "nine years of work"
    own = tmp_path / "own"
    interrupt(own, 40)
    (own / name).mkdir()
    same_search(own).fit(NOTHING)
    assert (own / name).is_dir()


def test_results_without_what_identifies_their_search_are_not_deleted(tmp_path, reference):
    same_search(tmp_path).fit(NOTHING)
    content = (tmp_path / "about.json").read_bytes()
    (tmp_path / "about.json").unlink()
    with pytest.raises(CheckpointError, match=r"about.json can't be used: it is missing"):
        same_search(tmp_path).fit(NOTHING)
    (tmp_path / "about.json").write_bytes(content)
    CALLS.clear()
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference
    assert CALLS == []


def test_a_completed_search_needs_no_folder_of_models(tmp_path, reference):
    same_search(tmp_path).fit(NOTHING)
    (folder,) = tmp_path.glob("models-*")
    rmtree(folder)
    assert numbers(same_search(tmp_path).fit(NOTHING)) == reference


def test_a_file_instead_of_a_folder_raises(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="is not a folder"):
        same_search(tmp_path / "file").fit(NOTHING)
    with pytest.raises(CheckpointError, match=r"checkpoint='.*file/inside' cannot be created: "):
        same_search(tmp_path / "file" / "inside").fit(NOTHING)


def test_integers_of_numpy_can_be_stored(tmp_path):
    """Those of an algorithm, and the size of a mini-batch."""
    grid = {"limit": [k / 10 for k in range(8)]}
    for params in (
        {"algorithm": FixedSchedule(np.array([8, 2]), np.array([1, 4]))},
        {"algorithm": NumPyIds(), "max_resources": 4},
        {"batch_size": np.int64(3), "max_resources": 4, "min_folds": "all"},
    ):
        search = SuccessiveHalvingSearchCV(
            Curve(), grid, resource="partial_fit", cv=KFold(2), refit=False, **params
        )
        search.fit(NOTHING)
        stored = clone(search).set_params(checkpoint=tmp_path / str(len(params))).fit(NOTHING)
        again = clone(stored).fit(NOTHING)
        assert numbers(search) == numbers(stored) == numbers(again)
        rmtree(tmp_path / str(len(params)))


class NumPyIds(Algorithm):
    """Computes with arrays of NumPy's integers."""

    def plan(self, bounds):
        return Schedule.from_rungs([bounds.n_candidates, 2], [1, bounds.max_resources])

    def requests(self, plan, propose):
        ids = np.array(propose(plan.rungs[0].n_candidates))
        losses = yield RungRequest(0, tuple(ids), np.int64(1))
        ids = np.sort(ids[promote(losses, 2)])
        losses = yield RungRequest(1, tuple(ids), np.int64(plan.rungs[1].n_resources), True, True)
        return int(ids[promote(losses, 1)[0]])


@pytest.mark.parametrize("checkpoint", [True, 3, ["a"]])
def test_a_checkpoint_that_is_not_a_path_raises(checkpoint):
    with pytest.raises(TypeError, match=r"checkpoint=.* must be the path of a folder, or None"):
        same_search(checkpoint).fit(NOTHING)


def test_a_missing_dependency_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(ImportError, match=r"requires the package filelock. Install sklearn_sha"):
        same_search(tmp_path).fit(NOTHING)


def test_models_of_workers_without_access_are_written_by_the_search(tmp_path):
    with Checkpoint(tmp_path) as store:
        store.claim({"a": "search"})
        outcome = Outcome(3, 1, 4, 0.5)
        store.add([(outcome, TrainedModel({"weights": [1, 2]}, 4))])
        assert isinstance(store.models[3, 1], ModelFile)
    with Checkpoint(tmp_path) as store:
        store.claim({"a": "search"})
        assert store.outcomes == {(3, 1, 4): outcome}
        assert store.models[3, 1].load() == {"weights": [1, 2]}


def test_a_model_that_cannot_be_pickled_raises(tmp_path):
    with pytest.raises(
        CheckpointError, match=r"class Locked can't be pickled.*Set checkpoint=None"
    ):
        search_of("range", Locked(), checkpoint=tmp_path).fit(NOTHING)


FINGERPRINTS = """
import numpy as np, pandas as pd
from scipy import sparse
from sklearn_sha._search.digest import digest
from sklearn_sha._search.fingerprint import data_fingerprint
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 3))
words = [f"word {k} of a text" for k in range(50)]
frame = pd.DataFrame(X, columns=list("abc")).assign(w=pd.Categorical(words), o=words)
for data in (X, X.astype(np.float32), np.asfortranarray(X), sparse.csr_matrix(X), frame, words,
             sparse.coo_array(X), np.array(words, dtype=object)):
    print(data_fingerprint(data, words, {"sample_weight": X[:, 0], "names": {"b": 1, "a": {2}}}))
print(digest(make_pipeline(SGDClassifier(class_weight={"b": 1, "a": 2}))), digest(lambda: 0),
      digest([np.log, SGDClassifier, {"a": lambda x: x in {"b", "c"}}]),
      digest(SGDClassifier(penalty=frozenset(words))), digest({None, "a", "b", frozenset("cd")}))
"""


def scorer_of(value, sign=1):
    return lambda model, X, y=None: sign * value


def keyword_of(value):
    return lambda model, X, *, value=value, notes=[]: value


def enclosing(function):
    return lambda model, X: function(X)


class Scorer:
    """Cannot be pickled."""

    def __init__(self, value):
        self.value = value
        self.lock = threading.Lock()


def test_functions_are_compared_by_what_they_do():
    def one(y, z):
        return 1.0

    def other(y, z):
        return 2.0

    def recursive(n):
        return recursive(n - 1) if n else n

    def deeper(n, g=recursive):
        return deeper(n - 1) if n else g(n)

    different = [
        scorer_of(1.0), scorer_of(2.0), scorer_of(1.0, sign=-1), scorer_of(np.ones(2)),
        lambda model, X: 0.5, lambda model, X: 1.0, lambda model, X, y=1: 0.5, one, other,
        lambda X: X in {"a", "b"}, lambda X: X in {"a", "c"}, lambda X: [1 for _ in X],
        {1, 2}, frozenset({1, 2}), {1, 3}, frozenset({1, 2, "a"}), {frozenset({1}), 2},
        recursive, deeper, partial(one, z=1), partial(other, z=1), partial(one, z=2),
        make_scorer(one), make_scorer(other), make_scorer(one, greater_is_better=False),
        make_scorer(one, z=1), make_scorer(one, z=2), *map(keyword_of, (1, 2)),
        *map(enclosing, (np.mean, np.median, np.log, np.exp, min, max, one, other, Ridge, Lasso)),
        Scorer(1), Scorer(2), {"m": make_scorer(one)}, {"m": make_scorer(other)},
        make_pipeline(FunctionTransformer(lambda X: X)),
        make_pipeline(FunctionTransformer(lambda X: X * 0)),
    ]  # fmt: skip
    assert len({*map(digest, different)}) == len(different)
    assert digest(scorer_of(1.0)) == digest(scorer_of(1.0))
    # Wherever a function is.
    first, second = (eval(f"{lines}lambda x: x + 1") for lines in ("", "\n\n"))
    assert first.__code__.co_firstlineno != second.__code__.co_firstlineno
    assert digest(first) == digest(second)
    # What it notes while it is called does not matter.
    notes = []

    def noting(model, X, y=None):
        notes.append(X)

    noting_too = partial(lambda given, model, X: given.append(X), notes)
    before = digest(noting), digest(noting_too)
    noting(None, 1)
    assert (digest(noting), digest(noting_too)) == before


def test_another_lambda_is_another_search(tmp_path):
    params = {"checkpoint": tmp_path, "refit": False}
    search_of("range", scoring=lambda model, X, y=None: 0.5, **params).fit(NOTHING)
    other = search_of("range", scoring=lambda model, X, y=None: 1.0, **params)
    with pytest.raises(CheckpointError, match="another search, which differs in scoring"):
        other.fit(NOTHING)


@pytest.mark.parametrize("sampler", ["random", "sobol", "model"])
def test_another_distribution_of_integers_is_another_search(tmp_path, sampler):
    """Of both distributions, the first samples are the same."""
    spaces = [{"speed": randint(10, stop)} for stop in (500, 520)]
    params = {"sampler": sampler, "n_candidates": 16, "random_state": 0}
    first, other = (
        SuccessiveHalvingSearchCV(
            Curve(), space, resource="partial_fit", max_resources=8, refit=False,
            checkpoint=tmp_path, **params,
        )
        for space in spaces
    )  # fmt: skip
    first.fit(NOTHING)
    with pytest.raises(CheckpointError, match="differs in candidates"):
        other.fit(NOTHING)


class Thousandths:
    def __init__(self, stop):
        self.stop = stop

    def rvs(self, random_state=None):
        return random_state.randint(10, self.stop) / 1000


def test_distributions_are_described_by_their_values():
    points = [1, 2, 3]
    different = [
        Thousandths(500), Thousandths(520), randint(10, 500), randint(10, 520), uniform(0, 1),
        *(rv_discrete(values=(points, [0.3, p, 0.7 - p])) for p in (0.3, 0.4)),
        loguniform([0.1, 1], 10), loguniform([0.1, 2], 10),
    ]  # fmt: skip
    texts = [str(described_space({"a": distribution})) for distribution in different]
    assert len({*texts}) == len(texts)
    assert described_space({"a": uniform(loc=0, scale=1)}) == described_space({"a": uniform(0, 1)})


def test_other_proposals_are_another_search(tmp_path):
    class Given(Sampler):
        limits = 0.9, 0.2, 0.3, 0.4

        def propose(self, n, space, history, rng):
            return [{"limit": limit} for limit in self.limits][:n]

    def search():
        return search_of("range", sampler=Given(), n_candidates=4, checkpoint=tmp_path)

    search().fit(NOTHING)
    assert search().fit(NOTHING).best_params_ == {"limit": 0.9}
    Given.limits = 0.1, 0.2, 0.3, 0.95
    with pytest.raises(CheckpointError, match="differs in candidates"):
        search().fit(NOTHING)


def test_other_versions_are_another_search(tmp_path, monkeypatch):
    same_search(tmp_path).fit(NOTHING)
    monkeypatch.setattr("scipy.__version__", "0.1")
    monkeypatch.setattr("sklearn_sha._search.fingerprint.__version__", "0.0.1")
    with pytest.raises(CheckpointError, match=r"scipy \(.*0.1 now\), sklearn_sha \(.*0.0.1 now"):
        same_search(tmp_path).fit(NOTHING)


@pytest.mark.slow
def test_fingerprints_are_the_same_in_another_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINTS], capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(printed) == 1
    lines = printed.pop().splitlines()
    assert len(lines) == 9
    assert len(set(lines)) == 8  # the memory order of an array is ignored


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_fingerprints_contain_all_of_y_and_samples_of_x_from_the_first_to_the_last(make):
    from sklearn_sha._search.fingerprint import data_fingerprint

    n = 250_000
    big, y = np.zeros((n, 2)), np.zeros(n)
    same = data_fingerprint(make(big), y, {})
    seen = 0
    for row in (0, n // 2, n - 1, 77_777, 7):
        y[row] = 1
        assert data_fingerprint(make(big), y, {})["y"] != same["y"]
        y[row] = 0
        big[row, 1] = 1
        seen += data_fingerprint(make(big), y, {})["X"] != same["X"]
        big[row, 1] = 0
    assert seen >= 2  # at least the first and the last
    assert data_fingerprint(make(big + 1), y, {})["X"] != same["X"]
