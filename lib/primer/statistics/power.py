r"""How often a t test finds what is there: power, and the sample size for a wanted power."""

from __future__ import annotations

import math
from typing import Annotated

from primer.inputs import (
    Number,
    Probability,
    at_least,
    checked,
    positive,
)
from primer.statistics.student import noncentral_t_cdf, t_quantile
from primer.statistics.testing import Alternative


@checked(infinite="return")
def t_critical_values(
    df: float, alpha: Probability = 0.05, alternative: Alternative = "two-sided"
) -> tuple[float, float]:
    r"""Compute where the critical region of a t test begins.

    Parameters
    ----------
    df : float
        Degrees of freedom :math:`\nu > 0`.
    alpha : float
        The size of the test, strictly between 0 and 1.
    alternative : {"two-sided", "greater", "less"}
        On which side the test rejects.

    Returns
    -------
    tuple of float
        The test rejects for a statistic below the first or above the second; :math:`\mp\infty` on a
        side where it never does.

    Raises
    ------
    ValueError
        When a number is out of range or the alternative is unknown.

    Examples
    --------
    >>> [round(c, 3) for c in t_critical_values(15)]
    [-2.131, 2.131]
    >>> [round(c, 3) for c in t_critical_values(15, alternative="greater")]
    [-inf, 1.753]
    """
    size = alpha / (2 if alternative == "two-sided" else 1)
    bound = -t_quantile(size, df)  # not of 1 − size, which may round to 1
    if alternative == "two-sided":
        return -bound, bound
    if alternative == "greater":
        return -math.inf, bound
    return -bound, math.inf


@checked
def t_power(
    effect: Number,
    n: Annotated[int, at_least(2)],
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
) -> float:
    r"""Compute the power of the one-sample t test.

    Under the alternative the statistic is noncentral t with :math:`n - 1` degrees of freedom and

    .. math:: \delta = \frac{\mu - \mu_0}{\sigma/\sqrt n} = d\sqrt n, \qquad
              \text{power} = P(T_{n-1,\delta} \in C).

    Parameters
    ----------
    effect : float
        :math:`d = (\mu - \mu_0)/\sigma`, the shift of the mean in standard deviations; at 0 the
        power is the size :math:`\alpha`.
    n : int
        The number of observations, at least 2.
    alpha : float
        The size of the test, strictly between 0 and 1.
    alternative : {"two-sided", "greater", "less"}
        On which side the test rejects.

    Returns
    -------
    float
        The probability of rejecting.

    Raises
    ------
    ValueError
        When a number is out of range or the alternative is unknown.

    References
    ----------
    Johnson and Welch (1940); Cohen, *Statistical Power Analysis* (1988), chapter 2.

    Examples
    --------
    >>> round(t_power(effect=0.7, n=16, alternative="greater"), 4)
    0.8474
    >>> round(t_power(effect=0.0, n=16), 10)
    0.05
    """
    df = n - 1
    delta = effect * math.sqrt(n)
    low, high = t_critical_values(df, alpha, alternative)
    below = float(noncentral_t_cdf(low, df, delta)) if math.isfinite(low) else 0.0
    above = float(noncentral_t_cdf(-high, df, -delta)) if math.isfinite(high) else 0.0
    return below + above


@checked
def t_sample_size(
    effect: Number,
    power: Probability = 0.8,
    alpha: Probability = 0.05,
    alternative: Alternative = "two-sided",
) -> int:
    r"""Find the smallest sample with which the one-sample t test reaches a power.

    Power rises with :math:`n`, so doubling finds a sample that is large enough and halving the gap
    the smallest one.

    Parameters
    ----------
    effect : float
        :math:`d = (\mu - \mu_0)/\sigma`, not 0 and on the side on which the test rejects.
    power : float
        The wanted probability of rejecting, above ``alpha`` and below 1.
    alpha : float
        The size of the test.
    alternative : {"two-sided", "greater", "less"}
        On which side the test rejects.

    Returns
    -------
    int
        The number of observations, at least 2.

    Raises
    ------
    ValueError
        When the effect is 0 or on the wrong side, so that no sample is large enough, or a number is
        out of range.

    Examples
    --------
    >>> t_sample_size(effect=0.5, power=0.8)
    34
    >>> round(t_power(0.5, 33), 4), round(t_power(0.5, 34), 4)
    (0.7954, 0.8078)
    """
    shift = effect * (-1 if alternative == "less" else 1)
    positive(
        "effect in the direction of the test", abs(shift) if alternative == "two-sided" else shift
    )
    if power <= alpha:
        raise ValueError(f"power must be above alpha, got {power:g} and {alpha:g}")
    if abs(shift) < 1e-6:  # more than 10¹² observations
        raise ValueError(f"effect must be at least 1e-6, got {effect:g}: too small for any sample")
    high = 2
    while t_power(effect, high, alpha, alternative) < power:
        high *= 2
    low = high // 2  # too small, or 1, which is no sample
    while high - low > 1:
        middle = (low + high) // 2
        if t_power(effect, middle, alpha, alternative) < power:
            low = middle
        else:
            high = middle
    return high
