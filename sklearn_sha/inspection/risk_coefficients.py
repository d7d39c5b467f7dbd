"""Coefficients of the model in risk.py, written by docs/benchmarks/trust.py."""

COEFFICIENTS = {
    "constant": -0.222,
    "ratio": 0.271,
    "continues": 0.546,
    "n_candidates": -1.386,
    "tail": 4.970,
    "carried_over": 0.410,
    "tolerance": 0.406,
    "folds": -0.590,
    "missing_folds": -1.071,
    "changes": -2.428,
    "lead": -4.911,
    "spread_ratio": 1.016,
}
