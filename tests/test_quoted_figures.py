"""Figures that pages quote are those that were measured, by commands that there are."""

import json
import re
from math import prod

import numpy as np
import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text()
RESULTS = ROOT / "docs" / "benchmarks" / "results"
PAGES = [
    *ROOT.glob("*.md"),
    *(path for path in ROOT.glob("docs/**/*.md") if "_build" not in path.parts),
]


def test_the_readme_shows_what_was_measured():
    shown = README.partition("## Measured results")[2].partition("\nMedians")[0]
    measured = (RESULTS / "suite.md").read_text()
    one_core = measured.partition("## One core")[2].partition("geometric mean")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in one_core.splitlines()
        if line.startswith("|")
    ]
    figures = {row[0]: row[1:] for row in rows}
    table = [line.strip("| ").split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    assert len(table) == 1 + 6
    for workload, of_grid, of_halving, difference, worst in table[1:]:
        *times, score, grid_score, worst_measured = figures[workload]
        assert [of_halving, of_grid] == times, workload
        assert difference == f"{float(score) - float(grid_score):+.4f}", workload
        assert worst == worst_measured, workload


def geometric_mean(cells):
    return prod(cell["ratio"] for cell in cells) ** (1 / len(cells))


def test_the_readme_and_the_faq_quote_the_times_of_the_class_name_alone():
    cells = [c for c in json.loads((RESULTS / "drop_in.json").read_text())["cells"] if "ratio" in c]
    means = {
        data: f"{geometric_mean([c for c in cells if c['data'] == data]):.2f}"
        for data in {c["data"] for c in cells}
    }
    iris, wine, diabetes, cancer = (means[data] for data in (*SMALL, *IN_FOLDS))
    highest = f"{max(c['ratio'] for c in cells):.2f}"
    page = (RESULTS / "drop_in.md").read_text()
    summary, losses = page.partition("## Held-out")[2].split("## Losses")
    n_scored, n_higher, n_lower = re.findall(r"Of (\d+) .* (\d+) have .* (\d+) a lower", summary)[0]
    assert "\nNone.\n" in losses
    assert "lower by more than 0.002, beyond" in losses
    means_of = [np.subtract(c["scores"], c["grid_scores"]).mean() for c in cells if "scores" in c]
    lower = [-mean for mean in means_of if mean < -0.002]
    n_splits = [len(c["scores"]) for c in cells if len(c.get("scores", [])) >= 20]
    assert n_splits == [20] * int(n_scored)
    assert (
        f"{len(cells)} searches take {geometric_mean(cells):.2f} of GridSearchCV's CPU time "
        f"(geometric mean): {means['synthetic 20,000']} with 20,000 samples, {cancer} and "
        f"{diabetes} with 569 and 442, {wine} and {iris} with 178 and 150, and {highest} at "
        f"worst. Of the {n_scored} that have several rungs and held-out scores, the mean score is "
        f"higher in {n_higher} and lower in {n_lower}. In {len(lower)} it is lower by more than "
        f"0.002, at most by {max(lower):.4f}; the 95 % confidence interval of each of these "
        "differences includes 0 ("
    ) in README
    assert "over 20 train/test splits each)" in README
    assert (
        f"it takes {geometric_mean(cells):.2f} of GridSearchCV's CPU time (geometric mean of "
        f"{len(cells)} searches), and {means['synthetic 20,000']} with 20,000 samples."
    ) in README
    faq = (ROOT / "docs" / "faq.md").read_text()
    assert f"by {round(100 * float(highest) - 100)} % at worst. On average, it takes " in faq
    assert (
        f"{iris} and {wine} of GridSearchCV's CPU time on two data sets with 150 and 178 samples, "
        f"and {diabetes} and {cancer} on two with 442 and 569\n"
    ) in faq


SMALL = ("iris", "wine")
IN_FOLDS = ("diabetes", "breast cancer")


def test_getting_started_shows_what_was_measured():
    measured = rows_of((RESULTS / "getting_started.md").read_text())
    page = (ROOT / "docs" / "getting_started.md").read_text()
    shown = rows_of(page.partition("## Time and scores")[2])
    assert measured.items() <= shown.items()
    times = [float(time) for time, *_ in list(measured.values())[2:]]
    of_grid, same, _, wide = times
    # What the text concludes from them.
    assert of_grid == 1 > wide
    assert 0.2 < same < 0.3


def rows_of(page):
    """Cells of all rows of tables, by the first cell."""
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in (line.strip("| ").split(" | ") for line in lines)}


