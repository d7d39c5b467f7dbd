"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": 0.016,
    "ratio": -0.106,
    "share": -2.384,
    "continues": 0.921,
    "estimators": 0.553,
    "roc_auc": -0.212,
    "n_candidates": -1.302,
    "tail": 2.706,
    "carried_over": 0.443,
    "tolerance": 0.833,
    "folds": -0.285,
    "missing_folds": -0.086,
    "changes": -2.458,
    "lead": -5.320,
    "spread_ratio": 0.727,
}
