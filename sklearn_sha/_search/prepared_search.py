"""Preparation of a search: parameters and data become all that its evaluation needs."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any

from numpy.random import RandomState
from sklearn.base import clone, is_classifier
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter, process_routing

from sklearn_sha._compat import is_multimetric_scorer, routing_enabled
from sklearn_sha._data.folds import Fold
from sklearn_sha._engine.jobs import EvaluationConfig
from sklearn_sha._engine.scoring import Scoring, make_scoring
from sklearn_sha._engine.template import Template
from sklearn_sha._search.aliases import search_space
from sklearn_sha._search.planned_search import PlannedSearch
from sklearn_sha._search.planning import Plan, PlanningContext, Training
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
    check_has_targets,
    check_parameters,
    promoting_metric,
    random_state_of,
)
from sklearn_sha._user_warning import warn_user
from sklearn_sha.candidates.space import with_params
from sklearn_sha.candidates.space_check import check_space
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.resolve import check_estimators
from sklearn_sha.resources.tuned_estimator import last_step
from sklearn_sha.schedules import Schedule


class PreparedSearch(PlannedSearch):
    """Base class of the searches up to `SearchSpec`, and what shows the plan without a fit."""

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
        random_state = deepcopy(random_state_of(self.random_state))
        try:
            copied = clone(self)
        except TypeError as error:
            raise TypeError(
                f"plan requires a copy of the search, and it cannot be copied ({error}). "
                "With verbose=1, fit shows its rungs."
            ) from error
        spec = copied._prepare(X, y, params, random_state)
        if spec.warning:
            warn_user(spec.warning)
        copied._warn_about_refit(spec)
        return spec.schedule

    def get_metadata_routing(self) -> MetadataRouter:
        """Get metadata routing of this object.

        The router has the requests of the estimator, the scorer and the splitter. With
        ``resource="partial_fit"`` the estimator's request for ``partial_fit`` is used, or that
        for ``fit`` if none is set for ``partial_fit``.

        Returns
        -------
        MetadataRouter
        """
        tuned = self._tuned_estimator(self._source())
        return self._router(Training.of(self._resource(tuned), tuned))

    def _prepare(
        self,
        X: Any,
        y: Any,
        params: dict[str, Any],
        random_state: RandomState,
        kept_resource: Resource | None = None,
    ) -> SearchSpec:
        """Check the parameters and the data, plan the rungs, and make candidates and folds.

        A `kept_resource`, which all estimators have, is not replaced by another one.
        """
        check_parameters(vars(self))
        if hasattr(self, "_run_search"):  # GridSearchCV would call it, and try other candidates
            raise TypeError(
                f"{type(self).__name__} defines _run_search, which this search does not call. To "
                "choose the candidates, set sampler to an instance of a subclass of "
                "sklearn_sha.candidates.Sampler."
            )
        seed = search_seed(random_state)
        scoring = make_scoring(
            self.estimator, self.scoring, raise_errors=self.error_score == "raise"
        )
        if scoring.metrics is not None:  # otherwise they are unknown before the first score
            self._promoting_metric(scoring.metrics, scoring.is_multimetric)
        X, y = indexable(X, y)
        check_space(search_space(self))  # before initial candidates are compared with it
        source = self._source()
        example = example_model(self.estimator, source.space, random_state)
        tuned = self._tuned_estimator(source)
        models = tuned.models()
        check_has_targets(models, y)
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
            source,
            tuned,
            example,
            data.training_data(),
            list(routed.fit),
            kept_resource=kept_resource,
        )
        state, inputs = deepcopy(random_state), FitInputs(params, scoring, routed, data, seed)
        spec = self._specify(training, context, inputs, random_state)
        random_state.random_sample()  # another state in the next fit, also if nothing is sampled
        has_larger = spec.resource.counts_samples or spec.resource.counts_folds
        if not (self._automatic().first_rung and has_larger and len(spec.schedule.rungs) > 1):
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
        algorithm = self._algorithm(context.source.sampler)
        plan = self._make_plan(algorithm, training, context, rng)
        resource = plan.training.resource
        if plan.training is not training:
            others = params
            if training.resource.training_method != resource.training_method:
                # classes is a parameter of partial_fit only.
                others = {k: v for k, v in params.items() if k.rpartition("__")[2] != "classes"}
            is_weighted = "sample_weight" in routed.score
            routed = self._route(others, scoring, plan.training, scores_weighted=is_weighted)
            inputs = replace(inputs, routed=routed)
        if plan.training.shares_preprocessing and context.tuned.searches_requests:
            check_requests(params, routed, resource.name)
        models = (with_params(self.estimator, candidate) for candidate in plan.candidates.typical)
        return SearchSpec(
            source=context.source,
            algorithm=algorithm,
            candidates=plan.candidates.known,
            seed=inputs.seed,
            schedule=plan.schedule,
            folds=search_folds(
                inputs.data,
                routed,
                chain([context.example], models),
                subsamples=resource.subsamples,
                seed=inputs.seed,
            ),
            fold_order=inputs.data.fold_order,
            config=self._config(plan, context, inputs),
            scoring=scoring,
            resource=resource,
            warning=plan.warning,
            audits=() if self.audit_eliminated is None else (self.audit_eliminated,),
            failed_wait=resource.counts_samples and self._automatic().first_rung,
        )

    def _routed_as(self, folds: list[Fold], spec: SearchSpec, params: dict[str, Any]) -> list[Fold]:
        """Return folds with the parameters of `fit` that the models of a specification receive.

        If it has candidates of another space too, pipelines can be trained as a whole, and the
        folds of this search have parameters for their last step.
        """
        config = spec.config
        training = Training(spec.resource, config.resource, config.shares_preprocessing)
        is_weighted = "sample_weight" in folds[0].score_params
        routed = self._route(params, spec.scoring, training, scores_weighted=is_weighted)
        return [
            replace(fold, fit_params=routed.fit, preprocessing_params=routed.preprocessing)
            for fold in folds
        ]

    def _config(self, plan: Plan, context: PlanningContext, inputs: FitInputs) -> EvaluationConfig:
        """Return the configuration of the jobs."""
        training, trained, scoring = plan.training, context.example, inputs.scoring
        if training.shares_preprocessing:
            trained = last_step(trained)
        return EvaluationConfig(
            estimator=self.estimator,
            resource=training.job_resource.prepared(trained, inputs.data.y, inputs.seed),
            scorer=scoring.scorer,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            shares_preprocessing=training.shares_preprocessing,
            continues=plan.schedule.continues,
            scores_pipeline=training.shares_preprocessing
            and scores_pipeline(
                self.estimator, scoring, is_default=self.scoring is None, routed=inputs.routed
            ),
            template=Template.of(self.estimator, trains_last_step=training.shares_preprocessing),
            whole_fit=plan.whole_fit,
            seed=inputs.seed,
            is_multimetric=is_multimetric_scorer(scoring.scorer),
            scores_copies=not scoring.uses_predictions_only,
            n_train=context.data.n_samples if training.resource.counts_samples else 0,
        )

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

    def _warn_about_refit(self, spec: SearchSpec) -> None:
        """Warn if a callable `refit` will not receive all candidates."""
        message = callable_refit_message(
            self.refit,
            self.promote_by,
            spec.scoring.metrics,
            spec.schedule,
            can_train_all=self._automatic().algorithm and not spec.algorithm.has_own_rungs,
        )
        if message:
            warn_user(message)
