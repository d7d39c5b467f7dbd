"""The scikit-learn face of a search: fit and plan, refit, delegation, routing, tags."""

from __future__ import annotations

import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import deepcopy
from dataclasses import replace
from math import inf, nan
from time import perf_counter, time
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._compat import BaseSearchCV, CallbackSupportMixin, with_callbacks
from sklearn_sha._data.samples import n_samples_of
from sklearn_sha._engine.callbacks import NO_CALLBACKS, Task, metadata_of, root_task
from sklearn_sha._engine.engine import Engine
from sklearn_sha._engine.interruption import StoppedError, never_replacing
from sklearn_sha._engine.refit import PackedEstimator, refit
from sklearn_sha._engine.scoring import make_scoring
from sklearn_sha._formatting import quantity
from sklearn_sha._parallel.workers import Workers, local_backend
from sklearn_sha._progress.notebook import progress_display
from sklearn_sha._progress.progress import Progress
from sklearn_sha._results.failures import (
    all_failed_message,
    few_samples_messages,
    fits_message,
    scores_message,
)
from sklearn_sha._results.results import Results
from sklearn_sha._search.delegation import (
    best_estimator_has,
    check_refit,
    training_requests,
)
from sklearn_sha._search.fingerprint import data_fingerprint, fingerprint
from sklearn_sha._search.interrupted import InterruptedSearch
from sklearn_sha._search.mlflow import autologged
from sklearn_sha._search.prepare import Setup, resource_of, set_up, tuned_estimator
from sklearn_sha._search.rung_observer import RungObserver
from sklearn_sha._storage.checkpoint import Checkpoint
from sklearn_sha._storage.memory import free_memory
from sklearn_sha._storage.store import Store
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.promotion import running_mean, running_min
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.pool import CandidatePool
from sklearn_sha.candidates.sampling import RandomSampler
from sklearn_sha.candidates.space import search_space
from sklearn_sha.inspection.html import HTMLReprMixin
from sklearn_sha.inspection.ranking import best_row
from sklearn_sha.resources.limits import Limits
from sklearn_sha.schedules import Schedule, rung_sizes

_BYTES_WORTH_A_BATCH = 2**26
_AGGREGATIONS = {"best": running_min, "mean": running_mean}


def _columns_of(plan: Schedule) -> tuple[str, ...]:
    """Columns that depend on the plan: "bracket", or "cached" for scores that were read back."""
    if plan.repeats:
        return ("cached",)
    return ("bracket",) if len(plan.brackets) > 1 else ()


def _run(
    algorithm: Algorithm,
    plan: Schedule,
    pool: CandidatePool,
    engine: Engine,
    observer: RungObserver,
) -> None:
    """Run an algorithm to its end, or until something stops it."""
    rounds = algorithm.rounds(plan, pool.propose)
    with suppress(StopIteration):
        running = next(rounds)
        while True:
            observer.final_losses.clear()
            engine.run(running)
            running = rounds.send(min(observer.final_losses, default=nan))


