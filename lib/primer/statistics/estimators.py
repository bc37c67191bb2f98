r"""Estimators of a center and of a spread, and what an estimator's error is made of.

Every estimator works along the last axis: a sample of shape ``(n,)`` gives one estimate, a table of
``(R, n)`` gives the ``R`` estimates of ``R`` samples.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Natural, Number, checked
from primer.inputs.magnitude import rescaled, scaled, variance
from primer.statistics.inputs import Samples, samples


@checked
def sample_mean(x: Samples) -> Float[np.ndarray, "..."]:
    r"""Compute the sample mean.

    .. math:: \bar X = \frac1n \sum_{i=1}^n X_i, \qquad E\bar X = \mu, \qquad
              \mathrm{Var}\,\bar X = \frac{\sigma^2}{n}

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples, one along the last axis.

    Returns
    -------
    float array, shape (...)
        The mean of each sample.

    Raises
    ------
    ValueError
        When a sample is empty or not finite.

    Examples
    --------
    >>> float(sample_mean([1, 2, 6]))
    3.0
    """
    parts, scale = scaled(x, axis=-1)  # no sum overflows
    return rescaled("the mean", parts.mean(axis=-1), scale)


@checked
def sample_variance(x: ArrayLike, ddof: Natural = 1) -> Float[np.ndarray, "..."]:
    r"""Compute the sample variance with the divisor :math:`n - \mathrm{ddof}`.

    .. math:: S^2 = \frac{1}{n-1} \sum_{i=1}^n (X_i - \bar X)^2, \qquad E S^2 = \sigma^2

    The divisor :math:`n` (``ddof=0``) gives :math:`\hat\sigma^2 = \frac{n-1}n S^2`, the maximum
    likelihood estimate under a normal law, whose bias is :math:`-\sigma^2/n`.

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples, one along the last axis.
    ddof : int
        What is taken off the divisor, from 0 to :math:`n - 1`.

    Returns
    -------
    float array, shape (...)
        The variance of each sample, in the square of its unit.

    Raises
    ------
    ValueError
        When a sample has no more than ``ddof`` observations, or is not finite, or the variance is
        no floating-point number.

    Examples
    --------
    >>> float(sample_variance([1, 2, 6])), float(sample_variance([1, 2, 6], ddof=0))
    (7.0, 4.666666666666667)
    """
    parts, scale = scaled(samples("x", x, at_least=ddof + 1), axis=-1)  # no square overflows
    return rescaled("the variance", variance(parts, ddof), scale, scale)


@checked
def sample_median(x: Samples) -> Float[np.ndarray, "..."]:
    r"""Compute the sample median, the middle of the ordered sample.

    Its large-sample variance is :math:`1/\bigl(4 n f(m)^2\bigr)`, with :math:`f(m)` the density at
    the median: it asks nothing of the tails.

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples, one along the last axis.

    Returns
    -------
    float array, shape (...)
        The median of each sample; for even :math:`n` the mean of the two middle values.

    Raises
    ------
    ValueError
        When a sample is empty or not finite.

    Examples
    --------
    >>> float(sample_median([1, 2, 600]))
    2.0
    """
    parts, scale = scaled(x, axis=-1)
    return rescaled("the median", np.median(parts, axis=-1), scale)


@checked
def trimmed_mean(x: Samples, share: Number = 0.25) -> Float[np.ndarray, "..."]:
    r"""Compute the mean of what is left after cutting a share off each end of the ordered sample.

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples, one along the last axis.
    share : float
        The share cut off at each end, from 0 (the mean) to below ½; :math:`\lfloor n \cdot
        \mathrm{share} \rfloor` observations go.

    Returns
    -------
    float array, shape (...)
        The trimmed mean of each sample.

    Raises
    ------
    ValueError
        When the share is not in :math:`[0, 0.5)`, or a sample is empty or not finite.

    Examples
    --------
    >>> float(trimmed_mean([1, 2, 4, 600]))
    3.0
    """
    if not 0 <= share < 0.5:
        raise ValueError(f"share must be at least 0 and below ½, got {share:g}")
    parts, scale = scaled(np.sort(x, axis=-1), axis=-1)
    n = parts.shape[-1]
    cut = int(n * share)
    return rescaled("the trimmed mean", parts[..., cut : n - cut].mean(axis=-1), scale)


@checked
def midrange(x: Samples) -> Float[np.ndarray, "..."]:
    r"""Compute the middle between the smallest and the largest observation.

    Parameters
    ----------
    x : array_like, shape (..., n)
        Samples, one along the last axis.

    Returns
    -------
    float array, shape (...)
        The midrange of each sample.

    Raises
    ------
    ValueError
        When a sample is empty or not finite.

    Examples
    --------
    >>> float(midrange([1, 2, 6]))
    3.5
    """
    parts, scale = scaled(x, axis=-1)
    return rescaled("the midrange", (parts.min(axis=-1) + parts.max(axis=-1)) / 2, scale)
