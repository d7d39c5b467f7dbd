"""Metadata routing: which parameters of `fit` are passed to which method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
)

from sklearn_sha._data.preprocessing import preprocessing_of


@dataclass(frozen=True)
class RoutedParams:
    """Parameters of `fit` by recipient, for all samples.

    Attributes
    ----------
    fit : dict
        For the method that trains: ``fit`` or ``partial_fit``.
    preprocessing : dict
        For the preprocessing steps of a pipeline, if they are fitted separately.
    split : dict
    score : dict
    """

    fit: dict[str, Any]
    preprocessing: dict[str, Any]
    split: dict[str, Any]
    score: dict[str, Any]


def routed_by_request(routed: Any, training_method: str) -> RoutedParams:
    """Return what scikit-learn's `process_routing` has routed for ``fit`` of a search.

    Parameters
    ----------
    routed : Bunch
    training_method : {"fit", "partial_fit"}

    Returns
    -------
    RoutedParams
    """
    return RoutedParams(
        dict(routed.estimator[training_method]),
        dict(routed.get("prefix", {}).get("fit_transform", {})),
        dict(routed.splitter["split"]),
        dict(routed.scorer["score"]),
    )


def check_requests(params: Iterable[str], routed: RoutedParams, resource: str) -> None:
    """Raise an error if steps that are searched would receive what the original ones request.

    Parameters
    ----------
    params : iterable of str
        Names of the parameters of `fit`.
    routed : RoutedParams
        By the requests of the original steps, which are fitted separately.
    resource : str
        Name of the resource, which does not allow another way.
    """
    if names := sorted({*params}.difference(routed.split)):
        raise ValueError(
            f"resource={resource!r} can't route {', '.join(names)} by the requests of each "
            "candidate's own steps, and steps of the pipeline are searched. Search their "
            "parameters only, or use resource='n_samples'."
        )


def routed_by_name(
    params: Mapping[str, Any], *, scores_weighted: bool, steps: Sequence[str] | None
) -> RoutedParams:
    """Route parameters as searches do without metadata routing.

    `groups` is passed to the splitter, and everything else to the estimator.

    Parameters
    ----------
    params : dict
    scores_weighted : bool
        Whether the scorer receives ``sample_weight`` too.
    steps : sequence of str or None
        Names of the steps of a pipeline whose preprocessing steps are fitted separately. Otherwise
        None.

    Returns
    -------
    RoutedParams

    Raises
    ------
    ValueError
        If a parameter for a pipeline does not name a step.
    """
    fit = dict(params)
    split = {"groups": fit.pop("groups", None)}
    score = {"sample_weight": fit["sample_weight"]} if scores_weighted else {}
    if steps is None:
        return RoutedParams(fit, {}, split, score)
    for name in fit:
        step, separator, param = name.partition("__")
        if not separator:
            raise ValueError(
                f"Pipeline.fit does not accept the {name} parameter. You can pass parameters to "
                "specific steps of your pipeline using the stepname__parameter format, e.g. "
                f"`{steps[-1]}__{name}` for the last step."
            )
        if step not in steps:
            raise ValueError(
                f"Pipeline.fit does not accept the {name} parameter, since no step has the name "
                f"{step!r}: the steps are {', '.join(map(repr, steps))}. Use e.g. "
                f"`{steps[-1]}__{param}` for the last step."
            )
    prefix = f"{steps[-1]}__"
    return RoutedParams(
        {k.removeprefix(prefix): v for k, v in fit.items() if k.startswith(prefix)},
        {k: v for k, v in fit.items() if not k.startswith(prefix)},
        split,
        score,
    )


def metadata_router(
    owner: str, estimator: Any, cv: Any, scorer: Any, training_method: str, *, fits_last_step: bool
) -> MetadataRouter:
    """Return the router of a search.

    Parameters
    ----------
    owner : str
        Class of the search.
    estimator : estimator
    cv : int, cross-validator, iterable or None
    scorer : callable
    training_method : {"fit", "partial_fit"}
        Method that trains the estimator, or its last step.
    fits_last_step : bool
        Whether the estimator is a pipeline whose preprocessing steps are fitted separately.

    Returns
    -------
    MetadataRouter
    """
    router = MetadataRouter(owner=owner)
    trained = estimator
    if fits_last_step:
        trained = estimator[-1]
        if len(estimator.steps) > 1:
            router.add(
                prefix=preprocessing_of(estimator),
                method_mapping=MethodMapping().add(caller="fit", callee="fit_transform"),
            )
    router.add(
        estimator=_training_request(trained, training_method),
        method_mapping=MethodMapping().add(caller="fit", callee=training_method),
    )
    router.add(
        scorer=scorer,
        method_mapping=MethodMapping()
        .add(caller="score", callee="score")
        .add(caller="fit", callee="score"),
    )
    router.add(splitter=cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
    return router


def _training_request(estimator: Any, method: str) -> Any:
    """Return the request of an estimator for a method, by default that for ``fit``.

    A request for ``fit`` alone remains valid if GridSearchCV is replaced by a search that trains
    by ``partial_fit``.
    """
    request = get_routing_for_object(estimator)
    if isinstance(request, MetadataRequest):  # and not the router of a meta-estimator
        own = getattr(request, method)
        unset = [name for name, alias in own.requests.items() if alias is None]
        for name in set(unset).intersection(request.fit.requests):
            own.add_request(param=name, alias=request.fit.requests[name])
    return request
