r"""The best of many: how good equal entries look, and how often one of k answers is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import log_ndtr

from primer.inputs import checked, count, vector

MOST = 1_000_000
"""Entries, or draws that are followed one by one."""


@checked
def expected_best(k: int) -> float:
    r"""Compute the mean of the largest of k standard normal numbers.

    .. math::
        E\max_{i\le k} Z_i = \int x\,k\,\varphi(x)\,\Phi(x)^{k-1}\,dx \;\le\; \sqrt{2\ln k}

    So many standard errors above its own value stands the best of k entries that are equally good
    and whose errors are independent and normal.

    Parameters
    ----------
    k : int
        How many, from 1 to a million.

    Returns
    -------
    float
        The mean, in standard deviations.

    Raises
    ------
    ValueError
        When k is no whole number in that range.

    References
    ----------
    Tippett (1925).

    Examples
    --------
    >>> round(expected_best(2), 4), round(expected_best(27), 3)  # the first is 1/√π
    (0.5642, 1.998)
    """
    if count("k", k) > MOST:
        raise ValueError(f"k must be at most {MOST:,}, got {k}")

    def density(x: float) -> float:
        return float(x * k * np.exp((k - 1) * log_ndtr(x) - x * x / 2) / np.sqrt(2 * np.pi))

    return float(quad(density, -12, 12, limit=500, points=[0, np.sqrt(2 * np.log(k))])[0])


@checked
def pass_at_k(right: ArrayLike, answers: int, k: int) -> np.ndarray:
    r"""Estimate how often at least one of k answers is right, from n answers to each question.

    .. math:: 1 - \binom{n-c}{k} \Big/ \binom nk

    with c right ones of n: the chance that k of the n, drawn without replacement, hold a right one.
    Its mean is :math:`1-(1-p)^k` exactly; that of :math:`1-(1-c/n)^k` is smaller.

    Parameters
    ----------
    right : array_like of shape (questions,)
        c of each question.
    answers : int
        n.
    k : int
        At most n.

    Returns
    -------
    float array of shape (questions,)
        An estimate for each question.

    Raises
    ------
    ValueError
        When k is above n, some c is no whole number from 0 to n, or both are above a million.

    References
    ----------
    Chen et al. (2021).

    Examples
    --------
    >>> pass_at_k([0, 1, 5], answers=5, k=2)
    array([0. , 0.4, 1. ])
    """
    c, n = vector("right", right), count("answers", answers)
    if count("k", k) > n:
        raise ValueError(f"k must be at most the number of answers, {n}, got {k}: draw k or more")
    if not ((c >= 0) & (c <= n) & (c % 1 == 0)).all():
        raise ValueError(f"right must hold whole numbers from 0 to {n}, the number of answers")
    # The chance of no right one is C(n − c, k) / C(n, k) = C(n − k, c) / C(n, c), as many factors
    # as the smaller of k and c has; the sum of their logarithms keeps chances that are hardly 1.
    few = np.minimum(c, k)
    if few.max() > MOST:
        raise ValueError(f"k, or each of right, must be at most {MOST:,}, got {few.max():,.0f}")
    many, none = np.maximum(c, k), np.zeros(len(c))
    with np.errstate(divide="ignore", invalid="ignore"):
        for j in range(int(few.max())):
            none += np.where(j < few, np.log1p(-np.minimum(many / (n - j), 1)), 0.0)
    return 0.0 - np.expm1(none)  # and never -0
