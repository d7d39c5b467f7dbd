"""dask and Ray on one machine, with four workers of which one crashes every few seconds.

    pip install ".[dask,ray]" && python docs/benchmarks/crashing_clusters.py

takes some ten minutes, writes results/crashing_clusters.md, and needs Linux. 500 candidates on five
folds train in six rungs: once in this process, and on each cluster with a tenth of the samples,
with all, and while workers are terminated. Scores have to be the same each time. Bytes are those
that the loopback interface transports: what processes send each other through TCP. Ray also has
Unix sockets and shared memory. It starts all its workers again when one crashes, which takes
seconds, so that they are terminated less often.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psutil
from joblib import parallel_config
from reports import table, write
from sklearn.datasets import make_classification
from sklearn.linear_model import SGDClassifier
from watching import every

from sklearn_sha import SuccessiveHalvingSearchCV

N_WORKERS, N_CANDIDATES, N_FOLDS = 4, 500, 5
SECONDS_BETWEEN_LOOKS = 0.5


@dataclass
class Run:
    """What is measured of one search."""

    where: str
    data: float
    """Megabytes of the samples."""
    seconds: float
    n_crashes: int
    megabytes: float
    scheduler: list[float]
    """Megabytes of memory of the process that distributes the work, from beginning to end."""
    scores: Any


def search_of() -> SuccessiveHalvingSearchCV:
    """The search: 32 epochs at most, 5 folds in each of 6 rungs."""
    return SuccessiveHalvingSearchCV(
        SGDClassifier(random_state=0), {"alpha": list(np.logspace(-6, 1, N_CANDIDATES))},
        resource="partial_fit", factor=2, min_resources=1, max_resources=32, min_folds="all",
        cv=N_FOLDS, refit=False, random_state=0,
    )  # fmt: skip


def scores(search: SuccessiveHalvingSearchCV) -> Any:
    """All scores of all rungs."""
    results = search.all_cv_results_
    return np.array([results[f"split{fold}_test_score"] for fold in range(N_FOLDS)])


def watched(
    where: str,
    data: tuple[np.ndarray, np.ndarray],
    scheduler: psutil.Process | None = None,
    workers: Callable[[], list[int]] | None = None,
    seconds_between: float = 0.0,
) -> Run:
    """Fit, while workers are terminated and the scheduler is measured."""
    n_crashes, memory = 0, []
    chooser = random.Random(0)
    last = time.perf_counter()

    def look() -> None:
        nonlocal n_crashes, last
        if scheduler is not None:
            memory.append(scheduler.memory_info().rss / 1e6)
        if workers is not None and time.perf_counter() - last > seconds_between:
            last = time.perf_counter()
            if running := workers():
                with suppress(ProcessLookupError):  # it has just ended
                    os.kill(chooser.choice(running), signal.SIGKILL)
                    n_crashes += 1

    moved, start = loopback(), time.perf_counter()
    with every(SECONDS_BETWEEN_LOOKS, look):
        search = search_of().fit(*data)
    seconds = time.perf_counter() - start
    megabytes = (loopback() - moved) / 1e6
    n_bytes = sum(part.nbytes for part in data)
    return Run(where, n_bytes / 1e6, seconds, n_crashes, megabytes, memory, scores(search))


def loopback() -> int:
    """Bytes that this machine has sent to itself."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


@contextmanager
def dask_cluster() -> Iterator[tuple[Callable[[], list[int]], psutil.Process]]:
    """A scheduler in a process of its own, and nannies that restart workers."""
    from dask.distributed import Client

    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "scheduler.json")
        command = [sys.executable, "-m", "dask"]
        quiet: dict[str, Any] = {
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
            "start_new_session": True,  # to end a whole group
        }
        options = ["--scheduler-file", file, "--no-dashboard"]
        scheduler = subprocess.Popen([*command, "scheduler", *options, "--port", "0"], **quiet)
        n_workers = ["--nworkers", str(N_WORKERS), "--nthreads", "1"]
        nannies = subprocess.Popen([*command, "worker", *options, *n_workers], **quiet)
        try:
            with Client(scheduler_file=file, timeout=60) as client:
                client.wait_for_workers(N_WORKERS)

                def workers() -> list[int]:
                    return children(psutil.Process(nannies.pid), "spawn_main")

                yield workers, psutil.Process(scheduler.pid)
        finally:
            for process in (nannies, scheduler):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def ray_cluster() -> Iterator[tuple[Callable[[], list[int]], psutil.Process]]:
    """One node, whose raylet restarts workers."""
    import ray
    from ray.util.joblib import register_ray

    ray.init(
        num_cpus=N_WORKERS, include_dashboard=False, log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}},
        _system_config={"worker_niceness": 0},
    )  # fmt: skip
    register_ray()
    raylet = next(p for p in psutil.Process().children(recursive=True) if p.name() == "raylet")
    try:
        yield (lambda: children(raylet, "ray::PoolActor")), raylet
    finally:
        ray.shutdown()


