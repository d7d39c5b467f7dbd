"""What time_to_quality.py reports: pure functions of the runs, and the figures."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from math import inf, isfinite
from statistics import geometric_mean, mean, median
from typing import Any

from reports import picture, table

from sklearn_sha._formatting import quantity

AS_GOOD = 0.005
NEVER = 2
"""Multiple of the limit that a goal counts as in means if it is never reached."""
RANDOM, DOUBLE = "RandomizedSearchCV", "RandomizedSearchCV, double budget"
SIZES = ("ours, model", "HalvingRandomSearchCV")
IN_TURN = "sizes in turn"
"""For a user who does not know the best size: a fit also has the seconds of all fits before it."""

Trace = list[tuple[float, float, float]]
"""Seconds, held-out score and cross-validated score of the models of a run."""

Key = tuple[str, str, int, int]
"""Workload, contender, number of cores and seed."""


def key_of(one: dict[str, Any]) -> Key:
    """What a run is of."""
    return one["workload"], one["contender"], one["n_cores"], one["seed"]


def split_of(one: dict[str, Any]) -> tuple[int, int]:
    """Number of cores and seed of a run: splits are measured on each number of cores."""
    return one["n_cores"], one["seed"]


def traces_of(runs: list[dict[str, Any]], limit: float) -> dict[Key, Trace]:
    """Models that there were within the limit, of some contenders also counted in another way."""
    traces: dict[Key, Trace] = {}
    for one in runs:
        if one["limit"] == limit:
            name, contender, n_cores, seed = key_of(one)
            traces[key_of(one)] = _within(limit, one["trace"])
            if contender == RANDOM:
                halved = [(seconds / 2, *scores) for seconds, *scores in one["trace"]]
                traces[name, DOUBLE, n_cores, seed] = _within(limit, halved)
            if contender in SIZES:
                ends = accumulate(seconds for seconds, *_ in one["trace"])
                summed = [(end, *model[1:]) for end, model in zip(ends, one["trace"], strict=True)]
                traces[name, f"{contender}, {IN_TURN}", n_cores, seed] = _within(limit, summed)
    return traces


def complete(runs: list[dict[str, Any]], limit: float) -> list[dict[str, Any]]:
    """Runs with a limit, without those of splits that have fewer than others: some are missing."""
    within = [one for one in runs if one["limit"] == limit]
    n_runs = Counter(map(split_of, within))
    most = max(n_runs.values(), default=0)
    return [one for one in within if n_runs[split_of(one)] == most]


def _within(limit: float, trace: Any) -> Trace:
    return sorted(tuple(model) for model in trace if model[0] <= limit)


def best_found(traces: dict[Key, Trace]) -> dict[tuple[str, int], float]:
    """For each workload and seed the best held-out score of all contenders."""
    best: dict[tuple[str, int], float] = {}
    for (name, _, _, seed), trace in traces.items():
        for _, held_out, _ in trace:
            best[name, seed] = max(held_out, best.get((name, seed), -inf))
    return best


def seconds_to(goal: float, trace: Trace) -> float:
    """Seconds until the first model that is as good as a goal, or infinity."""
    return next((seconds for seconds, held_out, _ in trace if held_out >= goal), inf)


def held_out_at(seconds: float, trace: Trace) -> float:
    """Held-out score of the latest model at a time, or minus infinity."""
    return next((held_out for at, held_out, _ in reversed(trace) if at <= seconds), -inf)


def reached(traces: dict[Key, Trace], n_cores: int) -> dict[str, dict[str, list[float]]]:
    """For each contender and workload the seconds to the goal, one for each seed."""
    best = best_found(traces)
    found: dict[str, dict[str, list[float]]] = {}
    for (name, contender, cores, seed), trace in sorted(traces.items()):
        if cores == n_cores:
            seconds = seconds_to(best.get((name, seed), inf) - AS_GOOD, trace)
            found.setdefault(contender, {}).setdefault(name, []).append(seconds)
    return found


def shown(contender: str) -> str:
    """Name of a contender in tables and figures."""
    return contender.replace("ours", "sklearn_sha")


def overall(by_workload: dict[str, list[float]], limit: float) -> float:
    """Geometric mean over all runs."""
    return geometric_mean(
        min(seconds, NEVER * limit) for runs in by_workload.values() for seconds in runs
    )


def report(measured: dict[str, Any], limit: float, titles: dict[str, str], stem: str) -> list[str]:
    """Lines of the page, whose figures begin with a stem."""
    runs = complete(measured["runs"], limit)
    traces = traces_of(runs, limit)
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    lines = [
        "# Time to quality",
        "",
        f"{measured['date']}; {measured['machine']}; {versions}.",
        "",
        "Seconds until a search has found a model whose held-out score is within "
        f"{AS_GOOD} of the best one that any search found in the same split. "
        "Written by `python docs/benchmarks/time_to_quality.py`, which explains what is counted. "
        f"The limit of a run is {limit:g} s. Medians over the splits, each with its seed; in "
        "parentheses the number of runs that never found one, if any. These count as "
        f"{NEVER} times the limit in the geometric mean, which is over all runs. "
        "sklearn_sha is its `SuccessiveHalvingSearchCV`: with random, Sobol or model-based "
        "candidates, with all folds in every rung, with two rungs, or with "
        '`budget="anytime"` (and model-based candidates). RandomizedSearchCV at double budget '
        "has half of its seconds. A search whose size is chosen beforehand has the seconds of one "
        f'fit; with "{IN_TURN}", it also has those of all smaller sizes. A search with '
        '`budget="anytime"` is a single fit: what it would select counts from the end of each of '
        "its brackets on, as each new best candidate of Optuna does.",
    ]
    if left_out := {*map(split_of, measured["runs"])} - {*map(split_of, runs)}:
        named = (f"{quantity(n, 'cores')}, seed {seed}" for n, seed in sorted(left_out))
        lines += ["", f"Left out, since some of their runs are missing: {'; '.join(named)}."]
    for n_cores in sorted({one["n_cores"] for one in runs}):
        n_seeds = len({one["seed"] for one in runs if one["n_cores"] == n_cores})
        lines += ["", f"## {quantity(n_cores, 'cores')}, {quantity(n_seeds, 'splits')}", ""]
        lines += tables(traces, n_cores, limit, titles)
    failed = [one for one in runs if "error" in one]
    if failed:
        lines += ["", "## Failures", "", "They count as never.", ""]
        lines += [f"- {', '.join(map(str, key_of(one)))}: {one['error']}" for one in failed]
    lines += [
        "",
        "## Figures",
        "",
        "Held-out score of the latest model over time, on the smallest number of cores: medians "
        "over the splits. The gray line is the goal.",
    ]
    for name, title in titles.items():
        if any(key[0] == name and trace for key, trace in traces.items()):
            alt = f"Held-out score of each search over time: {title}"
            lines += ["", f"![{alt}](../../images/{stem}_{name}.svg)"]
    return lines


def tables(
    traces: dict[Key, Trace], n_cores: int, limit: float, titles: dict[str, str]
) -> list[str]:
    """Seconds, losses and last scores on a number of cores."""
    found = reached(traces, n_cores)
    order = sorted(found, key=lambda contender: overall(found[contender], limit))
    names = [name for name in titles if any(name in some for some in found.values())]
    head = [titles[name] for name in names]

    def seconds(contender: str, name: str) -> str:
        runs = found[contender].get(name, [])
        if not runs:
            return ""
        n_never = runs.count(inf)
        middle = f"{median(runs):.1f}" if isfinite(median(runs)) else "never"
        return f"{middle} ({n_never})" if n_never else middle

    def fastest_peer(name: str) -> str:
        peers = [one for one in found if not one.startswith("ours") and name in found[one]]
        fastest = min(peers, key=lambda peer: median(found[peer][name]), default="")
        return fastest if fastest and isfinite(median(found[fastest][name])) else ""

    def against(contender: str, name: str) -> str:
        if name not in found[contender]:
            return ""
        seconds, peer = median(found[contender][name]), fastest_peer(name)
        if not isfinite(seconds):
            return "never"
        return f"{seconds / median(found[peer][name]):.2f}" if peer else "only sklearn_sha"

    best = best_found(traces)

    def missing(contender: str, name: str) -> str:
        ends = [
            held_out_at(limit, trace) - best[name, seed]
            for (work, who, cores, seed), trace in traces.items()
            if (work, who, cores) == (name, contender, n_cores) and trace
        ]
        return f"{mean(ends):+.4f}" if ends else ""

    settings = [one for one in order if one.startswith("ours")]
    return [
        *table(
            ["seconds", *head, "geometric mean"],
            [
                [
                    shown(one),
                    *[seconds(one, name) for name in names],
                    f"{overall(found[one], limit):.1f}",
                ]
                for one in order
            ],
        ),
        "",
        "Seconds of sklearn_sha divided by those of the fastest other search on each workload, by "
        "the medians. Values above 1, and never, are losses.",
        "",
        *table(
            ["", *head],
            [
                ["fastest other search", *[fastest_peer(name) for name in names]],
                *[[shown(one), *[against(one, name) for name in names]] for one in settings],
            ],
        ),
        "",
        "Held-out score of the latest model at the limit, minus the best one that any search found "
        "(means over the runs that had a model).",
        "",
        *table(
            ["", *head], [[shown(one), *[missing(one, name) for name in names]] for one in order]
        ),
    ]


def draw(traces: dict[Key, Trace], titles: dict[str, str], stem: str) -> None:
    """A figure for each workload."""
    from matplotlib import colormaps

    best = best_found(traces)
    n_cores = min((cores for _, _, cores, _ in traces), default=1)
    for name, title in titles.items():
        runs: dict[str, list[tuple[float, Trace]]] = {}
        for (work, contender, cores, seed), trace in sorted(traces.items()):
            if (work, cores) == (name, n_cores) and (name, seed) in best:
                runs.setdefault(contender, []).append((best[name, seed], trace))
        times = sorted({model[0] for some in runs.values() for _, trace in some for model in trace})
        if not times:
            continue
        with picture(f"{stem}_{name}.svg", 9.6, 4.2) as ax:
            ax.set_prop_cycle(color=colormaps["tab20"].colors)
            for contender, some in runs.items():
                middles = [
                    median(held_out_at(at, trace) - goal for goal, trace in some) for at in times
                ]
                finite = [(at, y) for at, y in zip(times, middles, strict=True) if isfinite(y)]
                is_ours = contender.startswith("ours")
                ax.step(
                    [at for at, _ in finite],
                    [y for _, y in finite],
                    where="post",
                    label=shown(contender),
                    linewidth=2 if is_ours else 1,
                    linestyle="-" if is_ours else "--",
                )
            ax.axhline(-AS_GOOD, color="grey", linewidth=0.8)
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter("{x:g}")
            ax.set_ylim(-10 * AS_GOOD, AS_GOOD / 5)
            ax.set_xlabel("seconds")
            ax.set_ylabel("held-out score minus the best found")
            ax.set_title(title)
            # On the right of the curves, which can be anywhere.
            ax.legend(fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
