"""Base class of the searches, with `audit`."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from math import isnan
from time import time
from typing import Any, Literal, Self

from sklearn.utils.validation import check_is_fitted

from sklearn_sha._param_validation import check_int
from sklearn_sha._search.audit import MAX_SHARE, TOO_EXPENSIVE, AuditPlan, audit_plan
from sklearn_sha._search.base import BaseHalvingSearch
from sklearn_sha._search.states import CompletedSearch, InterruptedSearch
from sklearn_sha._search.validation import check_given_data
from sklearn_sha._storage.store import Store
from sklearn_sha.inspection.report import TrustReport
from sklearn_sha.inspection.search_state import are_splits_consumed, can_resume
from sklearn_sha.inspection.trust import trust_report
from sklearn_sha.inspection.trust_advice import probability_text


class AuditedSearch(BaseHalvingSearch):
    """Base class of the searches, with `audit`."""

    def audit(
        self, X: Any, y: Any = None, *, n_candidates: int | Literal["auto"] = 4, **params: Any
    ) -> Self:
        """Train, to full resource, the eliminated candidates with the highest risks.

        A candidate that turns out better than the selected one becomes the selected candidate,
        and is refit. `sklearn_sha.inspection.trust_report` names the risks, and what the audit has
        found. The audited candidates are in the last rung of ``rung_history_``, and the column
        ``audited`` of ``cv_results_`` and ``all_cv_results_`` is True for them. The models of
        eliminated candidates continue training if `keep_eliminated` is True, otherwise they are
        refit from scratch. `audit` requires the process of `fit`; with `checkpoint`, call `fit` and
        `audit` again in any process.

        If a search whose brackets follow each other, as those of ``budget="anytime"``, was
        interrupted, the completed brackets are audited, and the search ends with them. To add
        brackets, call `resume` first.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data of `fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets of `fit`.
        n_candidates : int or "auto", default=4
            Number of further candidates to audit. "auto": until the probability of the trust
            report is 0.95, but for at most a tenth of the cost of the search.
        **params : dict
            Parameters of `fit`.

        Returns
        -------
        self : object
            Fitted search.

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        ValueError
            If there is nothing to audit; if the search is a copy or was loaded from a file; if the
            last `fit`, `resume`, `extend` or `audit` was interrupted and has no completed bracket,
            so that `resume` has to be called first; or if the data, the splits or parameters on
            which the results depend have changed since `fit`.
        TypeError
            If X is a number in the place of the data, or as in `fit`.
        TimeoutError, CheckpointError, KeyboardInterrupt
            As in `fit`. After an error, the search is as before. `resume` continues an interrupted
            audit, or one of a completed search that raised an error in training.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sklearn.linear_model import SGDClassifier
        >>> from sklearn_sha import SuccessiveHalvingSearchCV
        >>> from sklearn_sha.inspection import trust_report
        >>> X, y = load_digits(return_X_y=True)
        >>> search = SuccessiveHalvingSearchCV(
        ...     SGDClassifier(random_state=0),
        ...     {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100]},
        ...     resource="partial_fit",
        ...     min_resources=1,
        ...     max_resources=32,
        ...     min_folds="all",
        ... ).fit(X, y)
        >>> trust_report(search).enough
        False
        >>> trust_report(search.audit(X, y, n_candidates=7)).enough
        True
        """
        start_time = time()
        check_given_data("audit", X, y)
        completed, data = self._completed("audit"), (X, y, params)
        self._check_unchanged("audit", completed.origin, data)
        self.plan_audit(n_candidates)  # which raises an error if there is nothing to audit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of fit
            fresh = self._prepare(X, y, params, deepcopy(completed.origin.random_state))
        completed.origin.check_unchanged_plan("audit", fresh)
        folds = fresh.folds
        if not fresh.has_models_of(completed.spec):
            folds = self._routed_as(folds, completed.spec, params)
        spec = replace(
            completed.spec,
            folds=folds,
            candidates=[*completed.candidates],
            evaluations=completed.evaluations,
            audits=(*completed.spec.audits, n_candidates),
            is_closed=True,
        )
        origin = completed.origin.audited(n_candidates)
        refitted = self._refitted()
        known = completed.store
        if completed.is_part:  # `resume` of the interrupted search still needs its models
            known = known.copy() if self.keep_eliminated else Store({**known.outcomes})
        with self._continued(known, origin) as store:
            self._run(InterruptedSearch(origin, spec, store), start_time, data, refitted)
        return self

    def plan_audit(self, n_candidates: int | Literal["auto"] = 4) -> AuditPlan:
        """Return which candidates `audit` would train and what it costs, without training.

        Results of audits before an `extend` are not trained again, but count in the cost, as in
        that of the extended search.

        Parameters
        ----------
        n_candidates : int or "auto", default=4
            As in `audit`.

        Returns
        -------
        AuditPlan
            Prints as sentences.

        Raises
        ------
        NotFittedError
            If `fit` has not been called.
        ValueError
            If there is nothing to audit, or if `audit` requires `fit` or `resume` before.
        """
        check_int("n_candidates", n_candidates, "auto")
        completed = self._completed("audit")
        results, schedule = completed.results, completed.spec.schedule
        report = trust_report(self)
        cost = completed.cost
        plan = audit_plan(report, results, schedule, n_candidates, cost, MAX_SHARE * cost)
        if plan is None:
            raise ValueError(_nothing_to_audit(report, n_candidates))
        return plan

    def _completed(self, method: str) -> CompletedSearch:
        """Return the state of the completed search, which a method continues."""
        completed: CompletedSearch | None = self.__dict__.get("_completed_search")
        can_continue = completed is not None and (method == "audit" or not completed.is_part)
        if can_resume(self) and not can_continue:
            raise ValueError(
                f"{method} requires a completed search, and the last one was interrupted. Call "
                "resume first. If max_time ended the search, raise max_time or set it to None "
                "before."
            )
        check_is_fitted(self)
        if completed is None:
            raise ValueError(
                f"{method} requires the process of fit, or a checkpoint: this "
                f"{type(self).__name__} is a copy or was loaded from a file, without the results "
                "on each fold. Call fit first; with the same checkpoint, it repeats only the refit."
            )
        if are_splits_consumed(self):
            raise ValueError(
                f"{method} requires the splits of fit, and cv={self.cv!r} has already yielded "
                "them. Pass a list of its splits as cv, and call fit first."
            )
        return completed


def _nothing_to_audit(report: TrustReport, n_candidates: int | str) -> str:
    """Return why there is nothing to audit."""
    if isnan(report.probability):
        reason = report.advice.removesuffix(".")
    elif not report.eliminated:
        reason = "Every candidate that has a score was trained to full resource"
    elif report.enough:
        reason = (
            "The probability that nothing better was eliminated is "
            f"{probability_text(report.probability)}, which is enough"
        )
    else:
        reason = f"{TOO_EXPENSIVE}. Set n_candidates to a number"
    return f"There is nothing to audit with n_candidates={n_candidates!r}. {reason}."
