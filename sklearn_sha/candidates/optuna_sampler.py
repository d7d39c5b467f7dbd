"""Candidates proposed by a sampler of Optuna."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from scipy.stats import loguniform, randint, uniform

from sklearn_sha._param_validation import check_int, is_real
from sklearn_sha.candidates.base import History, Sampler, Space
from sklearn_sha.candidates.distinct import is_exhausted_by
from sklearn_sha.candidates.distributions import (
    described,
    family_of,
    has_quantiles,
    is_log_uniform,
)
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.space import params_key, spaces_of, value_key

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler
    from optuna.trial import FrozenTrial

_MAX_TRIALS_PER_CANDIDATE = 4
"""Number of trials after which no further candidates are expected, as all were repeated."""

_VERBOSITY = Lock()


class OptunaSampler(Sampler):
    """Sampler that asks one of Optuna for candidates, in waves (extra ``optuna``).

    Each wave has a new in-memory study and a new Optuna sampler, whose seed is derived from the
    `random_state` of the search. The study has a trial for each earlier candidate:

    - Scores at the largest resource so far, by the largest number of folds, are those of complete
      trials. Scores at different resources are not comparable, therefore a candidate that has not
      reached it is a pruned trial. Its scores are intermediate values, whose steps number the
      resources from 0. TPESampler ranks pruned trials after complete ones, those with later steps
      first.
    - A failed candidate has the lowest score at the smallest resource.
    - A candidate that has no scores yet is a running trial.
    - A candidate that is not in the space is left out.

    An Optuna sampler can learn from earlier waves if it uses trials only, as TPESampler does.
    CmaEsSampler and NSGAIISampler keep their state elsewhere and start from scratch in each wave.
    Before Optuna 5.0, set ``constant_liar=True`` of TPESampler, or the candidates of a wave are
    close to each other; QMCSampler samples the first wave at random, and lists in all waves.

    Lists are categorical parameters, with any values. ``scipy.stats.uniform``, ``loguniform``
    (without `loc`) and ``randint`` become Optuna's distributions, and a ``range`` that of integers.
    In a list of dicts, the dict is a categorical parameter too, and each dict has its own
    parameters, which is a conditional space in Optuna's terms: TPESampler supports it, and
    QMCSampler samples part of it at random. Optuna's log messages about this are hidden.

    If all values are lists with at most n combinations left, it proposes all of them in the order
    of GridSearchCV.

    Parameters
    ----------
    make_sampler : callable
        Class of an Optuna sampler, or a function that returns an instance. It is called as
        ``make_sampler(seed=...)`` for each wave. Use ``functools.partial`` to set parameters;
        unlike a lambda, it can be pickled, and a checkpoint recognizes when they change.
    wave_size : int, default=16
        Maximum number of candidates of a wave.

    Raises
    ------
    TypeError
        If `make_sampler` is an instance of an Optuna sampler, which has no new seed for each wave.
    ValueError
        If `wave_size` is not an integer of at least 1; by `check`, if the space has another
        distribution.
    ImportError
        By `check` and `propose`, if Optuna is not installed.

    Examples
    --------
    ::

        from functools import partial

        from optuna.samplers import TPESampler
        from scipy.stats import loguniform
        from sklearn_sha.candidates import OptunaSampler, check_sampler

        sampler = OptunaSampler(partial(TPESampler, n_startup_trials=8), wave_size=8)
        check_sampler(sampler, {"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "poly"]})
    """

    uses_history = True
    packages = ("optuna",)

    def __init__(self, make_sampler: Callable[..., BaseSampler], wave_size: int = 16) -> None:
        if not callable(make_sampler):
            example = "Use a class of optuna.samplers, such as TPESampler."
            raise TypeError(
                f"make_sampler={make_sampler!r} must be a class or a function, as each wave needs "
                f"a sampler with a new seed. {optuna_error(make_sampler) or example}"
            )
        check_int("wave_size", wave_size)
        self.make_sampler = make_sampler
        self.wave_size = wave_size

    def check(self, space: Space) -> None:
        with _quiet_optuna():
            _ConvertedSpace(space)

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> list[dict[str, Any]]:
        if is_exhausted_by(n, space, history.candidates):
            return RandomSampler().propose(n, space, history, rng)
        known = {params_key(params): params for params in history.candidates}
        n = min(n, self.wave_size)
        seed = int(rng.randint(np.iinfo(np.int32).max))
        new: dict[Hashable, dict[str, Any]] = {}
        with _quiet_optuna():
            from optuna import create_study

            converted = _ConvertedSpace(space)
            study = create_study(sampler=self.make_sampler(seed=seed), direction="maximize")
            study.add_trials(_trials(converted, known, history))
            # Without scrambling, QMCSampler begins with the candidates of earlier waves.
            for _ in range(len(known) + n * _MAX_TRIALS_PER_CANDIDATE):
                params = converted.suggest(study.ask())
                key = params_key(params)
                if key not in known:
                    new.setdefault(key, params)
                if len(new) == n:
                    return list(new.values())
        # All others were repeated.
        so_far = History((*history.candidates, *new.values()), history.evaluations)
        others = RandomSampler().propose(n - len(new), space, so_far, rng)
        return [*new.values(), *others]


def optuna_error(sampler: Any) -> str:
    """Return what to write for an Optuna sampler, or "" if it is something else."""
    optuna = sys.modules.get("optuna")  # if it is one, it has been imported
    if optuna is None:
        return ""
    kind = sampler if isinstance(sampler, type) else type(sampler)
    return _how_to_write(kind.__name__) if issubclass(kind, optuna.samplers.BaseSampler) else ""


def _how_to_write(name: str) -> str:
    return (
        f"Use sklearn_sha.candidates.OptunaSampler({name}), or functools.partial({name}, ...) in "
        f"place of {name} to set its parameters other than seed."
    )


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    """Hide log messages, of which there is one per trial and parameter, and experimental warnings.

    Raises
    ------
    ImportError
        If Optuna is not installed.
    """
    try:
        from optuna import logging
        from optuna.exceptions import ExperimentalWarning
    except ImportError as error:
        raise ImportError(
            f"OptunaSampler requires the package {error.name}. Install sklearn_sha[optuna], or set "
            'sampler="auto".'
        ) from error
    # The verbosity is that of the process, hence one thread at a time.
    with _VERBOSITY, warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        verbosity = logging.get_verbosity()
        logging.set_verbosity(max(verbosity, logging.ERROR))
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)


def _trials(
    space: _ConvertedSpace, candidates: Mapping[Hashable, Mapping[str, Any]], history: History
) -> list[FrozenTrial]:
    """Return the trials of all candidates that are in the space."""
    from optuna.trial import TrialState, create_trial

    described = {key: space.describe(params) for key, params in candidates.items()}
    known = {key: found for key, found in described.items() if found is not None}
    evaluated = [(params_key(one.params), one) for one in history.evaluations]
    # Levels that only candidates outside of the space have reached do not count.
    evaluated = [(key, one) for key, one in evaluated if key in known]
    levels = sorted({(one.n_resources, one.n_folds) for _, one in evaluated})
    scores: dict[Hashable, dict[int, float]] = {key: {} for key in known}
    for key, one in evaluated:
        scores[key][levels.index((one.n_resources, one.n_folds))] = one.mean_score
    # The lowest score of the first step that has any.
    pairs = (pair for values in scores.values() for pair in values.items())
    worst = min((pair for pair in pairs if not np.isnan(pair[1])), default=None)

    trials = []
    for key, (suggested, distributions) in known.items():
        values = scores[key]
        state, value = TrialState.RUNNING, None
        if any(np.isnan(score) for score in values.values()):
            values = {} if worst is None else dict([worst])
            state = TrialState.FAIL  # if there is no score to compare with
        if values:
            last = max(values)
            state = TrialState.COMPLETE if last == len(levels) - 1 else TrialState.PRUNED
            value = values[last]
        trials.append(
            create_trial(
                state=state,
                value=value,
                params=suggested,
                distributions=distributions,
                intermediate_values=values,
            )
        )
    return trials


class _ConvertedSpace:
    """Search space as parameters of Optuna.

    Raises
    ------
    ValueError
        If a distribution cannot be converted.
    """

    def __init__(self, space: Space) -> None:
        from optuna.distributions import CategoricalDistribution

        dicts = spaces_of(space)
        # Optuna requires that a parameter has the same distribution in all trials.
        prefixes = [f"{number}." for number in range(len(dicts))] if len(dicts) > 1 else [""]
        self._choice = CategoricalDistribution(range(len(dicts)))
        self._dicts = [
            # Sorted, so that the order of the dict does not matter.
            {name: _converted(name, prefix + name, one[name]) for name in sorted(one)}
            for prefix, one in zip(prefixes, dicts, strict=True)
        ]

    def suggest(self, trial: Trial) -> dict[str, Any]:
        """Return the candidate of a trial."""
        number: Any = 0
        if len(self._dicts) > 1:
            number = trial.suggest_categorical("space", self._choice.choices)
        return {name: parameter.suggest(trial) for name, parameter in self._dicts[number].items()}

    def describe(
        self, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, BaseDistribution]] | None:
        """Return the parameters of a trial and their distributions. None: not in the space."""
        for number, one in enumerate(self._dicts):
            if one.keys() != params.keys():
                continue
            found = {one[name].name: one[name].find(params[name]) for name in one}
            if None in found.values():
                continue
            # In the order in which they are suggested, which BruteForceSampler relies on.
            distributions = {parameter.name: parameter.distribution for parameter in one.values()}
            if len(self._dicts) > 1:
                return {"space": number} | found, {"space": self._choice} | distributions
            return found, distributions
        return None


@dataclass(frozen=True)
class _Parameter:
    """Parameter of Optuna.

    Attributes
    ----------
    name : str
    distribution : BaseDistribution
    values : list or None
        Values of a list, whose indices are categories. None: the value itself is suggested.
    """

    name: str
    distribution: BaseDistribution
    values: Sequence[Any] | None = None

    def suggest(self, trial: Trial) -> Any:
        """Return a value for a trial."""
        limits: Any = self.distribution
        if self.values is not None:
            return self.values[trial.suggest_categorical(self.name, limits.choices)]
        if self._kind is int:
            return trial.suggest_int(self.name, limits.low, limits.high, step=limits.step)
        return trial.suggest_float(self.name, limits.low, limits.high, log=limits.log)

    def find(self, value: Any) -> int | float | None:
        """Return what Optuna suggests for a value. None: the value is not possible."""
        if self.values is not None:
            key = value_key(value)
            keys = map(value_key, self.values)
            return next((index for index, one in enumerate(keys) if one == key), None)
        limits: Any = self.distribution
        if not is_real(value) or not limits.low <= value <= limits.high:
            return None
        suggested = self._kind(value)
        is_on_step = limits.step is None or (suggested - limits.low) % limits.step == 0
        return suggested if suggested == value and is_on_step else None

    @property
    def _kind(self) -> type[int] | type[float]:
        from optuna.distributions import IntDistribution

        return int if isinstance(self.distribution, IntDistribution) else float


def _converted(name: str, optuna_name: str, values: Any) -> _Parameter:
    """Return the parameter of Optuna for a list or a distribution."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(values, range):  # which can be long
        low, high = sorted([values[0], values[-1]])
        return _Parameter(optuna_name, IntDistribution(low, high, step=abs(values.step)))
    if not hasattr(values, "rvs"):
        values = list(values)
        return _Parameter(optuna_name, CategoricalDistribution(range(len(values))), values)
    family = family_of(values)
    if isinstance(family, type(uniform) | type(loguniform) | type(randint)):
        low, high = values.support()
        is_log = isinstance(family, type(loguniform))
        # A shifted loguniform has another median. Without quantiles, parameters are invalid or
        # arrays.
        is_range = has_quantiles(values) and bool(np.isfinite([low, high]).all())
        if is_range and (not is_log or is_log_uniform(values)):
            if isinstance(family, type(randint)):
                return _Parameter(optuna_name, IntDistribution(int(low), int(high)))
            return _Parameter(optuna_name, FloatDistribution(float(low), float(high), log=is_log))
    raise ValueError(
        f"OptunaSampler cannot convert the distribution of parameter {name!r}: "
        f"{described(values)}. Use "
        "scipy.stats.uniform, loguniform (without loc) or randint, or a list of values, or set "
        'sampler="random".'
    )
