r"""Chances of counts, of which the largest keep their digits too.

The logarithm of :math:`n!` is about as large as :math:`n \log n`, so that differences of such
logarithms lose all digits of a chance once :math:`n` has some fifteen.  What follows is made of the
small differences themselves.
"""

from __future__ import annotations

import math

from scipy.special import gammaln, xlogy

LARGE = 16.0
"""From here on four terms of Stirling's series are exact to rounding."""


def stirling_error(n: float) -> float:
    r"""Compute :math:`\log n! - (n + \tfrac12)\log n + n - \tfrac12\log 2\pi` for n above 0."""
    if n < LARGE:
        return float(gammaln(n + 1)) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
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
    if k == 0 or failures == 0:
        return float(xlogy(k, p)) + float(failures * math.log1p(-p))
    series = stirling_error(n) - stirling_error(k) - stirling_error(failures)
    surprise = _deviance(k, n * p) + _deviance(failures, n * (1 - p))
    spread = math.log(k) + math.log(failures) - math.log(n)
    return series - surprise - (math.log(2 * math.pi) + spread) / 2


def _deviance(x: float, expected: float) -> float:
    r"""Compute :math:`x \log(x/m) + m - x`, also where both are nearly equal."""
    u = (x - expected) / expected
    if abs(u) > 0.1:
        return x * math.log(x / expected) + expected - x
    power, total = -u, 0.0  # (1 + u) log(1 + u) - u = u²/2 - u³/6 + u⁴/12 - …
    for j in range(2, 40):
        power *= -u
        total += power / (j * (j - 1))
    return expected * total


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
    ways = log_gamma_ratio(k + 1, a - 1) + log_gamma_ratio(n - k + 1, b - 1)
    own = float(gammaln(a + b) - gammaln(a) - gammaln(b))
    return ways - log_gamma_ratio(n + 1, a + b - 1) + own
