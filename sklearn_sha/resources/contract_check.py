"""The contract test of resources."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_sha._data.folds import make_folds
from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._data.subsampling import with_subsampling
from sklearn_sha._formatting import quantity
from sklearn_sha.resources.base import Resource


def check_resource(
    resource: Resource, model: Any, X: Any, y: Any = None, *, units: Sequence[int] = (1, 2, 5)
) -> None:
    """Check that a custom resource fulfills its contract.

    Parameters
    ----------
    resource : Resource
    model : estimator
        Not fitted; its fit has to be deterministic.
    X : array-like, shape (n_samples, n_features)
        Training samples, on which predictions are compared too.
    y : array-like, shape (n_samples,), or None, default=None
    units : sequence of int, default=(1, 2, 5)
        Increasing total units to train to. The first is trained only if models continue training.
        If `lowest` of the resource is more than 1, set them to valid units.

    Raises
    ------
    AssertionError
        If training samples of less resource are not among those of more; if models that continue
        training are not bit-identical to those trained in a single fit; or if `advance` changes its
        samples or the resource.
    """
    resource = resource.prepared(model, y, seed=0)  # as a search does, for classes of partial_fit
    before = joblib.hash(vars(resource))
    n = n_samples_of(X)
    folds = make_folds(
        X, y, [(np.arange(n), np.arange(0, n, 2))], fit_params={}, preprocessing_params={},
        score_params={}, pairwise=False,
    )  # fmt: skip
    (fold,) = with_subsampling(folds, codes=None, seed=0)
    views = [resource.view(fold, target) for target in units]
    for less, more in pairwise(views):
        assert set(less.train) <= set(more.train), (
            "samples of a rung are not among those of the next rung"
        )

    def trained(*path: int) -> Any:
        one, start = clone(model), 0
        for target in path:
            samples = resource.view(fold, target).samples(resource.in_batches)
            lent = joblib.hash((samples.X_train, samples.y_train))
            resource.advance(one, samples, start, target)
            assert joblib.hash((samples.X_train, samples.y_train)) == lent, (
                "advance changed its samples"
            )
            one, start = pickle.loads(pickle.dumps(one)), target
        return _outputs(one, X)

    for few, many in pairwise(units):
        once = trained(many)
        assert _same(once, trained(many)), (
            f"two models with {quantity(many, 'units')} each are not the same"
        )
        if resource.continues(clone(model), n):
            assert _same(once, trained(few, many)), (
                f"a model trained to {quantity(few, 'units')} and then to {many} is not the one "
                f"trained to {many} in a single fit; let continues return False"
            )
    assert joblib.hash(vars(resource)) == before, (
        "advance changed the resource, which workers share"
    )


def _outputs(model: Any, X: Any) -> list[NDArray[Any]]:
    methods = ("predict_proba", "decision_function", "predict", "transform", "score_samples")
    outputs = [getattr(model, name)(X) for name in methods if hasattr(model, name)]
    assert outputs, "the model has none of predict, transform, ... whose output can be compared"
    return [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in outputs]


def _same(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> bool:
    return all(map(np.array_equal, one, other))
