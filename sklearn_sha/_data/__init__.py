"""Folds and their samples, sliced, subsampled and preprocessed."""
