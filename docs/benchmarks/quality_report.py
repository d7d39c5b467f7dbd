"""What time_to_quality.py reports: pure functions of the runs, and the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import accumulate, chain
from math import exp, inf, isfinite, log
from statistics import geometric_mean, mean, median, stdev
from typing import Any

from reports import picture, table

from sklearn_sha._formatting import quantity

AS_GOOD = 0.005
SLOWED = 0.9
"""Share of the time of one core above which a run on two cores was slowed by something else."""
OTHER_GOALS = (0.0025, 0.01, 0.02)
NEVER = 2
"""Multiple of the limit that a goal counts as in means if it is never reached."""
RANDOM, DOUBLE = "RandomizedSearchCV", "RandomizedSearchCV, double budget"
ANYTIME, HALVING = "ours, anytime", "HalvingRandomSearchCV"
IN_TURN = "sizes in turn"
"""For a user who does not know the best size: a fit also has the seconds of all fits before it."""
SHOWN_IN_TURN = ("ours, model", HALVING)

Trace = list[tuple[float, float, float]]
"""Seconds, held-out score and cross-validated score of the models of a run."""

Key = tuple[str, str, int, int]
"""Workload, contender, number of cores and seed."""

Best = dict[tuple[str, int], float]
"""Best held-out score of a workload and a seed."""


def key_of(one: dict[str, Any]) -> Key:
    """What a run is of."""
    return one["workload"], one["contender"], one["n_cores"], one["seed"]


def split_of(one: dict[str, Any]) -> tuple[int, int]:
    """Number of cores and seed of a run: splits are measured on each number of cores."""
    return one["n_cores"], one["seed"]


def has_sizes(contender: str) -> bool:
    """Whether each model of a run is a fit of its own, of the next size."""
    return contender == HALVING or (
        contender.startswith("ours") and not contender.startswith(ANYTIME)
    )


def complete(runs: list[dict[str, Any]], limit: float) -> list[dict[str, Any]]:
    """Runs with a limit, without those of splits that have fewer than others: some are missing."""
    within = [one for one in runs if one["limit"] == limit]
    n_runs = Counter(map(split_of, within))
    most = max(n_runs.values(), default=0)
    return [one for one in within if n_runs[split_of(one)] == most]


def _within(limit: float, trace: Any) -> Trace:
    return sorted(tuple(model) for model in trace if model[0] <= limit)


def _halved(trace: Any) -> Any:
    return [(seconds / 2, *scores) for seconds, *scores in trace]


def best_found(runs: list[dict[str, Any]], limit: float) -> Best:
    """For each workload and seed the best held-out score of all models of all contenders."""
    best: Best = {}
    for one in runs:
        split = one["workload"], one["seed"]
        trace = _halved(one["trace"]) if one["contender"] == RANDOM else one["trace"]
        found = [held_out for _, held_out, _ in _within(limit, trace)]
        best[split] = max([*found, best.get(split, -inf)])
    return best


def best_sizes(
    runs: list[dict[str, Any]], limit: float, as_good: float
) -> dict[tuple[str, str, int], int]:
    """For each workload, contender with sizes and number of cores the size that was best.

    It is one for all seeds, and was not known before.
    """
    best = best_found(runs, limit)
    fits: dict[tuple[str, str, int], list[tuple[float, Any]]] = {}
    for one in filter(lambda one: has_sizes(one["contender"]), runs):
        which = one["workload"], one["contender"], one["n_cores"]
        goal = best[one["workload"], one["seed"]] - as_good
        fits.setdefault(which, []).append((goal, one["trace"]))

    def seconds(some: list[tuple[float, Any]], size: int) -> float:
        one_size = [(goal, _within(limit, trace[size : size + 1])) for goal, trace in some]
        return overall({"": [seconds_to(goal, trace) for goal, trace in one_size]}, limit)

    return {
        which: min(range(max(1, *(len(trace) for _, trace in some))), key=partial(seconds, some))
        for which, some in fits.items()
    }


def traces_of(
    runs: list[dict[str, Any]], limit: float, as_good: float = AS_GOOD
) -> dict[Key, Trace]:
    """Models that there were within the limit, of some contenders also counted in another way."""
    sizes = best_sizes(runs, limit, as_good)
    traces: dict[Key, Trace] = {}
    for one in runs:
        (name, contender, n_cores, seed), trace = key_of(one), one["trace"]
        if has_sizes(contender):
            size = sizes[name, contender, n_cores]
            traces[key_of(one)] = _within(limit, trace[size : size + 1])
        else:
            traces[key_of(one)] = _within(limit, trace)
        if contender == RANDOM:
            traces[name, DOUBLE, n_cores, seed] = _within(limit, _halved(trace))
        if contender in SHOWN_IN_TURN:
            ends = accumulate(seconds for seconds, *_ in trace)
            best_scores = accumulate((score for *_, score in trace), max)
            summed = [
                (end, held_out, score)
                for end, best, (_, held_out, score) in zip(ends, best_scores, trace, strict=True)
                if score == best  # otherwise a user keeps the model of a smaller size
            ]
            traces[name, f"{contender}, {IN_TURN}", n_cores, seed] = _within(limit, summed)
    return traces


def seconds_to(goal: float, trace: Trace) -> float:
    """Seconds until the first model that is as good as a goal, or infinity."""
    return next((seconds for seconds, held_out, _ in trace if held_out >= goal), inf)


def seconds_to_stay(goal: float, trace: Trace) -> float:
    """Seconds until a model that is as good as a goal, as all later ones are, or infinity."""
    since = inf
    for seconds, held_out, _ in trace:
        since = min(since, seconds) if held_out >= goal else inf
    return since


def held_out_at(seconds: float, trace: Trace) -> float:
    """Held-out score of the latest model at a time, or minus infinity."""
    return next((held_out for at, held_out, _ in reversed(trace) if at <= seconds), -inf)


def reached(
    traces: dict[Key, Trace],
    best: Best,
    n_cores: int,
    as_good: float = AS_GOOD,
    seconds_of: Callable[[float, Trace], float] = seconds_to,
) -> dict[str, dict[str, list[float]]]:
    """For each contender and workload the seconds to the goal, one for each seed."""
    found: dict[str, dict[str, list[float]]] = {}
    for (name, contender, cores, seed), trace in sorted(traces.items()):
        if cores == n_cores:
            seconds = seconds_of(best[name, seed] - as_good, trace)
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
    versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
    dates = sorted({one["date"] for one in runs})
    lines = [
        "# Time to quality",
        "",
        f"{' to '.join(dict.fromkeys([*dates[:1], *dates[-1:]]))}; {measured['machine']}; "
        f"{versions}.",
        "",
        "Seconds until a search has found a model whose held-out score is within "
        f"{AS_GOOD} of the best one that any search found in the same split, on any number of "
        f"cores. The limit of a run is {limit:g} s. Written by "
        "`python docs/benchmarks/time_to_quality.py`, which explains what is counted.",
        "",
        "- **Cells** are medians over the splits, each with its seed; in parentheses the number of "
        "runs that never found such a model, if any. These count as "
        f"{NEVER} times the limit in the geometric mean, which is over all runs. The first model "
        "that is good enough counts, even if a later one of the same search is not.",
        "- **sklearn_sha** is its `SuccessiveHalvingSearchCV`: with random, Sobol or model-based "
        "candidates, with all folds in every rung, or with two rungs.",
        '- **anytime** is `budget="anytime"` with model-based candidates, and the limit as '
        "`max_time`. It is a single fit. What it would select if it were ended counts from then "
        "on: the best candidate of each rung of the first bracket, and then each new best one at "
        "the end of a bracket, as each new best candidate of Optuna does. (In earlier versions of "
        "this page, the rungs of the first bracket did not count, but for its last one.) Its "
        "brackets were chosen on these workloads with other seeds. Seeds 0 to 2 were measured "
        "before and after that choice, later ones only after it. Two of its defaults were changed "
        "after all splits had been measured with the previous ones, and confirmed with other "
        "seeds: no [patience](anytime_patience.md), and [later brackets that add folds only]"
        "(anytime_rungs.md). After each change, the runs that it concerns were measured again, "
        "most of them apart from those of the other searches.",
        "- **Sizes.** The other settings of sklearn_sha and HalvingRandomSearchCV are fits of a "
        "number of candidates that is chosen before: 8, 16, 32 and so on, each from scratch. For "
        "each workload, their rows have the number that turned out to be best over the splits, "
        f'which a user does not know. With "{IN_TURN}", the fits follow each other. Then the '
        "seconds of all of them count, and the model with the best cross-validated score so far.",
        "- **RandomizedSearchCV at double budget** is the same search at half of its seconds.",
        "- **Noise.** The network and the forest have 3,500 held-out samples, so that an accuracy "
        "of 0.9 has a standard error of 0.005, as large as the goal. The goal depends on the best "
        "of many such scores: one model with a lucky score can put it out of reach for all others.",
        "- **Optuna with Hyperband** prunes after each fold, as its documentation shows for "
        "cross-validation. HalvingRandomSearchCV has samples as the resource. Epochs or trees as "
        "the resource of Optuna's pruners or of HalvingRandomSearchCV, Optuna's WilcoxonPruner, "
        "and the multi-fidelity settings of SMAC3 and FLAML were not tried.",
    ]
    if ratios := slowdowns(runs):
        n_slowed = sum(ratio > SLOWED for ratio in ratios)
        lines += [
            "- **Two cores.** sklearn_sha and HalvingRandomSearchCV do the same work on one core "
            f"and on two. The median of these {len(ratios)} runs takes {median(ratios):.2f} of the "
            f"time of one core. Runs that took more than {SLOWED}, since other programs ran on the "
            "machine, were measured again, together with those of other searches at the same "
            f"times, but for the last four of them. Now {n_slowed} runs take more than {SLOWED}.",
        ]
    if left_out := {*map(split_of, measured["runs"])} - {*map(split_of, runs)}:
        named = (f"{quantity(n, 'cores')}, seed {seed}" for n, seed in sorted(left_out))
        lines += ["", f"Left out, since some of their runs are missing: {'; '.join(named)}."]
    for n_cores in sorted({one["n_cores"] for one in runs}):
        n_seeds = len({one["seed"] for one in runs if one["n_cores"] == n_cores})
        lines += ["", f"## {quantity(n_cores, 'cores')}, {quantity(n_seeds, 'splits')}", ""]
        lines += tables(runs, n_cores, limit, titles)
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
        if any(one["workload"] == name and one["trace"] for one in runs):
            alt = f"Held-out score of each search over time: {title}"
            lines += ["", f"![{alt}](../../images/{stem}_{name}.svg)"]
    return lines


def slowdowns(runs: list[dict[str, Any]]) -> list[float]:
    """Seconds on two cores divided by those on one, of each run that does the same work on both.

    Medians over the models of a run, if both have some with the same score.
    """
    on_one = {key_of(one): one["trace"] for one in runs if one["n_cores"] == 1}
    ratios = []
    for one in runs:
        name, contender, n_cores, seed = key_of(one)
        pairs = zip(on_one.get((name, contender, 1, seed), ()), one["trace"], strict=False)
        same = [two[0] / single[0] for single, two in pairs if single[1] == two[1]]
        if n_cores == 2 and same and (has_sizes(contender) or contender.startswith(ANYTIME)):
            ratios.append(median(same))
    return ratios


def tables(
    runs: list[dict[str, Any]], n_cores: int, limit: float, titles: dict[str, str]
) -> list[str]:
    """Seconds, losses, other goals and last scores on a number of cores."""
    traces, best = traces_of(runs, limit), best_found(runs, limit)
    found = reached(traces, best, n_cores)
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

    latest = traces | {key_of(one): _within(limit, one["trace"]) for one in runs}

    def missing(contender: str, name: str) -> str:
        ends = [
            held_out_at(limit, trace) - best[name, seed]
            for (work, who, cores, seed), trace in latest.items()
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
        *other_goals(runs, n_cores, limit, order),
        "",
        *staying(traces, best, n_cores, limit),
        "",
        "Held-out score of the latest model at the limit, minus the best one that any search found "
        "(means over the runs that had a model). Of fits with sizes, but for those in turn, it is "
        "that of the last one that ended in time.",
        "",
        *table(
            ["", *head], [[shown(one), *[missing(one, name) for name in names]] for one in order]
        ),
    ]


def ratio_of(some: dict[str, list[float]], others: dict[str, list[float]], limit: float) -> str:
    """Geometric mean of the ratios of the seconds of runs, and the range of two standard errors."""
    ratios = [
        log(min(seconds, NEVER * limit) / min(other, NEVER * limit))
        for name in filter(others.__contains__, some)
        for seconds, other in zip(some[name], others[name], strict=True)
    ]
    if len(ratios) < 2:
        return ""
    error = 2 * stdev(ratios) / len(ratios) ** 0.5
    low, middle, high = (exp(mean(ratios) + sign * error) for sign in (-1, 0, 1))
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def other_goals(
    runs: list[dict[str, Any]], n_cores: int, limit: float, order: list[str]
) -> list[str]:
    """How far the searches are from the anytime search, and geometric means for other goals."""
    best = best_found(runs, limit)
    found = {
        as_good: reached(traces_of(runs, limit, as_good), best, n_cores, as_good)
        for as_good in (AS_GOOD, *OTHER_GOALS)
    }

    def ratio(contender: str) -> str:
        if contender == ANYTIME:
            return ""
        return ratio_of(found[AS_GOOD][contender], found[AS_GOOD].get(ANYTIME, {}), limit)

    return [
        "Seconds divided by those of the anytime search (geometric mean over the runs, and in "
        "parentheses the range of two standard errors), and the geometric mean of the seconds for "
        f"other goals than {AS_GOOD}.",
        "",
        *table(
            ["", "divided by anytime", *[f"within {as_good:g}" for as_good in OTHER_GOALS]],
            [
                [
                    shown(one),
                    ratio(one),
                    *[f"{overall(found[as_good][one], limit):.1f}" for as_good in OTHER_GOALS],
                ]
                for one in order
            ],
        ),
    ]


def staying(traces: dict[Key, Trace], best: Best, n_cores: int, limit: float) -> list[str]:
    """Seconds until the goal is reached and kept.

    A model with a lucky held-out score does not count if the search then prefers a worse one. This
    is what matters to a user, who ends a search without knowing the held-out scores.
    """
    found = reached(traces, best, n_cores, seconds_of=seconds_to_stay)
    anytime = found.get(ANYTIME, {})
    return [
        f"Seconds until a search is within {AS_GOOD} and stays there until the limit: from then "
        "on, each model that it prefers by its cross-validated score is as good (geometric means; "
        f"runs that do not stay there count as {NEVER} times the limit). This table was added "
        "after the runs had been seen.",
        "",
        *table(
            ["", "seconds", "divided by anytime", "runs that do not reach it, or leave it"],
            [
                [
                    shown(one),
                    f"{overall(found[one], limit):.1f}",
                    "" if one == ANYTIME else ratio_of(found[one], anytime, limit),
                    str([*chain.from_iterable(found[one].values())].count(inf)),
                ]
                for one in sorted(found, key=lambda one: overall(found[one], limit))
            ],
        ),
    ]


def draw(runs: list[dict[str, Any]], limit: float, titles: dict[str, str], stem: str) -> None:
    """A figure for each workload."""
    from matplotlib import colormaps

    traces, best = traces_of(runs, limit), best_found(runs, limit)
    n_cores = min((cores for _, _, cores, _ in traces), default=1)
    for name, title in titles.items():
        by_contender: dict[str, list[tuple[float, Trace]]] = {}
        for (work, contender, cores, seed), trace in sorted(traces.items()):
            if (work, cores) == (name, n_cores):
                by_contender.setdefault(contender, []).append((best[name, seed], trace))
        times = sorted(
            {model[0] for some in by_contender.values() for _, trace in some for model in trace}
        )
        if not times:
            continue
        with picture(f"{stem}_{name}.svg", 9.6, 4.2) as ax:
            ax.set_prop_cycle(color=colormaps["tab20"].colors)
            for contender, some in by_contender.items():
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
