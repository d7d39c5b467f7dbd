"""What stands at the top level, and that documents and code say the same."""

import inspect
import re
import subprocess
import sys
import tomllib
from ast import literal_eval

import pytest
from conftest import ROOT, SLOW_DOCTESTS, SLOW_FILES
from sklearn.model_selection import GridSearchCV

import sklearn_sha
from sklearn_sha import (
    HyperbandSearchCV,
    SuccessiveHalvingSearchCV,
    bandit,
    candidates,
    inspection,
    resources,
    schedules,
    theory,
)
from sklearn_sha.candidates.registry import NAMED as SAMPLERS
from sklearn_sha.inspection.figures import KINDS as FIGURES

README = (ROOT / "README.md").read_text()


def test_continuous_integration_runs_the_readmes_test_command():
    commands = re.findall(r"```sh\n(.*?)\n```", README, flags=re.DOTALL)
    assert len(commands) == 2
    run_example, run_tests = commands
    assert run_example.endswith("examples/quickstart.py")
    assert run_tests in (ROOT / ".ci" / "run").read_text().splitlines()


def test_files_that_are_named_as_slow_exist():
    for name in SLOW_FILES:
        assert "pytest.mark.slow" in (ROOT / "tests" / name).read_text()
    documents = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("sklearn_sha/**/*.py")]
    with_examples = {path.name for path in documents if ">>>" in path.read_text()}
    assert set(SLOW_DOCTESTS) <= with_examples


def test_the_version_stands_in_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    assert sklearn_sha.__version__ in (ROOT / "docs" / "changes.md").read_text()


def test_importing_imports_no_module_of_estimators():
    code = (
        "import sys, sklearn.model_selection; before = {*sys.modules}; import sklearn_sha; "
        "print(*({*sys.modules} - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    imported = {name for name in printed.split() if name.startswith("sklearn.")}
    modules = {".".join(name.split(".")[:2]) for name in imported}
    assert modules <= {"sklearn.dummy", "sklearn.pipeline", "sklearn.utils"}


@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_every_parameter_is_documented(search):
    documented = inspect.getdoc(search)
    for name in inspect.signature(search).parameters:
        assert re.search(rf"^{name} : ", documented, flags=re.MULTILINE), name


@pytest.mark.parametrize("search", [SuccessiveHalvingSearchCV, HyperbandSearchCV])
def test_every_named_sampler_is_in_the_signature_and_the_docstring(search):
    annotation = inspect.signature(search).parameters["sampler"].annotation
    assert re.findall(r"\w+", annotation) == ["Literal", *SAMPLERS, "Sampler"]
    names = ", ".join(f'"{name}"' for name in SAMPLERS)
    assert f"\nsampler : {names} or Sampler, default=" in inspect.getdoc(search)


def test_every_named_sampler_is_public_and_in_the_guide():
    for kind in SAMPLERS.values():
        assert kind.__name__ in candidates.__all__
    table = first_table("samplers.md")
    assert re.findall('"([a-z]+)"', " ".join(table)) == list(SAMPLERS)


def first_table(guide):
    """First cell of each row of the first table of a page of the guide."""
    text = (ROOT / "docs" / "guide" / guide).read_text()
    _, _, *rows = re.search(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)[0].splitlines()
    return [row.split("|")[1].strip() for row in rows]


def test_every_kind_of_figure_is_in_the_docstrings_and_the_guide():
    kinds = [f'"{kind}"' for kind in FIGURES]
    assert first_table("figures.md") == [f"`{kind}`" for kind in kinds]
    plot = inspect.getdoc(sklearn_sha.SearchDisplay.plot)
    assert re.findall(r'^    - (".*?"): ', plot, flags=re.MULTILINE) == kinds
    *others, last = kinds
    assert f"    {', '.join(others)} or {last}, as in" in inspect.getdoc(
        inspection.interactive_figure
    )


def in_module(value, module):
    name = getattr(value, "__module__", None) or ""
    return f"{name}.".startswith(f"{module.__name__}.")


@pytest.mark.parametrize(
    "module",
    [sklearn_sha, bandit, candidates, inspection, resources, schedules, theory],
    ids=lambda m: m.__name__,
)
def test_every_public_name_is_in_the_api_page(module):
    api = (ROOT / "docs" / "api.md").read_text()
    for name, value in vars(module).items():
        if not name.startswith("_") and in_module(value, module):
            assert re.search(rf"^   {name}$", api, flags=re.MULTILINE), name
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("path", [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")], ids=str)
def test_links_lead_somewhere(path):
    for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([\w-]+))?\)", path.read_text()):
        page = path.parent / target if target else path
        assert page.exists(), target
        if anchor:
            assert anchor in anchors(page), (target, anchor)


def anchors(page):
    """Anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_user_guide_lists_every_parameter_that_grid_search_does_not_have():
    text = (ROOT / "docs" / "user_guide.md").read_text().partition("## Where each parameter")[2]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \| (.*?)\| .* \|$", text, flags=re.MULTILINE)
    found = {SuccessiveHalvingSearchCV: {}, HyperbandSearchCV: {}}
    for names, *defaults in rows:
        own, hyperband = (re.findall("`([^`]+)`", part) for part in defaults)
        if not hyperband and "not there" not in defaults[1]:
            hyperband = own
        for cls, values in zip(found, (own, hyperband), strict=True):
            if values:
                own_names = re.findall(r"`(\w+)`", names)
                found[cls] |= zip(own_names, map(literal_eval, values), strict=True)
    for cls, defaults in found.items():
        expected = inspect.signature(cls).parameters.items()
        grid = inspect.signature(GridSearchCV).parameters
        assert defaults == {name: p.default for name, p in expected if name not in grid}
