r"""Tests of hypotheses: one object that holds what a test is, and Student's two tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Num
from numpy.typing import ArrayLike

from primer.inputs import Number, Probability, checked, checked_fields, one_of
from primer.inputs.magnitude import scaled, variance
from primer.statistics.inputs import sample
from primer.statistics.student import t_cdf, t_quantile

Alternative = Literal["two-sided", "greater", "less"]
Observed = Sequence[float] | Num[np.ndarray, "..."]
"""A sample as a test's own statistic takes it."""


@checked_fields
@dataclass(frozen=True)
class HypothesisTest:
    r"""A test: a statistic, its tail under the null hypothesis, and a level fixed beforehand.

    .. math:: p(x) = P\bigl(t(X) \ge t(x) \mid H_0\bigr), \qquad
              \text{reject } H_0 \iff p(x) \le \alpha

    Attributes
    ----------
    statistic : callable
        :math:`t`, from a sample to a number; large values speak against :math:`H_0`.
    tail : callable
        :math:`c \mapsto P(t(X) \ge c \mid H_0)`.
    level : float
        :math:`\alpha`, strictly between 0 and 1.

    Raises
    ------
    ValueError
        When the level is not a probability.

    Examples
    --------
    >>> from math import comb
    >>> heads = HypothesisTest(  # is a coin, tossed ten times, fair or biased towards heads?
    ...     statistic=sum,
    ...     tail=lambda c: sum(comb(10, k) for k in range(c, 11)) / 2**10,
    ...     level=0.05,
    ... )
    >>> heads.p_value([1] * 8 + [0] * 2), heads.rejects([1] * 8 + [0] * 2)
    (0.0546875, False)
    """

    statistic: Callable[..., float]
    tail: Callable[..., float]
    level: Probability = 0.05

    @checked
    def p_value(self, x: Observed) -> float:
        """Compute the probability, under the null hypothesis, of a statistic at least as large."""
        p = self.tail(self.statistic(x))
        return _of_a_tail(p)

    @checked
    def rejects(self, x: Observed) -> bool:
        """Tell whether the sample lies in the critical region."""
        return self.p_value(x) <= self.level


