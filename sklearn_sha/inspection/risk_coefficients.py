"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.013,
    "ratio": -0.088,
    "share": -2.395,
    "continues": 0.931,
    "estimators": 0.563,
    "roc_auc": -0.215,
    "n_candidates": -1.306,
    "tail": 2.658,
    "carried_over": 0.434,
    "tolerance": 0.824,
    "folds": -0.325,
    "missing_folds": -0.102,
    "changes": -2.427,
    "lead": -5.303,
    "spread_ratio": 0.670,
}
