"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.736,
    "ratio": 0.270,
    "continues": 0.626,
    "n_candidates": -1.311,
    "tail": 4.097,
    "carried_over": 0.399,
    "tolerance": 0.631,
    "folds": -0.751,
    "missing_folds": -0.919,
    "changes": -1.584,
    "lead": -4.779,
    "spread_ratio": 0.769,
}
