"""The papers' algorithms: as generators that ask for losses, and as functions over any losses.

A generator yields a `Pull`, is sent one loss per arm of it, and returns the number of the
best arm. It knows no estimator, no joblib and no clock. The search classes drive these
generators, and so do the functions.
"""

from sklearn_sha.bandit.doubling import doubling, repeated_halving
from sklearn_sha.bandit.hyperband import bracket_halvings, hyperband
from sklearn_sha.bandit.promotion import Patience, promote, running_mean, running_min
from sklearn_sha.bandit.requests import Algorithm, Losses, LossesError, Pull, Result, went_on
from sklearn_sha.bandit.successive_halving import halving, successive_halving, uniform_allocation

__all__ = [
    "Algorithm",
    "Losses",
    "LossesError",
    "Patience",
    "Pull",
    "Result",
    "bracket_halvings",
    "doubling",
    "halving",
    "hyperband",
    "promote",
    "repeated_halving",
    "running_mean",
    "running_min",
    "successive_halving",
    "uniform_allocation",
    "went_on",
]
