"""Warnings and printed lines of fits are shown once, with a count."""

import re
import subprocess
import sys
import warnings
from importlib.metadata import version
from types import ModuleType

import numpy as np
import pytest
from conftest import slow
from joblib import parallel_config
from sklearn.model_selection import KFold
from toys import Curve

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput, capture_output

X = np.arange(24.0).reshape(12, 2)
SPACE = {"limit": [0.1, 0.2, 0.3, 0.4]}
# Four candidates, then two, on two folds.
N_FITS = 12


class Verbose(Curve):
    """Warns and prints in every fit, with a number that differs between candidates."""

    def partial_fit(self, X, y=None):
        warnings.warn(f"no convergence by {self.limit}", UserWarning, stacklevel=1)
        print(f"loss {self.limit}\nend of fit")
        return super().partial_fit(X, y)


def search_of(**params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 2, "refit": False}
    return SuccessiveHalvingSearchCV(Verbose(), SPACE, **common | params)


def warnings_of(search):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X)
    return [(str(w.message), w.category, w.filename) for w in caught]


def test_printed_lines_are_captured_in_a_file(capfd):
    """Some estimators write to the buffer, or have a subprocess write to it."""
    captured = []
    with capture_output(captured, captures_prints=True):
        sys.stdout.buffer.write(b"bytes\n")
        print("text", sys.stdout.encoding)
        subprocess.run([sys.executable, "-c", "print('of a subprocess')"], stdout=sys.stdout)
    assert captured == ["bytes", "text utf-8"]
    assert capfd.readouterr().out == "of a subprocess\n"


@pytest.mark.parametrize("n_jobs", [1, *slow(2)])
def test_repeated_warnings_are_issued_once_from_their_own_line(n_jobs, capsys):
    ((text, category, filename),) = warnings_of(search_of(n_jobs=n_jobs))
    assert re.fullmatch(rf"no convergence by 0\.\d \(the first of {N_FITS} such warnings\)", text)
    assert (category, filename) == (UserWarning, __file__)


@pytest.mark.slow
def test_lines_of_workers_are_printed_once_and_those_of_this_process_immediately(capsys):
    warnings_of(search_of(n_jobs=2))
    printed = capsys.readouterr().out.splitlines()
    assert [re.sub(r"0\.\d", "", line) for line in printed] == [
        f"loss   ({N_FITS} such lines from workers)",
        f"end of fit  ({N_FITS} such lines from workers)",
    ]
    warnings_of(search_of(n_jobs=1))
    assert len(capsys.readouterr().out.splitlines()) == 2 * N_FITS


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warning_filters_of_the_user_apply(n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "no convergence")
        search_of(n_jobs=n_jobs).fit(X)
    assert not caught
    if n_jobs == 2 and version("scikit-learn").startswith("1.6."):
        return  # does not send filters to workers
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "no convergence")
        with pytest.raises(UserWarning, match="no convergence"):
            search_of(n_jobs=n_jobs, error_score="raise").fit(X)


def test_warnings_in_threads_are_issued_immediately():
    with parallel_config(backend="threading", n_jobs=2):
        caught = warnings_of(search_of())
    # Python can close files of earlier tests meanwhile, with a ResourceWarning.
    assert sum(category is UserWarning for _, category, _ in caught) == N_FITS


def test_output_that_differs_only_in_numbers_is_repeated(capsys):
    output = RepeatedOutput()
    output.add(["epoch 1, loss 0.5", "epoch 2, loss 1e-05", "done"])
    output.add(CapturedWarning(UserWarning, f"gap {k}", "here.py", 7) for k in range(3))
    output.add([CapturedWarning(UserWarning, "gap 7", "here.py", 8)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        output.show()
        output.show()
    assert [(str(w.message), w.lineno) for w in caught] == [
        ("gap 0 (the first of 3 such warnings)", 7),
        ("gap 7", 8),
    ]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["epoch 1, loss 0.5  (2 such lines from workers)", "done"]


def test_twenty_lines_are_printed_and_the_others_counted(capsys):
    output = RepeatedOutput()
    output.add("x" * k for k in range(1, 31))
    output.show()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 10 more from workers"


class KeywordWarning(UserWarning):
    def __init__(self, *, what):
        super().__init__(what)


class WarnsWithKeyword(Curve):
    def partial_fit(self, X, y=None):
        warnings.warn(KeywordWarning(what="odd"), stacklevel=1)
        if self.fails == "after":
            raise RuntimeError("failed after the warning")
        return super().partial_fit(X, y)


def test_a_warning_that_cannot_be_created_from_text_is_issued_as_its_base_class():
    search = search_of(n_jobs=1).set_params(estimator=WarnsWithKeyword())
    ((text, category, _),) = warnings_of(search)
    assert (text, category) == ("odd (the first of 12 such warnings)", UserWarning)


def test_output_before_an_error_is_shown():
    search = search_of(n_jobs=1, error_score="raise").set_params(
        estimator=WarnsWithKeyword(fails="after")
    )
    with (
        pytest.warns(UserWarning, match="^odd$"),
        pytest.raises(RuntimeError, match="failed after the warning"),
    ):
        search.fit(X)


def test_a_warning_outside_of_any_module_is_issued():
    """As those of the cells of a notebook."""
    with pytest.warns(UserWarning, match="of a cell") as caught:
        CapturedWarning(UserWarning, "of a cell", "/tmp/cell_1.py", 3).issue()
    assert caught[0].filename == "/tmp/cell_1.py"


def test_a_module_that_cannot_be_asked_for_its_file_hides_no_warning(monkeypatch):
    """Lazy modules import others when they are asked for an attribute."""

    class Lazy(ModuleType):
        def __getattr__(self, name):
            raise ImportError(name)

    monkeypatch.setattr(sys, "modules", {"lazy": Lazy("lazy"), "none": None} | sys.modules)
    output = RepeatedOutput()
    output.add([CapturedWarning(UserWarning, "of a fit", __file__, 3)])
    with pytest.warns(UserWarning, match="of a fit"):
        output.show()


@pytest.mark.parametrize("action", ["default", "module", "once", "always"])
def test_filters_that_show_warnings_once_do_not_prevent_counting(action):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter(action, UserWarning)
        warnings.filterwarnings("ignore", "not this", UserWarning, "toys")
        warnings.filterwarnings("error", category=FutureWarning, module=__name__)
        before = [*warnings.filters]
        captured = []
        with capture_output(captured, captures_prints=False):
            for _ in range(3):
                warnings.warn("again", UserWarning, stacklevel=1)
            with pytest.raises(FutureWarning):
                warnings.warn("never", FutureWarning, stacklevel=1)
        assert warnings.filters == before
    assert [warning.text for warning in captured] == ["again"] * 3
