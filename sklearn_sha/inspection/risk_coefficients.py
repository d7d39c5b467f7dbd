"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.307,
    "ratio": -0.091,
    "share": -2.201,
    "continues": 0.727,
    "estimators": 0.490,
    "roc_auc": -0.151,
    "n_candidates": -1.202,
    "tail": 3.071,
    "carried_over": 0.435,
    "tolerance": 0.973,
    "folds": -0.098,
    "missing_folds": -0.027,
    "changes": -2.854,
    "lead": -5.579,
    "spread_ratio": 1.121,
}
