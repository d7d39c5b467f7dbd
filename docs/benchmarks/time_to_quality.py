"""Seconds until a search has found a good model: ours and others', with continuous spaces.

    pip install ".[bench]" && python docs/benchmarks/time_to_quality.py

Each contender searches each workload of quality_workloads.py, as quality_contenders.py has it, on
one core and on two, with several seeds, which are those of the splits too. Each run is a process of
its own with OMP_NUM_THREADS=1. Runs on one core go side by side, one on each core. What was
measured is kept, so that the command can be interrupted and continued; with all contenders, a seed
takes about two and a half hours on two cores. Nothing else may run, not even at a low priority,
which Linux ignores between sessions (autogroup); the report counts the runs that were slowed. A
split is in the report once all its runs are there. `--report` writes the page and its figures
again. To measure a contender again, remove its runs from the JSON file.

A run is a trace: when a user could have had which model.

- RandomizedSearchCV, Optuna, FLAML and SMAC3 evaluate one candidate after the other. Each new best
  candidate counts from its own evaluation on, and not from a budget chosen beforehand. The time of
  one refit is added; refits for the models before it are not counted.
- HalvingRandomSearchCV and ours are single fits of a size that is chosen beforehand: 8 candidates,
  16, 32 and so on, each from scratch and with all of its seconds, including the refit. The page
  shows the size that was best for a workload over all splits, which no user knows. It also shows
  two of them as a user tries them who does not know a size: one size after the other, keeping the
  model with the best cross-validated score.
- Our anytime search needs no size. It is a single fit with the limit as `max_time`. What it would
  select if it were ended counts from then on: the best candidate of each completed rung of its
  first bracket, and then each new best candidate at the end of a bracket.
- On two cores, RandomizedSearchCV and Optuna have two processes that never wait for each other.
- Optuna's pruner decides after each fold, as its documentation shows for cross-validation, and
  HalvingRandomSearchCV increases samples. Ours chooses its resource: epochs, trees or samples.
- FLAML receives values with which a fit is cheap, as its documentation asks for, if there are some
  (not for the linear model and the support vectors). SMAC3 spreads 10 candidates before it has a
  model, as Optuna does, and not its default of 10 for each parameter, which was not tried.
- FLAML and SMAC3 use two cores for the folds of a candidate. Workers of FLAML need Ray or Spark,
  and those of SMAC3 start Dask within the limit.
- RandomizedSearchCV at double budget is the same trace at half of its seconds.
- Imports and the start of workers are not counted for anybody: each process ran a small search
  before.

A held-out score is that of the model refitted on all samples that were searched on, on samples that
no search saw. The goal is the best held-out score of all models of all contenders with the same
workload and seed, less 0.005. It is reached by the first model that has such a score, even if a
later one of the same contender has not, which favors those with many models.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from queue import Queue
from typing import Any

from quality_contenders import CONTENDERS
from quality_report import Key, complete, draw, key_of, report
from quality_workloads import WORKLOADS
from reports import RESULTS, write

import sklearn_sha

HERE = Path(__file__).parent
PACKAGES = ("scikit-learn", "numpy", "scipy", "joblib", "lightgbm", "optuna", "flaml", "smac")
TIMEOUT = 10
"""A process is terminated after this multiple of the limit, plus five minutes."""


def main() -> None:
    """Measure what is missing, and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of each run")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--out", type=Path, default=RESULTS / "time_to_quality.md")
    parser.add_argument("--report", action="store_true", help="do not measure")
    options = parser.parse_args()
    out = options.out.resolve()
    file = out.with_suffix(".json")
    for n_cores in () if options.report else options.cores:
        wanted = product(range(options.seeds), options.workloads, options.contenders)
        keys = [(name, contender, n_cores, seed) for seed, name, contender in wanted]
        measure(file, keys, n_cores, options.limit)
    measured = measured_in(file)
    titles = {name: work.title for name, work in WORKLOADS.items()}
    write(str(out), report(measured, options.limit, titles, out.stem))
    runs = complete(measured["runs"], options.limit)
    draw(runs, options.limit, titles, out.stem)


def measured_in(file: Path) -> dict[str, Any]:
    """What was measured so far."""
    return json.loads(file.read_text()) if file.exists() else {"runs": []}


def measure(file: Path, keys: list[Key], n_cores: int, limit: float) -> None:
    """Run what is missing in a file, and keep each run there."""
    measured = measured_in(file)
    known = {(*key_of(one), one["limit"]) for one in measured["runs"]}
    missing = [key for key in keys if (*key, limit) not in known]
    for done in run_all(missing, n_cores, limit):
        measured = about() | {"runs": [*measured["runs"], done]}
        write(str(file), [json.dumps(measured, indent=0)])
        print(*key_of(done), done["trace"][-1:] or done.get("error"), flush=True)


def about() -> dict[str, Any]:
    """On what it was measured, with the versions."""
    versions = {"sklearn_sha": sklearn_sha.__version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "machine": f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores",
        "versions": versions,
    }


def run_all(keys: list[Key], n_cores: int, limit: float) -> Iterable[dict[str, Any]]:
    """Run as many side by side as there are cores for."""
    available = sorted(os.sched_getaffinity(0))
    groups: Queue[list[int]] = Queue()
    for first in range(0, len(available) - n_cores + 1, n_cores):
        groups.put(available[first : first + n_cores])

    def run_on_some(key: Key) -> dict[str, Any]:
        cores = groups.get()
        try:
            return run(key, cores, limit)
        finally:
            groups.put(cores)

    if not groups.qsize():
        raise ValueError(f"--cores {n_cores} is larger than {len(available)}, which are available.")
    with ThreadPoolExecutor(groups.qsize()) as pool:
        yield from pool.map(run_on_some, keys)


def run(key: Key, cores: list[int], limit: float) -> dict[str, Any]:
    """One contender on one workload, in a process of its own. A failure has an empty trace."""
    name, contender, n_cores, seed = key
    arguments = [name, contender, str(seed), str(limit), ",".join(map(str, cores))]
    done = {"workload": name, "contender": contender, "n_cores": n_cores, "seed": seed}
    done |= {"limit": limit, "trace": [], "date": datetime.now(UTC).date().isoformat()}
    try:
        process = subprocess.run(
            [sys.executable, "-W", "ignore", HERE / "quality_contenders.py", *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
            timeout=TIMEOUT * limit + 300,
        )
    except subprocess.TimeoutExpired as error:
        return done | {"error": f"no end after {error.timeout:.0f} s"}
    if process.returncode:
        return done | {"error": process.stderr.strip().rpartition("\n")[2]}
    return done | {"trace": json.loads(process.stdout.splitlines()[-1])}


if __name__ == "__main__":
    main()
