"""What fits warn of and print: shown once, with a count."""

import re
import warnings
from importlib.metadata import version

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import KFold
from toys import Curve

from sklearn_sha import SuccessiveHalvingSearchCV
from sklearn_sha._parallel.captured_output import CapturedWarning, RepeatedOutput, capture_output

X = np.arange(24.0).reshape(12, 2)
SPACE = {"limit": [0.1, 0.2, 0.3, 0.4]}
# Four candidates, then two, on two folds.
N_FITS = 12


class Talkative(Curve):
    """Says something in every fit, with a number of its own."""

    def partial_fit(self, X, y=None):
        warnings.warn(f"no convergence by {self.limit}", UserWarning, stacklevel=1)
        print(f"loss {self.limit}\nend of fit")
        return super().partial_fit(X, y)


def search_of(**params):
    common = {"resource": "partial_fit", "cv": KFold(2), "max_resources": 2, "refit": False}
    return SuccessiveHalvingSearchCV(Talkative(), SPACE, **common | params)


def warned_by(search):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X)
    return [(str(w.message), w.category, w.filename) for w in caught]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_warning_for_all_fits_from_where_they_gave_it(n_jobs, capsys):
    ((text, category, filename),) = warned_by(search_of(n_jobs=n_jobs))
    assert re.fullmatch(rf"no convergence by 0\.\d \(the first of {N_FITS} such warnings\)", text)
    assert (category, filename) == (UserWarning, __file__)


def test_prints_of_workers_are_shown_once_and_those_of_this_process_as_they_come(capsys):
    warned_by(search_of(n_jobs=2))
    printed = capsys.readouterr().out.splitlines()
    assert [re.sub(r"0\.\d", "", line) for line in printed] == [
        f"loss   ({N_FITS} such lines from workers)",
        f"end of fit  ({N_FITS} such lines from workers)",
    ]
    warned_by(search_of(n_jobs=1))
    assert len(capsys.readouterr().out.splitlines()) == 2 * N_FITS


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_users_filters_hold(n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "no convergence")
        search_of(n_jobs=n_jobs).fit(X)
    assert not caught
    if n_jobs == 2 and version("scikit-learn").startswith("1.6."):
        return  # it does not send filters to workers
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "no convergence")
        with pytest.raises(UserWarning, match="no convergence"):
            search_of(n_jobs=n_jobs, error_score="raise").fit(X)


def test_what_threads_say_is_shown_as_it_comes():
    with parallel_config(backend="threading", n_jobs=2):
        assert len(warned_by(search_of())) == N_FITS


def test_said_counts_what_differs_in_numbers_alone_as_the_same(capsys):
    said = RepeatedOutput()
    said.add(["epoch 1, loss 0.5", "epoch 2, loss 1e-05", "done"])
    said.add(CapturedWarning(UserWarning, f"gap {k}", "here.py", 7) for k in range(3))
    said.add([CapturedWarning(UserWarning, "gap 7", "here.py", 8)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said.show()
        said.show()
    assert [(str(w.message), w.lineno) for w in caught] == [
        ("gap 0 (the first of 3 such warnings)", 7),
        ("gap 7", 8),
    ]
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["epoch 1, loss 0.5  (2 such lines from workers)", "done"]


def test_said_shows_twenty_lines_and_counts_the_others(capsys):
    said = RepeatedOutput()
    said.add("x" * k for k in range(1, 31))
    said.show()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 10 more from workers"


class OddWarning(UserWarning):
    def __init__(self, *, what):
        super().__init__(what)


class Odd(Curve):
    def partial_fit(self, X, y=None):
        warnings.warn(OddWarning(what="odd"), stacklevel=1)
        if self.fails == "then":
            raise RuntimeError("and then failed")
        return super().partial_fit(X, y)


def test_a_warning_that_takes_no_text_is_given_as_one_above_it():
    search = search_of(n_jobs=1).set_params(estimator=Odd())
    ((text, category, _),) = warned_by(search)
    assert (text, category) == ("odd (the first of 12 such warnings)", UserWarning)


def test_what_was_said_before_an_error_is_shown():
    search = search_of(n_jobs=1, error_score="raise").set_params(estimator=Odd(fails="then"))
    with (
        pytest.warns(UserWarning, match="^odd$"),
        pytest.raises(RuntimeError, match="and then failed"),
    ):
        search.fit(X)


def test_a_warning_that_says_no_module_is_given_all_the_same():
    """Cells of a notebook are no file that a module was loaded from."""
    with pytest.warns(UserWarning, match="of a cell") as caught:
        CapturedWarning(UserWarning, "of a cell", "/tmp/cell_1.py", 3).again()
    assert caught[0].filename == "/tmp/cell_1.py"


@pytest.mark.parametrize("action", ["default", "module", "once", "always"])
def test_warnings_are_counted_whatever_shows_them_once_and_filters_stay(action):
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter(action, UserWarning)
        warnings.filterwarnings("ignore", "not this", UserWarning, "toys")
        warnings.filterwarnings("error", category=FutureWarning, module=__name__)
        before = [*warnings.filters]
        said = []
        with capture_output(said, prints=False):
            for _ in range(3):
                warnings.warn("again", UserWarning, stacklevel=1)
            with pytest.raises(FutureWarning):
                warnings.warn("never", FutureWarning, stacklevel=1)
        assert warnings.filters == before
    assert [warned.text for warned in said] == ["again"] * 3
