"""A search's parameters and data, checked, and made into what the engine runs on."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import type_of_target, unique_labels

from sklearn_sha._auto_resource import (
    auto_resource,
    counted,
    decisive_distributions,
    growing_parameter,
    last_prefix,
    last_step,
    resamples,
    variants,
)
from sklearn_sha._boosters import booster_of
from sklearn_sha._candidates import (
    draw_different,
    grid_of,
    search_space,
    space_name,
    spaces_of,
    with_params,
)
from sklearn_sha._checks import check_int, check_patience, is_int, is_real
from sklearn_sha._evaluate import Setting
from sklearn_sha._fixed_costs import SAMPLES_PER_FIT, fixed_cost
from sklearn_sha._folds import Fold, class_codes, make_folds, row_numbers, with_subsampling
from sklearn_sha._scoring import Scoring, make_scoring
from sklearn_sha._table import quantity
from sklearn_sha.resources import IntegerParameter, PartialFit, Resource, SampleCount
from sklearn_sha.schedules import Schedule, schedule_from_range

MAX_EPOCHS = 100
"""What ``max_resources="auto"`` is at most for ``resource="partial_fit"`` if ``fit`` can stop
before the estimator's `max_iter`."""

WORTH_HALVING = 0.8
"""An automatic schedule that would cost more than this share of a grid search is one."""

MIN_FIRST_SAMPLES, MIN_FIRST_PER_CLASS = 200, 10
"""How many samples an automatic first rung has at least, in all and of each class."""

