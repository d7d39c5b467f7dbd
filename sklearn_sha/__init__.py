"""Successive Halving over hyperparameters, as a scikit-learn search."""

from sklearn_sha._display import SearchDisplay
from sklearn_sha._durable import CheckpointError
from sklearn_sha._hyperband import HyperbandSearchCV
from sklearn_sha._successive_halving import SuccessiveHalvingSearchCV

__version__ = "0.1.0"

__all__ = [
    "CheckpointError",
    "HyperbandSearchCV",
    "SearchDisplay",
    "SuccessiveHalvingSearchCV",
    "__version__",
]
