"""What scikit-learn has no public name for, each with its reason and the versions tried."""

from __future__ import annotations

import inspect
from typing import Any

import sklearn
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV

_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])

# Without metadata routing, searches give `sample_weight` to the scorer too since
# scikit-learn 1.7; before, to fit alone. Tried on 1.6.0, 1.7.2, 1.8.0 and 1.9.1.
SCORES_WITH_SAMPLE_WEIGHT = _VERSION >= (1, 7)


def accepts_sample_weight(scorer: Any) -> bool:
    """Whether a scorer can be given ``sample_weight``, as GridSearchCV decides it.

    A scorer made by make_scorer says so by `_accept_sample_weight` alone (since 1.7): its
    ``__call__`` takes any sample_weight and its metric is not public.
    """
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in inspect.signature(scorer).parameters


def is_made_by_make_scorer(scorer: Any) -> bool:
    """Whether a scorer hands its metric predictions, and never the model.

    The class of such scorers has no public name. Tried on 1.6.0 and 1.9.1.
    """
    return isinstance(scorer, type(make_scorer(accuracy_score)))


def search_block(search: Any) -> Any:
    """How scikit-learn's diagrams show a search: its best estimator, or its estimator before fit.

    What makes blocks has no public name. Tried on 1.6.0 and 1.9.1.
    """
    return GridSearchCV._sk_visual_block_(search)
