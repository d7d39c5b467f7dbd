"""The number of training samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.rare_classes import n_needed, size_with_rarest
from sklearn_sha._formatting import quantity
from sklearn_sha.resources.base import HOW_TO_RAISE_FIRST_RUNG
from sklearn_sha.resources.fixed_costs import candidate_cost
from sklearn_sha.resources.limits import Limits, TrainingData
from sklearn_sha.resources.sample_dependence import sample_dependence
from sklearn_sha.resources.single_fit import SingleFit
from sklearn_sha.resources.tuned_estimator import TunedEstimator

MIN_FIRST_SAMPLES = 200
"""Minimum number of samples of an automatic first rung."""


class SampleCount(SingleFit):
    """One unit is one training sample: the estimator is refit from scratch on so many of them."""

    name = "n_samples"
    unit = "training samples"
    counts_samples = True

    def view(self, fold: Fold, target: int) -> Fold:
        return fold.subsampled(target)

    def limits(self, tuned: TunedEstimator, example: Any, data: TrainingData) -> Limits:
        n_rarest = data.n_rarest or data.n_samples
        lowest, with_rarest = 2 * data.n_classes, size_with_rarest(data.n_samples, n_rarest)
        least = max(MIN_FIRST_SAMPLES, with_rarest, lowest)
        reason = ""
        if MIN_FIRST_SAMPLES < least <= data.n_samples:
            included = f"{n_needed(n_rarest)} of the {n_rarest} samples of the rarest class"
            if with_rarest < lowest:
                included = f"two samples of each of the {data.n_classes} classes"
            reason = (
                f"The automatic first rung has at least {quantity(least, self.unit)}, to include "
                f"{included}. Set min_resources to start with fewer."
            )
        return Limits(
            lowest=lowest,
            first=min(data.n_samples, least),
            default=data.n_samples,
            highest=data.n_samples,
            fixed=candidate_cost(tuned, example, data),
            equals_fit=True,
            reason_of_first=reason,
        )

    def first_rung_error(self, n_resources: int, limits: Limits) -> str:
        if 2 * n_resources >= limits.lowest or n_resources == limits.highest:
            return ""
        return (
            f"resource={self.name!r} would start with {quantity(n_resources, self.unit)}, too "
            f"few to contain each of the {limits.lowest // 2} classes. {HOW_TO_RAISE_FIRST_RUNG}, "
            "in training samples. Another resource can start with all of them."
        )

    def why_misleading(self, tuned: TunedEstimator, n_samples: int) -> str:
        return sample_dependence(tuned, n_samples)

    @classmethod
    def alternatives(cls, models: Sequence[Any], searched: set[str]) -> list[str]:
        return [cls.name]
