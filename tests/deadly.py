"""An estimator that ends its own process, hangs, or fails, once it has trained for a while."""

import ctypes
import os
import signal
import time

from sklearn.base import BaseEstimator, TransformerMixin

ENDS = {
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),  # as for using too much memory
    "segfault": lambda: ctypes.string_at(0),
    "hang": lambda: time.sleep(1e4),
    "hang in C": lambda: ctypes.PyDLL(None).sleep(10_000),  # and keep the interpreter's lock
}


def end(how, once):
    """End as `how` says; where a file is named in `once`, only if it is not there yet."""
    if once:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
    if how == "raise":
        raise RuntimeError("raised")
    ENDS[how]()


class Deadly(BaseEstimator):
    """Its score is its limit, nearly."""

    def __init__(self, limit=1.0, how="", once="", max_epochs=1):
        self.limit = limit
        self.how = how
        self.once = once
        self.max_epochs = max_epochs

    def fit(self, X, y=None):
        self.units_ = getattr(self, "units_", 0) + 1
        if self.how and self.units_ == 3:
            end(self.how, self.once)
        return self

    partial_fit = fit

    def score(self, X, y=None):
        return self.limit * self.units_ / (self.units_ + 1)


class DeadlyScaler(TransformerMixin, BaseEstimator):
    def __init__(self, how="", once=""):
        self.how = how
        self.once = once

    def fit(self, X, y=None):
        if self.how:
            end(self.how, self.once)
        self.fitted_ = True
        return self

    def transform(self, X):
        return X
