"""Preprocessing steps of a pipeline, fitted once per fold for many candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import FeatureUnion, Pipeline

from sklearn_sha._compat import drop_callbacks
from sklearn_sha._data.folds import Fold
from sklearn_sha._data.kept_error import KeptError
from sklearn_sha._data.slicing import FoldSamples
from sklearn_sha._param_validation import is_placeholder


@dataclass(frozen=True)
class FittedPreprocessing:
    """Samples of a fold, transformed by the preprocessing steps of a pipeline.

    Attributes
    ----------
    transformed : FoldSamples
        Input of the last step of the pipeline.
    pipeline : Pipeline or None
        The preprocessing steps, fitted on the training samples. None unless whole pipelines are
        scored, since a fitted vectorizer can be larger than the samples.
    original : FoldSamples or None
        The samples before preprocessing. None unless whole pipelines are scored.
    seconds : float
        Duration of the fit, and of the transformation of the samples of the fold.
    """

    transformed: FoldSamples
    pipeline: Pipeline | None = None
    original: FoldSamples | None = None
    seconds: float = 0.0

    def with_data(self, X: Any, y: Any) -> FittedPreprocessing:
        """Return the object itself, which contains its data."""
        return self

    def samples(self, in_batches: bool = False) -> FoldSamples:
        """Return the transformed samples."""
        return self.transformed

    def with_last_step(self, name: str, step: Any) -> Pipeline:
        """Return the fitted pipeline that ends with a step.

        Its other steps are copies: a scorer can fit them, and other candidates share them.
        """
        assert self.pipeline is not None
        whole = copy(self.pipeline)  # which can be of a subclass
        own = [(one, _copied(shared)) for one, shared in self.pipeline.steps]
        whole.steps = [*own, (name, step)]
        return whole

    def discard(self) -> None:
        """Do nothing: the memory is freed with the last reference."""


def _copied(step: Any) -> Any:
    """Return a copy of a fitted step whose fit leaves the step as it is."""
    # These fit what they hold in place. Others replace their attributes.
    return deepcopy(step) if isinstance(step, Pipeline | FeatureUnion) else copy(step)


def preprocessing_of(pipeline: Pipeline) -> Pipeline:
    """Return the steps of a pipeline before the last one, as a pipeline of the same class.

    A slice of a pipeline would have the default parameters of its class. The steps alone have no
    callbacks.
    """
    steps = copy(pipeline)
    drop_callbacks(steps)
    steps.steps = pipeline.steps[:-1]
    return steps


def fit_preprocessing(
    pipeline: Pipeline, fold: Fold, *, scores_pipeline: bool, scores_train: bool
) -> FittedPreprocessing:
    """Fit the preprocessing steps of a pipeline on the training samples of a fold.

    Parameters
    ----------
    pipeline : Pipeline
        Unfitted. All steps but the last are fitted in place.
    fold : Fold
    scores_pipeline : bool
        Whether whole pipelines are scored on the original samples.
    scores_train : bool
        Whether training samples are scored. They are then transformed once more, since
        ``transform`` and ``fit_transform`` may differ.

    Returns
    -------
    FittedPreprocessing
    """
    steps, samples = preprocessing_of(pipeline), fold.samples()
    # Without scores of the original samples, the steps may write into them.
    used = samples.writable() if scores_pipeline or scores_train else samples
    X, y, _ = used.training() if used.is_writable else (samples.X_train, samples.y_train, {})
    X_train = fit_transform(steps, X, y, fold.train_preprocessing_params())
    if scores_pipeline:
        return FittedPreprocessing(replace(samples, X_train=X_train, X_test=None), steps, samples)
    X_scored, train_error = None, None
    if scores_train:
        X_scored, train_error = _scored(steps, lambda: used.training()[0])
    X_test, test_error = _scored(
        steps, lambda: used.testing()[0] if used.is_writable else samples.X_test
    )
    return FittedPreprocessing(
        replace(
            samples,
            X_train=X_train,
            X_train_scored=X_scored,
            train_error=train_error,
            X_test=X_test,
            test_error=test_error,
        )
    )


def _scored(steps: Pipeline, samples: Callable[[], Any]) -> tuple[Any, KeptError | None]:
    """Return transformed samples, or the error that fails their scores, and not the fits."""
    try:
        return transform(steps, samples()), None
    except Exception as error:
        return None, KeptError(error, error.__traceback__)


def set_seeds(steps: Pipeline, seed: int) -> None:
    """Set each ``random_state`` that is None, also of nested estimators, in place.

    Steps with a parameter `cv` and ``shuffle=False``, such as TargetEncoder, are left out: they
    pass both to a splitter, which rejects a seed that has no effect.

    Parameters
    ----------
    steps : Pipeline
    seed : int
    """
    params = steps.get_params()
    names = [
        name
        for name, value in params.items()
        if value is None
        and name.rpartition("__")[2] == "random_state"
        and not _splits_in_order(params, name.removesuffix("random_state"))
    ]
    steps.set_params(**dict.fromkeys(names, seed))


def _splits_in_order(params: Mapping[str, Any], prefix: str) -> bool:
    return params.get(f"{prefix}shuffle") is False and f"{prefix}cv" in params


def fit_transform(steps: Pipeline, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit preprocessing steps, which may be none, and transform X."""
    return steps.fit_transform(X, y, **params) if steps.steps else X


def transform(steps: Pipeline, X: Any) -> Any:
    """Transform X by preprocessing steps.

    This calls the steps one by one. ``Pipeline.transform`` would raise for a last step without
    fitted attributes, such as a stateless transformer.
    """
    for _, step in steps.steps:
        if not is_placeholder(step):
            X = step.transform(X)
    return X
