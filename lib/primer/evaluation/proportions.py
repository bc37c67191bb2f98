r"""Intervals for a proportion, the share of right answers, and how often each holds the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import betainccinv, betaincinv, ndtri
from scipy.stats import binom

from primer.inputs import as_array, checked, count, finite, probability, real
from primer.inputs.given import given

MOST = 100_000
"""Questions whose intervals :func:`coverage` computes one by one."""


class Interval(NamedTuple):
    """From where to where."""

    low: float
    high: float


@checked
def wald(right: int, n: int, level: float = 0.95) -> Interval:
    r"""Compute :math:`\hat p \pm z\sqrt{\hat p(1-\hat p)/n}`, cut at 0 and 1.

    The textbook's interval: no wider than a point at 0 and at n right answers.

    Parameters
    ----------
    right, n : int
        Right answers of n ≥ 1 independent questions.
    level : float
        What it claims to cover.

    Returns
    -------
    Interval
        Low and high.

    Raises
    ------
    ValueError
        When there is no question, more are right than were asked, or the level is no probability
        strictly between 0 and 1.

    References
    ----------
    Brown, Cai and DasGupta (2001), who advise against it.

    Examples
    --------
    >>> low, high = wald(9, 10)
    >>> round(low, 3), high
    (0.714, 1.0)
    """
    p, n, z = _asked(right, n, level)
    reach = z * math.sqrt(p * (1 - p) / n)
    return Interval(max(0.0, p - reach), min(1.0, p + reach))


@checked
def wilson(right: int, n: int, level: float = 0.95) -> Interval:
    r"""Compute all p that the normal test does not reject: :math:`(\hat p-p)^2\le z^2p(1-p)/n`.

    .. math::
        \frac{\hat p + \frac{z^2}{2n} \pm
        z\sqrt{\frac{\hat p(1-\hat p)}{n} + \frac{z^2}{4n^2}}}{1 + z^2/n}

    Parameters
    ----------
    right, n, level
        As in :func:`wald`.

    Returns
    -------
    Interval
        Low and high.

    Raises
    ------
    ValueError
        As in :func:`wald`.

    References
    ----------
    Wilson (1927).

    Examples
    --------
    >>> low, high = wilson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    p, n, z = _asked(right, n, level)
    center, reach = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    stretch = 1 + z * z / n
    # at 0 and at n right answers one end is exactly there, which rounding may miss
    low = (center - reach) / stretch if right else 0.0
    return Interval(low, (center + reach) / stretch if right < n else 1.0)


@checked
def clopper_pearson(right: int, n: int, level: float = 0.95) -> Interval:
    r"""Compute all p that neither one-sided exact test rejects.

    .. math::
        \mathrm{low}:\ P_p(X \ge k) = \tfrac{\alpha}{2}, \qquad
        \mathrm{high}:\ P_p(X \le k) = \tfrac{\alpha}{2},

    which are quantiles of Beta(k, n − k + 1) and of Beta(k + 1, n − k).  It covers at least what
    it claims, for every p.

    Parameters
    ----------
    right, n, level
        As in :func:`wald`.

    Returns
    -------
    Interval
        Low and high.

    Raises
    ------
    ValueError
        As in :func:`wald`.

    References
    ----------
    Clopper and Pearson (1934), as told by Thulin, arXiv:1303.1288.

    Examples
    --------
    >>> low, high = clopper_pearson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.555, 0.9975)
    """
    _asked(right, n, level)
    tail = (1 - level) / 2
    low = float(betaincinv(right, n - right + 1, tail)) if right else 0.0
    return Interval(low, float(betainccinv(right + 1, n - right, tail)) if right < n else 1.0)


@checked
def coverage(
    interval: Callable[[int, int, float], Interval], n: int, p: ArrayLike, level: float = 0.95
) -> np.ndarray:
    r"""Compute how often an interval holds the true share, by an exact sum.

    .. math:: C(p) = \sum_{k=0}^n \binom nk p^k(1-p)^{n-k}\,\mathbb 1[p \in I(k)]

    Parameters
    ----------
    interval : callable
        ``interval(right, n, level)``, for example :func:`wilson`.
    n : int
        How many questions.
    p : array_like
        True shares.
    level : float
        What the interval is asked to cover.

    Returns
    -------
    float array with the shape of p
        Probabilities.

    Raises
    ------
    ValueError
        When a share lies outside 0 … 1, n or the level is none, or the function returns no two
        ends.

    References
    ----------
    Brown, Cai and DasGupta (2001).

    Examples
    --------
    >>> coverage(wald, 30, [0.9]).round(3), coverage(wilson, 30, [0.9]).round(3)
    (array([0.809]), array([0.974]))
    """
    share = real("p", p)
    if not ((share >= 0) & (share <= 1)).all():
        raise ValueError(f"p must hold shares, from 0 to 1, got {share.min():g} … {share.max():g}")
    if count("n", n) > MOST:
        raise ValueError(
            f"n must be at most {MOST:,}, got {n}: the sum has a term for each of them"
        )
    right = np.arange(n + 1)
    ends = as_array("the result of interval", [interval(int(k), n, level) for k in right])
    if ends.shape != (n + 1, 2):
        raise ValueError(f"interval must return its two ends, got {given(interval(0, n, level))}")
    low, high = finite("the result of interval", ends).T
    chance = binom.pmf(right, n, share[..., None])
    held: Float[np.ndarray, "... right"] = (low <= share[..., None]) & (share[..., None] <= high)
    return np.asarray((chance * held).sum(axis=-1))


def _asked(right: int, n: int, level: float) -> tuple[float, int, float]:
    """Check the arguments; return the share, n, and z."""
    if count("right", right, at_least=0) > count("n", n):
        raise ValueError(f"right must be at most n, got {right} right answers of {n}")
    # of the lower tail, for 1 - level is exact and (1 + level) / 2 may be 1
    return right / n, n, -float(ndtri((1 - probability("level", level)) / 2))
