"""HyperbandSearchCV: parameters, algorithm and candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.random import RandomState

from sklearn_sha._formatting import quantity
from sklearn_sha._search.audited_search import AuditedSearch
from sklearn_sha._user_warning import warn_user
from sklearn_sha.bandit.base import Algorithm
from sklearn_sha.bandit.hyperband import Hyperband
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.proposals import candidates_for_brackets
from sklearn_sha.candidates.source import CandidateSource
from sklearn_sha.resources.base import Resource
from sklearn_sha.schedules import Schedule


class HyperbandSearchCV(AuditedSearch):
    """Search over hyperparameters with Hyperband.

    Successive Halving requires a choice between many candidates with little training and few
    candidates with much training. Hyperband [1]_ tries several such choices, called brackets: the
    first starts with many candidates at the minimum resource, the next ones with fewer candidates
    at a larger resource, and the last is a random search at full resource. The best candidate at
    full resource is selected from all brackets, which are evaluated together unless the sampler
    uses the history.

    Parameters
    ----------
    estimator : estimator
        Estimator to tune. Can be a Pipeline.
    param_distributions : dict or list of dict
        Dictionary with parameter names as keys. The values are distributions with an ``rvs``
        method, or lists. Can also be a list of such dictionaries. The brackets determine the number
        of candidates, which `plan` shows. If there are fewer combinations, a warning is shown, and
        candidates take part in several brackets, each time with a new number. Required unless
        `param_grid` is given.
    param_grid : dict, list of dict or None, default=None
        Alternative name of `param_distributions`, as in GridSearchCV. Only one of the two can be
        given.
    sampler : "auto", "random", "sobol", "model" or Sampler, default="auto"
        Source of the candidates, as in SuccessiveHalvingSearchCV. With a sampler that uses the
        history, the brackets are run one after the other.
    initial_candidates : list of dict or None, default=None
        Candidates that are tried first, as in SuccessiveHalvingSearchCV. They are in the first
        bracket, which has the most candidates.
    keep_initial : bool, default=False
        As in SuccessiveHalvingSearchCV, in the first bracket.
    factor : float, default=3
        Keep 1/factor of the candidates after each rung and multiply the resource by `factor`.
        Must be larger than 1.
    resource : "auto", "partial_fit", "n_samples", "folds", str or Resource, default="auto"
        As in SuccessiveHalvingSearchCV, but brackets are never replaced by a single rung, and
        "auto" is never "folds".
    min_resources : int, float or "auto", default="auto"
        Lower bound of the resource of the first rung of the first bracket. A float is a fraction
        of the maximum. "auto" is the minimum of the resource, such as one epoch or tree. For
        samples, it is 200, and enough to include 10 of the rarest class (at most half of it) and
        two of each class, or fewer if there would be fewer than three brackets otherwise.
    max_resources : int or "auto", default="auto"
        Resource of the last rung of every bracket. "auto" is as in SuccessiveHalvingSearchCV.
    min_folds : int, "auto" or "all", default="all"
        Number of cross-validation folds that score the first rung of each bracket, as in
        SuccessiveHalvingSearchCV. If it is not "all", the number of folds grows in each bracket.
    n_repeats : int, default=1
        Number of times that all brackets are run, with new candidates each time.
    patience : int or None, default=None
        Stop after this many consecutive repeats that did not improve the best score by more than
        `tol`. The repeats are then run one after the other. None runs all of them together.
    tol : float, default=0.0
        Minimum improvement of the best score for `patience`. Smaller improvements count once they
        add up to more than this.
    stop : "stable" or None, default=None
        "stable" ends each bracket early when the order of the leading candidates has been the same
        in three consecutive rungs, apart from noise between folds. The best candidate is then
        evaluated on all folds at full resource.
    target_score : float or None, default=None
        As in SuccessiveHalvingSearchCV, for the last rungs of all brackets.
    max_time : float or None, default=None
        Seconds after which no more training is started. Completed results are kept, and the best
        candidate is selected at the largest resource for which a rung was completed. The refit
        takes additional time.
    fit_timeout : float or None, default=None
        As in SuccessiveHalvingSearchCV.
    checkpoint : path-like or None, default=None
        As in SuccessiveHalvingSearchCV.
    model_memory : int, "auto" or None, default="auto"
        As in SuccessiveHalvingSearchCV.
    keep_eliminated : bool, default=False
        As in SuccessiveHalvingSearchCV.
    audit_eliminated : int, "auto" or None, default=None
        As in SuccessiveHalvingSearchCV.
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
        ``cv_results_``, which has the candidates of the last completed rung of each bracket only. A
        warning is shown before training if others will be eliminated and `promote_by` is None.
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
        The columns of GridSearchCV for the candidates of the last rung of each completed bracket.
        If no bracket was completed, it has the last completed rung of each, in which candidates
        with more resource rank above those with less.
    all_cv_results_ : dict of ndarray, MaskedArray and list
        As in SuccessiveHalvingSearchCV. Candidates are numbered consecutively over all brackets,
        and the rungs (``iter``) from 0 in each bracket (``bracket``).
    cv_results_rows_ : list of int
        As in SuccessiveHalvingSearchCV.
    failures_ : list of dict
        As in SuccessiveHalvingSearchCV.
    rung_history_ : list of dict
        One record per rung in the order of completion, as in SuccessiveHalvingSearchCV, with its
        bracket. ``wall_time`` and ``utilization`` are those of the rungs of all brackets at this
        resource, which run together.
    schedule_ : Schedule
        Schedule of the search, as returned by `plan`: the rungs of all brackets.
    interrupted_ : bool
        As in SuccessiveHalvingSearchCV.
    n_resources_, n_candidates_ : list of int
        Resource and number of candidates of each rung, in the order of ``rung_history_``.
    best_index_, best_score_, best_params_, best_estimator_, refit_time_
        As in GridSearchCV. ``best_params_`` includes the resource if that is a parameter, unless
        ``resource="auto"`` ended at the estimator's own value.
    best_candidate_, best_n_resources_, promote_by_
        As in SuccessiveHalvingSearchCV.
    resource_, n_iterations_, n_remaining_candidates_, min_resources_, max_resources_
        As in SuccessiveHalvingSearchCV.
    scorer_, n_splits_, multimetric_, classes_, n_features_in_, feature_names_in_
        As in GridSearchCV.

    See Also
    --------
    SuccessiveHalvingSearchCV : Successive Halving with a given number of candidates.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_sha import HyperbandSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> search = HyperbandSearchCV(
    ...     SGDClassifier(random_state=0),
    ...     {"alpha": loguniform(1e-6, 10)},
    ...     resource="partial_fit",
    ...     max_resources=9,
    ...     cv=2,
    ...     random_state=0,
    ... )
    >>> search.plan(X, y)
    bracket  rung  candidates  step  n_resources  total_cost
          0     0           9     1            1           9
          0     1           3     2            3          15
          0     2           1     6            9          21
          1     0           5     3            3          36
          1     1           1     6            9          42
          2     0           3     9            9          69
    69 epochs per fold, 0.45 of a grid search (17 candidates x 9 epochs = 153). Models continue
    training between rungs.
    Including the estimated fixed cost, at least 0.62 of a grid search.
    >>> search.fit(X, y).best_n_resources_
    9
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        sampler: Literal["auto", "random", "sobol", "model"] | Sampler = "auto",
        initial_candidates: Sequence[Mapping[str, Any]] | None = None,
        keep_initial: bool = False,
        factor: float = 3,
        resource: str | Resource = "auto",
        min_resources: float | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        min_folds: int | Literal["auto", "all"] = "all",
        n_repeats: int = 1,
        patience: int | None = None,
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
        self.sampler = sampler
        self.initial_candidates = initial_candidates
        self.keep_initial = keep_initial
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.min_folds = min_folds
        self.n_repeats = n_repeats
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

    @property
    def extend(self) -> NoReturn:
        """Not available, since brackets have fixed numbers of candidates; see `n_repeats`."""
        raise AttributeError(
            f"{type(self).__name__} has no extend: its brackets have fixed numbers of candidates. "
            "Raise n_repeats for further brackets, or use SuccessiveHalvingSearchCV."
        )

    def _algorithm(self, sampler: Sampler) -> Algorithm:
        return Hyperband(
            self.factor,
            n_repeats=self.n_repeats,
            patience=self.patience,
            tol=self.tol,
            stop=self.stop,
            target_loss=None if self.target_score is None else -self.target_score,
            in_turn=sampler.uses_history,
        )

    def _candidates(
        self, source: CandidateSource, plan: Callable[[int], Schedule], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        brackets = plan(0).brackets
        sizes = [bracket.n_candidates[0] for bracket in brackets]
        if len(brackets) == self.n_repeats:
            n_resources = brackets[0].rungs[0].n_resources
            warn_user(
                f"max_resources={self.max_resources!r} and min_resources={self.min_resources!r}, "
                f"with factor={self.factor}, give no bracket with more than one rung, so that this "
                f"is a random search over {quantity(sum(sizes), 'candidates')} with "
                f"n_resources={n_resources}. Raise max_resources or lower min_resources, as far as "
                "the resource allows it, or lower factor.",
            )
        candidates = candidates_for_brackets(source, sizes, rng)
        return sum(sizes), candidates
