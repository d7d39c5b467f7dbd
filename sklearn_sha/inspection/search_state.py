"""Whether a search was interrupted, and whether `resume` or `audit` can continue it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def is_interrupted(search: Any) -> bool:
    """Return whether a search was interrupted; False before the end of a fit, which sets it."""
    return getattr(search, "interrupted_", False)


def can_resume(search: Any) -> bool:
    """Return whether `resume` can continue a search; it cannot if it was loaded from a file."""
    return "_interrupted_search" in vars(search)


def can_audit(search: Any) -> bool:
    """Return whether a bracket was completed, and its state and splits are still there."""
    return "_completed_search" in vars(search) and not are_splits_consumed(search)


def are_splits_consumed(search: Any) -> bool:
    """Return whether the splits of a fitted search were those of an iterator."""
    return isinstance(search.cv, Iterator)
