"""Completed results and models, in memory or in a checkpoint folder."""
