"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.532,
    "ratio": 0.152,
    "continues": 0.646,
    "n_candidates": -1.324,
    "tail": 4.697,
    "carried_over": 0.334,
    "tolerance": 0.431,
    "folds": -1.529,
    "missing_folds": -1.306,
    "changes": -1.420,
    "lead": -4.422,
    "spread_ratio": 0.649,
}
