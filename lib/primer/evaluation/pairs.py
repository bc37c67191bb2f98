r"""Two models on the same questions: which is better, and how many questions would tell."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import binom

from primer.inputs import (
    Steps,
    checked,
    count,
    number,
    one_of,
    positive,
    probability,
    random_generator,
    vector,
)
from primer.inputs.magnitude import scaled

Method = Literal["exact", "mid-p"]
EXACT_UP_TO = 20
"""So many differences have a million patterns of signs, which are all tried."""


@checked
def sign_flip_test(
    differences: ArrayLike, rng: np.random.Generator, draws: Steps = 10_000
) -> float:
    r"""Compute the p-value of paired differences by flipping their signs.

    .. math::
        p = \frac{1 + \#\{k : |\sum_g s_{kg}D_g| \ge |\sum_g D_g|\}}{1 + M}

    for M random patterns of signs :math:`s_{kg} = \pm1`; up to ``EXACT_UP_TO`` differences all
    :math:`2^G` patterns are tried, and p is the share that reaches so far.

    The hypothesis is that :math:`D_g` and :math:`-D_g` are equally probable for each cluster,
    independently; then p is valid for any M.  That the mean is 0 is not enough.

    Parameters
    ----------
    differences : array_like of shape (G,)
        One sum for each cluster: first model less second.
    rng : numpy.random.Generator
        Draws the signs; not used where all are tried.
    draws : int
        M, at most a million.

    Returns
    -------
    float
        p, two-sided.

    Raises
    ------
    ValueError
        When there is no difference, one is not finite, or ``draws`` is below 1 or too large.

    References
    ----------
    Fisher (1935); Phipson and Smyth (2010) for the 1 that is added.

    Examples
    --------
    >>> sign_flip_test([1.0, 2.0, 3.0], np.random.default_rng(0))  # +++ and −−− of eight
    0.25
    """
    d, _ = scaled(vector("differences", differences))  # p is that of any unit
    random_generator("rng", rng)
    # Sums of the first parts are exact, so that one large difference hides none of the others.
    parts = np.stack([whole := np.round(d * 2.0**26) * 2.0**-26, d - whole])
    rounding = 1e-12 * np.abs(parts[1]).sum()  # sums in another order differ in their last digit
    least = parts.sum(axis=1, keepdims=True)

    def reached(sums: Float[np.ndarray, "2 patterns"]) -> int:
        """Count the sums that are as far from 0 as the one that was observed."""
        far, seen = (np.where(s.sum(axis=0) < 0, -s, s) for s in (sums, least))
        return int(((far - seen).sum(axis=0) >= -rounding).sum())

    if len(d) <= EXACT_UP_TO:
        sums = np.zeros((2, 1))
        for value in parts.T[:, :, None]:
            sums = np.concatenate([sums + value, sums - value], axis=1)
        return reached(sums) / 2 ** len(d)
    hits = 0
    for start in range(0, draws, 1000):
        signs = rng.integers(0, 2, size=(min(1000, draws - start), len(d))) * 2 - 1
        hits += reached((signs @ parts.T).T)
    return (1 + hits) / (1 + draws)


@checked
def mcnemar(only_first: int, only_second: int, method: Method = "exact") -> float:
    r"""Compute the p-value of two models that answered the same questions.

    Where both are right or both are wrong, nothing says which is better.  Of the
    :math:`m = n_{10} + n_{01}` others each is a fair coin if the models are equally good:

    .. math:: p = \min\bigl(1,\ 2\,P(X \le \min(n_{10}, n_{01}))\bigr), \qquad
              X \sim \mathrm{Bin}(m, \tfrac12)

    Parameters
    ----------
    only_first, only_second : int
        :math:`n_{10}` and :math:`n_{01}`: how often only the first, only the second was right.
    method : {"exact", "mid-p"}
        The second counts half of the observed value; it keeps its level in nearly all cases, the
        first in all.

    Returns
    -------
    float
        p, two-sided; 1 when the models were never of two minds.

    Raises
    ------
    ValueError
        When a number is negative or no whole number, or the method is unknown.

    References
    ----------
    McNemar (1947), of which this is the exact form; Fagerland et al. (2013) for mid-p.

    Examples
    --------
    >>> round(mcnemar(63, 34), 6), round(mcnemar(63, 34, "mid-p"), 6), mcnemar(0, 0)
    (0.004226, 0.003189, 1.0)
    """
    few, many = sorted(
        (
            count("only_first", only_first, at_least=0),
            count("only_second", only_second, at_least=0),
        )
    )
    one_of("method", method, get_args(Method))
    if few == many:
        return 1.0
    m = few + many
    p = 2 * float(binom.cdf(few, m, 0.5))
    if method == "mid-p":
        p -= float(binom.pmf(few, m, 0.5))
    return min(1.0, p)


@checked
def questions_needed(
    difference: float, variance: float, *, power: float = 0.8, level: float = 0.05
) -> int:
    r"""Compute how many questions find a difference of two models so often.

    .. math::
        n = \Big\lceil
        \frac{(z_{1-\alpha/2} + z_{\mathrm{power}})^2\,\omega^2}{\delta^2}\Big\rceil

    The variance of the difference on one question is
    :math:`\omega^2 = p_{10} + p_{01} - \delta^2` where both models answer the same ones, and
    :math:`p_1(1-p_1) + p_2(1-p_2)` where each has its own.

    Parameters
    ----------
    difference : float
        :math:`\delta`, of the two shares of right answers; not 0.
    variance : float
        :math:`\omega^2 > 0`.
    power : float
        How often it shall be found.
    level : float
        :math:`\alpha` of the two-sided test.

    Returns
    -------
    int
        n, by the normal approximation, for independent questions.

    Raises
    ------
    ValueError
        When the difference is 0 or no difference of shares, or another number lies outside its
        range.

    References
    ----------
    Miller (2024).

    Examples
    --------
    >>> questions_needed(0.03, 0.2 - 0.03**2), questions_needed(0.03, 2 * 0.7 * 0.3)
    (1737, 3663)
    """
    delta = number("difference", difference)
    if not 0 < abs(delta) <= 1:
        raise ValueError(
            f"difference must be one of two shares, not 0 and between -1 and 1, got {delta:g}"
        )
    reach = ndtri(probability("power", power)) - ndtri(probability("level", level) / 2)
    needed = float(max(reach, 0) ** 2) * positive("variance", variance) / delta**2
    return max(1, math.ceil(needed))
