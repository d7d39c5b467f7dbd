"""Warnings that point at the line of the user that led to them."""

from __future__ import annotations

import warnings
from inspect import currentframe

_LIBRARIES = {"sklearn_sha", "sklearn", "joblib", "contextlib"}


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that names the innermost line outside of this library and scikit-learn.

    For a search within `cross_val_score`, it is the line that calls it. joblib's lines between the
    two are left out too. In another thread or process than the user's, it is the first line there.

    Parameters
    ----------
    message : str
    category : subclass of Warning, default=UserWarning
    """
    frame, level = currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
