"""Imports go down from package to package, in one direction inside of one, and are public."""

import ast
import sys
from graphlib import TopologicalSorter

import pytest
from conftest import ROOT

PACKAGE = ROOT / "sklearn_sha"

# From the top floor down. Those on a line do not import each other.
FLOORS = [
    ["__init__"],
    ["_search"],
    ["_results", "_progress"],
    ["_engine"],
    ["_storage", "inspection"],
    ["theory", "bandit"],
    ["resources"],
    ["candidates"],
    ["schedules", "_parallel", "_data"],
    ["_compat", "_formatting", "_param_validation", "_user_warning", "_version"],
]

HEIGHT = {name: -height for height, names in enumerate(FLOORS) for name in names}

FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(module):
    """The package, or the file of the top folder, in which a module is."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports(path):
    """(module, name) for everything that a file imports; name is None for a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import hides the module's name"
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)


def imported_modules(path):
    """The modules of this project that a file imports."""
    known = {module_of(file) for file in FILES}
    for module, name in imports(path):
        if module.split(".")[0] == "sklearn_sha":
            inner = f"{module}.{name}"
            yield inner if inner in known else module


def test_every_package_has_a_floor():
    assert {room_of(module_of(path)) for path in FILES} == set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_imports_come_from_floors_below(path):
    own = room_of(module_of(path))
    for module in imported_modules(path):
        room = room_of(module)
        assert room == own or HEIGHT[room] < HEIGHT[own], f"{module_of(path)} imports {module}"


@pytest.mark.parametrize(
    "package", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir())
)
def test_files_of_a_package_import_each_other_in_one_direction(package):
    files = [path for path in FILES if path.parent.name == package]
    order = TopologicalSorter({module_of(path): set(imported_modules(path)) for path in files})
    order.prepare()  # raises CycleError


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_only_public_names_of_other_packages(path):
    for module, name in imports(path):
        if not module.startswith(("sklearn_sha", "__future__")):
            parts = [*module.split("."), name or ""]
            assert not any(part.startswith("_") for part in parts), f"{module}.{name}"
            # A module whose names are not documented.
            assert module != "joblib.parallel" or path.name == "_compat.py", f"{module}.{name}"


def test_schedules_need_the_standard_library_only():
    below = ["_formatting", "_param_validation"]
    files = [*(PACKAGE / "schedules").glob("*.py"), *(PACKAGE / f"{name}.py" for name in below)]
    imported = {module for path in files for module, _ in imports(path)}
    # pandas is imported in to_frame only.
    packages = {module.split(".")[0] for module in imported}
    assert packages - {"sklearn_sha", "pandas"} <= sys.stdlib_module_names
    ours = {".".join(m.split(".")[:2]) for m in imported if m.startswith("sklearn_sha")}
    assert ours == {"sklearn_sha.schedules", *(f"sklearn_sha.{name}" for name in below)}
