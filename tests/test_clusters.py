"""Real local clusters of dask and Ray: the same answer, little moved, dead workers survived."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from crashing import Crashing
from joblib import parallel_config
from joblib.parallel import get_active_backend
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_costs import check_refit_survives
from test_parallel import SEARCHES, X, Y
from test_workers import fitted, scores, search_of, search_with_failed_fit
from toys import numbers

from sklearn_sha import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage import models
from sklearn_sha._storage.store import Store

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # the cluster's own
]


@pytest.fixture
def client():
    import dask
    from dask.distributed import Client, LocalCluster

    options = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
    with (
        # Else a cluster lets go of a worker that happens to be dead so long after a death of it.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1h"}),
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        yield client


def answers():
    """Of each search, its numbers and predictions, in this process alone."""
    searches = {name: search.set_params(n_jobs=None, cv=3) for name, search in SEARCHES.items()}
    return {
        name: (numbers(search.fit(X, Y)), search.predict_proba(X))
        for name, search in searches.items()
    }


def check_answers(expected, folder, **config):
    """Have the same answers with and without a checkpoint."""
    for name, (found, predicted) in expected.items():
        for checkpoint in (None, folder / name):
            with parallel_config(**config):
                search = SEARCHES[name].set_params(checkpoint=checkpoint).fit(X, Y)
            assert numbers(search) == found, (name, checkpoint)
            np.testing.assert_array_equal(search.predict_proba(X), predicted)
        search.set_params(checkpoint=None)


def test_dask_gives_the_same_results(client, tmp_path):
    check_answers(answers(), tmp_path, backend="dask")


def blind():
    """Hide folders of models from a worker, as if it were on another machine."""

    def hidden(path, *args):
        if "models-" in str(path):
            raise FileNotFoundError(path)
        return open(path, *args)

    is_dir, access = Path.is_dir, os.access
    Path.is_dir = lambda self: "models-" not in str(self) and is_dir(self)
    os.access = lambda path, mode: "models-" not in str(path) and access(path, mode)
    models.open = hidden


def test_models_reach_dask_workers_that_do_not_see_their_folder(client, tmp_path):
    (some, *_) = client.run(os.getpid)
    client.run(blind, workers=[some])
    check_answers(answers(), tmp_path, backend="dask")


class Where(Crashing):
    """Its score is 1 where what it sends to joblib stays on its machine."""

    def fit(self, X, y=None):
        self.stays_ = "Dask" not in type(get_active_backend()[0]).__name__
        return self

    partial_fit = fit

    def score(self, X, y=None):
        return float(self.stays_)


def test_what_an_estimator_sends_to_joblib_stays_on_its_machine(client):
    search = search_of("", n_jobs=None).set_params(estimator=Where())
    with parallel_config(backend="dask"):
        search.fit(X)
    assert set(search.all_cv_results_["mean_test_score"]) == {1.0}
    assert search.best_estimator_.stays_


def test_ray_gives_the_same_results_has_the_data_once_and_survives_crashed_workers(tmp_path):
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("on_ray.py")), str(tmp_path)],
        capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    said = {"the same answers", "the data are put into the object store once"}
    said |= {"survived kill", "survived hang"}
    assert said <= set(done.stdout.splitlines()), done.stderr


def check_survives(how, **config):
    """Have one candidate end its workers, and all else as where it fails."""
    timeout, says = (
        (3, "exceeded fit_timeout=3") if how == "hang" else (None, "A worker process crashed")
    )
    with parallel_config(**config):
        search = fitted(search_of(how, fit_timeout=timeout), says, "2 fits failed out of a")
    assert scores(search) == scores(search_with_failed_fit())


@pytest.mark.parametrize("how", ["kill", "hang"])
def test_dask_survives_a_candidate_that_crashes_its_workers(client, how):
    check_survives(how, backend="dask")


def test_dask_survives_a_refit_that_crashes_its_workers(client):
    with parallel_config(backend="dask"):
        check_refit_survives(n_jobs=None)


class Slow(Crashing):
    def fit(self, X, y=None):
        time.sleep(0.02)
        return super().fit(X, y)

    partial_fit = fit


def test_dask_survives_a_worker_that_is_terminated_from_outside(client):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 27, "refit": False}
    search = HyperbandSearchCV(
        Slow(), {"limit": list(np.linspace(0, 1, 60))}, random_state=0, **common
    )
    expected = numbers(search.fit(X, Y))
    process = next(iter(client.run(os.getpid).values()))
    killer = threading.Timer(0.5, os.kill, (process, signal.SIGKILL))
    killer.start()
    with parallel_config(backend="dask"):
        search.fit(X, Y)
    assert not killer.is_alive()  # it was during the search
    assert numbers(search) == expected
    assert process not in client.run(os.getpid).values()


def written():
    """Bytes that this process's connections of dask wrote since this was first asked."""
    from distributed.comm.tcp import TCP

    if not hasattr(TCP, "written"):
        TCP.written, write = 0, TCP.write

        async def counted(self, *args, **kwargs):
            n = await write(self, *args, **kwargs)
            TCP.written += n
            return n

        TCP.write = counted
    return TCP.written


