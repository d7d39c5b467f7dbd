"""Small displacements that separate points with the same value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = 0.6180339887498949


def jitter(n: int) -> NDArray[np.float64]:
    """Return `n` displacements between -1 and 1, spread evenly and the same in every call.

    Examples
    --------
    >>> from sklearn_sha.inspection.jitter import jitter
    >>> jitter(4).round(2).tolist()
    [0.0, -0.76, 0.47, -0.29]
    """
    places = (0.5 + _GOLDEN * np.arange(n, dtype=np.float64)) % 1
    return np.asarray(2 * places - 1, dtype=np.float64)