def text_of(page):
    """A page of docs, without line breaks."""
    return " ".join((ROOT / "docs" / page).read_text().split())


NUMBERS = ("none", "one", "two", "three", "four", "five", "six")


def test_the_readme_quotes_the_time_to_quality():
    page = (RESULTS / "time_to_quality.md").read_text()

    def tables_of(cores):
        section = page.partition(f"\n## {cores}")[2].partition("\n## ")[0]
        before, rest = section.split("Seconds of sklearn_sha divided")
        of_fastest, rest = rest.split("Seconds divided by those of the anytime search")
        of_anytime, rest = rest.split("Seconds until a search is within")
        staying, at_end = rest.split("Held-out score")
        return [rows_of(part) for part in (before, of_fastest, of_anytime, staying, at_end)]

    cells, of_fastest, of_anytime, staying, at_end = tables_of("1 core")
    cells_of_two, of_fastest_of_two, of_anytime_of_two, staying_of_two, _ = tables_of("2 cores")
    anytime, in_turn = "sklearn_sha, anytime", "sklearn_sha, model, sizes in turn"
    double, pruned = "RandomizedSearchCV, double budget", "Optuna, TPE and Hyperband"
    slower = ["HalvingRandomSearchCV, sizes in turn", "FLAML, BlendSearch", "SMAC3"]
    named = [anytime, in_turn, pruned, "Optuna, TPE", double, "RandomizedSearchCV", *slower]
    shown = rows_of(README.partition("| search | one core |")[2].partition("On one core")[0])
    assert [*shown.values()] == [[cells[name][-1], cells_of_two[name][-1]] for name in named]
    assert "with five splits on one core and on two." in README
    assert "## 1 core, 5 splits" in page
    assert "## 2 cores, 5 splits" in page

    ratio, low, high = re.findall(r"[\d.]+", of_anytime[pruned][0])
    of_two, low_of_two, high_of_two = re.findall(r"[\d.]+", of_anytime_of_two[pruned][0])
    of_random, low_of_random, high_of_random = re.findall(
        r"[\d.]+", of_anytime["RandomizedSearchCV"][0]
    )
    assert (
        f"takes {ratio} times as long as the first row, with a range of {low} to {high} (two "
        f"standard errors over the runs), and on two cores {of_two} times ({low_of_two} to "
        f"{high_of_two}). These differences are within the noise. RandomizedSearchCV takes "
        f"{of_random} times as long on one core ({low_of_random} to {high_of_random}), at "
        "the edge of the noise."
    ) in README
    assert float(low) < 1 < float(ratio)
    assert float(low_of_two) < 1 < float(of_two)
    ratios = [[float(n) for n in re.findall(r"[\d.]+", of_anytime[name][0])] for name in slower]
    assert min(low for _, low, _ in ratios) > 1
    means = sorted(mean for mean, *_ in ratios)
    assert (
        f"take {means[0]:.1f} to {means[-1]:.1f} times as long on one core, which is more "
        "than the noise."
    ) in README

    def fastest_other(rows):
        """Rows are sorted by their seconds."""
        others = (name for name in rows if name in named and not name.startswith("sklearn_sha"))
        name = next(others)
        return name, rows[name][1].replace(" (", " times as long (", 1)

    plain, of_plain = fastest_other(staying)
    assert plain == "Optuna, TPE"
    assert [*staying][2] == [*staying_of_two][2] == anytime  # below the head of the table
    with_pruner, of_pruned = fastest_other(staying_of_two)
    assert with_pruner == pruned
    assert (
        f"the first row takes {staying[anytime][0]} seconds on one core and "
        f"{staying_of_two[anytime][0]} on two; {staying[anytime][2]} and "
        f"{staying_of_two[anytime][2]} of its 30 runs do not stay there. The fastest of the other "
        "libraries takes about twice as long, which is more than the noise."
    ) in README
    for ratio_of_fastest in (of_plain, of_pruned):
        of_fastest_other, low, _ = map(float, re.findall(r"\d+\.\d+", ratio_of_fastest))
        assert 1.9 < of_fastest_other < 2.1
        assert low > 1
    assert (
        f"needs {staying[anytime][0]} seconds until its score is within 0.005 and stays there. The "
        "fastest of the other libraries, Optuna's TPE, needs "
        f"{of_plain.replace('(', '(two standard errors: ')}."
    ) in text_of("guide/limited_time.md")

    def n_lost(rows):
        return NUMBERS[sum(cell == "never" or float(cell) > 1 for cell in rows[anytime])]

    def n_better(name):
        pairs = zip(at_end[anytime], at_end[name], strict=True)
        return NUMBERS[sum(float(theirs) > float(own) for own, theirs in pairs)]

    failed = [cell.partition("(")[2] for cell in cells[anytime][:-1]]
    assert failed == ["4)", "", "", "", "", "2)"]
    assert of_fastest["fastest other search"][3] == double
    assert (
        'four of five runs of `budget="anytime"` on the network and two on the forest do not get '
        "there within 60 seconds. (On the network and the forest, the held-out "
        "score has a standard error of 0.005, as large as the goal.) On LightGBM, "
        "RandomizedSearchCV with twice the computing power is "
        f"{float(of_fastest[anytime][3]):.0f} times as fast."
    ) in README
    lost = n_lost(of_fastest_of_two)
    for rows in (cells, cells_of_two):
        assert min(named, key=lambda name: float(rows[name][-1])) == anytime
    assert "Now 0 runs take more than 0.9." in page
    assert (
        f"On one core, another search is faster than the first row on {n_lost(of_fastest)} of the "
        f"six workloads, and on two cores on {lost}."
    ) in README
    assert (
        f"Optuna's TPE has the better model on {n_better('Optuna, TPE')} of six workloads without "
        f"a pruner, and on {n_better(pruned)} of six with one."
    ) in README

    samplers = text_of("guide/samplers.md")
    assert (
        f"Another search is faster on {n_lost(of_fastest)} of the six workloads on one core, and "
        f"on {lost} of them on two cores. Without `budget`, if 8, 16, 32, ... candidates are tried "
        f"in turn, it takes {of_anytime[in_turn][0].split()[0]} times as long."
    ) in samplers
    limited = text_of("guide/limited_time.md")
    assert (
        f"on one core, it needs {cells[anytime][-1]} seconds to come within 0.005 of the best "
        "score (geometric mean). Searches with the same sampler and without `budget`, over 8, 16, "
        f"32, ... candidates in turn, need {cells[in_turn][-1]}, and Optuna's TPE with a pruner "
        f"{cells[pruned][-1]}."
    ) in limited


