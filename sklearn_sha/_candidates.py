"""What to try: a grid or distributions, made into a list of parameter dicts."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from numpy.random import RandomState
from sklearn.model_selection import ParameterGrid, ParameterSampler

from sklearn_sha._checks import check_int

N_CANDIDATES = 64
"""Candidates drawn by default from distributions: enough to hold one of the best 5 % with
probability 1 - 0.95**64 = 0.96."""

_DRAWS_PER_CANDIDATE = 100


def draw_candidates(
    param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    n_candidates: int | str,
    random_state: RandomState,
) -> list[dict[str, Any]]:
    """Candidates to try, all different.

    Parameters
    ----------
    param_distributions : dict or list of dict
        Values are sequences, or anything with ``rvs(random_state=...)``.
    n_candidates : int or "auto"
        "auto" is the whole grid where every value is a sequence, else `N_CANDIDATES`.
        The whole grid comes in the order of GridSearchCV; a sample comes in the order of
        RandomizedSearchCV, less what it repeats.
    random_state : RandomState
        Advanced by what is drawn.

    Returns
    -------
    list of dict
        Fewer than asked for, with a warning, where there are not as many.

    Raises
    ------
    TypeError, ValueError
        If a value is no non-empty sequence and has no rvs, there is no dict at all, or
        `n_candidates` is neither "auto" nor an integer of at least 1.
    """
    check_int("n_candidates", n_candidates, '"auto"', n_candidates == "auto")
    spaces = (
        [param_distributions] if isinstance(param_distributions, Mapping) else param_distributions
    )
    _check_spaces(spaces, param_distributions)
    if all(not hasattr(v, "rvs") for space in spaces for v in space.values()):
        grid = ParameterGrid(param_distributions)
        wanted = len(grid) if n_candidates == "auto" else int(n_candidates)
        if wanted < len(grid):
            return list(ParameterSampler(param_distributions, wanted, random_state=random_state))
        if wanted > len(grid):
            _warn_fewer(wanted, len(grid), "the whole grid")
        return list(grid)
    wanted = N_CANDIDATES if n_candidates == "auto" else int(n_candidates)
    # Discrete distributions repeat themselves, so more are drawn than are wanted: the
    # sampler is lazy, and stops as soon as there are enough.
    drawn = ParameterSampler(
        param_distributions, wanted * _DRAWS_PER_CANDIDATE, random_state=random_state
    )
    distinct: dict[Hashable, dict[str, Any]] = {}
    for params in drawn:
        distinct.setdefault(setting_key(params), params)
        if len(distinct) == wanted:
            break
    candidates = list(distinct.values())
    if len(candidates) < wanted:
        _warn_fewer(wanted, len(candidates), f"those found in {len(drawn)} draws")
    return candidates


def setting_key(params: Mapping[str, Any]) -> Hashable:
    """A key that is equal for equal settings, and tells 1 from True and from 1.0.

    What cannot be hashed, and estimators, are told apart by identity: a setting may then
    be taken for two, never two for one.
    """
    return tuple((name, type(value), _hashable(value)) for name, value in sorted(params.items()))


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def _check_spaces(spaces: Sequence[Any], given: Any) -> None:
    if isinstance(spaces, str) or not isinstance(spaces, Sequence):
        raise TypeError(
            f"param_distributions={given!r} is neither a dict nor a list of dicts; "
            "give {'name': [values] or a distribution}."
        )
    if not spaces:
        raise ValueError(
            f"param_distributions={given!r} holds no candidate; give at least one dict, "
            "{} for the estimator as it is."
        )
    for space in spaces:
        if not isinstance(space, Mapping):
            raise TypeError(
                f"param_distributions holds {space!r}, which is no dict; give "
                "{'name': [values] or a distribution}."
            )
        for name, values in space.items():
            if hasattr(values, "rvs"):
                continue
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise TypeError(
                    f"param_distributions[{name!r}]={values!r} is neither a sequence nor "
                    f"a distribution with an rvs method; for one value give [{values!r}]."
                )
            if len(values) == 0:
                raise ValueError(
                    f"param_distributions[{name!r}]={values!r} is empty, so the grid "
                    "holds no candidate; give at least one value."
                )


def _warn_fewer(wanted: int, found: int, what: str) -> None:
    warnings.warn(
        f"n_candidates={wanted} is more than the {found} different candidates that "
        f"param_distributions holds; trying {what}.",
        UserWarning,
        stacklevel=2,
    )
