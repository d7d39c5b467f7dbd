"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.048,
    "ratio": -0.188,
    "share": -2.468,
    "continues": 0.842,
    "estimators": 0.646,
    "roc_auc": -0.457,
    "n_candidates": -1.221,
    "tail": 2.661,
    "carried_over": 0.452,
    "tolerance": 0.967,
    "folds": -0.215,
    "missing_folds": -0.371,
    "changes": -2.522,
    "lead": -5.650,
    "spread_ratio": 0.885,
}
