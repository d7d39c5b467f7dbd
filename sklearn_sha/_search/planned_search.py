"""Preparation of a search: parameters and data become a plan, candidates and folds."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from numpy.random import RandomState
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_random_state, indexable
from sklearn.utils.metadata_routing import MetadataRouter, process_routing

from sklearn_sha._compat import is_multimetric_scorer, routing_enabled
from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.scoring import Scoring, make_scoring
from sklearn_sha._engine.template import Template
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
from sklearn_sha._search.routing import (
    RoutedParams,
    check_requests,
    metadata_router,
    routed_by_name,
    routed_by_request,
)
from sklearn_sha._search.search_spec import (
    FitInputs,
    SearchSpec,
    example_model,
    scores_pipeline,
    search_seed,
)
from sklearn_sha._search.split_data import search_folds, split_data
from sklearn_sha._search.validation import (
    callable_refit_message,
    check_names,
    check_parameters,
    check_sampled,
    check_targets,
    promoting_metric,
)
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.initial import fixed_spaces, initial_candidates
from sklearn_sha.candidates.proposals import typical_candidates
from sklearn_sha.candidates.registry import resolve_sampler
from sklearn_sha.candidates.space import spaces_of, with_params
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits, WholeFit
from sklearn_sha.resources.resolve import check_estimators, resolve_resource
from sklearn_sha.resources.tuned_estimator import TunedEstimator, last_step
from sklearn_sha.schedules import Schedule


class PlannedSearch(BaseEstimator, metaclass=ABCMeta):
    """Base class of the searches up to the plan, with the methods that a subclass defines."""

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

    def _can_start_again(self, spec: SearchSpec) -> bool:
        """Return whether the first rung may have more samples or folds than planned."""
        return False

    def _has_automatic_maximum(self) -> bool:
        """Return whether notes explain the resource of the last rung, which the user left open."""
        return bool(self.max_resources == "auto")

    def _ends_at_automatic_maximum(self) -> bool:
        """Return whether the last rung certainly has the automatic maximum."""
        return self._has_automatic_maximum()

    def plan(self, X: Any, y: Any = None, **params: Any) -> Schedule:
        """Return the schedule that `fit` would follow, without training any model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data, as for `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets, as for `fit`.
        **params : dict
            Parameters of `fit`.

        Returns
        -------
        Schedule
            Prints as a table. After `fit`, the attribute ``schedule_`` is the same, unless no
            candidate had a score in a rung of the first bracket and the search started again with
            more samples or folds.

        Raises
        ------
        TypeError, ValueError
            For parameters that `fit` would reject before training, except for values of `n_jobs`,
            `pre_dispatch`, `fit_timeout` and `checkpoint` that only `fit` checks.
        """
        if isinstance(self.cv, Iterator):
            raise TypeError(
                f"plan would use up the splits of cv={self.cv!r}. Pass a list of them instead: "
                "cv=list(...)."
            )
        # A copy, so that the random state is not advanced.
        random_state = deepcopy(check_random_state(self.random_state))
        try:
            copied = clone(self)
        except TypeError as error:
            raise TypeError(
                f"plan requires a copy of the search, and it cannot be copied ({error}). "
                "With verbose=1, fit shows its rungs."
            ) from error
        spec = copied._prepare(X, y, params, random_state)
        if spec.warning:
            warnings.warn(spec.warning, UserWarning, stacklevel=2)
        copied._warn_about_refit(spec)
        return spec.schedule

    def _warn_about_refit(self, spec: SearchSpec) -> None:
        """Warn if a callable `refit` will not receive all candidates."""
        message = callable_refit_message(
            self.refit,
            self.promote_by,
            spec.scoring.metrics,
            spec.schedule,
            can_train_all=self._can_train_all(spec.algorithm),
        )
        if message:
            warnings.warn(message, UserWarning, stacklevel=3)

    def _can_train_all(self, algorithm: Algorithm) -> bool:
        """Whether ``min_resources=1.0`` trains all candidates with full resource."""
        return False

    def _prepare(
        self, X: Any, y: Any, params: dict[str, Any], random_state: RandomState
    ) -> SearchSpec:
        """Check the parameters and the data, plan the rungs, and make candidates and folds."""
        check_parameters(vars(self))
        seed = search_seed(random_state)
        scoring = make_scoring(
            self.estimator, self.scoring, raise_errors=self.error_score == "raise"
        )
        if scoring.metrics is not None:  # otherwise they are unknown before the first score
            self._promoting_metric(scoring.metrics, scoring.is_multimetric)
        X, y = indexable(X, y)
        space = self._space()
        example = example_model(self.estimator, space, random_state)
        tuned = self._tuned_estimator()
        models = tuned.models()
        check_targets(models, y)
        resource = self._resource(tuned)
        check_estimators(resource, tuned, models)
        training = Training.of(resource, tuned)
        is_weighted = params.get("sample_weight") is not None and not routing_enabled()
        is_weighted = is_weighted and scoring.passes_sample_weight(type(self).__name__)
        routed = self._route(params, scoring, training, scores_weighted=is_weighted)
        fold_order_state = None if self.random_state is None else random_state
        data = split_data(
            X,
            y,
            self.estimator,
            self.cv,
            routed.split,
            fold_order_state,
            # In a pipeline, a placeholder can be replaced by classifiers.
            has_classes=any(map(is_classifier, models)),
        )
        context = PlanningContext(
            tuned,
            example,
            data.training_data(),
            list(routed.fit),
            kept_resource=self._kept_resource,
        )
        state, inputs = deepcopy(random_state), FitInputs(params, scoring, routed, data, seed)
        spec = self._specify(training, context, inputs, random_state)
        random_state.random_sample()  # another state in the next fit, also if nothing is sampled
        if not self._can_start_again(spec):
            return spec

        def starting_with(n_enough: int) -> SearchSpec:
            again = replace(context, n_enough=n_enough, kept_resource=spec.resource)
            return self._specify(training, again, inputs, deepcopy(state))

        return replace(spec, starting_with=starting_with)

    def _specify(
        self, training: Training, context: PlanningContext, inputs: FitInputs, rng: RandomState
    ) -> SearchSpec:
        """Plan the rungs, and make candidates and folds."""
        params, scoring, routed = inputs.params, inputs.scoring, inputs.routed
        algorithm = self._algorithm()
        plan = self._make_plan(algorithm, training, context, rng)
        resource = plan.training.resource
        if plan.training is not training:
            others = params
            if training.resource.training_method != resource.training_method:
                # classes is a parameter of partial_fit only.
                others = {k: v for k, v in params.items() if k.rpartition("__")[2] != "classes"}
            is_weighted = "sample_weight" in routed.score
            routed = self._route(others, scoring, plan.training, scores_weighted=is_weighted)
        if plan.training.shares_preprocessing and context.tuned.searches_requests:
            check_requests(params, routed, resource.name)
        return SearchSpec(
            space=self._space(),
            sampler=self._sampler(),
            algorithm=algorithm,
            candidates=plan.candidates,
            seed=inputs.seed,
            schedule=plan.schedule,
            folds=search_folds(
                inputs.data,
                routed,
                self._models(context.example, plan),
                subsamples=resource.subsamples,
                seed=inputs.seed,
            ),
            fold_order=inputs.data.fold_order,
            config=self._config(plan, scoring, routed, context, inputs.data.y, inputs.seed),
            scoring=scoring,
            resource=resource,
            warning=plan.warning,
            audits=() if self.audit_eliminated is None else (self.audit_eliminated,),
        )

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
            warnings.warn(message, UserWarning, stacklevel=5)
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

    def _models(self, example: Any, plan: Plan) -> Iterator[Any]:
        """Yield models of the candidates, and of some that stand for those proposed later."""
        yield example
        for params in plan.candidates:
            yield with_params(self.estimator, params)
        if self._sampler().uses_history:
            for params in typical_candidates(self._space()):
                yield with_params(self.estimator, params)

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

    def _config(
        self,
        plan: Plan,
        scoring: Scoring,
        routed: RoutedParams,
        context: PlanningContext,
        y: Any,
        seed: int,
    ) -> EvaluationConfig:
        """Return the configuration of the jobs."""
        training, trained = plan.training, context.example
        if training.shares_preprocessing:
            trained = last_step(trained)
        return EvaluationConfig(
            estimator=self.estimator,
            resource=training.job_resource.prepared(trained, y, seed),
            scorer=scoring.scorer,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            shares_preprocessing=training.shares_preprocessing,
            continues=plan.schedule.continues,
            scores_pipeline=training.shares_preprocessing
            and scores_pipeline(
                self.estimator, scoring, is_default=self.scoring is None, routed=routed
            ),
            template=Template.of(self.estimator, trains_last_step=training.shares_preprocessing),
            whole_fit=plan.whole_fit,
            seed=seed,
            is_multimetric=is_multimetric_scorer(scoring.scorer),
            scores_copies=not scoring.uses_predictions_only,
            n_train=context.data.n_samples if training.resource.counts_samples else 0,
        )

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

    def _promoting_metric(self, metrics: list[str], is_multimetric: bool) -> str:
        """Return the metric by which candidates are promoted, given the names of all metrics."""
        return promoting_metric(metrics, is_multimetric, self.scoring, self.refit, self.promote_by)

    def _route(
        self,
        params: dict[str, Any],
        scoring: Scoring,
        training: Training,
        *,
        scores_weighted: bool,
    ) -> RoutedParams:
        """Return the parameters of `fit` by recipient."""
        if routing_enabled():
            routed = process_routing(self._router(training), "fit", **params)
            if scoring.is_multimetric:  # an error in one of them would be its score
                process_routing(scoring.scorer, "score", **routed.scorer.score)
            return routed_by_request(routed, training.resource.training_method)
        return routed_by_name(
            params,
            scores_weighted=scores_weighted,
            steps=[*self.estimator.named_steps] if training.shares_preprocessing else None,
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Get metadata routing of this object.

        The router has the requests of the estimator, the scorer and the splitter. With
        ``resource="partial_fit"`` the estimator's request for ``partial_fit`` is used, or that
        for ``fit`` if none is set for ``partial_fit``.

        Returns
        -------
        MetadataRouter
        """
        tuned = self._tuned_estimator()
        return self._router(Training.of(self._resource(tuned), tuned))

    def _router(self, training: Training) -> MetadataRouter:
        """Return the router of a search that trains in this way."""
        return metadata_router(
            type(self).__name__,
            self.estimator,
            self.cv,
            make_scoring(self.estimator, self.scoring, raise_errors=False).scorer,
            training.resource.training_method,
            fits_last_step=training.shares_preprocessing,
        )