def test_the_guide_quotes_what_the_defaults_as_first_candidate_gain():
    page = (RESULTS / "defaults_first.md").read_text()
    ours = "sklearn_sha, anytime"
    rows = rows_of(
        page.partition("## Seconds until within 0.005 of the best")[2].partition("##")[0]
    )
    with_defaults = rows[f"{ours}, defaults first"]
    pairs = zip(with_defaults[:6], rows[ours][:6], strict=True)
    sooner = [float(a.split()[0]) < float(b.split()[0]) for a, b in pairs]
    assert sooner == [False, True, True, True, True, False]
    low, high = map(float, re.findall(r"[\d.]+", rows[ours][-1])[1:])
    assert low < 1 < high
    early = rows_of(page.partition("After 2 seconds:")[2].partition("After")[0])
    pairs = zip(early[f"{ours}, defaults first"], early[ours], strict=True)
    assert sum(float(a) > float(b) for a, b in pairs) == 5
    gain, error = rows_of(page.partition("After 30 seconds, the score")[2])[ours][0].split(" ± ")
    guide = text_of("guide/limited_time.md")
    assert (
        f"with them come within 0.005 of the best after {with_defaults[6]} seconds instead of "
        f"{rows[ours][6]}:"
    ) in guide
    assert f"is lower by {gain.removeprefix('-')} on average (standard error {error})." in guide


