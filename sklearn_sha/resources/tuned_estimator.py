"""An estimator and the spaces that are searched for it: what a resource is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import accumulate, chain
from typing import Any, Self

from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from sklearn_sha._compat import routing_enabled
from sklearn_sha._param_validation import is_int, is_placeholder
from sklearn_sha.candidates.space import constants_of, with_params
from sklearn_sha.resources.boosting_libraries import booster_of

# Parameters of a last step whose values can change which resource it has.
_DECISIVE = ("solver", "early_stopping", "callbacks", "estimator")


@dataclass(frozen=True, eq=False)
class TunedEstimator:
    """An estimator and the spaces that are searched for it.

    Attributes
    ----------
    estimator : estimator
        Can be a Pipeline. Not changed.
    spaces : sequence of dict
        Parameter names to lists of values or to distributions.
    space_name : str
        The name by which the user gave `spaces`, for messages.
    resource_name : str, default=""
        Name of the resource that the user gave. It can be a parameter of a component, such as
        ``regressor__n_estimators``, so that each component in the spaces must have it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn_sha.resources import TunedEstimator
    >>> pipeline = make_pipeline(StandardScaler(), SGDClassifier())
    >>> tuned = TunedEstimator(pipeline, [{"sgdclassifier__alpha": [1e-4, 1e-3]}])
    >>> tuned.searched_of_last, tuned.fits_last_step_alone
    ({'alpha'}, True)
    """

    estimator: Any
    spaces: Sequence[Mapping[str, Any]]
    space_name: str = "param_distributions"
    resource_name: str = ""

    @classmethod
    def with_constants(
        cls,
        estimator: Any,
        spaces: Sequence[Mapping[str, Any]],
        space_name: str,
        resource_name: str,
        *,
        sets_integers: bool,
    ) -> Self:
        """Treat a parameter whose list has a single value as set on the estimator.

        Parameters
        ----------
        estimator, spaces, space_name, resource_name
            As the attributes.
        sets_integers : bool
            Whether values that are integers are set too: they can be the resource.
        """
        constants = constants_of(spaces)
        if routing_enabled() and isinstance(estimator, Pipeline):
            steps = estimator.named_steps
            constants = {name: value for name, value in constants.items() if name not in steps}
        if not sets_integers:
            constants = {name: value for name, value in constants.items() if not is_int(value)}
        if not constants:
            return cls(estimator, spaces, space_name, resource_name)
        own = estimator.get_params()
        steps = {n: v for n, v in constants.items() if n in own and hasattr(v, "get_params")}
        model = with_params(estimator, steps)
        constants = {name: value for name, value in constants.items() if _has_param(model, name)}
        searched = [{n: v for n, v in space.items() if n not in constants} for space in spaces]
        return cls(with_params(estimator, constants), searched, space_name, resource_name)

    @property
    def searched(self) -> set[str]:
        """The names of all parameters that are searched."""
        return {name for space in self.spaces for name in space}

    @property
    def searched_of_last(self) -> set[str]:
        """The parameters of the last step, and of what it holds, without their prefixes."""
        prefix = last_prefix(self.estimator)
        return {name.rpartition("__")[2] for name in self.searched if name.startswith(prefix)}

    @property
    def n_searched_steps(self) -> int:
        """Number of preprocessing steps that are fitted again for each candidate."""
        if not isinstance(self.estimator, Pipeline):
            return 0
        *steps, last = (name for name, _ in self.estimator.steps)
        searched = {name.partition("__")[0] for name in self.searched}
        return len(steps) if searched.difference([last]) else 0

    @property
    def is_pipeline(self) -> bool:
        """Whether all candidates are pipelines of the same names of steps."""
        return isinstance(self.estimator, Pipeline) and not self.searches_steps

    @property
    def searches_steps(self) -> bool:
        """Whether the list of a pipeline's steps is searched."""
        return isinstance(self.estimator, Pipeline) and "steps" in self.searched

    @property
    def searches_requests(self) -> bool:
        """Whether the requests of a candidate's own steps decide what they receive."""
        is_routed = routing_enabled() and isinstance(self.estimator, Pipeline)
        return is_routed and not self.searched.isdisjoint(self.estimator.named_steps)

    @property
    def fits_last_step_alone(self) -> bool:
        """Whether fitting a pipeline's preprocessing and then its last step is what its fit does.

        Not if a subclass can override Pipeline's fit, if the pipeline transforms what it passes to
        its steps, or if the last step passes samples through.
        """
        if not self.is_pipeline or type(self.estimator) is not Pipeline:
            return False
        if getattr(self.estimator, "transform_input", None) is not None:
            return False
        if self.searches_requests:
            return False
        name, own = self.estimator.steps[-1]
        listed = (space.get(name, [own]) for space in self.spaces)
        steps = chain.from_iterable([own] if hasattr(v, "rvs") else v for v in listed)
        return not any(map(is_placeholder, steps))

    def models(self, largest: Sequence[str] = ()) -> list[Any]:
        """The estimators of `variants`."""
        return [model for model, _ in self.variants(largest)]

    def variants(self, largest: Sequence[str] = ()) -> Iterator[tuple[Any, frozenset[str]]]:
        """Estimators with each combination of the values on which the choice of a resource depends.

        Parameters
        ----------
        largest : sequence of str, default=()
            Parameters of the last step that have the largest integer of their lists.

        Yields
        ------
        estimator
            Not fitted.
        frozenset of str
            The parameters of its last step that are searched, without the step's name.
        """
        for space in self.spaces:
            values = {
                name: space[name]
                for name in self._decisive(space)
                if not hasattr(space[name], "rvs")
            }
            for name in (f"{last_prefix(self.estimator)}{name}" for name in largest):
                listed = () if hasattr(space.get(name), "rvs") else space.get(name, ())
                ends = (listed[0], listed[-1]) if isinstance(listed, range) and listed else listed
                if integers := [value for value in ends if is_int(value)]:
                    values[name] = [max(integers)]
            for params in ParameterGrid(values):
                model = with_params(self.estimator, params)
                prefix = last_prefix(model)
                names = (name.removeprefix(prefix) for name in space if name.startswith(prefix))
                yield model, frozenset(names)

    def decisive_distributions(self) -> set[str]:
        """Parameters with distributions on whose values the choice of a resource depends.

        A step or a solver, for example: its values are unknown before they are sampled.
        """
        return {
            name
            for space in self.spaces
            for name in self._decisive(space)
            if hasattr(space[name], "rvs")
        }

    def _decisive(self, space: Mapping[str, Any]) -> list[str]:
        """Names in a space whose values can change which resource its candidates have."""
        prefix = last_prefix(self.estimator)
        own = {"steps", prefix.removesuffix("__"), *(f"{prefix}{name}" for name in _DECISIVE)}
        if isinstance(self.estimator, Pipeline):
            steps = {*self.estimator.named_steps}.intersection(space)
            own.update(step for step in steps if _has_resampler(space[step]))
        own.update(accumulate(self.resource_name.split("__")[:-1], "{}__{}".format))
        return [name for name in space if name in own]


