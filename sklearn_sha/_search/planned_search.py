"""The plan of a search: its resource, its first candidates and its schedule."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.random import RandomState
from sklearn.base import BaseEstimator

from sklearn_sha._search.advice import (
    audit_notes,
    cost_warning,
    first_rung_notes,
    fixed_cost_notes,
    grid_notes,
    single_rung_note,
)
from sklearn_sha._search.aliases import search_space, space_name
from sklearn_sha._search.automatic_schedule import (
    Option,
    automatic_option,
    notes_on_folds,
    single_rung,
)
from sklearn_sha._search.planning import (
    Automatic,
    Plan,
    PlannedCandidates,
    PlanningContext,
    Training,
    check_folds_grow,
    check_keeps,
    fold_growth,
    plan_of_space,
    planned,
    resource_limits,
)
from sklearn_sha._search.validation import check_names, check_sampled
from sklearn_sha._user_warning import warn_user
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.initial import fixed_spaces, initial_candidates
from sklearn_sha.candidates.proposals import typical_candidates
from sklearn_sha.candidates.registry import resolve_sampler
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.candidates.space import spaces_of
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits, WholeFit, in_units
from sklearn_sha.resources.resolve import resolve_resource
from sklearn_sha.resources.tuned_estimator import TunedEstimator
from sklearn_sha.schedules import Schedule


class PlannedSearch(BaseEstimator, metaclass=ABCMeta):
    """Base class of the searches up to the plan, with the methods by which subclasses decide it."""

    @abstractmethod
    def _algorithm(self, sampler: Sampler) -> Algorithm:
        """Return the algorithm of the search."""

    @abstractmethod
    def _candidates(
        self, source: CandidateSource, plan: Callable[[int], Schedule], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of candidates, and the candidates that are known before the search.

        Parameters
        ----------
        source : CandidateSource
        plan : callable
            Returns the schedule of the algorithm for a number of candidates.
        rng : RandomState
        """

    def _plan_warnings(self, schedule: Schedule, limits: Limits) -> list[str]:
        """Return warnings about a plan that is probably not intended."""
        return []

    def _automatic(self) -> Automatic:
        """Return what the parameters leave to the plan."""
        is_automatic = self.max_resources == "auto"
        return Automatic(maximum=is_automatic, ends_at_maximum=is_automatic)

    def _make_plan(
        self,
        algorithm: Algorithm,
        training: Training,
        context: PlanningContext,
        random_state: RandomState,
    ) -> Plan:
        """Make the candidates and the schedule."""
        kept, automatic = context.kept_resource, self._automatic()
        if kept is not None:
            training = Training.of(kept, context.tuned)
        candidates = self._make_candidates(algorithm, training.resource, context, random_state)
        plan_for = partial(self._plan_option, algorithm, context, candidates)
        if automatic.folds and kept is None:
            chosen = automatic_option(training, plan_for, context)
        else:
            chosen = plan_for(training)
        self._check_option(chosen, context)
        training, limits, schedule = chosen.training, chosen.limits, chosen.schedule
        warning = ""
        whole_fit: WholeFit | None = None
        notes: list[str] = []
        keeps_folds = kept is not None and kept.counts_folds
        if automatic.schedule and not keeps_folds and not chosen.is_worth_rungs:
            training, schedule = single_rung(chosen, context, candidates.n, algorithm.factor)
        else:
            warning = cost_warning(schedule, limits, algorithm)
            cost_notes = fixed_cost_notes(schedule, limits)
            schedule = replace(schedule, notes=(*cost_notes, *schedule.notes))
            if automatic.maximum and limits.default is not None:
                whole_fit = training.resource.whole_fit(
                    context.tuned, context.example, limits.default
                )
            notes += self._notes(chosen, context, whole_fit, algorithm.factor)
        if automatic.first_rung:
            notes += first_rung_notes(chosen.schedule, limits, algorithm.factor)
        if not context.source.sampler.uses_history:
            n_different = len(candidates.known) - schedule.n_repeated
            notes += grid_notes(context.source, candidates.known, n_different)
        notes += audit_notes(schedule, self.audit_eliminated)
        schedule = replace(schedule, notes=(*schedule.notes, *notes))
        return Plan(candidates, training, schedule, warning, whole_fit)

    def _make_candidates(
        self,
        algorithm: Algorithm,
        resource: Resource,
        context: PlanningContext,
        random_state: RandomState,
    ) -> PlannedCandidates:
        """Return the candidates, after a check of their names."""
        source, limits = context.source, resource_limits(resource, context)
        bounds = partial(self._bounds, algorithm, resource, context, limits)
        n, known = self._candidates(source, lambda n: planned(algorithm, bounds(n)), random_state)
        later = typical_candidates(source.space) if source.sampler.uses_history else ()
        candidates = PlannedCandidates(n, known, [*known, *later])
        check_names(self.estimator, candidates.typical)
        return candidates

    def _check_option(self, option: Option, context: PlanningContext) -> None:
        """Raise an error if nothing can be trained in a first rung; warn about what is unusual."""
        resource, schedule, limits = option.training.resource, option.schedule, option.limits
        if error := resource.first_rung_error(schedule.min_resources, limits):
            raise ValueError(error)
        of_resource = resource.warnings(context.tuned, schedule.max_resources)
        for message in (*self._plan_warnings(schedule, limits), *of_resource):
            warn_user(message)

    def _bounds(
        self,
        algorithm: Algorithm,
        resource: Resource,
        context: PlanningContext,
        limits: Limits,
        n_candidates: int,
    ) -> Bounds:
        """Return the bounds within which the algorithm plans, as if models continued training."""
        if algorithm.has_own_rungs:
            last, first = limits.cap(self.max_resources) or 0, None
        else:
            last = limits.maximum(self.max_resources)
            first = in_units(self.min_resources, last)
        return Bounds(
            n_candidates,
            max_resources=last,
            min_resources=first,
            first=limits.first,
            lowest=limits.lowest,
            is_default_maximum=self.max_resources == "auto",
            fold_growth=fold_growth(self.min_folds, context.data, resource),
            n_kept=len(context.source.initial) if self.keep_initial else 0,
        )

    def _plan_option(
        self,
        algorithm: Algorithm,
        context: PlanningContext,
        candidates: PlannedCandidates,
        training: Training,
    ) -> Option:
        """Plan the rungs of one resource."""
        resource = training.resource
        check_sampled(resource, context.tuned, candidates.typical)
        limits = resource_limits(resource, context)
        bounds = self._bounds(algorithm, resource, context, limits, candidates.n)
        bounds = replace(bounds, continues=training.continues(context, candidates.typical))

        def described(schedule: Schedule) -> Option:
            schedule = replace(
                schedule if bounds.continues else schedule.with_refit_cost(),
                unit=limits.unit,
                continuation=resource.continuation,
                counts_folds=resource.counts_folds,
                n_repeated=candidates.n_repeated,
            )
            return Option(training, limits, schedule)

        if context.source.sampler.uses_history:
            found = described(plan_of_space(algorithm, bounds, context.source))
        else:
            n_known = len(candidates.known)
            found = described(planned(algorithm, replace(bounds, max_candidates=n_known)))
        has_brackets = len(found.schedule.brackets) > 1
        if self._automatic().schedule and has_brackets and not found.is_worth_rungs:
            # Several brackets, for a sampler that uses the history, have more fits than one.
            found = described(planned(algorithm, replace(bounds, max_candidates=candidates.n)))
        check_keeps(bounds.n_kept, found.schedule, algorithm)
        check_folds_grow(self.min_folds, bounds.fold_growth, found.schedule, algorithm)
        return found

    def _notes(
        self,
        option: Option,
        context: PlanningContext,
        whole_fit: WholeFit | None,
        factor: float,
    ) -> list[str]:
        """Return notes: the reason of the resource and of the maximum, and how it is refit."""
        automatic = self._automatic()
        resource, schedule = option.training.resource, option.schedule
        notes = notes_on_folds(option)
        if option.replaced is None:
            n_train = context.data.n_samples
            notes += resource.cheaper_notes(context.tuned, schedule, n_train, factor)
        if automatic.maximum:
            maximum = schedule.max_resources
            notes += resource.maximum_notes(context.tuned, context.example, maximum)
        if whole_fit is not None and whole_fit.replaces(schedule.max_resources):
            notes.append(whole_fit.note)
        limits = option.limits
        trains_as_fit = automatic.maximum and limits.equals_fit and not limits.fit_can_stop
        are_full = schedule.has_single_rungs and {*schedule.n_resources} == {limits.default}
        if automatic.explains_single_rungs and trains_as_fit and are_full:
            notes.append(single_rung_note(schedule, limits, factor))
        return notes

    def _source(self) -> CandidateSource:
        """Return where the candidates come from; the space has one of two names."""
        space = search_space(self)
        initial = initial_candidates(self.initial_candidates, self.estimator, space)
        return CandidateSource(space, resolve_sampler(self.sampler), initial, space_name(self))

    def _tuned_estimator(self, source: CandidateSource) -> TunedEstimator:
        """Return the estimator with its search space."""
        # Initial candidates are spaces too: they must not have the resource, for example.
        spaces = [*spaces_of(source.space), *fixed_spaces(source.initial)]
        name = source.space_name + (" and initial_candidates" if source.initial else "")
        # Another maximum than the estimator's own contradicts a parameter that is the resource.
        sets_integers = self._automatic().ends_at_maximum
        resource_name = str(getattr(self.resource, "name", self.resource))
        return TunedEstimator.with_constants(
            self.estimator, spaces, name, resource_name, sets_integers=sets_integers
        )

    def _resource(self, tuned: TunedEstimator) -> Resource:
        """Return the resource; "auto" is resolved to one that all candidates have."""
        return resolve_resource(self.resource, tuned, self.batch_size)