def children(process: psutil.Process, what: str) -> list[int]:
    """Processes below one whose command has such a part."""
    found = []
    for child in process.children(recursive=True):
        try:
            if any(what in part for part in child.cmdline()):
                found.append(child.pid)
        except psutil.NoSuchProcess:
            continue
    return found


CLUSTERS: dict[str, tuple[Any, dict[str, Any], float]] = {
    "dask": (dask_cluster, {"backend": "dask"}, 4.0),
    "Ray": (ray_cluster, {"backend": "ray", "n_jobs": N_WORKERS}, 15.0),
}
"""How each is started and chosen, and the seconds between two crashes."""


def main() -> None:
    """Run, compare and write."""
    warnings.simplefilter("ignore")  # of crashed workers
    data = make_classification(20_000, 50, n_informative=20, class_sep=0.5, random_state=0)
    tenth = data[0][::10], data[1][::10]
    runs = [watched("one process", data)]
    for name, (cluster, config, seconds_between) in CLUSTERS.items():
        with cluster() as (workers, scheduler), parallel_config(**config):
            runs += [
                watched(f"{name}, a tenth of the samples", tenth, scheduler),
                watched(name, data, scheduler),
                watched(f"{name}, with crashes", data, scheduler, workers, seconds_between),
            ]
        print(*rows(runs)[-3:], sep="\n", flush=True)
    write("crashing_clusters.md", report(runs))


def rows(runs: list[Run]) -> list[list[str]]:
    """One for each search, compared with the first one."""
    found = []
    for run in runs:
        is_same = np.array_equal(run.scores, runs[0].scores, equal_nan=True)
        same = "yes" if is_same else "**no**"
        part = len(run.scheduler) // 4
        memory = (
            f"{median(run.scheduler[:part]):.0f} → {median(run.scheduler[-part:]):.0f}"
            if part
            else ""
        )
        cells = [
            f"{run.seconds:.0f}",
            str(run.n_crashes),
            same if run.data == runs[0].data else "",
            f"{run.megabytes:.0f}",
            memory,
        ]
        found.append([run.where, *cells])
    return found


def copies(tenth: Run, whole: Run, crashed: Run) -> str:
    """How often the samples are moved, as the bytes say."""
    n_copies = (whole.megabytes - tenth.megabytes) / (whole.data - tenth.data)
    rest = whole.megabytes - n_copies * whole.data
    per_crash = (crashed.megabytes - whole.megabytes) / crashed.n_crashes / whole.data
    return (
        f"{whole.where} moves the samples {n_copies:.1f} times, and {rest:.0f} MB that do not "
        f"depend on them, which is {rest / whole.scores.size * 1e3:.1f} kB for each score. With "
        f"each crash it moves the samples {per_crash:.1f} more times."
    )


def report(runs: list[Run]) -> list[str]:
    """Markdown: a row for each search, and what the bytes are."""
    seconds = ", ".join(f"{s:.0f} ({name})" for name, (*_, s) in CLUSTERS.items())
    return [
        "# Clusters whose workers crash",
        "",
        "Written by `python docs/benchmarks/crashing_clusters.py`: "
        f"{N_CANDIDATES} candidates, {N_FOLDS} folds, 6 rungs, {runs[0].scores.size:,} scores, "
        f"{runs[0].data:.1f} MB of samples, {N_WORKERS} workers on {os.cpu_count()} cores. Seconds "
        f"between two crashes: {seconds}. The last column is the memory of the process that "
        "distributes the work, dask's scheduler or Ray's raylet: medians of the first and the last "
        "quarter of the time.",
        "",
        *table(
            ["", "seconds", "crashes", "same scores", "MB moved", "MB of memory"],
            rows(runs),
        ),
        "",
        *[copies(*runs[1 + 3 * k : 4 + 3 * k]) for k in range(len(CLUSTERS))],
    ]


if __name__ == "__main__":
    main()
