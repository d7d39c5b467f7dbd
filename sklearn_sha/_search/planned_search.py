"""The plan of a search: its resource, its first candidates and its schedule."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.random import RandomState
from sklearn.base import BaseEstimator

from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._search.advice import (
    audit_notes,
    cost_warning,
    first_rung_notes,
    grid_notes,
    single_rung_note,
)
from sklearn_sha._search.aliases import search_space, space_name
from sklearn_sha._search.automatic_schedule import Option, automatic_option, single_rung
from sklearn_sha._search.planning import (
    Plan,
    PlanningContext,
    Training,
    check_folds_grow,
    check_keeps,
    fold_growth,
    plan_of_space,
    planning_bounds,
    resource_limits,
)
from sklearn_sha._search.validation import check_names, check_sampled
from sklearn_sha._user_warning import warn_user
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.initial import fixed_spaces, initial_candidates
from sklearn_sha.candidates.proposals import typical_candidates
from sklearn_sha.candidates.registry import resolve_sampler
from sklearn_sha.candidates.space import spaces_of
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits, WholeFit
from sklearn_sha.resources.resolve import resolve_resource
from sklearn_sha.resources.tuned_estimator import TunedEstimator
from sklearn_sha.schedules import Schedule


class PlannedSearch(BaseEstimator, metaclass=ABCMeta):
    """Base class of the searches up to the plan, with the methods by which subclasses decide it."""

    # In `extend`, the resource of `fit` if all estimators have it.
    _kept_resource: Resource | None = None

    @abstractmethod
    def _algorithm(self) -> Algorithm:
        """Return the algorithm of the search."""

    @abstractmethod
    def _candidates(
        self, bounds: Callable[[int], Bounds], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of candidates, and the candidates that are known before the search.

        Parameters
        ----------
        bounds : callable
            Returns the bounds of the algorithm for a number of candidates.
        rng : RandomState
        """

    def _check_plan(self, plan: Schedule, limits: Limits) -> None:
        """Warn about a plan that is probably not intended."""

    def _is_fully_automatic(self) -> bool:
        """Return whether the resource and the schedule may be replaced by better ones."""
        return False

    def _may_have_folds(self) -> bool:
        """Return whether folds may be the resource, although it is not given."""
        return False

    def _has_automatic_maximum(self) -> bool:
        """Return whether notes explain the resource of the last rung, which the user left open."""
        return bool(self.max_resources == "auto")

    def _ends_at_automatic_maximum(self) -> bool:
        """Return whether the last rung certainly has the automatic maximum."""
        return self._has_automatic_maximum()

    def _make_plan(
        self,
        algorithm: Algorithm,
        training: Training,
        context: PlanningContext,
        random_state: RandomState,
    ) -> Plan:
        """Make the candidates and the schedule."""
        space, initial = self._space(), self._initial_candidates()
        kept = context.kept_resource
        if kept is not None:
            training = Training.of(kept, context.tuned)
        limits = resource_limits(training.resource, context)
        bounds = partial(self._bounds, algorithm, training.resource, context, limits)
        n_candidates, candidates = self._candidates(bounds, random_state)
        proposes_later = self._sampler().uses_history
        known = [*candidates, *typical_candidates(space)] if proposes_later else candidates
        check_names(self.estimator, known)
        plan_for = partial(self._plan_option, algorithm, context, n_candidates, candidates, known)
        if self._may_have_folds() and kept is None:
            n_samples = n_samples_of(context.data.X)
            chosen, why_in_folds = automatic_option(training, plan_for, context.tuned, n_samples)
        else:
            chosen, why_in_folds = plan_for(training), ""
        training, limits, schedule = chosen.training, chosen.limits, chosen.schedule
        resource = training.resource
        if error := resource.first_rung_error(min(schedule.n_resources), limits):
            raise ValueError(error)
        self._check_plan(schedule, limits)
        for message in resource.warnings(context.tuned, schedule.rungs[-1].n_resources):
            warn_user(message)
        warning = ""
        whole_fit: WholeFit | None = None
        notes: list[str] = []
        is_automatic = self._is_fully_automatic()
        why_few = first_rung_notes(schedule, limits, self.factor) if is_automatic else []
        keeps_folds = kept is not None and kept.counts_folds
        if is_automatic and not keeps_folds and not chosen.is_worth_rungs:
            training, schedule = single_rung(chosen, context, n_candidates, self.factor)
        else:
            warning = cost_warning(schedule, limits, algorithm)
            if self._has_automatic_maximum() and limits.default is not None:
                whole_fit = resource.whole_fit(context.tuned, context.example, limits.default)
            notes += self._notes(chosen, context, why_in_folds, whole_fit)
        notes += why_few
        if not proposes_later:
            n_different = len(candidates) - schedule.n_repeated
            notes += grid_notes(space, candidates, n_different, initial)
        notes += audit_notes(schedule, self.audit_eliminated)
        schedule = replace(schedule, notes=(*schedule.notes, *notes))
        return Plan(candidates, training, schedule, warning, whole_fit)

    def _bounds(
        self,
        algorithm: Algorithm,
        resource: Resource,
        context: PlanningContext,
        limits: Limits,
        n_candidates: int,
    ) -> Bounds:
        """Return the bounds within which the algorithm plans."""
        growth = fold_growth(self.min_folds, context.data, resource)
        n_kept = len(self._initial_candidates()) if self.keep_initial else 0
        ranges = self.min_resources, self.max_resources
        return planning_bounds(algorithm, limits, *ranges, growth, n_kept, n_candidates)

    def _plan_option(
        self,
        algorithm: Algorithm,
        context: PlanningContext,
        n_candidates: int,
        candidates: list[dict[str, Any]],
        known: list[dict[str, Any]],
        training: Training,
    ) -> Option:
        """Plan the rungs of one resource."""
        resource = training.resource
        check_sampled(resource, context.tuned, known)
        continues = training.continues(context, known)
        limits = replace(resource_limits(resource, context), continues=continues)
        bounds = self._bounds(algorithm, resource, context, limits, n_candidates)
        # Brackets can share a candidate.
        n_repeated = len(candidates) - len({id(params) for params in candidates})

        def described(schedule: Schedule) -> Option:
            schedule = replace(
                schedule,
                unit=limits.unit,
                continuation=resource.continuation,
                counts_folds=resource.counts_folds,
                n_repeated=n_repeated,
            )
            return Option(training, limits, schedule)

        if self._sampler().uses_history:
            initial = self._initial_candidates()
            found = described(plan_of_space(algorithm, bounds, self._space(), initial))
        else:
            found = described(algorithm.plan(replace(bounds, max_candidates=len(candidates))))
        has_brackets = len(found.schedule.brackets) > 1
        if self._is_fully_automatic() and has_brackets and not found.is_worth_rungs:
            # Several brackets, for a sampler that uses the history, have more fits than one.
            found = described(algorithm.plan(replace(bounds, max_candidates=n_candidates)))
        check_keeps(bounds.n_kept, found.schedule, algorithm)
        check_folds_grow(self.min_folds, bounds.fold_growth, found.schedule, algorithm)
        return found

    def _notes(
        self,
        option: Option,
        context: PlanningContext,
        why_in_folds: str,
        whole_fit: WholeFit | None,
    ) -> list[str]:
        """Return notes: the reason of the resource and of the maximum, and how it is refit."""
        resource, schedule = option.training.resource, option.schedule
        n_train = context.data.n_samples
        notes = resource.cheaper_notes(context.tuned, schedule, n_train, self.factor)
        if why_in_folds:
            notes.append(
                f"The resource is the number of folds, since {why_in_folds}. To set their numbers, "
                'set resource="folds" and min_resources.'
            )
        if self._has_automatic_maximum():
            n_resources = schedule.rungs[-1].n_resources
            notes += resource.maximum_notes(context.tuned, context.example, n_resources)
        if whole_fit is not None and whole_fit.replaces(schedule.rungs[-1].n_resources):
            notes.append(whole_fit.note)
        have_single_rungs = len(schedule.rungs) == len(schedule.brackets)
        are_full = len({rung.n_resources for rung in schedule.rungs}) == 1
        if have_single_rungs and are_full and self._explains_single_rungs():
            notes.append(single_rung_note(schedule, option.limits))
        return notes

    def _explains_single_rungs(self) -> bool:
        """Return whether a note explains why each bracket has a single rung."""
        return False

    def _space(self) -> Any:
        """Return the search space, by whichever of its names it was given."""
        return search_space(self)

    def _tuned_estimator(self) -> TunedEstimator:
        """Return the estimator with its search space."""
        # Initial candidates are spaces too: they must not have the resource, for example.
        initial, name = self._initial_candidates(), space_name(self)
        spaces = [*spaces_of(self._space()), *fixed_spaces(initial)]
        name += " and initial_candidates" if initial else ""
        # Another maximum than the estimator's own contradicts a parameter that is the resource.
        sets_integers = self._ends_at_automatic_maximum()
        return TunedEstimator.with_constants(
            self.estimator, spaces, name, sets_integers=sets_integers
        )

    def _initial_candidates(self) -> list[dict[str, Any]]:
        """Return the candidates that are tried first."""
        return initial_candidates(self.initial_candidates, self.estimator, self._space())

    def _resource(self, tuned: TunedEstimator) -> Resource:
        """Return the resource; "auto" is resolved to one that all candidates have."""
        return resolve_resource(self.resource, tuned, self.batch_size)

    def _sampler(self) -> Sampler:
        """Return the sampler; a name is resolved."""
        return resolve_sampler(self.sampler)
