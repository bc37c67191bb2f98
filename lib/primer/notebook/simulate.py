"""Simulations that carry their own error: no tolerance is chosen by hand.

A chapter draws its random numbers from :func:`generator`.  Its seed can be moved for a whole run
with the environment variable ``PRIMER_SEED``, which the tests use to show that no simulation passes
by luck of its seed.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from primer.inputs import as_array, count
from primer.inputs.magnitude import scaled, variance

ALLOWED_ERRORS = 5.0
"""A simulated value may lie this many standard errors from the exact one.

A normal deviate exceeds 5 with probability 6e-7: a true statement fails once in two million checks.
"""


class Estimate(NamedTuple):
    """A simulated value and its Monte Carlo standard error."""

    value: float
    error: float


def generator(seed: int) -> np.random.Generator:
    """Return NumPy's random generator for a seed, moved by ``PRIMER_SEED`` when that is set.

    Parameters
    ----------
    seed : int
        The seed of this experiment, a non-negative integer.

    Examples
    --------
    >>> generator(1).integers(100, size=4).tolist()
    [47, 51, 75, 95]
    """
    moved = os.environ.get("PRIMER_SEED")
    number = count("seed", seed, at_least=0)
    return np.random.default_rng(number if moved is None else [number, int(moved)])


def _draws(draws: ArrayLike) -> np.ndarray:
    array = as_array("draws", draws)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"draws must hold real numbers, got an array of type {array.dtype}")
    array = array.astype(float).ravel()
    if array.size < 2:
        raise ValueError(f"a Monte Carlo error needs at least two draws, got {array.size}")
    if not np.isfinite(array).all():
        raise ValueError("the draws contain NaN or infinity, so their mean has no error to state")
    return array


def monte_carlo(draws: ArrayLike) -> Estimate:
    r"""Estimate an expectation from independent draws.

    .. math:: \bar x = \frac1R\sum_r x_r, \qquad \mathrm{se} = \frac{s}{\sqrt R}, \qquad
              s^2 = \frac1{R-1}\sum_r (x_r-\bar x)^2

    Parameters
    ----------
    draws : array_like
        :math:`R \ge 2` independent draws; truth values give a proportion.

    Returns
    -------
    Estimate
        The mean and its standard error.

    Raises
    ------
    ValueError
        With fewer than two draws, or draws that are not finite.

    Examples
    --------
    >>> monte_carlo([1, 2, 3])
    Estimate(value=2.0, error=0.5773502691896258)
    """
    array, unit = scaled(_draws(draws))
    error = np.sqrt(variance(array)) / np.sqrt(array.size)
    return Estimate(float(unit * array.mean()), float(unit * error))


def monte_carlo_variance(draws: ArrayLike) -> Estimate:
    r"""Estimate a variance from independent draws, with the standard error of the estimate.

    .. math:: s^2 = \frac1{R-1}\sum_r (x_r-\bar x)^2, \qquad
              \mathrm{se} \approx \sqrt{\frac{m_4 - s^4}{R}}

    Parameters
    ----------
    draws : array_like
        :math:`R \ge 2` independent draws.

    Returns
    -------
    Estimate
        The unbiased sample variance and its large-sample standard error, in which :math:`m_4` is
        the fourth central moment.

    Examples
    --------
    >>> monte_carlo_variance([1, 2, 3, 6]).value
    4.666666666666667
    """
    array = _draws(draws)
    centered = array - array.mean()
    variance = float(array.var(ddof=1))
    spread = max(float((centered**4).mean()) - variance**2, 0.0)
    return Estimate(variance, float(np.sqrt(spread / array.size)))


def verify_simulated(name: str, estimate: Estimate, expected: float, *, digits: int = 4) -> None:
    """Check that a simulated value lies within five of its own standard errors of the exact one.

    Parameters
    ----------
    name : str
        What is being claimed, in words.
    estimate : Estimate
        From :func:`monte_carlo` or :func:`monte_carlo_variance`, or your own value and error.
    expected : float
        The exact value.
    digits : int
        Significant digits to print.

    Raises
    ------
    AssertionError
        When the two differ by more, the error is not a positive number, or the exact value is none.

    Examples
    --------
    >>> verify_simulated("a mean", Estimate(2.01, 0.02), 2)
    ✓ a mean: simulated 2.01 ± 0.02, expected 2 (0.5 standard errors away)
    """
    value, error = estimate
    if not (np.isfinite(value) and np.isfinite(error) and error > 0):
        raise AssertionError(
            f"✗ {name}: no usable Monte Carlo error (value {value}, error {error})"
        )
    if not np.isfinite(expected):
        raise AssertionError(f"✗ {name}: what is expected is {expected}, which no value is near")
    away = abs(value - expected) / error
    detail = f"simulated {value:.{digits}g} ± {error:.2g}, expected {expected:.{digits}g}"
    if away > ALLOWED_ERRORS:
        raise AssertionError(f"✗ {name}: {detail}: {away:.1f} standard errors away")
    print(f"✓ {name}: {detail} ({away:.1f} standard errors away)")
