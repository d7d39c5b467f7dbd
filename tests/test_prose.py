"""Grammar and style of pages and docstrings, as proselint checks them."""

import ast
import json
import re
import subprocess
import sys
from itertools import count

import pytest
from conftest import ROOT
from test_language import files

pytestmark = pytest.mark.slow

IGNORED = {
    # Straight quotes, "..." and "x" are code. "Resume" is a verb here.
    "typography": False,
    # "The better half" is meant literally.
    "cliches": False,
}


def prose_of(path):
    """The text of a page, or of the docstrings of a module, without code, tables and headings."""
    source = path.read_text()
    if path.suffix == ".py":
        nodes = [
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        ]
        source = "\n\n".join(ast.get_docstring(node) or "" for node in nodes)
    elif path.suffix == ".ipynb":
        cells = [cell for cell in json.loads(source)["cells"] if cell["cell_type"] == "markdown"]
        source = "\n\n".join("".join(cell["source"]) for cell in cells)
    source = re.sub(r"(```+).*?\1", "", source, flags=re.DOTALL)
    source = re.sub(r"^ *(>>>|\.\.\.) .*(\n *\S.*)*", "", source, flags=re.MULTILINE)
    source = re.sub(r"^ *(Returns|Yields|Raises)\n *-+\n.*$", "", source, flags=re.MULTILINE)
    source = re.sub(r"^ *([|#=-]|[\w*, ]+ : ).*$", "", source, flags=re.MULTILINE)
    numbers = count()  # so that two pieces of code are not a repeated word
    source = re.sub(r"``[^`]+``|`[^`]+`", lambda match: f"code{next(numbers)}", source)
    # Else the end of a paragraph and the same words in the next one are a repetition.
    return source.replace("\n\n", ".\n\n")


def hits_in(folder, texts):
    """What proselint says of texts, by name."""
    config = folder / "config.json"
    config.write_text(json.dumps({"checks": IGNORED}))
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    command = [sys.executable, "-m", "proselint", "check", "--config", str(config)]
    done = subprocess.run(
        [*command, *(f"{name}.md" for name in texts)], cwd=folder, capture_output=True, text=True
    )
    return (done.stdout + done.stderr).replace(f"{folder}/", "")


def test_pages_and_docstrings(tmp_path):
    texts = {str(path.relative_to(ROOT)).replace("/", "-"): prose_of(path) for path in files()}
    assert len(texts) > 200
    assert hits_in(tmp_path, texts) == ""


def test_mistakes_are_found(tmp_path):
    text = "Candidates are are sampled. It is very unique."
    columns = {line.split(":")[2] for line in hits_in(tmp_path, {"page": text}).splitlines()}
    assert columns == {str(1 + text.index(part)) for part in ("are are", "very")}
