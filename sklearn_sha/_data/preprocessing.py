"""Preprocessing steps of a pipeline, fitted once per fold for many candidates."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import joblib
from sklearn.pipeline import Pipeline

from sklearn_sha._data.folds import Fold
from sklearn_sha._data.samples import Rows


@dataclass(frozen=True)
class FittedPreprocessing:
    """What the steps of a pipeline before its last, fitted on a fold, make of its rows.

    Attributes
    ----------
    transformed : Rows
        What the last step trains on, and predicts.
    pipeline : Pipeline or None
        Those steps, fitted on the training rows alone, where whole pipelines are scored.
        Otherwise they stay where they were fitted: a vectoriser can weigh more than the rows.
    raw : Rows or None
        The rows as they came, for the same.
    """

    transformed: Rows
    pipeline: Pipeline | None = None
    raw: Rows | None = None

    def with_data(self, X: Any, y: Any) -> FittedPreprocessing:
        """Itself, which needs no data but its own."""
        return self

    def rows(self, in_batches: bool = False) -> Rows:
        """What the last step trains on, and predicts."""
        return self.transformed

    def with_last(self, name: str, step: Any) -> Pipeline:
        """The whole pipeline, with its last step."""
        assert self.pipeline is not None
        return Pipeline([*self.pipeline.steps, (name, step)])

    def discard(self) -> None:
        """Nothing to do: it goes with the last who knows it."""


@dataclass(frozen=True)
class PreprocessingFile:
    """A fitted prefix in a file, of which the processes of one machine map the arrays.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @classmethod
    def of(
        cls, prefix: FittedPreprocessing, folder: Path
    ) -> PreprocessingFile | FittedPreprocessing:
        """Leave a prefix in a folder; gives itself where that can't be."""
        path = folder / uuid4().hex
        try:
            joblib.dump(prefix, path)
        except Exception:  # a full disk, or what can't be pickled
            path.unlink(missing_ok=True)
            return prefix
        return cls(path)

    def with_data(self, X: Any, y: Any) -> FittedPreprocessing:
        """What is in the file, which needs no other data."""
        try:
            return joblib.load(self.path, mmap_mode="c")
        except OSError:  # more arrays than a process may map
            return joblib.load(self.path)

    def discard(self) -> None:
        """Delete the file."""
        with suppress(OSError):  # its folder goes later
            self.path.unlink()


def fit_preprocessing(
    pipeline: Pipeline, fold: Fold, *, scores_pipeline: bool, scores_train: bool
) -> FittedPreprocessing:
    """Fit the steps of a pipeline before its last on the training rows of a fold.

    Parameters
    ----------
    pipeline : Pipeline
        Not fitted; its first steps are fitted in place.
    fold : Fold
    scores_pipeline : bool
        Whether whole pipelines are scored, on the rows as they came.
    scores_train : bool
        Whether training rows are scored: what `transform` makes of them can be another
        thing than what `fit_transform` does.

    Returns
    -------
    FittedPreprocessing
    """
    prefix, rows = pipeline[:-1], fold.rows()
    # The steps may write into rows that nobody else has.
    used = rows.owned() if scores_pipeline or scores_train else rows
    X, y, _ = used.training() if used.is_owned else (rows.X_train, rows.y_train, {})
    transformed = replace(rows, X_train=fit_transform(prefix, X, y, fold.cut_prefix_params()))
    if scores_train:
        transformed = replace(transformed, X_train_scored=transform(prefix, used.training()[0]))
    try:
        X_test = transform(prefix, used.testing()[0] if used.is_owned else rows.X_test)
        transformed = replace(transformed, X_test=X_test)
    except Exception as error:  # a score that fails, not a fit
        transformed = replace(transformed, X_test=None, test_error=error)
    return (
        FittedPreprocessing(transformed, prefix, rows)
        if scores_pipeline
        else FittedPreprocessing(transformed)
    )


def fit_transform(prefix: Pipeline, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Fit the steps before a pipeline's last, which may be none, and transform X."""
    return prefix.fit_transform(X, y, **params) if prefix.steps else X


def transform(prefix: Pipeline, X: Any) -> Any:
    """Transform X by the steps before a pipeline's last.

    Step by step, since a Pipeline asks its last step whether it is fitted, and one that has
    nothing to learn need not look so.
    """
    for _, step in prefix.steps:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    return X
