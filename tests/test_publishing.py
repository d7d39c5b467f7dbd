"""What is published: built twice the same, complete, and enough for a user by itself.

Collected where twine is installed: the extra ``publish``.
"""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from email import message_from_bytes
from zipfile import ZipFile

import pytest
import yaml
from conftest import ROOT

import sklearn_sha

pytestmark = pytest.mark.slow

VERSION = sklearn_sha.__version__
LATER = 2_000_000_000  # seconds: another time of the files' last change

# All that has no "type: ignore" is right, and all that has one is an error: --strict
# refuses comments that are not needed.
TYPED = """
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import loguniform
from sklearn.linear_model import SGDClassifier
from sklearn_sha import CheckpointError, HyperbandSearchCV, SearchDisplay, SuccessiveHalvingSearchCV
from sklearn_sha.bandit import Result, successive_halving
from sklearn_sha.resources import Fold, Resource, FoldSamples, check_resource
from sklearn_sha.schedules import Schedule, schedule_from_range
from sklearn_sha.inspection import TrustReport, trust_report
from sklearn_sha.theory import n_candidates_for


def fitted(X: np.ndarray, y: np.ndarray) -> SuccessiveHalvingSearchCV:
    search = SuccessiveHalvingSearchCV(
        SGDClassifier(), {"alpha": loguniform(1e-6, 1), "penalty": ["l1", "l2"]},
        n_candidates=n_candidates_for(top=0.05), budget="double", checkpoint=Path("folder"),
    )
    plan: Schedule = search.plan(X, y)
    assert plan.total_cost > 0
    return search.fit(X, y)


def looked_at(search: SuccessiveHalvingSearchCV) -> tuple[TrustReport, float, int]:
    SearchDisplay.from_search(search, kind="cost").plot(kind="params")
    return trust_report(search), search.rung_history_[0]["best_score"], search.schedule_.total_cost


def simulated(limits: np.ndarray) -> tuple[Result, int]:
    result = successive_halving(lambda arms, resource: limits[list(arms)], 8, budget=64)
    return result, schedule_from_range(8, max_resources=16).total_cost


class Epochs(Resource):
    def view(self, fold: Fold, target: int) -> Fold:
        return fold.subsampled(100)

    def advance(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        X, y, params = samples.fitting()
        model.set_params(max_iter=target).fit(X, y, **params)


SuccessiveHalvingSearchCV(SGDClassifier(), {}, resource=Epochs(), max_resources=8)
SuccessiveHalvingSearchCV(SGDClassifier(), {}, resource=8)  # type: ignore[arg-type]
SuccessiveHalvingSearchCV(SGDClassifier(), {}, factor="3")  # type: ignore[arg-type]
SuccessiveHalvingSearchCV(SGDClassifier(), {}, patients=3)  # type: ignore[call-arg]
HyperbandSearchCV(SGDClassifier(), {}, score_aggregation="all")  # type: ignore[arg-type]
n_candidates_for(top="5 %")  # type: ignore[arg-type]
Resource()  # type: ignore[abstract]
"""


def run(*command, **more):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder, changed):
    """What is made of a copy of the files that git knows, last changed at a time."""
    source = folder / "source"
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
        os.utime(source / name, (changed, changed))
    # What git ignores is not published.
    for name in ("docs/_build/made.html", ".venv-test/made.py"):
        (source / name).parent.mkdir(parents=True)
        (source / name).touch()
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", source)
    return folder / "dist"


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    return built(tmp_path_factory.mktemp("first"), changed=LATER)


@pytest.fixture(scope="module")
def wheel(dist):
    return dist / f"sklearn_sha-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The Python of an environment in which the wheel was installed, and nothing else."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", wheel)
    return python


@pytest.fixture(scope="module")
def metadata(wheel):
    with ZipFile(wheel) as files:
        return message_from_bytes(files.read(f"sklearn_sha-{VERSION}.dist-info/METADATA"))


