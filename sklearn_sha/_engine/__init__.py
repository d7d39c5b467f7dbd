"""Evaluation of candidates in parallel: jobs, training, scoring and refit."""
