"""Candidates that a regression forest expects to be good, given the scores so far."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from sklearn_sha._param_validation import check_int, is_real
from sklearn_sha.candidates.base import Evaluation, History, Sampler, Space
from sklearn_sha.candidates.distinct import is_exhausted_by
from sklearn_sha.candidates.encoding import encoded_to_predict
from sklearn_sha.candidates.random import RandomSampler
from sklearn_sha.candidates.sobol import SobolSampler
from sklearn_sha.candidates.space import params_key

_N_CONSIDERED = 1024
"""Number of candidates among which a wave is chosen."""

_N_TREES = 64


class ModelSampler(Sampler):
    """Sampler of candidates that a regression forest expects to be good.

    The first candidates are spread evenly over the space (`SobolSampler`). Once they are evaluated,
    a forest of extremely randomized trees is fitted to the scores of all completed rungs, as in
    [1]_. The next wave consists of the candidates with the largest upper confidence bound [2]_, and
    of some random ones. This is repeated, with all scores so far, until there are enough
    candidates. The last combinations of a grid are proposed together.

    The forest predicts the rank of a candidate among all evaluated ones, on a normal scale.
    Therefore outliers do not dominate it. Two candidates are compared by their scores at the
    largest resource, and with the most folds, at which both have one. (Scores at different
    resources are not comparable, and only candidates that were promoted have scores at the largest
    one.) Failed candidates are the worst ones.

    Parameters
    ----------
    n_initial : int >= 1, default=16
        Number of spread candidates before the first fit.
    wave_size : int >= 1, default=8
        Maximum number of candidates of a wave. Small waves learn sooner, and leave workers idle if
        they have fewer candidates than there are workers.
    exploration : float between 0 and 1, default=0.25
        Share of a wave that is chosen at random, without regard to the forest. A number
        of candidates that is not an integer is rounded up or down at random.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos and K. Leyton-Brown, "Sequential Model-Based Optimization for
       General Algorithm Configuration", LION 2011.
    .. [2] D. D. Cox and S. John, "A Statistical Method for Global Optimization", IEEE International
       Conference on Systems, Man, and Cybernetics, 1992.

    Examples
    --------
    >>> from numpy.random import RandomState
    >>> from scipy.stats import loguniform
    >>> from sklearn_sha.candidates import Evaluation, History, ModelSampler
    >>> space, sampler = {"C": loguniform(1e-3, 1e3)}, ModelSampler(exploration=0)
    >>> first = sampler.propose(32, space, History(), RandomState(0))
    >>> scores = [-abs(params["C"] - 10) for params in first]
    >>> history = History(first, [Evaluation(p, 1, 5, s, ()) for p, s in zip(first, scores)])
    >>> wave = sampler.propose(4, space, history, RandomState(0))
    >>> all(5 < params["C"] < 20 for params in wave)
    True
    """

    uses_history = True

    def __init__(self, n_initial: int = 16, wave_size: int = 8, exploration: float = 0.25) -> None:
        self.n_initial = n_initial
        self.wave_size = wave_size
        self.exploration = exploration

    def check(self, space: Space) -> None:
        check_int("n_initial", self.n_initial)
        check_int("wave_size", self.wave_size)
        if not (is_real(self.exploration) and 0 <= self.exploration <= 1):
            raise ValueError(f"exploration={self.exploration!r} must be between 0 and 1.")

    def propose(
        self, n: int, space: Space, history: History, rng: RandomState
    ) -> list[dict[str, Any]]:
        if is_exhausted_by(n, space, history.candidates):
            return RandomSampler().propose(n, space, history, rng)
        n_missing = self.n_initial - len(history.candidates)
        n = min(n, n_missing if n_missing > 0 else self.wave_size)
        if n_missing > 0 or not history.evaluations:
            return SobolSampler().propose(n, space, history, rng)
        # A small space need not be enumerated completely.
        considered = SobolSampler(max_repeats=2).propose(_N_CONSIDERED, space, history, rng)
        if len(considered) <= n:
            return considered
        bounds = upper_bounds(considered, history.evaluations, rng)
        n_best = n - _rounded(self.exploration * n, rng)
        order = np.argsort(-bounds, kind="stable")
        chosen = [*order[:n_best], *rng.permutation(order[n_best:])[: n - n_best]]
        return [considered[number] for number in chosen]


def _rounded(number: float, rng: RandomState) -> int:
    """Return a number rounded up or down at random, so that the expected result is the number."""
    whole = int(number)
    return whole if number == whole else whole + int(rng.random_sample() < number - whole)


def upper_bounds(
    candidates: Sequence[Mapping[str, Any]], evaluations: Sequence[Evaluation], rng: RandomState
) -> NDArray[np.float64]:
    """Return upper confidence bounds of the ranks of candidates.

    Parameters
    ----------
    candidates : sequence of dict
    evaluations : sequence of Evaluation, not empty
    rng : RandomState

    Returns
    -------
    ndarray of float, shape (n_candidates,)
        Mean plus standard deviation of the trees' predictions of ranks, on a normal scale.
    """
    from sklearn.ensemble import ExtraTreesRegressor  # slow to import, and rarely needed

    evaluated, shares = win_shares(evaluations)
    known, unknown = encoded_to_predict(evaluated, candidates)
    targets = norm.ppf((rankdata(shares) - 0.5) / len(shares))
    forest = ExtraTreesRegressor(
        _N_TREES, bootstrap=True, random_state=rng.randint(np.iinfo(np.int32).max)
    )
    forest.fit(known, targets)
    predicted = np.array([tree.predict(unknown) for tree in forest.estimators_])
    bounds: NDArray[np.float64] = predicted.mean(axis=0) + predicted.std(axis=0)
    return bounds


def win_shares(
    evaluations: Sequence[Evaluation],
) -> tuple[list[Mapping[str, Any]], NDArray[np.float64]]:
    """Return the share of the other candidates that each candidate is better than.

    Two candidates are compared at the largest resource, and there at the largest number of folds,
    at which both have a score. If there is none, or the scores are equal, each has half a win.

    Parameters
    ----------
    evaluations : sequence of Evaluation
        A candidate with a score of NaN loses to all that have none.

    Returns
    -------
    candidates : list of dict
        In the order of their first evaluations.
    shares : ndarray of float, shape (n_candidates,)
        Between 0 and 1.

    Examples
    --------
    >>> from sklearn_sha.candidates import Evaluation
    >>> from sklearn_sha.candidates.model import win_shares
    >>> scores = [("a", 1, 0.5), ("b", 1, 0.7), ("c", 1, 0.6), ("b", 9, 0.8), ("c", 9, 0.9)]
    >>> win_shares([Evaluation({"C": name}, n, 5, score, ()) for name, n, score in scores])
    ([{'C': 'a'}, {'C': 'b'}, {'C': 'c'}], array([0. , 0.5, 1. ]))
    """
    keys = [params_key(evaluation.params) for evaluation in evaluations]
    candidates: dict[Hashable, Mapping[str, Any]] = {}
    for key, evaluation in zip(keys, evaluations, strict=True):
        candidates.setdefault(key, evaluation.params)
    numbers = {key: number for number, key in enumerate(candidates)}
    columns = np.array([numbers[key] for key in keys])
    levels = [(evaluation.n_resources, evaluation.n_folds) for evaluation in evaluations]
    scores = np.array([evaluation.mean_score for evaluation in evaluations])
    failed = np.unique(columns[np.isnan(scores)])
    n = len(candidates)
    points = np.ones((n, n), dtype=np.int8)  # 2 for a win
    for level in sorted({*levels}):
        rows = [row for row, other in enumerate(levels) if other == level]
        at, own = columns[rows], scores[rows]
        points[np.ix_(at, at)] = 1 + (own[:, None] > own).astype(np.int8) - (own[:, None] < own)
    points[:, failed] = 2
    points[failed] = 0
    points[np.ix_(failed, failed)] = 1
    np.fill_diagonal(points, 0)
    return [*candidates.values()], points.sum(axis=1) / max(1, 2 * (n - 1))
