"""Successive Halving over hyperparameters, as a scikit-learn search."""

from sklearn_sha._search.hyperband import HyperbandSearchCV
from sklearn_sha._search.successive_halving import SuccessiveHalvingSearchCV
from sklearn_sha._storage.durable_files import CheckpointError
from sklearn_sha._version import __version__
from sklearn_sha.inspection import SearchDisplay

__all__ = [
    "CheckpointError",
    "HyperbandSearchCV",
    "SearchDisplay",
    "SuccessiveHalvingSearchCV",
    "__version__",
]
