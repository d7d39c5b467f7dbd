"""Methods of the best estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.metadata_routing import (
    MetadataRequest,
    get_routing_for_object,
)


def best_estimator_has(name: str) -> Callable[[Any], bool]:
    """Check for `available_if`, as in GridSearchCV: asks the estimator before fit."""

    def check(search: Any) -> bool:
        check_refit(search, name)
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return check


def check_refit(search: Any, name: str) -> None:
    if not search.refit:
        raise AttributeError(
            f"This {type(search).__name__} instance was initialized with `refit=False`. {name} is "
            "available only after refitting on the best parameters. You can refit an estimator "
            "manually using the `best_params_` attribute, or set refit=True."
        )


def training_requests(estimator: Any, method: str) -> Any:
    """Return what an estimator requests; for ``partial_fit`` as for ``fit``, if not set.

    A search by ``fit`` is replaced as it stands, with the request that its estimator has.

    Parameters
    ----------
    estimator : estimator
    method : "fit" or "partial_fit"
        Which method trains it.
    """
    requests = get_routing_for_object(estimator)
    if isinstance(requests, MetadataRequest):  # and not the router of a meta-estimator
        of_method = getattr(requests, method)
        unset = [name for name, alias in of_method.requests.items() if alias is None]
        for name in set(unset).intersection(requests.fit.requests):
            of_method.add_request(param=name, alias=requests.fit.requests[name])
    return requests
