"""Schedules: numbers of candidates and resources of all rungs, as integers.

Two numbers describe the resource of a rung: `step` is what the rung adds to each candidate (r_k in
the papers), and `n_resources` is the total of each candidate at its end (R_k in the papers).
"""

from sklearn_sha.schedules.doubling import doubling_schedules
from sklearn_sha.schedules.fold_growth import FoldGrowth
from sklearn_sha.schedules.hyperband import hyperband_schedules
from sklearn_sha.schedules.later_start import start_later
from sklearn_sha.schedules.rungs import rung_sizes, sizes_with_kept
from sklearn_sha.schedules.schedule import Rung, Schedule
from sklearn_sha.schedules.spread import spread_integers
from sklearn_sha.schedules.successive_halving import schedule_from_budget, schedule_from_range

__all__ = [
    "FoldGrowth",
    "Rung",
    "Schedule",
    "doubling_schedules",
    "hyperband_schedules",
    "rung_sizes",
    "schedule_from_budget",
    "schedule_from_range",
    "sizes_with_kept",
    "spread_integers",
    "start_later",
]
