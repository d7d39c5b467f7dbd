"""Answers the requests of algorithms: training, scoring, refit."""
