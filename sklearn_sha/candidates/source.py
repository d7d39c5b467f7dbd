"""Where the candidates of a search come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn_sha.candidates.base import Sampler, Space
from sklearn_sha.candidates.space_check import check_space


@dataclass(frozen=True)
class CandidateSource:
    """Where the candidates of a search come from.

    Attributes
    ----------
    space : dict or list of dict
    sampler : Sampler
    initial : sequence of dict, default=()
        Different candidates that are tried first. The sampler does not repeat them.
    space_name : str, default="param_distributions"
        Name of the parameter by which the user set `space`.
    """

    space: Space
    sampler: Sampler
    initial: Sequence[dict[str, Any]] = ()
    space_name: str = "param_distributions"

    def check(self) -> None:
        """Raise an error if the space, or a parameter of the sampler, is invalid."""
        check_space(self.space)
        self.sampler.check(self.space)
