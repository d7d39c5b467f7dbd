"""Algorithms of the papers, for searches and for arbitrary losses.

An `Algorithm` plans a schedule and yields `RungRequest` objects. It receives one loss per candidate
and returns the best candidate. It does not depend on estimators, joblib or time. The search classes
run algorithms with estimators; `successive_halving`, `hyperband`, `doubling` and
`uniform_allocation` run them with any function that returns losses.
"""

from sklearn_sha.bandit.anytime import Anytime
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.contract_check import check_algorithm
from sklearn_sha.bandit.doubling import BudgetDoubling, doubling, repeated_halving
from sklearn_sha.bandit.fixed_schedule import FixedSchedule
from sklearn_sha.bandit.hyperband import Hyperband, hyperband
from sklearn_sha.bandit.in_turn import HalvingInTurn
from sklearn_sha.bandit.promotion import Patience, promote, running_mean, running_min
from sklearn_sha.bandit.requests import (
    Losses,
    LossesError,
    Propose,
    Requests,
    Result,
    RungLosses,
    RungRequest,
    numbered,
    promoted_ids,
)
from sklearn_sha.bandit.stopping import StableRanking, Target
from sklearn_sha.bandit.successive_halving import (
    FixedBudget,
    SuccessiveHalving,
    halving,
    successive_halving,
    uniform_allocation,
)

__all__ = [
    "Algorithm",
    "Anytime",
    "Bounds",
    "BudgetDoubling",
    "FixedBudget",
    "FixedSchedule",
    "HalvingInTurn",
    "Hyperband",
    "Losses",
    "LossesError",
    "Patience",
    "Propose",
    "Requests",
    "Result",
    "RungLosses",
    "RungRequest",
    "StableRanking",
    "SuccessiveHalving",
    "Target",
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
