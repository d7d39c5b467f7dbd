"""Resources with which each model is trained by a single call of ``fit``."""

from __future__ import annotations

from typing import Any

from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha.resources.base import Resource, call_training
from sklearn_sha.resources.cheaper_parameter import cheaper_parameter_notes
from sklearn_sha.resources.tuned_estimator import TunedEstimator
from sklearn_sha.schedules import Schedule


class SingleFit(Resource):
    """Base class of resources that count samples or folds: ``fit`` is called once per model."""

    def advance(self, model: Any, samples: FoldSamples, start: int, target: int) -> None:
        call_training(model.fit, *samples.fitting())

    def trains_last_step(self, tuned: TunedEstimator) -> bool:
        return tuned.fits_last_step_alone

    def cheaper_notes(
        self, tuned: TunedEstimator, schedule: Schedule, n_train: int, factor: float
    ) -> list[str]:
        return cheaper_parameter_notes(tuned, schedule, n_train, factor)
