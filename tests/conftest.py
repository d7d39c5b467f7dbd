"""Settings of the whole suite, and the list of what may be skipped or fail."""

import os
import pickle
import runpy
import sys
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import settings

# A test process a core, each of which counts on one: set before numpy is imported.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

ROOT = Path(__file__).parent.parent

settings.register_profile("sklearn_sha", deadline=None, derandomize=True)
settings.load_profile("sklearn_sha")

# Not there to be tested: callbacks came with scikit-learn 1.9, and scikit-learn's own tests of
# its searches are those of the newest version; other libraries are the extra ``ecosystem``, which
# .ci/run has an environment for, and the extras ``mlflow``, ``browser`` and ``publish``. scipy
# reads once, at its import, whether it may be given arrays of other libraries.
NETWORKS = ("skorch", "torch")
ECOSYSTEM = ("catboost", "imblearn", "lightgbm", "xgboost")
collect_ignore = []
if version("scikit-learn").startswith(("1.6.", "1.7.", "1.8.")):
    collect_ignore += ["test_callbacks.py", "test_sklearn_search.py"]
if not find_spec("mlflow"):
    collect_ignore.append("test_mlflow.py")
if not find_spec("playwright"):
    collect_ignore.append("test_browser.py")
if not find_spec("optuna"):
    collect_ignore.append("test_optuna.py")
if not find_spec("twine"):
    collect_ignore.append("test_publishing.py")
if os.environ.get("SCIPY_ARRAY_API") != "1":
    collect_ignore.append("test_array_api.py")
if not all(map(find_spec, NETWORKS)):
    collect_ignore.append("test_networks.py")
if not all(map(find_spec, ECOSYSTEM)):
    collect_ignore.append("test_ecosystem.py")


def slow(*values):
    """Values of a parameter with which a test runs only if slow tests are selected."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]


# Files of slow tests, by the package of the extra ``test-all`` that they import.
SLOW_FILES = {
    "test_display.py": "matplotlib",
    "test_notebooks.py": "nbclient",
    "test_polars.py": "polars",
}

# Documents and docstrings whose examples are slow tests, and why.
SLOW_DOCTESTS = {
    "README.md": "a search on digits",
    "audited_search.py": "an audit on digits",
    "checkpoints.md": "searches on digits",
    "cost_and_budget.md": "searches on digits",
    "extending.md": "searches on digits",
    "faq.md": "searches on digits, and worker processes",
    "figures.md": "needs matplotlib",
    "getting_started.md": "searches and a grid search of networks",
    "how_it_works.md": "a search and a grid search on digits",
    "importance.py": "a search on digits, and forests",
    "more_candidates.md": "searches on digits",
    "recipes.md": "searches of forests",
    "results.md": "searches on digits",
    "samplers.md": "searches with every sampler",
    "search_display.py": "needs matplotlib",
    "stopping_and_resuming.md": "searches on digits",
    "trust.md": "audits on digits",
}


def pytest_ignore_collect(collection_path, config):
    """Ignore a slow file without its package; an error where slow tests are selected."""
    package = SLOW_FILES.get(collection_path.name)
    if package and config.option.markexpr == "not slow" and not find_spec(package):
        return True
    return None  # as pytest decides


def pytest_collection_modifyitems(items):
    for item in items:
        if isinstance(item, pytest.DoctestItem) and item.path.name in SLOW_DOCTESTS:
            item.add_marker("slow")


# What a test may skip, or be expected to fail for: part of its name, and the reason. All
# else that is skipped or fails as expected turns the run red.
ALLOWED = {
    "check_supervised_y_2d": "GridSearchCV is exempt too: Ridge takes a column vector as it is",
    "check_array_api": "skipped unless SCIPY_ARRAY_API is set, and for libraries not installed",
    "test_array_api_search_cv_classifier": "as check_array_api",
    "check_classifiers_multilabel_output_format_decision_function": "forests have none",
}

_not_run: list[str] = []


def pytest_runtest_logreport(report):
    if report.skipped and not any(name in report.nodeid for name in ALLOWED):
        _not_run.append(f"{report.nodeid}: {report.longrepr}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    if _not_run and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    for line in _not_run:
        terminalreporter.write_line(f"NOT ON THE LIST OF ALLOWED SKIPS: {line}", red=True)


@pytest.fixture(autouse=True)
def _same_random_numbers():
    """Have searches without a random_state sample the same candidates whenever a test runs."""
    np.random.seed(0)


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs an example; returns its names and what it printed."""

    def run(name):
        monkeypatch.setattr("sys.argv", [name])
        return runpy.run_path(str(ROOT / "examples" / name)), capsys.readouterr().out

    yield run
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def spy(monkeypatch):
    """joblib's Parallel that weighs what is sent and what comes back, call by call."""
    from sklearn_sha._parallel import workers

    class Spy(workers.Parallel):
        sent: list[list[int]] = []  # noqa: RUF012 - shared on purpose
        came: list[list[int]] = []  # noqa: RUF012

        def __call__(self, tasks):
            tasks = list(tasks)
            self.sent.append([len(pickle.dumps(task)) for task in tasks])
            self.came.append([])
            for result in super().__call__(tasks):
                self.came[-1].append(len(pickle.dumps(result)))
                yield result

    monkeypatch.setattr(workers, "Parallel", Spy)
    return Spy


@pytest.fixture
def ipython(monkeypatch):
    """Replaces IPython by a module with the given shell and display function."""

    def install(shell, display=None):
        module = ModuleType("IPython")
        module.get_ipython = lambda: shell
        module.display = ModuleType("IPython.display")
        module.display.display = display
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", module.display)

    return install


@pytest.fixture
def notebook(ipython):
    """Everything that is displayed in a notebook. tests/test_notebooks.py runs real ones."""
    updates = []

    def display(page, display_id):
        assert display_id
        return SimpleNamespace(update=updates.append)

    ipython(SimpleNamespace(kernel=object()), display)
    return updates


@pytest.fixture
def unit(monkeypatch):
    """Unit of the resource of all searches of a test."""
    from sklearn_sha._search.base import BaseHalvingSearch

    unit = "<b>laps"
    prepare = BaseHalvingSearch._prepare

    def in_laps(*args):
        spec = prepare(*args)
        return replace(spec, schedule=replace(spec.schedule, unit=unit))

    monkeypatch.setattr(BaseHalvingSearch, "_prepare", in_laps)
    return unit
