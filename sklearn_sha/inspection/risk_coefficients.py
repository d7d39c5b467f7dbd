"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.529,
    "ratio": 0.150,
    "continues": 0.644,
    "n_candidates": -1.323,
    "tail": 4.607,
    "carried_over": 0.330,
    "tolerance": 0.425,
    "folds": -1.564,
    "missing_folds": -1.379,
    "changes": -1.475,
    "lead": -4.512,
    "spread_ratio": 0.661,
}
