"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.228,
    "ratio": 0.276,
    "continues": 0.544,
    "n_candidates": -1.385,
    "tail": 4.881,
    "carried_over": 0.405,
    "tolerance": 0.387,
    "folds": -0.622,
    "missing_folds": -1.116,
    "changes": -2.434,
    "lead": -4.882,
    "spread_ratio": 0.984,
}
