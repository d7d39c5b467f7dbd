"""The kinds of resource of this library: a new one is a file of this folder and a line here."""

from __future__ import annotations

from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.fold_count import FoldCount
from sklearn_sha.resources.integer_parameter import IntegerParameter
from sklearn_sha.resources.n_samples import SampleCount
from sklearn_sha.resources.partial_fit import PartialFit

NAMED: dict[str, type[Resource]] = {
    kind.name: kind for kind in (PartialFit, SampleCount, FoldCount)
}
"""Resources by name; any other name is an integer parameter."""

KINDS: tuple[type[Resource], ...] = (*NAMED.values(), IntegerParameter)
"""All kinds, in the order in which ``resource="auto"`` prefers and messages name them."""
