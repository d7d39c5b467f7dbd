"""Whether a search was interrupted, and whether `resume` can continue it."""

from __future__ import annotations

from typing import Any


def is_interrupted(search: Any) -> bool:
    """Return whether a search was interrupted; False before the end of a fit, which sets it."""
    return getattr(search, "interrupted_", False)


def can_resume(search: Any) -> bool:
    """Return whether `resume` can continue a search; it cannot if it was loaded from a file."""
    return "_interrupted_search" in vars(search)
