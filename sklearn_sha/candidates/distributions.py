"""Whether distributions have quantiles or a logarithmic scale, and how they are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_sha._param_validation import is_real

_MAX_SUMMED, _NEARLY_NONE = 10_000, 2**-30
"""Number of integers whose probabilities SciPy may sum for a quantile, and the largest probability
of integers beyond them."""


def is_frozen(distribution: Any) -> bool:
    """Return whether a distribution is one of scipy that has its arguments.

    A custom one can have attributes of the same names, such as ``dist``.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.candidates.distributions import is_frozen
    >>> is_frozen(uniform(1, 2)), is_frozen(uniform)
    (True, False)
    """
    from scipy.stats.distributions import rv_frozen  # slow to import

    return isinstance(distribution, rv_frozen)


def family_of(distribution: Any) -> Any:
    """Return the distribution of scipy that another one gives arguments; of others, itself.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sklearn_sha.candidates.distributions import family_of
    >>> family_of(uniform(1, 2)).name, family_of(uniform).name
    ('uniform', 'uniform')
    """
    return distribution.dist if is_frozen(distribution) else distribution


def has_quantiles(distribution: Any) -> bool:
    """Return whether a distribution has a ``ppf`` that takes arrays and returns numbers.

    It has to take single numbers too; a custom ``ppf`` can take only one of them. With scale 0, all
    functions of scipy's distributions but `rvs` are NaN; with arrays as parameters, they return
    arrays for numbers. If SciPy has no formula for a distribution of integers, as for zipf, ``ppf``
    sums their probabilities. If these are many, that can take more time or memory than there is.

    Examples
    --------
    >>> from scipy.stats import norm, uniform
    >>> from sklearn_sha.candidates.distributions import has_quantiles
    >>> has_quantiles(uniform(1, 2)), has_quantiles(norm(1, 0)), has_quantiles(uniform([1, 2], 3))
    (True, False, False)
    """
    if not hasattr(distribution, "ppf") or _sums_many(distribution):
        return False
    try:
        with np.errstate(invalid="ignore"):
            median, medians = distribution.ppf(0.5), distribution.ppf(np.array([0.5, 0.5]))
    except (AttributeError, TypeError, ValueError, RuntimeError):
        # It takes only one of them, or SciPy does not find it in a heavy tail of integers.
        return False
    if isinstance(median, np.ndarray) and median.ndim == 0:
        median = median.item()
    return is_real(median) and not np.isnan(median) and np.shape(medians) == (2,)


def _sums_many(distribution: Any) -> bool:
    """Whether ``ppf`` of a distribution of scipy sums the probabilities of many integers."""
    if not hasattr(distribution, "pmf"):
        return False
    from scipy.stats import rv_discrete  # slow to import, and loaded if there is a distribution

    family = type(family_of(distribution))
    if not issubclass(family, rv_discrete):
        return False
    # SciPy documents these methods as those that a subclass with formulas has.
    if family._ppf is not rv_discrete._ppf or family._cdf is not rv_discrete._cdf:
        return False
    low, high = distribution.support()
    if np.all(np.isfinite(high)):  # SciPy begins in the middle
        return not np.all(np.subtract(high, low) <= _MAX_SUMMED)
    return not np.all(distribution.sf(low + _MAX_SUMMED) < _NEARLY_NONE)


def is_log_uniform(distribution: Any) -> bool:
    """Return whether the median of a distribution of scipy is the geometric mean of its bounds.

    Examples
    --------
    >>> from scipy.stats import loguniform, uniform
    >>> from sklearn_sha.candidates.distributions import is_log_uniform
    >>> is_log_uniform(loguniform(1, 2)), is_log_uniform(uniform(1, 2))
    (True, False)
    """
    if not all(hasattr(distribution, name) for name in ("support", "median")):
        return False
    if hasattr(distribution, "pmf"):  # of few integers, both can be equal by chance
        return False
    if not has_quantiles(distribution):
        return False
    low, high = map(float, distribution.support())
    if not (0 < low < high < np.inf):
        return False
    return bool(np.isclose(np.log(float(distribution.median())), np.log(low * high) / 2, rtol=1e-6))


def described(distribution: Any) -> str:
    """Return a distribution as it is written: with its arguments, if it is one of scipy.

    Examples
    --------
    >>> from scipy.stats import loguniform, uniform
    >>> from sklearn_sha.candidates.distributions import described
    >>> described(loguniform(1, 10)), described(uniform(loc=2))
    ('loguniform(1, 10)', 'uniform(loc=2)')
    """
    if not is_frozen(distribution):
        return repr(distribution)
    named = (f"{key}={value!r}" for key, value in distribution.kwds.items())
    return f"{distribution.dist.name}({', '.join([*map(repr, distribution.args), *named])})"
