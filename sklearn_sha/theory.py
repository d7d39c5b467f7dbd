"""Bounds of the papers: sufficient numbers of candidates and sufficient budgets.

The losses of arm i converge to a limit v_i, and v_1 is the lowest limit. The envelope gamma(t) is
an upper bound of the distance between an arm's loss after t or more units and its limit.
``gamma_inverse(a)`` is the smallest integer t with gamma(t) <= a.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, Context
from math import ceil, expm1, isclose, isfinite, log, log1p
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_sha._param_validation import check_int

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
"""``gamma_inverse(epsilon)``: smallest resource with losses within epsilon of their limits."""

_QUANTILES = 20_000


def n_candidates_for(top: float = 0.05, confidence: float = 0.95) -> int:
    """Number of random candidates that include one of the best with a given probability.

    This is the smallest n with 1 - (1 - top)**n >= confidence. Candidates are
    sampled independently.

    Parameters
    ----------
    top : float in (0, 1), default=0.05
        Fraction of all candidates that counts as the best.
    confidence : float in (0, 1), default=0.95
        Probability that the n candidates include one of the best.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `top` or `confidence` is not above 0 and below 1, or if `top` is so
        small that the number of candidates exceeds the largest float.

    Examples
    --------
    >>> from sklearn_sha.theory import n_candidates_for
    >>> n_candidates_for(top=0.05, confidence=0.95)
    59
    """
    _check_share("top", top)
    _check_share("confidence", confidence)
    # Probabilities are not compared: near 1, those of many n are rounded to the same number.
    quotient = log1p(-confidence) / log1p(-top)
    if not isfinite(quotient):
        raise ValueError(f"top={top!r} is too small: the number of candidates exceeds all floats.")
    nearest = round(quotient)
    if isclose(quotient, nearest, rel_tol=1e-12):  # an integer, but for rounding errors
        return nearest if confidence_for(nearest, top) >= confidence else nearest + 1
    return ceil(quotient)


def confidence_for(n_candidates: int, top: float = 0.05) -> float:
    """Probability that random candidates include one of the best; inverse of `n_candidates_for`.

    Parameters
    ----------
    n_candidates : int >= 1
    top : float in (0, 1), default=0.05
        Fraction of all candidates that counts as the best.

    Returns
    -------
    float
        1 - (1 - top)**n_candidates.

    Raises
    ------
    ValueError
        If `n_candidates` is not an integer of at least 1, or `top` not above 0 and below 1.

    Examples
    --------
    >>> from sklearn_sha.theory import confidence_for
    >>> round(confidence_for(64), 3)
    0.962
    """
    check_int("n_candidates", n_candidates)
    _check_share("top", top)
    return -expm1(n_candidates * log1p(-top))


def z_successive_halving(
    limits: ArrayLike, gamma_inverse: GammaInverse, epsilon: float = 0.0
) -> float:
    """Budget above which Successive Halving returns an arm within epsilon / 2 of the best one.

    z_SH = 2 ceil(log2 n) max_{i=2..n} i (1 + gamma^-1(max(epsilon / 4, (v_i - v_1) / 2))),
    from Theorem 1 of [1]_ in its form with epsilon, for factor 2.

    Parameters
    ----------
    limits : array-like of float, shape (n_arms,)
        The limits v_i, in any order.
    gamma_inverse : callable
        Receives a float > 0 and returns an int.
    epsilon : float >= 0, default=0.0
        0 requires the best arm, which must be unique.

    Returns
    -------
    float
        Units over all arms. Any larger budget is sufficient.

    Raises
    ------
    ValueError
        If limits are not finite numbers in one dimension, if `epsilon` is not at least 0, or if it
        is 0 and the best arm is not unique.

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
    n_rungs = (len(gaps)).bit_length()  # ceil(log2 n), with n = len(gaps) + 1
    at = np.maximum(epsilon / 4, gaps / 2)
    return float(
        2 * n_rungs * max(i * (1 + gamma_inverse(float(a))) for i, a in enumerate(at, start=2))
    )


