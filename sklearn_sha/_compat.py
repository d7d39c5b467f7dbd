"""What scikit-learn and MLflow have no public name for: the reason, and the versions tried."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, Self

import sklearn
from sklearn.base import clone
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV

_VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
BaseSearchCV: Any = GridSearchCV.__base__
"""What other libraries recognize a search by.

It is an abstract base class, so classes can register, but it has no public name. Tried on
1.6.0 and 1.9.1.
"""

# Without metadata routing, searches give `sample_weight` to the scorer too since
# scikit-learn 1.7; before, to fit alone. Tried on 1.6.0, 1.7.2, 1.8.0 and 1.9.1.
SCORES_WITH_SAMPLE_WEIGHT = _VERSION >= (1, 7)

# Callbacks came with scikit-learn 1.9.
if _VERSION >= (1, 9):
    from sklearn.callback import CallbackSupportMixin, with_callbacks
else:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's."""

        def set_callbacks(self, *callbacks: Any) -> Self:
            """Refuse callbacks, which this version of scikit-learn does not have."""
            raise AttributeError(
                "set_callbacks needs scikit-learn 1.9 or newer, and this is "
                f"{sklearn.__version__}; update it, or set verbose=1 to see how the search goes."
            )

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Add to a method the frame that scikit-learn's adds, which warnings count on."""

        @wraps(method)
        def called(*args: Any) -> Any:
            return method(*args)

        return called


def callback_context(search: Any, n_subtasks: int) -> Any:
    """The root of a search's tree of tasks; None where nobody listens.

    `_init_callback_context` is documented for estimators of others; who listens is said by
    private names alone. Tried on 1.9.1.
    """
    listening = hasattr(search, "_parent_callback_ctx") or any(
        hasattr(value, "_skl_callbacks") for value in (search, *search.get_params().values())
    )
    return search._init_callback_context(max_subtasks=n_subtasks) if listening else None


def without_callbacks(estimator: Any) -> Any:
    """A copy of an estimator that nobody listens to, of which clones keep the callbacks."""
    copied = clone(estimator)
    for value in (copied, *copied.get_params().values()):
        if hasattr(value, "_skl_callbacks"):
            value.set_callbacks()
    return copied


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


def autologs_to_mlflow() -> bool:
    """Whether MLflow would log the fit of one of scikit-learn's estimators now.

    That it is paused (in `cross_val_score`, say) or inside of another fit has no public name.
    Tried on MLflow 3.17.2.
    """
    utils = sys.modules.get("mlflow.utils.autologging_utils")
    if utils is None or utils.autologging_is_disabled("sklearn"):
        return False
    is_exclusive = utils.get_autologging_config("sklearn", "exclusive", False)
    return not (
        utils._AUTOLOGGING_GLOBALLY_DISABLED
        or utils._has_active_training_session()
        or (is_exclusive and sys.modules["mlflow"].active_run() is not None)
    )