def test_the_guide_quotes_what_patience_saves():
    page = (RESULTS / "anytime_patience.md").read_text()
    ended, _, n_better, *_ = rows_of(page)["2"]
    n_ended, n_searches = ended.split(" of ")
    assert (
        f"of [{n_searches} searches of a minute](../benchmarks/results/anytime_patience.md), it "
        f"would have ended {n_ended}, of which {n_better} found a better candidate later."
    ) in text_of("guide/limited_time.md")


def test_the_guide_quotes_what_later_brackets_save():
    rows = rows_of((RESULTS / "anytime_rungs.md").read_text())
    n_pairs, *_, score, held_out, counts = rows["**all of the benchmark's size**"]
    n_better, n_worse = counts.split(" / ")
    score, error, held_out, error_of_held_out = re.findall(r"[\d.]+", f"{score} {held_out}")
    assert (
        f"In [{n_pairs} pairs of searches](../benchmarks/results/anytime_rungs.md), the "
        "cross-validated score of the selected candidate after a minute is higher with such "
        f"brackets in {n_better} and lower in {n_worse}, by {score} on average (standard error "
        f"{error}), and its held-out score by {held_out} ({error_of_held_out}). The held-out score "
        f"is within 0.001 of the best after {rows['0.001'][0]} seconds instead of "
        f"{rows['0.001'][1]}, and within 0.01 after {rows['0.01'][0]} instead of "
        f"{rows['0.01'][1]}."
    ) in text_of("guide/limited_time.md")


def test_the_guide_quotes_what_hyperband_costs():
    def replayed(factor, search):
        """Cost and regret by family."""
        page = (RESULTS / f"replay_factor_{factor}.md").read_text()
        sections = re.split(r"\n## (\w+), ", page)[1:]
        families = zip(sections[::2], sections[1::2], strict=True)
        rows = {name: rows_of(text)[search] for name, text in families}
        return {name: (float(row[0]), float(row[2])) for name, row in rows.items()}

    guide = (ROOT / "docs" / "guide" / "hyperband.md").read_text()
    shown = rows_of(guide.partition("| family |")[2])
    halving, three, two = (
        replayed(2, 'min_folds="auto"'),
        *(replayed(k, "Hyperband") for k in (3, 2)),
    )
    assert {*shown} == {*halving}
    for name, (cost, regret) in halving.items():
        ratios = [three[name][0] / cost, three[name][1] / regret]
        ratios += [two[name][0] / cost, two[name][1] / regret]
        assert shown[name] == [f"{ratio:.1f}" for ratio in ratios]


