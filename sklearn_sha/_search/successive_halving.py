"""SuccessiveHalvingSearchCV: parameters, algorithm and candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from inspect import signature
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState

from sklearn_sha._param_validation import check_int
from sklearn_sha._search.advice import (
    low_maximum_warnings,
    patience_warnings,
    single_rung_warnings,
)
from sklearn_sha._search.aliases import given_name, n_candidates_of
from sklearn_sha._search.extendable_search import ExtendableSearch
from sklearn_sha._search.planning import Automatic
from sklearn_sha._search.search_spec import SearchSpec
from sklearn_sha.bandit.anytime import Anytime
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.bandit.doubling import BudgetDoubling
from sklearn_sha.bandit.hyperband import Hyperband
from sklearn_sha.bandit.in_turn import HalvingInTurn
from sklearn_sha.bandit.successive_halving import FixedBudget, SuccessiveHalving
from sklearn_sha.candidates.base import History, Sampler
from sklearn_sha.candidates.proposals import first_candidates, proposed, without_grid_order
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.resources.base import Resource
from sklearn_sha.resources.limits import Limits
from sklearn_sha.schedules import Schedule

_BUDGETS: dict[Any, type[BudgetDoubling] | type[Anytime]] = {
    "double": BudgetDoubling,
    "anytime": Anytime,
}


class SuccessiveHalvingSearchCV(ExtendableSearch):
    """Search over hyperparameters with Successive Halving.

    All candidates are first evaluated with a small amount of a resource, such as epochs, trees or
    samples. The worst are eliminated, and the others are promoted to the next rung, which has more
    of the resource, until only a few are left at the full resource [1]_. Models continue training
    between rungs if the result is that of a single fit. Parameters and attributes of GridSearchCV
    have the same meaning.

    Parameters
    ----------
    estimator : estimator
        Estimator to tune. Can be a Pipeline.
    param_distributions : dict or list of dict
        Dictionary with parameter names as keys. The values are lists, as in GridSearchCV, or
        distributions with an ``rvs`` method, as in RandomizedSearchCV. Can also be a list of such
        dictionaries. Required unless `param_grid` is given.
    param_grid : dict, list of dict or None, default=None
        Alternative name of `param_distributions`, as in GridSearchCV. Only one of the two can be
        given.
    n_candidates : int or "auto", default="auto"
        Number of distinct candidates. "auto" tries all combinations of a grid. With distributions
        it samples 64 candidates, of which at least one is among the best 5 % with probability 0.96.
        With ``budget="anytime"`` there can be more, or fewer if time ends.
    n_iter : int or None, default=None
        Alternative name of `n_candidates`, as in RandomizedSearchCV. If both are given, they
        have to be equal.
    sampler : "auto", "random", "sobol", "model" or Sampler, default="auto"
        Source of the candidates. Those of this library try every combination of a grid if
        `n_candidates` allows. Otherwise the candidates are

        - "random": sampled at random, as in RandomizedSearchCV
          (`sklearn_sha.candidates.RandomSampler`). "auto" is the same at present.
        - "sobol": spread evenly over the space (`sklearn_sha.candidates.SobolSampler`).
        - "model": proposed in waves, from the scores so far
          (`sklearn_sha.candidates.ModelSampler`).
        - an instance of a subclass of `sklearn_sha.candidates.Sampler`: proposed by it, such as
          `sklearn_sha.candidates.OptunaSampler`, which asks a sampler of Optuna.

        A sampler that uses the history, such as "model", usually has up to four brackets of at
        least 8 candidates, one after the other, so that it has scores at full resource too
        (`sklearn_sha.bandit.HalvingInTurn`). The user guide has the exceptions.
    initial_candidates : list of dict or None, default=None
        Candidates that are tried first, such as ``[{}]`` for the estimator itself. They count among
        `n_candidates`, and the sampler does not repeat them. Values can be outside of the space. If
        `param_distributions` is a single dict, a candidate has the estimator's own values of the
        parameters that it lacks. With several dicts, it has the parameters that are given, and
        ``cv_results_`` masks the others.
    keep_initial : bool, default=False
        Promote the initial candidates in every rung, unless they fail, so that they are scored in
        the last rung too. There the selected candidate is at least as good as each of them. Each
        rung has room for them and at least one other candidate.
    factor : float, default=2
        Keep `ceil(n / factor)` candidates after each rung and multiply the resource by about
        `factor`, or by more if that is needed to reach the maximum. Rungs at the maximum add
        folds only. Must be larger than 1.
    resource : "auto", "partial_fit", "n_samples", "folds", str or Resource, default="auto"
        Resource that increases with each rung:

        - "partial_fit": calls of ``partial_fit``. Models continue training.
        - "n_samples": training samples of each fold. Models are refit from scratch. The samples of
          a rung include those of the previous rung. They are random, stratified for a classifier;
          those of a time series are the latest ones, and at least the latest ten of each class.
          The test folds are subsampled in the same proportion, but to no fewer than 1,000 samples.
        - "folds": cross-validation folds, on all training samples. Each fold of a candidate is fit
          once.
        - the name of an integer parameter, such as "n_estimators" or "hist__max_iter". Forests,
          bagging and boosting continue training if the result is that of a single fit: the user
          guide has the conditions, also for XGBoost, LightGBM and CatBoost. Other models are refit
          from scratch.
        - an instance of a custom subclass of `sklearn_sha.resources.Resource`.
        - "auto": one that all candidates support and whose early scores usually predict the final
          ranking: "partial_fit" for neural networks, the trees or iterations of forests, bagging
          and boosting (except AdaBoost) if neither these nor the learning rate are searched,
          otherwise "n_samples". Mostly with fewer than 10,000 samples, it can be "folds" instead,
          if these rank candidates better or cost no more, and if other parameters of the schedule
          have their default values. If even rungs that add folds would cost more than 0.8 times a
          grid search, there is a single rung at full resource. The user guide has the complete
          table.
    min_resources : int, float or "auto", default="auto"
        Resource of the first rung. A float is a fraction of the maximum: 1.0 means a single rung at
        full resource, as in a grid search. "auto" is the largest value with which the last rung
        compares at most `ceil(factor)` candidates at the maximum. If the number of folds grows, it
        is a larger value (see `min_folds`). The lower bound of "auto" depends on the resource:

        - "n_samples": 200 samples, and enough to include 10 of the rarest class (at most half of
          it) and two of each class. Candidates that fail with so few samples wait for a rung with
          more; if all fail, the search starts again.
        - "folds": as many as ``min_folds="auto"`` starts with. If no score on these is a number,
          the search starts again with all. An integer with fewer than 100 test samples raises a
          ValueError, unless these are all folds.
        - a custom resource: its ``lowest``.
        - all others: 1.
    max_resources : int or "auto", default="auto"
        Resource of the last rung. "auto" depends on the resource:

        - epochs: the estimator's own number (100 without one), but at most 100 if `fit` can stop
          earlier.
        - mini-batches: those of as many epochs, or of one if all candidates only count samples, as
          naive Bayes does.
        - samples: those of the largest training fold.
        - folds: all.
        - a parameter: its value in the estimator. An integer is required if that is None (except
          for XGBoost) or differs between candidates, and for a custom resource without a default.

        If `budget` is an integer, "auto" means no limit other than the number of samples or folds.
    min_folds : int, "auto" or "all", default="auto"
        Number of cross-validation folds that score the first rung. The last rung has all folds.

        - "auto" starts with ``ceil(n_folds / factor**n_rungs)`` folds, but with at least 100 test
          samples and 10 of the rarest class (or half of it). The number grows in equal ratios. With
          an integer `budget` it is the same as "all".
        - An integer grows by `factor` from rung to rung, rounded up. It raises a ValueError if
          those folds have fewer than 100 test samples and are not all folds, or with
          ``resource="folds"``: set `min_resources` instead.
        - "all" uses all folds in every rung, and has no effect with ``resource="folds"``.

        The candidates of a rung are compared on the same folds, and no candidate is fit twice with
        the same resource on a fold. Folds are added in the order of the splitter, or in random
        order with a `random_state`. Those of PredefinedSplit always keep their order. Those of a
        time series, as TimeSeriesSplit makes them, are added from the latest to the first. If the
        number of folds grows, costs and an integer `budget` are counted over all folds, and an
        automatic schedule uses the saved cost for more resource in early rungs: usually, each rung
        has the resource that the next one has with "all".
    budget : int, "double", "anytime" or None, default=None
        How the cost is limited:

        - int: the total resource per fold, divided equally between the rungs as in the paper.
          `max_resources` also limits each candidate. Requires ``min_resources="auto"``.
        - "double": Successive Halving with all candidates from `min_resources` (by default the
          minimum of the resource), again from `factor` times that, and so on up to `max_resources`.
          Completed training is reused.
        - "anytime": for a limited `max_time`. Brackets of Successive Halving with new candidates
          follow each other, as long as the next one and the refit are expected to end in time.
          Usually, the first two have 8 candidates each, and later ones at least 16, up to 8 times
          `n_candidates` in total; the user guide describes their rungs. Without `max_time`, all of
          them are run, unless `patience` or `target_score` ends the search.
        - None: by `min_resources`, `max_resources` and `factor`.
    algorithm : "auto" or Algorithm, default="auto"
        Algorithm that decides which candidates are evaluated, and with which resource. "auto" is
        Successive Halving with `factor` and `budget`, in brackets if `sampler` uses the history. An
        instance of a subclass of `sklearn_sha.bandit.Algorithm` (except `Hyperband` and `Anytime`,
        for which there are HyperbandSearchCV and ``budget="anytime"``) replaces it: `factor`,
        `budget`, `patience`, `tol`, `stop` and `target_score` must have their default values, and
        `min_resources` too if the algorithm has rungs of its own, as `FixedSchedule`.
    patience : int, "auto" or None, default="auto"
        With ``budget="double"``, stop after this many consecutive runs that did not improve the
        best score by more than `tol`. ``budget="anytime"`` stops when the number of candidates
        has doubled this many times without such an improvement, but not before `n_candidates`
        candidates are tried. None never stops early. "auto" is 2 with ``budget="double"``, and
        None with ``budget="anytime"``, which then ends with its time or its last bracket.
    tol : float, default=0.0
        Minimum improvement of the best score for `patience`. Smaller improvements count once they
        add up to more than this.
    stop : "stable" or None, default=None
        "stable" ends the rungs early when the order of the leading candidates has been the same in
        three consecutive rungs, apart from noise between folds. The best candidate is then
        evaluated on all folds at full resource. Not with ``budget="double"`` or ``"anytime"``,
        which have `patience`.
    target_score : float or None, default=None
        End the search when a candidate reaches this mean score on all folds at full resource. The
        candidates of the last rung are then evaluated in groups of 1, 1, 2, 4, 8, ..., the best of
        the previous rung first. With several metrics, it is a score of the one that promotes (see
        `promote_by`).
    max_time : float or None, default=None
        Seconds after which no more training is started. Completed results are kept, and the best
        candidate is selected from the last completed rung. With several brackets, it is the best
        one of the completed brackets or, if there is none, of their last completed rungs at the
        largest resource; with ``budget="double"``, that of the last completed run. Without
        completed results, a TimeoutError is raised. The refit takes additional time, unless
        ``budget="anytime"`` reserves time for it.
    fit_timeout : float or None, default=None
        Seconds after which the worker process of a fit and its scoring is terminated; the fit then
        counts as failed. Requires worker processes; the user guide describes its cost.
    checkpoint : path-like or None, default=None
        Folder for completed results. ``fit`` with the same arguments and data resumes from them
        after any interruption. The folder contains pickles, which can execute arbitrary code when
        they are loaded, so that only trusted users should be able to write to it. Requires the
        extra ``checkpoint``.
    model_memory : int, "auto" or None, default="auto"
        Bytes of memory for models between rungs, if there is no `checkpoint`. Further models are
        stored in temporary files. If these files are in memory too, or the disk is full, the models
        are deleted with a warning, and refit from scratch if their candidates are promoted. The
        results do not depend on it. "auto" is a quarter of the free memory at the start of the
        search, None means no limit. If fits run in the process of the search, the same limit
        applies separately to the output of preprocessing steps, also with a `checkpoint`.
    keep_eliminated : bool, default=False
        Keep the models of eliminated candidates, if training can continue, so that an audit
        continues them instead of refitting them from scratch. `model_memory` limits their memory.
        After an error in `extend`, those whose training it had continued are refit from scratch.
        With a `checkpoint`, they stay in its folder.
    audit_eliminated : int, "auto" or None, default=None
        Number of eliminated candidates that `fit` audits at its end, those with the highest risks
        (see `audit`). "auto" audits until the probability of the trust report is 0.95, for at most
        a tenth of the cost of the search. None: no audit. Must be None with ``budget="anytime"``.
    score_aggregation : "last", "best" or "mean", default="last"
        Score by which candidates are promoted: the score in the current rung, or the best or the
        mean of the scores so far, for scores that fluctuate during training. The best candidate of
        the last rung is selected by its score in that rung.
    promote_by : str or None, default=None
        Name of the metric by which candidates are promoted, ``"score"`` for a single one. None
        uses the metric of `refit`, or the first one. The best candidate is selected by `refit`.
    batch_size : int or None, default=None
        Number of samples of each call of ``partial_fit``: consecutive batches of the training
        fold, which is shuffled again for each epoch. None uses all samples, so that one call is
        one epoch. With a number, the resource has to be "partial_fit", which "auto" chooses. A
        ValueError is raised if a candidate does not have it.
    scoring : str, callable, list, tuple, dict or None, default=None
        Strategy to evaluate the performance of the cross-validated model on the test set, as in
        GridSearchCV.
    n_jobs : int or None, default=None
        Number of jobs to run in parallel, as in GridSearchCV. The results do not depend on it.
    refit : bool, str or callable, default=True
        Refit the best candidate on the whole dataset, as in GridSearchCV. A callable receives
        ``cv_results_``, which has the candidates of the last completed rung only (of each bracket
        if there are several). A warning is shown before training if others will be eliminated and
        `promote_by` is None.
    cv : int, cross-validator, iterable or None, default=None
        Cross-validation splitting strategy, as in GridSearchCV. The data are split once, so that
        all candidates have the same splits even if the splitter shuffles at random.
    verbose : int, default=0
        Controls the verbosity. 1 shows the cost and the notes of the plan, and the progress: one
        line per rung on a console, a table in a notebook. 2 also shows the candidates. 3 also
        prints a line per fit with its scores and its time, as GridSearchCV does.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of batches of jobs that are dispatched in advance, as in GridSearchCV.
    random_state : int, RandomState or None, default=None
        Controls the sampling of candidates and of training samples, the order in which folds are
        added, the order of mini-batches, and preprocessing steps whose own `random_state` is None.
        It is not passed to the estimator that is tuned.
    error_score : "raise" or float, default=nan
        Value to assign to the score if an error occurs in fitting or scoring on a fold. If set to
        "raise", the error is raised, with a note about the candidate.
    return_train_score : bool, default=False
        Whether ``cv_results_`` includes training scores.

    Attributes
    ----------
    cv_results_ : dict of ndarray, MaskedArray and list
        The columns of GridSearchCV for the candidates of the last completed rung that has scores;
        with several brackets, for those of the last rung of each completed bracket, and with
        ``budget="double"``, of the last completed run. If the search was interrupted before a rung
        was completed, it has the completed candidates. ``mean_fit_time`` is the training time of
        this rung only. After an audit, the column ``audited`` shows which candidates it trained.
    all_cv_results_ : dict of ndarray, MaskedArray and list
        The same columns without the ranks, with one row per candidate and rung, and in addition
        ``bracket``, ``iter`` (the rung of the bracket), ``n_resources`` (total resource of the
        candidate), ``n_folds`` (number of folds that scored it; the scores of other folds are NaN)
        and ``candidate`` (its number). With ``budget="double"``, ``bracket`` is the number of the
        run, ``iter`` counts the rungs of all runs, and ``cached`` shows whether the scores are
        those of an earlier run.
    cv_results_rows_ : list of int
        Rows of ``all_cv_results_`` that ``cv_results_`` consists of, in the same order.
    failures_ : list of dict
        One record per failed fit or score, which `pandas.DataFrame` accepts: candidate, params,
        split, rung, n_resources, failed ("fit" or "score") and error (the traceback).
    rung_history_ : list of dict
        One record per rung; ``rung_history_.to_frame()`` returns a DataFrame. The keys are bracket
        (if there are several; not with ``budget="double"``), iter, n_candidates, n_folds (number of
        folds that scored the rung), step, n_resources, total_cost (cumulative), candidates, scores
        (mean test scores, in the order of candidates), promoted (in a last rung the best candidate;
        empty for a rung that was interrupted or failed), best_score, cut_score (lowest score of a
        promoted candidate; None without one), rank_correlation (Spearman's, with the previous rung,
        over the candidates of both; None for the first rung, NaN if scores are equal), fit_time,
        score_time (summed over jobs), wall_time (seconds in this process; about 0 if all results
        were known before, as in `resume`) and utilization (share of this time in which the workers
        were busy; None if all results were known before).
    schedule_ : Schedule
        Schedule of the search, as returned by `plan`. With ``budget="double"`` its cost is an upper
        bound, since it counts each run separately; ``rung_history_`` has the actual cost.
    best_index_, best_score_, best_params_, best_estimator_, refit_time_
        As in GridSearchCV. ``best_params_`` includes the resource if that is a parameter, unless
        ``resource="auto"`` ended at the estimator's own value.
    best_candidate_ : int
        Number of the best candidate in ``all_cv_results_`` and ``rung_history_``. Not set with
        several metrics and ``refit=False``, nor is ``best_n_resources_``.
    best_n_resources_ : int
        Resource at which the best candidate was selected, and with which ``best_estimator_`` was
        trained. With "n_samples" and "folds", it is trained on all samples. If it was selected at
        an automatic maximum, a network with a larger `max_iter` is refit by ``fit``, and an
        estimator that only counts samples, with `batch_size`, by one pass over all of them.
    promote_by_ : str
        Name of the metric by which candidates were promoted; "score" for a single metric.
    interrupted_ : bool
        Whether the search was interrupted by `max_time`, a callback or a KeyboardInterrupt.
    resource_ : str
        Name of the resource; "auto" is resolved.
    n_resources_, n_candidates_ : list of int
        Resource and number of candidates of each rung.
    n_iterations_, n_remaining_candidates_ : int
        As in HalvingGridSearchCV.
    min_resources_, max_resources_ : int
        Minimum and maximum resource of the evaluated rungs.
    scorer_, n_splits_, multimetric_, classes_, n_features_in_, feature_names_in_
        As in GridSearchCV.

    See Also
    --------
    sklearn.model_selection.GridSearchCV : Trains all candidates with the full resource.
    sklearn.model_selection.HalvingGridSearchCV : Refits from scratch at each rung.

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
    rung  candidates  folds  step  n_resources  total_cost
       0           8      1     8            8          64
       1           4      2     8           16         160
       2           2      3     0           16         192
    192 epochs over all folds, 0.50 of a grid search (8 candidates x 3 folds x 16 epochs = 384).
    Models continue training between rungs.
    Including the estimated fixed cost, at least 0.63 of a grid search.
    Early rungs use fewer folds. With the saved cost, n_resources of the first rung is 8, instead
    of 4 with min_folds="all".
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
        sampler: Literal["auto", "random", "sobol", "model"] | Sampler = "auto",
        initial_candidates: Sequence[Mapping[str, Any]] | None = None,
        keep_initial: bool = False,
        factor: float = 2,
        resource: str | Resource = "auto",
        min_resources: float | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        min_folds: int | Literal["auto", "all"] = "auto",
        budget: int | Literal["double", "anytime"] | None = None,
        algorithm: Literal["auto"] | Algorithm = "auto",
        patience: int | Literal["auto"] | None = "auto",
        tol: float = 0.0,
        stop: Literal["stable"] | None = None,
        target_score: float | None = None,
        max_time: float | None = None,
        fit_timeout: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        model_memory: int | Literal["auto"] | None = "auto",
        keep_eliminated: bool = False,
        audit_eliminated: int | Literal["auto"] | None = None,
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
        self.initial_candidates = initial_candidates
        self.keep_initial = keep_initial
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.min_folds = min_folds
        self.budget = budget
        self.algorithm = algorithm
        self.patience = patience
        self.tol = tol
        self.stop = stop
        self.target_score = target_score
        self.max_time = max_time
        self.fit_timeout = fit_timeout
        self.checkpoint = checkpoint
        self.model_memory = model_memory
        self.keep_eliminated = keep_eliminated
        self.audit_eliminated = audit_eliminated
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

    def _algorithm(self, sampler: Sampler) -> Algorithm:
        check_int("budget", self.budget, *_BUDGETS, None)
        check_int("patience", self.patience, "auto", None)
        if self.algorithm != "auto":
            return self._custom_algorithm()
        target_loss = None if self.target_score is None else -self.target_score
        if self.budget == "anytime" and self.audit_eliminated is not None:
            raise ValueError(
                f"audit_eliminated={self.audit_eliminated!r} is not available with "
                'budget="anytime", whose brackets use the time that there is. Set it to None.'
            )
        if self.budget in _BUDGETS:
            if self.stop is not None:
                raise ValueError(
                    f"stop={self.stop!r} is not available with budget={self.budget!r}. Leave "
                    "stop=None; patience can end such a search."
                )
            params: dict[str, Any] = {"tol": self.tol, "target_loss": target_loss}
            if self.patience != "auto":
                params["patience"] = self.patience
            if self.budget == "anytime":
                params["adds_folds"] = sampler.uses_history
            return _BUDGETS[self.budget](self.factor, **params)
        endings = self.stop, target_loss
        if self.budget is None:
            kind = HalvingInTurn if sampler.uses_history else SuccessiveHalving
            return kind(self.factor, *endings)
        self._check_first_rung(f"budget={self.budget}", "budget=None")
        return FixedBudget(int(self.budget), self.factor, *endings)

    def _custom_algorithm(self) -> Algorithm:
        """Return `algorithm`, after a check that no other parameter contradicts it."""
        if not isinstance(self.algorithm, Algorithm):
            raise TypeError(
                f'algorithm={self.algorithm!r} must be "auto" or an instance of a subclass of '
                "sklearn_sha.bandit.Algorithm."
            )
        if isinstance(self.algorithm, Anytime):
            raise ValueError(
                'algorithm=Anytime(...) takes no account of max_time. Set budget="anytime" instead.'
            )
        if isinstance(self.algorithm, Hyperband):
            raise ValueError(
                "algorithm=Hyperband(...) sets the number of candidates of each bracket, which "
                "n_candidates would contradict. Use HyperbandSearchCV."
            )
        if self.budget is not None:
            raise ValueError(
                f"budget={self.budget!r} and algorithm={self.algorithm!r} both set the schedule. "
                'Leave budget=None or algorithm="auto".'
            )
        parameters = signature(SuccessiveHalvingSearchCV).parameters
        for name in ("factor", "patience", "tol", "stop", "target_score"):
            default = parameters[name].default
            if (value := getattr(self, name)) not in (default, None):
                raise ValueError(
                    f'{name}={value!r} is for algorithm="auto". Set {name}={default!r}; an '
                    "algorithm can have such a parameter itself."
                )
        if self.algorithm.has_own_rungs:
            name = type(self.algorithm).__name__
            self._check_first_rung(f"algorithm={name}(...)", 'algorithm="auto"')
        return self.algorithm

    def _check_first_rung(self, given: str, default: str) -> None:
        """Raise an error if `min_resources` and another parameter both set the first rung."""
        if self.min_resources != "auto":
            raise ValueError(
                f"{given} and min_resources={self.min_resources!r} both set the resource of the "
                f'first rung. Leave min_resources="auto" or {default}.'
            )

    def _candidates(
        self, source: CandidateSource, plan: Callable[[int], Schedule], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        n_name = given_name(self, "n_candidates", "n_iter")
        n_candidates = n_candidates_of(self.n_candidates, self.n_iter)
        sampler, space, initial = source.sampler, source.space, source.initial
        if self._is_counted and sampler.uses_history:
            return int(n_candidates), [*initial]
        state = deepcopy(rng)
        n, candidates = first_candidates(source, n_candidates, rng, n_name)
        if self.budget == "anytime" and not sampler.uses_history:
            # The sampler continues where it ended, for the brackets after n candidates.
            n_later = plan(n).n_different - n
            later = proposed(source, n_later, History(tuple(candidates)), state)
            first = without_grid_order(candidates[len(initial) :], initial, space, rng)
            candidates = [*initial, *first, *without_grid_order(later, candidates, space, rng)]
        return n, candidates

    def _requests_each_rung_once(self, spec: SearchSpec) -> bool:
        return self.algorithm == "auto" and super()._requests_each_rung_once(spec)

    def _automatic(self) -> Automatic:
        params = self.resource, self.min_resources, self.max_resources, self.algorithm
        schedule = self.budget is None and all(value == "auto" for value in params)
        schedule &= isinstance(self.min_folds, str)
        maximum = self.max_resources == "auto" and self.budget in (None, *_BUDGETS)
        maximum &= not getattr(self.algorithm, "has_own_rungs", False)
        # The last run of budget doubling can be one before the maximum.
        doubles = self.budget == "double" or isinstance(self.algorithm, BudgetDoubling)
        first_rung, algorithm = self.min_resources == "auto", self.algorithm == "auto"
        # Of another one, it is unknown why it plans a single rung.
        is_known = algorithm or isinstance(self.algorithm, SuccessiveHalving | BudgetDoubling)
        return Automatic(
            maximum,
            ends_at_maximum=maximum and not doubles,
            schedule=schedule,
            folds=schedule and self.min_folds == "auto",
            # The next run of budget doubling has more samples.
            first_rung=first_rung and algorithm and self.budget in (None, "anytime"),
            algorithm=algorithm,
            explains_single_rungs=first_rung and is_known and self.budget in (None, *_BUDGETS),
        )

    def _plan_warnings(self, schedule: Schedule, limits: Limits) -> list[str]:
        if self.budget in _BUDGETS or self.algorithm != "auto":
            return []
        unused = patience_warnings(self.patience)
        if self.budget is not None:
            return unused
        return [
            *unused,
            *single_rung_warnings(schedule, limits, self.min_resources, self.factor),
            *low_maximum_warnings(
                schedule, limits, self.min_resources, self.max_resources, self.factor
            ),
        ]
