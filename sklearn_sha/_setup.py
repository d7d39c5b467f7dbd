"""A search's parameters and data, checked, and made into what the engine runs on."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import type_of_target, unique_labels

from sklearn_sha._boosters import booster_of
from sklearn_sha._candidates import N_CANDIDATES, draw_different, spaces_of
from sklearn_sha._checks import check_int, check_patience, is_int, is_real
from sklearn_sha._evaluate import Setting
from sklearn_sha._folds import Fold, class_codes, make_folds, with_subsampling
from sklearn_sha._scoring import Scoring, make_scoring
from sklearn_sha.resources import IntegerParameter, PartialFit, Resource, SampleCount
from sklearn_sha.schedules import Schedule

PARTIAL_FIT_CALLS = 100
"""What ``max_resources="auto"`` is for ``resource="partial_fit"``."""

_ITERATION_PARAMETERS = ("max_iter", "n_iter", "max_epochs")
_GROWING_PARAMETERS = ("n_estimators", *_ITERATION_PARAMETERS)
# Of scikit-learn's estimators: when fit is to stop, which a number of calls decides here.
_NOT_OF_PARTIAL_FIT = ("max_iter", "n_iter_no_change", "tol")


@dataclass(frozen=True)
class Limits:
    """What the estimator and the data say about how much resource a candidate can have.

    Attributes
    ----------
    lowest : int
        The least units that make sense.
    default : int or None
        What ``max_resources="auto"`` stands for; None where nothing says so.
    highest : int or None
        The most units that there are; None for no end.
    continues : bool
        Whether models keep training from rung to rung.
    """

    lowest: int
    default: int | None
    highest: int | None
    continues: bool

    def cap(self, max_resources: Any) -> int | None:
        """The most that a candidate may get; None where neither user nor data say so."""
        if max_resources == "auto":
            return self.highest
        if self.highest is not None and max_resources > self.highest:
            raise ValueError(
                f"max_resources={max_resources} is more than the {self.highest} rows of the "
                'largest training fold; lower it or leave it "auto".'
            )
        return int(max_resources)

    def maximum(self, max_resources: Any, resource: str | Resource) -> int:
        """What the last rung is at."""
        highest = self.default if max_resources == "auto" else self.cap(max_resources)
        if highest is None:
            raise ValueError(
                f'max_resources="auto" is the value of resource={resource!r} in the estimator, '
                "which has none; give max_resources an integer."
            )
        if highest < 1:
            raise ValueError(
                f'max_resources="auto" is the value of resource={resource!r} in the estimator, '
                f"{highest}, which is less than 1; give max_resources an integer."
            )
        return highest


def minimum(min_resources: Any, highest: int) -> int | None:
    """`min_resources` in units, where `highest` is the maximum; None for "auto"."""
    if min_resources == "auto":
        return None
    if is_int(min_resources):
        return int(min_resources)
    return max(1, int(Fraction(str(min_resources)) * highest))


@dataclass(frozen=True)
class Setup:
    """All that a search is.

    Attributes
    ----------
    candidates : list of dict
    schedule : Schedule
    folds : list of Fold
    setting : Setting
    scoring : Scoring
    resource : str
        What "auto" became.
    """

    candidates: list[dict[str, Any]]
    schedule: Schedule
    folds: list[Fold]
    setting: Setting
    scoring: Scoring
    resource: str


def set_up(search: Any, X: Any, y: Any, params: dict[str, Any], random_state: RandomState) -> Setup:
    """Check a search's parameters against its data, draw candidates and cut folds.

    Parameters
    ----------
    search : search estimator
        Not changed, but for random states and iterators among its parameters.
    X, y : array-like
    params : dict
        Of fit: metadata for the estimator, the splitter and the scorer.
    random_state : RandomState
        Advanced by what is drawn.

    Returns
    -------
    Setup

    Raises
    ------
    TypeError, ValueError
        For what the user got wrong, with the parameter, its value and what to do.
    """
    _check_parameters(search)
    X, y = indexable(X, y)
    last = _last_step(search.estimator)
    if y is None and hasattr(last, "fit") and get_tags(last).target_tags.required:
        raise ValueError(
            f"{type(last).__name__} requires y to be passed, but the target y is "
            "None; give fit the targets."
        )
    kind = resource_kind(search.estimator, search.resource)
    if kind == "partial_fit":
        _warn_of_ignored(search)
    own = search.resource if isinstance(search.resource, Resource) else None
    examples = _examples(search, deepcopy(random_state))
    example = next((e for e in examples if own or _has_resource(e, kind)), examples[0])
    _check_resource(search, kind, example)

    scoring = make_scoring(
        search.estimator, search.scoring, raise_errors=search.error_score == "raise"
    )
    has_prefix = trains_last_step(search.estimator, search.param_distributions, kind)
    routed = _route(search, params, scoring, kind, has_prefix)
    splitter = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    splits = list(splitter.split(X, y, **routed.split))
    if not splits:
        raise ValueError(f"cv={search.cv!r} yields no split; give one that yields at least one.")
    folds = make_folds(
        X,
        y,
        splits,
        fit_params=routed.fit,
        prefix_params=routed.prefix,
        score_params=routed.score,
        pairwise=_is_pairwise(example, X),
    )
    may_cut_rows = kind == "n_samples" or own is not None
    by_class = may_cut_rows and is_classifier(search.estimator)
    codes = class_codes(y) if by_class else None
    limits = (
        _limits(kind, has_prefix, example, examples, folds, codes, routed.fit)
        if own is None
        else Limits(own.lowest, None, None, _all_continue(own, examples, folds))
    )
    candidates, schedule = search._contest(limits, random_state)
    _check_first_rung(kind, schedule, limits)
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    resource: Resource
    if own is not None:
        resource = own
    elif kind == "partial_fit":
        resource = PartialFit(search.batch_size, seed, _classes(_last_step(example), y))
    elif kind == "n_samples":
        resource = SampleCount()
    else:
        resource = _parameter(kind, has_prefix)
    if may_cut_rows:
        folds = with_subsampling(folds, splitter=splitter, codes=codes, seed=seed)
    setting = Setting(
        search.estimator,
        resource,
        scoring.scorer,
        search.error_score,
        search.return_train_score,
        has_prefix,
        schedule.continues,
        # Under routing, a pipeline's own score may send metadata to its other steps.
        scores_pipeline=has_prefix
        and (
            not scoring.sees_predictions_only
            or bool(search.scoring is None and routed.score and _routing_enabled())
        ),
    )
    return Setup(candidates, schedule, folds, setting, scoring, kind)


def _examples(search: Any, random_state: RandomState) -> list[Any]:
    """Estimators of some candidates, to look at."""
    some = draw_different(search.param_distributions, N_CANDIDATES, random_state)
    return [clone(search.estimator).set_params(**clone(p, safe=False)) for p in some]


def _last_step(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _has_resource(estimator: Any, kind: str) -> bool:
    if kind == "partial_fit":
        return hasattr(_last_step(estimator), "partial_fit")
    return kind == "n_samples" or _has_parameter(estimator, kind)


def _has_parameter(estimator: Any, name: str) -> bool:
    params = estimator.get_params()
    owner, _, own_name = name.rpartition("__")
    # CatBoost's parameters are those that were set.
    booster = booster_of(params.get(owner) if owner else estimator)
    return name in params or (booster is not None and own_name in booster.rounds)


def _is_pairwise(estimator: Any, X: Any) -> bool:
    if not get_tags(estimator).input_tags.pairwise:
        return False
    if not hasattr(X, "shape") or X.shape[0] != X.shape[1]:
        raise ValueError(
            "X should be a square kernel matrix: precomputed kernels, affinities and distances "
            "have to be passed as arrays or sparse matrices of shape (n_samples, n_samples)."
        )
    return True


def resource_kind(estimator: Any, resource: str | Resource) -> str:
    """What ``resource`` is for an estimator: "partial_fit", "n_samples", a parameter or a class."""
    if isinstance(resource, Resource):
        return type(resource).__name__
    if resource != "auto":
        return resource
    last = _last_step(estimator)
    iterates = hasattr(last, "partial_fit") and any(
        name in last.get_params(deep=False) for name in _ITERATION_PARAMETERS
    )
    return "partial_fit" if iterates else "n_samples"


def trains_last_step(estimator: Any, param_distributions: Any, kind: str) -> bool:
    """Whether the steps of a pipeline before its last are fitted once for many candidates."""
    if not isinstance(estimator, Pipeline):
        return False
    if "steps" in _searched_names(param_distributions):
        return False
    if kind == "partial_fit":
        return True
    last = estimator.steps[-1][0]
    steps = [estimator.steps[-1][1], *_searched_values(param_distributions, last)]
    if any(step is None or isinstance(step, str) for step in steps):
        return False  # a last step that passes rows on has nothing to train
    # What overrides Pipeline's fit, or changes y on its way, has to be fitted whole.
    if type(estimator) is not Pipeline or getattr(estimator, "transform_input", None) is not None:
        return False
    return kind == "n_samples" or kind.startswith(f"{last}__")


def _searched_names(param_distributions: Any) -> set[str]:
    return {name for space in spaces_of(param_distributions) for name in space}


def _searched_values(param_distributions: Any, name: str) -> list[Any]:
    """The listed values of a searched parameter."""
    values = [space[name] for space in spaces_of(param_distributions) if name in space]
    return [value for listed in values if not hasattr(listed, "rvs") for value in listed]


@dataclass(frozen=True)
class _Routed:
    """Parameters of fit, by who gets them; not yet cut to folds."""

    fit: dict[str, Any]
    prefix: dict[str, Any]
    split: dict[str, Any]
    score: dict[str, Any]


def _routing_enabled() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def _route(
    search: Any, params: dict[str, Any], scoring: Scoring, kind: str, has_prefix: bool
) -> _Routed:
    if _routing_enabled():
        routed = process_routing(search, "fit", **params)
        method = "partial_fit" if kind == "partial_fit" else "fit"
        return _Routed(
            dict(routed.estimator[method]),
            dict(routed.get("prefix", {}).get("fit_transform", {})),
            dict(routed.splitter["split"]),
            dict(routed.scorer["score"]),
        )
    fit = dict(params)
    split = {"groups": fit.pop("groups", None)}
    weight = fit.get("sample_weight")
    score = {}
    if weight is not None and scoring.takes_sample_weight(type(search).__name__):
        score["sample_weight"] = weight
    if not has_prefix:
        return _Routed(fit, {}, split, score)
    last = search.estimator.steps[-1][0]
    for name in fit:
        if "__" not in name:
            raise ValueError(
                f"{name} was passed to fit, but a Pipeline takes the parameters of its steps "
                f"as stepname__parameter; pass {last}__{name} for the last step."
            )
    to_last = {k: v for k, v in fit.items() if k.startswith(f"{last}__")}
    return _Routed(
        {k.removeprefix(f"{last}__"): v for k, v in to_last.items()},
        {k: v for k, v in fit.items() if k not in to_last},
        split,
        score,
    )


def _classes(trained: Any, y: Any) -> Any:
    """What the first partial_fit is told of the classes: all that y has."""
    if y is None or not is_classifier(trained):
        return None
    if issparse(y) and (y.ndim == 1 or y.shape[1] == 1):
        return None  # estimators refuse such a column, and say so
    from sklearn.multioutput import ClassifierChain, MultiOutputClassifier  # slow to import

    of_each_output = isinstance(trained, MultiOutputClassifier | ClassifierChain)
    try:
        with np.errstate(invalid="ignore"):  # of NaN, which is no class
            y = check_array(
                y, accept_sparse=True, dtype=None, ensure_2d=False, ensure_all_finite=False
            )
            if of_each_output or type_of_target(y) == "multiclass-multioutput":
                return [np.unique(column) for column in np.asarray(y).T]
            return unique_labels(y)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"partial_fit has to be told which classes y has, and that can't be said: {error}; "
            "give labels of one kind, and none that is missing."
        ) from error


def _parameter(kind: str, has_prefix: bool) -> IntegerParameter:
    """The resource of a parameter, named as the trained estimator does."""
    return IntegerParameter(kind.partition("__")[2] if has_prefix else kind)


def _limits(
    kind: str,
    has_prefix: bool,
    example: Any,
    examples: list[Any],
    folds: list[Fold],
    codes: NDArray[np.intp] | None,
    fit_params: dict[str, Any],
) -> Limits:
    if kind == "partial_fit":
        return Limits(1, PARTIAL_FIT_CALLS, None, True)
    largest = max(len(fold.train) for fold in folds)
    if kind == "n_samples":
        n_classes = 1 if codes is None else int(codes.max()) + 1
        return Limits(2 * n_classes, largest, largest, False)
    value = example.get_params().get(kind)
    default = int(value) if is_int(value) else None
    trained = [e[-1] if has_prefix else e for e in examples if _has_resource(e, kind)]
    continues = _all_continue(_parameter(kind, has_prefix), trained, folds)
    if fit_params.keys() - {"sample_weight"} and any(map(booster_of, trained)):
        continues = False  # callbacks, say, or scores to begin with, which begin anew with each fit
    return Limits(1, default, None, continues)


def _all_continue(resource: Resource, examples: list[Any], folds: list[Fold]) -> bool:
    # As planned, so run: where one of the examples can't continue, none does.
    largest = max(len(fold.train) for fold in folds)
    return all(resource.continues(model, largest) for model in examples)


def _check_first_rung(kind: str, schedule: Schedule, limits: Limits) -> None:
    first = min(schedule.n_resources)
    if kind == "n_samples" and 2 * first < limits.lowest and first != limits.highest:
        raise ValueError(
            f"resource='n_samples' would start with {first} rows, too few to hold each of the "
            f"{limits.lowest // 2} classes; raise min_resources, max_resources or budget (they "
            "count rows), or choose another resource."
        )


def _check_parameters(search: Any) -> None:
    if isinstance(search.estimator, type):
        name = search.estimator.__name__
        raise TypeError(f"estimator={name} is a class; give an instance of it: {name}().")
    least = search.min_resources
    check_int("max_resources", search.max_resources, '"auto"', search.max_resources == "auto")
    check_int("batch_size", search.batch_size, "None", search.batch_size is None)
    is_fraction = is_real(least) and not is_int(least) and 0 < least <= 1
    check_int(
        "min_resources",
        least,
        '"auto" or a float in (0, 1], a fraction of max_resources',
        least == "auto" or is_fraction,
    )
    check_patience(search.patience, search.tol)
    for name in ("max_time", "fit_timeout"):
        seconds = getattr(search, name)
        if seconds is not None and not (is_real(seconds) and seconds > 0):
            raise ValueError(f"{name}={seconds!r} must be a number of seconds above 0, or None.")
    if search.score_memory not in ("last", "best", "mean"):
        raise ValueError(f'score_memory={search.score_memory!r} must be "last", "best" or "mean".')
    if search.error_score != "raise" and not is_real(search.error_score):
        raise ValueError(
            f"error_score={search.error_score!r}: error_score must be the string 'raise' or a "
            "numeric value."
        )
    if not isinstance(search.resource, str | Resource):
        raise TypeError(
            f'resource={search.resource!r} is neither a string nor a Resource; give "auto", '
            '"partial_fit", "n_samples", the name of an integer parameter, or an instance of a '
            "subclass of sklearn_sha.resources.Resource."
        )
    if not (isinstance(search.refit, bool | np.bool_ | str) or callable(search.refit)):
        raise TypeError(
            f"refit={search.refit!r} is neither a bool, nor a metric's name, nor a callable "
            "over cv_results_."
        )


def _check_resource(search: Any, kind: str, example: Any) -> None:
    name = type(search.estimator).__name__
    if search.batch_size is not None and kind != "partial_fit":
        raise ValueError(
            f"batch_size={search.batch_size} is for resource='partial_fit', but the resource is "
            f"{kind!r}; leave batch_size=None."
        )
    if kind == "n_samples" or isinstance(search.resource, Resource):
        return
    if kind == "partial_fit":
        if isinstance(example, Pipeline) and any(
            hasattr(step, "fit_resample") for _, step in example.steps
        ):
            raise ValueError(
                f"resource='partial_fit' can't train the last step of {name} apart from steps "
                "that resample; use resource='n_samples'."
            )
        if not _has_resource(example, kind):
            raise ValueError(
                f"resource='partial_fit' needs partial_fit, which "
                f"{type(_last_step(example)).__name__} does not have; {_what_works(example)}."
            )
        return
    if not _has_parameter(example, kind):
        raise ValueError(f"resource={kind!r} is no parameter of {name}; {_what_works(example)}.")
    if kind in _searched_names(search.param_distributions):
        raise ValueError(
            f"resource={kind!r} is searched too; take it out of param_distributions, or use "
            "another resource."
        )
    value = example.get_params().get(kind)
    if value is not None and not is_int(value):
        raise ValueError(
            f"resource={kind!r} is no integer parameter of {name} (its value is {value!r}); "
            f"{_what_works(example)}."
        )


def _warn_of_ignored(search: Any) -> None:
    last = _last_step(search.estimator)
    owner = f"{search.estimator.steps[-1][0]}__" if isinstance(search.estimator, Pipeline) else ""
    searched = {
        name.rpartition("__")[2]
        for name in _searched_names(search.param_distributions)
        if name.startswith(owner)
    }
    ignored = sorted(searched.intersection(_NOT_OF_PARTIAL_FIT))
    if ignored and type(last).__module__.startswith("sklearn."):
        warnings.warn(
            f"param_distributions searches {', '.join(ignored)}, which partial_fit of "
            f"{type(last).__name__} does not look at: candidates that differ in nothing else are "
            "the same. Take it out, or set resource='n_samples'.",
            UserWarning,
            stacklevel=4,
        )


def _what_works(estimator: Any) -> str:
    fitting = [
        name
        for name, value in sorted(estimator.get_params().items())
        if name.split("__")[-1] in _GROWING_PARAMETERS and is_int(value)
    ]
    always = ["partial_fit"] if _has_resource(estimator, "partial_fit") else []
    names = [*always, "n_samples", *fitting]
    return "use " + " or ".join(f"resource={name!r}" for name in names)
