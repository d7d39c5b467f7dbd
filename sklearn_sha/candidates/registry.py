"""The samplers that are given by name: a new one is a file of this folder and a line here."""

from __future__ import annotations

from typing import Any

from sklearn_sha._param_validation import InvalidParameterError
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.model import ModelSampler
from sklearn_sha.candidates.optuna_sampler import optuna_error
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.sobol import SobolSampler

NAMED: dict[str, type[Sampler]] = {
    "auto": RandomSampler,
    "random": RandomSampler,
    "sobol": SobolSampler,
    "model": ModelSampler,
}


def resolve_sampler(sampler: Any) -> Sampler:
    """Return the sampler that the parameter of a search names.

    Parameters
    ----------
    sampler : str or Sampler

    Returns
    -------
    Sampler

    Raises
    ------
    TypeError
        If it is neither a name nor an instance of a subclass of Sampler.
    """
    if isinstance(sampler, Sampler):
        return sampler
    if not isinstance(sampler, str) or sampler not in NAMED:
        names = ", ".join(f'"{name}"' for name in NAMED)
        raise InvalidParameterError(
            f"sampler={sampler!r} must be {names} or an instance of a subclass of "
            f"sklearn_sha.candidates.Sampler. {optuna_error(sampler)}".rstrip()
        )
    return NAMED[sampler]()