def _of_a_tail(p: Any) -> float:
    """Return what a tail gave, which must be a probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"tail must return a probability, got {p!r}")
    return float(p)


class TTest(NamedTuple):
    """The result of a t test."""

    statistic: float
    """The t statistic."""
    df: float
    """Its degrees of freedom under the null hypothesis."""
    p_value: float
    """The probability of a statistic at least as extreme, were the null hypothesis true."""


@checked
def tail_probability(t: float, df: float, alternative: Alternative = "two-sided") -> float:
    r"""Compute the p-value that belongs to a t statistic.

    .. math:: P(|T| \ge |t|), \quad P(T \ge t) \quad\text{or}\quad P(T \le t)

    Parameters
    ----------
    t : float
        The statistic.
    df : float
        Degrees of freedom.
    alternative : {"two-sided", "greater", "less"}
        On which side large values speak against the null hypothesis.

    Returns
    -------
    float
        The p-value.

    Raises
    ------
    ValueError
        When the alternative is unknown, ``df`` is not above 0 or ``t`` is not finite.

    References
    ----------
    Student (1908).

    Examples
    --------
    >>> round(tail_probability(1.0, df=1), 10), round(tail_probability(1.0, 1, "greater"), 10)
    (0.5, 0.25)
    """
    one_of("alternative", alternative, get_args(Alternative))
    if alternative == "two-sided":
        return 2 * float(t_cdf(-abs(t), df))
    if alternative == "greater":
        return float(t_cdf(-t, df))
    return float(t_cdf(t, df))


@checked
def t_test(x: ArrayLike, mean: Number = 0.0, alternative: Alternative = "two-sided") -> TTest:
    r"""Test whether a normal sample has a given mean (Student's one-sample test).

    .. math:: t = \frac{\bar x - \mu_0}{s/\sqrt n} \sim t_{n-1} \quad\text{under } H_0

    with :math:`s^2 = \frac1{n-1}\sum_i (x_i - \bar x)^2`.

    Parameters
    ----------
    x : array_like, shape (n,)
        The sample, at least two observations that are not all equal.
    mean : float
        :math:`\mu_0`.
    alternative : {"two-sided", "greater", "less"}
        :math:`H_1`: the mean differs from, is above, or is below :math:`\mu_0`.

    Returns
    -------
    TTest
        ``statistic``, ``df`` and ``p_value``.

    Raises
    ------
    ValueError
        When the sample is too short, constant or not finite.

    References
    ----------
    Student (1908).

    Examples
    --------
    >>> result = t_test([1, 2, 6], mean=1)
    >>> round(result.statistic, 4), result.df, round(result.p_value, 4)
    (1.3093, 2.0, 0.3206)
    """
    _refuse_constant("x", values := sample("x", x, at_least=2))
    parts, scale = scaled(values)  # t has no unit: no square overflows
    n = len(parts)
    gap = float((parts - mean / scale).mean())
    t = gap / math.sqrt(variance(parts) / n)
    return TTest(t, n - 1.0, tail_probability(t, n - 1, alternative))


@checked
def welch_t_test(x: ArrayLike, y: ArrayLike, alternative: Alternative = "two-sided") -> TTest:
    r"""Test whether two normal samples have the same mean, whatever their variances are.

    .. math:: t = \frac{\bar x - \bar y}{\sqrt{s_x^2/m + s_y^2/n}}, \qquad
              \nu = \frac{(s_x^2/m + s_y^2/n)^2}
                         {(s_x^2/m)^2/(m-1) + (s_y^2/n)^2/(n-1)}

    with the sample variances :math:`s_x^2`, divided by :math:`m - 1`, and :math:`s_y^2`, by
    :math:`n - 1`.  Under the null hypothesis :math:`t` is close to :math:`t_\nu`, not exactly so.

    Parameters
    ----------
    x, y : array_like, shapes (m,) and (n,)
        The samples, each with at least two observations that are not all equal.
    alternative : {"two-sided", "greater", "less"}
        :math:`H_1`: the mean of ``x`` differs from, is above, or is below that of ``y``.

    Returns
    -------
    TTest
        ``statistic``, ``df`` and ``p_value``.

    Raises
    ------
    ValueError
        When a sample is too short, constant or not finite.

    References
    ----------
    Welch (1947).

    Examples
    --------
    >>> result = welch_t_test([1, 2, 6], [0, 1, 2])
    >>> round(result.statistic, 4), round(result.df, 4)
    (1.2247, 2.56)
    """
    _refuse_constant("x", first := sample("x", x, at_least=2))
    _refuse_constant("y", second := sample("y", y, at_least=2))
    parts, _ = scaled(np.concatenate([first, second]))  # t has no unit: no square overflows
    first, second = parts[: len(first)], parts[len(first) :]
    a, b = float(variance(first)) / len(first), float(variance(second)) / len(second)
    gap = (first - parts[0]).mean() - (second - parts[0]).mean()  # without a common offset
    t = float(gap / math.sqrt(a + b))
    df = float((a + b) ** 2 / (a**2 / (len(first) - 1) + b**2 / (len(second) - 1)))
    return TTest(t, df, tail_probability(t, df, alternative))


@checked
def confidence_interval(x: ArrayLike, level: Probability = 0.95) -> tuple[float, float]:
    r"""Compute Student's confidence interval for the mean of a normal sample.

    .. math:: \bar x \pm t_{n-1,\,(1+\gamma)/2}\, \frac{s}{\sqrt n}, \qquad
              s^2 = \frac1{n-1}\sum_i (x_i - \bar x)^2

    It is the set of all :math:`\mu_0` that the two-sided t test at level :math:`1-\gamma` does not
    reject.

    Parameters
    ----------
    x : array_like, shape (n,)
        The sample, at least two observations that are not all equal.
    level : float
        :math:`\gamma`, the share of samples whose interval covers the mean.

    Returns
    -------
    tuple of float
        The lower and the upper end.

    Raises
    ------
    ValueError
        When the sample is too short, constant or not finite, or the level is not a probability.

    References
    ----------
    Student (1908); Neyman (1937) for what it promises.

    Examples
    --------
    >>> low, high = confidence_interval([1, 2, 6])
    >>> round(low, 4), round(high, 4)
    (-3.5724, 9.5724)
    """
    _refuse_constant("x", values := sample("x", x, at_least=2))
    n, outside = len(values), 1 - level
    parts, scale = scaled(values)
    reach = -t_quantile(outside / 2, n - 1) * math.sqrt(variance(parts) / n)
    center = float(parts.mean())
    return (center - reach) * scale, (center + reach) * scale


def _refuse_constant(name: str, values: np.ndarray) -> None:
    """Refuse a sample without spread."""
    if (values == values[0]).all():
        raise ValueError(
            f"{name} is constant ({values[0]:g}); without spread there is no t statistic"
        )