def test_the_guide_quotes_the_model_in_live_searches():
    """Differences of more than twice their standard error."""
    rows = rows_of((RESULTS / "live_samplers.md").read_text())
    differences = {name: row[2].split(" ± ") for name, row in rows.items() if "±" in row[2]}
    assert len(differences) == 6
    clear = {
        name: float(mean)
        for name, (mean, error) in differences.items()
        if abs(float(mean)) > 2 * float(error)
    }
    assert {*clear} == {"histogram boosting", "LightGBM", "support vectors"}
    guide = text_of("guide/samplers.md")
    low, *_, high = sorted(f"{mean / 1000:.4f}" for mean in clear.values())
    assert (
        "scores are better for histogram boosting, LightGBM and support vectors, by "
        f"{low} to {high}. For the other three workloads, the difference is within twice its"
    ) in guide
    costs = {
        name: np.array(row[-2:], dtype=float) for name, row in rows.items() if name in differences
    }
    ratios = sorted((model / random, name) for name, (model, random) in costs.items())
    model, random = sum(costs.values())
    (least, _), *_, (most, of_most) = ratios
    assert (
        f"cost {model / random:.2f} times as much as 96 random ones in total ({least:.2f} to "
        f"{most:.2f} times by workload)."
    ) in guide
    assert of_most == "linear model of text"
    assert (
        f"cost {model / random:.2f} times as much as 96 random ones, and on the linear model of "
        f"text {most:.2f} times ("
    ) in README
    assert (
        "scores are better on three of these workloads, by "
        f"{low} to {high}, and as good on the others."
    ) in README


def test_the_guide_quotes_the_model_on_stored_curves():
    page = (RESULTS / "samplers.md").read_text()
    head, *lines = [line.strip("| ").split(" | ") for line in page.splitlines() if "|" in line]
    (mean,) = [dict(zip(head, line, strict=True)) for line in lines if line[0] == "all"]
    guide = text_of("guide/samplers.md")
    assert (
        "the mean [regret](../glossary.md) x 1000 of 48 of its candidates is "
        f"{mean['model, 48 candidates in brackets']}. It is {mean['random, 48 candidates']} with "
        f"48 random ones in one bracket, and {mean['random, 96 candidates']} with 96 (22 "
        "of the 40 files have only these 96 configurations)."
    ) in guide
    assert "\n22 of the 40 files have 96 configurations" in page
    in_brackets = mean["random, 48 candidates in brackets"]
    assert f"48 random candidates in such brackets have {in_brackets}." in guide
    decision = text_of("decisions/0004-layout.md")
    assert (
        f"the regret x 1000 is {mean['model, 48 candidates in brackets']} instead of "
        f"{mean['model, 48 candidates in one bracket']}."
    ) in decision
    assert f"random candidates in such brackets have {in_brackets}." in decision


