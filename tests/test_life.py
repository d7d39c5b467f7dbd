"""A search, whatever is done to it, in whatever order: one answer."""

import pickle
import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from test_stopping import SEARCHES, Stopped, a_second_a_call, search_of  # noqa: F401
from toys import CALLS, numbers

X = np.zeros((12, 1))

pytestmark = pytest.mark.slow


class Life(RuleBasedStateMachine):
    """Of one search, against one that runs through."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def teardown(self):
        Stopped.at = float("inf")
        self.folder.cleanup()

    @initialize(
        name=st.sampled_from(list(SEARCHES)),
        seed=st.integers(0, 3),
        fails=st.sampled_from([False, "score", "nan", "fit"]),
        checkpointed=st.booleans(),
        factor=st.sampled_from([2, 3, 2.5]),
    )
    def begin(self, name, seed, fails, checkpointed, factor):
        space = [
            {"limit": [k / 29 for k in range(30)], "speed": [0.5, 4.0, 18.0]},
            {"limit": [0.99], "speed": [float(k) for k in range(9)], "fails": [fails]},
        ]
        self.make = lambda **params: search_of(
            name,
            Stopped(),
            **{"space": space, "random_state": seed, "factor": factor} | params,
        )
        self.run(self.make(), "fit")
        self.whole = self.search
        self.expected = numbers(self.whole)
        self.path = Path(self.folder.name) / "checkpoint" if checkpointed else None
        self.search = self.make(checkpoint=self.path)

    def run(self, search, method, at=float("inf")):
        CALLS.clear()
        Stopped.at = at
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                getattr(search, method)(X)
        except (KeyboardInterrupt, TimeoutError):
            assert search.__dict__.get("_interrupted_search") is not None
        finally:
            Stopped.at = float("inf")
        for warning in warned:
            if issubclass(warning.category, ResourceWarning):
                continue  # of what other tests have left behind
            is_known = issubclass(warning.category, FitFailedWarning) or re.search(
                "non-finite|different candidates|Scoring failed|ended in the first rung",
                str(warning.message),
            )
            assert is_known, warning
        self.search = search

    def resumable(self):
        return self.search.__dict__.get("_interrupted_search") is not None

    @rule(at=st.integers(0, 250))
    def fit_and_interrupt(self, at):
        self.run(self.search, "fit", at)

    @rule(at=st.integers(0, 250))
    def fit_and_interrupt_and_resume(self, at):
        self.run(self.search, "fit", at)
        if self.resumable():
            self.resume_to_the_end()

    @rule(max_time=st.integers(1, 250))
    def fit_for_a_while(self, max_time):
        self.run(self.search.set_params(max_time=max_time), "fit")
        self.search.set_params(max_time=None)

    @precondition(resumable)
    @rule(at=st.integers(0, 250))
    def resume_and_interrupt(self, at):
        self.run(self.search, "resume", at)

    @precondition(resumable)
    @rule(max_time=st.integers(1, 250))
    def resume_for_a_while(self, max_time):
        self.run(self.search.set_params(max_time=max_time), "resume")
        self.search.set_params(max_time=None)

    @precondition(resumable)
    @rule()
    def resume_to_the_end(self):
        self.run(self.search, "resume")
        assert not self.search.interrupted_

    @precondition(lambda self: not self.resumable())
    @rule()
    def nothing_to_resume(self):
        with pytest.raises(ValueError, match="nothing to resume"):
            self.search.resume(X)

    @rule()
    def take_a_clone(self):
        self.search = clone(self.search)

    @rule()
    def take_a_copy(self):
        self.search = pickle.loads(pickle.dumps(self.search))

    @rule(refit=st.booleans())
    def refit_or_not(self, refit):
        if not self.resumable():
            self.search.set_params(refit=refit)

    @invariant()
    def what_is_there_is_right(self):
        if not hasattr(self, "search") or not hasattr(self.search, "cv_results_"):
            return
        found = numbers(self.search)
        if not self.search.interrupted_:
            assert found == self.expected
            if hasattr(self.search, "refit_time_"):
                assert self.search.best_estimator_.units_ == self.search.best_n_resources_
            return
        rows = self.search.all_cv_results_
        told = zip(
            self.whole.all_cv_results_["candidate"],
            self.whole.all_cv_results_["n_resources"],
            map(str, self.whole.all_cv_results_["mean_test_score"]),
            strict=True,
        )
        scores = {(c, r): s for c, r, s in told}
        for c, r, s in zip(
            rows["candidate"], rows["n_resources"], map(str, rows["mean_test_score"]), strict=True
        ):
            assert scores[c, r] == s
        assert (
            self.search.best_params_
            == rows["params"][self.search.cv_results_rows_[self.search.best_index_]]
        )


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=10, deadline=None)
