"""The number of training samples."""

from __future__ import annotations

from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.samples import Rows
from sklearn_sha.resources.base import Resource, call_training


class SampleCount(Resource):
    """One unit is one training sample: the estimator is refit from scratch on so many of them."""

    unit = "training samples"

    def view(self, fold: Fold, target: int) -> Fold:
        return fold.subsampled(target)

    def advance(self, model: Any, rows: Rows, spent: int, target: int) -> None:
        call_training(model.fit, *rows.fitting())
