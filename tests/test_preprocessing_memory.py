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
from toys import disk_full, numbers

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._engine.engine import Engine
from sklearn_sha._parallel import workers
from sklearn_sha._search import base
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


def search_and_data(last=None, n_settings=12, **params):
    """A search of 24 candidates in a pipeline, 12 settings of which have outputs of their own."""
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
    return search, X, X.sum(axis=1)


def widened(*args, **params):
    """Fit it."""
    search, X, y = search_and_data(*args, **params)
    return search.fit(X, y)


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
    # In addition to those that fit, each thread fits or writes one.
    assert min(48, n_fit + 1) * FOLD <= max(SIZES) <= min(48, n_fit + threads) * FOLD
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
        ((PreprocessingFile, "write", lambda fitted, folder: fitted), "there is no space for them"),
        ((workers, "mkdtemp", disk_full), "there is no space for them"),
    ],
    ids=["tmpfs", "disk", "folder"],
)
def test_without_space_in_files_a_warning_is_shown(monkeypatch, patch, reason):
    expected = numbers(widened(model_memory=None))
    monkeypatch.setattr(*patch)
    message = f"exceed model_memory={FOLD} bytes, and {reason}.* set the environment variable"
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
    with pytest.warns(RuntimeWarning, match="there is no space for them") as caught:
        widened(model_memory=1)
    assert len(caught) == 1
    assert len(written) == 47
    assert max(SIZES) == 2 * FOLD  # it, and one that is being fitted


class Unreadable(np.ndarray):
    """Can be pickled, but not restored."""

    def __reduce__(self):
        return np.linalg.inv, (np.zeros((2, 2)),)


class MakesUnreadable(Widening):
    def transform(self, X):
        return super().transform(X).view(Unreadable)


def test_output_that_cannot_be_read_again_stays_in_memory(written):
    expected = numbers(widened(model_memory=None))
    search, X, y = search_and_data(model_memory=1)
    search.set_params(estimator__widening=MakesUnreadable())
    with pytest.warns(RuntimeWarning, match="or they can't be pickled") as caught:
        search.fit(X, y)
    assert len(caught) == 1
    assert numbers(search) == expected
    assert len(written) == 48
    assert not any(file.path.exists() for file in written)


def test_a_search_that_is_interrupted_while_it_writes_is_completed(monkeypatch, written):
    expected = numbers(widened(model_memory=None))
    recording = PreprocessingFile.write

    def interrupted(fitted, folder):
        if len(written) == 20:
            monkeypatch.setattr(PreprocessingFile, "write", recording)
            raise KeyboardInterrupt
        return recording(fitted, folder)

    monkeypatch.setattr(PreprocessingFile, "write", interrupted)
    search, X, y = search_and_data(model_memory=1)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(written) == 20
    assert not any(file.path.parent.exists() for file in written)
    assert numbers(search.resume(X, y)) == expected
    assert not any(file.path.parent.exists() for file in written)


@pytest.mark.parametrize("threads", [1, *slow(2)])
def test_extensions_and_audits_have_the_limit_too(written, threads):
    def extended_and_audited(**params):
        search, X, y = search_and_data(**params)
        search.fit(X, y)
        counts = [len(written)]
        search.extend(X, y, param_distributions={"widening__scale": [0.3, 0.4]})
        counts.append(len(written))
        search.audit(X, y, n_candidates=4)
        return numbers(search), [*counts, len(written)]

    expected, counts = extended_and_audited(model_memory=None)
    assert counts == [0, 0, 0]
    with parallel_config("threading", n_jobs=threads):
        found, (n_fit, n_extended, n_audited) = extended_and_audited(model_memory=1)
    assert found == expected
    assert n_fit == 48
    assert n_extended == n_fit + 2 * 4  # two settings on four folds
    assert n_audited > n_extended
    assert not any(file.path.parent.exists() for file in written)


class NeedsSamples(Ridge):
    def fit(self, X, y):
        if len(X) < 300:
            raise ValueError(f"{len(X)} are too few samples")
        return super().fit(X, y)


@pytest.mark.parametrize("model_memory", [None, 1])
def test_a_search_that_starts_again_keeps_no_output_of_before(monkeypatch, written, model_memory):
    n_alive = []

    def restarted_spec(*args, of=base.restarted_spec):
        n_alive.append(sum(ref() is not None for ref in ALIVE))
        return of(*args)

    monkeypatch.setattr(base, "restarted_spec", restarted_spec)
    params = {"resource": "n_samples", "max_resources": "auto", "model_memory": model_memory}
    search, X, y = search_and_data(NeedsSamples(), n_settings=24, **params)
    X, y = np.tile(X, (10, 1)), np.tile(y, 10)
    with pytest.warns(UserWarning, match="starts again"):
        search.fit(X, y)
    assert n_alive == [0]
    assert bool(written) == (model_memory == 1)
    assert not any(file.path.parent.exists() for file in written)


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
