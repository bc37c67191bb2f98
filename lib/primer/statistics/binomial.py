r"""Chances of counts, of which the largest keep their digits too.

The logarithm of :math:`n!` is about as large as :math:`n \log n`, so that differences of such
logarithms lose all digits of a chance once :math:`n` has some fifteen.  What follows is made of the
small differences themselves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import betaln, gammaln, xlogy

LARGE = 16.0
"""From here on four terms of Stirling's series are exact to rounding."""
MANY_TRIALS = 1e4
"""Below it the difference of the logarithms themselves has lost next to nothing."""


def stirling_error(n: float) -> float:
    r"""Compute :math:`\log n! - (n + \tfrac12)\log n + n - \tfrac12\log 2\pi` for n above 16."""
    square = n * n
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / square) / square) / square) / n


def log_binomial(k: float, n: float, p: float) -> float:
    r"""Compute the log-probability of ``k`` successes in ``n`` trials.

    References
    ----------
    Loader (2000), "Fast and accurate computation of binomial probabilities".

    Examples
    --------
    >>> round(math.exp(log_binomial(1, 3, 0.5)), 12)
    0.375
    """
    failures = n - k
    ways = _against_power(n) - _against_power(k) - _against_power(failures)
    return ways - float(
        deviance(k, n * p, n * p - k) + deviance(failures, n * (1 - p), n * (1 - p) - failures)
    )


def _against_power(x: float) -> float:
    r"""Compute :math:`\log x! - x \log x + x`, which is 0 at 0."""
    if x < LARGE:
        return float(gammaln(x + 1) - xlogy(x, x) + x)
    return stirling_error(x) + (math.log(2 * math.pi) + math.log(x)) / 2


def deviance(x: float, expected: Any, gap: Any) -> Float[np.ndarray, "..."]:
    r"""Compute :math:`x \log(x/m) + m - x`, also where both are nearly equal.

    Whoever knows the gap :math:`m - x` better than a difference of the two does, says it.
    """
    m = np.maximum(expected, math.ulp(0.0))
    with np.errstate(over="ignore"):
        u = -gap / m
        far = xlogy(x, x / m) + gap
    small = np.clip(u, -0.1, 0.1)
    power, total = -small, np.zeros_like(u)  # (1 + u) log(1 + u) - u = u²/2 - u³/6 + u⁴/12 - …
    for j in range(2, 40):
        power = power * -small
        total = total + power / (j * (j - 1))
    return np.where(np.abs(u) > 0.1, far, m * total)


def log_beta_density(p: Float[np.ndarray, "..."], a: float, b: float) -> Float[np.ndarray, "..."]:
    r"""Compute the log-density of Beta(a, b): the chance of a in a + b trials, up to a factor."""
    if a + b < MANY_TRIALS:
        return (a - 1) * np.log(p) + (b - 1) * np.log1p(-p) - betaln(a, b)
    ways = _against_power(a + b) - _against_power(a) - _against_power(b)
    n, q = a + b, 1 - p
    surprise = deviance(a, n * p, n * p - a) + deviance(b, n * q, n * q - b)
    return ways - surprise + math.log(a) + math.log(b) - math.log(n) - np.log(p) - np.log1p(-p)


def log_gamma_ratio(z: float, shift: float) -> float:
    r"""Compute :math:`\log\bigl(\Gamma(z + \text{shift}) / \Gamma(z)\bigr)` for numbers above 0."""
    if z < LARGE + 1 or z + shift < LARGE + 1:
        return float(gammaln(z + shift) - gammaln(z))
    series = stirling_error(z + shift - 1) - stirling_error(z - 1)
    # Γ(z) = (z − 1)!, so that Stirling's formula stands at z − 1
    grown = math.log1p(shift / (z - 1))
    return series + (z - 0.5) * grown + shift * (math.log(z + shift - 1) - 1)


def log_beta_binomial(k: float, n: float, a: float, b: float) -> float:
    r"""Compute the log-probability of ``k`` successes when theirs is drawn from Beta(a, b).

    .. math:: \log \binom nk \frac{B(a + k,\ b + n - k)}{B(a, b)}

    Examples
    --------
    >>> round(math.exp(log_beta_binomial(2, 3, 1, 1)), 12)  # each of the four alike
    0.25
    """
    if n == 0:
        return 0.0
    a, b = float(a), float(b)
    more, less, total = a + k, b + (n - k), a + b + n
    ways = _against_power(n) - _against_power(k) - _against_power(n - k)
    before = _against_power(a + b) - _against_power(a) - _against_power(b)
    after = _against_power(total) - _against_power(more) - _against_power(less)
    gap = a / total * (n - k) - b / total * k  # each of the four is as far from what is expected
    p, q = more / total, less / total
    surprise = deviance(k, n * p, gap) + deviance(n - k, n * q, -gap)
    surprise += deviance(a, (a + b) * p, -gap) + deviance(b, (a + b) * q, gap)
    factor = math.log(a) - math.log(more) + math.log(b) - math.log(less)
    factor += math.log(total) - math.log(a + b)
    return ways + before - after - float(surprise) + factor
