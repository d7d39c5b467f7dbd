"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.572,
    "ratio": 0.166,
    "continues": 0.647,
    "n_candidates": -1.327,
    "tail": 4.682,
    "carried_over": 0.327,
    "tolerance": 0.441,
    "folds": -1.552,
    "missing_folds": -1.306,
    "changes": -1.420,
    "lead": -4.444,
    "spread_ratio": 0.645,
}
