"""The base class of all searches: fit, and resume after an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from math import inf
from time import time
from typing import Any, Self

from numpy.random import RandomState
from sklearn.utils.validation import check_is_fitted

from sklearn_sha._compat import BaseSearchCV, CallbackSupportMixin, with_callbacks
from sklearn_sha._engine.callbacks import metadata_of, root_task
from sklearn_sha._search.evaluated_search import EvaluatedSearch
from sklearn_sha._search.mlflow import autologged
from sklearn_sha._search.origin import FitArguments, Origin, search_params
from sklearn_sha._search.run import Refitted, Run
from sklearn_sha._search.selection_warnings import warn_about_lost_best
from sklearn_sha._search.starting_again import StartAgainError, restarted_spec
from sklearn_sha._search.states import CompletedSearch, InterruptedSearch
from sklearn_sha._search.validation import random_state_of
from sklearn_sha._storage.checkpoint import Checkpoint
from sklearn_sha._storage.store import Store
from sklearn_sha._user_warning import warn_user
from sklearn_sha.inspection.html import HTMLReprMixin
from sklearn_sha.inspection.search_state import is_interrupted

_UNPICKLED = "_interrupted_search", "_completed_search"
"""States with all results, and of an interrupted search also with the data and all models."""


@BaseSearchCV.register  # docs/decisions/0008-searchcv.md explains why it is not a subclass
class BaseHalvingSearch(HTMLReprMixin, CallbackSupportMixin, EvaluatedSearch):
    """Base class of the searches; a subclass adds parameters, an algorithm and candidates."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Run fit with all sets of parameters, and refit the best candidate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data. For precomputed kernels or distances, the shape is
            (n_samples, n_samples).
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target relative to X for classification or regression; None for unsupervised learning.
        **params : dict
            Parameters passed to the ``fit`` or ``partial_fit`` method of the estimator, to the
            scorer, and to the splitter (`groups`). If a parameter is array-like with one value per
            sample, it is split with X and y.

        Returns
        -------
        self : object
            Fitted search.

        Raises
        ------
        TypeError, ValueError
            If parameters are invalid, before any training. If all fits failed, or if no candidate
            has a score and none was trained with full resource; ``failures_`` then has the reasons.
            If a callable `refit` does not return an integer. If a callable `scoring` returns
            several metrics, and `refit` is True or a name that none of them has.
        TimeoutError
            If `max_time` ended before any candidate was scored on all folds of the first rung, or
            if no candidate that was completed has a score.
        ImportError
            If `checkpoint` or OptunaSampler requires a package that is not installed.
        CheckpointError
            If `checkpoint` is damaged, in use, or of another search or other data.
        IndexError
            If a callable `refit` returns an index that is not one of ``cv_results_``.
        RuntimeError
            If a cluster loses its workers.
        KeyboardInterrupt
            After Ctrl-C, with the attributes set from the completed results.
        Exception
            Of the estimator or the scorer, if ``error_score="raise"``; or if a candidate lacks a
            method, such as ``predict_proba``, that one of several metrics requires.
            ``all_cv_results_``, ``cv_results_``, ``rung_history_`` and ``failures_`` then have the
            completed results, if there are any, and `resume` continues the search.
        """
        start_time = time()
        with self._store(Store()) as store:
            if self.random_state is None and store.seed is not None:
                random_state = RandomState(store.seed)
            else:
                random_state = random_state_of(self.random_state)
            first_state = deepcopy(random_state)
            spec = self._prepare(X, y, params, random_state)
            self._warn_about_refit(spec)
            data = (X, y, params)
            origin = Origin.of(self, first_state, spec, data, store.path)
            store.claim(origin.fingerprint)
            self._run(InterruptedSearch(origin, spec, store), start_time, data)
        return self

    def resume(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Resume what was interrupted by Ctrl-C, `max_time`, a callback or an error.

        That is a `fit`, an `extend` or an `audit`. Completed evaluations are not repeated, and the
        results are those of an uninterrupted search. `max_time` is counted from this call. `resume`
        requires the process of `fit`; with `checkpoint`, calling `fit` again resumes in any
        process.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data of the interrupted `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of the interrupted `fit`.
        **params : dict
            Parameters of the interrupted `fit`.

        Returns
        -------
        self : object
            Fitted search.

        Raises
        ------
        ValueError
            If there is nothing to resume, or if the data, `checkpoint` or parameters on which the
            results depend changed. `max_time`, `fit_timeout`, `n_jobs`, `pre_dispatch`, `verbose`,
            `model_memory` and `refit`, unless it is the name of a metric, can be changed.
        TypeError, TimeoutError, CheckpointError, KeyboardInterrupt
            As in `fit`. After an error, the attributes are those from before.
        """
        start_time = time()
        interrupted = self.__dict__.get("_interrupted_search")
        if interrupted is None:
            raise ValueError(
                f"There is nothing to resume: no fit of this {type(self).__name__} was interrupted "
                "in this process, or it has been completed since, or ended by an audit. Call fit."
            )
        data = (X, y, params)
        self._check_unchanged("resume", interrupted.origin, data)
        # An audit keeps the refit of the search before it. Of an interrupted fit, nothing is kept.
        refitted = self._refitted() if interrupted.spec.audits else None
        with self._continued(interrupted.store, interrupted.origin) as store:
            self._run(replace(interrupted, store=store), start_time, data, refitted)
        warn_about_lost_best(self, interrupted.before)
        return self

    def results_frame(self) -> Any:
        """Return every candidate at its furthest rung as a `pandas.DataFrame`.

        Returns
        -------
        DataFrame
            The columns of ``all_cv_results_``, with one row per candidate, in the order of
            their numbers.

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        ImportError
            If pandas is not installed.
        """
        import pandas as pd

        check_is_fitted(self, "all_cv_results_")
        frame = pd.DataFrame(self.all_cv_results_)
        # The first of several rows on the same folds: later ones repeat known scores.
        order = ["candidate", "n_resources", "n_folds"]
        furthest = frame.sort_values(order, ascending=[True, False, False], kind="stable")
        return furthest.drop_duplicates("candidate").reset_index(drop=True)

    def _store(self, in_memory: Store) -> Store:
        """Return the store of completed results: the checkpoint, or one in memory without it."""
        return in_memory if self.checkpoint is None else Checkpoint(self.checkpoint)

    def _check_unchanged(self, method: str, origin: Origin, data: FitArguments) -> None:
        """Raise an error if the search or the data have changed since the fit of an origin."""
        origin.check_unchanged(method, search_params(self), data, self._store(Store()).path)

    @with_callbacks
    def _run(
        self,
        state: InterruptedSearch,
        start_time: float,
        data: FitArguments,
        refitted: Refitted | None = None,
    ) -> None:
        """Run the search from the results of its store, and keep the state to continue from.

        A candidate that was `refitted` before is not refit again.
        """
        X, y, params = data
        observed = X, y, metadata_of(params)
        n_runs = 1 if state.spec.starting_with is None else 2  # it can start again
        task = root_task(self, n_runs + bool(self.refit)).begin(*observed)
        deadline = inf if self.max_time is None else start_time + self.max_time
        begin, is_complete = start_time, False
        run: Run | None = None
        try:
            # Set first and deleted last, so that `resume` continues the search after any Ctrl-C.
            self._interrupted_search = state
            self.__dict__.pop("_completed_search", None)  # with its models, before others
            self._replace_fitted({})
            with autologged(self, X, y):
                while True:
                    run = self._make_run(state.spec, state.store, task, begin, deadline, refitted)
                    try:
                        is_complete = self._evaluate_and_refit(run, task)
                        break
                    except StartAgainError as error:
                        again = error.with_traceback(None)  # which would keep the first run
                    warn_user(str(again))
                    spec, begin = restarted_spec(again, state.spec, run.pool.params), time()
                    self._interrupted_search = state = replace(state, spec=spec)
            task.end(*observed)
        finally:
            if run is not None and (is_complete or is_interrupted(self)):
                completed = CompletedSearch.of(state.origin, run, is_complete=is_complete)
                if completed is not None:
                    self._completed_search = completed
            if is_complete:
                del self._interrupted_search

    @contextmanager
    def _continued(self, in_memory: Store, origin: Origin) -> Iterator[Store]:
        """Open the store of a search that is continued, and restore its results after an error."""
        before = self._fitted_attributes()
        # After an error in what continues a completed search, `resume` continues that.
        states = _UNPICKLED if is_interrupted(self) else ("_completed_search",)
        before |= {name: vars(self)[name] for name in states if name in vars(self)}
        with self._store(in_memory) as store:
            store.claim(origin.fingerprint, origin.extensions)
            try:
                yield store
            except (Exception, SystemExit):  # sys.exit in an estimator does not end a notebook
                if "cv_results_" in before:
                    self._replace_fitted(before)
                raise

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _UNPICKLED}
