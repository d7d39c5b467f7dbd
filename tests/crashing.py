"""Estimators that terminate their process, hang or raise during training."""

import ctypes
import os
import signal
import time

from sklearn.base import BaseEstimator, TransformerMixin

FAILURES = {
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),  # as the system does if memory is full
    "segfault": lambda: ctypes.string_at(0),
    "hang": lambda: time.sleep(1e4),
    "hang in C": lambda: ctypes.PyDLL(None).sleep(10_000),  # with the interpreter lock held
}


def fail(how, once):
    """Fail as `how` names; if `once` is the path of a file, only if it does not exist yet."""
    if once:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    if how == "raise":
        raise RuntimeError("raised")
    FAILURES[how]()


class Crashing(BaseEstimator):
    """Fails in its third fit if `how` is given; its score tends to `limit`."""

    def __init__(self, limit=1.0, how="", once="", max_epochs=1):
        self.limit = limit
        self.how = how
        self.once = once
        self.max_epochs = max_epochs

    def fit(self, X, y=None):
        self.units_ = getattr(self, "units_", 0) + 1
        if self.how and self.units_ == 3:
            fail(self.how, self.once)
        return self

    partial_fit = fit

    def score(self, X, y=None):
        return self.limit * self.units_ / (self.units_ + 1)


class CrashingScaler(TransformerMixin, BaseEstimator):
    """Fails in ``fit`` if `how` is given."""

    def __init__(self, how="", once=""):
        self.how = how
        self.once = once

    def fit(self, X, y=None):
        if self.how:
            fail(self.how, self.once)
        self.fitted_ = True
        return self

    def transform(self, X):
        return X
