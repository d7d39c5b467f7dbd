"""Estimated memory of the models of a batch."""

from __future__ import annotations

from math import inf

from sklearn_sha._storage.models import TrainedModel
from sklearn_sha._storage.pickling import nbytes


class ModelSizes:
    """Estimates the memory of the models of a batch.

    Measuring a model takes about 1% of the time of training it, and most models are small. As
    long as all models of the batch would be within the limit even at ten times the largest size
    so far, only the first, second, fourth, eighth, ... model is measured. The others are assumed
    to be as large as the largest.

    Parameters
    ----------
    n_models : int
        Number of models in the batch.
    limit : float
        Maximum size of the batch in bytes.

    Attributes
    ----------
    total : int
        Estimated size of all models so far in bytes.
    """

    def __init__(self, n_models: int, limit: float) -> None:
        self.total = 0
        self._limit = limit / (10 * n_models)
        self._n_models_so_far = 0
        self._largest = 0

    def add(self, model: TrainedModel) -> None:
        """Set ``model.nbytes`` and add it to the total."""
        self._n_models_so_far += 1
        is_power_of_two = self._n_models_so_far & (self._n_models_so_far - 1) == 0
        if self._largest > self._limit or (is_power_of_two and self._limit < inf):
            model.nbytes = nbytes(model.estimator)
            self._largest = max(self._largest, model.nbytes)
        else:
            model.nbytes = self._largest
        self.total += model.nbytes
