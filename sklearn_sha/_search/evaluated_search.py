"""Evaluation of a planned search: its workers, its rungs, the refit and the attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf, nan
from time import perf_counter, time
from typing import Any

from sklearn_sha._data.slicing import n_samples_of
from sklearn_sha._engine.callbacks import NO_CALLBACKS, Task
from sklearn_sha._engine.engine import Engine
from sklearn_sha._engine.interruption import StoppedError, never_replacing
from sklearn_sha._engine.refit import refit
from sklearn_sha._parallel.workers import Workers, local_backend
from sklearn_sha._progress.console import ConsoleProgress
from sklearn_sha._progress.notebook import progress_display
from sklearn_sha._progress.progress import Progress
from sklearn_sha._results.results import Results
from sklearn_sha._search.bracket_times import BracketTimes
from sklearn_sha._search.delegation import BestEstimatorMixin
from sklearn_sha._search.failure_message import failure_message
from sklearn_sha._search.fitted_attributes import (
    best_attributes,
    result_attributes,
    rung_attributes,
    spec_attributes,
)
from sklearn_sha._search.memory import batch_bytes, memory_limit
from sklearn_sha._search.prepared_search import PreparedSearch
from sklearn_sha._search.remedies import nothing_scored
from sklearn_sha._search.run import Refitted, Run
from sklearn_sha._search.rung_observer import RungObserver
from sklearn_sha._search.score_warnings import warn_about_scores
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha._search.selection_warnings import warn_about_selection
from sklearn_sha._search.starting_again import StartAgainError
from sklearn_sha._search.too_few_folds import raise_if_more_folds_can_have_scores
from sklearn_sha._search.too_few_samples import raise_if_more_samples_have_scores
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit.promotion import running_mean, running_min
from sklearn_sha.candidates.pool import CandidatePool
from sklearn_sha.candidates.space import with_params
from sklearn_sha.inspection.levels import levels_of_results
from sklearn_sha.inspection.metric_names import metric_label
from sklearn_sha.inspection.ranking import selected_row
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.trust import trust_report
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.integer_parameter import parameter_value

_HOW_TO_CONTINUE = "Completed results are kept: resume(X, y) continues the search."

_AGGREGATIONS = {"best": running_min, "mean": running_mean}


class EvaluatedSearch(BestEstimatorMixin, PreparedSearch):
    """Base class of the searches up to the refit, without what continues an interrupted one."""

    def _make_run(
        self,
        spec: SearchSpec,
        store: Store,
        task: Task,
        begin: float,
        deadline: float,
        refitted: Refitted | None = None,
        workers: Workers | None = None,
    ) -> Run:
        """Make the parts of a run of the search, which begins at a time and ends by a deadline.

        It has workers of its own, unless it is a part of another run.
        """
        left = deadline - begin
        plan = spec.schedule
        pool = CandidatePool(
            spec.source, spec.candidates, spec.seed, spec.evaluations, is_closed=spec.is_closed
        )
        workers = workers or self._make_workers(store)
        requests_once = self._requests_each_rung_once(spec)
        results, display = self._make_results_and_display(spec, pool.params, workers, left)
        observer = RungObserver(
            results,
            display,
            pool,
            spec,
            task,
            n_rungs=len(plan.rungs) if requests_once else None,
            metric_of=self._promoting_metric,
            aggregate=_AGGREGATIONS.get(self.score_aggregation),
            bracket_times=BracketTimes.of(spec, workers, begin, left, refits=bool(self.refit)),
            n_stored=len(store.outcomes),
        )
        config = replace(
            spec.config,
            model_folder=store.model_folder,
            batch_bytes=batch_bytes(store.memory_limit, workers),
        )
        refits_early = self._may_refit_early(spec, workers, task)
        engine = Engine(
            pool.params,
            spec.folds,
            spec.fold_order,
            config,
            store,
            workers,
            observer,
            keeps_eliminated=self.keep_eliminated,
            requests_once=requests_once and len(plan.brackets) == 1,
            best_params=spec.resource.best_params if refits_early else None,
            deadline=deadline,
        )
        return Run(
            spec,
            store,
            pool,
            results,
            display,
            workers,
            observer,
            engine,
            deadline,
            self.keep_eliminated,
            refitted,
        )

    def _make_results_and_display(
        self,
        spec: SearchSpec,
        params: list[dict[str, Any]],
        workers: Workers,
        max_time: float,
    ) -> tuple[Results, ConsoleProgress]:
        """Make the empty results, and what displays them as they come."""
        plan, n_folds = spec.schedule, len(spec.folds)
        results = Results(
            params,
            plan,
            spec.scoring,
            n_folds=n_folds,
            error_score=nan if isinstance(self.error_score, str) else self.error_score,
            return_train_score=self.return_train_score,
        )
        before = workers.start_seconds  # those of another run have started
        display = progress_display(
            self.verbose,
            plan,
            params,
            Progress(
                plan,
                n_folds,
                workers.n_workers,
                max_time=max_time,
                start_seconds=lambda: workers.start_seconds - before,
            ),
            n_folds=n_folds,
            error_score=results.error_score,
            metrics=[*results.metrics] if results.is_multimetric else (),
            has_train_scores=self.return_train_score,
        )
        return results, display

    def _may_refit_early(self, spec: SearchSpec, workers: Workers, task: Task) -> bool:
        """Return whether workers without jobs may refit a candidate before the search ends."""
        # A refit would take time from the folds, and callbacks are notified in this process.
        is_possible = self.max_time is None and task is NO_CALLBACKS and not workers.share_memory
        is_wanted = bool(self.refit) and not callable(self.refit)
        return is_wanted and is_possible and len(spec.schedule.brackets) == 1

    def _requests_each_rung_once(self, spec: SearchSpec) -> bool:
        """Return whether each planned rung is requested once, unless the search ends before it."""
        uses_history, has_target = spec.source.sampler.uses_history, self.target_score is not None
        return not (uses_history or has_target or spec.audits)

    def _make_workers(self, store: Store) -> Workers:
        """Make the workers, and prepare a store for models that they train."""
        workers = Workers(
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            fit_timeout=None if self.fit_timeout == inf else self.fit_timeout,
            folder=store.path,
        )
        if not workers.share_memory:
            store.create_model_folder()
        store.memory_limit = memory_limit(self.model_memory)
        return workers

    def _try_more(self, run: Run) -> None:
        """Raise a StartAgainError if candidates without a score can have one with more resource."""
        spec, results = run.spec, run.results
        if spec.starting_with is None or results.last_n_resources >= spec.schedule.max_resources:
            return
        if spec.resource.counts_folds:
            raise_if_more_folds_can_have_scores(spec, results, self.refit)
            return

        def make_trial(trial: SearchSpec) -> Run:
            return self._make_run(
                trial, run.store, NO_CALLBACKS, time(), run.deadline, workers=run.workers
            )

        may_count_folds = self.max_resources == "auto" and isinstance(self.min_folds, str)
        raise_if_more_samples_have_scores(
            run, make_trial, max_time=self.max_time, may_count_folds=may_count_folds
        )

    def _evaluate_and_refit(self, run: Run, task: Task) -> bool:
        """Evaluate the rungs and refit; return whether the search was completed."""
        is_complete = self._evaluate_rungs(run)
        if is_complete and not self.keep_eliminated:
            run.store.clear_models()
        self.interrupted_ = not is_complete
        self._set_attributes(run.spec, run.results)
        warn_about_scores(self, run.spec, run.results)
        warn_about_selection(
            self, run.spec, run.results, stop_requested=run.observer.stop_requested
        )
        if self.refit:
            try:
                self._refit(run, task)
            except KeyboardInterrupt:
                self.interrupted_ = True
                raise
            finally:
                run.display.end()
        return is_complete

    def _evaluate_rungs(self, run: Run) -> bool:
        """Evaluate the rungs; return whether all were completed."""
        results = run.results
        is_complete = True
        try:
            run.evaluate_rungs(partial(self._report, run), partial(self._try_more, run))
        except StoppedError:
            results.end_interrupted()
            if not results.n_rungs:
                assert self.max_time is not None  # a callback stops between rungs only
                raise TimeoutError(
                    nothing_scored(run.spec, self.max_time, run.workers.start_seconds)
                ) from None
            is_complete = False
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(_HOW_TO_CONTINUE)
            self.interrupted_ = True
            results.end_interrupted()
            if results.n_rungs:
                with never_replacing(interrupt):
                    self._set_attributes(run.spec, results)
                    self._set_refitted(run)
            raise
        except StartAgainError:
            raise
        except Exception:
            self._replace_fitted(result_attributes(results))
            raise
        if results.all_failed or results.never_scored:
            self._set(result_attributes(results))
            message = failure_message(run)
            if is_complete or (results.all_failed and results.has_complete_rung):
                raise ValueError(message)
            raise TimeoutError(
                "The search was stopped before a completed candidate had a score. Call resume, "
                f"with a larger max_time if that stopped it.\n{message}"
            )
        return is_complete

    def _report(self, run: Run) -> TrustReport:
        """Return the trust report of the rungs so far, which become attributes of the search."""
        self._set_attributes(run.spec, run.results)
        return trust_report(self)

    def _refit(self, run: Run, task: Task) -> None:
        """Refit the best candidate on all samples, unless a worker has done so."""
        if self._set_refitted(run):
            return
        spec, key = run.spec, (self.best_candidate_, self.best_n_resources_)
        n_samples = n_samples_of(spec.folds[0].X)
        run.display.refit_begins(self.best_candidate_, self.best_n_resources_, n_samples)
        subtask = task.subtask("refit-with-best-params")
        packed = run.engine.refitted.get(key)
        start = perf_counter()
        if packed is None or (best := packed.unpack()) is None:
            with local_backend():
                best = refit(
                    spec.folds[0], self.best_params_, self.best_n_resources_, spec.config, subtask
                )
            self.refit_time_ = perf_counter() - start
        else:
            self.refit_time_ = packed.seconds
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        run.display.refit_ends(self.refit_time_)

    def _set_refitted(self, run: Run) -> bool:
        """Set the refit of an earlier run if it is of the best candidate; return whether it is."""
        known = run.refitted
        if known is None or known.key != (self.best_candidate_, self.best_n_resources_):
            return False
        self._set(known.attributes)
        return True

    def _refitted(self) -> Refitted | None:
        """Return the refit of the best candidate, if there is one."""
        names = ("best_estimator_", "refit_time_", "feature_names_in_")
        attributes = {name: vars(self)[name] for name in names if name in vars(self)}
        if "best_estimator_" not in attributes:
            return None
        return Refitted((self.best_candidate_, self.best_n_resources_), attributes)

    def _set_attributes(self, spec: SearchSpec, results: Results) -> None:
        """Set the attributes that describe the results, the rungs and the best candidate."""
        self._set({**result_attributes(results), **spec_attributes(spec)})
        self._set(rung_attributes(self.rung_history_, spec.algorithm.factor, results.audited))
        self.multimetric_ = results.is_multimetric
        self.promote_by_ = results.metric
        self.rung_history_.score_label = metric_label(
            self.promote_by_, self.scoring, self.estimator
        )
        best = best_attributes(
            self.cv_results_,
            self.all_cv_results_,
            self.cv_results_rows_,
            refit=self.refit,
            multimetric=self.multimetric_,
        )
        self._set(best)
        row = selected_row(self, self.promote_by_)
        self.rung_history_.best_candidate = int(self.all_cv_results_["candidate"][row])
        self.rung_history_.best_level = levels_of_results(self.all_cv_results_)[row]
        if hasattr(self, "best_params_"):
            self.best_params_ |= self._resource_params(spec.resource)

    def _resource_params(self, resource: Resource) -> dict[str, Any]:
        """Return what `best_params_` has in addition to the parameters that are searched.

        If an automatic resource ended at the estimator's own value, `fit` trains the same model
        without it, and `best_params_` is that of GridSearchCV.
        """
        params = resource.best_params(self.best_n_resources_)
        if self.resource != "auto":
            return params
        model = with_params(self.estimator, self.best_params_)
        return {name: n for name, n in params.items() if parameter_value(model, name) != n}

    def _fitted_attributes(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name.endswith("_")}

    def _replace_fitted(self, attributes: Mapping[str, Any]) -> None:
        """Delete the attributes of an earlier fit, and set others."""
        for name in self._fitted_attributes():
            delattr(self, name)
        self._set(attributes)

    def _set(self, attributes: Mapping[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)
