"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.056,
    "ratio": -0.103,
    "share": -2.429,
    "continues": 0.810,
    "estimators": 0.521,
    "roc_auc": -0.426,
    "n_candidates": -1.247,
    "tail": 2.257,
    "carried_over": 0.425,
    "tolerance": 0.772,
    "folds": -0.719,
    "missing_folds": -0.381,
    "changes": -2.489,
    "lead": -5.505,
    "spread_ratio": 0.577,
}
