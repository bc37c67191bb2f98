r"""The best of many: how good equal entries look, and how often one of k answers is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.special import log_ndtr

from primer.inputs import checked, count, vector


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
    if count("k", k) > 1_000_000:
        raise ValueError(f"k must be at most 1,000,000, got {k}")

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
        When k is above n, or some c is no whole number from 0 to n.

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
    # the chance of no right one: a factor (n − c − j)/(n − j) for each of k draws
    draws = np.arange(k)
    return 1 - np.prod(np.clip(n - c[:, None] - draws, 0, None) / (n - draws), axis=1)
