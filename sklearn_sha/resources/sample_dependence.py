"""What is searched whose best value depends on the number of samples."""

from __future__ import annotations

from typing import Any

from sklearn_sha._param_validation import is_int
from sklearn_sha.resources.base import MANY_SAMPLES
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_prefix, last_step

_RELATIVE = frozenset({"ccp_alpha", "min_impurity_decrease", "min_weight_fraction_leaf"})
"""Parameters of trees, also in ensembles, that count in shares of the samples."""

_ABSOLUTE_OR_RELATIVE = frozenset({"min_samples_split", "min_samples_leaf"})
"""Those that count in shares if their values are not integers."""

_TREE, _NEIGHBORS = "BaseDecisionTree", {"KNeighborsClassifier", "KNeighborsRegressor"}
"""By name, since importing these classes takes as long as importing the rest of this package."""

_SIZE = "size of a tree"


def sample_dependence(tuned: TunedEstimator, n_samples: int) -> str:
    """Return why candidates that are trained on a part of the samples are ranked differently.

    Parameters
    ----------
    tuned : TunedEstimator
    n_samples : int
        Number of all samples.

    Returns
    -------
    str
        Half a sentence; empty if nothing is searched that depends on the number of samples.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn_sha.resources import TunedEstimator
    >>> from sklearn_sha.resources.sample_dependence import sample_dependence
    >>> tree = TunedEstimator(DecisionTreeClassifier(), [{"max_depth": [5, 10]}])
    >>> sample_dependence(tree, 1000)
    'the best size of a tree depends on the number of samples'
    >>> sample_dependence(TunedEstimator(SVC(), [{"C": [1, 10]}]), 1000)
    ''
    """
    models = [last_step(model) for model in tuned.models()]
    if any(hasattr(model, "fit_predict") and not hasattr(model, "predict") for model in models):
        return "models without predict are scored by what they found in their training samples"
    if _has_shares(tuned):
        return f"the best {_SIZE} depends on the number of samples"
    found = {_size(last_step(model), searched) for model, searched in tuned.variants()}
    if "" in found or tuned.decisive_distributions() or n_samples >= MANY_SAMPLES:
        return ""
    depend = "depends" if len(found) == 1 else "depend"
    return f"the best {' and the best '.join(sorted(found))} {depend} on the number of samples"


def _size(model: Any, searched: frozenset[str]) -> str:
    """What is searched of a tree or of nearest neighbors and depends on the number of samples."""
    classes = {cls.__name__ for cls in type(model).__mro__}
    if _TREE in classes:
        return _SIZE
    return "number of neighbors" if classes & _NEIGHBORS and "n_neighbors" in searched else ""


def _has_shares(tuned: TunedEstimator) -> bool:
    """Whether parameters of trees are searched that count in shares of the samples."""
    prefix = last_prefix(tuned.estimator)
    return any(
        _counts_in_shares(name.rpartition("__")[2], values)
        for space in tuned.spaces
        for name, values in space.items()
        if name.startswith(prefix)
    )


def _counts_in_shares(name: str, values: Any) -> bool:
    """Whether values of a parameter of trees count in shares of the samples."""
    if name not in _ABSOLUTE_OR_RELATIVE:
        return name in _RELATIVE
    return not hasattr(values, "pmf") if hasattr(values, "rvs") else not all(map(is_int, values))
