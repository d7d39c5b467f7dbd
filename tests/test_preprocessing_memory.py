"""The output of preprocessing steps stays within model_memory, which changes no result."""

import weakref

import numpy as np
import pytest
from conftest import slow
from joblib import parallel_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from test_memory import full
from test_stopping import numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine.engine import Engine
from sklearn_sha._parallel import workers
from sklearn_sha._storage import limited_preprocessing
from sklearn_sha._storage.preprocessing_file import PreprocessingFile

ALIVE: list[weakref.ref] = []
SIZES: list[int] = []
FOLD = 400 * 300 * 8
"""Bytes of the output for the training and test samples of a fold."""


class Widening(TransformerMixin, BaseEstimator):
    """Its output is 100 times as large as its input."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        output = self.scale * np.repeat(X, 100, axis=1)
        # An output that was read from a file is another array.
        ALIVE[:] = [ref for ref in ALIVE if ref() is not None]
        ALIVE.append(weakref.ref(output))
        SIZES.append(sum(array.nbytes for ref in ALIVE if (array := ref()) is not None))
        return output


def widened(last=None, n_settings=12, **params):
    """Search 24 candidates in a pipeline, 12 settings of which have outputs of their own."""
    pipeline = Pipeline([("widening", Widening()), ("last", last or SGDRegressor(random_state=0))])
    space = {
        "widening__scale": np.linspace(0.1, 0.2, n_settings).tolist(),
        "last__alpha": np.logspace(-3, 0, 24 // n_settings).tolist(),
    }
    params = {"resource": "partial_fit", "max_resources": 16, "min_folds": "all"} | params
    search = SuccessiveHalvingSearchCV(
        pipeline, space, cv=KFold(4), refit=False, random_state=0, **params
    )
    X = np.random.default_rng(0).normal(size=(400, 3))
    ALIVE.clear()
    SIZES.clear()
    return search.fit(X, X.sum(axis=1))


@pytest.fixture
def written(monkeypatch):
    """What was written, file by file."""
    files = []

    def recording(fitted, folder, write=PreprocessingFile.write):
        files.append(write(fitted, folder))
        return files[-1]

    monkeypatch.setattr(PreprocessingFile, "write", recording)
    return files


@pytest.mark.parametrize("threads", [1, *slow(2)])
@pytest.mark.parametrize("n_fit", [0, 1, 20, 47, 48])
def test_output_beyond_the_limit_is_in_files(written, n_fit, threads):
    """Each of 12 settings has the output of 4 folds, which all rungs use."""
    expected = numbers(widened(model_memory=None))
    assert max(SIZES) == 48 * FOLD
    assert not written
    with parallel_config("threading", n_jobs=threads):
        search = widened(model_memory=max(1, n_fit * (FOLD + 10_000)))
    assert numbers(search) == expected
    assert len(written) == 48 - n_fit
    assert len(SIZES) == 2 * 48  # each is computed once, for training and test samples
    if threads == 1:
        assert max(SIZES) == min(48, n_fit + 2) * FOLD  # two are being fitted and written
    assert not any(file.path.parent.exists() for file in written)


@pytest.mark.parametrize(
    "params", [{}, {"scoring": lambda model, X, y: model.score(X, y)}], ids=["default", "function"]
)
def test_scores_of_training_samples_and_whole_pipelines_are_the_same(written, params):
    params = {"return_train_score": True, "last": SGDRegressor(random_state=0)} | params
    expected = numbers(widened(model_memory=None, **params))
    assert numbers(widened(model_memory=1, **params)) == expected
    assert len(written) == 48


@pytest.mark.parametrize("resource", ["n_samples", "folds"])
def test_what_is_discarded_makes_room(written, resource):
    """One setting is kept at a time, on four folds."""
    params = {"last": Ridge(), "resource": resource, "max_resources": "auto"}
    params["min_resources"] = 4 if resource == "folds" else 40
    expected = numbers(widened(model_memory=None, **params))
    assert max(SIZES) <= 4 * FOLD
    assert numbers(widened(model_memory=4 * (FOLD + 10_000), **params)) == expected
    assert not written
    assert numbers(widened(model_memory=2 * (FOLD + 10_000), **params)) == expected
    assert written


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ((limited_preprocessing, "is_in_memory", lambda folder: True), "the files of .* are in"),
        ((PreprocessingFile, "write", lambda fitted, folder: fitted), "there is no space for it"),
        ((workers, "mkdtemp", full), "there is no space for it"),
    ],
    ids=["tmpfs", "disk", "folder"],
)
def test_without_space_in_files_a_warning_is_shown(monkeypatch, patch, reason):
    expected = numbers(widened(model_memory=None))
    monkeypatch.setattr(*patch)
    message = f"exceeds model_memory={FOLD} bytes, and {reason}.* set the environment variable"
    with pytest.warns(RuntimeWarning, match=message) as caught:
        search = widened(model_memory=FOLD)
    assert len(caught) == 1
    assert numbers(search) == expected
    assert max(SIZES) == 48 * FOLD


def test_a_disk_that_is_full_for_a_moment_is_used_again(monkeypatch, written):
    """The first of 48 outputs can't be written, and takes the memory that there is."""
    write, failed = PreprocessingFile.write, []

    def failing_once(fitted, folder):
        if not failed:
            failed.append(fitted)
            return fitted
        return write(fitted, folder)

    monkeypatch.setattr(PreprocessingFile, "write", failing_once)
    with pytest.warns(RuntimeWarning, match="there is no space for it") as caught:
        widened(model_memory=1)
    assert len(caught) == 1
    assert len(written) == 47
    assert max(SIZES) == 3 * FOLD  # it, and two that are being fitted and written


def test_nothing_is_kept_for_the_refit(monkeypatch):
    kept = []

    def recording(engine, discard=Engine.discard_preprocessing):
        discard(engine)
        kept.append(len(engine._preprocessing._fitted))

    monkeypatch.setattr(Engine, "discard_preprocessing", recording)
    widened(model_memory=None)
    assert kept == [0]


@pytest.mark.slow
def test_workers_without_the_files_of_this_machine_receive_the_output(monkeypatch, written):
    monkeypatch.setattr(workers, "_LOCAL_BACKENDS", {})
    expected = numbers(widened(model_memory=None))
    assert numbers(widened(model_memory=1, n_jobs=2)) == expected
    assert not written
