r"""Bayes factors: what the data say about two hypotheses, and what priors have to do with it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import betaln, gammaln

from primer.inputs import count, number, positive, probability
from primer.statistics.inputs import sample


def marginal_likelihood(
    likelihood: Callable[[float], float], prior: Callable[[float], float], low: float, high: float
) -> float:
    r"""Compute the marginal likelihood of a hypothesis with one unknown by adaptive quadrature.

    .. math:: P(x \mid H) = \int_a^b f(x \mid \theta)\, \pi(\theta)\, d\theta

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
        When the range is empty, or the integral is not finite and above 0.

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
    value, _ = quad(
        lambda t: likelihood(t) * prior(t), low, high, epsabs=0, epsrel=1e-10, limit=200
    )
    if not (math.isfinite(value) and value > 0):
        raise ValueError(f"the marginal likelihood came out as {value}; check range and prior")
    return float(value)


def posterior_probability(bayes_factor: float, prior: float = 0.5) -> float:
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
    p = probability("prior", prior)
    odds = positive("bayes_factor", bayes_factor) * p / (1 - p)
    return odds / (1 + odds)


def coin_bayes_factor(
    successes: int, trials: int, null: float = 0.5, a: float = 1.0, b: float = 1.0
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
        When a number is out of range.

    References
    ----------
    Kass and Raftery (1995).

    Examples
    --------
    >>> round(coin_bayes_factor(successes=5, trials=10), 6)  # 11 · C(10, 5) / 2¹⁰
    2.707031
    """
    n, k = count("trials", trials, at_least=0), count("successes", successes, at_least=0)
    if k > n:
        raise ValueError(f"{k} successes in {n} trials")
    p = probability("null", null)
    prior = betaln(positive("a", a), positive("b", b))
    simple = k * math.log(p) + (n - k) * math.log1p(-p)
    return math.exp(simple + prior - betaln(a + k, b + n - k))


def normal_bayes_factor(z: float, n: int, prior_scale: float = 1.0) -> float:
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
        When ``n`` is no whole number of at least 1 or the scale is not above 0.

    References
    ----------
    Lindley (1957).

    Examples
    --------
    >>> round(normal_bayes_factor(1.96, n=10), 3), round(normal_bayes_factor(1.96, n=10_000), 3)
    (0.579, 14.653)
    """
    r = count("n", n) * positive("prior_scale", prior_scale) ** 2
    return math.sqrt(1 + r) * math.exp(-(number("z", z) ** 2) / 2 * r / (1 + r))


def normal_log_evidence(
    x: ArrayLike, mean: float, strength: float, shape: float, scale: float
) -> float:
    r"""Compute the log marginal likelihood of a normal sample with unknown mean and variance.

    The prior is conjugate: :math:`1/\sigma^2 \sim \mathrm{Gamma}(a, \text{rate } b)` and
    :math:`\mu \mid \sigma^2 \sim \mathcal N(m, \sigma^2/\kappa)`.  With
    :math:`\kappa_n = \kappa + n`, :math:`a_n = a + n/2` and

    .. math::

        b_n &= b + \tfrac12 \sum_i (x_i - \bar x)^2 + \frac{\kappa n (\bar x - m)^2}{2 \kappa_n}, \\
        p(x) &= \frac{\Gamma(a_n)}{\Gamma(a)}\, \frac{b^a}{b_n^{a_n}}
                \left(\frac{\kappa}{\kappa_n}\right)^{1/2} (2\pi)^{-n/2}.

    Parameters
    ----------
    x : array_like, shape (n,)
        The sample.
    mean : float
        :math:`m`, in the unit of ``x``.
    strength : float
        :math:`\kappa > 0`, how many observations the prior mean counts for.
    shape, scale : float
        :math:`a > 0` and :math:`b > 0`, the latter in the square of the unit of ``x``.

    Returns
    -------
    float
        :math:`\log p(x)`.

    Raises
    ------
    ValueError
        When the sample is empty or not finite, or a prior parameter is out of range.

    References
    ----------
    DeGroot (1970), section 9.6.

    Examples
    --------
    >>> round(normal_log_evidence([0.0], mean=0, strength=1, shape=0.5, scale=0.5), 6)
    -1.491303
    """
    values, m = sample("x", x), number("mean", mean)
    kappa, a = positive("strength", strength), positive("shape", shape)
    b, n = positive("scale", scale), len(values)
    squares = float(((values - values.mean()) ** 2).sum())
    a_n, kappa_n = a + n / 2, kappa + n
    b_n = b + squares / 2 + kappa * n * (float(values.mean()) - m) ** 2 / (2 * kappa_n)
    return float(
        gammaln(a_n) - gammaln(a)
        + a * np.log(b) - a_n * np.log(b_n)
        + np.log(kappa / kappa_n) / 2 - n * np.log(2 * np.pi) / 2
    )  # fmt: skip
