"""Where candidates come from: a `Sampler` proposes them from a space and what is known so far."""

from sklearn_sha.candidates.base import Evaluation, History, Sampler, Space
from sklearn_sha.candidates.contract import check_sampler
from sklearn_sha.candidates.sampling import GridSampler, RandomSampler

__all__ = [
    "Evaluation",
    "GridSampler",
    "History",
    "RandomSampler",
    "Sampler",
    "Space",
    "check_sampler",
]
