"""HyperbandSearchCV: its parameters, and which brackets they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState

from sklearn_sha._param_validation import check_int
from sklearn_sha._search.base import BaseHalvingSearch
from sklearn_sha.bandit.base import Algorithm, Bounds
from sklearn_sha.bandit.hyperband import Hyperband
from sklearn_sha.candidates.base import Sampler
from sklearn_sha.candidates.sampling import candidates_for_brackets
from sklearn_sha.candidates.space import space_name
from sklearn_sha.resources.base import Resource


class HyperbandSearchCV(BaseHalvingSearch):
    """Search hyperparameters by several halvings at once, from bold to careful.

    Successive Halving has to choose between many candidates with little training each and
    few with much. Hyperband [1]_ does not choose: its first bracket halves many candidates
    from the least resource on, the next fewer from more, and the last is a random search at
    full resource. All brackets run together, and the best at full resource wins.

    Parameters
    ----------
    estimator : estimator
        Of which the best candidate is wanted; a Pipeline too.
    param_distributions : dict or list of dict
        Parameter names to distributions with an ``rvs`` method, and/or to lists. How many
        candidates are drawn follows from the brackets: `plan` says how many. Required, unless
        `param_grid` is given.
    param_grid : dict, list of dict or None, default=None
        GridSearchCV's name for `param_distributions`. Give one of the two.
    sampler : "auto" or Sampler, default="auto"
        Where candidates come from. "auto": all combinations of a grid, or samples from
        distributions (`sklearn_sha.candidates.RandomSampler`). Or an instance of a subclass of
        `sklearn_sha.candidates.Sampler`.
    factor : real > 1, default=3
        A rung promotes one in so many candidates, to so many times the resource.
    resource : "auto", "partial_fit", "n_samples", str or Resource, default="auto"
        As in SuccessiveHalvingSearchCV.
    min_resources : int, float or "auto", default="auto"
        Least units of the first rung of the widest bracket; a float is a fraction of the
        maximum. "auto": as in SuccessiveHalvingSearchCV, but of samples no more than leaves
        three brackets.
    max_resources : int or "auto", default="auto"
        Units of the last rung of every bracket. "auto": as in SuccessiveHalvingSearchCV.
    n_repeats : int, default=1
        How often the set of brackets is run, with fresh candidates each time.
    patience : int or None, default=None
        Stop after so many sets in a row whose winner's score is not better by more than `tol`
        than that of a winner before; sets are run one after the other then. None: all of them,
        together.
    tol : float, default=0.0
        See `patience`.
    max_time : float or None, default=None
        Seconds after which no training begins. What is finished by then is kept, and the best
        of it wins: at the largest resource that a whole rung has reached. The refit comes on
        top.
    fit_timeout : float or None, default=None
        As in SuccessiveHalvingSearchCV.
    checkpoint : path-like or None, default=None
        As in SuccessiveHalvingSearchCV.
    model_memory : int, "auto" or None, default="auto"
        As in SuccessiveHalvingSearchCV.
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
        completed rung of each bracket only.
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
        GridSearchCV's columns for the candidates of the last completed rung of every bracket. A
        bracket that was completed ranks above one that was not, then more resource above less.
    all_cv_results_ : dict of ndarray, MaskedArray and list
        As in SuccessiveHalvingSearchCV. Candidates are numbered over all brackets.
    cv_results_rows_ : list of int
        As in SuccessiveHalvingSearchCV.
    failures_ : list of dict
        As in SuccessiveHalvingSearchCV.
    rung_history_ : list of dict
        One a rung, in the order in which they ended; as in SuccessiveHalvingSearchCV, and
        bracket. ``wall_time`` is that of the rungs of all brackets at this resource.
    schedule_ : Schedule
        What `plan` says beforehand: the rungs, bracket after bracket.
    interrupted_ : bool
        As in SuccessiveHalvingSearchCV.
    n_resources_, n_candidates_ : list of int
        One entry a rung, in the order of ``rung_history_``.
    best_index_, best_score_, best_params_, best_estimator_, refit_time_
        As in GridSearchCV.
    best_candidate_, best_n_resources_, promote_by_
        As in SuccessiveHalvingSearchCV.
    resource_, n_iterations_, n_remaining_candidates_, min_resources_, max_resources_
        As in SuccessiveHalvingSearchCV.
    scorer_, n_splits_, multimetric_, classes_, n_features_in_, feature_names_in_
        As in GridSearchCV.

    See Also
    --------
    SuccessiveHalvingSearchCV : One bracket, over candidates of which you say how many.

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
    bracket  rung  candidates  step  resource  spent
          0     0           9     1         1      9
          0     1           3     2         3     15
          0     2           1     6         9     21
          1     0           5     3         3     36
          1     1           1     6         9     42
          2     0           3     9         9     69
    69 epochs per fold, 0.45 of a grid search (17 candidates x 9 epochs = 153). Models continue
    training between rungs.
    >>> search.fit(X, y).best_n_resources_
    9
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        *,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        sampler: Literal["auto"] | Sampler = "auto",
        factor: float = 3,
        resource: str | Resource = "auto",
        min_resources: float | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        n_repeats: int = 1,
        patience: int | None = None,
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
        self.sampler = sampler
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
        self.n_repeats = n_repeats
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
        check_int("n_repeats", self.n_repeats)
        return Hyperband(self.factor, self.n_repeats, self.patience, self.tol)

    def _candidates(
        self, bounds: Callable[[int], Bounds], rng: RandomState
    ) -> tuple[int, list[dict[str, Any]]]:
        brackets = self._algorithm().plan(bounds(0)).brackets
        if len(brackets) == self.n_repeats:
            rung = brackets[0].rungs[0]
            warnings.warn(
                f"max_resources={rung.resource} is lower than factor={self.factor} times "
                f"min_resources={self.min_resources!r}, so that there is one bracket with one "
                "rung, which is a random search. Raise max_resources or lower min_resources.",
                UserWarning,
                stacklevel=5,
            )
        sizes = [bracket.n_candidates[0] for bracket in brackets]
        candidates = candidates_for_brackets(
            self._sampler(), self._space(), sizes, rng, space_name(self)
        )
        return sum(sizes), candidates
