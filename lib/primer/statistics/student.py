r"""Student's t distribution, central and noncentral, as a mixture of normal laws.

Given the estimated scale :math:`s = \sqrt{V/\nu}`, the ratio :math:`T = (Z + \delta)/s` is normal.
So its distribution is an average of normal ones over the law of :math:`s`, and one integral gives
density, distribution function and power:

.. math:: P(T \le t) = \int_0^\infty \Phi(t s - \delta)\, g_\nu(s)\, ds .
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr, ndtri, stdtr

from primer.inputs import (
    Number,
    Positive,
    Probability,
    Reals,
    checked,
    number,
    positive,
)
from primer.inputs.guard import unasked
from primer.inputs.magnitude import TINY
from primer.statistics.binomial import log_gamma_ratio

NEGLIGIBLE = 36.0
"""The integral leaves out scales whose density is below e⁻³⁶ of the highest."""

VANISHED = 750.0
"""Numbers below e⁻⁷⁵⁰ are 0 in floating point."""


@checked
def scale_mixture(
    df: Positive, noncentrality: Number = 0.0, depth: Positive = NEGLIGIBLE
) -> tuple[Float[np.ndarray, " nodes"], Float[np.ndarray, " nodes"]]:
    r"""Return scales :math:`s_j` and weights :math:`w_j` that stand for :math:`s = \sqrt{V/\nu}`.

    With :math:`s = e^u` and :math:`V \sim \chi^2_\nu` the density of :math:`u` is proportional to
    :math:`\exp\left(\nu u - \tfrac\nu2 e^{2u}\right)`.  It falls off so fast on both sides that the
    plain trapezoidal rule converges exponentially; the weights are divided by their sum.

    Parameters
    ----------
    df : float
        Degrees of freedom :math:`\nu > 0`.
    noncentrality : float
        :math:`\delta`; the larger, the finer the nodes.
    depth : float
        The nodes leave out scales whose density is below :math:`e^{-\text{depth}}` of the highest;
        a tail of size :math:`10^{-20}` lives on scales as rare as that.

    Returns
    -------
    scales : float array, shape (nodes,)
        Rising numbers above 0.
    weights : float array, shape (nodes,)
        Numbers that sum to 1.

    Raises
    ------
    ValueError
        When ``df`` is not above 0, or a number is not finite.

    References
    ----------
    Trefethen and Weideman (2014) on the trapezoidal rule.

    Examples
    --------
    >>> scales, weights = scale_mixture(df=5)
    >>> round(float(weights.sum()), 12), round(float(weights @ scales**2), 12)  # E(V/ν) = 1
    (1.0, 1.0)
    """
    nu, delta = df, noncentrality
    width = depth / nu
    low = -(width + 1.1 * math.sqrt(width))
    high = 0.5 * math.log1p(2 * width + 3 * math.sqrt(width))
    step = 0.35 / (abs(delta) + max(math.sqrt(nu), 3.0))
    u = low + step * np.arange(math.ceil((high - low) / step) + 1)
    weights = np.exp(nu * (u - np.expm1(2 * u) / 2))
    return np.exp(u), weights / weights.sum()


def _depth(t: np.ndarray, df: float, noncentrality: float) -> float:
    """Say how rare the scales are on which the tails at these places live."""
    nu, delta = positive("df", df), number("noncentrality", noncentrality)
    farthest = float(np.abs(t).max()) / math.sqrt(nu)
    rare = nu * math.log(math.hypot(1.0, farthest)) + min(delta * delta, 1e4) / 2
    depth = NEGLIGIBLE + min(rare, VANISHED)
    if abs(delta) > 1e5 or nu < 1e-3:
        raise ValueError(
            f"df = {df:g} and noncentrality = {noncentrality:g} ask for more nodes than there is "
            "memory for: take df of at least 0.001 and a noncentrality of at most 100000"
        )
    return depth


@checked
def noncentral_t_density(
    t: Reals, df: float, noncentrality: float = 0.0
) -> Float[np.ndarray, "..."]:
    r"""Compute the density of the noncentral t distribution.

    .. math:: f(t) = \int_0^\infty s\, \varphi(t s - \delta)\, g_\nu(s)\, ds
              \approx \sum_j w_j\, s_j\, \varphi(t s_j - \delta)

    Parameters
    ----------
    t : array_like
        Where.
    df : float
        Degrees of freedom :math:`\nu > 0`.
    noncentrality : float
        :math:`\delta`; 0 gives the central distribution.

    Returns
    -------
    float array, shape of ``t``
        The density.

    Raises
    ------
    ValueError
        When ``df`` is not above 0, or a number is not finite.

    References
    ----------
    Johnson and Welch (1940).

    Examples
    --------
    >>> round(float(noncentral_t_density(0.0, df=1)), 10), round(1 / np.pi, 10)  # Cauchy's
    (0.3183098862, 0.3183098862)
    """
    scales, weights = scale_mixture(df, noncentrality, _depth(t, df, noncentrality))
    gaps = np.clip(t[..., None] * scales - noncentrality, -40, 40)  # e⁻⁸⁰⁰ is 0; (..., nodes)
    return np.asarray(np.exp(-(gaps**2) / 2) @ (weights * scales) / math.sqrt(2 * math.pi))


@checked
def noncentral_t_cdf(t: Reals, df: float, noncentrality: float = 0.0) -> Float[np.ndarray, "..."]:
    r"""Compute the distribution function of the noncentral t distribution.

    .. math:: P(T \le t) \approx \sum_j w_j\, \Phi(t s_j - \delta)

    Parameters
    ----------
    t : array_like
        Where.
    df : float
        Degrees of freedom :math:`\nu > 0`.
    noncentrality : float
        :math:`\delta`; 0 gives the central distribution.

    Returns
    -------
    float array, shape of ``t``
        Probabilities, to about twelve digits; so is a small one, down to :math:`10^{-300}`.

    Raises
    ------
    ValueError
        When ``df`` is not above 0, or a number is not finite.

    References
    ----------
    Johnson and Welch (1940).

    Examples
    --------
    >>> round(float(noncentral_t_cdf(1.0, df=1)), 10)  # ½ + arctan(1)/π
    0.75
    """
    scales, weights = scale_mixture(df, noncentrality, _depth(t, df, noncentrality))
    return np.asarray(ndtr(t[..., None] * scales - noncentrality) @ weights)


@checked
def t_density(t: Reals, df: Positive) -> Float[np.ndarray, "..."]:
    r"""Compute the density of Student's t distribution in closed form.

    .. math:: f(t) = \frac{\Gamma\left(\frac{\nu+1}2\right)}{\sqrt{\nu\pi}\,
              \Gamma\left(\frac\nu2\right)} \left(1 + \frac{t^2}\nu\right)^{-(\nu+1)/2}

    Parameters
    ----------
    t : array_like
        Where.
    df : float
        Degrees of freedom :math:`\nu > 0`.

    Returns
    -------
    float array, shape of ``t``
        The density.

    Raises
    ------
    ValueError
        When ``df`` is not above 0, or a number is not finite.

    References
    ----------
    Student (1908).

    Examples
    --------
    >>> round(float(t_density(1.0, df=1)) * np.pi, 10)
    0.5
    """
    return np.asarray(np.exp(_log_t_density(t, df)))


def _log_t_density(t: np.ndarray, nu: float) -> np.ndarray:
    constant = log_gamma_ratio(nu / 2, 0.5) - (math.log(nu) + math.log(math.pi)) / 2
    ratio = np.abs(t) / math.sqrt(nu)  # half of log(1 + t²/ν), in which no square is lost
    near = np.log1p(np.minimum(ratio, 1.0) ** 2) / 2
    return np.asarray(constant - (nu + 1) * np.where(ratio < 1, near, np.log(np.hypot(1.0, ratio))))


@checked
def t_cdf(t: Reals, df: Positive) -> Float[np.ndarray, "..."]:
    r"""Compute the distribution function of Student's t distribution.

    It is an incomplete Beta function, of which SciPy keeps all digits in the far tail too:

    .. math:: P(T \le -t) = \tfrac12\, I_{\nu/(\nu + t^2)}\bigl(\tfrac\nu2, \tfrac12\bigr)
              \qquad (t \ge 0)

    Parameters
    ----------
    t : array_like
        Where.
    df : float
        Degrees of freedom :math:`\nu > 0`.

    Returns
    -------
    float array, shape of ``t``
        :math:`P(T \le t)`.

    Raises
    ------
    ValueError
        When ``df`` is not above 0, or a number is not finite.

    References
    ----------
    Abramowitz and Stegun (1964), 26.5.27.

    Examples
    --------
    >>> round(float(t_cdf(2.131, df=15)), 3)
    0.975
    """
    nu = df
    far = t < -1e150  # where squares overflow the tail is a power: t f(t)/ν
    beyond = np.where(far, t, -1.0)
    tail = np.exp(_log_t_density(beyond, nu) + np.log(-beyond)) / nu
    return np.asarray(np.where(far, tail, stdtr(nu, np.maximum(t, -1e150))))


@checked
def t_quantile(p: Probability, df: Positive) -> float:
    r"""Compute the point below which Student's t distribution has the probability ``p``.

    Newton's method for the logarithm of the tail against that of :math:`t`, from the normal
    quantile.  Far out the tail is a power of :math:`t`, so that both logarithms follow a straight
    line; the whole curve bends downward, so that after the first step all come from one side.

    Parameters
    ----------
    p : float
        A probability strictly between 0 and 1.
    df : float
        Degrees of freedom :math:`\nu > 0`.

    Returns
    -------
    float
        :math:`t` with :math:`P(T \le t) = p`.

    Raises
    ------
    ValueError
        When ``p`` or ``df`` are out of range.

    Examples
    --------
    >>> round(t_quantile(0.975, df=15), 4)
    2.1314
    """
    tail, cdf = min(p, 1 - p), unasked(t_cdf)  # here it has been asked
    t = near = -float(ndtri(tail))
    for _ in range(500 if t > 0 else 0):
        above = float(cdf(-t, df))
        if above < TINY:  # the first step may go too far
            t = math.sqrt(t) * math.sqrt(near)
            continue
        near = t if above > tail else near
        rate = math.exp(math.log(t) + float(_log_t_density(np.array(t), df)) - math.log(above))
        move = math.log(above / tail) / rate
        t *= math.exp(min(move, 600.0))
        if abs(move) <= 1e-14 or t == math.inf:
            break
    if not t < math.inf or (t > 1 and float(cdf(-t, df)) < TINY):
        raise ValueError(f"the quantile of p = {p:g} for df = {df:g} is no floating-point number")
    return t if p > 0.5 else -t
