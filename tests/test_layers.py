"""Every file imports only from floors below its own, and only what is public."""

import ast
import sys

import pytest
from conftest import ROOT

PACKAGE = ROOT / "sklearn_sha"

FLOORS = {
    "_table": 0,
    "_ranking": 0,
    "_checks": 0,
    "_compat": 0,
    "_durable": 0,
    "_mlflow": 1,
    "_memory": 0,
    "_pickling": 0,
    "_said": 0,
    "_boosters": 0,
    "_page": 1,
    "_callbacks": 3,
    "_drawn": 0,
    "_picture": 1,
    "_workers": 1,
    "schedules": 1,
    "_trained": 1,
    "bandit": 2,
    "_history": 3,
    "_display": 2,
    "_candidates": 2,
    "_folds": 2,
    "_trust": 2,
    "theory": 3,
    "_progress": 3,
    "_shown": 5,
    "resources": 3,
    "_scoring": 3,
    "_fixed_costs": 3,
    "_auto_resource": 4,
    "_evaluate": 4,
    "_results": 5,
    "_store": 5,
    "_setup": 5,
    "_refit": 5,
    "_engine": 6,
    "_failures": 6,
    "_fingerprint": 6,
    "_checkpoint": 7,
    "_course": 7,
    "_stopped": 7,
    "_search": 8,
    "_successive_halving": 9,
    "_hyperband": 9,
    "__init__": 10,
}

FILES = sorted(PACKAGE.glob("*.py"))


def imports(path):
    """(module, name) for everything that a file imports; name is None for a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import hides the module's name"
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)


def test_every_file_has_a_floor():
    assert {path.stem for path in FILES} == set(FLOORS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_imports_come_from_floors_below(path):
    for module, name in imports(path):
        package, _, stem = module.partition(".")
        if package == "sklearn_sha":
            below = stem or name
            assert FLOORS[below] < FLOORS[path.stem], f"{path.stem} imports {below}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_only_public_names_of_other_packages(path):
    for module, name in imports(path):
        if not module.startswith(("sklearn_sha", "__future__")):
            parts = [*module.split("."), name or ""]
            assert not any(part.startswith("_") for part in parts), f"{module}.{name}"


def test_schedules_need_the_standard_library_only():
    for stem in ("schedules", "_table"):
        modules = {module.split(".")[0] for module, _ in imports(PACKAGE / f"{stem}.py")}
        # pandas where a frame is asked for, and not before
        assert modules - {"sklearn_sha", "pandas"} <= sys.stdlib_module_names
    ours = {m for m, _ in imports(PACKAGE / "schedules.py") if m.startswith("sklearn_sha")}
    assert ours == {"sklearn_sha._table"}