def sent(client, search, *data):
    """Bytes that client, scheduler and workers write while a search is fitted on dask."""

    def total():
        return written() + sum(client.run(written).values())

    client.amm.stop()  # it lets go of second copies by the clock, and they are fetched again
    before = total()
    with parallel_config(backend="dask"):
        search.fit(*data)
    return total() - before


def big(n):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(n, 50))
    return data, (data[:, 0] > 0).astype(int)


def halving(n):
    return SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": list(np.logspace(-6, 0, n))},
        resource="partial_fit", max_resources=32, cv=KFold(2), refit=False,
    )  # fmt: skip


def test_dask_is_sent_the_data_once_and_not_with_the_jobs(client):
    """A search sends the data a few times, whatever the number of jobs."""
    little, much = big(10_000), big(40_000)
    more = sum(part.nbytes for part in much) - sum(part.nbytes for part in little)
    copies = {
        n: (sent(client, halving(n), *much) - sent(client, halving(n), *little)) / more
        for n in (8, 64)
    }
    # Through the scheduler to a worker, and on to the other: three hops, and indices.
    # With the batches of jobs it would be two hops for each, of which there are 8 a rung.
    assert 2 < copies[8] < 4
    assert 2 < copies[64] < 4


def test_dask_receives_the_samples_of_preprocessing_once(client):
    pipeline = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    search = SuccessiveHalvingSearchCV(
        pipeline, {"sgdclassifier__alpha": list(np.logspace(-6, 0, 64))},
        resource="partial_fit", max_resources=32, cv=KFold(2), refit=False,
    )  # fmt: skip
    little, much = big(10_000), big(40_000)
    more = sum(part.nbytes for part in much) - sum(part.nbytes for part in little)
    # The data, and the transformed samples of each fold (all of them, twice): to the client
    # in two hops, and out again in three.
    assert (sent(client, search, *much) - sent(client, search, *little)) / more < 4 + 2 * (2 + 3)


def test_dask_forgets_the_transformed_data_of_earlier_rungs(client, monkeypatch):
    kept, broadcast = [], Workers.broadcast

    def counted(self, *values):
        broadcast(self, *values)
        kept.append(len(get_active_backend()[0].data_futures))

    monkeypatch.setattr(Workers, "broadcast", counted)
    pipeline = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    search = SuccessiveHalvingSearchCV(
        pipeline, {"sgdclassifier__alpha": list(np.logspace(-6, 0, 8))},
        resource="n_samples", min_resources=50, min_folds="all", cv=KFold(2), refit=False,
    )  # fmt: skip
    with parallel_config(backend="dask"):
        search.fit(*big(800))
    # The data, the target and the folds; and the transformed data of each fold, in one rung.
    assert search.n_resources_ == [50, 100, 200, 400]
    assert kept == [4] + 4 * [5, 6]


def test_dask_keeps_the_data_that_the_user_scatters(client):
    features, targets = big(200)
    with parallel_config(backend="dask", scatter=[features]):
        backend, _ = get_active_backend()
        scattered = {**backend.data_futures}
        halving(8).fit(features, targets)
        assert backend.data_futures == scattered
    assert [*scattered] == [id(features)]


def test_on_dask_models_travel_only_to_where_their_folder_is_not_seen(
    client, tmp_path, monkeypatch
):
    def search(width, checkpoint=None):
        return SuccessiveHalvingSearchCV(
            MLPClassifier((width,), random_state=0), {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]},
            max_resources=2, min_folds="all", cv=KFold(2), refit=False, checkpoint=checkpoint,
        )  # fmt: skip

    data = big(300)
    model = 8 * 51 * 1000 * 3  # weights, and Adam's two moments of each
    narrow = sent(client, search(10), *data)
    for checkpoint in (None, tmp_path / "a"):
        assert sent(client, search(1000, checkpoint), *data) < narrow + 0.5 * model
    monkeypatch.setattr(Store, "create_model_folder", lambda self: None)  # as on another machine
    n_sent = (sent(client, search(1000), *data) - narrow) / model
    # Eight of the first rung come back, four go out again, by way of the scheduler; of the
    # last rung none.
    assert 8 + 4 < n_sent < 3 * (8 + 4)
