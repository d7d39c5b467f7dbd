"""Estimators whose every training step and score is known, and counted."""

import errno
import os
import threading
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from threadpoolctl import threadpool_info

from sklearn_sha._formatting import text_sentences

CALLS: list[tuple] = []
"""What estimators of this process were asked to do, in order: (what, id, number)."""


def curve(limit, speed, units):
    """Score of a candidate after so many units: rises to its limit, curves may cross."""
    return limit * units / (units + speed)


def is_measured(name):
    """Whether a column of results is of times, which differ from run to run."""
    return "time" in name or name == "utilization"


def numbers(search):
    """All that a search found, times aside."""
    return {k: exactly(v) for k, v in search.all_cv_results_.items() if "_time" not in k} | {
        "rungs": [
            {k: exactly(v) for k, v in row.items() if not is_measured(k)}
            for row in search.rung_history_
        ],
        "best": (search.best_index_, search.best_params_, search.interrupted_),
    }


def answered(run, loss):
    """Requests of a run whose losses are ``loss(candidate, request)``, and its best candidate."""
    requests = [next(run)]
    while True:
        request = requests[-1]
        try:
            requests.append(run.send([loss(one, request) for one in request.candidate_ids]))
        except StopIteration as end:
            return requests, end.value


class Curve(BaseEstimator):
    """Its score is `curve` of its parameters and of the training that it has had."""

    def __init__(self, limit=1.0, speed=1.0, fails=False, max_epochs=1, growth=0):
        self.limit = limit
        self.speed = speed
        self.fails = fails
        self.max_epochs = max_epochs
        self.growth = growth

    def fit(self, X, y=None):
        self._fail()
        self.units_ = self.growth or len(X)
        CALLS.append(("fit", self._key(), self.units_))
        return self

    def partial_fit(self, X, y=None):
        self._fail()
        self.units_ = getattr(self, "units_", 0) + 1
        CALLS.append(("partial_fit", self._key(), self.units_))
        return self

    def score(self, X, y=None):
        if self.fails == "score":
            raise RuntimeError("no score today")
        if self.fails == "nan":
            return float("nan")
        return curve(self.limit, self.speed, self.units_)

    def predict(self, X):
        return np.zeros(len(X))

    def _key(self):
        return (self.limit, self.speed)

    def _fail(self):
        if self.fails == "fit":
            raise RuntimeError("no fit today")


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given: one entry a call."""

    def __init__(self, tag=0, max_epochs=1):
        self.tag = tag
        self.max_epochs = max_epochs

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        CALLS.append(("fit", np.asarray(X)[:, 0].copy(), _copy(sample_weight)))
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if not hasattr(self, "classes_"):
            self.classes_ = np.asarray(classes)
        elif classes is not None:
            raise AssertionError("classes go to the first call alone")
        CALLS.append(("partial_fit", np.asarray(X)[:, 0].copy(), _copy(sample_weight)))
        return self

    def predict(self, X):
        CALLS.append(("predict", np.asarray(X)[:, 0].copy(), None))
        return np.full(len(X), self.classes_[0])


class CountingScaler(TransformerMixin, BaseEstimator):
    """Returns its samples, and records those of `fit` and of `transform`."""

    def __init__(self, tag=0, fails=False):
        self.tag = tag
        self.fails = fails

    def fit(self, X, y=None, note=None):
        if self.fails:
            raise RuntimeError("no prefix today")
        self.fitted_ = True
        CALLS.append(("prefix fit", self.tag, np.asarray(X)[:, 0].copy()))
        return self

    def transform(self, X):
        CALLS.append(("prefix transform", self.tag, np.asarray(X)[:, 0].copy()))
        return X


class InPlace(BaseEstimator):
    """Writes into its samples, as estimators with `copy=False` do."""

    def __init__(self, shift=1.0, max_epochs=1):
        self.shift = shift
        self.max_epochs = max_epochs

    def fit(self, X, y):
        X += self.shift
        self.mean_ = float(X.mean())
        return self

    partial_fit = fit

    def score(self, X, y):
        return -abs(self.mean_ - self.shift)


class Placed(Curve):
    """Records which process trained it; on all samples it does what `on_all` says."""

    def __init__(self, limit=1.0, speed=1.0, n_all=0, on_all="", searches=0):
        super().__init__(limit, speed)
        self.n_all = n_all
        self.on_all = on_all
        self.searches = searches

    def partial_fit(self, X, y=None):
        self.process_ = os.getpid()
        self.threads_ = max((p["num_threads"] for p in threadpool_info()), default=1)
        if len(X) == self.n_all and not hasattr(self, "units_"):
            if self.on_all == "fail":
                raise RuntimeError("not on all rows")
            if self.on_all == "warn":
                warnings.warn("all rows at once", UserWarning, stacklevel=1)
            if self.on_all == "exit" and self.process_ != self.searches:
                os._exit(1)
        return super().partial_fit(X, y)


class Locked(Curve):
    """Can be pickled until it is trained."""

    def fit(self, X, y=None):
        self.lock_ = threading.Lock()
        return super().fit(X, y)

    def partial_fit(self, X, y=None):
        self.lock_ = threading.Lock()
        return super().partial_fit(X, y)


def rung_lines(text):
    """Lines of rungs in what `verbose` prints."""
    return [line for line in text.splitlines() if line.startswith(("rung", "run ", "bracket"))]


def lines_below_plan(search, text):
    """All lines that `verbose` prints below the sentences of the plan, with which it begins."""
    opening = f"{text_sentences(search.schedule_.sentences)}\n"
    assert text.startswith(opening)
    return text.removeprefix(opening).splitlines()


def disk_full(*args, **kwargs):
    """Raise the error of a full disk, whatever is to be written."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _copy(values):
    return None if values is None else np.asarray(values).copy()


def exactly(value):
    """Text that is equal only for the same numbers, in full precision; NaN equals NaN."""
    return repr(value.tolist() if hasattr(value, "tolist") else value)


SCRIPT = """
import json, os, sys, time
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold
from sklearn_sha import SuccessiveHalvingSearchCV

class Slow(BaseEstimator):
    def __init__(self, limit=1.0, max_epochs=1):
        self.limit = limit
        self.max_epochs = max_epochs

    def fit(self, X, y=None):
        time.sleep(0.02)
        self.units_ = getattr(self, "units_", 0) + 1
        if "LOG" in os.environ:
            with open(os.environ["LOG"], "a") as log:
                log.write(f"{self.limit} {self.units_}\\n")
        return self

    partial_fit = fit

    def score(self, X, y=None):
        return self.limit * self.units_ / (self.units_ + 1)

def scores(search):
    return {k: np.asarray(v).tolist() for k, v in search.all_cv_results_.items()
            if "_time" not in k and k != "params"}

"""
"""How scripts begin that are run as users run theirs: the estimator is known to no module."""
