"""The papers' algorithms: what to evaluate next, in a search or over any losses.

An `Algorithm` plans a schedule and yields `RungRequest` objects; it is sent one loss per candidate,
and returns the best. It knows no estimator, no joblib and no clock. The search classes drive
algorithms through estimators; `successive_halving`, `hyperband`, `doubling` and
`uniform_allocation` drive them over any function that returns losses.
"""

from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.contract import check_algorithm
from sklearn_sha.bandit.doubling import BudgetDoubling, doubling, repeated_halving
from sklearn_sha.bandit.hyperband import Hyperband, hyperband
from sklearn_sha.bandit.promotion import Patience, promote, running_mean, running_min
from sklearn_sha.bandit.requests import (
    Losses,
    LossesError,
    Propose,
    Requests,
    Result,
    RungRequest,
    numbered,
    promoted_ids,
)
from sklearn_sha.bandit.successive_halving import (
    FixedBudget,
    SuccessiveHalving,
    halving,
    successive_halving,
    uniform_allocation,
)

__all__ = [
    "Algorithm",
    "Bounds",
    "BudgetDoubling",
    "FixedBudget",
    "Hyperband",
    "Losses",
    "LossesError",
    "Patience",
    "Propose",
    "Requests",
    "Result",
    "RungRequest",
    "SuccessiveHalving",
    "check_algorithm",
    "doubling",
    "halving",
    "hyperband",
    "numbered",
    "promote",
    "promoted_ids",
    "repeated_halving",
    "running_mean",
    "running_min",
    "successive_halving",
    "uniform_allocation",
]
