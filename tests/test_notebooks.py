"""The notebooks of examples/ run from a fresh kernel, and show what they say that they show."""

import re

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def outputs_of(name, tmp_path):
    """The outputs of each code cell, by its source."""
    notebook = nbformat.read(ROOT / "examples" / name, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    return {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def output_of(cells, part):
    """The one output of the cell in whose source a part stands."""
    ((output,),) = (outputs for source, outputs in cells.items() if part in source)
    return output


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_stripped(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def test_first_steps(tmp_path):
    cells = outputs_of("first_steps.ipynb", tmp_path)
    plan = output_of(cells, ".plan(")
    assert "<table" in plan.data["text/html"]
    live = output_of(cells, "verbose=1")
    assert live.data["text/html"].count("<tr>") == 1 + 4 + 1  # rungs and the refit
    epochs = output_of(cells, ".total_cost")
    halving, grid = re.findall(r"\d+", epochs.data["text/plain"])
    assert int(halving) <= int(grid)
    (shown,) = cells["search"]
    assert "<svg" in shown.data["text/html"]
    gain = output_of(cells, "- before.score")
    in_search, held_out = re.findall(r"-?0\.\d+", gain.text)
    assert float(in_search) > 0.01
    assert float(held_out) > 0


def test_reading_a_search(tmp_path):
    cells = outputs_of("reading_a_search.ipynb", tmp_path)
    pictures = [outputs for source, outputs in cells.items() if "SearchDisplay.from" in source]
    assert [[sorted(part.data) for part in parts] for parts in pictures] == [
        [["image/png", "text/plain"]]
    ] * 6
    (report,) = cells["trust_report(search)"]
    assert "<table" in report.data["text/html"]


def test_every_notebook_is_run_here():
    assert [path.name for path in NOTEBOOKS] == ["first_steps.ipynb", "reading_a_search.ipynb"]
