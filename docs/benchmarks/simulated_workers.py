"""How long searches take on 1 to 1,000 workers: the real engine, with workers that train nothing.

    python docs/benchmarks/simulated_workers.py

prints the table of docs/clusters.md and, where matplotlib is, draws docs/images/workers.svg.
"""

from collections import defaultdict
from heapq import heapify, heappop, heappush
from math import inf
from pathlib import Path
from statistics import median

import numpy as np

from sklearn_sha._data.folds import Fold
from sklearn_sha._engine.callbacks import NO_CALLBACKS
from sklearn_sha._engine.engine import Engine
from sklearn_sha._engine.evaluation import SECONDS_PER_BATCH
from sklearn_sha._engine.jobs import BatchResult, EvaluationConfig
from sklearn_sha._storage.models import TrainedModel
from sklearn_sha._storage.outcomes import Outcome
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit import halving, numbered, repeated_halving
from sklearn_sha.resources import PartialFit
from sklearn_sha.schedules import doubling_schedules, hyperband_schedules, schedule_from_range

N_WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
N_FOLDS, N_SEEDS = 5, 5
SECONDS_PER_UNIT = 1.0
SPREAD = 0.5  # of the candidates' speeds: the standard deviation of their logarithms
STRAGGLERS, SLOWDOWN = 0.02, 5.0  # so many jobs take so many times as long
SECONDS_PER_DISPATCH = 0.001  # of the one process that sends


def brackets(schedules):
    """One run of halving per schedule, over different candidates."""
    propose = numbered()
    return [halving(schedule, propose) for schedule in schedules]


SEARCHES = {
    "Successive Halving": lambda: (
        243,
        [halving(schedule_from_range(243, factor=3, max_resources=243))],
    ),
    "Hyperband": lambda: (
        sum(schedule.n_candidates[0] for schedule in hyperband_schedules(243)),
        brackets(hyperband_schedules(243)),
    ),
    '`budget="double"`': lambda: (
        243,
        [repeated_halving(doubling_schedules(243, factor=3, max_resources=243), patience=None)],
    ),
}


class SimulatedWorkers:
    """Stands for `Workers` of the package: calls take their time on a clock of its own."""

    fit_timeout = None
    share_memory = True
    busy_seconds = 0.0

    def __init__(self, n, seed):
        self.n_workers = n
        self.seed = seed
        self.now = 0.0
        self.chains = defaultdict(float)  # seconds of each candidate and fold

    def broadcast(self, *values):
        pass

    def run(self, calls):
        free, ends = [self.now] * self.n_workers, []
        heapify(free)
        for number, (_, (jobs, *_)) in enumerate(calls):
            start = end = max(heappop(free), self.now + number * SECONDS_PER_DISPATCH)
            results = []
            for job in jobs:
                if results and end - start >= SECONDS_PER_BATCH:
                    break
                seconds = self.seconds(job)
                self.chains[job.candidate, job.fold] += seconds
                end += seconds
                results.append(
                    (Outcome(*job.key, 0.0, fit_time=seconds), TrainedModel(None, job.n_resources))
                )
            heappush(free, end)
            ends.append((end, number, BatchResult(results)))
        for end, number, done in sorted(ends, key=lambda call: call[:2]):
            self.now = end
            yield number, done

    def seconds(self, job):
        speed = np.random.default_rng((self.seed, job.candidate)).lognormal(0, SPREAD)
        luck = np.random.default_rng((self.seed, *job.key)).random()
        slow = SLOWDOWN if luck < STRAGGLERS else 1.0
        return SECONDS_PER_UNIT * job.cost() * speed * slow


class Answers:
    """Observes an engine, and gives each candidate the loss that it always has."""

    def __init__(self, losses):
        self.losses = losses

    def task(self, request):
        return NO_CALLBACKS

    def rung_ends(self, rung, *_):
        return self.losses[list(rung.request.candidate_ids)]

    def rungs_begin(self, rungs, n_known):
        pass

    def jobs_completed(self, outcomes):
        pass

    def promoted(self, request, ids):
        pass


def simulated(search, n_workers, seed):
    """The workers that have simulated a search; their clock stands at its end."""
    n_candidates, algorithms = SEARCHES[search]()
    row = np.arange(1)
    folds = [Fold(np.zeros((1, 1)), None, row, row, {}, {}, {}) for _ in range(N_FOLDS)]
    config = EvaluationConfig(
        estimator=None,
        resource=PartialFit(None, 0),
        scorer=None,
        error_score=np.nan,
        return_train_score=False,
        shares_preprocessing=False,
        continues=True,
        scores_pipeline=False,
        template=None,
        whole_fit=None,
        seed=0,
        is_multimetric=False,
        scores_copies=False,
        n_train=0,
    )
    losses = np.random.default_rng(seed).random(n_candidates)
    workers = SimulatedWorkers(n_workers, seed)
    fold_order = tuple(range(N_FOLDS))
    engine = Engine(
        [{}] * n_candidates,
        folds,
        fold_order,
        config,
        Store(),
        workers,
        Answers(losses),
        keeps_eliminated=False,
        requests_once=False,
        best_params=None,
        deadline=inf,
    )
    engine.run(algorithms)
    return workers


def table():
    """For each search and number of workers: seconds, efficiency, and what is possible."""
    found = {}
    for search in SEARCHES:
        for n in N_WORKERS:
            runs = [simulated(search, n, seed) for seed in range(N_SEEDS)]
            work = [sum(run.chains.values()) for run in runs]
            # No order of jobs can beat both: all work shared, and the longest candidate.
            least = [max(w / n, max(r.chains.values())) for w, r in zip(work, runs, strict=True)]
            found[search, n] = (
                median(run.now for run in runs),
                median(w / n / run.now for w, run in zip(work, runs, strict=True)),
                median(few / run.now for few, run in zip(least, runs, strict=True)),
            )
    return found


def as_markdown(found):
    """Of each search: minutes, efficiency, and the share of the least possible time."""
    terms = ("minutes", "utilization", "shortest / actual")
    columns = [f"{s}: {what}" for s in SEARCHES for what in terms]
    lines = ["| workers | " + " | ".join(columns) + " |", "|---:" * (1 + len(columns)) + "|"]
    for n in N_WORKERS:
        cells = []
        for search in SEARCHES:
            seconds, efficiency, possible = found[search, n]
            cells += [f"{seconds / 60:.1f}", f"{efficiency:.0%}", f"{possible:.0%}"]
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(found, path):
    """Draw the efficiency of each search over the number of workers."""
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for search in SEARCHES:
        ax.plot(N_WORKERS, [found[search, n][1] for n in N_WORKERS], marker="o", label=search)
    ax.set(xscale="log", ylim=(0, 1.05), xlabel="workers", ylabel="share of their time at work")
    ax.set_xticks(N_WORKERS, [str(n) for n in N_WORKERS])
    ax.minorticks_off()
    ax.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    found = table()
    print(as_markdown(found))
    try:
        draw(found, Path(__file__).parents[1] / "images" / "workers.svg")
    except ImportError as error:
        print(f"No picture: {error}")
