"""How much memory models and the output of preprocessing steps may take."""

from __future__ import annotations

from math import inf

from sklearn_sha._parallel.workers import Workers
from sklearn_sha._storage.free_memory import free_memory

_MIN_BATCH_BYTES = 2**26
"""Minimum size of the results of a batch, in bytes, for worker processes."""


def memory_limit(model_memory: int | str | None) -> float:
    """Return how many bytes of models, and as many of output, may wait in memory for later use."""
    if model_memory is None:
        return inf
    return free_memory() / 4 if isinstance(model_memory, str) else model_memory


def batch_bytes(limit: float, workers: Workers) -> float:
    """Return the size of results, in bytes, at which a worker returns a batch early.

    A quarter of the memory for models is for batches: per worker the one that is being evaluated,
    and the previous one.

    Parameters
    ----------
    limit : float
        Bytes of memory for models.
    workers : Workers
    """
    share: float = limit / (8 * workers.n_workers)
    return share if workers.share_memory else max(share, _MIN_BATCH_BYTES)