@BaseSearchCV.register  # docs/decisions/0008-searchcv.md says why it is no subclass
class BaseHalvingSearch(
    HTMLReprMixin, CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator, metaclass=ABCMeta
):
    """What the search classes share; a subclass has the parameters and the schedule."""

    @abstractmethod
    def _algorithm(self) -> Algorithm:
        """The algorithm of this search."""

    @abstractmethod
    def _candidates(
        self, bounds: Callable[[int], Bounds], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        """How many candidates there are, and those that are known before the search."""

    def _check_plan(self, plan: Schedule, limits: Limits) -> None:
        """Warn about a plan that is probably not what the user wants."""

    def _may_be_grid_search(self) -> bool:
        """Whether the user leaves it to the search how many rungs there are, even one."""
        return False

    def _sampler(self) -> Sampler:
        """The source of candidates."""
        if isinstance(self.sampler, Sampler):
            return self.sampler
        if self.sampler != "auto":
            raise TypeError(
                f'sampler={self.sampler!r} is no Sampler. Give "auto", or an instance of a '
                "subclass of sklearn_sha.candidates.Sampler."
            )
        return RandomSampler()

    def plan(self, X: Any, y: Any = None, **params: Any) -> Schedule:
        """The schedule that fit would follow, without training anything.

        Parameters
        ----------
        X, y, **params
            As for `fit`.

        Returns
        -------
        Schedule
            Prints as a table; after fit the same is in ``schedule_``.

        Raises
        ------
        TypeError, ValueError
            For what fit would refuse before it trains; only `fit_timeout` is checked by fit,
            with the workers.
        """
        # On a copy, so that no random state is used up.
        random_state = deepcopy(check_random_state(self.random_state))
        try:
            copied = clone(self).set_params(random_state=random_state)
        except TypeError as error:
            raise TypeError(
                f"plan works on a copy of the search, and can't make one ({error}); if cv is a "
                "generator, give a list of its splits."
            ) from error
        setup = set_up(copied, X, y, params, random_state)
        if setup.warning:
            warnings.warn(setup.warning, UserWarning, stacklevel=2)
        return setup.schedule

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and train the best candidate on all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Or (n_samples, n_samples) for precomputed kernels or distances.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets; None for unsupervised learning.
        **params : dict
            Parameters of the estimator's fit or partial_fit, of the splitter (`groups`)
            and of the scorer. What has a value per row is cut to the fold.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            For parameters that don't fit together, before any training; and if no fit of any
            candidate succeeded: ``failures_`` then has why.
        TimeoutError
            If `max_time` ended before one candidate was scored on every fold.
        CheckpointError
            If `checkpoint` is of another search or of other data, damaged, or in use.
        KeyboardInterrupt
            After Ctrl-C, once the attributes say what is finished.
        """
        begun = time()
        with self._open_store(Store()) as store:
            if self.random_state is None and store.seed is not None:
                random_state = RandomState(store.seed)
            else:
                random_state = check_random_state(self.random_state)
            setup = set_up(self, X, y, params, random_state)
            if isinstance(store, Checkpoint):
                store.claim(fingerprint(self, setup, data_fingerprint(X, y, params)))
            self._search_on(setup, store, begun, (X, y, params))
        return self

    def resume(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Go on in this process where Ctrl-C, `max_time`, a callback or an error has stopped `fit`.

        What is finished is not done again, and the results are those of a search that was not
        stopped; `max_time` begins anew. With `checkpoint`, `fit` does this too, in any process.

        Parameters
        ----------
        X, y, **params
            What `fit` was given.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is nothing to resume, or the data, the parameters or `checkpoint` changed.
        TimeoutError, CheckpointError, KeyboardInterrupt
            As in `fit`.
        """
        begun = time()
        stopped = self.__dict__.get("_stopped")
        if stopped is None:
            raise ValueError(
                f"There is nothing to resume: this {type(self).__name__} was not stopped in a "
                "fit in this process; call fit."
            )
        changed = stopped.changes(self, (X, y, params))
        # Completed results are where they were kept: elsewhere all would be trained again.
        then = stopped.store.path
        now = None if self.checkpoint is None else Checkpoint(self.checkpoint).path
        if then != now:
            changed.append(f"checkpoint ({then} then, {now} now)")
        if changed:
            raise ValueError(
                f"resume goes on with the search that was stopped, but {', '.join(changed)} "
                "changed since; set it back, or call fit to begin anew."
            )
        with self._open_store(stopped.store) as store:
            if isinstance(store, Checkpoint):
                store.claim(fingerprint(self, stopped.setup, stopped.data))
            self._search_on(stopped.setup, store, begun, (X, y, params))
        return self

    def _open_store(self, in_memory: Store) -> AbstractContextManager[Store]:
        return nullcontext(in_memory) if self.checkpoint is None else Checkpoint(self.checkpoint)

    @with_callbacks
    def _search_on(
        self, setup: Setup, store: Store, begun: float, data: tuple[Any, Any, dict[str, Any]]
    ) -> None:
        """Search from what the store has to the end, or until something stops it."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # nothing of an earlier fit may mix with this one
        X, y, params = data
        seen = X, y, metadata_of(params)
        task = root_task(self, 1 + bool(self.refit)).begin(*seen)
        ended = False
        try:
            with autologged(self, X, y):
                ended = self._search(setup, store, begun, task)
            task.end(*seen)
        finally:
            self.__dict__.pop("_stopped", None)
            if not ended:
                self._stopped = InterruptedSearch.now(self, setup, store, data)

    def _search(self, setup: Setup, store: Store, begun: float, task: Task) -> bool:
        """Whether it came to its end, and nothing stopped it before."""
        plan = setup.schedule
        pool = CandidatePool(setup.sampler, search_space(self), setup.candidates, setup.seed)
        results = Results(
            pool.params,
            n_folds=len(setup.folds),
            continues=plan.continues,
            repeats=plan.repeats,
            unit=plan.unit,
            columns=_columns_of(plan),
            error_score=np.nan if self.error_score == "raise" else self.error_score,
            metrics=setup.scoring.metrics,
            return_train_score=self.return_train_score,
        )
        workers = Workers(
            n_jobs=self.n_jobs,
            pre_dispatch=self.pre_dispatch,
            fit_timeout=self.fit_timeout,
            folder=store.path,
        )
        if not workers.share_memory:
            store.create_model_folder()
        store.memory_limit = self._bytes_for_models()
        # A quarter of it for the batches in hand: of each worker the one that it is at, and the
        # one before. Worker processes, of which there may be many, get enough to be worth a call.
        batch_bytes = store.memory_limit / (8 * workers.n_workers)
        if not workers.share_memory:
            batch_bytes = max(batch_bytes, _BYTES_WORTH_A_BATCH)
        display = progress_display(
            self.verbose,
            plan,
            pool.params,
            Progress(plan, len(setup.folds), workers.n_workers),
            n_folds=len(setup.folds),
            error_score=results.error_score,
        )
        observer = RungObserver(
            results,
            display,
            pool,
            task,
            n_rungs=len(plan.rungs),
            metric_of=self._promoting_metric,
            aggregate=_AGGREGATIONS.get(self.score_aggregation),
        )
        engine = Engine(
            pool.params,
            setup.folds,
            replace(setup.config, model_folder=store.model_folder, batch_bytes=batch_bytes),
            store,
            workers,
            observer,
            # A refit is not to use up time that folds could have had; callbacks are told of it
            # in this process.
            refits=bool(self.refit)
            and not callable(self.refit)
            and self.max_time is None
            and task is NO_CALLBACKS
            and not workers.share_memory
            and len(plan.brackets) == 1,
            deadline=inf if self.max_time is None else begun + self.max_time,
        )
        ended = True
        try:
            with workers, observer:
                _run(setup.algorithm, plan, pool, engine, observer)
        except StoppedError:
            if not results.n_rungs:
                raise TimeoutError(
                    f"max_time={quantity(self.max_time, 'seconds')} ended before one candidate "
                    "was trained and scored on every fold; raise max_time, or lower "
                    "min_resources; or call resume to go on."
                ) from None
            ended = False
        except KeyboardInterrupt as stop:
            self.interrupted_ = True
            if results.n_rungs:
                with never_replacing(stop):
                    self._conclude(setup, results)
            raise
        except Exception:
            self._keep(results)
            raise
        if results.all_failed:
            self._keep(results)
            raise ValueError(all_failed_message(results.failures) + setup.resource.failure_hint())
        if ended:
            store.clear_models()
        self.interrupted_ = not ended
        self._conclude(setup, results)
        self._warn_of_failures(results, setup)
        if not results.has_complete_rung and hasattr(self, "best_index_"):
            self._warn_of_incomplete_rung()
        if self.refit:
            try:
                packed = engine.refitted.get((self.best_candidate_, self.best_n_resources_))
                n_samples = n_samples_of(setup.folds[0].X)
                display.refit_begins(self.best_candidate_, self.best_n_resources_, n_samples)
                self._refit(setup, packed, task.subtask("refit-with-best-params"))
                display.refit_ends(self.refit_time_)
            except KeyboardInterrupt:
                self.interrupted_ = True
                raise
            finally:
                display.end()
        return ended

    def _bytes_for_models(self) -> float:
        """How many bytes of models may wait in memory for the next rung."""
        if self.model_memory is None:
            return inf
        return free_memory() / 4 if self.model_memory == "auto" else self.model_memory

    def _promoting_metric(self, metrics: list[str]) -> str:
        """Check `refit` and `promote_by`, and return the metric that promotes."""
        if metrics == ["score"]:
            # The metric has two names: GridSearchCV's, and its own.
            known = ["score", self.scoring] if isinstance(self.scoring, str) else metrics
        else:
            self._check_refit_for(metrics)
            known = metrics
        if self.promote_by is not None and self.promote_by not in known:
            raise ValueError(
                f"promote_by={self.promote_by!r} is none of the metrics {known}. Choose one of "
                "them, or None."
            )
        preferred: list[str] = [self.promote_by, self.refit, *metrics]
        return next(name for name in preferred if name in metrics)

    def _check_refit_for(self, metrics: list[str]) -> None:
        """Raise an error if `refit` names none of several metrics."""
        if metrics == ["score"] or self.refit is False or callable(self.refit):
            return
        if not (isinstance(self.refit, str) and self.refit in metrics):
            raise ValueError(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
                "callable to refit an estimator with the best parameter setting on the whole data "
                "and make the best_* attributes available for that metric. If this is not needed, "
                f"refit should be set to False explicitly. {self.refit!r} was passed, and the "
                f"metrics are {metrics}."
            )

    def _warn_of_failures(self, results: Results, setup: Setup) -> None:
        failures = results.failures
        fits = [failure for failure in failures if failure["failed"] == "fit"]
        scores = [failure for failure in failures if failure["failed"] == "score"]
        warned: list[tuple[str, type[Warning]]] = []
        if fits:
            message = fits_message(fits, results.n_fits, self.error_score)
            warned.append((message + setup.resource.failure_hint(), FitFailedWarning))
        if scores:
            warned.append((scores_message(scores, self.error_score), UserWarning))
        messages = self._non_finite_messages()
        if setup.resource.counts_samples:
            messages += few_samples_messages(
                failures, setup.schedule.n_resources, max(len(f.train) for f in setup.folds)
            )
        warned += [(message, UserWarning) for message in messages]
        for message, category in warned:
            warnings.warn(message, category, stacklevel=6)

    def _warn_of_incomplete_rung(self) -> None:
        brackets = self.schedule_.brackets
        firsts = [brackets[row.get("bracket", 0)].rungs[0] for row in self.rung_history_]
        warnings.warn(
            f"max_time={quantity(self.max_time, 'seconds')} ended in the first rung, when "
            f"{sum(self.n_candidates_)} of {sum(rung.n_candidates for rung in firsts)} candidates "
            "were completed: the best candidate is selected from these only. Raise max_time or "
            "lower min_resources, or call resume to complete the search.",
            UserWarning,
            stacklevel=6,
        )

    def _non_finite_messages(self) -> list[str]:
        """What to say of scores that are not finite although nothing failed."""
        results = self.all_cv_results_
        failed = [failure["candidate"] for failure in self.failures_]
        messages = []
        for part in ("test", "train"):
            means = {n: v for n, v in results.items() if n.startswith(f"mean_{part}_")}
            odd = {n: np.unique(results["candidate"][~np.isfinite(v)]) for n, v in means.items()}
            odd = {n: np.setdiff1d(candidates, failed) for n, candidates in odd.items()}
            named = [f"{n} of candidates {c.tolist()}" for n, c in odd.items() if len(c)]
            if named:
                messages.append(
                    f"One or more of the {part} scores are non-finite: {', '.join(named)}. NaN is "
                    "never promoted before a number. Check what the scorer returns for them."
                )
        return messages

    def _keep(self, results: Results) -> None:
        if results.n_rungs:
            self.all_cv_results_ = results.all_cv_results()
            self.cv_results_, rows = results.cv_results(self.all_cv_results_)
            self.cv_results_rows_ = rows.tolist()
            self.rung_history_ = results.rung_history()
            self.failures_ = results.failures

    def _conclude(self, setup: Setup, results: Results) -> None:
        """Set what a search has over the rungs that there are."""
        self._keep(results)
        self.resource_ = setup.resource.name
        self.schedule_ = setup.schedule
        self.n_splits_ = len(setup.folds)
        self.n_resources_ = [row["resource"] for row in self.rung_history_]
        self.n_candidates_ = [row["n_candidates"] for row in self.rung_history_]
        self.n_iterations_ = len(self.rung_history_)
        self.min_resources_ = min(self.n_resources_)
        self.max_resources_ = max(self.n_resources_)
        # Of several brackets, the widest: it has come as far as any, and to the fewest.
        widest = self.rung_history_[0].get("bracket")
        (*_, last) = [row for row in self.rung_history_ if row.get("bracket") == widest]
        self.n_remaining_candidates_ = [*rung_sizes(last["n_candidates"], self.factor), 1][1]
        self.scorer_ = setup.scoring.scorers
        self.multimetric_ = results.metrics != ["score"]
        self.promote_by_ = results.metric
        self._select_best()
        if hasattr(self, "best_params_"):
            self.best_params_ |= setup.resource.best_params(self.best_n_resources_)

    def _select_best(self) -> None:
        """Set best_index_ and what follows from it, where GridSearchCV has them."""
        if not self.refit and self.multimetric_:
            return
        if callable(self.refit):
            self.best_index_ = self.refit(self.cv_results_)
            if not isinstance(self.best_index_, int | np.integer):
                raise TypeError("best_index_ returned is not an integer")
            if not 0 <= self.best_index_ < len(self.cv_results_["params"]):
                raise IndexError("best_index_ index out of range")
        else:
            metric = self.refit if self.multimetric_ else "score"
            self.best_index_ = best_row(self.cv_results_, metric)
            self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]
        row = self.cv_results_rows_[self.best_index_]
        self.best_candidate_ = int(self.all_cv_results_["candidate"][row])
        self.best_n_resources_ = int(self.all_cv_results_["n_resources"][row])
        self.best_params_ = dict(self.cv_results_["params"][self.best_index_])

    def _refit(self, setup: Setup, packed: PackedEstimator | None, task: Task) -> None:
        start = perf_counter()
        if packed is None or (best := packed.unpack()) is None:
            with local_backend():
                best = refit(
                    setup.folds[0], self.best_params_, self.best_n_resources_, setup.config, task
                )
            self.refit_time_ = perf_counter() - start
        else:
            self.refit_time_ = packed.seconds
        self.best_estimator_ = best
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def results_frame(self) -> Any:
        """Return every candidate once, at its furthest rung, as a `pandas.DataFrame`.

        Returns
        -------
        DataFrame
            The columns of ``all_cv_results_``, one row per candidate, in the order of their
            numbers.
        """
        import pandas as pd

        check_is_fitted(self, "all_cv_results_")
        frame = pd.DataFrame(self.all_cv_results_)
        # Of rows at the same resource the first: later ones repeat what was known.
        furthest = frame.groupby("candidate")["n_resources"].idxmax()
        return frame.loc[furthest].reset_index(drop=True)

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Score of the best estimator, by ``scoring`` where given, else by its own score.

        Parameters
        ----------
        X, y : array-like
        **params : dict
            Parameters of the scorer; with metadata routing only.

        Returns
        -------
        float
        """
        check_refit(self, "score")
        self._check_is_refitted()
        score_params: dict[str, Any] = {}
        if get_config()["enable_metadata_routing"]:
            score_params = process_routing(self, "score", **params).scorer["score"]
        elif params:
            raise ValueError(
                f"Passing extra keyword arguments to {type(self).__name__}.score is only supported "
                "if enable_metadata_routing=True, which you can set using `sklearn.set_config`. "
                f"Extra parameters passed are: {sorted(params)}."
            )
        scorer = self.scorer_[self.refit] if isinstance(self.scorer_, dict) else self.scorer_
        score = scorer(self.best_estimator_, X, y, **score_params)
        return score[self.refit] if isinstance(score, dict) else score

    @available_if(best_estimator_has("predict"))
    def predict(self, X: Any) -> Any:
        """Call ``predict`` of the best estimator."""
        return self._best("predict")(X)

    @available_if(best_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Call ``predict_proba`` of the best estimator."""
        return self._best("predict_proba")(X)

    @available_if(best_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Call ``predict_log_proba`` of the best estimator."""
        return self._best("predict_log_proba")(X)

    @available_if(best_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Call ``decision_function`` of the best estimator."""
        return self._best("decision_function")(X)

    @available_if(best_estimator_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """Call ``score_samples`` of the best estimator."""
        return self._best("score_samples")(X)

    @available_if(best_estimator_has("transform"))
    def transform(self, X: Any) -> Any:
        """Call ``transform`` of the best estimator."""
        return self._best("transform")(X)

    @available_if(best_estimator_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """Call ``inverse_transform`` of the best estimator."""
        return self._best("inverse_transform")(X)

    @available_if(best_estimator_has("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Train the best estimator on; before there is one, search, as `fit` does.

        Parameters
        ----------
        X, y : array-like
            More rows.
        **params : dict
            Parameters of the estimator's ``partial_fit``.

        Returns
        -------
        self
        """
        if not hasattr(self, "best_estimator_"):
            if resource_of(self).training_method == "fit":  # which finds the classes in y
                params.pop("classes", None)
            return self.fit(X, y, **params)
        targets = () if y is None else (y,)
        self.best_estimator_.partial_fit(X, *targets, **params)
        return self

    def _best(self, method: str) -> Callable[..., Any]:
        self._check_is_refitted()
        delegated = getattr(self.best_estimator_, method)

        def call(X: Any) -> Any:
            try:
                return delegated(X)
            except ValueError as error:
                # As GridSearchCV, an error about array namespaces names the method that was called.
                inner = f"{type(self.best_estimator_).__name__}.{method}()"
                if f"{inner} must use the same namespace" not in str(error):
                    raise
                own = f"{type(self).__name__}.{method}()"
                raise ValueError(str(error).replace(inner, own)) from error

        return call

    def _check_is_refitted(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise NotFittedError(
                f"This {type(self).__name__} was stopped before best_params_ were trained on all "
                "rows; call resume with the data of fit, or fit an estimator with best_params_."
            )

    @property
    def n_features_in_(self) -> int:
        """Number of features seen during fit; there with refit."""
        try:
            check_is_fitted(self)
        except NotFittedError as error:
            raise AttributeError(
                f"{type(self).__name__} object has no n_features_in_ attribute."
            ) from error
        return self.best_estimator_.n_features_in_

    @property
    def classes_(self) -> Any:
        """Class labels; there with refit, for a classifier."""
        best_estimator_has("classes_")(self)
        return self.best_estimator_.classes_

    def get_metadata_routing(self) -> MetadataRouter:
        """Who asks for which metadata: the estimator, the scorer and the splitter.

        With ``resource="partial_fit"`` the estimator's request for ``partial_fit`` counts, and
        that for ``fit`` if none was made for ``partial_fit``.

        Returns
        -------
        MetadataRouter
        """
        resource = resource_of(self)
        trained = self.estimator
        router = MetadataRouter(owner=type(self).__name__)
        if resource.trains_last_step(tuned_estimator(self)):
            trained = self.estimator[-1]
            if len(self.estimator.steps) > 1:
                router.add(
                    prefix=self.estimator[:-1],
                    method_mapping=MethodMapping().add(caller="fit", callee="fit_transform"),
                )
        method = resource.training_method
        router.add(
            estimator=training_requests(trained, method),
            method_mapping=MethodMapping().add(caller="fit", callee=method),
        )
        scoring = make_scoring(self.estimator, self.scoring, raise_errors=False)
        router.add(
            scorer=scoring.scorer,
            method_mapping=MethodMapping()
            .add(caller="score", callee="score")
            .add(caller="fit", callee="score"),
        )
        router.add(
            splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split")
        )
        return router

    def __getstate__(self) -> dict[str, Any]:
        # What resume goes on from has the data and all models: it stays in this process.
        return {name: v for name, v in super().__getstate__().items() if name != "_stopped"}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "schedule_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.transformer_tags = deepcopy(inner.transformer_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = inner.array_api_support
        return tags
