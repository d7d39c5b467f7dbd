"""An estimator that does nothing, so that what is measured is the search."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator


class Nothing(BaseEstimator):
    """Its score is its parameter."""

    def __init__(self, a: int = 0, max_iter: int = 1) -> None:
        self.a = a
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any = None) -> Self:
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        return self

    def score(self, X: Any, y: Any = None) -> float:
        return self.a
