"""Candidates that the user gives, which are tried first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from sklearn.pipeline import Pipeline

from sklearn_sha.candidates.distinct import first_distinct
from sklearn_sha.candidates.space import spaces_of, with_params


def initial_candidates(given: Any, estimator: Any, space: Any) -> list[dict[str, Any]]:
    """Return the candidates of the parameter `initial_candidates`, without repetitions.

    Parameters
    ----------
    given : sequence of dict, or None
        Values can be outside of the space, and names can be of other parameters of the estimator.
    estimator : estimator
    space : dict or list of dict
        A parameter that all of its dicts have, and that a candidate lacks, has the value of the
        estimator.

    Returns
    -------
    list of dict

    Raises
    ------
    TypeError
        If `given` is no sequence of dicts.
    ValueError
        If a name is no parameter of the estimator, or if the last step of a pipeline is searched
        and a candidate has a placeholder there, such as "passthrough".

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn_sha.candidates.initial import initial_candidates
    >>> initial_candidates([{}, {"C": 8}], SVC(kernel="poly"), {"C": [1, 2], "kernel": ["rbf"]})
    [{'C': 1.0, 'kernel': 'poly'}, {'C': 8, 'kernel': 'poly'}]
    """
    candidates = [] if given is None else given
    if isinstance(candidates, str | Mapping) or not isinstance(candidates, Sequence):
        raise TypeError(
            f"initial_candidates={given!r} must be a list of dicts, such as "
            "[{'name': value}], or None."
        )
    for params in candidates:
        if not isinstance(params, Mapping):
            raise TypeError(
                f"initial_candidates has {params!r}, which is not a dict. Use {{'name': value}}, "
                "or {} for the estimator itself."
            )
    if not candidates:
        return []
    first, *others = spaces_of(space)
    shared = [name for name in first if all(name in other for other in others)]
    completed = [_completed(params, estimator, shared) for params in candidates]
    for params, whole in zip(candidates, completed, strict=True):
        _check_last_step(params, whole, estimator, space)
    return first_distinct(completed, len(completed))


def fixed_spaces(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, list[Any]]]:
    """Return a space for each candidate, which has only this candidate."""
    return [{name: [value] for name, value in params.items()} for params in candidates]


def _completed(params: Mapping[str, Any], estimator: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return a candidate with the estimator's own values of the parameters that it lacks."""
    try:
        model = with_params(estimator, params)
    except ValueError as error:  # for an unknown name
        raise ValueError(f"initial_candidates has {params!r}. {error}") from error
    own, changed = estimator.get_params(), model.get_params()
    values = dict(params)
    for name in names:
        # A parameter of a step that the candidate replaces has the value of the new step.
        is_replaced = any(name.startswith(f"{given}__") for given in params)
        source = changed if is_replaced else own
        if name not in values and name in source:
            values[name] = source[name]
    return values


def _check_last_step(
    given: Mapping[str, Any], params: Mapping[str, Any], estimator: Any, space: Any
) -> None:
    """Raise an error if the last step of a candidate is a placeholder for those of the space."""
    if not isinstance(estimator, Pipeline):
        return
    name, own = estimator.steps[-1]
    step = params.get(name, own)
    searched = [one[name] for one in spaces_of(space) if name in one]
    listed = chain.from_iterable(values for values in searched if not hasattr(values, "rvs"))
    if searched and _is_placeholder(step) and step not in filter(_is_placeholder, listed):
        raise ValueError(
            f"initial_candidates has {dict(given)!r}, whose step {name!r} is {step!r}. Set it to "
            f"an estimator: {{{name!r}: ...}}."
        )


def _is_placeholder(step: Any) -> bool:
    return step is None or isinstance(step, str)
