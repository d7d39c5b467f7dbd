"""The papers' bounds as functions: how many candidates, and what budget, would be enough.

Throughout, arm i has losses that tend to a limit v_i, v_1 being the lowest; gamma(t) is an
envelope: no arm's loss after t units, or more, is further than that from its limit; and
``gamma_inverse(a)`` is the least whole t with gamma(t) <= a.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "GammaInverse",
    "budget_for",
    "confidence_for",
    "hyperband_h",
    "n_candidates_for",
    "sampling_gap",
    "z_successive_halving",
    "z_uniform",
]

GammaInverse = Callable[[float], int]
"""``gamma_inverse(epsilon)``: the least resource from which losses are within epsilon of limits."""

_QUANTILES = 20_000


def n_candidates_for(top: float = 0.05, confidence: float = 0.95) -> int:
    """How many random candidates hold one of the best.

    The least n with 1 - (1 - top)**n >= confidence, where candidates are drawn
    independently, and "the best" are the share `top` of what can be drawn.

    Parameters
    ----------
    top, confidence : float in (0, 1)

    Returns
    -------
    int

    Examples
    --------
    >>> from sklearn_sha.theory import n_candidates_for
    >>> n_candidates_for(top=0.05, confidence=0.95)
    59
    """
    _check_share("top", top)
    _check_share("confidence", confidence)
    n = max(1, ceil(log1p(-confidence) / log1p(-top)))
    # The quotient of two logarithms may miss a whole number by a rounding error.
    while n > 1 and confidence_for(n - 1, top) >= confidence:
        n -= 1
    while confidence_for(n, top) < confidence:
        n += 1
    return n


def confidence_for(n_candidates: int, top: float = 0.05) -> float:
    """The probability that so many random candidates hold one of the best: the inverse.

    Parameters
    ----------
    n_candidates : int >= 1
    top : float in (0, 1)

    Returns
    -------
    float
        1 - (1 - top)**n_candidates.

    Examples
    --------
    >>> from sklearn_sha.theory import confidence_for
    >>> round(confidence_for(64), 3)
    0.962
    """
    _check_share("top", top)
    return 1 - (1 - top) ** n_candidates


def z_successive_halving(
    limits: ArrayLike, gamma_inverse: GammaInverse, epsilon: float = 0.0
) -> float:
    """A budget above which Successive Halving returns an arm within epsilon / 2 of the best.

    z_SH = 2 ceil(log2 n) max_{i=2..n} i (1 + gamma^-1(max(epsilon / 4, (v_i - v_1) / 2))),
    Theorem 1 of [1]_ in its form with epsilon; for factor 2.

    Parameters
    ----------
    limits : array-like of float, shape (n_arms,)
        The limits v_i, in any order.
    gamma_inverse : callable
        Takes a float > 0 and returns an int.
    epsilon : float >= 0, default=0.0
        0 asks for the best arm itself, which has to be the only one.

    Returns
    -------
    float
        Units over all arms; any larger budget will do.

    Raises
    ------
    ValueError
        If `epsilon` is 0 and two arms are the best.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016.

    Examples
    --------
    >>> from math import ceil
    >>> from sklearn_sha.theory import z_successive_halving
    >>> z_successive_halving([0.1, 0.3, 0.5, 0.9], lambda a: ceil(1 / a))
    88.0
    """
    gaps = _gaps(limits, epsilon)
    if len(gaps) == 0:
        return 0.0
    rounds = (len(gaps)).bit_length()  # ceil(log2 n), with n = len(gaps) + 1
    at = np.maximum(epsilon / 4, gaps / 2)
    return float(
        2 * rounds * max(i * (1 + gamma_inverse(float(a))) for i, a in enumerate(at, start=2))
    )


def z_uniform(limits: ArrayLike, gamma_inverse: GammaInverse) -> float:
    """A budget above which uniform allocation returns the best arm.

    z_U = n max_{i=2..n} gamma^-1((v_i - v_1) / 2), Theorem 2 of [1]_.

    Parameters
    ----------
    limits : array-like of float, shape (n_arms,)
    gamma_inverse : callable

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If two arms are the best.

    References
    ----------
    .. [1] K. Jamieson and A. Talwalkar, "Non-stochastic Best Arm Identification and
       Hyperparameter Optimization", AISTATS 2016.

    Examples
    --------
    >>> from math import ceil
    >>> from sklearn_sha.theory import z_uniform
    >>> z_uniform([0.1, 0.3, 0.5, 0.9], lambda a: ceil(1 / a))
    40.0
    """
    gaps = _gaps(limits, 0.0)
    if len(gaps) == 0:
        return 0.0
    return float((len(gaps) + 1) * max(gamma_inverse(float(gap / 2)) for gap in gaps))


def hyperband_h(
    distribution: Any, gamma_inverse: GammaInverse, n: int, delta: float, epsilon: float
) -> float:
    """The hardness H of a distribution of arms.

    H(F, gamma, n, delta, eps) = 2 n int_{v* + eps/4}^inf gamma^-1((t - v*) / 4) dF(t)
    + (4/3 log(2 / delta) + 2 n F(v* + eps / 4)) gamma^-1(eps / 16), the quantity of the
    proposition in [1]_, section 5. The integral is a sum over quantiles, taken at the lower
    end of each, and so never too small.

    Parameters
    ----------
    distribution : frozen distribution of scipy.stats
        F, of the arms' limits; bounded below by v*.
    gamma_inverse : callable
    n : int >= 1
        Arms drawn.
    delta : float in (0, 1)
        How probable a failure may be.
    epsilon : float > 0

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `delta` or `epsilon` can't be one, or F is not bounded below.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> from math import ceil
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.theory import hyperband_h
    >>> round(hyperband_h(uniform(), lambda a: ceil(1 / a), n=64, delta=0.1, epsilon=0.4))
    1911
    """
    _check_share("delta", delta)
    lowest = _lowest(distribution)
    if epsilon <= 0:
        raise ValueError(f"epsilon={epsilon!r} must be above 0.")
    below = float(distribution.cdf(lowest + epsilon / 4))
    edges = np.linspace(below, 1, _QUANTILES + 1)[:-1]
    at = np.maximum(distribution.ppf(edges) - lowest, epsilon / 4) / 4
    integral = sum(gamma_inverse(float(a)) for a in at) * (1 - below) / _QUANTILES
    rest = 4 / 3 * log(2 / delta) + 2 * n * below
    return float(2 * n * integral + rest * gamma_inverse(epsilon / 16))


def budget_for(
    distribution: Any, gamma_inverse: GammaInverse, n: int, delta: float, epsilon: float
) -> float:
    """A budget for which halving n random arms comes near the best there is.

    B = 4 ceil(log2 n) H(F, gamma, n, delta, eps). With probability at least 1 - delta, the
    arm that is returned is within (F^-1(log(2 / delta) / n) - v*) + eps / 2 of v* ([1]_,
    section 5; for factor 2).

    Parameters
    ----------
    distribution, gamma_inverse, n, delta, epsilon
        As for `hyperband_h`.

    Returns
    -------
    float
        Units over all arms.

    Raises
    ------
    ValueError
        If epsilon < 4 (F^-1(log(2 / delta) / n) - v*): so many arms are not enough for it.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh and A. Talwalkar, "Hyperband: A
       Novel Bandit-Based Approach to Hyperparameter Optimization", JMLR 18, 2018.

    Examples
    --------
    >>> from math import ceil
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.theory import budget_for
    >>> round(budget_for(uniform(), lambda a: ceil(1 / a), n=64, delta=0.1, epsilon=0.4))
    45864
    """
    least = 4 * sampling_gap(distribution, n, delta)
    if epsilon < least:
        raise ValueError(
            f"epsilon={epsilon} is less than {least:.6g}, the least that n={n} arms allow with "
            f"delta={delta}; raise epsilon, n or delta."
        )
    rounds = (n - 1).bit_length()
    return 4 * rounds * hyperband_h(distribution, gamma_inverse, n, delta, epsilon)


def sampling_gap(distribution: Any, n: int, delta: float) -> float:
    """How far the best of n random arms may be from the best there is.

    F^-1(log(2 / delta) / n) - v*, which the best of n arms exceeds with probability at most
    delta / 2.

    Parameters
    ----------
    distribution, n, delta
        As for `hyperband_h`.

    Returns
    -------
    float
        Infinite where log(2 / delta) > n.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.theory import sampling_gap
    >>> round(sampling_gap(uniform(), n=64, delta=0.1), 4)
    0.0468
    """
    _check_share("delta", delta)
    share = log(2 / delta) / n
    return float(distribution.ppf(share)) - _lowest(distribution) if share <= 1 else float("inf")


def _gaps(limits: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """v_i - v_1 for i = 2..n, rising."""
    ordered = np.sort(np.asarray(limits, dtype=float))
    if epsilon < 0:
        raise ValueError(f"epsilon={epsilon!r} must be at least 0.")
    gaps = ordered[1:] - ordered[0]
    if epsilon == 0 and len(gaps) and gaps[0] == 0:
        raise ValueError(
            "epsilon=0 asks for the best arm, but the lowest of limits is there twice, and no "
            "budget tells them apart; give an epsilon above 0."
        )
    return gaps


def _lowest(distribution: Any) -> float:
    lowest = float(distribution.support()[0])
    if not np.isfinite(lowest):
        raise ValueError(
            "distribution is not bounded below, so that there is no best arm; give one that is."
        )
    return lowest


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must be above 0 and below 1.")
