"""Candidates that the user gives, which are tried first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sklearn.pipeline import Pipeline

from sklearn_sha._param_validation import is_placeholder
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
        If it is a single dict, its parameters that a candidate lacks have the value of the
        estimator. With several dicts, a candidate has the parameters that are given.

    Returns
    -------
    list of dict

    Raises
    ------
    TypeError
        If `given` is no sequence of dicts.
    ValueError
        If a name is no parameter of the estimator, or if a candidate lacks the last step of a
        pipeline, which is only a placeholder for those of the space, such as "passthrough".

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
    spaces = spaces_of(space)
    names = spaces[0] if len(spaces) == 1 else ()
    completed = [_completed(params, estimator, names) for params in candidates]
    for params in candidates:
        _check_last_step(params, estimator, spaces)
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
    params: Mapping[str, Any], estimator: Any, spaces: Sequence[Mapping[str, Any]]
) -> None:
    """Raise an error if a candidate has the estimator's placeholder for the steps of the space."""
    if not (isinstance(estimator, Pipeline) and estimator.steps):
        return
    name, step = estimator.steps[-1]
    if not params.keys().isdisjoint([name, "steps"]) or not is_placeholder(step):
        return
    # A dict without the step has the placeholder in each of its candidates.
    searched = [space.get(name, [step]) for space in spaces]
    if any(hasattr(values, "rvs") or any(map(is_placeholder, values)) for values in searched):
        return
    raise ValueError(
        f"initial_candidates has {dict(params)!r}, and {name!r} of the pipeline is only a "
        f"placeholder, {step!r}. Add the step: {{{name!r}: ...}}."
    )