def test_the_guide_quotes_what_audits_cost_and_gain():
    measured = (RESULTS / "trust.md").read_text()
    before = rows_of(measured.partition("By metric and first rung")[2].partition("How often")[0])
    after = rows_of(measured.partition("## Audits")[2])
    guide = (ROOT / "docs" / "guide" / "trust.md").read_text()
    shown = rows_of(guide.partition("| metric | cost")[2])
    names = {"AUC": "ROC AUC"} | {m: m for m in ("accuracy", "R2", "log-loss")}
    for metric, name in names.items():
        of_search, of_audit = (rows[f"{metric}, automatic"] for rows in (before, after))
        assert shown[name] == [
            of_audit[-1],
            f"{of_search[6]} before, {of_audit[6]} after",
            f"{of_audit[0]} before, {of_audit[1]} after",
        ]
    families = rows_of(measured.partition("By metric and first rung")[0])
    numbers = {
        name: [f"{float(cell.replace(',', '').split()[0]):.2f}" for cell in row]
        for name, row in families.items()
        if re.search(r", (accuracy|R2|log-loss|AUC)$", name)
    }
    text = " ".join(guide.split())
    wrong = rows_of(guide.partition("| searches | mean probability")[2])
    metric_of = {"ROC AUC": "AUC"}
    for family in ("boosting", "forests", "SGD"):
        for metric in ("ROC AUC", "R2", "log-loss"):
            if (row := wrong.pop(f"{metric}, {family}", None)) is not None:
                name = f"{family.lower().removesuffix('s')}, {metric_of.get(metric, metric)}"
                _, right, found = numbers[name][:3]
                assert row == [found, right], name
    of_first_rungs = {
        "automatic rungs": "automatic",
        "a first rung of a 27th of the maximum": "maximum / 27",
        "a first rung of 64 of thousands of samples": "64 samples",
    }
    assert len(wrong) == 4
    for name, row in wrong.items():
        metric, rungs = name.split(", ")
        measured_row = before[f"{metric_of.get(metric, metric)}, {of_first_rungs[rungs]}"]
        assert row == [f"{float(measured_row[k]):.2f}" for k in (2, 1)], name
    ninth = [(row, after[name]) for name, row in before.items() if name.endswith("maximum / 9")]
    of_64 = [row for name, row in before.items() if name.endswith("64 samples")]
    assert max(float(row[6]) for row, _ in ninth) < 0.2
    assert min(float(row[6]) for _, row in ninth) > 0.5
    assert max(float(row[6]) for row in of_64) < 0.1
    lcdb = rows_of(measured.partition("## LCDB")[2].partition("## Searches")[0])
    thirds = [float(lcdb[f"{metric}, 64 samples"][-1]) for metric in ("accuracy", "log-loss")]
    assert f"only {thirds[0]:.2f} (accuracy) and {thirds[1]:.2f} (log-loss) of" in text
    on_folds, _, in_brackets = measured.partition("## Searches in several brackets")
    n, right, found = rows_of(on_folds.partition("## Searches whose")[2])["all"][:3]
    assert f"On {n} searches, the mean probability is {float(found):.2f}, and {right} of" in text
    in_brackets = rows_of(in_brackets.partition("## Audits")[0])
    gaps = [row[3].split()[0] for row in in_brackets.values() if "±" in row[3]]
    assert len(gaps) == 12
    gap = max(abs(float(gap)) for gap in gaps)
    assert f"differs from the share of reports that are right by at most {gap:.3f}" in text
    n, right, found, *_, of_trusted = rows_of(measured.partition("By metric")[0])["all"][:8]
    assert f"all {n} searches, the mean probability is {float(found):.2f}" in text
    assert f"right in {float(right):.2f}. Of those with a probability of 0.95 or more" in text
    assert f"or more, {float(of_trusted):.2f} are right" in text
    cells = (row[3] for row in before.values() if "±" in row[3])
    differences = [map(float, cell.split("±")) for cell in cells]
    ratios = [mean / error for mean, error in differences]
    above = r"probability is at most ([\d.]+) standard errors \(over the data sets\) above"
    below = r"and at most ([\d.]+) below it\."
    ((above, below),) = re.findall(f"{above} .* {below}", text)
    assert 0 <= float(above) - max(ratios) < 0.1
    assert 0 <= float(below) + min(ratios) < 0.1
    expected, true = map(float, rows_of(measured.partition("By metric")[0])["all"][8:10])
    assert f"it is {expected:.3f} on average, and the true difference is {true:.3f};" in text
    ratios = [float(row[8]) / float(row[9]) for name, row in before.items() if ", " in name]
    assert f"first rung, it is {min(ratios):.1f} to {max(ratios):.1f} times the true one" in text
    (regret,) = re.findall(r"below 0.95, the mean regret is\n([\d.]+)\.", measured)
    with_advice, times = re.findall(r"it is ([\d.]+), at ([\d.]+) times the cost", measured)[0]
    assert f"the mean [regret](../glossary.md) is {regret}. With" in guide
    assert f"it is {with_advice}, at {times} times the cost" in guide


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_page_exist(path):
    for script in re.findall(
        r"python\s+(?:-\w+ )*((?:docs|examples)/[\w/]+\.py)", path.read_text()
    ):
        assert (ROOT / script).exists(), script


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.md")), ids=lambda path: path.name)
def test_results_name_the_command_that_wrote_them(path):
    assert re.search(r"`python docs/benchmarks/\w+\.py", path.read_text())