_WORTH_ADVICE = 1.25
# Besides what it trains, a call of partial_fit costs as much as training on so many samples, and
# a fit of an ensemble one part in so many of it.
_SAMPLES_PER_CALL, _TREES_PER_FIT = 300, 20
_NAMES: dict[type, str] = {PartialFit: "partial_fit", SampleCount: "n_samples"}
_ITERATION_PARAMETERS = ("max_iter", "n_iter", "max_epochs")
_GROWING_PARAMETERS = ("n_estimators", *_ITERATION_PARAMETERS)
# Of scikit-learn's estimators: when fit is to stop, which a number of calls decides here.
_NOT_OF_PARTIAL_FIT = ("max_iter", "n_iter_no_change", "tol")
# Whose partial_fit adds samples to counts: the same samples again change nothing, or too much.
_COUNTING = {
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "IncrementalPCA",
    "MaxAbsScaler", "MinMaxScaler", "MultinomialNB", "StandardScaler",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """How much resource the estimator and the data allow.

    Attributes
    ----------
    lowest : int
        The least units that make sense.
    first : int
        The least units of an automatic first rung.
    default : int or None
        What ``max_resources="auto"`` stands for; None if nothing sets it.
    highest : int or None
        The most units that there are; None for no end.
    resource : str
        What the resource is.
    unit : str
        What is counted, in the plural.
    fixed : Fraction
        What a fit costs besides its units, in units.
    rate : Fraction
        What a unit costs, if one costs 1 in the `fit` of a grid search.
    is_automatic : bool
        Whether the user leaves the resource and its amounts to the search.
    continues : bool
        Whether models keep training from rung to rung.
    """

    lowest: int = 1
    first: int = 1
    default: int | None = None
    highest: int | None = None
    resource: str = ""
    unit: str = "units"
    fixed: Fraction = Fraction(0)
    rate: Fraction = Fraction(1)
    is_automatic: bool = False
    continues: bool = False

    def cap(self, max_resources: Any) -> int | None:
        """The most that a candidate may get; None if neither user nor data set it."""
        if max_resources == "auto":
            return self.highest
        if self.highest is not None and max_resources > self.highest:
            raise ValueError(
                f"max_resources={max_resources} is more than the "
                f"{quantity(self.highest, self.unit)} of "
                'the largest training fold; lower it or leave it "auto".'
            )
        return int(max_resources)

    def cost(self, schedule: Schedule) -> float:
        """What a schedule costs as a share of a grid search, fixed costs included."""
        return schedule.relative_cost(self.fixed, self.rate)

    def maximum(self, max_resources: Any) -> int:
        """What the last rung is at."""
        highest = self.default if max_resources == "auto" else self.cap(max_resources)
        if highest is None:
            raise ValueError(
                f'max_resources="auto" is the value of resource={self.resource!r} in the '
                "estimator, which has none, or several; give max_resources an integer."
            )
        if highest < 1:
            raise ValueError(
                f'max_resources="auto" is the value of resource={self.resource!r} in the '
                f"estimator, {highest}, which is less than 1; give max_resources an integer."
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
    warning : str
        What the user should know before the search runs; empty if nothing.
    """

    candidates: list[dict[str, Any]]
    schedule: Schedule
    folds: list[Fold]
    setting: Setting
    scoring: Scoring
    resource: str
    warning: str = ""


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
    scoring = make_scoring(
        search.estimator, search.scoring, raise_errors=search.error_score == "raise"
    )
    if scoring.metrics is not None:  # else they are known once something has been scored
        search._promoting_metric(scoring.metrics)
    X, y = indexable(X, y)
    last = last_step(search.estimator)
    if y is None and hasattr(last, "fit") and get_tags(last).target_tags.required:
        raise ValueError(
            f"{type(last).__name__} requires y to be passed, but the target y is "
            "None; give fit the targets."
        )
    example = _example(search, random_state)
    kind = resource_kind(search)
    if kind == "partial_fit":
        _warn_of_ignored(search)
    _check_resource(search, kind)

    has_prefix = trains_last_step(search.estimator, search_space(search), kind)
    routed = _route(search, params, scoring, kind, has_prefix)
    splitter = check_cv(search.cv, y, classifier=is_classifier(search.estimator))
    splits = list(splitter.split(X, y, **routed.split))
    if not splits:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? "
            f"cv={search.cv!r} yields no split; give one that yields at least one."
        )
    n_splits = splitter.get_n_splits(X, y, **routed.split)
    if len(splits) != n_splits:
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. Expected "
            f"{n_splits} splits, got {len(splits)} from cv={search.cv!r}."
        )
    n_train = max(len(row_numbers(train)) for train, _ in splits)
    codes = class_codes(y) if is_classifier(search.estimator) else None
    unit = _unit(search, kind, example)
    limits = replace(_limits(search, kind, example, n_train, codes, X), resource=kind, unit=unit)
    candidates = search._candidates(limits, random_state)
    _check_sampled(search, kind, candidates)
    continues = _continues(search, kind, has_prefix, candidates, n_train, routed.fit)
    limits = replace(limits, continues=continues)
    schedule = search._schedule(len(candidates), limits)
    _check_first_rung(kind, schedule, limits)
    if kind == "partial_fit":
        _warn_of_counting(search, schedule.rungs[-1].resource)
    notes: list[str] = []
    if limits.is_automatic and limits.cost(schedule) > WORTH_HALVING:
        notes.append(_why_grid_search(replace(schedule, unit=unit), limits))
        warning = ""
        schedule = Schedule.from_rungs([len(candidates)], [n_train], continues=False)
        if kind == "n_samples":
            notes += _advice(search, schedule, n_train)
        else:
            kind, unit = "n_samples", SampleCount.unit
            has_prefix = trains_last_step(search.estimator, search_space(search), kind)
            routed.fit.pop("classes", None)  # which fit finds in y
    else:
        warning = _warning(schedule, limits)
        notes += _notes(search, kind, example, schedule, n_train)
    notes += _grid_notes(search, candidates)
    schedule = replace(schedule, unit=unit, notes=tuple(notes))
    folds = make_folds(
        X,
        y,
        splits,
        fit_params=routed.fit,
        prefix_params=routed.prefix,
        score_params=routed.score,
        pairwise=_is_pairwise(example, X),
    )
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    resource = _make_resource(search, kind, has_prefix, seed, last_step(example), y)
    if not isinstance(resource, PartialFit | IntegerParameter):
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
    return Setup(candidates, schedule, folds, setting, scoring, kind, warning)


def _example(search: Any, random_state: RandomState) -> Any:
    """The estimator with the parameters of one candidate."""
    (params,) = draw_different(search_space(search), 1, deepcopy(random_state))
    return with_params(search.estimator, params)


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


def resource_kind(search: Any) -> str:
    """What the resource of a search is: "partial_fit", "n_samples", a parameter or a class."""
    resource = search.resource
    if isinstance(resource, str):
        if resource != "auto":
            return resource
        if search.batch_size is not None and hasattr(last_step(search.estimator), "partial_fit"):
            return "partial_fit"
        return auto_resource(search.estimator, spaces_of(search_space(search)))
    # Those of the library are the same as their names.
    if type(resource) is IntegerParameter:
        return resource.name
    return _NAMES.get(type(resource), type(resource).__name__)


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


def classes_of(trained: Any, y: Any) -> Any:
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


def _own_resource(search: Any) -> Resource | None:
    """The resource of a search where it is none of the library's."""
    resource = search.resource
    is_known = isinstance(resource, str) or type(resource) in (*_NAMES, IntegerParameter)
    return None if is_known else resource


def _make_resource(
    search: Any, kind: str, has_prefix: bool, seed: int, trained: Any, y: Any
) -> Resource:
    if (own := _own_resource(search)) is not None:
        return own
    if kind == "n_samples":
        return SampleCount()
    if kind != "partial_fit":
        return _parameter(kind, has_prefix)
    given = search.resource if isinstance(search.resource, PartialFit) else PartialFit()
    return PartialFit(
        _batch_size(search),
        seed if given.seed is None else given.seed,
        classes_of(trained, y) if given.classes is None else given.classes,
    )


def _parameter(kind: str, has_prefix: bool) -> IntegerParameter:
    """The resource of a parameter, named as the trained estimator does."""
    return IntegerParameter(kind.partition("__")[2] if has_prefix else kind)


def _batch_size(search: Any) -> int | None:
    own = search.resource.batch_size if isinstance(search.resource, PartialFit) else None
    return search.batch_size if own is None else own


def _unit(search: Any, kind: str, example: Any) -> str:
    """What the resource counts, in the plural."""
    if (own := _own_resource(search)) is not None:
        return own.unit
    if kind == "n_samples":
        return SampleCount.unit
    if kind == "partial_fit":
        return PartialFit(_batch_size(search)).unit
    if isinstance(search.resource, IntegerParameter) and search.resource.unit != "units":
        return search.resource.unit
    owner = kind.rpartition("__")[0]
    return counted(kind, example.get_params()[owner] if owner else example)


def _limits(
    search: Any,
    kind: str,
    example: Any,
    n_train: int,
    codes: NDArray[np.intp] | None,
    X: Any,
) -> Limits:
    if (own := _own_resource(search)) is not None:
        return Limits(lowest=own.lowest, first=own.lowest)
    n_classes = 1 if codes is None else int(codes.max()) + 1
    fixed = Fraction(fixed_cost(last_step(example), X, n_classes))
    fixed += SAMPLES_PER_FIT * _n_searched_steps(search)
    is_automatic = search._may_be_grid_search() and search.resource == "auto"
    if kind == "n_samples":
        first = min(n_train, max(MIN_FIRST_SAMPLES, MIN_FIRST_PER_CLASS * n_classes))
        return Limits(
            2 * n_classes, first, n_train, n_train, fixed=fixed, is_automatic=is_automatic
        )
    if kind != "partial_fit":
        values = {model.get_params().get(kind) for model in _variants(search)}
        value = values.pop() if len(values) == 1 else None  # families can have several
        default = value if is_int(value) else None
        fixed = Fraction(default or 0, _TREES_PER_FIT)
        return Limits(default=default, fixed=fixed, is_automatic=is_automatic)
    default, highest = _calls(last_step(example), _batch_size(search), n_train)
    if _batch_size(search) is not None:  # a grid search has nothing that compares with a batch
        return Limits(default=default, highest=highest)
    rate = 1 + Fraction(_SAMPLES_PER_CALL, n_train)
    return Limits(
        default=default, highest=highest, fixed=fixed / n_train, rate=rate,
        is_automatic=is_automatic,
    )  # fmt: skip


def _n_searched_steps(search: Any) -> int:
    """How many preprocessing steps are fitted for each candidate anew."""
    if not isinstance(search.estimator, Pipeline):
        return 0
    *steps, last = (name for name, _ in search.estimator.steps)
    searched = {name.partition("__")[0] for name in _searched_names(search_space(search))}
    return len(steps) if searched.difference([last]) else 0


def _calls(model: Any, batch_size: int | None, n_train: int) -> tuple[int, int | None]:
    """How often ``partial_fit`` is called by default, and at most."""
    if type(model).__name__ in _COUNTING and batch_size is not None:
        one_pass = -(-n_train // batch_size)
        return one_pass, one_pass
    _, value = iterations(model)
    if value is None:
        return MAX_EPOCHS, None
    return (min(value, MAX_EPOCHS) if _can_stop(model) else value), None


def iterations(model: Any) -> tuple[str, int | None]:
    """The parameter that says how often a model's ``fit`` iterates, and its value."""
    for name in _ITERATION_PARAMETERS:
        value: Any = getattr(model, name, None)
        if is_int(value):
            return name, int(value)
    return "", None


def _can_stop(model: Any) -> bool:
    return hasattr(model, "tol") or hasattr(model, "n_iter_no_change")


def _continues(
    search: Any,
    kind: str,
    has_prefix: bool,
    candidates: list[dict[str, Any]],
    n_train: int,
    fit_params: dict[str, Any],
) -> bool:
    """Whether the model of every candidate keeps training: as planned, so run."""
    if kind in ("partial_fit", "n_samples"):
        return kind == "partial_fit"
    own = _own_resource(search)
    resource = own or _parameter(kind, has_prefix)

    def continues(params: dict[str, Any]) -> bool:
        model = with_params(search.estimator, params)
        trained = model[-1] if has_prefix else model
        if own is None and fit_params.keys() - {"sample_weight"} and booster_of(trained):
            return False  # callbacks, say, or initial scores, which each fit begins anew with
        return resource.continues(trained, n_train)

    return all(map(continues, candidates))


def _why_grid_search(schedule: Schedule, limits: Limits) -> str:
    """Why an automatic schedule is one rung at full resource."""
    if len(schedule.rungs) == 1:
        return (
            "One rung at full resource, as in GridSearchCV: the schedule for "
            f"{quantity(schedule.n_different, 'candidates')} and "
            f"{quantity(schedule.rungs[-1].resource, schedule.unit)} has a single rung."
        )
    return (
        f"One rung at full resource, as in GridSearchCV: {len(schedule.rungs)} rungs starting at "
        f"{quantity(schedule.rungs[0].resource, schedule.unit)} would cost "
        f"{limits.cost(schedule):.2f} times as much, including the fixed cost of each fit, "
        f"and less than {WORTH_HALVING} is worth it. Set min_resources to run them anyway."
    )


def _warning(schedule: Schedule, limits: Limits) -> str:
    """That explicit settings cost more than a grid search, where they do."""
    cost = limits.cost(schedule)
    if cost <= 1 or schedule.repeats or len(schedule.rungs) == 1:
        return ""
    return (
        f"Including the fixed cost of each fit, this search costs {cost:.2f} times a grid search "
        f"over the same candidates ({schedule.relative_cost():.2f} without it). Raise "
        "min_resources or factor, or choose another resource."
    )


def _notes(search: Any, kind: str, example: Any, schedule: Schedule, n_train: int) -> list[str]:
    """What a plan has to say besides its table."""
    has_budget = getattr(search, "budget", None) not in (None, "double")
    if kind == "partial_fit" and search.max_resources == "auto" and not has_budget:
        model = last_step(example)
        name, value = iterations(model)
        highest = schedule.rungs[-1].resource
        if value == highest:
            return [f"max_resources='auto' is {name}={value} of {type(model).__name__}."]
        if value is not None and value > highest:
            return [
                f"max_resources='auto' is {highest} epochs: {name}={value} of "
                f"{type(model).__name__} is only an upper bound, since fit can stop earlier."
            ]
    if kind == "n_samples":
        return _advice(search, schedule, n_train)
    return []


def _grid_notes(search: Any, candidates: list[dict[str, Any]]) -> list[str]:
    """How many combinations of a grid are tried, unless all are."""
    grid = grid_of(search_space(search))
    n_sampled = len({id(params) for params in candidates})  # brackets can share a combination
    if grid is None or n_sampled == len(grid):
        return []
    return [f"{n_sampled} of the {len(grid)} combinations of the grid are sampled."]


def _advice(search: Any, schedule: Schedule, n_train: int) -> list[str]:
    """Which parameter would be the cheaper resource, if there is one."""
    spaces = spaces_of(search_space(search))
    found = set()
    for model, searched in variants(search.estimator, spaces):
        last = last_step(model)
        name = growing_parameter(last)
        if name is None or name in searched or not IntegerParameter(name).continues(last, n_train):
            return []
        found.add((f"{last_prefix(model)}{name}", getattr(last, name), "learning_rate" in searched))
    if len(found) != 1:
        return []
    ((name, value, crosses),) = found
    n = schedule.n_candidates[0]
    other = schedule_from_range(n, factor=search.factor, max_resources=value)
    ratio = schedule.relative_cost() / other.relative_cost()
    if ratio < _WORTH_ADVICE:
        return []
    caution = " (learning_rate is searched: large ones lead in early rungs)" if crosses else ""
    return [f"resource={name!r} continues training and costs {ratio:.1f} times less{caution}."]


def _check_first_rung(kind: str, schedule: Schedule, limits: Limits) -> None:
    first = min(schedule.n_resources)
    if kind == "n_samples" and 2 * first < limits.lowest and first != limits.highest:
        raise ValueError(
            f"resource='n_samples' would start with {quantity(first, SampleCount.unit)}, too "
            f"few to contain each of the {limits.lowest // 2} classes; raise min_resources, "
            "max_resources or budget (they count training samples), or choose another resource."
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
    is_otherwise = search.model_memory in ("auto", None)
    check_int("model_memory", search.model_memory, '"auto" or None', is_otherwise)
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


def _check_resource(search: Any, kind: str) -> None:
    batch_size = search.batch_size
    if batch_size is not None and kind != "partial_fit":
        raise ValueError(
            f"batch_size={batch_size} is for resource='partial_fit', but the resource is "
            f"{kind!r}; leave batch_size=None."
        )
    if isinstance(search.resource, PartialFit) and batch_size not in (None, _batch_size(search)):
        raise ValueError(
            f"batch_size={batch_size} and resource=PartialFit(batch_size="
            f"{_batch_size(search)}) are not the same; leave batch_size=None."
        )
    if kind == "n_samples" or _own_resource(search) is not None:
        return
    if kind != "partial_fit" and kind in _searched_names(search_space(search)):
        raise ValueError(
            f"resource={kind!r} is searched too; take it out of {space_name(search)}, or use "
            "another resource."
        )
    _check_have_resource(search, kind, _variants(search))


def _check_sampled(search: Any, kind: str, candidates: list[dict[str, Any]]) -> None:
    """Raise an error if a candidate lacks the resource because of a sampled step or parameter."""
    if kind == "n_samples" or _own_resource(search) is not None:
        return
    sampled = decisive_distributions(search.estimator, spaces_of(search_space(search)))
    models = [with_params(search.estimator, p) for p in candidates if not sampled.isdisjoint(p)]
    _check_have_resource(search, kind, [*_variants(search), *models])


def _variants(search: Any) -> list[Any]:
    return [model for model, _ in variants(search.estimator, spaces_of(search_space(search)))]


def _check_have_resource(search: Any, kind: str, models: list[Any]) -> None:
    """Raise an error if an estimator, as the space makes it, can't have a resource."""
    for model in models:
        if why_not := _why_not(model, kind):
            raise ValueError(f"{why_not}; {_what_works(search, models)}.")


def _why_not(model: Any, kind: str) -> str:
    """Why an estimator can't have a resource; empty if it can."""
    name, last = type(model).__name__, last_step(model)
    if kind == "partial_fit":
        if resamples(model):
            return (
                f"resource='partial_fit' can't train the last step of {name} apart from steps "
                "that resample"
            )
        if not hasattr(last, "partial_fit"):
            return f"resource='partial_fit' needs partial_fit, which {last} does not have"
        return ""
    if not _has_parameter(model, kind):
        which = name if last is model else f"{name} with the last step {last}"
        return f"resource={kind!r} is no parameter of {which}"
    value = model.get_params().get(kind)
    if value is not None and not is_int(value):
        return f"resource={kind!r} is no integer parameter of {name} (its value is {value!r})"
    return ""


def _warn_of_counting(search: Any, n_calls: int) -> None:
    last = last_step(search.estimator)
    if n_calls > 1 and type(last).__name__ in _COUNTING and _batch_size(search) is None:
        warnings.warn(
            f"resource='partial_fit' gives {type(last).__name__} the same samples at every call, "
            "which adds them to its counts again. Set resource='n_samples', or set batch_size, "
            "which limits training to one pass.",
            UserWarning,
            stacklevel=4,
        )


def _warn_of_ignored(search: Any) -> None:
    last = last_step(search.estimator)
    owner = last_prefix(search.estimator)
    searched = {
        name.rpartition("__")[2]
        for name in _searched_names(search_space(search))
        if name.startswith(owner)
    }
    ignored = sorted(searched.intersection(_NOT_OF_PARTIAL_FIT))
    if ignored and type(last).__module__.startswith("sklearn."):
        warnings.warn(
            f"{space_name(search)} searches {', '.join(ignored)}, which partial_fit of "
            f"{type(last).__name__} ignores: candidates that differ in nothing else are "
            "the same. Take it out, or set resource='n_samples'.",
            UserWarning,
            stacklevel=4,
        )


def _what_works(search: Any, models: list[Any]) -> str:
    """Advice to use a resource that all estimators of the space have."""
    params = [model.get_params() for model in models]
    shared = set.intersection(*map(set, params)) - _searched_names(search_space(search))
    fitting = [
        name
        for name in sorted(shared)
        if name.split("__")[-1] in _GROWING_PARAMETERS
        and all(is_int(of_model[name]) and of_model[name] >= 1 for of_model in params)
    ]
    always = [] if any(_why_not(model, "partial_fit") for model in models) else ["partial_fit"]
    names = [*always, "n_samples", *fitting]
    return "use " + " or ".join(f"resource={name!r}" for name in names)
