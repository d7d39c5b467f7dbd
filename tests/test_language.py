"""Retired phrases do not come back: documents, docstrings and messages use scikit-learn's terms.

Each row of the table has what to say instead, a regular expression of the retired phrase, a text
that it finds, and a text that it does not find. A space matches any white space. To retire a
phrase, add a row.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

# fmt: off
RETIRED = [
    # say instead,
    #    retired phrase,
    #    found, not found
    ("continue training",
     r"(?<!to\s)\btrain(s|ing)? on(?=[.,;:]| (from|here|wherever|where|between|in place|by)\b)"
     r"|\btrained on (from|between)\b",
     "Models train on from rung to rung.", "It has too few samples to train on."),
    ("resume, continue",
     r"\b(go|goes|going|went) on\b",
     "The search goes on in another process.", "The search continues."),
    ("refit from scratch",
     r"\b(start|starts|started|starting) over\b|\b(begin|begins|began) again\b"
     r"|\banew\b|\bfrom nothing\b",
     "Every rung starts over.", "Every rung starts with more samples."),
    ("samples",
     r"\b(training|test|held-out|validation|raw|transformed) rows\b"
     r"|\b(?-i:rows) of (a|each|the) (fold|data)\b",
     "The test rows of a fold grow.", "The rows of the table are sorted."),
    ("rung",
     r"\bhalving (iteration|stage)s?\b",
     "Each halving iteration has fewer candidates.", "The task is called halving-iteration."),
    ("cumulative cost",
     r"\b(units|epochs|trees) (are |is |were |was )?spent\b",
     "The table shows the units spent.", "rung  candidates  step  n_resources  total_cost"),
    ("eliminated",
     r"\b(candidate|network|setting|one|arm)s? (that )?(are|is|were|was) dropped\b"
     r"|\bdropped early\b|\b(fall|falls|fell|fallen|falling) away\b"
     r"|\b(throw|throws|thrown|threw) (it |them )?out\b",
     "The worse ones are dropped early.", "The last write is discarded."),
    ("a Successive Halving run",
     r"\b(a|one|each|first|next|last) halving\b(?!-| run| search)|\bhalvings\b",
     "It is as good as one halving.", "The halving search of scikit-learn."),
    ("a budget-doubling run, the doubling trick",
     r"\b(a|one|each) doubling\b(?! trick| run)|\bdoublings\b",
     "After a doubling, the models are kept.", "The doubling trick needs no budget."),
    ("preprocessing steps",
     r"\bpipeline('s)? (first steps|prefix)\b|\b(its|their) first steps\b"
     r"|\bfirst steps (make|made|of)\b|\bshared (pipeline )?prefix\b",
     "What a pipeline's first steps make is kept.", "See the notebook: first steps."),
    ("completed results",
     r"\b(what|everything|all) (is |was |that is )?finished\b",
     "What is finished is kept.", "The refit finished in 2 s."),
    ("interrupted",
     r"\bbroken off\b|\bstopped before its end\b",
     "A rung that was broken off has no scores.", "An interrupted rung has no scores."),
    ("bit-identical",
     r"\bbit for bit\b|\bto the last bit\b",
     "It is the same bit for bit.", "The tests compare them bit by bit."),
    ("predict the final ranking",
     r"\b(tell|tells|told|telling) the truth\b",
     "Early scores tell the truth.", "Early scores predict the final ranking."),
    ("shows, reports, raises, prints",
     r"\b(plan|report|warning|message|error|table|docstring|example|figure|column|name|CODE)s?"
     r",? (which )?(say|says|tell|tells)\b"
     r"|\bsays (so|why|which|what|how|who|where|whether|beforehand|when)\b",
     "The warning says which candidate failed.", "The warning names the candidate."),
    ("is notified, receives",
     r"\b(is|are|was|were|be|been) told\b",
     "Callbacks are told of the tasks.", "Callbacks receive the tasks."),
    ("repeated warnings are shown once with a count",
     r"\bwhat (many |the )?fits warn of\b",
     "What many fits warn of is shown once.", "The fits warn of it."),
    ("custom",
     r"\bof (your|one's) own\b",
     "Losses of your own.", "An environment of its own."),
    ("compared with, alongside",
     r"\bbeside\b",
     "Beside a grid search it is fast.", "Besides, it is fast."),
    ("one line per rung",
     r"\b(line|row|column|page|bar|checksum) a (rung|candidate|fold|fit|page|line|worker|batch)\b",
     "It prints a line a rung.", "Call a worker."),
    ("in a single fit, together",
     r"\bat once\b|\bin one go\b",
     "All are trained in one go.", "All are trained in a single fit."),
    ("selected candidate, best candidate",
     r"\bwinners?\b(?! :)|\b(better|best|same) answer\b|\bthe answer (is|can|be)\b"
     r"|\bis the answer\b",
     "The winner is refit.", "Two answers to the same question."),
    ("split, sliced",
     r"\b(rows|samples|folds?|data) (is|are|was|were) cut\b"
     r"|\bcuts? (its|the|a) (rows|samples|folds?|data)\b",
     "The rows are cut once.", "The samples are sliced once."),
    ("sampled",
     r"\bdrawn (at random|from (the|its|a))\b|\b\d+ draws\b"
     r"|\b(draw|draws) (\d+|some|random|rows|samples|candidates|settings)\b",
     "The search draws 64 settings.", "They are drawn at the lower edge."),
    ("minimum, maximum, smallest",
     r"\bthe least (resource|units?|there is|that|time|integer|value|whole)\b",
     "It starts with the least resource.", "It has at least one unit."),
    ("ignored",
     r"\bof no account\b|\bnot looked at\b",
     "Their order is of no account.", "Look at the plan."),
    ("crashes, is terminated",
     r"\b(worker|process)(s|es)? (that )?(die|dies|died|(is|are|was|were) killed)\b"
     r"|\bdead (dask )?workers?\b|\bworker's death\b|\bkills? (its|the|a) workers?\b",
     "A worker that dies costs one candidate.", "A worker that crashes costs one candidate."),
    ("consecutive",
     r"\bin a row\b",
     "Two rungs in a row.", "Two consecutive rungs."),
    ("additional time",
     r"\bon top\b(?! of)",
     "The refit comes on top.", "On top of the page."),
    ("progress",
     r"\bhow it goes\b",
     "It prints how it goes.", "It prints the progress."),
    ("figure",
     r"(?<![<.\w/])pictures?\b",
     "The picture shows all curves.", "The figure shows all curves."),
    ("if, when",
     r"(?m:^(- )?|[.;:] )(?-i:Where) (a|an|the|no|one|it|they|there|every|early|several|nobody"
     r"|you|scores|models|candidates|folds)\b[^.?|]*,"
     r"|\bwhere (nobody|nothing|they can't|they cannot|that is|it can)\b",
     "Where early scores mislead, raise it.", "Where do candidates come from?"),
    ("upper bound",
     r"\bthe most that (can be|there is|it can)\b",
     "The plan is the most that can be.", "The plan is an upper bound."),
    ("1/factor of the candidates",
     r"\bone in so many\b",
     "It keeps one in so many.", "It keeps one of them."),
]
# fmt: on
PATTERNS = [
    (instead, re.compile(retired.replace(" ", r"\s+"), re.IGNORECASE))
    for instead, retired, _, _ in RETIRED
]
GENERATED = {"_build", "auto_examples", "generated"}


def without_code(text: str) -> str:
    """Text without inline code and the addresses of links, on the same lines."""
    text = re.sub(r"`[^`\n]+`", "CODE", text)
    return re.sub(r"\]\([^)\s]+\)", "]", text)


def texts_of(path: Path) -> Iterator[tuple[str, int, str]]:
    """Texts of a file, each with the name of the file and the line on which it starts."""
    name = str(path.relative_to(ROOT))
    source = path.read_text()
    if path.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(source)["cells"], 1):
            yield f"{name}:cell {number}", 1, without_code("".join(cell["source"]))
    elif path.is_relative_to(ROOT / "sklearn_sha"):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield name, node.lineno, without_code(node.value.replace("``", "`"))
    else:
        yield name, 1, without_code(source)


def hits_in(text: str) -> Iterator[tuple[int, str, str]]:
    """Each retired phrase: its line within the text, the phrase, and what to say instead."""
    for instead, pattern in PATTERNS:
        for match in pattern.finditer(text):
            phrase = match[0].lstrip(".;:- \n")
            line = text.count("\n", 0, match.end() - len(phrase))
            yield line, " ".join(phrase.split()), instead


def files() -> list[Path]:
    found = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("docs/**/*.md")]
    found += ROOT.glob("sklearn_sha/**/*.py")
    found += [path for path in ROOT.glob("examples/*") if path.suffix in {".py", ".ipynb", ".rst"}]
    return sorted(path for path in found if GENERATED.isdisjoint(path.relative_to(ROOT).parts))


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_retired_phrase(path):
    hits = [
        f'{name}:{start + line}: "{phrase}"; say: {instead}'
        for name, start, text in texts_of(path)
        for line, phrase, instead in hits_in(text)
    ]
    assert not hits, "\n" + "\n".join(hits)


@pytest.mark.parametrize(("instead", "found", "not_found"), [(a, c, d) for a, _, c, d in RETIRED])
def test_a_phrase_is_found_and_similar_ones_are_not(instead, found, not_found):
    assert instead in {instead for _, _, instead in hits_in(found)}
    assert not list(hits_in(not_found))
    assert not list(hits_in(instead))
