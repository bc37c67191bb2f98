r"""Bayes factors: what the data say about two hypotheses, and what priors have to do with it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from primer.inputs import (
    Count,
    Natural,
    Number,
    Positive,
    Probability,
    checked,
)
from primer.inputs.magnitude import TINY
from primer.statistics.binomial import log_beta_binomial, log_binomial
from primer.statistics.quadrature import integral


@checked(infinite="low high")
def marginal_likelihood(
    likelihood: Callable[[float], float], prior: Callable[[float], float], low: float, high: float
) -> float:
    r"""Compute the marginal likelihood of a hypothesis with one unknown by adaptive quadrature.

    .. math:: P(x \mid H) = \int_a^b f(x \mid \theta)\, \pi(\theta)\, d\theta

    The product is looked at in some hundred thousand places (some thousand, if the functions take
    numbers only) before it is integrated around each of its peaks.  A peak between two of them is
    seen while the product is above 0 at one of the two, for a normal one within 38 standard
    deviations.  Where nothing is seen there is an error; a second peak that is narrower than a
    millionth of the range must be told by a range of its own.

    Parameters
    ----------
    likelihood, prior : callable
        :math:`f(x \mid \theta)` of the data at hand, and the prior density.
    low, high : float
        :math:`a` and :math:`b`, the range of the unknown; infinite ends are allowed.

    Returns
    -------
    float
        The probability (density) of the data under the hypothesis.

    Raises
    ------
    ValueError
        When the range is empty, a function is negative or not finite somewhere, nothing is seen of
        the product, or the integral is not finite and above 0.

    References
    ----------
    Kass and Raftery (1995).

    Examples
    --------
    >>> round(marginal_likelihood(lambda p: p**2 * (1 - p), lambda p: 1.0, 0, 1), 10)  # B(3, 2)
    0.0833333333
    """
    if not low < high:
        raise ValueError(f"low must be below high, got {low} and {high}")
    return integral(likelihood, prior, low, high)


@checked
def posterior_probability(bayes_factor: Positive, prior: Probability = 0.5) -> float:
    r"""Turn a Bayes factor into the posterior probability of the first hypothesis.

    .. math:: \frac{P(H_0 \mid x)}{P(H_1 \mid x)} = B_{01}\, \frac{P(H_0)}{P(H_1)}

    Parameters
    ----------
    bayes_factor : float
        :math:`B_{01} = P(x \mid H_0)/P(x \mid H_1) > 0`.
    prior : float
        :math:`P(H_0)`, strictly between 0 and 1; :math:`P(H_1)` is the rest.

    Returns
    -------
    float
        :math:`P(H_0 \mid x)`.

    Raises
    ------
    ValueError
        When a number is out of range.

    References
    ----------
    Kass and Raftery (1995).

    Examples
    --------
    >>> posterior_probability(3.0), posterior_probability(3.0, prior=0.25)
    (0.75, 0.5)
    """
    p = prior
    for_it = bayes_factor * p
    return for_it / (for_it + (1 - p))


@checked
def coin_bayes_factor(
    successes: Natural,
    trials: Natural,
    null: Probability = 0.5,
    a: Positive = 1.0,
    b: Positive = 1.0,
) -> float:
    r"""Compute the Bayes factor of a known against an unknown probability of success.

    :math:`H_0`: :math:`\theta = \theta_0`; :math:`H_1`: :math:`\theta \sim \mathrm{Beta}(a, b)`.

    .. math:: B_{01} = \frac{\theta_0^k (1-\theta_0)^{n-k}\, B(a, b)}{B(a + k,\ b + n - k)}

    Parameters
    ----------
    successes, trials : int
        :math:`k` and :math:`n`, with :math:`0 \le k \le n`.
    null : float
        :math:`\theta_0`, strictly between 0 and 1.
    a, b : float
        The prior under :math:`H_1`; ones are the uniform prior.

    Returns
    -------
    float
        :math:`B_{01}`; above 1 the data speak for :math:`H_0`.

    Raises
    ------
    ValueError
        When a number is out of range, or the factor is no floating-point number.

    References
    ----------
    Kass and Raftery (1995).

    Examples
    --------
    >>> round(coin_bayes_factor(successes=5, trials=10), 6)  # 11 · C(10, 5) / 2¹⁰
    2.707031
    """
    n, k = trials, successes
    if k > n:
        raise ValueError(f"{k} successes in {n} trials")
    known = log_binomial(k, n, null)
    return _factor(known - log_beta_binomial(k, n, a, b))


def _factor(logarithm: float) -> float:
    """Return a Bayes factor from its logarithm."""
    if not math.log(TINY) < logarithm < 709:
        raise ValueError(
            f"the Bayes factor is e to the {logarithm:.6g}, which no floating-point number can "
            "hold: the data have decided"
        )
    return math.exp(logarithm)


@checked
def normal_bayes_factor(z: Number, n: Count, prior_scale: Positive = 1.0) -> float:
    r"""Compute the Bayes factor of a mean of zero against an unknown mean, from a z statistic.

    :math:`H_0`: :math:`\mu = 0`; :math:`H_1`: :math:`\mu \sim \mathcal N(0, \tau^2)`; the
    observations are normal with known :math:`\sigma`, and :math:`z = \bar x\sqrt n/\sigma`.  With
    :math:`r = n\tau^2/\sigma^2`,

    .. math:: B_{01} = \sqrt{1 + r}\; \exp\left(-\frac{z^2}{2}\, \frac{r}{1 + r}\right).

    At a fixed :math:`z` it grows like :math:`\sqrt n`: a result that stays just significant speaks
    ever more strongly *for* the null hypothesis (Lindley's paradox).

    Parameters
    ----------
    z : float
        The sample mean in standard errors.
    n : int
        The number of observations.
    prior_scale : float
        :math:`\tau/\sigma`, how far from zero the mean is expected under :math:`H_1`.

    Returns
    -------
    float
        :math:`B_{01}`.

    Raises
    ------
    ValueError
        When ``n`` is no whole number of at least 1, the scale is not above 0, or the factor is no
        floating-point number.

    References
    ----------
    Lindley (1957).

    Examples
    --------
    >>> round(normal_bayes_factor(1.96, n=10), 3), round(normal_bayes_factor(1.96, n=10_000), 3)
    (0.579, 14.653)
    """
    log_r = math.log(n) + 2 * math.log(prior_scale)
    distance = z * math.sqrt(expit(log_r))  # expit(log r) = r/(1 + r)
    return _factor(float(np.logaddexp(0, log_r)) / 2 - distance * distance / 2)