def z_uniform(limits: ArrayLike, gamma_inverse: GammaInverse) -> float:
    """Budget above which uniform allocation returns the best arm.

    z_U = n max_{i=2..n} gamma^-1((v_i - v_1) / 2), from Theorem 2 of [1]_.

    Parameters
    ----------
    limits : array-like of float, shape (n_arms,)
        The limits v_i, in any order.
    gamma_inverse : callable
        Receives a float > 0 and returns an int.

    Returns
    -------
    float
        Units over all arms. Any larger budget is sufficient.

    Raises
    ------
    ValueError
        If limits are not finite numbers in one dimension, or if the best arm is not unique.

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
    """Hardness H of a distribution of arms.

    H(F, gamma, n, delta, eps) = 2 n int_{v* + eps/4}^inf gamma^-1((t - v*) / 4) dF(t)
    + (4/3 log(2 / delta) + 2 n F(v* + eps / 4)) gamma^-1(eps / 16), the quantity of the
    proposition in [1]_, section 5. The integral is approximated from above by a sum
    over quantiles.

    Parameters
    ----------
    distribution : frozen distribution of scipy.stats
        Distribution F of the limits of the arms, bounded below by v*.
    gamma_inverse : callable
        Receives a float > 0 and returns an int.
    n : int >= 1
        Number of sampled arms.
    delta : float in (0, 1)
        Upper bound of the probability of a failure.
    epsilon : float > 0
        Accuracy of the result.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `n`, `delta` or `epsilon` is invalid, or if F is not bounded below.

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
    check_int("n", n)
    _check_share("delta", delta)
    lowest = _lowest(distribution)
    if not epsilon > 0:
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
    """Budget with which Successive Halving over n random arms returns one that is nearly optimal.

    B = 4 ceil(log2 n) H(F, gamma, n, delta, eps). With probability at least 1 - delta, the limit of
    the returned arm is within (F^-1(log(2 / delta) / n) - v*) + eps / 2 of v* ([1]_, section 5, for
    factor 2).

    Parameters
    ----------
    distribution, gamma_inverse, n, delta, epsilon
        As in `hyperband_h`.

    Returns
    -------
    float
        Units over all arms.

    Raises
    ------
    ValueError
        If epsilon < 4 (F^-1(log(2 / delta) / n) - v*), which requires more arms, and as in
        `hyperband_h`.

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
    minimum = 4 * sampling_gap(distribution, n, delta)
    if minimum == float("inf"):
        raise ValueError(
            f"n={n} arms are fewer than log(2 / delta)={log(2 / delta):.3g}, so that no budget is "
            f"known to suffice for delta={delta}. Raise n or delta."
        )
    if not epsilon >= minimum:
        # Rounded up, so that the epsilon of the message is large enough.
        shown = Context(prec=6, rounding=ROUND_CEILING).create_decimal_from_float(minimum)
        raise ValueError(
            f"epsilon={epsilon} is less than {shown}, the minimum for n={n} arms and "
            f"delta={delta}. Raise epsilon, n or delta."
        )
    n_rungs = (n - 1).bit_length()
    return 4 * n_rungs * hyperband_h(distribution, gamma_inverse, n, delta, epsilon)


def sampling_gap(distribution: Any, n: int, delta: float) -> float:
    """Upper bound of the distance between the best of n random arms and the optimum.

    The bound is F^-1(log(2 / delta) / n) - v*. The best of n arms exceeds it with probability at
    most delta / 2.

    Parameters
    ----------
    distribution, n, delta
        As in `hyperband_h`.

    Returns
    -------
    float
        Infinite if log(2 / delta) > n.

    Raises
    ------
    ValueError
        If `n` or `delta` is invalid, or if F is not bounded below.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.theory import sampling_gap
    >>> round(sampling_gap(uniform(), n=64, delta=0.1), 4)
    0.0468
    """
    check_int("n", n)
    _check_share("delta", delta)
    lowest, share = _lowest(distribution), log(2 / delta) / n
    return float(distribution.ppf(share)) - lowest if share <= 1 else float("inf")


def _gaps(limits: ArrayLike, epsilon: float) -> NDArray[np.float64]:
    """Return v_i - v_1 for i = 2..n, in increasing order."""
    values = np.asarray(limits, dtype=float)
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise ValueError(f"limits={limits!r} must have a finite number for each arm.")
    ordered = np.sort(values)
    if not epsilon >= 0:
        raise ValueError(f"epsilon={epsilon!r} must be at least 0.")
    gaps = ordered[1:] - ordered[0]
    if epsilon == 0 and len(gaps) and gaps[0] == 0:
        raise ValueError(
            "epsilon=0 requires a unique best arm, but the lowest of limits occurs more than once. "
            "Set an epsilon above 0."
        )
    return gaps


def _lowest(distribution: Any) -> float:
    lowest = float(distribution.support()[0])
    if not np.isfinite(lowest):
        raise ValueError(
            "distribution is not bounded below, so that there is no best arm. Use a bounded one."
        )
    return lowest


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must be above 0 and below 1.")