def _has_param(estimator: Any, name: str) -> bool:
    """Return whether a parameter, which can be nested, can be set on an estimator.

    Boosting libraries have others than ``get_params`` returns: those of CatBoost are returned once
    they are set, and LightGBM and XGBoost take parameters that their constructors do not name.
    """
    params = estimator.get_params()
    owner, _, own = name.rpartition("__")
    component = params.get(owner) if owner else estimator
    if name in params or booster_of(component) is None:
        return name in params
    accepted = signature(type(component)).parameters
    return own in accepted or any(p.kind is p.VAR_KEYWORD for p in accepted.values())


def last_step(estimator: Any) -> Any:
    """The last step of a pipeline; of anything else, itself."""
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def last_prefix(estimator: Any) -> str:
    """Return what the names of a pipeline's last step's parameters begin with, or ""."""
    return f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""


def resamples(estimator: Any) -> bool:
    """Whether a pipeline has steps that resample, as imbalanced-learn's do."""
    is_pipeline = isinstance(estimator, Pipeline)
    return is_pipeline and any(hasattr(step, "fit_resample") for _, step in estimator.steps)


def _has_resampler(values: Any) -> bool:
    is_list = isinstance(values, Iterable) and not hasattr(values, "rvs")
    return is_list and any(hasattr(value, "fit_resample") for value in values)
