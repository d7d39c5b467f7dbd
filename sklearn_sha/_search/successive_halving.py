"""SuccessiveHalvingSearchCV: its parameters, and which schedule they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState

from sklearn_sha._param_validation import check_int
from sklearn_sha._search.base import BaseHalvingSearch
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.doubling import BudgetDoubling
from sklearn_sha.bandit.successive_halving import FixedBudget, SuccessiveHalving
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.sampling import first_candidates
from sklearn_sha.candidates.space import given_name, n_candidates_of, space_name
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits
from sklearn_sha.schedules import Schedule


class SuccessiveHalvingSearchCV(BaseHalvingSearch):
    """Search hyperparameters by dropping the worse ones early and training the others on.

    Every candidate gets a little training; the worse ones are dropped, the others trained
    on from where they stand, until few are left at full resource [1]_. Takes what
    GridSearchCV takes and has what it has.

    Parameters
    ----------
    estimator : estimator
        Of which the best candidate is wanted; a Pipeline too.
    param_distributions : dict or list of dict
        Parameter names to lists, as for GridSearchCV, and/or to distributions with an
        ``rvs`` method, as for RandomizedSearchCV. Required, unless `param_grid` is given.
    param_grid : dict, list of dict or None, default=None
        GridSearchCV's name for `param_distributions`. Give one of the two.
    n_candidates : int or "auto", default="auto"
        How many different candidates are drawn. "auto": the whole grid where every value
        is a list, else 64, which hold one of the best 5 % with probability 0.96.
    n_iter : int or None, default=None
        RandomizedSearchCV's name for `n_candidates`. Give one of the two.
    sampler : "auto" or Sampler, default="auto"
        Where candidates come from. "auto": all combinations of a grid, or samples from
        distributions (`sklearn_sha.candidates.RandomSampler`). Or an instance of a subclass of
        `sklearn_sha.candidates.Sampler`.
    factor : real > 1, default=2
        A rung promotes one in so many candidates, to so many times the resource.
    resource : "auto", "partial_fit", "n_samples", str or Resource, default="auto"
        What candidates get more of:

        - "partial_fit": calls of ``partial_fit``; models keep training.
        - "n_samples": training rows of each fold; models are fitted anew. The rows of a
          rung are among those of the next, and stratified for a classifier. Test rows grow
          in proportion, from 1,000 on.
        - the name of an integer parameter, such as "n_estimators" or "hist__max_iter".
          Forests, bagging and boosting keep growing
          (`sklearn_sha.resources.exact_warm_starts`; XGBoost, LightGBM and CatBoost where they
          draw nothing at random), others are fitted anew.
        - an instance of a `sklearn_sha.resources.Resource` of your own.
        - "auto": what all candidates have and what is cheapest for them: "partial_fit" for neural
          networks, the trees or iterations of forests and boosting where these (and the learning
          rate) are not searched, else "n_samples". The user guide has the table.
    min_resources : int, float or "auto", default="auto"
        Units of the first rung. A float is a fraction of the maximum: 1.0 is one rung at
        full resource, which is a grid search. "auto": as many as let the last contest
        happen at the maximum, and no less than 1; of "n_samples" 200 samples and 10 of each
        class, of a Resource its ``lowest``.
    max_resources : int or "auto", default="auto"
        Units of the last rung. "auto": the estimator's own number of epochs, at most 100 if `fit`
        can stop before; the samples of the largest training fold; the value that the parameter
        has in the estimator. With an int `budget`, "auto" is no limit but the samples that there
        are. If this and all of `resource`, `min_resources` and `budget` are left automatic and
        rungs would cost more than 0.8 of a grid search, there is one rung at full resource.
    budget : int, "double" or None, default=None
        Units per fold to spend in all, in equal shares for the rungs, as in the paper;
        instead of `min_resources`. With `max_resources`, no candidate gets more than that.
        "double" needs no number: it halves all candidates from `min_resources` (the least for
        "auto") on, then again from `factor` times as many, and so on up to `max_resources`.
        What has been trained is not trained again.
    algorithm : "auto" or Algorithm, default="auto"
        Which candidates are evaluated next, and at which resource. "auto": Successive Halving, by
        `factor` and `budget`. Or an instance of a subclass of `sklearn_sha.bandit.Algorithm`, which
        ignores `factor`, `patience` and `tol`.
    patience : int or None, default=2
        With ``budget="double"``, stop after so many halvings in a row whose winner's score is
        not better by more than `tol` than that of a winner before. None: go on to the end.
    tol : float, default=0.0
        See `patience`.
    max_time : float or None, default=None
        Seconds after which no training begins. What is finished by then is kept (if nothing is,
        TimeoutError), and the best of it wins: that of the last whole rung, or with
        ``budget="double"`` of the last whole halving. The refit comes on top.
    fit_timeout : float or None, default=None
        Seconds after which the worker process of a fit (with its scoring) is ended, and the fit
        counts as failed. Needs worker processes; see the user guide for what it costs.
    checkpoint : path-like or None, default=None
        Folder in which everything finished is kept: ``fit`` with the same arguments and data goes
        on from there, after whatever ended it. It holds pickles; loading one can run any code,
        so that only you may be able to write there. Needs the extra ``checkpoint``.
    model_memory : int, "auto" or None, default="auto"
        Bytes of memory for models that wait for the next rung, where there is no `checkpoint`.
        Those beyond it go to temporary files. If these are in memory too, or the disk is full,
        they are dropped, with a warning, and refit from scratch if their candidates are
        promoted. The results do not depend on it. "auto": a quarter of the memory that is free
        when the search begins. None: no limit.
    score_aggregation : "last", "best" or "mean", default="last"
        What a candidate is promoted by: its score in this rung, its best so far, or the mean
        of its scores so far, where scores fluctuate as training goes on. The winner of the
        last rung is by its score there.
    promote_by : str or None, default=None
        With several metrics, the name of the one by which candidates are promoted. None: the one
        that `refit` names, else the first. The best candidate is selected by `refit`.
    batch_size : int or None, default=None
        Rows that each ``partial_fit`` gets: the next so many of the training fold, which is
        reshuffled at every pass. None: all of them, so that a unit is an epoch.
    scoring : str, callable, list, tuple, dict or None, default=None
        As in GridSearchCV.
    n_jobs : int or None, default=None
        Jobs in parallel, as in GridSearchCV. The results do not depend on it.
    refit : bool, str or callable, default=True
        As in GridSearchCV. A callable gets ``cv_results_``, which has the candidates of the last
        completed rung only.
    cv : int, cross-validator, iterable or None, default=None
        As in GridSearchCV. The splits are drawn once, so it may shuffle at random.
    verbose : int, default=0
        1 shows how it goes: a line a rung, in a notebook a table that grows; 2 the candidates too;
        3 and more print a line per fit too, as GridSearchCV does, with its scores and its time.
    pre_dispatch : int or str, default="2*n_jobs"
        As in GridSearchCV, in batches of jobs.
    random_state : int, RandomState or None, default=None
        Decides the candidates that are drawn, the subsamples of rows and the order of
        mini-batches. It is not handed to the estimator.
    error_score : "raise" or float, default=nan
        Score of a candidate on a fold where its fit or its scoring fails. "raise" raises
        instead, with the candidate in a note.
    return_train_score : bool, default=False
        Whether ``cv_results_`` has scores on the training rows too.

    Attributes
    ----------
    cv_results_ : dict of ndarray, MaskedArray and list
        GridSearchCV's columns for the candidates of the last completed rung, with
        ``budget="double"`` of the last completed run. If the search was stopped before a rung was
        complete, the candidates that were done. ``mean_fit_time`` is the time of this rung's
        training.
    all_cv_results_ : dict of ndarray, MaskedArray and list
        The same columns but for the ranks, with one row per candidate and rung, and ``bracket``
        (0, or the number of the run with ``budget="double"``), ``iter`` (the rung),
        ``n_resources`` (total units of the candidate by then) and ``candidate`` (its number);
        with ``budget="double"`` also ``cached`` (whether the scores were known from an earlier
        run).
    cv_results_rows_ : list of int
        Rows of ``all_cv_results_`` that ``cv_results_`` consists of, in its order.
    failures_ : list of dict
        One per failed fit or score, as `pandas.DataFrame` takes it: candidate, params, split,
        rung, n_resources, failed ("fit" or "score") and error (the traceback).
    rung_history_ : list of dict
        One a rung, as `pandas.DataFrame` takes it: iter, n_candidates, step, resource,
        spent, candidates, scores (mean test scores, in the order of candidates), promoted
        (empty for a rung that was interrupted or failed), best_score, cut_score (the worst
        promoted), rank_correlation (Spearman's with the rung before, over the candidates of both;
        None in the first rung), fit_time, score_time (summed over jobs) and wall_time (seconds).
    schedule_ : Schedule
        What `plan` says beforehand. With ``budget="double"`` it counts each halving by itself,
        so that its ``spent`` is the most that can be; ``rung_history_`` has what was.
    best_index_, best_score_, best_params_, best_estimator_, refit_time_
        As in GridSearchCV. ``best_params_`` has the resource too where that is a parameter.
    best_candidate_ : int
        Number of the best candidate in ``all_cv_results_`` and ``rung_history_``.
    best_n_resources_ : int
        Units that the best candidate had, and that ``best_estimator_`` was given.
    promote_by_ : str
        Name of the metric by which candidates were promoted; "score" if there is one metric.
    interrupted_ : bool
        Whether `max_time`, a callback or a KeyboardInterrupt ended the search.
    resource_ : str
        What "auto" became.
    n_resources_, n_candidates_ : list of int
        One entry a rung.
    n_iterations_, n_remaining_candidates_ : int
        As in HalvingGridSearchCV.
    min_resources_, max_resources_ : int
        Least and most that a rung stood at; of a search that was stopped, that one has by then.
    scorer_, n_splits_, multimetric_, classes_, n_features_in_, feature_names_in_
        As in GridSearchCV.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Trains every candidate at full resource.
    sklearn.model_selection.HalvingGridSearchCV : Starts over at every rung.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import SuccessiveHalvingSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": [1e-5, 1e-4, 1e-3, 1e-2], "penalty": ["l2", "l1"]},
    ...     resource="partial_fit",
    ...     max_resources=16,
    ...     cv=3,
    ... )
    >>> search.plan(X, y)
    rung  candidates  step  resource  spent
       0           8     4         4     32
       1           4     4         8     48
       2           2     8        16     64
    64 epochs per fold, 0.50 of a grid search (8 candidates x 16 epochs = 128). Models continue
    training between rungs.
    >>> search.fit(X, y).best_n_resources_
    16
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        n_candidates: int | Literal["auto"] = "auto",
        n_iter: int | None = None,
        sampler: Literal["auto"] | Sampler = "auto",
        factor: float = 2,
        resource: str | Resource = "auto",
        min_resources: float | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        budget: int | Literal["double"] | None = None,
        algorithm: Literal["auto"] | Algorithm = "auto",
        patience: int | None = 2,
        tol: float = 0.0,
        max_time: float | None = None,
        fit_timeout: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        model_memory: int | Literal["auto"] | None = "auto",
        score_aggregation: Literal["last", "best", "mean"] = "last",
        promote_by: str | None = None,
        batch_size: int | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: int | RandomState | None = None,
        error_score: float | Literal["raise"] = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.param_grid = param_grid
        self.n_candidates = n_candidates
        self.n_iter = n_iter
        self.sampler = sampler
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.budget = budget
        self.algorithm = algorithm
        self.patience = patience
        self.tol = tol
        self.max_time = max_time
        self.fit_timeout = fit_timeout
        self.checkpoint = checkpoint
        self.model_memory = model_memory
        self.score_aggregation = score_aggregation
        self.promote_by = promote_by
        self.batch_size = batch_size
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.refit = refit
        self.cv = cv
        self.verbose = verbose
        self.pre_dispatch = pre_dispatch
        self.random_state = random_state
        self.error_score = error_score
        self.return_train_score = return_train_score

    def _algorithm(self) -> Algorithm:
        check_int("budget", self.budget, '"double" or None', self.budget in (None, "double"))
        if self.algorithm != "auto":
            if not isinstance(self.algorithm, Algorithm):
                raise TypeError(
                    f'algorithm={self.algorithm!r} is no Algorithm. Give "auto", or an instance of '
                    "a subclass of sklearn_sha.bandit.Algorithm."
                )
            if self.budget is not None:
                raise ValueError(
                    f"budget={self.budget!r} and algorithm={self.algorithm!r} both set the "
                    'schedule. Leave budget=None or algorithm="auto".'
                )
            return self.algorithm
        if self.budget == "double":
            return BudgetDoubling(self.factor, self.patience, self.tol)
        if self.budget is None:
            return SuccessiveHalving(self.factor)
        if self.min_resources != "auto":
            raise ValueError(
                f"budget={self.budget} and min_resources={self.min_resources!r} both say "
                'where the first rung stands; give min_resources="auto", or budget=None.'
            )
        return FixedBudget(int(self.budget), self.factor)

    def _candidates(
        self, bounds: Callable[[int], Bounds], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        names = space_name(self), given_name(self, "n_candidates", "n_iter")
        n_candidates = n_candidates_of(self)
        return first_candidates(self._sampler(), self._space(), n_candidates, rng, names)

    def _is_fully_automatic(self) -> bool:
        params = self.resource, self.min_resources, self.max_resources, self.algorithm
        return self.budget is None and all(value == "auto" for value in params)

    def _has_automatic_maximum(self) -> bool:
        return super()._has_automatic_maximum() and self.budget in (None, "double")

    def _check_plan(self, plan: Schedule, limits: Limits) -> None:
        if self.budget is not None or self.algorithm != "auto":
            return
        n_last = plan.rungs[-1].n_candidates
        is_explicit = self.max_resources not in ("auto", limits.highest)
        if self.min_resources == "auto" and is_explicit and n_last > ceil(self.factor):
            warnings.warn(
                f"max_resources={self.max_resources} of resource={limits.resource!r} is too low "
                f"to eliminate all but {ceil(self.factor)} of {plan.n_candidates[0]} candidates: "
                f"the last rung compares {n_last}. Raise max_resources, or choose another "
                "resource.",
                UserWarning,
                stacklevel=5,
            )