def test_what_is_built_twice_is_the_same(dist, tmp_path):
    again = built(tmp_path, changed=LATER + 1000)
    names = sorted(path.name for path in dist.iterdir())
    assert names == [f"sklearn_sha-{VERSION}-py3-none-any.whl", f"sklearn_sha-{VERSION}.tar.gz"]
    for name in names:
        assert (dist / name).read_bytes() == (again / name).read_bytes(), name


def test_the_wheel_has_the_package_alone(wheel):
    with ZipFile(wheel) as files:
        names = set(files.namelist())
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("sklearn_sha/**/*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {name for name in names if ".dist-info/" not in name} == ours
    assert "sklearn_sha/py.typed" in ours
    assert f"sklearn_sha-{VERSION}.dist-info/licenses/LICENSE" in names


def test_the_sdist_has_what_tests_and_pages_need(dist):
    with tarfile.open(dist / f"sklearn_sha-{VERSION}.tar.gz") as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    for folder in (".ci", "sklearn_sha", "tests", "examples", "docs"):
        tracked = run("git", "ls-files", "-co", "--exclude-standard", folder, cwd=ROOT)
        assert set(tracked.splitlines()) <= names
    assert {"CITATION.cff", "LICENSE", "README.md", "pyproject.toml"} <= names
    assert not any("made." in name for name in names)


def test_no_file_of_the_repository_is_large():
    """A download that is committed by mistake stays in the history of every clone."""
    names = run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines()
    assert len(names) > 300
    assert [name for name in names if (ROOT / name).stat().st_size > 1_000_000] == []


def test_metadata_is_complete(dist, metadata):
    run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir())
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "BSD-3-Clause"
    for label in metadata.get_all("Project-URL"):
        assert re.search(r", https://[^ ]*sklearn.sha", label)
    kinds = metadata.get_all("Classifier")
    assert "Programming Language :: Python :: 3.11" in kinds


def test_links_of_the_published_readme_lead_out_of_the_repository(metadata):
    links = re.findall(r"\]\(([^)]*)\)", metadata.get_payload())
    assert len(links) == len(re.findall(r"\]\(", (ROOT / "README.md").read_text())) > 20
    assert [link for link in links if not link.startswith("https://")] == []


def test_images_of_the_published_readme_are_in_the_repository(metadata):
    sources = re.findall(r'(?:src|srcset)="([^"]*)"', metadata.get_payload())
    assert len(sources) == 6
    for source in sources:
        path = re.fullmatch(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/main/(.*)", source)[1]
        assert (ROOT / path).exists(), source


def test_the_quickstart_runs_where_only_the_wheel_is(installed, tmp_path):
    shutil.copy(ROOT / "examples" / "quickstart.py", tmp_path)
    printed = run(installed, "-W", "error", tmp_path / "quickstart.py", cwd=tmp_path)
    assert "of the grid search's time" in printed
    code = "import sklearn_sha; print(sklearn_sha.__file__, sklearn_sha.__version__)"
    where, version = run(installed, "-c", code, cwd=tmp_path).split()
    assert where.startswith(str(installed.parent.parent))
    assert version == VERSION


def test_types_hold_in_a_users_file(installed, tmp_path):
    (tmp_path / "user.py").write_text(TYPED)
    (tmp_path / "mypy.ini").write_text("[mypy-sklearn.*,scipy.*]\nignore_missing_imports = true\n")
    command = ("-m", "mypy", "--strict", "--python-executable", installed, "user.py")
    assert "Success" in run(sys.executable, *command, cwd=tmp_path)


def test_the_papers_to_cite_are_those_of_the_docs():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert "version" not in citation  # it stands in one place
    theory = re.sub(r"\s+", " ", (ROOT / "docs" / "theory.md").read_text()).partition("References")
    cited = theory[2].count("*") // 2
    assert len(citation["references"]) == cited == 2
    for paper in citation["references"]:
        assert f"*{paper['title']}*" in theory[2]
        for author in paper["authors"]:
            assert author["family-names"] in theory[2]
